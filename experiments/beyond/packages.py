"""Beyond the paper: other packages on the same judgments, beside this one.

Needs them installed, in an environment of its own: `make packages` sees to it.

python experiments/beyond/packages.py [sizes=[150]] [panels.few.n_comparisons=300] [replications=5] ...
"""

import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from judgerank.data.errors import DataUnavailableError
from judgerank.data.judgments import Judgments
from judgerank.writing.atomic import locked
from replication import published
from replication.config import ROOT
from replication.freshness import stamp_run
from replication.outputs import load_section_data, output_folder
from replication.records import provenance, store
from replication.replicate import Study
from replication.tables import Table
from studies import packages
from studies.config import main

log = logging.getLogger("studies")
Row = dict[str, Any]
MEASURES = ["spearman", "coverage"]


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    shared = {"level": cfg.level, "bootstraps": cfg.bootstraps}
    rows = [*on_samples(cfg, judgments, shared), *on_panels(cfg, shared), *beside_a_fixed_idea(cfg, shared)]
    compared = pd.DataFrame([*rows, *on_boards(cfg), *by_gates(cfg)])
    seconds = packages.times(judgments.frame, packages.Settings(**shared), cfg.timed)
    methods = packages.methods_table(seconds).assign(date=f"{datetime.now(UTC):%Y-%m-%d}")
    for table in (compared, methods):
        log.info("%s", table.to_string(index=False, float_format="%.3f"))
    return {
        "compared": Table(compared, "Packages against people, and against the truth of simulated sets"),
        "methods": Table(methods, "Packages and their versions, and time over that of the default fit"),
    }


def on_samples(cfg: DictConfig, judgments: Judgments, shared: Row) -> Iterator[Row]:
    cells = {f"{size:,} judgments": {"size": size, **shared} for size in cfg.sizes}
    cells["all judgments"] = {"size": 0, **shared}
    counts = {name: cfg.draws if cell["size"] else 1 for name, cell in cells.items()}
    people = published.numbers("chatbot_arena_human", "elo")
    study = studied(cfg, packages.sampled, cells, counts, (judgments.comparisons, people))
    for name in cells:
        yield from packages.agreement_rows("set", name, list(study.records(name)), ["spearman"])


def on_panels(cfg: DictConfig, shared: Row) -> Iterator[Row]:
    cells = {name: {"panel": OmegaConf.to_container(panel), **shared} for name, panel in cfg.panels.items()}
    study = studied(cfg, packages.simulated, cells, cfg.replications)
    for name, panel in cfg.panels.items():
        yield from packages.agreement_rows("panel", panel.title, list(study.records(name)), MEASURES)


def beside_a_fixed_idea(cfg: DictConfig, shared: Row) -> Iterator[Row]:
    idea = OmegaConf.to_container(cfg.fixed_idea)
    cells = {f"{value:g}": idea | {"discrimination": value, **shared} for value in idea.pop("discriminations")}
    study = studied(cfg, packages.with_fixed_idea, cells, cfg.replications)
    for name in cells:
        records = list(study.records(name))
        said = packages.of_fixed_idea(pd.DataFrame(records))
        for row in packages.agreement_rows("fixed idea", name, records, MEASURES):
            yield row | said if row["method"] == "default" else row


def on_boards(cfg: DictConfig) -> Iterator[Row]:
    cells = {"boards of scores": OmegaConf.to_container(cfg.board) | {"bootstraps": cfg.of_others}}
    study = studied(cfg, packages.on_board, cells, cfg.replications)
    for name in cells:
        yield from packages.board_rows(name, list(study.records(name)))


def by_gates(cfg: DictConfig) -> Iterator[Row]:
    gates = OmegaConf.to_container(cfg.gates) | {"bootstraps": cfg.of_others}
    cells = {
        f"{condition}, {truth}": gates | {"condition": condition, "truth": truth}
        for condition in gates.pop("conditions")
        for truth in packages.TRUTHS
    }
    study = studied(cfg, packages.gated, cells, gates.pop("replications"))
    for name, cell in cells.items():
        yield from packages.gate_rows(cell["condition"], cell["truth"], list(study.records(name)))


def studied(cfg: DictConfig, task, cells: Row, replications: int | dict, shared=None) -> Study:
    counts = replications if isinstance(replications, dict) else dict.fromkeys(cells, replications)
    name = f"packages_{task.__name__}"
    study = Study(name, task, cells, counts, cfg.seed, Path(ROOT, cfg.cache), cfg.block, shared)
    study.run(cfg.parallel)
    return study


@main("packages")
def run(cfg: DictConfig) -> None:
    """Compute and store the tables; there are no figures."""
    start = time.monotonic()
    data, kind = load_section_data(cfg)
    if kind:
        raise DataUnavailableError("packages are compared on real judgments: docs/data.md says how to get them")
    folder = output_folder(cfg, "results", "packages", kind)
    with locked(folder):
        record = provenance("packages", cfg, data, kind)
        store(folder, compute(cfg, data), record, ROOT, start)
        stamp_run(folder, "packages", "")


if __name__ == "__main__":
    run()
