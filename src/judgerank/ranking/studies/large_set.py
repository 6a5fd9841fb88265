"""Remarks on a large set: results from part of it, and those left out since they would take long."""

from __future__ import annotations

from collections.abc import Iterator

from judgerank.data.units import QUESTION
from judgerank.fits.errors_by_question import MOST_QUESTIONS, number_and_unit
from judgerank.ranking.choices import SHRUNK
from judgerank.ranking.study import Component, Finding, description
from judgerank.trust import fitness, sentences


def of_component(component: Component) -> Finding:
    """Remarks on a component with many questions, judgments or parameters."""
    return Finding([*_on_errors(component), *_on_sample(component), *_on_left_out(component)])


def _on_errors(component: Component) -> Iterator[str]:
    """That standard errors come from part of the questions, where they do."""
    reported = component.reported
    clusters = reported.clusters
    by_question = clusters is None and reported.question is not None
    if reported.n_clusters is None or reported.effects is not None or not (clusters or by_question):
        return
    if reported.n_clusters > MOST_QUESTIONS and not (clusters and clusters.are_crossed):
        unit = clusters.names[0] if clusters else QUESTION
        of_all = number_and_unit(reported.n_clusters, unit)
        yield f"Standard errors by {unit} come from {MOST_QUESTIONS:,} of {of_all}, drawn at random."


def _on_sample(component: Component) -> Iterator[str]:
    """That studies of single records looked at part of them, where they did."""
    if component.sample is not component.judgments:
        where = description(component.sample, component.judgments)
        yield f"Judges who answer alike and repeated requests were looked for in {where}."


def _on_left_out(component: Component) -> Iterator[str]:
    """A remark on results that are not computed by default."""
    size, parameters = len(component.comparisons), component.member.n_parameters
    left = []
    if size > fitness.MOST_ROWS or parameters > fitness.MOST_PARAMETERS:
        left.append("goodness of fit")
    if size > sentences.MOST_ROWS or parameters > sentences.MOST_PARAMETERS:
        left += ["the fit without shrinkage"] if component.settings.solver == SHRUNK else []
        left.append("the smallest removals that change the leader (judgerank trust FILE finds them, in minutes)")
    if left:
        yield (
            f"Not computed for {size:,} judgments and {parameters:,} parameters, since it takes long: "
            f"{', '.join(left)}."
        )
