"""One name for each quantity of a ranking: the table of terms, held against all that `judgerank rank` gives.

`python -m tests.tool.test_terms` writes the table of docs/reference/terms.md from docs/reference/terms.csv.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from judgerank import Ranking, rank
from judgerank.ranking.page import ABOUT, ABOUT_IN
from replication.auditing.doc_blocks import with_block
from replication.config import ROOT
from replication.tables import markdown_table
from tests.forked import judgerank

PAGE = ROOT / "docs/reference/terms.md"
TERMS = pd.read_csv(PAGE.with_suffix(".csv"), dtype=str, keep_default_na=False)
CSV = TERMS["CSV"].str.extract(r"^(?P<table>\w+)\.csv: (?P<column>\w+)$")
# the tables that every ranking has, and how the caption of each begins on the page
CAPTIONS = {
    "leaderboard": "Leaderboard",
    "judges": "Judges, most discriminating first",
    "pairs": "Neighbours in rank",
    "next": "What to collect next",
}
GROUPS = {name: name.capitalize() for name in CAPTIONS} | {"next": "What to collect next"}
CODE = ["terminal", "CSV", "JSON", "Python"]


def tables_of_terms() -> str:
    """The table of terms in Markdown, by the file whose columns they name."""
    shown = TERMS.assign(**{name: TERMS[name].where(TERMS[name] == "", "`" + TERMS[name] + "`") for name in CODE})
    group = CSV["table"].map(GROUPS).fillna("The ranking as a whole, and the page")
    parts = (
        f"## {title}\n\n{markdown_table(list(part.itertuples(index=False, name=None)), list(part))}"
        for title, part in shown.groupby(group, sort=False)
    )
    return "\n" + "\n\n".join(parts) + "\n"


class Given(NamedTuple):
    """All that `judgerank rank` gives on the example."""

    folder: Path
    text: str
    document: dict[str, Any]
    ranking: Ranking

    @property
    def headings(self) -> Mapping[str, list[str]]:
        """Headings of columns on the page, by the caption of their table; all other headings by an empty one."""
        html = (self.folder / "rankings/judgments/index.html").read_text()
        tables = re.findall(r"<caption[^>]*>(.*?)</caption>(.*?)</thead>", html, re.DOTALL)
        found = {text_of(caption): re.findall(r"<th\b[^>]*>(.*?)</th>", head) for caption, head in tables}
        return found | {"": [text_of(part) for part in re.findall(r"<h[23][^>]*>(.*?)</h[23]>", html, re.DOTALL)]}

    def headings_of(self, table: str) -> list[str]:
        """Headings of the page's table that shows a CSV file."""
        (found,) = (found for caption, found in self.headings.items() if caption.startswith(CAPTIONS[table]))
        return found


def text_of(html: str) -> str:
    return unescape(re.sub(r"<.*?>", "", html)).strip()


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Given:
    folder = tmp_path_factory.mktemp("terms")
    assert judgerank("example", cwd=folder).returncode == 0
    words = ("rank", "judgments.csv", "--save", "b.npz", "--card", "c.svg", "--force")
    runs = [judgerank(*words, option, cwd=folder) for option in ("--verbose", "--json")]
    assert [done.returncode for done in runs] == [0, 0]
    return Given(folder, runs[0].stdout, json.loads(runs[1].stdout), rank(folder / "judgments.csv"))


def cells(column: str) -> Iterator[tuple[int, str]]:
    """Those of a column that are filled, with the numbers of their rows."""
    return ((row, value) for row, value in TERMS[column].items() if value)


def header(text: str) -> list[str]:
    """Columns of the leaderboard in the terminal."""
    return next(line for line in text.splitlines() if line.lstrip().startswith("rank ")).split()


def at(path: str, document: Any) -> Any:
    """What a path of jq finds: a value, or a list of values, one from each record."""
    keys, _, column = path.removeprefix(".").partition("[].")
    for key in keys.split("."):
        document = document[key]
    return [record[column] for record in document] if column else document


def same(one: object, other: object) -> bool:
    """Whether two columns, or two values, are one quantity: numbers to nine digits."""
    a, b = (pd.Series(value if isinstance(value, list) else [value], dtype=object) for value in (one, other))
    is_missing = a.isna() & b.isna()
    try:
        numbers = [pd.to_numeric(part[~is_missing]).astype(float) for part in (a, b)]
    except (TypeError, ValueError):
        return len(a) == len(b) and a[~is_missing].tolist() == b[~is_missing].tolist()
    return len(a) == len(b) and np.allclose(*numbers, rtol=1e-8)


def test_the_page_has_the_table_of_the_file():
    text = PAGE.read_text()
    assert text == with_block(text, "terms", tables_of_terms())


def test_no_term_and_no_name_is_there_twice():
    assert TERMS["term"].is_unique and (TERMS["meaning"] != "").all()
    for column in ("CSV", "JSON", "Python"):
        assert TERMS.loc[TERMS[column] != "", column].is_unique, column
    assert (CSV["table"].notna() == (TERMS["CSV"] != "")).all()


@pytest.mark.parametrize("table", CAPTIONS)
def test_every_column_is_a_term(table, given):
    written = list(pd.read_csv(given.folder / f"rankings/judgments/{table}.csv"))
    assert set(written) == set(CSV.loc[CSV["table"] == table, "column"])


def test_every_name_in_the_terminal_is_printed_and_every_column_printed_is_a_term(given):
    printed, is_column = header(given.text), CSV["table"] == "leaderboard"
    assert printed == TERMS.loc[is_column & (TERMS["terminal"] != ""), "terminal"].tolist()
    assert [name for row, name in cells("terminal") if not is_column[row] and name not in given.text] == []


def test_every_heading_on_the_page_is_there_and_every_heading_of_a_table_is_a_term(given):
    anywhere = {name for headings in given.headings.values() for name in headings}
    for row, name in cells("page"):
        table = CSV["table"][row]
        assert name in (given.headings_of(table) if table in CAPTIONS else anywhere), name
    for table in CAPTIONS:
        terms = TERMS.loc[CSV["table"].eq(table) | (TERMS["CSV"] == ""), "page"]
        assert set(given.headings_of(table)) <= set(terms), table


def test_every_heading_on_the_page_is_words(given):
    names = [name for caption, headings in given.headings.items() for name in (caption, *headings)]
    assert "Effective number of judges" in names
    assert [name for name in names if "_" in name] == []


def test_a_term_is_one_quantity_in_csv_json_and_python(given):
    for row, path in cells("JSON"):
        in_json = at(path, given.document)
        if TERMS["CSV"][row]:
            written = pd.read_csv(given.folder / f"rankings/judgments/{CSV['table'][row]}.csv")
            assert same(written[CSV["column"][row]].tolist(), in_json), path
        if TERMS["Python"][row]:
            value = eval(TERMS["Python"][row], {"ranking": given.ranking})
            assert same([*value] if isinstance(value, pd.Series | tuple) else value, in_json), path
    is_column = TERMS["CSV"] != ""
    assert (TERMS.loc[is_column, ["JSON", "Python"]] != "").all(axis=None)


def test_a_meaning_is_that_of_the_page():
    for row, (table, column) in CSV[CSV["table"].isin(CAPTIONS)].iterrows():
        meaning, about = TERMS["meaning"][row], (ABOUT | ABOUT_IN.get(table, {})).get(column, "")
        assert meaning.startswith(about) or about.startswith(meaning), column


if __name__ == "__main__":
    PAGE.write_text(with_block(PAGE.read_text(), "terms", tables_of_terms()))
