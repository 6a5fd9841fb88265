"""What a judge is shown: questions, answers and images.

Texts hold an image's reference alone (``[image: cat.png]``), and so do judgments. The bytes are read when a
request is sent, and stand nowhere else.
"""

from __future__ import annotations

import hashlib
import logging
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import unquote

from judgerank.collecting.replies import LETTERS, Form
from judgerank.collecting.requests import images_for
from judgerank.collecting.settings import Judge, Prompt
from judgerank.collecting.task_order import Questions, Task
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.listing import counted
from judgerank.reading.answers.found import MARK, Named, Text, references

log = logging.getLogger("judgerank")

# Images: who sees them, what may be sent, and how many tokens one takes at most.
LARGEST = 5 << 20  # bytes: the smallest limit of the large providers, Anthropic's
FORMS = {  # what all of them take, by how its bytes begin
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF.{4}WEBP",
}
ADDRESS, BYTES, FILE = ("http://", "https://"), "data:", "file://"


def mode_of(judge: Judge) -> str:
    """What a judge gets of an image: itself ("send"), its reference ("name"), or no request with one ("skip")."""
    if judge.images is not None:
        return judge.images
    if judge.is_local:
        return "name"
    return "send" if images_for(judge.form, judge.sent).seen else "skip"


def tokens_of(judge: Judge) -> int:
    """Tokens that an image takes at most."""
    return judge.image_tokens or images_for(judge.form, judge.sent).tokens


def referenced_images(texts: Iterable[Text], images: Mapping[str, Named]) -> list[Named]:
    """Images that texts refer to, in order, each once."""
    if not images:
        return []
    return [images[name] for name in references(texts) if name in images]


def images_of_task(task: Task, questions: Questions) -> list[Named]:
    """Images of the question and of the answers, in an order that is the same for all orders of the answers."""
    answers = questions.answers[task.question_id]
    texts = questions.text[task.question_id], *(answers[name] for name in sorted(task.models))
    return referenced_images(texts, questions.images)


def content_of(text: str, images: Mapping[str, Named]) -> str | list[dict[str, Any]]:
    """A message's content with each image behind its reference; the text alone where there is none.

    An image stands for itself until it is sent (`sendable`).
    """
    parts: list[dict[str, Any]] = []
    begin = 0
    for match in MARK.finditer(text) if images else ():
        if match[1] in images:
            parts.append({"type": "text", "text": text[begin : match.end()]})
            parts.append({"type": "image_url", "image_url": {"url": images[match[1]]}})
            begin = match.end()
    if not parts:
        return text
    return [*parts, {"type": "text", "text": text[begin:]}] if text[begin:] else parts


def sendable(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message with images as they are sent: addresses, or their bytes.

    Raises
    ------
    DataError
        If an image is no longer there.
    """
    if isinstance(message["content"], str):
        return dict(message)
    parts = [
        part | {"image_url": {"url": _url(part["image_url"]["url"])}} if "image_url" in part else part
        for part in message["content"]
    ]
    return dict(message) | {"content": parts}


def _url(image: Named) -> str:
    if image.place.startswith((*ADDRESS, BYTES)):
        return image.place
    content = _bytes(image)
    return f"data:{_form(image, content)};base64,{b64encode(content).decode()}"


def digest_of(image: Named) -> str:
    """What tells an image from another: of its bytes, or of its address."""
    if image.place.startswith((*ADDRESS, BYTES)):
        return _digest(image, 0)
    return _digest(image, _path(image).stat().st_mtime_ns)


@cache
def _digest(image: Named, changed: int) -> str:  # a file that was changed is read again
    content = image.place.encode() if image.place.startswith(ADDRESS) else _bytes(image)
    return hashlib.sha256(content).hexdigest()[:16]


def _bytes(image: Named) -> bytes:
    """The bytes of an image in a file or in a data URI, if they may be sent.

    Raises
    ------
    DataError
        If there are none, or they are too large, or no image of a form that is taken.
    """
    if image.place.startswith(BYTES):
        head, _, payload = image.place.partition(",")
        try:
            content = b64decode(payload, validate=True) if head.endswith(";base64") else unquote(payload).encode()
        except ValueError:
            raise DataError(f"image {image.reference} is not Base64") from None
        _require_small(image, len(content))
    else:
        path = _path(image)
        _require_small(image, path.stat().st_size)
        content = path.read_bytes()
    _form(image, content)
    return content


def _require_small(image: Named, size: int) -> None:
    if size > LARGEST:
        raise DataError(f"image {image.reference} has {size / 2**20:.1f} MB, and {LARGEST >> 20} are taken")


def _path(image: Named) -> Path:
    """A file in the folder of the file that names it, or in the one where the command runs, and in no other."""
    name = image.place.removeprefix(FILE)
    if "://" in name:
        raise DataError(f"image {image.reference} is not an address (http, https), a file or a data URI")
    folders = [folder.resolve() for folder in (image.folder, Path.cwd()) if folder is not None]
    paths = [(folder / name).resolve() for folder in folders]
    path = next((candidate for candidate in paths if candidate.is_file()), None)
    if path is None:
        raise DataError(f"there is no image {image.reference}: it is looked for in {folders[0]}")
    if not any(path.is_relative_to(folder) for folder in folders):
        raise DataError(f"image {image.reference} is not sent: it lies outside of the folder of the answers")
    return path


def _form(image: Named, content: bytes) -> str:
    for form, begins in FORMS.items():
        if re.match(begins, content, re.DOTALL):
            return form
    raise DataError(
        f"image {image.reference} is not a {', '.join(form.removeprefix('image/') for form in FORMS)} file"
    )


def askable(tasks: Sequence[Task], judges: Mapping[str, Judge], questions: Questions) -> list[Task]:
    """The requests but those that show an image to a judge who sees none."""
    blind = {name for name, judge in judges.items() if mode_of(judge) == "skip"} if questions.images else set()
    return [task for task in tasks if task.judge not in blind or not images_of_task(task, questions)]


def image_sentences(tasks: Sequence[Task], judges: Mapping[str, Judge], questions: Questions) -> Iterator[str]:
    """A sentence on each judge who is not asked everything, or is shown references alone."""
    if not questions.images:
        return
    all_of = Counter(task.judge for task in tasks)
    with_images = Counter(task.judge for task in tasks if images_of_task(task, questions))
    for name, n_requests in sorted(with_images.items()):
        judge, mode = judges[name], mode_of(judges[name])
        if mode == "skip":
            why = "has images: skip" if judge.images else "is not known to see images"
            yield (
                f"judge {name!r} {why}: {n_requests} of its {counted(all_of[name], 'request')} show one and are "
                "left out (images: send, if it sees them; images: name, to show it their names alone)"
            )
        elif mode == "name" and not judge.is_local:
            yield f"judge {name!r} is shown only the names of images, in {counted(n_requests, 'request')}"


def require_images(tasks: Iterable[Task], judges: Mapping[str, Judge], questions: Questions) -> None:
    """Every image that is to be sent is there, and of a form and size that providers take.

    Raises
    ------
    DataError
        Naming the question and the image.
    """
    seen = set[str]()
    for task in tasks if questions.images else ():
        for image in images_of_task(task, questions) if mode_of(judges[task.judge]) == "send" else ():
            if image.reference not in seen:
                seen.add(image.reference)
                try:
                    digest_of(image)
                except DataError as error:
                    raise DataError(f"question {task.question_id!r}: {error}") from None
    if seen:
        log.info("judges that see images are sent %s", counted(len(seen), "image"))


# Messages.
_FENCES = re.compile(r"`+")
SHORTEST_FENCE = 3
NONCE_BYTES = 4  # four billion words of 8 letters
NO_NONCE = "0" * (2 * NONCE_BYTES)  # stands for a word as long where a request is only shown or counted


def fill(
    template: str,
    question: Text,
    first: Text,
    second: Text,
    reference: Text | None = None,
    nonce: str = "",
) -> str:
    """The prompt for one comparison.

    Each text stands between two fences, lines of backticks longer than any run of them in what is filled in. So no
    text can end its own part, and no two different pairs of answers give the same prompt. A conversation has each
    of its turns between fences of its own.

    Raises
    ------
    ConfigError
        If the template lacks ``{question}``, ``{first}`` or ``{second}``, has other fields than these,
        ``{reference}`` and ``{nonce}``, or there is no reference to fill in.
    """
    return _filled(template, {"question": question, "first": first, "second": second}, {}, reference, nonce)


def fill_ranking(template: str, question: Text, answers: Sequence[Text], reference: Text | None = None) -> str:
    """The prompt for a ranking of several answers: as `fill`, with all of them, by letters, at ``{answers}``.

    Raises
    ------
    ConfigError
    """
    return _filled(template, {"question": question}, dict(zip(LETTERS, answers, strict=False)), reference)


def _filled(
    template: str,
    texts: dict[str, Text],
    lettered: Mapping[str, Text],
    reference: Text | None,
    nonce: str = "",
) -> str:
    missing = [name for name in (*texts, *(["answers"] if lettered else [])) if f"{{{name}}}" not in template]
    if missing:
        raise ConfigError(f"the prompt's text does not say where {{{missing[0]}}} goes")
    if reference is not None:
        texts = texts | {"reference": reference}
    runs = (
        len(run)
        for text in ((template,), *map(turns_of, (*texts.values(), *lettered.values())))
        for part in text
        for run in _FENCES.findall(part)
    )
    fence = "`" * max(SHORTEST_FENCE, 1 + max(runs, default=0))
    fields = {name: _fenced(text, fence) for name, text in texts.items()} | ({"nonce": nonce} if nonce else {})
    if lettered:
        responses = (f"Model {letter} Response:\n{_fenced(text, fence)}" for letter, text in lettered.items())
        fields["answers"] = "\n\n".join(responses)
    try:
        return template.format_map(fields)
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        raise ConfigError(f"the prompt's text has a field that nothing fills: {error}") from None


def turns_of(text: Text) -> tuple[str, ...]:
    """The texts of the turns of a question or an answer."""
    return (text,) if isinstance(text, str) else text


def _fenced(text: Text, fence: str) -> str:
    if isinstance(text, str):
        return f"{fence}\n{text}\n{fence}"
    return "\n".join(f"Turn {number}:\n{fence}\n{part}\n{fence}" for number, part in enumerate(text, 1))


def for_criterion(prompt: Prompt, name: str) -> Prompt:
    """The prompt that asks by one criterion alone."""
    criterion_text = prompt.criteria[name].replace("{", "{{").replace("}", "}}")
    text = prompt.text.replace("{criterion}", criterion_text)
    return prompt.model_copy(update={"name": f"{prompt.name}, {name}", "text": text, "criteria": {}})


def messages(
    prompt: Prompt, questions: Questions, task: Task, judge: Judge, nonce: str = NO_NONCE
) -> list[dict[str, Any]]:
    """What a judge is sent for one comparison, or one ranking; the nonce goes where the prompt asks for one."""
    answers = [questions.answers[task.question_id][name] for name in task.models]
    question = questions.text[task.question_id]
    reference = questions.reference.get(task.question_id) if "{reference}" in prompt.text else None
    if prompt.ranks:
        text = fill_ranking(prompt.text, question, answers, reference)
    else:
        text = fill(prompt.text, question, answers[0], answers[1], reference, nonce if prompt.nonce else "")
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    content = content_of(text, questions.images if mode_of(judge) == "send" else {})
    return [*system, {"role": "user", "content": content}]


def new_nonce() -> str:
    """A random word for one request, which no answer can know: nothing that is written before it determines it."""
    return token_hex(NONCE_BYTES)


def form_of(
    prompt: Prompt, questions: Questions, task: Task, judge: Judge, is_structured: bool, nonce: str
) -> Form:
    """The form of the verdict that a request asks for; functions and people reply in our own words."""
    answers = [questions.answers[task.question_id][name] for name in task.models]
    texts = [questions.text[task.question_id], *answers, questions.reference.get(task.question_id, "")]
    return Form(
        kind="line" if judge.is_local else prompt.kind,
        nonce=nonce if prompt.nonce and not judge.is_local else "",
        is_structured=is_structured,
        is_graded=prompt.scale == 5,
        texts=tuple(part for text in texts for part in turns_of(text)),
    )


def require_references(prompt: Prompt, questions: Questions) -> None:
    """Every question has a reference answer, where the prompt shows one.

    Raises
    ------
    ConfigError
    """
    if "{reference}" in prompt.text:
        without = [name for name in questions.answers if name not in questions.reference]
        if without:
            raise ConfigError(
                f"the prompt shows a reference answer, and question {without[0]!r} has none (column reference)"
            )
