"""Appendices E and F.5: who the judges are, what they are asked, and their discriminations.

python experiments/judge_reliability.py [level=0.9] [path_length=20000] ...

The judge-aware likelihood of UltraFeedback has no interior maximum, so the printed column cannot be one. This
section also follows the published algorithm iteration by iteration, shows how near it comes to the printed column,
and tries a finite list of other settings.
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank import Fit, fit
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.engine.adam import Adam, iterates
from judgerank.engine.sums import evaluate
from judgerank.model.members import JUDGE_AWARE
from replication import plots, published
from replication.config import main, solver_settings
from replication.duplicates import agreement_by_kind, answer_agreement, with_judges_merged
from replication.model_sizes import printed_sizes
from replication.outputs import run_section
from replication.stopping import Tried, gradient_at_printed, one_at_a_time, starts, tried
from replication.tables import Table, discrimination, fit_rows

log = logging.getLogger("replication")
EVERY = 20  # iterations between the points of the path that are stored


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
        tables |= against_paper(table, fits["ultrafeedback"], cfg.path_length)
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
            moved = int((merged.ranks - fits[name].ranks).abs().max())
            row = fit_rows([fits[name], merged], cfg.level, dataset=name).drop(columns="log_likelihood")
            rows.append(row.assign(judges=["as published", "merged"], largest_rank_change=[0, moved]))
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


def against_paper(table: pd.DataFrame, ultrafeedback: Fit, length: int) -> dict[str, Table]:
    """The printed columns beside ours, and how UltraFeedback's came about."""
    ours = table.pivot(index="judge", columns="dataset", values="discrimination")
    check = published.compare("judge_discrimination", ours, ["mt_bench", "ultrafeedback"], table="Table A.8")
    for column, rows in check.groupby("column"):
        log.info("%s: printed numbers reproduced: %d of %d", column, rows["reproduced"].sum(), len(rows))
    path, nearest, stopped = follow(ultrafeedback, length)
    note = (
        f"UltraFeedback: over gamma >= 0 the maximum puts {', '.join(ultrafeedback.judges_at_zero) or 'no judge'} "
        "at zero, so the printed column, all above zero, is no maximum. From zero, Algorithm A.1 is nearest "
        f"to it after {nearest} iterations (largest difference {path['largest_difference'].min():.3f})"
    )
    log.info("%s", note)
    return {
        "paper_check": Table(check, "Every printed discrimination beside ours"),
        "stopping_path": Table(path, "UltraFeedback: the path of Algorithm A.1", 4),
        "stopping_point": Table(stopped, note),
    }


def searched(cfg: DictConfig, data: dict[str, Judgments], fits: dict[str, Fit]) -> dict[str, Table]:
    """Which settings of Algorithm A.1, of a finite list, give the printed columns."""
    found, varied = [], {name: list(cfg.search[name]) for name in ("steps", "epsilon", "answers")}
    for name in ("ultrafeedback", "mt_bench"):
        gammas = {data[other].title: fits[other].discrimination for other in data if other != name}
        unweighted = fit(data[name].comparisons, "btl").scores
        at = starts(fits[name].comparisons, gammas, unweighted, cfg.search.random_starts, cfg.seed)
        left_out = [(judge,) for judge in fits[name].judges_at_zero] if name == "ultrafeedback" else []
        if name == "mt_bench":  # there is a maximum, so starts matter little; any judge may be missing
            left_out = [(judge,) for judge in fits[name].comparisons.judges]
        settings = list(one_at_a_time(Tried(), start=list(at)[1:], left_out=left_out, **varied))
        if name == "ultrafeedback":
            settings += list(one_at_a_time(Tried(f"gammas of {data['mt_bench'].title}"), **varied))[1:]
        found.append(tried(data[name], name, settings, at, cfg.search.length))
    every = pd.concat(found, ignore_index=True)
    for name, rows in every.groupby("dataset", sort=False):
        log.info("%s: no. of settings and stops %d, most matched %d of %d", name, len(rows), *_most(rows))
    published_steps = every[(every["dataset"] == "ultrafeedback") & (every["stop"] == "nearest")]
    differing = [field for field in vars(Tried()) if field != "start"]
    as_published = (published_steps[differing] == pd.Series(Tried().columns())[differing]).all(axis=1)
    columns = ["start", "iteration", "matched", "of", "largest_difference", "log_likelihood"]
    gradient = pd.concat(
        gradient_at_printed(fits[name].comparisons, name) for name in ("mt_bench", "ultrafeedback")
    )
    return {
        "stopping_starts": Table(
            published_steps.loc[as_published, columns],
            "UltraFeedback: Algorithm A.1 with its published settings, where it is nearest to the printed column",
        ),
        "settings_tried": Table(every, "Printed discriminations that other settings of Algorithm A.1 match"),
        "gradient": Table(gradient, "Gradient in every judge's log-discrimination at the printed ones"),
    }


def _most(rows: pd.DataFrame) -> tuple[int, int]:
    best = rows.loc[rows["matched"].idxmax()]
    return int(best["matched"]), int(best["of"])


def follow(fitted: Fit, length: int) -> tuple[pd.DataFrame, int, pd.DataFrame]:
    """Algorithm A.1 on the cells of a fit.

    Returns
    -------
    DataFrame
        Its path: ``iteration, largest_difference`` (to the printed column), ``log_likelihood``.
    int
        The iteration nearest to the printed column.
    DataFrame
        ``judge, paper, nearest, ours``: the printed discriminations, the nearest ones, those of the fit.
    """
    cells = fitted.comparisons
    printed = published.numbers("judge_discrimination", "ultrafeedback")[list(cells.judges)]
    path, gammas = [], []
    for iteration, at, _ in iterates(cells, JUDGE_AWARE, Adam(tolerance=0.0, max_iterations=length)):
        if iteration % EVERY == 0:
            gammas.append(np.exp(at.judges[0]))
            gap = float(np.abs(gammas[-1] - printed.to_numpy()).max())
            path.append((iteration, gap, evaluate(cells, JUDGE_AWARE, at).log_likelihood))
    frame = pd.DataFrame(path, columns=["iteration", "largest_difference", "log_likelihood"])
    best = int(frame["largest_difference"].idxmin())
    columns = {"paper": printed, "nearest": gammas[best], "ours": fitted.discrimination}
    return frame, int(frame["iteration"][best]), pd.DataFrame(columns).rename_axis("judge").reset_index()


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


@main("judge_reliability")
def run(cfg: DictConfig) -> None:
    run_section("judge_reliability", cfg, compute, draw)


if __name__ == "__main__":
    run()
