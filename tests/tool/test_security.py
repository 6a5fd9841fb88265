"""Each row of the table of promises in SECURITY.md, and files that stand for any number of rows."""

from __future__ import annotations

import io
import json
import re
import socket
import sqlite3
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet
from typer.testing import CliRunner

from judgerank import DataError, read
from judgerank.cli import app
from judgerank.reading import confined
from judgerank.reading.contents import Content
from judgerank.reading.file_formats import opened
from replication.config import ROOT
from studies.torture.endpoint import better, serving
from tests.tool.collecting import collected, rows

HOSTILE = "<script>alert(1)</script>"


def run(*words: object, code: int | None = 0, **env: str) -> str:
    """What a command said; it ended in this code, or in one sentence if it is None."""
    done = CliRunner().invoke(app, list(map(str, words)), env=env)
    assert done.exit_code == code or (code is None and done.exit_code in (1, 2, 3)), done.output
    return done.output


def judgments(folder: Path, name: str = "m0") -> Path:
    """Judgments of three models, the first of which has a name."""
    models = (name, "m1", "m2")
    lines = ["question_id,model_a,model_b,judge_model,winner"]
    lines += [f"q{q},{models[q % 3]},{models[(q + 1) % 3]},j{q % 2},{'ab'[q % 7 > 3]}" for q in range(60)]
    path = folder / "judgments.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def answers(folder: Path) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def your_files(folder: Path, _: pytest.MonkeyPatch) -> None:
    source, out, elsewhere = judgments(folder), folder / "rankings", folder / "elsewhere"
    elsewhere.mkdir()
    mine = folder / "board.csv"
    mine.write_text("mine")
    words = ["rank", source, "--output", out, "--export", mine, "--save", elsewhere / "board.npz"]
    words += ["--card", elsewhere / "card.svg"]
    before = contents(folder)
    run(*words, code=None)
    assert contents(folder) == before
    run(*words, "--force")
    assert mine.read_text() != "mine"
    new = contents(folder).keys() - before.keys()
    visible = [path for path in new if not path.name.startswith(".") and path.parts[0] != out.name]
    assert sorted(visible) == [Path("elsewhere/board.npz"), Path("elsewhere/card.svg")]
    run(*words)  # its own from before


def inputs(folder: Path, _: pytest.MonkeyPatch) -> None:
    source = judgments(folder)
    before = source.read_bytes()
    for words in (["--export", source], ["--save", source], ["--card", source], ["--output", folder]):
        run("rank", source, *words, "--force", code=None)
        assert source.read_bytes() == before


class _Runs:
    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


def untrusted(folder: Path, _: pytest.MonkeyPatch) -> None:
    source, mark = judgments(folder), folder / "ran"
    content = io.BytesIO()
    np.savez(content, fit=np.array([_Runs(mark)], dtype=object), format=np.array([_Runs(mark)], dtype=object))
    board = folder / "board.npz"
    board.write_bytes(content.getvalue())
    run("rank", source, "--output", folder / "out", "--since", board, code=None)
    run("doctor", board, code=None)
    duckdb = pytest.importorskip("duckdb")
    (folder / "other.txt").write_text("of another file")
    with duckdb.connect(folder / "votes.duckdb") as database:
        text = f"SELECT content AS model_a FROM read_text('{folder / 'other.txt'}')"
        database.execute(f"CREATE VIEW judgments AS {text}")
    for named in ("votes.duckdb", "votes.duckdb::judgments"):
        assert "of another file" not in run("doctor", folder / named, code=1)
    assert not mark.exists()


def panels(folder: Path, _: pytest.MonkeyPatch) -> None:
    source, mark, panel = answers(folder), folder / "ran", folder / "panel.yaml"
    for text in (
        f"judges: !!python/object/apply:os.system ['touch {mark}']",
        "judges: " + "[" * 9999,
        "judges: 3",
    ):
        panel.write_text(text)
        run("collect", source, "--panel", panel, "--dry-run", code=1)
        run("collect", source, "--judge", "judge: me, provider: person", "--prompt", panel, "--dry-run", code=1)
    assert not mark.exists()
    files = [folder / "old.jsonl", folder / "new.jsonl"]
    for path in files:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows(models=["m"])))
    panel.write_text("judges: [{judge: j, model: m, base_url: 'http://elsewhere.example/v1', api_key_env: MINE}]")
    assert "--allow-host" in run("gate", *files, "--panel", panel, code=3, MINE="sk-0123456789")


def pages(folder: Path, _: pytest.MonkeyPatch) -> None:
    run("rank", judgments(folder, HOSTILE), "--output", folder / "out")
    run("vote", answers(folder), "--page", folder / "vote.html")
    for path in (folder / "out/index.html", folder / "vote.html"):
        page = path.read_text()
        assert "default-src 'none'" in unescape(page) and HOSTILE not in page
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//[^"']+\.(?:js|css|png|woff2?)""", page)


def network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def refused(*words: object, **_: object) -> None:
        seen.append(words)
        raise OSError("there is no network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    source, asked = judgments(folder), answers(folder)
    run("doctor", source)
    run("rank", source, "--output", folder / "out", "--save", folder / "board.npz")
    run("trust", source)
    run("vote", asked, "--page", folder / "vote.html")
    run("collect", asked, "--judge", "judge: me, provider: person", "--dry-run", "--judgments", folder / "j.jsonl")
    run("vote", "nowhere", code=None)
    run("vote", folder / "nowhere.jsonl", code=None)
    assert seen == []
    keys = {
        "LANGFUSE_PUBLIC_KEY": "pk-lf-x",
        "LANGFUSE_SECRET_KEY": "sk-lf-x",
        "LANGFUSE_HOST": "http://127.0.0.1:9",
    }
    keys |= {"PHOENIX_COLLECTOR_ENDPOINT": "http://127.0.0.1:9"}
    for name in ("langfuse:set", "phoenix:set", "hf:owner/name", "owner/name"):
        before = len(seen)
        run("vote", name, code=None, **keys)
        assert len(seen) > before, name


def keys_stay(folder: Path, _: pytest.MonkeyPatch) -> None:
    for number, (key, is_blanked) in enumerate((("sk-secret-0123456789", True), ("k7xq", True), ("k7x", False))):
        place = folder / str(number)
        place.mkdir()
        with serving(
            lambda prompt, times, key=key: f"400: {key} is wrong" if "quality 0" in prompt else None,
            reply=lambda prompt, key=key: f"my key is {key}\n\n{better(prompt)}",
            model=key,
        ) as server:
            done = collected(place, server.url, key=key, judges=[{"judge": "j1"}])
        assert server.keys == {f"Bearer {key}"}
        said = done.stdout + done.stderr + "".join(map(str, contents(place).values()))
        assert (key not in said) == is_blanked
    with serving() as elsewhere, serving(lambda prompt, times: f"redirect {elsewhere.url}") as server:
        collected(folder, server.url)
        assert elsewhere.keys == set() and server.keys


def prompts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, connect = [], socket.socket.connect

    def note(self: socket.socket, address: tuple) -> None:
        seen.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", note)
    with serving() as server:
        assert collected(folder, server.url).returncode == 0
        assert server.requests
        assert {address[:2] for address in seen} <= {("127.0.0.1", server.server_port)}


def assistants(folder: Path, _: pytest.MonkeyPatch) -> None:
    mcp = pytest.importorskip("judgerank.mcp", exc_type=ImportError)
    source, mark = judgments(folder), folder / "ran"
    code = folder / "block.py"
    code.write_text(f"open({str(mark)!r}, 'w')")
    useful = [(name, {"files": [source]}) for name in ("doctor", "rank", "trust")]
    useful += [("gate", {"files": [source], "baseline": "m0", "candidate": "m1"})]
    refused = [("rank", {"files": [name]}) for name in ("hf:owner/name", "langfuse:set", "--block=block.py", "-")]
    for option in ("block", "model", "panel", "answers", "models", "since", "save", "export", "page", "json_file"):
        refused += [(name, {"files": [source], option: value}) for name in mcp.OPTIONS for value in (code, [code])]
    before = contents(folder)
    for name, arguments in useful + refused:
        request = mcp.types.CallToolRequestParams(name=name, arguments=arguments)
        failed = mcp.anyio.run(mcp.call, None, request).is_error
        assert failed == ((name, arguments) in refused), (name, arguments)
    assert contents(folder) == before
    mine, out = folder / "mine", folder / "out"
    mine.mkdir()
    (mine / "index.html").write_text("mine")
    for output, is_refused in ((mine, True), (out, False), (out, False)):
        arguments = {"files": [source], "output": str(output)}
        request = mcp.types.CallToolRequestParams(name="rank", arguments=arguments)
        assert mcp.anyio.run(mcp.call, None, request).is_error == is_refused
    assert {path: content for path, content in contents(folder).items() if path.parts[0] != "out"} == before | {
        Path("mine/index.html"): b"mine"
    }


PROMISES: dict[str, Callable[[Path, pytest.MonkeyPatch], None]] = {
    "your files": your_files,
    "inputs": inputs,
    "untrusted judgments": untrusted,
    "panels and prompts": panels,
    "pages": pages,
    "network": network,
    "keys": keys_stay,
    "your prompts": prompts,
    "assistants": assistants,
}


@pytest.mark.parametrize("about", PROMISES)
def test_a_promise_holds(tmp_path, monkeypatch, about):
    monkeypatch.chdir(tmp_path)
    PROMISES[about](tmp_path, monkeypatch)


def test_every_promise_is_tested():
    page = (ROOT / "SECURITY.md").read_text()
    assert re.findall(r"^\| \*\*(.+?)\*\* \|", page, re.MULTILINE) == list(PROMISES)


# Small files that stand for any number of rows end in one sentence, within limits of memory and time.

COLUMNS = ("model_a", "model_b", "winner")
ROWS = 10**9
ENDLESS = (
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    "SELECT 'm' || (x % 3) AS model_a, 'm' || ((x + 1) % 3) AS model_b, 'model_a' AS winner FROM c"
)


def arrow(path: Path, table: pa.Table) -> None:
    with pa.OSFile(str(path), "wb") as file, ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def without_values(path: Path) -> None:
    arrow(path, pa.table({name: pa.nulls(ROWS) for name in COLUMNS}))


def run_ends(path: Path) -> None:
    column = pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int64()), pa.array(["x"]))
    batch = pa.record_batch([column] * len(COLUMNS), names=COLUMNS)
    with pa.OSFile(str(path), "wb") as file, ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)


def constants(path: Path) -> None:
    rows = 10**7
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), pa.array(["x"]))
    table = pa.table(dict.fromkeys(COLUMNS, column))
    with parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(4):
            writer.write_table(table, row_group_size=rows)


def long_texts(path: Path) -> None:
    """Few rows, all of one text of ten megabytes, which the file holds once."""
    rows = 400
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 10**7]))
    parquet.write_table(pa.table(dict.fromkeys(COLUMNS, column)), path, compression="zstd", store_schema=False)


def far_cell(path: Path) -> None:
    content = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
    header = "".join(content.format(f"{letter}1", name) for letter, name in zip("ABC", COLUMNS, strict=True))
    last = content.format("XFD1048576", "x")
    pd.DataFrame(columns=COLUMNS).to_excel(path.with_name("empty.xlsx"), index=False)
    with zipfile.ZipFile(path.with_name("empty.xlsx")) as empty, zipfile.ZipFile(path, "w") as archive:
        for name in empty.namelist():
            archive.writestr(name, empty.read(name))
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
            f'<row r="1">{header}</row><row r="1048576">{last}</row></sheetData></worksheet>',
        )


def view(path: Path, statement: str = ENDLESS) -> None:
    with sqlite3.connect(str(path).split("::", maxsplit=1)[0]) as database:
        database.execute(f"CREATE VIEW judgments AS {statement}")


def large_value(path: Path) -> None:
    view(path, "SELECT 'x' AS model_a, 'y' AS model_b, 'model_a' AS winner, hex(zeroblob(800000000)) AS reply")


BOMBS = {
    "nulls.arrow": without_values,
    "runs.arrow": run_ends,
    "constants.parquet": constants,
    "texts.parquet": long_texts,
    "far.xlsx": far_cell,
    "view.db": view,
    "view.db::judgments": view,
    "value.db::judgments": large_value,
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_one_sentence(name, tmp_path):
    BOMBS[name](tmp_path / name)
    with pytest.raises(DataError) as error:
        read(tmp_path / name)
    assert str(error.value).startswith(f"{name}: ") and "\n" not in str(error.value)


def test_what_takes_too_long_ends_in_one_sentence(tmp_path, monkeypatch):
    view(tmp_path / "slow.db", f"{ENDLESS} WHERE x < 0")  # without a row, and so without memory
    monkeypatch.setattr(confined, "SECONDS", 0.5)
    with pytest.raises(DataError, match=r"\bslow\.db::judgments: .* 1 s:"):
        read(tmp_path / "slow.db::judgments")


def test_a_view_is_read_where_it_is_named(tmp_path):
    view(tmp_path / "m.db", "SELECT 'x' AS model_a, 'y' AS model_b, 'model_b' AS winner")
    assert read(tmp_path / "m.db::judgments").comparisons.models == ("x", "y")
    with sqlite3.connect(tmp_path / "m.db") as database:
        database.execute("CREATE TABLE votes AS SELECT 'u' AS model_a, 'v' AS model_b, 'model_b' AS winner")
    assert read(tmp_path / "m.db").comparisons.models == ("u", "v")


def test_more_is_read_where_the_environment_allows_it(tmp_path, monkeypatch):
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int8)), pa.array(["x"]))
    arrow(tmp_path / "m.arrow", pa.table(dict.fromkeys(COLUMNS, column)))
    monkeypatch.setenv("JUDGERANK_INFLATE_GB", ".001")
    with pytest.raises(DataError):
        opened(tmp_path / "m.arrow", None).read()
    monkeypatch.setenv("JUDGERANK_INFLATE_GB", "1")
    assert len(opened(tmp_path / "m.arrow", None).read()) == 200_000


def of_our_own(content: Content) -> pd.DataFrame:
    raise KeyError(len(content.data))


def test_a_fault_of_the_code_is_no_want_of_memory(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with pytest.raises(RuntimeError, match="KeyError: 3"):
        confined.confined(of_our_own)(Content(b"abc", Path("m.db")))


def test_nothing_is_run_from_the_folder_in_which_a_file_is_read(tmp_path, monkeypatch):
    (tmp_path / "pandas.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    view(tmp_path / "m.db", "SELECT 'x' AS model_a, 'y' AS model_b, 'model_b' AS winner")
    assert len(read("m.db::judgments").frame) == 1
