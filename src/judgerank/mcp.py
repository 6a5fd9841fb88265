"""An MCP server: commands of judgerank as tools of an assistant, over standard input and output.

Start it with ``python -m judgerank.mcp``. A tool runs its command with ``--json``, in a process and folder apart.
It reads only files that the caller names, runs no code from them, asks nothing on the network, and writes nothing
unless the caller names a folder. Options that do more, such as ``--panel``, are not offered.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.metadata import version
from inspect import Parameter, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_type_hints

from judgerank.cli.commands import COMMANDS
from judgerank.data.modules import needed

try:
    import anyio
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
except ModuleNotFoundError as error:
    if __name__ != "__main__":
        raise
    sys.exit(f"judgerank.mcp: the server requires {needed('mcp')}: {error.name} is not installed")

SHARED = "files column winner_values format encoding names copies without_judge without_model category own_maker "
OPTIONS = {  # of commands, as their functions name them
    "doctor": SHARED,
    "rank": SHARED + "level cluster whose solver output",
    "trust": SHARED + "level most",
    "gate": SHARED + "baseline candidate margin mode scale criteria protect alpha look cluster missing whose",
    "plan": SHARED + "level want by_judges n_models n_judges sigma_scores sigma_discrimination question_sd",
}


def arguments(command: str) -> type[BaseModel]:
    """Return the arguments of a command's tool: some of its options, with their types, defaults and help."""
    function = getattr(import_module(f"judgerank.cli.{COMMANDS[command][0]}"), command)
    hints, parameters = get_type_hints(function, include_extras=True), signature(function).parameters
    fields: dict[str, Any] = {"rows": (int, Field(50, ge=0, description="Rows of a table, at most"))}
    for name in OPTIONS[command].split():
        (kind, option), default = get_args(hints[name]), parameters[name].default
        fields[name] = (kind, Field(... if default is Parameter.empty else default, description=option.help))
    return create_model(command, __config__=ConfigDict(extra="forbid"), **fields)


async def document(command: str, given: BaseModel) -> dict[str, Any]:
    """Return the document that a command prints, with the first rows of each table."""
    words, options, rows = [], given.model_dump(exclude_unset=True, exclude={"rows"}), given.model_dump()["rows"]
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            text = one.absolute() if isinstance(one, Path) else one  # neither an option nor a server's address
            option = "" if name == "files" else f"--{name.replace('_', '-')}="
            words += [] if one is None or one is False else [option[:-1] if one is True else f"{option}{text}"]
    with TemporaryDirectory(prefix="judgerank-") as folder:
        run = [sys.executable, "-P", "-m", "judgerank", command, *words, "--json"]
        done = await anyio.run_process(run, cwd=folder, check=False)
    result: dict[str, Any] = json.loads(done.stdout or '{"error": "the command was ended from outside"}')
    if command == "rank" and "output" not in options:
        result.pop("files", None)  # they were in the empty folder
    tables = result.get("tables", {})
    cut = {name: len(table) for name, table in tables.items() if len(table) > rows}
    return {**result, "tables": {name: tables[name][:rows] for name in tables}, "cut": cut} if cut else result


async def call(_: Any, request: types.CallToolRequestParams) -> types.CallToolResult:
    """Return a command's document, or the sentence that says why there is none."""
    try:
        result = await document(request.name, arguments(request.name).model_validate(request.arguments or {}))
    except KeyError:
        result = {"error": f"there is no tool {request.name!r}; there are {', '.join(OPTIONS)}"}
    except ValidationError as error:
        result = {"error": "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())}
    text = types.TextContent(type="text", text=result.get("error") or json.dumps(result))
    return types.CallToolResult(content=[text], structured_content=result, is_error="error" in result)


async def list_tools(*_: Any) -> types.ListToolsResult:
    """Return the tools: a command each, with its line in the list and a schema of its arguments."""
    schemas = {name: arguments(name).model_json_schema() for name in OPTIONS}
    tools = [types.Tool(name=name, description=COMMANDS[name][1], input_schema=schemas[name]) for name in schemas]
    return types.ListToolsResult(tools=tools)


async def serve() -> None:
    """Answer requests until standard input ends."""
    server = Server("judgerank", version=version("judgerank"), on_list_tools=list_tools, on_call_tool=call)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
