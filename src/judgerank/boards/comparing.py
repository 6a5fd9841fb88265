"""Two boards beside each other: what moved, and is it more than noise.

A judge has tastes: it likes some models more than the panel does. One that comes, or goes, moves the scores by
them, and no model has changed. So where judges came or went, a change is tested by the answers of the judges that
both boards have, each board fitted to these alone. Where the boards share none, the judges of either are a sample,
and the test's error holds their tastes (`judgerank.boards.panel_tastes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judgerank.boards.panel_tastes import panel_tastes
from judgerank.data.arrays import BoolArray, FloatArray, IntArray, numbered
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import components
from judgerank.data.errors import ConfigError, DataError, DisconnectedError, JudgerankError
from judgerank.data.stages import alone, joined_stages
from judgerank.engine.information import covariance, information
from judgerank.engine.likelihood import evaluate
from judgerank.fits.errors_by_question import Questions, by_question, too_few
from judgerank.fits.fit import fit, require_fit
from judgerank.fits.fitted import contain
from judgerank.fits.result import Fit
from judgerank.fits.storing import kept_weights
from judgerank.inference.clusters import cluster_gradients
from judgerank.inference.wald import require_level, two_sided
from judgerank.model.block import Role
from judgerank.order.claims import holm, significant
from judgerank.order.scale import scale_by, scale_of


def fit_by_judges(board: Fit, judges: Iterable[str]) -> Fit:
    """A board fitted to the answers of some of its judges, with errors of the same kind.

    Raises
    ------
    ConfigError
        If the board has further blocks or question effects.
    DisconnectedError
        If no chain of their comparisons connects all models.
    JudgerankError
        If there is no such fit, as `judgerank.fit` says.
    """
    chosen = {*judges}
    if chosen >= {*board.comparisons.judges}:
        return board
    if board.blocks or board.effects is not None:
        raise ConfigError("a board with further blocks or question effects is not fitted to some judges alone")
    every = board.comparisons if board.raw is None else board.raw
    keep = np.isin(np.array(every.judges, object), list(chosen))[every.judge]
    rows = every.take(np.flatnonzero(keep))
    if len(components(rows)) > 1:  # a shrunk fit would be one all the same
        raise DisconnectedError("no chain of comparisons by these judges connects all models", components(rows))
    fitted = fit(rows, board.model, board.settings)
    if board.question is None or board.raw is None:
        return fitted
    labels, question = numbered(board.question[keep])
    keys = None if board.question_keys is None else board.question_keys[labels]
    fitted = replace(fitted, question=question, question_keys=keys)
    has_clusters = board.errors.robust is not None or board.errors.flips is not None
    return by_question(fitted, rows, question) if has_clusters else fitted


def taste_variances(old: Fit, new: Fit, shared: Sequence[str]) -> tuple[FloatArray, float]:
    """Variance of a change of reported scores by the tastes of two boards' judges, of whom none is on both.

    Returns
    -------
    float array, shape (M,), and float
        Of the models that both boards have, and its degrees of freedom.
    """
    variance, squares = 0.0, 0.0
    for board, scale in ((old, scale_of(old)), (new, scale_by(new, kept_weights(old)))):
        tastes = panel_tastes(board)
        by_board = scale.factor**2 * tastes.variance * float(tastes.weights @ tastes.weights)
        variance, squares = variance + by_board, squares + by_board**2 / tastes.degrees_of_freedom
    freedom = variance**2 / squares if squares > 0 else np.inf
    return np.full(len(shared), variance * (1 - 1 / len(shared))), float(freedom)


# Changes of scores between two boards, and a test that nothing moved.
#
# The *change* is the difference of the reported scores, the new board on the scale of the old one. Each board's
# own fit gives the judges' discriminations and the standard error (Wald).
#
# Where models are nearly equal, a fit takes discriminations that make its own differences large, and two fits take
# different ones: Wald's test of the change then rejects too often. So the *test* has the same judges on both
# sides, as if nothing had moved. With theta the fit of all comparisons together, the scores of each board are one
# Newton step from theta by its own comparisons, discriminations held:
#
#     d = A_new g_new - A_old g_old,    and theta's own error adds  -(A_new H_new - A_old H_old) V g,
#
# where g are the gradients at theta, H the information, A its inverse in scores and offsets, and V the inverse of
# the information of all comparisons. This is the efficient score of a move when there was none (Neyman, 1959).
#
# If both boards keep their questions, variances are sums over questions of what each adds to the change: what two
# boards share cancels. Otherwise comparisons are taken as independent. Degrees of freedom are those of the board
# that has fewer: the other one's errors may be nearly none.
#
# Where judges came or went, the test is by those that both boards have (`fit_by_judges`).
# What two boards share: comparisons under the same names, and questions.


def onto(rows: Comparisons, named: Comparisons) -> Comparisons:
    """Comparisons with the models and judges of others, which have all of theirs."""
    model, judge = (
        np.asarray(pd.Index(labels).get_indexer(pd.Index(part)))
        for part, labels in ((rows.models, named.models), (rows.judges, named.judges))
    )
    return replace(
        rows,
        models=named.models,
        judges=named.judges,
        first=model[rows.first],
        second=model[rows.second],
        judge=judge[rows.judge],
    )


def joined(old: Comparisons, new: Comparisons) -> Comparisons:
    """The comparisons behind two boards of one member, those of either counted."""
    boards = old, new
    models, judges = (tuple(dict.fromkeys([*getattr(boards[0], x), *getattr(boards[1], x)])) for x in NAMES)
    named = replace(boards[1], models=models, judges=judges)
    rows = [onto(board, named) for board in boards]
    columns = {name: np.r_[getattr(rows[0], name), getattr(rows[1], name)] for name in COLUMNS}
    strengths = max(board.n_strengths for board in rows)
    rows = [board if board.strong is None else board.with_strengths(strengths) for board in rows]
    for name in ("covariate", "tied", "strong"):
        values = [getattr(board, name) for board in rows]
        columns[name] = None if any(column is None for column in values) else np.concatenate(values)
    stages = None
    if any(board.stages is not None for board in rows):
        stages = joined_stages([board.stages or alone(len(board)) for board in rows])
    return replace(named, ordered=all(board.ordered for board in boards), stages=stages, **columns)


NAMES, COLUMNS = ("models", "judges"), ("first", "second", "judge", "outcome", "count")


@dataclass(frozen=True)
class SharedQuestions:
    """The questions behind two boards whose errors are by question.

    Attributes
    ----------
    places : two int arrays
        Where the questions of the old board and of the new one stand among those of both.
    many : int
        Questions of both.
    """

    places: tuple[IntArray, IntArray]
    many: int

    @classmethod
    def of(cls, old: Fit, new: Fit) -> SharedQuestions | None:
        """None if a board does not keep its questions, or its errors are not by question."""
        keys = [_keys(board) for board in (old, new)]
        if keys[0] is None or keys[1] is None:
            return None
        keys_of_both, codes = np.unique(np.r_[keys[0], keys[1]], return_inverse=True)
        return cls((codes[: len(keys[0])], codes[len(keys[0]) :]), len(keys_of_both))

    @staticmethod
    def gradients(board: Fit, at: Fit) -> FloatArray:
        """Gradient of every question of a board in the parameters of a fit, shape (Q, N + B K)."""
        raw = board.model.observed(board._require_raw())
        return cluster_gradients(
            onto(raw, at.comparisons), at.model, at.solution.parameters, board._require_question()
        )

    def variance(self, old: FloatArray, new: FloatArray) -> FloatArray:
        """Of the sum of what all questions add on either board, shape (Q, M) each; shape (M,).

        About their mean: the sum is what is tested, and should not be part of its own error.
        """
        total = np.zeros((self.many, old.shape[1]))
        for index, gradients in zip(self.places, (old, new), strict=True):
            total[index] += gradients
        return np.asarray(total.var(axis=0, ddof=1) * self.many)


def _keys(board: Fit) -> np.ndarray | None:
    """Hash of each question of a board, in the order of their numbers."""
    has_keys = board.question_keys is not None and board.question is not None and board.raw is not None
    if not has_keys or board.effects is not None or board.blocks or board.question_keys is None:
        return None
    return board.question_keys if board.errors.n_clusters == len(board.question_keys) else None


@dataclass(frozen=True)
class Change:
    """Of every model that two boards share, shape (M,) each.

    Attributes
    ----------
    old, new : float array
        Reported scores of the old board, and those of the new one on its scale and with the same mean.
    error : float array
        Standard errors of new - old.
    under_equality : float array, or None
        The change over its error by the discriminations of both together; None where there is no such fit.
    degrees_of_freedom : float array
    """

    old: FloatArray
    new: FloatArray
    error: FloatArray
    under_equality: FloatArray | None
    degrees_of_freedom: FloatArray

    @property
    def statistic(self) -> FloatArray:
        """Of the test; Wald's where there is no fit of both boards."""
        return _over(self.new - self.old, self.error) if self.under_equality is None else self.under_equality


def _over(change: FloatArray, error: FloatArray) -> FloatArray:
    return np.divide(change, error, out=np.zeros_like(change), where=error > 0)


def change_of(old: Fit, new: Fit, shared: Sequence[str], relation: str) -> Change:
    """The change of some models from one board to another.

    Scores are on the scale of the old board by the judges and models that both boards have, which is the old
    board's own where none is gone: a judge who tells nothing lowers scores, and must not seem to move them.

    Parameters
    ----------
    old, new : Fit
    shared : sequence of str
        Models.
    relation : str
        That of `boards.comparing.Difference`.

    Raises
    ------
    NoIntervalError
        If one of them has no covariance.
    """
    centre = np.eye(len(shared)) - 1 / len(shared)
    weights = {judge: w for judge, w in kept_weights(old).items() if judge in new.comparisons.judges}
    ends = scale_by(old, weights, shared), scale_by(new, weights, shared)
    positions = [[board.comparisons.models.index(model) for model in shared] for board in (old, new)]
    before, after = (scale.scores[index] for scale, index in zip(ends, positions, strict=True))
    after = after - after.mean() + before.mean()
    if relation == "same":
        return Change(before, before, np.zeros(len(shared)), None, np.full(len(shared), np.inf))
    by = SharedQuestions.of(old, new)
    to = [centre @ scale.to_scores[index] for scale, index in zip(ends, positions, strict=True)]
    if by is None:
        variance_old, variance_new = (
            np.diag(x @ board.covariance @ x.T) for x, board in zip(to, (old, new), strict=True)
        )
        sizes = old.comparisons.n_comparisons, new.comparisons.n_comparisons
        variance = _of_independent(variance_old, variance_new, sizes, relation)
    else:
        variance_old, variance_new = (
            by.gradients(board, board)[:, board._chosen] @ board._inverse("observed") @ x.T
            for x, board in zip(to, (old, new), strict=True)
        )
        variance = by.variance(-variance_old, variance_new)
    degrees = [board.degrees_of_scores[index] for board, index in zip((old, new), positions, strict=True)]
    freedom = np.minimum(*degrees)
    return Change(before, after, np.sqrt(variance), _under_equality(old, new, shared, relation, by), freedom)


def _of_independent(old: FloatArray, new: FloatArray, sizes: tuple[float, float], relation: str) -> FloatArray:
    """Variance of the change of every model, given those of its scores.

    If one board has all comparisons of the other, it is the variance of the smaller board less that of the larger
    (Hausman, 1978), and at least the share of it that the further comparisons make up.
    """
    if relation == "other":
        return old + new
    small, large = (old, new) if relation == "more" else (new, old)
    return np.maximum(small - large, small * (1 - min(sizes) / max(sizes)))


def _under_equality(
    old: Fit, new: Fit, shared: Sequence[str], relation: str, by: SharedQuestions | None
) -> FloatArray | None:
    """The change over its error by the discriminations of both boards, shape (M,)."""
    if old.model != new.model or any(board.blocks or board.effects is not None for board in (old, new)):
        return None
    try:
        both = {"more": new, "fewer": old}.get(relation) or fit(
            joined(old.comparisons, new.comparisons), new.model, new.settings
        )
        sides = [_Side.of(board, both) for board in (old, new)]
        v = both._inverse("expected")
    except (JudgerankError, np.linalg.LinAlgError):
        return None
    models = [both.comparisons.models.index(model) for model in shared]
    centre = np.zeros((len(shared), len(v)))
    centre[:, models] = np.eye(len(shared)) - 1 / len(shared)
    steps = [sign * centre @ side.inverse for sign, side in zip((-1.0, 1.0), sides, strict=True)]
    carried = sum((step @ side.information for step, side in zip(steps, sides, strict=True)), np.zeros(())) @ v
    change = sum((step @ side.gradient for step, side in zip(steps, sides, strict=True)), np.zeros(()))
    behind = relation != "more", relation != "fewer"  # whether a board's own rows are counted in theta
    maps = [step - counted * carried for step, counted in zip(steps, behind, strict=True)]
    if by is None:
        variance = _of_groups(maps, sides, relation)
    else:
        gradients = [
            by.gradients(board, both)[:, both._chosen] @ x.T for board, x in zip((old, new), maps, strict=True)
        ]
        variance = by.variance(*gradients)
    return _over(change, np.sqrt(variance))


@dataclass(frozen=True)
class _Side:
    """One board's comparisons seen from the fit of both.

    Attributes
    ----------
    gradient : float array, shape (D,)
    information, inverse, squares : float array, shape (D, D)
        Information; its inverse in the scores and offsets that the board has; the gradient's variance.
    """

    gradient: FloatArray
    information: FloatArray
    inverse: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, board: Fit, both: Fit) -> _Side:
        cells = onto(board.comparisons, both.comparisons)
        evaluation = evaluate(cells, both.model, both.solution.parameters, "expected")
        side_information = information(evaluation, both._free)
        gradient = np.r_[evaluation.top_gradient, evaluation.judge_gradient[both._free]]
        is_of_board = _of_board(board, both)
        inverse, count = np.zeros_like(side_information), int(is_of_board[: len(cells.models)].sum())
        inverse[np.ix_(is_of_board, is_of_board)] = covariance(
            side_information[np.ix_(is_of_board, is_of_board)], count, 0
        )
        squares = board.dispersion * side_information
        if board.errors.robust is not None:  # its gradient's variance is behind the sandwich
            position = _places(board, both)
            shared = np.flatnonzero(position >= 0)
            padded = np.zeros_like(side_information)
            padded[np.ix_(position[shared], position[shared])] = board.errors.robust[np.ix_(shared, shared)]
            squares = side_information @ padded @ side_information
        return cls(gradient, side_information, inverse, squares)


def _names(fitted: Fit) -> list[tuple[str, str]]:
    """Kind and name of every free parameter."""
    c = fitted.comparisons
    every = [("score", model) for model in c.models]
    every += [(block, judge) for block in fitted.model.judge_blocks for judge in c.judges]
    return [name for name, free in zip(every, fitted._chosen, strict=False) if free]


def _places(board: Fit, both: Fit) -> np.ndarray:
    """Where the free parameters of a board stand among those of both; -1 where they are not."""
    index = {name: number for number, name in enumerate(_names(both))}
    return np.array([index.get(name, -1) for name in _names(board)])


def _of_board(board: Fit, both: Fit) -> BoolArray:
    """Which free parameters of both are scores and offsets that a board has, shape (D,)."""
    offsets = both.model.judge_blocks[both.model.offsets]
    names_by_block = {"score": set(board.comparisons.models)} | {
        name: set(board.comparisons.judges) for name in offsets
    }
    return np.array([name in names_by_block.get(kind, ()) for kind, name in _names(both)])


def _of_groups(maps: Sequence[FloatArray], sides: Sequence[_Side], relation: str) -> FloatArray:
    """Variance of every model's change, comparisons independent: those on both sides, and those on one."""
    (map_old, map_new), (old, new) = maps, sides
    if relation == "other":
        parts = [(map_old, old.squares), (map_new, new.squares)]
    else:
        small, large, map_small = (old, new, map_new) if relation == "more" else (new, old, map_old)
        parts = [(map_old + map_new, small.squares), (map_small, large.information - small.information)]
    return np.asarray(sum(np.maximum(np.einsum("md,de,me->m", x, m, x), 0.0) for x, m in parts))


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Shown):
    """What differs between two boards.

    Attributes
    ----------
    moves : DataFrame
        ``model, rank_old, rank_new, old, new, change, standard_error, by_same_judges, p_value, p_holm`` of the
        models on both, by rank on the new one. Ranks are among these. Old scores are as the old board reports
        them, new ones on its scale and with the same mean over these models. ``by_same_judges`` is the change by
        the judges that both boards have alone, which the p-values are of; missing where that is not known.
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
        Whether p-values are of the test with one set of judges' weights (see above), not Wald's.
    few : Questions or None
        Those of a board that has too few for errors by question. P-values are missing then: no test knows how much
        judgments of a question go together, and standard errors take comparisons as independent.
    n_same_judges : int
        Judges that both boards have. Of none, p-values allow for the tastes of all judges.
    untested : str
        Why nothing is known by these judges alone, where others came or went; p-values are missing then.
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
    n_same_judges: int = 0
    untested: str = ""

    @property
    def judges_changed(self) -> bool:
        """Whether judges came or went."""
        return any(self.judges)

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

    The new board's scores are put on the old board's scale by its weights of the judges that both have
    (`judgerank.order.scale`), and shifted to the same mean over these models. The standard error is that of the
    change; the p-value is of a test that keeps its level where models are nearly equal
    (`judgerank.boards.comparing`). Both allow for what the boards share, judgments or questions. Boards of too few
    questions have no p-values (`Difference.few`). Where judges came or went, the test is by the judges that both
    boards have: what comes with others is no change of a model.

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

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example())
    >>> other = judgerank.fit(judgerank.example(), "btl")
    >>> type(judgerank.compare(result, other)).__name__
    'Difference'
    """
    require_level(level)
    for fitted in (old, new):
        require_fit(fitted)
    shared = [model for model in old.comparisons.models if model in new.comparisons.models]
    if len(shared) < 2:
        raise DataError(f"the two boards share {len(shared)} models, and this requires two or more")
    relation = _relation(old, new)
    change = change_of(old, new, shared, relation)
    models, judges = (
        _apart(getattr(old.comparisons, x), getattr(new.comparisons, x)) for x in ("models", "judges")
    )
    same_judges = [judge for judge in old.comparisons.judges if judge in new.comparisons.judges]
    few = None if relation == "same" else too_few(old) or too_few(new)
    tested, untested = change, ""
    if any(judges):
        tested, few, untested = _by_judges_of_both(old, new, shared, same_judges, change)
    p = two_sided(tested.statistic, tested.degrees_of_freedom)
    p = np.full(len(shared), np.nan) if few or untested else p
    ranks = {f"rank_{name}": _ranks(values) for name, values in (("old", change.old), ("new", change.new))}
    columns = {"old": change.old, "new": change.new, "change": change.new - change.old}
    columns |= {"standard_error": change.error, "by_same_judges": tested.new - tested.old}
    columns |= {"p_value": p, "p_holm": holm(p)}
    moves = pd.DataFrame({"model": shared, **ranks, **columns}).sort_values("rank_new", ignore_index=True)
    sizes = old.comparisons.n_comparisons, new.comparisons.n_comparisons
    members = old.model.name, new.model.name
    other_unit = _outcomes(old) != _outcomes(new)
    same_weights = tested.under_equality is not None and few is None and not untested
    parts = moves, models, judges, members, sizes, relation, level, other_unit, same_weights, few
    return Difference(*parts, len(same_judges), untested)


def _by_judges_of_both(
    old: Fit, new: Fit, shared: Sequence[str], judges: Sequence[str], change: Change
) -> tuple[Change, Questions | None, str]:
    """The change of some models by the judges that both boards have, too few questions, and why there is none.

    Of boards that share no judge, the change by all with an error that holds their tastes.
    """
    if not judges:
        variance, freedom = taste_variances(old, new, shared)
        statistic = change.statistic * _over(change.error, np.sqrt(change.error**2 + variance))
        freedoms = np.minimum(change.degrees_of_freedom, freedom)
        by_all = replace(change, under_equality=statistic, degrees_of_freedom=freedoms)
        return by_all, too_few(old) or too_few(new), ""
    try:
        before, after = (fit_by_judges(board, judges) for board in (old, new))
        relation = _relation(before, after)
        by_both = change_of(before, after, shared, relation)
    except JudgerankError as error:
        return replace(change, old=change.old * np.nan), None, str(error)
    return by_both, None if relation == "same" else too_few(before) or too_few(after), ""


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
