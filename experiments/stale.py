"""Stored results that this code neither made nor was found to make again, why, and what makes them anew.

python experiments/stale.py [fail=true]        (computes nothing)
"""

import logging
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig

from replication.config import ROOT, main
from replication.errors import NotAsStoredError
from replication.freshness import stale
from replication.tables import markdown_table

log = logging.getLogger("replication")


def by_section(listed: pd.DataFrame) -> list[tuple]:
    """What is stale in a section for one reason in one row, with one command for all."""
    rows = []
    for (section, why), group in listed.groupby(["section", "why"], sort=False):
        kinds, sets = (list(dict.fromkeys(group[name])) for name in ("kind", "set"))
        command = group["command"].iloc[0]
        if sets[0]:  # hydra runs a section on several sets in turn, and the bench takes several rows
            command = command.replace(f"={sets[0]}", f"={','.join(sets)}")
        rows.append((section, ", ".join(filter(None, sets)), ", ".join(kinds), why, f"`{command}`"))
    return rows


@main("stale")
def run(cfg: DictConfig) -> None:
    listed = stale(Path(ROOT, cfg.results))
    if listed.empty:
        log.info("everything stored is fresh")
        return
    log.info("%s", markdown_table(by_section(listed), ["section", "sets", "what", "why", "command"]))
    sentence = f"{len(listed)} stored results are stale, of {listed['section'].nunique()} sections"
    if cfg.fail:
        raise NotAsStoredError(f"{sentence}: run the commands beside them, or `make verify ARGS=only=stale`")
    log.info("%s: the commands beside them make them anew, `make verify ARGS=only=stale` compares", sentence)


if __name__ == "__main__":
    run()
