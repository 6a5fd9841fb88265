"""This package's own fits as methods among others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoIntervalError
from judgerank.engine.solution import Status
from judgerank.fits.fit import fit
from replication.errors import MethodUnavailableError
from studies.methods.ranking import Ranking


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
