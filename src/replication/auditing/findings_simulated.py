"""Findings that rest on random parts of the data and on simulated comparisons."""

from __future__ import annotations

import pandas as pd

from replication import published
from replication.auditing.finding import PUBLIC, TITLES, finding, stored_sets
from replication.auditing.monte_carlo import TRUTHS
from replication.auditing.results import Missing, Results

SPARSE = "sparsity/in_house/correlation.csv"


@finding(
    "Panels of weak judges alone",
    "make mixed_judges subsampling_efficiency",
    *(f"mixed_judges/{name}/sweep.csv" for name in PUBLIC),
    *(f"subsampling_efficiency/{name}/own_reference.csv" for name in PUBLIC),
    figure="mixed_judges/chatbot_arena/sweep.png",
)
def weak_panels(results: Results) -> tuple[bool, str]:
    sentences, behind = [], []
    for name in stored_sets(results, "mixed_judges/{}/sweep.csv"):
        rows = results.rows(f"mixed_judges/{name}/sweep.csv", "share_weak=1.00; reference=judge_aware|btl")
        told = []
        for reference in ("judge_aware", "btl"):
            for measure in ("spearman", "pearson"):
                cells = rows[(rows["reference"] == reference) & (rows["measure"] == measure)].set_index("method")
                told.append(f"{measure} with full-data {reference} {_pair(cells)}")
        own = rows[(rows["reference"] == "judge_aware") & (rows["measure"] == "spearman")].set_index("method")
        if own.at["judge_aware", "q75"] < own.at["btl", "q25"]:
            behind.append(TITLES[name])
        sentences.append(f"{TITLES[name]}, {rows['panel'].iloc[0]} weak judges: {', '.join(told)}")
    text = (
        "Panels made of a set's less discriminating judges alone; correlations, judge-aware against BTL, as mean "
        f"and quartiles over random panels: {'; '.join(sentences)}. By the Spearman correlation with the "
        "full-data "
        f"judge-aware fit the quartiles of the two do not overlap, BTL ahead, on {', '.join(behind) or 'no set'}. "
        "The paper's measures are both correlations with the full-data judge-aware fit, on one pool of six weaker "
        f"and two stronger judges. {_ahead(results)}"
    )
    return len(behind) > 0, text


def _pair(cells: pd.DataFrame) -> str:
    spread = (
        f"{cells.at[m, 'mean']:.2f} ({cells.at[m, 'q25']:.2f} to {cells.at[m, 'q75']:.2f})"
        for m in ("judge_aware", "btl")
    )
    return " against ".join(spread)


def _ahead(results: Results) -> str:
    told = []
    for name in stored_sets(results, "subsampling_efficiency/{}/own_reference.csv"):
        table = results.table(f"subsampling_efficiency/{name}/own_reference.csv")
        counts = (
            f"{(rows['judge_aware_minus_btl'] >= 0).sum()} of {len(rows)} by {measure}"
            for measure, rows in table.groupby("measure")
        )
        told.append(f"{TITLES[name]} {', '.join(counts)}")
    return (
        f"In random subsets, each fit against its own full-data fit, judge-aware is ahead at: {'; '.join(told)}."
    )


@finding(
    "Slopes of the mean squared error depend on the draw of the truth",
    "make convergence_mse",
    "convergence_mse/slopes.csv",
    TRUTHS,
    figure="convergence_mse/mse.png",
)
def slopes(results: Results) -> tuple[bool, str]:
    table = results.rows(TRUTHS, "subset=all")
    printed = results.table("convergence_mse/slopes.csv").set_index(["n_models", "n_judges", "parameter"])["paper"]
    told, wide, steeper = [], 0, 0
    for key, rows in table.groupby(["n_models", "n_judges", "parameter"], sort=False):
        low, high = rows["slope"].min(), rows["slope"].max()
        wide += high - low > 4 * rows["slope_se"].mean()
        steeper += int(printed[key] > high)
        told.append(f"({key[0]}, {key[1]}) {key[2]} {low:.2f} to {high:.2f}, printed {printed[key]:.3f}")
    text = (
        f"Over {table['draw'].nunique()} draws of the truth our slopes are: {'; '.join(told)}. In {wide} of "
        f"{len(told)} rows they differ by more than four of their own errors, so one study says little about "
        f"another; in {steeper} the printed slope is flatter than all of ours. Ours come from an estimator on a "
        "bounded box: at small T some likelihoods have no interior maximum, the estimates sit on the box and "
        "leave "
        f"it as T grows, which steepens the line. {_algorithm_1(results)}The paper's truth is not known."
    )
    return wide > 0, text


def _algorithm_1(results: Results) -> str:
    """Slopes of the paper's own algorithm, where a run of it is stored."""
    name = "convergence_mse/algorithm_1_slopes.csv"
    if not results.real(name):
        return ""
    told = (
        f"({row.n_models}, {row.n_judges}) {row.parameter} {row.slope:.3f} ({row.slope_se:.3f})"
        for row in results.rows(name, "draw=0").itertuples()
    )
    return f"The paper's Algorithm 1 itself, under the first truth, gives: {'; '.join(told)}. "


@finding(
    "Where the comparisons on a sparse graph come from",
    "make sparsity",
    SPARSE,
    figure="sparsity/in_house/sparsity.png",
)
def sparsity(results: Results) -> tuple[bool, str]:
    if not results.real(SPARSE):
        raise Missing(f"{SPARSE} is stored of no real set")
    rows = results.rows(SPARSE, "method=judge_aware; reference=judge_aware")
    printed = {name: published.numbers("sparsity", name) for name in ("pearson", "spearman")}
    inside, tree = {}, {}
    for (redraw, measure), cells in rows.groupby(["redraw", "measure"], sort=False):
        cells, values = cells.sort_values("trees"), printed[measure].to_numpy()
        if len(cells) != len(values):
            raise Missing(f"{SPARSE} has {len(cells)} edge fractions, Table A.9 {len(values)}")
        held = (cells["q025"].to_numpy() <= values) & (values <= cells["q975"].to_numpy())
        inside[redraw, measure], first = int(held.sum()), cells.iloc[0]
        tree[redraw, measure] = (
            f"{first['mean']:.2f} ({first['q025']:.2f} to {first['q975']:.2f})",
            bool(held[0]),
        )
    told = (
        f"{redraw}: {inside[redraw, 'pearson']} of 10 Pearson and {inside[redraw, 'spearman']} of 10 Spearman "
        "rows, "
        f"spanning tree {tree[redraw, 'pearson'][0]} and {tree[redraw, 'spearman'][0]}"
        for redraw in rows["redraw"].unique()
    )
    text = (
        "The paper does not say where the comparisons on the retained edges come from. Drawn with replacement "
        "from "
        "those made on them (resample) or anew from the full-data fit (simulate), the central 95% of our draws "
        f"hold: {'; '.join(told)}; printed on the spanning tree is {printed['pearson'].iloc[0]}. Each printed "
        "row is "
        "one draw."
    )
    return tree["resample", "pearson"][1] and not tree["simulate", "pearson"][1], text
