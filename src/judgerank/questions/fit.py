"""Comparisons with the question behind each -> a fit in which judges of one question err together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerank.data.arrays import AnyArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, NoMaximumError, NotIdentifiedError
from judgerank.engine.solution import Status
from judgerank.fits.fit import fit
from judgerank.fits.result import FitResult
from judgerank.model.members import get_model
from judgerank.questions.groups import grouped
from judgerank.questions.maximum import maximise
from judgerank.questions.merging import copies, with_one_vote
from judgerank.questions.result import QuestionFit
from judgerank.reading.read import Source, read_judgments


def fit_questions(
    judgments: Comparisons | Source,
    question: AnyArray | None = None,
    model: str = "position_aware_ties",
    merge_copies: bool = False,
) -> QuestionFit:
    """Maximum marginal likelihood with a quality of its own for every answer, shared by all judges of a question.

        eta = gamma_k (s_i - s_j + u_qi - u_qj) + b_k,   u_qi normal with mean zero and standard deviation sigma

    The u are integrated out: to about five digits where few comparisons of two or three models hang together
    (`quadrature`), and by Laplace's approximation elsewhere (`laplace`). That costs next to nothing on questions
    with a hundred comparisons, and some accuracy on those with few comparisons of four models or more.

    Parameters
    ----------
    judgments : Comparisons, or anything that `judgerank.read` reads
        Raw rows. Comparisons take `question` too.
    question : array, shape (T,), optional
        The question behind each comparison.
    model : str
        A member without slopes. Ties must be an outcome of its own if there are any: half-weight ties would say
        that answers are closer than judges see them.
    merge_copies : bool
        Whether judge ids that answer as one become one judge, with one vote an item. If they do not, and there are
        any, the result says so in its `remarks`.

    Raises
    ------
    DataError
        If there is not one question for each comparison, or the comparisons are aggregated.
    ConfigError
        If the model has slopes, or takes ties for half a win where there are ties.
    NotIdentifiedError
        If no question has two comparisons, and as `judgerank.fit`.
    NoMaximumError
        If the likelihood without question effects has no maximum, or that with them has none; as `judgerank.fit`.
    """
    comparisons, asked = _given(judgments, question)
    member = get_model(model, comparisons)
    if member.has_slope:
        raise ConfigError(f"question effects go with members without slopes, and {model!r} has them")
    comparisons = replace(comparisons, covariate=None).with_ties()
    if not member.has_ties and comparisons.known_ties.any():
        known = "position_aware_ties, judge_aware_ties or btl_ties"
        raise ConfigError(
            f"{model!r} takes ties for half a win, and with question effects that misleads: use {known}"
        )
    without = _without(comparisons, model)
    leader, remarks = copies(without, comparisons, asked), []
    names = ", ".join(sorted({*leader, *leader.values()}))
    if leader and merge_copies:
        comparisons, asked = with_one_vote(comparisons, asked, leader)
        without = _without(comparisons, model)
        remarks.append(f"These judge ids answer as one, and count as one judge: {names}.")
    elif leader:
        remarks.append(
            f"These judge ids answer as one: {names}. They agree because they are the same, and the question "
            "effect takes that for the answers' quality; merge_copies=True makes them one judge."
        )
    found = _found(without, comparisons, asked, remarks)
    return replace(found, merged=leader) if merge_copies else found


def fit_known(comparisons: Comparisons, question: IntArray, model: str) -> QuestionFit:
    """The same where copies are not looked for: of part of what was searched already, and its copies merged.

    Raises
    ------
    NotIdentifiedError, NoMaximumError
        As `fit_questions`.
    """
    comparisons = comparisons.with_ties()
    return _found(_without(comparisons, model), comparisons, np.unique(question, return_inverse=True)[1], [])


def _found(without: FitResult, comparisons: Comparisons, asked: IntArray, remarks: list[str]) -> QuestionFit:
    """The maximum of the marginal likelihood.

    Raises
    ------
    NotIdentifiedError
        If no question has two comparisons.
    NoMaximumError
        If there is none.
    """
    groups = grouped(comparisons, asked)
    if all((group.by_question(group.count) < 2).all() for group in groups):
        raise NotIdentifiedError(
            "no question has two comparisons that share a model, so that a question's effect cannot be told from "
            "the judges' own noise (ask several judges about the same question)"
        )
    try:
        found = maximise(without, groups)
    except NoMaximumError as error:
        raise NoMaximumError(" ".join([f"{error}.", *remarks]).removesuffix("."), error.models) from None
    return QuestionFit(without, found, comparisons, asked, tuple(remarks))


def _given(judgments: Comparisons | Source, question: AnyArray | None) -> tuple[Comparisons, IntArray]:
    """Comparisons and the number of each one's question.

    Raises
    ------
    DataError
        If there is not one question for each comparison.
    """
    if not isinstance(judgments, Comparisons):
        judgments = read_judgments(judgments)
        if question is None:
            return judgments.comparisons, judgments.question
        judgments = judgments.comparisons
    if question is None:
        raise DataError("comparisons do not say which question is behind each: give `question` too")
    if len(question) != len(judgments):
        raise DataError(f"{len(question)} questions for {len(judgments)} comparisons: there must be one for each")
    return judgments, np.unique(question, return_inverse=True)[1]


def _without(comparisons: Comparisons, model: str) -> FitResult:
    """The exact fit without question effects, which has to have a maximum.

    Raises
    ------
    NoMaximumError
        If it does not.
    """
    found = fit(comparisons, model)
    if found.status is Status.UNBOUNDED:
        names = ", ".join(found.unbounded_judges)
        message = f"the likelihood has no maximum: the discrimination of {names} runs off to infinity"
        raise NoMaximumError(message, ())
    return found
