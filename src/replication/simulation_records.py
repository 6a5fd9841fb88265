"""Records of the simulation study: what a replication depends on, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from judgerank.engine.solvers import Settings


@dataclass(frozen=True)
class Truth:
    """What a ground truth is drawn by: equal ones are one truth, in whichever section."""

    n_models: int
    n_judges: int
    sigma_scores: float
    sigma_discrimination: float
    seed: int
    draw: int


@dataclass(frozen=True)
class Point:
    """A point of the grid under one draw of the truth."""

    setting: str
    truth: Truth
    n_comparisons: int

    @property
    def name(self) -> str:
        return f"{self.setting}-t{self.n_comparisons}-draw{self.truth.draw}"

    @property
    def place(self) -> dict[str, int]:
        """The columns that name a grid point in a table."""
        sizes = {"n_models": self.truth.n_models, "n_judges": self.truth.n_judges}
        return {**sizes, "n_comparisons": self.n_comparisons}


@dataclass(frozen=True)
class Cell(Point):
    """What a replication of the study depends on.

    Attributes
    ----------
    estimator : Settings
        Of the judge-aware fit. By Newton's method only interior maxima count; the others always give an estimate.
    solver : Settings, optional
        Of the shrunk fit beside it.
    level : float, optional
        Of the intervals.
    beyond : bool
        Whether the point is past the paper's grid.
    """

    estimator: Settings
    solver: Settings | None = None
    level: float | None = None
    beyond: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Errors:
    """Mean squared errors of a fit: of the scores, and of the log-discriminations.

    Of the scores also with either side at mean zero and standard deviation one: the order and the gaps without the
    scale, which hangs on the geometric mean of the discriminations and so on the weakest judge.
    """

    score: float
    standardised_score: float
    log_discrimination: float


@dataclass(frozen=True)
class Intervals:
    """Of the scores of one fit: the share of intervals that hold, their mean width, and the scores' spread."""

    coverage: float
    width: float
    spread: float


@dataclass(frozen=True)
class Replication:
    """How the judge-aware fit of one data set ended, and what every method made of the data.

    Attributes
    ----------
    status : str
    interior : bool
        Whether there is an interior maximum.
    ambiguous : bool, optional
        Whether rounding could have chosen another maximum of the box.
    errors, intervals : dict
        By method.
    penalties : dict of str to float
        Standard deviations that the shrunk fit chose, by block.
    """

    status: str
    interior: bool
    ambiguous: bool | None = None
    errors: dict[str, Errors] = field(default_factory=dict)
    intervals: dict[str, Intervals] = field(default_factory=dict)
    penalties: dict[str, float] = field(default_factory=dict)
