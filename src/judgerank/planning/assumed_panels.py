"""Panels to plan for: assumed without data, or some of the judges of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
from scipy.special import ndtri

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import ConfigError
from judgerank.model.members import NAMED, Parameters
from judgerank.model.streams import generator
from judgerank.planning.panels import Panel
from judgerank.ranking.choices import DEFAULT, FALLBACK

ASSUMED = (DEFAULT, FALLBACK)  # members of the family that an assumed panel can be of


def assumed(
    n_models: int,
    n_judges: int,
    sigma_scores: float,
    sigma_discrimination: float,
    scores: Sequence[float] | Mapping[str, float] | None = None,
    discrimination: Sequence[float] | Mapping[str, float] | None = None,
    model: str = DEFAULT,
) -> Panel:
    """A panel that is not fitted: scores and log-discriminations normally spread, or given; no position bias.

    Scores are those that a ranking would report, on the scale of `judgerank.order.scale`.

    Parameters
    ----------
    n_models, n_judges : int
        Sizes, where the values are not given.
    sigma_scores, sigma_discrimination : float
        Standard deviations of the scores and of the log-discriminations, where they are not given.
    scores, discrimination : list of float, or mapping of str to float, optional
        Values by model and by judge; a list names them ``m01, m02, ...`` and ``j01, j02, ...``.
    model : str
        What will be fitted, one of `ASSUMED`; by default what ranks if nothing else is asked for.

    Raises
    ------
    ConfigError
        Naming the argument at fault.
    """
    spreads = {
        "scores": (scores, n_models, sigma_scores, "m"),
        "discrimination": (discrimination, n_judges, sigma_discrimination, "j"),
    }
    if model not in ASSUMED:
        raise ConfigError(f"an assumed panel is planned for one of {', '.join(ASSUMED)}, not for {model}")
    values = {}
    for key, (assumption, size, sigma, letter) in spreads.items():
        if assumption is None:
            if size < 1 or not 0 <= sigma < np.inf:
                raise ConfigError(f"{key}: {size} of them with a standard deviation of {sigma} cannot be had")
            spread = normal_spread(size, sigma)
            assumption = list(spread if key == "scores" else np.exp(spread))
        if not isinstance(assumption, list | dict):
            raise ConfigError(f"{key} is a list of numbers, or numbers by name, not {assumption!r}")
        named = (
            assumption
            if isinstance(assumption, dict)
            else {f"{letter}{n:02d}": x for n, x in enumerate(assumption, 1)}
        )
        odd = [x for x in named.values() if isinstance(x, bool) or not isinstance(x, int | float)]
        if odd:
            raise ConfigError(f"{key} holds {odd[0]!r}, not a number")
        values[key] = named
    panel = Panel.of(**values)
    unbiased = np.zeros((len(NAMED[model].judge_blocks) - 1, len(panel.judges)))
    panel = replace(panel, model=NAMED[model], at=Parameters(panel.at.scores, np.r_[panel.at.judges, unbiased]))
    return panel.reporting(float(np.std(list(values["scores"].values()))))


def sub_panels(panel: Panel, size: int, draws: int, seed: int) -> list[Panel]:
    """Panels of some of the judges: all there are, if those are no more than `draws`, else that many random ones.

    Random ones of different sizes are nested, so that sizes can be compared.

    Raises
    ------
    ConfigError
        If there is no judge in them, or more than there are.
    """
    n_judges = len(panel.judges)
    if not 1 <= size <= n_judges:
        raise ConfigError(f"n_judges must lie between 1 and the panel's {n_judges}, not at {size}")
    if comb(n_judges, size) <= draws:
        return [panel.subset(judges) for judges in combinations(range(n_judges), size)]
    return [panel.subset(generator(seed, "panel", draw).permutation(n_judges)[:size]) for draw in range(draws)]


def normal_spread(size: int, sigma: float) -> FloatArray:
    """Normal quantiles of evenly spaced probabilities, falling, with this standard deviation, shape (size,).

    A panel of that spread without a seed that decides how lucky it is.
    """
    if size == 1:
        return np.zeros(1)
    quantiles = -ndtri((np.arange(size) + 0.5) / size)
    return sigma * quantiles / quantiles.std()
