"""Odd panel files, and collections from a server that fails: read or refused, and nothing lost or doubled."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from judgerank.collecting.bounded_yaml import LARGEST, MOST_VALUES
from judgerank.collecting.ledger import UNKNOWN, choice_of, is_request_record, task_of
from judgerank.collecting.settings import read_panel
from judgerank.data.errors import JudgerankError
from replication.replicate import Record
from studies.torture.commands import NAME, ended
from studies.torture.endpoint import Server, better, serving

# Panels: what is given at a key, and in the file's place, is drawn.
JUDGE = {"judge": "j", "model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": None}
LONGEST_SENTENCE, SECONDS, BYTES = 600, 20, 1e9  # that a panel may take
BY_COMMAND = 0.1  # share of the panels that are read by the command, too
Panel = tuple[bytes, str | None]  # a file's content, and what its refusal names; None if it may be read
# what each key takes, of the kinds of value below
TEXT, NUMBER, WHOLE, TRUTH, MAPPING = {"text"}, {"whole", "decimal"}, {"whole"}, {"truth"}, {"mapping"}
TAKES = {
    **dict.fromkeys(("judge", "provider", "model", "base_url", "api_key_env", "reasoning_effort"), TEXT),
    **dict.fromkeys(("reasoning_budget", "image_tokens", "concurrent", "batch_size"), WHOLE),
    **dict.fromkeys(("structured", "logprobs", "batch"), TRUTH),
    **dict.fromkeys(("requests_per_minute", "prompt_price", "completion_price", "cached_price"), NUMBER),
    **dict.fromkeys(("cache_write_price", "batch_discount"), NUMBER),
    "params": MAPPING,
    "images": set(),
}
PANEL_TAKES = {"base_url": TEXT, "api_key_env": TEXT, "currency": TEXT, "judges": set()}
VALUES = {
    "list": ("[]", "[a, b]", "[[[]]]", "[{judge: j}]"),
    "mapping": ("{a: {b: [c]}}",),
    "text": ("some words",),
    "whole": ("3",),
    "decimal": ("0.5",),
    "truth": ("true",),
    "none of these": (".nan", "-.inf", "-7", "0x" + "f" * 5000, "9" * 5000, '""', "!!binary aGk=", "!!set {a}"),
}


def written(values: dict, key: str, value: str) -> str:
    """A mapping in YAML's flow style, one of whose values is given as YAML."""
    parts = {name: json.dumps(value_given) for name, value_given in values.items()} | {key: value}
    return "{" + ", ".join(f"{name}: {text}" for name, text in parts.items()) + "}"


def wrong_types() -> list[tuple[str, str]]:
    """Panels with a value of a wrong kind at one key, and the key."""
    wrong = [
        (takes_of is TAKES, key, value)
        for takes_of in (TAKES, PANEL_TAKES)
        for key, takes in takes_of.items()
        for kind, values in VALUES.items()
        if kind not in takes
        for value in values
    ]
    return [
        (
            f"judges: [{written(JUDGE, key, value)}]" if is_of_judge else written({"judges": [JUDGE]}, key, value),
            key,
        )
        for is_of_judge, key, value in wrong
    ]


def growing(line: str, first: str, times: int = 9) -> str:
    """Anchors each of which stands for ten of the one before."""
    names = [",".join([f"*x{number}"] * 10) for number in range(times)]
    lines = [f"x0: &x0 {first}", *(f"x{n + 1}: &x{n + 1} " + line.format(some) for n, some in enumerate(names))]
    return "\n".join([*lines, f"judges: [*x{times}]"])


ODD_STRUCTURE = [
    growing("[{}]", "[x]"),
    growing("{{<<: [{}]}}", "{k: v}"),
    growing("{{a: [{}], b: [{}]}}".replace("b: [{}]", "b: 1"), "{k: v}"),
    "judges: &j [*j]",
    "judges: [&j {params: *j}]",
    "judges: [&j {<<: *j}]",
    "judges: [*nobody]",
    "judges: [{<<: 3}]",
    "judges: [{<<: [1, 2]}]",
    "judges: [{judge: a, judge: b}]",
    "judges: []\njudges: []",
    "judges: [{judge: j, params: {a: 1, a: 2}}]",
    "? [judges]\n: []",
    "? {judges: 1}\n: []",
    "judges: [{? [a, b] : c}]",
    "judges: " + "[" * 5000 + "]" * 5000,
    "judges: " + "{a: " * 5000 + "}" * 5000,
    "judges: " + "[" * 20000,
    "- " * 5000,
    "? " * 5000,
    "judges:\n" + "-\n" * 100_000,
    "judges: [" + "{}, " * (MOST_VALUES + 1) + "]",
    "# " + "x" * LARGEST,
    "",
    "# nothing",
    "null",
    "3",
    "judges",
    "[judges]",
    "---\njudges: []\n---\njudges: []",
    "\tjudges: []",
    "judges: [",
    "judges: '",
    "judges: \x00",
    "judges: \ud800",
    "judges: !!python/object/apply:os.system [exit]",
    "judges: !!python/name:os.system",
    "judges: !!omap [a: b]",
    "judges: !!timestamp 2024-01-01",
    "judges: !!int x",
    "judges: !!float x",
    "judges: !!bool x",
    "judges: !!map []",
    "judges: !own {}",
    "%YAML 9.9\n---\njudges: []",
    "%TAG ! x\n---\njudges: !y b",
    "judges: []",
    "judges: [null]",
    "judges: [j]",
    "judges: [[]]",
    "judges: {}",
    "{}",
    "nobody: [{judge: j}]",
    "1: 2",
    "null: 2",
    "true: 2",
    ".nan: 2",
    "judges: [{1: 2}]",
    "judges: [{null: 2}]",
    "judges: [{0x" + "f" * 5000 + ": 2}]",
    "judges: [{judge: j, model: m}]",
    "judges: [{judge: j, model: p/m}]",
    "judges: [{judge: j, model: f, provider: python}]",
    "judges: [{judge: j, provider: person, batch: true}]",
]
ODD_PARAMS = [
    "{a: .nan}",
    "{a: [[.inf]]}",
    "{a: {b: -.inf}}",
    "{a: 0x" + "f" * 5000 + "}",
    '{a: "\\ud800"}',
    "{1: 2}",
    "{a: {api_key: x}}",
    "{a: [[{1: {api_key: x}}]]}",
    "{a: [[sk-0123456789abcdefghij]]}",
    "{sk-0123456789abcdefghij: 1}",
]
ODD_ADDRESSES = [
    "nowhere",
    "http://",
    "http://[",
    "http://[::1",
    "http://h:99999",
    "http://h:x",
    "http://h:0",
    "http://h:-1",
    "ftp://h",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://user:word@h",
    "http://h?key=1",
    "http://h#f",
    "//h",
    "http:h",
    "http:///v1",
]
# values of the right kind that few mean: they may be taken or refused
EXTREME = {
    "base_url": (
        "http://h h/v1",
        "http://\u00e9/v1",
        "http://h\n/v1",
        "http://" + "a" * 300,
        "http://..",
        "http://*",
    ),
    "judge": ("\0", "\x1b[31m", "x" * 100_000, " ", "../..", "\u202e", "=1+1"),
    "model": ("\0", "x" * 100_000, "/", "a/b/c", "openai/", " "),
    "provider": ("\0", "nobody", "openai/x", " ", "python", "person"),
    "concurrent": (10**30,),
    "batch_size": (10**30,),
    "reasoning_budget": (10**300,),
    "image_tokens": (10**300,),
    "requests_per_minute": (1e-300, 1e300),
    "prompt_price": (1e308, 5e-324, 10**300),
    "completion_price": (1e308,),
    "params": (
        {"logit_bias": {"50256": -100}},
        {"messages": []},
        {"model": None},
        {"max_tokens": -1},
        {"a" * 9999: 1},
    ),
    "api_key_env": ("NOT_THERE", "A=B", "\0", " ", "x" * 100_000),
}


# Panels at random: what a file holds, and what its refusal names; "" for the line, None if it may be read.
SCALARS = (
    *("null", "~", "yes", "true", "off", "0o17", "1_000", "1:30", "2024-01-01", "=", "<<", ".inf", "-0", "1e999"),
    *(
        "!!binary aGk=",
        "!!str 3",
        "!!int '3'",
        "! x",
        "!<x> y",
        '"\\0"',
        '"\\u202e"',
        '"\\x1b[31m"',
        "'\u00e9'",
        "j",
    ),
    *("0x" + "f" * 300, "openai/gpt-4.1", "person", "python", "f.py:g", "http://127.0.0.1:1/v1", "''", "3", "0.5"),
)
ODD_KEYS = (
    "1",
    "null",
    "true",
    "2024-01-01",
    '"\\0"',
    "'judge '",
    "Judge",
    "jugde",
    "'\u202e'",
    "__class__",
    "? x",
    "''",
)
ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "utf-7", "cp037", "utf-8")
DAMAGE = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\t",
    b"\r",
    b"\n",
    b": ",
    b"- ",
    b"{",
    b"]",
    b"'",
    b'"',
    b"&a ",
    b"*a ",
    b"%",
    b"\x85",
)
DEEPEST_DRAWN, MOST_DRAWN = 6, 4  # lists and keys within each other, and in each


def typed_panels() -> list[tuple[str, str]]:
    """Values of a wrong kind at a key, or that params or an address cannot have, and the key."""
    at_params = [(f"judges: [{written(JUDGE, 'params', value)}]", "params") for value in ODD_PARAMS]
    at_address = [
        (f"judges: [{written(JUDGE, 'base_url', json.dumps(address))}]", "base_url") for address in ODD_ADDRESSES
    ]
    return wrong_types() + at_params + at_address


def _typed(rng: np.random.Generator) -> Panel:
    panels = typed_panels()
    text, key = panels[rng.integers(len(panels))]
    return text.encode(), key


def _structured(rng: np.random.Generator) -> Panel:
    """Cycles, aliases without end, deep nesting, very many values, keys twice, tags, and other documents."""
    depth, width = int(10 ** rng.uniform(1.6, 5)), int(rng.integers(5, 40))
    texts = [
        "judges: " + "[" * depth + "]" * depth,
        "judges: " + "{a: " * depth + "}" * depth,
        "judges: " + "- " * depth,
        growing("[{}]", "[x]", width),
        growing("{{<<: [{}]}}", "{k: v}", width),
        "judges: [" + "{}, " * (MOST_VALUES + depth) + "]",
        "# " + "x" * (LARGEST + depth),
    ]
    text = (
        texts[rng.integers(len(texts))] if rng.random() < 0.2 else ODD_STRUCTURE[rng.integers(len(ODD_STRUCTURE))]
    )
    return text.encode("utf-8", "surrogatepass"), ""


def _extreme(rng: np.random.Generator) -> Panel:
    """A value of the right kind that few mean."""
    key = str(rng.choice(list(EXTREME)))
    value = EXTREME[key][rng.integers(len(EXTREME[key]))]
    return json.dumps({"judges": [{**JUDGE, key: value}]}).encode(), None


def _encoded(rng: np.random.Generator) -> Panel:
    """A panel in an odd encoding, compressed, cut off, or damaged."""
    judges = [{**JUDGE, "judge": name} for name in ("J\u00fcrgen", "\u5224\u5b98", "\U0001f600")]
    text = yaml.safe_dump({"judges": judges}, allow_unicode=bool(rng.integers(2)))
    content = text.encode(str(rng.choice(ENCODINGS)), "replace")
    kind = rng.integers(5)
    if kind == 0:
        content = gzip.compress(content)
    elif kind == 1:
        content = content[: rng.integers(len(content))]
    for _ in range(int(rng.integers(1, 6)) if kind in (2, 3) else 0):
        at = int(rng.integers(len(content)))
        content = content[:at] + DAMAGE[rng.integers(len(DAMAGE))] + content[at + int(rng.integers(3)) :]
    return content, None


def _drawn(rng: np.random.Generator) -> Panel:
    """Lists, keys, anchors, aliases, merges and tags at random, below the keys of a panel or others."""
    anchors: list[str] = []
    if rng.random() < 0.5:
        return f"judges: [{', '.join(_likely(rng, n) for n in range(int(rng.integers(1, 5))))}]".encode(), None
    judges = ", ".join(_mapping(rng, 1, anchors, {"judge": "j"}) for _ in range(int(rng.integers(4))))
    lines = [f"judges: [{judges}]" if rng.random() < 0.9 else f"judges: {_node(rng, 1, anchors)}"]
    for key in rng.permutation([*PANEL_TAKES, *ODD_KEYS])[: rng.integers(3)]:
        lines.insert(int(rng.integers(2)), f"{key}: {_node(rng, 1, anchors)}")
    return "\n".join(lines).encode(), None


def _likely(rng: np.random.Generator, number: int) -> str:
    """A judge with values of the right kinds, an anchor, and keys of the one before."""
    keys = [key for key, takes in TAKES.items() if takes - {"text"}]
    chosen = {keys[rng.integers(len(keys))] for _ in range(int(rng.integers(4)))}
    values = {key: VALUES[sorted(TAKES[key])[0]] for key in sorted(chosen)}
    parts = {"judge": f"j{number if rng.random() < 0.9 else 0}", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    parts |= {"api_key_env": "null"} | {
        key: options[rng.integers(len(options))] for key, options in values.items()
    }
    if number:
        parts["<<"] = f"*j{number - 1} "
    return f"&j{number} {{" + ", ".join(f"{key}: {value}" for key, value in parts.items()) + "}"


def _node(rng: np.random.Generator, depth: int, anchors: list[str]) -> str:
    """A value of YAML in flow style."""
    kind = rng.random()
    if anchors and kind < 0.15:
        return f"*{anchors[rng.integers(len(anchors))]} "
    if depth > DEEPEST_DRAWN or kind < 0.6:
        return str(SCALARS[rng.integers(len(SCALARS))])
    if kind < 0.8:
        return _mapping(rng, depth, anchors, {})
    return "[" + ", ".join(_node(rng, depth + 1, anchors) for _ in range(int(rng.integers(MOST_DRAWN)))) + "]"


def _mapping(rng: np.random.Generator, depth: int, anchors: list[str], given: dict[str, str]) -> str:
    """A mapping, which others may refer to, while it is written, too."""
    mark = ""
    if rng.random() < 0.3:
        anchors.append(f"a{len(anchors)}")
        mark = f"&{anchors[-1]} "
    names = [*TAKES, *ODD_KEYS]
    keys = [str(names[rng.integers(len(names))]) for _ in range(int(rng.integers(MOST_DRAWN)))]
    parts = given | {key: _node(rng, depth + 1, anchors) for key in keys}
    if anchors and rng.random() < 0.2:
        parts["<<"] = f"*{anchors[rng.integers(len(anchors))]} "
    return f"{mark}{{" + ", ".join(f"{key}: {value}" for key, value in parts.items()) + "}"


PANELS: dict[str, Callable[[np.random.Generator], Panel]] = {
    "types": _typed,
    "structure": _structured,
    "extremes": _extreme,
    "bytes": _encoded,
    "drawn": _drawn,
}


def misread_panel(settings: dict, rng: np.random.Generator) -> Record:
    """One panel of the ``way``: read, or refused in one sentence that names what is wrong, within bounds."""
    content, named = PANELS[settings["way"]](rng)
    begun, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path(str(rng.choice(["panel.yaml", "panel.json", "panel"])))
        path.write_bytes(content)
        status, sentence = "read", ""
        try:
            read_panel(path, [])
        except JudgerankError as error:
            status, sentence = "refused", str(error)
        except BaseException as error:
            status, sentence = f"defect: {type(error).__name__}", str(error)
        faults = panel_faults(status, sentence, named)
        if rng.random() < BY_COMMAND:
            faults += _faults_of_commands(path, sentence)
    seconds = time.process_time() - begun
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    faults += [f"{seconds:.0f} s"] if seconds > SECONDS else []
    faults += [f"{grown / 1e9:.1f} GB"] if grown > BYTES else []
    details = json.dumps({"panel": repr(content[:300]), "sentence": sentence[:300], "faults": faults})
    return {"status": status, "bad": int(bool(faults)), "told": details}


def panel_faults(status: str, sentence: str, named: str | None) -> list[str]:
    """What must not happen: a defect, no single sentence, or one that names neither the key nor the line."""
    if status == "read":
        return ["read, though nobody can mean it"] if named is not None else []
    faults = [] if status == "refused" else [status]
    if not 0 < len(sentence) <= LONGEST_SENTENCE or not sentence.isprintable():
        faults.append("no single sentence")
    if named and named.removesuffix("s") not in sentence and "line " not in sentence:
        faults.append(f"{named} is not named")
    return faults


def _faults_of_commands(path: Path, refusal: str) -> list[str]:
    """How commands end with the panel: `collect`, which asks nothing, and `gate` where it refuses the panel."""
    answers()
    Path("others.jsonl").write_bytes(Path("answers.jsonl").read_bytes())
    commands = [(["collect", "answers.jsonl", "--dry-run"], (0, 1) if not refusal else (1,))]
    if refusal:
        commands.append((["gate", "answers.jsonl", "others.jsonl"], (3,)))
    faults = []
    for words, codes in commands:
        code, _, stderr = ended([*words, "--panel", str(path)])
        sentences = sentences_of(words[0], stderr)
        is_one = len(sentences) == (code != 0) and all(line.endswith(refusal) for line in sentences)
        if code not in codes or "Traceback" in stderr or not is_one:
            faults.append(f"{words[0]} ends with exit code {code}: {stderr[-300:]}")
    return faults


def sentences_of(command: str, stderr: str) -> list[str]:
    """Sentences that end a command."""
    return [line for line in stderr.splitlines() if line.startswith(f"{NAME} {command}: ")]


# Collections from a server that fails in one way, then from the same server when it is well.
MODELS, N_QUESTIONS, N_JUDGES = ("m1", "m2", "m3"), 3, 2
TOTAL = N_QUESTIONS * len(MODELS) * (len(MODELS) - 1) // 2 * N_JUDGES
ATTEMPTS = 3
WAITS = (
    *("0", "-5", "nan", "inf", "1e18", "soon", "", "1, 2", "0x10", "1_0", "\u0661".encode().decode("latin-1")),
    *(
        "Wed, 21 Oct 2099 07:28:00 GMT",
        "Wed, 21 Oct 1999 07:28:00 GMT",
        "Wed, 21 Oct 0000 07:28:00 GMT",
        "9" * 400,
    ),
)
USAGES = (
    "[1, 2]",
    "{}",
    "null",
    "3",
    *(
        f'{{"prompt_tokens": {value}, "completion_tokens": {value}, "total_tokens": {value}}}'
        for value in ("-100", '"100"', "1.5", "1e300", "0", "null", "[]", "true", "9" * 400, "1000000000000000000")
    ),
)
SERVER_FAULTS: dict[str, tuple[str, ...]] = {
    "cut": ("cut", "broken"),
    "ids": ("another's",),
    "length": ("half", "thinks"),
    "twice": ("twice",),
    "waits": tuple(f"429 {wait}" for wait in WAITS),
    "errors": ("500", "502", "503: \x1b[31m\nbusy", "529", "400", "404", "408", "401"),
    "closed": ("gone",),
    "bodies": ("50 MB", "bomb", "gzip", "deep", "html", "no choices", "endless"),
    "usage": tuple(f"usage {usage}" for usage in USAGES),
}
SERVER_FAULTS["mixed"] = tuple(fault for faults in SERVER_FAULTS.values() for fault in faults)
SECONDS_OF_RUN = 60
LEFT = re.compile(r"(\d+) requests? ha(?:s|ve) no answer yet")


def answers() -> None:
    """Questions with an answer of each model, whose number says how good it is."""
    rows = [
        {
            "question_id": f"q{q}",
            "question": f"Question {q}?",
            "model": name,
            "answer": f"an answer of quality {name[1]}",
        }
        for q in range(N_QUESTIONS)
        for name in MODELS
    ]
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def miscollected(settings: dict, rng: np.random.Generator) -> Record:
    """One collection under faults of the ``way``, and one without them: what is lost, doubled, or no vote."""
    kinds, often = SERVER_FAULTS[settings["way"]], float(rng.choice([0.1, 0.5, 1.0]))

    def fault(prompt: str, times: int) -> str | None:
        return str(kinds[rng.integers(len(kinds))]) if rng.random() < often else None

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        serving(fault, reply=_reasoned) as server,
    ):
        answers()
        judges = [{"judge": f"j{number}"} for number in range(N_JUDGES)]
        panel = {"base_url": server.url, "api_key_env": None, "judges": judges}
        Path("panel.yaml").write_text(yaml.safe_dump(panel))
        path, begun = Path("judgments.jsonl"), time.monotonic()
        code, n_open, faults = _collect()
        first = path.read_bytes() if path.exists() else b""
        faults += ledger_faults(first, server)
        n_sent = sum(server.sent.values())
        server.faults = lambda prompt, times: None
        code_well, n_open_well, faults_well = _collect()
        content = path.read_bytes()
        faults += faults_well + ledger_faults(content, server)
        n_first, n_whole = first.count(b"\n"), content.count(b"\n")
        n_again = sum(server.sent.values()) - n_sent
        checks = {
            "a judgment of the first run is lost": content.startswith(first),
            f"{n_whole} of {TOTAL} judgments": n_whole == TOTAL and (code_well, n_open_well) == (0, 0),
            f"{n_again} requests for {TOTAL - n_first} judgments": n_again == TOTAL - n_first,
            f"{n_open} requests are left, it says, after {n_first} of {TOTAL}": n_open == TOTAL - n_first,
            "longer than a minute": time.monotonic() - begun <= SECONDS_OF_RUN,
        }
        faults += [name for name, is_met in checks.items() if not is_met]
        details = json.dumps({"faults": faults, "happened": server.happened, "often": often})
    return {"status": f"exit {code}", "bad": int(bool(faults)), "told": details}


def _reasoned(prompt: str) -> str:
    """A reply whose verdict stands at its end."""
    return f"The answers differ in quality.\n\n{better(prompt)}"


def _collect() -> tuple[int, int, list[str]]:
    """Exit code of `collect`, how many requests it says are left, and what is wrong with how it ends."""
    words = ["collect", "answers.jsonl", "--panel", "panel.yaml", "--judgments", "judgments.jsonl"]
    words += ["--retest", "0", "--per-minute", "0", "--first-wait", "0.01", "--patience", "1s"]
    words += ["--attempts", str(ATTEMPTS)]
    code, stdout, stderr = ended(words)
    is_well = code in (0, 1) and "Traceback" not in stderr and len(sentences_of("collect", stderr)) == code
    left = LEFT.search(stdout + stderr)
    n_open = int(left[1]) if left else 0
    return code, n_open, [] if is_well else [f"exit code {code}: {stderr[-500:]}"]


def ledger_faults(content: bytes, server: Server) -> list[str]:
    """What must not be in a file of judgments: parts of lines, requests twice, answers lost, false votes."""
    records: list[dict[str, Any]] = [json.loads(line) for line in content.splitlines()]
    tasks = Counter(task_of(record) for record in records if is_request_record(record))
    answered = [prompt for prompt, times in server.answered.items() if times]
    false_votes = [record for record in records if choice_of(record) != _true_choice(record)]
    counts = [record[key] for record in records for key in ("prompt_tokens", "completion_tokens")]
    checks = {
        "a part of a line": content.endswith(b"\n") or not content,
        "a line that is no judgment": len(records) == tasks.total(),
        "a request twice": max(tasks.values(), default=1) == 1,
        f"{len(records)} judgments of {len(answered)} answers": len(records) == len(answered),
        "an answer paid for twice": max(server.answered.values(), default=1) == 1,
        f"a false vote: {false_votes[:1]}": not false_votes,
        "tokens that are none": all(count is None or (type(count) is int and count >= 0) for count in counts),
    }
    return [name for name, is_met in checks.items() if not is_met]


def _true_choice(record: dict[str, Any]) -> str:
    """The choice of a whole reply; unknown where it ended by length."""
    if record["finish_reason"] != "stop":
        return UNKNOWN
    return "a" if record["model_a"] > record["model_b"] else "b"
