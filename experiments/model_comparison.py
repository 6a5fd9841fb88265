"""Beyond the paper: what a judge's leaning towards a position explains that discrimination does not.

python experiments/model_comparison.py [dataset=chatbot_arena] [folds=5] [members=[btl,judge_aware]] ...
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig
from scipy.stats import spearmanr

from judgerank import FitResult, fit, plots, published
from judgerank.config import main, solver_settings
from judgerank.connectivity import position_share
from judgerank.crossvalidation import cross_validated, folds_of
from judgerank.datasets import Judgments
from judgerank.inference import likelihood_ratio
from judgerank.outputs import run_section
from judgerank.tables import Table

log = logging.getLogger("judgerank")
NESTED = {
    "judge_aware": "btl",
    "position_only": "btl",
    "position_aware": "judge_aware",
}  # member: the one it contains


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    title, comparisons, members = judgments.title, judgments.comparisons, list(cfg.members)
    fits = {member: fit(comparisons, member, *solver_settings(cfg.solver, member)) for member in members}
    scores = cross_validated(comparisons, members, folds_of(judgments, cfg.folds, cfg.seed))
    table = members_table(fits, scores, judgments)
    ranking = pd.DataFrame({f"rank_{member}": fitted.ranks for member, fitted in fits.items()})
    ranking = ranking.join(pd.DataFrame({f"score_{member}": fitted.scores for member, fitted in fits.items()}))
    share = position_share(comparisons.aggregate())
    log.info("%s, %.0f%% of a leaning towards a position could not be imitated by scores", title, 100 * share)
    log.info("%s", table.to_string(index=False, float_format="%.4f"))
    tables = {
        "members": Table(table, f"{title}: members of the family, {cfg.folds} folds of whole questions", 4),
        "folds": Table(scores, f"{title}: what each fold gave", 4),
        "ranking": Table(
            ranking.sort_values(f"rank_{members[-1]}").rename_axis("model").reset_index(),
            f"{title}: ranks and scores by member",
        ),
    }
    if {"judge_aware", "position_aware"} <= fits.keys():
        judges = judges_table(fits, judgments, cfg.level)
        tables["judges"] = Table(judges, f"{title}: what each judge does, {cfg.level:.0%} intervals")
    return tables


def members_table(fits: dict[str, FitResult], scores: pd.DataFrame, judgments: Judgments) -> pd.DataFrame:
    """One row per member: fit, test against the member it contains, held-out scores, agreement with people."""
    total = judgments.comparisons.n_comparisons
    elo = published.numbers("chatbot_arena_human", "elo") if judgments.name == "chatbot_arena" else None
    rows = []
    for member, fitted in fits.items():
        inner = fits.get(NESTED.get(member, ""))
        test = (np.nan, np.nan)
        if inner is not None:
            df = fitted.n_parameters - inner.n_parameters
            test = likelihood_ratio(inner.log_likelihood, fitted.log_likelihood, df)
        folds = scores[scores["member"] == member]
        weight = folds["comparisons"] / folds["comparisons"].sum()
        row = {
            "member": member,
            "status": str(fitted.status),
            "parameters": fitted.n_parameters,
            "log_likelihood": fitted.log_likelihood,
            "statistic": test[0],
            "p_value": test[1],
            "aic": 2 * fitted.n_parameters - 2 * fitted.log_likelihood,
            "bic": np.log(total) * fitted.n_parameters - 2 * fitted.log_likelihood,
            "log_loss": float(weight @ folds["log_loss"]),
            "log_loss_se": float(folds["log_loss"].std() / np.sqrt(len(folds))),
            "accuracy": float(weight @ folds["accuracy"]),
        }
        if elo is not None and not judgments.is_surrogate:
            row["spearman_human"] = spearmanr(fitted.scores[elo.index], elo).statistic
        rows.append(row)
    return pd.DataFrame(rows)


def judges_table(fits: dict[str, FitResult], judgments: Judgments, level: float) -> pd.DataFrame:
    """Discrimination with and without positions, position, and share of ties, by judge."""
    fitted = fits["position_aware"]
    rows = fitted.confidence_intervals(level)
    columns = {"discrimination_judge_aware": fits["judge_aware"].discrimination}
    for parameter in ("discrimination", "position"):
        part = rows[rows["parameter"] == parameter].set_index("name")
        columns |= {
            parameter: part["estimate"],
            f"low_{parameter}": part["low"],
            f"high_{parameter}": part["high"],
        }
    frame = pd.DataFrame(columns)
    frame["share_tie"] = judgments.judges.set_index("judge")["share_tie"]
    frame["status"] = fitted.judge_status
    return frame.sort_values("position", kind="stable").rename_axis("judge").reset_index()


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    if "judges" not in tables:
        return {}
    return {"judges": plots.character(tables["judges"], f"What the judges do{suffix}")}


@main("model_comparison")
def run(cfg: DictConfig) -> None:
    run_section("model_comparison", cfg, compute, draw)


if __name__ == "__main__":
    run()
