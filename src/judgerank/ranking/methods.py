"""How a ranking was computed, in words for its page."""

from __future__ import annotations

from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.fits.errors_by_question import MOST_QUESTIONS
from judgerank.fits.result import Fit
from judgerank.model.formula import formula, treatment_of_ties
from judgerank.ranking.record import Record


def methods(ranking: Record) -> list[str]:
    """A paragraph on the fit of every component, and one on the scale."""
    several = len(ranking.fits) > 1
    texts = [
        (f"Component {number}: " if several else "") + _fit_of(fitted, ranking.judgments)
        for number, fitted in enumerate(ranking.fits, 1)
    ]
    scale = (
        "Scores sum to zero. On their scale the log-discriminations average zero, each judge weighted by its "
        "Fisher information about the scores, so that uninformative judges do not move it. All scores, "
        "differences, discriminations and their intervals are on this scale."
    )
    return [*texts, scale]


def _fit_of(fitted: Fit, judgments: Judgments) -> str:
    spread = "Intervals treat comparisons as independent (inverse expected information)."
    if fitted.effects is not None:
        spread = (
            "Every answer has a quality of its own, shared by all judges of its question: a normal random effect "
            f"with standard deviation {fitted.effects.sigma:.3f}, integrated out. Intervals come from the "
            "observed information of that likelihood, and probabilities are for a question drawn at random. Pairs "
            "are also tested by the residuals of each question."
        )
    elif fitted.flips is not None:
        if fitted.robust is not None:
            spread = (
                "Intervals of scores and win rates allow for dependence within questions (sandwich covariance)."
            )
        spread += (
            " Pairs are tested by sign flips of whole questions (Fisher, 1935; Holm, 1979), and ranks follow from "
            "the significantly different pairs."
        )
    elif fitted.robust is not None:
        n_questions = judgments.n_questions
        part = f", computed from {MOST_QUESTIONS:,} of them" if n_questions > MOST_QUESTIONS else ""
        spread = (
            f"Intervals allow for dependence within each of the {n_questions} questions (sandwich "
            f"covariance{part})."
        )
    fitting = "maximum likelihood"
    if fitted.solution.spread is not None:
        widths = ", ".join(
            f"{name.replace('_', ' ')} {value:.2f}" for name, value in fitted.solution.spread.items()
        )
        fitting = f"penalised maximum likelihood (standard deviations of what is shrunk: {widths})"
    name, blocks = fitted.model.name, ", ".join(block.name for block in fitted.blocks)
    adjusted = f" The ranking is adjusted for: {blocks}." if blocks else ""
    ranked = fitted.comparisons.stages is not None
    return (
        f"Model {name}: {formula(fitted.model, ranked)}; {fitting}, {treatment_of_ties(fitted.model, ranked)}."
        f"{adjusted} "
        f"Status: {fitted.status}; log-likelihood {fitted.log_likelihood:.3f}; "
        f"{counted(fitted.n_parameters, 'free parameter')}. {spread}"
    )
