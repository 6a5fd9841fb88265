"""Answers in samples of lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` of ``--log_samples``.

The folder alone names the model, as in `judgerank.reading.layouts.sample_scores`. Tasks that compare
likelihoods have no answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import AnswerFormat, Found, records_of
from judgerank.reading.layouts.sample_scores import model_and_task
from judgerank.reading.layouts.table import Table

LIST = (list, tuple, np.ndarray)


def _answers(table: Table) -> Iterator[Found]:
    model, task = model_and_task(table)
    for number, record in records_of(table):
        target = record.get("target")
        yield Found(
            number,
            f"{task}/{record['doc_id']}",
            _prompt(number, record.get("arguments")),
            str(record.get("model") or model),
            _reply(number, record.get("resps")),
            str(target) if target not in (None, "") else None,
        )


def _prompt(number: int, arguments: Any) -> str:
    """The prompt that the model was sent: the first argument of the first request."""
    first: Any = arguments
    for _ in range(2):  # the requests, and the arguments of one
        if isinstance(first, Mapping):
            first = next(iter(first.values()), None)
        elif isinstance(first, LIST) and len(first):
            first = first[0]
    if not isinstance(first, str):
        raise DataError(f"record {number} does not say what the model was asked (arguments)")
    return first


def _reply(number: int, replies: Any) -> str:
    reply: Any = replies
    while isinstance(reply, LIST) and len(reply) == 1:
        reply = reply[0]
    if not isinstance(reply, str):
        raise DataError(
            f"record {number} holds no answer in words ({reply!r:.60}): the task compares likelihoods, or asks "
            "for several answers"
        )
    return reply


FORMATS = (AnswerFormat("samples of lm-evaluation-harness", ("doc_id", "doc", "resps"), _answers),)
