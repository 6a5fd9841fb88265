"""Requests that were asked more than once: how often a judge changes its answer, and what asking again buys.

A request is a question, two models in their order, and a judge. With rho the correlation of two answers to one
request, given the model, m of them tell as much as m / (1 + (m - 1) rho) answers to new questions (Kish, 1965):
1 - rho of the variance of an answer is noise, which repeats average out, and rho lies between questions, which
they do not. If a new question costs c judgments besides its answers, the best number of answers to each is
sqrt(c (1 - rho) / rho), and a second one pays from c = 2 rho / (1 - rho) on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from judgerank.data.arrays import AnyArray, FloatArray, IntArray
from judgerank.data.changed_answers import changed_answers
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted, p_of, shortened
from judgerank.engine.likelihood_rows import row_by_row
from judgerank.fits.result import Fit
from judgerank.inference.wald import effective_trials, normal_quantile, ratio_by_cluster
from judgerank.model.streams import generator
from judgerank.order.pairs import holm, significant

# Does a judge who is asked the same again, later, answer as it did at first?
#
# If nothing changed, the answers to one request are as likely in any order of time, however often the judge
# changes its answer by itself. So they are exchanged at random within every request, and what is seen is held
# against that (a permutation test, exact whatever the judge's noise). Wherever time is split into earlier and
# later answers, two sums of squares are looked at:
#
#     sum_r w_r d_r^2               of every request r by itself: d_r is its mean answer before less that after,
#     sum_i (sum_r w_r d_r x_ri)^2  of every model i, and of the place of an answer: x_ri is 1, -1 or 0.
#
# They are score statistics: of a random change of every request, and of what the judge thinks of every model. Each
# is standardised by its own permutations, and the largest over both and all splits is the statistic (Westfall and
# Young, 1993). With two answers to each request the first says nothing, and the test is one of signs.
PERMUTATIONS, MOST = 4999, 40_000_000  # of a judge, and exchanged answers in all of them
LEAST_PERMUTATIONS = 199
AT_ONCE = 500  # permutations
ROUNDING = 1e-9
RETEST_COLUMNS = ("judge", "requests", "answers", "changed", "p_value", "p_holm")


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
    tests = pd.DataFrame(rows, columns=list(RETEST_COLUMNS[:-1]))
    tests[RETEST_COLUMNS[-1]] = holm(tests["p_value"].to_numpy()) if rows else np.zeros(0)
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
    """Which request each row answers, from 0: a question, a judge, and two models in their order; shape (T,)."""
    comparisons.require_pairs("the study of repeated requests")
    n, k = len(comparisons.models), len(comparisons.judges)
    first, second = comparisons.first.astype(np.int64), comparisons.second.astype(np.int64)
    if not comparisons.ordered:
        first, second = np.minimum(first, second), np.maximum(first, second)
    question_index = np.unique(question, return_inverse=True)[1]
    request: IntArray = np.unique(
        ((question_index * k + comparisons.judge) * n + first) * n + second, return_inverse=True
    )[1]
    return request


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


ALL = "all judges"
COLUMNS = ["judge", "requests", "answers", "flip_rate", "low", "high", "noise", "noise_low", "noise_high"]
COLUMNS += ["second_answer", "pays_from"]
LEAST_PRICE = 0.05  # judgments, below which a price is none to one decimal


def design_effect(repeats: int, correlation: float) -> float:
    """By how much repeats of the same judgment inflate variances: 1 + (m - 1) rho (Kish, 1965).

    Parameters
    ----------
    repeats : int
        How often a judge is asked the same: the same question, the same pair.
    correlation : float
        Of two answers to that, given the model: zero for different questions, one for a judge who repeats itself.

    Raises
    ------
    ConfigError
        If there are no repeats, or the correlation is not between zero and one.
    """
    if repeats < 1:
        raise ConfigError(f"repeats must be at least 1, not {repeats}")
    if not 0 <= correlation <= 1:
        raise ConfigError(f"correlation lies between zero and one, not at {correlation:g}")
    return 1.0 + (repeats - 1) * correlation


@dataclass(frozen=True, eq=False)
class Repeats:
    """What repeated requests tell.

    Attributes
    ----------
    table : DataFrame
        ``judge, requests`` (asked more than once), ``answers`` to them, ``flip_rate`` with its interval ``low,
        high``, ``noise`` (share of an answer's variance within a request) with its interval, ``second_answer``
        (what it is worth beside an answer to a new question), ``pays_from`` (judgments that a new question must
        cost beside its answers for a second answer to pay). The first row has all judges, if there are several.
    """

    table: pd.DataFrame

    @property
    def correlation(self) -> float:
        """Of two answers to one request, given the model."""
        return 1.0 - float(self.table["noise"].iloc[0])

    def sentences(self) -> Iterator[str]:
        """How often answers change, who changes them most, and whether asking again pays."""
        overall, *by_judge = self.table.to_dict("records")
        rate = f"{overall['flip_rate']:.0%} of the time ({overall['low']:.0%} to {overall['high']:.0%})"
        who = ""
        if by_judge and overall["flip_rate"] > 0:
            most = max(by_judge, key=lambda row: row["flip_rate"])
            request_count = counted(most["requests"], "request")
            who = f", most often {shortened(most['judge'])} ({most['flip_rate']:.0%} of {request_count})"
        yield f"Asked the same again, judges change their answer {rate}{who}."
        message = (
            f"A second answer to the same request adds {overall['second_answer']:.0%} of what an answer to a new"
        )
        if np.isinf(overall["pays_from"]):
            yield f"{message} question adds: ask new questions instead."
        elif overall["pays_from"] < LEAST_PRICE:
            yield f"{message} question adds, so asking again pays if a new question costs anything more to make."
        else:
            price = f"{overall['pays_from']:.1f} judgments"
            yield f"{message} question adds. It pays only if making a new question costs more than {price}."


def repeats_of(
    fitted: Fit, rows: Comparisons, question: IntArray, level: float = 0.95, item: IntArray | None = None
) -> Repeats | None:
    """What repeated requests among raw comparisons tell; None where nothing was asked twice.

    Parameters
    ----------
    fitted : Fit
        Of these comparisons: what answers are expected.
    rows : Comparisons
    question : int array, shape (T,)
    level : float
        Of the intervals. Those of flip rates are of Clopper and Pearson with the effective number of requests
        (Korn and Graubard, 1998), clustered by question, and those of noise Student's.
    item : int array, shape (T,), optional
        What was judged, by default the question: models that answer a question again are no repeated request.
    """
    request = requests_of(rows, question if item is None else item)
    question_index = np.unique(question, return_inverse=True)[1]
    differ, pairs = changed_answers(request, rows.outcome, rows.count)
    if not pairs.any():
        return None
    observed = fitted.model.observed(rows)
    count = np.asarray(rows.count, float)
    surprise = row_by_row(observed, fitted.model, fitted.solution.parameters).residual / count
    surprise = np.where(rows.first < rows.second, surprise, -surprise) if not rows.ordered else surprise
    size, total = np.bincount(request, count), np.bincount(request, count * surprise)
    square = np.bincount(request, count * surprise**2)
    between, total_pairs = (total**2 - square) / 2, (size - 1) * square / 2
    group = np.zeros(len(size), np.intp)
    group[request] = np.arange(len(request))
    sums = pd.DataFrame(
        {"question": question_index[group], "judge": rows.judge[group], "size": size, "pairs": pairs}
    )
    sums = sums.assign(differ=differ, between=between, whole=total_pairs)[pairs > 0]
    judges = np.unique(sums["judge"])
    table_rows = [_row(ALL, sums, level)] if len(judges) > 1 else []
    table_rows += [_row(rows.judges[judge], sums[sums["judge"] == judge], level) for judge in judges]
    return Repeats(pd.DataFrame(table_rows, columns=COLUMNS))


def _row(name: str, sums: pd.DataFrame, level: float) -> dict[str, object]:
    """Flip rate and noise of some requests, with intervals."""
    questions = sums.groupby("question")[["pairs", "differ", "between", "whole"]].sum()
    requests = len(sums)
    differ, pairs = (questions[name].to_numpy() for name in ("differ", "pairs"))
    rate, effective = effective_trials(differ, pairs, requests, level)
    tail, hits = (1 - level) / 2, rate * effective
    low = float(betaincinv(hits, effective - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, effective - hits, 1 - tail)) if hits < effective else 1.0
    rho, spread = ratio_by_cluster(questions["between"].to_numpy(), questions["whole"].to_numpy())
    reach = normal_quantile(level, max(1.0, len(questions) - 1.0)) * spread if len(questions) > 1 else np.inf
    ends = np.clip([1 - rho - reach, 1 - rho + reach], 0.0, 1.0)
    rho = float(np.clip(rho, 0.0, 1.0))
    worth = 2 / design_effect(2, rho) - 1
    pays = 2 * rho / (1 - rho) if rho < 1 else np.inf
    answers = float(sums["size"].sum())
    values = (name, requests, int(answers), rate, low, high, 1 - rho, *ends.tolist(), worth, pays)
    return dict(zip(COLUMNS, values, strict=True))
