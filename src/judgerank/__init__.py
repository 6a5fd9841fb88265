"""Rank language models from pairwise comparisons by a panel of LLM judges."""

from judgerank.comparisons import Comparisons
from judgerank.fit import fit
from judgerank.reading import read_judgments as read
from judgerank.result import FitResult
from judgerank.solvers.solution import Status

__all__ = ["Comparisons", "FitResult", "Status", "fit", "rank", "read"]


def __getattr__(name: str) -> object:
    """`rank`, imported when it is first asked for: what makes a page takes a while to load."""
    if name != "rank":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from judgerank.leaderboard.ranking import rank

    return rank
