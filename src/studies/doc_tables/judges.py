"""Tables that the documentation shows of panels, tastes, and how far rankings can be trusted."""

from __future__ import annotations

import pandas as pd

from judgerank.plots.looks import NAMES
from replication.auditing.results import Results
from replication.tables import markdown_table

# What the documentation shows of the section on what a panel does besides judging quality.
SHARES = ("rejected", "rejected_by_question", "size_clustered", "scores_without", "scores_clustered")


def panel_table(results: Results) -> str:
    """What question effects integrated out add on every set, as `make panel` stored it."""
    rows = []
    for _, row in results.table("panel/summary.csv").iterrows():
        relative = f"{row['relative_sigma']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
        ratios = f"{row['without_ratio']:.2f}, {row['with_ratio']:.2f}"
        gain = f"{row['gain_several']:.4f} ({row['gain_several_se']:.4f}), {row['held_out_member']}"
        several = f"{row['several']:,} of {row['questions']:,}"
        rows.append((row["title"], row["member"], several, relative, f"{row['twice_gain']:,.0f}", ratios, gain))
    columns = [
        "set",
        "member",
        "questions with several",
        "sigma over the scores' spread",
        "2 x log-likelihood gained",
    ]
    return markdown_table(
        rows, [*columns, "errors over clustered: without, with", "held-out log-loss gained there, by"]
    )


def blocks_table(results: Results) -> str:
    """What every further block does on the sets that have data for it."""
    rows = []
    table = results.table("panel/blocks.csv")
    for _, row in table[table["gain"].notna()].iterrows():
        size = "" if pd.isna(row["spread"]) else f"{row['spread']:.2f}"
        by_question = "" if pd.isna(row["p_by_question"]) else f"{row['p_by_question']:.2g}"
        tests = f"{row['twice_gain']:.1f}", f"{row['p']:.2g}", by_question
        gain = f"{row['gain']:.4f} ({row['gain_se']:.4f})"
        rows.append((row["title"], row["block"], size, *tests, gain, f"{row['correlation']:.4f}"))
    columns = ["set", "block", "standard deviation", "2 x log-likelihood gained", "p", "p, by question"]
    return markdown_table(rows, [*columns, "held-out log-loss gained", "correlation of scores with and without"])


def question_coverage_table(results: Results) -> str:
    """What intervals of the scores hold in simulation, where the answers of a model differ in quality."""
    designs = {"one pair": "150, one pair each, four judges", "many pairs": "30, ten pairs each, four judges"}
    table, rows = results.table("panel/coverage.csv"), []
    for design, title in designs.items():
        of = table[(table["design"] == design) & (table["question_sd"] == 1)].set_index("intervals")
        held = (of.loc[kind] for kind in ("without", "with", "clustered"))
        rows.append((title, *(f"{row['covered']:.3f} ({row['covered_se']:.3f})" for row in held)))
    return markdown_table(rows, ["questions", "without question effects", "with", "clustered"])


def detection_table(results: Results) -> str:
    """How often tests find a simulated block, and what intervals hold."""
    rows = []
    for _, row in results.table("panel/block_coverage.csv").iterrows():
        shares = (
            _share(row, name)
            for name in (
                "rejected",
                "rejected_by_question",
                "size_clustered",
                "scores_without",
                "scores_clustered",
            )
        )
        rows.append((row["block"], f"{row['size']:g}", f"{row['question_sd']:g}", *shares))
    columns = ["block", "size", "sigma of answers", "found, p < .05", "found, by question", "coverage of size"]
    return markdown_table(rows, [*columns, "coverage of scores without the block", "with it, by question"])


def _share(row: pd.Series, name: str) -> str:
    return "" if pd.isna(row[name]) else f"{row[name]:.2f} ({row[f'{name}_se']:.2f})"


# What the documentation shows of judges with few answers.
CROWDS = {
    ("honest", 0): "honest, alone",
    ("coins", 0): "half toss coins, alone",
    ("honest", 1): "honest, beside a panel",
    ("coins", 1): "half toss coins, beside a panel",
    ("half bloc", 1): "half a bloc, beside a panel",
    ("bloc", 1): "a bloc, beside a panel",
}


def few_answers_crowds(results: Results) -> str:
    """Rank correlation, error and coverage by answers a judge, for one's own and a shared discrimination."""
    rows, table = [], results.table("few_answers/few_answers.csv")
    for (kind, beside), title in CROWDS.items():
        for _, row in table[(table["kind"] == kind) & ((table["panel"] > 0) == bool(beside))].iterrows():
            cells = [
                f"{row[f'{measure}_{way}']:.2f} ({row[f'{measure}_{way}_se']:.2f})"
                for measure in ("spearman", "error")
                for way in ("own", "shared", "btl")
            ]
            held = [f"{row[f'coverage_{way}']:.2f} ({row[f'coverage_{way}_se']:.2f})" for way in ("own", "shared")]
            rows.append((title, f"{row['answers']:.0f}", *cells, *held))
    columns = ["crowd", "answers a judge", "rank correlation: each its own", "shared", "BTL"]
    columns += ["error: each its own", "shared", "BTL", "coverage: each its own", "shared"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def few_answers_blocs(results: Results) -> str:
    """How often the votes of a crowd beside a panel are called one-sided."""
    rows, table = [], results.table("few_answers/one_sided.csv")
    for kind, group in table.groupby("kind", sort=False):
        cells = [f"{row['accused']:.2f} ({row['accused_se']:.2f})" for _, row in group.iterrows()]
        rows.append((kind, *cells))
    columns = ["crowd", *(f"{answers} a judge" for answers in table["answers"].unique())]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


# What the documentation shows of contrary judges and of little data.


def contrary_judges(results: Results) -> str:
    """How often the last judge of a panel is called contrary, by kind and answers, and how often another."""
    rows, table = [], results.table("contrary/judges.csv")
    for kind, group in table.groupby("kind", sort=False):
        last = [f"{row['last']:.2f} ({row['last_se']:.2f})" for _, row in group.iterrows()]
        rows.append((kind, *last, f"{group['others'].max():.2f}"))
    columns = ["last judge", *(f"{answers} answers" for answers in table["answers"].unique())]
    return markdown_table(rows, [*columns, "another one, at most"])


def contrary_questions(results: Results) -> str:
    """Level and power on few questions."""
    rows, table = [], results.table("contrary/questions.csv")
    for (questions, effect), group in table.groupby(["questions", "effect"], sort=False):
        null, other = group[group["lead"] == 0].iloc[0], group[group["lead"] > 0].iloc[0]
        false, power = (
            f"{row[name]:.3f} ({row[f'{name}_se']:.3f})" for row, name in ((null, "false"), (other, "power"))
        )
        rows.append((f"{questions}", f"{effect:g}", false, power))
    return markdown_table(rows, ["questions", "effects", "some pair separated, all equal", "pairs found"])


def contrary_intervals(results: Results) -> str:
    """Coverage of intervals of two models, and whether score and claim agree."""
    rows = [
        (
            f"{row['comparisons']}",
            f"{row['lead']:g}",
            f"{row['difference']:.3f} ({row['difference_se']:.3f})",
            f"{row['score']:.3f} ({row['score_se']:.3f})",
            f"{row['width']:.1f}",
            f"{row['agree']:.3f}",
        )
        for _, row in results.table("contrary/intervals.csv").iterrows()
    ]
    columns = ["comparisons", "true difference", "coverage: difference", "score", "width", "score and claim agree"]
    return markdown_table(rows, columns)


def contrary_sweeps(results: Results) -> str:
    """Two models of which one wins nearly all."""
    rows = [
        (
            f"{row['wins']:.0f}, {row['losses']:.0f}, {row['ties']:.0f}",
            f"{row['p_value']:.2g}",
            "yes" if row["separated"] else "no",
            f"{row['low']:.2f} to {row['high']:.2f}",
            f"{row['score_low']:.2f} to {row['score_high']:.2f}",
        )
        for _, row in results.table("contrary/sweeps.csv").iterrows()
    ]
    return markdown_table(rows, ["wins, losses, ties", "p", "significant", "difference", "score of the first"])


# What the documentation shows of judges' tastes.


def tastes_of_sets(results: Results) -> str:
    """Size of the tastes on every set, their test, what they predict, and both kinds of interval."""
    rows = []
    for _, row in results.table("tastes/sets.csv").iterrows():
        p = "< .0001" if row["p"] < 1e-4 else f"{row['p']:.2f}"
        size = f"{row['sd']:.2f} (scores: {row['sd_scores']:.2f})"
        gain = f"{row['gain']:.4f} ({row['gain_se']:.4f})"
        kinds = ("plain", "panel", "like_these")
        widths = " / ".join(f"{row[f'width_{kind}']:.2f}" for kind in kinds)
        pairs = " / ".join(f"{row[f'pairs_{kind}']}" for kind in kinds)
        rows.append((NAMES[row["dataset"]], size, p, gain, widths, f"{pairs} of {row['pairs']}"))
    columns = ["data set", "standard deviation", "p", "held-out log-loss gained"]
    columns += ["width of an interval", "pairs significantly different"]
    return markdown_table(rows, columns)


def tastes_simulated(results: Results) -> str:
    """Simulated panels: coverage of both intervals, and how often the test rejects."""
    rows = []
    for _, row in results.table("tastes/simulated.csv").iterrows():
        names = ("like_these", "plain", "panel", "plain_panel", "rejected")
        cells = [f"{row[name]:.2f} ({row[f'{name}_se']:.2f})" for name in names]
        panel = f"{row['true_sd']:g}", f"{row['judges']:.0f}", f"{row['n_comparisons']:,.0f}", f"{row['sd']:.2f}"
        rows.append((*panel, *cells))
    columns = ["tastes", "judges", "comparisons", "estimated", "judges like these", "the same, tastes left out"]
    columns += ["this panel", "this panel, tastes left out", "test rejects"]
    return markdown_table(rows, columns)


def taste_stops(results: Results) -> str:
    """Simulated collections: how often each rule stops, and how often wrongly for judges like these."""
    rows = []
    for _, row in results.table("tastes/stops.csv").iterrows():
        cells = []
        for rule in ("plain", "drift", "like_these"):
            stopped, wrong = (f"{row[f'{name}_{rule}']:.0%}" for name in ("stopped", "wrong"))
            cells.append(f"{stopped}, {wrong} ({row[f'wrong_{rule}_se']:.0%})")
        wrong_share = f"{row['wrong_panel_drift']:.0%} ({row['wrong_panel_drift_se']:.0%})"
        rows.append((row["design"], *cells, wrong_share))
    columns = [
        "collections",
        "no look for change",
        "this panel",
        "judges like these",
        "this panel, wrong about itself",
    ]
    return markdown_table(rows, columns)


# What the documentation shows of judges of a model's own maker.


def own_maker_sets(results: Results) -> str:
    """Votes left out of every set, and what that changes."""
    rows = []
    for _, row in results.table("self_preference/sets.csv").iterrows():
        shares = f"{row['left_out']:.1%}", f"{row['one_own']:.1%}"
        same = f"{row['same_first']:.0f} of 3"
        rows.append((NAMES[row["dataset"]], *shares, f"{row['spearman']:.3f}", same, f"{row['dependent']:.0f}"))
    columns = [
        "data set",
        "votes left out",
        "on one own model",
        "rank correlation",
        "first three in the same place",
    ]
    return markdown_table(rows, [*columns, "models that need such votes"])


def own_maker_simulated(results: Results) -> str:
    """Simulated panels: how often the wrong model is first, how far the best leads, who is accused."""
    rows = []
    for _, row in results.table("self_preference/simulated.csv").iterrows():
        wrong = [f"{row[f'wrong_{name}']:.0%} ({row[f'wrong_{name}_se']:.0%})" for name in _METHODS]
        accused = [f"{row[f'{name}_accused']:.0%} ({row[f'{name}_accused_se']:.0%})" for name in _ACCUSED]
        lead = f"{row['lead_recused']:.2f} ({row['lead_recused_se']:.2f})"
        rows.append((row["panel"], f"{row['bias']:g}", *wrong, lead, *accused, f"{row['warned']:.0%}"))
    columns = [
        "panel",
        "bias",
        "wrong first: all votes",
        "plain BTL",
        "without that judge",
        "his own votes left out",
    ]
    columns += [
        "every judge's own votes left out",
        "lead then",
        "partial judge named",
        "another accused",
        "warned",
    ]
    return markdown_table(rows, columns)


_METHODS = ("counted", "btl", "guilty_left_out", "guilty_recused", "recused")
_ACCUSED = ("guilty", "innocent")


# What the documentation shows of how far rankings can be trusted.


def fragility_table(results: Results) -> str:
    """The fewest judgments, questions and judges found that change the first model, as stored."""
    rows = []
    for _, row in results.table("trust/summary.csv").iterrows():
        fewest = [
            "none found" if pd.isna(row[f"top_{by}"]) else f"{row[f'top_{by}']:,.0f} of {row[by]:,}"
            for by in ("judgments", "questions", "judges")
        ]
        few = f"{row['swapped_by_few']} of {row['neighbours']}"
        rows.append((row["title"], row["member"], *fewest, few))
    columns = ["set", "member", "judgments", "questions", "judges"]
    return markdown_table(rows, [*columns, "neighbours that ten judgments or fewer swap"])


def effective_table(results: Results) -> str:
    """How many independent judges the panels are worth, and what one more adds."""
    another, rows = results.table("trust/another.csv"), []
    for _, row in results.table("trust/summary.csv").iterrows():
        mine = (another["dataset"] == row["dataset"]) & (another["member"] == row["member"])
        additional = another[mine & (another["quality"] == 1)].iloc[0]
        worth = f"{row['information']:.1f} ({row['information_low']:.1f} to {row['information_high']:.1f})"
        adds = f"{additional['adds']:.2f}, {additional['questions_per_cost']:.2f}"
        rows.append((row["title"], row["member"], f"{row['judges']}", f"{row['correlation']:.2f}", worth, adds))
    columns = ["set", "member", "judges", "correlation of errors", "effective number of judges"]
    return markdown_table(rows, [*columns, "gain from one more judge; from new questions for the same money"])


def calibration_table(results: Results) -> str:
    """Simulated panels of known dependence: their worth, what was said, and how often the interval held it."""
    rows = []
    for _, row in results.table("trust/calibration.csv").iterrows():
        worth, estimate = (
            f"{row[name]:.2f} ({row[f'{name}_se']:.2f})" if row[f"{name}_se"] else f"{row[name]:.2f}"
            for name in ("worth", "information")
        )
        rows.append((row["panel"], worth, estimate, f"{row['information_covered']:.2f}"))
    columns = ["eight judges", "true effective number", "estimated, mean"]
    return markdown_table(rows, [*columns, "coverage of its intervals"])


def small_sets_table(results: Results) -> str:
    """By what steps alone find in small designs: how often the search finds a smaller set."""
    rows = []
    for _, row in results.table("trust/small_sets.csv").iterrows():
        share = "" if row["by_steps"] == "1" else f"{row['smaller']:.2f} ({row['smaller_se']:.2f})"
        rows.append((row["by_steps"], row["designs"], share, row["single_missed"], row["bound_refuted"]))
    columns = ["judgments, by steps alone", "designs", "the search finds fewer", "one is enough, and was missed"]
    return markdown_table(rows, [*columns, "fewer than the lower bound are enough"])


def placed_table(results: Results) -> str:
    """Simulated newcomers on boards: what their intervals hold, and how often there is a warning."""
    rows = []
    for _, row in results.table("newcomers/placed.csv").iterrows():
        names = ("covered", "covered_own", "moved", "partial")
        rows.append((row["setting"], *(f"{row[name]:.2f} ({row[f'{name}_se']:.2f})" for name in names)))
    columns = ["newcomer", "coverage, with the board's uncertainty", "without it", "warned: models move"]
    return markdown_table(rows, [*columns, "warned: a judge sees it otherwise"])


def compared_table(results: Results) -> str:
    """Simulated boards compared: how often a model is said to have moved."""
    rows = []
    for _, row in results.table("newcomers/compared.csv").iterrows():
        rows.append((row["setting"], f"{row['moved']:.2f} ({row['moved_se']:.2f})"))
    return markdown_table(rows, ["boards", "share of runs that report a move"])


def people_table(results: Results) -> str:
    """Simulated panels with some human votes: what intervals hold, the saving, and the test."""
    rows = []
    for _, row in results.table("people/votes.csv").iterrows():
        names = ("covered/toward the panel", "covered/helped", "covered/alone", "covered/as a judge")
        names = (*names, "saving", "rejected")
        rows.append((row["setting"], *(f"{row[name]:.2f} ({row[f'{name}_se']:.2f})" for name in names)))
    columns = ["coverage: toward the panel", "coverage: helped by the panel", "coverage: people alone"]
    columns = ["panel", *columns, "coverage: people as a judge"]
    return markdown_table(rows, [*columns, "variance saved by the help", "runs that report disagreement"])


def crowds_table(results: Results) -> str:
    """Simulated crowds: error, rank correlation and coverage of every way to scores."""
    rows = []
    for _, row in results.table("people/crowds.csv").iterrows():
        for variant in ("alone", "helped", "toward the panel", "reported"):
            names = (f"{measure}/{variant}" for measure in ("error", "spearman", "covered"))
            rows.append((row["crowd"], variant, *(f"{row[name]:.3f} ({row[f'{name}_se']:.3f})" for name in names)))
    columns = ["crowd", "scores", "error", "Spearman", "coverage"]
    return markdown_table(rows, columns)


def soft_table(results: Results) -> str:
    """Simulated judges with probabilities beside letters: what these are worth, and what intervals hold."""
    table, rows = results.table("soft/worth.csv").set_index(["setting", "way"]), []
    for setting in dict.fromkeys(table.index.get_level_values("setting")):
        of = table.loc[setting]
        cells = [("gain", variant) for variant in ("p", "p, weighted", "p, BTL")]
        cells += [("narrower", "p"), ("covered_plug_in", "p"), ("covered_clustered", "p")]
        cells += [("discrimination", "letter"), ("discrimination", "p")]
        cell_texts = (
            f"{of.at[variant, name]:.2f} ({of.at[variant, f'{name}_se']:.2f})" for name, variant in cells
        )
        rows.append((setting, *cell_texts))
    columns = ["judges", "letters per p", "judges weighted", "by BTL", "p is narrower"]
    columns += ["coverage: p, plug-in", "coverage: p, clustered", "judges in order: letters", "judges in order: p"]
    equal = results.table("soft/equal.csv").set_index("way")
    shares = "; ".join(
        (
            f"{variant}, {equal.at[variant, 'separated_clustered']:.2f} "
            f"({equal.at[variant, 'separated_clustered_se']:.2f})"
        )
        for variant in ("letter", "p", "p, weighted")
    )
    sets = f"{equal['n_replications'].max()} sets of judgments of equal models"
    note = f"Share of {sets} in which any two are separated by clustered errors: {shares}."
    return f"{markdown_table(rows, columns)}\n\n{note}"
