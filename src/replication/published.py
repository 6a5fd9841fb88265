"""The numbers printed in the paper, and whether ours agree with them at the printed precision."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

TABLES = files("replication") / "published_tables"


def table(name: str) -> pd.DataFrame:
    """A printed table, as text so that the printed precision stays; indexed by the name used in the data.

    Known tables: ``mt_bench`` (Table 1), ``mixed_judges`` (Table 2), ``chatbot_arena`` (Table 3),
    ``mse_settings``, ``ci_settings``, ``slopes``, ``data_sizes``, ``judge_llms``, ``ultrafeedback``,
    ``complete_ranking``, ``judge_discrimination``, ``sparsity`` (Tables A.1 to A.9), ``in_text`` (numbers in text
    and captions), ``claims`` (claims in words, in our words), ``cited`` (copied numbers in their sources), and
    ``chatbot_arena_human`` (Elo of the Chatbot Arena leaderboard of 22 June 2023, lmsys.org/blog).
    """
    with (TABLES / f"{name}.csv").open() as file:
        return pd.read_csv(file, dtype=str, index_col=0, keep_default_na=False)


def numbers(name: str, column: str) -> pd.Series:
    """A printed column as numbers; what the paper prints as a dash is NaN."""
    return pd.to_numeric(table(name)[column], errors="coerce")


def cited() -> pd.DataFrame:
    """Numbers that the paper copied, as their sources have them; all text.

    Returns
    -------
    DataFrame
        ``table, row, column, value, source, place, address, read``; ``read`` is how the source was read:
        ``in full``, an ``excerpt`` of it, a ``transcript`` by others, a ``third party`` that says it, or
        ``not found`` (then without a value). The column ``all_parameters`` is no printed number: it has the total
        where Table A.8 counts otherwise.
    """
    return table("cited").reset_index()


def as_printed(value: float, printed: str) -> str:
    """A value with as many decimals as a printed number has, without a negative zero."""
    decimals = len(printed.partition(".")[2])
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text


def compare(name: str, ours: pd.DataFrame, columns: list[str], **place: str) -> pd.DataFrame:
    """Printed numbers beside ours, one row each.

    Parameters
    ----------
    name : str
        The printed table.
    ours : DataFrame
        Indexed by the name used in the data, with the same columns.
    columns : list of str
    **place
        Constant columns to put first, such as the table's number.

    Returns
    -------
    DataFrame
        ``row, column, paper, ours, difference, reproduced``; reproduced means equal at printed precision.
    """
    printed = table(name)
    rows = [
        {
            **place,
            "row": row,
            "column": column,
            "paper": printed.at[row, column],
            "ours": ours.at[row, column],
            "difference": ours.at[row, column] - float(printed.at[row, column]),
            "reproduced": as_printed(ours.at[row, column], printed.at[row, column]) == printed.at[row, column],
        }
        for row in printed.index
        for column in columns
    ]
    return pd.DataFrame(rows)
