"""Human votes beside a panel: closed forms, a second minimiser, invariances, and what intervals hold."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import chi2, f, norm, t

from judgerank import fit, people_report
from judgerank.data.errors import DataError, NoMaximumError
from judgerank.data.listing import listed
from judgerank.people import agreement
from judgerank.people.agreement import agreement_text, agreement_with_people
from judgerank.people.anchor import anchored_by_people, disagreement, next_items, next_pairs
from judgerank.people.items import Items, human_rows, items_of
from judgerank.people.report import UNDETERMINED, on_scale_of, vote_losses
from judgerank.people.toward_panel import TowardPanel, drawn_toward_panel
from judgerank.reading.read import judgments_of
from studies.people import crowded, drawn, human_scale, voted_once


def parts(seed, bias=0.0, sd=1.0, asked=200):
    rows, question, human = drawn(np.random.default_rng(seed), bias, sd, asked)
    panel = fit(rows.take(np.flatnonzero(~human)), "judge_aware")
    return rows, question, human, panel, items_of(rows, question, human, panel)


def frame_of(rows, question, human, mark=True):
    frame = rows.to_frame().rename(columns={"judge_preferred_model": "winner", "judge_model": "judge"})
    frame["question"] = [f"q{number}" for number in question]
    return frame.assign(human=np.where(human, "yes", "no")) if mark else frame


def test_the_scores_minimise_the_corrected_loss():
    """Beside scipy's minimiser of the loss as it is written down."""
    items = parts(1, bias=1.0)[-1]
    found = anchored_by_people(items)
    asked, lam = items.asked, found.weight
    assert 0 < lam < 1

    def loss(t):
        d = t[items.first] - t[items.second]

        def cross_entropy(y, rows):
            return -np.mean(y[rows] * log_expit(d[rows]) + (1 - y[rows]) * log_expit(-d[rows]))

        own, other = cross_entropy(items.human, asked), cross_entropy(items.panel, ~asked)
        return own + lam * (other - cross_entropy(items.panel, asked)) + t.sum() ** 2

    best = minimize(loss, np.zeros(len(items.models)), tol=1e-12).x
    np.testing.assert_allclose(found.scores, best, atol=1e-5)


def test_people_alone_are_the_unweighted_fit_of_their_votes_clustered_by_question():
    items = parts(2)[-1]
    found, plain = anchored_by_people(items), fit(items.comparisons(), "btl")
    np.testing.assert_allclose(found.alone, plain.scores, atol=1e-8)
    rows = items.comparisons()
    by = plain.clustered(rows, items.question[items.asked])
    np.testing.assert_allclose(found.covariance_alone, by.covariance, rtol=1e-6, atol=1e-10)


def test_a_panel_that_is_people_gives_them_all_its_weight_and_a_coin_none():
    items = parts(3)[-1]
    whole = np.where(items.asked, items.human, np.random.default_rng(1).random(len(items.first)) < items.panel)
    found = anchored_by_people(replace(items, panel=whole))
    assert found.weight > 0.7 and found.saving > 0.6
    coin = np.random.default_rng(2).random(len(items.first))
    assert anchored_by_people(replace(items, panel=coin)).weight < 0.25


def test_the_weight_is_of_the_least_variance():
    from judgerank.people.anchor import _covariance

    items = parts(4)[-1]
    found = anchored_by_people(items)
    at = found.alone
    traces = [np.trace(_covariance(items, lam, at)) for lam in (0.0, found.weight, 1.0)]
    assert traces[1] < min(traces[0], traces[2])


def test_what_the_panel_lets_expect_leaves_its_positions_out():
    """All shown in either order: a lean towards the first shown is no vote."""
    rng = np.random.default_rng(5)
    rows, question, human = drawn(rng, 0.0, 0.5, 150)
    turn = rng.random(len(rows)) < 0.5
    shown = replace(
        rows,
        first=np.where(turn, rows.second, rows.first),
        second=np.where(turn, rows.first, rows.second),
        outcome=np.where(turn, 1 - rows.outcome, rows.outcome),
    )
    plain, turned = (
        items_of(c, question, human, fit(c.take(np.flatnonzero(~human)), "judge_aware")) for c in (rows, shown)
    )
    np.testing.assert_allclose(plain.panel, turned.panel, atol=1e-7)
    np.testing.assert_array_equal(plain.human, turned.human)


@pytest.mark.slow
def test_helped_intervals_hold_where_the_panel_is_biased():
    records = pd.DataFrame(
        [
            voted_once({"bias": 1.0, "sd": 1.0, "asked": 150, "level": 0.95}, np.random.default_rng(seed))
            for seed in range(40)
        ]
    )
    assert records["covered/helped"].mean() > 0.88 > 0.7 > records["covered/as a judge"].mean()
    assert 0.03 < records["saving"].mean() < 0.4
    assert (records["p"] < 0.05).mean() > 0.4
    fair = [
        voted_once({"bias": 0.0, "sd": 1.0, "asked": 150, "level": 0.95}, np.random.default_rng(seed))["p"]
        for seed in range(60)
    ]
    assert np.mean(np.array(fair) < 0.05) < 0.17  # at .05, more than that once in a thousand times


def test_the_scale_of_a_judge_is_a_delta_method():
    rows, *_ = parts(6)
    fitted = fit(rows, "judge_aware")
    scores, v = on_scale_of(fitted, "people")
    gamma = fitted.discrimination["people"]
    np.testing.assert_allclose(scores, gamma * fitted.scores)
    names = fitted.comparisons.judges
    k, n = names.index("people"), len(scores)
    jacobian = np.zeros((n, len(fitted.covariance)))
    for place in range(len(fitted.covariance)):  # by differences of gamma s in (s, alpha)
        s, alpha = fitted.scores.to_numpy().copy(), np.log(fitted.discrimination.to_numpy())
        if place < n:
            s[place] += 1e-6
        else:
            alpha[place - n] += 1e-6
        jacobian[:, place] = (np.exp(alpha[k]) * s - scores) / 1e-6
    np.testing.assert_allclose(v, jacobian @ fitted.covariance @ jacobian.T, rtol=1e-4, atol=1e-9)
    with pytest.raises(DataError, match="'nobody'"):
        on_scale_of(fitted, "nobody")


def test_agreement_does_not_hang_on_the_scale():
    rows, _, _, panel, items = parts(7)
    found = anchored_by_people(items)
    one = disagreement(found, panel)
    twice = replace(
        panel,
        solution=replace(
            panel.solution, parameters=replace(panel.solution.parameters, scores=2 * panel.scores.to_numpy())
        ),
        errors=replace(panel.errors, robust=4 * panel.covariance),
    )
    assert disagreement(found, twice) == pytest.approx(one)
    assert one[2] == len(rows.models) - 2


def test_disagreement_is_hotellings_test_and_needs_more_questions_than_scores():
    items, panel = parts(7)[-1], parts(7)[3]
    found, n = anchored_by_people(items), len(items.models)
    for effective in (n + 0.5, 30.0, 1e7):
        several = replace(found, questions=found.questions._replace(effective=effective))
        statistic, p, d = disagreement(several, panel)
        left = effective - 1 - d + 1
        assert p == pytest.approx(f.sf(statistic * left / ((effective - 1) * d), d, left))
    assert p == pytest.approx(chi2.sf(statistic, d), rel=1e-4)
    few = replace(found, questions=found.questions._replace(effective=n - 1.0))
    assert np.isnan(disagreement(few, panel)[1])


def test_items_that_the_panel_is_split_on_are_worth_more():
    items = parts(8)[-1]
    found = anchored_by_people(items)
    listed = next_items(found)
    assert len(listed) == (~items.asked).sum() and (np.diff(listed["worth"]) <= 0).all()
    pairs = next_pairs(listed)
    assert pairs["share"].sum() == pytest.approx(1) and pairs["items"].sum() == len(listed)
    split = (listed["panel"] - 0.5).abs()
    assert listed["worth"].corr(split, method="spearman") < -0.2


def test_human_scale_of_alike_answers_is_the_truth():
    from studies.people import SCORES

    np.testing.assert_allclose(human_scale(0.0), SCORES, atol=1e-8)
    assert np.ptp(human_scale(1.0)) < np.ptp(SCORES)
    assert expit(SCORES[0] - SCORES[1]) > 0.5


# through the reader


def test_people_are_told_by_a_column_or_by_name():
    rows, question, human = drawn(np.random.default_rng(9), 0.0, 1.0, 200)
    marked = people_report(judgments_of(frame_of(rows, question, human)))
    named = people_report(judgments_of(frame_of(rows, question, human, mark=False)), ["people"])
    assert marked.table.equals(named.table)
    assert {"score", "alone", "as_judge"} <= set(marked.table)
    pairs = marked.people.win_probabilities()
    assert ((pairs["low"] < pairs["probability"]) & (pairs["probability"] < pairs["high"])).all()
    assert f"{marked.helped.saving:.0%} off" in str(marked)
    no_gain = replace(marked.helped, covariance=marked.helped.covariance_alone)
    assert " nothing off" in str(replace(marked, helped=no_gain))


def test_what_cannot_be_done_is_said():
    rows, question, human = drawn(np.random.default_rng(10), 0.0, 1.0, 200)
    frame = frame_of(rows, question, human)
    for broken, said in (
        (frame.drop(columns="question"), "question=NAME"),
        (frame.assign(human="no"), "--human"),
        (frame.assign(human="yes"), "no panel"),
        (frame.assign(human="perhaps"), "record 1 has 'perhaps' for human"),
    ):
        with pytest.raises(DataError, match=said):
            people_report(judgments_of(broken))
    with pytest.raises(DataError, match="no judge 'eve'"):
        people_report(judgments_of(frame), ["eve"])
    always = frame[~human | (frame["model_a"] != "m0") & (frame["model_b"] != "m0")]
    with pytest.raises(NoMaximumError, match="m0"):
        anchored_by_people(parts_of(always))


def parts_of(frame) -> Items:
    """The items of a table of votes."""
    judgments = judgments_of(frame)
    people = human_rows(judgments)
    rows = judgments.comparisons
    return items_of(rows, judgments.question, people, fit(rows.take(np.flatnonzero(~people)), "judge_aware"))


def crowd(seed: int, asked: int, sd: float = 0.4):
    """Votes of a crowd on twenty models, and of two judges on more; what people think of the models."""
    records, truth = crowded(np.random.default_rng(seed), 20, 1500, asked, sd)
    return records, truth


def test_scores_toward_the_panel_are_between_the_panel_and_the_votes():
    """With few votes they are the panel's, times b; with ever more they are those of the votes."""
    few = crowd(1, 6)[0]
    items = items_of(*few, fit(few[0].take(np.flatnonzero(~few[2])), "judge_aware"))
    panel = fit(few[0].take(np.flatnonzero(~few[2])), "judge_aware")
    found = drawn_toward_panel(items, panel)
    assert np.corrcoef(found.scores, panel.scores)[0, 1] > 0.9
    often = replace(items, human=np.where(items.asked, items.human, 1.0 * (items.panel > 0.5)))
    many = Items(**{**vars(often), **{name: np.tile(getattr(often, name), 20) for name in PER_ITEM}})
    many = replace(many, question=np.arange(len(many.first)))
    votes = fit(many.comparisons(), "btl").scores
    np.testing.assert_allclose(drawn_toward_panel(many, panel).scores, votes, atol=0.1)


PER_ITEM = ("first", "second", "panel", "human", "question")


def test_scores_toward_the_panel_are_nearer_to_people_and_their_intervals_hold():
    held, errors = [], []
    for seed in range(12):
        (rows, question, human), truth = crowd(seed, 250)
        panel = fit(rows.take(np.flatnonzero(~human)), "judge_aware")
        items = items_of(rows, question, human, panel)
        found = drawn_toward_panel(items, panel)
        ends = found.table().set_index("model").loc[list(items.models)]
        held.append(((ends["low"] <= truth) & (ends["high"] >= truth)).mean())
        alone = fit(items.comparisons(), "btl", "penalised").scores
        errors.append([np.sqrt(((each - truth) ** 2).mean()) for each in (found.scores, alone)])
    assert np.mean(held) > 0.88
    mine, theirs = np.mean(errors, axis=0)
    assert mine < 0.9 * theirs


def test_a_model_that_people_never_saw_gets_the_panels_prediction_with_a_wider_error():
    (rows, question, human), _ = crowd(3, 400)
    unseen = human & ((rows.first == 4) | (rows.second == 4))
    kept = np.flatnonzero(~unseen)
    frame = frame_of(rows.take(kept), question[kept], human[kept])
    report = people_report(judgments_of(frame))
    assert report.helped is None and report.people is report.toward_panel
    table = report.table.set_index("model")
    assert table["votes"].idxmin() == "m4" and table.loc["m4", "votes"] == 0
    others = table.drop(index="m4")["standard_error"]
    assert table.loc["m4", "standard_error"] > 1.2 * others.mean()
    panel = report.panel.scores
    predicted = report.toward_panel.slope * panel["m4"]
    assert abs(table.loc["m4", "score"] - predicted) < 0.5 * table.loc["m4", "standard_error"]
    assert "No person compared 1 of the models" in str(report)
    assert 0 <= report.p_value <= 1 and report.degrees_of_freedom == 1
    assert "chi-squared" in str(report)
    assert "The score is toward_panel: human votes alone" in str(report)


def test_votes_on_every_item_leave_none_to_show_and_nothing_for_the_panel_to_add():
    (rows, question, human), _ = crowd(3, 100)
    asked = np.isin(question, question[human])
    kept = np.flatnonzero(asked)
    report = people_report(judgments_of(frame_of(rows.take(kept), question[kept], human[kept])))
    said = str(report)
    assert said.count("every item") == 2 and UNDETERMINED not in said
    assert report.next.empty and "every item" in said.splitlines()[-1]
    assert "helped:" not in said and "alone:" not in said and "as_judge:" in said


def test_the_report_says_how_many_people_voted_and_warns_of_few():
    rows, question, human, *_ = parts(3, bias=2.0)
    frame = frame_of(rows, question, human)

    def report(persons):
        names = [f"person {n % persons}" for n in range(int(human.sum()))]
        judge = frame["judge"].to_numpy(object).copy()
        judge[human] = names
        return people_report(frame.assign(judge=judge))

    few, many = report(3), report(12)
    assert (few.persons, many.persons) == (3, 12)
    assert "3 names of people on" in str(few) and "12 names of people on" in str(many)
    assert "of these 3 people only" in str(few) and "of these 12" not in str(many)
    assert "These 3 people and the panel disagree" in str(few) and "People and the panel disagree" in str(many)
    for found in (few, many):
        loss, other = sorted(found.losses.values())
        assert re.search(rf"\b{loss:.4f}\b.*\b{other:.4f} of\b", str(found))


def test_labels_that_are_swapped_are_asked_about():
    """Every human vote turned round: people order the models against the panel, and agree less than a coin."""
    rows, question, human, *_ = parts(3)
    outcome = np.where(human, 1 - rows.outcome, rows.outcome)

    def report(outcome):
        return people_report(frame_of(replace(rows, outcome=outcome), question, human))

    right, swapped = report(rows.outcome), report(outcome)
    assert right.toward_panel.slope > 0 and not right.is_reversed
    assert swapped.toward_panel.slope < 0 and swapped.is_reversed
    assert "swapped?" not in str(right) and "the gaps" in str(right)
    said = str(swapped)
    slope = f"({swapped.toward_panel.slope:.2f} times"
    assert re.search(rf"WARNING.*{re.escape(slope)}.*swapped\?", said)
    tested = next(line for line in said.splitlines() if "the gaps" in line)
    assert " turned " in tested
    below = swapped.agreement[swapped.agreement["high"] < 0.5]["judge"]
    assert len(below) and f" coin: {listed(list(below))}." in said
    assert not set(below) & set(right.agreement[right.agreement["high"] < 0.5]["judge"])


def test_a_slope_below_zero_by_chance_swaps_no_labels():
    rows, question, human, *_ = parts(3)
    chance = np.random.default_rng(4).integers(0, 2, len(rows)).astype(float)
    for turn in (0, 1):  # one of both has a slope below zero
        outcome = np.where(human, np.abs(turn - chance), rows.outcome)
        report = people_report(frame_of(replace(rows, outcome=outcome), question, human))
        assert not report.is_reversed and "swapped?" not in str(report)
        assert ("below zero" in str(report)) == (report.toward_panel.slope < 0)


def test_the_better_scores_at_predicting_votes_are_reported():
    (rows, question, human), _ = crowd(5, 700)
    panel = fit(rows.take(np.flatnonzero(~human)), "judge_aware")
    items = items_of(rows, question, human, panel)
    losses = vote_losses(items, panel)
    assert set(losses) == {"toward_panel", "helped"}
    assert losses["toward_panel"] < losses["helped"]
    report = people_report(judgments_of(frame_of(rows, question, human)))
    assert report.people is report.toward_panel
    assert {"alone", "helped", "toward_panel"} <= set(report.table)
    np.testing.assert_allclose(report.table["score"], report.table["toward_panel"])


def test_the_spread_of_peoples_own_tastes_has_a_test():
    found = {}
    for sd in (0.0, 1.0):
        (rows, question, human), _ = crowd(8, 700, sd)
        panel = fit(rows.take(np.flatnonzero(~human)), "judge_aware")
        found[sd] = drawn_toward_panel(items_of(rows, question, human, panel), panel)
    assert found[1.0].p_value < 0.001 < 0.01 < found[0.0].p_value
    assert found[0.0].spread < 0.3 < 0.6 < found[1.0].spread


def test_tastes_cannot_be_negative_so_their_test_is_one_sided():
    items = parts(12)[-1]
    for z in (0.5, 1.645, 3.0):
        found = TowardPanel(items, np.zeros(3), np.eye(3), slope=1.0, spread=0.1, statistic=z**2)
        assert found.p_value == pytest.approx(norm.sf(z))
    assert replace(found, statistic=0.0).p_value == 1.0


def test_items_without_the_panel_are_counted():
    rows, question, human, panel, _ = parts(11)
    elsewhere = np.where(human & (np.arange(len(rows)) % 2 == 0), question + 10_000, question)
    items = items_of(rows, elsewhere, human, panel)
    assert isinstance(items, Items) and items.unjudged == (elsewhere >= 10_000).sum() > 50
    assert items.asked.sum() == human.sum() - items.unjudged


def agreeing(n=40):
    """Votes of one person on n questions, and judges who give that answer always, in 3 of 4, and in 2 of 4."""
    rows = []
    for q in range(n):
        won = q % 2
        for judge, wrong in (("alice", 0), ("good", 0), ("middle", q % 4 == 0), ("noisy", q % 4 in (0, 3))):
            answer = won if not wrong else 1 - won
            a, b = ("x", "y") if judge != "good" else ("y", "x")  # the other order is the same item
            winner = ("model_a", "model_b")[answer] if judge != "good" else ("model_b", "model_a")[answer]
            rows.append({"question": f"q{q}", "model_a": a, "model_b": b, "judge": judge, "winner": winner})
    return judgments_of(pd.DataFrame(rows))


def table_of(judgments):
    return agreement_with_people(judgments.comparisons, judgments.question, human_rows(judgments, ["alice"]))


def test_each_judges_agreement_with_people_is_the_share_of_equal_answers():
    found = table_of(agreeing()).set_index("judge")
    assert found["agreement"].to_dict() == {"good": 1.0, "middle": 0.75, "noisy": 0.5}
    assert (found["pairs"] == 40).all() and (found["questions"] == 40).all()
    assert ((found["low"] <= found["agreement"]) & (found["agreement"] <= found["high"])).all()
    assert 0.89 < found["low"]["good"] < 0.92 and found["high"]["good"] == pytest.approx(1)
    good = 41 / 42 * 1 / 42 / 40  # `good` is never wrong: Laplace's estimate
    paired = -0.25 / np.sqrt(0.25 * 0.75 / 39)  # of `middle` and `noisy`, whose p-value comes second
    smallest = 2 * t.cdf(-0.5 / np.sqrt(0.25 / 39 + good), 39)
    assert found["p_as_best"]["noisy"] == pytest.approx(3 * smallest)
    assert found["p_as_best"]["middle"] == pytest.approx(2 * 2 * t.cdf(paired, 39))
    said = "\n".join(agreement_text(table_of(agreeing()), 0.95))
    assert "good agrees with people most often: its answer is a person's 100% of the time (95% confidence" in said
    assert "Significantly less often (Holm-adjusted over all pairs of judges): middle (75%), noisy (50%)." in said
    assert "Not significantly more often than a coin: noisy." in said


def test_the_interval_of_agreement_is_clustered_by_question():
    """Every judgment four times over, as on four pairs of models of one question: as wide as once."""
    one = agreeing()
    rows = one.frame.rename(columns={"judge_preferred_model": "winner"})
    copies = [rows.replace({"x": f"x{n}", "y": f"y{n}"}) for n in range(4)]
    many = table_of(judgments_of(pd.concat(copies)))
    pd.testing.assert_frame_equal(many.drop(columns="pairs"), table_of(one).drop(columns="pairs"))
    assert (many["pairs"] == 160).all()


def test_without_common_items_agreement_is_not_known():
    judgments = agreeing()
    frame = judgments.frame.rename(columns={"judge_preferred_model": "winner"})
    frame.loc[frame["judge_model"] == "alice", "question_id"] = "other"
    found = table_of(judgments_of(frame, copies="keep"))
    (said,) = agreement_text(found, 0.95)
    assert found.empty and "agreement" in said


def test_the_report_says_which_judge_agrees_with_people():
    rows, question, human = drawn(np.random.default_rng(5), 0.0, 1.0, 200)
    report = people_report(judgments_of(frame_of(rows, question, human), copies="keep"))
    assert list(report.agreement["judge"]) and f"{report.agreement['judge'][0]} agrees with" in str(report)


def test_a_crowd_of_judges_with_few_answers_is_a_panel():
    """Judges with few answers share one label in the panel's fit; people are compared with them all the same."""
    rng = np.random.default_rng(1)
    pairs = [("x", "y"), ("y", "z"), ("x", "z")]
    rows = [
        {"question_id": f"q{n // 4}", "judge": "kim" if n % 4 == 0 else f"j{n % 30}"}
        | dict(zip(("model_a", "model_b"), pairs[n // 4 % 3], strict=True))
        | {"winner": "model_a" if rng.random() < 0.8 else "model_b"}
        for n in range(120)
    ]
    report = people_report(pd.DataFrame(rows), "kim")
    assert report.n_judges == 30
    assert {"score", "as_judge"} <= {*report.table}
    assert not report.agreement["p_as_best"].lt(0.05).any()  # a few answers each: nobody is significantly worse
    assert len(report.agreement) == 30


def test_a_share_of_none_is_as_uncertain_as_its_few_questions():
    """By Laplace's estimate; answers that are always a person's have no error of their own."""
    share = np.array([1.0, 0.0])
    few, many = (agreement._p_as(0, share, np.zeros((size, 2)), np.ones((size, 2)))[1] for size in (2, 40))
    assert few > 0.1  # of two questions each, Fisher's exact p is 1/3
    assert many < 1e-6
