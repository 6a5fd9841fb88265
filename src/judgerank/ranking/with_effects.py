"""A ranking by a fit with question effects: which member has one, and what there is to say of it."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import DataError, NoIntervalError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.standings import has_errors
from judgerank.model.members import Model
from judgerank.order.pairs import standardised
from judgerank.order.scale import scale_of
from judgerank.ranking.choices import EFFECTS, Settings
from judgerank.ranking.remarks import p_of


def with_effects(judgments: Judgments, name: str | Model, settings: Settings) -> tuple[Fit, list[str]]:
    """The fit of a component, and why it is of another member than was asked for, where it is.

    Parameters
    ----------
    judgments : Judgments
    name : str or Model
        The member. If the user did not choose it, ties become an outcome of their own where there are any.
    settings : Settings

    Raises
    ------
    DataError
        If there are no questions.
    ConfigError, NoMaximumError, NotIdentifiedError
        As `judgerank.fit`.
    """
    if "question_id" not in judgments.frame:
        raise DataError(f"cluster={EFFECTS} needs a column of questions (--column question=NAME names it)")
    said = []
    if settings.model is None and (judgments.comparisons.outcome == 0.5).any():
        name = f"{name}_ties"
        said.append(f"Model {name}, since with question effects ties have to be an outcome of their own.")
    try:
        found = fit(judgments, name, settings.solver, blocks=settings.blocks, questions=EFFECTS, merge_copies=True)
        return found, said
    except NoMaximumError as error:
        advice = "cluster=question leaves question effects out, and allows for dependence in the errors"
        raise type(error)(f"{error} ({advice})", error.models) from None


def is_usable(found: Fit) -> bool:
    """Whether the fit has intervals, and question effects where they were asked for."""
    return (found.effects is None or found.effects.sigma > 0) and has_errors(found)


def on_effects(found: Fit, level: float) -> list[str]:
    """How much answers of a model differ, whether that is more than chance, and what it moved."""
    statistic, p = found.likelihood_ratio()
    test = f"twice the gain in log-likelihood is {statistic:.1f}, p {p_of(p)}"
    if found.sigma == 0:
        return [
            *found.remarks,
            "Question effects: none, sigma is zero. Judges of one question do not err together more than chance "
            "has it, and the ranking is that without question effects.",
        ]
    if not is_usable(found):
        return [
            *found.remarks,
            f"Question effects: their fit ended as {found.status}, at no maximum that has intervals, so the "
            f"ranking is that without them ({test}).",
        ]
    rows = found.confidence_intervals(level).set_index("parameter").loc[["sigma", "relative sigma"]]
    ends = [f" ({row.low:.2f} to {row.high:.2f})" for row in rows.itertuples()]
    return [
        *found.remarks,
        f"Question effects: answers of one model differ with standard deviation sigma = {found.sigma:.2f}"
        f"{ends[0]}, which is {found.relative_sigma:.2f}{ends[1]} of the scores'; {test}. "
        f"{_moved(found)}",
    ]


def _moved(found: Fit) -> str:
    """What question effects changed in the ranking."""
    names, before, after = found.scores.index, _without(found).ranks.tolist(), found.ranks.tolist()
    moved = [f"{m} from {a} to {b}" for m, a, b in zip(names, before, after, strict=True) if a != b]
    told = f"They move {len(moved)} of {len(names)} ranks: {listed(moved)}." if moved else "They move no rank."
    try:
        ratio = _errors(found).mean() / _errors(_without(found)).mean()
    except NoIntervalError:  # of the fit without
        return told
    return f"{told} Standard errors of the scores, over their spread, are {ratio:.2f} times those without."


def _without(found: Fit) -> Fit:
    assert found.without is not None
    return found.without


def _errors(fitted: Fit) -> FloatArray:
    scale = scale_of(fitted)
    return np.sqrt(np.diag(standardised(scale.scores, scale.covariance(fitted.covariance))[1]))
