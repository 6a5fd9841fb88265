"""Appendix F.6: discriminations that depend on the question's length, gamma_k(z) = exp(alpha_k + beta_k z).

python experiments/length_covariate.py [dataset=mt_bench] [curves=[judge,...]] ...

The paper's in-house curves take the lengths of questions whose texts are not published: dataset=in_house needs
dataset.questions=FILE. On a surrogate (dataset=in_house_surrogate) the slopes are known, and stand beside the
estimates.
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank import Fit, fit
from judgerank.data.judgments import Judgments
from judgerank.engine.adam import Adam
from judgerank.inference.wald import likelihood_ratio
from replication import plots
from replication.config import solver_settings
from replication.outputs import section_command
from replication.statistics import spearman
from replication.tables import Table, fit_rows

log = logging.getLogger("replication")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    title, comparisons = judgments.title, judgments.with_lengths()
    scalar, length = (fit(comparisons, m, solver_settings(cfg.solver, m)) for m in ("judge_aware", "length"))
    iterated = fit(comparisons, "length", Adam(max_iterations=cfg.adam_iterations))
    slopes = slope_table(length, cfg.level, judgments.truth)
    slopes["slope_adam"] = iterated.slope.to_numpy()
    ranking = pd.DataFrame({"score_length": length.scores, "score_judge_aware": scalar.scores})
    ranking["rank_length"], ranking["rank_judge_aware"] = length.ranks, scalar.ranks
    ranking["rank_change"] = ranking["rank_judge_aware"] - ranking["rank_length"]
    df = len(scalar.comparisons.judges) - len(length.judges_at_zero)
    statistic, p_value = likelihood_ratio(scalar.log_likelihood, length.log_likelihood, df)
    by_question = length.clustered(comparisons, judgments.question).confidence_intervals(cfg.level)
    test = {
        "statistic": statistic,
        "degrees_of_freedom": df,
        "p_value": p_value,
        "slopes": len(slopes),
        "slopes_sure": sure(slopes["low_slope"], slopes["high_slope"]),
        "slopes_sure_by_question": sure(
            *(by_question.query("parameter == 'slope'")[end] for end in ("low", "high"))
        ),
        "spearman": spearman(length.scores, scalar.scores),
        "largest_rank_change": int(ranking["rank_change"].abs().max()),
        "z_q25": np.quantile(comparisons.covariate, 0.25),
        "z_q75": np.quantile(comparisons.covariate, 0.75),
    }
    log.info("%s: %s", title, ", ".join(f"{name} {value:.4g}" for name, value in test.items()))
    fits = fit_rows([scalar, length, iterated], cfg.level).assign(
        solver=[cfg.solver.name, cfg.solver.name, "adam"]
    )
    judges_plotted = list(cfg.curves or representative(slopes))
    z = np.linspace(comparisons.covariate.min(), comparisons.covariate.max(), 81)
    curves = pd.concat(
        [length.discrimination_curve(judge, z, cfg.level).assign(judge=judge) for judge in judges_plotted]
    )
    return {
        "slopes": Table(slopes, f"{title}: discrimination at average length, and slope in length, by judge"),
        "ranking": Table(ranking.rename_axis("model").reset_index(), f"{title}: scores with and without length"),
        "test": Table(
            pd.DataFrame([test]),
            f"{title}: likelihood-ratio test of all slopes zero, as if comparisons of a question were "
            "independent, and rough where some are on their bound; how many intervals do not hold zero, also with "
            "errors by question; ranks",
            4,
        ),
        "fits": Table(fits, f"{title}: the fits", 4),
        "curves": Table(curves, f"{title}: discrimination against standardised log length"),
    }


def sure(low: pd.Series, high: pd.Series) -> int:
    """How many intervals do not hold zero."""
    return int(((low > 0) | (high < 0)).sum())


def slope_table(length: Fit, level: float, truth: pd.DataFrame | None) -> pd.DataFrame:
    """Discriminations and slopes with intervals by judge, the truth beside them where it is known."""
    rows = length.confidence_intervals(level).set_index("name")
    parts = [rows[rows["parameter"] == parameter] for parameter in ("discrimination", "slope")]
    columns = {"discrimination": parts[0]["estimate"], "slope": parts[1]["estimate"]}
    for part, name in zip(parts, columns.copy(), strict=True):
        columns |= {f"{end}_{name}": part[end] for end in ("low", "high")}
    frame = pd.DataFrame(columns).assign(status=length.judge_status)
    if truth is not None:
        true_slopes = truth[truth["parameter"] == "slope"].set_index("name")["value"]
        frame["true_slope"] = true_slopes[frame.index]
        covered = (frame["low_slope"] <= frame["true_slope"]) & (frame["true_slope"] <= frame["high_slope"])
        log.info("true slopes within their intervals: %d of %d", covered.sum(), frame["low_slope"].notna().sum())
    return frame.rename_axis("judge").reset_index()


def representative(slopes: pd.DataFrame) -> list[str]:
    """Of the half of the judges with the shortest intervals, the two least and the two largest slopes."""
    width = slopes["high_slope"] - slopes["low_slope"]
    precise = slopes[width <= width.median()].sort_values("slope", kind="stable")["judge"].tolist()
    return [*precise[:2], *precise[-2:]]


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    title = f"Discrimination by length of the question{suffix}"
    if plots.NAMES["in_house"] not in suffix:
        title += "\nnot the paper's set: its curves are of the in-house data, whose questions are not published"
    return {
        "curves": plots.length_curves(tables["curves"], tables["slopes"], tables["test"].iloc[0], title),
        "slopes": plots.slopes(tables["slopes"], f"Slopes in length{suffix}"),
    }


run = section_command("length_covariate", compute, draw)

if __name__ == "__main__":
    run()
