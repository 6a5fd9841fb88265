"""How stored tables of the sections beyond the paper become figures. Nothing here computes a result."""

# ruff: noqa: F401 (all of them are imported to be used as plots.NAME)

from judgerank.plots.looks import NAMES
from studies.plots.answers import ranked_answers, soft, strength, use_of_confidence
from studies.plots.boards import human_boards, left_off, newcomers, people, scale
from studies.plots.collecting import adaptive, gate, plan
from studies.plots.fits import claims, defaults, fitness, methods, validity
from studies.plots.judges import (
    blocks,
    categories,
    character,
    contrary,
    effective,
    few_answers,
    fragility,
    panel,
    self_preference,
    shrunk,
    slot_bias,
    tastes,
    uncertainty,
)
