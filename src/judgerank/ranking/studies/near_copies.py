"""How many independent judges the panel amounts to where judges share questions, and which are near copies."""

from __future__ import annotations

from judgerank.data.cache import remembered
from judgerank.data.errors import DataError
from judgerank.data.judgments import Judgments
from judgerank.fits.result import Fit
from judgerank.ranking.studies import panel
from judgerank.ranking.study import Component, Finding
from judgerank.trust.effective_judges import EffectiveJudges, effective_judges
from judgerank.trust.sentences import MOST_PARAMETERS, MOST_ROWS, on_near_copies

NAME = "effective_judges"
NEAR_COPIES = "Near copies: "  # how the remark on them begins
QUESTION = "question"
MOST_JUDGES = 150  # beyond which correlations of all pairs take long


def of_component(component: Component) -> Finding:
    """The table ``effective_judges``, and a remark for each group of near copies."""
    effective = panel_of(component)
    if effective is None:
        return Finding()
    table = effective.worth[effective.worth["measure"] == "information"].drop(columns="measure")
    table = table.assign(n_judges=effective.n_judges, is_informative=effective.is_informative)
    judges = panel.table_of(component)
    copies = set(judges["judge"][judges["verdict"].str.startswith(panel.SAME)])
    remarks = [
        f"{NEAR_COPIES}{on_near_copies(group)}"
        for group in effective.near_copies()
        if len({*group.judges} - copies) > 1  # of judges who answer as one, the verdicts speak
    ]
    return Finding(remarks, {NAME: table})


@remembered
def panel_of(component: Component) -> EffectiveJudges | None:
    """The panel as `judgerank trust` has it; None where judges share no questions, or that would take long."""
    settings = component.settings
    return (
        panel_size(component.member, component.judgments, settings.level) if settings.cluster == QUESTION else None
    )


def panel_size(fitted: Fit, judgments: Judgments, level: float) -> EffectiveJudges | None:
    """The same of judgments and a fit of their member alone."""
    c = fitted.comparisons
    large = fitted.n_parameters > MOST_PARAMETERS or len(judgments.comparisons) > MOST_ROWS
    by_question = "question_id" in judgments.frame and c.stages is None and bool(fitted.model.judge_blocks)
    if large or not by_question or len(c.judges) > MOST_JUDGES:
        return None
    try:
        return effective_judges(fitted, judgments.comparisons, judgments.question, level)
    except DataError:  # no two judges share a question, or they never depart from the scores
        return None
