"""Whatever judgments are held in, everything that takes judgments takes it, and says the same of it."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import judgerank
from judgerank import Comparisons, ConfigError, DataError, fit
from judgerank.data.judgments import Judgments
from tests.library.test_combinations import drawn

PEOPLE, NEW = "people", "new-1"


def held(frame: pd.DataFrame, folder: Path) -> dict[str, object]:
    """The same judgments in everything that may hold them."""
    frame.to_csv(folder / "judgments.csv", index=False)
    return {
        "path": str(folder / "judgments.csv"),
        "frame": frame,
        "arrow": pa.Table.from_pandas(frame),
        "judgments": judgerank.read(frame),
        "comparisons": Comparisons.from_frame(frame),
    }


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    records = drawn()
    return records.comparisons.to_frame().assign(question_id=records.frame["question_id"].astype(str))


VERBS = {
    "fit": lambda x: fit(x, "position_aware").scores,
    "rank": lambda x: judgerank.rank(x, cluster="none").tables["leaderboard"].set_index("model")["score"],
    "fragility": lambda x: judgerank.fragility(x, most=1).judges["top"],
    "aggregate": lambda x: pd.Series(judgerank.aggregate(x).outcome),
    "effective_judges": lambda x: judgerank.effective_judges(x).worth.iloc[:, 1],
    "gate": lambda x: pd.Series(judgerank.gate(x, "beta-1", "alpha-1").criteria[0].evidence.win_rate),
}
BY_QUESTION = {"effective_judges": "takes questions", "gate": "which question"}  # comparisons do not say theirs


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_judgments_of_every_kind(frame, tmp_path, verb):
    sources = held(frame, tmp_path)
    if verb in BY_QUESTION:
        with pytest.raises(DataError, match=BY_QUESTION[verb]):
            VERBS[verb](sources.pop("comparisons"))
    found = {kind: VERBS[verb](source) for kind, source in sources.items()}
    for kind, values in found.items():
        pd.testing.assert_series_equal(values, found["frame"], obj=kind)


def test_newcomers_and_people_are_read_from_everything(frame, tmp_path):
    board = fit(frame, "position_aware")
    late = frame.replace({"model_a": {"alpha-1": NEW}, "model_b": {"alpha-1": NEW}})
    placed = {kind: judgerank.place(board, one).newcomers["score"] for kind, one in held(late, tmp_path).items()}
    for scores in placed.values():
        assert scores.iloc[0] == pytest.approx(placed["frame"].iloc[0])
    both = pd.concat([frame, frame.iloc[::15].assign(judge_model=PEOPLE)], ignore_index=True)
    sources = held(both, tmp_path)
    with pytest.raises(DataError, match="question"):
        judgerank.people_report(sources.pop("comparisons"), PEOPLE)
    asked = [judgerank.people_report(one, PEOPLE) for one in sources.values()]
    assert all(report.p_value == pytest.approx(asked[0].p_value) for report in asked)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ([("a", "b", "c")], r"^item 1 of the list is \('a', 'b', 'c'\): .* tuples \(winner, loser\)"),
        ([("a", "b"), ("a",)], r"^item 2 of the list is \('a',\): .* dicts such as {'model_a': 'x'"),
        (["one.csv", 3], "^item 2 of the list is 3: .* or names of files$"),
    ],
)
def test_a_list_of_something_else_is_refused_by_its_item(source, sentence):
    with pytest.raises(ConfigError, match=sentence):
        judgerank.rank(source)


def test_judgments_without_questions_say_so(frame):
    found = judgerank.read(frame.drop(columns="question_id"))
    assert found.n_questions == 0
    for name in ("question", "question_ids", "question_keys"):
        with pytest.raises(DataError, match=r"^judgments names no questions"):
            getattr(found, name)


def test_a_board_is_a_fit(frame):
    fitted = fit(frame)
    for wrong in (
        lambda: judgerank.place("board.npz", frame),
        lambda: judgerank.compare(fitted, frame),
        lambda: judgerank.pairwise("board.npz"),
        lambda: judgerank.rank_intervals(frame),
    ):
        with pytest.raises(ConfigError, match="is none"):
            wrong()


def test_cells_are_judgments_where_they_say_how_many_had_which_answer(frame):
    raw = judgerank.read(frame).comparisons
    cells = raw.with_ties().aggregate()
    told = Judgments.of(cells)
    assert told.frame["count"].sum() == len(raw)
    again = told.comparisons.aggregate()
    for name in ("first", "second", "judge", "outcome", "count"):
        assert getattr(again, name) == pytest.approx(getattr(raw.aggregate(), name))
    shares = judgerank.read(frame).judges.drop(columns=["dataset", "unparsed"])
    pd.testing.assert_frame_equal(told.judges.drop(columns=["dataset", "unparsed"]), shares, check_dtype=False)
    with pytest.raises(DataError, match="does not say how many"):  # ties are halves of each side there
        Judgments.of(raw.aggregate())


def test_columns_of_categories_say_the_same_as_texts():
    texts = pd.DataFrame(
        {
            "question_id": ["q2", "q10", "q2", "q1", "q10"],
            "model_a": [*"uvwuv"],
            "model_b": [*"vwuvw"],
            "judge_model": [*"yxyxy"],
            "judge_preferred_model": ["a", "b", "unknown", "c", "a"],
        }
    )
    others = {"question_id": ["q9", "q10", "q2", "q1"], "judge_model": [*"zyx"]}  # in another order, one unused
    told = judgerank.read(texts)
    for categories in ({"question_id": sorted(others["question_id"])}, others):
        frame = texts.astype({name: pd.CategoricalDtype(kinds) for name, kinds in categories.items()})
        other = replace(told, frame=frame)
        names = [other.question_ids[number] for number in other.question]
        assert names == texts["question_id"][told.parsed].tolist() and len(other.question_ids) == 3
        pd.testing.assert_frame_equal(
            other.judges.sort_values("judge", ignore_index=True), told.judges, check_dtype=False
        )
    assert told.judges["comparisons"].tolist() == [2, 2] and told.judges["unparsed"].tolist() == [0, 1]
    assert told.judges["share_tie"].tolist() == [0.5, 0.0]
