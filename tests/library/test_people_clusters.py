"""People who vote again and again: errors of scores on the human scale by question, by person, and by both."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank import fit, people_report
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.model.streams import generator
from judgerank.people.anchor import anchored_by_people
from judgerank.people.items import items_of
from judgerank.people.toward_panel import drawn_toward_panel

SCORES = np.array([0.9, 0.3, -0.3, -0.9])


def voted(seed: str, n_questions: int = 30, n_people: int = 15, n_votes: int = 300, tastes: float = 1.5):
    """A panel of three on every pair of a question's answers; people with tastes of their own on some."""
    rng = generator(0, "people clusters", seed)
    n, (i, j) = len(SCORES), np.triu_indices(len(SCORES), 1)
    question, first, second = (
        np.repeat(np.arange(n_questions), len(i)),
        np.tile(i, n_questions),
        np.tile(j, n_questions),
    )
    quality, taste = rng.normal(0, 0.6, (n_questions, n)), rng.normal(0, tastes, (n_people, n))
    lead = SCORES[first] - SCORES[second] + quality[question, first] - quality[question, second]
    judged = rng.random((len(lead), 3)) < expit(1.5 * lead)[:, None]
    item, person = rng.integers(0, len(lead), n_votes), np.arange(n_votes) % n_people
    own = lead[item] + taste[person, first[item]] - taste[person, second[item]]
    votes = rng.random(n_votes) < expit(own)
    names = (
        tuple(f"m{x}" for x in range(n)),
        (*(f"j{k}" for k in range(3)), *(f"p{x:02d}" for x in range(n_people))),
    )
    ends = (np.r_[end.repeat(3), end[item]] for end in (first, second))
    judge = np.r_[np.tile(np.arange(3), len(lead)), 3 + person]
    rows = Comparisons(*names, *ends, judge, np.r_[judged.ravel(), votes].astype(float))
    return rows, np.r_[question.repeat(3), question[item]], judge >= 3


@pytest.fixture(scope="module")
def crowd():
    return voted("crowd")


@pytest.fixture(scope="module")
def panel(crowd):
    rows, question, human = crowd
    judges = rows.take(np.flatnonzero(~human))
    return fit(judges, "judge_aware").clustered(judges, question[~human])


def covariances(items, panel):
    return anchored_by_people(items).covariance, drawn_toward_panel(items, panel).covariance


def test_questions_as_units_are_the_default(crowd, panel):
    _, question, _ = crowd
    items = [
        items_of(*crowd, panel, units) for units in (None, {"question": question}, {"unit": 97 * question % 30})
    ]
    for other in items[1:]:
        assert_allclose(covariances(other, panel), covariances(items[0], panel), rtol=1e-9, atol=1e-14)


def test_the_two_ways_are_the_sum_of_either_less_both(crowd, panel):
    rows, question, human = crowd
    person = np.where(human, rows.judge, -1 - question)  # a verdict is nobody's vote
    units = {"question": question, "person": rows.judge}
    both = anchored_by_people(items_of(*crowd, panel, units))
    parts = [{"question": question}, {"person": person}]
    alone = [anchored_by_people(items_of(*crowd, panel, part)).covariance_alone for part in parts]
    cell = anchored_by_people(items_of(*crowd, panel, {"person": question * 100 + rows.judge})).covariance_alone
    assert_allclose(both.covariance_alone, alone[0] + alone[1] - cell, rtol=1e-9, atol=1e-14)
    assert 13.0 < both.degrees_of_freedom <= 14.0


def frame_of(crowd) -> pd.DataFrame:
    rows, question, human = crowd
    frame = rows.to_frame().assign(question_id=[f"q{n:02d}" for n in question], human=human)
    return frame.assign(template=[f"t{n // 5}" for n in question])


def test_people_who_come_again_are_a_unit_by_default(crowd):
    frame = frame_of(crowd)
    report = people_report(frame)
    assert report.cluster == ("question", "person")
    wide, narrow = (people_report(frame, cluster=name) for name in (("question", "person"), "question"))
    pd.testing.assert_frame_equal(report.table, wide.table)
    assert narrow.cluster == ("question",)
    assert report.table["standard_error"].mean() > narrow.table["standard_error"].mean()
    few = people_report(frame_of(voted("few", n_people=5)))
    assert few.cluster == ("question",)


def test_a_column_of_the_file_can_be_the_unit(crowd):
    frame = frame_of(crowd)
    by_template, by_name = (people_report(frame, cluster=name) for name in ("template", "judge"))
    assert by_template.cluster == ("template",) and by_name.cluster == ("person",)
    assert by_template.people.degrees_of_freedom < 6
    assert any("--cluster template" in remark for remark in people_report(frame).remarks)
    assert not any("--cluster template" in remark for remark in by_template.remarks)


@pytest.mark.parametrize(
    ("cluster", "error"), [("none", ConfigError), ("templat", DataError), ("a,b,c", ConfigError)]
)
def test_what_is_no_unit_is_refused(crowd, cluster, error):
    with pytest.raises(error):
        people_report(frame_of(crowd), cluster=cluster)
