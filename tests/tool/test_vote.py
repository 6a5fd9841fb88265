"""Votes by people: the page in a real browser, and the file that it saves."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from judgerank import rank, read
from judgerank.cli.vote import vote
from judgerank.collecting.answer_sources import read_questions
from judgerank.collecting.task_order import Plan
from judgerank.data.errors import DataError
from judgerank.people.items import human_rows
from judgerank.voting.vote_page import drawn_items, listed_items, vote_page
from tests.tool.command import judgerank
from tests.tool.test_page import axe, chromium, opened, pytestmark  # noqa: F401 (fixtures)

MODELS = ("gpt-<b>x</b>", "claude", "llama")
QUALITY = {name: place for place, name in enumerate(MODELS)}


@pytest.fixture
def questions(tmp_path):
    rows = [
        {
            "question_id": f"q{n}",
            "question": f"Question {n} </script><b>é</b>",
            "model": model,
            "answer": f"Answer {QUALITY[model]} to {n}\nsecond line",
        }
        for n in range(8)
        for model in MODELS
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_people_see_the_first_of_a_fixed_order_and_either_answer_first(questions):
    given = read_questions(str(questions), {})
    few, many = drawn_items(given, 5, 1), drawn_items(given, None, 1)
    assert many[:5] == few
    assert len(many) == 24 == len(set(many))
    assert {item.first > item.second for item in many} == {True, False}
    assert drawn_items(given, 5, 2) != few


def test_items_that_a_file_lists_are_asked_in_its_order(questions, tmp_path):
    given = read_questions(str(questions), {})
    listed = pd.DataFrame(
        {"question": ["q3", "q1"], "first": ["llama", "claude"]} | {"second": ["claude", MODELS[0]]}
    )
    listed.to_csv(tmp_path / "ask.csv", index=False)
    found = listed_items(given, tmp_path / "ask.csv", None, 1)
    assert [(item.question_id, {item.first, item.second}) for item in found] == [
        ("q3", {"llama", "claude"}),
        ("q1", {"claude", MODELS[0]}),
    ]
    assert len(listed_items(given, tmp_path / "ask.csv", 1, 1)) == 1
    listed.assign(first="nobody").to_csv(tmp_path / "ask.csv", index=False)
    with pytest.raises(DataError, match="record 1 asks for 'nobody' and 'claude': question 'q3' does not"):
        listed_items(given, tmp_path / "ask.csv", None, 1)


def test_the_page_does_not_name_the_models(questions):
    given = read_questions(str(questions), {})
    page = vote_page(given, drawn_items(given, None, 1))
    assert "llama" not in page
    assert "claude" not in page
    assert "Question 3 \\u003c/script" in page


def saved(page, tmp_path):
    with page.expect_download() as download:
        page.get_by_role("button", name="Save votes").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_votes_by_keyboard_and_by_button_are_saved_and_ranked(opened, questions, tmp_path):  # noqa: F811
    done = judgerank("vote", questions, "--output", tmp_path / "vote.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "24 items" in done.stdout
    page = opened(tmp_path / "vote.html")
    page.get_by_label("Your name").fill("Ann Lee")
    page.get_by_role("button", name="Start").click()
    for number in range(24):
        shown = [page.locator(f"#{side}").inner_text() for side in "ab"]
        better = int(shown[1].split()[1]) > int(shown[0].split()[1])
        if number == 0:
            page.keyboard.press("s")
        elif number == 1:
            page.keyboard.press("t")
        elif number == 2:
            page.keyboard.press("a")
            page.keyboard.press("u")
            page.keyboard.press("ab"[better])
        elif number % 2:
            page.get_by_role("button", name=f"{'AB'[better]} is better").click()
        else:
            page.keyboard.press(["ArrowLeft", "ArrowRight"][better])
    assert page.get_by_role("heading", name="last item").is_visible()
    path = saved(page, tmp_path)
    assert path.name == "votes-Ann-Lee.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(records) == 23
    assert [one["winner"] for one in records].count("tie") == 1
    assert all(one["judge"] == "Ann Lee" and one["human"] and one["seconds"] >= 0 for one in records)
    judgments = read(path)
    assert set(judgments.comparisons.models) == set(MODELS)
    found = rank(path, model="btl", solver="penalised").tables["leaderboard"]
    assert found["model"].tolist() == list(reversed(MODELS))
    asked = {
        (item.question_id, item.first, item.second)
        for item in drawn_items(read_questions(str(questions), {}), None, 2026)
    }
    assert {(one["question_id"], one["model_a"], one["model_b"]) for one in records} < asked


STORED = "JSON.stringify(Object.entries(localStorage).sort())"


def open_with(page, path, stored):
    """Open the page when the browser has what the page before stored: on a busy machine that takes a moment."""
    for _ in range(100):
        page.goto(path.as_uri())
        if page.evaluate(STORED) == stored:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"the browser never had {stored}")


def test_votes_survive_a_closed_page(chromium, questions, tmp_path):  # noqa: F811
    given = read_questions(str(questions), {})
    (tmp_path / "vote.html").write_text(vote_page(given, drawn_items(given, 3, 1), voter="ann"))
    context = chromium.new_context()
    stored = "[]"
    for round_ in range(2):
        page = context.new_page()
        open_with(page, tmp_path / "vote.html", stored)
        assert page.get_by_label("Your name").input_value() == "ann"
        page.get_by_role("button", name="Start").click()
        assert page.locator("#progress").inner_text() == f"Item {round_ + 1} of 3"
        page.keyboard.press("1")
        stored = page.evaluate(STORED)
        page.close()
    context.close()


def test_people_who_share_a_browser_have_votes_of_their_own(chromium, questions, tmp_path):  # noqa: F811
    given = read_questions(str(questions), {})
    (tmp_path / "vote.html").write_text(vote_page(given, drawn_items(given, 3, 1)))
    context = chromium.new_context()
    page = context.new_page()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))

    def begin(name, last, item):
        open_with(page, tmp_path / "vote.html", page.evaluate(STORED) if last else "[]")
        assert page.get_by_label("Your name").input_value() == last
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Start").click()
        assert page.locator("#progress").inner_text() == f"Item {item} of 3"

    begin("Ann", "", 1)
    page.keyboard.press("a")
    page.keyboard.press("a")
    saved(page, tmp_path)
    begin("Bob", "Ann", 1)
    page.keyboard.press("b")
    assert not asked
    begin("Ann", "Bob", 3)
    assert asked == ["beforeunload"]  # of Bob's vote, which is not saved
    page.get_by_role("button", name="Undo").click()
    begin("Bob", "Ann", 2)
    path = saved(page, tmp_path)
    assert path.name == "votes-Bob.jsonl"
    votes = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["judge"], one["winner"]) for one in votes] == [("Bob", "b")]
    context.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_votes_shuts_nobody_out(opened, questions, tmp_path, width, scheme):  # noqa: F811
    given = read_questions(str(questions), {})
    (tmp_path / "vote.html").write_text(vote_page(given, drawn_items(given, 3, 1)))
    page = opened(tmp_path / "vote.html", width, scheme)
    assert axe.Axe().run(page).response["violations"] == []
    page.get_by_label("Your name").fill("ann")
    page.get_by_role("button", name="Start").click()
    assert axe.Axe().run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_is_not_written_over_what_it_reads(questions, tmp_path):
    done = judgerank("vote", questions, "--output", questions, cwd=tmp_path)
    assert done.returncode == 1
    assert "answers.jsonl" in done.stderr
    assert vote.__doc__
    with pytest.raises(Exception, match="cannot be drawn from 24"):
        Plan(read_questions(str(questions), {}), ["x"], 1, False, 1).first(25)


def test_votes_beside_judgments_that_have_no_column_for_people(tmp_path):
    rng = np.random.default_rng(2)
    pairs = [(f"q{n}", *pair) for n in range(60) for pair in combinations("xyz", 2)]
    rows = [
        {"question_id": q, "model_a": x, "model_b": y, "winner": rng.choice(["a", "a", "b"]), "judge": judge}
        for q, x, y in pairs
        for judge in ("j1", "j2", "ann")
    ]
    votes = [row | {"human": True} for row in rows if row["judge"] == "ann" and int(row["question_id"][1:]) < 30]
    for name, part in {"votes": votes, "panel": [row for row in rows if row["judge"] != "ann"]}.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, part)))
    judgments = read([tmp_path / "votes.jsonl", tmp_path / "panel.jsonl"])
    assert human_rows(judgments).sum() == len(votes) == 90
    assert judgerank("people", "votes.jsonl", "panel.jsonl", cwd=tmp_path).returncode == 0
