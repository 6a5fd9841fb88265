"""Rankings of several answers in trust, gate, place, diff, plan and people: those of two are comparisons."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import fit, place, rank, read
from judgerank.boards.comparing import compare
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.judgments import Judgments
from judgerank.data.rankings import as_pairs, number_of_ranking
from judgerank.gating.judged import judged
from judgerank.model.law import graded_comparisons
from judgerank.people.report import people_report
from judgerank.planning.plans import INDEPENDENT, fitted_panel, questions_like
from judgerank.ranking.choices import Settings
from judgerank.ranking.trust_report import trust_report
from judgerank.trust.fragility import fragility
from judgerank.trust.refits import judgments_as_units
from tests.tool.command import judgerank

MODELS = np.array(["ann", "bob", "cat", "dan", "eve"])


def drawn(k: int, questions: int = 60, seed: int = 1) -> pd.DataFrame:
    """Rankings of k answers by three judges, all of them on every question."""
    rng, rows = np.random.default_rng(seed), []
    for question in range(questions):
        shown = rng.permutation(5)[:k]
        for judge, gamma in (("x", 0.6), ("y", 1.0), ("z", 1.6)):
            order = shown[np.argsort(-(gamma * 0.5 * (shown - 2) + rng.gumbel(size=k)))]
            texts = " > ".join(MODELS[order]), ", ".join(MODELS[shown])
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
    frame = drawn(2)
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
    judgments = read(drawn(4, 12))
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
    report = trust_report(read(drawn(4, 30)), Settings(model="position_aware"), most=1)
    text = str(report)
    assert "90 rankings" in text and "Goodness of fit is not tested" in text and report.fitness is None
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
    pd.testing.assert_frame_equal(places[0], places[1], rtol=1e-5, atol=1e-7)


def _without(c: Comparisons, model: int) -> Comparisons:
    """The same without the name of a model that has no row."""
    place = np.arange(len(c.models)) - (np.arange(len(c.models)) > model)
    names = tuple(name for number, name in enumerate(c.models) if number != model)
    return replace(c, models=names, first=place[c.first], second=place[c.second])


def test_a_new_model_is_placed_by_whole_rankings():
    """The fit of all beside it has the board's rankings, and every choice that the new model was part of."""
    frame = drawn(4, 80)
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
    frame = drawn(4)
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
    assert len(people_report(drawn(3), "z").table) == 5


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
    drawn(3, 40).to_csv(file, index=False)
    shipped = judgerank("gate", file, "--baseline", "ann", "--candidate", "eve")
    assert shipped.returncode == 0 and "Ship" in shipped.stdout
    planned = judgerank("plan", file, "--want", "score_width=0.5")
    assert planned.returncode == 0 and "one ranking replaces several" in " ".join(planned.stdout.split())
    told = judgerank("people", file, "--human", "z")
    assert told.returncode == 0 and "taken as comparisons of two" in " ".join(told.stdout.split())


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
    with pytest.raises(DataError, match="no column strength"):
        c.extended(frame.drop(columns="strength"))
    with pytest.raises(DataError, match="record 1 has huge as its strength"):
        c.extended(frame.assign(judge_preferred_model="a", strength="huge"))


def test_rankings_among_graded_verdicts_are_told_to_lose_strength(tmp_path):
    drawn(3, 5).to_csv(tmp_path / "ranked.csv", index=False)
    table = pairs_of(drawn(2, 5, seed=2)).replace({"winner": {"a": "A>>B", "b": "B>A"}})
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
    assert any("averaged over the orders" in remark for remark in found.remarks) == tied
