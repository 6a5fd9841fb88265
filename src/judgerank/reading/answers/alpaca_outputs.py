"""Outputs of AlpacaEval: ``model_outputs.json`` with ``instruction``, ``output`` and ``generator``.

See https://github.com/tatsu-lab/alpaca_eval; a question is known by its text, since it has no name.
"""

from __future__ import annotations

from collections.abc import Iterator

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import AnswerFormat, Found, named_by, records_of
from judgerank.reading.layouts.table import Table


def _answers(table: Table) -> Iterator[Found]:
    for number, record in records_of(table):
        question, output = record["instruction"], record["output"]
        if not isinstance(question, str) or not question:
            raise DataError(f"record {number} has {question!r:.60} as instruction, not a text")
        text = output if isinstance(output, str) and output else None
        yield Found(number, named_by(question), question, str(record["generator"]), text)


FORMATS = (AnswerFormat("outputs of AlpacaEval", ("instruction", "output", "generator"), _answers),)
