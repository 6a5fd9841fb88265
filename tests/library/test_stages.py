"""Rankings of several answers: likelihood by stages against other solvers, and rankings most of which are ties."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from itertools import combinations, permutations
from pathlib import Path

import choix
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize

from judgerank import fit, gate, load, pairwise, rank, read
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, NoMaximumError
from judgerank.engine import rows as layout
from judgerank.engine.levels import mean_at_zero, net_wins
from judgerank.engine.likelihood import evaluate
from judgerank.engine.newton import Newton
from judgerank.engine.solution import Status
from judgerank.fits.presentation import win_probability
from judgerank.gating.verdict_text import table
from judgerank.inference.clusters import Residuals, _offset_information, cluster_gradients
from judgerank.model.law import StageLaw
from judgerank.model.members import MODELS, NAMED, Parameters
from judgerank.model.naming import EARLIER, formula, treatment_of_ties
from judgerank.order.equality import NetResults
from judgerank.order.scale import scale_at, scale_of
from judgerank.ranking.diagnosis import on_answers
from judgerank.ranking.page import methods
from judgerank.ranking.ranking import Ranking
from judgerank.ranking.recusal import recusal_of
from judgerank.ranking.studies.coverage import UNCOMPARED
from judgerank.ranking.verdict import HARDER, verdict

NAMES = tuple("abcdef")
SCORES = np.linspace(1.0, -1.0, 6)


def drawn(many, size, gamma=(1.0,), position=None, seed=1, names=NAMES) -> pd.DataFrame:
    """Rankings by the model, judges in turn."""
    rng = np.random.default_rng(seed)
    records = []
    for number in range(many):
        k = number % len(gamma)
        shown = rng.permutation(6)[:size]
        u = gamma[k] * SCORES[shown] - (0.0 if position is None else position[k]) * np.arange(size)
        best = np.argsort(-(u + rng.gumbel(size=size)))
        record = {"judge": f"j{k}", "question": number // 4, "ranking": ">".join(names[m] for m in shown[best])}
        if position is not None:
            record["shown"] = ", ".join(names[m] for m in shown)
        records.append(record)
    return pd.DataFrame(records)


def places(frame: pd.DataFrame) -> list[list[int]]:
    return [[NAMES.index(name) for name in text.split(">")] for text in frame["ranking"]]


def direct(frame: pd.DataFrame, scores, alpha, position=None) -> float:
    """The log-likelihood written down as the definition has it."""
    total = 0.0
    for record in frame.itertuples():
        k = int(record.judge[1:])
        order = [NAMES.index(name) for name in record.ranking.split(">")]
        u = np.exp(alpha[k]) * np.asarray(scores)
        if position is not None:
            for place, name in enumerate(record.shown.split(", ")):
                u[NAMES.index(name)] -= position[k] * place
        for stage in range(len(order) - 1):
            total += u[order[stage]] - np.log(np.exp(u[order[stage:]]).sum())
    return total


def pairs_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Rankings of two as records of pairs."""
    shown = frame["shown"].str.split(", ")
    won = frame["ranking"].str.split(">").str[0]
    first = shown.str[0]
    winner = np.where(first == won, "model_a", "model_b")
    return frame[["judge", "question"]].assign(model_a=first, model_b=shown.str[1], winner=winner)


@pytest.mark.parametrize("member", ["btl", "judge_aware", "position_only", "position_aware"])
@pytest.mark.parametrize("shrink", [False, True])
def test_rankings_of_two_are_the_pairs_of_today(member, shrink):
    frame = drawn(600, 2, (1.5, 0.7, 0.3), (0.4, -0.2, 0.1))
    ours, theirs = (fit(data, member, shrink=shrink, cluster="question") for data in (frame, pairs_of(frame)))
    assert ours.comparisons.stages is not None and theirs.comparisons.stages is None
    # rounding decides where the search for standard deviations ends: parameters then differ by some 1e-9
    likelihood, near, relative = (1e-11, 1e-8, 1e-7) if shrink else (1e-12, 1e-10, 1e-8)
    assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=likelihood)
    for name in ("scores", "judges"):
        one, other = (getattr(each.solution.parameters, name) for each in (ours, theirs))
        np.testing.assert_allclose(one, other, rtol=0, atol=near)
    np.testing.assert_allclose(ours.covariance, theirs.covariance, rtol=relative, atol=near)
    numbers = [pairwise(each).select_dtypes("number") for each in (ours, theirs)]
    np.testing.assert_allclose(*numbers, rtol=1e-7, atol=1e-9)


def test_judges_alike_equal_choix():
    frame = drawn(300, 4)
    ours = fit(frame, "btl").solution.parameters.scores
    theirs = choix.ilsr_rankings(6, places(frame), tol=1e-12)
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-8)
    theirs = choix.opt_rankings(6, places(frame), tol=1e-10)
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-6)  # its own tolerance


def test_public_rankings_have_the_estimates_of_choix_and_the_published_ones():
    """36 races of 42 or 43 drivers, each line best first, by the drivers' numbers (Hunter, 2004, section 6).

    Four drivers who only ever came last are left out, as there. R's PlackettLuce has published log worths over
    that of driver 1, for the three best and the three worst by mean place (its vignette, section 2.3).
    """
    races = [line.split() for line in (Path(__file__).parent / "samples/nascar2002.txt").read_text().splitlines()]
    assert len(races) == 36 and {len(race) for race in races} == {42, 43}
    scores = fit({"ranking": races}, "btl").scores
    names = [f"{number}" for number in range(1, 84)]
    theirs = choix.ilsr_rankings(83, [[names.index(name) for name in race] for race in races], tol=1e-12)
    np.testing.assert_allclose(scores[names], theirs - theirs.mean(), atol=1e-8)
    published = {"58": 4.15, "68": 3.62, "51": 2.08, "15": 0.03, "17": -0.31, "40": -0.15}
    assert (scores[[*published]] - scores["1"]).round(2).tolist() == list(published.values())


def test_best_of_several_equals_choix_top_1():
    frame = drawn(300, 4)
    first = [(order[0], order[1:]) for order in places(frame)]
    frame["ranking"] = [f"{NAMES[w]} > {{{', '.join(NAMES[m] for m in rest)}}}" for w, rest in first]
    theirs = choix.ilsr_top1(6, first, tol=1e-12)
    np.testing.assert_allclose(fit(frame, "btl").scores, theirs - theirs.mean(), atol=1e-8)


def test_discriminations_and_positions_equal_another_optimiser():
    frame = drawn(360, 4, (1.6, 0.9, 0.4), (0.5, 0.0, -0.3))
    ours = fit(frame, "position_aware")

    def lost(x):
        return -direct(frame, x[:6], x[6:9], x[9:])

    at = ours.solution.parameters
    x = np.r_[at.scores, at.judges.ravel()]
    assert -lost(x) == pytest.approx(ours.log_likelihood, abs=1e-8)
    found = minimize(lost, x + 0.05, method="BFGS", options={"gtol": 1e-4})
    there = Parameters(found.x[:6], found.x[6:].reshape(2, 3)).normalised()
    assert -found.fun <= ours.log_likelihood + 1e-8
    np.testing.assert_allclose(there.scores, at.scores, atol=1e-3)
    np.testing.assert_allclose(there.judges, at.judges, atol=2e-3)


@pytest.fixture(scope="module")
def mixed():
    """Stages of two to four answers with ties, and a point that is no maximum."""
    frame = drawn(40, 4, (1.6, 0.9), (0.5, -0.3))
    frame.loc[::3, "ranking"] = frame["ranking"][::3].str.replace(">", "=", n=1)
    cells = read(frame).comparisons
    rng = np.random.default_rng(3)
    return cells, Parameters(rng.normal(size=6), rng.normal(0, 0.4, (2, 2)))


def test_derivatives_are_those_of_differences(mixed):
    cells, at = mixed
    model = MODELS["position_aware"]

    def point(x):
        return Parameters(x[:6], x[6:].reshape(2, 2))

    def gradient(x):
        here = evaluate(cells, model, point(x))
        return np.r_[here.top_gradient, here.judge_gradient.ravel()]

    x = np.r_[at.scores, at.judges.ravel()]
    differences = approx_fprime(x, lambda y: evaluate(cells, model, point(y)).log_likelihood, 1e-7)
    np.testing.assert_allclose(gradient(x), differences, rtol=1e-4, atol=1e-4)
    here = evaluate(cells, model, at, "observed")
    hessian = np.array([(gradient(x + h) - gradient(x - h)) / 2e-5 for h in 1e-5 * np.eye(len(x))])
    np.testing.assert_allclose(here.top_information, -hessian[:6, :6], atol=1e-5)
    for row in (0, 1):
        np.testing.assert_allclose(here.cross_information[row], -hessian[6 + 2 * row : 8 + 2 * row, :6], atol=1e-5)
    # the block of discriminations is in gamma itself, relative to it
    own = -hessian[6:, 6:] + np.diag(np.r_[here.judge_gradient[0], 0.0, 0.0])
    by_judge = own.reshape(2, 2, 2, 2)
    for k in range(2):
        np.testing.assert_allclose(here.judge_information[k], by_judge[:, k, :, k], atol=1e-5)


def test_the_information_is_the_variance_of_the_gradient():
    """Over all rankings that there could be of four answers, each with its probability."""
    at, alpha, total, squares = SCORES[:4] - SCORES[:4].mean(), [0.3], 0.0, np.zeros((5, 5))
    for order in permutations(range(4)):
        text = ">".join(NAMES[m] for m in order)
        frame = pd.DataFrame({"judge": ["j0"], "question": [0], "ranking": [text]})
        chance = np.exp(direct(frame, at, alpha))
        cells = read(frame).comparisons
        here = evaluate(cells, MODELS["judge_aware"], Parameters(at, np.array([alpha])), "expected")
        gradient = np.r_[here.top_gradient, here.judge_gradient.ravel()]
        squares += chance * np.outer(gradient, gradient)
        total += chance * np.block(
            [
                [here.top_information, here.cross_information[0].T],
                [here.cross_information[0], here.judge_information[0]],
            ]
        )
    np.testing.assert_allclose(squares, total, atol=1e-12)


def test_the_reported_scale_has_the_derivatives_of_differences(mixed):
    cells, at = mixed
    model, free = MODELS["position_aware"], np.ones((2, 2), bool)

    def shift(x):
        there = Parameters(x[:6], x[6:].reshape(2, 2))
        return scale_at(cells, model, there, free, np.ones(10, bool)).shift

    found = scale_at(cells, model, at, free, np.ones(10, bool)).derivative
    np.testing.assert_allclose(found, approx_fprime(np.r_[at.scores, at.judges.ravel()], shift, 1e-7), atol=1e-5)


def test_a_tie_is_the_average_over_its_orders():
    tied = fit(drawn(200, 4), "btl").comparisons, "a=b=c>d"
    at = Parameters(SCORES, np.zeros((0, 1)))

    def height(text):
        cells = read(pd.DataFrame({"ranking": [text, "a>b>c>d>e>f"]})).comparisons
        return evaluate(cells, MODELS["btl"], at).log_likelihood

    orders = [height(">".join([*order, "d"])) for order in permutations("abc")]
    assert height(tied[1]) == pytest.approx(np.mean(orders), abs=1e-12)
    assert height("d>a=b=c") == pytest.approx(np.mean([height(">".join(["d", *o])) for o in permutations("abc")]))


def test_a_judge_who_ranks_at_random_has_no_weight():
    frame = drawn(800, 4, (1.5, 1.5, 0.0, -0.8), (0.3, 0.0, 0.6, 0.0), seed=4)
    found = fit(frame, "position_aware")
    assert found.judges_at_zero == ("j3",) or found.judges_at_zero == ("j2", "j3")
    own = frame[frame["judge"] == "j3"]
    slope = approx_fprime(
        np.array([found.position["j3"]]), lambda b: direct(own, np.zeros(6), [0.0] * 4, [0, 0, 0, b[0]]), 1e-6
    )
    assert abs(slope[0]) < 1e-2  # its position is at its best
    cells = found.comparisons
    expected = cells.count * (cells.outcome - mean_at_zero(cells))
    wins = np.zeros((4, 6))
    np.add.at(wins, (cells.judge, cells.first), expected)
    np.subtract.at(wins, (cells.judge, cells.second), expected)
    np.testing.assert_allclose(net_wins(cells, True), wins)
    assert wins[3] @ found.scores < 0


def test_the_best_alone_says_nothing_of_the_others():
    frame = pd.DataFrame({"ranking": ["a>{b,c}", "b>{a,c}", "a>{b,c}", "b>{a,c}"]})
    with pytest.raises(NoMaximumError, match="c"):
        fit(frame, "btl")
    whole = pd.DataFrame({"ranking": ["a>b>c", "b>{a,c}", "c>a>b"]})
    assert fit(whole, "btl").status is Status.INTERIOR


def test_a_judge_who_never_contradicts_the_order_is_unbounded():
    frame = drawn(300, 4, (1.0, 1.0), (0.1, 0.1))
    order = "abcdef"
    mine = frame["judge"] == "j1"
    frame.loc[mine, "ranking"] = [
        ">".join(sorted(text.split(">"), key=order.index)) for text in frame.loc[mine, "ranking"]
    ]
    for member in ("judge_aware", "position_aware"):
        assert fit(frame, member).unbounded_judges == ("j1",)


def test_parts_of_the_rows_keep_stages_whole(monkeypatch):
    cells = read(drawn(60, 5, (1.0, 0.5), (0.2, -0.2))).comparisons
    at = Parameters(SCORES, np.array([[0.2, -0.2], [0.1, 0.3]]))
    whole = evaluate(cells, MODELS["position_aware"], at, "observed")
    monkeypatch.setattr(layout, "MAX_CACHED_ROWS", 0)
    monkeypatch.setattr("judgerank.engine.likelihood.CHUNK", 7)
    parted = evaluate(cells.take(np.arange(len(cells))), MODELS["position_aware"], at, "observed")
    for name in ("log_likelihood", "top_gradient", "judge_gradient", "top_information", "judge_information"):
        np.testing.assert_allclose(getattr(whole, name), getattr(parted, name), atol=1e-10)


def test_rankings_may_be_drawn_twice_and_not_cut():
    cells = read(drawn(20, 4)).comparisons
    twice = cells.take(np.r_[np.arange(len(cells)), np.arange(len(cells))])
    assert fit(twice, "btl").scores.to_numpy() == pytest.approx(fit(cells, "btl").scores.to_numpy(), abs=1e-9)
    assert cells.n_comparisons == pytest.approx(20 * 6)
    with pytest.raises(DataError, match=r"row \d+ begins"):
        cells.take(np.arange(len(cells) - 2))
    with pytest.raises(DataError, match=r"row \d+ is not"):
        cells.take(np.arange(len(cells))[::-1][np.argsort(np.arange(len(cells)) // 6, kind="stable")])


def test_clusters_are_sums_of_the_gradients_of_rankings():
    frame = drawn(12, 4, (1.0, 0.6))
    cells = read(frame).comparisons
    at = Parameters(SCORES - SCORES.mean(), np.array([[0.2, -0.1]]))
    cluster = read(frame).question
    found = cluster_gradients(cells, MODELS["judge_aware"], at, cluster)
    for number, (_, part) in enumerate(frame.groupby("question")):
        expected = approx_fprime(np.r_[at.scores, at.judges[0]], lambda x, p=part: direct(p, x[:6], x[6:]), 1e-7)
        np.testing.assert_allclose(found[number], expected, atol=1e-5)


def test_the_law_of_two_is_that_of_pairs():
    cells = read(drawn(5, 2)).comparisons
    eta = np.linspace(-3, 3, 5)
    law = StageLaw(eta, cells.stages.alternatives)
    p = 1 / (1 + np.exp(-eta))
    np.testing.assert_allclose(law.mean, p)
    np.testing.assert_allclose(law.variance, p * (1 - p))
    np.testing.assert_allclose(law.log_likelihood(np.ones(5), None), np.log(p))


def test_what_rankings_do_not_go_with_is_said():
    frame = drawn(60, 3, (1.0, 0.5))
    with pytest.raises(DataError, match="pairs"):
        fit(frame, "length")
    with pytest.raises(DataError, match=r"'position_aware'.*order"):
        fit(frame, "position_aware")
    with pytest.raises(DataError, match="effects"):
        fit(frame, questions="effects")
    with pytest.raises(ConfigError, match="rankings"):
        fit(frame, solver="adam")
    with pytest.raises(DataError, match="rankings"):
        read(frame).comparisons.to_frame()


def test_a_fit_is_saved_with_its_stages(tmp_path):
    found = fit(drawn(80, 3, (1.0, 0.5), (0.2, 0.0)), "position_aware")
    found.save(tmp_path / "fit.npz")
    again = load(tmp_path / "fit.npz")
    assert isinstance(again.comparisons, Comparisons)
    np.testing.assert_array_equal(again.covariance, found.covariance)
    assert scale_of(again).shift == scale_of(found).shift
    assert Newton() == again.settings


# Rankings most of which are ties: win rates, tests of models that never differ, and ranks that go with groups.


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
