"""Position bias: whether the judges favour the answer shown first, or second.

Judges of one question may err together, and a likelihood ratio takes them as independent. So where questions recur
the test is by question: residuals of the fit without positions, summed by judge, and sign flips of whole questions
(`trust.flipped_residuals`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc

from judgerank.data.arrays import IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoIntervalError, NotIdentifiedError
from judgerank.data.listing import listed, p_of
from judgerank.fits.errors_by_question import by_question, number_of
from judgerank.fits.result import Fit
from judgerank.inference.wald import likelihood_ratio
from judgerank.model.block import Need
from judgerank.model.members import MODELS, Model
from judgerank.ranking.studies import panel
from judgerank.ranking.study import Component, Finding, clusters
from judgerank.trust.fitness import MOST_PARAMETERS, MOST_ROWS
from judgerank.trust.flipped_residuals import FlippedResiduals

BY_QUESTION = "score"  # kind of the test by question
FLIPS = 1_999
INDEPENDENT = "The test takes judgments of one question as independent: its p-value is too small if they are not."
Clustered = tuple[Comparisons, IntArray]  # the raw comparisons and the question of each


def of_component(component: Component) -> Finding:
    """A remark on the test, where the order of presentation is known.

    A fit without positions is compared with one that has them besides, so both are of the member alone. Where the
    ranking is shrunk, exact fits are compared if they have a maximum: shrunk positions hardly differ from zero.
    """
    if not component.judgments.ordered:
        return Finding()
    member, level, exact, clustered = (
        component.member,
        component.settings.level,
        component.exact,
        _clustered(component),
    )
    positioned = member.model.uses(Need.ORDER)
    test: Leaning | str = ""
    alone = not component.reported.blocks and component.reported.effects is None
    if isinstance(exact, Fit) and (alone or not positioned):
        test = leaning(exact, component.refit_exactly, level, clustered)
    if isinstance(test, str):
        test = leaning(component.independent if positioned else member, component.refit, level, clustered)
    sides = panel.by_position(component.reported, level)
    if isinstance(test, Leaning) and sides is not None:  # whom the verdicts name
        test = replace(test, towards_first=sides[0], towards_second=sides[1])
    remarks = on_positions(test, level, positioned, sides is not None)
    needs_caveat = clustered is None and component.independent.effects is None and _recurring(component)
    return Finding(
        [f"{remark} {INDEPENDENT}" for remark in remarks]
        if needs_caveat and isinstance(test, Leaning)
        else remarks
    )


def _clustered(component: Component) -> Clustered | None:
    """Comparisons with their questions, where questions recur and there are not too many to flip."""
    rows = component.comparisons
    large = len(rows) > MOST_ROWS or component.member.n_parameters > MOST_PARAMETERS
    if large or rows.stages is not None or not _recurring(component):
        return None
    return rows, component.requested._require_question()


def _recurring(component: Component) -> bool:
    """Whether questions are known, to be allowed for, and some have several judgments."""
    has_clusters = clusters(component.judgments, component.settings)
    return has_clusters and number_of(component.requested._require_question()) < len(component.comparisons)


@dataclass(frozen=True)
class Leaning:
    """Test of no judge leaning towards a position.

    Attributes
    ----------
    member : str, optional
        Name of the one with positions; None if the fitted member has none of that kind among the named ones.
    kind : str
        ``score``, by question, where questions recur. Else ``likelihood ratio`` between two maxima; ``Wald`` where
        fits are shrunk, and are none, and where question effects were integrated out.
    statistic, p_value : float
    degrees_of_freedom : int
    towards_first, towards_second : tuple of str
        Judges whose leaning has an interval without zero, all intervals holding at once (Bonferroni).
    """

    member: str | None
    kind: str
    statistic: float
    p_value: float
    degrees_of_freedom: int
    towards_first: tuple[str, ...] = ()
    towards_second: tuple[str, ...] = ()


def leaning(
    fitted: Fit, refit: Callable[[str | Model], Fit], level: float, clustered: Clustered | None = None
) -> Leaning | str:
    """Test whether the judges lean towards a position, or say why that cannot be seen.

    Parameters
    ----------
    fitted : Fit
        Of a member with or without positions; it is compared with its `Model.counterpart`.
    refit : callable
        Fits another member to the same comparisons.
    level : float
    clustered : (Comparisons, int array of shape (T,)), optional
        The raw comparisons and the question of each, for a test by question.
    """
    member = fitted.model.alone
    try:
        larger = fitted if fitted.model.uses(Need.ORDER) else refit(member.counterpart())
        if clustered is not None and larger.effects is None:
            test = _by_flips(refit(member.counterpart()) if larger is fitted else fitted, *clustered)
        elif larger.solution.spread is not None or larger.effects is not None:
            test = _by_covariance(larger)
        else:
            test = _of_maxima(refit(member.counterpart()) if larger is fitted else fitted, larger)
    except NotIdentifiedError:
        return "each pair was shown in one order, so position bias and quality cannot be distinguished"
    except JudgerankError as error:
        return str(error)
    if test is None:
        return "the fits with and without position bias did not both converge"
    name = larger.model.name if larger.model.name in MODELS else None
    try:
        errors = larger if clustered is None or larger.effects is not None else by_question(larger, *clustered)
        rows = errors.confidence_intervals(1 - (1 - level) / len(larger.comparisons.judges))
    except NoIntervalError:
        return Leaning(name, *test)
    rows = rows[rows["parameter"] == "position"]
    sides = (tuple(rows[rows["low"] > 0]["name"]), tuple(rows[rows["high"] < 0]["name"]))
    return Leaning(name, *test, *sides)


def _by_flips(smaller: Fit, rows: Comparisons, question: IntArray) -> tuple[str, float, float, int] | None:
    """Score test by sign flips of whole questions: sums of residuals by judge, towards the model shown first."""
    if not smaller.converged:
        return None
    sums = FlippedResiduals.of(smaller, rows, question).sums(rows.judge, np.ones(len(rows)))
    statistic, _, p = sums.together(generator(0, "positions", *sums.by_question.shape), FLIPS)
    return BY_QUESTION, statistic, p, len(sums.kept)


def _of_maxima(smaller: Fit, larger: Fit) -> tuple[str, float, float, int] | None:
    freed = larger.n_parameters - smaller.n_parameters
    if not (smaller.converged and larger.converged) or freed < 1:
        return None
    return "likelihood ratio", *likelihood_ratio(smaller.log_likelihood, larger.log_likelihood, freed), freed


def _by_covariance(larger: Fit) -> tuple[str, float, float, int] | None:
    """Wald test of all leanings at once. Shrunk ones are less spread than their covariance, so it is cautious."""
    if not larger.converged:
        return None
    row = larger.model.row("position")
    start = len(larger.scores) + int(larger._free[:row].sum())
    b = larger.position.to_numpy()
    mine = slice(start, start + len(b))
    statistic = float(b @ np.linalg.solve(larger.covariance[mine, mine], b))
    return "Wald", statistic, float(chdtrc(len(b), statistic)), len(b)


def on_positions(
    test: Leaning | str, level: float, allowed_for: bool = False, by_verdict: bool = False
) -> list[str]:
    """Remarks on a test for leanings, and on a ranking that allows for them or does not.

    `by_verdict` says that the judges named are those whose verdict it is (`panel.by_position`).
    """
    if isinstance(test, str):
        return [f"Position bias could not be tested: {test}."]
    if test.p_value > 1 - level:
        return []
    sides = (("first", test.towards_first), ("second", test.towards_second))
    named = [f"Judges who favour the answer shown {side}: {listed(names)}." for side, names in sides if names]
    if by_verdict and not named:
        named = ["No judge clearly picks one position more than 60% of the time between two equal models."]
    advice = "The ranking corrects for it."
    if not allowed_for:
        alternative = "a model with positions" if test.member is None else f"--model {test.member}"
        advice = f"The ranking does not correct for it; {alternative} does."
    kind = {"likelihood ratio": "LR"}.get(test.kind, test.kind)
    tested = f"{kind} test, chi2({test.degrees_of_freedom}) = {test.statistic:.1f}, p {p_of(test.p_value)}"
    if test.kind == BY_QUESTION:
        tested = f"tested by question, p {p_of(test.p_value)}"
    hint = "Show each pair in both orders equally often, so that it favours no model."
    return [" ".join([f"Judges show position bias ({tested}).", *named, advice, hint])]
