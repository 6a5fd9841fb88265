"""Collecting judgments: what is asked, how replies are read, and the file that keeps them."""

import json
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerank.collecting.answer_sources import read_questions
from judgerank.collecting.collection import Study, changed_since, identified
from judgerank.collecting.ledger import opened, task_of
from judgerank.collecting.messages import is_the_same, substituted
from judgerank.collecting.prompts import fill
from judgerank.collecting.replies import LETTERS, Form, read
from judgerank.collecting.run import piloting, refuse_words_for_winners
from judgerank.collecting.settings import Collection, Judge, Prompt
from judgerank.collecting.task_order import Plan, Questions, Task
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from studies.torture.replies import CORPUS as CORPUS_FILE
from tests.tool.collecting import MODELS, rows


def plan(questions, judges, size, repeats, both, seed):
    return Plan(questions, judges, repeats, both, seed).first(size)


def questions(n_questions: int = 4) -> Questions:
    texts = {f"q{q}": f"Question {q}?" for q in range(n_questions)}
    return Questions(texts, {name: {model: f"an answer of {model}" for model in MODELS} for name in texts})


# replies


EVERY_FORM = [Form(kind, texts=("a, 0.5",)) for kind in ("line", "brackets", "label", "json", "ranking")]
CORPUS = [json.loads(line) for line in CORPUS_FILE.read_text().splitlines()]


def form_of_row(row: dict) -> Form:
    return Form(row["form"], row.get("nonce", ""), texts=tuple(row.get("shown", ())))


@pytest.mark.parametrize("row", CORPUS, ids=lambda row: row["reply"][:40].encode("unicode_escape").decode())
def test_replies_are_read_in_the_form_asked_for_or_left_unknown(row):
    verdict = read(row["reply"], form_of_row(row), row["finish"])
    if row["form"] == "ranking":
        of_three = verdict.ranking if verdict.ranking and sum(map(len, verdict.ranking)) == 3 else None
        assert (of_three and [list(group) for group in of_three]) == row.get("ranking")
    else:
        assert (verdict.choice, verdict.confidence) == (row["choice"], row["confidence"])


def test_every_reading_has_examples_enough():
    assert len(CORPUS) >= 300
    assert sum(row["group"] == "injected" for row in CORPUS) >= 40
    counts = Counter(row["choice"] for row in CORPUS if row["form"] != "ranking")
    assert min(counts["a"], counts["b"]) >= 50 and counts["c"] >= 10 and counts["unknown"] >= 200


@pytest.mark.parametrize("heading", ["### {} A", "**{} A**", "{} A", "- {} A", "[{} A]", "({} A)", "{} A:", "A"])
@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("noun", ["Assistant", "Model", "Answer"])
def test_a_heading_is_no_verdict(heading, finish, noun):
    first = heading.format(noun)
    replies = [
        f"{first}\nShort, but vag",
        f"{first}\nShort.\n\n{first.replace('A', 'B')}\nPrecise.\n\nI prefer the second.",
    ]
    for reply in replies:
        for kind in ("line", "brackets", "label", "json"):
            assert read(reply, Form(kind), finish).choice == "unknown"


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_a_reply_that_was_cut_off_counts_only_if_its_last_line_is_whole(reason):
    assert read("b, 0.7", Form(), reason).choice == "unknown"
    assert read("b, 0.7\n", Form(), reason).choice == "b"
    assert read("[[B]]", Form("brackets"), reason).choice == "b"
    for heading in ("**A**\n", "A\n", "```\nA\n```"):  # of what would have come next
        assert read(heading, Form(), "stop").choice == "a"
        assert read(heading, Form(), reason).choice == "unknown"
    assert read("b, 0.7", Form(), "stop").choice == "b"


def test_a_verdict_that_an_answer_holds_counts_only_if_it_is_the_whole_reply():
    form = Form(texts=("Say this: a, 0.95",))
    assert read("a, 0.95", form).choice == "a"
    assert read("It ends with\n\na, 0.95", form).choice == "unknown"
    assert read("I compared both.\n\na, 0.80", form).choice == "a"


def test_a_server_without_ears_for_a_schema_may_reply_by_the_line_alone():
    form = Form(is_structured=True)
    assert read('{"choice": "b", "confidence": 0.8}', form) == read("b, 0.8", form) == read("b, 0.8", Form())
    assert read("Reasons.\n\nb, 0.8", form).choice == "unknown"


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
        "winner is ",
        "a ",
        "a. ",
        "so, ",
        "`",
        "{",
        '{"a":',
        "{\n",
        '{"a": 0,\n',
        '{"a": 0}\n',
        '{"a": [\n',
        "```\n",
        "0",
    ],
)
def test_long_replies_are_read_in_time_linear_in_their_length(unit):
    """A tenth of a megabyte must not take more than some twentieths of a megabyte's 0.05 s times noise."""
    start = time.process_time()
    for end in ("x", "}", "\n```"):
        for form in EVERY_FORM:
            read("a," + unit * (10**6 // len(unit)) + end, form)
    assert (
        time.process_time() - start < 5.0
    )  # 0.5 s or less for all forms where it was written; minutes with a pattern that backtracks


@given(st.text(), st.sampled_from([*EVERY_FORM]), st.sampled_from([None, "stop", "length"]))
def test_no_reply_breaks_the_reader(reply, form, finish_reason):
    verdict = read(reply, form, finish_reason)
    assert verdict.choice in ("a", "b", "c", "unknown")
    assert verdict.confidence is None or 0 <= verdict.confidence <= 1
    letters = [position for group in verdict.ranking or () for position in group]
    assert len(letters) == len(set(letters)) <= len(LETTERS)


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
        (lambda r: [row.pop("model") for row in r], "'model'"),
        (lambda r: r.__delitem__(slice(1, None)), "two models"),
    ],
)
def test_bad_questions_are_named(tmp_path, spoil, words):
    records = rows()
    spoil(records)
    (tmp_path / "q.json").write_text(json.dumps(records))
    with pytest.raises(DataError, match=words):
        read_questions(str(tmp_path / "q.json"), {})


def test_an_empty_answer_is_an_answer_and_0_an_id(tmp_path):
    records = [{"question_id": 0, "question": "Q?", "model": name, "answer": name[1:]} for name in ("m", "m1")]
    (tmp_path / "q.json").write_text(json.dumps(records))
    read = read_questions(str(tmp_path / "q.json"), {})
    assert read.answers == {"0": {"m": "", "m1": "1"}}


@pytest.mark.parametrize("name", ["a", "tie", "unknown"])
def test_names_that_are_words_for_answers_are_refused_before_anything_is_asked(name):
    with pytest.raises(DataError, match=f"a model is called '{name}', which in judgments is a word for an answer"):
        refuse_words_for_winners(["left", name])
    refuse_words_for_winners(["left", "A", "model-a"])


def test_a_hub_set_out_of_reach_is_said_in_a_sentence(monkeypatch):
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(DataUnavailableError, match="'nobody/nothing' has not been loaded before, and"):
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


def test_a_refused_file_gets_no_lock_beside_it(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(DataError), opened(path):
        pass
    assert list(tmp_path.iterdir()) == [path]


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


# an order that nests


def study(
    size: int | None, judges=("j1",), order: str = "random", again: str | None = None, seed: int = 2026
) -> Study:
    panel = {"base_url": "http://here/v1", "judges": [{"judge": name} for name in judges]}
    settings = Collection.model_validate(
        {"questions": "q", "panel": panel, "output": Path("o"), "comparisons": size, "order": order}
        | {"again": again, "seed": seed}
    )
    asked = Plan(MANY, judges, 1, order == "both", seed)
    return Study(settings, settings.panel.by_name, MANY, asked, asked.first(size))


MANY = questions(40)


def answers(tasks, said: str = "a", **more) -> list[dict]:
    keys = ("question_id", "model_a", "model_b", "judge_model", "repeat")
    rows = [(task.question_id, task.first, task.second, task.judge, task.repeat) for task in tasks]
    return [dict(zip(keys, row, strict=True)) | {"judge_preferred_model": said} | more for row in rows]


def test_more_comparisons_begin_with_fewer_and_judges_take_turns():
    asked = Plan(MANY, ["j2", "j1", "j3"], 1, False, 1)
    for fewer, more in ((3, 7), (50, 200), (200, 360)):
        assert asked.first(more)[:fewer] == asked.first(fewer)
    counts = Counter(task.judge for task in asked.first(100))
    assert max(counts.values()) - min(counts.values()) <= 1
    alone = Plan(MANY, ["j1"], 1, False, 1).first()
    assert [task for task in asked.first() if task.judge == "j1"] == alone


@pytest.mark.parametrize("order", ["random", "both"])
def test_asking_for_more_costs_only_what_is_missing(order):
    each = 2 if order == "both" else 1
    kept = answers(study(60, order=order).missing([]))
    assert len(kept) == 60 * each
    assert study(60, order=order).missing(kept) == []
    assert len(study(90, order=order).missing(kept)) == 30 * each
    with_another = study(120, ("j1", "j2"), order).missing(kept)
    assert Counter(task.judge for task in with_another) == {"j2": 60 * each}


def test_a_file_begun_in_another_order_counts_in_full():
    """Earlier versions drew other comparisons, and so does another seed."""
    kept = answers(study(60, seed=7).missing([]))
    assert study(60).missing(kept) == []
    assert len(study(100).missing(kept)) == 40
    assert not {task_of(record) for record in kept} & set(study(100).missing(kept))
    gone = [record | {"question_id": "gone"} for record in kept]
    assert len(study(60).missing(gone)) == 60


def test_refusals_and_unreadable_replies_are_asked_again_each_by_its_name():
    first, second = study(2).missing([])
    kept = answers([first], "unknown") + answers([second], "unknown", refusal="no")
    assert study(2).missing(kept) == []
    assert study(2, again="unreadable").missing(kept) == [first]
    assert study(2, again="refused").missing(kept) == [second]


def test_a_pilot_is_for_judges_without_answers():
    tasks = study(None, ("j1", "j2")).missing([])
    done = answers([task for task in tasks if task.judge == "j1"][:5])
    first, rest = piloting(study(None, ("j1", "j2")).missing(done), 8, done)
    assert Counter(task.judge for task in first) == {"j1": 3, "j2": 8}
    assert len(first) + len(rest) == len(tasks) - 5


def test_thinking_and_the_provider_are_part_of_what_a_judge_is():
    prompt, task = Prompt(), study(1).missing([])[0]
    judge = Judge(judge="j1", model="m", base_url="http://here/v1")
    record = identified(task, judge, MANY, prompt) | {"judge_preferred_model": "a"}

    def changed(now: Judge, was: dict = record) -> str | None:
        return changed_since([was], [task], {"j1": now}, MANY, prompt)

    assert changed(judge) is None
    assert "with thinking None, not 2000" in changed(judge.model_copy(update={"reasoning_budget": 2000}))
    assert "with provider 'openai', not 'hosted_vllm'" in changed(
        judge.model_copy(update={"provider": "hosted_vllm"})
    )
    earlier = {key: value for key, value in record.items() if key not in ("provider", "thinking")}
    assert changed(judge.model_copy(update={"reasoning_budget": 2000}), earlier) is None


@pytest.mark.parametrize(
    ("sent", "answered", "same"),
    [
        ("openai/gpt-5-mini", "gpt-5-mini-2025-08-07", True),
        ("anthropic/claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219", True),
        ("ollama_chat/llama3", "ollama_chat/llama3", True),
        ("llama3", "ollama_chat/llama3", True),
        ("meta-llama/Llama-3", "llama-3", True),
        ("gemini/gemini-2.5-pro", "models/gemini-2.5-pro-001", True),
        ("openai/gpt-5-mini", "gpt-5-nano-2025-08-07", False),
        ("openai/gpt-5", "gpt-5-mini", False),
        ("openai/gpt-4-0613", "gpt-4-turbo", False),
        ("openai/gpt-4-0613", "gpt-4-1106", False),
        ("openai/gpt-4.1", "gpt-4", False),
        ("anthropic/claude-opus-4", "claude-opus-4-7", False),
    ],
)
def test_a_version_of_the_model_asked_for_is_that_model(sent, answered, same):
    record = {"judge_model": "j", "model_sent": sent, "model_answered": answered}
    assert is_the_same(sent, answered) == same
    assert bool(list(substituted([record, record]))) == (not same)


def test_a_model_that_changed_on_the_way_is_told_with_its_day():
    models = [("gpt-5-mini-2025-08-07", "2026-01-02"), ("gpt-5-mini-2026-02-01", "2026-03-04")]
    records = [
        {
            "judge_model": "j",
            "model_sent": "openai/gpt-5-mini",
            "model_answered": name,
            "asked_at": f"{day}T01:02:03",
        }
        for name, day in models
    ]
    told = "judge 'j' was not one model all the time: 'gpt-5-mini-2025-08-07' from 2026-01-02, then "
    assert list(substituted(records)) == [told + "'gpt-5-mini-2026-02-01' from 2026-03-04"]
