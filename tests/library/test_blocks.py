"""Blocks beyond the members: the answers of the members' own code, finite differences, certificates, files."""

from dataclasses import replace
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.sparse import csr_array
from scipy.special import expit, log_expit
from scipy.stats import chi2, norm

import judgerank
from judgerank import fit
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, NoMaximumError, NotIdentifiedError
from judgerank.engine.information import information
from judgerank.engine.likelihood import evaluate
from judgerank.engine.penalty import penalty, pulled
from judgerank.fits.heldout import held_out
from judgerank.inference.clusters import cluster_gradients
from judgerank.model.block import Block, Design, Placed, Records, Role
from judgerank.model.kinds.family import families_of, family_of, read_families
from judgerank.model.members import NAMED, Parameters
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


def fit_blocks(records, blocks, model="position_aware"):
    return fit(records, model, blocks=blocks)


def in_every_role(records: Records) -> tuple[tuple[Placed, ...], Comparisons]:
    """Two columns for each of the five roles, and the comparisons with them, a third of the wins strong."""
    rng, c = np.random.default_rng(8), records.comparisons.with_ties()
    size, much = len(c), np.random.default_rng(9).random(len(c)) < 1 / 3
    strong = np.stack([much & (c.outcome == 1), much & (c.outcome == 0)], axis=1).astype(float)
    blocks = tuple(Placed(role.name.lower(), role, ("x", "y"), False, "") for role in Role)
    values = np.round(rng.normal(size=(size, 10)), 1) * (rng.random((size, 10)) < 0.6)
    return blocks, replace(c, columns=csr_array(values), strong=strong)


THRESHOLDS = {Role.TIE: "log_tie", Role.STRONG: "log_strong"}
MEMBERS = ["position_aware_graded", "position_aware_ties", "judge_aware_ties", "btl_ties", "length", "btl"]


@pytest.mark.parametrize("member", MEMBERS)
def test_gradient_and_information_are_derivatives_of_the_likelihood(records, member):
    """Blocks of every role, beside the member's own: by differences of the log-likelihood and of the gradient."""
    blocks, c = in_every_role(records)
    own = {None, *NAMED[member].judge_blocks}
    kept = [place for place, block in enumerate(blocks) if THRESHOLDS.get(block.role) in own]
    chosen = np.concatenate([[2 * place, 2 * place + 1] for place in kept])
    model = replace(NAMED[member], further=tuple(blocks[place] for place in kept))
    c = model.alone.observed(replace(c, columns=c.columns[:, chosen])).aggregate()
    rng = np.random.default_rng(2)
    rows, many = len(model.judge_blocks), len(chosen)
    free = np.ones((rows, K), bool)
    free[: model.fixed_scale] = False
    at = Parameters(rng.normal(size=N), 0.3 * rng.normal(size=(rows, K)) * free, 0.2 * rng.normal(size=many))

    def vector(here):
        return np.r_[here.top_gradient[:N], here.judge_gradient[free], here.top_gradient[N:]]

    def moved(step):
        judges = at.judges.copy()
        judges[free] += step[N : N + free.sum()]
        return Parameters(at.scores + step[:N], judges, at.common + step[N + free.sum() :])

    here, h = evaluate(c, model, at, "observed"), 1e-5
    gradient, info = vector(here), information(here, free, np.ones(many, bool))
    if model.weighs_judges:  # the information is in gamma
        alpha = np.arange(N, N + K)
        info[alpha, alpha] -= here.judge_gradient[0]
    for place, unit in enumerate(np.eye(len(gradient))):
        up, down = (evaluate(c, model, moved(sign * h * unit)) for sign in (1, -1))
        slope = (up.log_likelihood - down.log_likelihood) / (2 * h)
        assert gradient[place] == pytest.approx(slope, abs=1e-3)
        np.testing.assert_allclose((vector(down) - vector(up)) / (2 * h), info[place], atol=2e-3, rtol=1e-4)
    raw = replace(c, columns=c.columns)
    by = cluster_gradients(raw, model, at, np.arange(len(raw)) % 7)
    whole = np.r_[here.top_gradient[:N], here.judge_gradient.ravel(), here.top_gradient[N:]]
    moving = np.r_[np.ones(N, bool), free.ravel(), np.ones(many, bool)]
    np.testing.assert_allclose(by.sum(axis=0)[moving], whole[moving], atol=1e-8)


@pytest.mark.parametrize("member", [member for member in MEMBERS if NAMED[member].weighs_judges])
def test_the_slope_at_zero_with_further_blocks_is_the_derivative_in_gamma_at_zero(records, member):
    """One judge at zero discrimination after the other, by differences that Richardson extrapolates to zero."""
    blocks, c = in_every_role(records)
    thresholds = {None, *NAMED[member].judge_blocks}
    placed = [place for place, block in enumerate(blocks) if THRESHOLDS.get(block.role) in thresholds]
    chosen = np.concatenate([[2 * place, 2 * place + 1] for place in placed])
    model = replace(NAMED[member], further=tuple(blocks[place] for place in placed))
    c = model.alone.observed(replace(c, columns=c.columns[:, chosen])).aggregate()
    rng = np.random.default_rng(12)
    at = Parameters(
        rng.normal(size=N), 0.3 * rng.normal(size=(len(model.judge_blocks), K)), 0.2 * rng.normal(size=len(chosen))
    )

    def rise(judge, gamma):
        judges = np.stack([at.judges, at.judges])
        judges[:, 0, judge] = -np.inf, np.log(gamma)
        zero, above = (evaluate(c, model, replace(at, judges=values)).log_likelihood for values in judges)
        return (above - zero) / gamma

    slopes, step = [], 1e-3
    for judge in range(K):
        wide, half, quarter = (rise(judge, step / divisor) for divisor in (1, 2, 4))
        slopes.append((wide - 6 * half + 8 * quarter) / 3)
    assert_allclose(evaluate(c, model, at, "observed").slope_at_zero, slopes, rtol=1e-6, atol=1e-4)


def test_the_penalty_and_its_derivatives(records):
    rng = np.random.default_rng(3)
    blocks = tuple(
        replace(block, means=rng.normal(size=(N, 2))) if block.role in (Role.QUALITY, Role.OFFSET) else block
        for block in in_every_role(records)[0]
    )
    model = replace(NAMED["position_aware_graded"], further=blocks)
    at = Parameters(rng.normal(size=N), 0.4 * rng.normal(size=(4, K)), rng.normal(size=10))
    names = ("scores", *model.judge_blocks, *(block.name for block in blocks))
    spread = dict(zip(names, np.linspace(0.5, 1.7, len(names)), strict=True))

    def moved(step):
        return Parameters(
            at.scores + step[:N], at.judges + step[N : N + 4 * K].reshape(4, K), at.common + step[N + 4 * K :]
        )

    h, pull = 1e-5, pulled(model, at, spread)[1]
    hessian = penalty(model, at, spread, observed=True)
    for place, unit in enumerate(np.eye(len(pull))):
        (up, slope_up), (down, slope_down) = (pulled(model, moved(sign * h * unit), spread) for sign in (1, -1))
        assert pull[place] == pytest.approx((up - down) / (4 * h), abs=1e-6)
        np.testing.assert_allclose((slope_up - slope_down) / (2 * h), hessian[place], atol=1e-5)


@pytest.mark.parametrize("member", ["judge_aware", "position_aware_ties", "btl"])
def test_a_block_that_changes_nothing_leaves_the_fit_as_it_is(records, member):
    """Of a column that is zero but for one comparison: scores, errors and log-likelihood of the member alone."""
    one = np.zeros(len(records.comparisons))
    one[0] = 1e-9
    design = Block("nothing", Role.OFFSET, lambda records: Design(csr_array(one[:, None]), ("x",)), shrunk=True)
    own, result = fit(records.comparisons, member), fit(records, member, blocks=[design])
    np.testing.assert_allclose(result.scores, own.scores, atol=1e-6)
    np.testing.assert_allclose(result.discrimination, own.discrimination, atol=1e-5)
    assert result.log_likelihood == pytest.approx(own.log_likelihood, abs=1e-6)
    n = N + (K if member != "btl" else 0)
    np.testing.assert_allclose(result.covariance[:n, :n], own.covariance[:n, :n], rtol=1e-4, atol=1e-8)
    assert result.spread == {"nothing": 0.0} or result.test("nothing").p_value > 0.4


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
    low = result.confidence_intervals().query("parameter == 'style' and name == 'length'")["low"].iloc[0]
    assert low > 0


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
    assert result.marginal_log_likelihood == pytest.approx(total, abs=0.02)


def test_nothing_there_is_found_to_be_nothing():
    result = fit_blocks(drawn(5, length=0.0), ["category", "style:lines"], "position_aware")
    assert result.test("category").p_value > 0.05
    assert result.test("style").p_value > 0.01
    assert result.spread["category"] < 0.2
    assert "style" in result.summary()


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
    asked = np.unique(records.frame["question_id"].astype(str), return_inverse=True)[1]
    table = held_out(records, fold, "position_aware_ties", blocks=["style:length"]).set_index("question")
    assert sorted(table.index) == list(range(Q))
    gain = table["described"] - table["without"]
    assert gain.mean() > 2 * gain.std() / np.sqrt(Q)
    again = fit(records.comparisons.take(np.flatnonzero(fold != 0)), "position_aware_ties")
    p = again.probability(records.comparisons.take(np.flatnonzero(fold == 0)))
    tie = again.tie_probability(records.comparisons.take(np.flatnonzero(fold == 0)))
    y = records.comparisons.outcome[fold == 0]
    given = np.where(y == 1, p - tie / 2, np.where(y == 0, 1 - p - tie / 2, tie))
    expected = pd.Series(np.log(given)).groupby(asked[fold == 0]).sum()
    np.testing.assert_allclose(table["without"][expected.index], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("fold", "message"),
    [
        ("position_aware_ties", "fold is 'position_aware_ties'; expected a whole number for each"),
        (np.arange(3), r"fold is an array of int64, shape \(3,\); expected"),
        (None, "fold is an array of object"),
        ("same", "same fold"),
    ],
)
def test_what_are_no_folds_is_refused_in_a_sentence(records, fold, message):
    given = np.zeros(len(records.comparisons), int) if isinstance(fold, str) and fold == "same" else fold
    with pytest.raises(ConfigError, match=message):
        held_out(records, given)


EVERY_KIND = ["style:length", "style_by_judge:lines", "category", "category_position", "family"]


def judging_themselves(records: Records) -> Records:
    """The same with judges who have names of models, and lengths of few values, so that rows are alike."""
    frame = records.frame.assign(**{f"length_{side}": records.frame[f"lines_{side}"] // 3 for side in "ab"})
    return Records(replace(records.comparisons, judges=MODELS_OF[:K], covariate=None), frame)


# The slope in log tau is by differences of 3e-5. Rounding, 1e-13 of a log-likelihood of 1,000, moves its root by
# some 1e-7.
ROUNDED = 1e-6


def same_fit(one, other):
    assert one.spread.keys() == other.spread.keys()
    found = {name for name in one.spread if one.spread[name] > 0}
    assert found == {name for name in other.spread if other.spread[name] > 0}
    moved = max((abs(np.log(one.spread[name] / other.spread[name])) for name in found), default=0.0)
    assert moved < ROUNDED
    close = 1e-9 + 2 * moved  # a shrunk value moves by at most twice its share of what tau does
    for name in ("scores", "discrimination", "position", "tie"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=close, atol=close)
    for block in one.blocks:
        assert_allclose(one.parameters(block.name), other.parameters(block.name), rtol=close, atol=close)
    # the log-likelihood without its penalty is at no maximum: its slope in log tau is below the number of values
    many = sum(len(one.parameters(block.name)) for block in one.blocks)
    close = 1e-10 * abs(other.log_likelihood) + many * moved
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=0, abs=close)
    assert one.marginal_log_likelihood == pytest.approx(other.marginal_log_likelihood, rel=1e-10)
    assert_allclose(one.covariance, other.covariance, rtol=1e-7, atol=1e-12 + moved * one.covariance.max())


@pytest.mark.parametrize("block", EVERY_KIND)
def test_a_fit_of_rows_that_are_alike_together_equals_that_of_each_by_itself(records, block, monkeypatch):
    records = judging_themselves(records)
    together = fit_blocks(records, [block], "position_aware_ties")
    monkeypatch.setattr(Comparisons, "aggregate", lambda self: self)
    alone = fit_blocks(records, [block], "position_aware_ties")
    assert len(together.comparisons) < 0.9 * len(alone.comparisons) == 0.9 * len(records.comparisons)
    same_fit(together, alone)


def counted(records: Records, columns: list[str]) -> Records:
    """Cells that differ in models, judge, answer or one of the columns, with counts, and a table of these."""
    c = records.comparisons
    rows = records.frame[columns].assign(first=c.first, second=c.second, judge=c.judge, outcome=c.outcome)
    cells = rows.groupby(list(rows.columns), as_index=False).size()
    parts = (cells[name].to_numpy() for name in ("first", "second", "judge", "outcome", "size"))
    tied = (cells["outcome"] == 0.5).to_numpy(float)
    return Records(Comparisons(c.models, c.judges, *parts, tied=tied), cells[columns])


@pytest.mark.parametrize(
    ("block", "columns"),
    [
        ("style:length", ["length_a", "length_b"]),
        ("style_by_judge:length", ["length_a", "length_b"]),
        ("category", ["category"]),
        ("category_position", ["category"]),
        ("family", ["category"]),
        ("taste", ["category"]),
    ],
)
def test_cells_with_counts_and_the_columns_of_a_block_are_fitted_as_their_rows_are(records, block, columns):
    records = judging_themselves(records)
    cells = counted(records, columns)
    assert len(cells.comparisons) < 0.9 * len(records.comparisons)
    whole, merged = (fit_blocks(of, [block], "position_aware_ties") for of in (records, cells))
    same_fit(merged, whole)
    assert merged.test(merged.blocks[-1].name).p_value == pytest.approx(
        whole.test(whole.blocks[-1].name).p_value, rel=1e-6
    )


def test_comparisons_alone_have_blocks_that_go_by_names(records):
    records = judging_themselves(records)
    cells = records.comparisons.aggregate()
    same_fit(
        fit(cells, "position_aware_ties", blocks=["family"]),
        fit_blocks(records, ["family"], "position_aware_ties"),
    )
    with pytest.raises(DataError, match="'category' needs a column 'category', and comparisons have no columns"):
        fit(cells, blocks=["category"])


def test_a_table_of_counts_has_blocks(records):
    records = judging_themselves(records)
    cells = counted(records, ["category"])
    c, names = cells.comparisons, np.array(MODELS_OF)
    table = cells.frame.assign(model_a=names[c.first], model_b=names[c.second], judge=names[c.judge], many=c.count)
    table["winner"] = pd.Series(c.outcome).map({1.0: "a", 0.5: "tie", 0.0: "b"})
    read = judgerank.read(table, columns={"count": "many"})
    found = fit(read, "position_aware_ties", blocks=["category"])
    same_fit(found, fit_blocks(records, ["category"], "position_aware_ties"))


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


@pytest.mark.parametrize("shrink", [False, True])
def test_what_depends_on_the_models_alone_is_refused_before_anything_runs_off(records, shrink):
    """Scores have a prior, and judges may differ in discrimination: neither tells such a length from quality."""
    frame = records.frame.copy()
    for side, index in (("a", records.comparisons.first), ("b", records.comparisons.second)):
        frame[f"copy_{side}"] = np.linspace(0, 1, N)[index]
    with pytest.raises(NotIdentifiedError, match="cannot tell apart what belongs to scores and style"):
        fit(Records(records.comparisons, frame), "judge_aware", blocks=["style:copy"], shrink=shrink)


def longer_if_better(seed: int, longer: float = 0.0, effect: float = 0.0) -> Records:
    """Lengths that differ between models twice as much as within, with quality; `longer` by place besides."""
    rng = np.random.default_rng(seed)
    question = np.arange(40).repeat(15)
    i, j = np.array([rng.permutation(N)[:2] for _ in question]).T
    s = np.linspace(1, -1, N)
    length, quality = rng.normal(2 * s, 1.0, (40, N)), rng.normal(s, 0.8, (40, N))
    eta = (quality + effect * length)[question, i] - (quality + effect * length)[question, j]
    y = (rng.random(len(eta)) < expit(eta)).astype(float)
    frame = pd.DataFrame({"question_id": question})
    frame["length_a"], frame["length_b"] = ((length + longer * np.arange(N))[question, end] for end in (i, j))
    return Records(Comparisons(MODELS_OF, JUDGES, i, j, rng.integers(K, size=len(eta)), y), frame)


@pytest.mark.parametrize("questions", [None, "effects"])
def test_how_long_a_models_answers_are_decides_nothing_but_its_score(questions):
    """The shrunk fit finds the effect by differences within models, and shrinks scores as they are without it."""
    found = []
    for longer in (0.0, 0.7):
        given = longer_if_better(1, longer)
        own = fit(given, "position_only", blocks="style:length", shrink=True, questions=questions)
        unit = np.sqrt(np.mean((given.frame["length_a"] - given.frame["length_b"]) ** 2))
        found.append((own, own.solution.parameters.common[0] / unit))
    (one, effect), (other, same) = found
    assert same == pytest.approx(effect, abs=1e-4)
    assert_allclose(one.scores - other.scores, 0.7 * effect * (np.arange(N) - 2), atol=1e-3)
    assert other.spread["scores"] == pytest.approx(one.spread["scores"], rel=1e-3)


@pytest.mark.parametrize("effect", [0.0, 0.5])
def test_a_shrunk_fit_finds_the_effect_that_the_exact_one_finds(effect):
    """Scores that are shrunk would leave to length what the two share: half a log-odds and more, by nothing."""
    given = longer_if_better(2, effect=effect)
    shrunk, exact = (fit(given, "position_only", blocks="style:length", shrink=own) for own in (True, False))
    (low, at, high), (low_exact, at_exact, high_exact) = (
        one.to_frame().set_index("parameter").loc["style", ["low", "estimate", "high"]] for one in (shrunk, exact)
    )
    assert at == pytest.approx(at_exact, abs=0.1 * (high_exact - low_exact))
    assert high - low == pytest.approx(high_exact - low_exact, rel=0.1)


def test_judges_differences_do_not_stand_in_for_a_common_effect():
    """The prior of scores cannot tell an effect of all judges from the same difference of each."""
    given = longer_if_better(4)
    model = fit(given, "position_aware", blocks="style_by_judge:length", shrink=True).model
    rng = np.random.default_rng(0)
    scores, judges = rng.normal(size=N), rng.normal(size=(2, K))
    alike = (Parameters(scores, judges, np.r_[one, np.full(K, other)]) for one, other in ((0.7, 0.0), (0.0, 0.7)))
    of_all, of_each = (pulled(model, at, {"scores": 0.5})[0] for at in alike)
    assert of_all == pytest.approx(of_each, rel=1e-9)


def test_judges_who_flip_coins_leave_errors_by_question():
    """At one of the standard deviations averaged over, the observed information is not positive definite."""
    given, outcome = longer_if_better(25), np.random.default_rng(25).random(600) < 0.5
    rows = np.arange(0, 600, 3)
    coins = replace(given.comparisons, outcome=outcome.astype(float)).take(rows)
    records = Records(coins, given.frame.iloc[rows].reset_index(drop=True))
    found = fit(records, "position_aware", blocks="style:length", shrink=True, cluster="question")
    assert (found.to_frame().query("parameter == 'style'")["high"] < 3.0).all()


def test_own_family(tmp_path, records):
    table = read_families_of(tmp_path, "begins,family\ngpt-,A\ngpt-x,B\n")
    assert family_of("org/GPT-4", table) == "A"
    assert family_of("gpt-x-1", table) == "B"
    assert family_of("claude", table) == ""
    assert families_of(["gpt-x-1", "GPT-4", "claude"], table) == ["B", "A", ""]
    names = ("gpt-1", "gpt-2", "other", "gpt-1-judge", "z")
    path = tmp_path / "families.csv"
    c = replace(records.comparisons, models=names, judges=("gpt-1", "gpt-9", "nobody", "other"))
    result = fit_blocks(Records(c, records.frame), [f"family:{path}"], "position_aware")
    columns = result.raw.columns.toarray()
    expected = np.zeros_like(columns)
    for row in range(len(c)):
        judge = c.judges[c.judge[row]]
        for sign, model in ((1, names[c.first[row]]), (-1, names[c.second[row]])):
            own = model == judge
            expected[row, 0] += sign * own
            expected[row, 1] += sign * (not own and model.startswith("gpt") and judge.startswith("gpt"))
    np.testing.assert_array_equal(columns, expected)
    with pytest.raises(DataError, match="'family'"):
        fit_blocks(records, ["family"])


def read_families_of(folder, text: str) -> pd.DataFrame:
    (folder / "families.csv").write_text(text)
    return read_families(folder / "families.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [("begins\nx\n", "no column 'family'"), ("begins,family\nx,\n", "line 2"), ("", r"families\.csv")],
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
    assert (table.query("parameter == 'first_and_long'")["low"] > 0).all()
    assert "first_and_long" in result.summary()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("styl:length", "no block 'styl'"),
        ("style", "'style'.*style:length"),
        ("style:a,a", "each once"),
        ("category:a,b", "one column"),
        ("nowhere.py", "no file nowhere.py"),
        ("json", "no block 'json'"),
        ("os.path", "'os.path'.*`block`"),
        ("family:a,b", "one table"),
    ],
)
def test_what_is_no_block_is_refused(name, message):
    with pytest.raises(ConfigError, match=message):
        named(name)


def test_known_blocks_can_all_be_named():
    assert set(known()) >= {"style", "style_by_judge", "category", "category_position", "family", "taste"}
    for name in known():
        assert named(name if name == "taste" else f"{name}:length")


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
    with pytest.raises(ConfigError, match="there twice"):
        fit_blocks(records, ["style:length", "style:lines"])
    with pytest.raises(DataError, match="1200 records for 160 rows of comparisons"):
        Records(records.comparisons.aggregate(), records.frame)
    result = fit_blocks(records, ["category"])
    with pytest.raises(ConfigError, match="no further block 'style'"):
        result.test("style")
    with pytest.raises(ConfigError, match="is shrunk"):
        result.wald("category")
