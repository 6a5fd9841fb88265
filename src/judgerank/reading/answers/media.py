"""Where the images are that records of other tools refer to: addresses, files, or bytes within the record.

Texts name an image by its reference (`transcripts.reference_of`); here is what stands behind the reference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgerank.reading.answers.transcripts import IMAGES, PLACES, reference_of, reference_to

BYTES = "data:image/"
MARK = re.compile(r"\[image: ([^\]\n]+)\]")  # as `transcripts` writes it
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
