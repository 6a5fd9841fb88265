"""Beyond the paper: what a panel does besides judging quality: question effects, style, categories, own family.

python experiments/beyond/panel.py [members=[btl_ties]] [blocks=[family,my_block.py:column]] [replications=100] ...
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.errors import DataUnavailableError
from judgerank.data.judgments import Judgments
from replication.config import is_changed
from replication.datasets import find_file
from replication.replicate import studied
from replication.tables import Table
from studies import panel_blocks, plots
from studies.config import section_command
from studies.panel import DESIGNS, clustered, coverage, covered, errors_of, first_fit, gains, integrals

log = logging.getLogger("studies")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    if cfg.answers and find_file(cfg.answers) is None and is_changed("panel", cfg, "answers"):
        raise DataUnavailableError(f"answers={cfg.answers}: there is no such file")
    summary, estimates = [], []
    for judgments in data.values():
        row, table = of_set(cfg, judgments)
        summary.append(row)
        estimates.append(table)
        log.info("%s: sigma is %.2f of the scores' spread", judgments.title, row["relative_sigma"])
    tables = {
        "summary": Table(pd.DataFrame(summary), "Question effects by set", 3),
        "estimates": Table(pd.concat(estimates), f"Estimates with question effects, {cfg.level:.0%} intervals"),
    }
    if cfg.replications:
        tables["coverage"] = Table(simulated(cfg), f"What {cfg.level:.0%} intervals hold on simulated data", 3)
    return tables | with_blocks(cfg, data)


def with_blocks(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    """What each further block does on every set, scores by category, and blocks on simulated data."""
    rows, estimates, categories = [], [], []
    for key, judgments in data.items():
        records = panel_blocks.records_of(judgments, cfg.datasets[key].questions, cfg.answers)
        arguments = records, judgments.name, cfg.blocks, cfg.members, cfg.folds, cfg.seed, cfg.level
        block_rows, table = panel_blocks.of_blocks(*arguments)
        rows += [{"title": judgments.title, **row} for row in block_rows]
        estimates.append(table)
        categories.append(panel_blocks.by_category(records, cfg.members, cfg.level).assign(dataset=judgments.name))
        log.info("%s: %d blocks", judgments.title, len(block_rows))
    tables = {
        "blocks": Table(pd.DataFrame(rows), "What judges do besides, block by block", 3),
        "block_estimates": Table(
            pd.concat(estimates), f"Estimates of blocks, {cfg.level:.0%} intervals by question"
        ),
    }
    by_category = pd.concat(categories)
    if len(by_category):
        tables["categories"] = Table(by_category, f"Scores by category, ranks that hold at once ({cfg.level:.0%})")
    if cfg.block_replications:
        title = f"Blocks on simulated data: tests at .05, and what {cfg.level:.0%} intervals hold"
        tables["block_coverage"] = Table(simulated_blocks(cfg), title, 3)
    return tables


def simulated_blocks(cfg: DictConfig) -> pd.DataFrame:
    """Tests and intervals on simulated data, each block there and not, with question effects and without."""
    cells = {
        f"{block} size{size:g} sd{sd:g}".replace(" ", "-"): {
            "block": block,
            "size": size,
            "question_sd": sd,
            "level": cfg.level,
        }
        for block, largest in cfg.sizes.items()
        for size in (0.0, largest)
        for sd in cfg.question_sd
    }
    study = studied(cfg, "panel_blocks", panel_blocks.block_tested, cells, cfg.block_replications)
    return pd.DataFrame(
        [
            row
            for cell, settings in cells.items()
            for row in panel_blocks.table_of(pd.DataFrame(study.records(cell)), settings)
        ]
    )


def of_set(cfg: DictConfig, judgments: Judgments) -> tuple[dict, pd.DataFrame]:
    """What question effects add on one set, and its estimates."""
    name = judgments.name
    fitted, why = first_fit(judgments, cfg.members)
    several = np.bincount(fitted.question, fitted.raw.count)
    statistic, p = fitted.likelihood_ratio()
    table = fitted.confidence_intervals(cfg.level)
    relative = table[table["parameter"] == "relative sigma"].iloc[0]
    error = errors_of(clustered(fitted)).mean()
    drawn, drawn_se = integrals(fitted, cfg.draws, cfg.seed, name)
    row = {
        "dataset": name,
        "title": judgments.title,
        "member": fitted.without.model.name,
        "status": str(fitted.status),
        "judges_merged": len(judgments.comparisons.judges) - len(fitted.comparisons.judges),
        "questions": int((several > 0).sum()),
        "several": int((several > 1).sum()),
        "comparisons_each": several.sum() / (several > 0).sum(),
        "sigma": fitted.sigma,
        "relative_sigma": fitted.relative_sigma,
        "low": relative["low"],
        "high": relative["high"],
        "twice_gain": statistic,
        "p": p,
        "correlation": np.corrcoef(fitted.scores, fitted.without.scores)[0, 1],
        "by_draws": drawn - fitted.log_likelihood,
        "by_draws_se": drawn_se,
        "without_ratio": errors_of(fitted.without).mean() / error,
        "with_ratio": errors_of(fitted).mean() / error,
        **gains(fitted, cfg.members, cfg.folds, cfg.seed, name),
        "remark": why,
    }
    return row, table.assign(dataset=name)[["dataset", *table.columns]]


def simulated(cfg: DictConfig) -> pd.DataFrame:
    """Coverage by kind of interval on simulated data, with question effects and without."""
    cells = {
        f"{design} sd{sd:g}".replace(" ", "-"): {"design": design, "question_sd": sd, "level": cfg.level}
        for design in DESIGNS
        for sd in cfg.question_sd
    }
    study = studied(cfg, "panel", covered, cells, cfg.replications)
    rows = []
    for cell, settings in cells.items():
        rows += coverage(pd.DataFrame(study.records(cell)), settings["design"], settings["question_sd"])
    return pd.DataFrame(rows)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    figures = {
        "panel": plots.panel(tables["summary"], f"How much a model's answers vary between questions{suffix}")
    }
    if tables["blocks"]["gain"].notna().any():
        title = f"Effects other than quality{suffix}"
        figures["blocks"] = plots.blocks(tables["blocks"], tables.get("block_coverage"), title)
    if "categories" in tables:
        for name, rows in tables["categories"].groupby("dataset"):
            title = f"{plots.NAMES.get(name, name)}: ranks by category, shrunk toward the overall ranking{suffix}"
            figures[f"categories_{name}"] = plots.categories(rows, title)
    return figures


run = section_command("panel", compute, draw)

if __name__ == "__main__":
    run()
