"""What records say of themselves where they are asked for by name: a line, and a table in a notebook."""

import numpy as np
import pytest

from judgerank import (
    Comparisons,
    Records,
    compare,
    effective_judges,
    fit,
    fragility,
    gate,
    people_report,
    place,
    rank,
    read,
)
from judgerank.data.representation import MOST


@pytest.fixture(scope="module")
def judgments():
    return read("examples/judgments.csv")


@pytest.fixture(scope="module")
def placed(judgments):
    return place(
        fit(judgments, "position_aware"),
        judgments.frame.replace({judgments.comparisons.models[0]: "newcomer"}),
    )


@pytest.fixture(scope="module")
def report(judgments):
    return people_report(judgments, judgments.comparisons.judges[0])


def test_a_line_of_text_and_a_table_for_a_notebook(judgments, placed, report):
    fitted = fit(judgments, "position_aware")
    long = Comparisons(tuple(f"{'m' * 300}{i}" for i in range(3)), ("j",), [0, 1], [1, 2], [0, 0], [1.0, 0.0])
    records = (
        judgments,
        judgments.comparisons,
        long,
        Records.of(judgments),
        fitted,
        fragility(fitted, most=1),
        effective_judges(fitted),
        rank(judgments),
        compare(fit(judgments), fitted),
        gate(judgments, *judgments.comparisons.models[:2]),
        placed,
        report,
    )
    for record in records:
        assert len(repr(record)) < 400 and "\n" not in repr(record)
        assert type(record).__name__ in repr(record)
        page = record._repr_html_()
        assert "<table" in page and page.count("<tr") <= len(fitted.to_frame()) + MOST


def test_what_results_hold_is_as_short_and_has_a_table(judgments, placed, report):
    rng = np.random.default_rng(1)
    lengths = {f"length_{side}": rng.integers(50, 500, len(judgments.frame)) for side in "ab"}
    styled = fit(judgments.frame.assign(**lengths), "btl", blocks="style:length")
    held = (
        report.people,
        report.helped,
        report.toward_panel,
        report.people.items,
        placed.anchored,
        styled.solution,
        styled.test("style"),
        fit(judgments, "btl_ties", questions="effects").effects,
    )
    for record in held:
        assert len(repr(record)) < 400 and "\n" not in repr(record)
        assert type(record).__name__ in repr(record)
        page = record._repr_html_()
        assert "<table" in page and page.count("<tr") <= 2 * MOST
    assert len(repr(styled.solution.evaluation)) < 400


def test_shares_won_are_those_of_the_comparisons(judgments):
    c = judgments.comparisons
    table = c._table().set_index("model")
    assert table["comparisons"].sum() == 2 * len(c)
    name = c.models[0]
    won = np.r_[c.outcome[c.first == 0], 1 - c.outcome[c.second == 0]]
    assert table.loc[name, "share_won"] == pytest.approx(won.mean())
