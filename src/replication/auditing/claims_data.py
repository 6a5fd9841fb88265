"""Claims about the rankings of the four sets (section 5, appendices F.1 and F.4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import spearmanr

from replication import published
from replication.auditing.claim import Decided, Estimates, Estimator, Outcome, against, claim
from replication.auditing.finding import PUBLIC, TITLES
from replication.auditing.readings import QUARTET, place_in_table_1, same_order
from replication.auditing.results import Missing

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
