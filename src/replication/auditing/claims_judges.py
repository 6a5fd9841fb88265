"""Claims about the judges (section 5.4, appendices D.2, F.3, F.5 and F.6)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import norm, spearmanr

from replication import published
from replication.auditing.claim import Decided, Estimates, Estimator, Outcome, against, claim
from replication.auditing.claims_data import STOPPED_ITERATE
from replication.auditing.finding import TITLES
from replication.auditing.readings import PICKED_BY_HAND
from replication.auditing.results import Missing
from replication.model_sizes import all_parameters, printed_sizes

UNFILTERED = [
    "evol_instruct",
    "sharegpt",
    "ultrachat",
]  # parts of the pool with about as many rows


def _pool(stored: Estimates) -> pd.DataFrame:
    """Correlations of both fits of the pool with the full-data weighted fit, by method and measure."""
    estimates = _pool_estimates(stored)
    measures = ("pearson", "spearman")
    return pd.DataFrame({m: {fit: estimates[f"{m}_{fit}"] for fit in ("judge_aware", "btl")} for m in measures})


def _pool_estimates(stored: Estimates) -> pd.Series:
    """The numbers of Table 2 and section 5.4, by name."""
    return stored.table("unstated_settings/table_2.csv").set_index("name")["estimate"]


@claim
def mixed_pool_gain(stored: Estimates) -> Decided:
    pool = _pool(stored)
    gain = pool.loc["judge_aware"] - pool.loc["btl"]
    details = ", ".join(f"{m} {pool.at['btl', m]:.4f} to {pool.at['judge_aware', m]:.4f}" for m in gain.index)
    evidence = f"{details}. One pool; the reference is the weighted fit itself, on data that contain the pool's."
    return against(int((gain <= 0).sum()), len(gain)), evidence


@claim
def mixed_pool_ranks(stored: Estimates) -> Decided:
    pool = _pool(stored)
    gain = pool.loc["judge_aware"] - pool.loc["btl"]
    evidence = f"Gains: Spearman {gain['spearman']:.4f}, Pearson {gain['pearson']:.4f}."
    return Outcome.HOLDS if gain["spearman"] > gain["pearson"] else Outcome.FAILS, evidence


@claim
def mixed_pool_top(stored: Estimates) -> Decided:
    pool = published.table("mixed_judges").index
    gamma = _pool_estimates(stored).reindex(pool).sort_values(ascending=False)
    highest = "; ".join(f"{judge} {value:.2f}" for judge, value in gamma.head(3).items())
    first = gamma.index[:2].tolist()
    in_order = first == ["kimi-k2-thinking-turbo", "moonshot-v1-128k"]
    outcome = Outcome.HOLDS if in_order else Outcome.PARTLY if set(first) & PICKED_BY_HAND else Outcome.FAILS
    return outcome, f"Highest: {highest}."


@claim
def mixed_pool_noise(stored: Estimates) -> Decided:
    table = stored.table("mixed_judges/in_house/discrimination.csv").set_index("judge")
    row = table.loc["deepseek-ai/DeepSeek-R1-Distill-Llama-70B"]
    lowest = row["discrimination"] == table["discrimination"].min()
    evidence = (
        f"{row['discrimination']:.3f} ({row['low']:.3f} to {row['high']:.3f}){', the lowest' if lowest else ''}"
    )
    may_be_zero = _may_be_zero(row)
    outcome = (
        Outcome.HOLDS if lowest and may_be_zero else Outcome.PARTLY if lowest or may_be_zero else Outcome.FAILS
    )
    remark = "zero is within" if may_be_zero else "zero is not within"
    return outcome, f"{evidence}; {remark} two errors of gamma; printed 0.046."


def _may_be_zero(row: pd.Series) -> bool:
    """Whether zero is within two errors of gamma; the interval in the logarithm never holds zero."""
    if row["status"] == "zero":
        return True
    of_log = np.log(row["high"] / row["low"]) / (2 * norm.ppf(0.975))
    return bool(2 * of_log >= 1)  # to first order the error of gamma is gamma times that of its logarithm


@claim
def glm_near_zero(stored: Estimates) -> Decided:
    row = stored.table("complete_ranking/in_house/judges.csv").set_index("judge").loc["zai-org/GLM-4.5-Air-FP8"]
    evidence = f"{row['discrimination']:.3f}, status {row['status']}."
    return Outcome.HOLDS if _may_be_zero(row) else Outcome.FAILS, evidence


@claim
def judges_all_used(stored: Estimates) -> Decided:
    used = set(stored.table("data_overview/in_house/judges.csv")["judge"])
    listed = set(published.table("judge_llms").index) - {
        "marin-community/marin-8b-instruct",
        "arcee_ai/arcee-spotlight",
    }
    absent, more = sorted(listed - used), sorted(used - listed)
    evidence = f"Listed and not in the file: {', '.join(absent) or 'none'}. In the file and not listed: "
    return against(len(absent) + len(more), len(listed)), f"{evidence}{', '.join(more) or 'none'}."


@claim
def in_house_questions(stored: Estimates) -> Decided:
    files = stored.table("data_overview/in_house/question_files.csv")
    pool = published.cited().query("table == 'ultrafeedback_pool'").set_index("row")["value"].astype(int)
    named, rows = int(files["rows_named"].sum()), int(files["rows"].sum())
    evidence = (
        f"The ids of the questions name the files {' and '.join(files['file'])}, {named:,} rows together; "
        f"openbmb/UltraFeedback has {pool['all']:,}. Their indices need at least {rows:,} rows; its parts "
        f"{', '.join(UNFILTERED)} have {pool[UNFILTERED].sum():,}."
    )
    if rows > pool["all"]:
        return Outcome.FAILS, evidence
    return Outcome.HOLDS if named == pool["all"] else Outcome.PARTLY, evidence


def _discriminations(stored: Estimates) -> pd.DataFrame:
    table = stored.table("judge_reliability/discrimination.csv")
    table = table[table["dataset"].isin(["mt_bench", "ultrafeedback"])]
    both = table.pivot(index="judge", columns="dataset", values=["discrimination", "low", "high"])
    if both.empty:
        raise Missing("no judge has both discriminations")
    return both


def correlations_by_set(gamma: pd.DataFrame, numbers: pd.Series) -> dict[str, tuple[float, float]]:
    """Rank correlation of a number of each judge with its discrimination, and its p-value, by set."""
    return {name: tuple(spearmanr(numbers, gamma[name].reindex(numbers.index))) for name in gamma}


def correlations_text(correlations: dict[str, tuple[float, float]]) -> str:
    """Correlations with their p-values in words."""
    return ", ".join(f"{TITLES[name]} {rank:.2f} (p = {p:.3f})" for name, (rank, p) in correlations.items())


def gamma_by_set(stored: Estimates) -> pd.DataFrame:
    """Discriminations by judge on the two sets of Table A.8; by Algorithm A.1 those on UltraFeedback alone."""
    if stored.estimator == Estimator.ALGORITHM_1:
        iterate = stored.table(STOPPED_ITERATE).query("column == 'ultrafeedback'").set_index("row")
        return pd.DataFrame({"ultrafeedback": iterate["estimate"]})
    return _discriminations(stored)["discrimination"]


@claim
def size_and_gamma(stored: Estimates) -> Decided:
    gamma = gamma_by_set(stored)
    printed, every = (correlations_by_set(gamma, sizes.dropna()) for sizes in (printed_sizes(), all_parameters()))
    contrary = sum(rank <= 0 or p > 0.05 for rank, p in printed.values())
    evidence = (
        f"Rank correlation of the printed size and discrimination: {correlations_text(printed)}. With all "
        f"parameters of every judge (see the findings): {correlations_text(every)}."
    )
    return against(contrary, len(printed)), evidence


@claim
def size_not_enough(stored: Estimates) -> Decided:
    sizes = all_parameters().dropna()
    details, without = [], 0
    for name, gamma in gamma_by_set(stored).reindex(sizes.index).items():
        large, high = sizes > sizes.median(), gamma > gamma.median()
        counts = int((large & ~high).sum()), int((~large & high).sum())
        without += min(counts) == 0
        details.append(
            f"{TITLES[name]} {counts[0]} large judges with a low one, {counts[1]} small ones with a high one"
        )
    return against(
        without, len(details)
    ), f"Size and discrimination, each split at its median: {'; '.join(details)}."


@claim
def tokens_and_gamma(stored: Estimates) -> Decided:
    gamma = gamma_by_set(stored)
    printed, cited = (
        published.table("judge_discrimination")["tokens"],
        published.cited().query("column == 'tokens'"),
    )
    tokens = printed[printed.str.endswith("T")].str.removesuffix("T").astype(float)
    makers = cited.set_index("row")["value"].reindex(tokens.index).str.removesuffix("T").astype(float)
    correlations = correlations_by_set(gamma, tokens)
    positive = [rank > 0 for rank, _ in correlations.values()]
    significant = all(p < 0.05 for _, p in correlations.values())
    evidence = (
        f"Rank correlation of the printed token count and discrimination, {len(tokens)} judges: "
        f"{correlations_text(correlations)}; with the counts that their makers state: "
        f"{correlations_text(correlations_by_set(gamma, makers))}."
    )
    outcome = Outcome.HOLDS if significant else Outcome.PARTLY
    return (outcome if all(positive) else against(positive.count(False), len(positive))), evidence


@claim
def gamma_stable(stored: Estimates) -> Decided:
    gamma = _discriminations(stored)["discrimination"].dropna()
    low, correlation = _fisher(gamma["mt_bench"], gamma["ultrafeedback"])
    printed = [published.numbers("judge_discrimination", name) for name in ("mt_bench", "ultrafeedback")]
    rank = spearmanr(*gamma.to_numpy().T).statistic
    evidence = (
        f"Ours: Pearson {correlation:.2f} (95% from {low:.2f}), Spearman {rank:.2f}, {len(gamma)} judges; the "
        f"printed columns: Pearson {np.corrcoef(*printed)[0, 1]:.2f}. Four of the judges may be one model."
    )
    return Outcome.HOLDS if low > 0.5 else Outcome.PARTLY if low > 0 else Outcome.FAILS, evidence


def _fisher(x: pd.Series, y: pd.Series) -> tuple[float, float]:
    """Lower end of the 95% interval of a Pearson correlation (Fisher's z), and the correlation."""
    correlation = float(np.corrcoef(x, y)[0, 1])
    return float(np.tanh(np.arctanh(correlation) - 1.96 / np.sqrt(len(x) - 3))), correlation


@claim
def gamma_diagonal(stored: Estimates) -> Decided:
    both = _discriminations(stored).dropna()
    is_disjoint = (both["low"]["mt_bench"] > both["high"]["ultrafeedback"]) | (
        both["high"]["mt_bench"] < both["low"]["ultrafeedback"]
    )
    ours = int((both["discrimination"]["ultrafeedback"] < both["discrimination"]["mt_bench"]).sum())
    printed = [published.numbers("judge_discrimination", name) for name in ("mt_bench", "ultrafeedback")]
    below = int((printed[1] < printed[0]).sum())
    evidence = (
        f"Intervals of the two sets do not overlap for {int(is_disjoint.sum())} of {len(is_disjoint)} judges with "
        f"two intervals. Below the diagonal (UltraFeedback smaller): {ours} of these, {below} of "
        f"{len(printed[0])} printed."
    )
    return against(int(is_disjoint.sum()), len(is_disjoint)), evidence


@claim
def length_signs(stored: Estimates) -> Decided:
    slopes = stored.table("length_covariate/in_house/slopes.csv")
    up, down = int((slopes["low_slope"] > 0).sum()), int((slopes["high_slope"] < 0).sum())
    evidence = (
        f"Intervals above zero {up}, below {down}, with zero inside {len(slopes) - up - down} of {len(slopes)}."
    )
    n_signs = sum(count > 0 for count in (up, down, len(slopes) - up - down))
    return {3: Outcome.HOLDS, 2: Outcome.PARTLY}.get(n_signs, Outcome.FAILS), evidence


@claim
def length_ranks(stored: Estimates) -> Decided:
    row = stored.table("length_covariate/in_house/test.csv").iloc[0]
    evidence = f"Spearman {row['spearman']:.4f}, largest change of rank {row['largest_rank_change']:.0f}."
    return Outcome.HOLDS if row["largest_rank_change"] <= 1 and row["spearman"] > 0.99 else Outcome.FAILS, evidence
