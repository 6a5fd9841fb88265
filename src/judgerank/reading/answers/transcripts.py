"""Messages of a conversation as one text that a judge can read: who says what, and what tools are asked.

Messages are those of OpenAI's form, of Anthropic's blocks, of Inspect and of Every Eval Ever. What a model thought
is left out, since a user does not see it. Of an image and of other media the reference is kept, not the bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from judgerank.data.errors import DataError

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
    raise DataError(f"{content!r:.80} is no text of a message")


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
