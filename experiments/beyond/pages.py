"""Documentation: blocks and numbers of the sections beyond the paper as stored.

python experiments/beyond/pages.py        (computes nothing)
"""

from pathlib import Path

from omegaconf import DictConfig

from replication.auditing.doc_blocks import keep_current, markdown_in, rendered
from replication.auditing.results import Results
from replication.config import ROOT
from studies.config import main
from studies.doc_tables import BLOCKS


@main("pages")
def run(cfg: DictConfig) -> None:
    results = Results(Path(ROOT, cfg.results))
    keep_current(markdown_in(Path(ROOT, name) for name in cfg.pages), rendered(BLOCKS, results), results)


if __name__ == "__main__":
    run()
