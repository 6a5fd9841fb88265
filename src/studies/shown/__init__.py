"""What the documentation shows of the sections beyond the paper: blocks that `make pages` keeps current."""

from __future__ import annotations

from collections.abc import Callable

from replication.auditing.results import Results
from studies.shown.beyond import (
    members_table,
    methods_table,
    shrinkage_table,
    slots_table,
    torture_table,
    uncertainty_table,
)
from studies.shown.defaults import accuracy_table, simulated_table, trouble_table
from studies.shown.fitness import few_table, fit_table, fitted_sets_table
from studies.shown.graded import confidence_table, graded_table, levels_table, scores_table
from studies.shown.human import human_boards_table, left_off_table, null_boards_table
from studies.shown.panel import blocks_table, found_table, panel_table, question_coverage_table
from studies.shown.rankings import ranking_orders_table, rankings_table
from studies.shown.scale import boards_table, scale_table, useless_table
from studies.shown.tastes import taste_stops, tastes_of_sets, tastes_simulated
from studies.shown.trust import (
    calibration_table,
    compared_table,
    crowds_table,
    effective_table,
    fragility_table,
    people_table,
    placed_table,
    small_sets_table,
    soft_table,
)
from studies.stored_speed import STORED, goals_table

BLOCKS: dict[str, Callable[[Results], str]] = {
    "bench": lambda _: goals_table(STORED),
    "blocks": blocks_table,
    "blocks found": found_table,
    "boards": boards_table,
    "calibration": calibration_table,
    "compared": compared_table,
    "defaults accuracy": accuracy_table,
    "defaults simulated": simulated_table,
    "defaults trouble": trouble_table,
    "effective": effective_table,
    "few questions": few_table,
    "fit": fit_table,
    "fitted sets": fitted_sets_table,
    "fragility": fragility_table,
    "graded": graded_table,
    "seven levels": levels_table,
    "pairs of scores": scores_table,
    "stated confidence": confidence_table,
    "human boards": human_boards_table,
    "left off": left_off_table,
    "null boards": null_boards_table,
    "members": members_table,
    "methods": methods_table,
    "panel": panel_table,
    "people": people_table,
    "crowds": crowds_table,
    "placed": placed_table,
    "question coverage": question_coverage_table,
    "rankings": rankings_table,
    "ranking orders": ranking_orders_table,
    "scale": scale_table,
    "tastes": tastes_of_sets,
    "tastes_simulated": tastes_simulated,
    "taste_stops": taste_stops,
    "shrinkage": shrinkage_table,
    "small sets": small_sets_table,
    "slots": slots_table,
    "soft": soft_table,
    "torture": torture_table,
    "uncertainty": uncertainty_table,
    "useless": useless_table,
}
