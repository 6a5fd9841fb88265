"""What answers say beside who won: no order where nobody was shown one, and how strong they are."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm, t

import judgerank
from judgerank import Comparisons, fit, load, rank, read
from judgerank.data.errors import DataError, JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.inference.wald import effective_trials, wilson
from judgerank.model.members import GRADED_MEMBERS, JudgeValues
from judgerank.ranking.choices import Settings, default_member
from judgerank.ranking.diagnosis import examine
from judgerank.ranking.studies.leaderboards import by_model
from judgerank.ranking.trust_report import trust_report
from judgerank.reading.layouts.strength import shares_of
from tests.drawn import draw_graded
from tests.forked import judgerank as command

RATES = {"alpha": 0.8, "beta": 0.53, "gamma": 0.3}


def logs(folder, questions=60, rates=RATES, scorers=("match", "includes")):
    """Logs of inspect_ai, one a model, of random right and wrong answers."""
    rng = np.random.default_rng(0)
    paths = []
    for name, rate in rates.items():
        right = rng.random((questions, len(scorers))) < rate
        samples = [
            {
                "id": q,
                "epoch": 1,
                "scores": {s: {"value": "C" if yes else "I"} for s, yes in zip(scorers, row, strict=True)},
            }
            for q, row in enumerate(right)
        ]
        paths.append(folder / f"{name}.json")
        log = {"version": 2, "status": "success", "eval": {"task": "sums", "model": name}, "samples": samples}
        paths[-1].write_text(json.dumps(log))
    return paths


def test_scores_are_ranked_without_positions(tmp_path):
    scores = read(logs(tmp_path))
    by_signs = rank(replace(scores, frame=scores.frame.drop(columns="score_gap")))
    assert (
        "Fitted without position bias (judge_aware): the records have no order of presentation."
        in by_signs.remarks
    )
    assert not by_signs.tables["members"]["member"].str.startswith("position").any()
    for found in (by_signs, rank(scores)):
        assert not found.judgments.ordered
        assert found.fit.model.name == "judge_aware"
        assert not any("lean" in remark for remark in found.remarks)
        assert not {"share_a", "position"} & set(found.tables["judges"])
        assert '"ordered": false' in found.to_html().replace('"ordered":false', '"ordered": false')


def test_a_member_with_positions_is_refused_in_a_sentence(tmp_path):
    found = read(logs(tmp_path))
    sentence = (
        "model 'position_aware' needs an order of presentation, and the comparisons have none "
        ".models that do without: btl, "
    )
    for solver in ("newton", "penalised"):
        with pytest.raises(DataError, match=sentence):
            rank(found, model="position_aware", solver=solver)
    with pytest.raises(DataError, match="model 'position_aware_ties' needs an order"):
        fit(found, "position_aware_ties", questions="effects")
    with pytest.raises(DataError, match="'category_position'"):
        frame = found.frame.assign(category=["one", "two"] * (len(found.frame) // 2))
        fit(replace(found, frame=frame), "judge_aware", blocks=["category_position"])


def test_the_doctor_says_nothing_of_who_was_shown_first(tmp_path):
    said = dict(examine(logs(tmp_path)))
    assert (
        said["order"] == "Fitted without position bias (judge_aware): the records have no order of presentation."
    )
    assert "shown" not in said["answers"]
    assert "position" not in said["ties"]


def test_the_flag_stays_through_what_is_made_of_comparisons(tmp_path):
    c = read(logs(tmp_path)).comparisons
    made = [c.aggregate(), c.pool_judges(), c.take(np.arange(9)), c.with_judges(c.judges[:1]), c.with_ties()]
    made += [c.without_ties(), c.extended(c.without_ties().to_frame())]
    assert not any(one.ordered for one in made)
    path = tmp_path / "fit.npz"
    fit(c).save(path)
    kept = load(path).comparisons
    assert not kept.ordered
    assert default_member([kept])[0] == "judge_aware"


def test_files_with_and_without_an_order_are_read_without_one(tmp_path):
    paths = logs(tmp_path)
    records = [
        {"question_id": f"q{n}", "model_a": "gamma", "model_b": "alpha", "judge": "j", "winner": "b"}
        for n in range(3)
    ]
    (tmp_path / "mine.json").write_text(json.dumps(records))
    found = read([*paths, tmp_path / "mine.json"])
    assert not found.ordered
    assert any("Some files do not say which model was shown first (inspect_ai" in said for said in found.remarks)
    mine = found.frame[found.frame["judge_model"] == "j"]
    assert set(mine["model_a"]) == {"alpha"}
    assert set(mine["judge_preferred_model"]) == {"a"}


def test_a_board_with_positions_takes_no_newcomers_without_an_order(tmp_path):
    rng = np.random.default_rng(1)
    first, second = np.array([(i, j) for i in range(3) for j in range(3) if i != j] * 30).T
    board = fit(
        Comparisons(("x", "y", "z"), ("match",), first, second, first * 0, rng.random(len(first)) < 0.5 * 1.0),
        "position_aware",
    )
    given = read(logs(tmp_path, rates={"x": 0.5, "new": 0.5}, scorers=("match",))).comparisons
    with pytest.raises(
        JudgerankError, match="the board's model 'position_aware' needs an order of presentation, and these"
    ):
        judgerank.place(board, given)


def test_scorers_that_agree_everywhere_give_true_errors_and_no_warnings(tmp_path):
    """Two judges who answer as one do not differ at all, which says nothing of the scores."""
    one = read(logs(tmp_path, scorers=("match",)))
    twice = [one.frame, one.frame.assign(judge_model="includes")]
    both = judgerank.rank(replace(one, **_with(twice)), model="judge_aware", solver="newton")
    alone = judgerank.rank(one, model="judge_aware", solver="newton")
    ends = ["score", "low", "high", "rank_low", "rank_high"]
    np.testing.assert_allclose(
        both.tables["leaderboard"][ends].to_numpy(float),
        alone.tables["leaderboard"][ends].to_numpy(float),
        rtol=1e-6,
    )
    assert (both.tables["judges"][["low_discrimination", "high_discrimination"]].round(6) == 1).all(axis=None)
    both.to_html()
    report = trust_report(both.judgments, Settings(model="judge_aware"))
    assert "the 2 judges carry as much information as 1.0 independent judges" in str(report)


def _with(frames):
    from judgerank.reading.from_tables import comparisons_of

    frame = pd.concat(frames, ignore_index=True)
    return {"frame": frame, "comparisons": comparisons_of(frame, ordered=False)}


# Ties of two bad answers: counted by model and question, and ties in the fit all the same.
FAILS = {"good": 0.15, "middling": 0.4, "poor": 0.8}


@pytest.fixture(scope="module")
def table():
    rng, size = np.random.default_rng(0), 900
    names = np.array(list(FAILS))
    ends = np.array([rng.permutation(3)[:2] for _ in range(size)])
    bad = rng.random(size) < np.prod(np.array(list(FAILS.values()))[ends], axis=1)
    won = rng.random(size) < 1 / (1 + np.exp(ends[:, 0] - ends[:, 1]))
    asked = rng.integers(150, size=size)
    winner = np.where(
        bad, "tie (bothbad)", np.where(rng.random(size) < 0.1, "tie", np.where(won, "model_a", "model_b"))
    )
    columns = {"model_a": names[ends[:, 0]], "model_b": names[ends[:, 1]], "question_id": asked, "judge": "people"}
    return pd.DataFrame(columns | {"winner": winner})


def test_both_bad_is_a_tie_in_the_fit_and_counted_beside_it(table):
    known, plain = (
        rank(read(table)),
        rank(read(table.assign(winner=table["winner"].replace("tie (bothbad)", "tie")))),
    )
    pd.testing.assert_frame_equal(known.tables["leaderboard"], plain.tables["leaderboard"])
    assert "failures" not in plain.tables and not any("bad" in text for text in plain.remarks)
    found = known.tables["failures"].set_index("model")
    assert found.index.tolist() == ["poor", "middling", "good"]
    bad = table["winner"] == "tie (bothbad)"
    own = (table["model_a"] == "poor") | (table["model_b"] == "poor")
    assert found.loc["poor", "both_bad"] == (bad & own).sum() and found.loc["poor", "comparisons"] == own.sum()
    assert any(
        re.search(rf"\bbad in {bad.mean():.1%}.*\({bad.sum()} of {len(bad)}\)", text) for text in known.remarks
    )
    questions = known.tables["failed_questions"]
    assert (questions["low"].diff().dropna() <= 0).all() and (questions["both_bad"] > 0).all()


@pytest.mark.parametrize(("share", "many"), [(0.0, 7), (0.3, 10), (1.0, 4), (0.02, 400)])
def test_intervals_are_wilsons(share, many):
    exact = binomtest(round(share * many), many).proportion_ci(0.9, "wilson")
    assert wilson(round(share * many) / many, many, 0.9) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_answers_to_one_question_count_as_one(table):
    """Every record five times over: errors by question are as they were, but for the number of questions."""
    judgments = read(table)
    bad = judgments.frame["both_bad"].to_numpy(bool)
    again = read(pd.concat([table] * 5, ignore_index=True), copies="keep")
    one, five = by_model(judgments, bad, 0.95), by_model(again, again.frame["both_bad"].to_numpy(bool), 0.95)
    np.testing.assert_allclose(five["share"], one["share"])
    assert ((five["high"] - five["low"]) > 0.9 * (one["high"] - one["low"])).all()


def test_trials_of_few_questions_count_less():
    """Ten answers to each of four questions: by their spread, and by what Student's t leaves of it."""
    failures, answers = np.array([1.0, 4.0, 2.0, 5.0]), np.full(4, 10.0)
    share, many = effective_trials(failures, answers, 40.0, 0.9)
    variance = (failures / 10).var(ddof=1) / 4
    assert share == pytest.approx(0.3)
    assert many == pytest.approx(0.3 * 0.7 / variance * (norm.ppf(0.95) / t.ppf(0.95, 3)) ** 2)
    assert effective_trials(np.zeros(4), answers, 40.0, 0.9) == (0.0, 4.0)


def test_questions_count_where_a_model_never_fails():
    """Eight judges who agree: a share of none has the interval of its questions, and one of all likewise."""
    size, judges = 30, 8
    asked = np.arange(size)
    winner = np.select([asked % 3 == 0, asked % 3 == 1], ["tie (bothbad)", "model_a"], "model_b")
    ends = {
        "model_a": np.where(asked % 3 == 0, "poor", "good"),
        "model_b": np.where(asked % 3 == 0, "bad", "fair"),
    }
    one = pd.DataFrame(ends | {"question_id": asked, "winner": winner})
    judgments = read(pd.concat([one.assign(judge=f"judge-{k}") for k in range(judges)], ignore_index=True))
    found = by_model(judgments, judgments.frame["both_bad"].to_numpy(bool), 0.95).set_index("model")
    assert (found["comparisons"] == judges * np.where(found["share"] > 0, 10, 20)).all()
    assert found.loc["good", ["low", "high"]].tolist() == pytest.approx(wilson(0.0, 20, 0.95))
    assert found.loc["poor", ["low", "high"]].tolist() == pytest.approx(wilson(1.0, 10, 0.95))


def test_intervals_hold_the_share_of_impossible_questions():
    """Of 400, models without failures among them; eight judges, and one question in ten is impossible."""
    rng, truth, held, size = np.random.default_rng(18), 0.1, [], 30
    judges = np.repeat([f"judge-{k}" for k in range(8)], size)
    for _ in range(100):
        ends = np.tile(rng.permuted(np.tile(np.arange(4), (size, 1)), axis=1)[:, :2], (8, 1))
        impossible, won = np.tile(rng.random(size) < truth, 8), rng.random(8 * size) < 0.5
        winner = np.where(impossible, "tie (bothbad)", np.where(won, "model_a", "model_b"))
        columns = {"model_a": ends[:, 0].astype(str), "model_b": ends[:, 1].astype(str), "judge": judges}
        judgments = read(pd.DataFrame(columns | {"question_id": np.tile(np.arange(size), 8), "winner": winner}))
        if impossible.any():
            found = by_model(judgments, judgments.frame["both_bad"].to_numpy(bool), 0.95)
            held += ((found["low"] <= truth) & (truth <= found["high"])).tolist()
    assert 0.92 < np.mean(held) < 0.985


def test_other_words_for_it_and_the_page(table, tmp_path):
    said = table.assign(winner=table["winner"].replace("tie (bothbad)", "Both Bad"))
    assert read(said).frame["both_bad"].sum() == (table["winner"] == "tie (bothbad)").sum()
    rank(read(said)).write(tmp_path / "out")
    assert "bad, by" in (tmp_path / "out" / "index.html").read_text()
    assert (tmp_path / "out" / "failures.csv").is_file()


# How strong answers are: kept when files are read, ranked when asked for, refused when unreadable.

VERDICTS = np.array(["B>>A", "B>A", "A=B", "A>B", "A>>B"])
MODEL = "position_aware_graded"


@pytest.fixture(scope="module")
def drawn():
    rng, size = np.random.default_rng(5), 600
    ends = np.array([rng.permutation(4)[:2] for _ in range(size)]).T
    k = 3
    values = JudgeValues(
        np.ones(k), np.zeros(k), np.array([0.3, 0, 0]), np.full(k, 0.5), np.array([[-1.0, 0, 0.5]])
    )
    return draw_graded(rng, np.linspace(-1, 1, 4), values, np.array([*ends, rng.integers(k, size=size)]))


@pytest.fixture(scope="module")
def graded(drawn):
    c, level = drawn, np.round(2 * drawn.response + 1).astype(int)
    ends = {"model_a": np.array(c.models)[c.first], "model_b": np.array(c.models)[c.second]}
    judge = {"judge": np.array(c.judges)[c.judge], "question": [f"q{row // 5}" for row in range(len(level))]}
    return pd.DataFrame(ends | judge | {"winner": VERDICTS[level]})


def test_verdicts_a_column_and_cells_hold_the_same(drawn, graded):
    expected = fit(drawn, MODEL)
    letters = {">": "a", "<": "b", "=": "c"}
    sign = [letters["=" if "=" in text else ">" if text[0] == "A" else "<"] for text in graded["winner"]]
    degree = np.where(graded["winner"].str.contains(">>"), "much better", "better")
    in_words = graded.assign(winner=sign, strength=degree)
    in_numbers = in_words.assign(strength=np.where(degree == "better", 1, 2)).rename(
        columns={"strength": "margin"}
    )
    sources = [
        read(graded),
        read(in_words),
        read(in_numbers, columns={"strength": "margin"}),
        Judgments.of(drawn.aggregate()),
    ]
    for source in sources:
        found = fit(source, MODEL)
        assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-8)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-8)


def test_a_file_without_strong_verdicts_has_no_strength(graded):
    plain = graded.assign(winner=graded["winner"].str.replace(">>", ">"))
    assert read(plain).comparisons.strong is None
    assert "strength" not in read(plain).frame
    with pytest.raises(DataError, match="needs strength"):
        fit(read(plain), MODEL)


def test_arena_hard_keeps_strength_game_by_game(graded):
    games = [
        {
            "model": b,
            "baseline": a,
            "judge": "j",
            "question_id": str(row),
            "games": [{"score": one}, {"score": two}],
        }
        for row, (a, b, one, two) in enumerate(
            zip(graded["model_a"], graded["model_b"], graded["winner"], graded["winner"][::-1], strict=True)
        )
    ]
    c = read(games).comparisons
    much = graded["winner"].str.contains(">>").to_numpy()
    np.testing.assert_array_equal(c.strong.sum(axis=1), np.stack([much, much[::-1]], axis=1).ravel())


def test_a_file_whose_words_say_no_more_than_better_joins_one_whose_words_do(graded, tmp_path):
    plain = graded.assign(winner=graded["winner"].str.replace(">>", ">"), question="p" + graded["question"])
    for name, frame in (("much", graded), ("plain", plain)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    c = read([tmp_path / "much.csv", tmp_path / "plain.csv"]).comparisons
    np.testing.assert_array_equal(c.strong[: len(graded)], read(graded).comparisons.strong)
    assert not c.strong[len(graded) :].any()
    graded.assign(winner="a", strength=2).to_csv(tmp_path / "column.csv", index=False)
    with pytest.raises(DataError, match="has nan as its strength"):
        read([tmp_path / "column.csv", tmp_path / "plain.csv"])


QUARTERS = {"A>>B": 0.0, "A>B": 0.25, "A=B": 0.5, "B>A": 0.75, "B>>A": 1.0}


def as_battles(graded: pd.DataFrame) -> pd.DataFrame:
    """The same verdicts as JudgeArena's battles, in one order."""
    pref = graded["winner"].map(QUARTERS)
    winner = np.select([pref < 0.5, pref > 0.5], ["model_a", "model_b"], "tie")
    renamed = graded.rename(columns={"judge": "judge_model", "question": "question_id"})
    return renamed.assign(winner=winner, pref=pref, source="llm-judge", orientation="single")


def test_judgearenas_verdicts_in_quarters_keep_their_strength(graded):
    battles = as_battles(graded)
    np.testing.assert_array_equal(read(battles).comparisons.strong, read(graded).comparisons.strong)
    # turned around, it is still the winner's
    turned = read(battles.assign(orientation="reversed")).comparisons
    np.testing.assert_array_equal(turned.strong[:, ::-1], read(graded).comparisons.strong)


def test_judgearenas_scores_and_people_say_no_strength(graded):
    battles = as_battles(graded)
    scored = battles.assign(pref=1 / (1 + np.exp(-0.3 * (4 * battles["pref"] - 2) * 3)))
    assert read(scored).comparisons.strong is None
    first = battles["judge_model"] == "j0"
    whole = battles["pref"].mask(first, battles["pref"].round(0).where(battles["pref"] != 0.5, 0.5))
    c = read(battles.assign(pref=whole, source=np.where(first, "human", "llm-judge"))).comparisons
    strong = read(graded).comparisons.strong
    np.testing.assert_array_equal(c.strong, np.where(first.to_numpy()[:, None], 0, strong))


def test_a_report_of_judgearena_says_how_its_replies_were_read():
    common = {"task": "arena-hard-v2.0", "model_A": "x", "model_B": "y", "judge_model": "j", "swap_mode": "both"}
    told = [{"preferences": [0.0, 0.25, 0.5, 1.0]}, {"preferences": [0.0, 0.0, 1.0, 1.0], "model_B": "z"}]
    reports = [common | {"metadata": {"judge_parser": "arena-hard-verdict"}} | one for one in told]
    c = read(reports).comparisons
    assert c.strong.tolist() == [[1, 0], [0, 0], [0, 0], [1, 0], *[[1, 0]] * 4]
    without = read([one | {"metadata": {}} for one in reports]).comparisons  # the quarters of the first tell
    assert without.strong.tolist() == [[1, 0], [0, 0], [0, 0], [1, 0], *[[0, 0]] * 4]
    tokens = [one | {"metadata": {"judge_parser": "alpaca-eval-token"}} for one in reports]
    assert read(tokens).comparisons.strong is None


def test_swapped_records_keep_whose_win_it_is(graded):
    plain, told = (
        read(graded).comparisons,
        read(graded.assign(swapped=True), columns={"swapped": "swapped"}).comparisons,
    )
    np.testing.assert_array_equal(plain.strong[:, ::-1], told.strong)
    np.testing.assert_array_equal(plain.first, told.second)


@pytest.mark.parametrize("value", ["dunno", None, 30, 1.5])
def test_a_winner_without_a_known_strength_is_named(graded, value):
    frame = graded.assign(winner="a", strength=1).astype({"strength": object})
    frame.loc[7, "strength"] = value
    with pytest.raises(
        DataError, match=r"record 8 has .* as its strength; expected 1 or better, 2 or much better"
    ):
        read(frame)
    assert read(frame, columns={"strength": None}).comparisons.strong is None


def test_a_tie_or_an_unread_answer_needs_no_strength():
    frame = pd.DataFrame({"judge_preferred_model": ["c", "unknown", "b"], "strength": [None, None, "much better"]})
    np.testing.assert_array_equal(shares_of(frame), [[0, 0], [0, 0], [0, 1]])


def test_gaps_between_scores_are_strength_when_asked_by_each_judges_own_median():
    scores = {"kind": [9, 8, 7, 9], "harsh": [9, 5, 3, 8]}
    rows = [
        {"question_id": f"q{q}", "model": model, "judge": judge, "score": score}
        for judge, own in scores.items()
        for q, first in enumerate(own)
        for model, score in (("a", first), ("b", 6))
    ]
    frame = pd.DataFrame([*rows, {"question_id": "q9", "model": "a", "judge": "kind", "score": 6}])
    frame.loc[len(frame)] = ["q9", "b", "kind", 6]
    assert read(frame).comparisons.strong is None
    c = read(frame, columns={"strength": "score"}).comparisons
    assert c.models[c.first[0]] == "a"
    found = {c.judges[k]: c.strong[c.judge == k].tolist() for k in range(2)}
    # gaps of 3, 2, 1, 3 and none; and of 3, -1, -3, 2
    assert found["kind"] == [[1, 0], [0, 0], [0, 0], [1, 0], [0, 0]]
    assert found["harsh"] == [[1, 0], [0, 0], [0, 1], [0, 0]]
    with pytest.raises(DataError, match="--column strength=score takes it"):
        read(frame.assign(other=1), columns={"strength": "other"})


def test_a_gap_as_large_as_the_median_of_its_judge_is_not_much_better():
    """On a scale of few grades many gaps are the median: only those above it count as much better."""
    gaps = [1, 2, 2, 2, 3, 0, -2, -3, -1]
    rows = [
        {"question_id": f"q{q}", "model": model, "judge": "one", "score": score}
        for q, gap in enumerate(gaps)
        for model, score in (("a", 5 + gap), ("b", 5))
    ]
    c = read(pd.DataFrame(rows), columns={"strength": "score"}).comparisons
    of_a = np.where(np.array([c.models[first] == "a" for first in c.first]), c.strong[:, 0], c.strong[:, 1])
    of_b = c.strong.sum(axis=1) - of_a
    assert of_a.tolist() == [float(gap == 3) for gap in gaps]
    assert of_b.tolist() == [float(gap == -3) for gap in gaps]


def test_the_command_ranks_by_strength_when_asked_and_compares_it_always(graded, tmp_path):
    graded.to_csv(tmp_path / "v.csv", index=False)
    done = command("rank", tmp_path / "v.csv", "--model", MODEL, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "out" / "leaderboard.csv")
    assert found["model"].tolist() == ["m3", "m2", "m1", "m0"]
    told = command("doctor", tmp_path / "v.csv").stdout
    wins = graded["winner"] != "A=B"
    share = graded["winner"].str.contains(">>").sum() / wins.sum()
    assert re.search(rf"\b{share:.0%} of wins\b", told) and MODEL in told
    members = rank(read(graded)).tables["members"]
    assert {member.name for member in GRADED_MEMBERS} <= set(members["member"])
    assert members.loc[members["member"] == MODEL, "log_loss"].notna().all()
