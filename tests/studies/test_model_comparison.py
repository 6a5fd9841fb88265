"""Members of the family side by side: folds of whole questions, predictions, the stored comparison."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from judgerank import Comparisons, fit
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.judgments import Judgments
from judgerank.fits.heldout import losses_with_ties, three_outcomes
from judgerank.model.members import MODELS
from judgerank.model.streams import generator
from replication.config import ROOT
from replication.differences import compare
from studies.cross_validation import cross_validated, folds_of
from tests.real_data import needs_data
from tests.replication.test_sections import run, tree


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
