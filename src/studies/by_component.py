"""Fit each connected component by itself, where there is no ranking of all models."""

from __future__ import annotations

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import split
from judgerank.engine.solvers import Settings
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.model.members import Model


def fit_apart(
    comparisons: Comparisons,
    model: str | Model = "judge_aware",
    solver: str | Settings = "newton",
    cluster: IntArray | None = None,
) -> tuple[Fit, ...]:
    """Fit every component by itself; `order.pairs.pairwise` and `rank_intervals` take the fits together.

    Scores are comparable within a component only, and so are discriminations: a judge has one in each.

    Parameters
    ----------
    comparisons : Comparisons
        Raw comparisons where there are clusters.
    model, solver
        As for `fit`.
    cluster : int array, shape (T,), optional
        Cluster of each comparison, for `Fit.clustered`.

    Raises
    ------
    JudgerankError
        As `fit` and `Fit.clustered` do, for any component.
    """
    fits = []
    for part, rows in split(comparisons):
        fitted = fit(part, model, solver)
        fits.append(fitted if cluster is None else fitted.clustered(part, cluster[rows]))
    return tuple(fits)
