"""Studies of a ranking: how the fit ended, position bias, the judges, what to collect next.

A study of a component is a function from a `Component` to a `Finding`, a study of the whole set from a `Ranked`.
Small ones stand together in a module, each a function of its own name (`TOGETHER`). Any other module is one study,
as its function `of_component` or `of_set`. To add one: a module in this folder (docs/extend/study.md).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from numpy.linalg import LinAlgError

from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.data.modules import names_in
from judgerank.ranking.study import Component, Finding, Ranked

OPENING = ("own_maker", "default", "prediction", "unconnected", "left_out")  # of the set
OF_COMPONENT = (
    *("leaderboard", "panel", "differences", "next_comparisons"),  # tables alone
    "mean_scores",
    *("departures", "several_answers", "exact_fit", "sigma"),
    *("position_bias", "rivals", "convergence", "top_change"),
    *("few_comparisons", "one_sided_votes", "far_models", "few_questions"),
    *("other_units", "goodness_of_fit", "repeated_requests", "adjusted"),
    *("by_judge", "near_copies", "contrary_judges", "whose_opinion", "changed_judges", "large_set"),
)
# studies that stand together in a module
TOGETHER = {
    "coverage": (
        *("unconnected", "left_out", "few_comparisons", "few_questions", "other_units"),
        *("far_models", "several_answers", "large_set"),
    ),
    "estimation": (
        *("default", "departures", "convergence", "exact_fit", "sigma"),
        *("goodness_of_fit", "top_change"),
    ),
    "judge_notes": ("contrary_judges", "near_copies", "changed_judges"),
    "leaderboards": ("leaderboard", "differences", "categories", "adjusted", "failures"),
    "panel": ("repeated_requests",),
}
REQUIRED = OF_COMPONENT[:4]  # whose tables are the ranking itself
CLOSING = ("categories", "failures")  # of the set
# of a component, and only where every answer is a choice between two
OF_PAIRS = (
    *("top_change", "one_sided_votes", "goodness_of_fit", "repeated_requests"),
    *("by_judge", "near_copies", "changed_judges"),
)
# left out where scores are compared by their sizes: on the likelihood of judgments, its members and its errors
OF_JUDGMENTS = (
    *("default", "prediction", "several_answers", "exact_fit", "sigma", "position_bias", "rivals", "convergence"),
    *("top_change", "few_comparisons", "one_sided_votes", "far_models", "few_questions", "other_units"),
    *("goodness_of_fit", "adjusted", "by_judge", "whose_opinion", "changed_judges", "large_set"),
)
# processor time beside that of most others, on sets of 10,000 and 36,000 judgments; for estimates of what is left
COSTS = {"goodness_of_fit": 60.0, "top_change": 25.0, "prediction": 20.0, "panel": 10.0}
LISTED = (*OPENING, *OF_COMPONENT, *CLOSING)
Report = Callable[[str], None]
Study = Callable[[Any], Finding]
FUNCTIONS = ("of_component", "of_set")


def _no_report(_: str) -> None:
    """Report to nobody."""


def unlisted() -> tuple[str, ...]:
    """Names of the studies in this folder that have no place in the order: they follow the others, by name."""
    return names_in(__path__, (*LISTED, *TOGETHER))


def found_in(ranked: Ranked, names: tuple[str, ...], report: Report = _no_report) -> list[Finding]:
    """Findings of those studies that are of the set; `report` is called with the name of each that is done."""
    return _run_all(names, "of_set", ranked, report)


def found_in_component(component: Component, names: tuple[str, ...], report: Report = _no_report) -> list[Finding]:
    """Findings of those studies that are of a component; as `found_in`."""
    return _run_all(names, "of_component", component, report)


def _run_all(names: tuple[str, ...], function: str, about: Ranked | Component, report: Report) -> list[Finding]:
    components = [about] if isinstance(about, Component) else about.components
    left_out: tuple[str, ...] = ()
    if all(component.reported.errors.sizes is not None for component in components):
        left_out = OF_JUDGMENTS
    elif isinstance(about, Component) and about.comparisons.stages is not None:
        left_out = OF_PAIRS
    findings = []
    for name in names:
        study = None if name in left_out else _study(name, function)
        if study is not None:
            findings.append(_run(name, study, about))
        report(name)
    return findings


def _study(name: str, function: str) -> Study | None:
    """The function of a study of the set or of a component; None where the study is of the other."""
    for room, together in TOGETHER.items():
        if name in together:
            is_asked_for = (name in (*OPENING, *CLOSING)) == (function == FUNCTIONS[1])
            return getattr(import_module(f"{__name__}.{room}"), name) if is_asked_for else None
    module = import_module(f"{__name__}.{name}")
    if not any(hasattr(module, candidate) for candidate in FUNCTIONS):
        raise ConfigError(f"study {name!r} defines neither {' nor '.join(FUNCTIONS)}")
    return getattr(module, function, None)


def _run(name: str, study: Study, about: Ranked | Component) -> Finding:
    """The finding of a study, or a note that it has none: the ranking stands without it.

    Only the input's errors and those of arithmetic are so noted. Others are the code's, and raised; so is any of a
    study in `REQUIRED`.
    """
    try:
        finding = study(about)
    except (JudgerankError, ArithmeticError, LinAlgError) as error:
        if name in REQUIRED:
            raise
        return Finding([f"Left out: {name.replace('_', ' ')} could not be computed ({error})."])
    if not isinstance(finding, Finding):
        raise ConfigError(f"study {name!r} returned a {type(finding).__name__}: it must return a Finding")
    return finding
