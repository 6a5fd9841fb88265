"""Claims about the rankings of the four sets (section 5, appendices F.1 and F.4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm, spearmanr

from replication import published
from replication.auditing.claim import PUBLIC, TITLES, Decided, Estimates, Estimator, Outcome, against, claim
from replication.auditing.registry import PICKED_BY_HAND, QUARTET, place_in_table_1, same_order
from replication.auditing.results import Missing
from replication.judge_models import all_parameters, printed_sizes

FITS = ("judge_aware", "btl")
STOPPED_ITERATE = "judge_reliability/stopped_iterate.csv"  # of Algorithm A.1 on UltraFeedback
TOP_FOUR = ["gpt-4", "claude-v1", "claude-instant-v1", "gpt-3.5-turbo"]
NO_RATINGS = (
    "needs the ratings of openbmb/UltraFeedback (`make benchmark_alignment` where the hub can be reached, or "
    "ARGS=ratings=FILE); a public table of their means by model was searched for and not found"
)
SWAPS = (
    {"Qwen/Qwen3-Next-80B-A3B-Thinking", "google/gemma-3n-E4B-it"},
    {"deepcogito/cogito-v2-preview-llama-70B", "deepcogito/cogito-v2-preview-llama-405B"},
)


def _by_model(stored: Estimates, name: str) -> pd.DataFrame:
    return stored.table(name).set_index("model")


@claim
def graphs_connected(stored: Estimates) -> Decided:
    n_disconnected, details = 0, []
    for name, title in TITLES.items():
        pairs = stored.table(f"data_overview/{name}/pairs.csv")
        pairs = pairs[pairs["comparisons"] > 0]
        models = pd.Index(pd.unique(pairs[["model_1", "model_2"]].to_numpy().ravel()))
        ends = models.get_indexer(pairs["model_1"]), models.get_indexer(pairs["model_2"])
        graph = coo_array((np.ones(len(pairs)), ends), shape=(len(models), len(models)))
        parts = connected_components(graph, directed=False)[0]
        is_connected = parts == 1 and len(models) == stored.table(f"data_overview/{name}/size.csv").at[0, "models"]
        n_disconnected += not is_connected
        details.append(f"{title} {len(models)} models in {parts} part{'s' if parts > 1 else ''}")
    return against(n_disconnected, len(details)), f"{'; '.join(details)}."


@claim
def mt_bench_order(stored: Estimates) -> Decided:
    ours = _by_model(stored, "benchmark_alignment/mt_bench.csv")
    official = published.numbers("mt_bench", "mt_bench_score")
    correlations = {f: spearmanr(official, ours[f"score_{f}"].reindex(official.index)).statistic for f in FITS}
    contrary = sum(not np.isclose(value, 1) for value in correlations.values())
    details = ", ".join(f"{name} {value:.3f}" for name, value in correlations.items())
    return against(contrary, len(correlations)), f"Rank correlation with the MT-Bench scores: {details}."


@claim
def gpt_4_first_mt_bench(stored: Estimates) -> Decided:
    ranks = stored.table("benchmark_alignment/mt_bench.csv").set_index("model")
    leads = stored.table("benchmark_alignment/lead.csv").query("dataset == 'mt_bench'")
    details, first = [], 0
    for row in leads.itertuples():
        rank = ranks.at["gpt-4", f"rank_{row.fit}"]
        first += rank == 1
        details.append(
            f"{row.fit} rank {rank}, {row.first} before {row.second} by {row.difference:.3f} (error "
            f"{row.standard_error:.3f})"
        )
    settled = int((leads["difference"] > 2 * leads["standard_error"]).sum())
    among = place_in_table_1(ranks.reset_index(), "rank_judge_aware", stored.results)
    evidence = (
        f"Of all {len(ranks)} models: {'; '.join(details)}; beyond two errors in {settled} of {len(leads)} fits. "
        f"Among the five models of Table 1 its judge-aware rank is {among:.0f}."
    )
    if first == len(leads):
        return Outcome.HOLDS, evidence
    return Outcome.PARTLY if first or among == 1 else Outcome.FAILS, evidence


def _narrower(stored: Estimates, name: str) -> tuple[bool, str]:
    fits = stored.table(name).set_index("fit")
    width, pairs = fits["mean_width"], fits["separated"]
    evidence = (
        f"width {width['judge_aware']:.3f} against {width['btl']:.3f}, separated pairs {pairs['judge_aware']} "
    )
    return bool(width["judge_aware"] < width["btl"]), f"{evidence}against {pairs['btl']}"


@claim
def shorter_in_house(stored: Estimates) -> Decided:
    shorter, evidence = _narrower(stored, "complete_ranking/in_house/fits.csv")
    return Outcome.HOLDS if shorter else Outcome.FAILS, f"Weighted against unweighted: {evidence}."


@claim
def shorter_arena(stored: Estimates) -> Decided:
    shorter, evidence = _narrower(stored, "chatbot_arena/fits.csv")
    return Outcome.HOLDS if shorter else Outcome.FAILS, f"Weighted against unweighted: {evidence}."


@claim
def more_precise_rankings(stored: Estimates) -> Decided:
    parts, fewer = [], 0
    for name in ("in_house", "chatbot_arena"):  # the two sets that the paper speaks of
        pairs = stored.table(f"complete_ranking/{name}/fits.csv").set_index("fit")["separated"]
        fewer += pairs["judge_aware"] <= pairs["btl"]
        parts.append(f"{TITLES[name]} {pairs['judge_aware']} against {pairs['btl']}")
    return against(fewer, len(parts)), f"Pairs that differ significantly (Holm): {'; '.join(parts)}."


def _arena(stored: Estimates) -> pd.DataFrame:
    return _by_model(stored, "chatbot_arena/ranking.csv")


@claim
def arena_top_four(stored: Estimates) -> Decided:
    ranking = _arena(stored)
    ranks = ranking.loc[TOP_FOUR, "rank_judge_aware"].tolist()
    ends = ", ".join(
        f"{name} {row['score_judge_aware']:.3f} ({row['low_judge_aware']:.3f} to {row['high_judge_aware']:.3f})"
        for name, row in ranking.loc[TOP_FOUR[:3]].iterrows()
    )
    top = ranking.loc[TOP_FOUR[:3]]
    inside = top["low_judge_aware"].max() < top["score_judge_aware"].min()
    evidence = f"Ranks {', '.join(map(str, ranks))}. Scores of the first three, with 95% intervals: {ends}"
    evidence += "; each lies inside the intervals of the others." if inside else "."
    return Outcome.HOLDS if ranks == [1, 2, 3, 4] else Outcome.FAILS, evidence


@claim
def arena_gpt_4(stored: Estimates) -> Decided:
    ranking = _arena(stored)
    ranks = {f: ranking.loc[TOP_FOUR[:3], f"rank_{f}"].tolist() for f in FITS}
    is_as_stated = [ranks["judge_aware"][0] == 1, ranks["btl"][0] == 3 and max(ranks["btl"][1:]) < 3]
    evidence = f"Ranks of GPT-4 and the two Claudes: weighted {ranks['judge_aware']}, unweighted {ranks['btl']}."
    return against(is_as_stated.count(False), 2), evidence


@claim
def vicunas_by_size(stored: Estimates) -> Decided:
    ranks = _arena(stored)["rank_judge_aware"]
    evidence = f"Weighted ranks {ranks['vicuna-13b']} and {ranks['vicuna-7b']}."
    return Outcome.HOLDS if ranks["vicuna-13b"] < ranks["vicuna-7b"] else Outcome.FAILS, evidence


@claim
def vicunas_reversed(stored: Estimates) -> Decided:
    scores = _arena(stored)["score_btl"]
    evidence = f"Unweighted scores {scores['vicuna-13b']:.3f} (13B) and {scores['vicuna-7b']:.3f} (7B)."
    return Outcome.HOLDS if scores["vicuna-13b"] < scores["vicuna-7b"] else Outcome.FAILS, evidence


@claim
def quartet_order(stored: Estimates) -> Decided:
    rows, people = stored.table("chatbot_arena/ranking.csv"), stored.table("chatbot_arena/human.csv")
    same_orders = {f: same_order(rows, f"rank_{f}", stored.results) for f in FITS}
    order = people.set_index("model")["elo"][QUARTET].sort_values(ascending=False).index
    evidence = (
        f"By people: {' > '.join(order)}. In that order: weighted {same_orders['judge_aware']:.0f} of "
        "4, unweighted "
    )
    return Outcome.HOLDS if same_orders[
        "judge_aware"
    ] == 4 else Outcome.FAILS, f"{evidence}{same_orders['btl']:.0f} of 4."


@claim
def anomalies(stored: Estimates) -> Decided:
    people = _by_model(stored, "chatbot_arena/human.csv")["elo"].rank(ascending=False)
    ranking, details, contrary = _arena(stored), [], 0
    for name in ("RWKV-4-Raven-14B", "gpt-4"):
        weighted, unweighted = (int(ranking.at[name, f"rank_{f}"]) for f in FITS)
        contrary += abs(weighted - people[name]) >= abs(unweighted - people[name])
        details.append(f"{name} by people {people[name]:.0f}, weighted {weighted}, unweighted {unweighted}")
    return against(contrary, 2), f"{'; '.join(details)}."


@claim
def human_agreement(stored: Estimates) -> Decided:
    fits = stored.table("chatbot_arena/fits.csv").set_index("fit")["spearman_human"]
    evidence = (
        f"Spearman {fits['judge_aware']:.4f} against {fits['btl']:.4f}, over 20 models, stored without errors."
    )
    return Outcome.HOLDS if fits["judge_aware"] > fits["btl"] else Outcome.FAILS, evidence


@claim
def figure_3(stored: Estimates) -> Decided:
    try:
        rated = stored.table("benchmark_alignment/ratings.csv").pivot(
            index="model", columns="dimension", values="rating"
        )
    except Missing as missing:
        raise Missing(f"{NO_RATINGS}; {missing}") from missing
    scores = _by_model(stored, "benchmark_alignment/ultrafeedback.csv")["score_judge_aware"].reindex(rated.index)
    tests = {name: spearmanr(rated[name], scores, nan_policy="omit") for name in rated}
    weak = sum(test.statistic <= 0 or test.pvalue > 0.05 for test in tests.values())
    details = ", ".join(f"{name} {test.statistic:.2f} (p = {test.pvalue:.3f})" for name, test in tests.items())
    return against(weak, len(tests)), f"Rank correlation of mean ratings and weighted scores: {details}."


def _ultrafeedback_scores(stored: Estimates) -> pd.DataFrame:
    """Scores of the models of Table A.6 by fit; by Algorithm A.1 those of the weighted fit alone are stored."""
    if stored.estimator == Estimator.ALGORITHM_1:
        iterate = stored.table(STOPPED_ITERATE).query("column == 'score_judge_aware'").set_index("row")
        scores = pd.DataFrame({"judge_aware": iterate["estimate"]})
    else:
        table = _by_model(stored, "benchmark_alignment/ultrafeedback.csv")
        scores = pd.DataFrame({fit: table[f"score_{fit}"] for fit in FITS})
    return scores.loc[published.table("ultrafeedback").index]


@claim
def ultrafeedback_align(stored: Estimates) -> Decided:
    ours, parts, tests = _ultrafeedback_scores(stored), [], []
    for column in ("alpaca_eval", "evol_instruct", "ultrachat"):
        printed = published.numbers("ultrafeedback", column)
        by_fit = {fit: spearmanr(printed, scores) for fit, scores in ours.items()}
        tests += by_fit.values()
        parts.append(f"{column} {', '.join(f'{fit} {test.statistic:.2f}' for fit, test in by_fit.items())}")
    significant = sum(test.pvalue < 0.05 for test in tests)
    negative = sum(test.statistic <= 0 for test in tests)
    evidence = (
        f"Rank correlation over the five models of Table A.6: {'; '.join(parts)}. "
        f"Significant at 5%: {significant} of {len(tests)}."
    )
    if negative:
        return against(negative, len(tests)), evidence
    return Outcome.HOLDS if significant == len(tests) else Outcome.PARTLY, evidence


@claim
def ultrafeedback_wizard(stored: Estimates) -> Decided:
    ours, parts, contrary = _ultrafeedback_scores(stored), [], 0
    for fit, scores in ours.items():
        highest = scores.sort_values(ascending=False).head(2)
        contrary += highest.index[0] != "wizardlm-13b"
        parts.append(f"{fit}: {', '.join(f'{name} {value:.3f}' for name, value in highest.items())}")
    return against(contrary, ours.shape[1]), f"Highest of the five shown: {'; '.join(parts)}."


@claim
def ultrafeedback_ultralm(stored: Estimates) -> Decided:
    scores = _ultrafeedback_scores(stored).loc["ultralm-13b"]
    by_fit = ", ".join(f"{fit} {score:.3f}" for fit, score in scores.items())
    return against(int((scores >= 0).sum()), len(scores)), f"Scores {by_fit}."


@claim
def ties_public(stored: Estimates) -> Decided:
    parts, changed = [], 0
    for name in PUBLIC:
        ranks = _by_model(stored, f"tie_handling/{name}/ranks.csv")
        changed_ranks = ranks[ranks["move_judge_aware"] != 0]
        changed += len(changed_ranks) > 0
        scores = ", ".join(
            f"{model} {score:.3f}" for model, score in changed_ranks["score_judge_aware_half"].items()
        )
        parts.append(f"{TITLES[name]} {len(changed_ranks)}{f' (scores {scores})' if scores else ''}")
    return against(changed, len(PUBLIC)), f"Models whose weighted rank changes: {'; '.join(parts)}."


@claim
def ties_in_house(stored: Estimates) -> Decided:
    ranks = _by_model(stored, "tie_handling/in_house/ranks.csv")
    changed_models = ranks.index[ranks["move_judge_aware"] != 0]
    named = set().union(*SWAPS)
    traded = sum(pair <= set(changed_models) for pair in SWAPS)
    outcome = Outcome.HOLDS if set(changed_models) == named else Outcome.PARTLY if traded else Outcome.FAILS
    other_models = ", ".join(sorted(set(changed_models) - named)) or "none"
    return (
        outcome,
        (
            f"{len(changed_models)} weighted ranks change; {traded} of 2 named pairs among them; others: "
            f"{other_models}."
        ),
    )


@claim
def ties_widths(stored: Estimates) -> Decided:
    fits = stored.table("tie_handling/in_house/fits.csv").query("fit == 'judge_aware'").set_index("ties")
    with_ties, without_ties = fits.at["half", "mean_width"], fits.at["dropped", "mean_width"]
    evidence = (
        f"{with_ties:.4f} with ties, {without_ties:.4f} without ({without_ties / with_ties - 1:+.1%}; "
        "printed 0.185 and 0.195)."
    )
    return Outcome.HOLDS if with_ties < without_ties < 1.1 * with_ties else Outcome.FAILS, evidence


# Claims about the judges (section 5.4, appendices D.2, F.3, F.5 and F.6).


UNFILTERED = ["evol_instruct", "sharegpt", "ultrachat"]  # parts of the pool with about as many rows


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
