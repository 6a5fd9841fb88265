"""Test whether newcomers move the models of a board by more than further judgments of the same kind would.

With U the gradient of the new comparisons in the board's parameters and K their information, the newcomers' scores
regressed out of both, a fit of all comparisons moves the board by about

    P U,    P = (I + V K)^-1 V,    Var(U) = M + K V K,

V being the inverse of the board's information, M the variance of U by the new comparisons alone, and the second
term what is not known of the board. If judges see the newcomers as they saw the others, the mean of U is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import pandas as pd

from judgerank.boards.comparing import joined
from judgerank.boards.placing import (
    Anchored,
    anchored,
    best_scores,
    by_board_and_new,
    few_clusters_factor,
    left_out_of,
)
from judgerank.data.arrays import AnyArray, FloatArray, IntArray, numbered
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.data.rankings import BEGINS
from judgerank.engine.information import information
from judgerank.engine.likelihood import evaluate
from judgerank.engine.penalised import Penalised
from judgerank.fits.fit import fit, raw_and_question, require_fit, require_member_alone
from judgerank.fits.result import Fit
from judgerank.fits.storing import kept_weights
from judgerank.inference.clusters import cluster_gradients
from judgerank.inference.wald import two_sided, wald_by_covariance
from judgerank.order.claims import holm, significant
from judgerank.order.scale import reported_covariance, scale_by, scale_of
from judgerank.ranking.recusal import RECUSE, Recusal, is_recusing, of_rows, on_one_maker, recusal_of
from judgerank.reading.read import Source, read_judgments
from judgerank.reading.selection import Filters

# Judges who rate a newcomer differently from the panel, such as those of its own family.


def by_judge(held: Anchored) -> pd.DataFrame:
    """Whether single judges see a newcomer otherwise than the panel does.

    Returns
    -------
    DataFrame
        ``newcomer, judge, comparisons, lead, standard_error, p_value, p_holm``: by how much the newcomer's
        reported score would rise if that judge's comparisons alone counted, others held; infinite where the judge
        is always of one mind. A judge who favours a newcomer, such as its own kin, has a lead above zero. Judges
        who tell nothing of it are left out. The test takes one Newton step, whose error is given. It allows for
        dependence within questions where these are known. A judge who saw one question alone has no test.
    """
    rows, board, m = held.comparisons, held.board, len(held.newcomers)
    n, v, parts = len(board.scores), board.covariance, []
    unit = scale_of(board).factor
    gradient_parts = _told(held, rows)
    for k, name in enumerate(rows.judges):
        mine = np.flatnonzero(rows.judge == k)
        if not len(mine):
            continue
        c = rows._rows(mine)
        judged, (gradient, judge_information, carry) = _by_question(held, c, mine), _told(held, c)
        met = np.bincount(np.r_[c.first, c.second], np.tile(c.decided, 2), n + m)[n:]
        for number in np.flatnonzero(judge_information > 0).tolist():
            if judge_information[number] >= gradient_parts[1][number]:  # the only judge who tells of it
                continue
            deviation = (
                carry[number] / judge_information[number] - gradient_parts[2][number] / gradient_parts[1][number]
            )
            variance = _variance(held, judged, number, judge_information[number], gradient_parts[1][number])
            error = np.sqrt(variance + deviation @ v @ deviation)
            step = (
                gradient[number] / judge_information[number]
                - gradient_parts[0][number] / gradient_parts[1][number]
            )
            lead = _lead(held, c, n + number)
            p = float(two_sided(step / error, held.errors.degrees_of_freedom[number]))
            parts.append((held.newcomers[number], name, met[number], unit * lead, unit * error, p))
    columns = ["newcomer", "judge", "comparisons", "lead", "standard_error", "p_value"]
    frame = pd.DataFrame(parts, columns=columns).sort_values("p_value", ignore_index=True)
    return frame.assign(p_holm=holm(frame["p_value"].to_numpy(float)))


def _by_question(held: Anchored, rows: Comparisons, mine: IntArray) -> FloatArray | None:
    """Gradient of every question of one judge's comparisons in the newcomers' scores, shape (Q, M).

    None where questions are not known, or there is one for all judges; missing where the judge saw one alone.
    """
    if held.question is None or held.errors.by_question is None:
        return None
    labels, codes = numbered(held.question[mine])
    gradients = np.zeros_like(held.errors.by_question)
    if len(labels) < 2:
        return np.full_like(gradients, np.nan)
    new = slice(len(held.board.scores), len(held.at.scores))
    gradients[labels] = cluster_gradients(rows, held.board.model, held.at, codes)[:, new]
    return gradients


def _variance(
    held: Anchored, judged: FloatArray | None, number: int, judge_information: float, total_information: float
) -> float:
    """Of a judge's step away from the panel for one newcomer, the board known.

    The step is the sum over questions of the judge's gradient / own - the panel's gradient / told. Its variance is
    the sum of their squares, and at least that of independent comparisons, since few questions can seem to agree.
    """
    independent = 1 / judge_information - 1 / total_information
    if judged is None or held.errors.by_question is None or not held.errors.newcomers[number].enough:
        return independent
    steps = judged[:, number] / judge_information - held.errors.by_question[:, number] / total_information
    return float(np.maximum(independent, steps @ steps * few_clusters_factor(held.errors.newcomers[number])))


def _lead(held: Anchored, rows: Comparisons, model: int) -> float:
    """How far a newcomer's score is from where these comparisons put it.

    Infinite where they are of one mind, NaN where the climb to it does not settle.
    """
    for_it = np.r_[rows.outcome[rows.first == model], 1 - rows.outcome[rows.second == model]]
    if len(np.unique(for_it)) == 1 and for_it[0] != 0.5:
        return float(np.copysign(np.inf, for_it[0] - 0.5))
    try:
        at = best_scores(rows, held.board.model, held.at, slice(model, model + 1))
    except NoMaximumError:
        return np.nan
    return float(at.scores[model] - held.at.scores[model])


def _told(held: Anchored, rows: Comparisons) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradient and information of the newcomers' scores in some comparisons, and the latter's with the board's."""
    n, m = len(held.board.scores), len(held.newcomers)
    evaluation = evaluate(rows, held.board.model, held.at, "expected")
    info = information(evaluation, held.board._free)
    new = np.arange(n, n + m)
    rest = np.setdiff1d(np.arange(len(info)), new)
    return evaluation.top_gradient[n:], np.diag(info)[new], info[np.ix_(new, rest)]


@dataclass(frozen=True, eq=False, repr=False)
class Placement(Shown):
    """Newcomers on a board, and the board with them.

    Attributes
    ----------
    anchored : Anchored
        The newcomers, the board held.
    newcomers : DataFrame
        `Anchored.table` with ``refit``, their scores by a fit of all comparisons, on the board's scale.
    differences : DataFrame
        `Anchored.differences`.
    moves : DataFrame
        ``model, before, after, rank_before, rank_after, change, share_of_interval, standard_error, p_value,
        p_holm``: the board's models in the fit of all comparisons, ranks among themselves, the change's size over
        the width of the interval that the model has on the board, and whether it is more than noise.
    judges : DataFrame
        `boards.partial.by_judge`.
    refit : Fit or None
    why : str
        Why there is no refit; empty if there is one.
    level : float
    condition : str
        What to say beside the newcomers' names where only judges of their maker compared them; else empty.
    remarks : tuple of str
        Which judgments do not count.
    """

    anchored: Anchored
    newcomers: pd.DataFrame
    differences: pd.DataFrame
    moves: pd.DataFrame
    judges: pd.DataFrame
    refit: Fit | None
    why: str
    level: float
    condition: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def moved(self) -> list[str]:
        """Models of the board that move by more than noise."""
        return list(significant(self.moves, self.level)["model"])

    @property
    def partial(self) -> list[tuple[str, str]]:
        """Judges who see a newcomer otherwise than the others do, with that newcomer."""
        rows = significant(self.judges, self.level)
        return list(zip(rows["judge"], rows["newcomer"], strict=True))

    def _line(self) -> str:
        return f"{len(self.newcomers)} newcomers on a board of {len(self.moves)} models"

    def _table(self) -> pd.DataFrame:
        return self.newcomers


def place(
    board: Fit,
    judgments: Comparisons | Source,
    question: AnyArray | None = None,
    level: float = 0.95,
    own_maker: str = RECUSE,
    makers: Mapping[str, str] | None = None,
    **filters: Unpack[Filters],
) -> Placement:
    """Place new models on a board by their own comparisons, the board's uncertainty carried, and a refit beside.

    Parameters
    ----------
    board : Fit
    judgments : Comparisons, or anything that `judgerank.read` reads
        Raw, T rows, that are not behind the board. What is left out is counted.
    question : array, shape (T,), optional
        Of each, where the judgments do not say: errors are then clustered by it.
    level : float
    own_maker : {"recuse", "count"}
        Whether votes of judges on models of their own maker are left out. They count where no others compare a
        newcomer with the board. Rankings do that are given as Comparisons: read them as judgments.
    makers : mapping of str to str, optional
        Makers of models or judges by name, where their names do not say it.
    filters
        ``without_judge``, ``only_judge``, ``without_model`` and ``category``, as of `judgerank.read`.

    Raises
    ------
    DataError, NoMaximumError, NoIntervalError
        As `boards.placing.anchored` says.
    ConfigError
        If the level is not between 0 and 1, or the board has further blocks or question effects.

    Examples
    --------
    >>> import judgerank
    >>> judgments = judgerank.example()
    >>> is_new = (judgments[['model_a', 'model_b']] == 'oak').any(axis=1)
    >>> board = judgerank.fit(judgments[~is_new])
    >>> placement = judgerank.place(board, judgments[is_new])
    >>> placement.newcomers['model'].tolist()
    ['oak']
    """
    require_fit(board)
    require_member_alone(board, "a place on a board")
    every = _with_questions(board, judgments, question, filters)
    pooled = _pooled(board, every.comparisons)
    has_judge, new = by_board_and_new(board, pooled)
    recusal = _recusal(board, every, np.flatnonzero(has_judge & new), is_recusing(own_maker), makers or {})
    counted = every if recusal is None else recusal.kept
    question_index = counted.question if "question_id" in counted.frame else None
    held = anchored(board, _pooled(board, counted.comparisons), question_index)
    held = replace(held, left_out=left_out_of(pooled, has_judge, new))
    table, differences = held.table(level), held.differences(level)
    try:
        refit, why = _refit(held), ""
    except JudgerankError as error:
        refit, why = None, str(error)
    table["refit"] = np.nan if refit is None else _on_board(refit, held)[list(held.newcomers)].to_numpy()
    condition, dependence = _on_dependence(recusal, held.newcomers)
    left_out = [] if recusal is None else recusal.on_left_out()
    remarks = (*every.left_out_by_request, *left_out, *dependence)
    moves, judges = _moves(held, refit, level), by_judge(held)
    return Placement(held, table, differences, moves, judges, refit, why, level, condition, remarks)


def _with_questions(
    board: Fit, source: Comparisons | Source, question: AnyArray | None, filters: Filters
) -> Judgments:
    """New judgments with the question of each, where it is known; rows of Comparisons stay as they are."""
    if isinstance(source, Comparisons) and not filters:
        judge = np.array(source.judges, object)[source.judge]
        frame = pd.DataFrame({"judge_model": judge, "judge_preferred_model": "a"})  # that there is an answer
        every = Judgments("judgments", "judgments", frame, source, {})
    else:
        every = read_judgments(source, **filters)
    if question is None:
        return every
    ids = pd.Series(raw_and_question(board, every.comparisons, question)[1], every.frame.index[every.parsed])
    return replace(every, frame=every.frame.assign(question_id=ids.reindex(every.frame.index)))


def _pooled(board: Fit, comparisons: Comparisons) -> Comparisons:
    """The same with one label for judges with few answers who are not on the board, if that has such a label."""
    if not board.comparisons.is_pooled.any():
        return comparisons
    return comparisons.pool_few(keep=board.comparisons.judges)


def _recusal(
    board: Fit, every: Judgments, rows: IntArray, recuse: bool, makers: Mapping[str, str]
) -> Recusal | None:
    """Which comparisons that place a newcomer count; None where there are none, which `anchored` refuses."""
    if not len(rows):
        return None
    is_ranked = every.comparisons.stages is not None and BEGINS not in every.frame  # no records to rank anew
    return recusal_of(of_rows(every, rows), recuse and not is_ranked, makers.items(), board.comparisons.models)


def _on_dependence(recusal: Recusal | None, newcomers: Sequence[str]) -> tuple[str, list[str]]:
    """That only judges of a newcomer's maker compared it, as a clause and sentences; else what rests on them."""
    if recusal is None:
        return "", []
    c, related = recusal.judgments.comparisons, recusal.related
    clauses, sentences = [], []
    for name in newcomers:
        number = c.models.index(name)
        judges = np.unique(c.judge[recusal.counts & ((c.first == number) | (c.second == number))])
        if related.is_own[judges, number].all():
            whose = "the newcomer's maker" if len(newcomers) == 1 else f"the maker of {name}"
            clause, sentence = on_one_maker(len(judges), whose)
            clauses.append(clause)
            sentences.append(sentence)
    return next(iter(clauses), ""), sentences or recusal.dependence()


def _refit(held: Anchored) -> Fit:
    """All comparisons behind the board and the new ones together."""
    combined = joined(held.board.comparisons, held.comparisons)
    board = held.board
    return fit(combined, board.model, board.settings, None if isinstance(board.settings, Penalised) else board)


def _on_board(refit: Fit, held: Anchored) -> pd.Series:
    """Scores of a refit on the board's scale, the mean of the board's models at zero as it is on the board."""
    models = list(held.board.comparisons.models)
    factor = scale_by(refit, kept_weights(held.board), models).factor
    return factor * (refit.scores - refit.scores[models].mean())


def _moves(held: Anchored, refit: Fit | None, level: float) -> pd.DataFrame:
    board, scale = held.board, scale_of(held.board)
    v, information = board._inverse("expected"), held.information
    p = np.linalg.solve(np.eye(len(v)) + v @ information, v)
    # in reported units, the mean discrimination of all judges held: one step of the weights is too rough
    p = scale.factor * p[: len(board.scores)]
    spread = p @ (held.errors.squares + information @ board.covariance @ information) @ p.T
    step, error = p @ held.gradient, np.sqrt(np.maximum(np.diag(spread), np.finfo(float).tiny))
    before = pd.Series(scale.scores, board.scores.index)
    after = before + step if refit is None else _on_board(refit, held)[list(before.index)]
    p_value = two_sided(step / error, held.errors.of_moves)
    frame = pd.DataFrame({"model": before.index, "before": before.to_numpy(), "after": after.to_numpy()})
    ranks = {f"rank_{side}": frame[side].rank(ascending=False, method="first").astype(int) for side in ENDS}
    change, width = frame["after"] - frame["before"], interval_widths(board, level)
    frame = frame.assign(**ranks, change=change, share_of_interval=change.abs() / width)
    return frame.assign(standard_error=error, p_value=p_value, p_holm=holm(p_value))


ENDS = "before", "after"


def interval_widths(board: Fit, level: float) -> FloatArray:
    """Widths of the intervals of a board's reported scores, shape (N,)."""
    scores, covariance = scale_of(board).scores, reported_covariance(board)
    low, high = wald_by_covariance(scores, covariance, level, board.degrees_of_scores)
    return np.asarray(high - low)
