"""The family of models: one linear predictor for all of them, and which of its parameters each one frees.

    eta = g (s_i - s_j) + b_k,   g = exp(alpha_k + beta_k z),   P(first preferred) = sigmoid(eta)

The Bradley-Terry-Luce model frees the scores s only (g = 1, b = 0); the paper's judge-aware model, equation (1),
frees the log-discrimination alpha too; the length-augmented model of the appendix adds the slope beta; the
position-aware members add b, a judge's leaning towards the model shown first. A model is a choice of free blocks.

Ties are half a win for either model, unless their propensity nu_k is free too. Then they are an outcome of their
own (Davidson, 1970): the first model, the second, and a tie have odds e^{eta/2} : e^{-eta/2} : nu_k, which is the
above where nu_k is zero. Where the propensity kappa_k to say *much better* is free, that is an outcome for either
model, with odds kappa_k e^{eta} : kappa_k e^{-eta} beside them, and so on for as many strengths as the judgments
have (`judgerank.model.law`, `judgerank.model.naming.get_model`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import BoolArray, FloatArray, exp
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.model.block import PAIRS_ALONE, Need, Placed, Role
from judgerank.model.judge_blocks import JUDGE_BLOCKS, JudgeBlock, in_order, judge_block, plain, strengths
from judgerank.model.tied_law import observed_ties

# What every judge has at a point, in its own units.


class JudgeValues(NamedTuple):
    """Discrimination, its slope, position, tie and log strong propensities of every judge.

    Each of shape (K,), but the last of shape (S, K) for the S strengths beyond better. The tie propensity is None
    where ties are no outcome.
    """

    gamma: FloatArray
    slope: FloatArray
    position: FloatArray
    nu: FloatArray | None
    log_strong: FloatArray = np.zeros((0, 1))


SCALE = "log_discrimination"  # the block that all others need


@dataclass(frozen=True)
class Model:
    """A member of the family, with further blocks or none.

    Attributes
    ----------
    name : str
    judge_blocks : tuple of str
        Names of the parameters that every judge has, out of `JUDGE_BLOCKS` and in that order.
    fixed_scale : bool
        Whether every discrimination is one, although there is a block for it.
    further : tuple of Placed
        Blocks whose columns are made of the records, such as style or categories.
    """

    name: str
    judge_blocks: tuple[str, ...]
    fixed_scale: bool = False
    further: tuple[Placed, ...] = ()

    def __post_init__(self) -> None:
        ordered = in_order(self.judge_blocks)
        if self.judge_blocks != ordered:
            raise ConfigError(
                f"model {self.name!r} has the judge blocks {', '.join(map(str, self.judge_blocks))}: they must be "
                f"some of {', '.join(JUDGE_BLOCKS)}, in this order"
            )
        if ordered and ordered[0] != SCALE:
            raise ConfigError(
                f"model {self.name!r} lacks {SCALE}: put it first (fixed_scale=True fixes it at zero)"
            )
        if self.fixed_scale and (not ordered or "slope" in ordered):
            raise ConfigError(f"model {self.name!r} has a fixed scale, which goes with {SCALE} and without slope")

    @property
    def has_slope(self) -> bool:
        return "slope" in self.judge_blocks

    @property
    def has_position(self) -> bool:
        return "position" in self.judge_blocks

    @property
    def has_ties(self) -> bool:
        return "log_tie" in self.judge_blocks

    @cached_property
    def tie_sizes(self) -> tuple[int, ...]:
        """Numbers of answers that may be tied."""
        return tuple(block.role.tied for block in self.blocks if block.role.tied)

    def missing(self, comparisons: Comparisons) -> str | None:
        """What the model needs and the comparisons do not have; None if they have it all."""
        if self.uses(Need.ORDER) and not comparisons.ordered:
            return "an order of presentation"
        if comparisons.stages is not None and self.has_slope:
            return PAIRS_ALONE
        if self.uses(Need.STRENGTH) and comparisons.strong is None:
            return "strength (how much better an answer is)"
        columns = (block.column for block in self.blocks if block.column)
        return next((f"a {name}" for name in columns if getattr(comparisons, name) is None), None)

    def observed(self, comparisons: Comparisons) -> Comparisons:
        """The comparisons as this model takes them: ties apart or half a win for either, and the columns it uses.

        Raises DataError as `judgerank.model.tied_law.observed_ties`.
        """
        comparisons = observed_ties(comparisons, self.tie_sizes)
        if comparisons.strong is not None:
            n_strengths = self.n_strengths
            comparisons = (
                comparisons.with_strengths(n_strengths) if n_strengths else replace(comparisons, strong=None)
            )
        if comparisons.covariate is None or any(block.column == "covariate" for block in self.blocks):
            return comparisons
        return replace(comparisons, covariate=None)  # rows that differ in it alone merge

    @cached_property
    def blocks(self) -> tuple[JudgeBlock, ...]:
        """What every judge has, row by row of `Parameters.judges`."""
        return tuple(judge_block(name) for name in self.judge_blocks)

    def uses(self, need: Need) -> bool:
        """Whether one of its parameters needs this of the data."""
        return need in self.needs

    @cached_property
    def needs(self) -> frozenset[Need]:
        """What its parameters need of the data."""
        return frozenset(block.needs for block in self.blocks if block.needs is not None)

    @property
    def free_blocks(self) -> tuple[str, ...]:
        """Names of those that are not held."""
        return self.judge_blocks[self.fixed_scale :]

    @cached_property
    def n_scale(self) -> int:
        """Number of blocks that scale score differences; they come first."""
        return sum(block.role is Role.WEIGHT for block in self.blocks)

    @cached_property
    def n_strengths(self) -> int:
        """Number of strengths beyond better that are outcomes."""
        return sum(block.role.is_strong for block in self.blocks)

    def has(self, *roles: Role) -> bool:
        """Whether every judge has a parameter of one of these roles."""
        return any(block.role in roles for block in self.blocks)

    @cached_property
    def weights(self) -> slice:
        """Rows of the blocks that scale differences."""
        return slice(0, self.n_scale)

    @cached_property
    def free_rows(self) -> slice:
        """Rows of the blocks that are not held."""
        return slice(int(self.fixed_scale), len(self.judge_blocks))

    @cached_property
    def weights_vary(self) -> bool:
        """Whether a judge's discrimination depends on a column of the comparisons."""
        return any(block.role is Role.WEIGHT and block.column is not None for block in self.blocks)

    def gamma(self, parameters: Parameters) -> FloatArray | None:
        """Discriminations at a point, shape (K,); None where there is no block for them."""
        return exp(parameters.judges[0]) if self.has(Role.WEIGHT) else None

    @property
    def alone(self) -> Model:
        """The same without further blocks."""
        return replace(self, further=()) if self.further else self

    def counterpart(self) -> Model:
        """The member with positions besides, or without those it has, by its usual name if it has one."""
        name = f"{self.name}_without_position" if self.has_position else f"{self.name}_position"
        return _usual(name, {*self.judge_blocks} ^ {"position"}, self.fixed_scale or not self.judge_blocks)

    def with_ties(self) -> Model:
        """The member with ties as an outcome of their own, by its usual name if it has one."""
        blocks = {*self.judge_blocks} | {"log_tie"}
        return _usual(f"{self.name}_ties", blocks, self.fixed_scale or not self.judge_blocks)

    def with_equal_weights(self) -> Model:
        """The member with all discriminations one, by its usual name if it has one; itself if none is free."""
        if not self.weighs_judges:
            return self
        return _usual(f"{self.name}_equal_weights", {*self.judge_blocks} - {"slope"}, True)

    @cached_property
    def offsets(self) -> slice:
        """Rows of the blocks that do not scale differences: they matter for judges at zero discrimination, too."""
        return slice(self.n_scale, len(self.judge_blocks))

    @cached_property
    def moving(self) -> range:
        """Rows of the free blocks that scale differences."""
        return range(0 if self.fixed_scale else self.n_scale)

    @cached_property
    def weighs_judges(self) -> bool:
        """Whether discriminations are free."""
        return len(self.moving) > 0

    def row(self, block: str) -> int:
        """Place of a block that every judge has."""
        return self.judge_blocks.index(block)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """Role of every column of the further blocks, P of them."""
        return tuple(block.role for block in self.further for _ in block.labels)

    def forms(self, columns: csr_array, common: FloatArray) -> dict[Role, FloatArray]:
        """What the further blocks add by role, for columns of shape (T, P)."""
        every = {*Role, *(block.role for block in self.blocks)}
        return {role: columns @ np.where(np.equal(self.roles, role), common, 0.0) for role in every}

    @property
    def restricted(self) -> bool:
        """Whether a further block asks for standard deviations by restricted likelihood."""
        return any(block.restricted for block in self.further)

    def place(self, block: str) -> slice:
        """Where a further block's parameters stand among all P."""
        sizes = {block_part.name: len(block_part.labels) for block_part in self.further}
        end = dict(zip(sizes, accumulate(sizes.values()), strict=True))[block]
        return slice(end - sizes[block], end)

    def of_judges(self, parameters: Parameters) -> JudgeValues:
        """What every judge has at a point, in its own units; what the member does not free as it then is."""
        size = parameters.judges.shape[1]
        rows = dict(zip(self.judge_blocks, parameters.judges, strict=True))
        gamma = exp(parameters.judges[0]) if self.n_scale else np.ones(size)
        nu = exp(rows["log_tie"]) if self.has_ties else None
        slope, position = (rows.get(name, np.zeros(size)) for name in ("slope", "position"))
        strong = np.array([rows[name] for name in strengths(self.n_strengths)]).reshape(-1, size)
        return JudgeValues(gamma, slope, position, nu, strong)


def _usual(name: str, blocks: set[str], fixed: bool) -> Model:
    """A member with these blocks of judges, by its usual name if it has one, else by `name`."""
    ordered = in_order(blocks | {SCALE})
    if fixed and ordered == (SCALE,):
        ordered, fixed = (), False
    candidate = Model(name, ordered, fixed)
    usual = replace(candidate, judge_blocks=plain(ordered))  # whatever the number of strengths
    names = (model.name for model in NAMED.values() if replace(model, name=name) == usual)
    return replace(candidate, name=next(names, name))


BTL = Model("btl", ())
JUDGE_AWARE = Model("judge_aware", ("log_discrimination",))
LENGTH = Model("length", ("log_discrimination", "slope"))
POSITION_AWARE = Model("position_aware", ("log_discrimination", "position"))
POSITION_LENGTH = Model("position_length", ("log_discrimination", "slope", "position"))
POSITION_ONLY = Model("position_only", ("log_discrimination", "position"), fixed_scale=True)
BTL_TIES = Model("btl_ties", ("log_discrimination", "log_tie"), fixed_scale=True)
JUDGE_AWARE_TIES = Model("judge_aware_ties", ("log_discrimination", "log_tie"))
POSITION_AWARE_TIES = Model("position_aware_ties", ("log_discrimination", "position", "log_tie"))
MEMBERS = (
    *(BTL, JUDGE_AWARE, LENGTH, POSITION_ONLY, POSITION_AWARE, POSITION_LENGTH),
    *(BTL_TIES, JUDGE_AWARE_TIES, POSITION_AWARE_TIES),
)
MODELS = {model.name: model for model in MEMBERS}
GRADED_MEMBERS = (
    Model("btl_graded", ("log_discrimination", "log_tie", "log_strong"), fixed_scale=True),
    Model("judge_aware_graded", ("log_discrimination", "log_tie", "log_strong")),
    Model("position_aware_graded", ("log_discrimination", "position", "log_tie", "log_strong")),
)  # for comparisons that say how strong each answer is
NAMED = {**MODELS, **{model.name: model for model in GRADED_MEMBERS}}


@dataclass(frozen=True)
class Parameters:
    """A point in the parameter space.

    Attributes
    ----------
    scores : float array, shape (N,)
    judges : float array, shape (B, K)
        One row per block that every judge has. A judge at zero discrimination has log-discrimination minus
        infinity, and one who never ties log-propensity minus infinity (`judgerank.model.naming` has the others).
    common : float array, shape (P,)
        Of the further blocks.
    """

    scores: FloatArray
    judges: FloatArray
    common: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def zeros(cls, model: Model, cells: Comparisons) -> Parameters:
        judges = np.zeros((len(model.judge_blocks), len(cells.judges)))
        return cls(np.zeros(len(cells.models)), judges, np.zeros(len(model.roles)))

    @property
    def in_play(self) -> BoolArray:
        """Mask of the judges with positive discrimination, shape (K,)."""
        return np.isfinite(self.judges[0]) if len(self.judges) else np.ones(self.judges.shape[1], bool)

    @property
    def score_spread(self) -> float:
        """Standard deviation of the scores, quicker than numpy's own: every step of a climb asks for it."""
        away = self.scores - self.scores.sum() / len(self.scores)
        return float(np.sqrt((away * away).sum() / len(away)))

    def normalised(self, model: Model | None = None, at_mean: BoolArray | None = None) -> Parameters:
        """The same probabilities with zero-sum scores and, over judges in play, alpha (equation 3).

        Parameters
        ----------
        model : Model, optional
            Where there are further blocks: what they add to the quality of an answer is in the scores' units.
        at_mean : bool array, shape (K,), optional
            Judges who have the mean of the others' alpha (`Comparisons.at_mean`), and are given it.
        """
        scores = self.scores - self.scores.sum() / len(self.scores)
        in_play = self.in_play
        if len(self.judges) == 0 or not in_play.any():
            return Parameters(scores, self.judges, self.common)
        held = np.zeros(len(in_play), bool) if at_mean is None else at_mean
        free = in_play & ~held
        mean = self.judges[0, free].sum() / max(np.count_nonzero(free), 1)
        judges, common = self.judges.copy(), self.common
        judges[0] -= mean
        judges[0, held] = 0.0
        if model is not None and len(common):
            common = np.where(np.equal(model.roles, Role.QUALITY), common * exp(mean), common)
        return Parameters(scores * exp(mean), judges, common)
