"""Contents of a file and where they come from: bytes, and the text in them."""

from __future__ import annotations

import codecs
import shlex
from dataclasses import dataclass
from pathlib import Path

from judgerank.data.errors import ConfigError, DataError

PART = "::"  # between a file and one table of it: judgments.db::votes
MARKS = {  # byte-order marks, the longer first
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Content:
    """A file's content after decompression.

    Attributes
    ----------
    data : bytes
    path : Path
        The file itself.
    part : str, optional
        The table or sheet that is meant, where a file holds several.
    encoding : str, optional
        Of its text; by default UTF-8, or what a byte-order mark says.
    """

    data: bytes
    path: Path
    part: str | None = None
    encoding: str | None = None

    @property
    def text(self) -> str:
        """The content as text.

        Raises
        ------
        DataError
            If it is not in that encoding.
        ConfigError
            If Python does not know the encoding.
        """
        mark = next((name for sign, name in MARKS.items() if self.data.startswith(sign)), None)
        try:
            text = self.data.decode(mark or self.encoding or "utf-8")
        except UnicodeDecodeError as error:
            named = f"this is not {(mark or self.encoding or 'UTF-8').upper()} text (byte {error.start + 1})"
            remedy = "" if mark or self.encoding else "; --encoding cp1252 reads what older Windows programs write"
            raise DataError(f"{named}{remedy}") from None
        except LookupError:
            raise ConfigError(f"the encoding {self.encoding!r} is not known (cp1252, latin-1, ...)") from None
        for order, start in (("be", 0), ("le", 1)):  # every other byte of English text in UTF-16 is zero
            if not (mark or self.encoding) and self.data[start:8:2] == b"\0" * 4:
                raise DataError(f"this looks like UTF-16 without its mark (--encoding utf-16-{order} reads it)")
        return text

    def chosen(self, parts: list[str], what: str) -> str:
        """The name of the part that is meant: the only one, or the one named.

        Raises
        ------
        DataError
            If there is none, it is not there, or several are there and none is named.
        """
        if self.part in parts:
            return str(self.part)
        listed = ", ".join(parts[:20]) + (f" and {len(parts) - 20} more" if len(parts) > 20 else "")
        if self.part is not None:
            raise DataError(f"there is no {what} {self.part!r} (there is: {listed or 'none'})")
        if len(parts) == 1:
            return parts[0]
        if not parts:
            raise DataError(f"there is no {what} in it")
        meant = shlex.quote(f"{self.path.name}{PART}{parts[0]}")
        raise DataError(f"there are {len(parts)} {what}s ({listed}): name one as {meant}")


def split(path: Path) -> tuple[Path, str | None]:
    """A file, and the part of it that is named after ``::``; a file of the whole name is that file."""
    name, sign, part = str(path).rpartition(PART)
    return (Path(name), part) if sign and name and part and not _is_there(path) else (path, None)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # no name that a file could have
        return False


# Accepted file formats and reading options, without the code that reads files.
FORMS = (  # of files; `judgerank.reading.file_formats.READERS` reads each
    *("json", "jsonl", "ndjson", "csv", "tsv", "parquet", "arrow", "feather", "xlsx"),
    *("db", "sqlite", "sqlite3", "duckdb", "eval"),
)
COPIES = ("ask", "keep", "drop")
NAMES = ("ask", "fold", "exact")
MEANINGS = {"a": "a", "b": "b", "tie": "c", "c": "c", "unknown": "unknown"}  # what a word may be said to mean
# column: the name of ours it becomes, and the names it is known by
COLUMNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "model_a": ("model_a", ("model_a", "model_1", "model1")),
    "model_b": ("model_b", ("model_b", "model_2", "model2")),
    "winner": ("judge_preferred_model", ("judge_preferred_model", "winner")),
    "judge": ("judge_model", ("judge_model", "judge", "judge_name", "annotator", "rater", "evaluator")),
    "question": ("question_id", ("question_id", "question", "prompt_id", "prompt", "instruction")),
    "length": ("length", ("length",)),
    "category": ("category", ("category", "criterion")),
    "reply": ("reply", ("reply", "raw")),
    "human": ("human", ("human",)),
    "strength": ("strength", ("strength",)),
    "time": ("asked_at", ("asked_at", "answered_at", "created_at", "timestamp", "tstamp")),
    "count": ("count", ()),
    "model": ("model", ("model", "model_name", "model_id", "system", "variant", "arm")),
    "score": ("score", ("score", "rating", "grade", "value", "rank")),
    "swapped": ("swapped", ()),
    "valid": ("valid", ()),
    "judges": ("judges", ()),
    "run": ("run", ()),
    "tasks": ("tasks", ()),
    "models": ("models", ()),
}
