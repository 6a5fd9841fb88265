"""What a reviewer checks: each claim with its command, cost, expected result and verdict; a CODECHECK manifest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
import yaml

from replication.auditing.audit import OTHERS, RESULTS
from replication.auditing.doc_numbers import times_of
from replication.auditing.page import READ_BY, Audit, evidence_text, read_by
from replication.auditing.registry import items
from replication.auditing.results import Results
from replication.tables import markdown_table

SPECIFICATION = "https://codecheck.org.uk/spec/config/1.0/"
COLUMNS = ("claim", "command", "minutes", "memory", "expected", "verdict")
UNKNOWN = "not recorded"


@dataclass(frozen=True)
class Cost:
    """What sections took in the stored runs.

    Attributes
    ----------
    seconds : float
        Of all together, one after another.
    memory : float or None
        Megabytes of the largest process, if every run tells.
    """

    seconds: float
    memory: float | None

    def cells(self) -> tuple[str, str]:
        """Minutes and memory as a table shows them."""
        minutes = "under 0.1" if self.seconds < 3 else f"{self.seconds / 60:.1f}"
        return minutes, UNKNOWN if self.memory is None else f"{self.memory / 1000:.1f} GB"


def cost_of(sections: Iterable[str], results: Results) -> Cost:
    """What some sections took, from the records of their runs; surrogates' do not count."""
    times = times_of(results)
    of = times[times["section"].isin(list(sections))]
    is_complete = len(of) > 0 and of["memory"].notna().all()
    return Cost(float(of["seconds"].sum()), float(of["memory"].max()) if is_complete else None)


def numbers_claimed(audit: Audit, results: Results) -> str:
    """Every table and figure of the paper with printed numbers: command, cost, and what became of the numbers."""
    rows = []
    of_results = audit.numbers[~audit.numbers["verdict"].isin(OTHERS)]
    numbers_by_item = dict(tuple(of_results.groupby("place", sort=False)))
    listed = [item for item in items()["item"] if item in numbers_by_item]
    for item_name in [*listed, *sorted(numbers_by_item.keys() - set(listed))]:
        of = numbers_by_item[item_name]
        # a verdict that another run explains is checked by that run
        explaining = of["reason"].str.extract(r"\((\S+[.]csv)\)$", expand=False).dropna()
        tables = [*of["source"], *explaining]
        rows.append((_title(str(item_name)), *_run(tables, results), _expected(of), _verdict(of)))
    return markdown_table(rows, list(COLUMNS))


def words_claimed(audit: Audit, results: Results) -> str:
    """Every claim in words: command, cost, estimator, measure, what the stored tables show, and the verdicts."""
    rows = []
    for row in audit.claims.itertuples():
        claim, outcomes = f"{row.statement} ({row.place})", (str(row.outcome), str(row.algorithm_1))
        rows.append((claim, *_run(row.tables, results), read_by(row), evidence_text(row), *outcomes))
    return markdown_table(rows, [*COLUMNS[:-2], READ_BY, *COLUMNS[-2:], "by Algorithm A.1"])


def _title(item_name: str) -> str:
    titles = items().set_index("item")["title"]
    return (
        f"{item_name}: {titles[item_name]}" if item_name in titles.index else item_name[0].upper() + item_name[1:]
    )


def _run(tables: Iterable[str], results: Results) -> tuple[str, str, str]:
    sections = list(dict.fromkeys(name.partition("/")[0] for name in tables if name))
    if not sections:  # the printed tables themselves
        return ("`make audit`", "under 0.1", UNKNOWN)
    return (f"`make {' '.join(sections)}`", *cost_of(sections, results).cells())


def _expected(numbers: pd.DataFrame) -> str:
    count = len(numbers)
    return f"the {count} printed numbers" if count > 1 else "the printed number"


def _verdict(numbers: pd.DataFrame) -> str:
    counts = numbers["verdict"].astype(str).value_counts()
    return "; ".join(f"{verdict}: {counts[verdict]}" for verdict in map(str, RESULTS) if verdict in counts)


def manifest(audit: Audit, results: Results, citation: dict) -> str:
    """The file codecheck.yml: the outputs that a codechecker makes again, and what each shows.

    Parameters
    ----------
    audit : Audit
    results : Results
    citation : dict
        CITATION.cff, whose preferred citation is the paper.
    """
    paper = citation["preferred-citation"]
    authors = [{"name": f"{author['given-names']} {author['family-names']}"} for author in paper["authors"]]
    fields = {
        "version": SPECIFICATION,
        "paper": {"title": paper["title"], "authors": authors, "reference": paper["url"]},
        "manifest": [{"file": name, "comment": comment} for name, comment in _outputs(audit, results)],
    }
    head = "# Written by make audit; the codechecker adds codechecker, report, check_time and certificate.\n"
    return head + yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=110)


def _outputs(audit: Audit, results: Results) -> list[tuple[str, str]]:
    root = results.folder.parent
    verdicts = {item_name: _verdict(of) for item_name, of in audit.numbers.groupby("place")}
    comments_by_path: dict[str, list[str]] = {}
    for row in items().itertuples():
        comment = f"{row.item}, {row.title} (make {row.section})"
        if verdicts.get(row.item):
            comment = f"{comment}: {verdicts[row.item]}"
        tables = [results.path(name)[0] for name in row.tables.split(";") if results.real(name)]
        figures = [path for name in row.figures.split(";") if (path := results.figure(name))]
        for path in [*tables, *figures]:
            comments_by_path.setdefault(path.relative_to(root).as_posix(), []).append(comment)
    return [(name, "; ".join(comments)) for name, comments in comments_by_path.items()]
