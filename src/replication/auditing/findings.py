"""Where paper and data part, in the order in which it is told; evidence first, what may lie behind it second.

A finding holds, or does not, by what is stored; only those that hold rule a printed number out in the audit.
"""

from __future__ import annotations

import pandas as pd

from replication import published
from replication.auditing.finding import PUBLIC, TITLES, check_finding, finding, stored_sets
from replication.auditing.findings_copied import copied_otherwise, mixed_sizes, settings_of_the_code
from replication.auditing.findings_judges import (
    judges_in_the_files,
    no_interior_maximum,
    one_judge_four_names,
    slots,
)
from replication.auditing.findings_simulated import slopes, sparsity, weak_panels
from replication.auditing.results import Results

__all__ = ["FINDINGS", "check_finding"]


@finding(
    "Table 1 shows five of MT-Bench's six models",
    "make benchmark_alignment tie_handling",
    "benchmark_alignment/mt_bench.csv",
    "benchmark_alignment/lead.csv",
    "tie_handling/mt_bench/ranks.csv",
    figure="tie_handling/mt_bench/ties.png",
)
def left_out_of_table_1(results: Results) -> tuple[bool, str]:
    ours = results.table("benchmark_alignment/mt_bench.csv").set_index("model")
    ties = results.table("tie_handling/mt_bench/ranks.csv").set_index("model")
    lead = results.rows("benchmark_alignment/lead.csv", "dataset=mt_bench; fit=judge_aware").iloc[0]
    printed_models = published.table("mt_bench").index
    left_out = [name for name in ours.index if name not in printed_models]
    settled = lead["difference"] > 2 * lead["standard_error"]
    text = (
        f"MT-Bench has {len(ours)} models; Table 1 shows {len(printed_models)}, without {', '.join(left_out)}. By "
        f"the judge-aware fit {lead['first']} stands before {lead['second']} by {lead['difference']:.3f}, with a "
        f"standard error of {lead['standard_error']:.3f}: the data {'do' if settled else 'do not'} tell which of "
        "the two is first. Section 5.2 says that GPT-4 ranks first, which is so among the models shown. Once ties "
        f"are dropped the judge-aware rank of GPT-4 goes from {ties['rank_judge_aware_half']['gpt-4']} to "
        f"{ties['rank_judge_aware_dropped']['gpt-4']}, where appendix F.4 has unchanged rankings."
    )
    return "claude-v1" in left_out and lead["first"] == "claude-v1" and lead["second"] == "gpt-4", text


@finding(
    "Average widths in the text and in the rows of the tables",
    "make chatbot_arena complete_ranking",
    "chatbot_arena/fits.csv",
)
def widths(results: Results) -> tuple[bool, str]:
    printed = published.table("in_text")["printed"]
    rows, text_of = {}, {}
    for table, set_name in (("complete_ranking", "in_house"), ("chatbot_arena", "chatbot_arena")):
        for m in ("judge_aware", "btl"):
            width = published.numbers(table, f"high_{m}") - published.numbers(table, f"low_{m}")
            rows[table, m], text_of[table, m] = float(width.mean()), float(printed[f"{set_name}_width_{m}"])
    ours = results.table("chatbot_arena/fits.csv").set_index("fit")["mean_width"]

    def reduction(of: dict, table: str) -> float:
        return 100 * (1 - of[table, "judge_aware"] / of[table, "btl"])

    def longer(of: dict, table: str) -> float:
        return 100 * (of[table, "btl"] / of[table, "judge_aware"] - 1)

    house, arena = "complete_ranking", "chatbot_arena"
    text = (
        f"In-house, the text has {text_of[house, 'judge_aware']} against {text_of[house, 'btl']}; the rows of "
        f"Table A.7 have mean widths of {rows[house, 'judge_aware']:.4f} and {rows[house, 'btl']:.4f}. For "
        f"Chatbot Arena it has {text_of[arena, 'judge_aware']} against {text_of[arena, 'btl']}; the rows of Table "
        f"3 have {rows[arena, 'judge_aware']:.4f} and {rows[arena, 'btl']:.4f}, as ours. The reductions are "
        f"printed as {printed['in_house_width_reduction']}% and {printed['chatbot_arena_width_reduction']}%. The "
        "share by which the weighted intervals are shorter is, of the widths in the text, "
        f"{reduction(text_of, house):.1f}% and {reduction(text_of, arena):.1f}%, and of the rows "
        f"{reduction(rows, house):.1f}% and {reduction(rows, arena):.1f}%; the share by which the unweighted ones "
        f"are longer is, of the rows, {longer(rows, house):.1f}% and {longer(rows, arena):.1f}%."
    )
    as_rows = all(abs(ours[m] - rows[arena, m]) < 5e-4 < abs(ours[m] - text_of[arena, m]) for m in ours.index)
    return as_rows and round(reduction(text_of, house), 1) != float(printed["in_house_width_reduction"]), text


@finding(
    "Interval widths of two models on two scales",
    "make complete_ranking",
    *(f"complete_ranking/{name}/fits.csv" for name in PUBLIC),
    figure="complete_ranking/chatbot_arena/leaderboard.png",
)
def two_scales(results: Results) -> tuple[bool, str]:
    sentences, otherwise, n_ahead = [], 0, 0
    names = stored_sets(results, "complete_ranking/{}/fits.csv")
    for name in names:
        fits = results.table(f"complete_ranking/{name}/fits.csv").set_index("fit")
        aware, btl = fits.loc["judge_aware"], fits.loc["btl"]
        otherwise += (aware["mean_width"] < btl["mean_width"]) != (aware["relative_width"] < btl["relative_width"])
        n_ahead += aware["separated"] >= btl["separated"]
        sentences.append(
            f"{TITLES[name]}: width {aware['mean_width']:.3f} against {btl['mean_width']:.3f}, over the standard "
            f"deviation of the scores {aware['relative_width']:.3f} against {btl['relative_width']:.3f}, "
            f"separated pairs {aware['separated']} against {btl['separated']}"
        )
    text = (
        "The scores of the two models are on different scales, so their widths alone do not say which is more "
        f"precise. Judge-aware against BTL: {'; '.join(sentences)}. Over the spread of the scores the comparison "
        f"turns round on {otherwise} of {len(names)} sets. The number of separated pairs (Holm) depends on no "
        f"scale; by it the paper's model is ahead or level on {n_ahead} of {len(names)} sets."
    )
    return otherwise > 0, text


@finding(
    "The two Vicunas stand in one order in both columns of Table 3",
    "make chatbot_arena",
    "chatbot_arena/ranking.csv",
)
def vicuna(results: Results) -> tuple[bool, str]:
    score = published.numbers("chatbot_arena", "score_btl")
    ours = results.table("chatbot_arena/ranking.csv").set_index("model")["score_btl"]
    text = (
        "Section 5.5 says that the unweighted ranking reverses Vicuna-13B and Vicuna-7B in terms of scores. The "
        f"unweighted scores of Table 3 are {score['vicuna-13b']} and {score['vicuna-7b']} (ours "
        f"{ours['vicuna-13b']:.3f} and {ours['vicuna-7b']:.3f}), the larger model first, as in the weighted "
        "column."
    )
    return bool(score["vicuna-13b"] > score["vicuna-7b"] and ours["vicuna-13b"] > ours["vicuna-7b"]), text


@finding("Ranks and scores in the unweighted column of Table A.7", "make audit")
def printed_ranks(_: Results) -> tuple[bool, str]:
    score, rank = (published.numbers("complete_ranking", name) for name in ("score_btl", "rank_btl"))
    first, last = (score.rank(ascending=False, method=method).astype(int) for method in ("min", "max"))
    off = score.index[(rank < first) | (rank > last)]  # equal printed scores may stand in any order
    rows = ", ".join(f"{name} (printed {rank[name]:.0f}, by its score {first[name]})" for name in off)
    return len(off) > 0, (
        f"Printed ranks that do not follow from the printed scores beside them: {rows}. The two columns may come "
        "from two fits; the next finding says which come out as printed."
    )


@finding(
    "The unweighted scores of Table A.7 leave one judge out, as footnote 3 says; the ranks do not",
    "make complete_ranking",
    "complete_ranking/in_house/ranking.csv",
    "complete_ranking/in_house/ranking_all_judges.csv",
)
def seventeen_judges(results: Results) -> tuple[bool, str]:
    same = {}
    for name in ("ranking", "ranking_all_judges"):
        ours = results.table(f"complete_ranking/in_house/{name}.csv").set_index("model")
        for column in ("score_btl", "rank_btl", "score_judge_aware"):
            printed = published.table("complete_ranking")[column]
            values = ours[column].reindex(printed.index)
            same[name, column] = sum(
                published.as_printed(x, text) == text for x, text in zip(values, printed, strict=True)
            )
    used_table, all_table = ("ranking", "ranking_all_judges")
    text = (
        "Footnote 3 says that a judge with a discrimination near zero, GLM-4.5-Air-FP8, was left out. Without it "
        f"{same[used_table, 'score_btl']} of {len(printed)} unweighted scores come out as printed, with all 18 "
        f"judges {same[all_table, 'score_btl']}; of the unweighted ranks {same[used_table, 'rank_btl']} without "
        f"it and {same[all_table, 'rank_btl']} with all. The judge-aware fit puts this judge at zero by itself: "
        f"{same[used_table, 'score_judge_aware']} and {same[all_table, 'score_judge_aware']} of its scores come "
        "out as printed."
    )
    by_scores = same[used_table, "score_btl"] > same[all_table, "score_btl"]
    return by_scores and same[used_table, "rank_btl"] < same[all_table, "rank_btl"], text


@finding(
    "Table 2 comes out of a random sample of the pool's comparisons, and an iteration stopped on it",
    "make unstated_settings",
    "unstated_settings/table_2.csv",
    "unstated_settings/samples.csv",
    "unstated_settings/stops.csv",
    "unstated_settings/turned.csv",
)
def sample_of_the_pool(results: Results) -> tuple[bool, str]:
    numbers, tried, stops, turned = (
        results.table(f"unstated_settings/{name}.csv") for name in ("table_2", "samples", "stops", "turned")
    )
    sample, stop, of = tried.iloc[0], stops.iloc[0], len(numbers)
    n_exact_on_all = sum(
        published.as_printed(x, p) == p
        for x, p in zip(numbers["ours_all_comparisons"], _texts(numbers), strict=True)
    )
    text = (
        f"On all comparisons of the pool {n_exact_on_all} of the {of} numbers of Table 2 and section 5.4 "
        "come out as "
        "printed. "
        f"Of {len(tried)} samples and {len(stops)} stops tried, one gives {numbers['reproduced'].sum()} of {of}: "
        f'{sample["size"]:.0f} records drawn from "{sample["drawn_from"]}" by {sample["generator"]} with seed '
        f"{sample['seed']:.0f}, and Algorithm A.1 ({stop['algorithm']}) after {stop['iterations']} iterations; at "
        "the "
        f"maximum on that sample {numbers['reproduced_maximum'].sum()}. The paper speaks of comparisons "
        "restricted to "
        "the pool's judges, not of a sample. The path there hangs on rounding: of "
        f"{len(turned)} ways to tell of the same comparisons, some with the other model first, "
        f"{(turned['reproduced'] == of).sum()} give all {of}, and none less than {turned['reproduced'].min()}."
    )
    return bool(numbers["reproduced"].all()) and n_exact_on_all < of, text


def _texts(numbers: pd.DataFrame) -> list[str]:
    """The printed numbers of Table 2 and section 5.4 as they are printed."""
    gammas, text = published.table("mixed_judges")["discrimination"], published.table("in_text")["printed"]
    return [gammas.get(name) or text[f"mixed_{name}"] for name in numbers["name"]]


FINDINGS = (
    *(no_interior_maximum, left_out_of_table_1, widths, two_scales, slots, one_judge_four_names),
    *(
        vicuna,
        printed_ranks,
        seventeen_judges,
        sample_of_the_pool,
        weak_panels,
        slopes,
        sparsity,
        judges_in_the_files,
        mixed_sizes,
        copied_otherwise,
        settings_of_the_code,
    ),
)
