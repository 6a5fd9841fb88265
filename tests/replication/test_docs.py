"""README and documentation: their examples run, their commands and files exist, their recipes can be followed."""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from contextlib import redirect_stdout
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pandas as pd
import pytest
import yaml
from markupsafe import escape
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from typer.main import get_command
from typer.testing import CliRunner

import judgerank
from judgerank.cli import app
from replication.auditing.doc_blocks import markdown_in
from replication.auditing.registry import items
from replication.config import ROOT, script_of
from replication.datasets import find_file
from tests import forked
from tests.real_data import FILES, needs_data
from tests.replication.test_config import CITATION, composed
from tests.replication.test_packaging import PROJECT, make_sections
from tests.test_architecture import LAYERS

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in markdown_in([ROOT / "README.md", ROOT / "docs"])
}
README, ITEM_PAGE = PAGES["README.md"], PAGES["docs/paper/items.md"]
EVERY = "\n".join(PAGES.values())
MAKEFILE = (ROOT / "Makefile").read_text().replace("\\\n", " ")
SECTIONS = make_sections()
MOST_WORDS = 1_500  # of a page: more belongs to another page, or is said twice
WRITTEN = re.compile(r"<!-- (?P<block>[\w ]+): written by make audit -->.*?<!-- /(?P=block) -->", re.DOTALL)


def words_of(text: str) -> list[str]:
    """What is read of a page: not the tables that `make audit` writes, addresses, or rules of tables."""
    read = re.sub(r"<!--.*?-->|(?<=\])\([^)]*\)", "", WRITTEN.sub("", text), flags=re.DOTALL)
    return re.findall(r"[^\s|]*\w[^\s|]*", read)


def test_the_readme_fits_two_screens():
    assert len(README.splitlines()) <= 100
    assert len(words_of(README)) <= 750


@pytest.mark.parametrize("page", sorted(name for name in PAGES if not name.startswith("docs/reference/")))
def test_a_page_is_short(page):
    assert len(words_of(PAGES[page])) <= MOST_WORDS


def test_the_readme_begins_with_the_replication_its_verdict_and_two_commands():
    first = README.partition("<!-- /verdicts -->")[0]
    places = [
        first.index(text)
        for text in ("replicates", "figures/paper/audit/verdicts.png", "make reproduce", "make test")
    ]
    assert places == sorted(places)
    assert places[-1] < first.index("<!-- verdicts:")
    assert "pip install" not in first  # the tool comes after
    assert README.index("<!-- /verdicts -->") < README.index("## What we found") < README.index("pip install")


def test_what_is_installed_comes_from_the_checkout():
    told = re.findall(r"^ *pip install (.*)$", EVERY, re.MULTILINE)
    assert len(told) >= 5
    assert all(re.match(r"[.](\s|$)|\".\[", line) for line in told), told


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    """A folder in which `judgerank example` was run."""
    folder = tmp_path_factory.mktemp("example")
    assert CliRunner().invoke(app, ["example", str(folder / "judgments.csv")]).exit_code == 0
    return folder


@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/rank.md"])
def test_what_is_shown_of_a_ranking_is_what_the_command_prints(page, example, monkeypatch):
    monkeypatch.chdir(example)
    (shown,) = re.findall(r"<!-- rank: .*? -->\n```text\n(.*?)```", PAGES[page], re.DOTALL)
    done = CliRunner().invoke(app, ["rank", "judgments.csv"])
    said = done.output.splitlines()
    sentences = " ".join(done.output.split())
    table = [line for line in shown.splitlines() if re.match(r"rank|\s+\d", line)]
    assert len(table) == 7 and set(table) <= set(said)
    assert [line for line in shown.splitlines() if line not in said and line not in sentences] == []


def test_a_board_of_scores_is_ranked_as_its_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGES["docs/tutorials/boards.md"]
    Path("board.csv").write_text(re.search(r"```csv\n(.*?)```", page, re.DOTALL)[1])
    (shown,) = re.findall(r"<!-- board: .*? -->\n```text\n(.*?)```", page, re.DOTALL)
    done, planned = (CliRunner().invoke(app, [name, "board.csv"]) for name in ("rank", "plan"))
    assert done.output.startswith(shown) and len(shown.splitlines()) == 11
    assert planned.exit_code == 0 and "oak-70b elm-32b" in planned.output


def test_the_line_of_python_in_the_readme_gives_what_is_shown(example, monkeypatch):
    monkeypatch.chdir(example)
    (line,) = re.findall(r"`(judgerank\.rank\(.*?)`", README)
    (shown,) = re.findall(r"^ +1 +(\w+) +(-?[\d.]+)", README, re.MULTILINE)
    first = eval(line, {"judgerank": judgerank}).iloc[0]
    assert (first["model"], f"{first['score']:.3f}") == shown


INCONCLUSIVE = 2  # exit code of a gate
EXAMPLE = "judgments.csv"


def runnable_commands(page: str) -> list[str]:
    """Commands of a page that need nothing but what `judgerank example` or one of them wrote, in their order."""
    shown = "\n".join(re.findall(r"^```sh\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)).replace("\\\n", " ")
    lines = re.findall(r"^(judgerank .*?) *(?:#.*)?$", shown, re.MULTILINE)
    needed = re.compile(r"[>|]|\.py\b|(?<=--models )\S+|\b(?:new|newcomer)\.csv")  # shell, or what the reader has
    return [line for line in lines if EXAMPLE in line.split() and not needed.search(line)]


OF_THE_EXAMPLE = sorted(name for name in PAGES if runnable_commands(name))


@pytest.mark.parametrize("page", OF_THE_EXAMPLE)
def test_commands_on_the_example_run_one_after_the_other_in_an_empty_folder(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_before = {command for name in OF_THE_EXAMPLE if name < page for command in runnable_commands(name)}
    for command in ("judgerank example", *runnable_commands(page)):
        if command in run_before:
            continue
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        decided = {0, INCONCLUSIVE} if " gate " in command else {0}
        assert done.exit_code in decided, (command, done.output)


def test_first_pages_and_tasks_have_commands_on_the_example():
    tasks = {f"docs/tutorials/{name}.md" for name in ("rank", "plan", "export")}
    assert {"README.md", "docs/index.md", *tasks} <= set(OF_THE_EXAMPLE)
    shown = re.findall(r"^judgerank \w+", README, re.MULTILINE)
    assert len(runnable_commands("README.md")) == len(shown) - 1  # all but the one that writes the example


def test_the_example_of_the_tutorial_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGES["docs/tutorials/python.md"], re.DOTALL)
    exec(compile(code, "python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "interior" in printed
    assert "standard_error" in printed


def test_the_held_out_comparison_of_blocks_runs(example, capsys, monkeypatch):
    monkeypatch.chdir(example)
    (code,) = blocks_of("docs/tutorials/python.md").values()
    exec(compile(code, "compare_blocks.py", "exec"), {})
    shown = capsys.readouterr().out.split()
    described, without, (gain, error) = float(shown[1]), float(shown[3]), map(float, shown[-2:])
    assert 0.8 < described < without < 0.9
    assert gain == pytest.approx(without - described, abs=1e-5) and gain < 2 * error


def test_the_two_scales_are_related_as_the_tutorial_says(example):
    result = judgerank.fit(example / "judgments.csv", "position_aware", shrink=True)
    page = PAGES["docs/tutorials/python.md"]
    (code,) = re.findall(r"```py\n(from judgerank.order.scale.*?)```", page, re.DOTALL)
    known = {"result": result}
    exec(compile(code, "python.md", "exec"), known)
    board, factor = result.leaderboard().set_index("model")["score"], known["factor"]
    pd.testing.assert_series_equal(result.scores * factor, board[result.scores.index], check_names=False)
    assert np.log(result.discrimination).mean() == pytest.approx(0, abs=1e-9)
    pair = judgerank.pairwise(result).iloc[0]
    contrast = result.contrast({pair["first"]: 1, pair["second"]: -1})
    assert contrast["estimate"] * factor == pytest.approx(pair["difference"])
    judges = judgerank.rank(example / "judgments.csv", model="position_aware").tables["judges"]
    shown = judges.set_index("judge")["discrimination"][result.discrimination.index]
    pd.testing.assert_series_equal(result.discrimination / factor, shown, check_names=False)


def test_the_example_judgments_are_what_their_script_makes():
    script = importlib.util.spec_from_file_location("make_judgments", ROOT / "examples/make_judgments.py")
    module = importlib.util.module_from_spec(script)
    script.loader.exec_module(module)
    assert pd.read_csv(ROOT / "examples/judgments.csv").equals(module.judgments())


def test_every_item_of_the_paper_is_listed():
    tables = [f"Table {n}" for n in (1, 2, 3)] + [f"Table A.{n}" for n in range(1, 10)]
    figures = [f"Figure {n}" for n in (1, 2, 3, 4)] + [f"Figure A.{n}" for n in range(1, 11)]
    listed = items()
    assert sorted(listed["item"]) == sorted(tables + figures)
    assert set(listed["section"]) <= set(SECTIONS)
    for name in listed["item"]:
        assert re.search(rf"^\| {re.escape(name)} +\|", ITEM_PAGE, re.MULTILINE), name


def links() -> list[tuple[str, str]]:
    found = [
        (page, target) for page, text in PAGES.items() for target in re.findall(r"\]\((?!http)([^)#]+)\)", text)
    ]
    return [(page, target) for page, target in found if not target.startswith("#")]


def test_links_lead_to_files():
    missing = [
        f"{page}: {target}" for page, target in links() if not (ROOT / page).parent.joinpath(target).exists()
    ]
    assert not missing


def anchors(text: str) -> set[str]:
    """What links to the headings of a page end in, as the site and GitHub have it."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip()) for text in plain}


def test_links_to_headings_lead_to_one():
    pages = {**PAGES, "CHANGELOG.md": (ROOT / "CHANGELOG.md").read_text().partition("\n## [0.2")[0]}
    missing, n_links = [], 0
    for page, text in pages.items():
        for target, heading in re.findall(r"\]\((?!http)([^)#]*)#([^)]+)\)", text):
            linked = os.path.normpath(Path(page).parent / target) if target else page
            n_links += 1
            if linked not in PAGES or heading not in anchors(PAGES[linked]):
                missing.append(f"{page}: {target}#{heading}")
    assert missing == []
    assert n_links > 50


def test_targets_shown_exist():
    own = "tie_shares"  # a target that is made by following the recipe for a section
    for target in {*re.findall(r"^(?:make|`make) (\w+)", EVERY, re.MULTILINE)} - {own}:
        assert target in SECTIONS or re.search(rf"^(?:\w+ )*{target}(?: \w+)*:", MAKEFILE, re.MULTILINE), target


def test_overrides_shown_compose():
    text = EVERY.replace("\\\n", " ")
    shown = re.findall(r"^\.venv/bin/python experiments/(\w+)\.py (.*)$", text, re.MULTILINE)
    shown += re.findall(r"^make (\w+) .*?ARGS=\"(.*)\" *(?:#.*)?$", text, re.MULTILINE)
    assert len(shown) >= 15
    for section, overrides in shown:
        words = [word for word in shlex.split(overrides, comments=True) if not word.startswith("-")]
        # the launcher is a plugin that only a cluster needs, and a sweep's values come one at a time
        words = [word.split(",")[0] if word.startswith(("seed=", "level=")) else word for word in words]
        if not any("mine" in word and "settings" not in word for word in words):  # made by following a recipe
            composed(section, *(word for word in words if not word.startswith("hydra/launcher")))


def test_every_folder_is_on_the_map_and_what_the_map_names_exists():
    page, source = PAGES["docs/architecture.md"], ROOT / "src"
    for package in ("judgerank", "replication", "studies"):
        for folder in (source / package).glob("*/__init__.py"):
            assert f"`{folder.parent.name}/`" in page, folder
    shown = re.findall(r"`((?:[\w.]+/)*[\w.]*(?:/|\.py))`", page)
    assert len(shown) > 40
    for name in shown:
        homes = [ROOT, *(source / package for package in ("judgerank", "replication", "studies"))]
        homes += [home.parent for home in (source / "judgerank").glob("*/__init__.py")]
        assert any((home / name).exists() for home in homes), name


def test_the_map_has_the_folders_in_the_order_that_imports_have():
    (diagram,) = re.findall(r"```mermaid\n(.*?)```", PAGES["docs/architecture.md"], re.DOTALL)
    drawn = re.findall(r"[a-z]+(?=/)", diagram)
    order = [part for parts in LAYERS[:-1] for part in parts]
    assert list(dict.fromkeys(drawn)) == order


def blocks_of(page: str) -> dict[str, str]:
    """Code of a page by its title, the file it is to be put into."""
    return dict(re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGES[page], re.DOTALL))


RECIPES = blocks_of("docs/extend/replication.md")


def run(script: Path, *arguments: str, cwd: Path = ROOT) -> None:
    done = forked.run([str(script), *arguments], cwd)
    assert done.returncode == 0, done.stderr


@needs_data
def test_the_recipe_for_a_data_set_works(tmp_path, monkeypatch):
    name, text = "my_conf/dataset/mine.yaml", RECIPES["my_conf/dataset/mine.yaml"]
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    shutil.copy(find_file(FILES["mt_bench"]), tmp_path / yaml.safe_load(text)["file"])
    monkeypatch.setenv("JUDGERANK_DATA", str(tmp_path))
    places = (f"results={tmp_path / 'results'}", f"figures={tmp_path / 'figures'}", "surrogate=never")
    run(script_of("data_overview"), f"--config-dir={path.parents[1]}", "dataset=mine", *places)
    assert (tmp_path / "results/paper/data_overview/mine/run.json").is_file()
    assert list((tmp_path / "figures/paper/data_overview/mine").glob("*.png"))


def test_the_recipe_for_a_data_set_in_another_form_works(example, tmp_path, monkeypatch):
    name, text = "my_conf/dataset/votes.yaml", RECIPES["my_conf/dataset/votes.yaml"]
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    data = tmp_path / yaml.safe_load(text)["file"]
    shutil.copy(example / "judgments.csv", data)
    monkeypatch.setenv("JUDGERANK_DATA", str(tmp_path))
    places = (f"results={tmp_path / 'results'}", f"figures={tmp_path / 'figures'}")
    command = (f"--config-dir={path.parents[1]}", "dataset=votes", *places)
    run(script_of("data_overview"), *command)
    assert (tmp_path / "results/paper/data_overview/votes/run.json").is_file()
    data.unlink()
    done = forked.run([str(script_of("data_overview")), *command], ROOT)
    assert done.returncode == 1
    assert "votes.csv is not in" in done.stderr


@needs_data
def test_the_recipe_for_a_section_works(tmp_path):
    """In a copy of the project, in the places that the page names and no others."""
    for folder in (
        "src",
        "conf",
        "experiments",
        "results/paper/benchmark_alignment",
        "results/paper/judge_reliability",
    ):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    schema = RECIPES["src/studies/schemas/beyond.py"]
    for name in ("experiments/beyond/tie_shares.py", "conf/tie_shares.yaml"):
        (tmp_path / name).write_text(RECIPES[name])
    with (tmp_path / "src/studies/schemas/beyond.py").open("a") as file:
        file.write(f"\n\n{schema}")
    command = [sys.executable, "experiments/beyond/tie_shares.py", "surrogate=always"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}  # before the checkout's own
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/surrogate/tie_shares/ties.csv").is_file()
    assert (tmp_path / "figures/surrogate/tie_shares/ties.png").is_file()


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The documentation as `make docs` builds it, without a warning."""
    pytest.importorskip("zensical")
    folder = tmp_path_factory.mktemp("documentation")  # a copy: the site and a cache are written beside it
    for name in ("docs", "figures"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    for name in ("mkdocs.yml", "Makefile"):
        shutil.copy(ROOT / name, folder)
    (folder / "src").symlink_to(ROOT / "src")
    command = ["make", "docs", f"BIN={Path(sys.executable).parent}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.slow
def test_the_site_has_the_reference_and_every_page(site):
    assert (site / "reference/api/index.html").is_file()
    assert "data/ → writing/ → reading/" in (site / "architecture/index.html").read_text()


def test_links_and_pictures_of_the_site_lead_somewhere(site):
    """Every `href` and every `src`: pages, pictures, scripts, and files of our repository."""
    settings = (ROOT / "mkdocs.yml").read_text()
    repository = re.search(r"repository: (\S+)", settings)[1] + "/blob/main/"
    pages = sorted(path for path in site.rglob("*.html") if path.name != "404.html")  # its links are from the root
    missing, pictures = [], 0
    for page in pages:
        for kind, address in re.findall(r'\s(href|src)="([^"#?]+)', page.read_text()):
            if address.startswith(repository):
                found = (ROOT / unquote(address.removeprefix(repository))).exists()
            else:
                where = page.parent / unquote(address)
                found = bool(urlsplit(address).scheme) or where.is_file() or (where / "index.html").is_file()
            pictures += kind == "src" and address.endswith(".png")
            if not found:
                missing.append((page.relative_to(site).as_posix(), address))
    assert missing == []
    assert len(pages) > 50
    assert pictures == sum(
        len(re.findall(r"!\[[^\]]*\]\(", text)) for name, text in PAGES.items() if name != "README.md"
    )


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and logs nothing."""

    def log_message(self, *arguments: object) -> None:
        pass


def test_the_site_loads_nothing_from_another_host(site):
    """Seen by a browser, scripts included, on the front page and on one with a diagram and mathematics."""
    sync_api = pytest.importorskip("playwright.sync_api")
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        pytest.skip("could not find a browser (apt-get install chromium)")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asked: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        for name in ("", "architecture/", "reference/api/", "tutorials/story/"):
            page.goto(f"http://127.0.0.1:{server.server_port}/{name}", wait_until="networkidle")
        browser.close()
    server.shutdown()
    hosts = {urlsplit(url).netloc for url in asked if not url.startswith("data:")}
    assert hosts == {f"127.0.0.1:{server.server_port}"}


def test_the_story_is_what_its_commands_print(tmp_path, monkeypatch):
    """Every line shown is in what the command prints, whatever else it prints and wherever it breaks lines."""
    page = PAGES["docs/tutorials/story.md"]
    shown = dict(re.findall(r"<!-- (\w+) -->\n```text\n(.*?)```", page, re.DOTALL))
    commands = re.findall(r"^judgerank rank .*$", page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, name in zip(commands, ("november", "december"), strict=True):
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
        said = " ".join(done.output.split())
        assert [line for line in shown[name].splitlines() if line not in said] == []
    written = (tmp_path / "rankings/december/index.html").read_text()
    assert [line for line in shown["changes"].splitlines() if escape(line) not in written] == []
    assert (tmp_path / "december.svg").is_file()


def test_the_story_of_the_gate_is_what_its_commands_print(tmp_path, monkeypatch):
    """It ships what looks better, and blocks it once safety is protected."""
    page = PAGES["docs/tutorials/gate.md"]
    shown = re.findall(r"<!-- \w+ -->\n```text\n(.*?)```", page, re.DOTALL)
    commands = re.findall(r"^judgerank gate examples/.*$", page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, text, code in zip(commands, shown, (0, 1), strict=True):
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert (done.exit_code, done.stdout) == (code, text)
    assert (tmp_path / "gate.html").is_file()


def test_the_story_is_simulated_by_its_script():
    script = importlib.util.spec_from_file_location("make_story", ROOT / "examples/make_story.py")
    module = importlib.util.module_from_spec(script)
    script.loader.exec_module(module)
    for month, table in {**module.judgments(), "january": module.of_two_prompts()}.items():
        assert pd.read_csv(ROOT / f"examples/story/{month}.csv").equals(table)


COMMAND_NAMES = get_command(app).commands
COMMANDS = sorted(
    {line.split("#")[0].strip() for line in re.findall(r"^judgerank .*$", EVERY, re.MULTILINE)},
)


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_shown_are_understood(line):
    _, *words = shlex.split(line)
    command = get_command(app)
    whole = command.make_context("judgerank", list(words))
    name, chosen, rest = command.resolve_command(whole, words)
    chosen.make_context(name, rest, parent=whole)


def test_several_commands_are_shown():
    assert {line.split()[1] for line in COMMANDS} == set(COMMAND_NAMES)


# The notebook runs from its first cell to its last, and ends where it says.
PATH = ROOT / "examples/tour.ipynb"
NOTEBOOK = json.loads(PATH.read_text())
NEEDS_DATA = "needs-data"


def executed(*, with_data: bool) -> dict[str, Any]:
    """Names that the code cells leave behind, run in order; each shows what the notebook says."""
    names: dict[str, Any] = {}
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] == "code" and (with_data or NEEDS_DATA not in cell["metadata"].get("tags", [])):
            source = [line for line in cell["source"] if not line.startswith("%")]  # what Jupyter itself is told
            *before, last = ast.parse("".join(source)).body
            before, shown = (before, last) if isinstance(last, ast.Expr) else ([*before, last], None)
            printed, told = io.StringIO(), f"{PATH.name}, {cell['id']}"
            with redirect_stdout(printed):
                exec(compile(ast.Module(before, []), told, "exec"), names)
                value = shown and eval(compile(ast.Expression(shown.value), told, "eval"), names)
            assert printed.getvalue() == "".join("".join(one.get("text", "")) for one in cell["outputs"]), told
            texts = ["".join(one["data"]["text/plain"]) for one in cell["outputs"] if "data" in one]
            with pd.option_context("display.max_columns", 20, "display.width", 80):  # as in a notebook
                assert texts == ([] if value is None else [repr(value)]), told
    return names


@needs_data
def test_it_goes_from_the_papers_data_to_table_3(monkeypatch):
    monkeypatch.chdir(PATH.parent)
    names = executed(with_data=True)
    stored = pd.read_csv(ROOT / "results/paper/chatbot_arena/paper_check.csv")
    assert len(names["check"]) == len(stored)
    assert names["check"]["reproduced"].sum() == stored["reproduced"].sum()


def test_ones_own_file_comes_first_and_needs_no_data_of_the_paper(monkeypatch):
    monkeypatch.chdir(PATH.parent)
    names = executed(with_data=False)
    assert "arena" not in names
    assert names["ranking"].leaderboard["model"].iloc[0] == "aster"
    needs = [NEEDS_DATA in one["metadata"].get("tags", []) for one in NOTEBOOK["cells"] if "outputs" in one]
    assert needs == sorted(needs)


def test_it_is_kept_with_outputs_and_its_links_lead_to_files():
    cells = NOTEBOOK["cells"]
    kinds = {kind for cell in cells for one in cell.get("outputs", ()) for kind in one.get("data", ())}
    assert "image/png" in kinds
    assert len({cell["id"] for cell in cells}) == len(cells)
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    found = re.findall(r"\]\(([^)]+)\)", text)
    assert found
    assert all((PATH.parent / target).is_file() for target in found)


# The Space shows the page of a file, and is of this version.
SPACE = ROOT / "examples/space"


def test_the_space_shows_the_page_or_what_is_wrong(tmp_path, monkeypatch):
    specification = importlib.util.spec_from_file_location("space_app", SPACE / "app.py")
    app = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(app)
    shown = app.page(ROOT / "examples/judgments.csv")
    frame = r'<iframe title="Ranking" sandbox="allow-scripts" .* srcdoc="([^"]*)"></iframe>'
    inside = re.fullmatch(frame, shown, re.DOTALL)[1]
    assert re.search(r"<h1[^>]*>\s*aster leads", unescape(inside))
    (tmp_path / "wrong.csv").write_text("model_a,model_b,winner\nx,y,<b>x</b>\n")
    assert re.fullmatch(r"<p>[^<>\n]+</p>", app.page(tmp_path / "wrong.csv"))
    monkeypatch.setattr(app, "LARGEST", 1)
    assert re.fullmatch(r"<p>[^<>\n]+</p>", app.page(ROOT / "examples/judgments.csv"))


def test_the_space_is_of_this_version_and_place():
    assert len((SPACE / "app.py").read_text().splitlines()) <= 60
    settings = yaml.safe_load((SPACE / "README.md").read_text().split("---\n")[1])
    assert settings["sdk"] == "gradio" and (SPACE / settings["app_file"]).is_file()
    assert SpecifierSet(PROJECT["requires-python"]).contains(settings["python_version"])
    assert len(settings["short_description"]) <= 60  # the most that a Space takes
    needed = Requirement((SPACE / "requirements.txt").read_text().strip())
    assert needed.url == f"git+{CITATION['repository-code']}@v{PROJECT['version']}"
    assert needed.extras <= PROJECT["optional-dependencies"].keys()
