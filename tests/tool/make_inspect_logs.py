"""Writes logs as inspect_ai does: `python tests/tool/make_inspect_logs.py FOLDER`, where inspect_ai is installed.

Made-up models answer sums, and the package itself writes the logs, by its mock model. Those under samples/ are its
version 0.3.285's, written outside of a repository.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

REPLIES = {"alpha": ["1", "2", "3", "4 it is"], "beta": ["1", "none", "none", "4"]}  # `match` takes no sentence


def write(folder: Path, form: str = "eval") -> list[Path]:
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


def write_agents(folder: Path, form: str = "eval") -> list[Path]:
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
    for path in [*write(Path(sys.argv[1])), *write_agents(Path(sys.argv[1]))]:
        print(path)
