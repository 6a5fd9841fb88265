"""Fit a member of the family to the user's judgments, or say which pairs to compare first."""

from __future__ import annotations

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoMaximumError
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.model.members import Model
from judgerank.model.naming import member
from judgerank.model.needs import Need
from judgerank.ranking.first_links import first_links


def fit_member(comparisons: Comparisons, name: str | Model, solver: str = "newton") -> Fit:
    """Fit a member of the family, or refuse in a way that says what would make it possible.

    Raises
    ------
    DataError
        If the member needs lengths, and there are none.
    NoMaximumError
        With the pairs to compare first.
    """
    if member(name).uses(Need.LENGTH) and comparisons.covariate is None:
        raise DataError(f"model {member(name).name!r} needs a column of lengths (--column length=NAME names it)")
    try:
        return fit(comparisons, name, solver)
    except NoMaximumError as error:
        links = "; ".join(f"{a} with {b}" for a, b in first_links(comparisons, error))
        shrunk = "solver=penalised ranks them all the same, by shrinking scores toward each other"
        advice = f" (to begin with, compare {links}; {shrunk})" if links else ""
        raise type(error)(f"{error}{advice}", error.models) from None
