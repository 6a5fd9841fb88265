"""Writes logs as inspect_ai does: `python tests/tool/make_inspect_logs.py FOLDER`, where inspect_ai is installed.

Made-up models answer sums, and the package itself writes the logs, by its mock model. Those under samples/ are its
version 0.3.285's, written outside of a repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

REPLIES = {"alpha": ["1", "2", "3", "4 it is"], "beta": ["1", "none", "none", "4"]}  # `match` takes no sentence


def write(folder: Path, form: str = "eval") -> list[Path]:
    """One log a model, in the form "eval" or "json"; needs no network."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes, match

    samples = [Sample(id=n, input=f"What is {n} and 1?", target=str(n + 1)) for n in range(4)]
    paths = []
    for name, replies in REPLIES.items():
        outputs = [ModelOutput.from_content(name, reply) for reply in replies]
        for output in outputs:
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # which it would count
        task = Task(dataset=MemoryDataset(samples, name="sums"), scorer=[match(), includes()], name="sums")
        model = get_model(f"mockllm/{name}", custom_outputs=outputs)
        made = eval(task, model=model, log_dir=str(folder / name), log_format=form, display="none", max_samples=1)
        paths.append(Path(made[0].location.removeprefix("file://")))
    return paths


if __name__ == "__main__":
    for path in write(Path(sys.argv[1])):
        print(path)
