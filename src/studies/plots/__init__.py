"""How stored tables of the sections beyond the paper become figures. Nothing here computes a result."""

from judgerank.plots.colours import NAMES
from studies.plots.adaptive import adaptive
from studies.plots.defaults import defaults
from studies.plots.fitness import fitness
from studies.plots.gate import gate
from studies.plots.graded_levels import strength, use_of_confidence
from studies.plots.human_boards import human_boards, left_off
from studies.plots.members import character, panel, shrunk, slot_bias, uncertainty
from studies.plots.methods import methods
from studies.plots.newcomers import newcomers
from studies.plots.panel_blocks import blocks, categories
from studies.plots.people import people
from studies.plots.planning import plan
from studies.plots.ranked_answers import ranked_answers
from studies.plots.scale import scale
from studies.plots.soft import soft
from studies.plots.tastes import tastes
from studies.plots.trust import effective, fragility
from studies.plots.validity import validity

__all__ = [
    "NAMES",
    "adaptive",
    "blocks",
    "categories",
    "character",
    "defaults",
    "effective",
    "fitness",
    "fragility",
    "gate",
    "human_boards",
    "left_off",
    "methods",
    "newcomers",
    "panel",
    "people",
    "plan",
    "ranked_answers",
    "scale",
    "shrunk",
    "slot_bias",
    "soft",
    "strength",
    "tastes",
    "uncertainty",
    "use_of_confidence",
    "validity",
]
