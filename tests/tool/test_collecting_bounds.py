"""A server that answers twice, for others, or with more than any reply holds; a file changed meanwhile."""

import gzip
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from typer.testing import CliRunner

from judgerank.cli import app
from judgerank.collecting import bounded_yaml
from judgerank.collecting import ledger as ledger_module
from judgerank.collecting.checking import keys_of
from judgerank.collecting.ledger import Ledger, Replaced
from judgerank.collecting.response import retry_after
from judgerank.collecting.secrets import Secrets
from judgerank.collecting.settings import Judge, read_panel
from judgerank.collecting.task_order import Task
from judgerank.collecting.transport import DEEPEST, LARGE, LARGEST_BODY, TooDeep, checked_body
from judgerank.data.errors import ConfigError, DataError
from studies.torture import collecting as panel_torture
from studies.torture.endpoint import better, serving
from tests.forked import environment
from tests.tool.collecting import TOTAL, collected, judgments, rows

REQUEST = {"model_a": "x", "model_b": "y", "judge_model": "j", "repeat": 0}


def chat(prompt: str, text: str, **more) -> bytes:
    """A reply of OpenAI's form, with an id that follows from the prompt."""
    message = {"role": "assistant", "content": text}
    fields = {"id": f"reply-{hash(prompt)}", "object": "chat.completion", "created": 1, "model": "m"}
    fields |= {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    return json.dumps(
        fields | {"usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}} | more
    ).encode()


@contextmanager
def answering(answer):
    """A server whose connections stay open; `answer` gives the body, headers and how often they are written.

    Or it gives all bytes of the reply, after which the connection is closed.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.encodings.add(self.headers["Accept-Encoding"])
            reply = answer(body["model"] + body["messages"][-1]["content"])
            if isinstance(reply, bytes):
                self.wfile.write(reply)
                self.close_connection = True
                return
            content, headers, times = reply
            head = [f"{name}: {value}" for name, value in {"Content-Length": len(content), **headers}.items()]
            whole = (
                "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: application/json", *head, "", ""]).encode()
                + content
            )
            self.wfile.write(whole * times)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.encodings = set()
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def http(body: bytes, *headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join([status, "Content-Type: application/json", *headers, "", ""]).encode() + body


def sized(body: bytes, *headers: str) -> bytes:
    return http(body, f"Content-Length: {len(body)}", *headers)


def in_chunks(body: bytes, end: bytes = b"0\r\n\r\n", size: str = "%x") -> bytes:
    parts = (body[start : start + 40] for start in range(0, len(body), 40))
    chunks = b"".join((size % len(part)).encode() + b"\r\n" + part + b"\r\n" for part in parts)
    return http(chunks + end, "Transfer-Encoding: chunked")


# strange replies that hold what was said, and those that hold less, or something else
WHOLE = {
    "trailers": lambda body: in_chunks(body, b"0\r\nX-A: 1\r\nContent-Type: text/evil\r\n\r\n"),
    "chunks with extensions": lambda body: in_chunks(body, size='%x;a="b"'),
    "100 Continue": lambda body: b"HTTP/1.1 100 Continue\r\n\r\n" + sized(body),
    "103 Early Hints": lambda body: b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + sized(body),
    "HTTP/1.0 without a length": lambda body: http(body, status="HTTP/1.0 200 OK"),
    "a length twice": lambda body: sized(body, f"Content-Length: {len(body)}"),
    "a type twice": lambda body: sized(body, "Content-Type: text/html"),
    "a mark of UTF-8": lambda body: sized(b"\xef\xbb\xbf" + body),
    "a second reply": lambda body: sized(body) + sized(b"{}"),
    "a folded header": lambda body: sized(body, "X-A: 1\r\n  2"),
}
CUT = {
    "a cut chunk": lambda body: in_chunks(body)[:-60],
    "no last chunk": lambda body: in_chunks(body, b""),
    "a chunk without end": lambda body: in_chunks(body, size="fffffffffff%x"),
    "HTTP/1.0, cut": lambda body: http(body[:-30], status="HTTP/1.0 200 OK"),
    "two lengths": lambda body: sized(body, "Content-Length: 5"),
    "another protocol": lambda body: http(body, "Upgrade: h2c", status="HTTP/1.1 101 Switching Protocols"),
    "gzip, not asked for": lambda body: sized(gzip.compress(body), "Content-Encoding: gzip"),
    "gzip, untold": lambda body: sized(gzip.compress(body)),
    "a stream": lambda body: sized(b"data: " + body + b"\n\ndata: [DONE]\n\n", "Content-Type: text/event-stream"),
    "two objects": lambda body: sized(body + body),
    "zeros behind it": lambda body: sized(body + bytes(20)),
}


@pytest.mark.parametrize("kind", [*WHOLE, *CUT])
def test_a_strange_reply_is_read_whole_or_not_at_all(tmp_path, kind):
    dressed = (WHOLE | CUT)[kind]
    with answering(lambda prompt: dressed(chat(prompt, better(prompt)))) as (_, url):
        done = collected(tmp_path, url, "--attempts", 1, "--patience", "0.2s", "--pilot", 2)
    records = judgments(tmp_path) if (tmp_path / "judgments.jsonl").exists() else []
    assert done.returncode == (kind in CUT), done.stderr
    assert len(records) == TOTAL * (kind in WHOLE) and all(map(right, records))


def right(record: dict) -> bool:
    """Whether a record has the answer with the larger number, of those it names."""
    return record["judge_preferred_model"] == ("a" if record["model_a"] > record["model_b"] else "b")


def test_a_server_that_answers_twice_shifts_no_reply_to_another_request(tmp_path):
    with answering(lambda prompt: (chat(prompt, better(prompt)), {}, 2)) as (_, url):
        done = collected(tmp_path, url)
    records = judgments(tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(records) == TOTAL and all(map(right, records))
    assert len({record["reply_id"] for record in records}) == TOTAL


def test_one_reply_for_all_requests_is_kept_once(tmp_path):
    for number, text in enumerate(("a, 0.90", "Because of this. " * 20 + "\n\na, 0.90")):
        folder = tmp_path / str(number)
        folder.mkdir()
        only = chat("first", text) if not number else chat("first", text, id=None)
        with answering(lambda prompt, only=only: (only, {}, 1)) as (_, url):
            done = collected(folder, url, "--attempts", 2, "--patience", "1s")
        records = judgments(folder)
        assert done.returncode == 1
        judges = [record["judge_model"] for record in records]
        assert (
            len(set(judges)) == len(judges) == 1 + number
        )  # an id shows it for a whole server, a text for a judge


def test_an_id_that_all_replies_have_is_one_warning(tmp_path):
    def answer(prompt: str) -> tuple:
        return chat(prompt, better(prompt), id="chatcmpl-123", usage=tokens_of(prompt)), {}, 1

    with answering(answer) as (_, url):
        done = collected(tmp_path, url, "--concurrent", 1, "--attempts", 3)
        again = collected(tmp_path, url, "--repeats", 2)
    records = judgments(tmp_path)
    assert done.returncode == 0 and again.returncode == 0, done.stderr + again.stderr
    assert len(records) == 2 * TOTAL and all(map(right, records))
    assert {record["reply_id"] for record in records} == {"chatcmpl-123"}
    assert (done.stdout + done.stderr).count("chatcmpl-123") == 1  # for both judges of the server
    assert "chatcmpl-123" not in again.stdout + again.stderr


def tokens_of(prompt: str) -> dict:
    """What a server counts of a prompt."""
    return {"prompt_tokens": 10 + hash(prompt) % 9999, "completion_tokens": 3, "total_tokens": 13}


def test_a_reply_to_another_judge_of_the_server_is_no_vote(tmp_path):
    """A cache that knows requests by their question alone sends every judge what the first one was sent."""

    def fault(prompt: str, times: int) -> str | None:
        return "another's" if times == 1 else None

    with serving(fault) as server:
        done = collected(tmp_path, server.url)
    assert done.returncode == 0 and server.happened["another's"]
    assert all(record["model_answered"] == record["judge_model"] for record in judgments(tmp_path))
    assert len(judgments(tmp_path)) == sum(server.answered.values()) == TOTAL


def test_a_long_text_for_another_request_is_refused_with_an_id_that_all_replies_have(tmp_path):
    thoughts = iter(["Because. " * 40] * 3 + [f"Because of {number}. " * 40 for number in range(99)])

    def answer(prompt: str) -> tuple:
        text = f"{next(thoughts)}\n\n{better(prompt)}"
        return chat(prompt, text, id="chatcmpl-123", usage=tokens_of(prompt)), {}, 1

    with answering(answer) as (_, url):
        done = collected(tmp_path, url, "--concurrent", 1, judges=[{"judge": "j1"}])
    records = judgments(tmp_path)
    assert done.returncode == 0, done.stderr
    texts = [record["raw"] for record in records]
    assert len(records) == TOTAL / 2 and len(set(texts)) == len(texts)


def test_verdicts_alone_may_be_the_same_without_an_id(tmp_path):
    with answering(lambda prompt: (chat(prompt, "a, 0.90", id=None), {}, 1)) as (_, url):
        assert collected(tmp_path, url).returncode == 0
    assert len(judgments(tmp_path)) == TOTAL


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "zstd", "br"])
def test_a_compressed_reply_is_refused_as_it_is(tmp_path, encoding):
    content = gzip.compress(chat("", "a, 0.90"))
    with answering(lambda prompt: (content, {"Content-Encoding": encoding}, 1)) as (server, url):
        done = collected(tmp_path, url, "--attempts", 1, "--patience", "1s")
    assert done.returncode == 1 and not (tmp_path / "judgments.jsonl").exists()
    assert server.encodings == {"identity"}


def test_a_reply_is_no_deeper_than_any_that_could_be_meant():
    assert checked_body(b"[" * DEEPEST + b"]" * DEEPEST).reply_id is None
    for content in (b"[" * 10**6, b'{"a":' * 10**5, b'{"id": "1", "v": ' + b"[" * 100 + b"]" * 100 + b"}"):
        with pytest.raises(TooDeep):
            checked_body(content)
    text = json.dumps({"id": "7", "text": '[[\\"' * 10**5}).encode()
    assert checked_body(text).reply_id == "7" and checked_body(text).content == text


@pytest.mark.parametrize(
    "usage", [[1, 2], "many", 3, {"prompt_tokens": 1.5}, {"prompt_tokens": 1e300, "completion_tokens": 2}]
)
def test_usage_that_is_no_number_of_tokens_leaves_the_answer(tmp_path, usage):
    with answering(lambda prompt: (chat(prompt, better(prompt), usage=usage), {}, 1)) as (_, url):
        done = collected(tmp_path, url)
    records = judgments(tmp_path)
    assert done.returncode == 0 and len(records) == TOTAL
    assert {record["prompt_tokens"] for record in records} == {None}


@pytest.mark.parametrize("reason", ["length", "error", "model_context_window_exceeded"])
def test_a_reply_that_its_server_cut_off_is_no_vote(tmp_path, reason):
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": "a, 0.7"}}
    with answering(lambda prompt: (chat(prompt, "", choices=[choice]), {}, 1)) as (_, url):
        collected(tmp_path, url)
    records = judgments(tmp_path)
    assert {(record["judge_preferred_model"], record["finish_reason"]) for record in records} == {
        ("unknown", reason)
    }


def test_a_time_to_wait_is_a_plain_number():
    waits = {
        "10": 10.0,
        "0.5": 0.5,
        "1e3": 1000.0,
        "1_0": None,
        "nan": None,
        "inf": None,
        "-5": None,
        "0x10": None,
    }
    assert {text: retry_after({"Retry-After": text}) for text in waits} == waits


DIGITS = b"9" * 6000
PART = {"type": "text", "text": " "}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
# replies of up to 4 MB that take long to read, and whether they hold an answer
BOMBS = {
    "a long text": (lambda fields: add(fields, "content", "x" * 3_900_000 + "\n\na, 0.90"), True),
    "long thoughts": (lambda fields: add(fields, "reasoning_content", "x" * 3_900_000), True),
    "verdicts": (lambda fields: add(fields, "content", "a, 0.90\n" * 400_000), True),
    "calls": (lambda fields: add(fields, "tool_calls", [CALL] * 40_000), True),
    "fields": (lambda fields: fields.update({f"k{number}": 1 for number in range(200_000)}), True),
    "usage": (lambda fields: fields["usage"].update({f"k{n}": 1 for n in range(200_000)}), True),
    "choices": (lambda fields: fields.update(choices=fields["choices"] * 30_000), True),
    "parts": (lambda fields: add(fields, "content", [PART] * 20_000), False),
    "digits": (lambda fields: fields.update(created="DIGITS"), False),
}


def add(fields: dict, name: str, value: object) -> None:
    fields["choices"][0]["message"][name] = value


@pytest.mark.parametrize("kind", BOMBS)
def test_a_reply_that_takes_long_to_read_keeps_no_other_judge_waiting(tmp_path, kind, monkeypatch):
    """It is read in another thread than the one that all judges share."""
    change, has_answer = BOMBS[kind]
    in_loop, blanked, read_reply = [], Secrets.blanked, ledger_module.read

    def note(text: str) -> None:
        if len(text) > LARGE and threading.current_thread() is threading.main_thread():
            in_loop.append(len(text))

    monkeypatch.setattr(Secrets, "blanked", lambda self, text: note(text) or blanked(self, text))
    monkeypatch.setattr(ledger_module, "read", lambda text, *more: note(text) or read_reply(text, *more))

    def answer(prompt: str) -> tuple:
        fields = json.loads(chat(prompt, better(prompt)))
        if prompt.startswith("j1"):
            change(fields)
        body = json.dumps(fields, separators=(",", ":")).encode().replace(b'"DIGITS"', DIGITS)
        assert len(body) <= LARGEST_BODY
        return body, {}, 1

    with answering(answer) as (_, url):
        done = collected(tmp_path, url, "--attempts", 1, "--comparisons", 4, "--patience", "30s")
    by_judge = Counter(one["judge_model"] for one in judgments(tmp_path))
    assert by_judge["j2"] == 2 and by_judge["j1"] == 2 * has_answer
    assert done.returncode == (not has_answer), done.stderr
    assert in_loop == []


# the file of judgments, while something else writes to it


def record(number: int) -> dict:
    return {"question_id": f"q{number}", **REQUEST, "judge_preferred_model": "a"}


def lines(*numbers: int) -> bytes:
    return b"".join(json.dumps(record(number)).encode() + b"\n" for number in numbers)


def read_lines(content: bytes) -> list[str]:
    return [json.loads(line)["question_id"] for line in content.splitlines()]


@pytest.mark.parametrize("before", [lines(0, 1), lines(0, 1)[:-9], lines(0, 1)[:-1], b""])
def test_what_is_appended_meanwhile_is_read_and_not_asked_again(tmp_path, before):
    path = tmp_path / "judgments.jsonl"
    path.write_bytes(before)
    ledger = Ledger(path)
    if ledger.torn or ledger._end:
        ledger.append(record(2))
    with path.open("ab") as other:
        other.write(lines(7, 8))
    ledger.refresh()
    for number in (7, 9, 8):
        ledger.append(record(number))
    ledger.close()
    names = read_lines(path.read_bytes())
    assert sorted(names)[-3:] == ["q7", "q8", "q9"] and len(names) == len(set(names))
    assert [one["question_id"] for one in ledger.records][-2:] == ["q7", "q8"]


def moved(path):
    path.rename(path.with_name("elsewhere.jsonl"))


def fuller(path):
    (path.parent / "new").write_bytes(lines(0, 1, 2, 5, 6))
    (path.parent / "new").replace(path)


def spaced(path):
    path.write_bytes(re.sub(rb"\n", b" " * 37 + b"\n", path.read_bytes()))


@pytest.mark.parametrize("change", [moved, fuller, spaced, lambda p: p.unlink(), lambda p: p.write_bytes(b"")])
@pytest.mark.parametrize("written", [0, 2])
def test_a_file_that_was_replaced_stays_as_it_is_and_no_judgment_is_lost(tmp_path, change, written):
    path = tmp_path / "judgments.jsonl"
    path.write_bytes(lines(0, 1))
    ledger = Ledger(path)
    for number in range(10, 10 + written):
        ledger.append(record(number))
    change(path)
    state = path.read_bytes() if path.exists() else None
    for number in (20, 21):
        with pytest.raises(Replaced):
            ledger.append(record(number))
    with pytest.raises(DataError):
        ledger.refresh()
    ledger.close()
    assert (path.read_bytes() if path.exists() else None) == state
    (kept,) = tmp_path.glob("judgments.kept-*.jsonl")
    assert read_lines(kept.read_bytes()) == [f"q{number}" for number in (*range(10, 10 + written), 20, 21)]


@pytest.mark.parametrize("change", [lambda p: (p.unlink(), p.mkdir()), lambda p: (p.unlink(), os.mkfifo(p))])
def test_a_folder_or_a_pipe_in_the_place_of_the_file_takes_no_judgment(tmp_path, change):
    path = tmp_path / "judgments.jsonl"
    ledger = Ledger(path)
    ledger.append(record(10))
    change(path)
    with pytest.raises(Replaced):
        ledger.append(record(11))
    (kept,) = tmp_path.glob("judgments.kept-*.jsonl")
    assert read_lines(kept.read_bytes()) == ["q10", "q11"]


@pytest.mark.parametrize("tail", [b"no judgment\n", b"\n\n", b"\0" * 99, lines(7)[:30]])
def test_a_judgment_is_kept_where_something_else_leaves_what_is_none(tmp_path, tail):
    """Also the beginning of a line that has no end: whoever writes it may go on."""
    path = tmp_path / "judgments.jsonl"
    path.write_bytes(lines(0))
    ledger = Ledger(path)
    ledger.append(record(10))
    with path.open("ab") as other:
        other.write(tail)
    with pytest.raises(Replaced):
        ledger.append(record(11))
    assert path.read_bytes() == lines(0, 10) + tail
    (kept,) = tmp_path.glob("judgments.kept-*.jsonl")
    assert read_lines(kept.read_bytes()) == ["q10", "q11"]


def test_a_line_that_something_else_is_writing_is_waited_for(tmp_path):
    path = tmp_path / "judgments.jsonl"
    ledger = Ledger(path)
    ledger.append(record(10))
    with path.open("ab", buffering=0) as other:
        other.write(lines(7)[:30])
        rest = threading.Timer(0.1, lambda: other.write(lines(7)[30:]))
        rest.start()
        ledger.append(record(11))
        rest.join()
    assert path.read_bytes() == lines(10, 7, 11) and ledger.is_answered(Task("q7", *list(REQUEST.values())))


def test_a_judgment_is_kept_elsewhere_where_the_folder_is_gone(tmp_path, monkeypatch):
    folder, here = tmp_path / "study", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    ledger = Ledger(folder / "judgments.jsonl")
    ledger.append(record(10))
    folder.rename(tmp_path / "moved")
    with pytest.raises(Replaced):
        ledger.append(record(11))
    (kept,) = here.glob("judgments.kept-*.jsonl")
    assert read_lines(kept.read_bytes()) == ["q10", "q11"]


@contextmanager
def no_file_longer_than(size: int):
    """As on a full disk, a write ends in the middle of a line, and the next one fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("before", [lines(0, 1), lines(0, 1)[:-9], lines(0, 1)[:-1]])
@pytest.mark.parametrize("room", [0, 1, 60, 400])
def test_a_full_disk_leaves_no_part_of_a_line_before_another(tmp_path, before, room):
    path = tmp_path / "judgments.jsonl"
    path.write_bytes(before)
    ledger = Ledger(path)
    with no_file_longer_than(len(before) + room):
        for number, raw in ((2, "x" * 400), (3, "y" * 350), (4, "")):
            with suppress(DataError):
                ledger.append(record(number) | {"raw": raw})
    ledger.append(record(5))
    ledger.close()
    names = read_lines(path.read_bytes())
    assert names[0] == "q0" and names[-1] == "q5" and len(names) == len(set(names))
    assert [one["question_id"] for one in Ledger(path).records] == names


def test_what_others_answered_while_the_judge_was_paused_is_not_asked(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url, judges=[{"judge": "j1"}])
    path = tmp_path / "judgments.jsonl"
    content = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(content[:4]))

    def fault(prompt: str, times: int) -> str | None:
        if path.read_bytes().count(b"\n") == 4:
            with path.open("ab") as other:
                other.write(b"".join(content[4:9]))
            return "503"
        return None

    with serving(fault) as server:
        done = collected(tmp_path, server.url, "--moved", judges=[{"judge": "j1"}])
    assert done.returncode == 0 and "run it" not in done.stdout
    keys = [(one["question_id"], one["model_a"], one["model_b"]) for one in judgments(tmp_path)]
    assert len(keys) == len(set(keys)) == TOTAL / 2
    assert (
        sum(server.answered.values()) <= 4
    )  # of eight that were missing, five came from elsewhere, one on its way


def test_a_run_whose_file_is_taken_away_says_so_and_keeps_its_judgments(tmp_path):
    path = tmp_path / "judgments.jsonl"

    def fault(prompt: str, times: int) -> None:
        if path.exists() and path.read_bytes().count(b"\n") >= 3:
            path.unlink()

    with serving(fault) as server:
        done = collected(tmp_path, server.url)
    assert done.returncode == 1 and not path.exists()
    (kept,) = tmp_path.glob("judgments.kept-*.jsonl")
    assert len(kept.read_bytes().splitlines()) >= 3 and kept.name in done.stderr


# Panel files that nobody means: each ends in one sentence with the key or the line. Torture draws more of them.


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return path


ODD_FILES = {  # what to make in the place of a panel
    "another encoding": lambda path: path.write_bytes("judges: []".encode("utf-16")),
    "no UTF-8": lambda path: path.write_bytes("judges: [{judge: J\u00fcrgen}]".encode("latin-1")),
    "compressed": lambda path: path.write_bytes(gzip.compress(b"judges: []")),
    "a folder": lambda path: path.mkdir(),
    "itself": lambda path: path.symlink_to(path.name),
    "without end": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: path.symlink_to("/dev/null"),
    "another document": lambda path: path.write_text("judges: []\n...\nmore: ["),
}


@pytest.mark.parametrize("kind", ODD_FILES)
def test_a_panel_that_is_no_file_of_settings_is_refused_in_a_sentence(tmp_path, answers, kind):
    path = tmp_path / "panel.yaml"
    ODD_FILES[kind](path)
    done = CliRunner().invoke(app, ["collect", str(answers), "--panel", str(path), "--dry-run"])
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("judgerank collect: ")]
    assert done.exit_code in (1, 2) and ("panel.yaml" in sentence or path.resolve(strict=False).name in sentence)


def test_every_listed_odd_panel_is_refused_with_its_key_or_line(tmp_path):
    panels = panel_torture.typed_panels() + [(text, "") for text in panel_torture.ODD_STRUCTURE]
    assert len(panels) >= 200
    wrong = []
    for text, key in panels:
        path = tmp_path / "panel.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        begun = time.process_time()
        with pytest.raises(ConfigError) as refused:
            read_panel(path, [])
        faults = panel_torture.panel_faults("refused", str(refused.value), key)
        if faults or time.process_time() - begun > panel_torture.SECONDS:
            wrong.append((text[:120], key, str(refused.value)[:400], faults))
    assert not wrong, f"{len(wrong)} of {len(panels)}: {wrong}"


def test_no_extreme_panel_is_a_defect(tmp_path, answers):
    wrong = []
    for key, values in panel_torture.EXTREME.items():
        for value in values:
            path = tmp_path / "panel.yaml"
            path.write_text(json.dumps({"judges": [{**panel_torture.JUDGE, key: value}]}))
            done = CliRunner().invoke(app, ["collect", str(answers), "--panel", str(path), "--dry-run"])
            if done.exit_code not in (0, 1) or (done.exit_code and done.stderr.count("\n") != 1):
                wrong.append(
                    (key, str(value)[:40], done.exit_code, repr(done.exception)[:200], done.stderr[-400:])
                )
    assert not wrong


def test_numbers_are_read_as_json_writes_them():
    """YAML 1.1 takes 1e-06 and 1.5e5 for texts, which would be sent to a server as such."""
    values = {"a": 1e-06, "b": -1e22, "c": [1.5e-300], "d": "1e", "e": "e5", "f": 0.5}
    assert keys_of(json.dumps(values), "panel") == values
    assert keys_of("{a: 1E5, b: +2e+3, c: 1.5e5, d: v1e5}", "panel") == {
        "a": 1e5,
        "b": 2e3,
        "c": 1.5e5,
        "d": "v1e5",
    }


def test_a_character_that_yaml_cannot_have_is_named_with_its_line():
    with pytest.raises(ConfigError, match=r"line 2 .*0x1b"):
        keys_of("judges:\n- \x1b[31m", "panel")


def test_dates_are_names_and_numbers_may_be_keys_within_parameters():
    values = keys_of("{judge: 2024-05-01, model: 2024-99-99, params: {logit_bias: {50256: -100}}}", "panel")
    judge = Judge.model_validate(values)
    assert (judge.judge, judge.model) == ("2024-05-01", "2024-99-99")
    assert judge.params == {"logit_bias": {50256: -100}}


def test_bounds_of_yaml_are_where_they_say():
    assert keys_of("[" * bounded_yaml.DEEPEST + "]" * bounded_yaml.DEEPEST, "panel")
    assert (
        len(keys_of("[" + "1, " * (bounded_yaml.MOST_VALUES - 1) + "]", "panel")) == bounded_yaml.MOST_VALUES - 1
    )
    for text in (
        "[" * (bounded_yaml.DEEPEST + 1) + "]" * (bounded_yaml.DEEPEST + 1),
        "[" + "1, " * bounded_yaml.MOST_VALUES + "]",
    ):
        with pytest.raises(ConfigError):
            keys_of(text, "panel")
    shared = keys_of("{a: &x {k: 1}, b: *x, c: {<<: *x, l: 2}}", "panel")
    assert shared == {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "l": 2}}
    nested = keys_of("{b: &b {a: 1}, q: {x: &x {<<: *b, a: 2}}, y: {<<: *x}}", "panel")
    assert nested["y"] == nested["q"]["x"] == {"a": 2}


@pytest.mark.parametrize("command", [["doctor", "-"], ["rank", "-"], ["gate", "-"]])
def test_closed_standard_input_is_a_sentence(command):
    shell = f'exec "{sys.executable}" -m judgerank {" ".join(command)} <&-'
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, env=environment())
    assert done.returncode in (1, 3), done.stderr
    assert done.stderr.count("\n") == 1 and " input" in done.stderr


def test_a_person_who_is_not_there_is_not_asked(answers):
    shell = f'exec "{sys.executable}" -m judgerank collect {answers} --judge "judge: me, provider: person" <&-'
    done = subprocess.run(
        ["sh", "-c", shell], capture_output=True, text=True, env=environment(), cwd=answers.parent
    )
    assert done.returncode == 1 and "stopped" in done.stdout + done.stderr, done.stderr
