"""The audit as a page in Markdown, every number as one table, and pages of the study as HTML files."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import markdown
import pandas as pd
from markupsafe import Markup

from judgerank.data.errors import ConfigError
from judgerank.pages import Shown, render, shown
from replication import published
from replication.auditing import joint_tests
from replication.auditing.audit import MEANING, OTHERS, RESULTS, Verdict, exact_copies, open_and_same, totals
from replication.auditing.claim import STATED as COUNTED
from replication.auditing.claim import CheckedFinding
from replication.auditing.claims import outcomes
from replication.auditing.registry import STATED, items
from replication.auditing.results import Missing, Results
from replication.config import ROOT, script_of

TEMPLATE = Path(__file__).with_name("page.html")


def html_page(
    text: str, title: str, folder: Path, tables: Sequence[Shown] = (), filters: Sequence[str] = ()
) -> str:
    """A page in Markdown as one HTML file, with the figures it shows (PNG, relative to a folder) inside.

    Parameters
    ----------
    text : str
        Below a first heading, which is the title.
    title : str
    folder : Path
    tables : sequence of Shown
        Below the text.
    filters : sequence of str
        Columns of these by whose values they can be filtered.

    Raises
    ------
    OSError
        If a figure cannot be read.
    """
    parser = markdown.Markdown(
        extensions=["tables", "md_in_html", "toc"], extension_configs={"toc": {"toc_depth": "2"}}
    )
    body = parser.convert(re.sub(r"\A# .*\n", "", text))

    def embedded(match: re.Match[str]) -> str:
        content = base64.b64encode((folder / match[1]).read_bytes()).decode()
        return f'src="data:image/png;base64,{content}"'

    body = re.sub(r'src="([^"]+\.png)"', embedded, body)
    # the page's policy allows no style in attributes
    body = body.replace(' style="text-align: right;"', ' class="number"').replace(' style="text-align: left;"', "")
    body = re.sub(r"<table>(.*?)</table>", r'<div class="table"><table>\1</table></div>', body, flags=re.DOTALL)
    sections = [(token["id"], token["html"]) for token in parser.toc_tokens]  # type: ignore[attr-defined]
    return render(
        TEMPLATE,
        title=title,
        sections=[(to, Markup(name)) for to, name in sections],
        body=Markup(body),
        tables=tables,
        filters=filters,
    )


PAPER = (
    "The paper: Xu, Tan, Wu and Zhou, *A Judge-Aware Ranking Framework for Evaluating Large Language Models "
    "without Ground Truth*, Proceedings of the 43rd International Conference on Machine Learning, "
    f"[PMLR 306:141853-141886]({published.ADDRESS}), 2026 ([arXiv:2601.21817](https://arxiv.org/abs/2601.21817))."
)
READ_BY = "estimator: measure"
STORED_AS = "stored"  # column: whether the tables behind a verdict are fresh or stale
SHOWN = ["row", "column", "printed", "ours", "difference", "low", "high", "draws", "verdict", "reason", STORED_AS]


@dataclass(frozen=True)
class Audit:
    """All there is to tell.

    Attributes
    ----------
    numbers : DataFrame
        As `replication.auditing.audit.audit` gives them.
    findings : list of CheckedFinding
    claims : DataFrame
        As `replication.auditing.claims.claims` gives them.
    """

    numbers: pd.DataFrame
    findings: list[CheckedFinding]
    claims: pd.DataFrame

    @property
    def held(self) -> list[CheckedFinding]:
        """Findings that the stored results bear out, as they are numbered."""
        return [checked for checked in self.findings if checked.holds]


def totals_tables(numbers: pd.DataFrame) -> str:
    """Results by place and verdict, and beside them what is no result."""
    table = totals(numbers)
    results = table[["place", "results", *map(str, RESULTS)]]
    no_results = table[["place", *map(str, OTHERS)]]
    no_results = no_results[no_results.drop(columns="place").sum(axis=1) > 0]
    all_places = table.iloc[-1]
    exact, taken_over = all_places[str(Verdict.EXACT)], all_places[str(Verdict.TAKEN_OVER)]
    summary = (
        f"Of {all_places['printed']} printed numbers {all_places['results']} are results; {exact} of these are "
        f"exact ({exact + taken_over} if settings taken over were counted too, which they are not). "
        f"{_copied(numbers)} The others are no results:"
    )
    results = results[results["results"] > 0]
    return "\n\n".join([results.to_markdown(index=False), summary, no_results.to_markdown(index=False)])


def _copied(numbers: pd.DataFrame) -> str:
    """How many of the exact numbers are copies, which no computation of ours checks."""
    return (
        f"{exact_copies(numbers)} of the exact numbers are copies (of other publications, or of the size in a "
        "model's name). They equal their sources; nothing is computed for them."
    )


def verdicts_table(numbers: pd.DataFrame) -> str:
    """The results of all places in one row, and how many of them are copies."""
    all_places = totals(numbers).tail(1)
    table = all_places[["printed", "results", *map(str, RESULTS)]].to_markdown(index=False)
    return f"{table}\n\n{_copied(numbers)}"


def freshness_line(audit: Audit) -> str:
    """How many verdicts rest on tables that the code at hand did not make; empty where that was not looked at."""
    if STORED_AS not in audit.numbers:
        return ""
    verdicts = pd.concat([audit.numbers[STORED_AS], audit.claims[STORED_AS]])
    stale = int((verdicts == "stale").sum())
    if not stale:
        return "Every verdict rests on tables that this code made, or was found to make again."
    return f"{stale} of {len(verdicts)} verdicts rest on stale tables, which other code made (`make stale`)."


def page(audit: Audit, results: Results) -> str:
    """The audit in Markdown, to be read in the results folder, without the numbers that are not open."""
    numbers = audit.numbers
    parts = [
        "# Audit of the paper's numbers and claims",
        PAPER,
        "Every number that the paper prints in its results, and its claims in words, with what the stored results "
        "give for them. A verdict is computed from the two; *surrogate* marks what was computed on simulated "
        "stand-ins and is no check. `audit.html` and `audit.csv` have every number beside ours, "
        "`audit_claims.csv` has the claims, and `src/replication/auditing/computed_by.csv` says what computes "
        "each number. `make audit` writes them all.",
        "## Totals",
        totals_tables(numbers),
        freshness_line(audit),
        "### What the verdicts mean",
        "\n".join(f"- *{verdict}*: {meaning}." for verdict, meaning in MEANING.items()),
        "### Whole columns by one run",
        joint_tests.section(numbers, results),
        "### Random results",
        STATED,
        f"## Findings ({len(audit.held)})",
        *(_finding(number, checked, results) for number, checked in enumerate(audit.held, 1)),
        _not_held(audit.findings),
        f"## Claims in words ({len(audit.claims)})",
        outcomes(audit.claims).to_markdown(index=False),
        COUNTED,
        _claims(audit.claims, results),
        _open(numbers, results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def every_number(audit: Audit, results: Results) -> Shown:
    """All numbers in the paper's order as one table, each with its stored table, script, settings and figure."""
    numbers = audit.numbers
    source = numbers["source"].fillna("").astype(str)
    section = source.str.partition("/")[0]
    figure = numbers["place"].map(_figures()).fillna("").str.partition(";")[0]
    links = {
        "table": [_link(_stored(name, results), results) for name in source],
        "script": [_link(_script(name), results) for name in section],
        "settings": [_link(ROOT / "conf" / f"{name}.yaml" if name else None, results) for name in section],
        "figure": [_link(results.figure(name), results) for name in figure],
    }
    frame = numbers.reindex(columns=["place", *SHOWN]).drop(columns=["low", "high", "draws"])
    frame["ours"] = [_text(value) for value in frame["ours"]]
    marked = numbers["surrogate"].to_numpy(bool)
    frame.loc[marked, "ours"] += " (surrogate)"
    for name in ("reason", STORED_AS):  # all NaN, thus floats, where no row has a text
        frame[name] = frame[name].astype(object).fillna("")
    frame = frame.astype({"verdict": str})
    for name, addresses in links.items():
        frame[name] = [Path(to).name if to else "" for to in addresses]
    return shown("every-number", "Every number", frame, links=links, precise={"difference": 4})


@cache
def _figures() -> dict[str, str]:
    table = items()
    return dict(zip(table["item"], table["figures"], strict=True))


@cache
def _script(section: str) -> Path | None:
    try:
        return script_of(section)
    except ConfigError:
        return None


def _stored(name: str, results: Results) -> Path | None:
    try:
        return results.path(name)[0]
    except Missing:
        return None


def _link(path: Path | None, results: Results) -> str:
    """A file's address relative to the audit's page; empty where there is no such file."""
    if path is None or not path.is_file():
        return ""
    return Path(os.path.relpath(path, results.audit)).as_posix()


def _links(names: tuple[str, ...] | list[str], results: Results) -> str:
    stored = []
    for name in names:
        address = _link(_stored(name, results), results)
        stored.append(f"[{name}]({address})" if address else f"{name} (not stored)")
    return ", ".join(stored) or "the printed tables themselves"


def _finding(number: int, checked: CheckedFinding, results: Results) -> str:
    finding = checked.finding
    address = _link(results.figure(finding.figure), results)
    figure = f"\n\n![{finding.title}]({address})" if address else ""
    settings = re.findall(r"\b(?!make\b)\w+", finding.command)
    config = ", ".join(f"[conf/{name}.yaml](../../conf/{name}.yaml)" for name in settings)
    source = f"Evidence: {_links(finding.evidence, results)}. Run: `{finding.command}` ({config})."
    return f"### {number}. {finding.title}\n\n{checked.text}\n{source}{figure}"


def _not_held(findings: list[CheckedFinding]) -> str:
    rest = [
        f"- {checked.finding.title}: {'does not hold. ' if checked.holds is not None else ''}{checked.text}"
        for checked in findings
        if not checked.holds
    ]
    return "\n\n".join(["### Looked for, and not borne out by what is stored", "\n".join(rest)]) if rest else ""


def _claims(claims: pd.DataFrame, results: Results) -> str:
    rows = [
        (row.place, row.statement, read_by(row), str(row.outcome), str(row.algorithm_1), evidence_text(row))
        for row in claims.itertuples()
    ]
    columns = ["place", "claim", READ_BY, "outcome", "by Algorithm A.1", "what the stored tables show"]
    frame = pd.DataFrame(rows, columns=columns)
    stored = {name: claims[name].to_numpy() for name in [STORED_AS] if name in claims}
    return _markdown(frame.assign(**stored, tables=[_links(names, results) for names in claims["tables"]]))


def read_by(claim: Any) -> str:
    """Estimator and measure of a claim, a row of `replication.auditing.claims.claims`."""
    measure = claim.measure.replace(";", ", ")
    return f"{claim.estimator}: {measure}" if claim.estimator else measure


def evidence_text(claim: Any) -> str:
    """What the stored tables show for a claim, by its estimator and by the others."""
    return f"{claim.shown} {claim.others}".strip()


def _open(numbers: pd.DataFrame, results: Results) -> str:
    rows = numbers[numbers["verdict"] == Verdict.OPEN]
    if rows.empty:
        return ""
    listed = _markdown(rows[["place", *SHOWN[:8]]])
    searches = "\n".join(f"- {sentence}" for sentence in joint_tests.tried(rows, results))
    parts = [f"## Open ({len(rows)})", _why_open(rows), listed, searches and f"What was tried:\n\n{searches}"]
    return "\n\n".join(filter(None, parts))


def _why_open(rows: pd.DataFrame) -> str:
    same = open_and_same(rows)
    return (
        f"Numbers whose cause we have not established. {len(rows) - same} differ from ours. {same} equal ours, "
        "but another run gives more of their column, and not these."
    )


def numbers_table(rows: pd.DataFrame, columns: list[str] = SHOWN) -> str:
    """Printed numbers beside ours, in Markdown; columns that are empty in all of the rows are left out."""
    rows = rows.reindex(columns=[*dict.fromkeys([*columns, *rows.columns])])
    columns = [name for name in columns if (rows[name].notna() & (rows[name].astype(str) != "")).any()]
    table = rows[columns].copy()
    if "ours" in table:
        marked = rows["surrogate"].to_numpy(bool)
        table["ours"] = [
            f"{_text(value)} (surrogate)" if mark else _text(value)
            for value, mark in zip(rows["ours"], marked, strict=True)
        ]
    return _markdown(table)


def folded(head: str, text: str) -> str:
    """Markdown that opens on a click."""
    return f'<details markdown="1"><summary>{head}</summary>\n\n{text}\n\n</details>'


def _markdown(frame: pd.DataFrame) -> str:
    return frame.map(_text).to_markdown(index=False, disable_numparse=True)


def _text(value: object) -> str:
    if value is None or pd.isna(value):
        return ""
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
