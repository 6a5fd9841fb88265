"""Does a judge who is asked the same again, later, answer as it did at first?

If nothing changed, the answers to one request are as likely in any order of time, however often the judge changes
its answer by itself. So they are exchanged at random within every request, and what is seen is held against that
(a permutation test, exact whatever the judge's noise). Wherever time is split into earlier and later answers, two
sums of squares are looked at:

    sum_r w_r d_r^2               of every request r by itself: d_r is its mean answer before less that after,
    sum_i (sum_r w_r d_r x_ri)^2  of every model i, and of the place of an answer: x_ri is 1, -1 or 0.

They are score statistics: of a random change of every request, and of what the judge thinks of every model. Each
is standardised by its own permutations, and the largest over both and all splits is the statistic (Westfall and
Young, 1993). With two answers to each request the first says nothing, and the test is one of signs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgerank.data.arrays import AnyArray, FloatArray, IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.listing import counted, p_of
from judgerank.order.claims import holm, significant

PERMUTATIONS, MOST = 4999, 40_000_000  # of a judge, and exchanged answers in all of them
LEAST_PERMUTATIONS = 199
AT_ONCE = 500  # permutations
ROUNDING = 1e-9
COLUMNS = ("judge", "requests", "answers", "changed", "p_value", "p_holm")


def asked_again(comparisons: Comparisons, question: IntArray, time: AnyArray | None = None) -> pd.DataFrame:
    """Test every judge for a change between first and later answers to the same requests.

    Parameters
    ----------
    comparisons : Comparisons
        Raw rows, T of them.
    question : int array, shape (T,)
    time : array, shape (T,), optional
        When each was answered, as anything that sorts; by default the rows are in that order.

    Returns
    -------
    DataFrame
        ``judge, requests`` (asked more than once), ``answers`` to them, ``changed`` (requests whose last answer is
        not their first), ``p_value, p_holm``, a row for each judge who was asked something again, the most
        suspicious first. ``p_holm`` allows for the number of judges.
    """
    c, request = comparisons, requests_of(comparisons, question)
    order = np.arange(len(c)) if time is None else np.argsort(np.asarray(time), kind="stable")
    again = np.bincount(request)[request[order]] > 1
    rows = []
    for k, name in enumerate(c.judges):
        mine = order[again & (c.judge[order] == k)]
        if len(mine):
            answers, x = _of_judge(c, mine, request[mine])
            last = answers[np.arange(len(answers)), np.isfinite(answers).sum(axis=1) - 1]
            changed = int((answers[:, 0] != last).sum())
            rows.append((name, len(answers), len(mine), changed, p_of_change(answers, x)))
    tests = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    tests[COLUMNS[-1]] = holm(tests["p_value"].to_numpy()) if rows else np.zeros(0)
    return tests.sort_values("p_value", kind="stable", ignore_index=True)


def changed(tests: pd.DataFrame, level: float) -> Iterator[str]:
    """A sentence on each judge of `asked_again` that changed."""
    for row in significant(tests, level).to_dict("records"):
        yield (
            f"Judge {row['judge']} no longer answers as it did: to {row['changed']} of "
            f"{counted(row['requests'], 'repeated request')}, its last answer differs from its first, more than "
            f"its usual noise explains (p {p_of(float(row['p_holm']))}, permutation test with Holm's correction)."
        )


def requests_of(comparisons: Comparisons, question: IntArray) -> IntArray:
    """Which request each row answers, from 0: a question, a judge, and two models in their order; shape (T,).

    Each answer under the one label of judges with few answers is a request of its own: another judge may have
    given it (`Comparisons.pool_few`).
    """
    comparisons.require_pairs("the study of repeated requests")
    n, k = len(comparisons.models), len(comparisons.judges)
    first, second = comparisons.first.astype(np.int64), comparisons.second.astype(np.int64)
    if not comparisons.ordered:
        first, second = np.minimum(first, second), np.maximum(first, second)
    question_index = np.unique(question, return_inverse=True)[1]
    request: IntArray = np.unique(
        ((question_index * k + comparisons.judge) * n + first) * n + second, return_inverse=True
    )[1]
    shared = comparisons.is_pooled[comparisons.judge]
    request[shared] = len(request) + np.arange(np.count_nonzero(shared))
    return request if not shared.any() else np.unique(request, return_inverse=True)[1]


def firsts(request: IntArray, time: AnyArray | None = None) -> IntArray:
    """Rows with the first answer to every request, in order of the rows."""
    order = np.arange(len(request)) if time is None else np.argsort(np.asarray(time), kind="stable")
    return np.sort(order[np.unique(request[order], return_index=True)[1]])


def _of_judge(c: Comparisons, mine: IntArray, request: IntArray) -> tuple[FloatArray, FloatArray]:
    """What `p_of_change` takes, of one judge's rows in order of time."""
    turned = (c.first > c.second)[mine] & (not c.ordered)
    low, high = np.where(turned, (c.second[mine], c.first[mine]), (c.first[mine], c.second[mine]))
    outcome = np.where(turned, 1 - c.outcome[mine], c.outcome[mine])
    _, first, which, size = np.unique(request, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(which, kind="stable")
    position = np.arange(len(order)) - np.repeat(size.cumsum() - size, size)
    answers = np.full((len(size), int(size.max())), np.nan)
    answers[which[order], position] = outcome[order]
    x = np.zeros((len(size), len(c.models) + 1))
    x[np.arange(len(size)), low[first]], x[np.arange(len(size)), high[first]] = 1.0, -1.0
    x[:, -1] = float(c.ordered)
    return answers, x


def p_of_change(answers: FloatArray, x: FloatArray) -> float:
    """p-value of one judge.

    Parameters
    ----------
    answers : array, shape (R, M)
        To every request in order of time, NaN behind the last.
    x : array, shape (R, P)
        What every request is about: 1 and -1 for its models.
    """
    moves = np.nanmax(answers, axis=1) > np.nanmin(answers, axis=1)  # the others are the same in any order
    answers, x = answers[moves], x[moves]
    if not len(answers):
        return 1.0
    rng = generator(0, "asked again")
    size = int(np.clip(MOST // answers.size, LEAST_PERMUTATIONS, PERMUTATIONS))
    seen = [_statistics(answers[None], x)]
    for begin in range(0, size, AT_ONCE):
        key = rng.random((min(AT_ONCE, size - begin), *answers.shape))
        key[:, np.isnan(answers)] = 2.0
        seen.append(_statistics(np.take_along_axis(answers[None], np.argsort(key, axis=2), axis=2), x))
    statistics = np.concatenate(seen)
    spread = statistics.std(axis=0)
    is_informative = spread > ROUNDING * np.abs(statistics).max(axis=0)
    if not is_informative.any():
        return 1.0
    largest = (
        (statistics[:, is_informative] - statistics[:, is_informative].mean(axis=0)) / spread[is_informative]
    ).max(axis=1)
    return float((largest >= largest[0] - ROUNDING).mean())


def _statistics(answers: FloatArray, x: FloatArray) -> FloatArray:
    """Both sums of squares for every split, shape (B, 2 (M - 1)), of answers of shape (B, R, M)."""
    size = np.isfinite(answers[0]).sum(axis=1)
    sums = np.nancumsum(answers, axis=2)
    statistics = []
    for early in range(1, answers.shape[2]):
        late = size - early
        is_late = late > 0
        before, total = sums[:, is_late, early - 1], sums[:, is_late, -1]
        weight = early * late[is_late] / size[is_late]
        change = before / early - (total - before) / late[is_late]
        statistics += [(weight * change**2).sum(axis=1), (((weight * change) @ x[is_late]) ** 2).sum(axis=1)]
    return np.stack(statistics, axis=1)
