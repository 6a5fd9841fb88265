"""Beyond the paper: do tests, ranks and intervals keep what they promise where that is hardest?

python experiments/beyond/validity.py [replications=4 halves=2] [members=[btl]] ...
"""

import logging
from itertools import product

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from replication.replicate import Study, studied
from replication.tables import Table, with_error
from studies import plots
from studies.config import section_command
from studies.schemas.beyond import Fitted
from studies.validity import TESTS, Cell, OnSet, half, measured, separated

log = logging.getLogger("studies")
MEASURES = ("false", "wrong", "ranks", "power")
INTERVALS = ("scores", "across", "discrimination", "far")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    study, sets = study_of_designs(cfg), studies_of_sets(cfg, data)
    orders, intervals = order_table(study), coverage_table(study)
    pairs, halves = (
        pd.DataFrame(rows(set_study)) for rows, set_study in zip((pair_rows, half_rows), sets, strict=True)
    )
    log.info("%s", orders.query("test == 'both'").to_string(index=False, float_format="%.3f"))
    log.info("%s\n%s", pairs.to_string(index=False), halves.to_string(index=False))
    return {
        "order": Table(orders, f"Tests and ranks at {cfg.level:.0%}: errors, ranks held, power", 3),
        "coverage": Table(intervals, f"Coverage of {cfg.level:.0%} intervals", 3),
        "pairs": Table(pairs, "Pairs of the sets separated: by the Wald tests alone, and by both tests"),
        "halves": Table(halves, "Halves of the sets in which every score has an interval", 3),
    }


def study_of_designs(cfg: DictConfig) -> Study:
    """Every design with every method it names."""
    designs, methods = (OmegaConf.to_object(cfg[name]) for name in ("designs", "methods"))
    cells = {}
    for name, design in designs.items():
        for method in design.methods:
            if method not in methods:
                raise ConfigError(f"design {name!r}: there is no method {method!r} (known: {', '.join(methods)})")
            cells[f"{name}-{method}"] = Cell(name, design, method, methods[method], cfg.level)
    return studied(cfg, "validity", measured, cells, cfg.replications)


def studies_of_sets(cfg: DictConfig, data: dict[str, Judgments]) -> tuple[Study, Study]:
    """Pairs separated in every set as a whole, and intervals in halves of it."""
    shared = {name: (judgments.comparisons, judgments.question) for name, judgments in data.items()}
    cells = {
        f"{name}-{member}": OnSet(name, Fitted(member), cfg.level) for name, member in product(data, cfg.members)
    }
    return (
        studied(cfg, "validity_pairs", separated, cells, 1, shared),
        studied(cfg, "validity_halves", half, cells, cfg.halves, shared),
    )


def order_table(study: Study) -> pd.DataFrame:
    """Shares of data sets, each with its Monte Carlo error, by design, method and test."""
    rows = []
    for name, cell in study.cells.items():
        records = study.frame(name)
        for test in TESTS:
            row = {"design": cell.name, "title": cell.design.title, "method": cell.method}
            row |= {"clustered": cell.design.clustered, "test": test}
            for measure in MEASURES:
                row |= shares(measure, records.get(f"tests/{test}/{measure}"))
            rows.append(row | {"n_replications": int(records[f"tests/{test}/false"].notna().sum())})
    return pd.DataFrame(rows)


def coverage_table(study: Study) -> pd.DataFrame:
    """Coverage of Wald intervals by design and method, where the truth is on the scale of the fit."""
    rows = []
    for name, cell in study.cells.items():
        records = study.frame(name)
        away = records["status"] == "unbounded"
        for kind in INTERVALS:
            held = records.get(f"coverage/{kind}")
            if held is not None and held.notna().sum() > 1:
                row = {"design": cell.name, "method": cell.method, "intervals": kind, **shares("coverage", held)}
                rows.append(row | {"n_replications": int(held.notna().sum())})
                if kind == "scores" and away.sum() > 1:
                    row = {**row, "intervals": "scores, with a judge unbounded", **shares("coverage", held[away])}
                    rows.append(row | {"n_replications": int(away.sum())})
    return pd.DataFrame(rows)


def shares(name: str, values: pd.Series | None) -> dict[str, float]:
    """Mean and its standard error over data sets."""
    finite = pd.Series(dtype=float) if values is None else values.dropna()
    return with_error(name, finite)


def pair_rows(study: Study) -> list[dict]:
    """What is counted of every set, by member and kind of error."""
    rows = []
    for name, cell in study.cells.items():
        (record,) = study.records(name)
        for kind, counts in record["separated"].items():
            row = {"dataset": cell.name, "member": cell.fitted.member, "clustered": kind == "clustered"}
            row |= {"pairs": record["pairs"], **counts, "kept": counts["both"] / max(1, counts["wald"])}
            rows.append(row)
    return rows


def half_rows(study: Study) -> list[dict]:
    """Shares of the halves of every set, by member."""
    rows = []
    for name, cell in study.cells.items():
        records = study.frame(name)
        row = {"dataset": cell.name, "member": cell.fitted.member, "halves": len(records)}
        row["with_intervals"] = int(records["intervals"].sum())
        rows.append(row | {"with_unbounded": int((records["status"] == "unbounded").sum())})
    return rows


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {
        "order": plots.validity(
            tables["order"], f"Nearly equal models: errors, coverage of ranks and power{suffix}"
        )
    }


run = section_command("validity", compute, draw)

if __name__ == "__main__":
    run()
