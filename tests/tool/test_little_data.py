"""Little data: every small file ends in a ranking or one true sentence, and no more is said than data tell."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner

import judgerank
from judgerank.cli import app
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, JudgerankError
from judgerank.data.frames import ITSELF
from judgerank.fits.presentation import win_rate_intervals
from judgerank.inference.wald import is_informative
from judgerank.planning.plans import _told
from judgerank.planning.questions import Questions
from judgerank.ranking.choices import FALLBACK, LEAST_BALANCED, default_member
from judgerank.ranking.trust_report import trust_report
from judgerank.ranking.verdict import verdict

A, B, TIE = "model_a", "model_b", "tie"
MODELS = ("claude", "gpt", "llama")
HEADER = ["question_id", "model_a", "model_b", "winner", "judge"]
Record = tuple[str, str, str, str, str]


def drawn(
    questions: int, judges: str, seed: int = 3, models: tuple[str, ...] = MODELS, both: bool = False
) -> list[Record]:
    """Every judge on every pair of every question; the model named first wins three of four."""
    rng, rows = np.random.default_rng(seed), []
    for question, judge in itertools.product(range(questions), judges):
        for a, b in itertools.permutations(models, 2) if both else itertools.combinations(models, 2):
            first_wins = (rng.random() < 0.75) == (models.index(a) < models.index(b))
            rows.append((f"q{question}", a, b, A if first_wins else B, judge))
    return rows


def answered(rows: list[Record], winner: str) -> list[Record]:
    return [(*row[:3], winner, row[4]) for row in rows]


ONE = [("q", "gpt", "claude", A, "x")]
CYCLE = [("q0", "gpt", "claude", A, "x"), ("q1", "claude", "llama", A, "x"), ("q2", "llama", "gpt", A, "x")]
REPEATED = drawn(4, "xy")
FILES: dict[str, list[Record]] = {
    "one judgment": ONE,
    "one tie": answered(ONE, TIE),
    "two judges who contradict each other": [*ONE, ("q", "gpt", "claude", B, "y")],
    "a circle": CYCLE,
    "a circle, by two judges": [*CYCLE, *((*row[:4], "y") for row in CYCLE)],
    "one question": drawn(1, "xyz", both=True),
    "ten questions, one judge": drawn(10, "x"),
    "two models, one judge": drawn(8, "x", models=("old", "new")),
    "two models, three judges": drawn(6, "xyz", models=("old", "new"), both=True),
    "one vote a judge": [(*row[:4], f"p{n}") for n, row in enumerate(drawn(10, "x"))],
    "all ties": answered(drawn(5, "xy"), TIE),
    "one win, one loss, ties": [
        *answered(drawn(78, "x", models=("old", "new")), TIE),
        ("a", "old", "new", A, "x"),
        ("b", "old", "new", B, "x"),
    ],
    "one request repeated, with another answer": [
        *REPEATED,
        (*REPEATED[0][:3], B, "x"),
        (*REPEATED[0][:3], A, "x"),
    ],
    "a judge without an answer": [*drawn(5, "x"), *answered(drawn(5, "y"), "unknown")],
    "itself": [("s", "gpt", "gpt", TIE, "x"), *drawn(6, "x")],
    "next to nothing but itself": [*ONE, *(4 * [("s", "gpt", "gpt", TIE, "x")])],
    "two islands": [("q0", "a", "b", A, "x"), ("q1", "c", "d", A, "x")],
    "no doubt": answered(drawn(4, "x"), A),
    "always the first": answered(drawn(2, "x", both=True), A),
}
ABSURD = {
    "intervals beyond reason": re.compile(r"\d{4,}\.\d"),
    "a share with an interval as wide as all shares": re.compile(r"\((?:[0-9]|0)% to (?:9[5-9]|100)%\)"),
    "more independent judges than there are": re.compile(r"as much information as [4-9]\d*\."),
    "what all answers say, of few": re.compile(r"The model describes the answers"),
    "weights of one judge": re.compile(r"Rank correlation .* 0\.00\. WARNING"),
    "numbers that are none": re.compile(r"\b(?:nan|inf)\b"),
}


@pytest.fixture(params=FILES)
def path(request, tmp_path):
    file = tmp_path / "votes.csv"
    pd.DataFrame(FILES[request.param], columns=HEADER).to_csv(file, index=False)
    return file


def test_every_command_ends_in_a_result_or_one_sentence(path, tmp_path):
    """RuntimeWarnings are errors here, and an unexpected error has another exit code than a sentence."""
    for command in (
        ["rank", "-v", "--output", str(tmp_path / "page")],
        ["doctor"],
        ["trust"],
        ["plan"],
        ["people"],
    ):
        result = CliRunner().invoke(app, [command[0], str(path), *command[1:]])
        assert result.exit_code in (0, 1), (command, result.output)
        for what, pattern in ABSURD.items():
            assert not pattern.search(result.output), (command, what, result.output)
        if result.exit_code:
            sentence = result.output.strip().splitlines()[-1]
            assert sentence.startswith(f"judgerank {command[0]}: "), result.output


def test_every_little_file_has_a_ranking(path):
    board = judgerank.rank(path).leaderboard
    assert len(board) >= 2
    assert board["score"].notna().all()
    reach = (board["high"] - board["low"]).dropna()
    assert (reach < 100).all()


# one rule


def test_an_interval_says_something_if_it_is_half_as_wide_as_what_can_be():
    assert is_informative((0.2, 0.7), (0.0, 1.0))
    assert not is_informative((0.2, 0.71), (0.0, 1.0))
    assert not is_informative((2.5, 8.2), (1.0, 2.0))
    for interval in ((np.nan, np.nan), (3.0, np.inf)):
        assert not is_informative(interval, (0.0, 10.0))


def test_repeated_requests_are_counted_where_they_are_few():
    board = judgerank.rank(pd.DataFrame([*REPEATED, (*REPEATED[0][:3], B, "x")], columns=HEADER))
    (sentence,) = [remark for remark in board.remarks if " of 1 repeated" in remark]
    changed = int(REPEATED[0][3] != B)
    assert sentence.startswith(f"{changed} of 1 ")
    assert "%" not in sentence
    assert not any("judges change their answer 1" in remark for remark in board.remarks)


def test_a_plan_says_what_it_takes_where_the_file_does_not_tell():
    known, unknown = (Questions(0.5, 2, 2, (0.4, 0.6), is_known) for is_known in (True, False))
    assert "0.40 to 0.60" in _told(known)
    assert "--question-sd" in _told(unknown)
    assert "to 0.60" not in _told(unknown)


def test_the_effective_number_of_judges_takes_shared_questions():
    few, enough = (str(trust_report(read_judgments_of(drawn(questions, "xyz", seed=1)))) for questions in (5, 150))
    interval = re.compile(r"[\d.]+ independent judges\b.*\(.*[\d.]+ to [\d.]+\)")
    assert not interval.search(few) and interval.search(enough)


def read_judgments_of(rows: list[Record]):
    return judgerank.read(pd.DataFrame(rows, columns=HEADER))


def test_ties_alone_leave_nothing_to_remove():
    with pytest.raises(DataError, match=r"\bties\b"):
        trust_report(read_judgments_of(FILES["all ties"]))


# a model with itself


def test_answers_about_a_model_and_itself_are_counted_and_left_out(tmp_path):
    with_itself, without = FILES["itself"], FILES["itself"][1:]
    judgments = read_judgments_of(with_itself)
    assert judgments.comparisons.dropped[ITSELF] == 1
    assert re.search(rf": 1 judgment {ITSELF}\.$", judgments.remarks[0])
    boards = [judgerank.rank(pd.DataFrame(rows, columns=HEADER)).leaderboard for rows in (with_itself, without)]
    pd.testing.assert_frame_equal(*boards)
    file = tmp_path / "votes.csv"
    pd.DataFrame(with_itself, columns=HEADER).to_csv(file, index=False)
    cells = judgerank.aggregate(file)
    assert cells.dropped[ITSELF] == 1
    assert cells.n_comparisons == judgments.comparisons.n_comparisons == len(without)


def test_counted_answers_about_a_model_and_itself_count_as_many():
    rows = [(*row, 3) for row in FILES["itself"]]
    frame = pd.DataFrame(rows, columns=[*HEADER, "n"])
    assert judgerank.read(frame, columns={"count": "n"}).comparisons.dropped[ITSELF] == 3
    published = frame.set_axis(["question_id", A, B, "judge_preferred_model", "judge_model", "n"], axis=1)
    published["judge_preferred_model"] = published["judge_preferred_model"].map({A: "a", B: "b", TIE: "c"})
    assert Comparisons.from_frame(published, count="n").dropped[ITSELF] == 3


def test_a_file_of_nothing_else_is_refused():
    with pytest.raises(DataError, match="compares 'gpt' with itself, and no record compares two models"):
        read_judgments_of([("s", "gpt", "gpt", TIE, "x")])


# names


NAMES = ("alfa", "brav", "chas", "delt")


def answers(seed: int) -> list[tuple[int, int, str, int]]:
    """3 to 40 answers: models by number, letter, judge."""
    rng, rows = np.random.default_rng(seed), []
    judges = int(rng.integers(1, 4))
    for _ in range(int(rng.integers(3, 41))):
        i, j = map(int, rng.choice(4, 2, replace=False))
        letter = "c" if rng.random() < 0.1 else "a" if rng.random() < 1 / (1 + np.exp(i - j)) else "b"
        rows.append((i, j, letter, int(rng.integers(judges))))
    return rows


def by_name(rows, names) -> list[tuple[str, str, str, str]]:
    """The answers with the models of each in the order of their names, as many programs write pairs."""
    turned = {"a": "b", "b": "a", "c": "c"}
    named = [(names[i], names[j], letter, f"j{judge}") for i, j, letter, judge in rows]
    return [(a, b, letter, judge) if a < b else (b, a, turned[letter], judge) for a, b, letter, judge in named]


def as_given(rows, names) -> list[tuple[str, str, str, str]]:
    return [(names[i], names[j], letter, f"j{judge}") for i, j, letter, judge in rows]


def pairs(rows) -> pd.DataFrame:
    words = {"a": A, "b": B, "c": TIE}
    return pd.DataFrame(
        [(a, b, words[letter], judge) for a, b, letter, judge in rows], columns=[A, B, "winner", "judge"]
    )


def sides(rows) -> pd.DataFrame:
    words = {"a": "left", "b": "right", "c": "tie"}
    columns = ["left", "right", "winner", "worker"]
    return pd.DataFrame([(a, b, words[letter], judge) for a, b, letter, judge in rows], columns=columns)


def winner_named(rows) -> pd.DataFrame:
    named = [(a, b, {"a": a, "b": b, "c": "tie"}[letter], judge) for a, b, letter, judge in rows]
    return pd.DataFrame(named, columns=[A, B, "winner", "judge"])


def one_hot(rows) -> pd.DataFrame:
    won = [(a, b, *(int(letter == each) for each in "abc"), judge) for a, b, letter, judge in rows]
    return pd.DataFrame(won, columns=[A, B, "winner_model_a", "winner_model_b", "winner_tie", "judge"])


def winners_losers(rows) -> pd.DataFrame:
    won = [(a, b) if letter == "a" else (b, a) for a, b, letter, _ in rows if letter != "c"]
    return pd.DataFrame(won, columns=["winner", "loser"])


def preferences(rows) -> pd.DataFrame:
    values = [(f"q{n}", a, b, judge, {"a": 1, "b": 2, "c": 1.5}[w]) for n, (a, b, w, judge) in enumerate(rows)]
    return pd.DataFrame(values, columns=["instruction", "generator_1", "generator_2", "annotator", "preference"])


def scores(rows) -> pd.DataFrame:
    values = [
        (f"q{n}", model, score, judge)
        for n, (a, b, letter, judge) in enumerate(rows)
        for model, score in zip((a, b), {"a": (7, 5), "b": (4, 6), "c": (5, 5)}[letter], strict=True)
    ]
    return pd.DataFrame(values, columns=["question_id", "model", "score", "judge"])


LAYOUTS = (pairs, sides, winner_named, one_hot, winners_losers, preferences, scores)


def outcome(frame: pd.DataFrame, names: tuple[str, ...]) -> tuple[pd.DataFrame, str] | str:
    """The ranking by the models' numbers, and the headline with numbers for names; or what it is refused for."""
    try:
        ranking = judgerank.rank(frame)
    except JudgerankError as error:
        return type(error).__name__
    board = ranking.leaderboard.replace({"model": dict(zip(names, range(4), strict=True))})
    board = board.set_index("model").sort_index().drop(columns=["group", "rank"])
    headline = verdict(ranking).headline
    for number, name in enumerate(names):
        headline = headline.replace(name, str(number))
    return board.astype(float), re.sub(r"\d(?:, \d)*(?: and \d)?", lambda found: str(sorted(found[0])), headline)


@pytest.mark.parametrize("written", [by_name, as_given])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(3))
def test_a_ranking_does_not_depend_on_how_names_sort(seed, layout, written):
    rows = answers(seed)
    other = tuple(NAMES[place] for place in np.random.default_rng(seed + 100).permutation(4))
    first, second = (outcome(layout(written(rows, names)), names) for names in (NAMES, other))
    if isinstance(first, str) or isinstance(second, str):
        assert first == second
        return
    pd.testing.assert_frame_equal(first[0], second[0], rtol=1e-4, atol=1e-4)
    assert first[1] == second[1]


def test_names_that_sort_as_the_ranking_are_no_position_bias():
    """All twelve won by the model that is first by name; under other names the same answers are on both sides."""
    rows = [(0, 1, "a", 0), (1, 2, "a", 0), (2, 3, "a", 0), (0, 3, "a", 0), (0, 2, "a", 0), (1, 3, "a", 0)] * 2
    boards = [
        outcome(pairs(by_name(rows, names)), names)[0] for names in (NAMES, ("brav", "delt", "alfa", "chas"))
    ]
    pd.testing.assert_frame_equal(*boards, rtol=1e-4, atol=1e-4)
    assert boards[0]["score"].is_monotonic_decreasing


@pytest.mark.parametrize("times", [1, 40])
def test_a_position_takes_as_much_of_a_balanced_order_as_is_needed(times):
    both_ways = pd.DataFrame(drawn(2, "x", both=True) * times, columns=HEADER)
    comparisons = judgerank.read(both_ways.assign(question_id=range(len(both_ways)))).comparisons
    name, why = default_member([comparisons])
    assert (name == FALLBACK) == (comparisons.n_comparisons < LEAST_BALANCED)
    assert (str(LEAST_BALANCED) in why) == (name == FALLBACK)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name is not scores])
def test_every_layout_leaves_them_out(layout):
    rows = as_given(answers(5), NAMES)
    with_itself = layout([*rows, ("alfa", "alfa", "a", "j0"), ("brav", "brav", "b", "j0")])
    judgments = judgerank.read(with_itself)
    assert judgments.comparisons.dropped[ITSELF] == 2
    assert judgments.comparisons.n_comparisons == judgerank.read(layout(rows)).comparisons.n_comparisons


def won(wins: int, losses: int, ties: int = 0) -> pd.DataFrame:
    """Comparisons of two models by one judge, each on a question of its own, in both orders alike."""
    outcomes = ["x"] * wins + ["y"] * losses + ["tie"] * ties
    rows = [
        {"model_a": "xy"[place % 2], "model_b": "yx"[place % 2], "winner": winner, "question_id": place}
        for place, winner in enumerate(outcomes)
    ]
    return pd.DataFrame(rows).assign(judge_model="j")


@pytest.mark.parametrize("wins", [6, 8, 12])
def test_the_interval_of_a_sweep_begins_where_its_exact_test_says(wins):
    """P(all won) = .025 at the lower end (Clopper and Pearson, 1934); a score of two models is half their lead."""
    ranking = judgerank.rank(won(wins, 0))
    pair, board = ranking.pairs.iloc[0], ranking.leaderboard.set_index("model")
    assert pair["test"] == "head_to_head"
    assert expit(pair["low"]) ** wins == pytest.approx(0.025)
    assert board.loc["x", "low"] == pytest.approx(pair["low"] / 2)
    assert board.loc["y", "high"] == pytest.approx(-pair["low"] / 2)
    rates = win_rate_intervals(ranking.fit, 0.95)
    assert rates.loc["x", "low"] > 0.5 > rates.loc["y", "high"]


@pytest.mark.parametrize(
    ("wins", "losses", "ties"), [(4, 0, 0), (5, 0, 2), (5, 1, 0), (9, 1, 0), (9, 2, 3), (1, 1, 98)]
)
def test_intervals_of_few_comparisons_hold_zero_exactly_if_the_test_does(wins, losses, ties):
    ranking = judgerank.rank(won(wins, losses, ties))
    pair, best = ranking.pairs.iloc[0], ranking.leaderboard.iloc[0]
    assert (pair["low"] > 0) == (best["low"] > 0) == (pair["p_value"] <= 0.05)
    assert best["high"] - best["low"] < 10


def test_a_model_that_wins_all_of_a_round_robin_is_above_the_average():
    """Its Wald interval reaches below zero, though it is better than every other one."""
    every = [(i, j) for i in range(4) for j in range(4) if i != j] * 3
    rows = [
        {"model_a": f"m{i}", "model_b": f"m{j}", "winner": f"m{min(i, j)}", "question_id": place}
        for place, (i, j) in enumerate(every)
    ]
    ranking = judgerank.rank(pd.DataFrame(rows).assign(judge_model="j"))
    board = ranking.leaderboard
    assert (ranking.pairs["p_value"] <= 0.05).all()
    assert board["low"].iloc[0] > 0 > board["high"].iloc[-1]
    assert (board["low"].iloc[1:-1] < 0).all()


def test_judges_who_all_have_few_answers_are_warned_of(tmp_path):
    """Nobody is weighed then, and that is no mere note; a single judge is not weighed anyway."""
    rows = drawn(8, "x", both=True)
    for name, warned in (("each", 1), ("one", 0)):
        table = pd.DataFrame(rows[:9], columns=HEADER)
        judges = [f"p{n}" for n in range(len(table))]
        table.assign(judge=judges if name == "each" else "x").to_csv(tmp_path / f"{name}.csv", index=False)
        command = ["rank", str(tmp_path / f"{name}.csv"), "-o", str(tmp_path / name)]
        said = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
        assert sum("fewer than 10 answers" in warning for warning in said["warnings"]) == warned
        page = " ".join((tmp_path / name / "index.html").read_text().split())
        assert ("Every judge has fewer than 10 answers" in page) == bool(warned)
