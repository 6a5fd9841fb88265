"""Appendices E and F.5: who the judges are, what they are asked, and their discriminations.

python experiments/judge_reliability.py [level=0.9] [search.length=8000] ...

The judge-aware likelihood of UltraFeedback has no interior maximum, so the printed column cannot be one. This
section also searches for settings and stops of the published algorithm that give it, and the set's printed scores.
"""

import logging
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank import Fit, fit
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from replication import plots, published
from replication.config import solver_settings
from replication.judge_models import agreement_by_kind, answer_agreement, printed_sizes, with_judges_merged
from replication.outputs import section_command
from replication.stopping import (
    Search,
    Tried,
    combinations_of,
    gradient_at_printed,
    one_at_a_time,
    printed_differences,
    search,
    starts,
)
from replication.tables import Table, discrimination, fit_rows

log = logging.getLogger("replication")
POINTS = 600  # of the path that are stored, about


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    settings = solver_settings(cfg.solver, "judge_aware")
    fits = {name: fit(judgments.comparisons, "judge_aware", settings) for name, judgments in data.items()}
    table = pd.concat([discrimination(f, cfg.level, name) for name, f in fits.items()], ignore_index=True)
    summary = pd.concat([fit_rows([f], cfg.level, dataset=name) for name, f in fits.items()], ignore_index=True)
    answers = pd.concat([judgments.judges for judgments in data.values()], ignore_index=True)
    tables = {
        "discrimination": Table(table, f"Discriminations with {cfg.level:.0%} intervals (Table A.8)"),
        "answers": Table(answers, "What each judge answered: shares of a, b and ties, and unparsed answers"),
        "fits": Table(summary, "The judge-aware fits", 4),
        "judges": Table(panel(answers), "Judges: number in the paper's list (Table A.5), comparisons by set", 0),
        "prompt": Table(pd.DataFrame([dict(cfg.prompt)]), "What a judge is asked, in words of our own"),
    }
    for name, fitted in fits.items():
        log.info("%s: %s, judges at zero: %s", name, fitted.status, ", ".join(fitted.judges_at_zero) or "none")
    if not data["ultrafeedback"].is_surrogate:
        tables |= against_paper(table)
        tables |= searched(cfg, data, fits)
        tables |= one_model_under_several_names(cfg, data, fits)
    return tables


def one_model_under_several_names(
    cfg: DictConfig, data: dict[str, Judgments], fits: dict[str, Fit]
) -> dict[str, Table]:
    """How alike judges answer on shared items, and the fits with the suspected ids merged into one judge."""
    pairs, kinds, rows = [], [], []
    for name, judgments in data.items():
        alike = answer_agreement(judgments, cfg.fewest_shared, cfg.level)
        alike["one_model"] = alike[["judge_1", "judge_2"]].isin(list(cfg.one_model)).all(axis=1)
        gamma = fits[name].discrimination
        pairs.append(alike)
        kinds.append(agreement_by_kind(alike, gamma.index[gamma > 1], cfg.level))
    for name, judgments in data.items():
        if cfg.one_model and set(cfg.one_model) <= set(judgments.comparisons.judges):
            single = with_judges_merged(judgments, cfg.one_model, "merged")
            merged = fit(single, "judge_aware", solver_settings(cfg.solver, "judge_aware"))
            largest_change = int((merged.ranks - fits[name].ranks).abs().max())
            row = fit_rows([fits[name], merged], cfg.level, dataset=name).drop(columns="log_likelihood")
            rows.append(row.assign(judges=["as published", "merged"], largest_rank_change=[0, largest_change]))
    if not rows:
        raise ConfigError(f"one_model: no set has all of these judges: {', '.join(cfg.one_model)}")
    changes = pd.concat(rows, ignore_index=True)
    compared = pd.concat(kinds, ignore_index=True)
    for frame in (compared, changes):
        log.info("%s", frame.to_string(index=False, float_format="{:.3f}".format))
    share = f"Share of equal answers of two judges on the items both judged, with {cfg.level:.0%} Wilson intervals"
    return {
        "agreement": Table(pd.concat(pairs, ignore_index=True), share),
        "agreement_by_kind": Table(
            compared, f"{share}: pairs pooled; strong judges have a discrimination above one"
        ),
        "merged": Table(changes, f"Fits with {', '.join(cfg.one_model)} as one judge with one vote an item", 4),
    }


def panel(answers: pd.DataFrame) -> pd.DataFrame:
    """Every judge that is in the paper's list or in a set."""
    counts = answers.pivot(index="judge", columns="dataset", values="comparisons")
    numbers = published.table("judge_llms")["number"].astype(int)
    table = counts.join(numbers.rename("table_a5"), how="outer")[["table_a5", *counts.columns]]
    return table.astype("Int64").sort_values("table_a5").rename_axis("judge").reset_index()


def against_paper(table: pd.DataFrame) -> dict[str, Table]:
    """The printed columns beside ours."""
    ours = table.pivot(index="judge", columns="dataset", values="discrimination")
    check = published.compare("judge_discrimination", ours, ["mt_bench", "ultrafeedback"], table="Table A.8")
    for column, rows in check.groupby("column"):
        log.info("%s: printed numbers reproduced: %d of %d", column, rows["reproduced"].sum(), len(rows))
    return {"paper_check": Table(check, "Every printed discrimination beside ours")}


def searched(cfg: DictConfig, data: dict[str, Judgments], fits: dict[str, Fit]) -> dict[str, Table]:
    """Which settings and stops of Algorithm A.1, of a finite list, give the printed columns."""
    searches = {name: search_of(name, cfg, data, fits) for name in ("ultrafeedback", "mt_bench")}
    ultrafeedback = searches["ultrafeedback"]
    numbers = printed_differences(ultrafeedback, "ultrafeedback", fits["ultrafeedback"])
    best = ultrafeedback.best
    settings = (
        f"steps {best['step_scores']:g} and {best['step_judges']:g}, beta1 {best['beta1']:g}, beta2 "
        f"{best['beta2']:g}, epsilon {best['epsilon']:g}, from {best['start']}"
    )
    log.info("%d of %d by %s", numbers["reproduced"].sum(), len(numbers), settings)
    gradient = pd.concat(
        gradient_at_printed(fits[name].comparisons, name) for name in ("mt_bench", "ultrafeedback")
    )
    return {
        "settings_tried": Table(
            pd.concat([result.rows for result in searches.values()], ignore_index=True),
            "Printed discriminations and scores that settings and stops of Algorithm A.1 match",
        ),
        "stopped_settings": Table(
            pd.DataFrame([dict(best)]),
            "UltraFeedback: the setting and the stop that give most of the printed numbers",
        ),
        "stopped_iterate": Table(
            numbers, f"UltraFeedback: Algorithm A.1 ({settings}) stopped after {best['iteration']} iterations", 4
        ),
        "stopping_path": Table(
            path_of(ultrafeedback), f"UltraFeedback: the path of Algorithm A.1 ({settings})", 4
        ),
        "gradient": Table(gradient, "Gradient in every judge's log-discrimination at the printed ones"),
    }


def search_of(name: str, cfg: DictConfig, data: dict[str, Judgments], fits: dict[str, Fit]) -> Search:
    """The search on one set: each respect by itself, and where there is no maximum the constants together, too."""
    choices = {key: list(cfg.search[key]) for key in ("steps", "betas", "epsilon", "answers")}
    gammas = {data[other_set].title: fits[other_set].discrimination for other_set in data if other_set != name}
    unweighted = fit(data[name].comparisons, "btl").scores
    starts_by_name = starts(fits[name].comparisons, gammas, unweighted, cfg.search.random_starts, cfg.seed)
    base = Tried(cfg.search.length)
    zero = fits[name].judges_at_zero
    # with a maximum, starts and constants matter little, and any judge may be missing
    left_out = [(judge,) for judge in zero or fits[name].comparisons.judges]
    settings = list(one_at_a_time(base, start=list(starts_by_name)[1:], left_out=left_out, **choices))
    if zero:
        from_mt_bench = replace(base, start=f"gammas of {data['mt_bench'].title}")
        settings += list(one_at_a_time(from_mt_bench, **choices))[1:]
        for grid in cfg.search.grids:
            settings += combinations_of(grid, cfg.search.reach)
    result = search(data[name], name, settings, starts_by_name)
    best = result.best
    log.info(
        "%s: %d settings, %d stops; most matched: %d of %d discriminations, %d of %d scores (iteration %d)",
        *(name, len(settings), len(result.rows), best["matched"], best["of"]),
        *(best["scores_matched"], best["scores_of"], best["iteration"]),
    )
    return result


def path_of(result: Search) -> pd.DataFrame:
    """The path to the best stop and beyond.

    Returns
    -------
    DataFrame
        ``iteration, largest_difference, matched, of`` (discriminations and scores), ``log_likelihood, stop``.
    """
    compared = result.path.against("ultrafeedback")
    at_stop = compared.index == result.best["iteration"]
    is_plotted = at_stop | (np.arange(len(compared)) % max(1, len(compared) // POINTS) == 0)
    frame = compared.loc[is_plotted, ["largest_difference", "both_matched"]].rename(
        columns={"both_matched": "matched"}
    )
    frame["of"] = result.best["of"] + result.best["scores_of"]
    frame["log_likelihood"] = [result.path.log_likelihood(iteration) for iteration in frame.index]
    return frame.assign(stop=at_stop[is_plotted]).reset_index()


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    table = tables["discrimination"]
    ultrafeedback = table[table["dataset"] == "ultrafeedback"]
    sized = ultrafeedback.merge(printed_sizes(), left_on="judge", right_index=True).dropna(subset=["size"])
    figures = {
        "size_against_discrimination": plots.size_against_discrimination(
            sized, f"UltraFeedback: judge size and discrimination{suffix}"
        ),
        "mt_bench_against_ultrafeedback": plots.discrimination_scatter(
            table, f"Discriminations of the same judges on two sets{suffix}"
        ),
        "discrimination": plots.discrimination_bars(table, f"Judges' discrimination{suffix}"),
        "prompt_template": plots.prompt(
            tables["prompt"].at[0, "text"],
            f"What a judge is asked, in our words, not those of the paper's figure{suffix}",
        ),
    }
    if "stopping_path" in tables:
        supremum = tables["fits"].set_index("dataset").at["ultrafeedback", "log_likelihood"]
        title = f"UltraFeedback: Algorithm A.1{suffix}"
        figures["stopping_path"] = plots.stopping_path(tables["stopping_path"], supremum, title)
    return figures


run = section_command("judge_reliability", compute, draw)

if __name__ == "__main__":
    run()
