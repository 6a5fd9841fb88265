"""What the documentation shows of sections beyond the paper and of forms: blocks that `make pages` keeps current.

Most blocks are data, in doc_tables.yaml; those with text that depends on the results are functions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from replication.auditing.doc_blocks import ERROR_HEADS
from replication.auditing.doc_numbers import cell, note, shaped, stored_rows, table, widened
from replication.auditing.results import Results
from replication.records import RECORD
from replication.tables import markdown_table
from studies.forms import layouts_table, recipes_table
from studies.stored_speed import STORED, goals_table

LISTED = Path(__file__).with_suffix(".yaml")
ADVERSE_CASES = Path(__file__).with_name("adverse_cases.csv")
SHOWN_MEMBERS = ("btl", "judge_aware", "position_only", "position_aware", "position_aware_ties")
DRAW_KINDS = ("further", "main")


def confidence(results: Results) -> pd.DataFrame:
    """Held-out log-loss on the real sets with confidence as strength, on all questions and on few judgments."""
    few = results.table("graded/few.csv")[["dataset", "way", "difference", "difference_se"]]
    few = few.rename(columns={"difference": "few_difference", "difference_se": "few_difference_se"})
    return results.table("graded/confidence.csv").merge(few, on=["dataset", "way"])


def human_errors(results: Results) -> pd.DataFrame:
    """Simulated boards: errors of the ways to place a new model, and coverage."""
    return results.table("human_scale/errors.csv").merge(results.table("human_scale/boards.csv"), on="board")


def null_boards(results: Results) -> pd.DataFrame:
    """Boards on which judges, or models, have nothing to find."""
    unrelated = results.table("human_scale/boards.csv").query("board == 'judges unrelated to people'")
    return pd.concat([unrelated, results.table("human_scale/nulls.csv")])


def crowds(results: Results) -> pd.DataFrame:
    """Simulated crowds, one row for each way to scores."""
    stored = results.table("people/crowds.csv")
    ways = {}
    for way in ("alone", "helped", "toward the panel", "reported"):
        columns = {f"{m}/{way}{end}": f"{m}{end}" for m in ("error", "spearman", "covered") for end in ("", "_se")}
        ways[way] = stored[["crowd", *columns]].rename(columns=columns).assign(scores=way)
    return pd.concat(ways.values()).sort_index(kind="stable")


CROWDS = {
    ("honest", False): "honest, alone",
    ("coins", False): "half toss coins, alone",
    ("honest", True): "honest, beside a panel",
    ("coins", True): "half toss coins, beside a panel",
    ("half bloc", True): "half a bloc, beside a panel",
    ("bloc", True): "a bloc, beside a panel",
}


def crowds_of_judges(results: Results) -> pd.DataFrame:
    """Crowds of judges with few answers each, alone and beside a panel."""
    stored = results.table("few_answers/few_answers.csv")
    crowd = stored.groupby(["kind", stored["panel"] > 0])
    return pd.concat([crowd.get_group(key).assign(crowd=title) for key, title in CROWDS.items()])


def one_more_judge(results: Results) -> pd.DataFrame:
    """Panels, and what one more judge of their quality adds."""
    another = results.table("trust/another.csv").query("quality == 1").drop(columns="correlation")
    return results.table("trust/summary.csv").merge(another, on=["dataset", "member"])


FRAMES: dict[str, Callable[[Results], pd.DataFrame]] = {
    function.__name__: function
    for function in (confidence, human_errors, null_boards, crowds, crowds_of_judges, one_more_judge)
}


def block(listed: dict[str, Any], results: Results) -> str:
    """A block that is listed as data."""
    rows, text = _rows(listed, results), listed.get("note")
    shown = table(rows, listed["columns"])
    return f"{shown}\n\n{note(_rows(text, results), text['text'], text['each'])}" if text else shown


def _rows(listed: dict[str, Any], results: Results) -> pd.DataFrame:
    name = listed["table"]
    frame = FRAMES[name](results) if name in FRAMES else stored_rows(results, name)
    return shaped(
        frame, **{key: listed[key] for key in ("where", "wide", "has", "derived", "names") if key in listed}
    )


def few_answers_blocs(results: Results) -> str:
    """How often the votes of a crowd beside a panel are called one-sided."""
    stored = results.table("few_answers/one_sided.csv")
    heads = {f"{answers} a judge": f"{{accused/{answers}:.2f±}}" for answers in stored["answers"].unique()}
    return table(widened(stored, "kind", "answers"), {"crowd": "{kind}"} | heads)


def members_table(results: Results) -> str:
    """Members of the family on the sets, and what people's ratings tell apart, from `make model_comparison`."""
    columns = {
        "set": "{set}",
        "member": "{member}",
        "log-likelihood": "{two_outcomes:.2f}|of three outcomes",
        "held-out log-loss": "{log_loss:.3f±}",
        "with ties an outcome": "{log_loss_three:.3f±}",
        "accuracy": "{accuracy:.1%}",
        "Spearman with people": "{spearman_human:.4f}",
    }
    stored = stored_rows(results, "model_comparison/{set}/members.csv")
    stored = stored.assign(two_outcomes=stored["log_likelihood"].where(stored["outcomes"] == 2))
    return f"{table(stored[stored['member'].isin(SHOWN_MEMBERS)], columns)}\n\n{_people(results)}"


def _people(results: Results) -> str:
    """Whether position changes the agreement with people on Chatbot Arena, in a sentence."""
    row = results.table("model_comparison/chatbot_arena/people.csv").set_index("member").loc["position_aware"]
    conclusion = "no difference is supported"
    if row["difference_low"] > 0 or row["difference_high"] < 0:
        conclusion = f"agreement is {'higher' if row['difference_low'] > 0 else 'lower'} with position"
    text = (
        "Spearman with people, position_aware less judge_aware: {difference:.4f} ({level:.0%} interval from "
        "{difference_low:.3f} to {difference_high:.3f} over {resamples} resamples of the questions): "
    )
    return f"{cell(text, row.to_dict())}{conclusion}."


def shrinkage_table(results: Results) -> str:
    """Mean squared errors over those with shrinkage, at both ends of the grid, from `make small_samples`."""
    stored = results.table("small_samples/mse.csv")
    sizes = stored.groupby(["n_models", "n_judges"])["n_comparisons"]
    is_end = stored["n_comparisons"] == sizes.transform("min")
    is_end |= stored["n_comparisons"] == sizes.transform("max")
    ends = widened(
        stored[is_end & (stored["draws"] == "further")], ["n_models", "n_judges", "n_comparisons"], "parameter"
    )
    ratios = {head: f"{{ratio/{parameter}:.2f±}}" for parameter, head in ERROR_HEADS.items()}
    settings = table(ends, {"(N, K)": "({n_models}, {n_judges})", "T": "{n_comparisons:,}"} | ratios)
    better = []
    for parameter, head in ERROR_HEADS.items():
        parts = (stored[(stored["parameter"] == parameter) & (stored["draws"] == kind)] for kind in DRAW_KINDS)
        better.append((head, *(f"{(part['ratio'] > 1).sum()} of {len(part)}" for part in parts)))
    heads = ["settings where shrinkage is better", "new truths", "the truth of the other sections"]
    return f"{settings}\n\n{markdown_table(better, heads)}"


def methods_table(results: Results) -> str:
    """Agreement and held-out loss by method, as `make method_comparison` stored them."""
    stored = results.table("method_comparison/comparison.csv")
    titles = results.table("method_comparison/methods.csv").set_index("method")["title"]
    data = stored.groupby("data", sort=False)[["kind", "title"]].first()
    sets, panels = (data.index[data["kind"] == kind] for kind in ("set", "panel"))
    rows = []
    for method, title in titles.items():
        of = stored[stored["method"] == method].set_index("data")
        # the mean over those data sets alone that a method could rank would flatter it
        truths = of["spearman"].where(of["n_ranked"] == of["n"])[panels]
        numbers = [_over_orders(of.loc["chatbot_arena"]), *(f"{x:.3f}" for x in of["log_loss"][sets])]
        numbers += [f"{x:.3f}" for x in truths]
        rows.append((title, *(number.replace("nan", "-") for number in numbers)))
    heads = [f"log-loss, {title}" for title in data["title"][sets]]
    heads += [f"truth, {title.removeprefix('simulated: ')}" for title in data["title"][panels]]
    table_text = markdown_table(rows, ["method", "people, Chatbot Arena", *heads])
    contrary = stored[stored["data"] == "adversarial"].set_index("method")[["n_reversed", "n_ranked"]]
    counts = (
        f"{titles[name]}, {row['n_reversed']:.0f} of {row['n_ranked']:.0f}"
        for name, row in contrary.iterrows()
        if row["n_reversed"] > 0
    )
    orders = stored["orders"].max()
    noted = f"In brackets: standard deviation over {orders:.0f} random orders of the rows."
    return (
        f"{table_text}\n\n{noted} Rankings that run against the truth where judges are contrary: "
        f"{'; '.join(counts)}."
    )


def torture_table(results: Results) -> str:
    """Adverse cases tried, and how often what must not happen did, as `make torture` stored them."""
    counts = results.table("torture/counts.csv")
    totals = counts.groupby("part")[["cases", "happened"]].sum()
    rows = pd.read_csv(ADVERSE_CASES).merge(totals, on="part")
    columns = {head: f"{{{head}}}" for head in ("what was tried", "what must not happen")}
    shown = table(rows, columns | {"cases": "{cases:,}", "happened": "{happened}"})
    maxima = counts[counts["part"] == "maxima"]
    slopes = maxima["of"].str.contains("length")
    missed = [int(maxima["happened"][chosen].sum()) for chosen in (slopes, ~slopes)]
    sizes = [int(maxima["cases"][chosen].sum()) for chosen in (slopes, ~slopes)]
    missed_maxima = (
        f"Missed maxima: {missed[0]} of {sizes[0]} fits of members with slopes in length, {missed[1]} of "
        f"{sizes[1]} of the others. One climb from the unweighted scores, without a search, misses "
        f"{maxima['by one climb'].sum():.0f} of the {sum(sizes):,}."
    )
    return f"{shown}\n\n{missed_maxima}\n\n{_counted(results, counts)}"


def _counted(results: Results, counts: pd.DataFrame) -> str:
    """Sum of the counts, and when and by which code they were counted, as far as the record of the run says."""
    run = json.loads(results.path("torture/counts.csv")[0].with_name(RECORD).read_text())
    day, code = run["machine"].get("date"), run.get("made_by", {}).get("code")
    when = f" on {day}" if day else ""
    by = f" (digest {code})" if code else ""
    since = "`make stale` says whether it has changed since."
    if not code:
        since = "No digest of that code is stored, so nothing shows that today's code gives the same counts."
    return (
        f"Together {counts['happened'].sum():,.0f} of {counts['cases'].sum():,} cases, counted{when} by the code "
        f"of commit {(run['machine']['commit'] or 'unknown')[:7]}{by}. {since}"
    )


def _over_orders(row: pd.Series) -> str:
    """A rank correlation, with its spread over orders of the rows where it depends on them."""
    spread = row["spearman_sd"]
    return f"{row['spearman']:.4f}" if pd.isna(spread) else f"{row['spearman']:.3f} ({spread:.3f})"


FUNCTIONS: dict[str, Callable[[Results], str]] = {
    "bench": lambda _: goals_table(STORED),
    "few answers blocs": few_answers_blocs,
    "layouts": lambda _: layouts_table(),
    "members": members_table,
    "methods": methods_table,
    "recipes": lambda _: recipes_table(),
    "shrinkage": shrinkage_table,
    "torture": torture_table,
}
BLOCKS: dict[str, Callable[[Results], str]] = FUNCTIONS | {
    name: partial(block, listed) for name, listed in yaml.safe_load(LISTED.read_text()).items()
}
