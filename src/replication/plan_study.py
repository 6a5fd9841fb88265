"""What data of a planned size give, beside what the formulas expect of them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
from omegaconf import DictConfig

from judgerank.data.errors import DataError, NoIntervalError, NoMaximumError
from judgerank.engine.solution import Status
from judgerank.fits.fit import fit
from judgerank.inference.wald import normal_quantile
from judgerank.order.pairs import pairwise
from judgerank.order.scale import scale_of
from judgerank.planning.panels import Panel, drawn
from judgerank.planning.precision import GOALS, POWERS, WIDTHS, whole
from judgerank.planning.questions import INDEPENDENT, Questions, drawn_in_questions
from replication.config import ROOT
from replication.dependence import standardised_errors
from replication.replicate import Record, Study


def simulated(settings: dict, rng: np.random.Generator, panels: dict[int, list[Panel]]) -> Record:
    """One data set on a panel's design: how its fit ended, and what it achieves.

    Settings are ``n_judges`` and ``draw`` (which panel), ``n_comparisons``, ``repeats``, ``correlation``,
    ``questions`` (see `Questions`), ``level`` and ``pair``. Score widths are those of a ranking, and recorded of
    interior maxima only, since with a judge at zero scores have another scale; the rest wherever there are
    intervals. These allow for dependence within repeats, and within questions as those of a ranking do.
    """
    panel = panels[settings["n_judges"]][settings["draw"]]
    questions = Questions(**settings["questions"])
    if questions.sd > 0:
        data, cluster = drawn_in_questions(rng, panel, settings["n_comparisons"], questions)
    else:
        names = ("n_comparisons", "repeats", "correlation")
        data = drawn(rng, panel, *(settings[name] for name in names))
        cluster = np.arange(len(data))
    try:
        result = fit(data, panel.model.name)
        if settings["repeats"] > 1 or (questions.sd > 0 and cluster[-1] + 1 > result.n_parameters):
            result = result.clustered(data, cluster)
        n, record = len(panel.models), {"status": str(result.status)}
        v = scale_of(result).covariance(result.covariance)
        errors = {"score": np.sqrt(np.diag(v)), "standardised": standardised_errors(result)}
        pairs = pairwise(result, settings["level"])
    except (NoMaximumError, NoIntervalError, DataError) as error:
        return {"status": type(error).__name__}
    for goal, (whose, summary) in WIDTHS.items():
        if whose != "score" or result.status is Status.INTERIOR:
            record[goal] = float(2 * normal_quantile(settings["level"]) * summary(errors[whose]))
    apart = pairs["p_value"] <= 1 - settings["level"]
    i, j = (index[settings["pair"]] for index in np.triu_indices(n, 1))
    mine = pairs[["first", "second"]].isin([panel.models[i], panel.models[j]]).all(axis=1)
    shares = (apart[mine], apart, pairs["separated"])
    return record | {goal: float(share.mean()) for goal, share in zip(POWERS, shares, strict=True)}


def grid(cfg: DictConfig, questions: Questions = INDEPENDENT) -> list[int]:
    """Numbers of comparisons to simulate, multiples of the repeats or of the questions."""
    sizes = cfg.n_comparisons[: cfg.points]
    return list(dict.fromkeys(questions.whole(whole(size, cfg.repeats)) for size in sizes))


def study_of(
    cfg: DictConfig,
    sub_panels: dict[int, list[Panel]],
    planned: dict[str, int],
    pair: int,
    questions: Questions = INDEPENDENT,
) -> Study:
    """Every sub-panel at every number of comparisons; the whole panel at the planned ones too."""
    cells, replications = {}, {}
    for n_judges, of_size in sub_panels.items():
        whole = n_judges == max(sub_panels)
        for size in dict.fromkeys([*grid(cfg, questions), *(planned.values() if whole else ())]):
            for draw in range(len(of_size)):
                cell = f"k{n_judges}-t{size}-draw{draw}"
                place = {"n_judges": n_judges, "draw": draw, "n_comparisons": size}
                repeated = {"repeats": cfg.repeats, "correlation": cfg.correlation}
                repeated["questions"] = asdict(questions)
                cells[cell] = {**place, **repeated, "level": cfg.level, "pair": pair}
                replications[cell] = cfg.replications if whole else cfg.draw_replications
    folder = Path(ROOT, cfg.cache)
    return Study("plan", simulated, cells, replications, cfg.seed, folder, cfg.block, sub_panels)


def records_of(study: Study) -> pd.DataFrame:
    """All records with their cells' settings; goals without a value are NaN."""
    rows = [{**settings, **record} for cell, settings in study.cells.items() for record in study.records(cell)]
    columns = ["n_judges", "draw", "n_comparisons", "status", *GOALS]
    return pd.DataFrame(rows).reindex(columns=columns)


def summary_of(records: pd.DataFrame, n_judges: int, size: int, goal: str) -> dict:
    """Mean and median over the data sets that have a value, and how many those are.

    The mean's Monte Carlo error is that within panels, which are not a sample here.
    """
    here = records[(records["n_judges"] == n_judges) & (records["n_comparisons"] == size)]
    known = here.dropna(subset=goal)
    within = known[goal] - known.groupby("draw")[goal].transform("mean")
    freedom = len(known) - known["draw"].nunique()
    error = np.sqrt((within**2).sum() / freedom / len(known)) if freedom > 0 else np.nan
    return {
        "simulated": known[goal].mean(),
        "simulated_se": error,
        "simulated_median": known[goal].median(),
        "n_replications": len(here),
        "n_used": len(known),
        "n_interior": int((here["status"] == "interior").sum()),
    }
