"""What the verdict warns of, on judges simulated with a known fault."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner

import judgerank
from judgerank import rank
from judgerank.cli import app
from judgerank.fits.errors_by_question import Questions
from judgerank.model.kinds import family
from judgerank.model.streams import generator
from judgerank.ranking.diagnosis import examine
from judgerank.ranking.first_screen import REASONS, judges_of
from judgerank.ranking.judge_policy import STAYS
from judgerank.ranking.studies import by_judge, next_comparisons, panel
from judgerank.ranking.studies.estimation import HARMLESS
from judgerank.ranking.trust_report import trust_report
from judgerank.ranking.verdict import CHOOSE, OTHER_ORDER, leaders, verdict
from judgerank.ranking.views import views
from judgerank.trust.refits import Units
from judgerank.trust.removal import _not_enough

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
    assert told.next == OTHER_ORDER
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
    assert "picks its own answer 73% of the time against one that is as good" in reasons
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
    assert told.headline.startswith(start)
    assert told.next == "To settle who leads, collect more answers from judges other than m0."
    (problem,) = [one for one in told.warnings if "problem" in one]
    assert problem == "1 of 3 judges has a problem (see Judges on the page): m0 (favours its own answers)."
    (view,) = [view for view in views(ranking) if view.name == "m0"]  # the page says the same
    assert told.headline.removeprefix(start).split(" (")[0] in view.sentence
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
    assert next_comparisons.tastes_matter(fitted) and not next_comparisons.tastes_matter(fitted.for_this_panel())
    assert next_comparisons.cost_of_pair(fitted.for_this_panel(), best, second) is not None
    assert next_comparisons.cost_of_pair(fitted, best, second) is None
    assert re.search(rf"\b{best} and {second}, add judges\. .*\btastes\b", verdict(ranking).next)


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
