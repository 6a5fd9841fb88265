"""Slips in files: read and said where there is no doubt, else refused in a sentence that names what settles it."""

import re

import numpy as np
import pandas as pd
import pytest

from judgerank import rank, read
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError, DataError, JudgerankError
from judgerank.ranking.diagnosis import examine
from judgerank.ranking.trust_report import trust_report
from judgerank.reading.large import from_engine
from judgerank.reading.read import judgments_of, read_judgments
from studies.torture import reading as misreadings
from studies.torture.reading import INNOCENT
from tests.forked import judgerank


def drawn(records: int = 60, seed: int = 1) -> pd.DataFrame:
    """Judgments with a question each, by two judges, of three models."""
    rng, rows = np.random.default_rng(seed), []
    for number in range(records):
        a, b = rng.choice(["gpt-4", "claude", "llama"], 2, replace=False)
        winner = ["model_a", "model_b"][rng.integers(2)]
        rows.append(
            {"question": f"q{number}", "model_a": a, "model_b": b, "judge": f"J{number % 2}", "winner": winner}
        )
    return pd.DataFrame(rows)


CLEAN = drawn()


def same(found, expected) -> None:
    assert (found.models, found.judges) == (expected.models, expected.judges)
    for name in ("first", "second", "judge", "outcome", "count"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


# names of columns


@pytest.mark.parametrize(
    "name", ["Judge", "JUDGE", "judge ", "\ufeffjudge", "ju\u200bdge", "JUDGE_MODEL", "judge-model"]
)
def test_another_spelling_of_a_column_is_read_and_said(name):
    found = judgments_of(CLEAN.rename(columns={"judge": name, "model_a": "Model A"}))
    same(found.comparisons, judgments_of(CLEAN).comparisons)
    (said,) = found.remarks
    assert repr(name) in said
    assert "model_a from 'Model A'" in said


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("jugde", "judge"),
        ("grader_name", "judge"),
        ("xjudge", "judge"),
        ("labeler_id", "judge"),
        ("qeustion", "question"),
    ],
)
def test_a_column_that_is_nearly_a_known_one_is_refused_until_it_is_settled(name, key):
    table = CLEAN.rename(columns={key: name})
    with pytest.raises(
        DataError, match=rf"column '{name}' would not be read.*--column {key}='{name}'.*{key}=null"
    ):
        judgments_of(table)
    same(judgments_of(table, {key: name}).comparisons, judgments_of(CLEAN).comparisons)
    assert len(judgments_of(table, {key: None}).comparisons) == len(CLEAN)


def test_two_columns_of_judges_that_differ_are_refused_until_one_is_chosen():
    other = CLEAN["judge"].map({name: f"other {name}" for name in CLEAN["judge"].unique()})
    table = CLEAN.assign(judge_model=other)
    with pytest.raises(DataError, match=r"'judge_model' and 'judge' differ.*--column judge=NAME"):
        judgments_of(table)
    same(judgments_of(table, {"judge": "judge"}).comparisons, judgments_of(CLEAN).comparisons)
    same(judgments_of(CLEAN.assign(judge_model=CLEAN["judge"])).comparisons, judgments_of(CLEAN).comparisons)


@pytest.mark.parametrize("name", ["weight_", "Weight", "weights ", "wieght", "counts_"])
def test_a_column_that_is_nearly_one_of_counts_is_refused_until_it_is_settled(name):
    table = CLEAN.assign(**{name: [1, 2] * 30})
    with pytest.raises(DataError, match=r"column .* looks like"):
        judgments_of(table)
    assert judgments_of(table, {"count": name}).comparisons.n_comparisons == 90
    assert judgments_of(table, {"count": None}).comparisons.n_comparisons == 60


def test_columns_that_compete_for_a_name_are_refused_until_one_is_chosen():
    table = CLEAN.assign(Judge="other")
    with pytest.raises(
        DataError, match=r"the columns 'judge' and 'Judge' could both be 'judge' \(--column judge=NAME"
    ):
        judgments_of(table)
    assert judgments_of(table, {"judge": "Judge"}).comparisons.judges == ("other",)
    assert judgments_of(table, {"judge": "judge"}).comparisons.judges == ("J0", "J1")
    assert judgments_of(table, {"judge": None}).comparisons.judges == ("one judge",)


@pytest.mark.parametrize("name", INNOCENT)
def test_a_column_of_another_kind_is_left_alone(name):
    table = CLEAN.assign(**{name: INNOCENT[name]})
    same(judgments_of(table).comparisons, judgments_of(CLEAN).comparisons)


# names of models and judges


def hyphened(name):
    """The same name, as a text processor writes it."""
    return name.replace("-", "\u2011") if "-" in name else f"{name} "


@pytest.mark.parametrize("change", [*(each.format for each in ("{} ", " {}", "{}\u200b", "\u00a0{}")), hyphened])
def test_names_that_look_the_same_are_one_and_that_is_said(change):
    table = CLEAN.copy()
    table.loc[::3, "model_a"] = table["model_a"][::3].map(change)
    table.loc[::4, "judge"] = table["judge"][::4].map(change)
    found = judgments_of(table)
    same(found.comparisons, judgments_of(CLEAN).comparisons)
    assert [said.split(":")[0] for said in found.remarks] == [
        f"{what} whose names look the same are one" for what in ("Models", "Judges")
    ]
    exact = judgments_of(table, names="exact").comparisons
    assert (len(exact.models), len(exact.judges)) == (6, 3)


def test_composed_letters_and_winners_by_name_are_the_same():
    table = CLEAN.replace("claude", "caf\u00e9")
    table["winner"] = np.where(table["winner"] == "model_a", table["model_a"], table["model_b"])
    other = table.assign(winner=table["winner"].replace("caf\u00e9", "cafe\u0301 "))
    same(judgments_of(other).comparisons, judgments_of(table).comparisons)


def test_names_that_differ_in_case_alone_are_refused_folded_or_kept():
    table = CLEAN.copy()
    table.loc[::3, "model_a"] = table["model_a"][::3].str.upper()
    with pytest.raises(
        DataError, match=r"these models differ in case alone: 'CLAUDE' \(\d+\) and 'claude'.*--names fold"
    ):
        judgments_of(table)
    folded = judgments_of(table, names="fold")
    same(folded.comparisons, judgments_of(CLEAN).comparisons)
    assert "Models whose names look alike or differ in case are one" in folded.remarks[0]
    kept = judgments_of(table, names="exact")
    assert len(kept.comparisons.models) == 6
    assert re.search(r"\bapart\b.*\bCLAUDE\b", kept.remarks[0])
    with pytest.raises(ConfigError, match="names are read in one of the ways ask, fold, exact"):
        judgments_of(CLEAN, names="lower")


NUMBERED = CLEAN.replace({"gpt-4": "4", "claude": "5", "llama": "60", "J0": "0", "J1": "1"})


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_names_that_are_numbers_are_their_texts_in_every_form(kind, form, tmp_path):
    table = NUMBERED.astype(dict.fromkeys(("model_a", "model_b", "judge"), kind))
    path = tmp_path / f"m.{form}"
    if form == "csv":
        table.astype({"model_b": int, "judge": int}).to_csv(path, index=False)  # the other column had a gap
    elif form == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path)
    found = read(path)
    assert len(found.comparisons.models) == 3
    same(found.comparisons, judgments_of(NUMBERED).comparisons)
    as_told = [
        said for said in found.remarks if said.startswith("Models whose names look the same are one: '4' (")
    ]
    assert len(as_told) == (form == "csv" and kind is float)


@pytest.mark.parametrize("text", ["None", "nan", "NaN", "<NA>"])
@pytest.mark.parametrize("column", ["model_b", "judge"])
def test_the_text_of_a_missing_name_is_no_name(column, text, tmp_path):
    table = CLEAN.copy()
    table.loc[6, column] = text
    with pytest.raises(
        DataError, match=f"^record 7 has '{text}' as '{column}', which is how programs write a missing"
    ):
        judgments_of(table)
    assert text in str(judgments_of(table, names="exact").frame[column.replace("judge", "judge_model")].tolist())
    scores = [{"model": model, "question": "q", "score": 1} for model in ("x", text)]
    with pytest.raises(DataError, match=f"^record 2 has '{text}' as 'model'"):
        judgments_of(pd.DataFrame(scores))


# winners in numbers


def test_zero_and_one_are_refused_until_it_is_told_whose_they_are():
    table = CLEAN.assign(winner=CLEAN["winner"].map({"model_a": 0, "model_b": 1}))
    with pytest.raises(DataError, match=r"one of 0 and 1 in every record.*--winner-values 1=a 0=b .*0=a 1=b"):
        judgments_of(table)
    told = judgments_of(table, winner_values={"0": "a", "1": "b"})
    same(told.comparisons, judgments_of(CLEAN).comparisons)
    assert told.remarks == (
        "The winner is in numbers: 0 is model_a, 1 is model_b (--winner-values says otherwise).",
    )
    with pytest.raises(DataError, match="one of true and false in every record"):
        judgments_of(table.assign(winner=table["winner"].astype(bool)))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("a_wins", {"model_a": 1, "model_b": 0}),
        ("model_b_won", {"model_a": 0, "model_b": 1}),
        ("winner_a", {"model_a": True, "model_b": False}),
        ("outcome", {"model_a": 1, "model_b": 2}),
    ],
)
def test_a_columns_name_or_places_from_one_say_whose_numbers_are(name, values):
    table = CLEAN.assign(**{name: CLEAN["winner"].map(values)}).drop(columns="winner")
    found = judgments_of(table, {"winner": name})
    same(found.comparisons, judgments_of(CLEAN).comparisons)
    assert re.search(r"\bwinner\b.*\bnumbers: .*--winner-values\b", found.remarks[0])


def test_a_column_that_says_which_model_won_needs_no_option():
    table = CLEAN.assign(a_wins=CLEAN["winner"].map({"model_a": 1, "model_b": 0})).drop(columns="winner")
    same(judgments_of(table).comparisons, judgments_of(CLEAN).comparisons)
    for columns in ({"a_wins": "score_a"}, {"a_wins": "a_wins", "judge": "b_wins"}):  # a grade, and one of two
        with pytest.raises(DataError, match="no column 'judge_preferred_model' or 'winner'"):
            judgments_of(table.rename(columns=columns))


def test_words_of_published_sets_are_known():
    table = CLEAN.assign(winner=["tie (inconsistent)", "ignore", *CLEAN["winner"][2:]])
    found = judgments_of(table)
    assert found.comparisons.outcome[0] == 0.5 and found.comparisons.dropped["unknown"] == 1
    assert "'tie (inconsistent)' as tie (1)" in found.remarks[0] and "'ignore' as unknown (1)" in found.remarks[0]


def test_the_hint_for_an_unknown_word_takes_no_side():
    with pytest.raises(
        DataError,
        match=r"--winner-values 'no good=VALUE', VALUE being a, b, tie or unknown[.] --winner-values other=",
    ):
        judgments_of(CLEAN.assign(winner="no good"))


# copies


def test_whole_replies_that_end_with_a_verdict_are_read_by_it():
    words = {"model_a": "A", "model_b": "B"}
    replies = [
        f"Let me think about {n}. {'x' * 200} My verdict: [[{words[one]}]]."
        for n, one in enumerate(CLEAN["winner"])
    ]
    found = judgments_of(CLEAN.assign(winner=replies))
    same(found.comparisons, judgments_of(CLEAN).comparisons)
    (said,) = (one for one in found.remarks if "[[A]]" in one)
    assert "'...[[A]]' as a (" in said and len(said) < 200
    for odd in ("[[A]] is better than what [[B]] says", "x" * 500, "It is [[A]], or rather [[B]]"):
        with pytest.raises(DataError, match="record 3 has the unknown winner") as refused:
            judgments_of(CLEAN.assign(winner=[*replies[:2], odd, *replies[3:]]))
        assert len(str(refused.value)) < 700


def test_all_other_words_can_be_taken_for_no_answer():
    """Refusals in free words, half of the records; a third model and a number are still refused."""
    refused = [f"Sorry, I can't judge this ({n})" if n % 2 else one for n, one in enumerate(CLEAN["winner"])]
    with pytest.raises(
        DataError, match=r"and 27 more words.* --winner-values other=unknown takes all other words"
    ):
        judgments_of(CLEAN.assign(winner=refused))
    told = {"winner_values": {"other": "unknown"}}
    found = judgments_of(CLEAN.assign(winner=refused), **told)
    assert found.comparisons.dropped["unknown"] == 30 and len(found.comparisons) == 30
    assert any(
        one.startswith("30 answers in other words were taken for unknown, such as") for one in found.remarks
    )
    assert not any("no record" in one for one in found.remarks)
    for odd in ("7", next(name for name in ("gpt-4", "claude", "llama") if name not in (*CLEAN.iloc[0],))):
        with pytest.raises(DataError, match="record 1 has the unknown winner"):
            judgments_of(CLEAN.assign(winner=[odd, *refused[1:]]), **told)
    places = CLEAN["winner"].map({"model_a": "1", "model_b": "2"})
    mixed = judgments_of(CLEAN.assign(winner=["error", *places[1:]]), **told)
    same(mixed.comparisons, judgments_of(CLEAN[1:]).comparisons)


def test_other_numbers_than_told_ones_are_asked_for():
    """One, two and zero: the meaning of two does not make the others zero and one in every record."""
    numbers = ["1", "2", "0"] * 20
    with pytest.raises(DataError, match=r"winner '1'.* --winner-values 1=VALUE --winner-values 0=VALUE"):
        judgments_of(CLEAN.assign(winner=numbers), winner_values={"2": "b"})
    found = judgments_of(CLEAN.assign(winner=numbers), winner_values={"2": "b", "1": "a", "0": "tie"})
    assert found.comparisons.outcome[:3].tolist() == [1.0, 0.0, 0.5]


def test_one_model_alone_is_no_merged_file_and_missing_names_are_counted():
    with pytest.raises(DataError, match="all 60 records compare 'gpt-4' with itself"):
        judgments_of(CLEAN.assign(model_a="gpt-4", model_b="gpt-4", question="q"))
    lacking = CLEAN.assign(model_a=[None if n in (5, 8, 9) else name for n, name in enumerate(CLEAN["model_a"])])
    with pytest.raises(DataError, match="record 6 has no 'model_a': fill in the name or delete"):
        judgments_of(lacking)


def test_a_wide_table_with_an_unknown_word_says_how_to_read_it():
    wide = CLEAN.drop(columns=["winner", "judge"]).assign(
        one=["!", "A", "B"] * 20, two=["A", "B", "!"] * 20, three=["B", "!", "A"] * 20
    )
    judges = {"judges": "one,two,three"}
    with pytest.raises(DataError, match=r"--winner-values '!=VALUE'"):
        judgments_of(wide, columns=judges)
    assert len(judgments_of(wide, columns=judges, winner_values={"!": "tie"}).comparisons) == 180


def test_decimal_commas_are_read_and_said_and_thousands_are_not():
    scores = pd.DataFrame(
        {"question": np.repeat(range(10), 2).astype(str), "model": ["x", "y"] * 10, "score": ["7,5", "8"] * 10}
    )
    found = judgments_of(scores)
    same(found.comparisons, judgments_of(scores.replace("7,5", "7.5")).comparisons)
    assert any(re.search(r"\b7,5\b.* 7\.5\b", one) for one in found.remarks)
    with pytest.raises(DataError, match="has '7,500' as 'score', not a number"):
        judgments_of(scores.replace("7,5", "7,500"))


def test_minus_one_below_a_scale_is_said():
    scores = pd.DataFrame(
        {"question": np.repeat(range(10), 2).astype(str), "model": ["x", "y"] * 10, "score": [7, 8] * 9 + [-1, 9]}
    )
    assert any(re.search(r"\b1 of 20\b.* -1,.* 7 to 9\b", one) for one in judgments_of(scores).remarks)
    signed = scores.assign(score=[-1, 1] * 10)
    assert not any(" are -1" in one for one in judgments_of(signed).remarks)


@pytest.mark.parametrize("columns", [[], ["question"]])
def test_a_file_merged_with_itself_is_refused_kept_or_read_once(columns):
    once = drawn(300).drop(columns=columns)
    table = pd.concat([once] * 3)
    with pytest.raises(
        DataError, match=r"600 of 900 records are exact copies of others \(every record is there 3 times"
    ):
        judgments_of(table)
    assert len(judgments_of(table, copies="keep").comparisons) == 900
    found = judgments_of(table, copies="drop")
    same(found.comparisons, judgments_of(once).comparisons)
    assert found.remarks == ("600 of 900 records were left out, since they are exact copies of others.",)


def test_a_few_copies_are_counted_and_said_and_equal_answers_without_questions_are_none():
    table = pd.concat([CLEAN, CLEAN[:7]])
    found = judgments_of(table)
    assert len(found.comparisons) == 67
    assert found.remarks[0].startswith(
        "7 of 67 records are exact copies of others, and counted as separate judgments"
    )
    assert judgments_of(CLEAN.drop(columns="question")).remarks == ()
    assert judgments_of(table.assign(repeat=range(67))).remarks == ()
    with pytest.raises(DataError, match="question=NAME"):
        judgments_of(CLEAN.drop(columns="question"), copies="drop")


def test_copies_are_found_between_files(tmp_path):
    for name in ("one", "two"):
        CLEAN.to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.raises(DataError, match=r"^one.csv, two.csv: 60 of 120 records are exact copies"):
        read([tmp_path / "one.csv", tmp_path / "two.csv"])


# orders


@pytest.mark.parametrize(
    ("name", "values"),
    [("swapped", [True, False]), ("is_flipped", ["yes", "no"]), ("Presentation Order", ["BA", "AB"])],
)
def test_a_column_of_swapped_orders_is_refused_read_or_left(name, values):
    table = CLEAN.assign(**{name: values * 30})
    with pytest.raises(DataError, match=r"the other way round in 30 records \(--column swapped=.*swapped=null"):
        judgments_of(table)
    same(judgments_of(table, {"swapped": None}).comparisons, judgments_of(CLEAN).comparisons)
    shown = judgments_of(table, {"swapped": name}).frame
    turned = shown.iloc[::2]
    assert list(turned["model_a"]) == list(CLEAN["model_b"][::2])
    letters = CLEAN["winner"][::2].map({"model_a": "b", "model_b": "a"})
    assert list(turned["judge_preferred_model"]) == list(letters)
    assert list(shown.iloc[1::2]["model_a"]) == list(CLEAN["model_a"][1::2])


def test_a_column_that_names_the_model_shown_first_is_read_by_the_name_even_if_that_is_a_word_for_yes():
    """Models called yes and no: a name is a name before it is a word."""
    names = sorted({*CLEAN["model_a"], *CLEAN["model_b"]})
    table = CLEAN.replace(dict(zip(names, ("yes", "no", "y"), strict=True)))
    for shown, other in (("model_a", "model_b"), ("model_b", "model_a")):
        judgments = judgments_of(table.assign(swapped=table[shown]), {"swapped": "swapped"}).frame
        assert list(judgments["model_a"]) == list(table[shown])
        assert list(judgments["model_b"]) == list(table[other])


def test_a_column_that_says_nothing_was_swapped_is_left_alone():
    assert judgments_of(CLEAN.assign(swapped=False, order=range(60))).remarks == ()
    with pytest.raises(DataError, match=r"record 1 has 'maybe' as 'swapped', which does not say"):
        judgments_of(CLEAN.assign(swapped="maybe"), {"swapped": "swapped"})


@pytest.mark.parametrize(("winner", "place"), [("model_a", "first"), ("model_b", "second")])
def test_winners_that_are_always_in_one_column_have_no_order(winner, place):
    own = CLEAN["winner"] == winner
    table = CLEAN.assign(
        model_a=CLEAN["model_a"].where(own, CLEAN["model_b"]),
        model_b=CLEAN["model_b"].where(own, CLEAN["model_a"]),
        winner=winner,
    )
    found = rank(table, solver="penalised")
    assert re.search(rf"\b{place}: {winner}\b.*\b60 records\b", found.remarks[0])
    assert not found.judgments.ordered
    expected = rank(CLEAN, model="judge_aware", solver="penalised")
    np.testing.assert_allclose(
        found.fit.scores.sort_index(), expected.fit.scores.sort_index(), rtol=1e-3, atol=1e-3
    )


# what doctor, rank and the page say first


def test_doctor_rank_and_the_page_say_it_first(tmp_path):
    CLEAN.rename(columns={"judge": "Judge "}).to_csv(tmp_path / "m.csv", index=False)
    said = "Columns read though their names are written in another way: judge from 'Judge '."
    done = judgerank("rank", "m.csv", "--solver", "penalised", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"Read: {said}" in " ".join(done.stdout.split())
    page = (tmp_path / "rankings/m/index.html").read_text()
    assert page.index("judge from &#39;Judge &#39;") < page.index('id="picture"')
    told = dict(examine(tmp_path / "m.csv"))
    assert told["read"] == said
    assert "judge from 'Judge '" in told["columns"]


@pytest.mark.parametrize("engine", [False, True])
def test_a_word_for_the_winner_that_no_record_has_is_told(tmp_path, monkeypatch, engine):
    if engine:
        monkeypatch.setattr(from_engine, "LARGE", 1)
    CLEAN.assign(winner=CLEAN["winner"].replace("model_a", "left")).to_csv(tmp_path / "m.csv", index=False)
    for words, odd in (({"left": "a"}, ""), ({"left": "a", "lfet": "b"}, "lfet")):
        remarks = read_judgments(tmp_path / "m.csv", winner_values=words).remarks
        assert any("no record" in one for one in remarks) == bool(odd)
        assert odd in " ".join(remarks)


def test_one_number_with_a_sign_speaks_for_all():
    table = CLEAN.assign(winner=[(-2, 0, 3)[n % 3] for n in range(len(CLEAN))])
    assert not any("no record" in one for one in judgments_of(table, winner_values={"-1": "a"}).remarks)


def test_the_command_takes_what_settles_it(tmp_path):
    table = pd.concat([CLEAN, CLEAN])
    table.loc[::3, "model_a"] = table["model_a"][::3].str.upper()
    pd.concat([table, table]).to_csv(tmp_path / "m.csv", index=False)
    done = judgerank("doctor", "m.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert re.search(r"\(--copies drop\b", done.stderr)
    done = judgerank("doctor", "m.csv", "--copies", "drop", "--names", "fold", cwd=tmp_path)
    assert done.returncode in (0, 1)
    assert "judgerank rank m.csv --names fold --copies drop" in " ".join(done.stdout.split()) + done.stderr


# a judge by another spelling, with few answers that are all for one position


@pytest.fixture
def misspelt(tmp_path):
    table = pd.concat([CLEAN, CLEAN.head(4).assign(judge="J-0", winner="model_a", question=["r", "s", "t", "u"])])
    pd.concat([table, CLEAN.head(9)]).to_csv(tmp_path / "m.csv", index=False)
    return tmp_path / "m.csv"


def test_doctor_names_judges_that_differ_in_punctuation_alone(misspelt):
    told = dict(examine(misspelt, copies="keep"))
    assert told["names"].startswith("these judges differ in punctuation or case alone: 'J-0' (4) and 'J0' (")
    assert "names" not in dict(examine(pd_file(misspelt.with_name("n.csv"), ["llama-3.5", "llama-35"])))


def pd_file(path, models):
    """The clean judgments with other names of two models."""
    CLEAN.replace(dict(zip(["gpt-4", "llama"], models, strict=True))).to_csv(path, index=False)
    return path


def test_doctor_says_where_no_repeated_answer_changed(misspelt):
    assert "No answer changed" in dict(examine(misspelt, copies="keep"))["repeats"]
    table = pd.read_csv(misspelt)
    table.loc[len(table) - 1, "winner"] = "tie"
    table.to_csv(misspelt, index=False)
    assert "No answer changed" not in dict(examine(misspelt, copies="keep"))["repeats"]


def test_doctor_says_that_a_position_runs_off(misspelt):
    done = judgerank("doctor", misspelt, "--copies", "keep")
    assert done.returncode == 0, done.stderr
    assert (
        "position of judges with few answers" in done.stdout
        and "compare" not in done.stdout.split("exact fit:")[1]
    )
    text = str(trust_report(read_judgments(misspelt, copies="keep")))
    assert "count as one judge" not in text and "matter most" not in text


# at random


@pytest.mark.parametrize("layout", misreadings.LAYOUTS)
def test_slips_at_random_are_read_to_the_clean_file_or_refused(layout):
    records = [misreadings.misread_slip({"layout": layout}, generator(7, "slips", layout, n)) for n in range(25)]
    assert [record for record in records if record["bad"]] == []
    assert {record["status"] for record in records} == {"read", "refused"}


def test_a_slip_that_costs_judges_would_be_counted(monkeypatch):
    monkeypatch.setattr("judgerank.reading.layouts.refuse_doubtful", lambda table, layout: None)
    monkeypatch.setattr("judgerank.reading.layouts.as_usual", lambda table, layout: table)
    monkeypatch.setattr(misreadings, "SLIPS", {"typo": misreadings._typo, "spelled": misreadings._spelled})
    records = [misreadings.misread_slip({"layout": "arena"}, generator(n)) for n in range(40)]
    assert any(record["bad"] for record in records)


def test_what_is_refused_is_one_sentence():
    for table in (CLEAN.assign(**{"swa\npped": 1}), CLEAN.rename(columns={"judge": "jud\nges"})):
        try:
            judgments_of(table)
        except JudgerankError as error:
            assert len(str(error).splitlines()) == 1


def test_a_number_among_words_is_named_by_itself():
    """Other words may be taken for no answer, and a number is not one of them."""
    frame = pd.DataFrame({"model_a": "x", "model_b": "y", "winner": ["A", "B", "TIE", "NONE", "-1"]})
    with pytest.raises(DataError, match=r"'-1'.*--winner-values -1=VALUE, VALUE being a, b, tie or unknown\.$"):
        read(frame, winner_values={"other": "unknown"})
    found = read(frame, winner_values={"other": "unknown", "-1": "unknown"})
    assert found.frame["judge_preferred_model"].tolist() == ["a", "b", "c", "unknown", "unknown"]
