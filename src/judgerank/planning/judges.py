"""How many judges a claim for judges like these takes, where judges have tastes of their own.

A taste is a judge's, so its part of a score's variance does not fall with more comparisons by the same judges. It
falls with the number K of judges, and so does the rest if each is asked as often. The covariance of a fit with the
block ``taste``, times its number of judges, is that of one judge, and that of K judges is a K-th of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.fits.errors_by_question import by_question, number_of
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.taste_test import taste_test
from judgerank.inference.taste_errors import TASTE
from judgerank.order.scale import reported_covariance, scale_of
from judgerank.planning.precision import Errors, Precision, needed
from judgerank.planning.questions import INDEPENDENT
from judgerank.ranking.choices import DESCRIBED
from judgerank.trust.sentences import MOST_ROWS

MOST_TASTES = 600  # judges times models beyond which their fit would take long
FEWEST = 2.0  # judges whose tastes can be told from scores


@dataclass(frozen=True, eq=False)
class PerJudge(Precision):
    """What one judge like these tells, asked as often as those of the file; errors of K are these over sqrt(K)."""

    def freedom(self, size: float) -> float:
        """Degrees of freedom of tastes of K judges (`inference.taste_errors.degrees_of_tastes`)."""
        return max((size - 1) * (self.contrasts.shape[1] - 2), 1.0)


def tastes_shown(judgments: Judgments, fitted: Fit) -> float:
    """The standard deviation of judges' tastes where `rank` allows for them (`fits.taste_test`), else zero."""
    c = judgments.comparisons
    if c.stages is not None:
        return 0.0
    tastes = taste_test(fitted, c, judgments.question if _by_questions(judgments) else None)
    return tastes.spread if tastes is not None and tastes.found else 0.0


def _by_questions(judgments: Judgments) -> bool:
    return "question_id" in judgments.frame and number_of(judgments.question) > 1


def fit_with_tastes(judgments: Judgments, fitted: Fit, solver: str) -> Fit | None:
    """The fit with tastes, errors by question, where judges show some (`tastes_shown`); else None.

    None as well where they would take long to fit, or the fit has no errors.
    """
    return fitted_tastes(judgments, fitted, solver) if tastes_shown(judgments, fitted) else None


def fitted_tastes(judgments: Judgments, fitted: Fit, solver: str) -> Fit | None:
    """`fit_with_tastes`, given that judges show some."""
    c = judgments.comparisons
    if solver not in DESCRIBED or len(c) > MOST_ROWS or len(c.models) * len(c.judges) > MOST_TASTES:
        return None
    try:
        with_tastes = fit(judgments, fitted.model.name, solver, blocks=[TASTE])
        if _by_questions(judgments):
            with_tastes = by_question(with_tastes, with_tastes.raw, judgments.question)
        return with_tastes if np.isfinite(reported_covariance(with_tastes)).all() else None
    except JudgerankError:
        return None


def per_judge(with_tastes: Fit) -> PerJudge:
    """The precision of one judge by a fit with tastes."""
    n_judges, scores = len(with_tastes.comparisons.judges), scale_of(with_tastes).scores
    errors = Errors.of(scores, n_judges * reported_covariance(with_tastes))
    doubt = np.full(len(errors.pair), 1 / np.sqrt(n_judges))
    arguments = (errors.score, errors.standardised, errors.distance, errors.contrasts, doubt, FEWEST, INDEPENDENT)
    sizes = {"score": len(scores), "standardised": len(scores), "distance": len(doubt)}
    few = {whose: np.zeros(size) for whose, size in sizes.items()}
    return PerJudge(*arguments, few, 1)


def judges_needed(
    with_tastes: Fit | None, wanted: Mapping[str, float], at: Mapping[str, Any]
) -> dict[str, int | None]:
    """Judges in all for every goal, each asked as often as one of the file; None where no number reaches it.

    None for all goals where judges show no tastes: then any judges will do.
    """
    if with_tastes is None:
        return dict.fromkeys(wanted)
    precision, judges = per_judge(with_tastes), dict[str, int | None]()
    for goal, value in wanted.items():
        try:
            judges[goal] = int(np.ceil(needed(goal, value, [precision], **at)))
        except ConfigError:
            judges[goal] = None
    return judges
