"""What would change a ranking, and how many judges a panel is worth: beside brute force and closed forms."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit

from judgerank import Comparisons, effective_judges, fit, fragility
from judgerank.data.errors import ConfigError, DataError, NoIntervalError
from judgerank.trust.effective_judges import Together
from judgerank.trust.fragility import top_change
from judgerank.trust.refits import (
    APART,
    Influence,
    Part,
    forecast,
    judgments_as_units,
    questions_as_units,
    swapped,
    whole_part,
)
from judgerank.trust.removal import SMALL, Removal, _confirmed, _without_one, smallest
from judgerank.trust.sentences import on_panel
from tests.real_data import needs_data
from tests.replication.test_config import composed


def raw(seed, scores, gamma, size, ties=0.0, covariate=False):
    """Comparisons drawn from the model, half of them in either order."""
    rng = np.random.default_rng(seed)
    n, k = len(scores), len(gamma)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    judge = rng.integers(k, size=size)
    s = np.asarray(scores, float)
    outcome = (rng.random(size) < expit(np.asarray(gamma)[judge] * (s[first] - s[second]))).astype(float)
    outcome[rng.random(size) < ties] = 0.5
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    return Comparisons(*names, first, second, judge, outcome, None, rng.normal(size=size) if covariate else None)


def repeated(rows: Comparisons, count) -> Comparisons:
    return replace(rows, count=np.asarray(count, float))


@pytest.mark.parametrize(
    "member", ["btl", "judge_aware", "position_aware", "length", "btl_ties", "position_aware_ties"]
)
def test_effects_are_derivatives_of_the_difference(member):
    rows = raw(1, [0.6, 0.2, -0.1, -0.7], [1.6, 1.0, 0.6], 400, 0.2, covariate=member == "length").with_ties()
    fitted = fit(rows, member)
    effect, _, _ = Influence(fitted, rows).on_difference(0, 2)
    for row in (0, 7, 133):
        count = np.ones(len(rows))
        count[row] -= 1e-4
        after = fit(repeated(rows, count), member, start=fitted.solution.parameters)
        slope = ((fitted.scores["m0"] - fitted.scores["m2"]) - (after.scores["m0"] - after.scores["m2"])) / 1e-4
        assert effect[row] == pytest.approx(slope, rel=2e-3, abs=1e-6)


def test_variance_and_what_a_row_knows_are_those_of_the_fit():
    rows = raw(2, [0.5, 0.0, -0.5], [1.5, 0.8], 500)
    fitted = fit(rows, "btl")
    _, known, variance = Influence(fitted, rows).on_difference(0, 1)
    c = np.array([1.0, -1.0, 0.0])
    assert variance == pytest.approx(c @ fitted.covariance @ c)
    assert known.sum() == pytest.approx(variance)  # B I B = B, for all rows together


def two_models(wins, losses):
    size = wins + losses
    first, second = np.zeros(size, int), np.ones(size, int)
    return Comparisons(
        ("x", "y"), ("j",), first, second, np.zeros(size, int), np.repeat([1.0, 0.0], [wins, losses])
    )


@pytest.mark.parametrize(("wins", "losses"), [(12, 7), (8, 7), (30, 11)])
def test_of_two_models_as_many_wins_as_the_lead_and_one_more(wins, losses):
    rows = two_models(wins, losses)
    changes = fragility(fit(rows, "btl"), rows).changes
    found = changes[changes["change"] == "swap"].iloc[0]
    assert found["size"] == wins - losses + 1
    assert found["share"] == (wins - losses + 1) / (wins + losses)


def test_a_set_goes_over_an_exact_tie_that_cannot_be_ranked():
    """Even answers put the only judge at zero: there is no order to find, and one more judgment gives one."""
    rows = two_models(12, 7)
    found = fragility(fit(rows, "judge_aware"), rows).changes
    assert list(found["size"][found["change"] == "swap"]) == [6]


def test_counts_are_judgments():
    """A record that stands for many can be left out in part."""
    rows = two_models(12, 7)
    cells = replace(two_models(1, 1), count=np.array([12.0, 7.0]), tied=np.zeros(2))
    (apart, together) = (fragility(fit(c, "btl"), c) for c in (rows, cells))
    assert list(apart.changes["size"].dropna()) == list(together.changes["size"].dropna())
    top = together.removed[0]
    assert list(top.rows) == [0] and list(top.judgments) == [6.0]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_found_is_at_most_what_leaving_one_out_finds(seed):
    """Brute force over single judgments: one is found exactly if one there is."""
    rows = raw(seed, [0.3, 0.22, 0.1, -0.6], [1.4, 0.9], 160)
    fitted = fit(rows, "judge_aware")
    start = whole_part(fitted, rows)
    order = np.argsort(-fitted.scores.to_numpy())
    singles = {}
    for row in range(len(rows)):
        scores = fit(rows.take(np.delete(np.arange(len(rows)), row)), "judge_aware").scores.to_numpy()
        for i, j in pairwise(order):
            singles[i, j] = singles.get((i, j), False) or scores[j] > scores[i] + APART
    for (i, j), enough in singles.items():
        found = smallest(start, judgments_as_units(rows), swapped(i, j))
        assert (found.size == 1) == enough


def small_design(seed):
    """100 judgments of five models by three judges who favour a position."""
    rng = np.random.default_rng([5, seed])
    s, gamma, b = 0.8 * rng.normal(size=5), np.exp(0.5 * rng.normal(size=3)), 0.4 * rng.normal(size=3)
    first = rng.integers(0, 5, 100)
    second, judge = (first + rng.integers(1, 5, 100)) % 5, rng.integers(0, 3, 100)
    won = rng.random(100) < 1 / (1 + np.exp(-(gamma[judge] * (s[first] - s[second]) + b[judge])))
    return Comparisons(tuple("abcde"), tuple("xyz"), first, second, judge, won.astype(float))


@pytest.mark.parametrize(("seed", "size"), [(10, 1), (7, 2), (5, 2)])
def test_small_sets_that_steps_alone_miss_are_found(seed, size):
    """One judgment decides where steps found two, and two where they found three."""
    rows = small_design(seed)
    row = top_change(fit(rows, "position_aware"), rows)
    assert row["size"] == size and row["at_least"] == size


def test_models_that_take_more_to_be_first_are_not_fitted_to_the_end(monkeypatch):
    """The smallest set of all is found, and what no set could be smaller for is confirmed for one model alone."""
    confirmed = []
    without = Part.without

    def counted(part, left, cold=False):
        confirmed.extend([part] * cold)
        return without(part, left, cold)

    monkeypatch.setattr(Part, "without", counted)
    for seed in range(4):
        rows = raw(seed, [0.5, 0.2, 0.1, -0.6], [1.4, 0.9], 500)
        fitted = fit(rows, "position_aware", "penalised")
        start, (top, *others) = whole_part(fitted, rows), np.argsort(-fitted.scores.to_numpy())
        every = [smallest(start, judgments_as_units(rows), swapped(top, j)).size for j in others]
        confirmed.clear()
        assert top_change(fitted, rows)["size"] == min(size for size in every if size is not None) > SMALL
        assert len(confirmed) == 1


def test_what_is_left_without_one_unit_is_fitted_once_for_all_goals(monkeypatch):
    """And is not taken for what is left without another: each goal alone, from the beginning, finds the same."""
    rows, question = raw(5, [0.4, 0.3, 0.1, -0.3], [1.5, 1.0], 240), np.arange(240) // 8
    fitted, fits = fit(rows, "judge_aware"), []
    nearby = Part.nearby
    monkeypatch.setattr(Part, "nearby", lambda part, left: (fits.append(part), nearby(part, left))[1])
    start, order = whole_part(fitted, rows), np.argsort(-fitted.scores.to_numpy())
    every = [judgments_as_units(rows), questions_as_units(question)]
    searches = [(units, swapped(i, j)) for units in every for i, j in pairwise(order)]
    together = [smallest(start, units, goal) for units, goal in searches]
    shared = len(fits)
    alone = [smallest(whole_part(fitted, rows), units, goal) for units, goal in searches]
    for one, other in zip(together, alone, strict=True):
        assert (one.size, one.at_least) == (other.size, other.at_least)
        assert one.part is not None
        np.testing.assert_array_equal(one.part.left, other.part.left)
    assert shared < 0.6 * (len(fits) - shared)
    for units in every:
        for kind in range(20):
            left = units.left_without(start.left, kind)
            np.testing.assert_array_equal(_without_one(start, units, kind).left, left)


def test_one_newton_step_comes_near_the_fit():
    rows = raw(5, [0.5, 0.3, -0.2, -0.6], [1.5, 1.0, 0.7], 600)
    start = whole_part(fit(rows, "position_aware"), rows)
    left = start.left.copy()
    left[[3, 77]] = 0
    near, exact = start.nearby(left), start.without(left)
    moved = exact.lead(0, 1) - start.lead(0, 1)
    assert abs(near.lead(0, 1) - exact.lead(0, 1)) < 0.02 * abs(moved)


def test_how_far_the_search_is_can_be_told():
    rows = raw(5, [0.5, 0.3, -0.2], [1.5, 1.0], 200)
    told = []
    found = fragility(fit(rows, "btl"), rows, progress=lambda *numbers: told.append(numbers))
    total = len(found.changes)
    assert told == [(done, total) for done in range(1, total + 1)]


def test_every_set_is_confirmed_without_the_machinery_that_found_it():
    rows, question = raw(5, [0.5, 0.3, -0.2, -0.6], [1.5, 1.0, 0.7], 600), np.arange(600) // 4
    fitted = fit(rows, "position_aware")
    found = fragility(fitted, rows, question)
    for (_, change), removed in zip(found.changes.iterrows(), found.removed, strict=True):
        if not len(removed.rows):
            assert change["why"]
            continue
        units = {"judgments": np.arange(len(rows)), "questions": question, "judges": rows.judge}[change["by"]]
        gone = np.isin(units, np.unique(units[removed.rows]))
        assert sorted(np.flatnonzero(gone)) == sorted(removed.rows)
        assert change["size"] == len(np.unique(units[removed.rows]))
        if change["change"] != "separation":
            again = fit(rows.take(np.flatnonzero(~gone)), "position_aware").scores
            assert again[change["second"]] > again[change["first"]]


def test_a_set_that_a_new_fit_does_not_confirm_is_told_so():
    rows = raw(5, [0.5, 0.3, -0.2], [1.5, 1.0], 200)
    start = whole_part(fit(rows, "btl"), rows)
    top, other = (int(n) for n in np.argsort(-start.fitted.scores.to_numpy())[:2])
    found = _confirmed(start, start, swapped(top, other), Removal(1.0, 1.0, 1_200, None, ""))
    assert (found.size, found.why) == (None, "1,200 seemed enough, but a new fit without them keeps the order")


def test_a_separation_is_lost_by_the_tests_of_the_leaderboard():
    from judgerank import pairwise as tested

    rows, question = raw(9, [0.8, 0.1, -0.9], [1.5, 1.0], 500), np.arange(500) // 2
    fitted = fit(rows, "judge_aware")
    found = fragility(fitted, rows, question)
    chosen = found.changes.query("change == 'separation' and by == 'judgments'")
    assert len(chosen) == 2
    for place, change in chosen.iterrows():
        left = np.delete(np.arange(len(rows)), found.removed[place].rows)
        part = rows.take(left)
        table = tested(fit(part, "judge_aware").clustered(part, question[left])).set_index(["first", "second"])
        assert not table.loc[(change["first"], change["second"]), "separated"]


def test_leaving_out_a_judge_is_exact():
    rows = raw(3, [0.5, 0.1, 0.0, -0.6], [1.5, 1.0, 0.7], 500)
    fitted = fit(rows, "judge_aware")
    table = fragility(fitted, rows).judges.set_index("judge")
    for judge in rows.judges:
        without = fit(rows.with_judges([name for name in rows.judges if name != judge]), "judge_aware")
        assert table.loc[judge, "top"] == without.scores.idxmax()
        assert table.loc[judge, "moved"] == (without.ranks != fitted.ranks).sum()


def test_equal_models_are_fragile_and_clear_ones_are_not():
    equal, clear = raw(4, [0.0, 0.0, 0.0], [1.0, 1.0], 600), raw(4, [2.0, 0.0, -2.0], [1.0, 1.0], 600)
    few, many = (fragility(fit(rows, "btl"), rows).changes.iloc[0] for rows in (equal, clear))
    assert few["share"] < 0.05 and (np.isnan(many["share"]) or many["share"] > 0.1)


def test_a_forecast_is_by_the_largest_effects():
    rows = raw(6, [0.4, 0.1, -0.5], [1.2, 0.9], 300)
    start = whole_part(fit(rows, "judge_aware"), rows)
    effect, lead = start.effects(0, 1)[0], start.lead(0, 1) + APART
    reached = np.cumsum(np.sort(effect)[::-1]) >= lead
    assert forecast(start, judgments_as_units(rows), swapped(0, 1)) == 1 + np.argmax(reached)


def test_means_of_several_judgments_are_refused():
    rows = raw(6, [0.4, 0.1, -0.5], [1.2, 0.9], 300)
    cells = rows.aggregate()
    with pytest.raises(DataError, match="means"):
        fragility(fit(rows, "btl"), cells)
    with pytest.raises(DataError, match="others"):
        fragility(fit(rows, "btl"), rows.take(np.arange(200)))
    with pytest.raises(ConfigError, match="most=0"):
        fragility(fit(rows, "btl"), rows, most=0)


def test_a_judge_who_never_errs_is_no_obstacle_or_is_named():
    rng = np.random.default_rng(0)
    rows = raw(8, [0.8, 0.1, -0.9], [1.0, 0.8], 300)
    first = rng.integers(3, size=40)
    second = (first + 1) % 3
    extra = Comparisons(rows.models, ("sure",), first, second, np.zeros(40, int), (first < second).astype(float))
    both = Comparisons(
        rows.models,
        (*rows.judges, "sure"),
        np.r_[rows.first, extra.first],
        np.r_[rows.second, extra.second],
        np.r_[rows.judge, np.full(40, 2)],
        np.r_[rows.outcome, extra.outcome],
    )
    fitted = fit(both, "judge_aware")
    assert fitted.unbounded_judges == ("sure",)
    found = fragility(fitted, both)
    assert list(found.judges["judge"]) == list(both.judges)
    assert len(found.changes) >= 3


def test_information_that_cannot_be_inverted_is_said():
    rows = raw(7, [0.4, 0.1, -0.5], [1.2, 0.9], 300)
    fitted = fit(rows, "judge_aware")
    silent = replace(fitted.solution.parameters, scores=np.zeros(3))
    with pytest.raises(NoIntervalError):
        Influence(replace(fitted, solution=replace(fitted.solution, parameters=silent)), rows)


# how many judges a panel is worth


def panel(seed, n_judges, n_items, copies=1, gamma=1.0, scores=(0.6, 0.0, -0.6)):
    """Every judge on every item; the first `copies` of them give one answer."""
    rng = np.random.default_rng(seed)
    s = np.asarray(scores)
    ends = np.array([rng.permutation(len(s))[:2] for _ in range(n_items)])
    p = expit(gamma * (s[ends[:, 0]] - s[ends[:, 1]]))
    answer = (rng.random((n_items, n_judges)) < p[:, None]).astype(float)
    answer[:, :copies] = answer[:, [0]]
    names = tuple(f"m{i}" for i in range(len(s))), tuple(f"j{i}" for i in range(n_judges))
    first, second = ends.repeat(n_judges, axis=0).T
    rows = Comparisons(*names, first, second, np.tile(np.arange(n_judges), n_items), answer.ravel())
    return rows, np.arange(n_items).repeat(n_judges)


def worth(found, measure="information"):
    return found.worth.set_index("measure").loc[measure]


def test_correlations_are_drawn_to_their_mean_by_the_share_of_their_spread_that_is_chance():
    """Of 25 items each: .5 has an error of (1 - .5^2) / 5, and they vary by .2^2 2 / 3 about it."""
    r = np.array([[1.0, 0.3, 0.5], [0.3, 1.0, 0.7], [0.5, 0.7, 1.0]])
    items = np.full((1, 3, 3), 25.0)
    found, mean = Together(25 * r[None], items, items).correlations()
    chance = 0.15**2 / (0.2**2 * 2 / 3)
    expected = np.where(np.eye(3, dtype=bool), 1.0, 0.5 + (r - 0.5) * (1 - chance))
    assert mean == pytest.approx(0.5)
    np.testing.assert_allclose(found, expected)


def test_copies_of_one_judge_are_worth_one():
    rows, question = panel(1, 4, 300, copies=4)
    found = effective_judges(fit(rows, "judge_aware"), rows, question)
    assert found.correlation == pytest.approx(1.0)
    assert list(found.worth["estimate"]) == pytest.approx([1.0, 1.0])
    assert found.judges["adds"].abs().max() < 1e-6


def test_judges_who_err_apart_are_worth_their_number():
    rows, question = panel(2, 5, 1500)
    found = effective_judges(fit(rows, "judge_aware"), rows, question)
    row = worth(found)
    assert row["low"] < 5 < row["high"] and row["standard_error"] < 0.5
    assert abs(found.correlation) < 0.03 and found.design_effect == pytest.approx(1, abs=0.15)


def test_two_copies_among_six_judges_come_out():
    rows, question = panel(3, 6, 1200, copies=2)
    found = effective_judges(fit(rows, "judge_aware"), rows, question)
    table = found.judges.set_index("judge")
    assert table.loc["j0", "nearest"] == "j1" and table.loc["j1", "nearest"] == "j0"
    assert table.loc["j0", "nearest_correlation"] > 0.95
    assert table.loc[["j0", "j1"], "adds"].max() < 0.7 < table.loc["j2":, "adds"].min()
    true = 36 / (6 + 2)  # K^2 / 1'R1
    assert worth(found, "kish")["low"] < true < worth(found, "kish")["high"]


def test_each_of_two_judges_adds_what_the_panel_is_worth_beyond_the_information_of_the_other():
    rows, question = panel(10, 2, 400)
    coin = np.random.default_rng(0).random(len(rows)) < 0.6
    rows = replace(rows, outcome=np.where((rows.judge == 1) & coin, 1.0 * (question % 2), rows.outcome))
    found = effective_judges(fit(rows, "judge_aware"), rows, question)
    alone, adds = found.judges["information"].to_numpy(), found.judges["adds"].to_numpy()
    assert alone[0] > 2 * alone[1]
    np.testing.assert_allclose(adds, worth(found)["estimate"] - alone[::-1])


def test_intervals_are_in_the_logarithm_of_what_is_beyond_one_judge():
    rows, question = panel(8, 6, 200, copies=5)
    row = worth(effective_judges(fit(rows, "judge_aware"), rows, question))
    assert 1 < row["low"] < row["estimate"] < row["high"]
    beyond = row[["low", "estimate", "high"]] - 1
    assert beyond["estimate"] ** 2 == pytest.approx(beyond["low"] * beyond["high"])
    assert row["high"] > 36 / (6 + 20)  # K^2 / 1'R1


def test_judges_whose_errors_cancel_have_no_number():
    rows, question = panel(9, 4, 300)
    answer = rows.outcome.reshape(-1, 4)
    answer[:, [1, 3]] = 1 - answer[:, [0, 2]]
    with pytest.raises(DataError, match="cancel"):
        effective_judges(fit(rows, "btl"), replace(rows, outcome=answer.ravel()), question)


def test_one_judge_under_several_names_gets_no_interval():
    rows, question = panel(1, 4, 300, copies=4)
    found = effective_judges(fit(rows, "judge_aware"), rows, question)
    told = "\n".join(on_panel(found, {"j1": "j0", "j2": "j0", "j3": "j0"}))
    assert "All 4 judges give almost identical answers" in told and "interval" not in told
    assert "interval" in "\n".join(on_panel(found, {"j1": "j0"}))


def test_the_order_of_presentation_does_not_matter():
    rows, question = panel(4, 4, 400, copies=2)
    swap = np.random.default_rng(1).random(len(rows)) < 0.5
    turned = replace(
        rows,
        first=np.where(swap, rows.second, rows.first),
        second=np.where(swap, rows.first, rows.second),
        outcome=np.where(swap, 1 - rows.outcome, rows.outcome),
    )
    one, other = (effective_judges(fit(c, "judge_aware"), c, question) for c in (rows, turned))
    np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-8)


def test_another_judge_follows_kish_where_all_are_alike():
    rows, question = panel(5, 4, 500, copies=2)
    found = effective_judges(fit(rows, "btl"), rows, question)
    even = replace(found, matrix=found.matrix * 0 + 0.3 + 0.7 * np.eye(4), correlation=0.3)
    row = even.another([1.0], cost=2.0).iloc[0]
    n = [k / (1 + 0.3 * (k - 1)) for k in (4, 5)]
    assert row["adds"] == pytest.approx(n[1] - n[0]) and row["adds_per_cost"] == pytest.approx((n[1] - n[0]) / 2)
    assert row["questions_per_cost"] == pytest.approx(n[0] / 4)
    assert even.most == pytest.approx(1 / 0.3)
    with pytest.raises(ConfigError):
        even.another(cost=0.0)


def test_what_cannot_be_told_is_said():
    rows, _ = panel(6, 3, 100)
    with pytest.raises(DataError, match="same two"):
        effective_judges(fit(rows, "btl"), rows, np.arange(len(rows)))
    with pytest.raises(DataError, match=rf"\b5 .*\b{len(rows)} "):
        effective_judges(fit(rows, "btl"), rows, np.arange(5))
    silent = replace(rows, outcome=np.where(rows.judge == 0, rows.outcome, 0.5))
    with pytest.raises(DataError, match="two judges"):
        effective_judges(fit(silent, "judge_aware"), silent, np.arange(100).repeat(3))
    alone = rows.with_judges(["j0"])
    with pytest.raises(DataError, match="one judge"):
        effective_judges(fit(alone, "btl"), alone, np.arange(len(alone)))
    tied = replace(rows, outcome=np.full(len(rows), 0.5))
    with pytest.raises(DataError, match="depart"):
        effective_judges(fit(tied, "judge_aware", shrink=True), tied, np.arange(100).repeat(3))


# the paper's judgments


@needs_data
def test_the_papers_rankings_hang_on_few_judgments_and_judges():
    from replication.outputs import load_section_data

    data, _ = load_section_data(composed("benchmark_alignment", "surrogate=never", "ratings=null"))
    data |= load_section_data(composed("chatbot_arena", "surrogate=never"))[0]
    sizes = {}
    for name in ("chatbot_arena", "mt_bench"):
        rows = data[name].comparisons
        changes = fragility(fit(rows, "judge_aware"), rows, most=1).changes
        sizes[name] = changes[changes["by"] == "judgments"].iloc[0]["size"]
    assert sizes == {"chatbot_arena": 1, "mt_bench": 4}
    bench = data["mt_bench"]
    found = effective_judges(fit(bench.comparisons, "position_aware"), bench.comparisons, bench.question)
    assert 2.9 < worth(found)["estimate"] < 4.3  # the first figure known for it was 3.6
    table = found.judges.set_index("judge")
    ids = ["kimi-k2-0905-preview", "kimi-k2-thinking-turbo", "moonshot-v1-128k", "moonshot-v1-32k"]
    assert set(table.loc[ids, "nearest"]) <= set(ids) and (table.loc[ids, "nearest_correlation"] > 0.9).all()


# near copies, and what another judge adds


def flipped(rows: Comparisons, n_copies: int, share: float, seed: int = 0) -> Comparisons:
    """The answers of the first judges of a panel turned at random."""
    turned = (np.random.default_rng(seed).random(len(rows)) < share) & (rows.judge < n_copies)
    return replace(rows, outcome=np.where(turned, 1 - rows.outcome, rows.outcome))


def test_near_copies_are_named_and_judges_who_err_apart_or_all_together_are_not():
    rows, question = panel(11, 8, 300, copies=5)
    near = effective_judges(fit(flipped(rows, 5, 0.1), "judge_aware"), flipped(rows, 5, 0.1), question)
    (group,) = near.near_copies()
    assert group.judges == ("j0", "j1", "j2", "j3", "j4") and group.correlation > 0.5 > abs(group.others)
    assert 1 < group.effective_number < 2
    for seed, copies, share in ((12, 1, 0.0), (13, 8, 0.15)):
        rows, question = panel(seed, 8, 300, copies=copies)
        rows = flipped(rows, copies, share)
        assert effective_judges(fit(rows, "judge_aware", shrink=True), rows, question).near_copies() == []


def test_a_judge_whose_errors_are_its_own_is_said_to_add_more_than_one_alike():
    rows, question = panel(11, 8, 300, copies=5)
    rows = flipped(rows, 5, 0.1)
    found = effective_judges(fit(rows, "judge_aware"), rows, question)
    alike, apart = (found.another([1.0], correlation)["adds"].iloc[0] for correlation in (None, 0.0))
    assert 0.5 * apart > max(alike, 0.0) and apart > 0.4
    told = "\n".join(on_panel(found, {}))
    assert re.search(rf" {alike:.2f} independent\b", told) and f"as much as {apart:.2f}" in told
    assert "j0, j1, j2, j3, j4 largely make the same errors" in told
