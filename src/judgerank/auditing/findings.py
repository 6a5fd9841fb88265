"""Where paper and data part: the findings, in the order in which they are told.

A finding holds, or does not, by what is stored; only those that hold explain a difference in the audit.
"""

from __future__ import annotations

from judgerank import published
from judgerank.auditing.audit import Results
from judgerank.auditing.finding import finding

PUBLIC = ("chatbot_arena", "mt_bench", "ultrafeedback")


@finding(
    "UltraFeedback's likelihood has no interior maximum",
    "make judge_reliability",
    "judge_reliability/fits.csv",
    "judge_reliability/stopping_path.csv",
    "judge_reliability/stopping_point.csv",
    figure="judge_reliability/stopping_path.png",
)
def no_interior_maximum(results: Results) -> tuple[bool, str]:
    fits = results.table("judge_reliability/fits.csv").set_index("dataset")
    judges = results.table("judge_reliability/discrimination.csv").query("dataset == 'ultrafeedback'")
    zero = judges[judges["status"] == "zero"]["judge"].tolist()
    path = results.table("judge_reliability/stopping_path.csv")
    nearest = path.loc[path["largest_difference"].idxmin()]
    text = (
        f"The judge-aware likelihood of UltraFeedback has its maximum over gamma >= 0 with {len(zero)} judges at "
        f"zero ({', '.join(zero)}), so the printed column, with every gamma positive, is no maximum. Algorithm 1 "
        f"passes it: after {nearest['iteration']:.0f} iterations its largest difference from a printed gamma is "
        f"{nearest['largest_difference']:.3f}, with a log-likelihood "
        f"{fits.at['ultrafeedback', 'log_likelihood'] - nearest['log_likelihood']:.2f} below the maximum, and it "
        "moves on. The judge-aware scores of Table A.6 belong to that point."
    )
    return fits.at["ultrafeedback", "status"] == "boundary" and nearest["largest_difference"] < 0.1, text


@finding(
    "Table 1 leaves out the model ranked first",
    "make benchmark_alignment tie_handling",
    "benchmark_alignment/mt_bench.csv",
    "tie_handling/mt_bench/ranks.csv",
    figure="tie_handling/mt_bench/ties.png",
)
def left_out_of_table_1(results: Results) -> tuple[bool, str]:
    ours = results.table("benchmark_alignment/mt_bench.csv").set_index("model")
    ties = results.table("tie_handling/mt_bench/ranks.csv").set_index("model")
    claude, gpt = ours["score_judge_aware"]["claude-v1"], ours["score_judge_aware"]["gpt-4"]
    text = (
        f"MT-Bench has {len(ours)} models; Table 1 shows {len(published.table('mt_bench'))}. The one left out, "
        f"claude-v1, is ranked first by the judge-aware fit ({claude:.3f} against GPT-4's {gpt:.3f}), while "
        "section 5.2 says that GPT-4 ranks first. Without ties the two change places (judge-aware rank of GPT-4: "
        f"{ties['rank_judge_aware_half']['gpt-4']} with ties, {ties['rank_judge_aware_dropped']['gpt-4']} "
        "without), while appendix F.4 says that rankings are unchanged."
    )
    swapped = bool(ties["move_judge_aware"]["gpt-4"] == 1 and ties["move_judge_aware"]["claude-v1"] == -1)
    return "claude-v1" not in published.table("mt_bench").index and claude > gpt and swapped, text


@finding("Average widths and their reductions in the text", "make chatbot_arena", "chatbot_arena/fits.csv")
def widths(results: Results) -> tuple[bool, str]:
    text_of = published.table("in_text")["printed"].astype(str)
    low, high = (float(text_of[f"in_house_width_{m}"]) for m in ("judge_aware", "btl"))
    rows = {}
    for name in ("chatbot_arena", "complete_ranking"):
        for m in ("judge_aware", "btl"):
            width = published.numbers(name, f"high_{m}") - published.numbers(name, f"low_{m}")
            rows[name, m] = float(width.mean())
    arena = [float(text_of[f"chatbot_arena_width_{m}"]) for m in ("judge_aware", "btl")]
    text = (
        f"The reduction from {high} to {low} is {100 * (1 - low / high):.1f}%, printed as "
        f"{text_of['in_house_width_reduction']}%. The rows of Table A.7 have mean widths of "
        f"{rows['complete_ranking', 'judge_aware']:.4f} and {rows['complete_ranking', 'btl']:.4f}; those of Table "
        f"3 {rows['chatbot_arena', 'judge_aware']:.4f} and {rows['chatbot_arena', 'btl']:.4f}, where the text has "
        f"{arena[0]} and {arena[1]} (its {text_of['chatbot_arena_width_reduction']}% would be "
        f"{100 * (1 - arena[0] / arena[1]):.1f}%). Ours of Table 3 agree with its rows."
    )
    ours = results.table("chatbot_arena/fits.csv").set_index("fit")["mean_width"]
    agrees = all(
        abs(ours[m] - rows["chatbot_arena", m]) < 5e-4 < abs(ours[m] - width)
        for m, width in zip(ours.index, arena, strict=True)
    )
    return agrees and round(100 * (1 - low / high), 1) != float(text_of["in_house_width_reduction"]), text


@finding(
    "Interval widths are compared across two scales",
    "make complete_ranking",
    *(f"complete_ranking/{name}/fits.csv" for name in PUBLIC),
    figure="complete_ranking/chatbot_arena/leaderboard.png",
)
def two_scales(results: Results) -> tuple[bool, str]:
    sentences, wider = [], False
    for name in PUBLIC:
        fits = results.table(f"complete_ranking/{name}/fits.csv").set_index("fit")
        aware, btl = fits.loc["judge_aware"], fits.loc["btl"]
        wider |= aware["relative_width"] > btl["relative_width"]
        sentences.append(
            f"{name}: width {aware['mean_width']:.3f} against {btl['mean_width']:.3f}, over the spread of scores "
            f"{aware['relative_width']:.3f} against {btl['relative_width']:.3f}, separated pairs "
            f"{aware['separated_pairs']} against {btl['separated_pairs']}"
        )
    text = (
        "Widths of the two models are compared although their scores live on different scales. Judge-aware "
        f"against BTL: {'; '.join(sentences)}. The number of model pairs told apart does not depend on a scale."
    )
    return bool(wider), text


@finding(
    "Slots follow names, and judges have favourite slots",
    "make data_overview judge_reliability",
    "judge_reliability/answers.csv",
    "data_overview/ultrafeedback/size.csv",
    figure="data_overview/ultrafeedback/answers.png",
)
def slots(results: Results) -> tuple[bool, str]:
    share = {
        name: results.table(f"data_overview/{name}/size.csv").iloc[0, :]["share_first_is_alphabetically_smaller"]
        for name in PUBLIC
    }
    answers = results.table("judge_reliability/answers.csv")
    fond = answers[answers[["share_a", "share_b"]].max(axis=1) >= 0.85]
    names = [
        f"{row.judge} ({row.dataset}: {'a' if row.share_a > row.share_b else 'b'} "
        f"{max(row.share_a, row.share_b):.0%})"
        for row in fond.itertuples()
    ]
    text = (
        "The model shown first is the alphabetically smaller one in "
        + ", ".join(f"{value:.1%} ({name})" for name, value in share.items())
        + f" of the records, and some judges answer with one slot: {'; '.join(names)}. A judge with a favourite "
        "slot then looks like a judge with a consistent ranking of the models by name."
    )
    return min(share.values()) > 0.99 and len(fond) > 0, text


@finding(
    "One judge counted four times",
    "make judge_reliability",
    "judge_reliability/agreement.csv",
    "judge_reliability/merged.csv",
)
def one_judge_four_names(results: Results) -> tuple[bool, str]:
    alike = results.table("judge_reliability/agreement.csv").query("dataset == 'mt_bench'")
    same, other = (alike[alike["one_model"] == flag] for flag in (True, False))
    gamma = results.table("judge_reliability/discrimination.csv").query("dataset == 'mt_bench'").set_index("judge")
    strong = gamma.index[gamma["discrimination"] >= 1.7]
    peers = other[other["judge_1"].isin(strong) & other["judge_2"].isin(strong)]
    merged = results.table("judge_reliability/merged.csv")
    change = [
        f"{name}: mean width {rows['mean_width'].iloc[0]:.3f} to {rows['mean_width'].iloc[1]:.3f}, largest change "
        f"of rank {rows['largest_rank_change'].max()}"
        for name, rows in merged.groupby("dataset")
    ]
    names = sorted(set(same["judge_1"]) | set(same["judge_2"]))
    text = (
        f"{', '.join(names)} were sent to one model by the published request scripts. On the MT-Bench items both "
        f"judged ({same['shared'].min()} to {same['shared'].max()}) two of them agree "
        f"{same['agreement'].min():.1%} to {same['agreement'].max():.1%} of the time; other judges with "
        f"discriminations from 1.7 on agree {peers['agreement'].min():.1%} to {peers['agreement'].max():.1%}. One "
        f"judge is counted four times. Merged into one judge with one vote an item: {'; '.join(change)}."
    )
    return bool(same["agreement"].min() > alike[~alike["one_model"]]["agreement"].max()), text


@finding("Nothing is reversed between the Vicunas", "make chatbot_arena", "chatbot_arena/ranking.csv")
def vicuna(results: Results) -> tuple[bool, str]:
    score = published.numbers("chatbot_arena", "score_btl")
    ours = results.table("chatbot_arena/ranking.csv").set_index("model")["score_btl"]
    text = (
        "Section 5.5 says that the unweighted model reverses Vicuna-13B and Vicuna-7B in terms of scores. Table 3 "
        f"itself prints {score['vicuna-13b']} and {score['vicuna-7b']} (ours {ours['vicuna-13b']:.3f} and "
        f"{ours['vicuna-7b']:.3f}): nothing is reversed."
    )
    return bool(score["vicuna-13b"] > score["vicuna-7b"] and ours["vicuna-13b"] > ours["vicuna-7b"]), text


@finding("Printed ranks against printed scores", "make audit")
def printed_ranks(results: Results) -> tuple[bool, str]:
    score, rank = (published.numbers("complete_ranking", name) for name in ("score_btl", "rank_btl"))
    first, last = (score.rank(ascending=False, method=method).astype(int) for method in ("min", "max"))
    off = score.index[(rank < first) | (rank > last)]  # equal printed scores may stand in any order
    rows = ", ".join(f"{name} (printed {rank[name]:.0f}, by its score {first[name]})" for name in off)
    return len(off) > 0, f"Ranks of Table A.7 that do not follow from its own unweighted scores: {rows}."


@finding(
    "With weak judges in the majority the judge-aware fit falls behind on real data",
    "make mixed_judges subsampling_efficiency",
    *(f"mixed_judges/{name}/sweep.csv" for name in PUBLIC),
    figure="mixed_judges/chatbot_arena/sweep.png",
)
def weak_panels(results: Results) -> tuple[bool, str]:
    sentences, behind = [], 0
    for name in PUBLIC:
        sweep = results.table(f"mixed_judges/{name}/sweep.csv")
        rows = sweep.query("reference == 'btl' and measure == 'spearman' and share_weak == 1").set_index("method")
        own = results.table(f"subsampling_efficiency/{name}/own_reference.csv").query("measure == 'spearman'")
        ahead = int((own["judge_aware_minus_btl"] >= 0).sum())
        behind += rows.at["judge_aware", "mean"] < rows.at["btl", "mean"]
        sentences.append(
            f"{name}: panels of weak judges alone reach a Spearman correlation of "
            f"{rows.at['judge_aware', 'mean']:.2f} (BTL {rows.at['btl', 'mean']:.2f}), and in subsamples "
            f"judge-aware is ahead by the paper's measure at {ahead} of {len(own)} points"
        )
    text = (
        "On the in-house surrogate, drawn from the model itself, the judge-aware fit needs fewer comparisons than "
        "BTL and stands weak judges better, as the paper has it. On the real sets it often does not: "
        f"{'; '.join(sentences)}. There a weak judge is one with a favourite slot, slots follow names, and where "
        "few other judges are on the panel it is taken for the most discriminating one."
    )
    return bool(behind == 3), text


@finding(
    "Slopes of the mean squared error",
    "make convergence_mse",
    "convergence_mse/slopes.csv",
    figure="convergence_mse/mse.png",
)
def slopes(results: Results) -> tuple[bool, str]:
    rows = results.table("convergence_mse/slopes.csv").query("parameter == 'score'")
    out = rows[(rows["paper"] > rows["draws_max"] + 2 * rows["slope_se"])]
    interior = out["paper"] <= out["interior_draws_max"] + 2 * out["interior_slope_se"]
    text = "; ".join(
        f"({row.n_models}, {row.n_judges}): printed {row.paper:.3f}, ours {row.slope:.3f} ({row.slope_se:.3f}), "
        f"{row.interior_slope:.3f} over replications with an interior maximum (up to {row.interior_draws_max:.3f} "
        "over draws)"
        for row in out.itertuples()
    )
    return bool(interior.all() and len(out)), (
        f"Score slopes steeper than printed in all our draws of the truth: {text}. At the left of the five points "
        "some likelihoods have no interior maximum, the estimates sit on the box and leave it as T grows, which "
        "steepens the line; the paper's truth and what it does there are not known."
    )


@finding(
    "Where the comparisons on a sparse graph come from",
    "make sparsity",
    "sparsity/in_house/correlation.csv",
    figure="surrogate/sparsity/in_house/sparsity.png",
)
def sparsity(results: Results) -> tuple[bool, str]:
    table = results.table("sparsity/in_house/correlation.csv")
    rows = table.query(
        "method == 'judge_aware' and reference == 'judge_aware' and measure == 'pearson' and trees == 1"
    )
    tree = rows.set_index("redraw")
    printed = published.numbers("sparsity", "pearson").iloc[0]
    low, high = tree.at["resample", "q25"], tree.at["resample", "q75"]
    text = (
        f"The spanning-tree row of Table A.9 ({printed}) is what comparisons drawn again from those made give: on "
        f"the surrogate that gives a mean of {tree.at['resample', 'mean']:.2f} over draws (interquartile range "
        f"{low:.2f} to {high:.2f}), while as many new comparisons on a tree give "
        f"{tree.at['simulate', 'mean']:.2f}. One draw, as printed, says little."
    )
    return bool(low <= printed <= high < tree.at["simulate", "q25"]), text


@finding("The list of judges is not that of the files", "make judge_reliability", "judge_reliability/judges.csv")
def judges_in_the_files(results: Results) -> tuple[bool, str]:
    judges = results.table("judge_reliability/judges.csv").set_index("judge")
    used = judges.drop(columns="table_a5").notna().any(axis=1)
    unlisted = judges.index[judges["table_a5"].isna() & used]
    unused = judges.index[judges["table_a5"].notna() & ~used]
    text = (
        f"Judges in the files that the paper's list (Table A.5) does not have: {', '.join(unlisted)}. Listed, and "
        f"in none of the three public files: {', '.join(unused) or 'none'}."
    )
    return len(unlisted) > 0, text


FINDINGS = (
    *(no_interior_maximum, left_out_of_table_1, widths, two_scales, slots, one_judge_four_names),
    *(vicuna, printed_ranks, weak_panels, slopes, sparsity, judges_in_the_files),
)
