"""Question effects on real sets and on simulated ones: what they add, and what intervals hold with and without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.engine.questions.groups import at_rows, grouped
from judgerank.engine.questions.marginal import Marginal
from judgerank.engine.questions.maximum import SHARP
from judgerank.engine.questions.quadrature import sampled
from judgerank.fits.fit import fit
from judgerank.fits.heldout import held_out
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.model.law import Law
from judgerank.model.members import Parameters
from replication.replicate import Record
from studies.dependence import standardised_errors

N_MODELS, N_JUDGES, JUDGES_EACH = 6, 6, 4  # of simulated data, and judges of each pair
DESIGNS = {"one pair": (150, 1), "many pairs": (30, 10)}  # questions, and pairs of each
MEMBER = "position_aware_ties"


def first_fit(judgments: Judgments, members: Sequence[str]) -> tuple[Fit, str]:
    """The first member that has a maximum, its copies merged, and why those before it have none.

    Raises
    ------
    NoMaximumError
        If none has.
    """
    why: list[str] = []
    for member in members:
        try:
            return fit(judgments, member, questions="effects", merge_copies=True), "; ".join(why)
        except NoMaximumError as error:
            why.append(f"{member}: {error}")
    raise NoMaximumError("; ".join(why), ())


def errors_of(fitted: Fit) -> FloatArray:
    """Standard errors of the standardised scores, shape (N,)."""
    return standardised_errors(fitted)


def clustered(fitted: Fit) -> Fit:
    """The fit without question effects, its errors clustered by question."""
    return fitted.without.clustered(fitted.raw, fitted.question)


def integrals(fitted: Fit, draws: int, seed: int, name: str) -> tuple[float, float]:
    """The log-likelihood at the fit by random draws, and the standard error of that."""
    rng, total, variance = generator(seed, "panel", name), 0.0, 0.0
    parameters, model = fitted.solution.parameters, fitted.model
    groups = Marginal.fine(
        grouped(fitted.raw, fitted.question), model, model.of_judges(parameters).gamma, fitted.sigma, SHARP
    ).groups
    for group in groups:
        row_terms = at_rows(group, model, parameters, fitted.sigma)
        value, error = sampled(group, row_terms, rng, draws)
        total, variance = total + float(value.sum()), variance + float((error**2).sum())
    return total, float(np.sqrt(variance))


def gains(fitted: Fit, members: Sequence[str], folds: int, seed: int, name: str) -> dict[str, float | str]:
    """Held-out log-loss per comparison without question effects, and how much less it is with them.

    Those on questions with several comparisons are separated; errors are over questions. By the first
    member that has a maximum on all folds; NaN if none has.
    """
    questions = int(fitted.question.max()) + 1
    fold = (generator(seed, "panel folds", name).permutation(questions) % folds)[fitted.question]
    row: dict[str, float | str] = {"held_out_member": ""}
    row |= dict.fromkeys(("loss_without", "gain", "gain_se", "gain_several", "gain_several_se"), np.nan)
    for member in members:
        try:
            table = held_out(fitted.raw, fold, member, questions="effects", question=fitted.question)
            break
        except JudgerankError:
            continue
    else:
        return row
    row["held_out_member"] = member
    row["loss_without"] = -table["without"].sum() / table["comparisons"].sum()
    for kind, part in (("gain", table), ("gain_several", table[table["comparisons"] > 1])):
        gained, total = part["described"] - part["without"], part["comparisons"].sum()
        row[kind] = gained.sum() / total
        share = gained - gained.sum() / total * part["comparisons"]  # of a ratio of sums
        row[f"{kind}_se"] = float(np.sqrt((share**2).sum())) / total
    return row


def truth() -> Parameters:
    """What simulated data are drawn from: scores two apart, discriminations from .6 to 1.7."""
    alpha = np.linspace(-0.5, 0.5, N_JUDGES)
    position = np.where(np.arange(N_JUDGES) % 2, 0.3, -0.2)
    return Parameters(np.linspace(1.0, -1.0, N_MODELS), np.array([alpha, position, np.full(N_JUDGES, -1.0)]))


def drawn(rng: np.random.Generator, design: str, sigma: float) -> tuple[Comparisons, IntArray]:
    """Comparisons whose answers have a quality of their own, and the question behind each."""
    parameters, (n_questions, pairs) = truth(), DESIGNS[design]
    ends = np.array([rng.permutation(N_MODELS)[:2] for _ in range(n_questions * pairs)]).repeat(JUDGES_EACH, 0)
    judge = np.concatenate([rng.permutation(N_JUDGES)[:JUDGES_EACH] for _ in range(n_questions * pairs)])
    question = np.arange(n_questions).repeat(pairs * JUDGES_EACH)
    s = parameters.scores + rng.normal(0.0, sigma, (n_questions, N_MODELS))
    i, j = ends.T
    gamma, position, log_tie = parameters.judges[:, judge]
    law = Law(np.exp(gamma) * (s[question, i] - s[question, j]) + position, np.exp(log_tie))
    draw, first = rng.random(len(judge)), law.mean - law.tie / 2
    outcome = np.where(draw < first, 1.0, np.where(draw < first + law.tie, 0.5, 0.0))
    labels = (
        tuple(f"{kind}{x}" for x in range(n_of_kind)) for kind, n_of_kind in (("m", N_MODELS), ("j", N_JUDGES))
    )
    return Comparisons(*labels, i, j, judge, outcome), question


def covered(settings: dict, rng: np.random.Generator) -> Record:
    """One data set with question effects: what intervals of standardised scores hold, and the test of sigma."""
    parameters, level = truth(), settings["level"]
    comparisons, question = drawn(rng, settings["design"], settings["question_sd"])
    fitted = fit(comparisons, MEMBER, questions="effects", question=question)
    target, quantile = parameters.scores / parameters.scores.std(), normal_quantile(level)
    record: Record = {"status": str(fitted.status), "p": fitted.likelihood_ratio()[1], "sigma": fitted.sigma}
    for name, result in (("with", fitted), ("without", fitted.without), ("clustered", clustered(fitted))):
        scores, error = result.scores.to_numpy(), errors_of(result)
        inside = np.abs(scores / scores.std() - target) <= quantile * error
        record |= {f"covered/{name}": float(inside.mean()), f"error/{name}": float(error.mean())}
    if fitted.sigma > 0 and settings["question_sd"] > 0:
        row = fitted.confidence_intervals(level).set_index("parameter").loc["relative sigma"]
        record["sigma_covered"] = float(
            row["low"] <= settings["question_sd"] / parameters.scores.std() <= row["high"]
        )
    return record


def coverage(records: pd.DataFrame, design: str, question_sd: float) -> list[dict]:
    """Rows of one simulated sigma: mean coverage by kind of interval, with its error over data sets."""
    rows, n_sets = [], len(records)
    if "failure" in records:  # no maximum
        records = records[records["failure"].isna()]
    for kind in ("without", "with", "clustered"):
        values = records[f"covered/{kind}"]
        rows.append(
            {
                "design": design,
                "question_sd": question_sd,
                "intervals": kind,
                "covered": values.mean(),
                "covered_se": values.std() / np.sqrt(len(values)),
                "error": records[f"error/{kind}"].mean(),
                "rejected": (records["p"] < 0.05).mean(),
                "sigma_zero": (records["sigma"] == 0).mean(),
                "sigma_covered": records["sigma_covered"].mean() if "sigma_covered" in records else np.nan,
                "failed": n_sets - len(records),
                "n_replications": n_sets,
            }
        )
    return rows
