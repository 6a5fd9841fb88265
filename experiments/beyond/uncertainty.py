"""Beyond the paper: what errors computed comparison by comparison leave out, and what the order is sure of.

python experiments/beyond/uncertainty.py [dataset=mt_bench] [members=[position_aware]] [question_sd=[0,1]] ...
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank import Fit, fit
from judgerank.data.judgments import Judgments
from judgerank.inference.wald import wald
from judgerank.order.pairs import orders_by_errors, pairwise, rank_intervals
from replication.config import solver_settings
from replication.replicate import Study, studied
from replication.tables import Table, with_error
from studies import plots
from studies.config import section_command
from studies.dependence import QuestionData, bootstrap, calibrated, limit, standardised_errors

log = logging.getLogger("studies")
KINDS = ("plug_in", "clustered", "bootstrap")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    title = judgments.title
    errors, summary, ranks = [], [], []
    alone = np.arange(len(judgments.comparisons))
    for member in cfg.members:
        plug_in = fit(judgments.comparisons, member, solver_settings(cfg.solver, member))
        clustered = plug_in.clustered(judgments.comparisons, judgments.question)
        by_judgment = standardised_errors(plug_in.clustered(judgments.comparisons, alone))
        resamples = bootstrapped(cfg, judgments, plug_in)
        table = errors_table(plug_in, clustered, resamples, cfg.level).assign(member=member)
        misfit = by_judgment.mean() / table["plug_in"].mean()
        errors.append(table)
        orders_of_kind = orders_by_errors(plug_in, clustered)
        plug_in_ranks, clustered_ranks = (rank_intervals(orders, cfg.level) for orders in orders_of_kind)
        by_rank = plug_in_ranks.merge(
            clustered_ranks.drop(columns="rank"), on="model", suffixes=("_plug_in", "_clustered")
        )
        ranks.append(by_rank.assign(member=member))
        pairs = [pairwise(orders, cfg.level) for orders in orders_of_kind]
        row = summary_row(cfg, judgments, member, table, pairs, by_rank, resamples)
        summary.append(row | {"misfit_ratio": misfit})
        log.info(
            "%s, %s: errors clustered by question are %.2f times the plug-in ones",
            title,
            member,
            summary[-1]["clustered_ratio"],
        )
    tables = {
        "summary": Table(pd.DataFrame(summary), f"{title}: how much plug-in errors leave out", 3),
        "errors": Table(_first(pd.concat(errors), "member"), f"{title}: standardised scores and their errors"),
        "ranks": Table(
            _first(pd.concat(ranks), "member"), f"{title}: simultaneous {cfg.level:.0%} rank intervals"
        ),
        "pairs": Table(pairs[-1], f"{title}: all pairs by {member}, clustered by question"),
    }
    if cfg.replications:
        held = calibration(cfg, judgments)
        tables["calibration"] = Table(
            held, f"{title}: what nominal {cfg.level:.0%} errors hold on simulated data", 3
        )
    return tables


def _first(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    return frame[[column, *frame.columns.drop(column)]]


def _study(
    cfg: DictConfig, judgments: Judgments, name: str, task, cells: dict, repeats: int, shared: QuestionData
) -> Study:
    """A study of one set, computed."""
    cells = {f"{judgments.name}-{cell}": {"cell": cell, **settings} for cell, settings in cells.items()}
    return studied(cfg, name, task, cells, repeats, shared)


def bootstrapped(cfg: DictConfig, judgments: Judgments, fitted: Fit) -> np.ndarray:
    """Standardised scores of the resamples that have a fit, shape (B, N)."""
    member = fitted.model.name
    question_data = QuestionData(
        judgments.comparisons, judgments.question, member, start=fitted.solution.parameters
    )
    study = _study(
        cfg, judgments, f"uncertainty-{member}", bootstrap, {"bootstrap": {}}, cfg.bootstraps, question_data
    )
    (cell,) = study.cells
    return np.array([record["scores"] for record in study.records(cell) if "scores" in record])


def errors_table(plug_in: Fit, clustered: Fit, resamples: np.ndarray, level: float) -> pd.DataFrame:
    """Standardised scores with errors and intervals of each kind, by falling score."""
    scores = plug_in.scores / plug_in.scores.std(ddof=0)
    columns = {"model": scores.index, "score": scores.to_numpy(), "plug_in": standardised_errors(plug_in)}
    columns |= {"clustered": standardised_errors(clustered), "bootstrap": resamples.std(axis=0, ddof=1)}
    for kind in KINDS:
        columns[f"low_{kind}"], columns[f"high_{kind}"] = wald(columns["score"], columns[kind], level)
    return pd.DataFrame(columns).sort_values("score", ascending=False, kind="stable")


def summary_row(cfg, judgments, member, errors, pairs, ranks, resamples) -> dict:
    """Ratios of mean errors, and what the order is sure of by either."""
    row = {
        "member": member,
        "questions": int(judgments.question.max()) + 1,
        "comparisons": judgments.comparisons.n_comparisons,
        "clustered_ratio": errors["clustered"].mean() / errors["plug_in"].mean(),
        "bootstrap_ratio": errors["bootstrap"].mean() / errors["plug_in"].mean(),
        "resamples_lost": cfg.bootstraps - len(resamples),
        "pairs": len(errors) * (len(errors) - 1) // 2,
    }
    for kind, tested in zip(KINDS, pairs, strict=False):
        row[f"separated_{kind}"] = int(tested["separated"].sum())
        row[f"rank_width_{kind}"] = (ranks[f"high_{kind}"] - ranks[f"low_{kind}"]).mean()
    return row


def calibration(cfg: DictConfig, judgments: Judgments) -> pd.DataFrame:
    """Coverage by kind of error on data drawn from the first member's fit, with and without question effects."""
    member = cfg.members[0]
    truth = fit(judgments.comparisons, member, solver_settings(cfg.solver, member)).solution.parameters
    question_data = QuestionData(judgments.comparisons, judgments.question, member, truth, start=truth)
    settings = {"level": cfg.level, "bootstraps": cfg.inner_bootstraps}
    cells = {}
    for sd in cfg.question_sd:
        scores = limit(question_data, sd).scores
        cells[f"sd{sd:g}"] = {"question_sd": sd, **settings, "limit": (scores / scores.std(ddof=0)).tolist()}
    study = _study(cfg, judgments, "uncertainty-calibration", calibrated, cells, cfg.replications, question_data)
    rows = []
    for cell, cell_settings in study.cells.items():
        records = pd.DataFrame(study.records(cell))
        for kind in KINDS:
            row = {"question_sd": cell_settings["question_sd"], "errors": kind}
            row["ratio"] = (records[f"error/{kind}"] / records["error/plug_in"]).mean()
            for measure in ("covered", "ranks_held", "wrongly_separated", "rank_width", "separated"):
                values = records.get(f"{measure}/{kind}", pd.Series(dtype=float)).dropna()
                row |= with_error(measure, values)
            rows.append(row | {"n_replications": int(records["covered/plug_in"].notna().sum())})
    return pd.DataFrame(rows)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {
        "errors": plots.uncertainty(
            tables["errors"], tables["ranks"], f"Scores and ranks by kind of standard error{suffix}"
        )
    }


run = section_command("uncertainty", compute, draw)

if __name__ == "__main__":
    run()
