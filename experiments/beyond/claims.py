"""Beyond the paper: statements about order that never contradict each other, and the level of all together.

python experiments/beyond/claims.py [files=1000] ...
"""

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import simulated
from replication.tables import Table
from studies import plots
from studies.claims import NULLS, File, claimed_once, examined, file_row, null_row
from studies.config import section_command
from studies.random_files import LAYOUTS


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    by_layout = simulated(cfg, "claims_files", examined, files_of(cfg), -(-cfg.files // len(LAYOUTS)))
    by_design = simulated(cfg, "claims_levels", claimed_once, NULLS, cfg.replications)
    files = [file_row(name, records) for name, records in by_layout.items()]
    levels = [null_row(name, records) for name, records in by_design.items()]
    return {
        "files": Table(pd.DataFrame(files), "Statements that contradict each other, in random files", 0),
        "levels": Table(pd.DataFrame(levels), "Sets with a false claim, and power, simulated", 3),
    }


def files_of(cfg: DictConfig) -> dict[str, File]:
    """One cell for each layout."""
    return {name: File(name, cfg.whole) for name in LAYOUTS}


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"claims": plots.claims(tables["levels"], f"Sets with a false claim, simulated{suffix}")}


run = section_command("claims", compute, draw)

if __name__ == "__main__":
    run()
