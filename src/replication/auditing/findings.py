"""Where paper and data part, in the order in which it is told; evidence first, what may lie behind it second.

A finding holds, or does not, by what is stored; only those that hold rule a printed number out in the audit.
"""

from __future__ import annotations

import pandas as pd

from replication import published
from replication.auditing.claim import PUBLIC, TITLES, Estimates, Estimator, check_finding, finding, stored_sets
from replication.auditing.claims_data import correlations_by_set, correlations_text, gamma_by_set
from replication.auditing.findings_judges import (
    judges_in_the_files,
    no_interior_maximum,
    one_judge_four_names,
    slots,
)
from replication.auditing.registry import Agreement, Copied, agreement, copied, registry
from replication.auditing.results import Missing, Results
from replication.judge_models import Counted, all_parameters, printed_sizes, size_in_name

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


# Findings about numbers that the paper copied: where sources differ, and what the sizes of judges count.


PRINTED_NORM = "maximum"  # of the stopping rule of Algorithm A.1


def sources() -> list[tuple[dict, list[Copied]]]:
    """Every copied number with what its sources have; an empty list where no source was found."""
    listed: list[tuple[dict, list[Copied]]] = []
    for entry in registry().query("kind == 'cited'").to_dict("records"):
        try:
            listed.append((entry, copied(entry["table"], entry["row"], entry["column"])))
        except Missing:
            listed.append((entry, []))
    return listed


@finding("Copied numbers that their sources have otherwise", "make audit")
def copied_otherwise(_: Results) -> tuple[bool, str]:
    every = sources()
    by_agreement: dict[Agreement, list[str]] = {kind: [] for kind in Agreement}
    for entry, read in (pair for pair in every if pair[1]):
        where = "; ".join(f"{source.text} ({source.reason})" for source in read)
        number = f"{entry['place']}, {entry['row']}, {entry['column']}: printed {entry['printed']}, source {where}"
        by_agreement[agreement(entry["printed"], read)].append(number)
    different, disputed, unknown = (
        by_agreement[kind] for kind in (Agreement.DIFFERENT, Agreement.DISPUTED, Agreement.UNKNOWN)
    )
    text = (
        f"Of {len(every)} numbers that the paper copied, {sum(map(len, by_agreement.values()))} were found in a "
        f"source or in the model's name; {len(by_agreement[Agreement.EQUAL])} of these agree. Others by a source "
        f"at first hand: {'; '.join(different) or 'none'}. Others by the maker, and as printed by a third party: "
        f"{'; '.join(disputed) or 'none'}. For Table A.6 the paper names Cui et al. (2024), whose table was not "
        f"at hand; their AlpacaEval column quotes the leaderboard. Where the leaderboard has another number, "
        f"nothing follows for the copy: {'; '.join(unknown) or 'none'}. Table 1 says that its first three "
        "columns are from Zheng et al. (2023); the fourth is from there, too."
    )
    return len(different) > 0, text


@finding("The published code has other settings than the paper prints", "make audit")
def settings_of_the_code(_: Results) -> tuple[bool, str]:
    in_code = published.cited().query("column == 'in_code'").set_index("row")
    repeats, norm = (in_code.at[name, "value"] for name in ("efficiency_repeats", "stopping_norm"))
    printed_repeats = published.table("in_text").at["efficiency_repeats", "printed"]
    code = in_code.at["stopping_norm", "source"]
    text = (
        f"This is by {code}. Section 5.3 says that every condition is repeated {printed_repeats} times; the "
        f"{in_code.at['efficiency_repeats', 'place']} repeats it {repeats} times. Algorithm A.1 as printed stops "
        f"when the {PRINTED_NORM} norm of the updates is small enough; the {in_code.at['stopping_norm', 'place']} "
        f"in the code takes the {norm} norm. The {norm} norm of n updates is up to the square root of n times the "
        "largest of them, so the code may iterate longer than the printed rule."
    )
    return repeats != printed_repeats or norm != PRINTED_NORM, text


@finding(
    "Table A.8 mixes total and active parameters",
    "make judge_reliability",
    "judge_reliability/discrimination.csv",
    figure="judge_reliability/size_against_discrimination.png",
)
def mixed_sizes(results: Results) -> tuple[bool, str]:
    every, printed = all_parameters(), printed_sizes()
    differing = every.index[(every != printed) & printed.notna()]
    differences = (f"{name} {printed[name]:g}B, all {every[name]:g}B" for name in differing)
    active = [name for name in differing if size_in_name(name).counted is Counted.ACTIVE]
    named = {name: size_in_name(name) for name in published.table("judge_discrimination").index}
    total = [name for name, size in named.items() if size and size.counted is Counted.ALL and "-A" in name]
    gamma = gamma_by_set(Estimates(results, Estimator.EXACT))
    correlations = [correlations_by_set(gamma, sizes.dropna()) for sizes in (printed, every)]
    text = (
        "The sizes of Table A.8 are those in the judges' names. They count all parameters of some mixtures of "
        f"experts ({', '.join(total)}) and the active ones or a product for others: {'; '.join(differences)}. The "
        f"rank correlation of size and discrimination is, as printed, {correlations_text(correlations[0])}, and "
        f"with all parameters {correlations_text(correlations[1])}."
    )
    return len(active) > 0 and len(total) > 0 and _lower(correlations), text


def _lower(correlations: list[dict[str, tuple[float, float]]]) -> bool:
    printed, every = (pd.Series({name: rank for name, (rank, _) in by_set.items()}) for by_set in correlations)
    return bool((every < printed).any())


# Findings that rest on random parts of the data and on simulated comparisons.


TRUTHS, ALGORITHM_1 = "convergence_mse/slopes_draws.csv", "convergence_mse/algorithm_1_slopes.csv"
SPARSE = "sparsity/in_house/correlation.csv"
DRAWN = {
    "subset": "without replacement",
    "resample": "with replacement",
    "simulate": "anew from the full-data fit",
}
REJECTED, ALL_BUT = 0.05, 0.95  # joint p-value from which a design fits; share of the printed numbers within


@finding(
    "Panels of weak judges alone",
    "make mixed_judges subsampling_efficiency",
    *(f"mixed_judges/{name}/sweep.csv" for name in PUBLIC),
    *(f"subsampling_efficiency/{name}/gains.csv" for name in PUBLIC),
    figure="mixed_judges/chatbot_arena/sweep.png",
)
def weak_panels(results: Results) -> tuple[bool, str]:
    sentences, behind = [], []
    for name in stored_sets(results, "mixed_judges/{}/sweep.csv"):
        sweep = _all_draws(results, f"mixed_judges/{name}/sweep.csv")
        rows = sweep[(sweep["share_weak"] == 1) & sweep["reference"].isin(["judge_aware", "btl"])]
        details = []
        for reference in ("judge_aware", "btl"):
            for measure in ("spearman", "pearson"):
                cells = rows[(rows["reference"] == reference) & (rows["measure"] == measure)].set_index("method")
                details.append(f"{measure} with full-data {reference} {_pair(cells)}")
        own_reference = rows[(rows["reference"] == "judge_aware") & (rows["measure"] == "spearman")].set_index(
            "method"
        )
        if own_reference.at["judge_aware", "q75"] < own_reference.at["btl", "q25"]:
            behind.append(TITLES[name])
        sentences.append(f"{TITLES[name]}, {rows['panel'].iloc[0]} weak judges: {', '.join(details)}")
    text = (
        "Panels made of a set's less discriminating judges alone; correlations by Algorithm A.1, judge-aware "
        f"against BTL, as mean and quartiles over random panels: {'; '.join(sentences)}. By the Spearman "
        "correlation with the full-data judge-aware fit the quartiles of the two do not overlap, BTL ahead, on "
        f"{', '.join(behind) or 'no set'}. The paper's measures are both correlations with the full-data "
        f"judge-aware fit, on one pool of six weaker and two stronger judges. {_points_ahead(results)}"
    )
    return len(behind) > 0, text


def _all_draws(results: Results, name: str) -> pd.DataFrame:
    """The rows of a resampled table by Algorithm A.1, which has an estimate for every draw."""
    return Estimates(results, Estimator.ALGORITHM_1).table(name)


def _pair(cells: pd.DataFrame) -> str:
    spread = (
        f"{cells.at[m, 'mean']:.2f} ({cells.at[m, 'q25']:.2f} to {cells.at[m, 'q75']:.2f})"
        for m in ("judge_aware", "btl")
    )
    return " against ".join(spread)


def _points_ahead(results: Results) -> str:
    details = []
    for name in stored_sets(results, "subsampling_efficiency/{}/gains.csv"):
        gains = _all_draws(results, f"subsampling_efficiency/{name}/gains.csv").query("reference == 'own'")
        counts = (
            f"{(rows['judge_aware_minus_btl'] >= 0).sum()} of {len(rows)} by {measure}"
            for measure, rows in gains.groupby("measure")
        )
        details.append(f"{TITLES[name]} {', '.join(counts)}")
    return (
        "In random subsets, each fit against its own full-data fit, judge-aware is ahead at: "
        f"{'; '.join(details)}."
    )


@finding(
    "Slopes of the mean squared error depend on the draw of the truth and on where the iteration stops",
    "make convergence_mse",
    "convergence_mse/slopes.csv",
    TRUTHS,
    ALGORITHM_1,
    "convergence_mse/slopes_jointly.csv",
    figure="convergence_mse/mse.png",
)
def slopes(results: Results) -> tuple[bool, str]:
    table = results.rows(TRUTHS, "subset=all")
    printed = results.table("convergence_mse/slopes.csv").set_index(["n_models", "n_judges", "parameter"])["paper"]
    details, wide = [], 0
    for key, rows in table.groupby(["n_models", "n_judges", "parameter"], sort=False):
        low, high = rows["slope"].min(), rows["slope"].max()
        wide += high - low > 4 * rows["slope_se"].mean()
        details.append(f"({key[0]}, {key[1]}) {key[2]} {low:.2f} to {high:.2f}, printed {printed[key]:.3f}")
    together = results.table("convergence_mse/slopes_jointly.csv")
    jointly = "; ".join(
        f"{row.run} {row.printed_flatter} of {row.slopes} (joint p = {row.p_joint:.2f})"
        for row in together.itertuples()
    )
    text = (
        f"Over {table['draw'].nunique()} draws of the truth the slopes of our estimator on a bounded box are: "
        f"{'; '.join(details)}. In {wide} of {len(details)} rows they differ by more than four of their own "
        "errors, so one study says little about another. All together say more. The printed slope is flatter than "
        f"this many of ours, by run: {jointly}. At small T some likelihoods have no interior maximum: estimates "
        "on the box sit on its edge and leave it as T grows, which steepens the line; Algorithm A.1 goes on until "
        "it is stopped, so its slopes depend on where. The paper's truth is not known, nor its limit of "
        "iterations."
    )
    return wide > 0 and bool((together["p_joint"] > REJECTED).any()), text


@finding(
    "Table A.9 is of far fewer comparisons than the set has",
    "make sparsity",
    SPARSE,
    *(f"sparsity/in_house/{name}.csv" for name in ("designs", "found", "found_jointly")),
    figure="sparsity/in_house/sparsity.png",
)
def sparsity(results: Results) -> tuple[bool, str]:
    if not results.real(SPARSE):
        raise Missing(f"{SPARSE} is stored of no real set")
    n_inside = {redraw: _inside_at_the_whole_budget(results, redraw) for redraw in ("resample", "simulate")}
    tried = results.table("sparsity/in_house/designs.csv")
    numbers, joint = (results.table(f"sparsity/in_house/{name}.csv") for name in ("found", "found_jointly"))
    design, p = numbers.iloc[0], float(joint["p_joint"].iloc[0])
    fitting = tried[(tried["p_joint"] > REJECTED) & (tried["within"] >= ALL_BUT * tried["numbers"])]
    budgets = fitting["n_comparisons"]
    made = int(design["n_comparisons"])
    text = (
        "The paper fixes the number of comparisons and does not say at how many. Spending as many as the set has, "
        f"the central 95% of our draws hold {n_inside['resample']} of 20 printed numbers (comparisons drawn again "
        f"from those made) or {n_inside['simulate']} (drawn anew from the full-data fit). Of {len(tried)} designs "
        f"that were tried the likeliest spends {made:,} comparisons, {made // 44} on every edge of the tree, "
        f"drawn {DRAWN[design['redraw']]}, with Algorithm A.1 stopped after {design['stop']:,} iterations: "
        f"{numbers['within'].sum()} of {len(numbers)} printed numbers lie where one more table would fall, and "
        f"all together they are as far from its mean as {p:.0%} of its tables are (joint p = {p:.2f}, by "
        f"{joint['tables'].iloc[0]} tables; choosing the likeliest of many designs flatters it). Designs of "
        f"{budgets.min():,} to {budgets.max():,} comparisons fit nearly as well; how they are drawn cannot be "
        "told from the table. Each printed row is one random graph."
    )
    holds = max(n_inside.values()) < len(numbers) / 2 and p > REJECTED and numbers["within"].mean() >= ALL_BUT
    return holds, text


def _inside_at_the_whole_budget(results: Results, redraw: str) -> int:
    """How many printed numbers the central 95% of draws hold that spend as many comparisons as the set has."""
    rows = _all_draws(results, SPARSE)
    rows = rows[(rows["redraw"] == redraw) & (rows[["method", "reference"]] == "judge_aware").all(axis=1)]
    inside = 0
    for measure in ("pearson", "spearman"):
        cells, values = (
            rows[rows["measure"] == measure].sort_values("trees"),
            published.numbers("sparsity", measure),
        )
        if len(cells) != len(values):
            raise Missing(f"{SPARSE} has {len(cells)} edge fractions, Table A.9 {len(values)}")
        inside += int(((cells["q025"].to_numpy() <= values) & (values <= cells["q975"].to_numpy())).sum())
    return inside


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
