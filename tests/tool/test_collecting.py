"""Collecting judgments: what is asked, how replies are read, and a real server that misbehaves."""

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from judgerank import Comparisons, fit
from judgerank.collecting.endpoint import AttemptFailed, reply_of
from judgerank.collecting.ledger import opened, task_of
from judgerank.collecting.prompts import PAIRWISE, fill
from judgerank.collecting.replies import parse
from judgerank.collecting.tasks import Questions, Task, plan, read_questions
from judgerank.errors import ConfigError, DataError, DataUnavailableError
from replication.config import ROOT
from tests.tool.command import RUN, environment, judgerank
from tests.tool.endpoint import serving

KEY = "sk-secret-0123456789"
MODELS = ("m1", "m2", "m3")


def rows(n_questions: int = 4, models=MODELS) -> list[dict]:
    return [
        {
            "question_id": f"q{q}",
            "question": f"Question {q}?",
            "model": model,
            "answer": f"an answer of quality {m}",
        }
        for q in range(n_questions)
        for m, model in enumerate(models)
    ]


def questions(n_questions: int = 4) -> Questions:
    texts = {f"q{q}": f"Question {q}?" for q in range(n_questions)}
    return Questions(texts, {name: {model: f"an answer of {model}" for model in MODELS} for name in texts})


# replies


CORPUS = [json.loads(line) for line in (Path(__file__).parent / "replies.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", CORPUS, ids=lambda row: row["reply"][:40].encode("unicode_escape").decode())
def test_replies_are_read_or_left_unknown(row):
    assert parse(row["reply"]) == (row["choice"], row["confidence"])


def test_every_reading_has_examples_enough():
    assert len(CORPUS) >= 200
    assert min(Counter(row["choice"] for row in CORPUS).values()) >= 20


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "\n",
        "x\n",
        " \n",
        "[",
        "[[a",
        "<think>",
        "the winner is ",
        "a ",
        "a. ",
        "so, ",
        "`",
        "{",
        '{"a":',
        "0",
    ],
)
def test_long_replies_are_read_in_time_linear_in_their_length(unit):
    """A tenth of a megabyte must not take more than some twentieths of a megabyte's 0.05 s times noise."""
    start = time.process_time()
    parse("a," + unit * (10**6 // len(unit)) + "x")
    assert (
        time.process_time() - start < 0.5
    )  # 7 ms or less where it was written; 19 s with a pattern that backtracks


@given(st.text())
def test_no_reply_breaks_the_parser(reply):
    choice, confidence = parse(reply)
    assert choice in ("a", "b", "c", "unknown")
    assert confidence is None or 0 <= confidence <= 1


def test_prompts_are_filled_with_what_they_say_and_nothing_else():
    template = "Q: {question} A: {first} B: {second}"
    fenced = [f"```\n{text}\n```" for text in ("{first}?", "x {y}", "{z}")]
    assert fill(template, "{first}?", "x {y}", "{z}") == "Q: {} A: {} B: {}".format(*fenced)
    for broken, words in (
        ("{question} {first}", "second"),
        (template + " {judge}", "judge"),
        (template + " {", "field"),
    ):
        with pytest.raises(ConfigError, match=words):
            fill(broken, "q", "a", "b")


# what is asked


def test_every_pair_is_put_to_every_judge_once():
    tasks = plan(questions(), ["j2", "j1"], None, 2, False, 1)
    asked = Counter((t.question_id, *sorted((t.first, t.second)), t.judge, t.repeat) for t in tasks)
    assert len(asked) == 4 * 3 * 2 * 2
    assert set(asked.values()) == {1}
    first = sum(t.first < t.second for t in tasks)
    assert 10 < first < 38
    assert tasks == plan(questions(), ["j1", "j2"], None, 2, False, 1)
    assert tasks != plan(questions(), ["j1", "j2"], None, 2, False, 2)


def test_slots_do_not_hang_on_what_else_is_asked():
    few, many = (plan(questions(n), ["j1"], None, 1, False, 1) for n in (2, 4))
    assert set(few) < set(many)


def test_both_orders_follow_each_other():
    tasks = plan(questions(), ["j1"], 5, 1, True, 1)
    assert len(tasks) == 10
    assert tasks[1::2] == [task.turned for task in tasks[::2]]


def test_a_sample_is_uniform_over_all_comparisons():
    seen = Counter(task for seed in range(300) for task in plan(questions(2), ["j1", "j2"], 4, 1, True, seed)[::2])
    assert len(seen) == 12
    assert all(abs(count - 100) < 5 * 10 for count in seen.values())


@pytest.mark.parametrize(("size", "judges"), [(0, ["j"]), (13, ["j"]), (None, [])])
def test_what_cannot_be_asked_is_refused(size, judges):
    with pytest.raises(ConfigError):
        plan(questions(), judges, size, 1, False, 1)


def test_questions_come_in_long_and_nested_form(tmp_path):
    frame = pd.DataFrame(rows(2))
    frame.to_csv(tmp_path / "long.csv", index=False)
    nested = [
        {
            "instruction": f"Question {q}?",
            "completions": [
                {"model": model, "response": f"an answer of quality {m}"} for m, model in enumerate(MODELS)
            ],
        }
        for q in range(2)
    ]
    (tmp_path / "nested.json").write_text(json.dumps(nested))
    long = read_questions(str(tmp_path / "long.csv"), {})
    columns = {"question": "instruction", "answer": "response"}
    other = read_questions(str(tmp_path / "nested.json"), columns, "completions")
    assert long.models == other.models == MODELS
    assert list(long.answers.values()) == list(other.answers.values())
    assert other.text == {"1": "Question 0?", "2": "Question 1?"}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda r: r[3].update(question="Else?"), "record 5 has another text for question 'q1'"),
        (lambda r: r.append(dict(r[0])), "record 13 is a second answer of 'm1' to question 'q0'"),
        (lambda r: r[5].update(answer=None), "record 6 has None as answer"),
        (lambda r: [row.pop("model") for row in r], "no column 'model'"),
        (lambda r: r.__delitem__(slice(1, None)), "nothing to compare"),
    ],
)
def test_bad_questions_are_named(tmp_path, spoil, words):
    records = rows()
    spoil(records)
    (tmp_path / "q.json").write_text(json.dumps(records))
    with pytest.raises(DataError, match=words):
        read_questions(str(tmp_path / "q.json"), {})


def test_a_hub_set_out_of_reach_is_said_in_a_sentence(monkeypatch):
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(DataUnavailableError, match="'nobody/nothing' cannot be loaded"):
        read_questions("nobody/nothing", {})


# the ledger

RECORDS = [
    {"question_id": "q", "model_a": "m", "model_b": "n", "judge_model": "j", "repeat": n, "raw": "é\n" * n}
    for n in range(4)
]


@given(st.integers(0, 600))
def test_a_file_cut_anywhere_keeps_every_whole_line(cut):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ledger.jsonl")
        with opened(path) as ledger:
            for record in RECORDS:
                ledger.append(record)
        content = path.read_bytes()
        path.write_bytes(content[:cut])
        whole = content[:cut].count(b"\n")
        with opened(path) as ledger:
            assert ledger.records == RECORDS[:whole]
            assert ledger.torn == len(content[:cut]) - (content[:cut].rfind(b"\n") + 1)
            for record in RECORDS[whole:]:
                ledger.append(record)
        assert path.read_bytes() == content


def test_a_file_is_written_by_one_run_at_a_time(tmp_path):
    path = tmp_path / "l.jsonl"
    with opened(path), pytest.raises(ConfigError, match=r"l\.jsonl is being written by another run"), opened(path):
        pass
    (tmp_path / "l.jsonl").write_text('{"question_id": "q"}\n')
    with pytest.raises(DataError, match="line 1 is not a judgment"), opened(tmp_path / "l.jsonl"):
        pass
    assert task_of(RECORDS[1]) == Task("q", "m", "n", "j", 1)


FOREIGN = {
    "a list of records on one line": json.dumps([RECORDS[0]] * 3).encode(),
    "an object": b'{"a": 1}\n',
    "a text without a line's end": b"my thesis",
    "bytes": bytes(range(256)),
    "another's records": b'{"question": "q", "answer": "a"}\n{"question"',
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_no_ledger_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "my.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"my\.json: line \d is not a judgment"), opened(path):
        pass
    assert path.read_bytes() == content


def test_opening_alone_changes_nothing_and_a_last_line_without_its_end_is_kept(tmp_path):
    path = tmp_path / "l.jsonl"
    with opened(path):
        pass
    assert not path.exists()
    line = json.dumps(RECORDS[0]).encode()
    path.write_bytes(line)
    with opened(path) as ledger:
        assert ledger.records == RECORDS[:1]
        assert path.read_bytes() == line
        ledger.append(RECORDS[1])
    with opened(path) as ledger:
        assert ledger.records == RECORDS[:2]


def test_a_link_to_a_file_has_its_lock(tmp_path):
    path = tmp_path / "l.jsonl"
    path.touch()
    (tmp_path / "link.jsonl").symlink_to(path)
    with opened(path), pytest.raises(ConfigError, match="another run"), opened(tmp_path / "link.jsonl"):
        pass
    with pytest.raises(ConfigError, match="is a folder"), opened(tmp_path):
        pass


# what a server may send


def body(**message) -> bytes:
    return json.dumps({"choices": [{"message": message}], "usage": {"prompt_tokens": 3}}).encode()


def test_a_message_in_parts_is_joined_and_half_characters_are_replaced():
    parts = [{"type": "text", "text": "a, "}, {"type": "image_url"}, {"type": "text", "text": "0.9"}]
    assert reply_of(body(content=parts)).text == "a, 0.9"
    assert reply_of(body(content=None)).text == ""
    text = reply_of(body(content="b, 0.9 \ud800")).text
    assert text.encode() and parse(text.replace("\ufffd", "")) == ("b", 0.9)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"<html>busy</html>",
        b"[]",
        b'{"choices": {}}',
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": [{"message": null}]}',
        body(content=7),
        body(content={"text": "a"}),
        body(content=["a"]),
        b"[" * 100_000,
    ],
)
def test_a_body_in_another_form_is_a_failed_attempt(sent):
    with pytest.raises(AttemptFailed, match="unreadable body"):
        reply_of(sent)


@pytest.mark.parametrize("count", ["NaN", "-5", '"7"', "null", "true", "1e400", "[]"])
def test_a_number_of_tokens_that_is_none_is_unknown(count):
    sent = b'{"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": 3, "completion_tokens": %s}}'
    reply = reply_of(sent % count.encode())
    assert (reply.prompt_tokens, reply.completion_tokens) == (3, None)


# against a server


JUDGES = [{"judge": "j1"}, {"judge": "j2"}]


def command(folder: Path, url: str, *options: object, judges: list[dict] = JUDGES) -> list[str]:
    source, panel = folder / "answers.jsonl", folder / "panel.yaml"
    if not source.exists():
        source.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    panel.write_text(yaml.safe_dump({"base_url": url, "judges": judges}))
    given = ["collect", source, "--judges", panel, "--output", folder / "judgments.jsonl"]
    return [*map(str, [*given, "--first-wait", 0.02, "--per-minute", 0, *options])]


def collected(
    folder: Path, url: str, *options: object, key: str | None = KEY, judges: list[dict] = JUDGES
) -> subprocess.CompletedProcess:
    return judgerank(*command(folder, url, *options, judges=judges), OPENAI_API_KEY=key)


def judgments(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "judgments.jsonl").read_text().splitlines()]


TOTAL = 4 * 3 * 2


def test_judgments_are_collected_and_can_be_ranked(tmp_path):
    with serving() as server:
        done = collected(tmp_path, server.url)
        assert done.returncode == 0, done.stderr
        assert f"{TOTAL} judgments written, 0 of them unreadable" in done.stdout
        assert set(server.answered.values()) == {1}
        again = collected(tmp_path, server.url)
        assert f"{TOTAL} of them are there already" in again.stdout
        assert len(server.requests) == TOTAL
    for body in server.requests:
        assert (body["temperature"], body["max_tokens"]) == (0, 1024)
        assert not any(model in body["messages"][0]["content"] for model in MODELS)
    records = judgments(tmp_path)
    assert {(r["judge_model"], r["model_sent"], r["model_answered"]) for r in records} == {
        ("j1",) * 3,
        ("j2",) * 3,
    }
    assert all(r["judge_preferred_model"] == ("a" if r["model_a"] > r["model_b"] else "b") for r in records)
    assert len({r["model_a"] < r["model_b"] for r in records}) == 2
    ranked = fit(
        Comparisons.from_frame(pd.read_json(tmp_path / "judgments.jsonl", lines=True)), solver="penalised"
    )
    assert list(ranked.ranks) == [3, 2, 1]


def test_the_key_is_written_nowhere(tmp_path):
    with serving(lambda prompt, times: "429" if times == 1 else None) as server:
        done = collected(tmp_path, server.url)
    assert server.keys == {f"Bearer {KEY}"}
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert all(KEY.encode() not in content for content in [*files, done.stdout.encode(), done.stderr.encode()])
    with serving(lambda prompt, times: "401") as server:
        (tmp_path / "judgments.jsonl").unlink()
        done = collected(tmp_path, server.url)
    assert done.returncode == 1
    assert KEY not in done.stdout + done.stderr
    assert "the endpoint refuses judge" in done.stderr.splitlines()[-1]
    done = collected(tmp_path, server.url, key=None)
    assert done.returncode == 1
    assert "OPENAI_API_KEY holds no key" in done.stderr.splitlines()[-1]


FAULTS = ("429 0.05", "500", "503", "cut", "broken", "no choices", "429")


def test_every_failure_is_counted_and_no_judgment_is_lost_or_asked_twice(tmp_path):
    """Each prompt fails with each fault in turn, starting anywhere, before it is answered."""
    kinds: dict[str, int] = {}

    def faults(prompt: str, times: int) -> str | None:
        start = kinds.setdefault(prompt, len(kinds))
        return None if times > 3 else FAULTS[(start + times) % len(FAULTS)]

    with serving(faults) as server:
        done = collected(tmp_path, server.url)
        assert done.returncode == 0, done.stderr
    assert set(server.answered.values()) == {1}
    assert len(judgments(tmp_path)) == len(server.answered) == TOTAL
    happened = server.happened
    expected = {"429": happened["429"] + happened["429 0.05"], "500": happened["500"], "503": happened["503"]}
    expected |= {"connection": happened["cut"], "unreadable body": happened["broken"] + happened["no choices"]}
    assert sum(expected.values()) == 3 * TOTAL
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(expected.items()))
    assert f"attempts failed: {listed}" in done.stdout
    assert "given up: none" in done.stdout


def test_endless_and_slow_bodies_end_as_failed_attempts(tmp_path):
    def faults(prompt: str, times: int) -> str | None:
        return None if times > 1 else "flood" if "\nanswer of" in prompt or prompt.startswith("j1") else "drip"

    with serving(faults) as server:
        start = time.monotonic()
        done = collected(tmp_path, server.url, "--timeout", 1, "--comparisons", 8)
        assert time.monotonic() - start < 30  # a drip alone would take 50 s
    assert done.returncode == 0, done.stderr
    flooded, dripped = server.happened["flood"], server.happened["drip"]
    assert flooded and dripped
    failed = re.search(r"attempts failed: (\d+) body too large, (\d+) timeout\n", done.stdout)
    large, late = map(int, failed.groups())
    # A busy machine may be late with a good answer or with a flood: that too is a timeout, and nothing is hidden.
    assert 0 < large <= flooded
    assert large + late >= flooded + dripped
    assert len(judgments(tmp_path)) == 8


def test_what_changed_under_an_old_name_is_refused(tmp_path):
    one, two = ([{"judge": "j1", "model": model}] for model in ("one", "two"))
    with serving() as server:
        collected(tmp_path, server.url, "--comparisons", 3, judges=one)
        before = (tmp_path / "judgments.jsonl").read_bytes()
        done = collected(tmp_path, server.url, judges=two)
        assert "is of judge 'j1' when it was 'one', not 'two'" in done.stderr.splitlines()[-1]
        answers = tmp_path / "answers.jsonl"
        answers.write_text(answers.read_text().replace("an answer", "another answer"))
        done = collected(tmp_path, server.url, judges=one)
        assert "is about other texts of question" in done.stderr.splitlines()[-1]
        assert done.returncode == 1
        assert len(server.requests) == 3
    assert (tmp_path / "judgments.jsonl").read_bytes() == before


def test_an_interrupt_ends_the_run_at_once_and_loses_nothing(tmp_path):
    with serving(lambda prompt, times: "503" if prompt.startswith("j2") else None) as server:
        running = subprocess.Popen(
            [*RUN, *command(tmp_path, server.url, "--first-wait", 60)],
            env=environment(OPENAI_API_KEY=KEY),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        path = tmp_path / "judgments.jsonl"
        deadline = time.monotonic() + 60
        while not (path.exists() and path.read_bytes().count(b"\n") >= 3):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        start = time.monotonic()
        said = running.communicate(timeout=60)[1]
        assert time.monotonic() - start < 20  # a wait for the next attempt alone would take 30 s
    assert running.returncode == 130
    assert said.splitlines()[-1] == "judgerank collect: interrupted; what was finished is kept"
    assert "Traceback" not in said
    assert len(judgments(tmp_path)) == sum(server.answered.values())


def test_what_has_no_answer_is_counted_and_asked_the_next_time(tmp_path):
    def faults(prompt: str, times: int) -> str | None:
        return (
            "500"
            if "Question 0" in prompt and times < 3
            else "400"
            if "Question 1" in prompt and times < 2
            else None
        )

    with serving(faults) as server:
        done = collected(tmp_path, server.url, "--attempts", 2)
        assert done.returncode == 0
        assert "given up: 6 400, 6 500" in done.stdout
        assert "attempts failed: 6 400, 12 500" in done.stdout
        assert "12 requests have no answer yet" in done.stdout
        assert len(judgments(tmp_path)) == 12
        collected(tmp_path, server.url, "--attempts", 3)
    assert len(judgments(tmp_path)) == TOTAL
    assert set(server.answered.values()) == {1}


def test_a_kill_in_the_middle_loses_nothing_and_pays_for_nothing_twice(tmp_path):
    with serving(delay=0.05) as server:
        running = subprocess.Popen(
            [*RUN, *command(tmp_path, server.url, "--concurrent", 3)],
            env=environment(OPENAI_API_KEY=KEY),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        path = tmp_path / "judgments.jsonl"
        deadline = time.monotonic() + 60
        while not (path.exists() and path.read_bytes().count(b"\n") >= 6):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        running.wait()
        time.sleep(0.2)
        content = path.read_bytes()
        kept = content.count(b"\n")
        assert 6 <= kept < TOTAL
        path.write_bytes(content + b'{"question_id": "q0", "mod')  # as if cut off in the middle of a line
        before = dict(server.answered)
        done = collected(tmp_path, server.url)
        assert done.returncode == 0, done.stderr
        assert "26 bytes dropped" in done.stdout
        assert f"{kept} of them are there already" in done.stdout
    records = judgments(tmp_path)
    assert (
        len({(r["question_id"], r["model_a"], r["model_b"], r["judge_model"]) for r in records})
        == len(records)
        == TOTAL
    )
    twice = [prompt for prompt, count in server.answered.items() if count > 1]
    assert len(twice) == sum(before.values()) - kept  # only what was on its way at the kill
    assert len(twice) <= 3


def test_a_dry_run_sends_nothing_and_says_what_it_would_take(tmp_path):
    priced = [{"judge": "j1", "prompt_price": 1, "completion_price": 2}, {"judge": "j2"}]
    with serving() as server:
        done = collected(tmp_path, server.url, "--dry-run", key=None, judges=priced)
    assert done.returncode == 0, done.stderr
    assert server.requests == []
    assert not (tmp_path / "judgments.jsonl").exists()
    cost = float(done.stdout.split("estimated cost at most ")[1].split()[0])
    prompt = fill(PAIRWISE["text"], "q", "a", "b")
    assert cost == pytest.approx(12 * (len(prompt) / 3.5 + 2 * 1024) / 1e6, rel=0.1)


def test_a_budget_stops_the_run_before_it_is_exceeded(tmp_path):
    priced = [{"judge": "j1", "prompt_price": 1000, "completion_price": 1000}]
    with serving() as server:
        # an answer costs 0.11, and might have cost 1.3
        done = collected(tmp_path, server.url, "--budget", 2.0, "--concurrent", 1, judges=priced)
        assert done.returncode == 0, done.stderr
        assert "stopped: the next request might exceed the budget" in done.stdout
        spent = float(done.stdout.split("spent ")[1].split()[0])
        count = len(judgments(tmp_path))
        assert spent == pytest.approx(0.11 * count)
        assert 0 < spent <= 2.0
        assert count < 12
        again = collected(tmp_path, server.url, "--budget", 2.0, "--concurrent", 1, judges=priced)
        assert len(server.requests) == len(judgments(tmp_path)) == count  # earlier runs count
        assert "stopped" in again.stdout
        free = collected(tmp_path, server.url, "--budget", 1)
        assert "a budget needs prices, and judge 'j1' has none" in free.stderr


def test_usage_that_is_not_told_is_taken_at_its_most(tmp_path):
    silent = [{"judge": "no usage", "prompt_price": 0, "completion_price": 1000}]
    with serving() as server:
        done = collected(tmp_path, server.url, "--comparisons", 2, judges=silent)
    assert float(done.stdout.split("spent ")[1].split()[0]) == pytest.approx(2 * 1.024)


def test_the_pace_is_kept(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url, "--per-minute", 1200, "--comparisons", 20, "--concurrent", 10)
    assert max(server.times) - min(server.times) >= 19 * 0.05 * 0.8


def test_a_substituted_model_is_told(tmp_path):
    with serving(model="other-model") as server:
        done = collected(tmp_path, server.url, "--comparisons", 20)
    assert "judge 'j1' was sent as 'j1' and answered as 'other-model'" in done.stdout
    assert "one model, 'other-model', answered for 2 judges: j1, j2" in done.stdout


def test_unreadable_replies_are_kept_with_their_text(tmp_path):
    with serving(reply=lambda prompt: "Hmm, hard to say.") as server:
        done = collected(tmp_path, server.url, "--comparisons", 3)
    assert "3 judgments written, 3 of them unreadable" in done.stdout
    assert {(r["judge_preferred_model"], r["raw"]) for r in judgments(tmp_path)} == {
        ("unknown", "Hmm, hard to say.")
    }


def test_another_prompt_wants_another_file(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url, "--comparisons", 2)
        (tmp_path / "short.yaml").write_text("max_tokens: 5\n")
        done = collected(tmp_path, server.url, "--comparisons", 2, "--prompt", tmp_path / "short.yaml")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "holds answers to another prompt (--output FILE names another file)"
    )


def test_the_worked_example_of_the_tutorial_runs(tmp_path):
    page = (ROOT / "docs/tutorials/collect.md").read_text()
    block = page.split("<!-- worked example: run by tests/tool/test_collecting.py -->\n```sh\n")[1].split("```")[0]
    script = re.sub(r"^judgerank", f"{sys.executable} -m judgerank", block, flags=re.MULTILINE)
    script = script.replace("OPENAI_API_KEY=...", f"OPENAI_API_KEY={KEY}")
    assert script.count("judgments.jsonl") == 3
    script = script.replace("judgments.jsonl", str(tmp_path / "judgments.jsonl"))
    script = script.replace("rankings/example", str(tmp_path / "page"))
    quality = {"careful": 3, "hasty": 2, "confused": 1}
    answers = [json.loads(line) for line in (ROOT / "examples/answers.jsonl").read_text().splitlines()]

    def reply(prompt: str) -> str:
        first, second = prompt.split("Model A Response:")[1].split("Model B Response:")
        found = [
            max(quality[row["model"]] * len(row["answer"]) for row in answers if row["answer"] in part)
            for part in (first, second)
        ]
        return "a, 0.80" if found[0] > found[1] else "b, 0.80"

    with serving(reply=reply) as server:
        panel = (ROOT / "examples/panel.yaml").read_text().replace("http://localhost:8000/v1", server.url)
        (tmp_path / "panel.yaml").write_text(panel)
        script = script.replace("examples/panel.yaml", f"{tmp_path / 'panel.yaml'} --per-minute 0")
        done = subprocess.run(["bash", "-ec", script], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "at most 72 requests" in done.stdout
    assert "run next:" in done.stdout
    assert len(judgments(tmp_path)) == len(server.requests) == 72
    board = pd.read_csv(tmp_path / "page/leaderboard.csv")
    assert list(board["model"]) == ["careful", "hasty", "confused"]
    assert board[["low", "high"]].notna().all(axis=None)
    page = (tmp_path / "page/index.html").read_text()
    assert all(model in page for model in quality)
    assert "penalised maximum likelihood" in page
