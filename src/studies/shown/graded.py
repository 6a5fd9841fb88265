"""What the documentation shows of answers that say how strong they are."""

from __future__ import annotations

import pandas as pd

from judgerank.plots.colours import NAMES
from replication.auditing.results import Results

READ = ("levels", "shares")  # ways to read a pair of scores
MOST_LEVELS = 7


def graded_table(results: Results) -> str:
    """Simulated judges with five levels: judgments that one replaces, and coverage of every way."""
    table, rows = results.table("graded/strength.csv").set_index(["setting", "way"]), []
    for setting in dict.fromkeys(table.index.get_level_values("setting")):
        of = table.loc[setting]
        gain = f"{of.at['strength', 'gain']:.2f} ({of.at['strength', 'gain_se']:.2f})"
        cells = [(kind, way) for way in ("strength", "winner or tie") for kind in ("plug_in", "clustered")]
        held = (
            f"{of.at[way, f'covered_{kind}']:.3f} ({of.at[way, f'covered_{kind}_se']:.3f})" for kind, way in cells
        )
        rows.append((setting, gain, *held))
    columns = ["judges", "judgments that one replaces", "coverage: strength", "the same, clustered"]
    columns += ["coverage: winner or tie", "the same, clustered "]
    frame = pd.DataFrame(rows, columns=columns)
    equal = results.table("graded/equal.csv").set_index("way")
    told = "; ".join(
        f"{way}, {equal.at[way, 'separated_plug_in']:.2f} ({equal.at[way, 'separated_plug_in_se']:.2f})"
        for way in equal.index
    )
    said = f"Share of sets of judgments of equal models in which any two are significantly different: {told}."
    return f"{frame.to_markdown(index=False, disable_numparse=True)}\n\n{said}"


def levels_table(results: Results) -> str:
    """Simulated judges with seven levels: judgments on fewer levels that one replaces, and coverage by each."""
    rows = []
    for _, row in results.table("graded/levels.csv").iterrows():
        held = (f"{row[name]:.3f} ({row[f'{name}_se']:.3f})" for name in ("covered_plug_in", "covered_clustered"))
        gain, saved = f"{row['gain']:.2f} ({row['gain_se']:.2f})", f"{1 - 1 / row['gain']:.0%}"
        told = ("", "") if row["levels"] == MOST_LEVELS else (gain, saved)
        rows.append((row["setting"].removeprefix("seven levels, "), str(row["levels"]), *told, *held))
    columns = ["judges", "levels used", "judgments that one on seven replaces", "judgments that seven save"]
    columns += ["coverage", "coverage, clustered"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def scores_table(results: Results) -> str:
    """Simulated judges that score both answers: what levels and shares of a win add to winners and ties."""
    table, rows = results.table("graded/scores.csv").set_index(["setting", "way"]), []
    for setting in dict.fromkeys(table.index.get_level_values("setting")):
        of = table.loc[setting]
        gains = (f"{of.at[way, 'gain']:.2f} ({of.at[way, 'gain_se']:.2f})" for way in READ)
        losses = (f"{of.at[way, 'loss_difference']:+.4f} ({of.at[way, 'loss_difference_se']:.4f})" for way in READ)
        rows.append((setting, *gains, *losses))
    columns = ["judges", *(f"pairs that one replaces: {way}" for way in READ)]
    columns += [f"held-out log-loss: {way}" for way in READ]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def confidence_table(results: Results) -> str:
    """Held-out log-loss of winner or tie on the real sets, with confidence as strength and without."""
    whole, few = (
        results.table(f"graded/{name}.csv").set_index(["dataset", "way"]) for name in ("confidence", "few")
    )
    rows = []
    for name in dict.fromkeys(whole.index.get_level_values("dataset")):
        cells = [f"{whole.at[(name, 'winner or tie'), 'log_loss']:.4f}"]
        for table in (whole, few):
            for way in ("confidence as strength", "shuffled confidence"):
                row = table.loc[(name, way)]
                cells.append(f"{row['difference']:+.4f} ({row['difference_se']:.4f})")
        rows.append((NAMES[name], *cells))
    columns = ["data set", "winner or tie", "with confidence", "with shuffled confidence"]
    columns += ["few judgments: with confidence", "few judgments: shuffled"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))
