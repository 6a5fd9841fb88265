"""A gate whose questions were sampled together: what is tested, what is said of other units, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import Rule, gate
from judgerank.data.errors import DataError
from judgerank.gating.decision import p_not_above
from judgerank.gating.scores import scored
from judgerank.model.streams import generator
from tests.tool.command import judgerank

LEVEL = 0.05


def drawn(rng: np.random.Generator, n_templates: int, size: int, sd: float) -> pd.DataFrame:
    """Three judges on questions whose difference in quality templates share, equal on average."""
    shared = rng.normal(0.0, sd, n_templates).repeat(size)
    lead = shared + rng.normal(0.0, 0.5, n_templates * size)
    rows = []
    for number, of_question in enumerate(lead):
        for judge in range(3):
            new_first, wins = rng.random() < 0.5, rng.random() < 1 / (1 + np.exp(-of_question))
            names = ("new", "old") if new_first else ("old", "new")
            rows.append(
                (*names, f"j{judge}", "a" if wins == new_first else "b", f"q{number}", f"t{number // size}")
            )
    return pd.DataFrame(rows, columns=["model_a", "model_b", "judge", "winner", "question", "template"])


@pytest.fixture(scope="module")
def suite() -> pd.DataFrame:
    return drawn(generator(0, "gate clusters"), 10, 8, 1.0)


def test_a_unit_for_every_question_changes_nothing(suite):
    plain = gate(suite, "old", "new")
    named = gate(suite.assign(unit=suite["question"]), "old", "new", Rule(cluster="unit"))
    assert plain.criteria[0].evidence == named.criteria[0].evidence
    assert (plain.verdict, plain.needed) == (named.verdict, named.needed)


def test_the_tests_are_those_of_the_units_means_where_sizes_are_equal(suite):
    by_template = gate(suite, "old", "new", Rule(cluster="template")).criteria[0]
    within = by_template.scores.within
    units = by_template.judged.units("template")
    means = np.bincount(units, within) / 8
    threshold = by_template.scores.place_of(Rule().lowest)
    assert_allclose(by_template.evidence.p_ship, p_not_above(means, threshold), rtol=1e-9)
    by_question = gate(suite, "old", "new").criteria[0].evidence
    assert by_template.evidence.low < by_question.low and by_template.evidence.high > by_question.high
    assert by_template.evidence.win_rate == by_question.win_rate


def test_larger_units_count_for_more_but_no_more_than_they_can():
    preference, unit = np.array([[1.0], [1.0], [1.0], [0.0], [1.0]]), np.array([0, 0, 0, 1, 2])
    scores = scored(preference, np.zeros((5, 1)), unit)
    by_unit = scores.by_unit(scores.within, 0.5)
    assert_allclose(by_unit, [1.0, 0.5 - 0.5 / 3, 0.5 + 0.5 / 3])
    assert_allclose(scores.by_unit(scores.within, 0.8).mean() - 0.8, 0.0, atol=1e-12)  # the mean of all is 0.8


def test_it_says_what_the_verdict_would_be_by_columns_that_may_be_units(suite):
    by_question, by_template = (gate(suite, "old", "new", Rule(cluster=name)) for name in ("question", "template"))
    (other,) = by_question.by_other_units
    assert (other.name, other.size, other.verdict) == ("template", 10, by_template.verdict)
    assert other.evidences == (by_template.criteria[0].evidence,)
    assert by_template.by_other_units == ()
    assert gate(suite.drop(columns="template"), "old", "new").by_other_units == ()


def test_false_blocks_keep_their_level_by_template_and_not_by_question():
    rng, blocked = generator(0, "gate clusters", "level"), {"question": 0, "template": 0}
    for _ in range(60):
        table = drawn(rng, 10, 8, 1.0)
        for name in blocked:
            blocked[name] += gate(table, "old", "new", Rule(cluster=name)).verdict == "block"
    assert blocked["template"] <= LEVEL * 60 + 3 * np.sqrt(60 * LEVEL * (1 - LEVEL)) < blocked["question"] + 3


@pytest.mark.parametrize("cluster", ["templat", "judge_model"])
def test_what_is_no_unit_of_questions_is_refused(suite, cluster):
    with pytest.raises(DataError, match=cluster):
        gate(suite, "old", "new", Rule(cluster=cluster))


def test_the_command_takes_the_unit_and_keeps_it(suite, tmp_path):
    file = tmp_path / "votes.csv"
    suite.to_csv(file, index=False)
    done = judgerank("gate", file, "--cluster", "template", "--json")
    report = json.loads(done.stdout)
    assert done.returncode in (0, 1, 2) and report["rule"]["cluster"] == "template"
    assert (
        report["criteria"][0]["low"]
        == gate(suite, "old", "new", Rule(cluster="template")).criteria[0].evidence.low
    )
    assert judgerank("gate", file, "--cluster", "templat").returncode == 3
