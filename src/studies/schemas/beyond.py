"""Schemas of the sections that the paper does not have."""

from __future__ import annotations

from dataclasses import dataclass

from omegaconf import MISSING

from replication.schemas.ranges import above, at_least, within
from replication.schemas.section import OneSet, RealData, Replicated, Section


@dataclass
class ModelComparison(OneSet):
    members: list[str] = MISSING
    shrunk: list[str] = MISSING  # members that are fitted with shrinkage too
    folds: int = at_least(2)
    resamples: int = at_least(2)


@dataclass
class Uncertainty(OneSet, Replicated):
    members: list[str] = MISSING
    bootstraps: int = at_least(2)
    replications: int = at_least(0)
    inner_bootstraps: int = at_least(2)
    question_sd: list[float] = at_least(0)


@dataclass
class Panel(RealData, Replicated):
    """Question effects and further blocks on every set, and on simulated data."""

    members: list[str] = MISSING
    folds: int = at_least(2)
    draws: int = at_least(2)
    blocks: list[str] = MISSING
    answers: str | None = None
    replications: int = at_least(0)
    question_sd: list[float] = at_least(0)
    sizes: dict[str, float] = MISSING
    block_replications: int = at_least(0)


@dataclass
class Trust(RealData, Replicated):
    """What would change rankings, and what panels are worth, on every set and on simulated panels."""

    members: list[str] = MISSING
    most: int = at_least(1)
    replications: int = at_least(0)
    draws: int = at_least(1)
    designs: int = at_least(0)


@dataclass
class Newcomers(RealData, Replicated):
    """New models on existing boards, and boards compared."""

    member: str = MISSING
    replications: int = at_least(0)


@dataclass
class People(Section, Replicated):
    """A few human votes beside a panel, simulated."""

    level: float = within(0, 1, ends=False)
    replications: int = at_least(2)
    crowds: int = at_least(2)


@dataclass
class HumanScale(RealData, Replicated):
    """New models on the human scale, simulated and on human boards with models left out."""

    replications: int = at_least(2)
    null_replications: int = at_least(2)
    arenas: str | None = None


@dataclass
class Soft(Section, Replicated):
    """Probabilities in place of letters, simulated."""

    level: float = within(0, 1, ends=False)
    replications: int = at_least(2)


@dataclass
class Graded(RealData, Replicated):
    """Answers that say how strong they are."""

    replications: int = at_least(2)
    few: int = at_least(2)
    draws: int = at_least(2)


@dataclass
class Rankings(Section, Replicated):
    """Rankings of several answers, simulated."""

    level: float = within(0, 1, ends=False)
    replications: int = at_least(2)


@dataclass
class Adaptive(RealData, Replicated):
    """Judgments collected by rounds, simulated and played back."""

    rules: list[str] = MISSING
    false_stops: int = at_least(1)
    most: int = at_least(1)
    saved: int = at_least(2)
    share: float = within(0, 1, ends=False)
    growth: float = above(1)
    playbacks: int = at_least(1)


@dataclass
class Fitness(RealData, Replicated):
    """Tests of fit, tests of pairs with few questions, and repeated requests."""

    member: str = MISSING
    replications: int = at_least(2)
    few: int = at_least(2)
    repeated: int = at_least(2)


@dataclass
class Scale(RealData, Replicated):
    """The reported scale of scores, and boards compared on it."""

    member: str = MISSING
    least: float = within(0, 1)
    n_comparisons: list[int] = at_least(1)
    replications: int = at_least(2)
    boards: int = at_least(2)


@dataclass
class Tastes(RealData, Replicated):
    """Judges' own tastes on every set, and simulated ones."""

    folds: int = at_least(2)
    judges: list[int] = at_least(2)
    sd: list[float] = at_least(0)
    n_comparisons: list[int] = at_least(1)
    replications: int = at_least(2)
    nulls: int = at_least(2)
    stops: int = at_least(2)
    most: int = at_least(1)


@dataclass
class Gating(RealData, Replicated):
    """May a candidate ship? Simulated and played back."""

    n_questions: list[int] = MISSING
    n_judges: list[int] = MISSING
    replications: int = at_least(2)
    looks: list[int] = MISSING
    looked: int = at_least(2)
    question_price: float = above(0)
    rare: int = at_least(2)
    parts: list[int] = MISSING
    draws: int = at_least(1)
