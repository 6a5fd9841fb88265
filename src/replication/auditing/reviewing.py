"""What a reviewer reads: claims with command, cost and verdict, a CODECHECK manifest, the article and the letter.

The article and the letter to the authors are templates in paper/, every number from the stored results.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from replication.auditing.audit import OTHERS, RESULTS, Verdict, exact_copies, open_and_same, totals
from replication.auditing.claim import Outcome
from replication.auditing.doc_numbers import times_of
from replication.auditing.joint_tests import tried
from replication.auditing.page import READ_BY, Audit, evidence_text, numbers_table, read_by
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


WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def written(folder: Path, audit: Audit, results: Results, citation: dict[str, Any]) -> dict[str, str]:
    """Every template of a folder, filled in: text by the name of its file.

    Parameters
    ----------
    folder : Path
        With ``NAME.j2`` for each file ``NAME`` to write.
    audit : Audit
    results : Results
    citation : dict
        CITATION.cff, the one place of the authors' names.

    Raises
    ------
    Missing
        If a stored table that a number comes from is missing.
    jinja2.UndefinedError
        If a template names a number that there is none of.
    """
    # text for people: nothing to escape
    environment = Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters["words"] = lambda count: WORDS[count] if count < len(WORDS) else f"{count:,}"
    environment.filters["stored"] = lambda name: (
        results.path(name)[0].relative_to(results.folder.parent).as_posix()
    )
    environment.filters["thousands"] = lambda count: f"{count:,.0f}"
    context = numbers(audit, results) | authors(citation) | {"audit": audit, "citation": citation}
    return {path.stem: environment.get_template(path.name).render(context) for path in sorted(folder.glob("*.j2"))}


def authors(citation: dict[str, Any]) -> dict[str, Any]:
    """Authors with the index of their affiliation, affiliations with theirs, and the paper's authors' names."""
    affiliations = list(dict.fromkeys(_affiliation(author) for author in citation["authors"]))
    listed = [
        {
            "name": _name(author),
            "orcid": author.get("orcid", ""),
            "place": affiliations.index(_affiliation(author)) + 1,
        }
        for author in citation["authors"]
    ]
    return {
        "authors": listed,
        "affiliations": affiliations,
        "theirs": [_name(author) for author in citation["preferred-citation"]["authors"]],
        "date": pd.Timestamp(citation["date-released"]).strftime("%-d %B %Y"),
    }


def _name(author: dict[str, str]) -> str:
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def _affiliation(author: dict[str, str]) -> str:
    return author.get("affiliation", "Independent")


def numbers(audit: Audit, results: Results) -> dict[str, Any]:
    """What the article and the letter tell of the results."""
    table = totals(audit.numbers).set_index("place")
    counts = table.loc["all"]
    of_claims = audit.claims["outcome"].astype(str).value_counts().reindex(list(map(str, Outcome)), fill_value=0)
    context = {verdict.name.lower(): int(counts[str(verdict)]) for verdict in Verdict}
    context |= {"printed": int(counts["printed"]), "results": int(counts["results"])}
    context |= {"claims": audit.claims, "outcomes": of_claims.to_dict()}
    context["shown"] = audit.claims.set_index("id")["shown"].to_dict()
    context["exact_share"] = f"{counts[str(Verdict.EXACT)] / counts['results']:.0%}"
    context |= {"copies": exact_copies(audit.numbers), "open_same": open_and_same(audit.numbers)}
    context["exact_in"] = table[str(Verdict.EXACT)].to_dict()
    context["results_in"] = table["results"].to_dict()
    rows = audit.numbers[audit.numbers["verdict"] == Verdict.OPEN]
    context["open_numbers"] = numbers_table(rows, ["place", "row", "column", "printed", "ours"])
    context["open_tried"] = tried(rows, results)
    sections = {path.name for path in results.audit.glob("*") if path.is_dir()} - {"verify"}
    context["minutes"] = f"{cost_of(sorted(sections), results).seconds / 60:.0f}"
    return context | _judges(results) | _positions(results) | _trust(results)


def _judges(results: Results) -> dict[str, Any]:
    rows = results.rows("judge_reliability/discrimination.csv", "dataset=ultrafeedback")
    return {"zero": int((rows["status"] == "zero").sum()), "judges": len(rows)}


def _positions(results: Results) -> dict[str, Any]:
    """What discriminations and what positions gain in held-out log-loss over neither, in-house."""
    losses = results.table("model_comparison/in_house/members.csv").set_index("member")["log_loss"]
    return {
        "gain_judges": f"{losses['btl'] - losses['judge_aware']:.3f}",
        "gain_positions": f"{losses['btl'] - losses['position_only']:.3f}",
    }


def _trust(results: Results) -> dict[str, Any]:
    """How few judgments change the first of Chatbot Arena, and how many independent judges panels are worth."""
    table = results.table("trust/summary.csv")
    arena = results.rows("trust/summary.csv", "dataset=chatbot_arena; member=judge_aware").iloc[0]
    return {
        "fewest": int(arena["top_judgments"]),
        "fewest_ends": f"{table['top_judgments'].min()} to {table['top_judgments'].max()}",
        "of_judgments": int(arena["judgments"]),
        "panels": f"{table['judges'].min()} to {table['judges'].max()}",
        "worth": f"{table['information'].min():.1f} to {table['information'].max():.1f}",
        "worth_ends": f"{table['information_low'].min():.1f} to {table['information_high'].max():.1f}",
    }
