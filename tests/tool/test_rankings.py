"""Rankings of several answers, and tables of scores, read from cells and rows and ranked."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import fit, pairwise, place, rank, read
from judgerank.boards.comparing import compare
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.judgments import Judgments
from judgerank.data.rankings import as_pairs, number_of_ranking
from judgerank.engine.likelihood import evaluate
from judgerank.gating.judged import judged
from judgerank.model.law import graded_comparisons
from judgerank.model.members import MODELS
from judgerank.people.report import people_report
from judgerank.planning.plans import INDEPENDENT, fitted_panel, questions_like
from judgerank.ranking.choices import Settings
from judgerank.ranking.studies.prediction import held_out, sample_of
from judgerank.ranking.trust_report import trust_report
from judgerank.reading.layouts.sample_scores import TO_TURN
from judgerank.reading.read import judgments_of
from judgerank.trust.fragility import fragility
from judgerank.trust.refits import judgments_as_units
from tests.forked import judgerank
from tests.library.test_stages import drawn
from tests.tool.test_layouts import WON, renamed, rows

GREEK = ("alpha", "beta", "gamma", "delta", "eps", "zeta")


def test_a_ranking_is_the_same_in_a_cell_a_list_and_rows():
    cell = pd.DataFrame({"question": ["q"], "judge": ["j"], "ranking": ["w > x = y > {v, z}"]})
    rows = pd.DataFrame({"model": list("wxyzv"), "rank": [1, 2, 2, None, None]}).assign(question="q", judge="j")
    lists = pd.DataFrame({"question": ["q"], "judge": ["j"], "ranking": [["w", ["x", "y"], ["v", "z"]]]})
    one, other = (read(frame).comparisons for frame in (cell, rows))
    for name in ("first", "second", "outcome", "count"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.stages.neither, other.stages.neither)
    assert one.n_comparisons == pytest.approx(4 + 3 + 2)
    assert read(lists).comparisons.n_comparisons == pytest.approx(10)  # a list knows the last two to be tied


def test_ranks_may_have_gaps_and_begin_anywhere():
    rows = pd.DataFrame({"model": list("abc"), "rank": [10, 0.5, 3], "question": 1})
    cell = pd.DataFrame({"ranking": ["b>c>a"]})
    np.testing.assert_array_equal(read(rows).comparisons.outcome, read(cell).comparisons.outcome)


def test_places_are_counted_from_the_order_shown():
    cells = read(pd.DataFrame({"ranking": ["a>b>c", "c>a>b"], "shown": ["c, a, b", ["a", "b", "c"]]})).comparisons
    assert cells.ordered
    assert [str(cells.models[i]) for i in cells.first[:3]] == ["c", "c", "a"]
    np.testing.assert_array_equal(cells.stages.apart, [1, 2, 1, 2, 1, 2, 1, 1])


def test_answers_of_a_record_alone_are_left_out():
    rows = pd.DataFrame({"model": list("abca"), "rank": [1, 2, 3, 1], "question": [1, 1, 1, 2]})
    assert read(rows).comparisons.n_comparisons == 3


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"ranking": ["a>b", "a>b>a"]}, "record 2 ranks 'a' twice"),
        ({"ranking": ["a>b", "a"]}, r"cannot read 'a' as a ranking; write w > x = y.*\(record 2\)"),
        ({"ranking": ["a>b", "a, b, c"]}, r"cannot read 'a, b, c' as a ranking; write w > x = y.*\(record 2\)"),
        ({"ranking": ["a, b > c"]}, "cannot read 'a, b > c' as a ranking"),
        ({"ranking": ["a>>b=c"]}, "cannot read 'a>>b=c' as a ranking"),
        ({"ranking": ["a < b < c"]}, "cannot read 'a < b < c' as a ranking"),
        ({"ranking": ["a > b < c"]}, "cannot read 'a > b < c' as a ranking"),
        ({"ranking": ["a>{b,c}>d"]}, "cannot read"),
        ({"ranking": ["a>b"], "shown": ["a, c"]}, "record 1 does not rank the models"),
        ({"ranking": ["a>b"], "shown": [3]}, "record 1 has 3 as 'shown'"),
        ({"ranking": ["=".join("abcdefghi")]}, "tie of 9 models.*braces"),
        ({"ranking": [">".join(f"m{i}" for i in range(61))]}, "61 models, and 60 is the most"),
        ({"model": ["a", "b"], "rank": [1, "x"], "question": [1, 1]}, "record 2 has 'x' as 'rank', not a number"),
        ({"model": ["a", "a"], "rank": [1, 2], "question": [1, 1]}, "record 1 ranks 'a' twice"),
        ({"model": ["a", "b"], "rank": [1, 2], "question": [1, 2]}, "two models"),
        (
            {"model": ["a", "b"], "rank": [1, 2], "question": [1, 1], "place": [1, 1]},
            r"\brecord 1\b.* 'place'",
        ),
    ],
)
def test_what_is_no_ranking_is_named(frame, message):
    with pytest.raises(DataError, match=message):
        read(pd.DataFrame(frame))


def test_rankings_and_pairs_are_ranked_together(tmp_path):
    rankings = drawn(80, 3, (1.0, 0.6))
    pairs = pd.DataFrame({"judge": "j0", "question": 0, "winner": ["a", "f", "b"], "loser": ["b", "a", "f"]})
    paths = [tmp_path / "rankings.csv", tmp_path / "pairs.csv"]
    rankings.to_csv(paths[0], index=False)
    pairs.to_csv(paths[1], index=False)
    both = read(paths).comparisons
    assert both.n_comparisons == 80 * 3 + 3
    as_rankings = pd.DataFrame({"judge": "j0", "question": 0, "ranking": pairs["winner"] + ">" + pairs["loser"]})
    same = fit(pd.concat([rankings, as_rankings], ignore_index=True))
    np.testing.assert_allclose(fit(both).scores, same.scores, atol=1e-9)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Rankings of four by three judges, with the order shown."""
    frame = drawn(
        360, 4, (1.6, 0.8, 0.0), (0.3, 0.0, 0.5), names=("alpha", "beta", "gamma", "delta", "eps", "zeta")
    )
    path = tmp_path_factory.mktemp("rankings") / "my.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_page_ranks_rankings(file):
    found = rank(file)
    assert found.leaderboard["model"].iloc[0] == "alpha"
    assert found.fit.model.name == "position_aware"
    # a ranking of four compares each of its models with three others
    frame = pd.read_csv(file)
    times = frame["ranking"].str.split(">").explode().value_counts() * 3
    compared = found.leaderboard.set_index("model")["comparisons"]
    assert compared.to_dict() == times.to_dict()
    assert found.tables["judges"]["comparisons"].sum() == 360 * 6
    won = frame.apply(lambda one: _first_won(one["shown"].split(", "), one["ranking"].split(">")), axis=1)
    shares = found.tables["judges"].set_index("judge")["share_a"]
    np.testing.assert_allclose(shares, won.groupby(frame["judge"]).mean()[shares.index])
    assert any("360 rankings of 4 answers" in remark for remark in found.remarks)
    assert not {"fitness", "effects", "repeats"} & found.tables.keys()
    members = found.tables["members"].set_index("member")
    assert "position_aware_ties" not in members.index
    assert members["log_loss"].notna().all()
    assert "alpha" in found.to_html()


def _first_won(shown: list[str], order: list[str]) -> float:
    """Share of the pairs of a ranking won by the answer shown earlier."""
    pairs = [(a, b) for place, a in enumerate(shown) for b in shown[place + 1 :]]
    return float(np.mean([order.index(a) < order.index(b) for a, b in pairs]))


def test_held_out_losses_are_those_of_whole_rankings(file):
    judgments = read(file)
    sample = sample_of(judgments)
    parameters, losses = held_out(sample, MODELS["position_aware"])
    assert parameters == 6 - 1 + 3 - 1 + 3
    train, test, rows = sample.folds[0]
    fitted = fit(train, "position_aware")
    there = fitted.solution.parameters
    expected = evaluate(test, MODELS["position_aware"], there).log_likelihood
    mine = np.unique(sample.unit[rows])
    assert -losses[mine].sum() == pytest.approx(expected, rel=1e-6)


def test_the_command_ranks_rankings_and_says_what_it_cannot(file, tmp_path):
    done = judgerank("rank", str(file), "-o", str(tmp_path / "out"))
    assert done.returncode == 0
    assert "alpha leads" in done.stdout
    assert "comparisons in rankings" in " ".join(done.stdout.split())
    refused = judgerank("rank", str(file), "--cluster", "effects")
    assert refused.returncode != 0
    assert refused.stdout == "" and "rankings of" in " ".join(refused.stderr.split())
    assert judgerank("doctor", str(file)).returncode == 0


def test_equal_models_are_separated_no_more_often_than_they_should():
    """The null, with judges who differ: p-values of 40 sets are not small."""
    rng = np.random.default_rng(11)
    least = []
    for _ in range(40):
        orders = [">".join(rng.permutation(list("abcd"))) for _ in range(120)]
        frame = pd.DataFrame({"judge": np.tile(["j", "k", "l"], 40), "ranking": orders})
        least.append(pairwise(fit(frame, shrink=True))["p_holm"].min())
    assert np.mean(np.array(least) <= 0.05) <= 0.125


# Rankings of several answers in trust, gate, place, diff, plan and people: those of two are comparisons.
RANKED_MODELS = np.array(["ann", "bob", "cat", "dan", "eve"])


def drawn_table(k: int, questions: int = 60, seed: int = 1) -> pd.DataFrame:
    """Rankings of k answers by three judges, all of them on every question."""
    rng, rows = np.random.default_rng(seed), []
    for question in range(questions):
        shown = rng.permutation(5)[:k]
        for judge, gamma in (("x", 0.6), ("y", 1.0), ("z", 1.6)):
            order = shown[np.argsort(-(gamma * 0.5 * (shown - 2) + rng.gumbel(size=k)))]
            texts = " > ".join(RANKED_MODELS[order]), ", ".join(RANKED_MODELS[shown])
            rows.append((f"q{question:03}", judge, *texts))
    return pd.DataFrame(rows, columns=["question", "judge", "ranking", "shown"])


def pairs_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Rankings of two as records of comparisons."""
    first, second = frame["shown"].str.split(", ", expand=True).to_numpy().T
    best = frame["ranking"].str.split(" > ").str[0]
    ends = {"model_a": first, "model_b": second, "winner": np.where(best == first, "a", "b")}
    return frame[["question", "judge"]].assign(**ends)


@pytest.fixture(scope="module")
def two() -> tuple[Judgments, Judgments]:
    frame = drawn_table(2)
    return read(frame), read(pairs_of(frame))


def test_rankings_of_two_have_the_trust_report_of_comparisons(two):
    tables = [fragility(fit(one, "position_aware"), most=1).changes for one in two]
    assert set(tables[0]["by"]) == {"rankings", "questions", "judges"}
    as_judgments = tables[0].assign(by=tables[0]["by"].replace("rankings", "judgments"))
    top = [table[table["change"] == "top"].reset_index(drop=True) for table in (as_judgments, tables[1])]
    columns = ["by", "first", "second", "size", "total"]
    pd.testing.assert_frame_equal(top[0][columns], top[1][columns])
    assert_allclose(top[0]["forecast"].astype(float), top[1]["forecast"].astype(float), rtol=1e-6)


def test_a_set_of_rankings_that_is_named_puts_another_model_first():
    judgments = read(drawn_table(4, 12))
    fitted = fit(judgments, "position_aware")
    found = fragility(fitted, most=1)
    row, removed = found.changes.iloc[0], found.removed[0]
    assert row["change"] == "top" and row["by"] == "rankings" and row["total"] == 36
    c = judgments.comparisons
    number = number_of_ranking(c, judgments.question)
    gone = np.unique(number[removed.rows])
    assert len(gone) == row["size"] and np.isin(number, gone).sum() == len(removed.rows)
    left = fit(c.take(np.flatnonzero(~np.isin(number, gone))), "position_aware")
    assert fitted.scores.idxmax() == row["first"] and left.scores.idxmax() == row["second"]


def test_the_trust_report_says_what_it_leaves_out(tmp_path):
    report = trust_report(read(drawn_table(4, 30)), Settings(model="position_aware"), most=1)
    text = str(report)
    assert (
        "90 rankings" in text and re.search(r"\bfit is not tested: .*\branking\b", text) and report.fitness is None
    )
    records = report.records()
    assert records.groupby("set")["record"].nunique().iloc[0] == report.fragility.changes["size"].iloc[0]


def test_rankings_of_two_have_the_boards_of_comparisons(two):
    boards = []
    for one in two:
        c, number = one.comparisons, one.question
        halves = [np.flatnonzero(number % 2 == side) for side in (0, 1)]
        old, new = (
            fit(c.take(rows), "position_aware", question=number[rows], cluster="question") for rows in halves
        )
        boards.append(compare(old, new).moves)
    pd.testing.assert_frame_equal(boards[0], boards[1], rtol=1e-5, atol=1e-7)
    places = []
    for one in two:
        c, eve = one.comparisons, one.comparisons.models.index("eve")
        new = (c.first == eve) | (c.second == eve)
        known = c.take(np.flatnonzero(~new))
        board = fit(_without(known, eve), "position_aware")
        places.append(place(board, c.take(np.flatnonzero(new)), question=one.question[new]).newcomers)
    errors = [
        "standard_error",
        "low",
        "high",
        "own_error",
    ]  # of comparisons they allow for tastes, of rankings they do not
    pd.testing.assert_frame_equal(*(newcomers.drop(columns=errors) for newcomers in places), rtol=1e-5, atol=1e-7)
    pd.testing.assert_frame_equal(*(newcomers[errors] for newcomers in places), rtol=1e-2)


def _without(c: Comparisons, model: int) -> Comparisons:
    """The same without the name of a model that has no row."""
    place = np.arange(len(c.models)) - (np.arange(len(c.models)) > model)
    names = tuple(name for number, name in enumerate(c.models) if number != model)
    return replace(c, models=names, first=place[c.first], second=place[c.second])


def test_a_new_model_is_placed_by_whole_rankings():
    """The fit of all beside it has the board's rankings, and every choice that the new model was part of."""
    frame = drawn_table(4, 80)
    with_eve = frame["ranking"].str.contains("eve")
    board = fit(read(frame[~with_eve]), "position_aware")
    found = place(board, read(frame[with_eve]))
    assert found.newcomers["comparisons"].iloc[0] == 3 * with_eve.sum()
    c = read(frame).comparisons
    eve = (c.first == c.models.index("eve")) | (c.second == c.models.index("eve"))
    chosen_among = np.logical_or.reduceat(eve, c.stages.first_rows)[c.stages.alternatives.stage]
    ranked_with = with_eve.to_numpy()[number_of_ranking(c, read(frame).question)]
    whole = fit(c.take(np.flatnonzero(chosen_among | ~ranked_with)), "position_aware")
    assert found.refit is not None
    assert_allclose(found.refit.scores.sort_index(), whole.scores.sort_index(), atol=1e-6)
    truth = found.newcomers[["low", "high"]].iloc[0]
    assert truth["low"] < found.newcomers["refit"].iloc[0] < truth["high"]


def test_the_gate_takes_the_order_of_its_two_models_in_every_ranking():
    frame = drawn_table(4)
    both = frame[frame["ranking"].str.contains("bob") & frame["ranking"].str.contains("dan")]
    table = judged(read(frame), "bob", "dan")
    assert len(table.questions) == both["question"].nunique()
    won = [text.index("dan") < text.index("bob") for text in both["ranking"]]
    assert np.nanmean(table.preference) == pytest.approx(np.mean(won))
    first = [text.index("dan") < text.index("bob") for text in both["shown"]]
    assert table.first.sum() == 2 * sum(first) - len(first)


def test_a_plan_is_for_comparisons_of_two_and_takes_the_fit_of_rankings(two):
    panels = [fitted_panel(one, lambda name, one=one: fit(one, name)) for one in two]
    assert_allclose(panels[0][0].at.scores, panels[1][0].at.scores, atol=1e-7)
    assert_allclose(panels[0][0].doubt, panels[1][0].doubt, rtol=1e-5)
    assert questions_like(*panels[0], two[0]) == INDEPENDENT


def test_people_and_panel_are_compared_by_the_pairs_of_rankings(two):
    tables = [people_report(one, "z").table for one in two]
    pd.testing.assert_frame_equal(*tables, rtol=1e-5, atol=1e-7)
    assert len(people_report(drawn_table(3), "z").table) == 5


def test_rankings_broken_into_pairs_keep_every_order_once():
    frame = pd.DataFrame({"judge": ["x", "x"], "ranking": ["ann > bob = cat = dan", "ann > {bob, cat}"]})
    judgments = read(frame.assign(question=["q", "q"], shown=["dan, cat, bob, ann", "cat, ann, bob"]))
    pairs = as_pairs(judgments)
    ends = pairs.frame[["model_a", "model_b", "judge_preferred_model"]].to_numpy().tolist()
    first = [["dan", "cat", "c"], ["dan", "bob", "c"], ["dan", "ann", "b"], ["cat", "bob", "c"]]
    first += [["cat", "ann", "b"], ["bob", "ann", "b"]]
    assert sorted(ends) == sorted([*first, ["cat", "ann", "b"], ["ann", "bob", "a"]])
    assert (pairs.comparisons.count == 1).all() and pairs.comparisons.stages is None
    assert as_pairs(pairs) is pairs


def test_a_ranking_repeated_is_another_one():
    frame = pd.DataFrame({"judge": "x", "question": "q", "ranking": ["ann > bob > cat", "ann > bob > cat"]})
    judgments = read(frame)
    units = judgments_as_units(judgments.comparisons, judgments.question)
    assert units.total == 2 and np.bincount(units.kind).tolist() == [4, 4]


def test_the_commands_take_rankings(tmp_path):
    file = tmp_path / "my.csv"
    drawn_table(3, 40).to_csv(file, index=False)
    shipped = judgerank("gate", file, "--baseline", "ann", "--candidate", "eve")
    assert shipped.returncode == 0 and "Ship" in shipped.stdout
    planned = judgerank("plan", file, "--want", "score_width=0.5")
    assert planned.returncode == 0 and "one ranking" in " ".join(planned.stdout.split())
    told = judgerank("people", file, "--human", "z", "--verbose")
    assert told.returncode == 0 and re.search(r"\branking is taken\b", " ".join(told.stdout.split()))


def graded(size: int = 400, seed: int = 3) -> Comparisons:
    rng = np.random.default_rng(seed)
    ends = np.array([rng.permutation(4)[:2] for _ in range(size)]).T
    level = np.digitize((ends[0] - ends[1]) * 0.4 + rng.logistic(size=size), [-1.5, -0.3, 0.3, 1.5])
    return graded_comparisons(tuple("abcd"), ("x", "y"), np.array([*ends, np.arange(size) % 2]), level)


def test_a_graded_board_places_models_and_is_compared_with_strength():
    c, name = graded(), "position_aware_graded"
    new = (c.first == 3) | (c.second == 3)
    board = fit(_without(c.take(np.flatnonzero(~new)), 3), name)
    found = place(board, c.take(np.flatnonzero(new)))
    assert found.refit is not None and found.refit.comparisons.strong is not None
    assert_allclose(found.refit.scores.to_numpy(), fit(c, name).scores.to_numpy(), atol=1e-6)
    moves = compare(fit(c, name), fit(graded(seed=4), name)).moves
    assert moves["p_value"].between(0, 1).all() and (moves["standard_error"] > 0).all()


def test_further_judgments_keep_strength_or_say_what_is_missing():
    c = graded(100)
    frame = Judgments.of(graded(60, 5)).frame
    longer = c.extended(frame)
    assert longer.n_strengths == 1 and len(longer) == 160
    assert longer.known_strength[100:].sum() == (frame["strength"] > 1).sum()
    assert c.extended(frame.assign(strength=3)).n_strengths == 2
    with pytest.raises(DataError, match=r"\bstrength\b.*\bstrong=None\b"):
        c.extended(frame.drop(columns="strength"))
    with pytest.raises(DataError, match="record 1 has huge as its strength"):
        c.extended(frame.assign(judge_preferred_model="a", strength="huge"))


def test_rankings_among_graded_verdicts_are_told_to_lose_strength(tmp_path):
    drawn_table(3, 5).to_csv(tmp_path / "ranked.csv", index=False)
    table = pairs_of(drawn_table(2, 5, seed=2)).replace({"winner": {"a": "A>>B", "b": "B>A"}})
    table.to_csv(tmp_path / "graded.csv", index=False)
    found = read([tmp_path / "ranked.csv", tmp_path / "graded.csv"])
    assert found.comparisons.strong is None
    assert any("Strength is not used, since there are rankings" in remark for remark in found.remarks)


@pytest.mark.parametrize(("last", "tied"), [("cat = dan", True), ("cat > dan", False)])
def test_the_page_says_how_ties_in_rankings_count(last, tied):
    frame = pd.DataFrame(
        {"judge": "x", "ranking": [f"ann > bob > {last}", "dan > ann > bob > cat", "bob > dan > ann"]}
    )
    found = rank(frame)
    assert any("averaged" in remark for remark in found.remarks) == tied


GRADES = [
    {"question_id": question, "model": model, "judge": judge, "score": score}
    for question, judge, grades in (
        ("q1", "j", {"x": 8, "y": 6.5, "z": 8}),
        ("q2", "j", {"x": 3, "y": 9, "z": None}),
        ("q1", "k", {"x": 1, "y": 2}),
    )
    for model, score in grades.items()
]
ONE_WINS = [{"question": "q", "model": "x", "score": 9}, {"question": "q", "model": "y", "score": 4}]
EXPECTED = [
    ("x", "y", "j", 0.0),
    ("x", "y", "j", 1.0),
    ("x", "y", "k", 0.0),
    ("x", "z", "j", 0.5),
    ("y", "z", "j", 0.0),
]


def found_in(records, **said):
    return judgments_of(pd.DataFrame(records), said)


@pytest.mark.parametrize(
    "names",
    [
        {},
        {"question_id": "prompt", "judge": "rater", "score": "rating"},
        {"question_id": "instruction"},
        {"question_id": "user_input"},
        {"question_id": "item", "judge": "annotator", "score": "grade", "model": "model_name"},
    ],
)
def test_scores_are_compared_within_question_and_judge(names):
    found = found_in(renamed(GRADES, **names))
    assert sorted(rows(found)) == EXPECTED
    assert found.comparisons.dropped == {"unknown": 0, "null": 2}
    assert not found.ordered
    assert found.remarks[0].startswith("The records are in a table of scores.")
    assert found.remarks[1] == "Higher is better. Where that is wrong, change the sign of the scores."
    assert found.remarks[2].startswith(
        "5 comparisons were made of the scores of two models on the same sample: 1 of"
    )


LOWER = (
    "mse",
    "MAE",
    "rmse",
    "eval_loss",
    "errorRate",
    "word_perplexity",
    "bits_per_byte",
    "latency_ms",
    "toxicity",
)
HIGHER = ("exact_match", "f1", "cost_efficiency", "hallucination_free", "bias_detection_f1", "Mae", "bertscore")


@pytest.mark.parametrize("name", [*LOWER, *HIGHER])
@pytest.mark.parametrize("told", ["scorer", "metric", "score"])
def test_scores_are_turned_by_the_name_of_what_they_measure_and_that_is_said(name, told):
    pairs = [
        {"question": q, "model": model, "score": score} for q in "ab" for model, score in (("x", 1), ("y", 2))
    ]
    records = [record | ({told: name} if told != "score" else {}) for record in pairs]
    found = found_in(records) if told != "score" else found_in(renamed(records, score=name), score=name)
    lower = name in LOWER
    assert {row[3] for row in rows(found)} == {float(lower)}
    assert (re.match(rf"Lower\b.* {re.escape(name)}, by the name\b", found.remarks[1]) is not None) == lower
    assert found.remarks[1].endswith(TO_TURN)


@pytest.mark.parametrize("column", ["judge", "annotator", "rater", "evaluator"])
@pytest.mark.parametrize(
    ("name", "is_said"),
    [
        *((name, False) for name in ("perplexity/sonar-pro", "toxicity-judge", "error-analyst", "loss-llama")),
        *((name, True) for name in ("Ece", "wer", "bits_per_byte", "perplexity")),
    ],
)
def test_names_of_judges_never_turn_their_scores(column, name, is_said):
    found = found_in([{**record, column: name} for record in ONE_WINS])
    assert rows(found) == [("x", "y", name, 1.0)]
    assert found.remarks[1].startswith("Higher ") and found.remarks[1].endswith(TO_TURN)
    hint = re.compile(rf": {re.escape(name)}\..* 'metric' instead of {column!r}\.$")
    assert any(map(hint.search, found.remarks)) == is_said


def test_a_metric_beside_judges_says_which_scores_are_better():
    found = found_in([record | {"judge": "wer", "metric": "toxicity"} for record in ONE_WINS])
    assert rows(found) == [("x", "y", "wer", 0.0)]
    assert found.remarks[1].startswith("Lower is better for toxicity, by the name. Where that is wrong")
    assert not any("'metric' instead of" in said for said in found.remarks)


def test_metrics_are_judges_where_there_are_no_others():
    pairs = [(metric, model, score) for metric in ("f1", "wer") for model, score in (("x", 1), ("y", 2))]
    records = [
        {"question": "q", "metric": metric, "model": model, "score": score} for metric, model, score in pairs
    ]
    found = found_in(records)
    assert sorted(rows(found)) == [("x", "y", "f1", 0.0), ("x", "y", "wer", 1.0)]
    assert "Each metric counts as a judge." in found.remarks
    together = found_in(records, judge=None)
    assert together.comparisons.judges == ("one judge",) and len(together.comparisons) == 2
    beside = [record | {"judge": "gpt"} for record in records]
    said = "compared, and all metrics count together (--column judge=metric counts each metric as a judge)."
    assert any(remark.endswith(said) for remark in found_in(beside).remarks)
    assert rows(found_in(beside)) == [("x", "y", "gpt", 0.0), ("x", "y", "gpt", 1.0)]
    assert sorted(rows(found_in(beside, judge="metric"))) == sorted(rows(found))
    assert not any("as a judge" in remark for remark in found_in(GRADES).remarks)


def test_a_table_without_judges_has_one():
    found = found_in([record for record in GRADES if record["judge"] == "j"])
    alone = found_in(
        [{k: v for k, v in record.items() if k != "judge"} for record in GRADES if record["judge"] == "j"]
    )
    assert alone.comparisons.judges == ("one judge",)
    assert len(alone.comparisons) == len(found.comparisons)


def test_names_of_columns_may_be_told():
    own = renamed(GRADES, model="llm", score="points", judge="who", question_id="task_id")
    found = found_in(own, model="llm", score="points", judge="who", question="task_id")
    assert sorted(rows(found)) == EXPECTED
    with pytest.raises(ConfigError, match="column reply=NAME is not for a table of scores: leave that out"):
        found_in(own, model="llm", score="points", reply="who")


def test_ranks_that_are_said_to_be_scores_are_scores_of_which_less_is_better():
    ranks = [record | {"score": -record["score"]} for record in GRADES if record["score"] is not None]
    assert sorted(rows(found_in(renamed(ranks, score="rank"), score="rank"))) == EXPECTED


def test_metrics_of_which_less_is_better_are_turned():
    errors = [record | {"scorer": "wer", "score": -record["score"]} for record in GRADES[:3]]
    errors = [{key: value for key, value in record.items() if key != "judge"} for record in errors]
    assert sorted(rows(found_in(errors)))[0] == ("x", "y", "wer", 1.0)


def test_repeats_are_told_apart_by_what_else_there_is():
    twice = [record | {"turn": turn, "score": turn} for record in GRADES[:2] for turn in (1, 2)]
    found = found_in(twice)
    assert rows(found) == [("x", "y", "j", 0.5)] * 2
    assert set(found.frame["question_id"]) == {"q1"}
    with pytest.raises(
        DataError, match=r"model .x. has two scores of .j. on sample .q1. \(a column such as .turn., .epoch."
    ):
        found_in([{k: v for k, v in record.items() if k != "turn"} for record in twice])


def test_criteria_are_categories_to_rank_by():
    by = [
        record | {"criterion": name, "question_id": f"{record['question_id']}{n}"}
        for name in ("style", "truth")
        for n in range(4)
        for record in GRADES[:5]
    ]
    found = found_in(by)
    assert found.frame["category"].value_counts().to_dict() == {"style": 16, "truth": 16}
    assert set(rank(found, solver="penalised").tables["categories"]["category"]) == {"style", "truth"}


def test_fastchats_single_grades_are_read(tmp_path):
    records = [
        {"question_id": 81, "model": model, "judge": ["gpt-4", prompt], "turn": turn, "score": score}
        | {"user_prompt": "...", "judgment": "[[8]]", "tstamp": 1.5}
        for turn, prompt, grades in ((1, "single-v1", (8, 7)), (2, "single-v1-multi-turn", (-1, 9)))
        for model, score in zip("xy", grades, strict=True)
    ]
    path = tmp_path / "gpt-4_single.jsonl"
    pd.DataFrame(records).to_json(path, orient="records", lines=True)
    found = read(path)
    assert rows(found) == [("x", "y", "gpt-4", 1.0)]
    assert found.comparisons.dropped["null"] == 1  # a grade that could not be read


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        (
            [record | {"rating": 1} for record in GRADES],
            "the score could be 'score' or 'rating' .--column score=NAME",
        ),
        ([record | {"score": "good"} for record in GRADES], "record 1 has 'good' as 'score', not a number"),
        ([record | {"model": " "} for record in GRADES], "record 1 has ' ' as 'model', not a name"),
        ([record | {"question_id": None} for record in GRADES], "record 1 has no 'question_id'"),
        (
            renamed(GRADES, question_id="nothing"),
            "the table has no column 'question_id' or .* .it has: .*question=NAME",
        ),
        (GRADES[:1], "there are scores of one model only, 'x'"),
    ],
)
def test_scores_that_are_unclear_are_refused(records, sentence):
    with pytest.raises(DataError, match=sentence):
        found_in(records)


def test_winners_and_losers_have_no_order_and_may_tie():
    found = judgments_of(pd.DataFrame(WON))
    assert rows(found) == [("x", "y", "j", 1.0), ("y", "z", "j", 0.0), ("x", "z", "k", 0.5)]
    assert not found.ordered
    turned = judgments_of(pd.DataFrame(renamed(WON, winner="chosen", loser="rejected")))
    assert rows(turned) == rows(found)
    assert (
        "'chosen' and 'rejected' are read as names of models: x, y, z. If they are answers, add columns "
        "'chosen_model' and 'rejected_model' with the names." in turned.remarks
    )
    assert not any("'chosen_model'" in said for said in found.remarks)
    dotted = [{"chosen": "gpt-4.1", "rejected": "Llama 3.1 (8B)"}, {"chosen": "Llama 3.1 (8B)", "rejected": "v.2"}]
    assert judgments_of(pd.DataFrame(dotted)).comparisons.models == ("Llama 3.1 (8B)", "gpt-4.1", "v.2")


def test_what_is_said_of_either_model_is_turned_with_it():
    records = [record | {"words_a": 10, "words_b": 20} for record in WON]
    found = judgments_of(pd.DataFrame(records))
    assert found.frame[["words_a", "words_b"]].to_numpy().tolist() == [[10, 20], [20, 10], [10, 20]]


def test_a_list_of_winners_and_losers_is_ranked():
    pairs = [("x", "y"), ("y", "x"), ("x", "z"), ("z", "x"), ("x", "y"), ("y", "z"), ("z", "y")]
    found = rank(pairs)
    assert found.leaderboard["model"][0] == "x"
    assert not found.judgments.ordered
    assert list(rank([(1, 2), (2, 1), (1, 2)]).leaderboard["model"]) == ["1", "2"]


def test_answers_are_no_models():
    texts = [{"chosen": f"It is {n}.", "rejected": f"It may be {n}."} for n in range(10)]
    for records in (
        texts,
        [{"chosen": [{"role": "user"}], "rejected": [{"role": "user"}]}],
        [{"chosen": "a\nb", "rejected": "x"}],
        [{"prompt": "is it prime?", "chosen": "Yes", "rejected": "No"}] * 20,
        [{"chosen": "I think so.", "rejected": "Why?"}] * 20,
    ):
        with pytest.raises(
            DataError, match="columns 'chosen' and 'rejected' hold answers, not the names of models"
        ):
            judgments_of(pd.DataFrame(records))
    named = [record | {"chosen_model": "x", "rejected_model": "y"} for record in texts]
    for records in (named, renamed(named, chosen_model="chosen-model", rejected_model="rejected-model")):
        assert rows(judgments_of(pd.DataFrame(records)))[0] == ("x", "y", "one judge", 1.0)
    with pytest.raises(DataError, match="record 2 has 'maybe' as 'tie', neither true nor false"):
        judgments_of(pd.DataFrame([WON[0], WON[1] | {"tie": "maybe"}]))
