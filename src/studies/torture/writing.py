"""What is written: among a user's files, by processes that are killed, and beside keys that servers send back."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import signal
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import RLock
from typing import Any
from unittest import mock
from urllib.parse import quote

import numpy as np
from tqdm import tqdm

from judgerank.cli import app
from judgerank.collecting.ledger import Ledger, opened
from judgerank.collecting.run import collect
from judgerank.collecting.settings import Collection
from judgerank.data.errors import DataError, JudgerankError
from judgerank.writing.atomic import recover, staged
from judgerank.writing.sidecars import written
from replication.replicate import Record, Study
from replication.schemas.section import Parallel
from studies.torture.endpoint import running

# Rankings written to random places among a user's files: not one byte of the user's may go.
PEOPLE = "model_a,model_b,winner\n" + "".join(
    f"m{i % 3},m{(i + 1) % 3},model_{'a' if i % 4 else 'b'}\n" for i in range(24)
)
RUN = "rank judgments.csv --model btl"
TARGETS = {"-o": 0.6, "--save": 0.6, "--export": 0.6}  # how often each is named
EARLIER = ("board", "board.npz", "board.csv")  # what an earlier run of the user's wrote
FOREIGN = ("thesis.docx", "thesis.csv", "precious.txt", "papers/draft.md", "board/notes.txt")


def overwritten(settings: dict, rng: np.random.Generator) -> Record:
    """One command among a user's files, of one of the ``ways``: how it ended, and whether anything is lost."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        home = Path.cwd()
        _lay_out(home)
        OF_WAYS[settings["way"]](home, rng)
        before, paths_before = _contents(home), {*home.rglob("*")}
        words = [*RUN.split(), *_targets(home, rng)]
        ended = _run(words)
        lost = sorted(path for path, content in before.items() if not _is_unharmed(home, path, content))
        left = {*home.rglob("*.partial")} - paths_before
        bad = bool(lost or left or ended not in (0, 1, 2))
        return {
            "status": f"exit {ended}",
            "bad": int(bad),
            "told": " ".join(words) + (f": {lost}" if lost else ""),
        }


def _lay_out(home: Path) -> None:
    """A user's folder: judgments, an earlier ranking of them, and files that have nothing to do with it."""
    (home / "judgments.csv").write_text(PEOPLE)
    assert _run([*RUN.split(), "-o", "board", "--save", "board.npz", "--export", "board.csv"]) == 0
    for number, name in enumerate(FOREIGN):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(f"years of work, {number}")


def _plain(home: Path, rng: np.random.Generator) -> None:
    """Links to the user's files, by either kind of link."""
    files = [path for path in sorted(home.rglob("*")) if path.is_file()]
    for number, path in enumerate(rng.permutation(files)[:4]):
        (home / f"hard{number}.csv").hardlink_to(path)
        (home / f"soft{number}.npz").symlink_to(path)
    (home / "here").symlink_to(home)


def _edited(home: Path, rng: np.random.Generator) -> None:
    """The earlier ranking, in which the user wrote: it is the user's from then on."""
    _plain(home, rng)
    ours = [path for name in EARLIER for path in _files(home / name)]
    for path in (ours[index] for index in rng.permutation(len(ours))[: rng.integers(1, 6)]):
        if path.suffix != ".npz" and path.name not in ("run.json", "notes.txt"):  # nobody edits a fit by hand
            path.write_bytes(path.read_bytes() + b"\nmy notes")


def _hostile(home: Path, rng: np.random.Generator) -> None:
    """Folders that came from somebody else, whose sidecars and journals name the user's files."""
    _plain(home, rng)
    digest = "0" * 64
    for number in range(2):
        folder = home / f"shared{number}"
        folder.mkdir()
        names = [_name_of(home, path, rng) for path in rng.permutation(list(FOREIGN))[:3]]
        record: dict[str, object] = {"section": "rank", "source": {"path": str(home / "judgments.csv")}}
        record["files"] = (dict.fromkeys(names, digest), names, {}, 7)[rng.integers(4)]
        (folder / "run.json").write_text(json.dumps(record))
        if rng.random() < 0.6:
            staging = folder / ".judgerank.partial"
            staging.mkdir()
            (staging / "x").write_text("theirs")
            journal = {"place": [*names, "run.json"] if rng.random() < 0.5 else [], "remove": names}
            (staging / "journal.json").write_text(rng.choice([json.dumps(journal), "{", "[]", '{"place": 1}']))
        if rng.random() < 0.3:
            (folder / "papers").symlink_to(home / "papers")


def _name_of(home: Path, name: str, rng: np.random.Generator) -> str:
    forms = (f"../{name}", str(home / name), f"a/../../{name}", f"papers/{Path(name).name}", name)
    return str(rng.choice(forms))


OF_WAYS: dict[str, Callable[[Path, np.random.Generator], None]] = {
    "links": _plain,
    "edited": _edited,
    "hostile": _hostile,
}


def _targets(home: Path, rng: np.random.Generator) -> list[str]:
    """Options with places to write to: new ones, and any that is there, under any of its names."""
    existing = [path.relative_to(home).as_posix() for path in sorted(home.rglob("*"))]
    new_names = ["new", "new.npz", "new.csv", "no/new.csv", "thesis.tex", *EARLIER]
    words = []
    for option, often in TARGETS.items():
        if rng.random() < often:
            target = str(rng.choice(new_names if rng.random() < 0.3 else existing))
            words += [
                option,
                str(rng.choice([target, f"./papers/../{target}", str(home / target), f"here/{target}"])),
            ]
    return words


def _run(words: list[str]) -> int:
    """The command's exit code; any other ending is 70."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            app(words)
        except SystemExit as ended:
            return int(ended.code or 0)
        except BaseException:
            return 70
    return 0


def _files(path: Path) -> list[Path]:
    return [child for child in sorted(path.rglob("*")) if child.is_file()] if path.is_dir() else [path]


def _contents(home: Path) -> dict[str, bytes]:
    """What the user would miss: all files but those that are as the earlier ranking wrote them."""
    listed = json.loads((home / "board/run.json").read_text())["files"]
    ours = {f"board/{file_name}" for file_name in [*listed, "run.json"]} | {*EARLIER, ".board.csv.judgerank"}
    files_by_name = {path.relative_to(home).as_posix(): path for path in home.rglob("*") if not path.is_symlink()}
    return {
        name: path.read_bytes()
        for name, path in files_by_name.items()
        if path.is_file() and (name not in ours or b"my notes" in path.read_bytes())
    }


def _is_unharmed(home: Path, name: str, content: bytes) -> bool:
    """Whether a file is as it was; of those in the ranking's folder, a copy beside it will do."""
    path = home / name
    copies = [path, *path.parent.glob(f"{path.name}.edited*")]
    return any(copy.is_file() and copy.read_bytes() == content for copy in copies)


# A study, a ledger of judgments and a folder of results killed at random moments: whole in the end.
MOMENT = 0.03  # seconds that a run takes at least, and within which it is killed
LONGEST = 60  # seconds after which a run that hangs counts as lost
SIZE = 12  # cells of the study, judgments of the ledger, files of the folder


def lost(settings: dict, rng: np.random.Generator) -> Record:
    """One victim of the ``kind``, killed up to ``kills`` times and then left alone: whether anything was lost."""
    run, is_complete = {
        "study": (_study, _study_complete),
        "ledger": (_ledger, _ledger_complete),
        "results": (_results, _results_complete),
    }[settings["kind"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "victim")
        killed = sum(_killed(run, folder, rng.uniform(0, MOMENT)) for _ in range(settings["kills"]))
        ended = not _killed(run, folder, None)
        return {
            "status": "killed" if killed else "too fast",
            "kills": killed,
            "bad": int(not (ended and is_complete(folder))),
        }


def _killed(run: Callable[[Path], None], folder: Path, after: float | None) -> bool:
    """Whether a process of its own was killed, so many seconds after it began, or ended badly by itself."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(LONGEST)
            tqdm.set_lock(RLock())  # its usual one is shared with children, and stays locked when one is killed
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stderr__.fileno() if sys.__stderr__ else 2)
            run(folder)
            code = 0
        finally:
            os._exit(code)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] != 0


def slow(settings: dict, rng: np.random.Generator) -> Record:
    """A replication that takes a little while."""
    time.sleep(MOMENT / SIZE)
    return {"value": float(rng.normal())}


def _toy(folder: Path) -> Study:
    cells = {f"c{x}": {"cell": x} for x in range(SIZE)}
    return Study("killed", slow, cells, dict.fromkeys(cells, 1), 0, folder, 1)


def _study(folder: Path) -> None:
    _toy(folder).run(Parallel("sequential", 1))


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _study_complete(folder: Path) -> bool:
    _study(folder.with_name("unharmed"))
    blocks = (
        {name: text for name, text in _tree(study_folder).items() if name.endswith(".jsonl")}
        for study_folder in (folder, folder.with_name("unharmed"))
    )
    return next(blocks) == next(blocks)


def _judgment(number: int) -> dict[str, Any]:
    return {"question_id": f"q{number}", "model_a": "a", "model_b": "b", "judge_model": "j", "repeat": 0}


def _judgments() -> list[dict]:
    return [_judgment(number) for number in range(SIZE)]


def _ledger(folder: Path) -> None:
    with opened(folder / "judgments.jsonl") as ledger:
        for record in _judgments():
            if record not in ledger.records:
                time.sleep(MOMENT / SIZE)
                ledger.append(record)


def _ledger_complete(folder: Path) -> bool:
    with opened(folder / "judgments.jsonl") as ledger:
        return ledger.records == _judgments() and not ledger.torn


def touched(settings: dict, rng: np.random.Generator) -> Record:
    """A ledger whose file something else touches in a ``way``: whether a judgment is lost, or what that wrote."""
    with tempfile.TemporaryDirectory() as name:
        path, foreign, refused = Path(name, "judgments.jsonl"), b"", 0
        path.write_bytes(_lines(*range(100, 100 + rng.integers(3))))
        ledger = Ledger(path)
        for number in range(SIZE):
            if rng.random() < 1 / 4:
                TOUCHES[settings["way"]](path, rng, 200 + number)
                foreign = _content(path)
            try:
                ledger.append(_judgment(number))
            except DataError:
                refused += 1
        ledger.close()
        there = b"".join(_content(file) for file in (path, *path.parent.glob("*.kept-*")))
        lost = any(_lines(number) not in there for number in range(SIZE))
        bad = int(lost or not _content(path).startswith(foreign))
        return {"status": "refused" if refused else "written", "bad": bad}


def _lines(*numbers: int) -> bytes:
    return b"".join(json.dumps(_judgment(number)).encode() + b"\n" for number in numbers)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _append(path: Path, content: bytes) -> None:
    if path.is_file():
        with path.open("ab") as file:
            file.write(content)


def _appended(path: Path, rng: np.random.Generator, number: int) -> None:
    """Judgments, the last of which may lack its end."""
    _append(path, _lines(number, number + SIZE)[: -int(rng.integers(2)) or None])


def _torn(path: Path, rng: np.random.Generator, number: int) -> None:
    """A part of a line, or what is no line of judgments."""
    odd = (b"\0" * 9, b"\n", b"no judgment\n", _lines(number)[: rng.integers(1, 40)])
    _append(path, odd[rng.integers(len(odd))])


def _put_there(path: Path, rng: np.random.Generator, number: int) -> None:
    """Something else in the place of the file: another, longer or shorter; nothing; a folder; a pipe; a link."""
    content = _content(path)
    if path.is_file():
        path.unlink()
        in_its_place: list[Callable[[], object]] = [
            lambda: path.write_bytes(content[: rng.integers(len(content) + 1)]),
            lambda: path.write_bytes(content + _lines(number)),
            *(lambda: None, path.mkdir),
            lambda: os.mkfifo(path),
            lambda: path.symlink_to("nowhere"),
        ]
        in_its_place[rng.integers(len(in_its_place))]()


TOUCHES = {"appended": _appended, "put there": _put_there, "torn": _torn}


def _results(folder: Path) -> None:
    """The next edition: every file says which one it is of."""
    recover(folder)
    edition = str(int((folder / "0").read_text()) + 1 if (folder / "0").exists() else 1)
    with staged(folder) as inside:
        for x in range(SIZE):
            time.sleep(MOMENT / SIZE / 2)
            (inside / str(x)).write_text(edition)
        (inside / "run.json").write_text('{"section": "killed"}')


def _results_complete(folder: Path) -> bool:
    editions = {(folder / str(x)).read_text() for x in range(SIZE)}
    return len(editions) == 1 and set(written(folder)) | {"run.json"} == set(_tree(folder))


# Collections from a server that sends keys back in random places: where the keys can be read in the end.
#
# Variables of the environment name other servers. Everything is on loopback.
PART = 12  # characters in a row that count as a key
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
ADDRESSES = ("OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "GEMINI_API_BASE")
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/="
FAULTS = (400, 401, 404, 429, 500, 307)


def strayed(settings: dict, rng: np.random.Generator) -> Record:
    """One collection of the ``way``, own, provider or https: in how many places a key stands where none must."""
    keys = {f"KEY_{x}": "sk-" + "".join(rng.choice(list(LETTERS), int(rng.integers(16, 60)))) for x in range(2)}
    with tempfile.TemporaryDirectory() as name, listening() as elsewhere, echoing(keys, rng) as server:
        folder = Path(name)
        named, judges = _judges(settings["way"], server, elsewhere, rng)
        allowed = bool(rng.integers(2))
        with _environment(keys | _astray(elsewhere, rng) | named), _heard() as printed:
            status = _collected(folder, judges, allowed)
        texts = [path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file()]
        texts += [printed.getvalue(), *server.bodies, b"".join(elsewhere.came).decode("latin-1")]
    called = elsewhere.connections if settings["way"] != "https" else 0
    unasked = server.connections if named and not allowed else 0
    n_exposed = sum(shows(text, key) for text in texts for key in keys.values())
    return {
        "status": status,
        "found": n_exposed,
        "called": called + unasked,
        "bad": int(n_exposed + called + unasked > 0),
    }


def shows(text: str, key: str) -> bool:
    """Whether a text has a key, a part of it, or either as addresses and Base64 write it."""
    forms = (key, quote(key, safe=""), b64encode(key.encode()).decode()[: len(key) * 4 // 3])
    lower = text.lower()
    return any(
        form[begin : begin + PART].lower() in lower for form in forms for begin in range(len(form) - PART + 1)
    )


def _judges(
    address_kind: str, server: Echo, elsewhere: Ear, rng: np.random.Generator
) -> tuple[dict[str, str], list[dict]]:
    """Two judges with a key each, and variables that name where they are asked."""
    if address_kind == "provider":
        addresses = [
            {"judge": "j0", "model": "openai/gpt-4.1", "api_key_env": "KEY_0"},
            {"judge": "j1", "model": "anthropic/claude-sonnet-4-5", "api_key_env": "KEY_1"},
        ]
        first, second = ADDRESSES[rng.integers(2)], ADDRESSES[2 + rng.integers(2)]
        return {first: f"{server.address}/v1", second: server.address}, addresses
    base_url = f"https://{elsewhere.address}/v1" if address_kind == "https" else f"{server.address}/v1"
    providers = ("openai", "anthropic", "cohere_chat")
    return {}, [
        {"judge": f"j{x}", "base_url": base_url, "api_key_env": f"KEY_{x}", "provider": str(rng.choice(providers))}
        for x in range(2)
    ]


def _astray(elsewhere: Ear, rng: np.random.Generator) -> dict[str, str]:
    """Random variables of proxies and of providers' addresses, and none that names loopback as an exception."""
    chosen = [name for name in PROXIES if rng.integers(2)]
    variables = dict.fromkeys(chosen, f"http://{elsewhere.address}") | {"NO_PROXY": "", "no_proxy": ""}
    return variables | {"GEMINI_API_BASE": f"http://{elsewhere.address}"}


def _collected(folder: Path, judges: list[dict], allowed: bool) -> str:
    questions = folder / "answers.jsonl"
    rows = [{"question_id": "q", "question": "?", "model": f"m{x}", "answer": f"{x}"} for x in range(3)]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings: dict[str, Any] = {
        "questions": str(questions),
        "panel": {"judges": judges},
        "output": folder / "judgments.jsonl",
        "order": "both",
        "attempts": 2,
        "first_wait": 0.01,
        "patience": 0.5,
        "timeout": 5.0,
        "pilot": 2,
        "allow_env_url": allowed,
    }
    try:
        collect(Collection.model_validate(settings))
    except JudgerankError as error:
        print(error)
        return type(error).__name__
    return "collected"


@contextmanager
def _environment(named: dict[str, str]) -> Iterator[None]:
    with mock.patch.dict(os.environ):
        for name in (*PROXIES, *ADDRESSES):
            os.environ.pop(name, None)
        os.environ.update(named)
        yield


@contextmanager
def _heard() -> Iterator[io.StringIO]:
    """All that is printed and logged meanwhile."""
    printed, log = io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(printed)
    ours = logging.getLogger("judgerank")
    before = log.level, ours.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    ours.setLevel(logging.INFO)
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            yield printed
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        ours.setLevel(before[1])


class Ear(ThreadingTCPServer):
    """Keeps what comes to it, and answers that it cannot connect."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Ear)
        self.connections, self.came = 0, list[bytes]()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class _Ear(BaseRequestHandler):
    server: Ear

    def handle(self) -> None:
        self.server.connections += 1
        self.request.settimeout(1.0)
        try:
            self.server.came.append(self.request.recv(1 << 16))
            self.request.sendall(b"HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            pass


class Echo(ThreadingHTTPServer):
    """Answers in two providers' forms, with keys in random places."""

    daemon_threads = True

    def __init__(self, keys: dict[str, str], rng: np.random.Generator) -> None:
        super().__init__(("127.0.0.1", 0), _Echo)
        self.keys, self.rng, self.lock = list(keys.values()), rng, threading.Lock()
        self.connections, self.bodies = 0, list[str]()
        self.failing = float(rng.choice([0.0, 0.1, 0.5]))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def secret(self) -> str:
        """A key, or a part of one, in one of the ways to write it."""
        key = str(self.rng.choice(self.keys))
        start = int(self.rng.integers(len(key) - PART))
        stop = int(self.rng.integers(start + PART, len(key) + 1))
        forms = (key, f"Bearer {key}", key[start:stop], quote(key, safe=""), key.swapcase())
        coded = tuple(b64encode((before + key).encode()).decode() for before in ("", ":", "u:"))
        return str(self.rng.choice(forms + coded))


class _Echo(BaseHTTPRequestHandler):
    server: Echo

    def do_POST(self) -> None:
        server = self.server
        content = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        with server.lock:
            server.connections += 1
            server.bodies.append(self.path + content)
            status = int(server.rng.choice(FAULTS)) if server.rng.random() < server.failing else 200
            body = (_fault if status != 200 else _answer)(self.path, server.secret, server.rng)
            headers = {"x-request-id": server.secret(), "retry-after": server.secret()}
            headers |= {"location": f"http://{quote(server.secret(), safe='')}/"} if status == 307 else {}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _fault(path: str, secret: Callable[[], str], rng: np.random.Generator) -> bytes:
    texts = (
        json.dumps({"error": {"message": f"wrong key {secret()}"}}),
        f"<html>{secret()}</html>",
        f"[{secret()}",
    )
    return str(rng.choice(texts)).encode()


def _answer(path: str, secret: Callable[[], str], rng: np.random.Generator) -> bytes:
    """A reply with keys in its text, model, reason and other fields, whole or in two pieces, plain or escaped."""
    key_text = secret()
    cut = int(rng.integers(len(key_text)))
    text = ["a, 0.90", f"{key_text} a, 0.90", f"[[A]] {key_text[:cut]}"][rng.integers(3)]
    model, reason = [("m", "stop"), (key_text, "stop"), (key_text[cut:], key_text)][rng.integers(3)]
    if "/messages" in path:
        pieces = [{"type": "text", "text": part} for part in (key_text[:cut], key_text[cut:], text)]
        body: dict[str, Any] = {"id": key_text, "type": "message", "role": "assistant", "content": pieces}
        body |= {"stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 9}}
    elif "chat/completions" in path:
        message = {"role": "assistant", "content": text, "refusal": key_text}
        body = {"id": key_text, "object": "chat.completion", "created": 1}
        body |= {"choices": [{"index": 0, "finish_reason": reason, "message": message}]}
    else:
        body = {"id": key_text, "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}
        body |= {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 9, "output_tokens": 9}}}
    reply_body = json.dumps(body | {"model": model})
    if rng.integers(3) == 0:
        reply_body = reply_body.replace("s", "\\u0073").replace("/", "\\/")
    return reply_body.encode("utf-16" if rng.integers(5) == 0 else "utf-8")


@contextmanager
def listening() -> Iterator[Ear]:
    """A server where nothing is to come."""
    with running(Ear()) as server:
        yield server


@contextmanager
def echoing(keys: dict[str, str], rng: np.random.Generator) -> Iterator[Echo]:
    """A server that is asked."""
    with running(Echo(keys, rng)) as server:
        yield server
