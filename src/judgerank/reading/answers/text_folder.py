"""A folder of text files: one folder a model, one file an answer, and the questions in a folder of that name.

``FOLDER/questions/q1.txt``, ``FOLDER/gpt/q1.txt``, ``FOLDER/llama/q1.md``; reference answers, if there are any, in
``FOLDER/references``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import Found

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
