"""The comparison of equal weights with the default where judges are few."""

import numpy as np
import pandas as pd
import pytest

from judgerank import Comparisons
from judgerank.model.streams import generator
from replication import published
from studies.few_judges import EQUAL, FewJudges, cells_of, few_judges_rows, of_few_judges
from tests.replication.test_config import composed


def test_weights_help_where_one_judge_answers_at_random_and_cost_little_where_judges_are_alike():
    gains = {}
    for spread in (0.0, 2.5):
        cell = FewJudges(3, 8, 500, spread)
        records = pd.DataFrame([of_few_judges(cell, generator(seed, "few"), None) for seed in range(12)])
        assert records.notna().all(axis=None)
        gains[spread] = (records["position_only"] - records["position_aware"]).mean()
    assert gains[2.5] < -0.02 < gains[0.0]


def test_samples_of_chatbot_arena_are_held_against_people():
    elo = published.numbers("chatbot_arena_human", "elo")
    rng = np.random.default_rng(1)
    names, size = elo.index.to_numpy(), 3000
    i = rng.integers(len(names), size=size)
    j = (i + rng.integers(1, len(names), size=size)) % len(names)
    frame = pd.DataFrame({"model_a": names[i], "model_b": names[j]})
    frame["judge_model"] = rng.integers(4, size=size).astype(str)
    is_better = elo.to_numpy()[i] > elo.to_numpy()[j]
    frame["judge_preferred_model"] = np.where(is_better ^ (rng.random(size) < 0.1), "a", "b")
    record = of_few_judges(FewJudges(2, 0, 800), generator(1, "few"), Comparisons.from_frame(frame))
    assert set(record) == {"position_aware", *EQUAL}
    assert all(value > 0.9 for value in record.values())


def test_every_cell_has_a_row():
    cells = cells_of(composed("defaults"), {})
    assert len(cells) == 36 and len(set(cells.values())) == 36

    class Computed:
        def __init__(self):
            self.cells = dict(list(cells.items())[:2])

        def records(self, name):
            return [{"position_aware": 0.8, "position_only": 0.7, "btl": 0.9}] * 2

    for row in few_judges_rows(Computed()):
        assert (row["position_only"], row["btl"]) == (pytest.approx(-0.1), pytest.approx(0.1))
