"""How many comparisons, judges and repeats a wanted precision takes."""

from __future__ import annotations

from typing import NamedTuple


class Assumption(NamedTuple):
    """What is said of an assumed panel, sizes and spreads; None where nothing is."""

    n_models: int | None
    n_judges: int | None
    sigma_scores: float | None
    sigma_discrimination: float | None


class Usual(NamedTuple):
    """A panel that is assumed where nothing is said of it; fields as of `Assumption`."""

    n_models: int
    n_judges: int
    sigma_scores: float
    sigma_discrimination: float

    def but(self, assumption: Assumption) -> Usual:
        """The same but for what is said."""
        return self._replace(**{name: value for name, value in assumption._asdict().items() if value is not None})


USUAL = Usual(18, 19, 0.56, 0.58)  # medians over the public sets: results/beyond/plan/assumed/defaults.csv
