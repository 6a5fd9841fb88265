"""What to collect next: the update of the covariance against computing everything again."""

from statistics import NormalDist

import numpy as np
import pytest

from judgerank import Comparisons, fit
from judgerank.data.comparisons import POOLED_JUDGE
from judgerank.data.errors import ConfigError, NoMaximumError
from judgerank.engine.information import covariance
from judgerank.inference.wald import normal_quantile
from judgerank.order.pairs import pairwise
from judgerank.order.scale import best_known_scores, scale_of
from judgerank.ranking.components import first_links
from judgerank.ranking.studies.next_comparisons import CHANCE, next_comparisons, variance_after

SCORES, GAMMA = (1.0, 0.4, 0.1, -0.5, -1.0), (0.5, 1.0, 2.0)
N, K = len(SCORES), len(GAMMA)
SCORES_OF = np.array(SCORES)


def log_probabilities(theta: np.ndarray, i: int, j: int, k: int, member: str) -> np.ndarray:
    """Of first, second[, tie], at covariate zero and of all parameters (s, alpha[, b][, log nu])."""
    blocks, odds = theta[N:].reshape(-1, K), []
    eta = theta[i] - theta[j]
    if member != "btl":
        eta = np.exp(blocks[0, k]) * eta + (blocks[1, k] if member.startswith("position") else 0.0)
    if member.endswith("ties"):
        odds = [blocks[-1, k]]
    log_odds = np.array([eta / 2, -eta / 2, *odds])
    return log_odds - np.log(np.exp(log_odds).sum())


def information(rows: list[tuple[int, int, int, float]], theta, member) -> np.ndarray:
    """Expected outer product of the gradient of log P over rows (first, second, judge, n), by differences."""
    total = np.zeros((len(theta), len(theta)))
    steps = 1e-5 * np.eye(len(theta))
    for i, j, k, n in rows:
        p = np.exp(log_probabilities(theta, i, j, k, member))
        ends = [[log_probabilities(theta + sign * h, i, j, k, member) for h in steps] for sign in (1, -1)]
        gradient = (np.array(ends[0]) - np.array(ends[1])) / 2e-5
        total += n * (gradient * p) @ gradient.T
    return total


def cautions(fitted, candidates: list[tuple]) -> np.ndarray:
    """Least of g^2 times the variance of an outcome over a 95% interval of log g, over that at the estimate."""
    theta = np.r_[fitted.scores, fitted.solution.parameters.judges.ravel()]
    rows = fitted.confidence_intervals().query("parameter == 'discrimination'")
    error = (rows["high"] - rows["estimate"]).to_numpy() / rows["estimate"].to_numpy()  # z se of log g
    found = []
    for i, j, k, _ in candidates:
        told = []
        for end in (0, -1, 1):
            at = theta.copy()
            at[N + k] += end * error[k]
            p = np.exp(log_probabilities(at, i, j, k, fitted.model.name))
            outcome = np.array([1.0, 0.0, 0.5])[: len(p)]
            told.append(np.exp(2 * at[N + k]) * (p @ outcome**2 - (p @ outcome) ** 2))
        found.append(min(told) / told[0])
    return np.array(found)


@pytest.mark.parametrize(
    "member", ["btl", "judge_aware", "position_aware", "judge_aware_ties", "position_aware_ties"]
)
def test_picks_are_those_of_computing_every_candidate_again(member, simulated):
    fitted = fit(simulated(5, SCORES, GAMMA, 250, ties=0.2), member)
    plan = next_comparisons(fitted, picks=3, size=7, level=0.9)
    cells = fitted.comparisons.pool_judges() if member == "btl" else fitted.comparisons
    at = fitted.solution.parameters
    theta = np.r_[at.scores, at.judges.ravel()]
    n_judges = 0 if member == "btl" else K
    rows = list(zip(cells.first, cells.second, cells.judge, cells.count, strict=True))
    to_scores = best_known_scores(fitted)
    reach = 2 * normal_quantile(0.9)

    pairs = pairwise(fitted, 0.9)
    told = {frozenset(pair) for pair in pairs[pairs["separated"]][["first", "second"]].itertuples(index=False)}
    assert 0 < len(told) < len(pairs)
    closed = np.array([[frozenset((a, b)) in told or a == b for a in cells.models] for b in cells.models])

    def widths(rows):
        v = to_scores @ covariance(information(rows, theta, member), N, n_judges) @ to_scores.T
        return reach * np.sqrt(np.maximum(np.add.outer(np.diag(v), np.diag(v)) - 2 * v, 0.0))

    taken = []
    for pick in plan.itertuples():
        before = np.where(closed, 0.0, widths(rows))
        assert pick.width == pytest.approx(before.max(), rel=1e-5)
        a, b = np.unravel_index(before.argmax(), before.shape)
        assert {pick.first, pick.second} == {cells.models[a], cells.models[b]}
        candidates = [
            (i, j, k, 7)
            for i in range(N)
            for j in range(N)
            for k in range(max(n_judges, 1))
            if (i < j or (member.startswith("position") and i != j))
        ]
        candidates = [candidate for candidate in candidates if candidate not in taken]
        after = np.array([widths([*rows, candidate])[a, b] for candidate in candidates])
        caution = np.ones(len(candidates)) if member == "btl" else cautions(fitted, candidates)
        best = np.argmax(caution * (before.max() ** 2 - after**2))
        assert pick.width_after == pytest.approx(after[best], rel=1e-5)
        chosen = candidates[best]
        rows.append(chosen)
        taken.append(chosen)
        judge = POOLED_JUDGE if member == "btl" else cells.judges[chosen[2]]
        assert (pick.model_a, pick.model_b) == (cells.models[chosen[0]], cells.models[chosen[1]])
        assert pick.judge_model == judge


def test_the_comparisons_that_separate_a_pair_do_so_as_often_as_said(simulated):
    fitted = fit(simulated(5, SCORES, GAMMA, 300))
    plan = next_comparisons(fitted, picks=20)
    pairs = pairwise(fitted)
    steps = int((~pairs["separated"]).sum())
    assert steps > 1  # so that Holm's procedure asks more of a pair than a test by itself
    seen = plan.dropna(subset="to_separate").drop_duplicates(["first", "second"])
    assert len(seen) > 0
    theta = np.r_[fitted.scores, fitted.solution.parameters.judges.ravel()]
    cells, models = fitted.comparisons, list(fitted.comparisons.models)
    old = list(zip(cells.first, cells.second, cells.judge, cells.count, strict=True))
    scores, to_scores = scale_of(fitted).scores, best_known_scores(fitted)
    critical = NormalDist().inv_cdf(1 - 0.05 / steps / 2)
    for row in seen.itertuples():
        i, j = models.index(row.first), models.index(row.second)
        chances = []
        for number in (row.to_separate - 2, row.to_separate):
            added = [(i, j, k, number / K) for k in range(K)]
            v = to_scores @ covariance(information([*old, *added], theta, "judge_aware"), N, K) @ to_scores.T
            error = np.sqrt(v[i, i] + v[j, j] - 2 * v[i, j])
            chances.append(NormalDist().cdf(abs(scores[i] - scores[j]) / error - critical))
        assert chances[0] < CHANCE <= chances[1] + 1e-9
        assert chances[1] < CHANCE + 0.01


def test_the_variance_after_more_comparisons_is_that_of_the_next_sandwich():
    """Beside dense inverses; where errors are not clustered it is the inverse of the next information."""
    rng = np.random.default_rng(1)
    root, meat, x = rng.standard_normal((6, 9)), rng.standard_normal((6, 8)), rng.standard_normal((6, 2))
    information, c = root @ root.T, rng.standard_normal(6)
    bread = np.linalg.inv(information)
    for squares in (meat @ meat.T, information):
        after = variance_after(bread @ squares @ bread, bread, x, c)
        for n in (1, 7, 1000):
            then = np.linalg.inv(information + n * x @ x.T)
            assert after(n) == pytest.approx(c @ then @ (squares + n * x @ x.T) @ then @ c, rel=1e-9)


def test_equal_models_are_not_said_to_be_separated_by_any_number(cells_of):
    rows = [("a", "b", 30, 20), ("b", "c", 25, 25), ("a", "c", 30, 20)]
    fitted = fit(cells_of(*((*row[:2], judge, *row[2:]) for row in rows for judge in "xy")))
    plan = next_comparisons(fitted, picks=9)
    assert {*plan["first"], *plan["second"]} == {"b", "c"}  # the others are separated
    assert plan["to_separate"].isna().all()


def test_no_line_comes_twice_and_there_are_no_more_than_there_can_be(simulated):
    fitted = fit(simulated(5, SCORES, GAMMA, 900))
    plan = next_comparisons(fitted, picks=1000)
    assert len(plan) == 10 * K
    assert not plan.duplicated(["model_a", "model_b", "judge_model"]).any()


def test_a_judge_whose_few_answers_were_lucky_is_not_followed(simulated):
    often = simulated(6, SCORES, (1.0, 1.0, 1.0), 900)
    rows = np.flatnonzero(often.judge < 2)
    right = SCORES_OF[often.first] > SCORES_OF[often.second]
    lucky = np.flatnonzero((often.judge == 2) & (often.outcome == right))[:14]
    against = np.flatnonzero((often.judge == 2) & (often.outcome != right))[:2]
    fitted = fit(often.take(np.r_[rows, lucky, against]))
    assert fitted.discrimination.idxmax() == "j2"  # for what 16 answers say
    assert set(next_comparisons(fitted, picks=3)["judge_model"]) <= {"j0", "j1"}
    assert "j2" not in set(next_comparisons(fitted, picks=100, few=30)["judge_model"])
    everyone = next_comparisons(fitted, picks=100, few=10**6)
    assert "j2" in set(everyone["judge_model"])


def test_collecting_what_is_suggested_shortens_the_widest_interval_each_time(simulated):
    plan = next_comparisons(fit(simulated(5, SCORES, GAMMA, 250)), picks=15)
    assert (plan["width_after"] < plan["width"]).all()
    assert (np.diff(plan["width"]) <= 1e-12).all()


def test_a_model_that_was_hardly_compared_is_suggested_first(simulated):
    often = simulated(6, SCORES, (1.0,), 600)
    rows = np.flatnonzero((often.first != 2) & (often.second != 2))
    seldom = np.flatnonzero((often.first == 2) | (often.second == 2))[:12]
    plan = next_comparisons(fit(often.take(np.r_[rows, seldom])), picks=1)
    assert "m2" in {plan.at[0, "model_a"], plan.at[0, "model_b"]}
    assert "m2" in {plan.at[0, "first"], plan.at[0, "second"]}


def test_judges_at_zero_are_not_asked_again(simulated):
    fitted = fit(simulated(7, SCORES, (1.0, 1.5, -1.0), 600))
    assert fitted.judges_at_zero == ("j2",)
    assert "j2" not in set(next_comparisons(fitted, picks=20)["judge_model"])


def test_with_a_covariate_judges_are_compared_at_its_mean(simulated):
    fitted = fit(simulated(8, SCORES, GAMMA, 1500, slope=(0.2, 0.0, -0.2)), "length")
    plan = next_comparisons(fitted, picks=4)
    assert (plan["width_after"] < plan["width"]).all()


@pytest.mark.parametrize("numbers", [{"picks": 0}, {"size": 0}])
def test_nothing_to_suggest_is_refused(numbers, simulated):
    with pytest.raises(ConfigError, match=r"\bone comparison\b"):
        next_comparisons(fit(simulated(5, SCORES, GAMMA, 250)), **numbers)


@pytest.mark.parametrize(
    ("rows", "links"),
    [
        ([("x", "y", "j", 1, 1), ("y", "z", "j", 2, 2), ("v", "w", "j", 1, 1)], [("y", "v")]),
        ([("x", "y", "j", 3, 0), ("y", "z", "j", 1, 2), ("x", "z", "j", 2, 0)], [("x", "z")]),
        ([("x", "y", "j", 3, 1), ("y", "z", "j", 2, 0), ("x", "z", "j", 2, 0)], [("x", "z")]),
        ([("x", "y", "j", 1, 1), ("y", "z", "j", 2, 0), ("x", "v", "j", 2, 0)], [("v", "z"), ("x", "v")]),
    ],
)
def test_first_links_make_a_ranking_possible(rows, links, cells_of):
    comparisons = cells_of(*rows)
    with pytest.raises(NoMaximumError) as caught:
        fit(comparisons)
    found = first_links(comparisons, caught.value)
    assert found == links
    more = [(*link, "j", 1, 1) for link in found]
    assert isinstance(fit(cells_of(*rows, *more), "btl").comparisons, Comparisons)


def test_a_judge_who_runs_off_leaves_a_plan_for_the_others(cells_of):
    never_wrong = cells_of(
        ("x", "y", "j0", 3, 0),
        ("y", "z", "j0", 3, 0),
        ("x", "y", "j1", 3, 2),
        ("y", "z", "j1", 1, 2),
        ("x", "z", "j1", 2, 1),
    )
    fitted = fit(never_wrong)
    assert fitted.unbounded_judges == ("j0",)
    plan = next_comparisons(fitted, picks=3)
    assert (plan["width_after"] < plan["width"]).all()
