"""Settings that the paper does not state, searched for on its in-house data: judges, ties, samples, stops.

python experiments/unstated_settings.py [seeds=[7]] [most_left_out=1] ...

Every table lists what was tried, nearest to the printed number first. A setting that reproduces a number shows
that the number can come about so, not that it did.
"""

import logging
from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank import Fit, fit
from judgerank.data.arrays import generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.judgments import Judgments
from judgerank.engine.adam import Adam
from replication import published
from replication.outputs import section_command
from replication.setting_searches import (
    FITS,
    against_table_2,
    rank_search,
    reduction_search,
    sample_search,
    samples,
    stop_search,
    stops,
    tie_search,
    turned,
    versions_of,
    width_search,
)
from replication.tables import Table

log = logging.getLogger("replication")
CAPTIONS = {
    "widths": "mean interval widths by judges, ties and average",
    "reductions": "reductions of the width by what may be meant by the word",
    "ties": "models that exchange their places once ties are dropped; named: the two pairs of appendix F.4",
    "btl_ranks": "printed BTL scores and ranks reproduced, by judges left out and what answers count for",
    "interval_ends": "printed judge-aware scores and interval ends reproduced, at the maximum and before it",
    "samples": "BTL on samples of the pool's comparisons against the correlations of section 5.4",
    "stops": "judge-aware fits to the sample found, by algorithm and iterations (Table 2)",
    "turned": "Table 2 by the stop found, with about half of the comparisons told of the other way round",
    "table_2": "Table 2 and its correlations: the sample and stop found, the sample's maximum, all comparisons",
}


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    judgments = data["in_house"]
    left_out = list(cfg.datasets.in_house.left_out)
    variants = dict(versions_of(judgments.comparisons, left_out))
    fits = {(*key, model): fit(part, model) for key, part in variants.items() for model in FITS}
    arena = {("all", "half", model): fit(data["chatbot_arena"].comparisons, model) for model in FITS}
    tables = {
        "widths": width_search(fits, cfg.level),
        "reductions": reduction_search({"in_house": fits, "chatbot_arena": arena}, cfg.level),
        "ties": tie_search(fits, {frozenset(pair) for pair in cfg.swapped}, cfg.level),
        "btl_ranks": rank_search(judgments, cfg.most_left_out),
        "interval_ends": end_search(variants["kept", "half"], cfg),
        **table_2_search(judgments, fits["all", "half", "judge_aware"], cfg),
    }
    for name, table in tables.items():
        log.info("%s: %d tried, first:\n%s", name, len(table), table.head(3).to_string(index=False))
    return {name: Table(table, f"{judgments.title}: {CAPTIONS[name]}", 4) for name, table in tables.items()}


def stopped_fits(
    comparisons: Comparisons, algorithms: list[DictConfig], iterations_read: list[int]
) -> dict[tuple[str, str], Fit]:
    """Judge-aware fits as Algorithm A.1 would leave them, by its constants and by the stop."""
    fits = {}
    for constants in algorithms:
        settings = Adam(**constants, tolerance=0.0, max_iterations=max(iterations_read))
        name = ", ".join(f"{key} {value:g}" for key, value in constants.items())
        fits |= {
            (name, str(iterations)): fitted for iterations, fitted in stops(comparisons, settings, iterations_read)
        }
    return fits


def end_search(used_comparisons: Comparisons, cfg: DictConfig) -> pd.DataFrame:
    """Table A.7's judge-aware column at the maximum, and where the published algorithm may have been stopped."""
    fits = {("maximum", "--"): fit(used_comparisons)} | stopped_fits(
        used_comparisons, cfg.ranking_algorithms, list(cfg.ranking_stops)
    )
    rows = []
    for (algorithm, iterations), fitted in fits.items():
        scores = fitted.confidence_intervals(cfg.level).query("parameter == 'score'").set_index("name")
        ours = scores[["estimate", "low", "high"]].add_suffix("_judge_aware")
        ours = ours.rename(columns={"estimate_judge_aware": "score_judge_aware"})
        compared = published.compare("complete_ranking", ours, list(ours))
        missed = compared[~compared["reproduced"]]
        worst = compared.loc[missed["difference"].abs().idxmax()] if len(missed) else None
        worst_cell = {} if worst is None else {name: worst[name] for name in ("row", "column", "paper", "ours")}
        rows.append(
            {
                "algorithm": algorithm,
                "iterations": iterations,
                "tried": len(compared),
                "reproduced": int(compared["reproduced"].sum()),
                "largest_difference": float(compared["difference"].abs().max()),
                **{f"worst_{name}": value for name, value in worst_cell.items()},
            }
        )
    return pd.DataFrame(rows).sort_values("reproduced", ascending=False, kind="stable", ignore_index=True)


def table_2_search(judgments: Judgments, full_fit: Fit, cfg: DictConfig) -> dict[str, pd.DataFrame]:
    """Table 2: first the sample, by BTL's correlations; then where on it the judge-aware iteration stopped."""
    text, c = published.table("in_text")["printed"], judgments.comparisons
    judges = published.table("mixed_judges").index.tolist()
    printed = {name: text[f"mixed_{name}_btl"] for name in ("pearson", "spearman")}
    tried = samples(judgments.frame, c, judges, OmegaConf.to_container(cfg.sizes), list(cfg.seeds))
    sample_table = sample_search(tried, full_fit.scores, printed)
    first = sample_table.iloc[0]
    size, seed = {first["drawn_from"]: [int(first["size"])]}, [int(first["seed"])]
    again = samples(judgments.frame, c, judges, size, seed)
    part = next(part for setting, part in again if setting["generator"] == first["generator"])
    fits = {("maximum", "--"): fit(part)} | stopped_fits(part, cfg.algorithms, list(cfg.stops))
    btl, pool = fit(part, "btl"), c.with_judges(judges)
    order = stop_search(fits, btl, full_fit.scores)
    stopped = fits[tuple(order.loc[0, ["algorithm", "iterations"]])]
    table = against_table_2(stopped, btl, full_fit.scores)
    maximum = against_table_2(fits["maximum", "--"], btl, full_fit.scores)
    table["ours_maximum"], table["reproduced_maximum"] = maximum["ours"], maximum["reproduced"]
    table["ours_all_comparisons"] = against_table_2(fit(pool), fit(pool, "btl"), full_fit.scores)["ours"]
    around = turned_search(part, stopped, btl, full_fit.scores, cfg)
    return {"samples": sample_table, "stops": order, "table_2": table, "turned": around}


def turned_search(
    part: Comparisons, stopped: Fit, btl: Fit, reference: pd.Series, cfg: DictConfig
) -> pd.DataFrame:
    """Table 2 by the stop found on the same comparisons in turned order, so that sums round otherwise."""
    settings, rows = replace(stopped.settings, max_iterations=stopped.solution.iterations), []
    for number in range(cfg.turned):
        reordered = turned(part, generator(cfg.seed, "unstated_settings", "turned", number))
        check = against_table_2(fit(reordered, "judge_aware", settings), btl, reference).set_index("name")
        rows.append(
            {"reproduced": int(check["reproduced"].sum()), **check["ours"][["pearson_gain", "spearman_gain"]]}
        )
    return pd.DataFrame(rows)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {}


run = section_command("unstated_settings", compute, draw)

if __name__ == "__main__":
    run()
