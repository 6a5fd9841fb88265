"""What the documentation shows of judges' tastes."""

from __future__ import annotations

import pandas as pd

from judgerank.plots.colours import NAMES
from replication.auditing.results import Results


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
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


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
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def taste_stops(results: Results) -> str:
    """Simulated collections: how often each rule stops, and how often wrongly for judges like these."""
    rows = []
    for _, row in results.table("tastes/stops.csv").iterrows():
        cells = []
        for rule in ("plain", "drift", "like_these"):
            stopped, wrong = (f"{row[f'{name}_{rule}']:.0%}" for name in ("stopped", "wrong"))
            cells.append(f"{stopped}, {wrong} ({row[f'wrong_{rule}_se']:.0%})")
        own = f"{row['wrong_panel_drift']:.0%} ({row['wrong_panel_drift_se']:.0%})"
        rows.append((row["design"], *cells, own))
    columns = [
        "collections",
        "no look for change",
        "this panel",
        "judges like these",
        "this panel, wrong about itself",
    ]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))
