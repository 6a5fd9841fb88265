"""What README and documentation show of the stored results: blocks and numbers that `make audit` keeps current."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from judgerank.writing.publishing import replace_file
from replication.auditing.claims import outcomes
from replication.auditing.page import Audit, totals_tables, verdicts_table
from replication.auditing.registry import items
from replication.auditing.results import Missing, Results
from replication.auditing.reviewing import numbers_claimed, words_claimed
from replication.auditing.shown_figures import figures_page
from replication.auditing.shown_numbers import with_numbers
from replication.auditing.shown_panel import blocks_table, found_table, grid, panel_table, question_coverage_table
from replication.auditing.shown_times import times_table, whole_runs
from replication.auditing.shown_trust import (
    calibration_table,
    compared_table,
    effective_table,
    fragility_table,
    people_table,
    placed_table,
    soft_table,
)

log = logging.getLogger("replication")
SET_TITLES = {"in_house": "In-house data", "chatbot_arena": "Chatbot Arena"}
SET_TITLES |= {"mt_bench": "MT-Bench", "ultrafeedback": "UltraFeedback"}
SHOWN_MEMBERS = ("btl", "judge_aware", "position_only", "position_aware", "position_aware_ties")
ERROR_HEADS = {"score": "s", "standardised_score": "s, standardised", "log_discrimination": "log gamma"}
DRAW_KINDS = ("further", "main")
CHECKED = (  # title, section, rows
    ("Table 3 (Chatbot Arena)", "chatbot_arena", "table=Table 3"),
    ("Table 1 (MT-Bench)", "benchmark_alignment", "table=Table 1"),
    ("Table A.6 (UltraFeedback), unweighted", "benchmark_alignment", "table=Table A.6; column=score_btl"),
    ("Table A.6 (UltraFeedback), judge-aware", "benchmark_alignment", "table=Table A.6; column=score_judge_aware"),
    ("Table A.8, MT-Bench", "judge_reliability", "table=Table A.8; column=mt_bench"),
    ("Table A.8, UltraFeedback", "judge_reliability", "table=Table A.8; column=ultrafeedback"),
)
COVERED = {"judge_aware": "judge-aware", "btl": "BTL", "btl_rescaled": "BTL, on its scale"}
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


def with_block(text: str, name: str, content: str) -> str:
    """A text with what stands between the marks of a block replaced."""
    pattern = re.compile(rf"(<!-- {name}:[^>]*-->\n).*?(<!-- /{name} -->)", re.DOTALL)
    return pattern.sub(lambda marks: f"{marks[1]}{content}\n{marks[2]}", text)


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
    return f"{grid(rows, [*columns, 'Spearman with people'])}\n\n{_people(results)}"


def _people(results: Results) -> str:
    """Whether position changes the agreement with people on Chatbot Arena, in a sentence."""
    row = results.table("model_comparison/chatbot_arena/people.csv").set_index("member").loc["position_aware"]
    low, high = row["difference_low"], row["difference_high"]
    said = "no difference is supported"
    if low > 0 or high < 0:
        said = f"agreement is {'higher' if low > 0 else 'lower'} with position"
    interval = f"{row['level']:.0%} interval from {low:.3f} to {high:.3f} over {row['resamples']} resamples"
    return (
        f"Spearman with people, position_aware less judge_aware: {row['difference']:.4f} ({interval} of the "
        f"questions): {said}."
    )


def slots_table(results: Results) -> str:
    """Root mean squared bias at the largest T, as `make slot_bias` stored it."""
    table = results.table("slot_bias/summary.csv")
    table = table[table["n_comparisons"] == table["n_comparisons"].max()].set_index(["member", "order"])
    rows = []
    for member in table.index.unique("member"):
        cells = (table.loc[(member, order)] for order in ("names", "random"))
        rows.append((member, *(f"{cell['rms_bias']:.3f} ({cell['rms_noise']:.3f})" for cell in cells)))
    return grid(rows, ["member", "slots follow names", "slots at random"])


def shrinkage_table(results: Results) -> str:
    """Mean squared errors over those with shrinkage, at both ends of the grid, from `make small_samples`."""
    table = results.table("small_samples/mse.csv")
    further = table[table["draws"] == "further"]
    rows = []
    for place, setting in further.groupby(["n_models", "n_judges"], sort=False):
        for size in (setting["n_comparisons"].min(), setting["n_comparisons"].max()):
            ends = setting[setting["n_comparisons"] == size].set_index("parameter")
            ratios = (f"{ends.at[p, 'ratio']:.2f} ({ends.at[p, 'ratio_se']:.2f})" for p in ERROR_HEADS)
            rows.append((str(place), f"{size:,}", *ratios))
    counted = []
    for parameter, head in ERROR_HEADS.items():
        parts = (table[(table["parameter"] == parameter) & (table["draws"] == kind)] for kind in DRAW_KINDS)
        better = [f"{(part['ratio'] > 1).sum()} of {len(part)}" for part in parts]
        counted.append(f"{head}, at {better[0]} points of the grid and at {better[1]}")
    told = f"Over one for {'; '.join(counted)} (the latter for the truth of the other sections)."
    return f"{grid(rows, ['(N, K)', 'T', *ERROR_HEADS.values()])}\n\n{told}"


def uncertainty_table(results: Results) -> str:
    """What errors clustered by question are to plug-in ones, as `make uncertainty` stored it."""
    rows = []
    for name, title in SET_TITLES.items():
        for _, row in results.table(f"uncertainty/{name}/summary.csv").iterrows():
            ratios = (f"{row[ratio]:.2f}" for ratio in ("clustered_ratio", "bootstrap_ratio"))
            apart = f"{row['separated_plug_in']}, {row['separated_clustered']} of {row['pairs']}"
            rows.append((title, row["member"], f"{row['questions']:,}", *ratios, apart))
    columns = ["set", "member", "questions", "clustered / plug-in", "bootstrap / plug-in"]
    return grid(rows, [*columns, "pairs separated (Holm): plug-in, clustered"])


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
    shown = grid(rows, ["method", "people, Chatbot Arena", *heads])
    contrary = table[table["data"] == "adversarial"].set_index("method")[["n_reversed", "n_ranked"]]
    counts = (
        f"{titles[name]}, {row['n_reversed']:.0f} of {row['n_ranked']:.0f}"
        for name, row in contrary.iterrows()
        if row["n_reversed"] > 0
    )
    orders = table["orders"].max()
    noted = f"In brackets: standard deviation over {orders:.0f} random orders of the rows."
    return (
        f"{shown}\n\n{noted} Rankings that run against the truth where judges are contrary: {'; '.join(counts)}."
    )


def checks_table(results: Results) -> str:
    """How many of the printed estimates come out at printed precision, by table."""
    rows = []
    for title, section, of in CHECKED:
        check = results.rows(f"{section}/paper_check.csv", of)
        rows.append((title, len(check), int(check["reproduced"].sum())))
    return grid(rows, ["printed", "numbers", "reproduced at printed precision"])


def slopes_table(results: Results) -> str:
    """Slopes of the mean squared error with Monte Carlo errors, as `make convergence_mse` stored them."""
    rows = []
    for row in results.table("convergence_mse/slopes.csv").itertuples():
        ours = (row.slope, row.slope_se), (row.interior_slope, row.interior_slope_se)
        names = f"({row.n_models}, {row.n_judges})", ERROR_HEADS[row.parameter]
        rows.append((*names, f"{row.paper:.2f}", *(_with_error(*pair, 2) for pair in ours)))
    return grid(rows, ["(N, K)", "error of", "paper", "all replications", "interior maximum"])


def coverage_table(results: Results) -> str:
    """Coverage at the largest T with Monte Carlo errors, as `make ci_coverage` stored it."""
    table = results.table("ci_coverage/coverage.csv")
    rows = []
    for place, setting in table.groupby(["n_models", "n_judges"], sort=False):
        size = setting["n_comparisons"].max()
        last = setting[setting["n_comparisons"] == size].set_index("method")
        cells = (_with_error(*last.loc[method, ["coverage", "coverage_se"]], 3) for method in COVERED)
        rows.append((str(place), f"{size:,}", *cells))
    return grid(rows, ["(N, K)", "T", *COVERED.values()])


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
    told = (
        f"Missed maxima: {missed[0]} of {sizes[0]} fits of members with slopes in length, {missed[1]} of "
        f"{sizes[1]} of the others. One climb from the unweighted scores, without a search, misses "
        f"{maxima['by one climb'].sum():.0f} of the {sum(sizes):,}."
    )
    return f"{grid(rows, ['what was tried', 'what must not happen', 'cases', 'happened'])}\n\n{told}"


def items_table(results: Results) -> str:
    """Every numbered item of the paper with links, for a page two folders below the project."""
    rows = []
    for row in items().itertuples():
        stored = [f"results/{name}" for name in row.tables.split(";")]
        figures = (f"figures/{name}" for name in row.figures.split(";"))
        # a figure may wait for data that only the hub has
        stored += [name for name in figures if (results.folder.parent / name).is_file()]
        made_by = [f"experiments/{row.section}.py", f"conf/{row.section}.yaml"]
        links = (", ".join(f"[{Path(name).name}](../../{name})" for name in names) for names in (made_by, stored))
        rows.append((row.item, row.title, f"`make {row.section}`", *links))
    return grid(rows, ["item", "of", "command", "made by", "stored"])


def _with_error(value: float, error: float, digits: int) -> str:
    shown = f"{value:.{digits}f}"
    return shown if pd.isna(error) else f"{shown} ({error:.{digits}f})"


def _over_orders(row: pd.Series) -> str:
    """A rank correlation, with its spread over orders of the rows where it depends on them."""
    spread = row["spearman_sd"]
    return f"{row['spearman']:.4f}" if pd.isna(spread) else f"{row['spearman']:.3f} ({spread:.3f})"


BLOCKS = {
    "blocks": blocks_table,
    "blocks found": found_table,
    "calibration": calibration_table,
    "compared": compared_table,
    "checks": checks_table,
    "coverage": coverage_table,
    "effective": effective_table,
    "figures": figures_page,
    "fragility": fragility_table,
    "items": items_table,
    "members": members_table,
    "methods": methods_table,
    "panel": panel_table,
    "people": people_table,
    "placed": placed_table,
    "question coverage": question_coverage_table,
    "shrinkage": shrinkage_table,
    "slopes": slopes_table,
    "slots": slots_table,
    "soft": soft_table,
    "times": times_table,
    "whole runs": whole_runs,
    "torture": torture_table,
    "uncertainty": uncertainty_table,
}


def blocks(audit: Audit, results: Results) -> dict[str, str]:
    """What is shown of the stored results, by the name of the block; without those not stored."""
    claims = outcomes(audit.claims).to_markdown(index=False)
    listed = "\n".join(f"{number}. {told.finding.title}" for number, told in enumerate(audit.held, 1))
    found = {"totals": f"{totals_tables(audit.numbers)}\n\nClaims in words:\n\n{claims}", "findings": listed}
    found["verdicts"] = verdicts_table(audit.numbers)
    found["numbers claimed"] = numbers_claimed(audit, results)
    found["words claimed"] = words_claimed(audit, results)
    for name, table in BLOCKS.items():
        try:
            found[name] = table(results)
        except (Missing, KeyError) as error:
            log.warning("the block %s is left as it is: %s", name, error)
    return found


def current(text: str, shown: Mapping[str, str], results: Results, name: str = "") -> str:
    """A page's text with every block that it has marks of, and every number that names its place, as stored."""
    for block, content in shown.items():
        text = with_block(text, block, content)
    return with_numbers(text, results, name)


def keep_current(pages: Iterable[Path], shown: Mapping[str, str], results: Results) -> None:
    """Write what is stored into pages: blocks, and numbers within sentences."""
    for path in pages:
        before = path.read_text()
        text = current(before, shown, results, path.name)
        if text != before:
            replace_file(path, text)


def markdown_in(places: Iterable[Path]) -> Iterator[Path]:
    """Markdown files among files and in folders."""
    for place in places:
        yield from [place] if place.is_file() else sorted(place.rglob("*.md"))
