"""Requests that are asked again on later days: which, when, and what is said of judges that change."""

import json
from collections import Counter
from pathlib import Path

import pytest

from judgerank.collecting.anchors import due
from judgerank.collecting.task_order import Questions, Task
from tests.tool.collecting import TOTAL, collected, judgments, rows
from tests.tool.endpoint import better, serving

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
        assert "no anchors are due" in done.stdout and len(server.requests) == TOTAL
        for week in (1, 2):
            a_week_later(tmp_path, 7 * week)
            dry = collected(tmp_path, server.url, "--anchors", 3, "--dry-run")
            assert "6 requests (anchors) are asked again, of 2 judges" in dry.stdout
            done = collected(tmp_path, server.url, "--anchors", 3)
            assert (
                "6 judgments written" in done.stdout
                and "no judge's answers to repeated requests changed" in done.stdout
            )
            again = collected(tmp_path, server.url, "--anchors", 3)
            assert "no anchors are due" in again.stdout and "0 judgments written" in again.stdout
    records = judgments(tmp_path)
    assert len(records) == TOTAL + 12
    often = Counter(map(request, records))
    assert Counter(often.values()) == {1: TOTAL - 6, 3: 6}  # the same six each time, in the order first shown
    assert [(r["repeat"], r.get("anchor")) for r in records[TOTAL:]] == [(1, True)] * 6 + [(2, True)] * 6
    assert not any("anchor" in record for record in records[:TOTAL])
    assert {record["texts"] for record in records[TOTAL:]} <= {record["texts"] for record in records[:TOTAL]}


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
    said = [line for line in (done.stdout + done.stderr).splitlines() if "no longer answers as it did" in line]
    assert len(said) == 1 and "Judge changing" in said[0] and "20 of 20 repeated requests" in said[0]


def test_anchors_are_asked_before_rounds_and_are_no_evidence_for_a_goal(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url, "--pilot-only")
        a_week_later(tmp_path, 1)
        done = collected(tmp_path, server.url, "--anchors", 2, "--until", "18 comparisons")
        assert done.returncode == 0, done.stderr
        assert "reached after" in done.stdout
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
