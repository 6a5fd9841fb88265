"""Section 5.2 and appendix F.1: agreement with MT-Bench (Table 1) and UltraFeedback (its table and figure).

python experiments/benchmark_alignment.py [solver=adam] [ratings=my_ratings.json]
    [+dataset@votes.mt_bench=mt_bench_votes] ...
"""

import logging

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank import Fit
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from replication import plots, published
from replication.config import both_fits, is_changed
from replication.datasets import load_judgments, named_source, ultrafeedback_ratings
from replication.outputs import section_command
from replication.statistics import spearman
from replication.tables import Table, fit_rows, leaderboard

log = logging.getLogger("replication")
PRINTED = {"mt_bench": "Table 1", "ultrafeedback": "Table A.6"}
FROM_ELSEWHERE = {
    "mt_bench": ["mmlu", "truthfulqa", "mt_bench_score"],
    "ultrafeedback": ["alpaca_eval", "evol_instruct", "ultrachat"],
}
SCORES = ["score_btl", "score_judge_aware"]


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    tables, fits, leads, checks = {}, [], [], []
    unknown = sorted(cfg.votes.keys() - PRINTED.keys())
    if unknown:
        raise ConfigError(f"votes.{unknown[0]}: people's votes stand beside {' or '.join(PRINTED)}")
    for name, table_name in PRINTED.items():
        title = data[name].title
        pair = list(both_fits(cfg.solver, data[name].comparisons).values())
        ranking = leaderboard(*pair, cfg.level).set_index("model")
        if not data[name].is_surrogate:
            checks.append(published.compare(name, ranking, SCORES, table=table_name))
        for column in FROM_ELSEWHERE[name]:
            ranking[column] = published.numbers(name, column)
        note = _note(pair[0])
        caption = f"{title}: scores with {cfg.level:.0%} intervals ({table_name}){note}"
        tables[name] = Table(ranking.reset_index(), caption)
        fits.append(fit_rows(pair, cfg.level, dataset=name))
        leads += [lead(fitted, cfg.level, dataset=name) for fitted in pair]
        if name in cfg.votes:
            votes = load_judgments(cfg.votes[name])
            tables[f"{name}_votes"] = votes_table(
                pair[0], both_fits(cfg.solver, votes.comparisons)["btl"], votes, cfg.level
            )
        for fitted in pair:
            log.info("%s: %s%s", title, fitted, note if fitted is pair[0] else "")
    tables["fits"] = Table(pd.concat(fits, ignore_index=True), "The fits", 4)
    tables["lead"] = Table(pd.DataFrame(leads), "How far the first model stands before the second")
    if not checks:
        return tables
    check = pd.concat(checks, ignore_index=True)
    log.info("printed scores reproduced: %d of %d", check["reproduced"].sum(), len(check))
    tables["paper_check"] = Table(check, "Every printed score beside ours")
    try:
        if cfg.ratings:
            rated = ultrafeedback_ratings(cfg.ratings)
            caption = f"UltraFeedback: mean rating of every model in four dimensions ({rated.attrs['source']})"
            tables["ratings"] = Table(rated, caption)
    except DataUnavailableError as error:
        if is_changed("benchmark_alignment", cfg, "ratings"):
            raise
        log.info("the four-dimension figure is left out: %s", error)
    return tables


def lead(fitted: Fit, level: float, **labels: str) -> dict[str, object]:
    """Difference between the two highest scores with its standard error and interval, as a row."""
    first, second = fitted.ranks.sort_values().index[:2]
    difference = fitted.contrast({first: 1, second: -1}, level)
    names = {"fit": fitted.model.name, "first": first, "second": second}
    return {**labels, **names, "difference": difference.pop("estimate"), **difference}


def votes_table(judged: Fit, voted: Fit, votes: Judgments, level: float) -> Table:
    """Scores of people's votes, all people alike, beside the judges' scores of the same models."""
    both = judged.scores.index.intersection(voted.scores.index)
    if both.empty:
        raise DataError(
            f"{votes.title}: none of its models is among those judged (it has: {listed(voted.scores.index)})"
        )
    intervals = voted.confidence_intervals(level).query("parameter == 'score'").set_index("name").loc[both]
    frame = intervals[["estimate", "low", "high"]].rename(columns=lambda end: f"{end}_votes")
    frame["score_judge_aware"] = judged.scores
    ranks = {"rank_votes": frame["estimate_votes"], "rank_judge_aware": frame["score_judge_aware"]}
    frame = frame.assign(**{name: scores.rank(ascending=False).astype(int) for name, scores in ranks.items()})
    rho = spearman(frame["estimate_votes"], frame["score_judge_aware"])
    counts = f"{voted.comparisons.n_comparisons:,.0f} votes, Spearman correlation with the judges {rho:.3f}"
    log.info("%s: %s", votes.title, counts)
    caption = f"{votes.title} ({named_source(votes.source)}): BTL scores with {level:.0%} intervals; {counts}"
    return Table(frame.sort_values("rank_votes").rename_axis("model").reset_index(), caption)


def _note(fitted: Fit) -> str:
    """What a reader must know of a fit that has no interior maximum, or has not reached one."""
    if fitted.judges_at_zero:
        names = ", ".join(fitted.judges_at_zero)
        return (
            f". The likelihood has no interior maximum: over gamma >= 0 its maximum puts {names} at zero. A judge-"
            "aware column with every gamma positive, as printed, is where an iteration stopped, not a maximum"
        )
    if not fitted.converged:
        return f". These are where the iteration stopped after {fitted.solution.iterations} steps, not a maximum"
    return ""


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    mt, uf = tables["mt_bench"], tables["ultrafeedback"]
    figures = {
        "mt_bench": plots.agreement(mt, "mt_bench_score", "MT-Bench score", f"MT-Bench{suffix}"),
        "ultrafeedback_leaderboard": plots.leaderboard(uf, f"UltraFeedback{suffix}"),
    }
    if "ratings" in tables:
        rated = tables["ratings"].merge(uf[["model", "score_judge_aware"]], on="model")
        figures["ultrafeedback_ratings"] = plots.ratings(rated, f"UltraFeedback ratings{suffix}")
    return figures


run = section_command("benchmark_alignment", compute, draw)

if __name__ == "__main__":
    run()
