"""Which stored value answers which printed number: `computed_by.csv`, filled in for every printed number."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from replication import published
from replication.auditing.results import Missing, Results
from replication.judge_models import size_in_name
from replication.statistics import LEAST_ORDERED, SHARE, Interval, one_more

COMPUTED_BY = Path(__file__).with_name("computed_by.csv")
CAUSES = Path(__file__).with_name("causes.csv")
ITEMS = Path(__file__).with_name("items.csv")
KINDS = ("result", "setting", "stated", "cited")


def registry() -> pd.DataFrame:
    """One row for every printed number; what the paper prints as a dash is left out.

    Returns
    -------
    DataFrame
        ``table, row, column, place, printed, unit``, and

        - ``kind``: ``result`` (computed from data or simulated), ``setting`` (a choice of the paper's, taken over
          if the stored tables show that the run used it), ``stated`` (a definition or a choice of words: there is
          nothing to compute) or ``cited`` (copied from elsewhere and held against its source,
          `replication.auditing.registry`);
        - ``source, where, value, reading``: the stored table, conditions on its rows, the column, and how it is
          read (`replication.auditing.registry`);
        - ``rule``: for random results, which error holds (`replication.auditing.registry`);
        - ``finding``: what rules the printed value out, if it holds; ``needs``: what would check it.
    """
    rules = pd.read_csv(COMPUTED_BY, dtype=str, keep_default_na=False)
    rows = []
    for rule in rules.to_dict("records"):
        table = published.table(rule["table"])
        for name in _rows_of(rule, table):
            printed = table.at[name, rule["column"]]
            if printed.strip("- "):
                unit = table.at[name, "unit"] if "unit" in table else ""
                rows.append(_filled(rule, name) | {"row": name, "printed": printed, "unit": unit})
    columns = ["table", "row", "column", "place", "printed", "unit", *list(rules.columns)[4:]]
    return pd.DataFrame(rows)[columns]


def causes() -> dict[tuple[str, str, str], list[dict]]:
    """Stored values that may reproduce a printed number which the first choice does not.

    Returns
    -------
    dict
        By table, row and column; each entry has ``source, where, value, reading`` and ``cause``, in words.
    """
    causes_by_number: dict[tuple[str, str, str], list[dict]] = {}
    for rule in pd.read_csv(CAUSES, dtype=str, keep_default_na=False).to_dict("records"):
        for name in _rows_of(rule, published.table(rule["table"])):
            causes_by_number.setdefault((rule["table"], name, rule["column"]), []).append(_filled(rule, name))
    return causes_by_number


def items() -> pd.DataFrame:
    """The tables and figures of the paper in its order, with our section, tables and figures for each."""
    return pd.read_csv(ITEMS, dtype=str, keep_default_na=False)


def _rows_of(rule: dict, table: pd.DataFrame) -> list[str]:
    return [rule["row"]] if rule["row"] else list(table.index)


def _filled(rule: dict, name: str) -> dict:
    return {key: text.replace("{row}", name) for key, text in rule.items()}


# When a printed number that rests on random draws agrees with ours: one rule for each kind of draw, stated.
#
# The paper's study is one study: one unknown draw of the truth, or one random subgraph. Ours repeats it,
# so what ours says about the printed number is a prediction interval for one more.


LEAST_TRUTHS = 5
STATED = f"""\
One rule for each kind of draw decides *within error, settings searched for*; each is a {SHARE:.0%} prediction
interval for one more study like ours.

- **Slopes (Table A.3).** The printed slope is one study under one unknown draw of the truth. With ours, by the
  paper's Algorithm A.1 stopped after 5,000 iterations, under D draws, x_1 to x_D, of mean m and standard deviation
  s (which holds both the differences between truths and the error of each study's own replications), the interval
  is m ± t(0.975, D - 1) · s · sqrt(1 + 1/D). It takes D >= {LEAST_TRUTHS}. Ours have fewer replications than the
  paper's, so they vary more, and the interval is wider than it need be: agreement says little by itself, which is
  why all slopes are judged together as well. Of three runs (over a box, and Algorithm A.1 stopped after 2,000 or
  5,000 iterations) it is the one that all slopes together do not reject.
- **Sparse graphs (Table A.9).** A printed correlation is of one random subgraph. The design is the likeliest of
  those tried on these same numbers. With n like it of ours, the
  interval runs from the k-th smallest to the k-th largest, k = 0.025 (n + 1) rounded down: one more lies between
  them with probability 1 - 2k / (n + 1). It takes n >= {LEAST_ORDERED}.

The spread of the simulated truths (appendix C.1) is a setting; it counts as taken over if the printed standard
deviation lies in the {SHARE:.0%} confidence interval (chi-squared) from the stored truths.
"""


def interval(results: Results, entry: dict) -> Interval:
    """The interval for an entry of the registry, by the rule it names.

    Raises
    ------
    Missing
        If the stored runs are too few for it.
    """
    return RULES[entry["rule"]](results, entry)


def _truths(results: Results, entry: dict) -> Interval:
    slopes = results.column(entry["source"], entry["where"], entry["value"])
    if len(slopes) < LEAST_TRUTHS:
        raise Missing(f"{entry['source']} has {len(slopes)} draws of the truth, the error needs {LEAST_TRUTHS}")
    return one_more(slopes)


def _one_draw(results: Results, entry: dict) -> Interval:
    rows = results.rows(entry["source"], entry["where"])
    if len(rows) != 1:
        raise Missing(f"{entry['source']} has {len(rows)} rows with {entry['where']}, not one")
    row = rows.iloc[0]
    if row["tables"] < LEAST_ORDERED:
        raise Missing(f"{entry['source']} rests on {row['tables']} tables, the error needs {LEAST_ORDERED}")
    return Interval(row["mean"], row["low"], row["high"], int(row["tables"]))


def _spread(results: Results, entry: dict) -> Interval:
    """Confidence interval of the standard deviation of normal truths, each centred at zero (appendix C.1)."""
    truths = results.rows(entry["source"], entry["where"])
    groups = truths.groupby(["n_models", "n_judges", "draw", "parameter"])[entry["value"]]
    freedom = int((groups.size() - 1).sum())
    squares = float((truths[entry["value"]] ** 2).sum())
    low, high = (np.sqrt(squares / chi2.ppf((1 + side * SHARE) / 2, freedom)) for side in (1, -1))
    return Interval(float(np.sqrt(squares / freedom)), float(low), float(high), groups.ngroups)


RULES = {"truths": _truths, "one draw": _one_draw, "spread": _spread}


# How a printed number is read off the rows of a stored table.


Reading = Callable[[pd.DataFrame, str, Results], float | str]
QUARTET = ["koala-13b", "alpaca-13b", "dolly-v2-12b", "llama-13b"]
PICKED_BY_HAND = {"kimi-k2-thinking-turbo", "moonshot-v1-128k"}


def cell(rows: pd.DataFrame, column: str, _: Results) -> float:
    """The one value there is."""
    if len(rows) != 1:
        raise Missing(f"{len(rows)} rows meet the conditions, not one")
    return rows[column].iloc[0]


def only(rows: pd.DataFrame, column: str, _: Results) -> float:
    """The value that all rows share."""
    values = rows[column].unique()
    if len(values) != 1:
        raise Missing(f"{column} has {len(values)} values, not one")
    return values[0]


def thousands(rows: pd.DataFrame, column: str, results: Results) -> float:
    """In thousands."""
    return cell(rows, column, results) / 1000


def percent(rows: pd.DataFrame, column: str, results: Results) -> float:
    """As a percentage."""
    return 100 * cell(rows, column, results)


def grid(rows: pd.DataFrame, column: str, _: Results) -> str:
    """The different values in order, as text."""
    return " ".join(map(str, sorted(rows[column].unique())))


def moved_pairs(rows: pd.DataFrame, column: str, _: Results) -> float:
    """Half as many models as moved: how often neighbours traded places."""
    return float((rows[column] != 0).sum() / 2)


def gain(rows: pd.DataFrame, column: str, _: Results) -> float:
    """Judge-aware less BTL."""
    by_method = rows.set_index("method")[column]
    if not {"judge_aware", "btl"} <= set(by_method.index):
        raise Missing("the rows are not of both methods")
    return by_method["judge_aware"] - by_method["btl"]


def place_in_table_1(rows: pd.DataFrame, column: str, _: Results) -> float:
    """Rank of GPT-4 among the models that Table 1 shows."""
    printed_models = rows.set_index("model")[column].reindex(published.table("mt_bench").index).dropna()
    if "gpt-4" not in printed_models:
        raise Missing("there is no model gpt-4")
    return float(printed_models.rank()["gpt-4"])


def first_picked(rows: pd.DataFrame, column: str, _: Results) -> float:
    """How many of the largest values belong, without a gap, to the judges that the authors had picked."""
    order = rows.sort_values(column, ascending=False)["judge"].isin(PICKED_BY_HAND)
    return float(order.cumprod().sum())


def same_order(rows: pd.DataFrame, column: str, results: Results) -> float:
    """How many of four models stand, in ranks, in the order of the human ranking: the longest part that does."""
    people = results.table("chatbot_arena/human.csv").set_index("model")["elo"]
    ranks = rows.set_index("model")[column]
    if not set(QUARTET) <= set(ranks.index) & set(people.index):
        raise Missing(f"not all of {', '.join(QUARTET)} are ranked")
    ours = ranks[people[QUARTET].sort_values(ascending=False).index].tolist()
    longest = [1] * len(ours)
    for i in range(len(ours)):
        longest[i] += max((longest[j] for j in range(i) if ours[j] < ours[i]), default=0)
    return float(max(longest))


def level_of_widths(rows: pd.DataFrame, _column: str, _results: Results) -> float:
    """Level, in percent, of our intervals, if the printed ones of Table A.7 have 95%."""
    width = (rows["high_judge_aware"] - rows["low_judge_aware"]).mean()
    ends = (published.numbers("complete_ranking", f"{end}_judge_aware") for end in ("high", "low"))
    printed = float(np.subtract(*ends).mean())
    return float(100 * (2 * norm.cdf(norm.ppf(0.975) * width / printed) - 1))


def points_of_slope(rows: pd.DataFrame, column: str, results: Results) -> float:
    """How many of the last points of a curve give the stored slope, if they do."""
    keys = ["n_models", "n_judges", "parameter"]
    slopes = results.table("convergence_mse/slopes.csv").set_index(keys)["slope"]
    counts = set()
    for key, curve in rows.sort_values("n_comparisons").groupby(keys):
        x, y = np.log(curve["n_comparisons"].to_numpy()), np.log(curve[column].to_numpy())
        fits = [n for n in range(2, len(x) + 1) if abs(np.polyfit(x[-n:], y[-n:], 1)[0] - slopes[key]) < 1e-6]
        counts.add(fits[-1] if fits else 0)
    if len(counts) != 1:
        raise Missing("the stored slopes are not of one number of points")
    return float(counts.pop())


def _summary(name: str) -> Reading:
    return lambda rows, column, _: float(getattr(rows[column], name)())


READINGS: dict[str, Reading] = {
    read.__name__: read
    for read in (
        *(cell, only, thousands, percent, grid, moved_pairs, gain, place_in_table_1, first_picked, same_order),
        *(level_of_widths, points_of_slope),
    )
} | {"rows": _summary("count"), "distinct": _summary("nunique"), "largest": _summary("max")}
READINGS |= {"least": _summary("min"), "total": _summary("sum")}


# Numbers that the paper copied: what their sources have, or what a model's name says.


WITH_UNIT = re.compile(r"(-?\d+(?:\.\d+)?)([BTM]?)")


class Agreement(StrEnum):
    """How a printed number agrees with its sources."""

    EQUAL = "a source at first hand has it, or another source has it and none at first hand has another number"
    DIFFERENT = "a source at first hand has another number, and no other source has the printed one"
    DISPUTED = "a source at first hand has another number, and another source has the printed one"
    UNKNOWN = "no source at first hand says, and other sources have other numbers"


@dataclass(frozen=True)
class Copied:
    """A copied number in one of its sources.

    Attributes
    ----------
    text : str
        As the source has it, with its unit.
    reason : str
        Where it stands, and how the source was read.
    is_first_hand : bool
        Whether the paper names the source, or the model's maker wrote it.
    """

    text: str
    reason: str
    is_first_hand: bool

    def matches(self, printed: str) -> bool:
        """Whether the source's number, rounded to the printed decimals, is the printed one in the same unit."""
        (ours, unit), (paper, paper_unit) = (WITH_UNIT.fullmatch(text).groups() for text in (self.text, printed))
        return unit == paper_unit and published.as_printed(float(ours), paper) == paper

    def is_coarser(self, printed: str) -> bool:
        """Whether the source has fewer decimals, and the printed number rounded to them is the source's."""
        (ours, unit), (paper, paper_unit) = (WITH_UNIT.fullmatch(text).groups() for text in (self.text, printed))
        has_fewer = len(ours.partition(".")[2]) < len(paper.partition(".")[2])
        return has_fewer and unit == paper_unit and published.as_printed(float(paper), ours) == ours

    def number(self) -> float | str:
        """The number, where it has no unit; else the text."""
        return self.text if self.text[-1].isalpha() else float(self.text)


def copied(table: str, row: str, column: str) -> list[Copied]:
    """What the sources of a printed number have, the best source first; of a size, the model's name if it has one.

    Raises
    ------
    Missing
        If no source that was read has the number.
    """
    named = size_in_name(row) if column == "size" else None
    if named:
        return [Copied(f"{named.billions:g}B", f"the model's name ({named.counted})", True)]
    listed = published.cited().query("table == @table and row == @row and column == @column")
    if listed.empty:
        raise Missing("no source is listed")
    origins = listed["source"] + ", " + listed["place"]
    sources = [
        Copied(row.value, f"{origin} ({row.read})", row.authority != "other")
        for row, origin in zip(listed.itertuples(), origins, strict=True)
        if row.value
    ]
    if not sources:
        raise Missing(f"{origins.iloc[0]}: not found in a public copy")
    return sorted(sources, key=lambda source: not source.is_first_hand)


def agreement(printed: str, sources: list[Copied]) -> Agreement:
    """How a printed number agrees with what its sources have.

    A source that rounds the printed number further says nothing against it, and does not show that it was copied.
    """
    if any(source.is_first_hand and source.matches(printed) for source in sources):
        return Agreement.EQUAL
    is_contradicted = any(source.is_first_hand and not source.is_coarser(printed) for source in sources)
    is_elsewhere = any(source.matches(printed) for source in sources)
    if is_contradicted:
        return Agreement.DISPUTED if is_elsewhere else Agreement.DIFFERENT
    return Agreement.EQUAL if is_elsewhere else Agreement.UNKNOWN
