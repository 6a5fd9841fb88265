"""Methods, and members of the family, side by side: sources, panels, folds, the stored comparison."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial

import glicko2
import numpy as np
import pandas as pd
import pytest
from hydra.utils import get_method
from numpy.testing import assert_allclose
from omegaconf import OmegaConf
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit
from scipy.stats import spearmanr

from judgerank import Comparisons, fit
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError, DataError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.fits.heldout import losses, losses_with_ties, three_outcomes
from judgerank.model.members import MODELS
from replication.config import ROOT
from replication.datasets import load_judgments
from replication.differences import compare
from replication.errors import MethodUnavailableError
from studies.cross_validation import cross_validated, folds_of
from studies.methods.judge_models import _cells, _sigma_loss, bt_sigma, by_evaluatorq
from studies.methods.online import GLICKO_SCALE, elo, glicko, period, win_rate
from studies.methods.ranking import Ranking, member
from studies.methods.study import against_truth, agreement, drawn_panel, held_out, method_of, on_panel, on_set
from tests.real_data import needs_data
from tests.replication.test_config import composed
from tests.replication.test_sections import run, run_here, tree, undrawn

METHODS = sorted(composed("method_comparison").methods)
PANEL = {"n_models": 5, "n_judges": 4, "n_comparisons": 3000, "sigma_scores": 1.0, "sigma_discrimination": 0.5}
PANEL |= {"n_contrary": 0, "mean_position": 0.0, "sigma_position": 0.0, "judged_by_models": False}


def rows(*games: tuple[str, str, float]) -> Comparisons:
    models = tuple(sorted({name for game in games for name in game[:2]}))
    first, second = (np.array([models.index(game[side]) for game in games]) for side in (0, 1))
    return Comparisons(models, ("j",), first, second, np.zeros(len(games), int), np.array([g[2] for g in games]))


def test_win_rate_is_a_mean_over_opponents_not_over_comparisons():
    found = win_rate(rows(("a", "b", 1.0), ("b", "a", 0.0), ("a", "b", 0.5), ("a", "c", 0.0), ("b", "c", 0.5)))
    assert_allclose(found.scores[["a", "b", "c"]], [(2.5 / 3 + 0) / 2, (0.5 / 3 + 0.5) / 2, (1 + 0.5) / 2])


def test_elo_follows_its_recursion_in_the_order_of_rows():
    games = [("a", "b", 1.0), ("b", "c", 0.5), ("c", "a", 0.0), ("b", "a", 1.0)]
    rating = dict.fromkeys("abc", 1000.0)
    for one, other, share in games:
        gain = 4 * (share - 1 / (1 + 10 ** ((rating[other] - rating[one]) / 400)))
        rating[one] += gain
        rating[other] -= gain
    found = elo(rows(*games))
    assert_allclose(found.scores[list("abc")], list(rating.values()), rtol=1e-12)
    expected = 1 / (1 + 10 ** ((rating["b"] - rating["a"]) / 400))
    assert_allclose(found.predict(rows(("a", "b", 1.0))), [expected])
    assert elo(rows(*games[::-1])).scores["a"] != found.scores["a"]


class Player(glicko2.Player):
    """A player of the glicko2 package with the volatility's equation as Glickman has it.

    Version 2.1.0 puts the rating where the rating deviation belongs (`_f`), so that the volatility depends on
    where the origin of ratings is.
    """

    def _f(self, x: float, delta: float, v: float, a: float) -> float:
        total = (self.rd / GLICKO_SCALE) ** 2 + v + np.exp(x)
        return np.exp(x) * (delta**2 - total) / (2 * total**2) - (x - a) / self._tau**2


def test_glicko_reproduces_glickmans_worked_example():
    # M. E. Glickman, Example of the Glicko-2 system: a player of 1500 (200) against three others, tau = 0.5
    rating = (np.array([1500, 1400, 1550, 1700]) - 1500) / GLICKO_SCALE
    rd = np.array([200, 30, 100, 300]) / GLICKO_SCALE
    games = np.zeros(3, int), np.arange(1, 4), np.array([1.0, 0.0, 0.0])
    rating, rd, volatility = period(rating, rd, np.full(4, 0.06), *games, 0.5)
    assert_allclose([1500 + GLICKO_SCALE * rating[0], GLICKO_SCALE * rd[0]], [1464.06, 151.52], atol=0.015)
    assert_allclose(volatility[0], 0.05999, atol=1e-5)
    assert rd[1] == pytest.approx(np.hypot(30 / GLICKO_SCALE, 0.06))  # did not compete


@pytest.mark.parametrize(("kind", "same"), [(Player, True), (glicko2.Player, False)])
def test_a_period_is_that_of_the_library_once_its_volatility_is_corrected(kind, same):
    rng, n = np.random.default_rng(6), 7
    ratings, rd = rng.normal(1500, 300, n), rng.uniform(30, 350, n)
    volatility = np.array([0.06, 0.06, 0.06, 0.5, 0.01, 0.06, 1.2])  # the last above what its surprise calls for
    one, other = rng.integers(6, size=60), np.full(60, 6)
    outcome = rng.choice([0.0, 0.5, 1.0], 60)
    one[:30], outcome[:30] = 0, ratings[0] < ratings[6]  # a surprise: the volatility rises
    both = np.r_[one, other], np.r_[other, one], np.r_[outcome, 1 - outcome]
    found = period((ratings - 1500) / GLICKO_SCALE, rd / GLICKO_SCALE, volatility, *both, 0.5)
    players = [kind(*at) for at in zip(ratings, rd, volatility, strict=True)]
    for number, player in enumerate(players):
        rows = both[0] == number
        player.update_player(ratings[both[1][rows]], rd[both[1][rows]], both[2][rows])
    theirs = np.array([(player.rating, player.rd, player.vol) for player in players]).T
    ours = np.array([1500 + GLICKO_SCALE * found[0], GLICKO_SCALE * found[1], found[2]])
    assert np.allclose(ours, theirs, rtol=1e-5) == same
    assert ours[2, 0] > 0.0605


def test_glicko_periods_treat_their_games_as_simultaneous(simulated):
    data = simulated(3, [0.5, 0.0, -0.5], [1.0], 90)
    one_period = glicko(data, games=1000)
    turned = glicko(data.take(np.arange(90)[::-1]), games=1000)
    assert_allclose(one_period.scores, turned.scores[one_period.scores.index], rtol=1e-9)
    assert not np.allclose(glicko(data, games=5).scores, one_period.scores, rtol=1e-6)
    shifted = glicko(data, initial=2500.0, games=5)
    assert_allclose(shifted.scores - 1000, glicko(data, games=5).scores, rtol=1e-9)
    assert (one_period.errors < 350).all()


def test_bt_sigma_comes_to_the_judge_aware_fit(simulated):
    data = simulated(8, [1.0, 0.3, -0.2, -1.1], [2.0, 1.0, 0.5], 4000, ties=0.1)
    found, exact = bt_sigma(data), fit(data)
    s, gamma = found.scores[exact.scores.index], found.judges[exact.discrimination.index]
    level = np.exp(np.log(gamma).mean())
    assert_allclose(s * level, exact.scores, atol=2e-3)
    assert_allclose(gamma / level, exact.discrimination, rtol=3e-3)
    assert_allclose(found.predict(data), exact.probability(data), atol=2e-3)


@pytest.mark.parametrize(("gamma", "size"), [([2.0, 1.0, 0.5], 2000), ([1.5, 0.8, -0.6], 400)])
def test_bt_sigma_is_the_maximum_that_the_library_looks_for(simulated, gamma, size):
    data = simulated(8, [1.0, 0.3, -0.2, -1.1], gamma, size, ties=0.1)
    ours, theirs = bt_sigma(data), by_evaluatorq(data)
    cells = _cells(data)
    height = [-_sigma_loss(np.r_[r.scores, np.log(r.judges)], cells, 0.01)[0] * len(data) for r in (ours, theirs)]
    assert 0 <= height[0] - height[1] < 0.02  # of a log-likelihood: the scale is what the library finds last
    assert_allclose(ours.predict(data), theirs.predict(data), atol=2e-3)
    x = np.r_[ours.scores, np.log(ours.judges)] + 0.1
    assert_allclose(
        _sigma_loss(x, cells, 0.5)[1], approx_fprime(x, lambda v: _sigma_loss(v, cells, 0.5)[0], 1e-7), atol=1e-6
    )


def test_a_lone_judge_of_bt_sigma_has_sigma_one(simulated):
    assert bt_sigma(simulated(8, [1.0, 0.0, -1.0], [2.0], 300)).judges.tolist() == [1.0]


def test_members_that_have_no_estimate_say_so(cells_of):
    rows = [("a", "b", "x", 8, 3), ("b", "c", "x", 7, 4), ("a", "c", "x", 8, 2)]
    away = cells_of(*rows, ("a", "b", "u", 9, 0), ("b", "c", "u", 9, 0))
    with pytest.raises(MethodUnavailableError, match="the discrimination of u is unbounded"):
        member(away, model="judge_aware")
    assert member(away, model="judge_aware", solver="penalised").errors.gt(0).all()
    contrary = cells_of(*rows, *[(b, a, "w", 5, 2) for a, b, *_ in rows])
    found = member(contrary, model="judge_aware")
    assert found.remark == "w at zero"
    assert found.judges["w"] == 0
    assert member(contrary, model="btl").judges is None
    with pytest.raises(NoMaximumError):
        member(cells_of(("a", "b", "x", 3, 0), ("b", "c", "x", 2, 1)), model="btl")


def test_losses_are_those_of_the_definition_and_stay_finite():
    y, p = np.array([1.0, 0.0, 0.5, 1.0]), np.array([0.8, 0.3, 0.6, 0.4])
    expected = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    assert losses(y, p) == pytest.approx({"comparisons": 4, "log_loss": expected, "accuracy": 2 / 3})
    undecided = losses(np.array([1.0, 0.0, 1.0]), np.array([0.5, 0.5 + 1e-16, 0.9]))
    assert undecided["accuracy"] == pytest.approx(2 / 3)
    assert 36 < losses(np.zeros(1), np.ones(1))["log_loss"] < 36.1


def test_panels_are_drawn_as_they_are_described():
    panel = PANEL | {"n_comparisons": 200_000, "n_contrary": 1, "mean_position": 1.0, "sigma_position": 0.5}
    data, truth, everything = drawn_panel(panel, generator(1, "panel"))
    assert len(everything) == 10 * 4
    assert (data.first < data.second).all()
    cell = {key: p for *key, p in zip(*everything_arrays(everything), strict=True) for key in [tuple(key)]}
    expected = np.array([cell[key] for key in zip(data.first, data.second, data.judge, strict=True)])
    z = (data.outcome - expected).sum() / np.sqrt((expected * (1 - expected)).sum())
    assert abs(z) < 4
    assert fit(data, "position_aware").judges_at_zero == ("j00",)
    d = truth.to_numpy()[everything.first] - truth.to_numpy()[everything.second]
    for judge in range(4):
        own = everything.judge == judge
        slope, _ = np.polyfit(d[own], np.log(everything.outcome / (1 - everything.outcome))[own], 1)
        assert (slope < 0) == (judge == 0)


def everything_arrays(c: Comparisons) -> tuple:
    return c.first, c.second, c.judge, c.outcome


def test_candidates_judge_each_other_and_better_ones_better():
    data, truth, everything = drawn_panel(
        PANEL | {"n_judges": 5, "judged_by_models": True}, generator(2, "candidates")
    )
    for c in (data, everything):
        assert c.judges == c.models
        assert not ((c.first == c.judge) | (c.second == c.judge)).any()
    gamma = fit(
        drawn_panel(
            PANEL | {"n_judges": 5, "judged_by_models": True, "n_comparisons": 60_000}, generator(2, "candidates")
        )[0]
    ).discrimination
    assert gamma[truth.idxmax()] > gamma[truth.idxmin()]


def test_the_true_scores_agree_with_themselves_on_any_scale():
    _, truth, everything = drawn_panel(PANEL, generator(3, "truth"))
    scaled = Ranking(5 + 3 * truth, lambda c: c.outcome, pd.Series(1e-9, truth.index))
    found = against_truth(scaled, truth, everything, 0.95)
    assert found == pytest.approx({"spearman": 1.0, "kendall": 1.0, "log_loss": 0.0, "coverage": 1.0}, abs=1e-12)
    flat = against_truth(Ranking(-truth, lambda c: np.full(len(c), 0.5)), truth, everything, 0.95)
    p = everything.outcome
    divergence = np.mean(np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p))
    assert flat == pytest.approx({"spearman": -1.0, "kendall": -1.0, "log_loss": divergence})
    shifted = truth + np.array([0.5, 0, 0, 0, 0])
    assert (
        against_truth(Ranking(shifted, None, pd.Series(0.02, truth.index)), truth, everything, 0.95)["coverage"]
        < 1
    )


def test_every_method_of_a_panel_gets_the_same_data():
    methods = {
        name: {"function": f"studies.methods.{path}", "settings": {}}
        for name, path in {
            "one": "online.win_rate",
            "same": "online.win_rate",
            "none": "triplets.full_triplets",
        }.items()
    }
    record = on_panel({"panel": PANEL, "methods": methods, "level": 0.95}, generator(4, "same"))
    assert record["one"] == record["same"]
    assert record["none"]["failure"].startswith("MethodUnavailableError: triplets need three models")


def test_folds_are_predicted_as_the_members_are(simulated):
    data = simulated(6, [0.8, 0.1, -0.9], [1.5, 0.6], 900)
    fold = generator(6, "fold").integers(3, size=900)
    settings = {"set": "made_up", "method": "btl", "function": "studies.methods.ranking.member"}
    settings |= {"settings": {"model": "btl"}, "orders": 1}
    found = [on_set(settings | {"fold": f}, generator(0), {"made_up": (data, fold)}) for f in range(3)]
    expected = cross_validated(data, {"btl": partial(fit, model="btl")}, fold)
    assert_allclose([record["log_loss"] for record in found], expected["log_loss"], rtol=1e-12)
    whole = on_set(settings | {"fold": None}, generator(0), {"made_up": (data, fold)})
    assert whole["scores"] == pytest.approx(fit(data, "btl").scores.to_dict())
    assert whole["probabilities"] and whole["errors"]


def test_a_method_that_depends_on_the_order_of_rows_is_averaged_over_orders(simulated):
    data = simulated(6, [0.8, 0.1, -0.9, 0.4], [1.5, 0.6], 900)
    fold = generator(6, "fold").integers(3, size=900)
    settings = {"set": "made_up", "method": "elo", "function": "studies.methods.online.elo"}
    settings |= {"settings": {"k": 30.0}, "orders": 4}
    sets = {"made_up": (data, fold)}
    whole = on_set(settings | {"fold": None}, generator(7), sets)
    rng = generator(7)
    single = [elo(data.take(rng.permutation(900)), k=30.0).scores for _ in range(4)]
    assert_allclose(pd.Series(whole["scores"])[single[0].index], np.mean(single, axis=0))
    by_order = pd.DataFrame(whole["by_order"])
    assert_allclose(by_order[single[0].index], single)
    reference = pd.Series([0.8, 0.1, -0.9, 0.4], single[0].index)
    row = agreement(by_order, reference)
    each = [spearmanr(scores, reference).statistic for scores in single]
    assert row["spearman"] == pytest.approx(np.mean(each))
    assert row["spearman_sd"] == pytest.approx(np.std(each, ddof=1))
    assert row["spearman_se"] == pytest.approx(np.std(each, ddof=1) / 2)
    tested = on_set(settings | {"fold": 1}, generator(8), sets)
    rng = generator(8)
    train, test = (data.take(np.flatnonzero(rows)) for rows in (fold != 1, fold == 1))
    lost = [elo(train.take(rng.permutation(len(train))), k=30.0).predict(test) for _ in range(4)]
    lost = [losses(test.outcome, p)["log_loss"] for p in lost]
    assert_allclose(tested["by_order"], lost)
    assert tested["log_loss"] == pytest.approx(np.mean(lost))
    row = held_out(pd.DataFrame([tested, tested]))
    assert row["log_loss_sd"] == pytest.approx(np.std(lost, ddof=1))


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_depend_on_the_order_of_rows_are_configured_so(name):
    method = OmegaConf.to_container(composed("method_comparison").methods[name])
    data, _, _ = drawn_panel(PANEL | {"n_judges": 5, "judged_by_models": True}, generator(5, "orders"))
    rank = method_of(name, method["function"], method["settings"])
    one, other = rank(data).scores, rank(data.take(generator(5, "order").permutation(len(data)))).scores
    assert np.allclose(one, other[one.index], atol=1e-4) == (method["orders"] == 1)


@pytest.mark.parametrize(
    ("function", "hint"), [("studies.methods.online.whist", ""), ("no_such_package.rank", "'methods'")]
)
def test_functions_that_are_not_there_are_named(function, hint):
    with pytest.raises(ConfigError, match=rf"methods.mine.function={function} cannot be loaded.*{hint}"):
        method_of("mine", function, {})


@pytest.mark.parametrize("name", METHODS)
def test_configured_methods_exist_and_spell_out_all_their_settings(name):
    method = composed("method_comparison").methods[name]
    parameters = inspect.signature(get_method(method.function)).parameters
    settings = {key: p.default for key, p in parameters.items() if key != "comparisons"}
    assert set(method.settings) <= set(settings)
    unset = {
        key
        for key, default in settings.items()
        if key not in method.settings and default is inspect.Parameter.empty
    }
    assert not unset
    assert method.name == name


def test_the_section_runs_whatever_the_number_of_workers(tmp_path):
    few = [f"~methods.{name}" for name in METHODS if name not in ("btl", "elo", "full_triplets")]
    panels = [f"~panels.{name}" for name in ("heterogeneous", "adversarial", "position", "few")]
    sets = ["~datasets.in_house", "~datasets.ultrafeedback", "~datasets.chatbot_arena", "surrogate=always"]
    least = [
        "methods.elo.orders=3",
        "replications=2",
        "block=1",
        "folds=2",
        "panels.candidates.n_comparisons=6000",
    ]
    trees = []
    for backend in ("sequential", "loky"):
        folder = tmp_path / backend
        given = [*few, *panels, *sets, *least, f"cache={folder / 'cache'}", f"parallel={backend}"]
        if backend == "sequential":
            run_here("method_comparison", folder, *given, draw=undrawn)
        else:
            done = run("method_comparison", folder, *given)
            assert done.returncode == 0, done.stderr
        trees.append({name: text for name, text in tree(folder / "results").items() if "run.json" not in name})
    assert trees[0] == trees[1]
    table = pd.read_csv(tmp_path / "loky/results/surrogate/method_comparison/comparison.csv")
    by = table.set_index(["data", "method"])
    assert by.loc[("mt_bench", "full_triplets"), "n_ranked"] == 0
    assert by.loc[("mt_bench", "full_triplets"), "why"].startswith("MethodUnavailableError: triplets need")
    assert by.loc[("candidates", ["btl", "elo", "full_triplets"]), "n_ranked"].eq(2).all()
    assert by.loc[("mt_bench", "btl"), "orders"] == 1
    assert np.isnan(by.loc[("mt_bench", "btl"), "kendall_orders"])
    assert by.loc[("mt_bench", "elo"), "orders"] == 3
    assert by.loc[("mt_bench", "elo"), ["kendall_orders", "log_loss_sd"]].gt(0).all()
    assert (tmp_path / "loky/figures/surrogate/method_comparison/comparison.png").is_file()


STORED = ROOT / "results/beyond/method_comparison"


def test_stored_losses_are_those_of_the_member_comparison():
    here = pd.read_csv(STORED / "comparison.csv").set_index(["data", "method"])
    for name in ("in_house", "chatbot_arena", "mt_bench", "ultrafeedback"):
        there = pd.read_csv(ROOT / f"results/beyond/model_comparison/{name}/members.csv").set_index("member")
        for method in ("btl", "judge_aware", "position_aware", "judge_aware_shrunk"):
            row = here.loc[(name, method)]
            assert_allclose(
                row[["log_loss", "accuracy"]].astype(float),
                there.loc[method, ["log_loss", "accuracy"]].astype(float),
                rtol=1e-6,
            )


@needs_data
@pytest.mark.parametrize(
    "name", ["elo", "glicko", "crowd_bt", "graded_response", "bt_sigma", "product_of_experts", "judge_aware"]
)
def test_stored_scores_are_this_codes(name):
    cfg = composed("method_comparison")
    comparisons = load_judgments(cfg.datasets.mt_bench).comparisons
    method = OmegaConf.to_container(cfg.methods[name])
    settings = {"set": "mt_bench", "method": name, "fold": None} | method
    rng = generator(cfg.seed, "method_sets", f"mt_bench-{name}-whole", 0)
    found = pd.Series(on_set(settings, rng, {"mt_bench": (comparisons, None)})["scores"])
    stored = pd.read_csv(STORED / "scores.csv").query("data == 'mt_bench' and method == @name").set_index("model")
    assert_allclose(found, stored.loc[found.index, "score"], rtol=1e-5, atol=1e-6)


def test_no_stored_number_of_an_online_rating_is_of_one_order():
    table = pd.read_csv(STORED / "comparison.csv").query("kind == 'set' and n_ranked > 0")
    online = table["method"].isin(["elo", "glicko"])
    assert (table.loc[online, "orders"] >= 20).all() and (table.loc[~online, "orders"] == 1).all()
    spread = table[online].set_index(["data", "method"])
    assert spread["log_loss_sd"].gt(0).all() and spread.loc["chatbot_arena", "spearman_sd"].gt(0).all()
    assert table.loc[~online, ["spearman_sd", "log_loss_sd", "kendall_orders"]].isna().all(axis=None)


def test_stored_panels_bear_out_what_is_said_of_them():
    table = pd.read_csv(STORED / "comparison.csv").set_index(["data", "method"])
    assert table.loc["position"]["spearman"].idxmax().startswith("position_aware")
    assert table.loc["few"].loc["judge_aware", "n_ranked"] < table.loc["few"].loc["judge_aware_shrunk", "n_ranked"]
    for data in ("in_house", "chatbot_arena", "mt_bench", "ultrafeedback"):
        assert table.loc[data]["log_loss"].idxmin().startswith("position_aware")


def judgments(seed: int, size: int = 1200, position: float = 0.0) -> Judgments:
    rng = generator(seed, "comparison")
    scores, gamma = np.array([1.0, 0.3, -0.2, -1.1]), np.array([2.0, 0.7])
    first = rng.integers(4, size=size)
    second = (first + rng.integers(1, 4, size=size)) % 4
    judge = rng.integers(2, size=size)
    p = expit(gamma[judge] * (scores[first] - scores[second]) + position * (1 - 2 * judge))
    answer = np.where(rng.random(size) < p, "a", "b").astype(object)
    answer[rng.random(size) < 0.1] = "c"
    answer[rng.random(size) < 0.05] = "unknown"
    columns = {"model_a": first, "model_b": second, "judge_model": judge}
    frame = pd.DataFrame({name: [f"{name[0]}{code}" for code in codes] for name, codes in columns.items()})
    frame["judge_preferred_model"] = answer
    frame["question_id"] = [f"q{number}" for number in rng.integers(80, size=size)]
    return Judgments("made_up", "Made up", frame, Comparisons.from_frame(frame), {})


def fitters(*members: str) -> dict:
    return {member: partial(fit, model=member) for member in members}


def test_no_question_is_in_two_folds_and_folds_are_about_as_large():
    made = judgments(1)
    fold = folds_of(made, 5, 3)
    parsed = made.frame[made.frame["judge_preferred_model"] != "unknown"]
    assert len(fold) == len(made.comparisons) == len(parsed)
    assert len(set(zip(parsed["question_id"], fold, strict=True))) == parsed["question_id"].nunique()
    assert pd.Series(fold).groupby(parsed["question_id"].to_numpy()).first().value_counts().eq(16).all()
    assert np.array_equal(fold, folds_of(made, 5, 3))
    assert not np.array_equal(fold, folds_of(made, 5, 4))


@pytest.mark.parametrize("n_folds", [1, 81])
def test_folds_that_cannot_be_made_are_refused(n_folds):
    with pytest.raises(ConfigError, match="80 questions"):
        folds_of(judgments(1), n_folds, 3)


def test_held_out_scores_are_those_of_a_hand_made_split():
    made = judgments(2)
    c, fold = made.comparisons, folds_of(made, 4, 1)
    table = cross_validated(c, fitters("btl", "judge_aware"), fold).set_index(["member", "fold"])
    fitted = fit(c.take(np.flatnonzero(fold != 2)))
    test = c.take(np.flatnonzero(fold == 2))
    s, gamma = fitted.scores.to_numpy(), fitted.discrimination.to_numpy()
    p = expit(gamma[test.judge] * (s[test.first] - s[test.second]))
    loss = -np.mean(test.outcome * np.log(p) + (1 - test.outcome) * np.log(1 - p))
    row = table.loc[("judge_aware", 2)]
    assert row["log_loss"] == pytest.approx(loss, rel=1e-12)
    right = [(q > 0.5) == (y == 1) for q, y in zip(p, test.outcome, strict=True) if y != 0.5]
    assert row["accuracy"] == pytest.approx(np.mean(right))
    assert table["comparisons"].groupby("member").sum().eq(len(c)).all()


def test_three_outcomes_are_scored_by_the_ties_of_the_judge_or_by_the_model():
    c = judgments(2).comparisons
    train, test = c.take(np.arange(0, len(c), 2)), c.take(np.arange(1, len(c), 2))
    plain, with_ties = fit(train), fit(train, "judge_aware_ties")
    p = three_outcomes(plain, train, test)
    assert p.sum(axis=1) == pytest.approx(1)
    ties = [(train.outcome[train.judge == k] == 0.5).sum() for k in range(2)]
    many = np.bincount(train.judge)
    assert p[:, 1] == pytest.approx(((np.array(ties) + 0.5) / (many + 1))[test.judge])
    assert p[:, 2] / (p[:, 0] + p[:, 2]) == pytest.approx(plain.probability(test))
    q = three_outcomes(with_ties, train, test)
    assert q[:, 1] == pytest.approx(with_ties.tie_probability(test))
    assert q[:, 2] + q[:, 1] / 2 == pytest.approx(with_ties.probability(test))
    decided = train.without_ties()
    never = three_outcomes(fit(decided, "judge_aware_ties"), decided, test)
    assert never[:, 1] == pytest.approx((0.5 / (np.bincount(decided.judge) + 1))[test.judge])


def test_losses_are_finite_where_a_judge_has_only_tied():
    c = judgments(2).comparisons
    fitted = fit(c, "judge_aware_ties")
    at = fitted.solution.parameters
    judges = at.judges.copy()
    judges[fitted.model.row("log_tie"), 0] = 40.0  # as where it grows without limit
    fitted = replace(fitted, solution=replace(fitted.solution, parameters=replace(at, judges=judges)))
    tied = c.judge == 0
    assert (fitted.tie_probability(c)[tied] == 1).all()
    p = three_outcomes(fitted, c, c)
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[tied, 1] == pytest.approx(1)
    assert np.isfinite(losses_with_ties(fitted, c, c)).all()


def test_positions_are_worth_something_where_there_are_some_and_nothing_where_there_are_none():
    members = fitters("judge_aware", "position_aware")
    for position, better in ((1.5, True), (0.0, False)):
        made = judgments(4, 3000, position)
        table = (
            cross_validated(made.comparisons, members, folds_of(made, 5, 1)).groupby("member")["log_loss"].mean()
        )
        gain = table["judge_aware"] - table["position_aware"]
        assert (gain > 0.05) if better else (abs(gain) < 0.005)


@pytest.mark.parametrize("member", ["btl", "judge_aware", "position_only", "position_aware"])
def test_probabilities_are_those_of_the_likelihood(member):
    made = judgments(5, position=0.8)
    fitted = fit(made.comparisons, member)
    p, y = fitted.probability(made.comparisons), made.comparisons.outcome
    assert np.sum(y * np.log(p) + (1 - y) * np.log1p(-p)) == pytest.approx(fitted.log_likelihood, rel=1e-12)


def test_probabilities_of_strangers_are_refused():
    fitted = fit(judgments(6).comparisons)
    c = fitted.comparisons
    with pytest.raises(DataError, match="'new' is not among those fitted"):
        fitted.probability(Comparisons((*c.models[:3], "new"), c.judges, c.first, c.second, c.judge, c.outcome))


def test_positions_alone_have_the_maximum_a_second_solver_finds():
    cells = judgments(7, 800, position=1.0).comparisons.aggregate()

    def loss(theta):
        p = expit(theta[cells.first] - theta[cells.second] + theta[4 + cells.judge])
        y = cells.outcome
        return -np.sum(cells.count * (y * np.log(p) + (1 - y) * np.log1p(-p)))

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-7})
    found = fit(cells, "position_only")
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    assert found.discrimination.eq(1.0).all()
    assert np.allclose(found.position, best.x[4:], atol=1e-4)
    intervals = found.confidence_intervals()
    assert set(intervals["parameter"]) == {"score", "position"}
    assert intervals["low"].notna().all()


def test_free_parameters_are_counted():
    cells = judgments(8).comparisons
    counted = {member: fit(cells, member).n_parameters for member in MODELS if not MODELS[member].has_slope}
    binary = {"btl": 3, "judge_aware": 4, "position_only": 5, "position_aware": 6}
    assert counted == binary | {"btl_ties": 5, "judge_aware_ties": 6, "position_aware_ties": 8}


@needs_data
def test_the_stored_comparison_comes_out_again(tmp_path):
    done = run("model_comparison", tmp_path, "dataset=mt_bench", "surrogate=never")
    assert done.returncode == 0, done.stderr
    for kind in ("results", "figures"):
        again, stored = (tree(base / kind / "model_comparison/mt_bench") for base in (tmp_path, ROOT))
        assert again.keys() == stored.keys()
        for name in (name for name in again if name.endswith(".csv")):
            files = (base / kind / "model_comparison/mt_bench" / name for base in (ROOT, tmp_path))
            assert compare(name, *map(pd.read_csv, files)) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [("in_house", -17147.15), ("chatbot_arena", -5188.86), ("mt_bench", -4155.19), ("ultrafeedback", -4855.31)],
)
def test_stored_log_likelihoods_are_the_known_ones(name, expected):
    table = pd.read_csv(ROOT / f"results/beyond/model_comparison/{name}/members.csv").set_index("member")
    assert table.at["position_aware", "log_likelihood"] == pytest.approx(expected, abs=5e-3)
    nested = ["btl", "judge_aware", "position_only", "position_aware"]
    assert table.loc[nested, "log_loss"].is_monotonic_decreasing
    assert table.loc[
        ["btl_ties", "judge_aware_ties", "position_aware_ties"], "log_likelihood"
    ].is_monotonic_increasing
    assert (table["p_value"].dropna() < 1e-12).sum() == len(nested) + 1  # all but length, where it is known
    judges = pd.read_csv(ROOT / f"results/beyond/model_comparison/{name}/judges.csv").set_index("judge")
    largest = judges["position"].nlargest(3 if name == "in_house" else 1).index
    assert "zai-org/GLM-4.5-Air-FP8" in largest


def test_stored_agreement_with_people_is_paired_with_its_interval():
    folder = ROOT / "results/beyond/model_comparison/chatbot_arena"
    people, members = (pd.read_csv(folder / f"{name}.csv").set_index("member") for name in ("people", "members"))
    pd.testing.assert_series_equal(
        people["spearman"], members.loc[people.index, "spearman_human"], check_names=False
    )
    paired = people["spearman"] - people.at["judge_aware", "spearman"]
    np.testing.assert_allclose(people["difference"], paired, atol=1e-8)
    assert (people["difference_low"] <= people["difference_high"]).all()
    # what the data say: weights by judge bring scores nearer to people's, positions neither nearer nor away
    assert people.at["btl", "difference_high"] < 0
    assert people.at["position_aware", "difference_low"] < 0 < people.at["position_aware", "difference_high"]
