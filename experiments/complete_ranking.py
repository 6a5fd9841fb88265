"""Section 5.3 and appendix F.3: the complete ranking with intervals, both fits side by side (Table A.7).

python experiments/complete_ranking.py [dataset=in_house|chatbot_arena|mt_bench|ultrafeedback] ...
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig
from scipy.stats import spearmanr

from judgerank import FitResult, fit, plots, published
from judgerank.config import both_fits, main, solver_settings
from judgerank.inference import normal_quantile
from judgerank.judgments import Judgments
from judgerank.likelihood import evaluate
from judgerank.outputs import run_section
from judgerank.tables import Table, discrimination, fit_rows, leaderboard

log = logging.getLogger("judgerank")
PRINTED = [
    *("rank_judge_aware", "rank_btl", "score_judge_aware", "score_btl"),
    *("low_judge_aware", "high_judge_aware", "low_btl", "high_btl"),
]


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    title = judgments.title
    fits = both_fits(cfg.solver, judgments.comparisons)
    weak = not_told_from_zero(fits["judge_aware"], cfg.level)
    kept = [judge for judge in judgments.comparisons.judges if judge not in weak]
    told = fit(judgments.comparisons.with_judges(kept), "judge_aware", *solver_settings(cfg.solver, "judge_aware"))
    ranking = leaderboard(fits["judge_aware"], fits["btl"], cfg.level)
    ranking["rank_difference"] = ranking["rank_btl"] - ranking["rank_judge_aware"]
    summary = widths({**fits, "judge_aware, told from zero": told}, cfg.level)
    judges = discrimination(fits["judge_aware"], cfg.level, judgments.name)
    tables = {
        "ranking": Table(
            ranking, f"{title}: scores with {cfg.level:.0%} intervals and ranks by both fits (Table A.7)"
        ),
        "fits": Table(
            summary,
            f"{title}: mean interval widths, also over the spread of scores, their reduction against BTL, and "
            f"pairs told apart; the last fit leaves out judges not told from zero ({', '.join(weak) or 'none'})",
            4,
        ),
        "judges": Table(judges, f"{title}: discriminations with {cfg.level:.0%} intervals"),
    }
    log.info("%s\n%s", title, summary.drop(columns="log_likelihood").to_string(index=False, float_format="%.4f"))
    if judgments.name == "in_house":
        tables |= against_paper(ranking, summary, judgments)
    return tables


def not_told_from_zero(fitted: FitResult, level: float) -> list[str]:
    """Judges at zero, and judges whose interval given the scores reaches zero.

    Given the scores, since otherwise one judge near zero, whose logarithm is nearly free, would take the scale of
    all discriminations with it (their geometric mean is one).
    """
    at_fit = evaluate(fitted.comparisons, fitted.model, fitted.solution.parameters, "expected")
    gamma_over_error = np.sqrt(at_fit.judge_information[:, 0, 0])
    told = gamma_over_error > normal_quantile(level)
    return [judge for judge, clear in zip(fitted.comparisons.judges, told, strict=True) if not clear]


def widths(fits: dict[str, FitResult], level: float) -> pd.DataFrame:
    """The fits' rows with widths over the spread of scores, and reductions against BTL (section 5.3)."""
    rows = fit_rows(list(fits.values()), level).assign(fit=list(fits))
    rows["relative_width"] = rows["mean_width"] / [fitted.scores.std(ddof=0) for fitted in fits.values()]
    btl = rows.set_index("fit").loc["btl"]
    for name in ("mean_width", "relative_width"):
        rows[f"{name}_reduction"] = 1 - rows[name] / btl[name]
    return rows


def against_paper(ranking: pd.DataFrame, summary: pd.DataFrame, judgments: Judgments) -> dict[str, Table]:
    """The real data beside every printed number; the surrogate beside the printed widths only."""
    ours, printed = summary.set_index("fit"), published.table("in_text")["printed"]
    width = {"judge_aware": "in_house_width_judge_aware", "btl": "in_house_width_btl"}
    rows = [
        {
            "quantity": f"mean width, {name}",
            "paper": printed[width[name.split(",")[0]]],
            "ours": ours.at[name, "mean_width"],
        }
        for name in ours.index
    ]
    scores = published.numbers("complete_ranking", "score_btl")
    found = spearmanr(ranking.set_index("model")["score_btl"][scores.index], scores).statistic
    rows.append(
        {"quantity": "Spearman correlation of BTL scores with the printed ones", "paper": "1", "ours": found}
    )
    check = pd.DataFrame(rows)
    log.info("beside the paper:\n%s", check.to_string(index=False, float_format="%.4f"))
    tables = {"width_check": Table(check, f"{judgments.title}: interval widths beside the paper's", 4)}
    if not judgments.is_surrogate:
        compared = published.compare("complete_ranking", ranking.set_index("model"), PRINTED, table="Table A.7")
        tables["paper_check"] = Table(
            compared, f"{judgments.title}: every printed number of Table A.7 beside ours"
        )
    return tables


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"leaderboard": plots.leaderboard(tables["ranking"], f"Complete ranking{suffix}")}


@main("complete_ranking")
def run(cfg: DictConfig) -> None:
    run_section("complete_ranking", cfg, compute, draw)


if __name__ == "__main__":
    run()
