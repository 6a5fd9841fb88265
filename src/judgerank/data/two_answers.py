"""What rows of comparisons say of two answers, be they pairs or parts of rankings of several."""

from __future__ import annotations

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import DataError
from judgerank.data.stages import Stages


class Choices:
    """Rows of comparisons as choices (`judgerank.data.comparisons.Comparisons`, whose columns these are)."""

    outcome: FloatArray
    count: FloatArray
    stages: Stages | None

    @property
    def won(self) -> FloatArray:
        """Share of each row's comparisons won by the model shown first, shape (T,)."""
        return self.outcome if self.stages is None else self.outcome - self.stages.neither / 2

    @property
    def lost(self) -> FloatArray:
        """Share of each row's comparisons won by the model shown second, shape (T,)."""
        return 1 - self.outcome if self.stages is None else 1 - self.outcome - self.stages.neither / 2

    @property
    def decided(self) -> FloatArray:
        """How many comparisons of the two models each row holds, shape (T,): in a ranking, those with the best."""
        return self.count if self.stages is None else self.choices * (1 - self.stages.neither)

    @property
    def choices(self) -> FloatArray:
        """How many choices by a judge each row is of, shape (T,): in a ranking, those of its stage."""
        return self.count if self.stages is None else self.count * self.stages.size / 2

    @property
    def apart(self) -> FloatArray | None:
        """How many places lie between the two answers of each row, shape (T,); None where it is one."""
        return None if self.stages is None else self.stages.apart

    def require_pairs(self, what: str) -> None:
        """Refuse rankings of several answers where only comparisons of two will do.

        Raises
        ------
        DataError
        """
        if self.stages is not None:
            raise DataError(f"{what} takes comparisons of two answers, and these are rankings of several")
