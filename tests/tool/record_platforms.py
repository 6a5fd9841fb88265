"""Records what platforms answer, where their own packages are installed. What is stored lies under samples/.

`python tests/tool/record_platforms.py phoenix http://localhost:6006 FILE` makes a data set with two experiments on
a real server by its own client (made-up texts), and keeps the replies that judgerank reads. The stored ones are of
arize-phoenix 20.26.1 with arize-phoenix-client 3.5.0.

`python tests/tool/record_platforms.py langfuse FILE` keeps the JSON schema of what Langfuse's own client reads,
as the package has it. The stored one is of langfuse 5.0.4; no server of Langfuse was run.

`python tests/tool/record_platforms.py inspect FOLDER` writes logs of made-up models that answer sums, and of
agents, by inspect_ai itself and its mock model. The stored ones are of inspect_ai 0.3.285, written outside of a
repository.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
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


# Logs of inspect_ai


REPLIES = {"alpha": ["1", "2", "3", "4 it is"], "beta": ["1", "none", "none", "4"]}  # `match` takes no sentence


def write_logs(folder: Path, form: str = "eval") -> list[Path]:
    """One log a model, in the form "eval" or "json"; needs no network."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import includes, match

    samples = [Sample(id=n, input=f"What is {n} and 1?", target=str(n + 1)) for n in range(4)]
    paths = []
    for name, replies in REPLIES.items():
        outputs = counted(ModelOutput.from_content(name, reply) for reply in replies)
        task = Task(dataset=MemoryDataset(samples, name="sums"), scorer=[match(), includes()], name="sums")
        model = get_model(f"mockllm/{name}", custom_outputs=outputs)
        made = eval(task, model=model, log_dir=str(folder / name), log_format=form, display="none", max_samples=1)
        paths.append(Path(made[0].location.removeprefix("file://")))
    return paths


def counted(outputs: Iterable[Any]) -> list[Any]:
    """Outputs that say how many tokens they used, which would be counted by a tokenizer from the network."""
    from inspect_ai.model import ModelUsage

    listed = list(outputs)
    for output in listed:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return listed


def write_logs_of_agents(folder: Path, form: str = "eval") -> list[Path]:
    """One log a model of agents that call a tool, are shown an image, and are asked twice."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, ModelOutput, get_model
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import Tool, tool

    @tool
    def weather() -> Tool:
        async def execute(city: str) -> str:
            """Tell the weather.

            Args:
                city: Where.
            """
            return f"18 degrees in {city}"

        return execute

    shown = [ContentText(text="Which city is this?"), ContentImage(image="data:image/png;base64,aVZCT1J3MEtHZ28=")]
    samples = [
        Sample(id="paris", input="How warm is it in Paris?", target="18"),
        Sample(id="picture", input=[ChatMessageUser(content=shown)], target="Rome"),
    ]
    paths = []
    for name, reply in {"alpha": "It is 18 degrees.", "beta": "Warm."}.items():
        called = ModelOutput.for_tool_call(name, "weather", {"city": "Paris"})
        outputs = counted([called, *(ModelOutput.from_content(name, f"{reply} ({n})") for n in range(9))])
        made = eval(
            Task(
                dataset=MemoryDataset(samples, name="places"),
                solver=[use_tools(weather()), generate()],
                name="places",
                epochs=2,
            ),
            model=get_model(f"mockllm/{name}", custom_outputs=outputs),
            log_dir=str(folder / name),
            log_format=form,
            display="none",
            max_samples=1,
        )
        paths.append(Path(made[0].location.removeprefix("file://")))
    return paths


if __name__ == "__main__":
    if sys.argv[1] == "inspect":
        written = Path(sys.argv[2])
        print(*write_logs(written), *write_logs_of_agents(written), sep="\n")
    else:
        recorded = record_phoenix(sys.argv[2]) if sys.argv[1] == "phoenix" else schema_of_langfuse()
        Path(sys.argv[-1]).write_text(json.dumps(recorded, indent=1) + "\n")
