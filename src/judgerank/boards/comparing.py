"""Two boards beside each other: what moved, and is it more than noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.boards.change import change_of
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.errors import DataError
from judgerank.data.representation import Shown
from judgerank.fits.arguments import require_fit
from judgerank.fits.errors_by_question import Questions, too_few
from judgerank.fits.fitted import contain
from judgerank.fits.result import Fit
from judgerank.inference.wald import require_level, two_sided
from judgerank.model.block import Role
from judgerank.order.pairs import holm, significant


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Shown):
    """What differs between two boards.

    Attributes
    ----------
    moves : DataFrame
        ``model, rank_old, rank_new, old, new, change, standard_error, p_value, p_holm`` of the models on both, by
        rank on the new one. Ranks are among these. Old scores are as the old board reports them, new ones on its
        scale and with the same mean over these models.
    models, judges : tuple of tuple of str
        Those that only the old one has, and those that only the new one has.
    members : tuple of str
        Of the family, old and new.
    comparisons : tuple of float
        Old and new.
    relation : str
        ``same``, ``more`` (the new one holds all comparisons of the old one), ``fewer``, or ``other``.
    level : float
    other_unit : bool
        Whether ties or strength are outcomes on one board alone, so that one unit of the scores differs.
    same_weights : bool
        Whether p-values are of the test with one set of judges' weights (`judgerank.boards.change`), not Wald's.
    few : Questions or None
        Those of a board that has too few for errors by question. P-values are missing then: no test knows how much
        judgments of a question go together, and standard errors take comparisons as independent.
    """

    moves: pd.DataFrame
    models: tuple[tuple[str, ...], tuple[str, ...]]
    judges: tuple[tuple[str, ...], tuple[str, ...]]
    members: tuple[str, str]
    comparisons: tuple[float, float]
    relation: str
    level: float
    other_unit: bool = False
    same_weights: bool = False
    few: Questions | None = None

    @property
    def moved(self) -> list[str]:
        """Models that moved by more than noise."""
        return list(significant(self.moves, self.level)["model"])

    def _line(self) -> str:
        return f"of two boards with {len(self.moves)} models in common"

    def _table(self) -> pd.DataFrame:
        return self.moves


def compare(old: Fit, new: Fit, level: float = 0.95) -> Difference:
    """Hold two fits against each other, on the models that both have.

    The new board's scores are put on the old board's scale by its weights of the judges (`judgerank.order.scale`),
    and shifted to the same mean over these models. The standard error is that of the change; the p-value is of a
    test that keeps its level where models are nearly equal (`judgerank.boards.change`). Both allow for what the
    boards share, judgments or questions. Boards of too few questions have no p-values (`Difference.few`).

    Parameters
    ----------
    old, new : Fit
    level : float

    Raises
    ------
    DataError
        If they share fewer than two models.
    NoIntervalError
        If one of them has no covariance.
    ConfigError
        If the level is not between 0 and 1, or one is no fit.
    """
    require_level(level)
    for fitted in (old, new):
        require_fit(fitted)
    shared = [model for model in old.comparisons.models if model in new.comparisons.models]
    if len(shared) < 2:
        raise DataError(f"the two boards share {len(shared)} models, and this takes two or more")
    relation = _relation(old, new)
    change = change_of(old, new, shared, relation)
    few = None if relation == "same" else too_few(old) or too_few(new)
    p = np.full(len(shared), np.nan) if few else two_sided(change.statistic, change.degrees_of_freedom)
    ranks = {f"rank_{name}": _ranks(values) for name, values in (("old", change.old), ("new", change.new))}
    columns = {"old": change.old, "new": change.new, "change": change.new - change.old}
    columns |= {"standard_error": change.error, "p_value": p, "p_holm": holm(p)}
    moves = pd.DataFrame({"model": shared, **ranks, **columns}).sort_values("rank_new", ignore_index=True)
    models, judges = (
        _apart(getattr(old.comparisons, x), getattr(new.comparisons, x)) for x in ("models", "judges")
    )
    sizes = old.comparisons.n_comparisons, new.comparisons.n_comparisons
    members = old.model.name, new.model.name
    other_unit = _outcomes(old) != _outcomes(new)
    same_weights = change.under_equality is not None and few is None
    return Difference(moves, models, judges, members, sizes, relation, level, other_unit, same_weights, few)


def _outcomes(fitted: Fit) -> tuple[bool, bool]:
    """Whether ties are an outcome, and whether strength is."""
    return fitted.model.has_ties, fitted.model.has(Role.STRONG)


def _relation(old: Fit, new: Fit) -> str:
    more, fewer = contain(new.comparisons, old.comparisons), contain(old.comparisons, new.comparisons)
    return "same" if more and fewer else "more" if more else "fewer" if fewer else "other"


def _ranks(scores: FloatArray) -> IntArray:
    return np.asarray(1 + np.argsort(np.argsort(-scores, kind="stable")))


def _apart(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(x for x in old if x not in new), tuple(x for x in new if x not in old)
