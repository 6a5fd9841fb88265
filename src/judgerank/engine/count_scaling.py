"""Counts rescaled for solvers, so that results do not depend on how often all comparisons were counted.

A likelihood of the same shares has the same maxima, or none, however large the counts. Solvers compare heights,
gradients and weights with constants, so each is given the same numbers at every scale. A count over the total is
rounded once, so whole counts have equal shares to the last bit whatever they were all multiplied with.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons

USUAL = 10.0  # comparisons by judge and model: those of the small sets that the constants of the search suit


@remembered
def in_units(cells: Comparisons) -> tuple[Comparisons, float]:
    """The same comparisons counted in units, of which there are `USUAL` for every judge and model.

    Parameters
    ----------
    cells : Comparisons
        Aggregated.

    Returns
    -------
    cells : Comparisons
        With the same shares of outcomes.
    unit : float
        Comparisons in one unit: log-likelihoods, gradients and information are larger by this factor.
    """
    total, units = cells.n_comparisons, USUAL * len(cells.models) * len(cells.judges)
    count = np.maximum(cells.count / total * units, np.finfo(float).tiny)
    return replace(cells, count=count), total / units
