"""The result of every method, comparisons for methods blind to positions, and this package's fits as methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoIntervalError
from judgerank.engine.solution import Status
from judgerank.fits.fit import fit
from replication.errors import MethodUnavailableError

# What every method gives: scores, and whatever else it has to say.


@dataclass(frozen=True, eq=False)
class Ranking:
    """What a method says of the models; what it has no answer to is None.

    Attributes
    ----------
    scores : Series
        By model; larger is better. The scale is the method's own.
    predict : callable, or None
        From T comparisons of the same models by the same judges to their expected outcomes, shape (T,): the
        probability that the first model is preferred, and half of that of a tie.
    errors : Series, or None
        Standard errors of the scores, by model, on their scale.
    judges : Series, or None
        By judge; larger is better: a discrimination, an honesty, a reputation.
    remark : str
        What a reader has to know of this result: an iteration that did not end, judges or models left out.
    """

    scores: pd.Series
    predict: Callable[[Comparisons], np.ndarray] | None = None
    errors: pd.Series | None = None
    judges: pd.Series | None = None
    remark: str = ""


# Comparisons for methods that are blind to positions.


def unordered(comparisons: Comparisons) -> Comparisons:
    """The same comparisons, of every pair the same model first."""
    c = comparisons
    turned = c.first > c.second
    first, second = np.where(turned, c.second, c.first), np.where(turned, c.first, c.second)
    return replace(
        c, first=first, second=second, outcome=np.where(turned, 1 - c.outcome, c.outcome), covariate=None
    )


# This package's own fits as methods among others.


def member(comparisons: Comparisons, *, model: str, solver: str = "newton") -> Ranking:
    """A member of the family by its exact or its penalised fit, with Wald errors.

    Raises
    ------
    NoMaximumError
        If some scores are unbounded or undefined.
    MethodUnavailableError
        If a discrimination is unbounded, or the iteration did not end.
    """
    fitted = fit(comparisons, model, solver)
    away = [judge for judge in fitted.unbounded_judges if fitted.discrimination[judge] > 0]
    if away:
        raise MethodUnavailableError(f"the discrimination of {', '.join(away)} is unbounded")
    if fitted.status is Status.ITERATION_LIMIT:
        raise MethodUnavailableError("the iteration did not end")
    remark = f"{', '.join(fitted.judges_at_zero)} at zero" if fitted.judges_at_zero else ""
    try:
        errors = pd.Series(fitted.standard_errors[: len(fitted.scores)], index=fitted.scores.index)
    except NoIntervalError as error:
        errors, remark = None, str(error)
    judges = fitted.discrimination if fitted.model.judge_blocks else None
    return Ranking(fitted.scores, fitted.probability, errors, judges, remark)


def expected(scores: pd.Series, gamma: pd.Series) -> Callable[[Comparisons], np.ndarray]:
    """Expected outcomes under equation (1)."""

    def predict(c: Comparisons) -> np.ndarray:
        s, g = scores[list(c.models)].to_numpy(), gamma[list(c.judges)].to_numpy()
        return expit(g[c.judge] * (s[c.first] - s[c.second]))

    return predict
