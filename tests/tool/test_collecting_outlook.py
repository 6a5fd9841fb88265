"""How far a collection by rounds says it is."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from judgerank.adaptive.goals import read_goal
from judgerank.collecting.outcome import Outlook, outlook, told

GOAL = read_goal("top 1 separated", 3)


def order(*statistics: float) -> SimpleNamespace:
    """Test statistics of the first against the second and the third, and of the second against the third."""
    p = np.ones((3, 3))
    p[np.triu_indices(3, 1)] = 2 * norm.sf(statistics)
    return SimpleNamespace(models=("a", "b", "c"), p_value=p)


@pytest.mark.parametrize("look", [1, 2, 9])
def test_the_forecast_is_where_the_weakest_claim_becomes_sure(look):
    """Statistics grow with the root of the number of judgments; the pair of the others is no claim."""
    found = outlook(order(5.0, 2.0, 0.0), GOAL, look, 400.0)
    assert (found.still, found.claims) == (1, 2)
    for factor, still in ((0.999, 1), (1.001, 0)):
        growth = math.sqrt(factor * found.needed / 400.0)
        later = order(5.0 * growth, 2.0 * growth, 0.0)
        assert GOAL.open_claims(later, look + 1, 0.05).sum() == still


def test_what_cannot_be_foreseen_and_what_is_sure():
    assert math.isinf(outlook(None, GOAL, 1, 400.0).needed)
    assert math.isinf(outlook(order(5.0, 0.0, 0.0), GOAL, 1, 400.0).needed)
    assert outlook(order(9.0, 9.0, 0.0), GOAL, 1, 400.0) == Outlook(0, 2, 400.0)
    assert outlook(None, read_goal("5000 comparisons", 3), 1, 400.0).needed == 5000


@pytest.mark.parametrize(
    ("found", "left", "each", "words"),
    [
        (Outlook(1, 2, 900.0), 800.0, 0.01, "1 of 2 claims open, about 500 more judgments for 5.0000 EUR, as"),
        (Outlook(1, 2, 900.0), 300.0, 0.0, "as it looks now, and 300 are left"),
        (Outlook(1, 2, 900.0), 0.0, 0.0, "as it looks now, and none is left"),
        (Outlook(2, 2, math.inf), 800.0, 0.01, "2 of 2 claims open, the end cannot be foreseen yet"),
        (Outlook(0, 2, 400.0), 800.0, 0.01, "all claims sure"),
        (Outlook(0, 0, 5000.0), 9000.0, 0.0, "about 4,600 more judgments, as"),
        (Outlook(0, 0, 400.0), 9000.0, 0.0, "nothing to go"),
    ],
)
def test_it_is_said_in_words(found, left, each, words):
    said = told(found, 400.0, left, each, "EUR")
    assert words in said
    assert ("left" in said) == (found.needed - 400.0 > left and not math.isinf(found.needed))
