"""Verdicts that are worse than the stored ones, and those that are better."""

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
        If one is worse, or is no longer there.
    """
    tables = zip(ORDERS, (numbers, claims), strict=True)
    changes = [change for name, now in tables for change in changed(folder / name, now)]
    for _, told in changes:
        log.info("%s", told)
    found = [told for is_worse, told in changes if is_worse]
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise NotAsStoredError(
            f"{found[0]}{more}: nothing was written (`make audit ARGS=accept_falls=true` stores the new verdicts)"
        )


def changed(stored: Path, now: pd.DataFrame) -> Iterator[tuple[bool, str]]:
    """What is worse or better than in a stored table: whether it is worse, and in words."""
    if not stored.is_file():
        return
    keys, column, order = ORDERS[stored.name]
    before = pd.read_csv(stored, dtype=str, keep_default_na=False).set_index(keys)[column]
    after = now.astype(dict.fromkeys([*keys, column], str)).set_index(keys)[column]
    for key, verdict in before.items():
        place = ", ".join(key) if isinstance(key, tuple) else f"claim {key}"
        if key not in after.index:
            yield True, f"{place} was '{verdict}' and is no longer listed"
        elif after[key] not in order or verdict not in order:
            continue  # stored by another version, whose verdicts were others
        elif after[key] != verdict:
            is_worse = order.index(after[key]) > order.index(verdict)
            yield is_worse, f"{place} was '{verdict}' and is now '{after[key]}'"
