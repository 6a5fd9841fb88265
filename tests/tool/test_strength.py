"""How strong answers are: kept when files are read, ranked when asked for, refused when unreadable."""

import re

import numpy as np
import pandas as pd
import pytest

from judgerank import fit, rank, read
from judgerank.data.errors import DataError
from judgerank.data.judgments import Judgments
from judgerank.model.members import GRADED_MEMBERS, JudgeValues
from judgerank.reading.layouts.strength import shares_of
from tests.drawn import draw_graded
from tests.tool.command import judgerank

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
def table(drawn):
    c, level = drawn, np.round(2 * drawn.response + 1).astype(int)
    ends = {"model_a": np.array(c.models)[c.first], "model_b": np.array(c.models)[c.second]}
    judge = {"judge": np.array(c.judges)[c.judge], "question": [f"q{row // 5}" for row in range(len(level))]}
    return pd.DataFrame(ends | judge | {"winner": VERDICTS[level]})


def test_verdicts_a_column_and_cells_hold_the_same(drawn, table):
    expected = fit(drawn, MODEL)
    letters = {">": "a", "<": "b", "=": "c"}
    sign = [letters["=" if "=" in text else ">" if text[0] == "A" else "<"] for text in table["winner"]]
    degree = np.where(table["winner"].str.contains(">>"), "much better", "better")
    in_words = table.assign(winner=sign, strength=degree)
    in_numbers = in_words.assign(strength=np.where(degree == "better", 1, 2)).rename(
        columns={"strength": "margin"}
    )
    sources = [
        read(table),
        read(in_words),
        read(in_numbers, columns={"strength": "margin"}),
        Judgments.of(drawn.aggregate()),
    ]
    for source in sources:
        found = fit(source, MODEL)
        assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-8)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-8)


def test_a_file_without_strong_verdicts_has_no_strength(table):
    plain = table.assign(winner=table["winner"].str.replace(">>", ">"))
    assert read(plain).comparisons.strong is None
    assert "strength" not in read(plain).frame
    with pytest.raises(DataError, match="needs strength"):
        fit(read(plain), MODEL)


def test_arena_hard_keeps_strength_game_by_game(table):
    games = [
        {
            "model": b,
            "baseline": a,
            "judge": "j",
            "question_id": str(row),
            "games": [{"score": one}, {"score": two}],
        }
        for row, (a, b, one, two) in enumerate(
            zip(table["model_a"], table["model_b"], table["winner"], table["winner"][::-1], strict=True)
        )
    ]
    c = read(games).comparisons
    much = table["winner"].str.contains(">>").to_numpy()
    np.testing.assert_array_equal(c.strong.sum(axis=1), np.stack([much, much[::-1]], axis=1).ravel())


def test_a_file_whose_words_say_no_more_than_better_joins_one_whose_words_do(table, tmp_path):
    plain = table.assign(winner=table["winner"].str.replace(">>", ">"), question="p" + table["question"])
    for name, frame in (("much", table), ("plain", plain)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    c = read([tmp_path / "much.csv", tmp_path / "plain.csv"]).comparisons
    np.testing.assert_array_equal(c.strong[: len(table)], read(table).comparisons.strong)
    assert not c.strong[len(table) :].any()
    table.assign(winner="a", strength=2).to_csv(tmp_path / "column.csv", index=False)
    with pytest.raises(DataError, match="has nan as its strength"):
        read([tmp_path / "column.csv", tmp_path / "plain.csv"])


QUARTERS = {"A>>B": 0.0, "A>B": 0.25, "A=B": 0.5, "B>A": 0.75, "B>>A": 1.0}


def as_battles(table: pd.DataFrame) -> pd.DataFrame:
    """The same verdicts as JudgeArena's battles, in one order."""
    pref = table["winner"].map(QUARTERS)
    winner = np.select([pref < 0.5, pref > 0.5], ["model_a", "model_b"], "tie")
    renamed = table.rename(columns={"judge": "judge_model", "question": "question_id"})
    return renamed.assign(winner=winner, pref=pref, source="llm-judge", orientation="single")


def test_judgearenas_verdicts_in_quarters_keep_their_strength(table):
    battles = as_battles(table)
    np.testing.assert_array_equal(read(battles).comparisons.strong, read(table).comparisons.strong)
    # turned around, it is still the winner's
    turned = read(battles.assign(orientation="reversed")).comparisons
    np.testing.assert_array_equal(turned.strong[:, ::-1], read(table).comparisons.strong)


def test_judgearenas_scores_and_people_say_no_strength(table):
    battles = as_battles(table)
    scored = battles.assign(pref=1 / (1 + np.exp(-0.3 * (4 * battles["pref"] - 2) * 3)))
    assert read(scored).comparisons.strong is None
    first = battles["judge_model"] == "j0"
    whole = battles["pref"].mask(first, battles["pref"].round(0).where(battles["pref"] != 0.5, 0.5))
    c = read(battles.assign(pref=whole, source=np.where(first, "human", "llm-judge"))).comparisons
    strong = read(table).comparisons.strong
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


def test_swapped_records_keep_whose_win_it_is(table):
    plain, told = (
        read(table).comparisons,
        read(table.assign(swapped=True), columns={"swapped": "swapped"}).comparisons,
    )
    np.testing.assert_array_equal(plain.strong[:, ::-1], told.strong)
    np.testing.assert_array_equal(plain.first, told.second)


@pytest.mark.parametrize("value", ["dunno", None, 30, 1.5])
def test_a_winner_without_a_known_strength_is_named(table, value):
    frame = table.assign(winner="a", strength=1).astype({"strength": object})
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


def test_the_command_ranks_by_strength_when_asked_and_compares_it_always(table, tmp_path):
    table.to_csv(tmp_path / "v.csv", index=False)
    done = judgerank("rank", tmp_path / "v.csv", "--model", MODEL, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "out" / "leaderboard.csv")
    assert found["model"].tolist() == ["m3", "m2", "m1", "m0"]
    told = judgerank("doctor", tmp_path / "v.csv").stdout
    wins = table["winner"] != "A=B"
    share = table["winner"].str.contains(">>").sum() / wins.sum()
    assert re.search(rf"\b{share:.0%} of wins\b", told) and MODEL in told
    members = rank(read(table)).tables["members"]
    assert {member.name for member in GRADED_MEMBERS} <= set(members["member"])
    assert members.loc[members["member"] == MODEL, "log_loss"].notna().all()
