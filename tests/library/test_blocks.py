"""Blocks beyond the members: the answers of the members' own code, finite differences, certificates, files."""

from dataclasses import replace
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit
from scipy.stats import chi2, norm

from judgerank import fit
from judgerank.blocks.climbing import Problem
from judgerank.blocks.fit import fit_blocks, held_of, shares_of, start_of
from judgerank.blocks.heldout import held_out
from judgerank.blocks.maximum import maximise
from judgerank.blocks.sums import Rows
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, NoMaximumError, NotIdentifiedError
from judgerank.model.block import Records, Stacked
from judgerank.model.kinds.family import family_of, read_families
from judgerank.model.kinds.members import blocks_of
from judgerank.model.members import MODELS
from judgerank.model.naming import known, named
from judgerank.order.pairs import pairwise, rank_intervals

N, K, Q, EACH = 5, 4, 30, 40
MODELS_OF = tuple(f"m{i}" for i in range(N))
JUDGES = tuple(f"j{k}" for k in range(K))


def drawn(seed: int = 0, length: float = 0.5, ties: float = 0.3) -> Records:
    rng = np.random.default_rng(seed)
    question = np.arange(Q).repeat(EACH)
    i, j = np.array([rng.permutation(N)[:2] for _ in question]).T
    k = rng.integers(K, size=len(question))
    s, gamma, b = np.linspace(1, -1, N), np.exp(np.linspace(-0.3, 0.3, K)), np.linspace(-0.4, 0.4, K)
    lengths = rng.normal(size=(Q, N)) + 0.5 * s
    difference = lengths[question, i] - lengths[question, j]
    eta = gamma[k] * (s[i] - s[j]) + b[k] + length * difference
    odds = np.exp(np.stack([eta / 2, -eta / 2, np.full(len(eta), np.log(max(ties, 1e-9)))]))
    y = np.array([1.0, 0.0, 0.5])[(rng.random(len(eta)) > np.cumsum(odds / odds.sum(axis=0), axis=0)).sum(axis=0)]
    c = Comparisons(MODELS_OF, JUDGES, i, j, k, y, covariate=rng.choice([-1.0, 1.0], Q)[question])
    frame = pd.DataFrame({"question_id": question, "category": np.array(["x", "y", "z"])[question % 3]})
    frame["length_a"], frame["length_b"] = lengths[question, i], lengths[question, j]
    frame["lines_a"], frame["lines_b"] = rng.poisson(3, (2, len(eta)))
    return Records(c.with_ties(), frame)


@pytest.fixture(scope="module")
def records() -> Records:
    return drawn()


def problem_of(records: Records, member: str) -> tuple[Problem, np.ndarray, object]:
    own = fit(records.comparisons, member)
    stacked = Stacked.of(blocks_of(MODELS[member]), records)
    rows = Rows.of(stacked, records.comparisons)
    return Problem(stacked, rows, held_of(own, stacked), shares_of(own, stacked)), start_of(own, stacked), own


@pytest.mark.parametrize("member", list(MODELS))
def test_a_members_own_blocks_have_the_maximum_and_errors_of_its_own_code(records, member):
    problem, start, own = problem_of(records, member)
    away = 0.05 * np.random.default_rng(1).normal(size=len(start))
    for design, place in zip(problem.stacked.designs, problem.stacked.places, strict=True):
        away[place] -= away[place].mean() * design.centred
    found = maximise(problem, start + away)
    assert found.summit.converged
    assert found.log_likelihood == pytest.approx(own.log_likelihood, abs=1e-7)
    np.testing.assert_allclose(found.theta, start, atol=1e-5)
    basis = problem.basis(found.summit.free)
    info = found.summit.here.expected_information
    covariance = found.covariance(basis @ np.linalg.inv(basis.T @ info @ basis) @ basis.T)
    np.testing.assert_allclose(covariance, own.covariance, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("member", ["judge_aware_ties", "position_length"])
def test_gradient_and_information_are_derivatives_of_the_likelihood(records, member):
    problem, start, _ = problem_of(records, member)
    theta = start + 0.1 * np.random.default_rng(2).normal(size=len(start))
    here = problem.rows.at(theta)
    gradient, information = here.gradient, here.observed_information
    step, unit = 1e-5, np.eye(len(theta))
    for place in range(len(theta)):
        up, down = (problem.rows.at(theta + sign * step * unit[place]) for sign in (1, -1))
        slope = (up.log_likelihood - down.log_likelihood) / (2 * step)
        assert gradient[place] == pytest.approx(slope, abs=1e-3)
        curved = (up.gradient - down.gradient) / (2 * step)
        np.testing.assert_allclose(-curved, information[place], atol=1e-3, rtol=1e-4)
    c = records.comparisons
    by_row = here.of_comparisons(c.outcome, c.known_ties)
    np.testing.assert_allclose(np.asarray(by_row.sum(axis=0)).ravel(), gradient, atol=1e-8)


def test_rows_alike_are_merged_and_say_the_same(records):
    problem, start, own = problem_of(records, "position_aware")
    rows = problem.rows
    assert len(rows.count) < len(records.comparisons)
    assert rows.count.sum() == len(records.comparisons)
    assert rows.at(start).log_likelihood == pytest.approx(own.log_likelihood, abs=1e-8)
    half = np.arange(0, len(records.comparisons), 2)
    part = rows.only(half, records.comparisons)
    again = fit(records.comparisons.take(half), "position_aware")
    at = Problem(problem.stacked, part, problem.held, problem.shares)
    assert maximise(at, start).log_likelihood == pytest.approx(again.log_likelihood, abs=1e-7)


def test_style_is_found_and_agrees_with_a_logistic_regression(records):
    """Without weights the model is a logistic regression, whose maximum another solver finds too."""
    from scipy.optimize import minimize

    result = fit_blocks(records, ["style:length,lines"], "btl")
    c = records.comparisons
    x = np.zeros((len(c), N + 2))
    x[np.arange(len(c)), c.first] += 1
    x[np.arange(len(c)), c.second] -= 1
    for place, name in enumerate(("length", "lines")):
        difference = (records.frame[f"{name}_a"] - records.frame[f"{name}_b"]).to_numpy()
        x[:, N + place] = difference / np.sqrt(np.mean(difference**2))
    y = c.outcome

    def lost(beta):
        eta = x @ beta
        return -np.sum(y * log_expit(eta) + (1 - y) * log_expit(-eta)), -x.T @ (y - expit(eta))

    best = minimize(lost, np.zeros(N + 2), jac=True, tol=1e-14)
    assert result.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    np.testing.assert_allclose(result.parameters("style"), best.x[N:], atol=1e-4)
    assert result.test("style").parameters == 2
    gained = 2 * (result.log_likelihood - result.without.log_likelihood)
    assert result.test("style").statistic == pytest.approx(gained, abs=1e-6)
    assert result.test("style").p_value == pytest.approx(chi2.sf(gained, 2))
    assert result.clustered().wald("style") < 1e-6
    low = result.confidence_intervals().query("block == 'style' and parameter == 'length'")["low"].iloc[0]
    assert low > 0


def test_errors_by_question_are_those_of_the_library(records):
    result = fit_blocks(records, ["style:length"], "position_aware")
    own = result.without.clustered(records.comparisons, records.frame["question_id"].to_numpy())
    problem, start, _ = problem_of(records, "position_aware")
    alone = replace(result, found=maximise(problem, start)).clustered()
    np.testing.assert_allclose(alone.covariance, own.covariance, rtol=1e-4, atol=1e-9)
    assert alone.degrees_of_freedom == own.degrees_of_freedom == Q - 1


def test_a_shrunk_block_is_integrated_out_as_quadrature_has_it():
    """One deviation alone: the integral over it is of one variable."""
    rng = np.random.default_rng(3)
    many = 300
    i = rng.integers(2, size=many)
    kind = np.where(np.arange(many) < 250, "a", "b")
    eta = np.where(i == 0, 1.0, -1.0) + np.where(kind == "b", 1.0, 0.0)
    y = (rng.random(many) < expit(eta)).astype(float)
    c = Comparisons(("m", "n"), ("j",), i, 1 - i, np.zeros(many, int), y).with_ties()
    records = Records(c, pd.DataFrame({"category": kind}))
    result = fit_blocks(records, ["category_position"], "btl")
    spread, score = result.spread["category_position"], result.scores.iloc[0]
    assert spread > 0
    total = 0.0
    for name in ("a", "b"):
        rows = kind == name

        def density(u, rows=rows):
            x = np.where(i[rows] == 0, 2 * score, -2 * score) + u
            return np.exp(np.sum(y[rows] * log_expit(x) + (1 - y[rows]) * log_expit(-x)) + 150.0 * rows.mean())

        value = quad(lambda u: density(u) * norm.pdf(u, scale=spread), -6, 6, epsabs=0, points=[0.0])[0]
        total += np.log(value) - 150.0 * rows.mean()
    assert result.log_likelihood == pytest.approx(total, abs=0.02)


def test_nothing_there_is_found_to_be_nothing():
    result = fit_blocks(drawn(5, length=0.0), ["category", "style:lines"], "position_aware")
    assert result.test("category").p_value > 0.05
    assert result.test("style").p_value > 0.01
    assert result.spread["category"] < 0.2
    assert "block style" in result.summary().lower()


def test_scores_do_not_hang_on_a_judge_who_says_nothing(records):
    """A prior in the scores' units must not be moved by the weight of a judge next to zero."""
    c, rng = records.comparisons, np.random.default_rng(4)
    k = c.judge.copy()
    new = rng.random(len(c)) < 0.2
    k[new] = K
    y = np.where(new, rng.integers(2, size=len(c)).astype(float), c.outcome)
    noisy = replace(c, judges=(*JUDGES, "coin"), judge=k, outcome=y, tied=(y == 0.5).astype(float))
    result = fit_blocks(Records(noisy, records.frame), ["category"], "position_aware")
    assert result.converged
    assert np.corrcoef(result.scores, result.without.scores)[0, 1] > 0.99
    assert 0.8 < result.scores.std() / result.without.scores.std() < 1.25


def test_ranks_within_categories(records):
    result = fit_blocks(records, ["category"], "position_aware").clustered()
    within = rank_intervals([result.order("x")])
    assert sorted(within["model"]) == list(MODELS_OF)
    assert (within["low"] <= within["rank"]).all() and (within["rank"] <= within["high"]).all()
    every = pairwise([result.order()])
    own = pairwise([fit_blocks(records, ["style:lines"], "btl").order()])
    assert len(every) == len(own) == N * (N - 1) // 2
    with pytest.raises(ConfigError, match="no category 'w'"):
        result.order("w")


def test_held_out_questions_are_predicted_better_with_what_is_there(records):
    fold = records.frame["question_id"].to_numpy() % 3
    table = held_out(records, ["style:length"], fold, "position_aware_ties")
    assert table["fold"].tolist() == fold.tolist()
    gain = (table["with_blocks"] - table["without"]).groupby(records.frame["question_id"]).sum()
    assert gain.mean() > 2 * gain.std() / np.sqrt(Q)
    again = fit(records.comparisons.take(np.flatnonzero(fold != 0)), "position_aware_ties")
    p = again.probability(records.comparisons.take(np.flatnonzero(fold == 0)))
    tie = again.tie_probability(records.comparisons.take(np.flatnonzero(fold == 0)))
    y = records.comparisons.outcome[fold == 0]
    given = np.where(y == 1, p - tie / 2, np.where(y == 0, 1 - p - tie / 2, tie))
    np.testing.assert_allclose(table["without"][fold == 0], np.log(given), atol=1e-6)


def test_what_runs_off_and_what_cannot_be_told_apart_is_named(records):
    frame = records.frame.copy()
    first = records.comparisons.outcome == 1.0
    lost = records.comparisons.outcome == 0.0
    frame["sure_a"], frame["sure_b"] = first.astype(float), lost.astype(float)
    with pytest.raises(NoMaximumError, match="style of sure"):
        fit_blocks(Records(records.comparisons, frame), ["style:sure"], "position_aware")
    for side, index in (("a", records.comparisons.first), ("b", records.comparisons.second)):
        frame[f"copy_{side}"] = np.linspace(0, 1, N)[index]
    with pytest.raises(NotIdentifiedError, match="scores and style"):
        fit_blocks(Records(records.comparisons, frame), ["style:copy"], "btl")


def test_own_family(tmp_path, records):
    table = read_families_of(tmp_path, "begins,family\ngpt-,A\ngpt-x,B\n")
    assert family_of("org/GPT-4", table) == "A"
    assert family_of("gpt-x-1", table) == "B"
    assert family_of("claude", table) == ""
    names = ("gpt-1", "gpt-2", "other", "gpt-1-judge", "z")
    path = tmp_path / "families.csv"
    c = replace(records.comparisons, models=names, judges=("gpt-1", "gpt-9", "nobody", "other"))
    result = fit_blocks(Records(c, records.frame), [f"family:{path}"], "position_aware")
    columns = result.found.problem.stacked.designs[-1].columns.toarray()
    expected = np.zeros_like(columns)
    for row in range(len(c)):
        judge = c.judges[c.judge[row]]
        for sign, model in ((1, names[c.first[row]]), (-1, names[c.second[row]])):
            own = model == judge
            expected[row, 0] += sign * own
            expected[row, 1] += sign * (not own and model.startswith("gpt") and judge.startswith("gpt"))
    np.testing.assert_array_equal(columns, expected)
    with pytest.raises(DataError, match="no judge compares its own"):
        fit_blocks(records, ["family"])


def read_families_of(folder, text: str) -> pd.DataFrame:
    (folder / "families.csv").write_text(text)
    return read_families(folder / "families.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [("begins\nx\n", "no column 'family'"), ("begins,family\nx,\n", "line 2"), ("", "cannot be read")],
)
def test_a_damaged_table_of_families_is_named(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_families_of(tmp_path, text)


NEW_BLOCK = dedent(
    '''
    """A preference of all judges for answers with more lines, when these are shown first."""
    from judgerank.model.block import Block, Design, Role, indicator

    def block(column):
        def design(records):
            more = (records.difference(column, "first_and_long") > 0).astype(float)
            zero = records.comparisons.first * 0
            return Design(indicator(len(more), (zero, more), width=1), ("all judges",))
        return Block("first_and_long", Role.OFFSET, design, what="log-odds")
    '''
)


def test_a_new_block_is_one_file_and_one_name(tmp_path, records):
    (tmp_path / "first_and_long.py").write_text(NEW_BLOCK)
    result = fit_blocks(records, [f"{tmp_path}/first_and_long.py:length"], "position_aware")
    estimate = result.parameters("first_and_long")["all judges"]
    assert estimate > 0.3
    assert result.test("first_and_long").p_value < 0.01
    table = result.confidence_intervals()
    assert (table.query("block == 'first_and_long'")["low"] > 0).all()
    assert "first_and_long" in result.summary()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("styl:length", "no block 'styl'"),
        ("style", "needs the names of its columns"),
        ("style:a,a", "each once"),
        ("category:a,b", "one column"),
        ("nowhere.py", "no file nowhere.py"),
        ("json", "no block 'json'"),
        ("os.path", "no function `block`"),
        ("family:a,b", "one table"),
    ],
)
def test_what_is_no_block_is_refused(name, message):
    with pytest.raises(ConfigError, match=message):
        named(name)


def test_known_blocks_can_all_be_named():
    assert set(known()) >= {"style", "style_by_judge", "category", "category_position", "family"}
    for name in known():
        assert named(f"{name}:length")


@pytest.mark.parametrize(
    ("block", "change", "message"),
    [
        ("style:absent", {}, "needs a column 'absent_a'"),
        ("style:length", {"length_a": 0.0, "length_b": 0.0}, "never differ in 'length'"),
        ("style:length", {"length_a": "long"}, "record 1 has 'long'"),
        ("category", {"category": "x"}, "all records are of one category"),
        ("category", {"category": None}, "record 1 has no 'category'"),
    ],
)
def test_records_that_lack_what_a_block_needs_are_refused(records, block, change, message):
    with pytest.raises(DataError, match=message):
        fit_blocks(Records(records.comparisons, records.frame.assign(**change)), [block])


def test_other_uses_are_refused(records):
    with pytest.raises(ConfigError, match="no block is named"):
        fit_blocks(records, [])
    with pytest.raises(ConfigError, match="there twice"):
        fit_blocks(records, ["style:length", "style:lines"])
    with pytest.raises(DataError, match="aggregated"):
        fit_blocks(Records(records.comparisons.aggregate(), records.frame), ["category"])
    result = fit_blocks(records, ["category"])
    with pytest.raises(ConfigError, match="no further block 'style'"):
        result.test("style")
    with pytest.raises(ConfigError, match="is shrunk"):
        result.wald("category")
