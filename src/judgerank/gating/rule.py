"""Rule of a gate: the hypothesis, the margin, and the error rates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf, log

from judgerank.adaptive import spent_at
from judgerank.data import QUESTION
from judgerank.data.errors import ConfigError

NON_INFERIORITY, TWO_SIDED, EQUIVALENCE = MODES = ("non-inferiority", "two-sided", "equivalence")
WIN_RATE, SCORE, POINTS = SCALES = ("win-rate", "score", "points")
LIKE_THESE, THIS_PANEL = WHOSE = ("judges_like_these", "this_panel")  # as of a ranking, which loads much more
LOSSES, RANDOM = MISSING = ("losses", "random")


@dataclass(frozen=True)
class Rule:
    """What is to be shown, and how sure one must be.

    Attributes
    ----------
    mode : str
        ``non-inferiority``: ship where the win rate is above one half less the margin, block where the candidate
        is worse. ``two-sided``: ship where it is better, block where it is worse. ``equivalence``: ship where the
        win rate is within the margin of one half, block where the two differ.
    margin : float
        On the `scale`: in win rate from 0 to one half, in score from 0 on, in points from 0 to 1.
    alpha : float
        Chance of a false ship, and chance of a false block, over all looks.
    power : float
        Chance of a decision that "so many more questions" stands for.
    look : int, optional
        Which look at growing data this is, from 1; each spends a part of alpha. None for the only one.
    run : int, optional
        Which run of several looks this is, from 1; each spends a part of alpha over its looks. None for the only
        one.
    scale : str
        Of the margin and of what is reported: ``win-rate``, or ``score``, the difference of the two's scores in
        the model of Bradley and Terry, log(p / (1 - p)) at a win rate p. ``points``, always where answers were
        scored one by one: the mean difference of the two's scores, as a share of the scale.
    missing : str
        ``losses``: a ship must hold with missing answers as losses of the candidate. ``random``: they count for
        neither side, unless the other judges' answers reject that.
    whose : str
        Whose opinion decides where judges differ significantly: ``judges_like_these``, or ``this_panel`` alone.
    protect : tuple of pair of str
        Columns and values, such as ``("category", "safety")``: the questions of each must pass by themselves.
    random_orders : bool
        Whether the order of every answer was drawn at random, whoever judged. Else of judges with few answers, as
        in a crowd, only as many answers in one order as in the other count, of each of them.
    cluster : str
        What was sampled: questions, or values of another column of the judgments, such as ``template``. All
        questions of one are tested together.

    Examples
    --------
    >>> import judgerank
    >>> rule = judgerank.Rule(mode='equivalence', margin=0.1)
    >>> judgerank.gate(judgerank.example(), 'oak', 'maple', rule).verdict
    'inconclusive'
    """

    mode: str = NON_INFERIORITY
    margin: float = 0.05
    alpha: float = 0.05
    power: float = 0.8
    look: int | None = None
    run: int | None = None
    scale: str = WIN_RATE
    missing: str = LOSSES
    whose: str = LIKE_THESE
    protect: tuple[tuple[str, str], ...] = ()
    cluster: str = QUESTION
    random_orders: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (("mode", MODES), ("scale", SCALES), ("missing", MISSING), ("whose", WHOSE)):
            if getattr(self, name) not in allowed:
                raise ConfigError(f"{name} {getattr(self, name)!r} is not one of {', '.join(map(repr, allowed))}")
        top, unit = {
            WIN_RATE: (0.5, "a win rate from 0 to below 0.5"),
            SCORE: (inf, "a score from 0 on"),
            POINTS: (1.0, "a share of the scale from 0 to below 1"),
        }[self.scale]
        if not 0 <= self.margin < top:
            raise ConfigError(f"margin {self.margin:g} is out of range: {unit} is expected")
        if self.mode == EQUIVALENCE and self.margin == 0:
            raise ConfigError("margin 0 is out of range: no candidate is shown to be exactly as good")
        if not 0 < self.alpha < 0.5:
            raise ConfigError(f"alpha {self.alpha:g} is out of range: it must be above 0 and below 0.5")
        if not 0.5 <= self.power < 1:
            raise ConfigError(f"power {self.power:g} is out of range: from 0.5 to below 1 is expected")
        for name in ("look", "run"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ConfigError(f"{name} {number} is out of range: the first is 1")

    @property
    def like_these(self) -> bool:
        """Whether a verdict is for judges like these where judges differ significantly."""
        return self.whose == LIKE_THESE

    @property
    def level(self) -> float:
        """The error rate of each one-sided test at this look."""
        alpha = self.alpha
        for number in (self.run, self.look):
            alpha = alpha if number is None else spent_at(number, alpha)
        return alpha / 2 if self.mode == TWO_SIDED else alpha

    @property
    def next_look(self) -> Rule:
        """The rule at the look after this one, or in the run after this one; an only look was the first."""
        if self.run is not None:
            return replace(self, run=self.run + 1)
        return replace(self, look=(self.look or 1) + 1)

    @property
    def lowest(self) -> float:
        """The win rate that a candidate must be above; of scores (1 + their difference) / 2."""
        if self.scale == POINTS:
            return 0.5 - self.margin / 2
        return 0.5 - self.margin if self.scale == WIN_RATE else 1 / (1 + exp(self.margin))

    @property
    def highest(self) -> float:
        """The win rate that it must be below where equivalence is to be shown."""
        return 1 - self.lowest


def score_of(win_rate: float) -> float:
    """How far the candidate's score is above the baseline's at a win rate; infinite at 0 and 1."""
    if not 0 < win_rate < 1:
        return -inf if win_rate <= 0 else inf
    return log(win_rate / (1 - win_rate))
