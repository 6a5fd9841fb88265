"""How stored tables become figures. Nothing here computes a result or draws a random number."""

# ruff: noqa: F401 (all of them are imported to be used as plots.NAME)

from judgerank.plots.looks import NAMES, PAGE, canvas, short
from replication.plots.judges import (
    answers,
    discrimination_bars,
    discrimination_scatter,
    length_curves,
    pool,
    size_against_discrimination,
    slopes,
    stopping_path,
)
from replication.plots.labels import label_points
from replication.plots.rankings import (
    agreement,
    leaderboard,
    pair_heatmap,
    prompt,
    ratings,
    tie_handling,
    verdicts,
)
from replication.plots.resampled import efficiency, sparsity, weak_share
from replication.plots.simulations import coverage, estimator_of, mse, mse_draws
