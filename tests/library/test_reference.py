"""The engine against the model on one page: the same likelihood, derivatives, steps, conditions and maxima."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from omegaconf import OmegaConf

from judgerank import Comparisons, Newton, fit, read
from judgerank.engine.likelihood import evaluate
from judgerank.engine.newton import newton_step
from judgerank.model import reference
from judgerank.model.members import MODELS, Parameters
from judgerank.model.reference import Cells
from replication import published
from replication.datasets import find_file, load_judgments
from tests.real_data import FILES, IN_HOUSE, needs_data, needs_in_house
from tests.replication.test_config import composed
from tests.replication.test_published import needs_paper

MEMBERS = ("btl", "judge_aware", "length", "position_only", "position_aware", "position_length")
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def drawn(seed: int, size: int = 2000, weakest: float = 0.3) -> Comparisons:
    """Answers with ties, positions and slopes; the first judge's answers have this discrimination."""
    rng = np.random.default_rng(seed)
    scores, gamma = rng.normal(size=6), np.r_[weakest, rng.uniform(0.5, 2, 4)]
    first = rng.integers(6, size=size)
    second, judge = (first + rng.integers(1, 6, size)) % 6, rng.integers(5, size=size)
    z = rng.choice(rng.normal(size=12), size)
    eta = gamma[judge] * np.exp(0.2 * (judge - 2) * z) * (scores[first] - scores[second]) + 0.3 * (judge - 1)
    outcome = (rng.random(size) < 1 / (1 + np.exp(-eta))).astype(float)
    outcome[rng.random(size) < 0.1] = 0.5
    models, judges = tuple(f"m{i}" for i in range(6)), tuple(f"j{k}" for k in range(5))
    return Comparisons(models, judges, first, second, judge, outcome, np.ones(size), covariate=z)


def cells_of(comparisons: Comparisons, member: str) -> Cells:
    c = MODELS[member].observed(comparisons).aggregate()
    one = np.ones((len(c), 1))
    slope = one[:, :0] if c.covariate is None else c.covariate[:, None]
    weight = one[:, :0] if member in ("btl", "position_only") else np.hstack([one, slope])
    offset = one[:, : int(member.startswith("position"))]
    return Cells(c.first, c.second, c.judge, c.outcome * c.count, c.count, weight, offset)


def assert_same_maximum(comparisons: Comparisons, member: str, start: Parameters | None = None) -> None:
    """The climb starts at the net wins of the models and judges who are alike, unless at another point."""
    result = fit(comparisons, member, Newton(tolerance=1e-12))
    cells, at = cells_of(comparisons, member), result.solution.parameters
    held = int(member == "position_only")
    judges = np.zeros((len(result.discrimination), len(at.judges) - held))
    scores = reference.gradient(np.zeros(len(at.scores)), judges, cells)[0] / cells.total.sum()
    if start is not None:
        scores, judges = start.scores, start.judges.T
    scores, judges = reference.maximise(scores, judges, cells)
    assert_allclose(scores, at.scores, **CLOSE)
    assert_allclose(judges.T, at.judges[held:], **CLOSE)
    assert_allclose(reference.log_likelihood(scores, judges, cells), result.log_likelihood, rtol=1e-12)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("seed", range(3))
def test_random_data_have_the_same_maximum(member, seed):
    assert_same_maximum(drawn(seed), member)


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
def test_a_judge_who_answers_against_the_panel_is_at_zero_in_both(member):
    comparisons = drawn(0, weakest=-0.5)
    assert_same_maximum(comparisons, member)
    assert fit(comparisons, member).judges_at_zero == ("j0",)


@pytest.mark.parametrize("member", MEMBERS)
def test_derivatives_and_conditions_at_zero_are_the_same_anywhere(member):
    """The engine's step is in gamma and the page's in alpha = log gamma: their Hessians differ by the gradient."""
    comparisons, rng = MODELS[member].observed(drawn(1)).aggregate(), np.random.default_rng(2)
    model, cells = MODELS[member], cells_of(comparisons, member)
    blocks = len(model.judge_blocks)
    held = int(model.fixed_scale)
    scores, judges = rng.normal(size=6), rng.normal(size=(5, blocks - held)) / 3
    at = Parameters(scores, np.vstack([np.zeros((held, 5)), judges.T]))
    rise, judge_rise = reference.gradient(scores, judges, cells)
    for observed in (False, True):
        engine = evaluate(comparisons, model, at, "observed" if observed else "expected")
        assert_allclose(reference.log_likelihood(scores, judges, cells), engine.log_likelihood, rtol=1e-12)
        assert_allclose(rise, engine.top_gradient, **CLOSE)
        assert_allclose(judge_rise.T, engine.judge_gradient[held:], **CLOSE)
        top, cross, judge = reference.hessian(scores, judges, cells, observed)
        if observed and model.weighs_judges:
            judge[:, 0, 0] += judge_rise[:, 0]
        assert_allclose(top, engine.top_information, **CLOSE)
        assert_allclose(cross.transpose(1, 0, 2), engine.cross_information[held:], **CLOSE)
        assert_allclose(judge, engine.judge_information[:, held:, held:], **CLOSE)
    if member in ("judge_aware", "position_aware"):
        assert_allclose(reference.slope_at_zero(scores, cells, 5)[0], engine.slope_at_zero, **CLOSE)


@pytest.mark.parametrize("member", ["btl", "judge_aware", "position_only", "position_aware"])
def test_the_newton_step_near_the_maximum_is_the_same(member):
    comparisons, model = MODELS[member].observed(drawn(1)).aggregate(), MODELS[member]
    cells, at = cells_of(comparisons, member), fit(drawn(1), member).solution.parameters
    off = Parameters(at.scores + 1e-6 * np.arange(-2.5, 3), at.judges)
    step, judges_step = reference.newton_step(off.scores, off.judges[int(model.fixed_scale) :].T, cells, True)
    engine = newton_step(comparisons, model, off, evaluate(comparisons, model, off, "observed"))
    assert_allclose(step - step.mean(), engine.scores - engine.scores.mean(), rtol=1e-4, atol=1e-12)
    assert_allclose(judges_step.T, engine.judges[int(model.fixed_scale) :], rtol=1e-4, atol=1e-12)


@needs_data
@pytest.mark.parametrize("member", ["btl", "judge_aware", "position_only", "position_aware"])
@pytest.mark.parametrize("file", [*FILES.values(), pytest.param(IN_HOUSE, marks=needs_in_house)])
def test_the_papers_judgments_have_the_same_maximum(file, member):
    assert_same_maximum(read(find_file(file)).comparisons, member)


@needs_data
@pytest.mark.parametrize("member", ["length", "position_length"])
def test_mt_bench_with_the_lengths_of_its_questions_has_the_same_maximum(member):
    dataset = OmegaConf.to_object(composed("length_covariate", "dataset=mt_bench").dataset)
    comparisons = load_judgments(dataset).with_lengths()
    at = fit(comparisons, member).solution.parameters  # the higher of two maxima, which the engine looks for
    assert_same_maximum(comparisons, member, Parameters(at.scores.round(1), at.judges.round(1)))


@needs_paper
def test_its_equations_have_these_numbers_in_the_paper():
    labels = re.findall(r"\\begin{equation}.*?\\label{(.*?)}.*?\\end{equation}", published.paper(), re.DOTALL)
    numbers = {label: number for number, label in enumerate(labels, 1)}
    assert numbers == {
        **{"eq:model": 1, "eq:joint-dist": 2, "normalization": 3, "eq:log-full": 4},
        **{"eq:agg-loglik": 5, "eq:score": 6, "eq:obsinfo-decomp": 7},
    }


def test_it_is_one_page():
    assert len(Path(reference.__file__).read_text().splitlines()) <= 100
