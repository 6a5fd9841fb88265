"""The tables of a ranking: models, pairs of models, categories, blocks, and answers that are both bad."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.errors import ConfigError, DataError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from judgerank.fits import presentation
from judgerank.fits.fitted import Fitted
from judgerank.fits.result import Fit
from judgerank.fits.testing import without_blocks
from judgerank.inference.wald import effective_trials, wald_by_covariance, wilson
from judgerank.model.block import Placed
from judgerank.order.claims import Claims
from judgerank.order.pairs import orders, rank_intervals
from judgerank.order.scale import scale_of
from judgerank.ranking.components import parts_of
from judgerank.ranking.study import Component, Finding, Ranked, component_of
from judgerank.reading.from_tables import of_records
from judgerank.reading.layouts.strength import BOTH_BAD

# The leaderboard: scores and ranks with their intervals, and groups.


def claims_of(board: pd.DataFrame, pairs: pd.DataFrame) -> Claims | None:
    """The claims on the models of a leaderboard; None where nothing was tested.

    Parameters
    ----------
    board : DataFrame
        ``model``, by falling score.
    pairs : DataFrame
        As `fits.presentation.pairs` gives them.
    """
    return Claims.of_table(list(board["model"]), pairs) if "separated" in pairs else None


def with_groups(board: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """A leaderboard with ``group`` (`Claims.groups`), missing where nothing was tested."""
    claims = claims_of(board, pairs)
    groups = pd.Series(pd.NA if claims is None else list(claims.groups), board.index, "string")
    return board.assign(group=groups)[[*board.columns.drop("comparisons"), "group", "comparisons"]]


def leaderboard(component: Component) -> Finding:
    """The table ``leaderboard``."""
    return Finding(tables={"leaderboard": board_of(component)})


def board_of(component: Component) -> pd.DataFrame:
    """The leaderboard of the shown fit."""
    return with_groups(presentation.leaderboard(component.reported, component.settings.level), component.pairs)


# Every pair of models: the difference of their scores, its interval and its test.


def differences(component: Component) -> Finding:
    """The table ``pairs``."""
    return Finding(tables={"pairs": component.pairs})


# Leaderboards by category, where the records name any.


MOST_CATEGORIES = 30  # categories that are ranked by themselves
BY_CHANCE = "Each category is tested by itself, so among several, one may show a significant difference by chance."


def categories(ranked: Ranked) -> Finding:
    """The table ``categories``, one leaderboard after the other, and remarks on them and on those without one.

    Each is fitted to its own judgments; where these fall apart, to those of the largest component.
    """
    boards, unranked, fits = [], [], dict[str, Fit]()
    settings = replace(ranked.settings, blocks=())
    for category, judgments in categories_of(ranked.judgments).items():
        try:
            fitted = component_of(parts_of(judgments.pool_few())[0], ranked.member, settings)
            board = board_of(fitted)
        except (DataError, NoMaximumError, NotIdentifiedError) as error:
            unranked.append(f"Category {category} is not ranked by itself: {error}.")
            continue
        boards.append(board.assign(category=category)[["category", *board.columns]])
        fits[category] = fitted.reported
    if not boards:
        return Finding(unranked)
    notes = [f"Categories: {BY_CHANCE}"] if len(boards) > 1 else []
    return Finding([*notes, *unranked], {"categories": pd.concat(boards, ignore_index=True)}, fits)


def categories_of(judgments: Judgments) -> dict[str, Judgments]:
    """The judgments of each category, by its name in alphabetical order; none unless two to `MOST_CATEGORIES`."""
    if "category" not in judgments.frame:
        return {}
    names = judgments.frame["category"].dropna().astype(str)
    if not 2 <= names.nunique() <= MOST_CATEGORIES:
        return {}
    return {str(name): of_records(judgments, rows.index) for name, rows in names.groupby(names, sort=True)}


# Further blocks: what judges do besides judging quality, and how that changes the ranking.


ALL = "all"  # categories together


def adjusted(component: Component) -> Finding:
    """The tables ``blocks`` and ``adjusted``, and a remark on each block."""
    reported, level = component.reported, component.settings.level
    if not reported.blocks or not component.has_intervals:
        return Finding()
    without = without_blocks(reported)
    return Finding(sentences(reported, without, level), block_tables(reported, without, level))


def block_tables(result: Fit, without: Fitted, level: float) -> dict[str, pd.DataFrame]:
    """Tables of the blocks' estimates, and of the models with them and without.

    Returns
    -------
    dict of str to DataFrame
        ``blocks``: ``block, parameter, estimate, standard_error, low, high``. ``adjusted``: ``category, model,
        score_without, score, low, high, rank_without, rank, rank_low, rank_high``; categories beside ``all`` if
        there is a block of them.
    """
    every = result.to_frame(level)
    selected = every[every["parameter"].isin([block.name for block in result.blocks])]
    estimates = selected.rename(columns={"parameter": "block", "name": "parameter"}).drop(columns="status")
    adjusted = pd.concat(
        [_board(result, without, category, level) for category in [None, *result.categories]], ignore_index=True
    )
    return {"blocks": estimates.reset_index(drop=True), "adjusted": adjusted}


def _board(result: Fit, unblocked: Fitted, category: str | None, level: float) -> pd.DataFrame:
    tests = result.order(category)
    order = next(iter(orders(result))) if category is None else tests
    ranks = rank_intervals([order], level).set_index("model")
    models = list(order.models)
    without = unblocked.scores * scale_of(unblocked).factor
    scores = result._scores_in(category)[models] * scale_of(result).factor
    low, high = wald_by_covariance(scores.to_numpy(), tests.covariance, level, np.diag(tests.by_pair))
    table = {
        "category": ALL if category is None else category,
        "model": models,
        "score_without": without[models].to_numpy(),
        "score": scores.to_numpy(),
        "low": low,
        "high": high,
        "rank_without": without.rank(ascending=False, method="first").astype(int)[models].to_numpy(),
        "rank": ranks.loc[models, "rank"].to_numpy(),
        "rank_low": ranks.loc[models, "low"].to_numpy(),
        "rank_high": ranks.loc[models, "high"].to_numpy(),
    }
    return pd.DataFrame(table)


# Ties between answers that are both bad: how often each model's answers are, and on which questions.


MOST_LISTED = 20  # questions listed
COLUMNS = ["comparisons", BOTH_BAD, "share", "low", "high"]


def failures(ranked: Ranked) -> Finding:
    """The tables ``failures`` by model and ``failed_questions``, and a remark, where some ties are *both bad*."""
    judgments, level = ranked.judgments, ranked.settings.level
    if BOTH_BAD not in judgments.frame:
        return Finding()
    bad = judgments.frame.loc[judgments.parsed, BOTH_BAD].fillna(False).to_numpy(bool)
    if not bad.any():
        return Finding()
    models = by_model(judgments, bad, level)
    tables = {"failures": models}
    has_questions = "question_id" in judgments.frame
    if has_questions:
        tables["failed_questions"] = by_question(judgments, bad, level)
    return Finding([_remark(judgments, bad, models)], tables)


def by_model(judgments: Judgments, bad: np.ndarray, level: float) -> pd.DataFrame:
    """``model, comparisons, both_bad, share, low, high``: share of a model's comparisons in which both are bad.

    Intervals are Wilson's. Comparisons of one question are not independent, so their number is divided by the
    design effect of questions, and less counts with few questions (`inference.proportions.effective_trials`).
    Where all questions of a model are alike, such as without any failure, it is their number that counts.
    """
    c = judgments.comparisons
    ends, weight = np.r_[c.first, c.second], np.tile(c.count, 2)
    question = judgments.question if "question_id" in judgments.frame else np.arange(len(c))
    rows = []
    for i, model in enumerate(c.models):
        of_model = ends == i
        rows.append(
            (model, *_row(np.tile(bad, 2)[of_model], weight[of_model], np.tile(question, 2)[of_model], level))
        )
    table = pd.DataFrame(rows, columns=["model", *COLUMNS])
    return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def by_question(judgments: Judgments, bad: np.ndarray, level: float) -> pd.DataFrame:
    """Failures by question, those first that surely fail most; at most `MOST_LISTED`, none without a failure."""
    c, rows = judgments.comparisons, []
    question, names = judgments.question, judgments.question_ids
    for q in np.unique(question[bad]):
        selected = np.flatnonzero(question == q)
        rows.append((names[q], *_row(bad[selected], c.count[selected], np.arange(len(selected)), level)))
    table = pd.DataFrame(rows, columns=["question", *COLUMNS])
    return table.sort_values(["low", "share"], ascending=False, kind="stable", ignore_index=True)[:MOST_LISTED]


def _row(
    bad: np.ndarray, weight: FloatArray, cluster: IntArray, level: float
) -> tuple[float, float, float, float, float]:
    """Comparisons, failures, their share and its interval."""
    _, code = np.unique(cluster, return_inverse=True)
    failures, comparisons = (np.bincount(code, values).astype(float) for values in (weight * bad, weight))
    total, failed = float(comparisons.sum()), float(failures.sum())
    share, trials = failed / total, total
    if len(comparisons) < len(cluster):
        share, trials = effective_trials(failures, comparisons, total, level)
    return total, failed, share, *wilson(share, trials, level)


def _remark(judgments: Judgments, bad: np.ndarray, models: pd.DataFrame) -> str:
    weight = judgments.comparisons.count
    failed, total = float(weight @ bad), float(weight.sum())
    ends = models.iloc[0], models.iloc[-1]
    most, least = (f"{row['model']} ({row['share']:.0%}, {row['low']:.0%} to {row['high']:.0%})" for row in ends)
    return (
        f"Both answers are bad in {failed / total:.1%} of comparisons ({failed:,.0f} of {total:,.0f}). They count "
        f"as ties in the ranking. Most often among those of {most}, least often among those of {least}: table "
        "failures. A share also depends on the models that a model met."
    )


# Sentences on further blocks: their estimates, and how they change the ranking.

LARGEST = 3  # estimates named in a sentence
TAKEN_ALONE = ", judgments of one question taken as independent"  # where there is no test by question


def sentences(result: Fit, without: Fitted, level: float = 0.95) -> list[str]:
    """One for every further block: how large it is, its test; and one on what they moved together.

    `without` is the same fit without any of them (`testing.without_blocks`).

    Likelihood-ratio tests take comparisons for independent, which those of one question are not.
    """
    table = result.to_frame(level)
    lines = [_on_block(result, block, table) for block in result.blocks]
    return [*lines, on_order(result, without)] if lines else []


def _on_block(result: Fit, block: Placed, table: pd.DataFrame) -> str:
    try:
        test = result.test(block.name)
        tested = f" (LR test, statistic {test.statistic:.1f}, p = {test.p_value:.2g}"
    except ConfigError:
        tested = " (not tested with question effects"
    rows = table[(table["parameter"] == block.name) & table["standard_error"].notna()]
    if block.shrunk:
        spread = result.spread[block.name]
        if spread == 0:
            return f"Block {block.name}: no effect; its standard deviation is zero{tested})."
        if result.question is not None and result.effects is None:
            tested += TAKEN_ALONE
        largest = rows.reindex(rows["estimate"].abs().sort_values(ascending=False).index)[:LARGEST]
        return f"Block {block.name}, standard deviation {spread:.3f}{tested}); largest: {_changes_text(largest)}."
    if result.errors.n_clusters is not None:
        by = "question" if result.clusters is None else " and ".join(result.clusters.names)
        tested += f"; by {by} p = {result.wald(block.name):.2g}"
    elif result.question is not None and result.effects is None:
        tested += TAKEN_ALONE
    return f"Block {block.name}, {block.what}{tested}): {_changes_text(rows)}."


def _changes_text(rows: pd.DataFrame) -> str:
    lines = [
        f"{row.name} {row.estimate:+.3f} ({row.low:+.3f} to {row.high:+.3f})"
        for _, row in rows.set_index("name", drop=False).iterrows()
    ]
    return "; ".join(lines)


def on_order(result: Fit, without: Fitted) -> str:
    """What the blocks did to the order of the models."""
    before, after = without.scores, result.scores
    ranks = pd.DataFrame({"before": before.rank(ascending=False), "after": after.rank(ascending=False)})
    changed = ranks[ranks["before"] != ranks["after"]]
    correlation = float(np.corrcoef(before, after)[0, 1])
    changes = [f"{row.Index} from {row.before:.0f} to {row.after:.0f}" for row in changed.itertuples()]
    change = f"they change the rank of {listed(changes)}" if changes else "no model changes rank"
    return f"Scores with and without these effects correlate at {correlation:.4f}; {change}."
