"""Does the fitted model describe the answers? Goodness of fit overall, of the order, by judge and by question.

- Overall: sums of residuals by judge and pair. Anything that the model lacks shows there.
- Order: sums by pair over all judges. One score a model leaves no pair surprising; cycles do (Jiang et al., 2011).
- Judges: sums by judge and model. A judge with tastes of its own prefers some models more than the scores say.
- Questions: those whose answers contradict the order (`trust.outlier_questions`).

A statistic is the sum of squares over variances. Its distribution where the model holds comes from sign flips of
whole questions (`trust.flipped_residuals`), so that judges of a question may err together. Judges are tested all
at once: p-values are adjusted by the largest statistic of all, each standardised (Westfall and Young, 1993). A
judge who departs has no say in the scores when the others are tested again.

Two models are in one order whatever the answers, and a single judge's tastes are that order: nothing to test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import FloatArray, IntArray, generator
from judgerank.data.cache import Shown
from judgerank.data.comparisons import FEW_JUDGES, Comparisons
from judgerank.data.errors import NoIntervalError
from judgerank.data.listing import counted, listed, p_of
from judgerank.fits.result import Fit
from judgerank.fits.taste_test import TasteTest
from judgerank.model.law import Law, levels_at, outcomes
from judgerank.trust.flipped_residuals import DRAWS, FlippedResiduals, Sums

# Questions whose answers contradict the ranking, beyond what chance and the usual spread of answers explain.
#
# A question follows the order as far as z = sum r x / sqrt(sum v x^2) is not below zero: r are its residuals, v
# their variances, and x the differences of scores times discrimination. Where judges share a question, its answers
# are better or worse for all of them. How much is estimated from how judges of the same two answers err together.
# The distribution of z is simulated with such effects: answers' qualities drawn anew for every question, expected
# answers on average those of the fit.
OUTLIER_DRAWS, AT_ONCE = 199, 4_000_000  # sets simulated; numbers held at a time
TUNING, ROUNDS = 20, 3  # sets by which the spread of answers is tuned, and how often
WIDENING = 16 * np.sqrt(3) / (15 * np.pi)  # of a logit beside a probit, by which effects flatten answers
WIDEST = 5.0  # standard deviation of answers, in log-odds


@dataclass(frozen=True, eq=False)
class Design:
    """Rows of questions, as far as simulating them goes.

    Attributes
    ----------
    question, item, first, second : int array, shape (T,)
        Places of every row's question, of its question and pair, and of its two answers.
    sign : float array, shape (T,)
        Whether the model with the lower number stands first, 1 or -1.
    eta, gamma, lead, variance, count, tied : float array, shape (T,)
        Predictor, discrimination, the part of the predictor that is of the models, variance, number of answers,
        share of ties of the judge.
    nu : float array, shape (T,), optional
    log_strong : tuple of float arrays, shape (T,)
        Thresholds of the levels, where ties and strength are outcomes.
    """

    question: IntArray
    item: IntArray
    first: IntArray
    second: IntArray
    sign: FloatArray
    eta: FloatArray
    gamma: FloatArray
    lead: FloatArray
    variance: FloatArray
    count: FloatArray
    tied: FloatArray
    mean: FloatArray
    nu: FloatArray | None = None
    log_strong: tuple[FloatArray, ...] = ()

    @classmethod
    def of(cls, flips: FlippedResiduals) -> Design:
        rows, terms, q = flips.rows, flips.here, flips.question
        n, low, high = len(rows.models), np.minimum(rows.first, rows.second), np.maximum(rows.first, rows.second)
        item = np.unique((q * n + low).astype(np.int64) * n + high, return_inverse=True)[1]
        answer = np.unique(np.r_[q * n + rows.first, q * n + rows.second], return_inverse=True)[1]
        tied = np.bincount(rows.judge, rows.count * (rows.outcome == 0.5), len(rows.judges))
        share = (tied / np.bincount(rows.judge, rows.count, len(rows.judges)))[rows.judge]
        return cls(
            q,
            item,
            answer[: len(q)],
            answer[len(q) :],
            np.where(rows.first < rows.second, 1.0, -1.0),
            terms.eta,
            np.ones(len(q)) if terms.g is None else terms.g,
            terms.signal,
            flips.variance,
            rows.count,
            share,
            terms.law.mean,
            terms.nu,
            terms.log_strong,
        )

    def slopes(self, residual: FloatArray) -> FloatArray:
        """z of every question, shape (..., Q), for residuals of shape (..., T)."""
        n_questions = int(self.question.max()) + 1
        information = np.bincount(self.question, self.variance * self.lead**2, n_questions)
        flat = residual.reshape(-1, len(self.lead))
        summed = np.array([np.bincount(self.question, row * self.lead, n_questions) for row in flat])
        return (summed / np.sqrt(np.maximum(information, np.finfo(float).tiny))).reshape(
            *residual.shape[:-1], n_questions
        )

    def shared(self, residual: FloatArray) -> float:
        """Covariance of judges' residuals on the same two answers, in log-odds squared; zero where none share."""
        information = np.bincount(self.item, self.variance * self.gamma)
        norm = float((information**2).sum() - ((self.variance * self.gamma) ** 2).sum())
        if norm <= 1e-9:
            return 0.0
        signed = (residual * self.sign).reshape(-1, len(self.sign))
        cross = [(np.bincount(self.item, row) ** 2).sum() - (row**2).sum() for row in signed]
        return float(np.mean(cross)) / norm

    def simulated(self, rng: np.random.Generator, sd: float, n_draws: int) -> Iterator[FloatArray]:
        """Residuals of sets drawn with answers of a standard deviation, some sets at a time, shape (sets, T)."""
        size = max(1, AT_ONCE // len(self.eta))
        wider = self.eta * np.sqrt(1 + 2 * (WIDENING * self.gamma * sd) ** 2)
        answers = max(int(self.first.max()), int(self.second.max())) + 1
        for start in range(0, n_draws, size):
            now = min(size, n_draws - start)
            e = sd * rng.standard_normal((now, answers)) if sd > 0 else None
            drawn = rng.random((now, len(wider)))
            for position, chance in enumerate(drawn):  # one by one, since a processor's cache holds one
                eta = wider
                if e is not None:
                    eta = wider + self.gamma * (e[position].take(self.first) - e[position].take(self.second))
                drawn[position] = self.count * (self._answers(eta, chance) - self.mean)
            yield drawn

    def _answers(self, eta: FloatArray, chance: FloatArray) -> FloatArray:
        """Outcomes at predictors by uniform draws, shape (T,)."""
        if self.nu is None and not self.log_strong:
            p = expit(eta)
            # a tie has the judge's share, so that the expected answer is p all the same
            half = np.minimum(self.tied / 2, np.minimum(p, 1 - p))
            return ((chance < p - half).astype(float) + (chance < p + half)) / 2
        law = Law(eta, self.nu, *self.log_strong)
        return outcomes(len(self.log_strong))[levels_at(law.levels, chance)]


def spread_of_answers(design: Design, residual: FloatArray, rng: np.random.Generator) -> float:
    """Standard deviation of answers with which simulated judges err together as much as these do."""
    wanted = design.shared(residual)
    if wanted <= 0:
        return 0.0
    sd = np.sqrt(wanted / 2)
    for _ in range(ROUNDS):
        shared_variance = (
            sum([design.shared(draws) * len(draws) for draws in design.simulated(rng, sd, TUNING)]) / TUNING
        )
        sd = min(sd * np.sqrt(wanted / max(shared_variance, wanted / 9)), WIDEST)
    return float(sd)


def against_the_order(flips: FlippedResiduals) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Statistics of the questions, their p-values and those adjusted for all of them, and the spread of answers.

    Returns
    -------
    z, p_value, p_adjusted : float array, shape (Q,)
        Low values of z are against the order. Adjusted by the largest of all questions' statistics, each in units
        of its simulated standard deviation (Westfall and Young, 1993).
    sd : float
        Of answers about their models, in log-odds.
    """
    design, residual = Design.of(flips), flips.here.residual
    rng = generator(0, "odd questions", len(residual), int(flips.question.max()))
    sd = spread_of_answers(design, residual, rng)
    drawn = np.concatenate([design.slopes(draws) for draws in design.simulated(rng, sd, OUTLIER_DRAWS)])
    z = design.slopes(residual)
    spread = np.maximum(drawn.std(axis=0), 1.0)  # that of independent answers, which few draws may not show
    mean = drawn.mean(axis=0)
    away, usual = (mean - z) / spread, (mean - drawn) / spread
    p = (1 + (usual >= away - 1e-9).sum(axis=0)) / (1 + OUTLIER_DRAWS)
    adjusted = (1 + (usual.max(axis=1)[:, None] >= away - 1e-9).sum(axis=0)) / (1 + OUTLIER_DRAWS)
    return z, p, adjusted, sd


FEWEST = 100  # judgments, in which departures of ordinary size are rarely seen
COLUMNS = ["test", "name", "statistic", "expected", "p_value", "p_adjusted", "departs", "most"]
MOST_ROWS, MOST_PARAMETERS = 100_000, 500  # beyond which it takes too long to be done unasked
QUESTIONS = 10  # in the table, those most against the order first


@dataclass(frozen=True, eq=False, repr=False)
class Fitness(Shown):
    """Tests of what a fitted model says.

    Attributes
    ----------
    table : DataFrame
        ``test`` (``overall``, ``order``, ``judge``, ``question``), ``name``, ``statistic``, what is ``expected``
        of it where the model holds, ``p_value``, ``p_adjusted`` for all of the same test, whether it ``departs``
        by more than chance by this test alone (`sentences` adjust for all tests), and where it does so ``most``: a
        pair, or a model that a judge favours.
    level : float
    by_question : bool
        Whether questions are known, and judges of one may err together.
    answers_sd : float
        Standard deviation of the answers of a model from question to question, in log-odds.
    n_comparisons : float
        Fewer than `FEWEST` are too few to say that a model describes them.
    tastes : float
        p-value of the test for tastes of all judges together; one if it was not made.
    """

    table: pd.DataFrame
    level: float
    by_question: bool
    answers_sd: float
    n_comparisons: float
    tastes: float = 1.0

    def found(self, test: str) -> list[str]:
        """Names that depart, of one test."""
        rows = self.table[(self.table["test"] == test) & self.table["departs"]]
        return [str(name) for name in rows["name"]]

    def _jointly(self) -> dict[str, list[str]]:
        """Names that depart, by test, adjusted for all tests: Holm over the smallest p-value of each."""
        least = self.table.groupby("test")["p_adjusted"].min().sort_values(kind="stable")
        rejected = {test: list[str]() for test in least.index}
        for number, (test, p) in enumerate(least.items()):
            limit = (1 - self.level) / (len(least) - number)
            if p > limit:
                break
            rows = self.table[(self.table["test"] == test) & (self.table["p_adjusted"] <= limit)]
            rejected[str(test)] = [str(name) for name in rows["name"]]
        return rejected

    def sentences(self) -> Iterator[str]:
        """What a reader should know: departures by any test, jointly at the level, or that there are none."""
        rejected = self._jointly()
        judges, questions = rejected.get("judge", []), rejected.get("question", [])
        if "order" not in rejected:
            none = (
                "With two models only questions can be tested: none contradicts the ranking by more than chance."
            )
            yield _contradicting(questions) if questions else none
            return
        overall, order = (self.table[self.table["test"] == test].iloc[0] for test in ("overall", "order"))
        chance = f"p {p_of(float(overall['p_value']))}"
        if rejected["order"]:
            yield (
                f"A single ranking does not fit these judgments (p {p_of(float(order['p_value']))}): some pairs "
                f"contradict the scores, most of all {order['most']}."
            )
        if judges:
            names = ["the judges with few answers together" if judge == FEW_JUDGES else judge for judge in judges]
            yield f"Some models are favoured more than the scores explain by {listed(names)}."
            yield (
                "A taste for one model that stands out from all others is said separately. Other votes count, and "
                "errors for judges like these allow for tastes."
                if self.tastes <= 1 - self.level
                else "Tastes of all judges together could not be tested, so all votes count."
            )
        if questions:
            yield _contradicting(questions)
        if rejected["overall"] and not (rejected["order"] or judges):
            yield f"The model does not describe all answers ({chance}), but no pair and no judge stands out."
        if any(rejected.values()):
            return
        if self.tastes <= 1 - self.level:
            yield (
                f"All judges together favour some models more than the scores explain (p {p_of(self.tastes)}), "
                "but no single judge stands out."
            )
            return
        tested = "pair, judge or question" if "judge" in rejected else "pair or question"
        if self.n_comparisons < FEWEST:
            yield (
                f"No {tested} departs from the model, but {self.n_comparisons:,.0f} judgments are too few "
                f"to show any but large departures (overall {chance})."
            )
        else:
            yield f"The model describes the answers: no departure by {tested} (overall {chance})."

    def _line(self) -> str:
        return " ".join(self.sentences())

    def _table(self) -> pd.DataFrame:
        return self.table


def fitness(
    fitted: Fit,
    rows: Comparisons,
    question: IntArray | None = None,
    level: float = 0.95,
    names: Sequence[str] = (),
    tastes: TasteTest | None = None,
) -> Fitness:
    """Test whether a fit describes the comparisons that it was fitted to.

    Parameters
    ----------
    fitted : Fit
        Without question effects, and with errors by its model.
    rows : Comparisons
        The raw comparisons behind it.
    question : int array, shape (T,), optional
        Question of each. Without it every comparison is taken as independent of the others.
    level : float
    names : sequence of str
        Of the questions by their order, instead of their numbers.
    tastes : TasteTest, optional
        The test for tastes of all judges (`judgerank.fits.taste_test`), if it was made. No single judge departs by
        a smaller p-value: a closed test, so that the two never contradict each other.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals, nothing was asked twice, or two models were compared without questions.
    """
    fitted.comparisons.require_pairs("the test of fit")
    flips = FlippedResiduals.of(fitted, rows, question)
    n, p_tastes = len(rows.models), 1.0 if tastes is None else tastes.p_value
    sign, pair = np.where(rows.first < rows.second, 1.0, -1.0), rows.pair
    models = np.asarray(rows.models, object)
    by_pair, by_both = flips.sums(pair, sign), flips.sums(rows.judge * n * n + pair, sign)
    if not len(by_pair.kept):
        raise NoIntervalError("no two models were compared on two questions, so the fit cannot be tested")
    table_rows, sd = list[dict[str, object]](), 0.0
    if n > 2:
        table_rows += [_one("overall", by_both, level, ""), _one("order", by_pair, level, _pair(by_pair, models))]
        table_rows += _judges(flips, models, level, tastes) if len(rows.judges) > 1 else []
    elif question is None:
        raise NoIntervalError(
            "two models are in one order whatever the answers, so without questions nothing is tested"
        )
    if question is not None:
        table, sd = _questions(flips, level, names or [str(label) for label in np.unique(question)])
        table_rows += table
    return Fitness(
        pd.DataFrame(table_rows, columns=COLUMNS), level, question is not None, sd, rows.n_comparisons, p_tastes
    )


def fitness_if_quick(
    fitted: Fit,
    rows: Comparisons,
    question: IntArray | None,
    level: float,
    names: Sequence[str],
    tastes: TasteTest | None = None,
) -> Fitness | None:
    """`fitness` of a fit of moderate size that has intervals; None for others."""
    if len(rows) > MOST_ROWS or fitted.n_parameters > MOST_PARAMETERS:
        return None
    try:
        return fitness(fitted, rows, question, level, names, tastes)
    except NoIntervalError:
        return None


def _contradicting(questions: list[str]) -> str:
    question_count = counted(len(questions), "question")
    return f"The answers to {question_count} contradict the ranking: {listed(questions)}."


def _one(test: str, sums: Sums, level: float, most: str) -> dict[str, object]:
    """A test of all sums at once."""
    statistic, expected, p = sums.together(_stream(test, sums))
    return _row(test, "", statistic, expected, p, p, level, most)


def _row(
    test: str, name: str, statistic: float, expected: float, p: float, adjusted: float, level: float, most: str
) -> dict[str, object]:
    values = (test, name, statistic, expected, p, adjusted, adjusted <= 1 - level, most)
    return dict(zip(COLUMNS, values, strict=True))


def _stream(test: str, sums: Sums) -> np.random.Generator:
    return generator(0, "fitness", test, *sums.by_question.shape)


def _pair(sums: Sums, names: np.ndarray) -> str:
    """The pair that is furthest from what the scores say, the model first that does better."""
    z = sums.observed / np.sqrt(np.maximum(sums.variance, np.finfo(float).tiny))
    most = int(np.abs(z).argmax())
    ends = names[list(divmod(int(sums.kept[most]), len(names)))]
    first, second = ends if z[most] > 0 else ends[::-1]
    return f"{first} against {second}"


def _judges(
    flips: FlippedResiduals, names: np.ndarray, level: float, tastes: TasteTest | None
) -> list[dict[str, object]]:
    """One test for every judge, by its preference for models beyond their scores.

    A judge who departs moves the scores, so that others seem to depart. So the one who departs most is named and
    given scores of its own, and the others are tested again, until none departs. With two left, nobody can tell
    which of them is odd.
    """
    rows, named, least = list[dict[str, object]](), list[int](), 0.0 if tastes is None else tastes.p_value
    while True:
        tests = _tests_by_judge(flips.apart(np.sort(named)) if named else flips, names, named)
        most = max(tests, key=lambda one: one.away, default=None)
        again = most is not None and max(most.adjusted, least) <= 1 - level and len(tests) > 2
        reported = [most] if again and most is not None else sorted(tests, key=lambda one: one.judge)
        for test in reported:
            values = test.statistic, test.expected, test.p, max(test.adjusted, least)
            rows.append(_row("judge", flips.rows.judges[test.judge], *values, level, test.most))
        if most is None or not again:
            return rows
        named, least = [*named, most.judge], max(most.adjusted, least)


class _OfJudge(NamedTuple):
    """The test of one judge; `away`: its statistic, standardised by its flips."""

    judge: int
    statistic: float
    expected: float
    away: float
    p: float
    adjusted: float
    most: str


def _tests_by_judge(flips: FlippedResiduals, names: np.ndarray, named: list[int]) -> list[_OfJudge]:
    """Every judge but those named before, p-values adjusted by the largest of these."""
    rows, n = flips.rows, len(names)
    twice = flips.between(rows.judge * n + rows.first, rows.judge * n + rows.second, len(rows.judges) * n)
    columns = np.flatnonzero(~np.isin(twice.kept // n, named))
    judge, model = np.divmod(twice.kept[columns], n)
    variance = np.maximum(twice.variance[columns], np.finfo(float).tiny)
    judges = np.unique(judge)
    if not len(judges):
        return []
    starts = np.searchsorted(judge, judges)

    def by_judge(sums: FloatArray) -> FloatArray:
        return np.add.reduceat(sums**2 / variance, starts, axis=-1)

    observed = by_judge(twice.observed[columns])
    drawn = np.concatenate([by_judge(draws[:, columns]) for draws in twice.draws(_stream("judge", twice))])
    middle, spread = drawn.mean(axis=0), np.maximum(drawn.std(axis=0), 1e-9)
    away, usual = (observed - middle) / spread, (drawn - middle) / spread
    p = (1 + (usual >= away - 1e-9).sum(axis=0)) / (1 + DRAWS)
    adjusted = (1 + (usual.max(axis=1)[:, None] >= away - 1e-9).sum(axis=0)) / (1 + DRAWS)
    z, tests = twice.observed[columns] / np.sqrt(variance), []
    for position, number in enumerate(judges.tolist()):
        judge_columns = np.flatnonzero(judge == number)
        statistic, expected, far, chance, of_all = (
            float(values[position]) for values in (observed, middle, away, p, adjusted)
        )
        most = str(names[model[judge_columns[z[judge_columns].argmax()]]])
        tests.append(_OfJudge(number, statistic, expected, far, chance, of_all, most))
    return tests


def _questions(
    flips: FlippedResiduals, level: float, names: Sequence[str]
) -> tuple[list[dict[str, object]], float]:
    z, p, adjusted, sd = against_the_order(flips)
    first = np.lexsort((z, adjusted))[:QUESTIONS]
    return [
        _row("question", names[q], float(z[q]), 0.0, float(p[q]), float(adjusted[q]), level, "") for q in first
    ], sd
