"""Findings on trust in words."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.listing import listed, percent
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised
from judgerank.fits.result import Fit
from judgerank.trust.effective_judges import EffectiveJudges, NearCopies
from judgerank.trust.fragility import top_change
from judgerank.trust.refits import GROWTH
from judgerank.trust.removal import SMALL

SWAP, TIE = "swap by", "tie by"  # how columns of `neighbours` begin
TITLES = {  # of what these columns count
    SWAP: "Swap: how many to remove so that the two change places",
    TIE: "Tie: how many to remove so that they no longer differ significantly",
}
TASKS, CLUSTERS = "tasks", "clusters of tasks"  # what is removed from scores, by an exact search
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
    if row["by"] in (TASKS, CLUSTERS):
        return " Fewer would not."
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
    names = {"swap": SWAP, "separation": TIE}
    label = rows["change"].map(names) + " " + rows["by"]
    between = [_between(row) for _, row in rows.iterrows()]
    sizes = rows.assign(label=label, size=pd.Series(between, rows.index, dtype=object))
    table = sizes.pivot(index=["first", "second"], columns="label", values="size")
    order = pd.MultiIndex.from_frame(rows[["first", "second"]].drop_duplicates())
    wide = table.reindex(index=order, columns=list(dict.fromkeys(label))).astype(object)
    return wide.where(wide.notna(), "").reset_index().rename_axis(columns=None)


def legend(table: pd.DataFrame) -> Iterator[str]:
    """What the entries of `neighbours` mean, as far as they occur."""
    entries = [str(entry) for entry in table.drop(columns=["first", "second"]).to_numpy().ravel()]
    between = next((entry for entry in entries if "-" in entry.strip("-")), None)
    if between is not None:
        least, _, enough = between.partition("-")
        yield (
            f"{between}: removing {enough} is enough; fewer than {least} are probably not enough (approximate "
            f"bound: each changes the result by at most {GROWTH:.0f} times its forecast)"
        )
    if any(entry.isdigit() for entry in entries):
        is_exact = any(str(name).endswith(TASKS) for name in table)
        yield f"a single number: the exact minimum{'' if is_exact else f' (searched for up to {SMALL})'}"
    if "--" in entries:
        yield "--: no such set was found"


def on_panel(panel: EffectiveJudges, same: dict[str, str]) -> Iterator[str]:
    """How many independent judges there are, what another one would add, and each judge's part."""
    yield "\nEffective number of judges"
    if len(same) == panel.n_judges - 1:
        yield f"- All {panel.n_judges} judges give almost identical answers: they count as one."
        return
    yield from (f"- {sentence}" for sentence in on_number(panel))
    for judge, duplicate in same.items():
        yield f"- {judge} and {duplicate} give almost identical answers: one model under two names?"
    if same:
        yield "- Copies have several votes in the ranking. Merge them and run this again."
    for copies in panel.near_copies():
        if not {*copies.judges} <= {*same, *same.values()}:
            yield f"- {on_near_copies(copies)}"
    if not panel.is_informative:
        return
    yield _on_another(panel)
    table = panel.judges.round(2).astype(object)
    yield "\n" + table.where(table.notna(), "--").to_string(index=False)
    yield "information: one is the average judge's; correlation: of its errors with those of the others"
    yield "adds: how many independent judges it stands for; nearest: the judge with the most similar errors"


def on_near_copies(copies: NearCopies) -> str:
    """Which judges err together, and what to do."""
    n_judges, worth = len(copies.judges), copies.effective_number
    return (
        f"{listed(copies.judges)} largely make the same errors, like near copies: on the same questions these "
        f"correlate at {copies.correlation:.2f}, and those of other judges at {copies.others:.2f}. These "
        f"{n_judges} judges carry as much information as {worth:.1f} independent ones. "
        "Keep one of them, or add judges whose errors are their own."
    )


def on_number(panel: EffectiveJudges) -> Iterator[str]:
    row = panel.worth.set_index("measure").loc["information"]
    if not panel.is_informative:
        yield (
            f"How many independent judges the {panel.n_judges} judges amount to cannot be said: the confidence "
            f"interval covers more than half of 1 to {panel.n_judges}. Ask all judges the same questions, and "
            "more of them."
        )
        return
    yield (
        f"On the same questions, the {panel.n_judges} judges carry as much information as {row['estimate']:.1f} "
        "independent judges of their average quality "
        f"(confidence interval {row['low']:.1f} to {row['high']:.1f}). "
        f"Their errors correlate at {panel.correlation:.2f}."
    )
    yield "Only correlated errors lower this effective number, not how unevenly the judges share the weight."
    if row["low"] > panel.n_judges:
        yield "That is more than there are judges: on shared questions, their errors cancel in part."
    if panel.correlation > 0:
        yield f"More judges like these cannot raise it above {panel.most:.1f}."
    if panel.design_effect > 1:
        yield (
            f"Because judges share questions, the judgments carry {1 / panel.design_effect:.0%} of the "
            "information of as many independent ones."
        )


def _on_another(panel: EffectiveJudges) -> str:
    alike, alone = panel.another([1.0]).iloc[0], panel.another([1.0], correlation=0.0).iloc[0]
    if panel.correlation > 0:
        return (
            f"- One more average judge like these, on the same questions, adds as much information as "
            f"{alike['adds']:.2f} independent judges. One whose errors are its own, such as a model of another "
            f"maker, adds as much as {alone['adds']:.2f}. The same budget spent on new questions for this panel "
            f"adds as much as {alike['questions_per_cost']:.2f}."
        )
    return (
        "- Their errors are not positively correlated: expect one more average judge to add about as much "
        "as an independent one."
    )
