"""Adverse cases at random, such as kills, maxima missed and damaged files, counted. Not part of the paper.

python experiments/beyond/torture.py [inputs.cases=100] [maxima.members=[judge_aware]] ...
"""

import logging
import time
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from replication.config import ROOT
from replication.errors import NotAsStoredError
from replication.freshness import stamp_run
from replication.outputs import display_path, output_folder
from replication.records import provenance, store
from replication.replicate import Study
from replication.tables import Table
from studies.config import main
from studies.torture.collecting import miscollected, misread_panel
from studies.torture.commands import misanswered
from studies.torture.fits import certificate_false, differs_by_version, maximum_missed, runaway_missed
from studies.torture.reading import misread, misread_slip
from studies.torture.replies import misread_reply
from studies.torture.sizes import outgrown
from studies.torture.writing import lost, overwritten, strayed, touched

log = logging.getLogger("studies")
# by part: its task, the list and the name of what it is for, and what must not happen
PARTS = {
    "maxima": (maximum_missed, "members", "member", "a higher maximum missed"),
    "thin": (runaway_missed, "members", "member", "a higher point missed"),
    "existence": (certificate_false, "members", "member", "a false certificate or refusal"),
    "scales": (differs_by_version, "members", "member", "another answer for the same judgments"),
    "inputs": (misread, "forms", "form", "misread, or no sentence"),
    "slips": (misread_slip, "layouts", "layout", "misread, or no sentence"),
    "replies": (misread_reply, "ways", "way", "a vote that the reply does not give, or one unread"),
    "panels": (misread_panel, "ways", "way", "a defect, no sentence, over 1 GB or over 20 s"),
    "collects": (miscollected, "ways", "way", "a judgment lost, doubled or false, or no sentence"),
    "commands": (misanswered, "commands", "command", "a defect, no sentence, or a file left by a refusal"),
    "sizes": (outgrown, "forms", "form", "no sentence, over 2 GB or over 60 s"),
    "kills": (lost, "kinds", "kind", "lost or mixed"),
    "touched": (touched, "ways", "way", "a judgment lost, or what something else wrote"),
    "files": (overwritten, "ways", "way", "a user's file lost or changed"),
    "secrets": (strayed, "ways", "way", "a key elsewhere"),
}


def studies(cfg: DictConfig) -> dict[str, Study]:
    """Every part as a study, a cell for each member, form or kind."""
    study_of_part = {}
    for part, (task, names, key, _) in PARTS.items():
        settings = OmegaConf.to_container(cfg[part])
        cases = settings.pop("cases")
        cells = {name: {**settings, key: name} for name in settings.pop(names)}
        repeats = dict.fromkeys(cells, cases)
        study_of_part[part] = Study(
            f"torture_{part}", task, cells, repeats, cfg.seed, Path(ROOT, cfg.cache), cfg.block
        )
    return study_of_part


def counts(part: str, study: Study) -> list[dict]:
    """A row for each cell: how many cases, how they ended, and how often what must not happen did."""
    rows = []
    for cell in study.cells:
        records = pd.DataFrame(study.records(cell))
        failed = records["failure"].notna() if "failure" in records else pd.Series(False, records.index)
        ended = records["status"].value_counts().sort_index()
        row = {"part": part, "of": cell, "cases": len(records)}
        row["ended"] = ", ".join(f"{count} {name}" for name, count in ended.items())
        row |= {"must not happen": PARTS[part][3], "happened": int(records["bad"].fillna(0).sum() + failed.sum())}
        # how often it would have without a search
        row["by one climb"] = int(records["one_climb"].sum()) if "one_climb" in records else pd.NA
        rows.append(row)
    return rows


def compute(cfg: DictConfig) -> pd.DataFrame:
    rows = []
    for part, study in studies(cfg).items():
        study.run(cfg.parallel)
        rows += counts(part, study)
    return pd.DataFrame(rows).astype({"by one climb": "Int64"})


@main("torture")
def run(cfg: DictConfig) -> None:
    start, record = time.monotonic(), provenance("torture", cfg, {}, "")
    frame = compute(cfg)
    log.info("%s", frame.to_string(index=False))
    target = output_folder(cfg, "results", "torture")
    table = Table(frame, "Adverse cases at random, and how often what must not happen did")
    store(target, {"counts": table}, record, ROOT, start)
    stamp_run(target, "torture", "")
    log.info("torture: table in %s", display_path(target))
    happened = frame["happened"].sum()
    if happened:
        raise NotAsStoredError(f"{happened} of {frame['cases'].sum()} cases ended as none must")


if __name__ == "__main__":
    run()
