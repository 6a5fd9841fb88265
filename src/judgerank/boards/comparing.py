"""Two boards beside each other: what moved, and is it more than noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.boards.placing import two_sided
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.errors import DataError
from judgerank.data.shown import Shown
from judgerank.fits.result import Fit
from judgerank.fits.resuming import contain
from judgerank.inference.wald import require_level
from judgerank.order.pairs import holm, standardised


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Shown):
    """What differs between two boards.

    Attributes
    ----------
    moves : DataFrame
        ``model, rank_old, rank_new, old, new, change, standard_error, p_value, p_holm`` of the models on both, by
        rank on the new one. Ranks and scores are among these; scores have mean zero and standard deviation one.
    models, judges : tuple of tuple of str
        Those that only the old one has, and those that only the new one has.
    members : tuple of str
        Of the family, old and new.
    comparisons : tuple of float
        Old and new.
    relation : str
        ``same``, ``more`` (the new one holds all comparisons of the old one), ``fewer``, or ``other``.
    level : float
    """

    moves: pd.DataFrame
    models: tuple[tuple[str, ...], tuple[str, ...]]
    judges: tuple[tuple[str, ...], tuple[str, ...]]
    members: tuple[str, str]
    comparisons: tuple[float, float]
    relation: str
    level: float

    @property
    def moved(self) -> list[str]:
        """Models that moved by more than noise."""
        return list(self.moves["model"][self.moves["p_holm"] <= 1 - self.level])

    def _line(self) -> str:
        return f"of two boards with {len(self.moves)} models in common"

    def _table(self) -> pd.DataFrame:
        return self.moves


def compare(old: Fit, new: Fit, level: float = 0.95) -> Difference:
    """Hold two fits against each other, on the models that both have.

    Scores are standardised, so that neither scale matters. Comparisons of one fit that are all behind the other
    make their difference smaller: its variance is then that of the smaller fit less that of the larger (Hausman,
    1978), and at least the share of it that the further comparisons make up. Otherwise the two are taken as
    independent, and if they share comparisons the p-values are too large, not too small.

    Parameters
    ----------
    old, new : Fit
    level : float

    Raises
    ------
    DataError
        If they share fewer than three models: two standardised scores cannot move.
    NoIntervalError
        If one of them has no covariance.
    ConfigError
        If the level is not between 0 and 1.
    """
    require_level(level)
    shared = [model for model in old.comparisons.models if model in new.comparisons.models]
    if len(shared) < 3:
        raise DataError(f"the two boards share {len(shared)} models, and this takes three or more")
    (one, v_one), (other, v_other) = (_on(shared, each) for each in (old, new))
    relation = _relation(old, new)
    sizes = old.comparisons.n_comparisons, new.comparisons.n_comparisons
    variance = _variance(np.diag(v_one), np.diag(v_other), sizes, relation)
    change, error = other - one, np.sqrt(variance)
    known = error > 0
    z = np.divide(change, error, out=np.zeros_like(change), where=known)
    p = np.where(known, two_sided(z, min(old.degrees_of_freedom, new.degrees_of_freedom)), 1.0)
    ranks = {f"rank_{name}": _ranks(values) for name, values in (("old", one), ("new", other))}
    columns = {"old": one, "new": other, "change": change, "standard_error": error, "p_value": p}
    frame = pd.DataFrame({"model": shared, **ranks, **columns, "p_holm": holm(p)})
    models, judges = (
        _apart(getattr(old.comparisons, x), getattr(new.comparisons, x)) for x in ("models", "judges")
    )
    members = old.model.name, new.model.name
    moves = frame.sort_values("rank_new", ignore_index=True)
    return Difference(moves, models, judges, members, sizes, relation, level)


def _on(shared: list[str], fitted: Fit) -> tuple[FloatArray, FloatArray]:
    """Standardised scores of some models, and their covariance."""
    places = [fitted.comparisons.models.index(model) for model in shared]
    centre = np.eye(len(places)) - 1 / len(places)
    scores = centre @ fitted.scores.to_numpy()[places]
    if not scores.any():
        raise DataError("all models that the boards share have one score")
    return standardised(scores, centre @ fitted.covariance[np.ix_(places, places)] @ centre)


def _relation(old: Fit, new: Fit) -> str:
    more, fewer = contain(new.comparisons, old.comparisons), contain(old.comparisons, new.comparisons)
    return "same" if more and fewer else "more" if more else "fewer" if fewer else "other"


def _variance(old: FloatArray, new: FloatArray, sizes: tuple[float, float], relation: str) -> FloatArray:
    """Of the change of every model."""
    if relation == "same":
        return np.zeros(len(old))
    if relation == "other":
        return old + new
    small, large = (old, new) if relation == "more" else (new, old)
    return np.maximum(small - large, small * (1 - min(sizes) / max(sizes)))


def _ranks(scores: FloatArray) -> IntArray:
    return np.asarray(1 + np.argsort(np.argsort(-scores, kind="stable")))


def _apart(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(x for x in old if x not in new), tuple(x for x in new if x not in old)
