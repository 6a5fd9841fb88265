"""What to collect next, and what the verdict warns of."""

from __future__ import annotations

import json
import re
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner

import judgerank
from judgerank import Comparisons, fit, rank
from judgerank.cli import app
from judgerank.data.arrays import generator
from judgerank.data.comparisons import POOLED_JUDGE
from judgerank.data.errors import ConfigError, NoMaximumError
from judgerank.engine.information import covariance
from judgerank.fits.errors_by_question import Questions
from judgerank.inference.wald import normal_quantile
from judgerank.model.kinds import family
from judgerank.order.pairs import pairwise
from judgerank.order.scale import best_known_scores, scale_of
from judgerank.ranking.components import first_links
from judgerank.ranking.diagnosis import examine
from judgerank.ranking.first_screen import REASONS, judges_of
from judgerank.ranking.judge_policy import STAYS, Kind
from judgerank.ranking.studies import by_judge, panel
from judgerank.ranking.studies import next_comparisons as advice
from judgerank.ranking.studies.estimation import HARMLESS
from judgerank.ranking.studies.next_comparisons import CHANCE, next_comparisons, variance_after
from judgerank.ranking.trust_report import trust_report
from judgerank.ranking.verdict import CHOOSE, OTHER_ORDER, leaders, verdict
from judgerank.ranking.views import views
from judgerank.trust.refits import Units
from judgerank.trust.removal import _not_enough

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


# What the verdict warns of, on judges simulated with a known fault.

PAIRS = [(i, j) for i in range(4) for j in range(i + 1, 4)]


def drawn(scores, judges, n_questions: int = 120, swapped: float = 0.5, seed: str = "verdict") -> pd.DataFrame:
    """Every judge answers one pair of models on each question.

    `scores` are by model. `judges` have a discrimination, a position bias and a model that they add one to; the
    model that is later in `scores` is shown first in a share `swapped` of the questions.
    """
    rng, rows, names = generator(0, seed), [], list(scores)
    pairs = [(i, j) for i, j in PAIRS if j < len(names)]
    for question in range(n_questions):
        i, j = pairs[question % len(pairs)]
        first, second = (names[j], names[i]) if rng.random() < swapped else (names[i], names[j])
        for judge, (gamma, position, own) in judges.items():
            eta = gamma * (scores[first] - scores[second]) + position + 2.0 * ((own == first) - (own == second))
            rows.append((question, first, second, judge, "a" if rng.random() < expit(eta) else "b"))
    return pd.DataFrame(rows, columns=["question", "model_a", "model_b", "judge", "winner"])


EQUAL = {"old": 0.0, "new": 0.0}
SECOND = {f"j{k}": (1.0, -0.6, "") for k in range(3)}  # judges who favour the second answer


def test_a_lead_that_may_be_position_bias_alone_is_called_so(tmp_path):
    frame = drawn(EQUAL, SECOND, swapped=0.0)
    told = verdict(rank(frame))
    assert told.headline == "new leads, unless judges favour the answer shown second"
    assert re.search(r"\bunless\b.*\bsecond\. .*\bneither position, new ranks first \(95%", told.lead)
    assert told.next == OTHER_ORDER and told.warnings[0].kind == Kind.POSITIONS
    assert re.search(r"\balways\b.*\bposition bias\b.*\bcannot\b.*\bshown second, new\b", told.warnings[0])
    file = tmp_path / "one.csv"
    frame.to_csv(file, index=False)
    done = CliRunner().invoke(app, ["rank", str(file), "-o", str(tmp_path / "out"), "--json"])
    found = json.loads(done.stdout)
    assert found["warnings"][0] == told.warnings[0] and found["next"] == told.next
    page = (tmp_path / "out/index.html").read_text()
    assert f"<li>{told.warnings[0]}</li>" in page and f"<h1>{told.headline}" in page


def test_a_few_answers_in_the_other_order_do_not_silence_it():
    frame = drawn(EQUAL, SECOND, n_questions=150, swapped=0.01)
    assert 0 < (frame["model_a"] == "new").mean() < 0.02
    assert "was nearly always shown in the same order" in verdict(rank(frame)).warnings[0]


def test_orders_that_tell_position_from_quality_are_not_warned_of():
    three = {"old": 0.0, "new": 0.0, "other": 0.0}
    one_pair = drawn(three, SECOND)
    late = one_pair["model_a"].eq("new") & one_pair["model_b"].eq("old")
    one_pair.loc[late, ["model_a", "model_b"]] = ["old", "new"]  # of one pair alone there is one order
    for frame in (
        drawn(EQUAL, SECOND),
        drawn(EQUAL, SECOND, swapped=0.1),
        one_pair,
        drawn(three, SECOND, swapped=0),
    ):
        told = verdict(rank(frame))
        assert not any("same order" in one for one in told.warnings)
        assert "favour" not in told.headline + told.lead and "other order" not in told.next
    unordered = drawn(EQUAL, SECOND, swapped=0.0)
    won = np.where(unordered["winner"] == "a", unordered["model_a"], unordered["model_b"])
    lost = np.where(unordered["winner"] == "a", unordered["model_b"], unordered["model_a"])
    assert not any("same order" in one for one in verdict(rank(list(zip(won, lost, strict=True)))).warnings)


def test_a_baseline_always_shown_first_leaves_the_others_comparable():
    four = {"base": 0.0, "m1": 0.2, "m2": 0.2, "m3": 0.2}
    frame = drawn(four, SECOND, swapped=0.0)
    frame = frame[frame["model_a"] == "base"]
    told = verdict(rank(frame))
    assert "unless" not in told.headline + told.lead
    assert told.lead.count("Only if judges favour neither position, the true rank of m") == 1
    assert "always" in told.warnings[0] and not any(name in told.warnings[0] for name in four)
    assert told.next == OTHER_ORDER


def test_every_verdict_on_a_judge_has_a_meaning_and_a_reason_of_its_own():
    assert list(REASONS) == list(panel.MEANING)
    effects = pd.DataFrame(
        [
            (effect, f"{effect} {estimate}", estimate, 0.1, 0.0, 0.0)
            for effect in (by_judge.LENGTH, family.OWN, family.MAKER, "markdown")
            for estimate in (-1.0, 1.0)
        ],
        columns=["effect", "judge", "estimate", "standard_error", "p_value", "p_holm"],
    )
    found = {judge: by_judge.problem(effects, judge, 0.95) for judge in effects["judge"]}
    assert {panel.kind_of(one) for one in found.values()} == {panel.BY_EFFECT}
    assert {one for one in by_judge.BEGINNINGS if any(text.startswith(one) for text in found.values())} == {
        *by_judge.BEGINNINGS
    }
    reasons = [by_judge.reason(effects, judge, 0.95) for judge in effects["judge"]]
    assert len({*reasons}) == len(effects)
    assert "picks its own answer 73% of the time against an equally good one" in reasons
    assert panel.kind_of("same as j1") == "same" and panel.kind_of(panel.LEANS[1]) == panel.BY_POSITION
    with pytest.raises(ValueError, match="no verdict 'odd'"):
        panel.kind_of("odd")


PARTIAL = {"m0": (1.0, 0.0, "m0"), "j1": (0.8, 0.0, ""), "m2": (0.8, 0.0, "")}
CLOSE = {"m0": 0.3, "m1": 0.5, "m2": 0.0, "m3": -0.8}


def test_a_leader_by_its_own_votes_is_called_so():
    ranking = rank(drawn(CLOSE, PARTIAL, n_questions=300), own_maker="count", whose="this_panel")
    (partial,) = [judge for judge in judges_of(ranking) if judge.name == "m0"]
    assert partial.problem == "favours its own answers"
    assert re.search(r"\bown answer \d+% of the time", partial.reason) and "match" not in partial.reason
    told = verdict(ranking)
    start = "m0 leads, but this depends on judge m0, which favours its own answers: without that judge "
    assert told.headline.startswith(start) and told.claim == "m0 leads"
    assert told.next == "To settle who leads, collect more answers from judges other than m0."
    (problem,) = [one for one in told.warnings if "problem" in one]
    assert problem == "1 of 3 judges has a problem (see Judges on the page): m0 (favours its own answers)."
    (view,) = [view for view in views(ranking) if view.name == "m0"]  # the page says the same
    assert told.headline.removeprefix(start).split(" (")[0].casefold() in view.sentence.casefold()
    assert set(ranking.tables["next"]["judge_model"]) == {"j1", "m2"}


def test_a_judge_who_favours_itself_has_no_vote_on_itself():
    ranking = rank(drawn(CLOSE, PARTIAL, n_questions=300))
    assert ranking.tables["leaderboard"]["model"].iloc[0] == "m1" and "but" not in verdict(ranking).headline
    (partial,) = [judge for judge in judges_of(ranking) if judge.name == "m0"]
    assert partial.problem == "favours its own answers"


def test_a_judge_who_favours_a_model_far_below_the_lead_changes_no_headline():
    judges = {"m3": (1.0, 0.0, "m3"), "j1": (1.0, 0.0, ""), "j2": (1.0, 0.0, "")}
    ranking = rank(
        drawn({"m0": 1.5, "m1": 0.3, "m2": -0.2, "m3": -1.5}, judges, n_questions=300), whose="this_panel"
    )
    told = verdict(ranking)
    assert any("m3 (favours its own answers)" in one for one in told.warnings)
    assert told.headline == "m0 leads"
    assert any(one.endswith(STAYS.format("it")) for one in told.warnings)


def test_one_coefficient_for_judges_who_favour_their_own_unequally_is_warned_of():
    judges = PARTIAL | {"m1": (1.0, 0.0, ""), "m3": (1.0, 0.0, "")}
    ranking = rank(drawn(CLOSE, judges, n_questions=300), blocks=["family"])
    (said,) = [one for one in verdict(ranking).warnings if one.startswith("Judges differ in how much")]
    assert "they favour their own answers (p " in said and "corrects too little for m0." in said
    assert not any(remark.startswith(by_judge.BY_JUDGE) for remark in rank(drawn(CLOSE, judges)).remarks)


def test_a_judge_who_always_picks_the_first_answer_is_named_as_such():
    judges = {"good": (1.5, 0.0, ""), "ok": (1.0, 0.0, ""), "firster": (0.0, 50.0, "")}
    ranking = rank(drawn({"m0": 0.6, "m1": 0.2, "m2": -0.2, "m3": -0.6}, judges, n_questions=300))
    assert "firster" in ranking.fit.comparisons.judges
    (named,) = [judge for judge in judges_of(ranking) if judge.name == "firster"]
    assert named.problem == panel.LEANS[0]
    assert named.reason == "picks the first answer 100% of the time between two equal models"
    warnings = verdict(ranking).warnings
    assert not any(one.endswith(HARMLESS) for one in warnings)
    assert not (ranking.tables["judges"]["verdict"] == "unclear").any()
    assert any(remark.endswith(HARMLESS) for remark in ranking.remarks)


def test_tastes_are_settled_by_more_judges_and_not_by_more_of_their_answers():
    """Three judges, each of whom favours another model: for this panel as it is, two models differ clearly."""
    judges = {"j0": (1.0, 0.0, "m0"), "j1": (1.0, 0.0, "m1"), "j2": (1.0, 0.0, "m0")}
    ranking = rank(drawn({"m0": 0.3, "m1": 0.2, "m2": -0.2, "m3": -0.6}, judges, 400), blocks=["taste"])
    fitted, (best, second) = ranking.fit, ranking.tables["leaderboard"]["model"].iloc[:2]
    assert advice.tastes_matter(fitted) and not advice.tastes_matter(fitted.for_this_panel())
    assert advice.cost_of_pair(fitted.for_this_panel(), best, second) is not None
    assert advice.cost_of_pair(fitted, best, second) is None
    assert re.search(rf"\b{best} and {second}, add judges: judgerank plan .*\btastes\b", verdict(ranking).next)


def test_leaders_that_differ_by_category_are_named():
    judges = {"j0": (1.2, 0.0, ""), "j1": (1.0, 0.0, "")}
    code = drawn({"m0": 1.0, "m1": 0.0, "m2": 0.0}, judges, 150, seed="code").assign(category="code")
    prose = drawn({"m0": 0.0, "m1": 1.0, "m2": 0.0}, judges, 150, seed="prose").assign(category="prose")
    alike = drawn({"m0": 0.0, "m1": 0.0, "m2": 0.0}, judges, 150, seed="alike").assign(category="alike")
    ranking = rank(pd.concat([code, prose, alike], ignore_index=True).assign(question=lambda x: x.index // 2))
    told = verdict(ranking)
    assert re.search(r"\bcode: m0 leads; prose: m1 leads \(significant, .*\b3 categories\)\.$", told.categories)
    assert told.categories in told.lines() and told.next.startswith(CHOOSE)
    assert f'"lead">{told.categories}</p>' in ranking.to_html()
    assert leaders(rank(pd.concat([code, alike.assign(category="two")]))) == {"code": "m0"}
    one = verdict(rank(pd.concat([code, code.assign(category="two")], ignore_index=True)))
    assert one.headline == "m0 leads" and one.categories == ""


def test_a_category_is_tested_beside_all_categories():
    """Twenty categories of equal models: a leader of one is not significant beside the others."""
    judges = {"j0": (1.0, 0.0, "")}
    parts = [
        drawn({"m0": 0.0, "m1": 0.0, "m2": 0.0}, judges, 60, seed=f"part {k}").assign(category=f"c{k}")
        for k in range(20)
    ]
    ranking = rank(pd.concat(parts, ignore_index=True).assign(question=lambda x: x.index))
    assert leaders(ranking) == {} and verdict(ranking).categories == ""


def test_one_judge_decides_only_with_most_of_the_weight():
    two = drawn(CLOSE, {"j0": (1.2, 0.0, ""), "j1": (1.0, 0.0, "")})
    assert not any(one.startswith("One judge, ") for one in verdict(rank(two)).warnings)
    ranking = rank(drawn(CLOSE, {"j0": (3.0, 0.0, ""), "j1": (0.7, 0.0, "")}))
    (said,) = [one for one in verdict(ranking).warnings if one.startswith("One judge, ")]
    share = ranking.tables["judges"].set_index("judge")["information"]["j0"]
    assert re.search(rf"\bj0\b.*\b{share:.0%}", said)


def test_the_note_on_position_bias_names_the_judges_whose_verdict_it_is():
    """A small position bias is significant by the test of all judges, and no judge's verdict."""
    judges = {"j0": (1.0, 0.3, ""), "j1": (1.0, 0.3, ""), "j2": (1.0, 1.2, "")}
    ranking = rank(drawn({"m0": 0.6, "m1": 0.2, "m2": -0.2, "m3": -0.6}, judges, n_questions=400))
    verdicts = ranking.tables["judges"].set_index("judge")["verdict"]
    assert verdicts.to_dict() == {"j0": "fine", "j1": "fine", "j2": panel.LEANS[0]}
    (_,) = [remark for remark in ranking.remarks if "first: j2." in remark]
    meaning = panel.UNBIASED
    assert meaning in panel.MEANING["fine"] and meaning in ranking.to_html()
    assert meaning not in rank(ranking.judgments, model="judge_aware").to_html()


def test_the_leaderboard_in_the_terminal_calls_a_group_what_the_page_does():
    ranking = rank(drawn(CLOSE, SECOND))
    head, *_, last = ranking.board_text().splitlines()
    assert head.split()[-2:] == ["group", "comparisons"] and "band" not in str(ranking)
    assert last.startswith("group: ")
    assert "group" in ranking.tables["leaderboard"]  # as in JSON and in files


def test_one_question_and_one_judgment_are_counted_in_words():
    assert Questions(1, 1.0, 5).too_few_to_tell("more") == (
        "Too few questions to tell more: there is 1 question and 5 free parameters, and it takes more questions "
        "than parameters."
    )
    units = Units("judgments", None, 1, np.zeros(1, int))
    assert _not_enough(0, units) == "more than 50% of the judgments would have to go"


def near_copies_file(path, copies=5, judges=8, questions=200):
    """A file in which some judges are one with a tenth of its answers turned."""
    rng, s = np.random.default_rng(1), np.linspace(0.9, -0.9, 6)
    first = rng.integers(6, size=questions)
    second = (first + rng.integers(1, 6, size=questions)) % 6
    p = 1 / (1 + np.exp(s[second] - s[first]))
    one, rows = rng.random(questions) < p, []
    for judge in range(judges):
        own = rng.random(questions) < p
        won = np.where(rng.random(questions) < 0.1, ~one, one) if judge < copies else own
        ends = {"model_a": [f"m{i}" for i in first], "model_b": [f"m{i}" for i in second]}
        answer = {"judge": f"j{judge}", "winner": np.where(won, "model_a", "model_b")}
        rows.append(pd.DataFrame({"question_id": [f"q{i}" for i in range(questions)], **ends, **answer}))
    pd.concat(rows).to_csv(path, index=False)
    return path


def test_near_copies_are_named_by_every_command_and_the_number_of_judges_is_one(tmp_path):
    path = near_copies_file(tmp_path / "near.csv")
    ranking, judgments = rank(path), judgerank.read(path)
    result, report = verdict(ranking), trust_report(judgments, most=1)
    number = ranking.tables["effective_judges"].iloc[0]["estimate"]
    row = report.panel.worth.set_index("measure").loc["information"]
    assert number == pytest.approx(row["estimate"], rel=1e-6) and number < 4
    assert dict(result.facts)["8"].endswith(f"{number:.1f})")
    named = [warning for warning in result.warnings if "j0, j1, j2, j3, j4" in warning]
    assert len(named) == 1 and "j5" not in named[0]
    assert named[0] in str(report)
    findings = list(examine(path))
    assert [text for topic, text in findings if topic == "near copies"] == named
    assert any(f"{number:.1f}" in text for topic, text in findings if topic.startswith("effective "))


def test_a_first_group_without_intervals_is_claimed_of_nothing():
    """The second group has them, so there are tests of pairs, but not of the two that the verdict is on."""
    answers = zip("abababbaaabbababbabaababbaaaab", "abbabaabaaaabbabbbaaaaabbaaabb", strict=True)
    rows = [
        (*pair, answer, f"q{number % 5}")
        for number, both in enumerate(answers)
        for pair, answer in zip((("m0", "m1"), ("m2", "m3")), both, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "question"])
    ranking = rank(frame, model="position_aware")
    board = ranking.leaderboard
    of_first = board["model"].isin(["m0", "m1"])
    assert board["rank_low"].notna().tolist() == (~of_first).tolist()
    assert "may be chance" in verdict(ranking).lead
    assert verdict(ranking).lead in ranking.to_html()


@pytest.mark.parametrize(
    ("winner", "result"), [("model_a", "A was preferred"), ("model_b", "B was preferred"), ("tie", "a tie")]
)
def test_a_single_comparison_of_the_first_two_is_no_percentage(winner, result):
    rows = [("A", "C", "model_a" if n < 46 else "model_b") for n in range(60)]
    rows += [("B", "C", "model_a" if n < 40 else "model_b") for n in range(60)]
    rows.append(("A", "B", winner))
    ranking = judgerank.rank(pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))
    assert verdict(ranking).evidence.startswith(f"A and B (2nd) were compared once: {result}. The model estimates")
