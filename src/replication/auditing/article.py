"""The article and the letter to the paper's authors: templates in paper/, every number from the stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from replication.auditing.audit import Verdict, exact_copies, open_and_same, totals
from replication.auditing.claim import Outcome
from replication.auditing.joint_tests import tried
from replication.auditing.page import Audit, numbers_table
from replication.auditing.results import Results
from replication.auditing.reviewing import cost_of

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
