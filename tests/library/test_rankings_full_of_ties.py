"""Rankings most of which are ties: win rates, tests of models that never differ, and ranks that go with groups."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from judgerank import fit, gate, pairwise, rank, read
from judgerank.fits.presentation import win_probability
from judgerank.gating.verdict_text import table
from judgerank.inference.clusters import Residuals, _offset_information
from judgerank.model.members import NAMED
from judgerank.model.naming import EARLIER, formula, treatment_of_ties
from judgerank.order.equality import NetResults
from judgerank.ranking.diagnosis import on_answers
from judgerank.ranking.page import methods
from judgerank.ranking.ranking import Ranking
from judgerank.ranking.recusal import recusal_of
from judgerank.ranking.studies.coverage import UNCOMPARED
from judgerank.ranking.verdict import HARDER, verdict

ORDERS_OF_THREE = [
    *("x>y>z", "x>z>y", "y>x>z", "y>z>x", "z>x>y", "z>y>x"),
    *("x=y>z", "x=z>y", "y=z>x", "x>y=z", "y>x=z", "z>x=y", "x=y=z"),
]


@pytest.fixture(scope="module")
def near() -> pd.DataFrame:
    """Ties of all four, but for some rankings that w alone leads."""
    said = ["w>x=y=z" if number in (0, 13, 24, 37, 48) else "w=x=y=z" for number in range(60)]
    asked = [f"q{number // 2}" for number in range(60)]
    return pd.DataFrame({"question": asked, "judge": ["ann", "bob"] * 30, "ranking": said})


@pytest.fixture(scope="module")
def shown(near) -> pd.DataFrame:
    """The same with the orders in which the answers were shown."""
    return near.assign(shown=["w, x, y, z", "z, w, x, y", "y, z, w, x", "x, y, z, w", "w, y, x, z"] * 12)


@pytest.fixture(scope="module")
def ranked(near, shown) -> Callable[..., Ranking]:
    """Rankings of either by a member, each made once and without a warning."""

    @cache
    def ranking_of(model: str | None = None, orders: bool = False) -> Ranking:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return rank(shown if orders else near, model=model)

    return ranking_of


@pytest.mark.parametrize("member", ["judge_aware", "judge_aware_ties"])
def test_models_that_never_differ_are_tested_without_a_warning(ranked, member):
    ranking = ranked(member)
    pairs = pairwise(ranking.fit)
    alike = pairs[(pairs["first"] != "w") & (pairs["second"] != "w")]
    assert (alike["p_value"] == 1).all()
    board, tested = ranking.tables["leaderboard"], ranking.tables["pairs"]
    apart = tested[tested["first"] == "w"]["separated"]
    assert bool(apart.any()) == bool(board["rank_high"][0] < len(board))
    assert (board["group"] == "a").all() == (board["rank_low"] == 1).all()


def test_the_win_rate_of_ties_of_many_is_what_was_seen(near, ranked):
    board = ranked("judge_aware_ties").tables["leaderboard"].set_index("model")
    seen = 0.5 + 0.5 * near["ranking"].str.startswith("w>").mean()
    assert board["win_rate"]["w"] == pytest.approx(seen, abs=0.01)
    assert board["win_rate"].mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("member", ["judge_aware", "judge_aware_ties"])
def test_where_all_answers_are_ties_nothing_is_ranked(near, member):
    ranking = rank(near.assign(ranking="w=x=y=z"), model=member)
    told = verdict(ranking)
    assert HARDER in told.lead and not told.warnings
    assert ranking.tables["leaderboard"][["low", "high", "rank_low", "rank_high", "group"]].isna().all(axis=None)
    assert not any("WARNING" in one or "equally" in one or "predicts" in one for one in ranking.remarks)


def test_win_rates_are_those_of_all_rankings():
    """Of three models no other answer is averaged over, so the definition can be summed up."""
    said = [ORDERS_OF_THREE[number] for number in [0, 1, 1, 2, 5, 6, 7, 8, 9, 9, 10, 11, 12, 12, 0, 6]]
    judged = {"judge": ["ann", "bob", "bob", "ann"] * 4, "ranking": said}
    fitted = fit(judged, "judge_aware_ties", "penalised")
    chances = 0.0
    for judge in ("ann", "bob"):
        every = read({"judge": [judge] * 13, "ranking": ORDERS_OF_THREE}).comparisons
        chances = chances + fitted.ranking_probability(every) / 2
    assert chances.sum() == pytest.approx(1)
    for one, other in combinations("xyz", 2):
        above = 0.0
        for text, chance in zip(ORDERS_OF_THREE, chances, strict=True):
            place = {name: at for at, group in enumerate(text.split(">")) for name in group.split("=")}
            above += chance * (0.5 + 0.5 * np.sign(place[other] - place[one]))
        s = fitted.scores
        found = fitted.win_probability(s[one] - s[other], middle=(s[one] + s[other]) / 2)
        assert found == pytest.approx(above, abs=1e-10)
        assert win_probability(fitted, 0.4, 0.1) + win_probability(fitted, -0.4, 0.1) == pytest.approx(1)


def test_win_rates_of_rankings_of_two_are_those_of_pairs():
    said = ["x>y", "x=y", "y>x", "x>z", "x=z", "y>z", "z>y", "y=z", "z>x", "x>y"]
    shown = [", ".join(sorted({*text} - {*"=>"}, reverse=number % 2 == 0)) for number, text in enumerate(said)]
    judged = pd.DataFrame({"judge": ["ann", "bob"] * 5, "ranking": said, "shown": shown})
    ranked = fit(judged, "position_aware_ties", "penalised")
    in_pairs = pd.DataFrame(
        {
            "judge": judged["judge"],
            "model_a": [text.split(", ")[0] for text in shown],
            "model_b": [text.split(", ")[1] for text in shown],
            "winner": [
                "tie" if "=" in text else ("a" if text[0] == order[0] else "b")
                for text, order in zip(said, shown, strict=True)
            ],
        }
    )
    pairs = fit(in_pairs, "position_aware_ties", "penalised")
    lead = np.array([0.5, -1.0])
    assert ranked.win_probability(lead) == pytest.approx(pairs.win_probability(lead), abs=1e-6)
    # the law of choices gives the same for two answers
    assert ranked._placed_above(lead[:, None], np.zeros(1), 2).mean(axis=-1) == pytest.approx(
        ranked.win_probability(lead), abs=1e-10
    )


def test_ties_of_rankings_are_counted(near):
    told = dict(on_answers(recusal_of(read(near))))
    assert told["answers"].startswith("60 rankings read, which make 360 comparisons; left out")
    assert told["ties"].startswith("60 of 65 choices of the best;")
    assert "between" not in told["answers"] and "0 ties" not in told["answers"]


def test_the_page_counts_rankings_and_says_whether_members_are_compared(ranked, tmp_path):
    named, found = ranked("judge_aware_ties"), ranked()
    for ranking in (named, found):
        assert any("60 rankings of 4 answers" in one for one in ranking.remarks)
    assert any(UNCOMPARED in one for one in named.remarks) and "members" not in named.tables
    assert not any(UNCOMPARED in one for one in found.remarks) and "members" in found.tables
    named.write(tmp_path / "page")
    assert "(60 rankings)" in (tmp_path / "page" / "index.html").read_text()


def test_the_gate_says_how_many_answers_could_be_there():
    said = ["w>x>y", "x>w>y", "w>x=y", "w=x>y", "y>z>w", "w>x>z"]
    judged = pd.DataFrame({"question": list("aabbcc"), "judge": ["ann", "bob"] * 3, "ranking": said})
    told = dict(table(gate(judged, "w", "x")))["missing"]
    assert told.startswith("1 of 6 expected answers (one per judge and question")


@pytest.mark.slow
def test_the_method_of_rankings_is_that_of_choices(ranked):
    averaged, modelled = (
        methods(ranked(name, orders=True))[0] for name in ("position_aware", "position_aware_ties")
    )
    assert "(Plackett-Luce model), u_i - u_j = gamma_k (s_i - s_j) + b_k d" in averaged
    for text, name in ((averaged, "position_aware"), (modelled, "position_aware_ties")):
        assert formula(NAMED[name], ranked=True) in text and treatment_of_ties(NAMED[name], ranked=True) in text
        assert EARLIER in text
    assert "half a win" not in averaged and "Davidson-Luce" in modelled
    pairs = pd.DataFrame(
        {"judge": ["ann"] * 3, "model_a": list("xyz"), "model_b": list("yzx"), "winner": list("aba")}
    )
    assert "half a win" in methods(rank(pairs, model="position_aware"))[0]


def test_the_information_on_positions_and_ties_counts_the_places_between(shown, ranked):
    """Against the information of the fit; without the places, errors of pairs became negative variances."""
    fitted = fit(shown, "position_aware_ties", "penalised")
    cells, at = fitted.comparisons, fitted.solution.parameters
    ranked("position_aware_ties", orders=True)
    found = NetResults.of(cells, fitted.model, at).information
    smallest = np.linalg.eigvalsh(found)[:, 0]
    assert (smallest > -1e-9).all()
    whole = fitted._information("expected")
    judges, blocks = len(cells.judges), len(fitted.model.blocks) - 1
    start = len(whole) - judges * blocks
    for k in range(judges):
        places = start + np.arange(blocks) * judges + k
        own = _offset_information(Residuals.of(cells, fitted.model, at), judges)[k]
        np.testing.assert_allclose(own, whole[np.ix_(places, places)], atol=1e-12)
