"""Judgments of a panel in logs of inspect_ai, which the scorer of `judgerank.inspecting` keeps by sample."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.judgments import ITEM
from judgerank.reading.layouts.sample_scores import epoch_of, judgments_within
from judgerank.reading.layouts.table import Layout, Table, values

COLUMNS = {
    "model_a": "model_a",
    "model_b": "model_b",
    "judge_model": "judge_model",
    "judge_preferred_model": "judge_preferred_model",
    "reply": "raw",
}


def _frame(table: Table) -> pd.DataFrame:
    rows = []
    logs = zip(values(table.frame, "eval"), values(table.frame, "samples"), strict=True)
    for position, (header, samples) in enumerate(logs, 1):
        if not isinstance(header, Mapping) or not header.get("task"):
            raise DataError(f"log {position} does not name its task")
        for sample, judgment in judgments_within(samples):
            row = {name: judgment.get(key) for name, key in COLUMNS.items()}
            rows.append({"question_id": f"{header['task']}/{sample.get('id')}", ITEM: epoch_of(sample), **row})
    frame = pd.DataFrame(rows, dtype=object)
    return frame.drop(columns=ITEM) if (frame[ITEM] == frame[ITEM].iloc[0]).all() else frame


PANELS = Layout(
    "judgments of a panel in a log of inspect_ai",
    ("eval", "samples"),
    _frame,
    lambda table: {"judgments": ["samples"], "question": ["eval"]},
    also=lambda columns, table: any(judgments_within(samples) for samples in table.frame["samples"]),
    remark="A question is a sample of a task; other scores of the samples are not read.",
    accepts=frozenset(),
    aliases={},
)
LAYOUTS = (PANELS,)
