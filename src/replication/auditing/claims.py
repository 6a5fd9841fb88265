"""The paper's claims in words, each decided by stored tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import chi2, spearmanr

from replication import published
from replication.auditing import claims_data, claims_simulation  # noqa: F401 (their checks enter CHECKS)
from replication.auditing.claim import CHECKS, TITLES, Decided, Estimates, Estimator, Outcome, against, claim
from replication.auditing.claims_simulation import (
    Cells,
    by_draw,
    by_point,
    change_with_t,
    coverage_by_cell,
    draws_left_out,
    gain_rows,
)
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


# Claims of the abstract, the introduction and its list of contributions, over all sets or all simulations.


SMALL = 0.001  # p-value from which judges are said to differ
CALIBRATED = (
    1.1  # errors of a bootstrap over questions, over those of the intervals, up to which these are calibrated
)


@claim
def judges_differ(stored: Estimates) -> Decided:
    details, equal = [], 0
    for name, title in TITLES.items():
        fits = stored.table(f"complete_ranking/{name}/fits.csv").set_index("fit")
        ratio = 2 * (fits.at["judge_aware", "log_likelihood"] - fits.at["btl", "log_likelihood"])
        freedom = int(fits.at["btl", "judges"]) - 1
        equal += chi2.sf(ratio, freedom) > SMALL
        details.append(f"{title} {ratio:,.1f} on {freedom}")
    evidence = f"Likelihood-ratio statistics against equal judges, on degrees of freedom: {'; '.join(details)}."
    return against(equal, len(details)), evidence


@claim
def more_confidently_wrong(stored: Estimates) -> Decided:
    cells = coverage_by_cell(stored, "btl")
    change, error = change_with_t(cells, "coverage", "coverage_se")
    narrower = change_with_t(cells, "width")[0] < 0
    both = narrower & (change < -2 * error)
    evidence = (
        "From the smallest to the largest T the unweighted intervals become narrower and cover less, by more than "
        f"two errors: {by_draw(both)} (a cell being a setting under a truth)."
    )
    return against(int((~both).sum()), len(both)), evidence


@claim
def bias_stays(stored: Estimates) -> Decided:
    last = {m: coverage_by_cell(stored, m).groupby(level=[0, 1, 2]).last() for m in ("btl", "btl_rescaled")}
    low = {m: cells["coverage"] + 2 * cells["coverage_se"] < 0.95 for m, cells in last.items()}
    evidence = (
        f"At the largest T the unweighted intervals cover less than .95 by more than two errors: "
        f"{by_draw(low['btl'])}. Held against the truth on the scale of the unweighted fit (the truth times one "
        f"constant): {by_draw(low['btl_rescaled'])}."
    )
    return against(int((~low["btl"]).sum()), len(low["btl"])), evidence


@claim
def human_preferences(stored: Estimates) -> Decided:
    people = stored.table("model_comparison/chatbot_arena/people.csv").set_index("member").loc["btl"]
    arena = stored.table("chatbot_arena/fits.csv").set_index("fit")["spearman_human"]
    gains = {"Chatbot Arena (people)": arena["judge_aware"] - arena["btl"]}
    for name, columns in (
        ("mt_bench", ["mt_bench_score"]),
        ("ultrafeedback", ["alpaca_eval", "evol_instruct", "ultrachat"]),
    ):
        ours = stored.table(f"benchmark_alignment/{name}.csv").set_index("model")
        dimension_gains = [
            _agreement(name, c, ours["score_judge_aware"]) - _agreement(name, c, ours["score_btl"])
            for c in columns
        ]
        gains[f"{TITLES[name]} (rated by GPT-4)"] = float(np.mean(dimension_gains))
    n_higher, lost = (sum(side * gain > 1e-9 for gain in gains.values()) for side in (1, -1))
    details = "; ".join(f"{name} {gain:+.4f}" for name, gain in gains.items())
    evidence = (
        f"Spearman with each reference, weighted less unweighted: {details}. Of {len(gains)} references it is "
        f"higher with {n_higher} and lower with {lost}. On Chatbot Arena the unweighted fit is lower by "
        f"{-people['difference']:.4f} ({people['level']:.0%} interval over questions "
        f"{-people['difference_high']:.4f} to {-people['difference_low']:.4f})."
    )
    outcome = Outcome.HOLDS if n_higher == len(gains) else Outcome.PARTLY if n_higher > lost else Outcome.FAILS
    return outcome, evidence


def _agreement(name: str, column: str, scores: pd.Series) -> float:
    reference = published.numbers(name, column)
    return float(spearmanr(reference, scores.reindex(reference.index)).statistic)


@claim
def data_efficiency(stored: Estimates) -> Decided:
    parts, contrary, of = [], 0, 0
    for name, title in TITLES.items():
        rows = gain_rows(stored, name)
        gain = by_point(rows, "judge_aware_minus_btl")
        counts = f"{gain.negative} of {gain.count} points, by more than two errors {gain.clearly_negative}"
        parts.append(f"{title} {counts}.{draws_left_out(rows)}")
        contrary, of = contrary + gain.clearly_negative, of + gain.count
    return against(
        contrary, of
    ), f"Weighted behind unweighted, each against its own full-data fit: {' '.join(parts)}"


@claim
def low_budgets(stored: Estimates) -> Decided:
    parts, means = [], []
    for name, title in TITLES.items():
        rows = gain_rows(stored, name)
        smallest = rows["n_comparisons"].min()
        rows = rows[rows["n_comparisons"] == smallest]
        means.append(Cells(rows["judge_aware_minus_btl"], rows["standard_error"]).mean())
        parts.append(f"{title}, T = {smallest:,}: {means[-1].in_words()}.{draws_left_out(rows)}")
    gains = Cells(*(np.concatenate([getattr(mean, part) for mean in means]) for part in ("estimates", "errors")))
    evidence = (
        f"Gain at the smallest T, mean over the numbers of judges: {' '.join(parts)} It is a loss on "
        f"{gains.negative} of {gains.count} sets, by more than two errors on {gains.clearly_negative}."
    )
    return against(gains.clearly_negative, gains.count), evidence


@claim
def heterogeneous_pools(stored: Estimates) -> Decided:
    parts, contrary, of = [], 0, 0
    for name, title in TITLES.items():
        table = stored.table(f"mixed_judges/{name}/gains.csv")
        is_mixed = table["n_weak"].between(0, table["panel"], inclusive="neither")
        rows = table[is_mixed & (table["reference"] == "judge_aware")]
        gain = Cells(rows["judge_aware_minus_btl"], rows["standard_error"])
        counts = f"ahead {gain.clearly_positive}, behind {gain.clearly_negative} of {gain.count}"
        parts.append(f"{title} {counts}.{draws_left_out(rows[rows['measure'] == 'pearson'])}")
        contrary, of = contrary + gain.clearly_negative, of + gain.count
    evidence = f"Pools of weak and strong judges, both correlations, by more than two errors: {' '.join(parts)}"
    return against(contrary, of), f"{evidence} The reference is the full-data weighted fit, as in section 5.4."


@claim
def calibrated(stored: Estimates) -> Decided:
    details, narrow = [], 0
    for name, title in TITLES.items():
        row = stored.table(f"uncertainty/{name}/summary.csv").set_index("member").loc["judge_aware"]
        narrow += row["bootstrap_ratio"] > CALIBRATED
        details.append(f"{title} {row['bootstrap_ratio']:.2f}")
    evidence = (
        f"Standard errors of a bootstrap over questions, over those of the intervals: {'; '.join(details)}; above "
        f"{CALIBRATED} the intervals are called too narrow. In simulations see section 4.2."
    )
    return against(narrow, len(details)), evidence
