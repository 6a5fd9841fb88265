"""Findings on trust in words."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.listing import percent
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised
from judgerank.fits.result import Fit
from judgerank.trust.effective_judges import EffectiveJudges
from judgerank.trust.fragility import top_change

FRAGILITY = "Fragility: "  # how the remark on it begins
FEW = 0.01  # share of the judgments that are few to decide who is first
MOST_PARAMETERS, MOST_ROWS = 500, 200_000  # beyond which a ranking says nothing of this by itself: it takes refits


def on_fragility(fitted: Fit, comparisons: Comparisons) -> list[str]:
    """How few judgments decide who is first, where an exact or shrunk fit of moderate size can say so."""
    large = fitted.n_parameters > MOST_PARAMETERS or len(comparisons) > MOST_ROWS
    if large or not fitted.converged or not isinstance(fitted.settings, Newton | Penalised):
        return []
    try:
        row = top_change(fitted, comparisons)
    except JudgerankError:  # without information, or of means of several judgments
        return []
    return [f"{FRAGILITY}{top_sentence(row)}"]


def top_sentence(row: pd.Series) -> str:
    """What is known of a change of the first model."""
    by = row["by"]
    if pd.isna(row["size"]):
        return f"No set of {by} was found whose removal would put another model first ({row['why']})."
    just = "just " if row["share"] < FEW else ""
    those = f"{row['size']:,} of {row['total']:,} {by} ({percent(row['share'])})"
    return f"Removing {just}{those} would put {row['second']} first."


def at_least_sentence(row: pd.Series) -> str:
    """How few would not do."""
    if pd.isna(row["size"]) or row["size"] == 1:
        return ""
    if row["at_least"] <= 2:
        return " No single one would."
    return f" Fewer than {row['at_least']:,} probably would not."


def _between(row: pd.Series) -> object:
    """A number of units, or the least and what is enough."""
    if pd.isna(row["size"]):
        return "--"
    return row["size"] if row["at_least"] >= row["size"] else f"{row['at_least']}-{row['size']}"


def neighbours(changes: pd.DataFrame) -> pd.DataFrame:
    """One row for every two neighbours, one column for every kind of change."""
    rows = changes[changes["change"] != "top"]
    names = {"swap": "swap by", "separation": "tie by"}
    label = rows["change"].map(names) + " " + rows["by"]
    between = [_between(row) for _, row in rows.iterrows()]
    sizes = rows.assign(label=label, size=pd.Series(between, rows.index, dtype=object))
    table = sizes.pivot(index=["first", "second"], columns="label", values="size")
    order = pd.MultiIndex.from_frame(rows[["first", "second"]].drop_duplicates())
    wide = table.reindex(index=order, columns=list(dict.fromkeys(label))).astype(object)
    return wide.where(wide.notna(), "").reset_index().rename_axis(columns=None)


def on_panel(panel: EffectiveJudges, same: dict[str, str]) -> Iterator[str]:
    """How many independent judges there are, what another one would add, and each judge's part."""
    yield "\nEffective number of judges"
    if len(same) == panel.n_judges - 1:
        yield f"- All {panel.n_judges} judges give almost identical answers: they count as one."
        return
    yield from _on_number(panel)
    for judge, duplicate in same.items():
        yield f"- {judge} and {duplicate} give almost identical answers: one model under two names?"
    if same:
        yield "- Copies have several votes in the ranking. Merge them and run this again."
    if not panel.is_informative:
        return
    yield _on_another(panel)
    table = panel.judges.round(2).astype(object)
    yield "\n" + table.where(table.notna(), "--").to_string(index=False)
    yield "information: one is the average judge's; correlation: of its errors with those of the others"
    yield "adds: how many independent judges it stands for; nearest: the judge with the most similar errors"


def _on_number(panel: EffectiveJudges) -> Iterator[str]:
    row = panel.worth.set_index("measure").loc["information"]
    if not panel.is_informative:
        yield (
            f"- Too few shared questions to estimate how many independent judges the {panel.n_judges} judges "
            "amount to."
        )
        return
    yield (
        f"- On the same questions, the {panel.n_judges} judges carry as much information as {row['estimate']:.1f} "
        "independent judges of their average quality "
        f"(confidence interval {row['low']:.1f} to {row['high']:.1f}). "
        f"Their errors correlate at {panel.correlation:.2f}."
    )
    yield (
        "- `judgerank rank` says how evenly the judges share the weight, which a judge who answers at random "
        "lowers. Here such a judge lowers the average quality, and only errors in common lower the number."
    )
    if row["estimate"] > panel.n_judges:
        yield "- That is more than there are judges: on shared questions, their errors cancel in part."
    if panel.correlation > 0:
        yield f"- More judges of this kind would never exceed {panel.most:.1f} independent ones."
    if panel.design_effect > 1:
        yield (
            f"- Because judges share questions, the judgments carry {1 / panel.design_effect:.0%} of the "
            "information of as many independent ones."
        )


def _on_another(panel: EffectiveJudges) -> str:
    another = panel.another([1.0]).iloc[0]
    if panel.correlation > 0:
        return (
            f"- One more average judge on the same questions would add the information of {another['adds']:.2f} "
            f"independent judges. Spent on new questions for this panel, the same money would add that of "
            f"{another['questions_per_cost']:.2f}."
        )
    return (
        "- Their errors are not positively correlated: expect one more average judge to add about as much "
        "as an independent one."
    )
