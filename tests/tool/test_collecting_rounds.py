"""Collections by rounds: anchors asked again, how far the goal is, and judges asked how much better one is."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy.stats import norm
from typer.testing import CliRunner

import judgerank
from judgerank.adaptive.goals import read_goal
from judgerank.cli import app
from judgerank.collecting.collection import due
from judgerank.collecting.ledger import record_of
from judgerank.collecting.outcome import Outlook, outlook, outlook_sentence
from judgerank.collecting.prompt_settings import Prompt
from judgerank.collecting.replies import Form, read
from judgerank.collecting.response import Reply
from judgerank.collecting.task_order import Questions, Task
from studies.torture.endpoint import better, serving
from tests.tool.collecting import JUDGES, KEY, TOTAL, collected, command, judgments, rows

# Requests that are asked again on later days: which, when, and what is said of judges that change.
DAY = "2026-01-%02dT09:00:00+00:00"


def a_week_later(folder: Path, day: int) -> None:
    """Let the answers of today be those of a day in the past."""
    path = folder / "judgments.jsonl"
    told = [
        record | ({} if record["asked_at"].startswith("2026-01") else {"asked_at": DAY % day})
        for record in judgments(folder)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in told))


def request(record: dict) -> tuple:
    return tuple(record[key] for key in ("question_id", "model_a", "model_b", "judge_model"))


def test_the_same_requests_are_asked_again_on_later_days_only(tmp_path):
    with serving() as server:
        assert collected(tmp_path, server.url).returncode == 0
        done = collected(tmp_path, server.url, "--anchors", 3)
        assert "no anchors" in done.stdout and len(server.requests) == TOTAL
        for week in (1, 2):
            a_week_later(tmp_path, 7 * week)
            dry = collected(tmp_path, server.url, "--anchors", 3, "--dry-run")
            assert "6 requests (anchors) are asked again, of 2 judges" in dry.stdout
            done = collected(tmp_path, server.url, "--anchors", 3)
            assert re.search(r"^6 judgments\b", done.stdout, re.MULTILINE) and "no judge's" in done.stdout
            again = collected(tmp_path, server.url, "--anchors", 3)
            assert "no anchors" in again.stdout and re.search(r"^0 judgments\b", again.stdout, re.MULTILINE)
    records = judgments(tmp_path)
    assert len(records) == TOTAL + 12
    often = Counter(map(request, records))
    assert Counter(often.values()) == {1: TOTAL - 6, 3: 6}  # the same six each time, in the order first shown
    assert [(r["repeat"], r.get("anchor")) for r in records[TOTAL:]] == [(1, True)] * 6 + [(2, True)] * 6
    assert not any("anchor" in record for record in records[:TOTAL])
    assert {record["texts"] for record in records[TOTAL:]} <= {record["texts"] for record in records[:TOTAL]}


def test_a_share_of_requests_is_asked_a_second_time_after_the_others(tmp_path):
    """In the order first shown; counted in the costs, once, and not by those who want none."""
    priced = [judge | {"prompt_price": 1.0, "completion_price": 1.0} for judge in JUDGES]
    half = ("--retest", 0.5, "--json")
    with serving() as server:
        dry = json.loads(collected(tmp_path, server.url, *half, "--dry-run", judges=priced).stdout)["files"][0]
        plain = json.loads(collected(tmp_path, server.url, "--json", "--dry-run", judges=priced).stdout)["files"][
            0
        ]
        assert TOTAL == plain["left"] < dry["left"] < 2 * TOTAL
        cost = {name: sum(row["at_most"] for row in on["to_ask"]) for name, on in (("dry", dry), ("plain", plain))}
        assert cost["dry"] > cost["plain"]
        collected(tmp_path, server.url, *half, "--comparisons", TOTAL // 2, judges=priced)
        some = judgments(tmp_path)
        collected(tmp_path, server.url, *half, judges=priced)
        n_requests = len(server.requests)
        assert json.loads(collected(tmp_path, server.url, *half, judges=priced).stdout)["files"][0]["left"] == 0
        collected(tmp_path, server.url, judges=priced)
        assert len(server.requests) == n_requests == dry["left"]
    records = judgments(tmp_path)
    first, again = ([record for record in records if record["repeat"] == repeat] for repeat in (0, 1))
    assert len(first) == TOTAL and {*map(request, again)} < {*map(request, first)}
    assert len(again) == dry["left"] - TOTAL == len({*map(request, again)})
    assert not any("anchor" in record for record in records)
    asked, repeated = ([record for record in some if record["repeat"] == repeat] for repeat in (0, 1))
    assert len(asked) == TOTAL // 2 and repeated  # several are asked at once, so answers come in any order
    assert {*map(request, repeated)} < {*map(request, asked)}


def test_retests_are_a_tenth_by_default_stay_as_they_are_and_leave_anchors_their_numbers(tmp_path):
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(40)))

    def left(*options: object) -> int:
        words = command(tmp_path, "http://127.0.0.1:9/v1", "--json", "--dry-run", *options)
        at = words.index("--retest")
        done = CliRunner().invoke(app, [*words[:at], *words[at + 2 :]], env={"OPENAI_API_KEY": KEY})
        return json.loads(done.stdout)["files"][0]["left"]

    n_requests = 40 * 3 * 2
    assert 0.05 * n_requests < left() - n_requests < 0.15 * n_requests
    assert left("--repeats", 2) == 2 * n_requests and left("--until", "50 comparisons") == n_requests
    with serving() as server:
        collected(tmp_path, server.url, "--retest", 0.1)
        a_week_later(tmp_path, 7)
        collected(tmp_path, server.url, "--retest", 0.1, "--anchors", 3)
    records = judgments(tmp_path)
    assert [record["repeat"] for record in records if record.get("anchor")] == [2] * 6


def test_a_judge_that_changed_is_named_and_the_others_are_not(tmp_path):
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(20)))
    turned = {"on": False}

    with (
        serving(reply=better) as steady,
        serving(
            reply=lambda prompt: {"a": "b", "b": "a"}[better(prompt)[0]] if turned["on"] else better(prompt)
        ) as changing,
    ):
        judges = [
            {"judge": "steady", "base_url": steady.url, "api_key_env": None},
            {"judge": "changing", "base_url": changing.url, "api_key_env": None},
        ]
        collected(tmp_path, None, judges=judges)
        a_week_later(tmp_path, 1)
        turned["on"] = True
        done = collected(tmp_path, None, "--anchors", 20, judges=judges)
    assert done.returncode == 0, done.stderr
    said = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if re.search(r"\bJudge \w+ .* of \d+ repeated\b", line)
    ]
    assert len(said) == 1 and "Judge changing" in said[0] and "20 of 20 repeated" in said[0]


def test_anchors_are_asked_before_rounds_and_are_no_evidence_for_a_goal(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url, "--pilot-only")
        a_week_later(tmp_path, 1)
        done = collected(tmp_path, server.url, "--anchors", 2, "--until", "18 comparisons")
        assert done.returncode == 0, done.stderr
        assert re.search(r"^reached \D*\d+ .*18 comparisons", done.stdout, re.MULTILINE)
    records = judgments(tmp_path)
    assert sum(record.get("anchor", False) for record in records) == 4
    assert sum(not record.get("anchor", False) for record in records) >= 18


def test_more_repeats_later_do_not_ask_what_anchors_answered(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url)
        a_week_later(tmp_path, 1)
        collected(tmp_path, server.url, "--anchors", 2)
        collected(tmp_path, server.url, "--repeats", 2)
    assert len(judgments(tmp_path)) == 2 * TOTAL
    assert len({(*request(r), r["repeat"]) for r in judgments(tmp_path)}) == 2 * TOTAL


QUESTIONS = Questions({"q": "?"}, {"q": {"m1": "x", "m2": "y", "m3": "z"}})


def answered(second: str, day: int, choice: str = "a", **more) -> dict:
    record = {"question_id": "q", "model_a": "m1", "model_b": second, "judge_model": "j", "repeat": 0}
    return record | {"judge_preferred_model": choice, "asked_at": DAY % day} | more


@pytest.mark.parametrize(
    ("records", "on_their_way", "found"),
    [
        ([answered("m2", 1)], [], [Task("q", "m1", "m2", "j", 1)]),
        ([answered("m2", 1), answered("m2", 2, repeat=1)], [], [Task("q", "m1", "m2", "j", 2)]),
        ([answered("m2", 1), answered("m2", 9, repeat=1)], [], []),  # today
        ([answered("m2", 1, choice="unknown")], [], []),
        ([answered("gone", 1)], [], []),
        ([answered("m2", 1)], [Task("q", "m1", "m2", "j", 1)], []),
        ([answered("m2", 1, judge_model="other")], [], []),
        (
            [answered("m2", 1), answered("m3", 1, asked_at=None)],
            [],
            [Task("q", "m1", x, "j", 1) for x in ("m2", "m3")],
        ),
    ],
)
def test_what_is_due(records, on_their_way, found):
    from datetime import datetime

    now = datetime.fromisoformat(DAY % 9)
    tasks = due(5, records, on_their_way, QUESTIONS, ["j"], 1, 2026, now)
    assert sorted(tasks) == found


def test_those_asked_again_before_stay_the_anchors():
    """A request answered later, of whatever place in the order, does not take an anchor's place."""
    from datetime import datetime

    now = datetime.fromisoformat(DAY % 9)
    for second, other in (("m2", "m3"), ("m3", "m2")):
        records = [answered(second, 1), answered(second, 2, repeat=1), answered(other, 3)]
        assert due(1, records, [], QUESTIONS, ["j"], 1, 2026, now) == [Task("q", "m1", second, "j", 2)]


# How far a collection by rounds says it is.
GOAL = read_goal("top 1 separated", 3)


def order(*statistics: float) -> SimpleNamespace:
    """Test statistics of the first against the second and the third, and of the second against the third."""
    p = np.ones((3, 3))
    upper = np.triu_indices(3, 1)
    p[upper] = 2 * norm.sf(statistics)
    lead = np.zeros((3, 3))
    lead[upper] = statistics
    return SimpleNamespace(models=("a", "b", "c"), p_value=p, difference=(lead - lead.T)[None])


@pytest.mark.parametrize("look", [1, 2, 9])
def test_the_forecast_is_where_the_weakest_claim_becomes_sure(look):
    """Statistics grow with the root of the number of judgments; the pair of the others is no claim."""
    found = outlook(order(5.0, 2.0, 0.0), GOAL, look, 400.0)
    assert (found.still, found.claims) == (1, 2)
    for factor, still in ((0.999, 1), (1.001, 0)):
        growth = math.sqrt(factor * found.needed / 400.0)
        later = order(5.0 * growth, 2.0 * growth, 0.0)
        assert GOAL.open_claims(later, look + 1, 0.05).sum() == still


def test_what_cannot_be_foreseen_and_what_is_sure():
    assert math.isinf(outlook(None, GOAL, 1, 400.0).needed)
    assert math.isinf(outlook(order(5.0, 0.0, 0.0), GOAL, 1, 400.0).needed)
    assert outlook(order(9.0, 9.0, 0.0), GOAL, 1, 400.0) == Outlook(0, 2, 400.0)
    assert outlook(None, read_goal("6000 comparisons", 3), 1, 400.0).needed == 6000


@pytest.mark.parametrize(
    ("found", "left", "each", "words"),
    [
        (Outlook(1, 2, 900.0), 800.0, 0.01, r"\b1 of 2 claims\b.* 500 more\b.* 5\.0000 EUR\b"),
        (Outlook(1, 2, 900.0), 300.0, 0.0, r"\b300 are left$"),
        (Outlook(1, 2, 900.0), 0.0, 0.0, r"\bnone is left$"),
        (Outlook(2, 2, math.inf), 800.0, 0.01, r"^2 of 2 claims\b\D*$"),
        (Outlook(0, 2, 400.0), 800.0, 0.01, r"^all\b\D*$"),
        (Outlook(0, 0, 5000.0), 9000.0, 0.0, r"^about 4,600 more\b"),
        (Outlook(0, 0, 400.0), 9000.0, 0.0, r"^nothing\b"),
    ],
)
def test_it_is_said_in_words(found, left, each, words):
    said = outlook_sentence(found, 400.0, left, each, "EUR")
    assert re.search(words, said)
    assert ("left" in said) == (found.needed - 400.0 > left and not math.isinf(found.needed))


# Judges that are asked how much better an answer is: the prompt, what is read of replies, and the records.


def test_the_prompt_asks_for_five_levels():
    prompt = Prompt(scale=5)
    assert "[[A>>B]]" in prompt.text and "{question}" in prompt.text and prompt.name != Prompt().name
    assert "confidence" not in prompt.text
    own = Prompt(scale=5, text="{question} {first} {second} [[A>>B]]")
    assert own.text.endswith("[[A>>B]]")
    with pytest.raises(ValidationError, match=r"\[\[A>>B\]\].*\[\[B>>A\]\]"):
        Prompt(scale=5, text="{question} {first} {second}")
    with pytest.raises(ValidationError):
        Prompt(scale=4)


GRADED = Form("brackets", is_graded=True)


@pytest.mark.parametrize(
    ("reply", "choice", "known"),
    [
        ("[[A>>B]]", "a", 2),
        ("[[B > A]]", "b", 1),
        ("A is wrong.\n\nMy final verdict is: [[B>>A]]", "b", 2),
        ("Assistant B is much better: [[B>>A]]", "b", 2),
        ("<think>[[A>>B]]</think>[[B>A]]", "b", 1),
        ("[[A<<B]]", "b", 2),
        ("[[A]]", "a", 1),
        ("[[A=B]]", "c", None),
        ("[[A>>B]] or [[B>>A]]", "unknown", None),
        ("I cannot say.", "unknown", None),
    ],
)
def test_strength_is_that_of_the_verdict(reply, choice, known):
    verdict = read(reply, GRADED)
    assert (verdict.choice, verdict.strength) == (choice, known)
    assert read(reply, Form("brackets")).strength is None


def test_records_of_a_graded_prompt_are_read_with_their_strength():
    asked = {"question_id": "q", "model_a": "x", "model_b": "y", "judge_model": "j"}
    replies = ["[[A>>B]]", "[[B>A]]", "[[A=B]]", "nothing"]
    records = [
        record_of(asked | {"question_id": f"q{n}"}, Reply(text, *[None] * 5), (0, 0), GRADED)
        for n, text in enumerate(replies)
    ]
    c = judgerank.read(pd.DataFrame(records)).comparisons
    assert c.strong.tolist() == [[1, 0], [0, 0], [0, 0]]
    plain = [record_of(asked, Reply("[[A>>B]]", *[None] * 5), (0, 0), Form("brackets"))]
    assert "strength" not in plain[0]
