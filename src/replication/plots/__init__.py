"""How stored tables become figures. Nothing here computes a result or draws a random number."""

from judgerank.plots.style import NAMES, PAGE, REFERENCES, canvas, label_points, short
from replication.plots.adaptive import adaptive
from replication.plots.data import pair_heatmap, prompt
from replication.plots.judges import (
    answers,
    character,
    discrimination_bars,
    discrimination_scatter,
    length_curves,
    pool,
    size_against_discrimination,
    slopes,
    stopping_path,
)
from replication.plots.methods import methods
from replication.plots.planning import plan
from replication.plots.rankings import agreement, leaderboard, panel, ratings, tie_handling, uncertainty
from replication.plots.resampled import efficiency, sparsity, weak_share
from replication.plots.simulations import coverage, mse, mse_draws, shrunk, slot_bias
from replication.plots.validity import validity

__all__ = [
    "NAMES",
    "PAGE",
    "REFERENCES",
    "adaptive",
    "agreement",
    "answers",
    "canvas",
    "character",
    "coverage",
    "discrimination_bars",
    "discrimination_scatter",
    "efficiency",
    "label_points",
    "leaderboard",
    "length_curves",
    "methods",
    "mse",
    "mse_draws",
    "pair_heatmap",
    "panel",
    "plan",
    "pool",
    "prompt",
    "ratings",
    "short",
    "shrunk",
    "size_against_discrimination",
    "slopes",
    "slot_bias",
    "sparsity",
    "stopping_path",
    "tie_handling",
    "uncertainty",
    "validity",
    "weak_share",
]
