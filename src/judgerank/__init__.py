"""Rank language models from pairwise comparisons by a panel of LLM judges."""

from judgerank.comparisons import Comparisons
from judgerank.fit import fit
from judgerank.result import FitResult
from judgerank.solvers.solution import Status

__all__ = ["Comparisons", "FitResult", "Status", "fit"]
