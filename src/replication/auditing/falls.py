"""Verdicts that are worse than the stored ones."""

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
    found = [
        fall for name, now in zip(ORDERS, (numbers, claims), strict=True) for fall in falls(folder / name, now)
    ]
    for fall in found:
        log.info("%s", fall)
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise NotAsStoredError(
            f"{found[0]}{more}: nothing was written (`make audit ARGS=accept_falls=true` stores the new verdicts)"
        )


def falls(stored: Path, now: pd.DataFrame) -> Iterator[str]:
    """What is worse than in a stored table, in words."""
    if not stored.is_file():
        return
    keys, column, order = ORDERS[stored.name]
    before = pd.read_csv(stored, dtype=str, keep_default_na=False).set_index(keys)[column]
    after = now.astype(dict.fromkeys([*keys, column], str)).set_index(keys)[column]
    for key, verdict in before.items():
        place = ", ".join(key) if isinstance(key, tuple) else f"claim {key}"
        if key not in after.index:
            yield f"{place} was '{verdict}' and is no longer listed"
        elif after[key] not in order or verdict not in order:
            continue  # stored by another version, whose verdicts were others
        elif order.index(after[key]) > order.index(verdict):
            yield f"{place} was '{verdict}' and is now '{after[key]}'"
