"""Findings that rest on random parts of the data and on simulated comparisons."""

from __future__ import annotations

import pandas as pd

from replication import published
from replication.auditing.claim import Estimates, Estimator
from replication.auditing.finding import PUBLIC, TITLES, finding, stored_sets
from replication.auditing.results import Missing, Results

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
