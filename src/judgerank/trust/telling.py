"""What a report on trust says, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.errors import JudgerankError
from judgerank.result import FitResult
from judgerank.solvers.newton import Newton
from judgerank.trust.effective import EffectiveJudges
from judgerank.trust.fragility import top_change

if TYPE_CHECKING:
    from judgerank.trust.report import TrustReport

SHOWN = 10  # records in the text
MOST_PARAMETERS, MOST_ROWS = 500, 200_000  # beyond which a ranking says nothing of this by itself: it takes refits


def on_fragility(fitted: FitResult, comparisons: Comparisons) -> list[str]:
    """How few judgments decide who is first, where an exact fit of moderate size can say so."""
    large = fitted.n_parameters > MOST_PARAMETERS or len(comparisons) > MOST_ROWS
    if large or not fitted.converged or not isinstance(fitted.settings, Newton):
        return []
    try:
        row = top_change(fitted, comparisons)
    except JudgerankError:  # without information, or of means of several judgments
        return []
    more = "" if pd.isna(row["size"]) else " judgerank trust lists them."
    return [f"Fragility: {top_sentence(row)}{more}"]


def lines(report: TrustReport) -> Iterator[str]:
    """The whole report, paragraph by paragraph."""
    c, changes = report.judgments.comparisons, report.fragility.changes
    yield (
        f"How far can it be trusted? {report.judgments.title}: {len(c.models)} models, {len(c.judges)} judges, "
        f"{c.n_comparisons:,.0f} judgments, model {report.fitted.model.name}"
    )
    yield from (f"- {text}" for text in report.remarks)
    yield "\nWhat would change it (at most so many have to be left out; smaller sets may exist)"
    for _, row in changes[changes["change"] == "top"].iterrows():
        yield f"- {top_sentence(row)}"
    yield f"\n{_neighbours(changes).to_string(index=False)}"
    yield "swap: they change places; open: they are no longer separated; --: no such set was found\n"
    yield from _shown(report)
    yield from _on_judges(report)
    if report.panel is not None:
        yield from _on_panel(report.panel, report.same)


def top_sentence(row: pd.Series) -> str:
    """What is known of a change of the first model."""
    first, second, by = row["first"], row["second"], row["by"]
    if pd.isna(row["size"]):
        return f"No set of {by} was found without which {first} is not first ({row['why']})."
    foreseen = f"{row['forecast']:,.0f}" if np.isfinite(row["forecast"]) else "that all would not do"
    return (
        f"Without {row['size']:,} of {row['total']:,} {by} ({row['share']:.2%}; one step forecasts {foreseen}) "
        f"{second} is above {first}, the first."
    )


def _neighbours(changes: pd.DataFrame) -> pd.DataFrame:
    """One row for every two neighbours, one column for every kind of change."""
    rows = changes[changes["change"] != "top"]
    names = {"swap": "swap by", "separation": "open by"}
    label = rows["change"].map(names) + " " + rows["by"]
    sizes = rows.assign(label=label, size=rows["size"].astype(object).where(rows["size"].notna(), "--"))
    table = sizes.pivot(index=["first", "second"], columns="label", values="size")
    order = pd.MultiIndex.from_frame(rows[["first", "second"]].drop_duplicates())
    wide = table.reindex(index=order, columns=list(dict.fromkeys(label))).astype(object)
    return wide.where(wide.notna(), "").reset_index().rename_axis(columns=None)


def _shown(report: TrustReport) -> Iterator[str]:
    """The first judgments of the set that changes the top."""
    records = report.records()
    records = records[records["set"] == 1]
    if not len(records):
        return
    names = ["record", "question_id", "model_a", "model_b", "judge_model", "judge_preferred_model"]
    kept = [name for name in names if name in records]
    more = f", the first {SHOWN} of {len(records)}" if len(records) > SHOWN else ""
    yield f"The judgments without which the first model is another{more} (all of them: --output FOLDER)"
    yield records[kept].head(SHOWN).to_string(index=False) + "\n"


def _on_judges(report: TrustReport) -> Iterator[str]:
    judges = report.fragility.judges
    if len(judges) < 2:
        return
    yield "Each judge left out alone"
    changed = judges[judges["top"].notna() & (judges["top"] != report.fitted.scores.idxmax())]
    for row in changed.to_dict("records"):
        yield f"- Without {row['judge']}, {row['top']} is first."
    if changed.empty:
        yield "- The first model stays the first without any one of them."
    known = judges[judges["moved"].fillna(0) > 0].sort_values("moved", ascending=False, kind="stable")
    for row in known.head(1).to_dict("records"):
        yield f"- {row['judge']} matters most to the order: without it {row['moved']} models have another rank."
    yield from (f"- {row['judge']}: {row['why']}." for row in judges[judges["why"] != ""].to_dict("records"))


def _on_panel(panel: EffectiveJudges, same: dict[str, str]) -> Iterator[str]:
    yield "\nHow many independent judges the panel is worth"
    row = panel.worth.set_index("measure").loc["information"]
    yield (
        f"- On the same questions its {panel.n_judges} judges are worth {row['estimate']:.1f} independent ones "
        f"({row['low']:.1f} to {row['high']:.1f}): their errors have a correlation of {panel.correlation:.2f}."
    )
    if panel.correlation > 0:
        yield f"- However many such judges there were, they would not be worth more than {panel.most:.1f}."
    if panel.design_effect > 1:
        yield (
            f"- As the questions were given out, the judgments are worth as many as "
            f"{1 / panel.design_effect:.0%} of them would be if each were independent."
        )
    for judge, other in same.items():
        yield f"- {judge} answers as {other} does: one model under two names?"
    another = panel.another([1.0]).iloc[0]
    yield (
        f"- One more average judge on the same questions would add {another['adds']:.2f} of a judge; the same sum "
        f"spent on new questions adds {another['questions_per_cost']:.2f}."
    )
    table = panel.judges.round(2).astype(object)
    yield "\n" + table.where(table.notna(), "--").to_string(index=False)
