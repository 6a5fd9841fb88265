"""Stored results held against the records of the runs that made them, before anything is told of them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from judgerank.data.listing import LISTED, listed
from replication.auditing.audit import OTHERS, RESULTS, Verdict
from replication.auditing.claim import Outcome
from replication.auditing.page import STORED_AS, Audit
from replication.auditing.results import Results
from replication.config import ROOT
from replication.differences import Difference, unlike_listed, unlike_settings
from replication.errors import NotAsStoredError
from replication.freshness import AUDIT, LOTS, composed
from replication.records import RECORD, provenance, unlike_record

log = logging.getLogger("replication")


def require_as_recorded(folder: Path, any_settings: bool = False) -> None:
    """Refuse results that their runs did not write, or that were made with other settings than those of conf/.

    Parameters
    ----------
    folder : Path
        With a folder for each section.
    any_settings : bool
        Whether settings may be others.

    Raises
    ------
    NotAsStoredError
        If a file is not the one that its run wrote, or a setting is another one.
    """
    for record in records(folder):
        differences = unlike_listed(record.parent, RECORD) or edited(record)
        again = "restore it, or run the section again"
        if not differences and not any_settings:
            differences, again = (
                other_settings(record),
                "run the section again (or `make audit ARGS=accept_falls=true`)",
            )
        for difference in differences:
            log.info("%s: %s", record.parent.relative_to(folder), difference)
        if differences:
            first, more = differences[0], f", and {len(differences) - 1} more" if len(differences) > 1 else ""
            raise NotAsStoredError(
                f"{record.parent.relative_to(folder)}: {first.column} is {first.stored}, and should be "
                f"{first.recomputed}{more}: nothing was written; {again}"
            )


def records(folder: Path) -> Iterator[Path]:
    """Records of the runs that are told of."""
    yield from sorted(folder.rglob(RECORD))


def edited(record: Path) -> list[Difference]:
    """What a record says that was changed since it was written, or cannot be true."""
    run = json.loads(record.read_text())
    return list(unlike_record(run, ROOT)) if "digest" in run else []


def other_settings(record: Path) -> list[Difference]:
    """What a run was told that conf/ does not say."""
    run = json.loads(record.read_text())
    now = composed(run["section"], record.parent.name)
    return unlike_settings(run, provenance(run["section"], now, {}, ""), "section", "config")


def stale_sections(stale: pd.DataFrame) -> pd.DataFrame:
    """Of what `freshness.stale` lists the paper's sections, which the audit reads."""
    return stale[(stale["lot"] == LOTS[0]) & (stale["section"] != AUDIT)]


def require_fresh(stale: pd.DataFrame) -> None:
    """Refuse results of the paper's sections that this code neither made nor was found to make again.

    Parameters
    ----------
    stale : DataFrame
        As of `freshness.stale`.

    Raises
    ------
    NotAsStoredError
        Naming the sections and what to run.
    """
    of = stale_sections(stale)
    if of.empty:
        return
    sections, reasons = ([*dict.fromkeys(of[name])] for name in ("section", "why"))
    again = " ".join(sections) if len(sections) <= LISTED else "reproduce"
    raise NotAsStoredError(
        f"stored results of {listed(sections, len(sections))} are stale ({listed(reasons)}): nothing was written; "
        f"run `make verify ARGS=only=stale` or `make {again}` (or `make audit ARGS=accept_stale=true`)"
    )


def with_freshness(audit: Audit, stale: pd.DataFrame, results: Results) -> Audit:
    """The audit with a column that says of every verdict whether the tables behind it are fresh or stale."""
    tables = stale_sections(stale).query("kind == 'tables'")
    folders = {"/".join(filter(None, parts)) for parts in zip(tables["section"], tables["set"], strict=True)}

    def freshness(names: Iterable[str]) -> str:
        behind = {name.rpartition("/")[0] for name in names if name and results.real(name)}
        return "" if not behind else "stale" if behind & folders else "fresh"

    of_numbers = [freshness([name]) for name in audit.numbers["source"]]
    of_claims = [freshness(names) for names in audit.claims["tables"]]
    numbers, claims = (
        audit.numbers.assign(**{STORED_AS: of_numbers}),
        audit.claims.assign(**{STORED_AS: of_claims}),
    )
    return replace(audit, numbers=numbers, claims=claims)


# Verdicts that are worse than the stored ones, those that are better, and printed numbers that were others.


NUMBERS = [*(verdict for verdict in RESULTS if verdict != Verdict.UNCHECKED), *OTHERS, Verdict.UNCHECKED]
ORDERS = {  # from the best to the worst, by the stored table; what is not checkable says least of all
    "audit.csv": (["table", "row", "column"], "verdict", [str(verdict) for verdict in NUMBERS]),
    "audit_claims.csv": (["id"], "outcome", [str(outcome) for outcome in Outcome]),
}
PRINTED = {"audit.csv": "printed", "audit_claims.csv": "statement"}  # what the paper says


def require_no_fall(folder: Path, numbers: pd.DataFrame, claims: pd.DataFrame) -> None:
    """Refuse an audit in which the verdict of a printed number or a claim is worse than the stored one.

    Parameters
    ----------
    folder : Path
        Where the last audit is stored, if there was any.
    numbers, claims : DataFrame
        As `replication.auditing.page.Audit` has them.

    Raises
    ------
    NotAsStoredError
        If one is worse or is no longer there, or the paper is said to print something else.
    """
    tables = zip(ORDERS, (numbers, claims), strict=True)
    changes = [change for name, now in tables for change in changed(folder / name, now)]
    for _, sentence in changes:
        log.info("%s", sentence)
    falls = [sentence for is_worse, sentence in changes if is_worse]
    if falls:
        more = f", and {len(falls) - 1} more" if len(falls) > 1 else ""
        raise NotAsStoredError(
            f"{falls[0]}{more}: nothing was written (`make audit ARGS=accept_falls=true` stores the new verdicts)"
        )


def changed(stored: Path, now: pd.DataFrame) -> Iterator[tuple[bool, str]]:
    """What is worse, better or printed otherwise than in a stored table: whether it is refused, and in words."""
    if not stored.is_file():
        return
    keys, column, order = ORDERS[stored.name]
    printed = PRINTED[stored.name]
    rows = pd.read_csv(stored, dtype=str, keep_default_na=False).set_index(keys)
    rows_now = now.astype(dict.fromkeys([*keys, column, printed], str)).set_index(keys)
    before, after = rows[column], rows_now[column]
    for key, verdict in before.items():
        entry = ", ".join(key) if isinstance(key, tuple) else f"claim {key}"
        # where the paper's TeX is not at hand, a printed number could be altered with the digest of its table
        if key in after.index and rows.at[key, printed] != rows_now.at[key, printed]:
            yield (
                True,
                f"{entry} was printed as {rows.at[key, printed]!r} and is now {rows_now.at[key, printed]!r}",
            )
        if key not in after.index:
            yield True, f"{entry} was '{verdict}' and is no longer listed"
        elif after[key] not in order or verdict not in order:
            continue  # stored by another version, whose verdicts were others
        elif after[key] != verdict:
            is_worse = order.index(after[key]) > order.index(verdict)
            yield is_worse, f"{entry} was '{verdict}' and is now '{after[key]}'"
