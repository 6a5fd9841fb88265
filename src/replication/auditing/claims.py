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
from replication.auditing.claim import CHECKS, Estimates, Estimator, Outcome
from replication.auditing.results import Missing, Results


def decide(name: str, stored: Estimates) -> tuple[Outcome, str]:
    """The outcome of a claim by one estimator, and what the stored tables show; or what is missing."""
    try:
        return CHECKS[name](stored)
    except (Missing, KeyError, IndexError) as error:
        missing = str(error) if isinstance(error, Missing) else f"there is no entry {error}"
        return Outcome.UNCHECKED, missing


def claims(results: Results) -> pd.DataFrame:
    """Every claim with what the stored tables say of it.

    Returns
    -------
    DataFrame
        ``id, place, statement, fits, estimator, measure``, as the list of claims has them; ``outcome`` and
        ``shown`` by this estimator; ``algorithm_1``, the outcome by the paper's own algorithm where its estimates
        are stored, else empty; ``others``, what Algorithm A.1 and any estimator with another outcome give,
        in words; ``tables`` that were read.
    """
    rows = []
    for name, row in published.table("claims").iterrows():
        stored = Estimates(results, Estimator(row["estimator"]))
        outcome, evidence = decide(name, stored)
        by_others = _by_others(name, stored)
        by_all = {stored.estimator: (outcome, evidence), **by_others}
        algorithm_1 = by_all.get(Estimator.ALGORITHM_1, (Outcome.UNCHECKED,))[0]
        worded = {by: of for by, of in by_others.items() if by == Estimator.ALGORITHM_1 or of[0] != outcome}
        by_other_estimators = " ".join(
            f"By the {ESTIMATES[by]}: {other_outcome}. {text}" for by, (other_outcome, text) in worded.items()
        )
        listed = {key: row[key] for key in ("place", "statement", "fits", "estimator", "measure")}
        decided = {"outcome": outcome, "shown": evidence, "others": by_other_estimators}
        decided["algorithm_1"] = "" if algorithm_1 == Outcome.UNCHECKED else algorithm_1
        rows.append({"id": name} | listed | decided | {"tables": stored.read})
    return pd.DataFrame(rows)


ESTIMATES = {
    Estimator.EXACT: "exact fit",
    Estimator.BOX: "fit over a box",
    Estimator.ALGORITHM_1: "paper's Algorithm A.1",
}


def _by_others(name: str, stored: Estimates) -> dict[Estimator, tuple[Outcome, str]]:
    """Outcomes by the other estimators whose estimates are stored; their tables count as read."""
    decided = {}
    for estimator in ESTIMATES if stored.estimator else ():
        if estimator != stored.estimator:
            other_estimates = Estimates(stored.results, estimator)
            outcome = decide(name, other_estimates)
            if outcome[0] != Outcome.UNCHECKED:
                decided[estimator] = outcome
                stored.read.extend(table for table in other_estimates.read if table not in stored.read)
    return decided


def outcomes(decided: pd.DataFrame) -> pd.DataFrame:
    """How many claims have which outcome."""
    counts = decided["outcome"].value_counts().reindex(list(Outcome), fill_value=0)
    return pd.DataFrame({"claims": [len(decided)]} | {str(name): [count] for name, count in counts.items()})
