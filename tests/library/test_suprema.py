"""Exact fits of a ranking where a judge runs off: the order with the highest supremum."""

import numpy as np
import pandas as pd

from judgerank import Comparisons, fit
from judgerank.data.errors import JudgerankError
from judgerank.engine.newton import Newton
from judgerank.engine.search import height
from judgerank.engine.solution import Status
from judgerank.engine.suprema import far_end
from judgerank.model.members import POSITION_AWARE
from judgerank.model.streams import generator
from judgerank.ranking.components import fit_highest


def thin(seed: int) -> Comparisons:
    """130 comparisons of 20 models by four judges, some of whom agree with an order of their own."""
    rng = generator(seed, "suprema")
    scores, gamma = rng.normal(0, 1, 20), np.exp(rng.normal(0, 1, 4))
    i = rng.integers(20, size=130)
    j, k = (i + rng.integers(1, 20, size=130)) % 20, rng.integers(4, size=130)
    won = rng.random(130) < 1 / (1 + np.exp(-gamma[k] * (scores[i] - scores[j])))
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
