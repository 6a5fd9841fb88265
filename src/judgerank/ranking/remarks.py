"""What a reader of a ranking should know first: leaning judges, judges who say nothing, thin designs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoIntervalError, NotIdentifiedError
from judgerank.data.frames import NO_QUESTION
from judgerank.data.listing import LISTED, listed
from judgerank.engine.solution import Status
from judgerank.fits.result import Fit
from judgerank.inference.uncertainty import MOST_PARAMETERS
from judgerank.inference.wald import likelihood_ratio
from judgerank.model.members import MODELS, Model


@dataclass(frozen=True)
class Leaning:
    """Test of no judge leaning towards a position.

    Attributes
    ----------
    member : str, optional
        Name of the one with positions; None if the fitted member has none of that kind among the named ones.
    kind : str
        ``likelihood ratio`` between two maxima; ``Wald`` where fits are shrunk, and are none, and where question
        effects were integrated out.
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


def leaning(fitted: Fit, refit: Callable[[str | Model], Fit], level: float) -> Leaning | str:
    """Test whether the judges lean towards a position, or say why that cannot be seen.

    Parameters
    ----------
    fitted : Fit
        Of a member with or without positions; it is compared with its `Model.counterpart`.
    refit : callable
        Fits another member to the same comparisons.
    level : float
    """
    member = fitted.model.alone
    try:
        larger = fitted if fitted.model.has_position else refit(member.counterpart())
        if larger.solution.spread is not None or larger.effects is not None:
            test = _by_covariance(larger)
        else:
            test = _of_maxima(refit(member.counterpart()) if fitted.model.has_position else fitted, larger)
    except NotIdentifiedError:
        return "the order in which models were shown follows the models, so a leaning cannot be told from scores"
    except JudgerankError as error:
        return str(error)
    if test is None:
        return "a fit with and one without positions are not both at a maximum"
    name = larger.model.name if larger.model.name in MODELS else None
    try:
        rows = larger.confidence_intervals(1 - (1 - level) / len(larger.comparisons.judges))
    except NoIntervalError:
        return Leaning(name, *test)
    rows = rows[rows["parameter"] == "position"]
    sides = (tuple(rows[rows["low"] > 0]["name"]), tuple(rows[rows["high"] < 0]["name"]))
    return Leaning(name, *test, *sides)


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
    start = len(larger.scores) + int(larger.free[:row].sum())
    b = larger.position.to_numpy()
    mine = slice(start, start + len(b))
    statistic = float(b @ np.linalg.solve(larger.covariance[mine, mine], b))
    return "Wald", statistic, float(chdtrc(len(b), statistic)), len(b)


def on_positions(test: Leaning | str, level: float, allowed_for: bool = False) -> list[str]:
    """What there is to say of a test for leanings, and of a ranking that allows for them or does not."""
    if isinstance(test, str):
        return [f"Whether judges lean towards the model shown first could not be tested: {test}."]
    if test.p_value > 1 - level:
        return []
    sides = (("first", test.towards_first), ("second", test.towards_second))
    named = [f"towards the one shown {side}: {listed(names)}" for side, names in sides if names]
    advice = "takes account of it;"
    if not allowed_for:
        other = "a model with positions" if test.member is None else f"model={test.member}"
        advice = f"takes no account of it: {other} does, and"
    return [
        f"Judges lean towards a position ({test.kind} {test.statistic:.1f} on {test.degrees_of_freedom} "
        f"degrees of freedom, p {p_of(test.p_value)})" + "".join(f"; {text}" for text in named) + ". The ranking "
        f"{advice} showing each pair in both orders equally often keeps it from favouring a model."
    ]


def on_parts(components: Sequence[Sequence[str]], links: Iterable[tuple[str, str]]) -> list[str]:
    """That models which no chain of comparisons connects are ranked apart, where there are any."""
    if len(components) < 2:
        return []
    groups = "; ".join("{" + listed(group) + "}" for group in components)
    first = "; ".join(f"{a} with {b}" for a, b in links)
    return [
        f"No chain of comparisons connects these {len(components)} groups of models, so each is ranked apart, and "
        f"models of different groups are not comparable: {groups} (to connect them, compare {first})."
    ]


def on_fit(fitted: Fit) -> list[str]:
    """How the fit ended, where that is not an interior maximum."""
    said = []
    if fitted.unbounded_judges:
        sided = ", or always for one position" if fitted.model.has_position else ""
        held = (
            "Scores are where the search stopped, and nothing here has an interval."
            if fitted.solution.alone is None
            else "What is such a judge's own is held finite by shrinking it toward the others, alone, and has no "
            "interval."
        )
        said.append(
            f"The likelihood has no maximum: {listed(fitted.unbounded_judges)} never answered against the order "
            f"of the models{sided}, so a parameter runs off to infinity. {held} More comparisons of close models "
            "by that judge help, or model=btl."
        )
    if fitted.has_many_parameters:
        said.append(
            f"No intervals: {len(fitted.scores):,} models and {len(fitted.comparisons.judges):,} judges have more "
            f"parameters together than the {MOST_PARAMETERS:,} of which a covariance is kept."
        )
    if fitted.judges_at_zero:
        told = (
            f"At zero discrimination: {listed(fitted.judges_at_zero)}. These answers do not rise with the scores "
            "that the other judges agree on; they count for nothing in the ranking."
        )
        if 2 * len(fitted.judges_at_zero) >= len(fitted.comparisons.judges):
            told += (
                " They are half of the panel or more: were the others the contrary ones, this ranking would be "
                "the reverse of the true one. Compare it with model=btl, which counts all judges."
            )
        said.append(told)
    if fitted.slopes_at_bound:
        said.append(f"Slope in length on its bound, taken as given: {listed(fitted.slopes_at_bound)}.")
    if fitted.status is Status.ITERATION_LIMIT:
        said.append("The fit stopped before its tolerance was met: this is not a maximum (solver.max_iterations).")
    if len(fitted.comparisons.judges) == 1 and fitted.model.judge_blocks:
        said.append(
            "There is one judge, whose discrimination is one by definition: scores are on that judge's scale."
        )
    return said


def on_dropped(comparisons: Comparisons, never: Iterable[str]) -> list[str]:
    """Records left out, and models that are left without a comparison by it."""
    said, never = [], list(never)
    unread = {reason: count for reason, count in comparisons.dropped.items() if count and reason != NO_QUESTION}
    if unread:
        reasons = ", ".join(f"{count} {reason}" for reason, count in unread.items())
        said.append(f"Dropped, since the answer could not be read: {reasons}.")
    if never:
        said.append(f"Not ranked, since no answer about them could be read: {listed(never)}.")
    return said


def on_design(comparisons: Comparisons, few: int) -> list[str]:
    """Pairs never compared, and models and judges with few comparisons."""
    c, said = comparisons, []
    n = len(c.models)
    low, high = np.minimum(c.first, c.second), np.maximum(c.first, c.second)
    never = np.triu(np.ones((n, n), bool), 1)
    never[low, high] = False
    many, pairs = int(never.sum()), np.argwhere(never)[: LISTED + 1]
    if many:
        named = [f"{c.models[a]} and {c.models[b]}" for a, b in pairs]
        said.append(
            f"{many} of {n * (n - 1) // 2} pairs of models were never compared; their order rests on comparisons "
            f"with others: {listed(named, many)}."
        )
    compared = np.bincount(c.first, c.count, n) + np.bincount(c.second, c.count, n)
    by_judge = np.bincount(c.judge, c.count, len(c.judges))
    for kind, names, times in (("models", c.models, compared), ("judges", c.judges, by_judge)):
        thin = [f"{name} ({count:.0f})" for name, count in zip(names, times, strict=True) if count < few]
        if thin:
            said.append(f"Fewer than {few} comparisons, {kind}: {listed(thin)}.")
    return said


def on_questions(fitted: Fit, question: IntArray) -> list[str]:
    """Why the intervals cannot allow for dependence within questions, where they cannot.

    The sandwich covariance is no larger in rank than the number of questions less one.
    """
    many = len(set(question))
    if many > fitted.n_parameters:
        return []
    return [
        f"There are {many} questions and {fitted.n_parameters} free parameters, too few questions to allow for "
        "dependence within them: intervals take comparisons as independent, and may be too short."
    ]


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there is not one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def p_of(value: float) -> str:
    """A p-value, with its sign."""
    return "< 0.0001" if value < 1e-4 else f"= {value:.4f}"
