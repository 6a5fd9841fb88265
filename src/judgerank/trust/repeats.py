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

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import changed_answers
from judgerank.data.listing import counted, shortened
from judgerank.engine.likelihood import row_by_row
from judgerank.fits.result import Fit
from judgerank.inference.wald import effective_trials, is_informative, normal_quantile, ratio_by_cluster
from judgerank.trust.retest import requests_of

ALL = "all judges"
COLUMNS = ["judge", "requests", "answers", "differing", "flip_rate", "low", "high"]
COLUMNS += ["noise", "noise_low", "noise_high", "second_answer", "pays_from"]
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
        ``judge, requests`` (asked more than once), ``answers`` to them, ``differing`` (requests whose answers are
        not all the same), ``flip_rate`` with its interval ``low, high``, ``noise`` (share of an answer's variance
        within a request) with its interval, ``second_answer`` (what it is worth beside an answer to a new
        question), ``pays_from`` (judgments that a new question must cost beside its answers for a second answer to
        pay). The first row has all judges, if there are several.
    """

    table: pd.DataFrame

    @property
    def correlation(self) -> float | None:
        """Of two answers to one request, given the model; None where they are too few to say."""
        overall = self.table.iloc[0]
        shares = (("low", "high"), ("noise_low", "noise_high"))
        return 1.0 - float(overall["noise"]) if all(_is_informative(overall, *ends) for ends in shares) else None

    def sentences(self) -> Iterator[str]:
        """How often answers change, who changes them most, and whether asking again pays.

        Where the interval of a rate leaves nearly all open, requests are counted, and the rest is not said.
        """
        overall, *by_judge = (row for _, row in self.table.iterrows())
        if not _is_informative(overall, "low", "high"):
            requests = counted(overall["requests"], "repeated request")
            yield (
                f"{overall['differing']:,} of {requests} got a different answer: too few to tell how often judges "
                "change their answer, and what asking again adds."
            )
            return
        rate = f"{overall['flip_rate']:.0%} of the time ({overall['low']:.0%} to {overall['high']:.0%})"
        who = ""
        sure = [row for row in by_judge if _is_informative(row, "low", "high")]
        if sure and overall["flip_rate"] > 0:
            most = max(sure, key=lambda row: row["flip_rate"])
            request_count = counted(most["requests"], "request")
            who = f", most often {shortened(most['judge'])} ({most['flip_rate']:.0%} of {request_count})"
        yield f"Asked the same again, judges change their answer {rate}{who}."
        if self.correlation is None:
            return
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


def _is_informative(row: pd.Series, low: str, high: str) -> bool:
    """Whether the interval of a share leaves anything out."""
    return is_informative((row[low], row[high]), (0.0, 1.0))


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
    differing = int((sums["differ"] > 0).sum())
    values = (name, requests, int(answers), differing, rate, low, high, 1 - rho, *ends.tolist(), worth, pays)
    return dict(zip(COLUMNS, values, strict=True))
