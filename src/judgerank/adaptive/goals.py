"""Goals of a collection, and the test that one is reached: valid however often one looks.

The goal is a set of claims s_i > s_j about the models in their order. Look k tests each of them at

    alpha_k / m,    alpha_k = alpha / (k (k + 1)),

and the collection stops when all are rejected at one look. The alpha_k sum to alpha, so that looking often costs
nothing in safety (alpha spending, by Boole's inequality; Lan and DeMets, 1983, spend the same sum otherwise). m
counts the false claims of which a wrong stop must make one. A wrong set of the M best of N leaves out one of the
true ones for one of the others, in one of m = M (N - M) ways. A wrong order turns round one of the m = N - 1 pairs
that are neighbours in truth. Tests are two-sided, so that equal models at the edge are allowed for too.

Claims are about this panel as it answers now, or about judges like these: then each must be sure by the errors
that allow for the judges' own tastes as well (`inference.taste_errors`). A goal that does not say is about judges
like these where tastes show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Literal

import numpy as np

from judgerank.adaptive import spent_at
from judgerank.data.arrays import BoolArray, IntArray
from judgerank.data.errors import ConfigError
from judgerank.inference.wald import normal_quantile
from judgerank.order.pairs import Order
from judgerank.order.scale import standardised

FORMS = "'top 3 separated', 'all separated', 'width 0.3' or '5000 comparisons'"
LIKE_THESE, THIS_PANEL = "for judges like these", "for this panel"
_TOP = re.compile(r"top (\d+)(?: separated)?")
_ALL = re.compile(r"(?:all|neighbours|neighbors)(?: separated)?")
_WIDTH = re.compile(r"width (\d*\.?\d+)")
_SIZE = re.compile(r"(\d+) comparisons")


@dataclass(frozen=True)
class Goal:
    """What is to be known at the end.

    Attributes
    ----------
    kind : {"top", "all", "width", "comparisons"}
        The `size` best models apart from the others; all models apart from each other; no interval of a
        standardised score wider than `size`; so many comparisons.
    size : float
    like_these : bool, optional
        Whether it is about judges like these, or about this panel as it answers now. Without, it is about judges
        like these if a test finds that the judges have tastes (`adaptive.stop_rule`).
    """

    kind: Literal["top", "all", "width", "comparisons"]
    size: float = 0.0
    like_these: bool | None = None

    @property
    def whose(self) -> str:
        """Whom its claims are about, in words."""
        if self.like_these is None:
            return f"{LIKE_THESE} if tastes show, else {THIS_PANEL} as it answers now"
        return LIKE_THESE if self.like_these else f"{THIS_PANEL} as it answers now"

    @property
    def makes_claims(self) -> bool:
        """Whether it is a set of claims that one model is better than another."""
        return self.kind in ("top", "all")

    def pairs(self, n: int) -> IntArray:
        """The claims about n models in falling order: places of the better and of the worse, shape (2, P)."""
        i, j = np.triu_indices(n, 1)
        if self.kind == "top":
            among = (i < self.size) & (j >= self.size)
            return np.array([i[among], j[among]])
        return np.array([i, j])

    def false_claims(self, n: int) -> int:
        """How many false claims there are of which a wrong stop makes one."""
        top = int(self.size)
        return top * (n - top) if self.kind == "top" else n - 1

    def hurdle(self, n: int, look: int, alpha: float) -> float:
        """Largest p-value of a claim that is sure at this look, counted from one."""
        return spent_at(look, alpha) / self.false_claims(n)

    def open_claims(self, order: Order, look: int, alpha: float) -> BoolArray:
        """Which claims are not yet sure at this look, counted from one, shape (P,).

        With tastes a difference may be the other way round: then it is not sure either.
        """
        i, j = self.pairs(len(order.models))
        unsure = order.p_value[i, j] > self.hurdle(len(order.models), look, alpha)
        still: BoolArray = unsure | (order.difference[0][i, j] < 0)
        return still

    def fewest_questions(self, n: int, look: int, alpha: float) -> int:
        """With fewer no claim can be sure at this look by sign flips: 2^(1 - Q) is the least p-value of Q."""
        return 1 + ceil(-log2(self.hurdle(n, look, alpha)))

    def reached(self, order: Order, look: int, comparisons: float, alpha: float) -> bool:
        """Whether to stop at this look. By sign flips no width is reached: they give no interval of a score."""
        if self.kind == "comparisons":
            return comparisons >= self.size
        if self.kind == "width":
            return not order.flipped and widest(order, 1 - alpha) <= self.size
        return not self.open_claims(order, look, alpha).any()


def widest(order: Order, level: float) -> float:
    """Width of the widest interval of a score, standardised, at the last look alone."""
    scores = order.difference[0].mean(axis=1)
    spread = np.sqrt(np.diag(standardised(scores, order.covariance)[1]).max())
    return float(2 * normal_quantile(level) * spread)


def read_goal(text: str, n_models: int) -> Goal:
    """The goal in words.

    Raises
    ------
    ConfigError
        If it is none, or there are not as many models.
    """
    words = " ".join(text.lower().split())
    for ending in (LIKE_THESE, THIS_PANEL):
        if words.endswith(ending):
            goal = read_goal(words.removesuffix(ending), n_models)
            if goal.kind == "comparisons":
                raise ConfigError(f"{text!r}: a number of comparisons makes no claim about judges")
            return replace(goal, like_these=ending == LIKE_THESE)
    if match := _TOP.fullmatch(words):
        if not 1 <= int(match[1]) < n_models:
            raise ConfigError(f"{text!r}: there are {n_models} models, of which some must be left")
        return Goal("top", int(match[1]))
    if _ALL.fullmatch(words):
        return Goal("all")
    if (match := _WIDTH.fullmatch(words)) and float(match[1]) > 0:
        return Goal("width", float(match[1]))
    if (match := _SIZE.fullmatch(words)) and int(match[1]) > 0:
        return Goal("comparisons", int(match[1]))
    raise ConfigError(
        f"{text!r} is not a goal: use one of {FORMS}; the first three also "
        f"'... {LIKE_THESE}' or '... {THIS_PANEL}'"
    )
