"""Records what platforms answer, where their own packages are installed. What is stored lies under samples/.

`python tests/tool/record_platforms.py phoenix http://localhost:6006 FILE` makes a data set with two experiments on
a real server by its own client (made-up texts), and keeps the replies that judgerank reads. The stored ones are of
arize-phoenix 20.26.1 with arize-phoenix-client 3.5.0.

`python tests/tool/record_platforms.py langfuse FILE` keeps the JSON schema of what Langfuse's own client reads,
as the package has it. The stored one is of langfuse 5.0.4; no server of Langfuse was run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

PAGE = 2  # runs at once, so that there are several pages
DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5"
    "ErkJggg=="
)
LOOK = [{"type": "text", "text": "Which colour is this?"}, {"type": "image_url", "image_url": {"url": DOT}}]
EXAMPLES: list[tuple[dict[str, Any], str]] = [
    ({"question": "What is the capital of France?"}, "Paris"),
    ({"question": "What is the capital of Peru?"}, "Lima"),
    ({"messages": [{"role": "user", "content": "Name a river in Peru."}]}, "Ucayali"),
    ({"messages": [{"role": "user", "content": LOOK}]}, "red"),
]


def short(input: dict[str, Any]) -> Any:
    """Answers of the first model."""
    return next((said for given, said in EXAMPLES if given == input), None)


def long(input: dict[str, Any]) -> Any:
    """Answers of the second, which fails at the river."""
    if "river" in str(input):
        raise ValueError("no answer")
    return {"role": "assistant", "content": f"It is {short(input)}."}


def record_phoenix(address: str) -> dict[str, Any]:
    """The replies, by path and parameters."""
    from phoenix.client import Client
    from phoenix.client.experiments import run_experiment

    client = Client(base_url=address)
    made = client.datasets.create_dataset(
        name="recorded",
        inputs=[given for given, _ in EXAMPLES],
        outputs=[{"answer": said} for _, said in EXAMPLES],
    )
    for task, repetitions in ((short, 1), (long, 2)):
        run_experiment(
            dataset=made,
            task=task,
            experiment_name=task.__name__,
            client=client,
            repetitions=repetitions,
            retries=0,
        )
    found: dict[str, Any] = {}

    def get(path: str, **params: object) -> Any:
        asked = f"/{path}?{urlencode(params)}" if params else f"/{path}"
        with urlopen(f"{address}{asked}") as reply:
            found[asked] = json.load(reply)
        return found[asked]

    name = get("v1/datasets", name="recorded")["data"][0]["id"]
    get("v1/datasets", name="absent")
    for one in get(f"v1/datasets/{name}/experiments")["data"]:
        get(f"v1/datasets/{name}/examples", version_id=one["dataset_version_id"])
        page = get(f"v1/experiments/{one['id']}/runs", limit=PAGE)
        while page["next_cursor"]:
            page = get(f"v1/experiments/{one['id']}/runs", cursor=page["next_cursor"], limit=PAGE)
    return found


def schema_of_langfuse() -> dict[str, Any]:
    """The schema of a page of experiment items by the names that are sent, without scores, and no others."""
    from langfuse.api.experiments import ExperimentItem, ExperimentItemsResponse

    schema = ExperimentItemsResponse.model_json_schema()
    item = schema["$defs"]["ExperimentItem"]
    sent = {name: _sent(field, name) for name, field in ExperimentItem.model_fields.items()}
    item["properties"] = {sent[name]: told for name, told in item["properties"].items() if name != "scores"}
    item["required"] = [sent[name] for name in item["required"]]
    item["additionalProperties"] = schema["$defs"]["ExperimentsResponseMeta"]["additionalProperties"] = False
    schema["$defs"] = {name: told for name, told in schema["$defs"].items() if not name.startswith("Score")}
    return schema


def _sent(field: Any, name: str) -> str:
    """The name of a field in JSON."""
    return next((one.alias for one in field.metadata if getattr(one, "alias", None)), name)


if __name__ == "__main__":
    recorded = record_phoenix(sys.argv[2]) if sys.argv[1] == "phoenix" else schema_of_langfuse()
    Path(sys.argv[-1]).write_text(json.dumps(recorded, indent=1) + "\n")
