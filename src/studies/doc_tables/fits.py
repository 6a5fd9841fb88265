"""Tables that the documentation shows of members, methods, defaults, tests of fit and the reported scale."""

from __future__ import annotations

import json

import pandas as pd

from judgerank.plots.looks import NAMES
from replication.auditing.doc_blocks import ERROR_HEADS
from replication.auditing.results import Results
from replication.records import RECORD
from replication.tables import markdown_table

# What documentation shows of the sections that the paper does not have: members, methods, errors, shrinkage.
SET_TITLES = {"in_house": "In-house data", "chatbot_arena": "Chatbot Arena"}
SET_TITLES |= {"mt_bench": "MT-Bench", "ultrafeedback": "UltraFeedback"}
SHOWN_MEMBERS = ("btl", "judge_aware", "position_only", "position_aware", "position_aware_ties")
DRAW_KINDS = ("further", "main")
TORTURED = {
    "maxima": ("climbs from many random starts beside a fit", "a higher maximum is missed"),
    "thin": (
        "few judgments of many models: another optimiser, from every judge counted more often and at random",
        "it gets higher than a maximum",
    ),
    "existence": (
        "a linear program beside a certificate, seven members",
        "a fit called interior has no maximum, or a refused one has",
    ),
    "scales": (
        "judgments counted 3, 30 and a million times, written twice, turned round, renamed, nine members",
        "a fit ends otherwise, or names others",
    ),
    "inputs": (
        "CSV, JSON and JSON Lines files damaged at random",
        "read otherwise than by the standard readers, or no sentence",
    ),
    "slips": (
        "files with the slips of people, in eleven layouts",
        "read otherwise than the clean file, or no sentence",
    ),
    "secrets": (
        "collections from a server that sends keys back, with proxies and addresses in the environment",
        "a key stands in a file, in the output or at another server",
    ),
    "files": (
        "rankings written to random places among a user's files, with links, edits and strangers' folders",
        "a file of the user's is lost or changed",
    ),
    "kills": ("a study, a ledger, a folder of results, killed up to 8 times each", "anything is lost or mixed"),
}


def members_table(results: Results) -> str:
    """Members of the family on the sets, and what people's ratings tell apart, from `make model_comparison`."""
    rows = []
    for name, title in SET_TITLES.items():
        table = results.table(f"model_comparison/{name}/members.csv").set_index("member")
        human = table.get("spearman_human")
        for member in SHOWN_MEMBERS:
            row = table.loc[member]
            height = f"{row['log_likelihood']:.2f}" if row["outcomes"] == 2 else "of three outcomes"
            losses = [f"{row[loss]:.3f} ({row[f'{loss}_se']:.3f})" for loss in ("log_loss", "log_loss_three")]
            people = "" if human is None else f"{row['spearman_human']:.4f}"
            rows.append((title, member, height, *losses, f"{row['accuracy']:.1%}", people))
    columns = ["set", "member", "log-likelihood", "held-out log-loss", "with ties an outcome", "accuracy"]
    return f"{markdown_table(rows, [*columns, 'Spearman with people'])}\n\n{_people(results)}"


def _people(results: Results) -> str:
    """Whether position changes the agreement with people on Chatbot Arena, in a sentence."""
    row = results.table("model_comparison/chatbot_arena/people.csv").set_index("member").loc["position_aware"]
    low, high = row["difference_low"], row["difference_high"]
    conclusion = "no difference is supported"
    if low > 0 or high < 0:
        conclusion = f"agreement is {'higher' if low > 0 else 'lower'} with position"
    interval = f"{row['level']:.0%} interval from {low:.3f} to {high:.3f} over {row['resamples']} resamples"
    return (
        f"Spearman with people, position_aware less judge_aware: {row['difference']:.4f} ({interval} of the "
        f"questions): {conclusion}."
    )


def slots_table(results: Results) -> str:
    """Root mean squared bias at the largest T, as `make slot_bias` stored it."""
    table = results.table("slot_bias/summary.csv")
    table = table[table["n_comparisons"] == table["n_comparisons"].max()].set_index(["member", "order"])
    rows = []
    for member in table.index.unique("member"):
        cells = (table.loc[(member, order)] for order in ("names", "random"))
        rows.append((member, *(f"{cell['rms_bias']:.3f} ({cell['rms_noise']:.3f})" for cell in cells)))
    return markdown_table(rows, ["member", "slots follow names", "slots at random"])


def shrinkage_table(results: Results) -> str:
    """Mean squared errors over those with shrinkage, at both ends of the grid, from `make small_samples`."""
    table = results.table("small_samples/mse.csv")
    other_draws = table[table["draws"] == "further"]
    rows = []
    for size_pair, setting in other_draws.groupby(["n_models", "n_judges"], sort=False):
        for size in (setting["n_comparisons"].min(), setting["n_comparisons"].max()):
            ends = setting[setting["n_comparisons"] == size].set_index("parameter")
            ratios = (f"{ends.at[p, 'ratio']:.2f} ({ends.at[p, 'ratio_se']:.2f})" for p in ERROR_HEADS)
            rows.append((str(size_pair), f"{size:,}", *ratios))
    counted = []
    for parameter, head in ERROR_HEADS.items():
        parts = (table[(table["parameter"] == parameter) & (table["draws"] == kind)] for kind in DRAW_KINDS)
        counted.append((head, *(f"{(part['ratio'] > 1).sum()} of {len(part)}" for part in parts)))
    settings = markdown_table(rows, ["(N, K)", "T", *ERROR_HEADS.values()])
    better = markdown_table(
        counted, ["settings where shrinkage is better", "new truths", "the truth of the other sections"]
    )
    return f"{settings}\n\n{better}"


def uncertainty_table(results: Results) -> str:
    """What errors clustered by question are to plug-in ones, as `make uncertainty` stored it."""
    rows = []
    for name, title in SET_TITLES.items():
        for _, row in results.table(f"uncertainty/{name}/summary.csv").iterrows():
            ratios = (f"{row[ratio]:.2f}" for ratio in ("clustered_ratio", "misfit_ratio", "bootstrap_ratio"))
            separated = f"{row['separated_plug_in']}, {row['separated_clustered']} of {row['pairs']}"
            rows.append((title, row["member"], f"{row['questions']:,}", *ratios, separated))
    columns = ["set", "member", "questions", "by question / plug-in", "each judgment alone / plug-in"]
    columns.append("bootstrap / plug-in")
    return markdown_table(rows, [*columns, "pairs separated (Holm): plug-in, clustered"])


def methods_table(results: Results) -> str:
    """Agreement and held-out loss by method, as `make method_comparison` stored them."""
    table = results.table("method_comparison/comparison.csv")
    titles = results.table("method_comparison/methods.csv").set_index("method")["title"]
    data = table.groupby("data", sort=False)[["kind", "title"]].first()
    sets, panels = (data.index[data["kind"] == kind] for kind in ("set", "panel"))
    rows = []
    for method, title in titles.items():
        of = table[table["method"] == method].set_index("data")
        # the mean over those data sets alone that a method could rank would flatter it
        truths = of["spearman"].where(of["n_ranked"] == of["n"])[panels]
        numbers = [_over_orders(of.loc["chatbot_arena"]), *(f"{x:.3f}" for x in of["log_loss"][sets])]
        numbers += [f"{x:.3f}" for x in truths]
        rows.append((title, *(number.replace("nan", "-") for number in numbers)))
    heads = [f"log-loss, {title}" for title in data["title"][sets]]
    heads += [f"truth, {title.removeprefix('simulated: ')}" for title in data["title"][panels]]
    table_text = markdown_table(rows, ["method", "people, Chatbot Arena", *heads])
    contrary = table[table["data"] == "adversarial"].set_index("method")[["n_reversed", "n_ranked"]]
    counts = (
        f"{titles[name]}, {row['n_reversed']:.0f} of {row['n_ranked']:.0f}"
        for name, row in contrary.iterrows()
        if row["n_reversed"] > 0
    )
    orders = table["orders"].max()
    noted = f"In brackets: standard deviation over {orders:.0f} random orders of the rows."
    return (
        f"{table_text}\n\n{noted} Rankings that run against the truth where judges are contrary: "
        f"{'; '.join(counts)}."
    )


def torture_table(results: Results) -> str:
    """Adverse cases tried, and how often what must not happen did, as `make torture` stored them."""
    counts = results.table("torture/counts.csv")
    rows = []
    for part, (tried, never) in TORTURED.items():
        of = counts[counts["part"] == part]
        if len(of):
            rows.append((tried, never, f"{of['cases'].sum():,}", int(of["happened"].sum())))
    maxima = counts[counts["part"] == "maxima"]
    slopes = maxima["of"].str.contains("length")
    missed = [int(maxima["happened"][chosen].sum()) for chosen in (slopes, ~slopes)]
    sizes = [int(maxima["cases"][chosen].sum()) for chosen in (slopes, ~slopes)]
    totals = (
        f"Missed maxima: {missed[0]} of {sizes[0]} fits of members with slopes in length, {missed[1]} of "
        f"{sizes[1]} of the others. One climb from the unweighted scores, without a search, misses "
        f"{maxima['by one climb'].sum():.0f} of the {sum(sizes):,}."
    )
    table = markdown_table(rows, ["what was tried", "what must not happen", "cases", "happened"])
    return f"{table}\n\n{totals}\n\n{_counted(results, counts)}"


def _counted(results: Results, counts: pd.DataFrame) -> str:
    """Sum of the counts, and when and by which code they were counted, as far as the record of the run says."""
    run = json.loads(results.path("torture/counts.csv")[0].with_name(RECORD).read_text())
    day, code = run["machine"].get("date"), run.get("made_by", {}).get("code")
    when = f" on {day}" if day else ""
    by = f" (digest {code})" if code else ""
    since = "`make stale` says whether it has changed since."
    if not code:
        since = "No digest of that code is stored, so nothing shows that today's code gives the same counts."
    return (
        f"Together {counts['happened'].sum():,.0f} of {counts['cases'].sum():,} cases, counted{when} by the code "
        f"of commit {(run['machine']['commit'] or 'unknown')[:7]}{by}. {since}"
    )


def _over_orders(row: pd.Series) -> str:
    """A rank correlation, with its spread over orders of the rows where it depends on them."""
    spread = row["spearman_sd"]
    return f"{row['spearman']:.4f}" if pd.isna(spread) else f"{row['spearman']:.3f} ({spread:.3f})"


# What the documentation shows of exact and shrunk fits as defaults.
METHODS = {
    "position_aware_shrunk": "position-aware, shrunk",
    "position_aware": "position-aware, exact",
    "judge_aware_shrunk": "judge-aware, shrunk",
    "judge_aware": "judge-aware, exact",
    "btl": "BTL",
    "position_only": "positions only",
}
ENDS = {
    "interior": "at a maximum",
    "boundary": "a judge at zero",
    "unbounded": "a judge runs off",
    "no estimate": "no estimate",
}


def accuracy_table(results: Results) -> str:
    """Spearman's correlation of samples with the rest by set, size and method."""
    table, rows = results.table("defaults/accuracy.csv"), []
    for (dataset, size), part in table.groupby(["dataset", "n_comparisons"], sort=False):
        rows_of_method = part.set_index("method")
        cells = (_with_share(rows_of_method.loc[method]) for method in METHODS)
        rows.append((NAMES[dataset], f"{size:,}", *cells))
    columns = ["data set", "comparisons", *METHODS.values()]
    return markdown_table(rows, columns)


def _with_share(row: pd.Series) -> str:
    """The correlation with its Monte Carlo error, and the share of samples that have an estimate, if not all."""
    if pd.isna(row["spearman"]):
        return "no estimate"
    error = "" if pd.isna(row["spearman_se"]) else f" ({row['spearman_se']:.3f})"
    share = "" if row["estimated"] == 1 else f", {row['estimated']:.0%} have one"
    return f"{row['spearman']:.3f}{error}{share}"


def trouble_table(results: Results) -> str:
    """Both position-aware fits by how the exact one ended."""
    rows = []
    for _, row in results.table("defaults/trouble.csv").iterrows():
        cells = (_number(row, name) for name in ("spearman_exact", "spearman_shrunk", "log_loss_saved"))
        rows.append((ENDS.get(row["status"], row["status"]), f"{row['samples']:.0f}", *cells))
    columns = ["the exact fit", "samples", "correlation, exact", "correlation, shrunk", "log-loss saved"]
    return markdown_table(rows, columns)


def simulated_table(results: Results) -> str:
    """Exact and shrunk position-aware fits on simulated sets."""
    table, rows = results.table("defaults/simulated.csv"), []
    for title, part in table.groupby("title", sort=False):
        for _, row in part[part["member"].isin(["position_aware", "judge_aware"])].iterrows():
            how = "shrunk" if row["solver"] == "penalised" else "exact"
            cells = (_number(row, name) for name in ("coverage", "error", "false", "wrong", "ranks", "power"))
            rows.append((title, how, *cells))
    columns = [
        *("simulated sets", "fit", "coverage", "error of a score", "equal pair separated", "wrong way round"),
        *("all ranks held", "power"),
    ]
    return markdown_table(rows, columns)


def _number(row: pd.Series, name: str) -> str:
    if pd.isna(row[name]):
        return ""
    error = row[f"{name}_se"]
    return f"{row[name]:.3f}" + ("" if pd.isna(error) else f" ({error:.3f})")


# What the documentation shows of tests of fit and of few questions.
TESTS = {"overall": "overall", "order": "one order", "judge": "some judge", "question": "some question"}


def fit_table(results: Results) -> str:
    """Shares of simulated sets in which a test finds a departure."""
    rows = []
    for _, row in results.table("fitness/levels.csv").iterrows():
        rows.append((row["design"], *(_share(row, test) for test in TESTS)))
    return _markdown(rows, ["judgments", *TESTS.values()])


def few_table(results: Results) -> str:
    """Few questions: false pairs and power, by the tests of `judgerank rank`, by flips and by plain errors."""
    rows = []
    kinds = {"rank": "`judgerank rank`", "flips": "sign flips", "plain": "plain errors"}
    for _, row in results.table("fitness/few.csv").iterrows():
        measure = "false" if pd.isna(row["rank_power"]) else "power"
        rows.append((row["design"], *(_share(row, f"{kind}_{measure}") for kind in kinds)))
    return _markdown(rows, ["judgments", *kinds.values()])


def fitted_sets_table(results: Results) -> str:
    """The tests of fit on the four sets."""
    rows = []
    for _, row in results.table("fitness/sets.csv").iterrows():
        ratios = (f"{row[f'{test}_ratio']:.2f} (p = {row[f'{test}_p']:.3f})" for test in ("overall", "order"))
        judges = f"{row['judges_depart']} of {row['judges']}"
        rows.append(
            (NAMES[row["dataset"]], *ratios, judges, f"{row['questions_depart']} of {row['n_questions']:,}")
        )
    columns = ["data set", "overall, over expected", "pairs, over expected", "judges who depart", "questions"]
    return _markdown(rows, columns)


def claim_files_table(results: Results) -> str:
    """Random files by layout, and statements in them that contradict each other."""
    table = results.table("claims/files.csv")
    columns = {"layout": "layout", "files": "files", "ranked": "ranked", "whole": "every statement compared"}
    columns |= {"with_claims": "with a significant pair", "contradictions": "contradictions"}
    columns |= {"lacks": "the layout does not hold"}
    known = [name for name in columns if name in table]
    rows = table[known].fillna("").astype(str).itertuples(index=False)
    return _markdown(list(rows), [columns[name] for name in known])


def claim_levels_table(results: Results) -> str:
    """Sets with a false claim, and the power, by design."""
    rows = [
        (row["design"], _number(row, "false"), _number(row, "power"))
        for _, row in results.table("claims/levels.csv").iterrows()
    ]
    return _markdown(rows, ["simulated sets", "sets with a false claim", "different models separated"])


def _share(row: pd.Series, name: str) -> str:
    return f"{row[name]:.3f} ({row[f'{name}_se']:.3f})"


def _markdown(rows: list[tuple], columns: list[str]) -> str:
    return markdown_table(rows, columns)


# What the documentation shows of the reported scale and of boards compared on it.


def useless_table(results: Results) -> str:
    """The range of scores with all judges and without useless ones, on the reported scale and the paper's."""
    rows = []
    for _, row in results.table("scale/useless.csv").iterrows():
        ranges = (f"{row[f'{name}_change']:+.0%}" for name in ("range", "paper"))
        rows.append((NAMES[row["dataset"]], f"{row['useless']} of {row['judges']}", *ranges))
    columns = ["data set", "judges left out", "range of reported scores", "range on the paper's scale"]
    return markdown_table(rows, columns)


def scale_table(results: Results) -> str:
    """Simulated panels: spread of reported scores over their errors, and coverage."""
    rows = []
    for _, row in results.table("scale/scores.csv").iterrows():
        names = ("spread_over_error", "coverage", "first", "last")
        cells = (f"{row[name]:.3f} ({row[f'{name}_se']:.3f})" for name in names)
        rows.append((row["panel"], f"{row['n_comparisons']:,}", *cells))
    columns = ["judges", "comparisons", "spread over standard error", "coverage", "first model", "last model"]
    return markdown_table(rows, columns)


def boards_table(results: Results) -> str:
    """Simulated boards compared on one scale: how often a model is said to have moved."""
    rows = []
    for _, row in results.table("scale/compared.csv").iterrows():
        cells = (f"{row[name]:.3f} ({row[f'{name}_se']:.3f})" for name in ("any", "first"))
        changed = next(cells), next(cells) if row["change"] else ""
        rows.append((row["boards"], *changed))
    columns = ["boards", "share of runs that report a move", "of the model that moved"]
    return markdown_table(rows, columns)
