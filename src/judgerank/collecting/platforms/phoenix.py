"""Experiments of Arize Phoenix: ``GET /v1/datasets/{id}/experiments`` and ``GET /v1/experiments/{id}/runs``.

See https://arize.com/docs/phoenix/sdk-api-reference/rest-api. A run names its example; examples are those of the
experiment's version of the data set.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from judgerank.collecting.platforms.session import Platform, Session, as_answer, as_question, bearer
from judgerank.data.errors import DataError
from judgerank.reading.answers.found import Found, images_in

PAGE = 100
Examples = dict[str, Mapping[str, Any]]


async def _fetch(session: Session, dataset: str, experiment: str | None) -> list[Found]:
    datasets = await session.pages("v1/datasets", _cursor, name=dataset)
    if not datasets and not _is_id(dataset):
        raise DataError(f"Phoenix at {session.address} has no data set {dataset!r}")
    dataset_id = quote(str(datasets[0]["id"]) if datasets else dataset, safe="")
    listed = await session.pages(f"v1/datasets/{dataset_id}/experiments", _cursor)
    meant = [run_set for run_set in listed if experiment in (None, run_set.get("name"), run_set["id"])]
    if not meant:
        which = f"experiment {experiment!r}" if experiment else "experiment"
        raise DataError(f"there is no {which} on a data set {dataset!r} at {session.address}")
    by_version: dict[str, Examples] = {}
    answers: list[Found] = []
    for run_set in meant:
        version = str(run_set["dataset_version_id"])
        if version not in by_version:
            by_version[version] = await _examples(session, dataset_id, version)
        runs = await session.pages(
            f"v1/experiments/{quote(str(run_set['id']), safe='')}/runs", _cursor, limit=PAGE
        )
        answers += [_of_run(n, run, run_set, by_version[version]) for n, run in enumerate(runs, len(answers) + 1)]
    return answers


def _is_id(text: str) -> bool:
    """Whether it is the id of a data set: Base64 of ``Dataset:`` and a number."""
    try:
        return b64decode(text, validate=True).startswith(b"Dataset:")
    except ValueError:
        return False


async def _examples(session: Session, dataset_id: str, version: str) -> Examples:
    response = await session.get(f"v1/datasets/{dataset_id}/examples", version_id=version)
    listed = ((response or {}).get("data") or {}).get("examples") or []
    return {str(name): example for example in listed for name in (example["id"], example.get("node_id")) if name}


def _cursor(page: Mapping[str, Any]) -> Any:
    return page.get("next_cursor")


def _of_run(number: int, run: Mapping[str, Any], experiment: Mapping[str, Any], examples: Examples) -> Found:
    name, attempt = str(run["dataset_example_id"]), run.get("repetition_number", 1)
    if name not in examples:
        raise DataError(f"run {number} answers example {name!r}, which the data set does not have")
    return Found(
        number,
        name if attempt == 1 else f"{name} #{attempt}",
        as_question(examples[name].get("input")),
        str(experiment.get("name") or experiment["id"]),
        None if run.get("error") else as_answer(run.get("output")),
        as_answer(examples[name].get("output")),
        images=tuple(images_in([examples[name], run.get("output")])),
    )


PLATFORM = Platform(
    "Phoenix",
    ("PHOENIX_ENDPOINT", "PHOENIX_COLLECTOR_ENDPOINT", "PHOENIX_BASE_URL"),
    "http://localhost:6006",
    ("PHOENIX_API_KEY",),
    False,
    bearer,
    _fetch,
)
