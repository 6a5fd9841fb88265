"""The MCP server, asked by its own package's client over stdio: what a tool gives is what `--json` prints."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from judgerank.cli.commands import COMMANDS
from tests.forked import PYTHON, environment, judgerank

pytest.importorskip("mcp")
import anyio
from mcp import types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from judgerank import mcp

ASKED = {  # by tool: its arguments, and the command's own
    "doctor": ({"column": ["judge=rater"]}, ["--column", "judge=rater"]),
    "rank": ({"level": 0.9, "without_judge": ["j1"]}, ["--level", "0.9", "--without-judge", "j1"]),
    "trust": ({"most": 2}, ["--most", "2"]),
    "gate": (
        {"baseline": "m0", "candidate": "m1", "mode": "equivalence", "whose": "this_panel"},
        ["--baseline", "m0", "--candidate", "m1", "--mode", "equivalence", "--whose", "this_panel"],
    ),
    "plan": ({"want": ["pair_power=0.9"]}, ["--want", "pair_power=0.9"]),
}
WRONG = {  # arguments of `rank` besides its files
    "a server's address": {"files": ["hf:owner/name"]},
    "an option as a file": {"files": ["--help"]},
    "standard input": {"files": ["-"]},
    "an unknown judge": {"without_judge": ["nobody"]},
    "a level beyond one": {"level": 7},
    "rows that are no number": {"rows": "all"},
    "code as a model": {"model": "model.py"},
    "code as a block": {"block": ["block.py"]},
    "no file": {"files": []},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with judgments of three models by three judges."""
    rows = [f"q{q},m{q % 3},m{(q + 1) % 3},j{q // 3 % 3},{'ab'[q % 7 > 3]}" for q in range(180)]
    path = tmp_path_factory.mktemp("mcp") / "judgments.csv"
    path.write_text("\n".join(["question_id,model_a,model_b,rater,winner", *rows]) + "\n")
    path.with_name("model.py").write_text("raise SystemExit('run')")
    shutil.copy(path.with_name("model.py"), path.with_name("block.py"))
    return path.parent


def session(folder: Path, ask: Callable) -> object:
    """What `ask` returns, given a client of a server that runs in a folder."""
    program, *words = PYTHON
    server = StdioServerParameters(
        command=program, args=[*words, "-m", "judgerank.mcp"], env=environment(), cwd=folder
    )

    async def asked() -> object:
        async with Client(stdio_client(server)) as client:
            return await ask(client)

    return anyio.run(asked)


async def answers(client: Client, calls: list[tuple[str, dict]]) -> list[types.CallToolResult]:
    return [await client.call_tool(name, arguments) for name, arguments in calls]


def test_a_tool_gives_what_its_command_prints(folder):
    before = {path: path.read_bytes() for path in folder.rglob("*")}
    file = str(folder / "judgments.csv")
    calls = [(name, {"files": [file], "rows": 10**6, **ASKED[name][0]}) for name in mcp.OPTIONS]
    for (name, _), result in zip(calls, session(folder, partial(answers, calls=calls)), strict=True):
        assert not result.is_error, result.content[0].text
        assert result.structured_content == json.loads(result.content[0].text)
        printed = json.loads(judgerank(name, file, *ASKED[name][1], "--json", cwd=folder).stdout)
        shutil.rmtree(folder / "rankings", ignore_errors=True)
        if name == "rank":
            del printed["files"]
        assert result.structured_content == printed
    assert {path: path.read_bytes() for path in folder.rglob("*")} == before


def test_a_folder_that_is_named_has_the_page_and_tables_are_cut(folder, tmp_path):
    arguments = {"files": ["judgments.csv"], "output": str(tmp_path / "page"), "rows": 2}
    (result,) = session(folder, partial(answers, calls=[("rank", arguments)]))
    tables, cut = result.structured_content["tables"], result.structured_content["cut"]
    assert (tmp_path / "page/index.html").samefile(result.structured_content["files"]["page"])
    assert cut["judges"] == 3 and {name for name in tables if len(tables[name]) == 2} >= cut.keys()


def test_a_mistake_is_one_sentence_and_nothing_is_run_or_fetched(folder):
    calls = [("rank", {"files": ["judgments.csv"], **wrong}) for wrong in WRONG.values()]
    for result in session(folder, partial(answers, calls=[*calls, ("collect", {})])):
        assert result.is_error
        assert len(result.content[0].text.splitlines()) == 1 and "Traceback" not in result.content[0].text


def test_a_tool_takes_no_other_path_than_files_and_a_folder(folder):
    tools = session(folder, Client.list_tools).tools
    assert [tool.name for tool in tools] == ["doctor", "rank", "trust", "gate", "plan"]
    for tool in tools:
        assert tool.description == COMMANDS[tool.name][1]
        options = tool.input_schema["properties"]
        paths = {name for name, schema in options.items() if '"format": "path"' in json.dumps(schema)}
        assert paths <= {"files", "output"}
        assert not options.keys() & {"model", "block", "panel", "allow_host"}
        assert all(schema["description"] for schema in options.values())
