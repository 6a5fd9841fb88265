"""`judgerank collect` on a small set of questions: in this process, or as one of its own that can be killed.

``python -m tests.tool.collecting [TIMES]`` kills it at random moments and goes on.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml
from typer.testing import CliRunner

from judgerank.cli import app
from replication.config import ROOT
from tests.forked import COLLECTING, Forked, environment

KEY = "sk-secret-0123456789"
MODELS = ("m1", "m2", "m3")
JUDGES = [{"judge": "j1"}, {"judge": "j2"}]
TOTAL = 4 * 3 * 2  # questions, pairs and judges


@dataclass(frozen=True)
class Done:
    """What a run said and how it ended."""

    returncode: int
    stdout: str
    stderr: str


def rows(n_questions: int = 4, models=MODELS) -> list[dict]:
    return [
        {
            "question_id": f"q{q}",
            "question": f"Question {q}?",
            "model": model,
            "answer": f"an answer of quality {m}",
        }
        for q in range(n_questions)
        for m, model in enumerate(models)
    ]


def command(folder: Path, url: str | None, *options: object, judges: list[dict] = JUDGES, **panel) -> list[str]:
    source, file = folder / "answers.jsonl", folder / "panel.yaml"
    if not source.exists():
        source.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    address = {"base_url": url} if url else {}
    file.write_text(yaml.safe_dump(address | {"judges": judges} | panel))
    given = ["collect", source, "--panel", file, "--judgments", folder / "judgments.jsonl", "--retest", 0]
    return [*map(str, [*given, "--first-wait", 0.02, "--patience", "3s", "--per-minute", 0, *options])]


def collected(
    folder: Path,
    url: str | None,
    *options: object,
    key: str | None = KEY,
    judges: list[dict] = JUDGES,
    env: dict[str, str] | None = None,
    **panel,
) -> Done:
    """A run in this process, so that the client library is loaded once."""
    keys = {"OPENAI_API_KEY": key} | (env or {})
    done = CliRunner().invoke(app, command(folder, url, *options, judges=judges, **panel), env=keys)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def started(folder: Path, url: str | None, *options: object, judges: list[dict] = JUDGES) -> Forked:
    """A run as a process of its own."""
    arguments = ["-m", "judgerank", *command(folder, url, *options, judges=judges)]
    return Forked(arguments, ROOT, environment(OPENAI_API_KEY=KEY), COLLECTING)


def cost_bound(stdout: str) -> tuple[float, str]:
    """The bound on its cost that a run printed beside the number of its requests, and the currency."""
    amount, currency = re.search(r"\d+ requests, \D*([\d.]+) (\w+)", stdout).groups()
    return float(amount), currency


def judgments(folder: Path, name: str = "judgments.jsonl") -> list[dict]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def kill_and_go_on(times: int) -> None:
    """Print how many judgments and batches outlived kills at random moments."""
    from tests.tool import test_collecting_batches as batches  # both import this module
    from tests.tool.test_collecting_servers import killed_and_gone_on

    found = []
    for seed in range(times):
        with tempfile.TemporaryDirectory() as folder:
            found.append(killed_and_gone_on(Path(folder), seed))
    kept, twice = (sum(column) for column in zip(*found, strict=True))
    print(f"{times} kills: {kept} of {times * TOTAL} judgments were kept, none lost; {twice} were on their way")
    for form in batches.FORMS:
        submitted = 0
        for seed in range(times):
            with tempfile.TemporaryDirectory() as folder:
                submitted += batches.killed_and_gone_on(Path(folder), form, seed)
        told = f"{times} kills by batch ({form}): {submitted} of {times * batches.HALF} requests were submitted"
        print(f"{told}, none of them twice")


if __name__ == "__main__":
    kill_and_go_on(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
