"""Comparisons to which further judgments are added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from judgerank import frames
from judgerank.comparisons import Comparisons
from judgerank.errors import DataError


def extended(
    comparisons: Comparisons, frame: pd.DataFrame, covariate: str | None = None, count: str | None = None
) -> Comparisons:
    """Comparisons and further judgments; `Comparisons.extended` says more.

    Raises
    ------
    DataError
    """
    c, read = comparisons, frames.parsed(frame, covariate, count)
    frames.refuse_silent([name for name in read.silent if name not in c.judges])
    if c.covariate is not None and read.covariate is None:
        raise DataError("these comparisons have a covariate: name the column of the further ones (covariate)")
    models, old_models, new_models = frames.union(c.models, read.models)
    judges, old_judges, new_judges = frames.union(c.judges, read.judges)
    columns: dict[str, Any] = {
        "first": np.r_[old_models[c.first], new_models[read.first]],
        "second": np.r_[old_models[c.second], new_models[read.second]],
        "judge": np.r_[old_judges[c.judge], new_judges[read.judge]],
        "outcome": np.r_[c.outcome, read.outcome],
        "count": np.r_[c.count, np.ones(len(read.first)) if read.count is None else read.count],
        "covariate": None if c.covariate is None else np.r_[c.covariate, read.covariate],
        "tied": None if c.tied is None else np.r_[c.tied, read.tied],
    }
    dropped = {reason: c.dropped.get(reason, 0) + many for reason, many in read.dropped.items()}
    return Comparisons(models, judges, dropped={**c.dropped, **dropped}, ordered=c.ordered, **columns)
