"""The paper's claims in words, each decided by stored tables."""

from __future__ import annotations

import pandas as pd

from replication import published
from replication.auditing import (  # noqa: F401 (their checks enter CHECKS)
    claims_data,
    claims_judges,
    claims_simulation,
    claims_subsets,
    claims_summary,
)
from replication.auditing.claim import CHECKS, Outcome, tables_of
from replication.auditing.results import Missing, Results


def claims(results: Results) -> pd.DataFrame:
    """Every claim with what the stored tables say of it.

    Returns
    -------
    DataFrame
        ``id, place, statement, outcome, shown, tables``.
    """
    table = published.table("claims")
    rows = []
    for name, row in table.iterrows():
        try:
            outcome, shown = CHECKS[name](results)
        except (Missing, KeyError, IndexError) as error:
            told = str(error) if isinstance(error, Missing) else f"there is no entry {error}"
            outcome, shown = Outcome.UNCHECKED, told
        place, statement = row["place"], row["statement"]
        rows.append((name, place, statement, outcome, shown, tables_of(row["tables"])))
    return pd.DataFrame(rows, columns=["id", "place", "statement", "outcome", "shown", "tables"])


def outcomes(decided: pd.DataFrame) -> pd.DataFrame:
    """How many claims have which outcome."""
    counts = decided["outcome"].value_counts().reindex(list(Outcome), fill_value=0)
    return pd.DataFrame({"claims": [len(decided)]} | {str(name): [count] for name, count in counts.items()})
