"""Stored tables in Markdown and LaTeX, with captions, in outputs/tables/ (make tables).

python experiments/tables.py [only=[chatbot_arena]]        (computes nothing)
"""

import json
import logging
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig

from judgerank.data.errors import DataUnavailableError
from judgerank.writing.atomic import replace_file
from replication.config import ROOT, main
from replication.records import RECORD
from replication.tables import Table

log = logging.getLogger("replication")


def write_forms(record: Path, folder: Path) -> int:
    """Write the Markdown and LaTeX forms of a run's tables, and return how many tables these are."""
    run = json.loads(record.read_text())
    mark = " (surrogate)" if run["surrogate"] else ""
    tables = run.get("tables", {})  # records of commands that are no sections have none
    if tables:
        folder.mkdir(parents=True, exist_ok=True)
    for name, table_settings in tables.items():
        table = Table(pd.read_csv(record.with_name(f"{name}.csv")), **table_settings)
        replace_file(folder / f"{name}.md", table.markdown(mark))
        replace_file(folder / f"{name}.tex", table.latex(mark))
    return len(tables)


@main("tables")
def run(cfg: DictConfig) -> None:
    results, forms = Path(ROOT, cfg.results), Path(ROOT, cfg.forms)
    records = sorted(results.rglob(RECORD))
    if cfg.only:
        records = [path for path in records if json.loads(path.read_text())["section"] in cfg.only]
    if not records:
        raise DataUnavailableError(f"no tables are stored in {cfg.results}: run `make reproduce`")
    written = sum(write_forms(path, forms / path.parent.relative_to(results)) for path in records)
    log.info("%d tables in %s", written, cfg.forms)


if __name__ == "__main__":
    run()
