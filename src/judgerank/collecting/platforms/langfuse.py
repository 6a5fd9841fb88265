"""Experiments of Langfuse, version 4 or later: ``GET /api/public/experiment-items``, page by page.

See https://langfuse.com/docs/api-and-data-platform/features/experiments-api. The interface of dataset-run-items,
which older servers have, ended on Langfuse Cloud in November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from judgerank.collecting.platforms.session import Platform, Session, as_answer, as_question, basic
from judgerank.data.errors import DataError
from judgerank.reading.answers.found import Found, images_in

SINCE = "2023-01-01T00:00:00Z"  # a start is required; Langfuse is younger
PAGE = 100  # the most that it gives at once
LIST = ","  # what names are separated by in a request
FAILED = "ERROR"  # the level of an item whose task failed


async def _fetch(session: Session, dataset: str, experiment: str | None) -> list[Found]:
    dataset_record = await session.get(f"api/public/v2/datasets/{quote(dataset, safe='')}")
    if dataset_record is None:
        raise DataError(f"Langfuse at {session.address} has no data set {dataset!r}")
    query = {"fromStartTime": SINCE, "fields": "core,io", "limit": PAGE, "datasetId": dataset_record["id"]}
    name = None if experiment and LIST in experiment else experiment  # by name only where that is no list of names
    entries = await session.pages("api/public/experiment-items", _cursor, experimentName=name, **query)
    items = [item for item in entries if experiment in (None, item["experimentName"])]
    if not items:
        which = f"experiment {experiment!r}" if experiment else "experiment"
        raise DataError(f"there is no {which} on the data set {dataset!r} (Langfuse 4 or later has them)")
    return [_of_item(number, item) for number, item in enumerate(items, 1)]


def _cursor(page: Mapping[str, Any]) -> Any:
    return (page.get("meta") or {}).get("cursor")


def _of_item(number: int, item: Mapping[str, Any]) -> Found:
    return Found(
        number,
        str(item["experimentItemId"]),
        as_question(item.get("input")),
        str(item["experimentName"]),
        None if item.get("level") == FAILED else as_answer(item.get("output")),
        as_answer(item.get("expectedOutput")),
        images=tuple(images_in([item.get("input"), item.get("output")])),
    )


PLATFORM = Platform(
    "Langfuse",
    ("LANGFUSE_BASE_URL", "LANGFUSE_HOST"),
    "https://cloud.langfuse.com",
    ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"),
    True,
    basic,
    _fetch,
)
