"""The family of models: one linear predictor for all of them, and which of its parameters each one frees.

    eta = g (s_i - s_j) + b_k,   g = exp(alpha_k + beta_k z),   P(first preferred) = sigmoid(eta)

The Bradley-Terry-Luce model frees the scores s only (g = 1, b = 0); the paper's judge-aware model, equation (1),
frees the log-discrimination alpha too; the length-augmented model of the appendix adds the slope beta; the
position-aware members add b, a judge's leaning towards the model shown first. A model is a choice of free blocks.

Ties are half a win for either model, unless their propensity nu_k is free too. Then they are an outcome of their
own (Davidson, 1970): the first model, the second, and a tie have odds e^{eta/2} : e^{-eta/2} : nu_k, which is the
above where nu_k is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError


@dataclass(frozen=True)
class Model:
    """A member of the family.

    Attributes
    ----------
    name : str
    judge_blocks : tuple of str
        Free per-judge parameters, out of ``log_discrimination`` (alpha), ``slope`` (beta), ``position`` (b) and
        ``log_tie`` (log nu), in this order.
    """

    name: str
    judge_blocks: tuple[str, ...]
    fixed_scale: bool = False  # discrimination one for every judge, although there is a block for it

    @property
    def has_slope(self) -> bool:
        return "slope" in self.judge_blocks

    @property
    def has_position(self) -> bool:
        return "position" in self.judge_blocks

    @property
    def has_ties(self) -> bool:
        return "log_tie" in self.judge_blocks

    @property
    def n_scale(self) -> int:
        """Number of blocks that scale score differences; they come first."""
        return len(self.judge_blocks) - self.has_position - self.has_ties

    @property
    def has_offsets(self) -> bool:
        """Whether judges have parameters that matter even where they do not tell models apart."""
        return self.n_scale < len(self.judge_blocks)

    def row(self, block: str) -> int:
        """Place of a free block."""
        return self.judge_blocks.index(block)


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


def get_model(name: str, cells: Comparisons) -> Model:
    """Look a member up by name and check that the comparisons carry what it needs.

    Raises
    ------
    ConfigError
        If there is no such model.
    DataError
        If the model needs a covariate, or an order of presentation, and the comparisons have none.
    """
    if name not in MODELS:
        raise ConfigError(f"there is no model {name!r} (known: {', '.join(MODELS)})")
    if MODELS[name].has_position and not cells.ordered:
        without = ", ".join(member.name for member in MEMBERS if not member.has_position)
        raise DataError(
            f"model {name!r} has positions, and nobody was shown an order (models without positions: {without})"
        )
    if MODELS[name].has_slope and cells.covariate is None:
        raise DataError(f"model {name!r} needs a covariate, and the comparisons have none")
    return MODELS[name]


@dataclass(frozen=True)
class Parameters:
    """A point in the parameter space.

    Attributes
    ----------
    scores : float array, shape (N,)
    judges : float array, shape (B, K)
        One row per free judge block. A judge at zero discrimination has log-discrimination minus infinity, and one
        who never ties log-propensity minus infinity.
    """

    scores: FloatArray
    judges: FloatArray

    @classmethod
    def zeros(cls, model: Model, cells: Comparisons) -> Parameters:
        return cls(np.zeros(len(cells.models)), np.zeros((len(model.judge_blocks), len(cells.judges))))

    @property
    def in_play(self) -> BoolArray:
        """Mask of the judges with positive discrimination, shape (K,)."""
        return np.isfinite(self.judges[0]) if len(self.judges) else np.ones(self.judges.shape[1], bool)

    def normalised(self) -> Parameters:
        """The same probabilities with zero-sum scores and, over judges in play, alpha (equation 3)."""
        scores = self.scores - self.scores.mean()
        if len(self.judges) == 0 or not self.in_play.any():
            return Parameters(scores, self.judges)
        mean = self.judges[0, self.in_play].mean()
        judges = self.judges.copy()
        judges[0] -= mean
        return Parameters(scores * np.exp(mean), judges)
