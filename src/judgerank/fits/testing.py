"""Is a further block zero? Twice the log-likelihood that it gains over the same fit without it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from judgerank.data.arrays import IntArray
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted, p_of
from judgerank.engine.penalised import Penalised
from judgerank.fits.extra_blocks import with_blocks, with_question_effects
from judgerank.fits.fitted import Fitted


@dataclass(frozen=True, repr=False)
class BlockTest(Shown):
    """Of a block being zero.

    Attributes
    ----------
    statistic : float
        Twice the log-likelihood gained over the fit without the block.
    parameters : int
        Parameters of the block; of a shrunk one, its standard deviation alone.
    p_value : float
        By chi-squared; of a shrunk block half of that, as its standard deviation is on its bound (Self and Liang,
        1987, case 5). It takes comparisons for independent, which those of one question are not.
    """

    statistic: float
    parameters: int
    p_value: float

    def _line(self) -> str:
        parameter_count = counted(self.parameters, "parameter")
        return f"of {parameter_count}: likelihood-ratio statistic {self.statistic:.1f}, p {p_of(self.p_value)}"

    def _table(self) -> pd.DataFrame:
        return pd.DataFrame([asdict(self)])


def tested(fitted: Fitted, name: str) -> BlockTest:
    """The test; where the members' blocks are not shrunk, other shrunk blocks keep their standard deviations.

    Raises
    ------
    ConfigError
        If the block is shrunk and the fit has question effects.
    """
    block = next(candidate for candidate in fitted.blocks if candidate.name == name)
    if block.shrunk and fitted.effects is not None:
        raise ConfigError(
            f"with question effects the shrunk block {name!r} has no test: its standard deviation says its size"
        )
    if block.shrunk and fitted.spread[name] == 0:
        return BlockTest(0.0, 1, 1.0)
    smaller = _at_zero(fitted, name) if block.restricted else without(fitted, [name])
    statistic = max(0.0, 2 * (fitted.marginal_log_likelihood - smaller.marginal_log_likelihood))
    if block.shrunk:
        return BlockTest(statistic, 1, 0.5 * float(chdtrc(1, statistic)) if statistic > 0 else 1.0)
    n_parameters = len(block.labels)
    return BlockTest(statistic, n_parameters, float(chdtrc(n_parameters, statistic)))


def _at_zero(fitted: Fitted, name: str) -> Fitted:
    """The same fit with a shrunk block's standard deviation at zero, other shrunk blocks as they are.

    Restricted likelihoods compare with each other alone.
    """
    spread = {**(fitted.solution.spread or {}), name: 0.0}
    if isinstance(fitted.settings, Penalised):
        return without(fitted, [name])
    return with_blocks(fitted.member, fitted._require_raw(), fitted.blocks, spread)


def without(fitted: Fitted, names: Collection[str]) -> Fitted:
    """The same fit without some further blocks."""
    raw, remaining = fitted._require_raw(), tuple(block for block in fitted.blocks if block.name not in names)
    assert raw.columns is not None
    mask = np.array([block.name not in names for block in fitted.blocks for _ in block.labels], bool)
    comparisons = replace(raw, columns=raw.columns[:, np.flatnonzero(mask)] if remaining else None)
    spread = fitted.solution.spread or {}
    fixed_spread = {block.name: spread.get(block.name, 0.0) for block in remaining if block.shrunk}

    def again(comparisons: Comparisons, question: IntArray | None) -> Fitted:
        spread_argument = None if isinstance(fitted.settings, Penalised) else fixed_spread
        return with_blocks(fitted.member, comparisons, remaining, spread_argument) if remaining else fitted.member

    smaller = again(comparisons, None)
    return smaller if fitted.effects is None else with_question_effects(smaller, again)


def without_blocks(fitted: Fitted) -> Fitted:
    """The same fit without any further block, question effects as they are."""
    return without(fitted, [block.name for block in fitted.blocks])
