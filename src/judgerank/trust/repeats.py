"""Requests that were asked more than once: how often a judge changes its answer, and what asking again buys.

A request is a question, two models in their order, and a judge. With rho the correlation of two answers to one
request, given the model, m of them tell as much as m / (1 + (m - 1) rho) answers to new questions (Kish, 1965):
1 - rho of the variance of an answer is noise, which repeats average out, and rho lies between questions, which
they do not. If a new question costs c judgments besides its answers, the best number of answers to each is
sqrt(c (1 - rho) / rho), and a second one pays from c = 2 rho / (1 - rho) on.

How much of a judge's disagreement with the ranking is its own noise? Let an answer be a latent variable that is
cut at the fitted probabilities. Its test-retest reliability is the tetrachoric correlation r of two answers to
one request (Pearson, 1900), by which they differ as often as they did: two answers differ with probability 4 T(h,
a), where Phi(h) is the fitted probability, a^2 = (1 - r) / (1 + r) and T is Owen's (1956). Of the latent variance
that the scores leave, 1 - r is noise. If a judge's noise were averaged out, its discrimination would be divided
by the square root of r: Spearman's (1904) correction for attenuation. A tie is half of either answer, between two
cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtri, owens_t

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import changed_answers
from judgerank.data.listing import counted, shortened
from judgerank.engine.likelihood import row_by_row
from judgerank.fits.result import Fit
from judgerank.inference.wald import effective_trials, is_informative, normal_quantile, ratio_by_cluster
from judgerank.trust.retest import requests_of

ALL = "all judges"
FLIPS = ["judge", "requests", "answers", "differing", "flip_rate", "low", "high"]
RELIABILITY = ["reliability", "reliability_low", "reliability_high"]
COLUMNS = [*FLIPS, "noise", "noise_low", "noise_high", "second_answer", "pays_from", *RELIABILITY]
FAR, PLACES = 1e-6, 6  # the least probability of an answer, and decimals of a cut, so that equal ones are one
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
        pay), ``reliability`` (test-retest, given the model) with its interval, NaN for answers that are shares.
        The first row has all judges, if there are several.
    """

    table: pd.DataFrame

    @property
    def correlation(self) -> float | None:
        """Of two answers to one request, given the model; None where they are too few to say."""
        overall = self.table.iloc[0]
        shares = (("low", "high"), ("noise_low", "noise_high"))
        return 1.0 - float(overall["noise"]) if all(_is_informative(overall, *ends) for ends in shares) else None

    def worth_of_answers(self, n_answers: pd.Series) -> pd.Series:
        """What a judge's answers tell, over as many answers to different requests; 1 where that is not known.

        Parameters
        ----------
        n_answers : Series
            Of each judge, those to requests that were not repeated included.
        """
        table = self.table.set_index("judge").drop(index=ALL, errors="ignore")
        is_known = [_is_informative(row, "noise_low", "noise_high") for _, row in table.iterrows()]
        noise = table["noise"].where(np.array(is_known, bool))
        noise = noise.fillna(1.0 if self.correlation is None else 1.0 - self.correlation)
        repeated = table["answers"] / (1 + (table["answers"] / table["requests"] - 1) * (1 - noise))
        total = n_answers.reindex(table.index)
        return (total - table["answers"] + repeated) / total

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
        if self.correlation is not None:
            yield _worth(overall)
        if _is_informative(overall, *RELIABILITY[1:]):
            own, least, most = (1 - overall[name] for name in (RELIABILITY[0], RELIABILITY[2], RELIABILITY[1]))
            yield (
                f"Of the variance that the scores leave unexplained, {own:.0%} ({least:.0%} to {most:.0%}) is "
                "noise within a judge. The rest is what a judge repeats."
            )


def _worth(row: pd.Series) -> str:
    """A sentence on what a second answer adds, and when it pays."""
    message = f"A second answer to the same request adds {row['second_answer']:.0%} of what an answer to a new"
    if np.isinf(row["pays_from"]):
        return f"{message} question adds: ask new questions instead."
    if row["pays_from"] < LEAST_PRICE:
        return f"{message} question adds, so asking again pays if a new question costs anything more to make."
    price = f"{row['pays_from']:.1f} judgments"
    return f"{message} question adds. It pays only if making a new question costs more than {price}."


def _is_informative(row: pd.Series, low: str, high: str) -> bool:
    """Whether the interval of a share leaves anything out."""
    return is_informative((row[low], row[high]), (0.0, 1.0))


def flips_of(
    rows: Comparisons, question: IntArray, level: float = 0.95, item: IntArray | None = None
) -> pd.DataFrame | None:
    """How often judges changed their answer to a repeated request; None where nothing was asked twice.

    Parameters and columns are those of `repeats_of`, up to ``flip_rate`` and its interval ``low, high``.
    """
    sums = _requests(rows, question, item)
    return None if sums is None else _by_judge(rows, sums, lambda part: _flips(part, level), FLIPS)


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
        (Korn and Graubard, 1998), clustered by question, and those of noise Student's. Those of reliability are
        those of the mean change of an answer, given the fitted probabilities.
    item : int array, shape (T,), optional
        What was judged, by default the question: models that answer a question again are no repeated request.
    """
    sums = _requests(rows, question, item, fitted)
    if sums is None:
        return None
    table = _by_judge(rows, sums, lambda part: _flips(part, level) | _noise(part, level), COLUMNS)
    return Repeats(table)


def _requests(
    rows: Comparisons, question: IntArray, item: IntArray | None, fitted: Fit | None = None
) -> pd.DataFrame | None:
    """Sums over the answers to every repeated request; with a fit, also of what they depart from it by."""
    request = requests_of(rows, question if item is None else item)
    differ, pairs = changed_answers(request, rows.outcome, rows.count)
    count = np.asarray(rows.count, float)
    group = np.zeros(len(pairs), np.intp)
    group[request] = np.arange(len(request))
    pairs = np.where(rows.is_pooled[rows.judge[group]], 0.0, pairs)  # counted answers of one label are of several
    if not pairs.any():
        return None
    question_index = np.unique(question, return_inverse=True)[1]
    sums = pd.DataFrame({"question": question_index[group], "judge": rows.judge[group], "pairs": pairs})
    sums = sums.assign(size=np.bincount(request, count), differ=differ)
    if fitted is not None:
        sums = sums.assign(**_departures(fitted, rows, request, group))
    return sums[pairs > 0]


def _departures(fitted: Fit, rows: Comparisons, request: IntArray, group: IntArray) -> dict[str, FloatArray]:
    """Sums over requests, one row of each in `group`, of what answers depart from the fit by, and of changes.

    ``low, high`` are the fitted probabilities of a win and of a win or a tie. Those of a judge's ties are
    proportional to the latent density where its answers turn.
    """
    count, judge = np.asarray(rows.count, float), rows.judge
    residual = row_by_row(fitted.model.observed(rows), fitted.model, fitted.solution.parameters).residual
    turned = (rows.first > rows.second) & (not rows.ordered)
    surprise = np.where(turned, -residual, residual) / count
    outcome = np.where(turned, 1 - rows.outcome, rows.outcome)
    total, square = np.bincount(request, count * surprise), np.bincount(request, count * surprise**2)
    expected = np.clip(outcome - surprise, FAR, 1 - FAR)
    density = np.exp(-(ndtri(expected) ** 2) / 2)
    ties = np.bincount(judge, count * (outcome == 0.5)) / np.maximum(np.bincount(judge, count * density), FAR)
    half = (ties[judge] * density / 2)[group]
    won, tied, lost = (np.bincount(request, count * (outcome == answer)) for answer in (1.0, 0.5, 0.0))
    size = np.bincount(request, count)
    change = np.where(won + tied + lost == size, won * lost + tied * (won + lost) / 2, np.nan)
    return {
        "between": (total**2 - square) / 2,
        "whole": (size - 1) * square / 2,
        "low": expected[group] - half,
        "high": expected[group] + half,
        "change": change,
    }


def _by_judge(
    rows: Comparisons, sums: pd.DataFrame, row_of: Callable[[pd.DataFrame], dict[str, object]], columns: list[str]
) -> pd.DataFrame:
    """A row for all judges, if there are several, and for each."""
    judges = np.unique(sums["judge"])
    table_rows = [{"judge": ALL} | row_of(sums)] if len(judges) > 1 else []
    table_rows += [{"judge": rows.judges[k]} | row_of(sums[sums["judge"] == k]) for k in judges]
    return pd.DataFrame(table_rows, columns=columns)


def _interval(sums: pd.DataFrame, name: str, level: float) -> tuple[float, float, float]:
    """Mean of a change over pairs of answers, from 0 to 1, and its interval, clustered by question."""
    questions = sums.groupby("question")[["pairs", name]].sum()
    rate, effective = effective_trials(questions[name].to_numpy(), questions["pairs"].to_numpy(), len(sums), level)
    tail, hits = (1 - level) / 2, rate * effective
    low = float(betaincinv(hits, effective - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, effective - hits, 1 - tail)) if hits < effective else 1.0
    return rate, low, high


def _flips(sums: pd.DataFrame, level: float) -> dict[str, object]:
    """Flip rate of some requests, with its interval."""
    rate, low, high = _interval(sums, "differ", level)
    counts = {"requests": len(sums), "answers": int(sums["size"].sum())}
    return counts | {"differing": int((sums["differ"] > 0).sum()), "flip_rate": rate, "low": low, "high": high}


def _noise(sums: pd.DataFrame, level: float) -> dict[str, object]:
    """Noise and reliability of some requests, with intervals."""
    questions = sums.groupby("question")[["between", "whole"]].sum()
    rho, spread = ratio_by_cluster(questions["between"].to_numpy(), questions["whole"].to_numpy())
    reach = normal_quantile(level, max(1.0, len(questions) - 1.0)) * spread if len(questions) > 1 else np.inf
    low, high = np.clip([1 - rho - reach, 1 - rho + reach], 0.0, 1.0).tolist()
    rho = float(np.clip(rho, 0.0, 1.0))
    worth = 2 / design_effect(2, rho) - 1
    pays = 2 * rho / (1 - rho) if rho < 1 else np.inf
    row = {"noise": 1 - rho, "noise_low": low, "noise_high": high, "second_answer": worth, "pays_from": pays}
    if sums["change"].isna().any():
        return row | dict.fromkeys(RELIABILITY, np.nan)
    change, least, most = _interval(sums, "change", level)
    return row | dict(zip(RELIABILITY, (_reliability(sums, x) for x in (change, most, least)), strict=True))


def _reliability(sums: pd.DataFrame, change: float) -> float:
    """The tetrachoric correlation of two answers to a request at which they change as much, from 0 to 1.

    Each answer exceeds two cuts, one of them alone if it is a tie, and the mean change is that over both cuts.
    """
    cuts = np.round(ndtri(np.clip(sums[["low", "high"]].to_numpy().T, FAR, 1 - FAR)), PLACES)
    cut, where = np.unique(cuts, return_inverse=True)
    weight = np.bincount(where.ravel(), np.tile(sums["pairs"], 2), len(cut)) / sums["pairs"].sum()

    def excess(a: float) -> float:
        return float(2 * weight @ owens_t(cut, a)) - change

    if excess(1.0) <= 0:
        return 0.0
    a = brentq(excess, 0.0, 1.0) if change > 0 else 0.0
    return float((1 - a**2) / (1 + a**2))
