"""Dependence of comparisons of one question, and its cost: answers better or worse than their models.

In a question q the answer of model i is better than the model usually is by a normal deviate of its own, for all
judges alike. With e standard normal, a comparison of i and j by judge k has the latent outcome

    L = rho_k (e_iq - e_jq) / sqrt(2) + sqrt(1 - rho_k^2) noise,   rho_k^2 = v_k / (v_k + pi^2 / 3),
    v_k = 2 (tau gamma_k)^2, gamma_k on the reported scale,

and the first model is preferred where L exceeds what makes its probability that of the panel. So every comparison
by itself is as without questions, tau is the deviation's standard deviation on the scale of the scores, and to
first order two outcomes of a question have the covariance a_t a_t' x_t'x_t', with x = e_i - e_j and a_t = rho_k
phi(Phi^-1(p_t)) / sqrt(2). Where answers have more levels, L is cut at each of them, and a_t sums over the cuts
what the statistic of a parameter (c, or whether it has a size |c|) loses there. The covariance of T comparisons is
then the sandwich

    V / T,   V = V_0 + V_0 [(J - 1) C_pair + (P - 1) J C] V_0

for P pairs of each question, each by J different judges: V_0 is the inverse information of one comparison, C the
outer product of the mean of u_t a_t x_t' with itself, u_t the gradient of the predictor or of a threshold, and
C_pair that of two judges on one pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.special import ndtri

from judgerank.data import QUESTION
from judgerank.data.arrays import FloatArray, IntArray, sizes
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine.likelihood import product, row_by_row, row_derivatives
from judgerank.fits.result import Fit
from judgerank.inference.clusters import cluster_gradients, drawn_clusters
from judgerank.inference.wald import normal_quantile
from judgerank.model.block import Role
from judgerank.order.scale import scale_of
from judgerank.planning.panels import Panel

LATENT = np.pi**2 / 3  # variance of a logistic variable
WIDEST = 20.0  # of the deviations' standard deviations that are tried
LEAST_DRAWN, MOST_NUMBERS = 200, 2e7  # questions that tell tau, and numbers in their rows' gradients
Z95 = normal_quantile(0.95)


@dataclass(frozen=True)
class Questions:
    """How questions are asked.

    Attributes
    ----------
    sd : float
        Standard deviation tau by which an answer is better or worse than its model usually is, in the units of
        reported scores.
    pairs : int
        Pairs of models compared on each question, P.
    judges : int
        Different judges asked about each of those, J.
    interval : tuple of two floats, optional
        95% interval of tau where it is estimated; infinite where the largest that is tried is not enough.
    is_known : bool
        Whether that interval leaves out half of what tau may be, up to where questions matter twice as much as
        models.
    unit : str
        What stands for a question: the column whose values were sampled.

    Raises
    ------
    ConfigError
        If one is out of range.
    """

    sd: float = 0.0
    pairs: int = 1
    judges: int = 1
    interval: tuple[float, float] | None = field(default=None, compare=False)
    is_known: bool = field(default=True, compare=False)
    unit: str = field(default=QUESTION, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.sd < np.inf:
            raise ConfigError(f"questions: sd must be finite and at least 0, not {self.sd:g}")
        if self.pairs < 1 or self.judges < 1:
            raise ConfigError("questions: pairs and judges must be at least 1")

    @property
    def size(self) -> int:
        """Comparisons of each question."""
        return self.pairs * self.judges

    def within(self, panel: Panel) -> Questions:
        """As far as a panel can: no more judges than it has."""
        return replace(self, judges=min(self.judges, len(panel.judges)))

    def whole(self, size: float) -> int:
        """Comparisons to make so that there are at least `size`, all questions asked alike."""
        return self.size * int(np.ceil(size / self.size))


INDEPENDENT = Questions()


def loading(panel: Panel, sd: float) -> FloatArray:
    """rho_k, shape (K,)."""
    shared = 2 * (sd * panel.scale.discriminations) ** 2
    return np.sqrt(shared / (shared + LATENT))


def shared_variance(panel: Panel, questions: Questions) -> FloatArray:
    """(J - 1) C_pair + (P - 1) J C, the part of the gradient's variance that is shared, shape (D, D)."""
    (cells, felt), n, k = _felt(panel), len(panel.models), len(panel.judges)
    sign = np.where(cells.first < cells.second, 1.0, -1.0)
    weight = cells.count / cells.count.sum()
    felt = diags_array(sign * loading(panel, questions.sd)[cells.judge] / np.sqrt(2)) @ felt
    of_triple = _sums(cells.pair * k + cells.judge, weight, n * n * k) @ felt  # over the orders of presentation
    of_pair = _sums(np.arange(n * n * k) // k, np.ones(n * n * k), n * n) @ of_triple
    share = np.bincount(cells.pair, weight, n * n)
    inverse = diags_array(np.divide(1.0, share, where=share > 0, out=np.zeros(n * n)))
    pair_contrasts = _differences(np.arange(n * n) // n, np.arange(n * n) % n, n)
    mean = (of_pair.T @ pair_contrasts).toarray()
    total = (questions.pairs - 1) * questions.judges * mean @ mean.T
    if questions.judges > 1:
        judge = panel.judge_weight / panel.judge_weight.sum()
        triple_terms = (of_triple.T @ diags_array(np.repeat(inverse.diagonal(), k)) @ of_triple).toarray()
        both = (of_pair.T @ inverse @ of_pair).toarray()
        different = 2 * (both - triple_terms) / (1 - judge @ judge)  # |x|^2 = 2; one judge is not asked twice
        total = total + (questions.judges - 1) * different
    return total


@remembered
def _felt(panel: Panel) -> tuple[Comparisons, csr_array]:
    """The design, and u_t times the statistic's derivative in the latent outcome by free parameter, (C, D)."""
    cells = panel.design()
    terms, derivative = row_by_row(cells, panel.model, panel.at), _moved(panel, cells)
    jacobian = row_derivatives(terms, lambda role: product(derivative(role), *terms.factors(role)))
    return cells, jacobian.tocsr()[:, np.r_[np.ones(len(panel.models), bool), panel.free.ravel()]]


def _moved(panel: Panel, cells: Comparisons) -> Callable[[Role], FloatArray]:
    """Derivative of the mean of a role's statistic in the latent outcome, shape (C,), given the role."""
    below = np.cumsum(panel.probabilities(cells.first, cells.second, cells.judge), axis=1)[:, :-1]
    density = np.exp(-(ndtri(np.minimum(below, 1.0)) ** 2) / 2) / np.sqrt(2 * np.pi)

    def by_role(role: Role) -> FloatArray:
        statistic = np.abs(panel.levels) == role.size if role.is_threshold else panel.levels
        return np.asarray(density @ -np.diff(statistic.astype(float)))

    return by_role


def _sums(group: IntArray, weight: FloatArray, size: int) -> csr_array:
    """Map from rows to weighted sums of groups of them."""
    return coo_array((weight, (group, np.arange(len(group)))), (size, len(group))).tocsr()


def _differences(i: IntArray, j: IntArray, n: int) -> csr_array:
    """Rows e_i - e_j."""
    rows = np.arange(len(i))
    values, columns = np.r_[np.ones(len(i)), -np.ones(len(i))], np.r_[i, j]
    return coo_array((values, (np.r_[rows, rows], columns)), (len(i), n)).tocsr()


def asked_in(panel: Panel, comparisons: Comparisons, question: IntArray) -> tuple[int, int]:
    """Pairs of a question, and judges of each, that a typical comparison is one of.

    Means over comparisons, as dependence counts: one question of 100 comparisons and 100 of one are not alike.
    """
    pair = question.astype(np.int64) * len(comparisons.models) ** 2 + comparisons.pair

    def group_effect(group: IntArray) -> float:
        times = np.bincount(np.unique(group, return_inverse=True)[1], comparisons.count)
        return float((times**2).sum() / times.sum())

    judges = int(np.clip(round(group_effect(pair)), 1, len(panel.judges)))
    return max(1, round(group_effect(question) / judges)), judges


def deviation(
    panel: Panel, plain: Fit, comparisons: Comparisons, question: IntArray, pairs: int, judges: int
) -> tuple[float, tuple[float, float]]:
    """tau at which the plan's variances exceed independent ones by as much as those of a fit do, and its interval.

    Of the variance of all reported scores together. By questions it is a sum over them, whose spread gives the
    interval. Zero where questions add nothing; infinite where more than `WIDEST` would be needed.
    """
    if pairs * judges == 1:
        return 0.0, (0.0, 0.0)
    by_question, shared = _squares_by_question(plain, comparisons, question)
    independent = panel.dispersion * plain._inverse("expected")
    excess = 1.0 + shared / np.trace(scale_of(plain).covariance(independent))
    error = np.sqrt(len(by_question)) * by_question.std(ddof=1) / by_question.sum()
    low, middle, high = (_tau(panel, excess * np.exp(z * error), pairs, judges) for z in (-Z95, 0.0, Z95))
    return middle, (low, high)


def _squares_by_question(plain: Fit, comparisons: Comparisons, question: IntArray) -> tuple[FloatArray, float]:
    """Each question's part of the sandwich's variance of all reported scores, and what comparisons of one share.

    The second is the sum over questions of the products of different rows' gradients. A fit takes from these what
    their question has in common with the estimates: were all rows independent, the expected product of the
    gradients of t and u would be -J_t B J_u, J the information of a row, here its gradient's square, and B the
    inverse of all information. With few questions that is much of what they share, so it is added back. Errors by
    question of shrunk fits allow for it with a margin (`inference.clusters.for_few_clusters`), too large for an
    estimate.
    """
    share = len(comparisons) / max(len(sizes(question)), 1)
    most = max(LEAST_DRAWN, int(MOST_NUMBERS / (share * plain._chosen.sum())))
    n_questions, rows = drawn_clusters(question, most)
    if rows is not None:
        comparisons, question = comparisons._rows(rows), question[rows]
    observed, at = plain.model.observed(comparisons), plain.solution.parameters
    gradients = cluster_gradients(observed, plain.model, at, np.arange(len(comparisons)))[:, plain._chosen]
    inverse, to_scores = plain._inverse("observed"), scale_of(plain).to_scores
    influence = gradients @ inverse @ to_scores.T  # on the reported scores
    order = np.argsort(question, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(question[order])) + 1)
    shared, squares = 0.0, np.zeros(len(groups))
    for number, group in enumerate(groups):
        own, products = gradients[group], influence[group] @ influence[group].T
        squares[number] = products.sum()
        estimated = products * (1.0 + own @ inverse @ own.T)
        shared += estimated.sum() - np.trace(estimated)
    return squares, shared * (1.0 if n_questions is None else n_questions / len(groups))


def _tau(panel: Panel, ratio: float, pairs: int, judges: int) -> float:
    """tau at which questions make the variance so many times as large."""
    bread = panel.bread
    alone = np.trace(panel.scale.covariance(panel.covariance))

    def excess(sd: float) -> float:
        shared = shared_variance(panel, Questions(sd, pairs, judges))
        return float(np.trace(panel.scale.covariance(bread @ shared @ bread)) / alone + 1.0 - ratio)

    if ratio <= 1:
        return 0.0
    return float(brentq(excess, 0.0, WIDEST)) if excess(WIDEST) > 0 else np.inf
