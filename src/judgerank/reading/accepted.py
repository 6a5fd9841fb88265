"""Accepted file formats and reading options, without the code that reads files."""

from __future__ import annotations

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
    "model": ("model", ("model", "model_name", "model_id", "system")),
    "score": ("score", ("score", "rating", "grade", "value", "rank")),
    "swapped": ("swapped", ()),
}
