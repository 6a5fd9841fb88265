"""The position-aware members: recovery, a second solver, derivatives, identifiability, real data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from judgerank import Comparisons, Status, fit
from judgerank.data.connectivity import position_share
from judgerank.data.errors import NotIdentifiedError
from judgerank.engine import newton, search
from judgerank.engine.adam import Adam
from judgerank.engine.likelihood import evaluate
from judgerank.inference.wald import likelihood_ratio
from judgerank.model.members import POSITION_AWARE, POSITION_LENGTH, Parameters
from judgerank.model.streams import generator
from replication.datasets import find_file, read_records
from studies.methods.study import drawn_panel
from tests.real_data import FILES, needs_data

SCORES = np.array([1.2, 0.5, 0.1, -0.4, -1.4])
GAMMA = np.array([2.0, 1.0, 0.5])
POSITION = np.array([-0.8, 0.0, 1.5])


def drawn(seed: int, size: int, scores=SCORES, gamma=GAMMA, position=POSITION, *, sorted_slots=False, z=False):
    rng = generator(seed, "position")
    n, k = len(scores), len(gamma)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    if sorted_slots:
        first, second = np.minimum(first, second), np.maximum(first, second)
    judge = rng.integers(k, size=size)
    eta = gamma[judge] * (scores[first] - scores[second]) + position[judge]
    covariate = rng.choice([-1.0, 1.0], size) if z else None
    outcome = (rng.random(size) < expit(eta)).astype(float)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    return Comparisons(*names, first, second, judge, outcome, None, covariate).aggregate()


def log_likelihood(cells, scores, gamma, position) -> float:
    eta = gamma[cells.judge] * (scores[cells.first] - scores[cells.second]) + position[cells.judge]
    y = cells.outcome
    return float(np.sum(cells.count * (y * log_expit(eta) + (1 - y) * log_expit(-eta))))


@pytest.mark.parametrize("sorted_slots", [False, True])
def test_truth_is_recovered_within_its_errors(sorted_slots):
    found = fit(drawn(1, 60_000, sorted_slots=sorted_slots), "position_aware")
    assert found.status is Status.INTERIOR
    scale = np.exp(np.log(GAMMA).mean())
    truth = np.concatenate([(SCORES - SCORES.mean()) * scale, GAMMA / scale, POSITION])
    intervals = found.confidence_intervals()
    error = found.standard_errors
    assert_allclose(intervals["estimate"], truth, atol=4 * error.max())
    assert np.all(np.abs(intervals["estimate"] - truth) < 4 * error)


@pytest.mark.parametrize("seed", range(4))
def test_a_second_solver_finds_the_same_maximum(seed):
    cells = drawn(seed, 600)
    found = fit(cells, "position_aware")

    def loss(theta):
        return -log_likelihood(cells, theta[:5], np.exp(theta[5:8]), theta[8:])

    best = minimize(loss, np.zeros(11), method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    own = log_likelihood(
        cells, found.scores.to_numpy(), found.discrimination.to_numpy(), found.position.to_numpy()
    )
    assert found.log_likelihood == pytest.approx(own, rel=1e-12)


@pytest.mark.parametrize("member", [POSITION_AWARE, POSITION_LENGTH])
def test_gradient_and_hessian_agree_with_finite_differences(member):
    cells = drawn(5, 400, z=member.has_slope)
    rng = generator(5, "point")
    n, k, blocks = 5, 3, len(member.judge_blocks)
    theta = rng.normal(size=n + blocks * k) * 0.5

    def at(values):
        return evaluate(cells, member, Parameters(values[:n], values[n:].reshape(blocks, k)), "observed")

    def gradient(values):
        here = at(values)
        return np.concatenate([here.top_gradient, here.judge_gradient.ravel()])

    step = 1e-6
    numeric = [
        (at(theta + step * e).log_likelihood - at(theta - step * e).log_likelihood) / (2 * step)
        for e in np.eye(len(theta))
    ]
    assert_allclose(gradient(theta), numeric, rtol=1e-5, atol=1e-4)
    hessian = np.array(
        [(gradient(theta + step * e) - gradient(theta - step * e)) / (2 * step) for e in np.eye(len(theta))]
    )
    here = at(theta)
    assert_allclose(-hessian[:n, :n], here.top_information, rtol=1e-4, atol=1e-4)
    for b in range(blocks):
        rows = slice(n + b * k, n + (b + 1) * k)
        assert_allclose(-hessian[rows, :n], here.cross_information[b], rtol=1e-4, atol=1e-3)
        for b2 in range(blocks):
            if b != b2 or b:  # between gamma and itself the information is taken in gamma
                columns = slice(n + b2 * k, n + (b2 + 1) * k)
                assert_allclose(
                    -np.diag(hessian[rows, columns]), here.judge_information[:, b, b2], rtol=1e-4, atol=1e-3
                )


def test_showing_the_other_model_first_turns_the_positions_over(swapped):
    cells = drawn(6, 900)
    one, other = fit(cells, "position_aware"), fit(swapped(cells).aggregate(), "position_aware")
    assert_allclose(one.position, -other.position, atol=1e-7)
    assert_allclose(one.scores, other.scores, atol=1e-7)


def test_adam_goes_to_the_same_point():
    cells = drawn(7, 2000)
    exact = fit(cells, "position_aware")
    settings = Adam(step_judges=1e-2, tolerance=1e-7)
    iterated = fit(cells, "position_aware", settings)
    assert iterated.log_likelihood == pytest.approx(exact.log_likelihood, abs=1e-4)


def test_the_family_is_nested():
    cells = drawn(8, 1500, z=True)
    names = ("btl", "judge_aware", "position_aware", "position_length")
    heights = [fit(cells, name).log_likelihood for name in names]
    assert heights == sorted(heights)
    statistic, p_value = likelihood_ratio(heights[1], heights[2], 3)
    assert statistic == pytest.approx(2 * (heights[2] - heights[1]))
    assert p_value < 1e-6


def test_a_judge_who_knows_one_position_only_is_named(cells_of):
    rows = [("a", "b", "good", 8, 3), ("b", "c", "good", 7, 3), ("a", "c", "good", 9, 2), ("c", "a", "good", 2, 6)]
    cells = cells_of(*rows, ("a", "b", "one", 5, 0), ("b", "c", "one", 5, 0), ("c", "a", "one", 5, 0))
    found = fit(cells, "position_aware")
    assert found.status is Status.UNBOUNDED
    assert found.unbounded_judges == ("one",)


def test_a_judge_with_a_favourite_slot_is_at_zero_with_its_log_odds_for_position():
    gamma, position = np.array([2.0, 1.0, 0.0]), np.array([0.0, 0.0, 2.0])
    found = [fit(drawn(seed, 3000, gamma=gamma, position=position), "position_aware") for seed in range(6)]
    at_zero = [result for result in found if result.judges_at_zero]
    assert 0 < len(at_zero) < 6
    for result in at_zero:
        rows = result.comparisons.judge == 2
        share = np.average(result.comparisons.outcome[rows], weights=result.comparisons.count[rows])
        assert result.position["j2"] == pytest.approx(np.log(share / (1 - share)), abs=1e-7)
        intervals = result.confidence_intervals().set_index(["parameter", "name"])
        assert np.isnan(intervals.loc[("discrimination", "j2"), "low"])
        p = share * (1 - share) * result.comparisons.count[rows].sum()
        assert result.standard_errors[-1] == pytest.approx(1 / np.sqrt(p), rel=1e-6)


@pytest.mark.parametrize(
    ("pairs", "share"),
    [
        ([("a", "b"), ("b", "c")], 0.0),
        ([("a", "b"), ("b", "c"), ("a", "c")], 1 - 8 / 9),
        ([("a", "b"), ("b", "a")], 1.0),
        ([("a", "b"), ("b", "c"), ("c", "a")], 1.0),
    ],
)
def test_how_far_scores_could_imitate_a_position(cells_of, pairs, share):
    cells = cells_of(*((one, other, "j", 2, 2) for one, other in pairs))
    assert position_share(cells) == pytest.approx(share, abs=1e-12)


def test_a_design_that_cannot_tell_them_apart_is_refused(cells_of):
    cells = cells_of(("a", "b", "j", 3, 2), ("b", "c", "j", 2, 3), ("a", "b", "k", 2, 2))
    with pytest.raises(NotIdentifiedError, match="other order"):
        fit(cells, "position_aware")


@needs_data
@pytest.mark.parametrize(
    ("name", "expected"), [("chatbot_arena", -5188.86), ("mt_bench", -4155.19), ("ultrafeedback", -4855.31)]
)
def test_log_likelihoods_of_the_real_sets(name, expected):
    cells = Comparisons.from_frame(read_records(find_file(FILES[name]).read_bytes()))
    found = fit(cells, "position_aware")
    assert found.log_likelihood == pytest.approx(expected, abs=5e-3)
    assert found.solution.evaluation.relative_gradient < 1e-8
    assert found.judges_at_zero == (("zai-org/GLM-4.5-Air-FP8",) if name == "mt_bench" else ())
    if name == "mt_bench":
        assert found.scores.idxmax() == "gpt-4"


@pytest.mark.parametrize("replication", [3, 6, 12])
def test_a_judge_whose_discrimination_and_position_run_off_together_is_named(replication):
    panel = {"n_models": 12, "n_judges": 8, "n_comparisons": 400, "sigma_scores": 1.0, "sigma_discrimination": 1.0}
    panel |= {"n_contrary": 0, "mean_position": 0.0, "sigma_position": 0.0, "judged_by_models": False}
    data, *_ = drawn_panel(panel, generator(2026, "method_panels", "few", replication))
    found = search.maximise(data.aggregate(), POSITION_AWARE, newton.Newton())
    assert found.status is Status.UNBOUNDED
    assert found.iterations < 100
    log_gamma, position = found.parameters.judges
    sharpest = int(log_gamma.argmax())
    assert found.unbounded_judges == (sharpest,)
    assert abs(position[sharpest]) > 10 * np.abs(np.delete(position, sharpest)).max()


@needs_data
def test_a_weak_judge_with_a_favourite_slot_does_not_slow_the_climb():
    rows = Comparisons.from_frame(read_records(find_file(FILES["chatbot_arena"]).read_bytes()))
    for part in range(10):
        found = fit(rows.take(np.flatnonzero(np.arange(len(rows)) % 10 != part)), "position_aware")
        assert found.converged
        assert found.solution.iterations < 20
