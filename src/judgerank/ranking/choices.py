"""How judgments are ranked: what can be chosen, and what is chosen by default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import position_share, positions_are_imitated
from judgerank.data.errors import ConfigError
from judgerank.engine.solvers import SOLVERS
from judgerank.model.naming import all_of, member

# How judgments are ranked: what can be chosen, and between what.
EFFECTS = "effects"
CLUSTERS = ("question", EFFECTS, "none")
FEWEST, MOST_NEXT, MOST_SIZE = 10**9, 1000, 10**6  # largest values of few, next and next_size
SHRUNK, EXACT = "penalised", "newton"  # what is fitted unless a user says otherwise, and what stands beside it
DESCRIBED = (EXACT, SHRUNK)  # solvers that further blocks and question effects go with


@dataclass(frozen=True)
class Settings:
    """How judgments are ranked; see `judgerank.rank`.

    Raises
    ------
    ConfigError
        Naming the setting that is unknown or out of range.
    """

    model: str | None = None
    solver: str = SHRUNK
    level: float = 0.95
    cluster: str = "question"
    few: int = 30
    next: int = 10
    next_size: int = 10
    blocks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choices = {"solver": tuple(SOLVERS), "cluster": CLUSTERS}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ConfigError(f"there is no {name} {getattr(self, name)!r} (known: {', '.join(allowed)})")
        if self.model is not None:
            member(self.model)
        requested = [*([f"cluster={EFFECTS}"] if self.cluster == EFFECTS else []), *self.blocks[:1]]
        if requested and self.solver not in DESCRIBED:
            raise ConfigError(f"{requested[0]} goes with solver={' or '.join(DESCRIBED)}, not with {self.solver}")
        all_of(self.blocks)
        if not 0 < self.level < 1:
            raise ConfigError(f"level={self.level:g} is out of range: it must lie between 0 and 1")
        for name, low, high in (("few", 0, FEWEST), ("next", 1, MOST_NEXT), ("next_size", 1, MOST_SIZE)):
            if not low <= getattr(self, name) <= high:
                raise ConfigError(
                    f"{name}={getattr(self, name)} is out of range: it must lie from {low} to {high}"
                )


# The default model for ranking the user's judgments.
#
# The judge-aware likelihood can be higher where discriminations follow something other than quality that most
# judges share, such as a position: the ranking is then that of the habit. Members with a position are not led
# astray by it, so they come first wherever the order of presentation identifies them.
DEFAULT, FALLBACK = "position_aware", "judge_aware"


def default_member(parts: Iterable[Comparisons]) -> tuple[str, str]:
    """Name of the member that ranks unless one is chosen, and a sentence that says why.

    Parameters
    ----------
    parts : iterable of Comparisons
        The components of the comparison graph: the member must be identified in each.
    """
    parts = [part.aggregate() for part in parts]
    if not all(part.ordered for part in parts):
        return FALLBACK, f"Fitted without position bias ({FALLBACK}): the records have no order of presentation."
    if any(positions_are_imitated(part) for part in parts):
        return FALLBACK, (
            f"Fitted without position bias ({FALLBACK}): each pair was shown in one order, so position bias and "
            "quality cannot be distinguished. Show some pairs in the other order."
        )
    share = min(position_share(part) for part in parts)
    return DEFAULT, (
        f"Fitted with position bias ({DEFAULT}, the default). The order of answers tells {share:.0%} of what a "
        f"balanced order would tell about it. Without it: --model {FALLBACK}."
    )
