"""How stored tables become figures. Nothing here computes a result or draws a random number."""

from judgerank.plots.judges import (
    discrimination_bars,
    discrimination_scatter,
    short,
    size_against_discrimination,
    stopping_path,
)
from judgerank.plots.rankings import agreement, leaderboard, ratings
from judgerank.plots.simulations import coverage, coverage_draws, mse, mse_draws
from judgerank.plots.style import PAGE, canvas, label_points

__all__ = [
    "PAGE",
    "agreement",
    "canvas",
    "coverage",
    "coverage_draws",
    "discrimination_bars",
    "discrimination_scatter",
    "label_points",
    "leaderboard",
    "mse",
    "mse_draws",
    "ratings",
    "short",
    "size_against_discrimination",
    "stopping_path",
]
