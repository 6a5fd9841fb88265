"""Arguments of functions of a fit: the fit itself, and the judgments to use with it, given or held by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgerank.data.arrays import AnyArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.fits.fit import fit
from judgerank.fits.fitted import Fitted
from judgerank.fits.result import Fit

if TYPE_CHECKING:
    from judgerank.reading.read import Source


def fitted_to(judgments: Fit | Comparisons | Source) -> Fit:
    """A fit as it is, or judgments of any kind fitted as `judgerank.fit` fits them by default."""
    return judgments if isinstance(judgments, Fit) else fit(judgments)


def raw_and_question(
    fitted: Fitted, judgments: Comparisons | Source | None, question: AnyArray | None
) -> tuple[Comparisons, IntArray | None]:
    """Raw comparisons and the number of each one's question, if that is known.

    Parameters
    ----------
    fitted : Fitted
    judgments : Comparisons, or anything that `judgerank.read` reads, optional
        By default what was fitted, with its questions.
    question : array, shape (T,), optional
        Of each comparison, in place of what the judgments say.

    Raises
    ------
    DataError
        If the fit holds no comparisons and none are given, or questions are not as many.
    """
    if judgments is None:
        comparisons, fitted_question = fitted.require_raw(), fitted.question
    else:
        comparisons, fitted_question = raw_of(judgments)
    if question is not None:
        if len(question) != len(comparisons):
            raise DataError(
                f"{len(question)} questions for {len(comparisons)} comparisons: there must be one for each"
            )
        fitted_question = np.unique(np.asarray(question), return_inverse=True)[1]
    return comparisons, fitted_question


def raw_of(judgments: Comparisons | Source) -> tuple[Comparisons, IntArray | None]:
    """The comparisons in judgments, and the number of each one's question where they say."""
    if isinstance(judgments, Comparisons):
        return judgments, None
    from judgerank.reading.read import read_judgments

    read = read_judgments(judgments)
    return read.comparisons, read.question if "question_id" in read.frame else None


def require_fit(board: object) -> None:
    """Refuse as a board what is no fit, such as the name of its file.

    Raises
    ------
    ConfigError
    """
    if not isinstance(board, Fit):
        raise ConfigError(f"a board is a fit, and {type(board).__name__} is none: judgerank.load(FILE) reads one")


def require_member_alone(fitted: Fitted, what: str) -> None:
    """Refuse a fit with further blocks or question effects, for what is worked out for members alone.

    Raises
    ------
    ConfigError
    """
    if fitted.blocks:
        raise ConfigError(f"{what} is worked out for fits without further blocks: `fit.member` is one")
    if fitted.effects is not None:
        raise ConfigError(f"{what} is worked out for fits without question effects: `fit.member` is one")
