"""Requirements on data for a parameter to be estimated."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import positions_are_imitated
from judgerank.data.tied_choices import tie_sizes

PAIRS_ALONE = "pairs alone, no rankings of several answers"  # what members with slopes take


class Need(StrEnum):
    """What a parameter needs, in the order in which it is checked."""

    LENGTH = "length"
    TIES = "ties"
    STRENGTH = "strength"
    ORDER = "order of presentation"


def unmet(needs: Collection[Need], comparisons: Comparisons) -> str:
    """Say which need the comparisons do not meet, the first of several; empty if they meet all."""
    if Need.LENGTH in needs and comparisons.covariate is None:
        return "there are no lengths"
    of_rankings = comparisons.stages is not None
    if Need.TIES in needs and not (tie_sizes(comparisons) if of_rankings else comparisons.known_ties.any()):
        return "there are no ties"
    if Need.STRENGTH in needs and comparisons.strong is None:
        return "no answer says how much better it finds a model"
    if Need.STRENGTH in needs and not comparisons.known_strength.any():
        return "no answer finds a model much better"
    if Need.ORDER in needs and positions_are_imitated(comparisons):
        return "the order of presentation follows the models"
    return ""
