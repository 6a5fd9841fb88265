"""Which comparisons to collect next: those that shorten the widest interval of a pair not separated the most.

n more comparisons of i with j by judge k, in that order, add n G M G' to the expected information. M is the
variance p (1 - p) of an outcome, or its covariance with a tie where ties are an outcome; G the gradient in (s,
alpha, ...) of the predictor, g (e_i - e_j) in the scores, g (s_i - s_j) in alpha_k and one in b_k, and that of
log nu_k. With V the covariance and X X' = n G M G', the variance of a contrast c becomes (Woodbury, 1950)

    c'V c - (X'V c)' (1 + X'V X)^-1 (X'V c).

The contrast is the difference of the two models that, of those not separated, are known least relative to each
other, on the scale of `pairs`, held where it is now so that only what is learned of the order counts. A judge's
discrimination may be high by luck, and the luckiest of many is: judges are chosen for the least that a comparison
by them tells over an interval of their discrimination, and only among those with enough comparisons.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.cache import remembered
from judgerank.data.comparisons import FEW_JUDGES, POOLED_JUDGE
from judgerank.data.errors import ConfigError
from judgerank.fits.errors_by_question import too_few
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.model.kinds.family import relations
from judgerank.order.pairs import orders, separated
from judgerank.order.scale import best_known_scores, scale_of
from judgerank.ranking.candidates import Candidates
from judgerank.ranking.choices import Settings
from judgerank.ranking.studies.one_sided_votes import one_sided_judges
from judgerank.ranking.studies.panel import flagged, table_of
from judgerank.ranking.study import Component, Finding

COLUMNS = ["model_a", "model_b", "judge_model", "comparisons", "first", "second", "width", "width_after"]
COLUMNS += ["to_separate"]
CHANCE = 0.8  # of separating a pair by as many comparisons as are said to do so
NOBODY = "has a problem, or is of the maker of one of the two models"  # why no judge is asked
MOST = 10_000_000  # comparisons of a pair beyond which it is not said to be separated by any


def of_component(component: Component) -> Finding:
    """The table ``next``: what to collect next; no rows where scores are compared by their sizes."""
    chosen, reported = component.settings, component.reported
    if reported.errors.sizes is not None:
        return Finding(tables={"next": pd.DataFrame(columns=COLUMNS)})
    suspects = one_sided_judges(component.judgments.comparisons, component.member.model)
    allowed = may_judge(reported, table_of(component), chosen, suspects)
    if component.has_intervals:
        numbers = chosen.next, chosen.next_size, chosen.level, chosen.few
        table = next_comparisons(reported, *numbers, allowed)
    else:
        table = bounding_comparisons(reported, chosen.next, chosen.next_size, allowed)
    return Finding(tables={"next": _by_name(table, component.judgments.few_judges, chosen)})


def _by_name(table: pd.DataFrame, few_judges: Sequence[str], settings: Settings) -> pd.DataFrame:
    """The table with judges by name in place of the label of those with few answers, each in turn."""
    rows = np.flatnonzero(table["judge_model"] == FEW_JUDGES)
    if not len(rows) or not few_judges:
        return table
    models = list(dict.fromkeys([*table["model_a"], *table["model_b"]]))
    own = relations(few_judges, models, dict(settings.makers)).is_own & settings.is_recused
    names, unasked = table["judge_model"].astype(object).to_numpy().copy(), list[int]()
    for turn, row in enumerate(rows.tolist()):
        pair = [models.index(table[side].iloc[row]) for side in ("model_a", "model_b")]
        able = np.flatnonzero(~own[:, pair].any(axis=1))
        if len(able):
            names[row] = few_judges[able[turn % len(able)]]
        else:
            unasked.append(row)
    return table.assign(judge_model=names).drop(index=table.index[unasked]).reset_index(drop=True)


def may_judge(fitted: Fit, judges: pd.DataFrame, settings: Settings, suspects: Collection[str] = ()) -> BoolArray:
    """Which models advice may send to which judge, shape (K, N).

    None to judges with a problem by their table, and to `suspects`; none of a judge's own maker, if such votes do
    not count.
    """
    c, has_problem = fitted.comparisons, [*flagged(judges), *suspects]
    fine = ~np.isin(np.array(c.judges, object), np.array(has_problem, object))
    allowed = np.repeat(fine[:, None], len(c.models), axis=1)
    if not settings.is_recused:
        return allowed
    return allowed & ~relations(c.judges, c.models, dict(settings.makers)).is_own


def may_compare(fitted: Fit, allowed: BoolArray, first: str, second: str) -> list[str]:
    """Judges to whom advice may send two models; everybody where judges are pooled.

    Those with few answers, who have one label, only if there is nobody else.
    """
    c = fitted.comparisons
    if not fitted.model.judge_blocks:
        return list(c.judges)
    i, j = c.models.index(first), c.models.index(second)
    able = [c.judges[k] for k in np.flatnonzero(allowed[:, i] & allowed[:, j])]
    return [judge for judge in able if judge != FEW_JUDGES] or able


def next_comparisons(
    result: Fit,
    picks: int = 10,
    size: int = 10,
    level: float = 0.95,
    few: int = 0,
    allowed: BoolArray | None = None,
) -> pd.DataFrame:
    """Comparisons to collect next, best first: a pick takes those before it as collected, and none comes twice.

    Parameters
    ----------
    result : Fit
    picks : int
        Number of rows; fewer if there are not so many different ones.
    size : int
        Comparisons in each.
    level : float
        Of the intervals.
    few : int
        Judges with fewer comparisons are not asked, unless all have fewer.
    allowed : bool array, shape (K, N), optional
        Which models may be shown to which judge; by default all to all.

    Returns
    -------
    DataFrame
        ``model_a, model_b, judge_model, comparisons``: whom to show to which judge, how often; ``first, second``:
        of the pairs that `pairwise` does not separate (of all, if there are none), the one with the widest
        interval of its difference, ``width`` its width and ``width_after`` the expected one; ``to_separate``: how
        many comparisons of these two, spread evenly over the judges, are expected to separate them (see
        `to_separate`). Where a covariate matters it is taken at its mean.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    ConfigError
        If a number is not positive.
    """
    if picks < 1 or size < 1:
        raise ConfigError("there must be at least one comparison to suggest, and one in each suggestion")
    those = Candidates(result, few, allowed)
    v = result.covariance.copy()
    to_scores = best_known_scores(result)
    i, j, steps = _open_pairs(result, level)
    models, judges = result.comparisons.models, result.comparisons.judges
    judges = judges if result.model.judge_blocks else (POOLED_JUDGE,)
    reach, rows = 2 * normal_quantile(level), []
    u = to_scores @ v @ to_scores.T
    for _ in range(min(picks, len(those))):
        widest = np.argmax(np.diag(u)[i] + np.diag(u)[j] - 2 * u[i, j])
        pair = int(i[widest]), int(j[widest])
        c = to_scores[pair[0]] - to_scores[pair[1]]
        best = those.best(v, c, size, pair)
        those.excluded.add((int(best[0]), int(best[1]), int(best[2])))
        outcomes = those.outcomes(best[:, None])
        x = outcomes.root[0] * np.sqrt(size)
        step = v[:, outcomes.index[0]] @ x
        capacitance = x.T @ step[outcomes.index[0]] + np.eye(x.shape[1])
        before = c @ v @ c
        v -= step @ np.linalg.solve(capacitance, step.T)
        u -= to_scores @ step @ np.linalg.solve(capacitance, (to_scores @ step).T)
        widths = reach * np.sqrt([before, max(c @ v @ c, 0.0)])
        a, b, k = best
        number = to_separate(result, those, to_scores, *pair, steps, level)
        rows.append((models[a], models[b], judges[k], size, models[pair[0]], models[pair[1]], *widths, number))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"to_separate": "Int64"})


def cost_of_pair(
    result: Fit,
    first: str,
    second: str,
    level: float = 0.95,
    few: int = 0,
    allowed: BoolArray | None = None,
) -> int | None:
    """Comparisons of two models, spread evenly over the judges, that are expected to separate them.

    As `to_separate`; `few` and `allowed` as of `next_comparisons`.
    """
    to_scores = best_known_scores(result)
    i, j = (result.comparisons.models.index(name) for name in (first, second))
    those = Candidates(result, few, allowed)
    return to_separate(result, those, to_scores, i, j, _open_pairs(result, level)[2], level)


def tastes_matter(result: Fit) -> bool:
    """Whether the fit speaks of judges like these, whose tastes differ: only more judges narrow that."""
    return result._speaks_of_judges_like_these


def to_separate(
    result: Fit,
    those: Candidates,
    to_scores: FloatArray,
    i: int,
    j: int,
    steps: int,
    level: float,
) -> int | None:
    """Comparisons of two models, spread evenly over the judges, that separate them with the chance `CHANCE`.

    That is if their difference is as estimated, and the pair is the next of `steps` whose turn it is in Holm's
    procedure. A discrimination that is known badly cannot be made up for by many comparisons: where `MOST` are
    too few the answer is None. So it is where no judge may be asked. So it is where there are too few questions:
    what is known then of the difference, apart from what judgments of a question have in common, is not known. And
    so it is where judges have tastes of which there are too few to tell the models apart: more comparisons by the
    same judges leave that part of the variance as it is.
    """
    asked = those.between(i, j)
    if too_few(result) or not asked.size:
        return None
    c, scores = to_scores[i] - to_scores[j], scale_of(result).scores
    panel_fit, of_tastes, degrees = result, 0.0, np.inf
    if tastes_matter(result):
        panel_fit, degrees = result.for_this_panel(), float(result.degrees_of_pairs[i, j])
        of_tastes = max(float(c @ (result.covariance - panel_fit.covariance) @ c), 0.0)
    reach = normal_quantile(1 - (1 - level) / steps, degrees) + ndtri(CHANCE)
    wanted = abs(scores[i] - scores[j]) / reach
    v = panel_fit.covariance
    outcomes = those.outcomes(asked)
    roots = np.zeros((len(v), len(outcomes.index), outcomes.root.shape[2]))
    for position, (index, root) in enumerate(zip(outcomes.index, outcomes.root, strict=True)):
        roots[index, position] = root / np.sqrt(len(outcomes.index))
    variance = variance_after(v, _bread(panel_fit), roots.reshape(len(v), -1), c)

    def suffices(n: int) -> bool:
        return of_tastes + variance(n) <= wanted**2

    number = 1 + bisect_left(range(1, MOST + 1), True, key=suffices)
    return number if number <= MOST else None


def variance_after(v: FloatArray, bread: FloatArray, x: FloatArray, c: FloatArray) -> Callable[[int], float]:
    """Variance of the contrast c after n more comparisons on new questions, with x x' the information of one.

    The next fit weighs all comparisons alike, also those of one question, which tell less than their number. So
    the sandwich V = B M B becomes B_n (M + n x x') B_n, with B_n the inverse of B^-1 + n x x'. By Woodbury's
    formula

        B_n c = B z,    z = c - x a,    a = (1 / n + x'B x)^-1 x'B c,    variance = z'V z + n |x'B z|^2.

    Where V is B, as it is without clusters, this is c'B_n c.
    """
    values, vectors = np.linalg.eigh(x.T @ bread @ x)
    values, along = np.maximum(values, 0.0), x @ vectors
    g, h, quadratic = along.T @ bread @ c, along.T @ v @ c, along.T @ v @ along

    def variance(n: int) -> float:
        left = g / (1 + n * values)
        a = n * left
        return float(c @ v @ c - 2 * a @ h + a @ quadratic @ a + n * left @ left)

    return variance


@remembered
def _bread(result: Fit) -> FloatArray:
    """The inverse information by which the next fit will weigh comparisons; its covariance but for a sandwich."""
    sandwich = result.errors.robust is not None and result.effects is None and not result.errors.of_panel
    return result.dispersion * result._inverse("observed") if sandwich else result.covariance


def bounding_comparisons(
    result: Fit, picks: int = 10, size: int = 10, allowed: BoolArray | None = None
) -> pd.DataFrame:
    """Comparisons to collect where judges never answered against the order, in the form of `next_comparisons`.

    An answer against the order is likeliest between the closest scores: neighbours in rank, closest first.
    """
    order = result.scores.sort_values(ascending=False, kind="stable")
    neighbours = np.argsort(-np.diff(order.to_numpy()), kind="stable")
    pairs = [(order.index[n], order.index[n + 1]) for n in neighbours]
    if allowed is None:
        allowed = np.ones((len(result.comparisons.judges), len(order)), bool)
    rows = [
        (*pair, judge, size)
        for pair in pairs
        for judge in may_compare(result, allowed, *pair)
        if judge in result.unbounded_judges
    ][:picks]
    return pd.DataFrame(rows, columns=COLUMNS[:4]).reindex(columns=COLUMNS)


def _open_pairs(result: Fit, level: float) -> tuple[IntArray, IntArray, int]:
    """The pairs of models that are not separated, or all, if they are; and how many are not, at least one."""
    position = {name: number for number, name in enumerate(result.comparisons.models)}
    pair_tests = list(orders(result))
    i, j = np.concatenate([_pairs_of([position[name] for name in order.models]) for order in pair_tests], axis=1)
    open_pairs = ~separated(pair_tests, level)
    chosen = open_pairs if open_pairs.any() else np.ones_like(open_pairs)
    return i[chosen], j[chosen], max(1, int(open_pairs.sum()))


def _pairs_of(positions: list[int]) -> IntArray:
    return np.array(positions)[np.array(np.triu_indices(len(positions), 1))]
