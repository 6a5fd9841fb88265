"""What the documentation shows of rankings of several answers."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from replication.auditing.results import Results


def rankings_table(results: Results) -> str:
    """Rankings fitted whole and broken into pairs: information, coverage, and the stretch of scores."""
    table, rows = results.table("rankings/fits.csv").set_index(["setting", "way"]), []
    for setting in [setting for setting, way in table.index if way == "pairs"]:
        cells = [("pairs_worth", "whole"), ("covered_plug_in", "whole")]
        cells += [("covered_plug_in", "pairs"), ("covered_clustered", "pairs")]
        cells += [("stretch", "whole"), ("stretch", "pairs")]
        rows.append((setting, *_cells(table.loc[setting], cells)))
    columns = ["rankings", "pair judgments per ranking", "coverage: whole", "coverage: pairs"]
    columns += ["coverage: pairs, clustered", "spread: whole", "spread: pairs"]
    return str(pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True))


def ranking_orders_table(results: Results) -> str:
    """Kendall's tau with the true order, judges weighted, judges alike and mean ranks; and equal models."""
    table, rows = results.table("rankings/fits.csv").set_index(["setting", "way"]), []
    for setting in [setting for setting, way in table.index if way == "whole, shrunk"]:
        ways = ("whole, shrunk", "whole, judges alike", "mean ranks")
        rows.append((setting, *_cells(table.loc[setting], [("tau", way) for way in ways])))
    columns = ["rankings", "judges weighted", "judges alike", "mean ranks"]
    frame = pd.DataFrame(rows, columns=columns)
    equal = results.table("rankings/equal.csv").set_index(["setting", "way"])
    told = "; ".join(
        f"{setting.removeprefix('equal models, ')}, {way.removesuffix(', shrunk')}: "
        f"{row['separated_plug_in']:.3f} ({row['separated_plug_in_se']:.3f})"
        for (setting, way), row in equal.iterrows()
    )
    sets = f"{equal['n_replications'].max()} sets of rankings of equal models"
    said = f"Share of {sets} in which any two are separated: {told}."
    return f"{frame.to_markdown(index=False, disable_numparse=True)}\n\n{said}"


def _cells(of: pd.DataFrame, cells: Iterable[tuple[str, str]]) -> list[str]:
    """Means with their Monte Carlo errors."""
    return [f"{of.at[way, name]:.2f} ({of.at[way, f'{name}_se']:.2f})" for name, way in cells]
