"""The page of a small run: every table and figure of the paper, its numbers beside ours."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from replication.auditing.audit import audit
from replication.auditing.claim import check_finding
from replication.auditing.findings import FINDINGS
from replication.auditing.page import PAPER, SHOWN, folded, numbers_table, totals_tables
from replication.auditing.registry import items
from replication.auditing.results import LOTS, Missing, Results
from replication.config import ROOT, script_of

HERE, STORED = "this run", "the whole run"
COLUMNS = [*SHOWN, "from"]


@dataclass(frozen=True)
class Layered(Results):
    """The tables of a small run where they are as good as those of the whole run, and else the whole run's.

    Attributes
    ----------
    folder : Path
        Of the whole run.
    fresh : Path
        Of the small run.
    monte_carlo : frozenset of str
        Sections whose tables the small run does not replace, since it has fewer replications.
    """

    fresh: Path
    monte_carlo: frozenset[str]

    def path(self, name: str) -> tuple[Path, bool]:
        """Where a table is, and whether it comes from a surrogate."""
        return (self._fresh(name), False) if self.is_fresh(name) else super().path(name)

    def real(self, name: str) -> bool:
        """Whether there is a table that is not of a surrogate."""
        return self.is_fresh(name) or super().real(name)

    def is_fresh(self, name: str) -> bool:
        """Whether a table is the small run's."""
        return name.split("/")[0] not in self.monte_carlo and self._fresh(name).is_file()

    def _fresh(self, name: str) -> Path:
        return self.fresh / LOTS[0] / name

    def is_stand_in(self, section: str) -> bool:
        """Whether the small run had a surrogate in place of a section's data."""
        return (self.fresh / "surrogate" / section).is_dir()


def compared(results: Layered) -> pd.DataFrame:
    """The audit's rows, with which run each of our numbers is from."""
    checked = [check_finding(finding, results) for finding in FINDINGS]
    numbers = audit(
        results, {checked_finding.finding.name for checked_finding in checked if checked_finding.holds}
    )
    computed = numbers["source"].ne("") & numbers["ours"].notna()
    of = numbers["source"].map(lambda name: HERE if results.is_fresh(name) else STORED)
    return numbers.assign(**{"from": of.where(computed, "")})


def smoke_page(numbers: pd.DataFrame, results: Layered, figures: Path, failed: dict[str, str]) -> str:
    """The page in Markdown, to be read in the small run's folder.

    Parameters
    ----------
    numbers : DataFrame
        As `compared` gives them.
    results : Layered
    figures : Path
        Of the small run.
    failed : dict
        Sections that did not run, and why.
    """
    listed = items()
    listed_items = {item_name for item in listed["item"] for item_name in places_of(item)}
    rest = numbers[~numbers["place"].isin(listed_items)]
    counts = numbers["from"].value_counts()
    parts = [
        "# The paper's tables and figures, and ours",
        PAPER,
        f"Of the {len(numbers)} numbers that the paper prints, ours are from {HERE} for {counts.get(HERE, 0)} and "
        f"from {STORED}, as stored in `results/`, for {counts.get(STORED, 0)}; for the others there is nothing to "
        "compute, or something that it takes is not at hand. Averages over many replications are shown from "
        f"{STORED}. `make smoke` writes this page.",
        *_warnings(results, failed, listed),
        totals_tables(numbers),
        *(_item(item, numbers, results, figures) for item in listed.to_dict("records")),
        f"## Numbers in the text ({len(rest)})",
        *(
            folded(f"{item_name} ({len(rows)})", numbers_table(rows, COLUMNS))
            for item_name, rows in rest.groupby("place", sort=False)
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def places_of(item: str) -> tuple[str, str]:
    """Where the paper prints the numbers of a table or figure."""
    return item, f"caption of {item}"


def _warnings(results: Layered, failed: dict[str, str], listed: pd.DataFrame) -> list[str]:
    stand_ins = [name for name in listed["section"].unique() if results.is_stand_in(name)]
    warned = [f"**{section} did not run**: {why}" for section, why in failed.items()]
    if stand_ins:
        warned.append(
            f"**surrogate**: data are missing, so {', '.join(stand_ins)} ran on simulated stand-ins, whose "
            f"numbers say nothing about the paper's. They are shown from {STORED}."
        )
    return warned


def _item(item: dict, numbers: pd.DataFrame, results: Layered, figures: Path) -> str:
    rows = numbers[numbers["place"].isin(places_of(item["item"]))]
    numbers_text = numbers_table(rows, COLUMNS) if len(rows) else "The paper prints no numbers of results here."
    if len(rows) > 30:
        numbers_text = folded(f"{len(rows)} numbers", numbers_text)
    section = item["section"]
    tables = [_table_link(name, results) for name in item["tables"].split(";")]
    source = (
        f"Tables: {', '.join(tables)}. Script: {_link(script_of(section), results)}. "
        f"Config: {_link(ROOT / 'conf' / f'{section}.yaml', results)}. Run: `make {section}`."
    )
    head = f"## {item['item']}: {item['title']}"
    marks = f"*{section} ran on a surrogate here.*" if results.is_stand_in(section) else ""
    return "\n\n".join(
        part for part in (head, marks, numbers_text, _figure(item, results, figures), source) if part
    )


def _figure(item: dict, results: Layered, figures: Path) -> str:
    """Our figure, from the run that the numbers are from."""
    name = item["figures"]
    if not name:
        return ""
    fresh = figures / LOTS[0] / name
    small = item["section"] not in results.monte_carlo and fresh.is_file()
    path = fresh if small else results.figure(name)
    if path is None:
        return f"Our figure `{name}` is not stored (`make {item['section']}`)."
    return f"![{item['item']}]({_relative(path, results)})\n\n(from {HERE if small else STORED})"


def _table_link(name: str, results: Layered) -> str:
    try:
        path, surrogate = results.path(name)
    except Missing:
        return f"{name} (not stored)"
    return f"{_link(path, results)} ({'surrogate' if surrogate else HERE if results.is_fresh(name) else STORED})"


def _link(path: Path, results: Layered) -> str:
    label = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"[{label}]({_relative(path, results)})"


def _relative(path: Path, results: Layered) -> str:
    return Path(os.path.relpath(path, results.fresh)).as_posix()
