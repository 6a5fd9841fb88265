"""Pages in a real browser beside the ranking: facts, changes, other rankings, the card; votes by people."""

from __future__ import annotations

import json
import re
import struct
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from judgerank import fit, load, rank, read
from judgerank.boards.reported import changelog_of
from judgerank.cli import app
from judgerank.cli.vote import vote
from judgerank.collecting.answer_sources import read_questions
from judgerank.collecting.task_order import Plan
from judgerank.data.errors import ConfigError, DataError
from judgerank.people.items import human_rows
from judgerank.ranking import card as cards
from judgerank.ranking.first_screen import headline
from judgerank.ranking.page_options import Additions, Texts, read_facts
from judgerank.ranking.ranking import Ranking
from judgerank.ranking.views import CATEGORY, JUDGE, STYLE, is_quick, views
from judgerank.voting.vote_page import drawn_items, listed_items, vote_page
from tests.forked import judgerank
from tests.tool.test_page import HOSTILE, axe, chromium, opened, pytestmark, violations  # noqa: F401
from tests.tool.test_panel import panel_of

FACTS = """model,organization,License,price,context,link,date
m0,Alpha,MIT,1.5,8000,https://example.org/m0,2026-01
m1,Alpha,closed,,,,
m2,Beta,MIT,0.2,4000,,
m3,Beta,closed,,,,
m4,Gamma <b>,MIT,,,,
"""


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    frame = panel_of([2.0, 1.5, 1.0, 0.1], position=[0, 0, 1.5, 0], n_questions=150, copy=False)
    rng = np.random.default_rng(1)
    frame["category"] = np.where(frame["question"] % 2 == 0, "code", "prose")
    frame["reply"] = "Because <i>" + frame["winner"] + "</i>"
    for side in ("a", "b"):
        frame[f"answer_{side}"] = "Answer of " + frame[f"model_{side}"] + " to " + frame["question"].astype(str)
        frame[f"length_{side}"] = rng.integers(50, 500, len(frame))
    return rank(frame)


@pytest.fixture(scope="module")
def facts(tmp_path_factory) -> pd.DataFrame:
    path = tmp_path_factory.mktemp("facts") / "models.csv"
    path.write_text(FACTS)
    return read_facts(path)


@pytest.fixture(scope="module")
def old(ranking):
    frame = ranking.judgments.frame
    early = frame[~frame["model_a"].eq("m5") & ~frame["model_b"].eq("m5") & frame["judge_model"].eq("j3")]
    return fit(read(early), "btl")


@pytest.fixture(scope="module")
def written(ranking, facts, old, tmp_path_factory) -> Path:
    log = changelog_of(old, ranking.fit, "last month")
    folder = tmp_path_factory.mktemp("additions") / "ranking"
    return ranking.write(folder, additions=Additions(facts, log, each_judge=True))


def rows(page) -> list[str]:
    return [row.get_attribute("title") for row in page.locator("#picture td.name").all() if row.is_visible()]


@pytest.mark.parametrize(
    ("models", "comparisons", "judges", "quick"),
    [
        (6, 1500, 5, True),  # the example
        (20, 9937, 10, True),  # the paper's sets
        (6, 9706, 20, True),
        (17, 9726, 20, False),
        (45, 35839, 18, False),
        (5, 750, 150, False),  # few answers of many judges
        (50, 500, 50, False),
    ],
)
def test_the_ranking_without_each_judge_is_drawn_if_fits_are_quick(models, comparisons, judges, quick):
    c = SimpleNamespace(models=range(models), judges=range(judges), n_comparisons=comparisons)
    assert is_quick(SimpleNamespace(judgments=SimpleNamespace(comparisons=c))) == quick


def test_another_ranking_is_drawn_as_it_is_fitted(opened, written, ranking):  # noqa: F811
    page, every = opened(written), views(ranking, each_judge=True)
    assert {view.kind for view in every} == {CATEGORY, JUDGE, STYLE}
    assert len([view for view in every if view.kind == JUDGE]) == len(ranking.judgments.comparisons.judges)
    before = rows(page)
    for view in every:
        page.get_by_label("Ranking by").select_option(view.name)
        drawn = [row for group in (*view.picture.groups, *view.picture.more) for row in group.rows]
        assert rows(page) == [row.model for row in drawn]
        shown = page.locator("#picture tbody tr:not(.head) td.number").all_inner_texts()
        assert shown == [row.rate for row in drawn]
        assert page.locator("#picture .ranks").all_inner_texts() == [row.ranks for row in drawn]
        assert page.locator("#view-told").inner_text() == view.sentence
    assert violations(page) == []
    page.get_by_label("Ranking by").select_option("")
    assert rows(page) == before
    assert not page.locator("#view-told").is_visible()


def test_the_ranking_without_a_judge_is_that_of_the_others(ranking):
    one = next(view for view in views(ranking, each_judge=True) if (view.kind, view.name) == (JUDGE, "j2"))
    others = ranking.judgments.frame[ranking.judgments.frame["judge_model"] != "j2"]
    alone = rank(others.drop(columns=["count"], errors="ignore"), model="position_aware")
    board = alone.tables["leaderboard"]
    assert [row.model for group in one.picture.groups for row in group.rows] == list(board["model"])
    rates = [row.rate for group in one.picture.groups for row in group.rows]
    assert rates == [f"{rate:.0%}" for rate in board["win_rate"]]
    assert headline(board, alone.tables["pairs"]) in one.sentence


def test_rows_are_filtered_by_facts_and_a_model_links_to_its_page(opened, written, ranking, facts):  # noqa: F811
    page = opened(written)
    page.get_by_label("Organisation", exact=True).select_option("Beta")
    assert sorted(rows(page)) == ["m2", "m3"]
    page.get_by_label("Licence", exact=True).select_option("MIT")
    assert rows(page) == ["m2"]
    page.get_by_label("Organisation", exact=True).select_option("all")
    assert sorted(rows(page)) == ["m0", "m2", "m4"]
    table = page.locator("#leaderboard")
    assert table.get_by_role("link", name="m0").get_attribute("href") == "https://example.org/m0"
    assert "1.5" in table.inner_text()
    assert "Gamma <b>" in page.locator("#picture").inner_text()


def test_changes_since_an_earlier_board_stand_on_the_page(opened, written, ranking, old):  # noqa: F811
    page, log = opened(written), changelog_of(old, ranking.fit, "last month")
    assert log.new == {"m5"}
    said = page.locator("#changelog").inner_text()
    assert "Changes since last month" in said
    assert all(sentence in said for sentence in log.sentences)
    assert page.locator("#picture .move.new").inner_text() == "new"
    marks = page.locator("#picture .move:not(.new)")
    assert marks.count() == len(log.rank_changes) > 0
    assert sum(log.rank_changes.values()) == 0  # ranks among the models of both


def test_question_both_answers_and_every_judge_stand_beside_each_other(opened, written, ranking):  # noqa: F811
    page = opened(written)
    first, second = ranking.tables["leaderboard"]["model"].iloc[[0, 1]]
    page.locator("#matrix tbody tr").nth(0).locator("td").nth(1).get_by_role("button").click()
    block = page.locator("#behind-read article").first
    question = block.locator("h3").inner_text()
    assert [side.inner_text() for side in block.locator(".beside pre").all()] == [
        f"Answer of {model} to {question}" for model in (first, second)
    ]
    frame = ranking.judgments.frame
    pair = frame[frame["model_a"].isin([first, second]) & frame["model_b"].isin([first, second])]
    mine = pair[pair["question_id"].astype(str) == question]
    assert block.locator("dt").count() == len(mine)
    assert re.fullmatch(r"Because <i>[ab]</i>", block.locator("dd").first.inner_text())
    assert violations(page) == []


def test_texts_can_come_from_a_file_of_answers(opened, tmp_path):  # noqa: F811
    frame = panel_of([1.0, 1.0], n_questions=60, copy=False)
    asked = frame["question"].astype(str).unique()
    answers = {f"m{n}": ("turn 1", HOSTILE) for n in range(6)}
    texts = Texts({q: f"Q <{q}>" for q in asked}, dict.fromkeys(asked, answers))
    page = opened(rank(frame).write(tmp_path / "out", additions=Additions(texts=texts)))
    page.locator("#matrix button").first.click()
    assert page.locator("#behind-read h3").first.inner_text().startswith("Q <")
    assert HOSTILE in page.locator("#behind-read pre").first.inner_text()


def test_the_first_screen_of_twenty_models_prints_on_one_sheet(chromium, tmp_path):  # noqa: F811
    rng, n = np.random.default_rng(0), 20
    s = np.linspace(1.5, -1.5, n)
    i = rng.integers(n, size=4000)
    j = (i + rng.integers(1, n, size=4000)) % n
    won = rng.random(4000) < 1 / (1 + np.exp(s[j] - s[i]))
    names = np.array([f"maker/model-{k}-instruct" for k in range(n)], object)
    frame = pd.DataFrame({"model_a": names[i], "model_b": names[j], "winner": np.where(won, "a", "b")})
    frame["judge"] = rng.integers(10, size=4000).astype(str)
    path = rank(frame, model="btl").write(tmp_path / "out")
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-complete]", state="attached")
    sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
    page.evaluate("document.querySelector('.rest').remove()")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 1
    assert sheets == 2  # judges with their reasons, what to collect, notes
    page.close()


def test_a_card_says_what_the_page_says(ranking, tmp_path):
    drawn = cards.card(ranking, tmp_path / "card.svg")
    root = ElementTree.fromstring(drawn)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    board = ranking.tables["leaderboard"]
    lead = headline(board, ranking.tables["pairs"])
    assert lead in texts
    assert set(board["model"]) <= set(texts)
    assert {f"{rate:.0%}" for rate in board["win_rate"]} <= set(texts)
    assert cards.sentence(ranking).startswith(f"{lead}. {board['model'].iloc[0]} ")
    pytest.importorskip("matplotlib")
    picture = cards.card(ranking, tmp_path / "card.png")
    assert struct.unpack(">II", picture[16:24]) == (cards.WIDTH, cards.HEIGHT)


def test_names_in_a_card_are_text(tmp_path):
    frame = panel_of([1.0, 1.0], n_questions=60, copy=False).replace({"m0": "a<&>$x$"})
    root = ElementTree.fromstring(cards.card(rank(frame), tmp_path / "card.svg"))
    assert "a<&>$x$" in [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    pytest.importorskip("matplotlib")
    assert cards.card(rank(frame), tmp_path / "card.png").startswith(b"\x89PNG")


def test_a_card_that_cannot_be_drawn_is_refused_in_a_sentence(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match=r"end its name in \.svg or \.png"):
        cards.require_card(tmp_path / "card.pdf")
    monkeypatch.setattr(cards, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"a PNG requires the extra 'plot'"):
        cards.require_card(tmp_path / "card.png")
    cards.require_card(tmp_path / "card.svg")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name_of,price\nm0,1\n", r"models\.csv .*'model' \(.*\bname_of, price\b"),
        ("model,colour\nm0,red\n", r"models\.csv .*\bcolumns are\b.*\bprice\b"),
        ("model,price\nm0,1\nm0,2\n", r"models\.csv .*'m0' twice\b"),
        ("model,price\nother,1\n", r"models\.csv .*: other\)"),
        ("model,link\nm0,javascript:alert(1)\n", r"\brecord 1 of models\.csv .*'javascript:alert"),
    ],
)
def test_facts_that_are_wrong_are_refused_in_a_sentence(tmp_path, text, said):
    path = tmp_path / "models.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_facts(path, ["m0"])


def test_the_command_takes_all_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = panel_of([2.0, 1.0], n_questions=80, copy=False)
    frame.to_csv("dec.csv", index=False)
    frame.head(100).to_csv("nov.csv", index=False)
    Path("models.csv").write_text(FACTS)
    answers = [
        {"question_id": q, "question": f"Q{q}", "model": f"m{n}", "answer": "A"}
        for q in range(80)
        for n in range(6)
    ]
    pd.DataFrame(answers).to_json("answers.jsonl", orient="records", lines=True)
    run = CliRunner()
    assert run.invoke(app, ["rank", "nov.csv", "--save", "nov.npz", "--model", "judge_aware"]).exit_code == 0
    options = ["--models", "models.csv", "--since", "nov.npz", "--answers", "answers.jsonl", "--card", "card.svg"]
    done = run.invoke(app, ["rank", "dec.csv", "--model", "judge_aware", *options, "--no-each-judge"])
    assert done.exit_code == 0, done.output
    assert "to paste: " in done.output
    sentences = changelog_of(load("nov.npz"), rank("dec.csv", model="judge_aware").panel_fit, "nov.npz").sentences
    assert f"Since nov.npz: {' '.join(sentences)}" in " ".join(done.output.split())
    assert Path("card.svg").read_text().startswith("<svg")
    page = Path("rankings/dec/index.html").read_text()
    for text in ("Changes since nov.npz", 'data-fact="organisation"', "Q79"):
        assert text in page
    assert JUDGE not in page
    twice = ["--card", "a.svg", "--card", "b.svg"]
    for option in (["--since", "none.npz"], ["--models", "none.csv"], ["--card", "card.pdf"], twice):
        refused = run.invoke(app, ["rank", "dec.csv", "-o", "other", *option])
        assert refused.exit_code != 0
        assert not Path("other").exists()


def test_texts_stay_with_their_models_however_records_are_turned():
    frame = panel_of([1.0, 1.0], n_questions=40, copy=False)
    for side in ("a", "b"):
        frame[f"response_{side}"] = "Text of " + frame[f"model_{side}"]
    frame["prompt"] = "Q" + frame["question"].astype(str)
    frame["swapped"] = frame["question"] % 2 == 0
    read_ = read(frame, columns={"swapped": "swapped", "question": "question"}).frame
    for side in ("a", "b"):
        assert (read_[f"answer_{side}"] == "Text of " + read_[f"model_{side}"]).all()
    assert (read_["question_text"] == "Q" + read_["question_id"].astype(str)).all()
    assert set(frame["model_a"][frame["swapped"]]) and (read_["model_a"] != frame["model_a"]).any()


# Votes by people: the page in a real browser, and the file that it saves.

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
    done = judgerank("vote", questions, "--page", tmp_path / "vote.html", cwd=tmp_path)
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
    """Open the page when the browser has what another page stored: on a busy machine that takes a moment."""
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
        # a page that is closed by force loses what its process has not sent: a second page tells when it has
        second = context.new_page()
        open_with(second, tmp_path / "vote.html", stored)
        second.close()
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
    done = judgerank("vote", questions, "--page", questions, cwd=tmp_path)
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
