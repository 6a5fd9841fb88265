"""A question with an answer to it, a format of files that hold them, and answers in a folder of text files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from judgerank.data.errors import DataError
from judgerank.reading.layouts.table import Table

# Conversations as texts that a judge can read, and the images that records of other tools refer to.
# Messages of a conversation as one text that a judge can read: who says what, and what tools are asked.
#
# Messages are those of OpenAI's form, of Anthropic's blocks, of Inspect and of Every Eval Ever. What a model
# thought is left out, since a user does not see it. Of an image and of other media the reference is kept, not the
# bytes.
SILENT = ("reasoning", "thinking", "redacted_thinking")  # kinds of parts that nobody is shown
IMAGES = ("image", "image_url", "input_image")
MEDIA = (*IMAGES, "audio", "input_audio", "video", "document", "file")
PLACES = ("image", "image_url", "source", "url", "data")  # keys of a part that say where a medium is
SYSTEM = ("system", "developer")
Messages = Sequence[Mapping[str, Any]]


def are_messages(value: object) -> TypeGuard[Messages]:
    """Whether something is a list of messages, each with a role."""
    return (
        isinstance(value, list | tuple | np.ndarray)
        and len(value) > 0
        and all(isinstance(message, Mapping) and "role" in message for message in value)
    )


def are_parts(value: object) -> TypeGuard[Messages]:
    """Whether something is the content of a message: a list of parts, each with a type."""
    return (
        isinstance(value, list | tuple | np.ndarray)
        and len(value) > 0
        and all(isinstance(part, Mapping) and "type" in part and "role" not in part for part in value)
    )


def asked(messages: Messages) -> str:
    """Text of the prompt: that of the only message, or the conversation so far."""
    spoken = [message for message in messages if message.get("role") not in SYSTEM]
    if len(messages) == len(spoken) == 1:
        return text_of(spoken[0].get("content"))
    return transcript(messages)


def answered(messages: Messages) -> str:
    """Text of the reply: that of its only message, or all that it said and did, in order."""
    if len(messages) == 1 and not _calls(messages[0]):
        return text_of(messages[0].get("content"))
    return transcript(messages)


def split_at_answer(
    messages: Messages,
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The messages before the model speaks for the first time, and all from there on."""
    first = next((n for n, message in enumerate(messages) if message.get("role") == "assistant"), len(messages))
    return list(messages[:first]), list(messages[first:])


def transcript(messages: Messages) -> str:
    """The messages one below the other, each under its speaker."""
    names = {call["id"]: call["name"] for message in messages for call in _calls(message) if call["id"]}
    return "\n\n".join(part for message in messages for part in _parts(message, names))


def _parts(message: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    role, text = str(message.get("role")), text_of(message.get("content"))
    if role in ("tool", "function"):
        name = message.get("function") or message.get("name") or names.get(_answers_to(message), "")
        failed = message.get("error")
        reason = failed.get("message") if isinstance(failed, Mapping) else failed
        yield f"[{f'tool {name}' if name else 'tool'} returns]\n{text}{f'error: {reason}' if reason else ''}"
        return
    if text:
        yield f"[{role}]\n{text}"
    for call in _calls(message):
        yield f"[{role} calls {call['name']}]\n{call['arguments']}"
    for name, result in _results(message, names):
        yield f"[{f'tool {name}' if name else 'tool'} returns]\n{result}"


def _answers_to(message: Mapping[str, Any]) -> str:
    """The call that a tool's message answers; Every Eval Ever has a list of them."""
    call_id = message.get("tool_call_id")
    return str(call_id[0]) if isinstance(call_id, list | np.ndarray) and len(call_id) else str(call_id)


def _calls(message: Mapping[str, Any]) -> list[dict[str, str]]:
    """Tools that a message calls, by name and arguments."""
    content, listed = message.get("content"), message.get("tool_calls")
    calls = [call for call in (listed if listed is not None else ()) if isinstance(call, Mapping)]
    if isinstance(content, list | np.ndarray):
        calls += [call for call in content if isinstance(call, Mapping) and call.get("type") == "tool_use"]
    return [_call(call) for call in calls]


def _call(call: Mapping[str, Any]) -> dict[str, str]:
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    name = inner.get("name") or (function if isinstance(function, str) else "a tool")
    arguments: object = next((inner[key] for key in ("arguments", "input") if inner.get(key) is not None), {})
    return {"id": str(call.get("id") or ""), "name": str(name), "arguments": written(arguments)}


def _results(message: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Results of tools within a message: Anthropic's blocks, and tools that run at the provider."""
    content = message.get("content")
    for part in content if isinstance(content, list | np.ndarray) else ():
        if isinstance(part, Mapping) and part.get("type") == "tool_result":
            yield names.get(str(part.get("tool_use_id")), ""), text_of(part.get("content"))
        elif isinstance(part, Mapping) and part.get("type") == "tool_use" and part.get("result"):
            yield str(part.get("name") or ""), written(part["result"])


def text_of(content: object) -> str:
    """The text of a message's content, which is a text or a list of parts.

    Raises
    ------
    DataError
        If it is neither.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content["answer"]) if "answer" in content else _part(content)
    if isinstance(content, list | tuple | np.ndarray):
        return "\n".join(filter(None, (part if isinstance(part, str) else _part(part) for part in content)))
    raise DataError(f"{content!r:.80} is not the text of a message")


def _part(part: Mapping[str, Any]) -> str:
    kind = str(part.get("type", "text"))
    if kind in SILENT or kind in ("tool_use", "tool_result"):
        return ""
    if kind in MEDIA:
        return f"[{kind.removeprefix('input_').removesuffix('_url')}: {reference_of(part, kind)}]"
    for key in ("text", "content", "refusal"):
        if isinstance(part.get(key), str):
            return str(part[key])
    return written({key: value for key, value in part.items() if key != "type"})


def reference_of(part: Mapping[str, Any], kind: str) -> str:
    """Where an image or another medium is: its address, or the digest of its bytes, never the bytes."""
    source = next((part[key] for key in (kind, *PLACES) if part.get(key) is not None), "")
    if isinstance(source, Mapping):
        source = next(
            (source[key] for key in ("url", "data", "file_id", "filename") if source.get(key) is not None), ""
        )
    return reference_to(str(source))


def reference_to(address: str) -> str:
    """An address as it is, and the digest of bytes."""
    if address.startswith("data:") or (len(address) > 256 and "://" not in address[:16]):
        form = address[5:].partition(";")[0] if address.startswith("data:") else "bytes"
        return f"{form}, sha256 {hashlib.sha256(address.encode()).hexdigest()[:16]}"
    return address or "not named"


def written(value: object) -> str:
    """A value as text: a text as it is, else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


# Where the images are that records of other tools refer to: addresses, files, or bytes within the record.
#
# Texts name an image by its reference (`reference_of`); here is what stands behind the reference.
BYTES = "data:image/"
MARK = re.compile(r"\[image: ([^\]\n]+)\]")  # as `text_of` writes it
UNSEEN = ("events",)  # keys of a log that repeat what else is there


@dataclass(frozen=True)
class Named:
    """An image as a record names it.

    Attributes
    ----------
    reference : str
        What stands for it in texts.
    place : str
        Its address, its file, or a data URI.
    folder : Path, optional
        That of the file with the record, to which a file's name is relative; None if there is no such file.
    """

    reference: str
    place: str
    folder: Path | None = None


def references(texts: Iterable[str | tuple[str, ...]]) -> list[str]:
    """References that texts hold, in order, each once."""
    parts = (part for text in texts for part in ((text,) if isinstance(text, str) else text))
    return list(dict.fromkeys(name for part in parts for name in MARK.findall(part)))


def images_in(value: Any, folder: Path | None = None) -> Iterator[Named]:
    """Images anywhere in a value: parts of messages, data URIs, and both in texts that are JSON."""
    if isinstance(value, str):
        if value.startswith(BYTES):
            yield Named(reference_to(value), value, folder)
        elif value[:8].lstrip()[:1] in ("[", "{") and "image" in value:
            try:
                yield from images_in(json.loads(value), folder)
            except ValueError:
                return
    elif isinstance(value, Mapping):
        kind = value.get("type")
        if kind in IMAGES and (location := _location(value, str(kind))):
            yield Named(reference_of(value, str(kind)), location, folder)
        for key, inner in value.items():
            if key not in UNSEEN:
                yield from images_in(inner, folder)
    elif isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
        for inner in value:
            yield from images_in(inner, folder)


def _location(part: Mapping[str, Any], kind: str) -> str:
    """Where the image of a part is; bytes that stand alone get their type before them."""
    source: Any = next((part[key] for key in (kind, *PLACES) if part.get(key)), "")
    form = part.get("media_type") or part.get("mimeType")
    if isinstance(source, Mapping):
        form = source.get("media_type") or form
        source = next((source[key] for key in ("url", "data") if source.get(key)), "")
    location = str(source)
    return f"data:{form};base64,{location}" if form and ":" not in location[:16] else location


Text = str | tuple[str, ...]  # of one turn, or of several
LONGEST_NAME = 72  # characters of a question that stands for its name


@dataclass(frozen=True)
class Found:
    """A question, an answer to it, or both, as a file has them.

    Attributes
    ----------
    record : int
        Which of the file's records it is, counted from 1.
    question_id : str
    question : str or tuple of str, optional
        The texts of its turns; None where another file has them.
    model : str, optional
        Who answered; None for a question alone.
    answer : str or tuple of str, optional
        None where a model failed to answer.
    reference : str or tuple of str, optional
    attempt : object
        What tells one answer of a model to a question from the next, where the file says so.
    images : tuple of Named
        What its texts refer to, where that is not found in the file as a whole.
    """

    record: int
    question_id: str
    question: Text | None
    model: str | None = None
    answer: Text | None = None
    reference: Text | None = None
    attempt: object = None
    images: tuple[Named, ...] = ()

    def numbered(self, attempt: int) -> Found:
        """The answer as one to a question of its own."""
        return replace(self, question_id=f"{self.question_id} #{attempt}")


@dataclass(frozen=True)
class AnswerFormat:
    """One way in which a tool writes down what models answered.

    Attributes
    ----------
    name : str
        Whose it is, as in "answers of MT-Bench".
    needs : tuple of str
        Columns by which it is recognised.
    read : callable
        From a `Table` to what it holds.
    also : callable
        What else tells it, of a `Table`.
    """

    name: str
    needs: tuple[str, ...]
    read: Callable[[Table], Iterable[Found]]
    also: Callable[[Table], bool] = lambda table: True

    def matches(self, table: Table) -> bool:
        """Whether a table is in this format."""
        return len(table.frame) > 0 and set(self.needs) <= set(map(str, table.frame.columns)) and self.also(table)


def records_of(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    """A table's records, each with its number, counted from 1."""
    for number, record in enumerate(table.frame.to_dict("records"), 1):
        yield number, {str(name): value for name, value in record.items()}


def named_by(text: str) -> str:
    """A name for a question that has none: its text, or the beginning with a digest of all of it."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_NAME:
        return line
    return f"{line[: LONGEST_NAME - 10]} #{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def first_of(table: Table, column: str) -> Any:
    """The first value of a column that is there."""
    return next((value for value in table.frame[column] if value is not None), None)


# A folder of text files: one folder a model, one file an answer, and the questions in a folder of that name.
#
# ``FOLDER/questions/q1.txt``, ``FOLDER/gpt/q1.txt``, ``FOLDER/llama/q1.md``; reference answers, if there are any,
# in ``FOLDER/references``.

TEXTS = (".txt", ".md")
QUESTIONS, REFERENCES = ("questions", "prompts"), ("references",)


def is_text_folder(folder: Path) -> bool:
    """Whether a folder holds folders of texts, one of them of questions."""
    if not folder.is_dir():
        return False
    return any(_texts(folder / name) for name in QUESTIONS)


def texts_in(folder: Path) -> Iterator[Found]:
    """All questions and answers in a folder.

    Raises
    ------
    DataError
        If an answer is to no question, or a file is no text in UTF-8.
    """
    questions = {name: text for subfolder in QUESTIONS for name, text in _texts(folder / subfolder).items()}
    references = {name: text for subfolder in REFERENCES for name, text in _texts(folder / subfolder).items()}
    models = [
        child for child in sorted(folder.iterdir()) if child.is_dir() and not child.name.startswith((".", "_"))
    ]
    number = 0
    for model in models:
        if model.name in (*QUESTIONS, *REFERENCES):
            continue
        for name, path in _texts(model).items():
            number += 1
            if name not in questions:
                raise DataError(f"{model.name}/{path.name} answers a question that {QUESTIONS[0]}/ does not have")
            reference = _read(references[name]) if name in references else None
            answer = _read(path)
            yield Found(number, name, _read(questions[name]), model.name, answer or None, reference or None)


def _texts(folder: Path) -> dict[str, Path]:
    """Files of a folder and those below it, by their place without the ending."""
    if not folder.is_dir():
        return {}
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in TEXTS and path.is_file()]
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} cannot be read as text in UTF-8: {error}") from None
