"""Answers where other tools have left them: files, folders, platforms."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

import pandas as pd
import pyarrow
import pytest
from jsonschema import Draft202012Validator

from judgerank.collecting.answer_sources import read_questions
from judgerank.collecting.platforms import is_platform, known_platforms, session
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.reading.answers.found import answered, asked, text_of
from studies.torture.endpoint import serving
from tests.forked import judgerank
from tests.tool.collecting import collected, judgments

SAMPLES = Path(__file__).parent / "samples"


def written(path: Path, records: object) -> str:
    """Records as JSON, or as JSON Lines if the name ends so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
    else:
        path.write_text(json.dumps(records))
    return str(path)


# logs that inspect_ai itself wrote (record_platforms.py)


def test_a_log_of_inspect_is_read_as_answers():
    read = read_questions([str(SAMPLES / f"inspect-{name}.eval") for name in ("alpha", "beta")], {})
    assert read.text["sums/3"] == "What is 3 and 1?"
    assert read.answers["sums/3"] == {"mockllm/alpha": "4 it is", "mockllm/beta": "4"}
    assert read.reference["sums/3"] == "4"


def test_what_an_agent_did_is_a_transcript_and_an_image_is_a_reference():
    read = read_questions(str(SAMPLES / "agents"), {})
    assert list(read.text) == [
        "places/paris",
        "places/paris #2",
        "places/picture",
        "places/picture #2",
    ]  # two epochs
    said = read.answers["places/paris"]["mockllm/alpha"]
    assert said.index('[assistant calls weather]\n{"city": "Paris"}') < said.index(
        "[tool weather returns]\n18 degrees"
    )
    assert said.endswith("[assistant]\nIt is 18 degrees. (0)")
    assert read.answers["places/paris #2"] == {
        "mockllm/alpha": "It is 18 degrees. (2)",
        "mockllm/beta": "Warm. (2)",
    }
    assert read.text["places/picture"] == "Which city is this?\n[image: image/png, sha256 8b4e963684b6351a]"


def log(model: str, *samples: dict) -> dict:
    return {"version": 2, "status": "success", "eval": {"model": model, "task": "t"}, "samples": list(samples)}


def test_samples_that_failed_are_left_out_and_said_and_long_texts_are_put_back(tmp_path, caplog):
    output = {
        "completion": "attachment://1",
        "choices": [{"message": {"role": "assistant", "content": "attachment://1"}}],
    }
    fine = {
        "id": 1,
        "epoch": 1,
        "input": "?",
        "target": ["x", "y"],
        "output": output,
        "attachments": {"1": "long"},
    }
    for model in ("a", "b"):
        failed = {"id": 2, "epoch": 1, "input": "??", "target": "", "output": {}, "error": {"message": "no"}}
        written(tmp_path / f"{model}.json", log(model, fine, failed))
    read = read_questions(str(tmp_path), {})
    assert read.answers == {"t/1": {"a": "long", "b": "long"}}
    assert read.reference == {"t/1": "x\ny"}
    assert "left out, because the model did not answer: a (1), b (1)" in caplog.text


# other tools' files


def instance(model: str, sample: str, **more) -> dict:
    return {
        "schema_version": "instance_level_eval_0.3.0",
        "evaluation_id": "e",
        "model_id": model,
        "evaluation_name": "acc",
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": "2 and 2?", "reference": ["4"]},
        "output": {"raw": [f"{model} says 4"]},
        "messages": None,
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
    } | more


def test_instances_of_every_eval_ever(tmp_path):
    call = {"id": "c1", "name": "add", "arguments": {"a": "2"}}
    acted = [
        {"turn_idx": 0, "role": "user", "content": "Add."},
        {"turn_idx": 1, "role": "assistant", "content": None, "tool_calls": [call]},
        {"turn_idx": 2, "role": "tool", "content": "4", "tool_call_id": ["c1"]},
        {"turn_idx": 3, "role": "assistant", "content": "It is 4."},
    ]
    agentic = {"interaction_type": "agentic", "output": None, "messages": acted}
    for model in ("org/a", "org/b"):
        rows = [
            instance(model, "s1"),
            instance(model, "s1", evaluation_name="f1"),
            instance(model, "s2", **agentic),
        ]
        written(tmp_path / f"{model[-1]}_samples.jsonl", rows)
    read = read_questions(str(tmp_path / "*_samples.jsonl"), {})
    assert read.answers["s1"] == {"org/a": "org/a says 4", "org/b": "org/b says 4"}  # once, for both metrics
    assert list(read.text) == ["s1", "s2"]
    assert read.reference["s1"] == "4"
    assert read.answers["s2"]["org/a"] == (
        '[assistant calls add]\n{"a": "2"}\n\n[tool add returns]\n4\n\n[assistant]\nIt is 4.'
    )


def output(provider: str, prompt: str, said: object, label: str = "p", **more) -> dict:
    return {
        "provider": {"id": provider, "label": ""},
        "prompt": {"raw": prompt, "label": label},
        "vars": {"city": "Rome"},
        "response": {"output": said},
        "gradingResult": None,
    } | more


@pytest.mark.parametrize("lines", [False, True])
def test_reports_of_promptfoo(tmp_path, lines):
    messages = json.dumps([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Rome?"}])
    rows = [
        output("openai:x", messages, "Yes."),
        output("openai:y", messages, {"name": "Rome"}),
        output("openai:z", messages, None, error="no"),
    ]
    report = {"evalId": "1", "results": {"version": 3, "results": rows}, "config": {}}
    path = written(tmp_path / "r.jsonl", rows) if lines else written(tmp_path / "r.json", report)
    read = read_questions(path, {})
    assert read.text == {"Rome": "[system]\nBe brief.\n\n[user]\nRome?"}
    assert read.answers == {"Rome": {"openai:x": "Yes.", "openai:y": '{"name": "Rome"}'}}


def test_outputs_of_different_prompts_are_not_compared(tmp_path):
    rows = [output(p, f"{label} Rome", f"{p} {label}", label) for label in ("Tell", "Sing") for p in ("x", "y")]
    written(tmp_path / "r.json", {"results": {"version": 3, "results": rows}, "config": {}})
    read = read_questions(str(tmp_path / "r.json"), {})
    assert read.answers == {f"Rome | {one}": {p: f"{p} {one}" for p in ("x", "y")} for one in ("Tell", "Sing")}


@pytest.mark.parametrize(
    "arguments", [[["Q: 2+2", {"until": []}]], {"gen_args_0": {"arg_0": "Q: 2+2", "arg_1": {}}}]
)
def test_samples_of_lm_evaluation_harness(tmp_path, arguments):
    row = {"doc_id": 7, "doc": {}, "target": "4", "arguments": arguments, "filtered_resps": ["4"]}
    for model in ("m__a", "m__b"):
        filters = [row | {"resps": [[f"{model}: 4"]], "filter": name} for name in ("strict", "flexible")]
        written(tmp_path / model / "samples_gsm8k_2026-11-01T10-00-00.123456.jsonl", filters)
    read = read_questions(str(tmp_path / "*" / "samples_*.jsonl"), {})
    assert read.text == {"gsm8k/7": "Q: 2+2"}
    assert read.answers == {"gsm8k/7": {"m__a": "m__a: 4", "m__b": "m__b: 4"}}  # once, for both filters
    assert read.reference == {"gsm8k/7": "4"}


def test_likelihoods_are_no_answers(tmp_path):
    row = {"doc_id": 7, "doc": {}, "arguments": [["Q", "A"]], "resps": [[[-1.2, False]], [[-0.3, True]]]}
    path = written(tmp_path / "m" / "samples_arc.jsonl", [row | {"filtered_resps": [1]}])
    with pytest.raises(DataError, match=r"record 1 holds no answer in words .*: the task compares likelihoods"):
        read_questions(path, {})


def test_outputs_of_alpaca_eval_are_known_by_their_instruction(tmp_path):
    long = "Write a poem about the sea, " * 9
    for model in ("a", "b"):
        rows = [
            {"instruction": text, "output": f"{model}!", "generator": model, "dataset": "d"}
            for text in ("Hi", long)
        ]
        written(tmp_path / f"{model}.json", rows)
    read = read_questions([str(tmp_path / "a.json"), str(tmp_path / "b.json")], {})
    short, named = read.text
    assert short == "Hi"
    assert len(named) <= 72
    assert read.text[named] == long
    assert read.answers["Hi"] == {"a": "a!", "b": "b!"}


def mt_bench(folder: Path, turn: Callable[[str], object] = str) -> list[str]:
    question = {
        "question_id": 81,
        "category": "writing",
        "turns": ["Write.", "Shorter."],
        "reference": ["R1", "R2"],
    }
    paths = [written(folder / "question.jsonl", [question])]
    for model in ("vicuna", "gpt-4"):
        choices = [{"index": 0, "turns": [turn(f"{model} one"), turn(f"{model} two")]}]
        answer = {"question_id": 81, "answer_id": "x", "model_id": model, "choices": choices, "tstamp": 1.0}
        paths.append(written(folder / "model_answer" / f"{model}.jsonl", [answer]))
    return paths


@pytest.mark.parametrize(
    "turn", [str, lambda text: {"content": text, "token_len": 2}], ids=["MT-Bench", "Arena-Hard"]
)
def test_answers_of_benches_with_their_questions_beside(tmp_path, turn):
    paths = mt_bench(tmp_path, turn)
    read = read_questions(paths, {})
    assert read.text == {"81": ("Write.", "Shorter.")}
    assert read.answers["81"]["gpt-4"] == ("gpt-4 one", "gpt-4 two")
    assert read.reference["81"] == ("R1", "R2")
    with pytest.raises(DataError, match="answers question '81', and no file has its text"):
        read_questions(paths[1:], {})


def test_answers_of_arena_hard_2(tmp_path):
    paths = [written(tmp_path / "question.jsonl", [{"uid": "u", "category": "c", "prompt": "Do it."}])]
    for model in ("a", "b"):
        told = [
            {"role": "user", "content": "Do it."},
            {"role": "assistant", "content": {"answer": f"{model} did"}},
        ]
        row = {"uid": "u", "ans_id": "x", "model": model, "messages": told, "tstamp": 1, "metadata": {}}
        paths.append(written(tmp_path / f"{model}.jsonl", [row]))
    read = read_questions(paths, {})
    assert read.text == {"u": "Do it."}
    assert read.answers == {"u": {"a": "a did", "b": "b did"}}


def test_a_folder_of_texts_by_model(tmp_path):
    for place, text in {
        "questions/q1.txt": "Why?\n",
        "a/q1.md": "So.",
        "b/q1.txt": "Because.",
        "b/x.csv": "",
    }.items():
        path = tmp_path / "texts" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    read = read_questions(str(tmp_path / "texts"), {})
    assert read.text == {"q1": "Why?"}
    assert read.answers == {"q1": {"a": "So.", "b": "Because."}}
    (tmp_path / "texts" / "a" / "q2.txt").write_text("?")
    with pytest.raises(DataError, match=r"texts: a/q2.txt answers a question that questions/ does not have"):
        read_questions(str(tmp_path / "texts"), {})


def test_any_table_also_one_in_memory_and_with_messages(tmp_path):
    said = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "I do."}]
    rows = [{"question_id": "q", "question": "?", "model": model, "answer": said} for model in "ab"]
    table = pyarrow.Table.from_pylist(rows)
    for source in (table, pd.DataFrame(rows), rows):
        assert read_questions(source, {}).answers == {
            "q": dict.fromkeys("ab", "[user]\nGo on.\n\n[assistant]\nI do.")
        }
    with pyarrow.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    assert read_questions(str(tmp_path / "t.arrow"), {}).answers == read_questions(table, {}).answers


def test_what_is_in_no_known_format_is_refused_with_those_that_are(tmp_path):
    path = written(tmp_path / "x.jsonl", [{"a": 1}])
    with pytest.raises(
        DataError, match=r"x.jsonl: the table has no column 'question_id' \(it has: a\); nor is it one"
    ):
        read_questions(path, {})


def test_judges_see_answers_of_other_tools(tmp_path):
    paths = mt_bench(tmp_path / "bench")
    (tmp_path / "answers.jsonl").write_text(Path(paths[0]).read_text())  # which the command names first
    with serving(reply=lambda prompt: "a, 0.9") as server:
        done = collected(tmp_path, server.url, *paths[1:], judges=[{"judge": "j"}])
    assert done.returncode == 0, done.stderr
    assert [{row["model_a"], row["model_b"]} for row in judgments(tmp_path)] == [{"vicuna", "gpt-4"}]
    assert "gpt-4 two" in server.requests[0]["messages"][0]["content"]


# messages


def test_parts_of_messages_that_nobody_sees_are_left_out_and_media_are_references():
    parts = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 999}},
        {"type": "input_audio", "input_audio": {"data": "B" * 999, "format": "wav"}},
    ]
    text = text_of(parts)
    assert text.startswith("See\n[image: https://x.org/a.png]\n[image: bytes, sha256 ")
    assert "hm" not in text
    assert "AAA" not in text
    assert "BBB" not in text


def test_calls_of_tools_in_every_form_read_alike():
    openai = [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"x": 1}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": "2"},
    ]
    anthropic = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"x": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "2"}]},
    ]
    inspect = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "f", "arguments": {"x": 1}}]},
        {"role": "tool", "tool_call_id": "1", "function": "f", "content": "2"},
    ]
    assert answered(openai) == answered(anthropic) == answered(inspect)
    assert answered(openai) == '[assistant calls f]\n{"x": 1}\n\n[tool f returns]\n2'
    assert asked([{"role": "user", "content": "Hi"}]) == answered([{"role": "assistant", "content": "Hi"}]) == "Hi"


# platforms, by answers in the form that their own clients (langfuse 5.0.4, arize-phoenix-client 3.5.0) read

Answer = tuple[int, object]


@contextmanager
def platform(answer: Callable[[str, dict[str, str]], Answer]) -> Iterator[tuple[str, list]]:
    """A server that answers GET by a function of path and parameters, and a list of what it was asked."""
    seen: list = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            params = {name: values[0] for name, values in parse_qs(parts.query).items()}
            seen.append((parts.path, params, self.headers["Authorization"]))
            status, told = answer(unquote(parts.path), params)
            content = told.encode() if isinstance(told, str) else json.dumps(told).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


def langfuse_item(experiment: str, item: str, said: object, level: str = "DEFAULT") -> dict:
    told = {"id": f"{experiment}-{item}", "traceId": "t", "startTime": "2026-11-01T10:00:00Z", "level": level}
    told |= {"environment": "default", "experimentId": f"id-{experiment}", "experimentName": experiment}
    return told | {
        "experimentItemId": item,
        "input": {"question": f"{item}?"},
        "output": said,
        "expectedOutput": "E",
    }


def langfuse(path: str, params: dict[str, str]) -> Answer:
    """As ``Datasets.get`` and ``Experiments.list_items`` are answered: two pages of items."""
    if path == "/api/public/v2/datasets/my/set":
        return 200, {"id": "d1", "name": "my/set", "projectId": "p"}
    if path != "/api/public/experiment-items" or params["datasetId"] != "d1":
        return 404, {"message": "not found"}
    items = [
        langfuse_item(one, item, {"answer": f"{one} {item}"}) for one in ("gpt", "claude") for item in ("i1", "i2")
    ]
    items.append(langfuse_item("claude", "i3", None, "ERROR"))
    items = [one for one in items if params.get("experimentName") in (None, one["experimentName"])]
    first = "cursor" not in params
    return 200, {"data": items[:3] if first else items[3:], "meta": {"cursor": "v1.next"} if first else {}}


def test_experiments_of_langfuse(monkeypatch, caplog):
    with platform(langfuse) as (address, seen):
        monkeypatch.setenv("LANGFUSE_BASE_URL", address)
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-0123456789")
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-lf-0123456789")
        read = read_questions("langfuse:my/set", {})
        one = read_questions(["langfuse:my/set::gpt", "langfuse:my/set::claude"], {})
    assert (
        read.answers
        == one.answers
        == {name: {m: f"{m} {name}" for m in ("gpt", "claude")} for name in ("i1", "i2")}
    )
    assert read.text == {"i1": "i1?", "i2": "i2?"}
    assert read.reference == {"i1": "E", "i2": "E"}
    assert seen[1][1] | {"cursor": ""} == {
        "fromStartTime": "2023-01-01T00:00:00Z",
        "fields": "core,io",
        "limit": "100",
        "datasetId": "d1",
        "cursor": "",
    }
    assert {header for *_, header in seen} == {f"Basic {b64encode(b'pk-lf-0123456789:sk-lf-0123456789').decode()}"}
    assert "left out, because the model did not answer: claude (1)" in caplog.text


def phoenix(path: str, params: dict[str, str]) -> Answer:
    """As the clients' methods for datasets, examples, experiments and runs are answered."""
    if path == "/v1/datasets":
        return 200, {
            "data": [{"id": "RGF0YXNldDoz", "name": "cities"}] if params["name"] == "cities" else [],
            "next_cursor": None,
        }
    if path == "/v1/datasets/RGF0YXNldDoz/experiments":
        listed = [
            {"id": f"e-{one}", "name": one, "dataset_id": "RGF0YXNldDoz", "dataset_version_id": "v2"}
            for one in "ab"
        ]
        return 200, {"data": listed, "next_cursor": None}
    if path == "/v1/datasets/RGF0YXNldDoz/examples" and params == {"version_id": "v2"}:
        example = {
            "id": "x1",
            "node_id": "n1",
            "input": {"q": "Where?", "n": 2},
            "output": {"a": "Rome"},
            "metadata": {},
        }
        return 200, {"data": {"dataset_id": "RGF0YXNldDoz", "version_id": "v2", "examples": [example]}}
    if path.startswith("/v1/experiments/e-"):
        model, second = path.split("-")[1][0], "cursor" in params
        run = {
            "dataset_example_id": "x1",
            "output": {"messages": [{"role": "assistant", "content": f"{model} says"}]},
        }
        run |= {"repetition_number": 2 if second else 1, "id": "r", "experiment_id": f"e-{model}"}
        return 200, {"data": [run], "next_cursor": None if second else "next"}
    return 404, "not found"


@pytest.fixture
def phoenix_recorded(monkeypatch) -> Iterator[list]:
    """What a real server of Phoenix answered (`record_platforms`)."""
    recorded = json.loads((SAMPLES / "platforms" / "phoenix_20.26.1.json").read_text())
    replies = {(urlsplit(one).path, *sorted(parse_qsl(urlsplit(one).query))): recorded[one] for one in recorded}

    def answer(path: str, params: dict[str, str]) -> Answer:
        asked = (path, *sorted(params.items()))
        return (200, replies[asked]) if asked in replies else (404, "not found")

    monkeypatch.setattr("judgerank.collecting.platforms.phoenix.PAGE", 2)  # as it was recorded
    with platform(answer) as (address, seen):
        monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", address)
        yield seen


def test_what_a_real_server_of_phoenix_answered(phoenix_recorded, caplog):
    read = read_questions("phoenix:recorded", {})
    questions = ["What is the capital of France?", "What is the capital of Peru?", "Name a river in Peru."]
    image = "Which colour is this?\n[image: image/png, sha256 "
    assert [sum(text == asked for text in read.text.values()) for asked in questions] == [2, 2, 1]
    assert sum(text.startswith(image) for text in read.text.values()) == 2
    said = {
        (text if isinstance(text, str) else "", model): answer
        for name, text in read.text.items()
        for model, answer in read.answers[name].items()
    }
    assert said[questions[0], "short"] == "Paris" and said[questions[0], "long"] == "It is Paris."
    assert (questions[2], "long") not in said
    assert set(read.reference.values()) == {"Paris", "Lima", "Ucayali", "red"}
    assert "left out, because the model did not answer: long (2)" in caplog.text
    assert sum("cursor" in params for _, params, _ in phoenix_recorded) == 4


def test_a_data_set_that_phoenix_does_not_have_is_said_to_be_none(phoenix_recorded):
    with pytest.raises(DataError, match="has no data set 'absent'"):
        read_questions("phoenix:absent", {})


def test_simulated_replies_of_langfuse_are_such_as_its_own_client_reads():
    """By the schema of its package, in which no other names than those of the interface are allowed."""
    schema = json.loads((SAMPLES / "platforms" / "langfuse_5.0.4.schema.json").read_text())
    validator = Draft202012Validator(schema)
    for cursor in ({}, {"cursor": "v1.next"}):
        status, page = langfuse("/api/public/experiment-items", {"datasetId": "d1"} | cursor)
        assert status == 200 and page["data"]
        validator.validate(page)
    page["data"][0] = page["data"][0] | {"datasetItemId": "x"}
    assert not validator.is_valid(page)


def test_an_experiment_of_langfuse_with_a_comma_in_its_name_is_not_asked_for_by_it(monkeypatch):
    def answer(path: str, params: dict[str, str]) -> Answer:
        if "experimentName" in params:  # which the server takes for a list
            return 200, {"data": [], "meta": {}}
        if path.endswith("/experiment-items"):
            items = [langfuse_item(one, "i1", one) for one in ("gpt, long", "claude", "gpt")]
            return 200, {"data": items, "meta": {}}
        return langfuse(path, params)

    with platform(answer) as (address, _):
        monkeypatch.setenv("LANGFUSE_BASE_URL", address)
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-0123456789")
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-lf-0123456789")
        with pytest.raises(DataError, match="no question"):
            read_questions("langfuse:my/set::gpt, long", {})
        assert set(read_questions("langfuse:my/set", {}).answers["i1"]) == {"gpt, long", "claude", "gpt"}


def test_experiments_of_phoenix(monkeypatch):
    with platform(phoenix) as (address, seen):
        monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", address)
        monkeypatch.delenv("PHOENIX_API_KEY", raising=False)
        read = read_questions("phoenix:cities", {})
        assert {header for *_, header in seen} == {None}
        monkeypatch.setenv("PHOENIX_API_KEY", "key-0123456789")
        again = read_questions(["phoenix:RGF0YXNldDoz::a", "phoenix:RGF0YXNldDoz::e-b"], {})  # by id
        assert seen[-1][2] == "Bearer key-0123456789"
        with pytest.raises(DataError, match="there is no experiment 'c' on a data set 'cities'"):
            read_questions("phoenix:cities::c", {})
    assert read.answers == again.answers == {name: {"a": "a says", "b": "b says"} for name in ("x1", "x1 #2")}
    assert read.text["x1"] == '{"q": "Where?", "n": 2}'
    assert read.reference["x1"] == "Rome"


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (
            (401, {"message": "bad key sk-lf-0123456789"}),
            DataUnavailableError,
            r"refuses \(401\): bad key \(the key\)",
        ),
        ((302, ""), DataUnavailableError, r"refuses \(302\): sends requests on to 127.0.0.1:9"),
        ((200, "<html>"), DataError, r"^Langfuse .*127\.0\.0\.1.*\bJSON\b"),
        ((404, {}), DataError, "has no data set 'set'"),
        ((500, {"message": "down"}), DataUnavailableError, r"gives no answer \(500\): down"),
    ],
)
def test_a_platform_that_does_not_answer_is_told(monkeypatch, answer, error, words):
    monkeypatch.setattr(session, "FIRST_WAIT", 0.001)
    with platform(lambda path, params: answer) as (address, _):
        monkeypatch.setenv("LANGFUSE_BASE_URL", address)
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-0123456789")
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-lf-0123456789")
        with pytest.raises(error, match=words):
            read_questions("langfuse:set", {})


def test_a_platform_needs_its_keys_and_files_with_a_colon_are_files(monkeypatch):
    assert known_platforms() == ("langfuse", "phoenix")
    assert not is_platform("C:answers.jsonl")
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)
    with pytest.raises(ConfigError, match="LANGFUSE_PUBLIC_KEY holds no key for Langfuse"):
        read_questions("langfuse:set", {})


def test_a_column_with_a_list_of_answers_is_named_to_collect_and_to_vote(tmp_path):
    replies = [{"model": name, "answer": name} for name in "xyz"]
    records = [{"question_id": f"q{n}", "question": "Why?", "replies": replies} for n in range(2)]
    written(tmp_path / "nested.jsonl", records)
    options = ["nested.jsonl", "--column", "answers=replies", "--json"]
    voted = judgerank("vote", *options, cwd=tmp_path)
    assert json.loads(voted.stdout)["items"] == 6, voted.stderr
    asked = judgerank("collect", *options, "--judge", "judge: me, provider: person", "--dry-run", cwd=tmp_path)
    assert json.loads(asked.stdout)["models"] == ["x", "y", "z"], asked.stderr
