"""How judgments are ranked: what can be chosen, and between what."""

from __future__ import annotations

from dataclasses import dataclass

from judgerank.data.errors import ConfigError
from judgerank.engine.solvers import SOLVERS
from judgerank.model.naming import all_of, member

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
