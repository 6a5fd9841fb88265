"""Is a further block zero? Twice the log-likelihood that it gains over the same fit without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine.penalised import Penalised
from judgerank.fits.fitted import Fitted
from judgerank.fits.further import with_blocks
from judgerank.fits.question_effects import with_question_effects


@dataclass(frozen=True)
class BlockTest:
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


def tested(fitted: Fitted, name: str) -> BlockTest:
    """The test; where the members' blocks are not shrunk, other shrunk blocks keep their standard deviations.

    Raises
    ------
    ConfigError
        If the block is shrunk and the fit has question effects.
    """
    block = next(one for one in fitted.blocks if one.name == name)
    if block.shrunk and fitted.effects is not None:
        raise ConfigError(
            f"with question effects the shrunk block {name!r} has no test: its standard deviation says its size"
        )
    statistic = max(0.0, 2 * (fitted.marginal_log_likelihood - without(fitted, name).marginal_log_likelihood))
    if block.shrunk:
        return BlockTest(statistic, 1, 0.5 * float(chdtrc(1, statistic)) if statistic > 0 else 1.0)
    many = len(block.labels)
    return BlockTest(statistic, many, float(chdtrc(many, statistic)))


def without(fitted: Fitted, name: str) -> Fitted:
    """The same fit without a further block."""
    place, raw = fitted.model.place(name), fitted.known_raw
    assert raw.columns is not None and fitted.without is not None
    bare = fitted.without if fitted.effects is None else fitted.without.without
    assert bare is not None
    others = tuple(block for block in fitted.blocks if block.name != name)
    kept = np.delete(np.arange(raw.columns.shape[1]), np.arange(place.start, place.stop))
    comparisons = replace(raw, columns=raw.columns[:, kept])

    def again(comparisons: Comparisons, question: IntArray | None) -> Fitted:
        spread = fitted.solution.spread or {}
        known = (
            None
            if isinstance(fitted.settings, Penalised)
            else {b.name: spread.get(b.name, 0.0) for b in others if b.shrunk}
        )
        return with_blocks(bare, comparisons, others, known) if others else bare

    smaller = again(comparisons, None)
    return smaller if fitted.effects is None else with_question_effects(smaller, again)
