"""Who leads, in one line, by a leaderboard and the tests of its pairs."""

from __future__ import annotations

import pandas as pd

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def largest(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the first component, where there are several."""
    return table[table["component"] == 1] if "component" in table else table


def in_words(number: int) -> str:
    """A small number as a word."""
    return WORDS[number] if number < len(WORDS) else f"{number:,}"


def headline(board: pd.DataFrame, pairs: pd.DataFrame) -> str:
    """Who leads, without a full stop."""
    best, tied = board["model"].iloc[0], board["band"].eq(1).fillna(False)
    n_tied, contenders = int(tied.sum()), list(as_good(board, pairs)["model"])
    if n_tied == 0:
        return f"{best} has the highest score"
    if n_tied > 1 and n_tied + len(contenders) == len(board):
        return f"No clear leader among {in_words(len(board))} models"
    lead = f"{in_words(n_tied).capitalize()} models share the lead"
    if n_tied <= 2:
        lead = f"{best} leads" if n_tied == 1 else f"{best} and {board['model'].iloc[1]} share the lead"
    if not contenders:
        return lead
    who = contenders[0] if len(contenders) == 1 else f"{in_words(len(contenders))} others"
    return f"{lead}, but {who} may be as good"


def as_good(board: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Rows of models below the first band that the best is not separated from, such as those compared rarely."""
    if board["band"].isna().any():
        return board.head(0)
    separated = pairs["second"][(pairs["first"] == board["model"].iloc[0]) & pairs["separated"].fillna(False)]
    return board[board["band"].gt(1) & ~board["model"].isin(separated)]
