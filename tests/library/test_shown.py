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
from judgerank.data.shown import MOST


@pytest.fixture(scope="module")
def judgments():
    return read("examples/judgments.csv")


def test_a_line_of_text_and_a_table_for_a_notebook(judgments):
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
        place(fitted, judgments.frame.replace({judgments.comparisons.models[0]: "newcomer"})),
        people_report(judgments, judgments.comparisons.judges[0]),
    )
    for record in records:
        assert len(repr(record)) < 400 and "\n" not in repr(record)
        assert type(record).__name__ in repr(record)
        page = record._repr_html_()
        assert "<table" in page and page.count("<tr") <= len(fitted.to_frame()) + MOST


def test_shares_won_are_those_of_the_comparisons(judgments):
    c = judgments.comparisons
    table = c._table().set_index("model")
    assert table["comparisons"].sum() == 2 * len(c)
    name = c.models[0]
    won = np.r_[c.outcome[c.first == 0], 1 - c.outcome[c.second == 0]]
    assert table.loc[name, "share_won"] == pytest.approx(won.mean())
