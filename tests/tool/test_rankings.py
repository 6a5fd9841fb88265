"""Rankings of several answers, read from tables in cells and in rows, and ranked by the command."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgerank import fit, read
from judgerank.data.errors import DataError
from tests.library.test_stages import drawn


def choices(frame: pd.DataFrame) -> list[tuple[str, str, float]]:
    """Who met whom in which choice, and by how much each counts."""
    c = read(frame).comparisons
    names = np.array(c.models)
    return [(str(names[i]), str(names[j]), float(n)) for i, j, n in zip(c.first, c.second, c.count, strict=True)]


def test_a_ranking_is_the_same_in_a_cell_a_list_and_rows():
    cell = pd.DataFrame({"question": ["q"], "judge": ["j"], "ranking": ["w > x = y > {v, z}"]})
    rows = pd.DataFrame({"model": list("wxyzv"), "rank": [1, 2, 2, None, None]}).assign(question="q", judge="j")
    lists = pd.DataFrame({"question": ["q"], "judge": ["j"], "ranking": [["w", ["x", "y"], ["v", "z"]]]})
    one, other = (read(frame).comparisons for frame in (cell, rows))
    for name in ("first", "second", "outcome", "count"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.stages.neither, other.stages.neither)
    assert one.n_comparisons == pytest.approx(4 + 3 + 2)
    assert read(lists).comparisons.n_comparisons == pytest.approx(10)  # a list knows the last two to be tied


def test_ranks_may_have_gaps_and_begin_anywhere():
    rows = pd.DataFrame({"model": list("abc"), "rank": [10, 0.5, 3], "question": 1})
    cell = pd.DataFrame({"ranking": ["b>c>a"]})
    np.testing.assert_array_equal(read(rows).comparisons.outcome, read(cell).comparisons.outcome)


def test_places_are_counted_from_the_order_shown():
    cells = read(pd.DataFrame({"ranking": ["a>b>c", "c>a>b"], "shown": ["c, a, b", ["a", "b", "c"]]})).comparisons
    assert cells.ordered
    assert [str(cells.models[i]) for i in cells.first[:3]] == ["c", "c", "a"]
    np.testing.assert_array_equal(cells.stages.apart, [1, 2, 1, 2, 1, 2, 1, 1])


def test_answers_of_a_record_alone_are_left_out():
    rows = pd.DataFrame({"model": list("abca"), "rank": [1, 2, 3, 1], "question": [1, 1, 1, 2]})
    assert read(rows).comparisons.n_comparisons == 3


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"ranking": ["a>b", "a>b>a"]}, "record 2 ranks 'a' twice"),
        ({"ranking": ["a>b", "a"]}, "record 2 has 'a' as its ranking"),
        ({"ranking": ["a>{b,c}>d"]}, "record 1 has"),
        ({"ranking": ["a>b"], "shown": ["a, c"]}, "record 1 does not rank the models"),
        ({"ranking": ["a>b"], "shown": [3]}, "record 1 has 3 as 'shown'"),
        ({"ranking": ["=".join("abcdefghi")]}, "tie of 9 models.*braces"),
        ({"ranking": [">".join(f"m{i}" for i in range(61))]}, "61 models, and 60 is the most"),
        ({"model": ["a", "b"], "rank": [1, "x"], "question": [1, 1]}, "record 2 has 'x' as 'rank', not a number"),
        ({"model": ["a", "a"], "rank": [1, 2], "question": [1, 1]}, "record 1 ranks 'a' twice"),
        ({"model": ["a", "b"], "rank": [1, 2], "question": [1, 2]}, "no judge ranks two models"),
        ({"model": ["a", "b"], "rank": [1, 2], "question": [1, 1], "place": [1, 1]}, "need different places"),
    ],
)
def test_what_is_no_ranking_is_named(frame, message):
    with pytest.raises(DataError, match=message):
        read(pd.DataFrame(frame))


def test_rankings_and_pairs_are_ranked_together(tmp_path):
    rankings = drawn(80, 3, (1.0, 0.6))
    pairs = pd.DataFrame({"judge": "j0", "question": 0, "winner": ["a", "f", "b"], "loser": ["b", "a", "f"]})
    paths = [tmp_path / "rankings.csv", tmp_path / "pairs.csv"]
    rankings.to_csv(paths[0], index=False)
    pairs.to_csv(paths[1], index=False)
    both = read(paths).comparisons
    assert both.n_comparisons == 80 * 3 + 3
    as_rankings = pd.DataFrame({"judge": "j0", "question": 0, "ranking": pairs["winner"] + ">" + pairs["loser"]})
    same = fit(pd.concat([rankings, as_rankings], ignore_index=True))
    np.testing.assert_allclose(fit(both).scores, same.scores, atol=1e-9)
