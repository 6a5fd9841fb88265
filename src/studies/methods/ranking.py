"""What every method gives: scores, and whatever else it has to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons


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
