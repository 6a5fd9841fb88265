"""Section 5.3 and appendix F.3: the complete ranking with intervals, both fits side by side (Table A.7).

python experiments/complete_ranking.py [dataset=in_house|chatbot_arena|mt_bench|ultrafeedback] ...

Where the paper leaves judges out (dataset.left_out), its ranking is of those kept, and that of all judges stands
beside it.
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank import Fit, fit
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.engine.likelihood import evaluate
from judgerank.inference.wald import normal_quantile
from replication import plots, published
from replication.config import both_fits, solver_settings
from replication.outputs import section_command
from replication.tables import Table, discrimination, fit_rows, leaderboard

log = logging.getLogger("replication")
PRINTED = [
    *("rank_judge_aware", "rank_btl", "score_judge_aware", "score_btl"),
    *("low_judge_aware", "high_judge_aware", "low_btl", "high_btl", "rank_difference"),
]


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    title, everyone = judgments.title, judgments.comparisons
    all_fits = both_fits(cfg.solver, everyone)
    weak = not_above_zero(all_fits["judge_aware"], cfg.level)
    fit_above_zero = fit(without(everyone, weak), "judge_aware", solver_settings(cfg.solver, "judge_aware"))
    left_out = list(cfg.dataset.left_out)
    missing = [judge for judge in left_out if judge not in everyone.judges]
    if missing:
        raise ConfigError(f"dataset.left_out: {title} has no judge {', '.join(missing)}")
    fits = both_fits(cfg.solver, without(everyone, left_out)) if left_out else all_fits
    ranking = ranked(fits, cfg.level)
    summary = widths({**fits, "judge_aware, told from zero": fit_above_zero}, cfg.level)
    judges = discrimination(all_fits["judge_aware"], cfg.level, judgments.name)
    suffix = f", without {', '.join(left_out)}" if left_out else ""
    caption = f"{title}{{}}: scores with {cfg.level:.0%} intervals and ranks by both fits (Table A.7)"
    tables = {"ranking": Table(ranking, caption.format(suffix))}
    checks = {"kept": ranking}
    if left_out:
        checks["all"] = ranked(all_fits, cfg.level)
        tables["ranking_all_judges"] = Table(checks["all"], caption.format(", all judges"))
        by_all = widths(all_fits, cfg.level)
        summary = pd.concat([summary, by_all.assign(fit=by_all["fit"] + ", all judges")], ignore_index=True)
    tables |= {
        "fits": Table(
            summary,
            f"{title}{suffix}: mean interval widths, also over the spread of scores, their reduction against BTL, "
            "by how much BTL's are wider, and pairs told apart; the fit named so leaves out judges not told from "
            f"zero ({', '.join(weak) or 'none'})",
            4,
        ),
        "judges": Table(judges, f"{title}: discriminations with {cfg.level:.0%} intervals, all judges"),
    }
    log.info("%s\n%s", title, summary.drop(columns="log_likelihood").to_string(index=False, float_format="%.4f"))
    if judgments.name == "in_house":
        tables |= against_paper(checks, summary, judgments)
    return tables


def without(comparisons: Comparisons, judges: list[str]) -> Comparisons:
    """The comparisons by the other judges."""
    return comparisons.with_judges([judge for judge in comparisons.judges if judge not in judges])


def ranked(fits: dict[str, Fit], level: float) -> pd.DataFrame:
    """Both fits by model with the difference of their ranks, as in Table A.7."""
    ranking = leaderboard(fits["judge_aware"], fits["btl"], level)
    return ranking.assign(rank_difference=ranking["rank_btl"] - ranking["rank_judge_aware"])


def not_above_zero(fitted: Fit, level: float) -> list[str]:
    """Judges at zero, and judges whose interval given the scores reaches zero.

    Given the scores, since otherwise one judge near zero, whose logarithm is nearly free, would take the scale of
    all discriminations with it (their geometric mean is one).
    """
    at_fit = evaluate(fitted.comparisons, fitted.model, fitted.solution.parameters, "expected")
    gamma_over_error = np.sqrt(at_fit.judge_information[:, 0, 0])
    is_clear = gamma_over_error > normal_quantile(level)
    return [judge for judge, clear in zip(fitted.comparisons.judges, is_clear, strict=True) if not clear]


def widths(fits: dict[str, Fit], level: float) -> pd.DataFrame:
    """The fits' rows with widths over the spread of scores, and reductions against BTL (section 5.3)."""
    rows = fit_rows(list(fits.values()), level).assign(fit=list(fits))
    rows["relative_width"] = rows["mean_width"] / [fitted.scores.std(ddof=0) for fitted in fits.values()]
    btl = rows.set_index("fit").loc["btl"]
    for name in ("mean_width", "relative_width"):
        rows[f"{name}_reduction"] = 1 - rows[name] / btl[name]
    rows["btl_wider_by"] = btl["mean_width"] / rows["mean_width"] - 1  # what section 5.3 prints as a reduction
    rows.insert(1, "judges", [len(fitted.comparisons.judges) for fitted in fits.values()])
    return rows


def against_paper(
    rankings: dict[str, pd.DataFrame], summary: pd.DataFrame, judgments: Judgments
) -> dict[str, Table]:
    """The real data beside every printed number; the surrogate beside the printed widths only."""
    printed = published.table("in_text")["printed"]
    rows = [
        {
            "quantity": f"mean width, {name}",
            "paper": printed[f"in_house_width_{name.split(',')[0]}"],
            "ours": width,
        }
        for name, width in summary.set_index("fit")["mean_width"].items()
    ]
    check = pd.DataFrame(rows)
    log.info("beside the paper:\n%s", check.to_string(index=False, float_format="%.4f"))
    tables = {"width_check": Table(check, f"{judgments.title}: interval widths beside the paper's", 4)}
    if not judgments.is_surrogate:
        compared = pd.concat(
            [
                published.compare(
                    "complete_ranking", ranking.set_index("model"), PRINTED, table="Table A.7", judges=which
                )
                for which, ranking in rankings.items()
            ],
            ignore_index=True,
        )
        count = compared.groupby(["judges", "column"])["reproduced"].sum().unstack()
        log.info("printed numbers reproduced, of %d models:\n%s", len(rankings["kept"]), count.T.to_string())
        tables["paper_check"] = Table(
            compared, f"{judgments.title}: every printed number of Table A.7 beside ours, by the judges fitted"
        )
    return tables


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"leaderboard": plots.leaderboard(tables["ranking"], f"Complete ranking{suffix}")}


run = section_command("complete_ranking", compute, draw)

if __name__ == "__main__":
    run()
