"""Claims of the abstract, the introduction and its list of contributions, over all sets or all simulations."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import chi2, spearmanr

from replication import published
from replication.auditing.claim import Decided, Outcome, against, claim, real
from replication.auditing.claims_simulation import by_draw, change_with_t, coverage_by_cell
from replication.auditing.claims_subsets import behind, gap_to_unweighted
from replication.auditing.finding import TITLES
from replication.auditing.results import Results

SUBSETS = "subsampling_efficiency/{}/correlation.csv"
SMALL = 0.001  # p-value from which judges are said to differ
CALIBRATED = (
    1.1  # errors of a bootstrap over questions, over those of the intervals, up to which these are calibrated
)


@claim
def judges_differ(results: Results) -> Decided:
    told, equal = [], 0
    for name, title in TITLES.items():
        fits = real(results, f"complete_ranking/{name}/fits.csv").set_index("fit")
        ratio = 2 * (fits.at["judge_aware", "log_likelihood"] - fits.at["btl", "log_likelihood"])
        freedom = int(fits.at["btl", "judges"]) - 1
        equal += chi2.sf(ratio, freedom) > SMALL
        told.append(f"{title} {ratio:,.1f} on {freedom}")
    shown = f"Likelihood-ratio statistics against equal judges, on degrees of freedom: {'; '.join(told)}."
    return against(equal, len(told)), shown


@claim
def more_confidently_wrong(results: Results) -> Decided:
    cells = coverage_by_cell(results, "btl")
    change, error = change_with_t(cells, "coverage", "coverage_se")
    narrower = change_with_t(cells, "width")[0] < 0
    both = narrower & (change < -2 * error)
    shown = (
        "From the smallest to the largest T the unweighted intervals become narrower and cover less, by more than "
        f"two errors: {by_draw(both)} (a cell being a setting under a truth)."
    )
    return against(int((~both).sum()), len(both)), shown


@claim
def bias_stays(results: Results) -> Decided:
    last = {m: coverage_by_cell(results, m).groupby(level=[0, 1, 2]).last() for m in ("btl", "btl_rescaled")}
    low = {m: cells["coverage"] + 2 * cells["coverage_se"] < 0.95 for m, cells in last.items()}
    shown = (
        f"At the largest T the unweighted intervals cover less than .95 by more than two errors: "
        f"{by_draw(low['btl'])}. Held against the truth on the scale of the unweighted fit (the truth times one "
        f"constant): {by_draw(low['btl_rescaled'])}."
    )
    return against(int((~low["btl"]).sum()), len(low["btl"])), shown


@claim
def human_preferences(results: Results) -> Decided:
    people = real(results, "model_comparison/chatbot_arena/people.csv").set_index("member").loc["btl"]
    arena = real(results, "chatbot_arena/fits.csv").set_index("fit")["spearman_human"]
    gains = {"Chatbot Arena (people)": arena["judge_aware"] - arena["btl"]}
    for name, columns in (
        ("mt_bench", ["mt_bench_score"]),
        ("ultrafeedback", ["alpaca_eval", "evol_instruct", "ultrachat"]),
    ):
        ours = real(results, f"benchmark_alignment/{name}.csv").set_index("model")
        found = [
            _agreement(name, c, ours["score_judge_aware"]) - _agreement(name, c, ours["score_btl"])
            for c in columns
        ]
        gains[f"{TITLES[name]} (rated by GPT-4)"] = float(np.mean(found))
    ahead, lost = (sum(side * gain > 1e-9 for gain in gains.values()) for side in (1, -1))
    told = "; ".join(f"{name} {gain:+.4f}" for name, gain in gains.items())
    shown = (
        f"Spearman with each reference, weighted less unweighted: {told}. Of {len(gains)} references it is higher "
        f"with {ahead} and lower with {lost}. On Chatbot Arena the unweighted fit is lower by "
        f"{-people['difference']:.4f} ({people['level']:.0%} interval over questions "
        f"{-people['difference_high']:.4f} to {-people['difference_low']:.4f})."
    )
    outcome = Outcome.HOLDS if ahead == len(gains) else Outcome.PARTLY if ahead > lost else Outcome.FAILS
    return outcome, shown


def _agreement(name: str, column: str, scores: pd.Series) -> float:
    reference = published.numbers(name, column)
    return float(spearmanr(reference, scores.reindex(reference.index)).statistic)


@claim
def data_efficiency(results: Results) -> Decided:
    told, contrary, of = [], 0, 0
    for name, title in TITLES.items():
        below, clearly, points = behind(results, SUBSETS.format(name))
        told.append(f"{title} {below} of {points} points, by more than two errors {clearly}")
        contrary, of = contrary + clearly, of + points
    return against(
        contrary, of
    ), f"Weighted behind unweighted, each against its own full-data fit: {'; '.join(told)}."


@claim
def low_budgets(results: Results) -> Decided:
    told, lost, clearly = [], 0, 0
    for name, title in TITLES.items():
        gap, error = gap_to_unweighted(results, SUBSETS.format(name))
        first = gap.columns[0]
        gain, off = gap[first].mean(), np.sqrt((error[first] ** 2).sum()) / len(error)
        lost, clearly = lost + (gain <= 0), clearly + (gain < -2 * off)
        told.append(f"{title}, T = {first:,}: {gain:+.3f} (error {off:.3f})")
    shown = (
        f"Gain at the smallest T, mean over the numbers of judges: {'; '.join(told)}. It is a loss on {lost} of "
        f"{len(told)} sets, by more than two errors on {clearly}."
    )
    return against(clearly, len(told)), shown


@claim
def heterogeneous_pools(results: Results) -> Decided:
    told, contrary, of = [], 0, 0
    for name, title in TITLES.items():
        table = real(results, f"mixed_judges/{name}/sweep.csv")
        mixed = table[
            table["share_weak"].between(0, 1, inclusive="neither") & (table["reference"] == "judge_aware")
        ]
        cells = mixed.pivot(index=["share_weak", "measure"], columns="method", values=["mean", "standard_error"])
        gain = cells["mean"]["judge_aware"] - cells["mean"]["btl"]
        error = np.hypot(cells["standard_error"]["judge_aware"], cells["standard_error"]["btl"])
        lost = int((gain < -2 * error).sum())
        told.append(f"{title} ahead {int((gain > 2 * error).sum())}, behind {lost} of {len(gain)}")
        contrary, of = contrary + lost, of + len(gain)
    shown = f"Pools of weak and strong judges, both correlations, by more than two errors: {'; '.join(told)}."
    return against(contrary, of), f"{shown} The reference is the full-data weighted fit, as in section 5.4."


@claim
def calibrated(results: Results) -> Decided:
    told, narrow = [], 0
    for name, title in TITLES.items():
        row = real(results, f"uncertainty/{name}/summary.csv").set_index("member").loc["judge_aware"]
        narrow += row["bootstrap_ratio"] > CALIBRATED
        told.append(f"{title} {row['bootstrap_ratio']:.2f}")
    shown = (
        f"Standard errors of a bootstrap over questions, over those of the intervals: {'; '.join(told)}; above "
        f"{CALIBRATED} the intervals are called too narrow. In simulations see section 4.2."
    )
    return against(narrow, len(told)), shown
