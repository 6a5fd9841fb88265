"""Beyond the paper: what would change the rankings, and how many independent judges the panels are worth.

python experiments/beyond/trust.py [members=[judge_aware]] [most=5] [replications=50] ...
"""

import logging

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import studied
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.trust_studies import PANELS, calibration, counted, fits_of, searched, small_sets, trust_of

log = logging.getLogger("studies")
CAPTIONS = {
    "changes": "Fewest judgments, questions or judges found whose removal changes a ranking",
    "judges": "Every judge left out alone",
    "panel": "What each judge adds, and whose errors go with whose",
    "another": "What another judge adds, beside further questions for the same sum",
}


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    rows, tables = [], {name: [] for name in CAPTIONS}
    for judgments in data.values():
        fits, refused = fits_of(judgments, cfg.members)
        for why in refused:
            log.info("left out: %s", why)
        for fitted in fits.values():
            row, parts = trust_of(judgments, fitted, cfg.level, cfg.most)
            rows.append(row)
            for name, table in parts.items():
                tables[name].append(table)
        log.info(
            "%s: %s of %s judgments change the first", judgments.title, row["top_judgments"], row["judgments"]
        )
    result_tables = {
        "summary": Table(pd.DataFrame(rows), "What would change the rankings, and what panels are worth", 3)
    }
    result_tables |= {name: Table(pd.concat(parts), CAPTIONS[name], 3) for name, parts in tables.items()}
    if cfg.replications:
        result_tables["calibration"] = Table(simulated(cfg), "Panels of known dependence, counted", 3)
    if cfg.designs:
        result_tables["small_sets"] = Table(
            in_small_designs(cfg), "Smaller sets than by steps, 100 judgments each", 3
        )
    return result_tables


def in_small_designs(cfg: DictConfig) -> pd.DataFrame:
    """How often steps alone do not find the smallest set of judgments."""
    cells = {"small": {"member": cfg.members[-1]}}
    return small_sets(studied(cfg, "trust_search", searched, cells, cfg.designs).frame("small"))


def simulated(cfg: DictConfig) -> pd.DataFrame:
    """Panels of known dependence, counted."""
    cells, repeats = {}, {}
    for name, (camps, share) in PANELS.items():
        for part, n_replications in (("counted", cfg.replications), ("scores", cfg.draws)):
            cell = f"{name} {part}".replace(" ", "-")
            cells[cell] = {"camps": camps, "share": share, "level": cfg.level, "counted": part == "counted"}
            repeats[cell] = n_replications
    study = studied(cfg, "trust", counted, cells, repeats)
    of = {name: [cell for cell in cells if cell.startswith(name.replace(" ", "-"))] for name in PANELS}
    records = {name: pd.DataFrame([r for cell in mine for r in study.records(cell)]) for name, mine in of.items()}
    return calibration(records, cfg.replications + cfg.draws)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    calibration = tables.get("calibration")
    return {
        "fragility": plots.fragility(
            tables["summary"], tables["changes"], f"Smallest removals that change a ranking{suffix}"
        ),
        "effective": plots.effective(
            tables["summary"], calibration, f"Effective number of judges of a panel{suffix}"
        ),
    }


run = section_command("trust", compute, draw)

if __name__ == "__main__":
    run()
