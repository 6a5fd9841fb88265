"""The blocks of the README."""

from __future__ import annotations

import logging
import re

import pandas as pd

from replication.auditing.claims import outcomes
from replication.auditing.page import Audit, totals_tables
from replication.auditing.results import Missing, Results

log = logging.getLogger("replication")
SET_TITLES = {"in_house": "In-house data", "chatbot_arena": "Chatbot Arena"}
SET_TITLES |= {"mt_bench": "MT-Bench", "ultrafeedback": "UltraFeedback"}
SHOWN_MEMBERS = ("btl", "judge_aware", "position_only", "position_aware", "position_aware_ties")
ERROR_HEADS = {"score": "s", "standardised_score": "s, standardised", "log_discrimination": "log gamma"}
DRAW_KINDS = ("further", "main")


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
    return f"{_grid(rows, [*columns, 'Spearman with people'])}\n\n{_people(results)}"


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
    return _grid(rows, ["member", "slots follow names", "slots at random"])


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
    return f"{_grid(rows, ['(N, K)', 'T', *ERROR_HEADS.values()])}\n\n{told}"


def uncertainty_table(results: Results) -> str:
    """What errors clustered by question are to plug-in ones, as `make uncertainty` stored it."""
    rows = []
    for name, title in SET_TITLES.items():
        for _, row in results.table(f"uncertainty/{name}/summary.csv").iterrows():
            ratios = (f"{row[ratio]:.2f}" for ratio in ("clustered_ratio", "bootstrap_ratio"))
            apart = f"{row['separated_plug_in']}, {row['separated_clustered']} of {row['pairs']}"
            rows.append((title, row["member"], f"{row['questions']:,}", *ratios, apart))
    columns = ["set", "member", "questions", "clustered / plug-in", "bootstrap / plug-in"]
    return _grid(rows, [*columns, "pairs separated (Holm): plug-in, clustered"])


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
    grid = _grid(rows, ["method", "people, Chatbot Arena", *heads])
    contrary = table[table["data"] == "adversarial"].set_index("method")[["n_reversed", "n_ranked"]]
    counts = (
        f"{titles[name]}, {row['n_reversed']:.0f} of {row['n_ranked']:.0f}"
        for name, row in contrary.iterrows()
        if row["n_reversed"] > 0
    )
    orders = table["orders"].max()
    noted = f"In brackets: standard deviation over {orders:.0f} random orders of the rows."
    return f"{grid}\n\n{noted} Rankings that run against the truth where judges are contrary: {'; '.join(counts)}."


def _over_orders(row: pd.Series) -> str:
    """A rank correlation, with its spread over orders of the rows where it depends on them."""
    spread = row["spearman_sd"]
    return f"{row['spearman']:.4f}" if pd.isna(spread) else f"{row['spearman']:.3f} ({spread:.3f})"


def _grid(rows: list[tuple], columns: list[str]) -> str:
    return pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True)


BLOCKS = {
    "members": members_table,
    "slots": slots_table,
    "shrinkage": shrinkage_table,
    "uncertainty": uncertainty_table,
    "methods": methods_table,
}


def readme_blocks(audit: Audit, results: Results) -> dict[str, str]:
    """What the README shows of the stored results, by the name of the block; without those not stored."""
    claims = outcomes(audit.claims).to_markdown(index=False)
    listed = "\n".join(f"{number}. {told.finding.title}" for number, told in enumerate(audit.held, 1))
    blocks = {"totals": f"{totals_tables(audit.numbers)}\n\nClaims in words:\n\n{claims}", "findings": listed}
    for name, table in BLOCKS.items():
        try:
            blocks[name] = table(results)
        except (Missing, KeyError) as error:
            log.warning("the block %s of the README is left as it is: %s", name, error)
    return blocks
