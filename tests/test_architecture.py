"""What may import what: the library knows nothing of the study, is light, and has one direction."""

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import judgerank
from replication.config import ROOT
from tests.conftest import QUICK_CASES, SLOW
from tests.forked import environment

SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "judgerank").rglob("*.py"))
}
NEVER = {"replication", "experiments", "hydra", "omegaconf", "joblib"}
# what a wheel brings, and what an extra brings to the modules named, which others import within functions only
CORE = {
    "numpy",
    "scipy",
    "pandas",
    "typer",
    "jinja2",
    "markupsafe",
    "itables",
    "tabulate",
    "judgerank",
    *sys.stdlib_module_names,
}
EXTRAS = {
    "judgerank.plots": {"matplotlib"},
    "judgerank.gating.pytest_plugin": {"pytest"},
    "judgerank.inspecting": {"inspect_ai"},
    "judgerank.mcp": {"anyio", "mcp", "pydantic"},
    "judgerank.collecting": {"httpx", "litellm", "pydantic", "yaml", "tenacity", "filelock", "tqdm"},
}
# each may import those before it and what is beside it in the same folder
LAYERS = [
    ["data"],
    ["writing"],
    ["reading"],
    ["model"],
    ["engine"],
    ["inference"],
    ["order"],
    ["pages", "plots"],
    ["fits"],
    ["trust"],
    ["ranking"],
    ["adaptive", "boards", "people", "planning"],
    ["collecting"],
    ["gating", "voting", "inspecting"],
    ["cli"],
    ["__init__", "__main__", "mcp"],
]
# imported by the function that needs it, and not before: loading it takes time, and no stored number depends on it
# (all commands do, and are not listed: their help has to load little)
WHEN_ASKED = {
    ("judgerank.__main__", "judgerank.cli"),
    ("judgerank.gating.gate", "judgerank.gating.verdict_page"),
    ("judgerank.gating.pytest_plugin", "judgerank.collecting.settings"),
    ("judgerank.gating.pytest_plugin", "judgerank.data.errors"),
    ("judgerank.gating.pytest_plugin", "judgerank.gating.answer_pairs"),
    ("judgerank.gating.pytest_plugin", "judgerank.gating.callers"),
    ("judgerank.gating.pytest_plugin", "judgerank.gating.gate"),
    ("judgerank.gating.pytest_plugin", "judgerank.gating.verdict_text"),
    ("judgerank.gating.pytest_plugin", "judgerank.gating.panel_rounds"),
    ("judgerank.gating.pytest_plugin", "judgerank.gating.rule"),
    ("judgerank.gating.pytest_plugin", "judgerank.data.modules"),
    ("judgerank.fits.fit", "judgerank.reading.read"),
    ("judgerank.fits.fit", "judgerank.reading.read"),
    ("judgerank.fits.presentation", "judgerank.plots.looks"),
    ("judgerank.fits.presentation", "judgerank.plots.own"),
    ("judgerank.ranking.card", "judgerank.plots.own"),
    ("replication.schemas.ranges", "replication.replicate"),
}


def imported(path: Path, everywhere: bool, types: bool = False) -> Iterator[str]:
    """Names a module imports: when it is imported itself, or everywhere in it; on request those for types, too."""
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in MODULES else node.module
        elif not types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif everywhere or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


def layer(name: str) -> int:
    part = name.removeprefix("judgerank").lstrip(".").split(".")[0] or "__init__"
    return next(number for number, parts in enumerate(LAYERS) if part in parts)


@pytest.mark.parametrize("name", MODULES)
def test_the_library_imports_nothing_of_the_study_and_nothing_heavy(name):
    assert not {one.split(".")[0] for one in imported(MODULES[name], everywhere=True)} & NEVER
    own = next((parts for package, parts in EXTRAS.items() if name.startswith(package)), set())
    assert {one.split(".")[0] for one in imported(MODULES[name], everywhere=False)} <= CORE | own


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_one_way(name):
    for other in imported(MODULES[name], everywhere=True, types=True):
        if other in MODULES and other != "judgerank":
            assert layer(other) <= layer(name), other


def test_what_functions_import_of_ours_is_listed():
    """The key of a replication's results does not follow such imports (`replication.sources`)."""
    later = set()
    for package in ("judgerank", "replication"):
        for path in (SOURCE / package).rglob("*.py"):
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
            found = set(imported(path, everywhere=True)) - set(imported(path, everywhere=False))
            later |= {(name, one) for one in found if one.split(".")[0] in ("judgerank", "replication")}
    assert {(name, one) for name, one in later if not name.startswith("judgerank.cli.")} == WHEN_ASKED


def test_there_is_no_circle():
    graph = {
        name: {one for one in imported(path, everywhere=True, types=True) if one in MODULES and one != name}
        for name, path in MODULES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_importing_the_library_loads_little():
    code = "import json, sys, judgerank; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert "judgerank" in loaded
    heavy = {
        "pandas",
        "scipy",
        "hydra",
        "omegaconf",
        "joblib",
        "matplotlib",
        "datasets",
        "litellm",
        "openai",
        "pydantic",
        "typer",
        "markdown",
    }
    assert not loaded & (heavy | {"replication", "experiments"})


def test_what_the_library_shows_is_what_it_says_to_types():
    """Names are loaded when they are asked for, so that the list for that and the one for types must agree."""
    tree = ast.parse(MODULES["judgerank"].read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {*typed, "__version__"} == set(judgerank.__all__) == set(dir(judgerank))
    for name, (module, there) in typed.items():
        assert getattr(judgerank, name) is getattr(import_module(module), there)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        judgerank.nothing  # noqa: B018


def test_the_study_imports_no_script_and_the_scripts_import_both():
    for path in (SOURCE / "replication").rglob("*.py"):
        assert "experiments" not in {one.split(".")[0] for one in imported(path, everywhere=True)}, path.name
    used = {
        one.split(".")[0]
        for path in (ROOT / "experiments").rglob("*.py")
        for one in imported(path, everywhere=True)
    }
    assert {"judgerank", "replication"} <= used


def test_a_file_name_has_one_meaning():
    """No two modules of the library have the same name, but a command and what it is called after."""
    names = Counter(path.name for path in (ROOT / "src" / "judgerank").rglob("*.py") if path.name != "__init__.py")
    assert {name for name, count in names.items() if count > 1} <= {"cells.py", "gate.py"}


def shared_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Variables of comprehensions that the function also reads as names of its module."""
    variables, read = set(), set()
    stored = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}

    def visit(node: ast.AST, hidden: frozenset[str]) -> None:
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
            names = {
                name.id for part in node.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)
            }
            variables.update(names)
            hidden |= names
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)):
            return
        elif isinstance(node, ast.Name) and node.id not in hidden:
            (read if isinstance(node.ctx, ast.Load) else stored).add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child, hidden)

    for statement in function.body:
        visit(statement, frozenset())
    return variables & read - stored


def test_no_comprehension_hides_what_its_function_reads_elsewhere():
    """Python 3.12.0 and 3.12.1 take the one for the other where comprehensions are within each other."""
    wrong = "def f(x):\n    a = {n: i for i, n in x}\n    return [[map(i, r) for r in s] for s in x]\n"
    right = "def f(x):\n    a = {n: i for i, n in x}\n    return [[map(g, r) for r in s] for i, s in x]\n"
    for text, shared in ((wrong, {"i"}), (right, set())):
        assert shared_names(ast.parse(text).body[0]) == shared
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                assert shared_names(node) == set(), (path, node.name)


@pytest.mark.parametrize("name", sorted({*QUICK_CASES, *SLOW}))
def test_tests_that_are_left_out_are_there(name):
    """A name that no test has any more would leave out nothing, and stay on the list."""
    tree = ast.parse((ROOT / "tests" / name).read_text())
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert QUICK_CASES.get(name, {}).keys() <= tests
