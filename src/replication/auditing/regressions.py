"""Verdicts that are worse than the stored ones, those that are better, and printed numbers that were others."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from replication.auditing.audit import OTHERS, RESULTS, Verdict
from replication.auditing.claim import Outcome
from replication.errors import NotAsStoredError

log = logging.getLogger("replication")
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
