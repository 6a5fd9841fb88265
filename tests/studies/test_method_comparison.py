"""Methods side by side: libraries against their sources, the panels, the measures, the stored comparison."""

from __future__ import annotations

import inspect
from functools import partial

import glicko2
import numpy as np
import pandas as pd
import pytest
from hydra.utils import get_method
from numpy.testing import assert_allclose
from omegaconf import OmegaConf
from scipy.optimize import approx_fprime
from scipy.stats import spearmanr

from judgerank import Comparisons, fit
from judgerank.data.errors import ConfigError, NoMaximumError
from judgerank.fits.heldout import losses
from judgerank.model.streams import generator
from replication.config import ROOT
from replication.datasets import load_judgments
from replication.errors import MethodUnavailableError
from studies.cross_validation import cross_validated
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
