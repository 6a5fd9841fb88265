"""Files with random damage and with the slips that people make: read rightly, or refused in one sentence."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import JudgerankError
from judgerank.reading.layouts.texts import visible
from judgerank.reading.read import ANSWERS, COLUMNS, read_judgments
from replication.replicate import Record

# Columns that stand beside judgments in public sets and logs, and are none of theirs; with a value of each.
# lmsys/chatbot_arena_conversations, lmsys/lmsys-arena-human-preference-55k and later ones, FastChat, AlpacaEval,
# arena-hard-auto, JudgeArena, evaluatorq, the published judgments, and tables people keep
INNOCENT: dict[str, object] = json.loads(Path(__file__).with_name("innocent_columns.json").read_text())


# Files of judgments with random damage: refused in one sentence, or read as any other reader reads them.
KEYS = ("question_id", "model_a", "model_b", "judge_model", "judge_preferred_model")
DAMAGING_WORDS = [character.encode() for character in '",\n{}[]:\\abc1'] + [b"null", b"NaN", b"\xff", b"\x00"]


def misread(settings: dict, rng: np.random.Generator) -> Record:
    """One damaged file of the ``form``: what became of it, and whether that is a fault."""
    content = _damaged(_clean_file(settings["form"], rng), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"judgments.{settings['form']}")
        path.write_bytes(content)
        try:
            frame = read_judgments(path, columns={"count": None}).frame
        except JudgerankError as error:
            return {"status": "refused", "bad": int(len(str(error).splitlines()) != 1)}
        except Exception as error:
            return {"status": type(error).__name__, "bad": 1}
    ours = [
        [None if pd.isna(value) else str(value) for value in row]
        for row in frame.reindex(columns=list(KEYS)).to_numpy()
    ]
    return {"status": "read", "bad": int(ours != _plainly_read(settings["form"], content))}


def _clean_file(form: str, rng: np.random.Generator) -> bytes:
    rows = []
    for question in range(int(rng.integers(3, 9))):
        a, b = rng.choice(4, 2, replace=False)
        answer = ("a", "b", "c", "unknown")[rng.integers(4)]
        rows.append(
            dict(zip(KEYS, (f"q{question}", f"m{a}", f"m{b}", f"j{rng.integers(3)}", answer), strict=True))
        )
    if form == "json":
        return json.dumps(rows, indent=int(rng.integers(3)) or None).encode()
    if form == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    text = io.StringIO()
    writer = csv.DictWriter(text, KEYS, lineterminator="\n", quoting=int(rng.integers(2)))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """One or two random changes: bytes taken out, put in, replaced or doubled, or the end cut off."""
    for _ in range(int(rng.integers(1, 3))):
        begin = int(rng.integers(len(content) + 1))
        stop = begin + int(rng.integers(1, 6))
        word = DAMAGING_WORDS[rng.integers(len(DAMAGING_WORDS))]
        changes = (b"", word + content[begin:stop], word, content[begin:stop] * 2)
        kind = int(rng.integers(len(changes) + 1))
        content = content[:begin] if kind == len(changes) else content[:begin] + changes[kind] + content[stop:]
    return content


def _plainly_read(form: str, content: bytes) -> list[list[str | None]]:
    """The same records by the standard readers, with names in small letters and without what nobody sees."""
    text = content.decode("utf-8-sig")
    if form == "csv":
        header, *rows = [row for row in csv.reader(io.StringIO(text)) if any(row)]
        header = [re.sub(r"[\s_.-]+", "_", name.strip().lower()).strip("_") for name in header]
        n = len(header)
        rows = [row if any(row[n:]) else row[:n] for row in rows]  # a comma at the end begins a field of nothing
        records = [{key: value or None for key, value in zip(header, row, strict=True)} for row in rows]
    else:
        records = (
            json.loads(text) if form == "json" else [json.loads(row) for row in text.split("\n") if row.strip()]
        )
    ours = dict(COLUMNS.values())
    rows = []
    for record in records:
        row = [next((record[name] for name in ours[key] if name in record), None) for key in KEYS]
        row[1:] = [value.strip() if isinstance(value, str) else value for value in row[1:]]
        row[-1] = ANSWERS.get(row[-1], {row[1]: "a", row[2]: "b"}.get(row[-1]))
        if row[3] is None and not any(set(ours[KEYS[3]]) & set(plain_record) for plain_record in records):
            row[3] = "one judge"
        rows.append(
            [
                None if value is None else "/".join(map(str, value)) if isinstance(value, list) else str(value)
                for value in row
            ]
        )
    return rows


# Files with the slips that people make: read to what the clean file holds, or refused in one sentence.
#
# A slip is another spelling of a column or a name, a column beside its double, a file merged with itself, answers
# shown the other way round, or winners in numbers. No slip may cost judges, questions or weights without a word.
Rows = list[dict[str, Any]]
Slip = Callable[[Rows, np.random.Generator], Rows]
FORMS = ("csv", "tsv", "json", "jsonl", "parquet")
MODELS = ("gpt-4", "caf\u00e9 large", "llama_3", "Mixtral")
JUDGES = ("kim", "ana", "j\u00fcrgen")
WORDS = {"a": "model_a", "b": "model_b", "c": "tie", None: None}
HALVES = {"a": 1.0, "b": 2.0, "c": 1.5, None: None}


def misread_slip(settings: dict, rng: np.random.Generator) -> Record:
    """One file in the ``layout`` with one or two slips: what became of it, and whether that is a fault."""
    drawn = _drawn(rng)
    rows = LAYOUTS[settings["layout"]](drawn)
    nested = any(isinstance(value, list) for value in rows[0].values())
    form = str(rng.choice(["json", "jsonl"] if nested else FORMS))
    names = [str(name) for name in rng.choice(list(SLIPS), int(rng.integers(1, 3)), replace=False)]
    slipped = rows
    for name in names:
        slipped = SLIPS[name](slipped, rng)
    with tempfile.TemporaryDirectory() as folder:
        columns = {"judges": ",".join(JUDGES)} if settings["layout"] == "wide" else {}
        clean = _read(_written(rows, form, Path(folder, "clean")), columns)
        try:
            rows_read = _read(_written(slipped, form, Path(folder, "slipped")), columns)
        except JudgerankError as error:
            innocent = names == ["innocent"]
            return {"status": "refused", "slips": "+".join(names), "bad": int(innocent or "\n" in str(error))}
        except Exception as error:
            return {"status": type(error).__name__, "slips": "+".join(names), "bad": 1}
    return {"status": "read", "slips": "+".join(names), "bad": int(rows_read != clean)}


def _read(path: Path, columns: dict[str, str | None]) -> list[tuple]:
    judgments = read_judgments(path, columns=columns)
    c, frame = judgments.comparisons, judgments.frame[judgments.parsed]
    question = frame["question_id"] if "question_id" in frame else [None] * len(frame)
    first, second, judge = (
        [labels[code] for code in codes]
        for labels, codes in ((c.models, c.first), (c.models, c.second), (c.judges, c.judge))
    )
    return sorted(zip(question, first, second, judge, c.outcome.tolist(), c.count.tolist(), strict=True))


def _written(rows: Rows, form: str, stem: Path) -> Path:
    frame, path = pd.DataFrame(rows, dtype=object), stem.with_suffix(f".{form}")
    if form in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="\t" if form == "tsv" else ",")
    elif form == "parquet":
        frame.convert_dtypes().to_parquet(path)
    else:
        frame = frame.where(frame.notna(), None)
        frame.to_json(path, orient="records", lines=form == "jsonl", force_ascii=False)
    return path


def _drawn(rng: np.random.Generator) -> Rows:
    rows = []
    for question in range(int(rng.integers(24, 36))):
        a, b = rng.choice(len(MODELS), 2, replace=False)
        pair = {"question": f"q{question}", "a": MODELS[a], "b": MODELS[b], "judge": JUDGES[question % 3]}
        rows.append(pair | {"letter": ("a", "b", "c", None)[min(int(rng.integers(7)) // 2, 3)]})
    rows[0]["letter"], rows[1]["letter"], rows[2]["letter"] = "a", "b", "a"  # every judge says something
    return rows


def _table(drawn: Rows, *names: str, winner: dict = WORDS) -> Rows:
    """Under names of question, models, judge and winner."""
    keys = ("question", "a", "b", "judge")
    return [
        {name: row[key] for name, key in zip(names, keys, strict=False)} | {names[4]: winner[row["letter"]]}
        for row in drawn
    ]


def _one_hot(drawn: Rows) -> Rows:
    hot = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": "c"}
    rows = _table(drawn, "question", "model_a", "model_b", "judge", "_")
    return [
        {key: value for key, value in row.items() if key != "_"}
        | {
            name: None if drawn_row["letter"] is None else int(drawn_row["letter"] == letter)
            for name, letter in hot.items()
        }
        for row, drawn_row in zip(rows, drawn, strict=True)
    ]


def _wide(drawn: Rows) -> Rows:
    return [
        {"question": row["question"], "model_a": row["a"], "model_b": row["b"]}
        | {judge: WORDS[row["letter"]] if judge == row["judge"] else "tie" for judge in JUDGES}
        for row in drawn
    ]


def _fastchat(drawn: Rows) -> Rows:
    words = {"a": "model_1", "b": "model_2", "c": "tie", None: "error"}
    rows = _table(drawn, "question_id", "model_1", "model_2", "judge", "g1_winner", winner=words)
    return [row | {"g2_winner": "tie", "turn": 1} for row in rows]


def _arena_hard(drawn: Rows) -> Rows:
    words = {"a": "A>B", "b": "B>>A", "c": "A=B", None: None}
    return [
        {"uid": row["question"], "model": row["b"], "baseline": row["a"], "judge": row["judge"]}
        | {"games": [{"score": words[row["letter"]]}, {"score": "A=B"}]}
        for row in drawn
    ]


def _evaluatorq(drawn: Rows) -> Rows:
    shares = {"a": 1.0, "b": 0.0, "c": 0.5, None: None}
    rows = _table(drawn, "question", "item_a", "item_b", "judge", "p_a", winner=shares)
    return [row | {"weight": 1 + index % 3} for index, row in enumerate(rows)]


def _battles(drawn: Rows) -> Rows:
    sides = {"a": 0.0, "b": 1.0, "c": 0.5, None: None}
    rows = _table(drawn, "question_id", "model_a", "model_b", "judge_model", "winner")
    return [
        row
        | {
            "pref": sides[drawn_row["letter"]],
            "source": "llm-judge",
            "orientation": ("direct", "reversed")[index % 2],
        }
        for index, (row, drawn_row) in enumerate(zip(rows, drawn, strict=True))
    ]


def _by_name(drawn: Rows) -> Rows:
    rows = _table(drawn, "question", "model_a", "model_b", "judge", "winner")
    letters = {"a": "a", "b": "b"}
    return [
        row
        | {"winner": drawn_row[letters[drawn_row["letter"]]] if drawn_row["letter"] in letters else row["winner"]}
        for row, drawn_row in zip(rows, drawn, strict=True)
    ]


def _left_right(drawn: Rows) -> Rows:
    words = {"a": "left", "b": "right", "c": "tie", None: None}
    return _table(drawn, "prompt", "left", "right", "worker", "winner", winner=words)


LAYOUTS: dict[str, Callable[[Rows], Rows]] = {
    "paper": lambda drawn: _table(
        drawn,
        *("question_id", "model_a", "model_b", "judge_model", "judge_preferred_model"),
        winner={letter: letter for letter in WORDS},
    ),
    "arena": lambda drawn: _table(drawn, "question", "model_a", "model_b", "judge", "winner"),
    "winners by name": _by_name,
    "left and right": _left_right,
    "one-hot": _one_hot,
    "wide": _wide,
    "fastchat": _fastchat,
    "arena-hard": _arena_hard,
    "alpaca": lambda drawn: _table(
        drawn, "instruction", "generator_1", "generator_2", "annotator", "preference", winner=HALVES
    ),
    "evaluatorq": _evaluatorq,
    "battles": _battles,
}


def _renamed(
    rows: Rows, rng: np.random.Generator, change: Callable[[str], str], *, of_judges: bool = False
) -> Rows:
    """One column renamed, unless to another's name; judges of a wide table only if their names stay."""
    names = [name for name in rows[0] if of_judges or visible(name) not in JUDGES]
    name = names[int(rng.integers(len(names)))]
    if change(name) in rows[0]:
        return rows
    return [{change(key) if key == name else key: value for key, value in row.items()} for row in rows]


def _spelled(rows: Rows, rng: np.random.Generator) -> Rows:
    spellings: Sequence[Callable[[str], str]] = (
        str.upper,
        str.title,
        str.capitalize,
        lambda name: name.replace("_", " "),
        lambda name: name.replace("_", "-"),
        lambda name: name.replace("_", " ").title(),
    )
    return _renamed(rows, rng, spellings[int(rng.integers(len(spellings)))])


def _blank(rows: Rows, rng: np.random.Generator) -> Rows:
    signs = (" {}", "{} ", "\ufeff{}", "{}\u200b", "\u00a0{}", "{}  ")
    return _renamed(rows, rng, signs[int(rng.integers(len(signs)))].format, of_judges=True)


def _typo(rows: Rows, rng: np.random.Generator) -> Rows:
    position, letter = rng.random(), str(rng.choice(list("abeosx_1")))

    def change(name: str) -> str:
        index = int(position * (len(name) - 1))
        kind = int(position * 1e6) % 5
        turned = name[:index] + name[index : index + 2][::-1] + name[index + 2 :]
        without = name[:index] + name[index + 1 :]
        return (name + letter, letter + name, turned, without, name[:index] + letter + name[index:])[kind]

    return _renamed(rows, rng, change)


def _double(rows: Rows, rng: np.random.Generator) -> Rows:
    """A column beside another spelling of it, with other values."""
    name = str(rng.choice([name for name in rows[0] if name not in JUDGES]))
    order = rng.permutation(len(rows))
    respelled = (name.upper(), f"{name} ", f"\ufeff{name}")[int(rng.integers(3))]
    if respelled in rows[0]:
        return rows
    return [row | {respelled: rows[index][name]} for row, index in zip(rows, order, strict=True)]


def _names(rows: Rows, rng: np.random.Generator) -> Rows:
    """Names of models and judges with what nobody sees, or in capitals, in some records."""
    spellings: Sequence[Callable[[str], str]] = (
        lambda text: f"{text} ",
        lambda text: f" {text}",
        lambda text: f"{text}\u200b",
        lambda text: unicodedata.normalize("NFD", text),
        str.upper,
    )
    spelling = spellings[int(rng.integers(len(spellings)))]
    names = {*MODELS, *JUDGES}
    return [
        {key: spelling(value) if value in names and rng.random() < 0.4 else value for key, value in row.items()}
        if not any(isinstance(value, list) for value in row.values())
        else row
        for row in rows
    ]


def _merged(rows: Rows, rng: np.random.Generator) -> Rows:
    return rows * int(rng.integers(2, 5))


def _swapped(rows: Rows, rng: np.random.Generator) -> Rows:
    name = str(rng.choice(["swapped", "is_swapped", "Flipped", "reversed", "swap", "position_swapped"]))
    odd = {
        f"q{number}" for number in range(1, len(rows), 2)
    }  # by question, so that copies of a record stay copies
    return [row | {name: any(isinstance(value, str) and value in odd for value in row.values())} for row in rows]


def _index(rows: Rows, rng: np.random.Generator) -> Rows:
    """The winner as the place of the model, counted from zero."""
    index_of_side = {"model_a": 0, "model_b": 1, "a": 0, "b": 1}
    winner_columns = [name for name in ("winner", "judge_preferred_model") if name in rows[0]]
    if not winner_columns or any(row[winner_columns[0]] not in (*index_of_side, "tie", "c", None) for row in rows):
        return rows
    return [row | {winner_columns[0]: index_of_side.get(row[winner_columns[0]])} for row in rows]


def _innocent(rows: Rows, rng: np.random.Generator) -> Rows:
    names = [str(name) for name in rng.choice(list(INNOCENT), 3, replace=False)]
    return [{name: INNOCENT[name] for name in names if name not in row} | row for row in rows]


SLIPS: dict[str, Slip] = {
    "spelled": _spelled,
    "blank": _blank,
    "typo": _typo,
    "double": _double,
    "names": _names,
    "merged": _merged,
    "swapped": _swapped,
    "index": _index,
    "innocent": _innocent,
}
