"""How many independent judges a panel amounts to, what each judge adds, and what another one would.

Judges who see the same two answers err together. With a_k^2 the information of a comparison by judge k on a
difference of scores and R the correlations of their residuals, a fit that weighs judges as if they erred apart
knows the difference as well as

    n = K sum a^2 / (a'R a)

independent judges of the panel's mean information would. Equal judges with a correlation of rho make it
K / (1 + (K - 1) rho), Kish's (1965) design effect, which no number of further ones brings above 1 / rho.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from judgerank.data.arrays import AnyArray, FloatArray, IntArray
from judgerank.data.cache import Shown
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.errors import ConfigError, DataError, NoIntervalError
from judgerank.fits.fit import fitted_to, raw_and_question, require_member_alone
from judgerank.fits.result import Fit
from judgerank.inference.clusters import Residuals, cluster_gradients, jackknife
from judgerank.inference.wald import is_informative, normal_quantile
from judgerank.model.law import Law
from judgerank.model.members import Parameters
from judgerank.order.scale import standardised

if TYPE_CHECKING:
    from judgerank.reading.read import Source

# Correlated errors of judges: residual correlations on items that two judges both answered.
#
# An item is a question with two models. The residual of an answer is what it is above its probability, over its
# standard deviation, signed so that the same model gains whichever was shown first.
GROUPS = 100  # of whole questions, left out one after the other for the errors


@dataclass(frozen=True, eq=False)
class Together:
    """Sums over shared items.

    Attributes
    ----------
    products, squares, items : float array, shape (G, K, K)
        By group of questions and two judges k, l: sums of e_k e_l and of e_k^2, and how many items both answered.
    """

    products: FloatArray
    squares: FloatArray
    items: FloatArray

    @property
    def shared(self) -> IntArray:
        """Items that two judges both answered, shape (K, K)."""
        return self.items.sum(axis=0).astype(int)

    def without(self, group: int) -> Together:
        """All groups but one, as one group."""

        def rest(values: FloatArray) -> FloatArray:
            return (values.sum(axis=0) - values[group])[None]

        return Together(rest(self.products), rest(self.squares), rest(self.items))

    def correlations(self) -> tuple[FloatArray, float]:
        """Residual correlations of all judges, drawn toward their mean, shape (K, K), and that mean.

        A correlation r on n items has an error of about (1 - r^2) / sqrt(n). What correlations differ by beyond
        that is the spread of the true ones, and each is drawn toward the mean by as much as it is uncertain
        beside that (empirical Bayes). Two judges without shared items are given the mean.

        Raises
        ------
        DataError
            If no two judges share an item, or none departs from the fit there.
        """
        products, squares, n = (values.sum(axis=0) for values in (self.products, self.squares, self.items))
        first, second = np.triu_indices(len(n), 1)
        scale = np.sqrt(squares * squares.T)
        is_estimable = (n[first, second] > 0) & (scale[first, second] > 0)
        if not n[first, second].any():
            raise DataError("no question with the same two models was answered by two judges")
        if not is_estimable.any():
            raise DataError("judges never depart from the scores on questions that two of them answered")
        first, second = first[is_estimable], second[is_estimable]
        mean = min(1.0, float(products[first, second].sum() / scale[first, second].sum()))
        raw, size = products[first, second] / scale[first, second], n[first, second]
        noise = (1 - mean**2) ** 2 / size
        spread = max(0.0, float(np.average((raw - mean) ** 2 - noise, weights=size)))
        correlation = np.full(n.shape, mean)
        reliability = spread / np.maximum(spread + noise, np.finfo(float).tiny)
        correlation[first, second] = correlation[second, first] = mean + (raw - mean) * reliability
        np.fill_diagonal(correlation, 1.0)
        return correlation, mean


def groups_of(question: IntArray) -> IntArray:
    """Group of every row's question, shape (T,)."""
    _, number = np.unique(question, return_inverse=True)
    return np.asarray(number % min(GROUPS, int(number.max()) + 1))


def together(fitted: Fit, comparisons: Comparisons, question: IntArray) -> Together:
    """Residuals of every two judges on the items both answered.

    Parameters
    ----------
    fitted : Fit
    comparisons : Comparisons
        The raw rows behind the fit. Of several answers of a judge to an item, in either order, the mean counts.
    question : int array, shape (T,)

    Raises
    ------
    DataError
        If these are not the comparisons that were fitted, or questions are not as many.
    """
    c = fitted.model.observed(comparisons)
    fitted._require_fitted(c.models, c.judges, c.n_comparisons)
    c.require_one_each(question)
    rows = Residuals.of(c, fitted.model, fitted.solution.parameters)
    spread = np.sqrt(np.maximum(rows.variance * c.count, np.finfo(float).tiny))
    residual = np.where(c.first < c.second, 1.0, -1.0) * rows.residual / spread
    n, k = len(c.models), len(c.judges)
    of_row = groups_of(question)
    _, question = np.unique(question, return_inverse=True)
    _, first, item = np.unique(question * n**2 + c.pair, return_index=True, return_inverse=True)
    e = _mean_by(item, c.judge, residual, (len(first), k))
    group = of_row[first]
    shared_items = np.flatnonzero(np.diff(e.indptr) > 1)
    shared_items = shared_items[np.argsort(group[shared_items], kind="stable")]
    e, ends = e[shared_items], np.searchsorted(group[shared_items], np.arange(int(group.max()) + 2))
    products, squares, items = np.zeros((3, len(ends) - 1, k, k))
    for number, (start, end) in enumerate(pairwise(ends)):
        part = e[start:end]
        values, answered = part.toarray(), np.zeros((end - start, k))
        answered[np.repeat(np.arange(end - start), np.diff(part.indptr)), part.indices] = 1.0
        products[number], squares[number] = values.T @ values, (values**2).T @ answered
        items[number] = answered.T @ answered
    return Together(products, squares, items)


def _mean_by(item: IntArray, judge: IntArray, values: FloatArray, shape: tuple[int, int]) -> csr_array:
    total = coo_array((values, (item, judge)), shape=shape).tocsr()
    times = coo_array((np.ones(len(values)), (item, judge)), shape=shape).tocsr()
    total.data = total.data / times.data  # the same places in the same order
    return total


FEWEST = 10  # shared items from which a judge is named as another's nearest
CLOSEST = 0.999  # correlation from which an interval is no longer computed
COPIED = 0.5  # correlation from which two judges may be near copies
ALONE = 1e-9  # of a judge beyond one that counts as none


class NearCopies(NamedTuple):
    """Judges whose errors go together, their mean correlation, and that of the other pairs of the panel."""

    judges: tuple[str, ...]
    correlation: float
    others: float

    @property
    def effective_number(self) -> float:
        """How many independent judges they are, all alike: Kish's design effect."""
        n = len(self.judges)
        return n / (1 + (n - 1) * self.correlation)


@dataclass(frozen=True, eq=False, repr=False)
class EffectiveJudges(Shown):
    """How many independent judges a panel is worth.

    Attributes
    ----------
    n_judges : int
    correlation : float
        Mean residual correlation of two judges on the items they share.
    worth : DataFrame
        ``measure, estimate, standard_error, low, high``: ``kish`` counts judges alike, ``information`` by what
        their answers tell of the scores. Errors are by leaving out groups of whole questions, the fit one Newton
        step on.
    judges : DataFrame
        ``judge, information`` (one is the panel's mean), ``correlation`` (mean with the others), ``adds`` (judges
        that the panel is worth less without this one; below zero if the panel is better without), ``nearest`` (of
        the judges that share `FEWEST` items, whose residuals go with this one's most), ``nearest_correlation``
        with its interval ``low, high``, and ``shared``.
    design_effect : float
        Squared errors of the scores by question over those of independent judgments, on the comparisons made: the
        judgments are worth this many times fewer. NaN where there are no such errors.
    matrix, lowest : DataFrame
        Correlations by two judges, each drawn toward the mean by as much as it is uncertain, and the lower ends of
        their intervals; missing where two judges share fewer than `FEWEST` items.
    information : float array, shape (K,)
        a^2.
    """

    n_judges: int
    correlation: float
    worth: pd.DataFrame
    judges: pd.DataFrame
    design_effect: float
    matrix: pd.DataFrame
    lowest: pd.DataFrame
    information: FloatArray

    @property
    def most(self) -> float:
        """What no number of judges of the mean correlation is worth more than; infinite if that is zero."""
        return 1 / self.correlation if self.correlation > 0 else np.inf

    @property
    def is_informative(self) -> bool:
        """Whether the interval of what the panel is worth, from one judge to all, leaves anything out."""
        low, high = self.worth.set_index("measure").loc["information", ["low", "high"]].to_numpy(float)
        return is_informative((float(low), float(high)), (1.0, float(self.n_judges)))

    def near_copies(self) -> list[NearCopies]:
        """Groups of judges whose errors go together far more than those of other judges, the largest first.

        Judges of a panel err together, too, since they see the same answers. So two are near copies if their
        correlation is at least `COPIED`, and lies halfway from the mean of the other pairs to one, and its
        interval surely above a quarter of the way. Where all pairs are alike, nothing says what others share.
        """
        r, low = self.matrix.to_numpy(), self.lowest.to_numpy()
        first, second = np.triu_indices(len(r), 1)
        close = (r[first, second] >= COPIED) & np.isfinite(low[first, second])
        if close.all() or not close.any():
            return []
        others = max(float(r[first, second][~close].mean()), 0.0)
        sure = low[first, second] > others + (1 - others) / 4
        close &= sure & (r[first, second] >= (1 + others) / 2)
        graph = coo_array((np.ones(close.sum()), (first[close], second[close])), shape=r.shape)
        group, groups = connected_components(graph, directed=False)[1], []
        for number in np.flatnonzero(np.bincount(group) > 1):
            judges = tuple(self.matrix.index[group == number])
            within = close & (group[first] == number)
            groups.append(NearCopies(judges, float(r[first, second][within].mean()), others))
        return sorted(groups, key=lambda copies: -len(copies.judges))

    def another(
        self, quality: Sequence[float] = (0.5, 1.0, 2.0), correlation: float | None = None, cost: float = 1.0
    ) -> pd.DataFrame:
        """What another judge on the same questions adds, beside the same sum spent on further questions.

        Parameters
        ----------
        quality : sequence of float
            Discriminations, in units of the judge of mean information: information is its square.
        correlation : float, optional
            Of its residuals with those of every other judge; by default the panel's mean.
        cost : float
            Of one of its judgments, in units of the panel's mean cost of a judgment.

        Returns
        -------
        DataFrame
            ``quality, correlation, cost, adds, adds_per_cost, questions_per_cost``: independent judges of mean
            information, in all and per unit of cost; the last is what the present panel gains per unit of cost by
            more questions.

        Raises
        ------
        ConfigError
            If a number is out of range.
        """
        r = self.correlation if correlation is None else correlation
        if not -1 < r <= 1 or not 0 < cost < np.inf or not all(0 <= q < np.inf for q in quality):
            raise ConfigError("a correlation lies between -1 and 1, a cost above zero, a quality not below it")
        k, mean = self.n_judges, self.information.mean()
        matrix = np.full((k + 1, k + 1), r)
        matrix[:k, :k], matrix[k, k] = self.matrix, 1.0
        now, rows = _worth(self.information, self.matrix.to_numpy(), mean), []
        for q in quality:
            adds = _worth(np.r_[self.information, q**2 * mean], matrix, mean) - now
            rows.append((q, r, cost, adds, adds / cost, now / k))
        columns = ["quality", "correlation", "cost", "adds", "adds_per_cost", "questions_per_cost"]
        return pd.DataFrame(rows, columns=columns)

    def _line(self) -> str:
        return f"{self.n_judges} judges, their errors correlated by {self.correlation:.2f}"

    def _table(self) -> pd.DataFrame:
        return self.worth


def effective_judges(
    fitted: Fit | Comparisons | Source,
    judgments: Comparisons | Source | None = None,
    question: AnyArray | None = None,
    level: float = 0.95,
) -> EffectiveJudges:
    """How many independent judges the panel behind a fit is worth.

    Parameters
    ----------
    fitted : Fit, Comparisons, or anything that `judgerank.read` reads
        Judgments are fitted as `judgerank.fit` does by default.
    judgments : Comparisons, or anything that `judgerank.read` reads, optional
        The raw rows behind it, where the fit does not hold them.
    question : array, shape (T,), optional
        Of each, where the fit or the judgments do not say.
    level : float
        Of the intervals.

    Raises
    ------
    DataError
        If there are no questions, no two judges share an item, their errors cancel, or these are not the
        comparisons that were fitted.
    ConfigError
        If the fit has further blocks or question effects.

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example())
    >>> panel = judgerank.effective_judges(result)
    >>> type(panel).__name__
    'EffectiveJudges'
    """
    fitted = fitted_to(fitted)
    fitted.comparisons.require_pairs("the effective number of judges")
    require_member_alone(fitted, "the effective number of judges")
    comparisons, question = raw_and_question(fitted, judgments, question)
    if question is None:
        raise DataError(
            "how judges depend on each other takes questions: a column question_id, or `question` beside"
        )
    judges = list(fitted.comparisons.judges)
    if judges == [FEW_JUDGES]:
        raise DataError(f"no judge has {FEW_ANSWERS} answers")
    if len(judges) < 2:
        raise DataError("there is only one judge")
    sums = together(fitted, comparisons, question)
    a2 = information_by_judge(fitted, fitted.solution.parameters)
    if np.count_nonzero(a2) < 2:
        raise DataError("fewer than two judges separate better from worse models")
    matrix, mean = sums.correlations()
    without = np.array([sums.without(group).correlations()[0] for group in range(len(sums.items))])
    a2_without = _information_without(fitted, comparisons, question)
    return EffectiveJudges(
        len(judges),
        mean,
        _with_errors(matrix, without, a2, a2_without, level),
        _by_judge(judges, a2, matrix, without, sums.shared, level),
        design_effect(fitted, comparisons, question),
        pd.DataFrame(matrix, judges, judges),
        pd.DataFrame(_lowest(matrix, without, sums.shared, level), judges, judges),
        a2,
    )


def information_by_judge(fitted: Fit, at: Parameters) -> FloatArray:
    """a^2: mean information of a judge's comparison on its difference of scores at a point, shape (K,)."""
    cells = fitted.comparisons.pool_judges()
    d = at.scores[cells.first] - at.scores[cells.second]
    gamma, _, position, nu, log_strong = fitted.model.of_judges(at)
    eta = gamma[:, None] * d + position[:, None]
    variance = Law(eta, None if nu is None else nu[:, None], *log_strong[:, :, None]).variance
    return np.asarray(gamma**2 * (variance @ cells.count) / cells.n_comparisons)


def _information_without(fitted: Fit, comparisons: Comparisons, question: IntArray) -> FloatArray:
    """a^2 without every group of questions, one Newton step from the fit, shape (G, K)."""
    at, group = fitted.solution.parameters, groups_of(question)
    try:
        gradients = cluster_gradients(fitted.model.observed(comparisons), fitted.model, at, group)
        steps = gradients[:, fitted._chosen] @ fitted._inverse("observed")
    except (NoIntervalError, DataError):  # of one group, or where a judge runs off: as it is
        return np.tile(information_by_judge(fitted, at), (int(group.max()) + 1, 1))
    information, n = [], len(at.scores)
    for step in steps:
        shift = np.zeros(len(fitted._chosen))
        shift[fitted._chosen] = step
        judges = at.judges - shift[n : n + at.judges.size].reshape(at.judges.shape)
        information.append(information_by_judge(fitted, Parameters(at.scores - shift[:n], judges)))
    return np.array(information)


def design_effect(fitted: Fit, comparisons: Comparisons, question: IntArray) -> float:
    """Mean squared error of the standardised scores by question over that of independent judgments.

    NaN of two models, whose standardised scores are constants.
    """
    n, s = len(fitted.scores), fitted.scores.to_numpy()
    if n == 2 or len(np.unique(question)) <= fitted.n_parameters:
        return np.nan
    try:
        fits = (fitted.clustered(comparisons, question), fitted)
        by_question, by_judgment = (np.trace(standardised(s, result.covariance[:n, :n])[1]) for result in fits)
    except NoIntervalError:
        return np.nan
    return float(by_question / by_judgment)


def _worth(a2: FloatArray, r: FloatArray, mean: float) -> float:
    """Independent judges with the information `mean`, by the weights of a fit."""
    a = np.sqrt(a2)
    variance = float(a @ r @ a)
    if not a2.any():
        return 0.0
    return float(a2.sum()) ** 2 / variance / mean if variance > 0 else np.inf


def _measures(r: FloatArray, a2: FloatArray) -> tuple[float, float]:
    return _worth(np.ones(len(r)), r, 1.0), _worth(a2, r, float(a2.mean()))


def _with_errors(
    r: FloatArray, without: FloatArray, a2: FloatArray, a2_without: FloatArray, level: float
) -> pd.DataFrame:
    """Each measure with the jackknife's error over groups of questions.

    A panel is worth one judge at least, so intervals are in the logarithm of what it is worth beyond one.

    Raises
    ------
    DataError
        If the judges' errors cancel.
    """
    estimate = np.array(_measures(r, a2))
    parts = np.array([_measures(part, a2_part) for part, a2_part in zip(without, a2_without, strict=True)])
    if not (np.isfinite(estimate).all() and np.isfinite(parts).all()):
        raise DataError("as far as the shared questions show, the judges' errors cancel")
    relative = jackknife(np.log(np.maximum(parts - 1, ALONE)), 0)
    reach = np.exp(normal_quantile(level, max(len(without) - 1.0, 1.0)) * relative)
    beyond = np.maximum(estimate - 1, 0.0)
    ends = {"standard_error": beyond * relative, "low": 1 + beyond / reach, "high": 1 + beyond * reach}
    return pd.DataFrame({"measure": ["kish", "information"], "estimate": estimate, **ends})


def _reach(without: FloatArray, level: float) -> FloatArray:
    """Half the widths of the intervals of the correlations' inverse hyperbolic tangents, shape (K, K)."""
    z = np.arctanh(np.clip(without, -CLOSEST, CLOSEST))
    return np.asarray(normal_quantile(level, max(len(without) - 1.0, 1.0)) * jackknife(z, 0))


def _lowest(r: FloatArray, without: FloatArray, shared: IntArray, level: float) -> FloatArray:
    low = np.tanh(np.arctanh(np.clip(r, -CLOSEST, CLOSEST)) - _reach(without, level))
    return np.where(shared >= FEWEST, low, np.nan)


def _by_judge(
    judges: list[str], a2: FloatArray, r: FloatArray, without: FloatArray, shared: IntArray, level: float
) -> pd.DataFrame:
    mean, rows = float(a2.mean()), []
    total, reach = _worth(a2, r, mean), _reach(without, level)
    for k, judge in enumerate(judges):
        is_other = np.arange(len(judges)) != k
        row = {"judge": judge, "information": a2[k] / mean, "correlation": r[k, is_other].mean()}
        row["adds"] = total - _worth(a2[is_other], r[np.ix_(is_other, is_other)], mean)
        candidates = np.where(is_other & (shared[k] >= FEWEST), r[k], -np.inf)
        closest = int(np.argmax(candidates))
        if candidates[closest] > -np.inf:
            z_closest = np.arctanh(np.clip(r[k, closest], -CLOSEST, CLOSEST))
            low, high = np.tanh(z_closest + np.array([-1, 1]) * reach[k, closest])
            row |= {"nearest": judges[closest], "nearest_correlation": r[k, closest], "low": low, "high": high}
            row["shared"] = int(shared[k, closest])
        rows.append(row)
    columns = ["judge", "information", "correlation", "adds", "nearest", "nearest_correlation", "low", "high"]
    return pd.DataFrame(rows).reindex(columns=[*columns, "shared"]).astype({"shared": "Int64"})
