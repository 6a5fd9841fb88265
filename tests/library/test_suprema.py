"""Exact fits of a ranking where a judge runs off: the order with the highest supremum."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_expit

from judgerank import Comparisons, fit
from judgerank.data.errors import JudgerankError
from judgerank.engine.newton import Newton
from judgerank.engine.search import height
from judgerank.engine.solution import Status
from judgerank.engine.suprema import end_above, far_end
from judgerank.model.members import JUDGE_AWARE, POSITION_AWARE, Parameters
from judgerank.model.streams import generator
from judgerank.ranking.components import fit_highest


def thin(seed: int) -> Comparisons:
    """130 comparisons of 20 models by four judges, some of whom agree with an order of their own."""
    rng = generator(seed, "suprema")
    return drawn(rng, rng.normal(0, 1, 20), np.exp(rng.normal(0, 1, 4)), 130)


def sharp(seed: int, size: int = 150) -> Comparisons:
    """Comparisons of six models by six judges, most of them sharp."""
    rng = generator(seed, "above")
    return drawn(rng, rng.normal(0, 1, 6), np.exp(rng.normal(0.5, 0.7, 6)), size)


def drawn(rng: np.random.Generator, scores: np.ndarray, gamma: np.ndarray, size: int) -> Comparisons:
    n = len(scores)
    i = rng.integers(n, size=size)
    j, k = (i + rng.integers(1, n, size=size)) % n, rng.integers(len(gamma), size=size)
    won = rng.random(size) < 1 / (1 + np.exp(-gamma[k] * (scores[i] - scores[j])))
    frame = pd.DataFrame({"model_a": i, "model_b": j, "judge_model": k}).astype(str)
    return Comparisons.from_frame(frame.assign(judge_preferred_model=np.where(won, "a", "b")))


def supremum(result) -> float:
    """The height that a climb from the fit approaches."""
    return height(far_end(result.comparisons, result.model, result.solution.parameters, Newton()))


def test_a_ranking_has_the_order_of_the_highest_supremum():
    gains = []
    for seed in range(24):
        data = thin(seed)
        try:
            plain = fit(data, POSITION_AWARE)
        except JudgerankError:
            continue
        if plain.status is Status.UNBOUNDED:
            higher = fit_highest(data, POSITION_AWARE)
            assert higher.status is Status.UNBOUNDED and higher.settings == plain.settings
            gains.append(supremum(higher) - supremum(plain))
    assert len(gains) >= 6
    assert min(gains) > -1e-3
    assert max(gains) > 0.3


def log_likelihood(result, at: Parameters) -> float:
    """Of comparisons without ties, by hand."""
    c = result.comparisons
    eta = np.exp(at.judges[0])[c.judge] * (at.scores[c.first] - at.scores[c.second])
    eta = eta if len(at.judges) == 1 else eta + at.judges[1][c.judge]
    return float(c.count @ (c.outcome * log_expit(eta) + (1 - c.outcome) * log_expit(-eta)))


@pytest.mark.parametrize(
    ("seed", "member"), [(16, POSITION_AWARE), (25, POSITION_AWARE), (36, JUDGE_AWARE), (57, JUDGE_AWARE)]
)
def test_a_ranking_calls_no_point_a_maximum_above_which_a_judge_runs_off(seed, member):
    plain = fit(sharp(seed), member)
    assert plain.status.converged  # the search is for maxima
    assert plain.log_likelihood == pytest.approx(log_likelihood(plain, plain.solution.parameters))
    above = end_above(plain.comparisons, plain.model, plain.solution.parameters, Newton())
    assert log_likelihood(plain, above) > plain.log_likelihood + 0.05
    highest = fit_highest(sharp(seed), member)
    assert highest.status is Status.UNBOUNDED and highest.unbounded_judges


def test_a_maximum_with_nothing_above_stays():
    for seed in range(4):
        plain, highest = fit(sharp(seed, 2000), JUDGE_AWARE), fit_highest(sharp(seed, 2000), JUDGE_AWARE)
        assert highest.status is plain.status is Status.INTERIOR
        assert (highest.scores == plain.scores).all()
