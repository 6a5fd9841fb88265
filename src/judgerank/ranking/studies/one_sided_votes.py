"""Votes for one model that the other judges' answers do not lead to expect, such as those of a voting bloc.

Groups are the judges with few answers together, and the others who chose the same model nearly always. With W the
wins of a model in its comparisons by a group, and p their probabilities by the scores of all others,

    z = (W - sum p) / sqrt(V + tau^2 V^2 + g'C g),    V = sum p (1 - p),

g the derivative of sum p in these scores and C their covariance. Honest judges have tastes, too: tau is the
standard deviation, in log-odds, by which two honest groups may differ over a model (docs/beyond/few_answers.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np
from scipy.special import expit, ndtr

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.cache import remembered
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.listing import counted, listed, p_of
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.model.members import Model
from judgerank.ranking.choices import SHRUNK
from judgerank.ranking.study import Component, Finding

ONE_SIDED = "One-sided votes: "  # how the remark begins
TASTE = 0.7  # tau
SIZE = 0.01  # of the test, over all groups and models
NEARLY_ALWAYS = 0.9  # share of comparisons that a model wins by votes for it alone
LEAST_EXCESS = 0.3  # of the share over what is expected, below which little depends on it


@dataclass(frozen=True)
class OneSided:
    """A group's votes on a model.

    Attributes
    ----------
    judges : tuple of str
        The group, by labels among the comparisons.
    model : str
    comparisons : float
        Of the model, by the group.
    share, expected : float
        Of them that it won, and that it would win by the scores of all others.
    p_value : float
        One-sided, adjusted for all groups and models.
    first : str
        The model with the highest score without the group.
    """

    judges: tuple[str, ...]
    model: str
    comparisons: float
    share: float
    expected: float
    p_value: float
    first: str


def of_component(component: Component) -> Finding:
    """A remark on each group with such votes, and the model with the highest score without it."""
    groups = one_sided(component.judgments.comparisons, component.member.model)
    few, first = len(component.judgments.few_judges), str(component.reported.scores.idxmax())
    return Finding([_sentence(group, few, first) for group in groups])


def _sentence(group: OneSided, few: int, first: str) -> str:
    n_judges = len(group.judges)
    who = f"{counted(n_judges, 'judge')} ({listed(group.judges)})" if n_judges > 1 else group.judges[0]
    if group.judges == (FEW_JUDGES,):
        who, n_judges = f"{counted(few, 'judge')} with fewer than {FEW_ANSWERS} answers", few
    still = "still " if group.first == first else ""
    return (
        f"{ONE_SIDED}{who} chose {group.model} in {group.share:.0%} of {group.comparisons:.0f} comparisons of it. "
        f"By the other judges' answers one expects {group.expected:.0%} (p {p_of(group.p_value)}). Without "
        f"{'that judge' if n_judges == 1 else 'those judges'}, {group.first} {still}has the highest score."
    )


def one_sided_judges(comparisons: Comparisons, model: Model) -> set[str]:
    """Labels of judges with such votes; parameters as of `one_sided`."""
    if comparisons.stages is not None:
        return set()
    return {judge for group in one_sided(comparisons, model) for judge in group.judges}


@remembered
def one_sided(comparisons: Comparisons, model: Model) -> list[OneSided]:
    """Groups with votes for one model that others do not lead to expect, the clearest first.

    Parameters
    ----------
    comparisons : Comparisons
        Of pairs; judges with few answers have one label (`Comparisons.pool_few`).
    model : Model
        The member that ranks.
    """
    c = comparisons.aggregate()
    for_model = (c.favourite[:, : len(c.models)] >= NEARLY_ALWAYS) & ~c.is_pooled[:, None]
    groups = [group for group in (c.is_pooled, *for_model.T) if group.any() and not group.all()]
    results = (_of_group(c, group, model, len(groups) * len(c.models)) for group in groups)
    return sorted((result for result in results if result is not None), key=lambda result: result.p_value)


def _of_group(c: Comparisons, group: BoolArray, model: Model, n_tests: int) -> OneSided | None:
    """The test with the smallest p-value of those that reject, if any."""
    inside = group[c.judge]
    rows, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    try:
        fitted = fit(c.take(others), model, SHRUNK)
        covariance = fitted.covariance[: len(c.models), : len(c.models)]
    except JudgerankError:
        return None
    p = _expected(fitted, c, rows)
    count, outcome = c.count[rows], c.outcome[rows]
    n_compared = _by_model(c, rows, count, count)
    won = _by_model(c, rows, count * outcome, count * (1 - outcome))
    expected = _by_model(c, rows, count * p, count * (1 - p))
    variance = count * p * (1 - p)
    of_model = _by_model(c, rows, variance, variance)
    gradient = np.diag(of_model)
    np.add.at(gradient, (c.first[rows], c.second[rows]), -variance)
    np.add.at(gradient, (c.second[rows], c.first[rows]), -variance)
    uncertain = np.einsum("mi,ij,mj->m", gradient, covariance, gradient)
    spread = np.sqrt(of_model + (TASTE * of_model) ** 2 + uncertain)
    excess = np.where(n_compared >= FEW_ANSWERS, won - expected, 0.0)
    p_values = np.minimum(n_tests * ndtr(-excess / np.maximum(spread, np.finfo(float).tiny)), 1.0)
    share = won / np.maximum(n_compared, 1)
    # one judge's word against others', or that of fewer: then only votes for hardly anything else are one-sided
    several = c.is_pooled[~group].any() or np.count_nonzero(~group) > 1
    minority = several and c.count[others].sum() > count.sum()
    clear = (p_values <= SIZE) & (excess >= LEAST_EXCESS * n_compared) & ((share >= NEARLY_ALWAYS) | minority)
    if not clear.any():
        return None
    m = int(np.argmin(np.where(clear, p_values, np.inf)))
    judges = tuple(compress(c.judges, group))
    at = c.models[m], float(n_compared[m]), float(share[m]), float(expected[m] / n_compared[m])
    return OneSided(judges, *at, float(p_values[m]), str(fitted.scores.idxmax()))


def _by_model(c: Comparisons, rows: IntArray, of_first: FloatArray, of_second: FloatArray) -> FloatArray:
    """Sums over rows by the model that they are of, values of the first and of the second one, shape (N,)."""
    n = len(c.models)
    return np.asarray(np.bincount(c.first[rows], of_first, n) + np.bincount(c.second[rows], of_second, n), float)


def _expected(fitted: Fit, c: Comparisons, rows: IntArray) -> FloatArray:
    """Probabilities that a judge of average discrimination and position bias prefers the first, shape (T,)."""
    s, others = fitted.scores.to_numpy(), fitted.comparisons
    position = np.average(fitted.position.to_numpy()[others.judge], weights=others.count)
    return np.asarray(expit(s[c.first[rows]] - s[c.second[rows]] + position))
