"""Which stored value answers which printed number: `computed_by.csv`, filled in for every printed number."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from replication import published

COMPUTED_BY = Path(__file__).with_name("computed_by.csv")
CAUSES = Path(__file__).with_name("causes.csv")
ITEMS = Path(__file__).with_name("items.csv")
KINDS = ("result", "setting", "stated", "cited")


def registry() -> pd.DataFrame:
    """One row for every printed number; what the paper prints as a dash is left out.

    Returns
    -------
    DataFrame
        ``table, row, column, place, printed, unit``, and

        - ``kind``: ``result`` (computed from data or simulated), ``setting`` (a choice of the paper's, taken over
          if the stored tables show that the run used it), ``stated`` (a definition or a choice of words: there is
          nothing to compute) or ``cited`` (copied from elsewhere and held against its source,
          `replication.auditing.copied_numbers`);
        - ``source, where, value, reading``: the stored table, conditions on its rows, the column, and how it is
          read (`replication.auditing.readings`);
        - ``rule``: for random results, which error holds (`replication.auditing.monte_carlo`);
        - ``finding``: what rules the printed value out, if it holds; ``needs``: what would check it.
    """
    rules = pd.read_csv(COMPUTED_BY, dtype=str, keep_default_na=False)
    rows = []
    for rule in rules.to_dict("records"):
        table = published.table(rule["table"])
        for name in _rows_of(rule, table):
            printed = table.at[name, rule["column"]]
            if printed.strip("- "):
                unit = table.at[name, "unit"] if "unit" in table else ""
                rows.append(_filled(rule, name) | {"row": name, "printed": printed, "unit": unit})
    columns = ["table", "row", "column", "place", "printed", "unit", *list(rules.columns)[4:]]
    return pd.DataFrame(rows)[columns]


def causes() -> dict[tuple[str, str, str], list[dict]]:
    """Stored values that may reproduce a printed number which the first choice does not.

    Returns
    -------
    dict
        By table, row and column; each entry has ``source, where, value, reading`` and ``cause``, in words.
    """
    causes_by_number: dict[tuple[str, str, str], list[dict]] = {}
    for rule in pd.read_csv(CAUSES, dtype=str, keep_default_na=False).to_dict("records"):
        for name in _rows_of(rule, published.table(rule["table"])):
            causes_by_number.setdefault((rule["table"], name, rule["column"]), []).append(_filled(rule, name))
    return causes_by_number


def items() -> pd.DataFrame:
    """The tables and figures of the paper in its order, with our section, tables and figures for each."""
    return pd.read_csv(ITEMS, dtype=str, keep_default_na=False)


def _rows_of(rule: dict, table: pd.DataFrame) -> list[str]:
    return [rule["row"]] if rule["row"] else list(table.index)


def _filled(rule: dict, name: str) -> dict:
    return {key: text.replace("{row}", name) for key, text in rule.items()}
