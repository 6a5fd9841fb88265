"""How stored tables become figures. Nothing here computes a result or draws a random number."""

from judgerank.plots.colours import NAMES
from judgerank.plots.looks import PAGE, canvas, short
from replication.plots.adaptive import adaptive
from replication.plots.coverage import coverage
from replication.plots.data import pair_heatmap, prompt
from replication.plots.defaults import defaults
from replication.plots.fitness import fitness
from replication.plots.gate import gate
from replication.plots.graded_levels import strength, use_of_confidence
from replication.plots.human_boards import human_boards, left_off
from replication.plots.judges import (
    answers,
    character,
    discrimination_bars,
    discrimination_scatter,
    pool,
    size_against_discrimination,
    stopping_path,
)
from replication.plots.labels import REFERENCES, label_points
from replication.plots.length import length_curves, slopes
from replication.plots.methods import methods
from replication.plots.newcomers import newcomers
from replication.plots.panel_blocks import blocks, categories
from replication.plots.people import people
from replication.plots.planning import plan
from replication.plots.ranked_answers import ranked_answers
from replication.plots.rankings import agreement, leaderboard, panel, ratings, tie_handling, uncertainty
from replication.plots.resampled import efficiency, sparsity, weak_share
from replication.plots.scale import scale
from replication.plots.simulations import estimator_of, mse, mse_draws, shrunk, slot_bias
from replication.plots.soft import soft
from replication.plots.tastes import tastes
from replication.plots.trust import effective, fragility
from replication.plots.validity import validity
from replication.plots.verdicts import verdicts

__all__ = [
    "NAMES",
    "PAGE",
    "REFERENCES",
    "adaptive",
    "agreement",
    "answers",
    "blocks",
    "canvas",
    "categories",
    "character",
    "coverage",
    "defaults",
    "discrimination_bars",
    "discrimination_scatter",
    "effective",
    "efficiency",
    "estimator_of",
    "fitness",
    "fragility",
    "gate",
    "human_boards",
    "label_points",
    "leaderboard",
    "left_off",
    "length_curves",
    "methods",
    "mse",
    "mse_draws",
    "newcomers",
    "pair_heatmap",
    "panel",
    "people",
    "plan",
    "pool",
    "prompt",
    "ranked_answers",
    "ratings",
    "scale",
    "short",
    "shrunk",
    "size_against_discrimination",
    "slopes",
    "slot_bias",
    "soft",
    "sparsity",
    "stopping_path",
    "strength",
    "tastes",
    "tie_handling",
    "uncertainty",
    "use_of_confidence",
    "validity",
    "verdicts",
    "weak_share",
]
