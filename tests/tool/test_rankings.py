"""Rankings of several answers, read from tables in cells and in rows, and ranked by the command."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgerank import fit, pairwise, rank, read
from judgerank.data.errors import DataError
from judgerank.engine.sums import evaluate
from judgerank.model.members import MODELS
from judgerank.ranking.studies.prediction import held_out, sample_of
from tests.library.test_stages import drawn
from tests.tool.command import judgerank

GREEK = ("alpha", "beta", "gamma", "delta", "eps", "zeta")


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
        ({"ranking": ["a>b", "a"]}, r"cannot read 'a' as a ranking; write w > x = y.*\(record 2\)"),
        ({"ranking": ["a>b", "a, b, c"]}, r"cannot read 'a, b, c' as a ranking; write w > x = y.*\(record 2\)"),
        ({"ranking": ["a, b > c"]}, "cannot read 'a, b > c' as a ranking"),
        ({"ranking": ["a>>b=c"]}, "cannot read 'a>>b=c' as a ranking"),
        ({"ranking": ["a < b < c"]}, "cannot read 'a < b < c' as a ranking"),
        ({"ranking": ["a > b < c"]}, "cannot read 'a > b < c' as a ranking"),
        ({"ranking": ["a>{b,c}>d"]}, "cannot read"),
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


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Rankings of four by three judges, with the order shown."""
    frame = drawn(
        360, 4, (1.6, 0.8, 0.0), (0.3, 0.0, 0.5), names=("alpha", "beta", "gamma", "delta", "eps", "zeta")
    )
    path = tmp_path_factory.mktemp("rankings") / "my.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_page_ranks_rankings(file):
    found = rank(file)
    assert found.to_frame()["model"].iloc[0] == "alpha"
    assert found.fitted.model.name == "position_aware"
    # a ranking of four compares each of its models with three others
    frame = pd.read_csv(file)
    times = frame["ranking"].str.split(">").explode().value_counts() * 3
    compared = found.to_frame().set_index("model")["comparisons"]
    assert compared.to_dict() == times.to_dict()
    assert found.tables["judges"]["comparisons"].sum() == 360 * 6
    won = frame.apply(lambda one: _first_won(one["shown"].split(", "), one["ranking"].split(">")), axis=1)
    shares = found.tables["judges"].set_index("judge")["share_a"]
    np.testing.assert_allclose(shares, won.groupby(frame["judge"]).mean()[shares.index])
    assert any("360 rankings of 4 answers" in remark for remark in found.remarks)
    assert not {"fitness", "effects", "repeats"} & found.tables.keys()
    members = found.tables["members"].set_index("member")
    assert "position_aware_ties" not in members.index
    assert members["log_loss"].notna().all()
    assert "alpha" in found.to_html()


def _first_won(shown: list[str], order: list[str]) -> float:
    """Share of the pairs of a ranking won by the answer shown earlier."""
    pairs = [(a, b) for place, a in enumerate(shown) for b in shown[place + 1 :]]
    return float(np.mean([order.index(a) < order.index(b) for a, b in pairs]))


def test_held_out_losses_are_those_of_whole_rankings(file):
    judgments = read(file)
    sample = sample_of(judgments)
    parameters, losses = held_out(sample, MODELS["position_aware"])
    assert parameters == 6 - 1 + 3 - 1 + 3
    train, test, rows = sample.folds[0]
    fitted = fit(train, "position_aware")
    there = fitted.solution.parameters
    expected = evaluate(test, MODELS["position_aware"], there).log_likelihood
    mine = np.unique(sample.unit[rows])
    assert -losses[mine].sum() == pytest.approx(expected, rel=1e-6)


def test_the_command_ranks_rankings_and_says_what_it_cannot(file, tmp_path):
    done = judgerank("rank", str(file), "-o", str(tmp_path / "out"))
    assert done.returncode == 0
    assert "alpha leads" in done.stdout
    assert "comparisons in rankings" in " ".join(done.stdout.split())
    refused = judgerank("rank", str(file), "--cluster", "effects")
    assert refused.returncode != 0
    assert "these are rankings of several" in " ".join(refused.stderr.split())
    assert judgerank("doctor", str(file)).returncode == 0


def test_equal_models_are_separated_no_more_often_than_they_should():
    """The null, with judges who differ: p-values of 40 sets are not small."""
    rng = np.random.default_rng(11)
    least = []
    for _ in range(40):
        orders = [">".join(rng.permutation(list("abcd"))) for _ in range(120)]
        frame = pd.DataFrame({"judge": np.tile(["j", "k", "l"], 40), "ranking": orders})
        least.append(pairwise(fit(frame, shrink=True))["p_holm"].min())
    assert np.mean(np.array(least) <= 0.05) <= 0.125
