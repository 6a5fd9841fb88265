"""environment.yml, lock files, pyproject.toml, Makefile and folders agree; CI runs the README's test command."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from replication.config import ROOT, SCRIPTS
from replication.sources import files_of_script

# environment.yml, the lock file and pyproject.toml agree; CI runs the README's test command.
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MAKEFILE = (ROOT / "Makefile").read_text().replace("\\\n", " ")
OPTIONAL = [text for group in PROJECT["optional-dependencies"].values() for text in group]
EVERY = map(Requirement, [*PROJECT["dependencies"], *OPTIONAL])
DECLARED = [requirement for requirement in EVERY if requirement.name != PROJECT["name"]]
OF_THE_STUDY = ("study", "test")  # extras that environment.yml has
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())


def required(*extras: str) -> list[Requirement]:
    """What the project and some extras declare, with the extras that these take in."""
    found = [Requirement(text) for text in PROJECT["dependencies"]]
    waiting = list(extras)
    while waiting:
        for requirement in map(Requirement, PROJECT["optional-dependencies"][waiting.pop()]):
            if requirement.name == PROJECT["name"]:
                waiting += requirement.extras
            else:
                found.append(requirement)
    return found


def pins(lock: str) -> dict[str, set[str]]:
    """Hashes of each pin of a lock file, by ``name==version``; a part may need fewer markers."""
    blocks = re.split(r"\n(?=\S+==)", (ROOT / lock).read_text().strip())
    return {block.split()[0]: set(re.findall(r"--hash=(\S+)", block)) for block in blocks}


def conda_requirements() -> dict[str, Requirement]:
    listed = ENVIRONMENT["dependencies"]
    names = [entry for entry in listed if isinstance(entry, str)]
    (pip,) = (entry["pip"] for entry in listed if isinstance(entry, dict))
    assert pip[-1] == "-e ."
    return {entry.name: entry for entry in map(Requirement, [*names, *pip[:-1]])}


def make_sections() -> list[str]:
    lots = dict(re.findall(r"^(PAPER|BEYOND) +:= (.*)$", MAKEFILE, re.MULTILINE))
    return [*lots["PAPER"].split(), *lots["BEYOND"].split()]


def test_conda_environment_agrees_with_the_project():
    conda = conda_requirements()
    assert str(conda.pop("python").specifier) == PROJECT["requires-python"]
    assert {name: entry.specifier for name, entry in conda.items()} == {
        entry.name: entry.specifier for entry in required(*OF_THE_STUDY)
    }


def test_the_conda_recipe_agrees_with_the_project():
    """As a conda package manager reads it, if one is installed."""
    path = ROOT / "recipe/recipe.yaml"
    text = yaml.safe_load(path.read_text().replace("${{ python_min }}", "3.11"))
    python, *run = text["requirements"]["run"]
    assert python == f"python {PROJECT['requires-python']}"
    assert [Requirement(entry.replace(" ", "", 1)) for entry in run] == required()
    assert text["context"]["version"] == PROJECT["version"]
    assert text["build"]["python"]["entry_points"] == [" = ".join(one) for one in PROJECT["scripts"].items()]
    about = (text["about"]["homepage"], text["about"]["summary"], text["about"]["license"])
    assert about == (PROJECT["urls"]["Repository"], PROJECT["description"], PROJECT["license"])
    (built,) = pytest.importorskip("rattler_build").Stage0Recipe.from_file(str(path)).render()
    assert (built.recipe.package.name, built.recipe.package.version) == (PROJECT["name"], PROJECT["version"])
    assert built.recipe.to_dict()["requirements"]["run"] == text["requirements"]["run"]


def test_conda_environment_has_no_build_strings():
    assert not re.search(r"=\w+=", (ROOT / "environment.yml").read_text())


@pytest.mark.parametrize("requirement", DECLARED, ids=lambda requirement: requirement.name)
def test_the_lock_file_pins_every_dependency_within_its_range(requirement):
    lock = (ROOT / "requirements.lock").read_text()
    pins = re.findall(rf"^{re.escape(requirement.name)}==([^ ;\\]+)", lock, re.MULTILINE)
    assert pins
    assert all(requirement.specifier.contains(pin) for pin in pins)


def test_the_lock_of_the_study_is_a_part_of_the_whole():
    part, whole = pins("requirements-study.lock"), pins("requirements.lock")
    names = {pin.partition("==")[0] for pin in part}
    assert {requirement.name.lower() for requirement in required("study")} <= names
    assert part.items() <= pins("requirements-test.lock").items() <= whole.items()
    assert len(part) < len(whole) / 2
    # documentation, browsers, providers, engines and other yardsticks are for other commands
    assert not names & {
        "litellm",
        "playwright",
        "zensical",
        "polars",
        "duckdb",
        "evaluatorq",
        "mypy",
    }


def test_the_lock_of_the_action_is_a_part_of_the_whole():
    part, whole = pins("requirements-gate.lock"), pins("requirements.lock")
    names = {pin.partition("==")[0] for pin in part}
    assert part.items() <= whole.items()
    assert {requirement.name.lower() for requirement in required("collect")} | {"hatchling"} <= names
    assert not names & {"pytest", "datasets", "inspect-ai", "playwright"}


def test_the_lock_of_the_site_is_a_small_part_of_the_whole():
    part, whole = pins("requirements-docs.lock"), pins("requirements.lock")
    names = {pin.partition("==")[0] for pin in part}
    assert part.items() <= whole.items()
    declared = map(Requirement, PROJECT["optional-dependencies"]["docs"])
    assert {requirement.name.lower() for requirement in declared} | {"hatchling", "editables", "pip"} <= names
    assert len(part) < len(whole) / 5
    assert not names & {"numpy", "scipy", "pandas", "matplotlib"}


def test_the_lock_of_make_test_has_what_most_tests_need():
    names = {pin.partition("==")[0] for pin in pins("requirements-test.lock")}
    extras = re.search(r"^lock: TESTED := (.*)$", MAKEFILE, re.MULTILINE)[1].split()
    assert {requirement.name.lower() for requirement in required(*extras)} <= names
    assert {"pytest", "ruff", "duckdb"} <= names
    # of providers, browsers, types, clusters and other yardsticks `make test-all` alone has tests
    assert not names & {"litellm", "inspect-ai", "playwright", "mypy", "distributed", "polars", "evaluatorq"}


OF_REPRODUCE = ("audit", "crate", "pages", "smoke", "tables", "verify")


def test_what_the_study_imports_is_in_its_lock():
    """Everything that its scripts and their modules of ours import at their top."""
    scripts = {path.stem: path for path in (ROOT / "experiments").rglob("*.py")}
    files = set().union(*(files_of_script(scripts[name]) for name in (*make_sections(), *OF_REPRODUCE)))
    files |= {scripts[name] for name in (*make_sections(), *OF_REPRODUCE)}
    imported = set().union(*(top_imports(path) for path in files)) - {
        "judgerank",
        "replication",
        "studies",
        "experiments",
    }
    distributions = packages_distributions()
    locked = {pin.partition("==")[0] for pin in pins("requirements-study.lock")}
    missing = {
        name
        for name in imported - sys.stdlib_module_names
        if not locked & {re.sub("[-_.]+", "-", one).lower() for one in distributions[name]}
    }
    assert not missing


def top_imports(path: Path) -> set[str]:
    """Packages that a module imports whatever it is used for."""
    body = ast.parse(path.read_text()).body
    names = [alias.name for one in body if isinstance(one, ast.Import) for alias in one.names]
    names += [one.module for one in body if isinstance(one, ast.ImportFrom) and not one.level]
    return {name.partition(".")[0] for name in names}


def test_each_command_installs_what_it_needs_first():
    """`make reproduce`, `make test` and `make test-all` need nothing done before them."""
    rules = dict(re.findall(r"^([^:\t#\n]+): ([^=\n]*)$", MAKEFILE, re.MULTILINE))
    assert rules["$(SECTIONS)"] == rules["figures"] == rules["audit"] == "study"
    assert rules["smoke verify stale crate tables"] == rules["study"].removeprefix(".venv/") == "study"
    assert rules["test-all"] == rules["kernels torture licences screens"] == "environment"
    assert rules["test"] == "test-environment" and rules["test-environment"] == ".venv/test"
    assert rules["docs"] == "docs-environment" and rules["docs-environment"] == ".venv/docs"
    assert rules["environment"] == ".venv/installed"
    for stamp, lock in (
        (".venv/study", "-study"),
        (".venv/test", "-test"),
        (".venv/docs", "-docs"),
        (".venv/installed", ""),
    ):
        assert rules[stamp] == f"requirements{lock}.lock pyproject.toml"
    install = re.search(r"^define install\n(.*?)^endef", MAKEFILE, re.MULTILINE | re.DOTALL)[1].splitlines()
    assert install[1].endswith("-m venv .venv")
    assert "--require-hashes" in install[2]


def test_every_pin_has_hashes():
    blocks = re.split(r"\n(?=\S+==)", (ROOT / "requirements.lock").read_text().strip())
    assert len(blocks) > 40
    assert all("--hash=sha256:" in block for block in blocks)


def test_make_knows_every_section_and_ci_runs_the_test_command_of_the_readme():
    sections = make_sections()
    scripts = {
        path.stem for path in (ROOT / "experiments").rglob("*.py") if "section_command(" in path.read_text()
    }
    assert set(sections) == scripts
    readme = (ROOT / "README.md").read_text()
    assert {"make reproduce", "make test", "make test-all"} <= set(
        re.findall(r"^make [\w-]+", readme, re.MULTILINE)
    )
    assert (ROOT / ".ci/run").read_text().rstrip().endswith("\nmake test-all")


def test_make_test_leaves_out_the_slow_tests_and_make_test_all_none():
    planned = [
        make("--dry-run", command, "BIN=/usr/bin").stdout.splitlines()[-3:] for command in ("test", "test-all")
    ]
    assert planned[0][:2] == planned[1][:2] == ["/usr/bin/ruff check .", "/usr/bin/ruff format --check ."]
    few, every = (lines[2].split() for lines in planned)
    assert few == [*every, "-m", '"not', 'slow"'] and "-m" not in every[3:]


# The packages import one way: studies -> replication -> judgerank.
ABOVE = {"judgerank": {"replication", "studies"}, "replication": {"studies"}}  # what each may not import


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports anywhere, inside functions too."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    modules += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("package", ABOVE)
def test_a_package_imports_none_above_it(package):
    files = sorted((ROOT / "src" / package).rglob("*.py"))
    assert len(files) > 20
    upward = {path.relative_to(ROOT): names for path in files if (names := imported(path) & ABOVE[package])}
    assert upward == {}


def test_the_papers_scripts_need_nothing_of_the_studies():
    scripts = sorted(SCRIPTS.glob("*.py"))
    assert len(scripts) > 13
    assert not [path.name for path in scripts if "studies" in imported(path)]


# The Makefile: its help names what it can do, and it runs in an environment that is given to it.
RULES_OF_MAKE = (ROOT / "Makefile").read_text()
PARTS = ["The paper", "Beyond the paper", "The tool", "Tests and documentation", "Installation"]


def make(*arguments: str, folder=ROOT) -> subprocess.CompletedProcess:
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def listed(variable: str) -> set[str]:
    """What a variable or `.PHONY` of the Makefile lists, without other variables."""
    text = re.search(rf"^{re.escape(variable)}\s*:=?(.*)$", RULES_OF_MAKE.replace("\\\n", " "), re.MULTILINE)[1]
    return {name for name in text.split() if "$" not in name}


def test_help_has_every_command_in_its_part():
    shown = make("help").stdout
    assert [line for line in shown.splitlines() if re.match(r"\w", line) and "BIN=" not in line] == PARTS
    named = re.findall(r"^  make ([\w-]+)", shown, re.MULTILINE)
    assert len(named) == len(set(named))
    sections = listed("PAPER") | listed("BEYOND")
    assert sections and "  make <section>" in shown
    assert set(named) - sections == listed(".PHONY") - {"help"}


COPIED = ["Makefile", "pyproject.toml", "experiments"]
COPIED += [f"requirements{part}.lock" for part in ("", "-study", "-test", "-docs")]


@pytest.fixture
def copy(tmp_path):
    """What make looks at, in a folder where nothing is installed."""
    for name in COPIED:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    return tmp_path


COMMANDS = [
    "reproduce",
    "beyond",
    "chatbot_arena",
    "smoke",
    "verify",
    "tables",
    "test",
    "test-all",
    "docs",
    "rank",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_environment_that_is_given_is_used_and_nothing_is_installed(copy, command):
    (copy / "env/bin").mkdir(parents=True)
    (copy / "env/bin/python").symlink_to(shutil.which("true"))
    planned = make("--dry-run", command, folder=copy).stdout
    assert "-m venv .venv" in planned and ".venv/bin/" in planned
    planned = make("--dry-run", command, f"BIN={copy}/env/bin", folder=copy).stdout
    assert f"{copy}/env/bin/" in planned
    assert not re.search(r"(?<!\S)[.]venv|-m venv|pip install", planned)


def test_the_environment_that_is_given_runs_a_section_and_the_audit(copy):
    (copy / "env/bin").mkdir(parents=True)
    (copy / "env/bin/python").symlink_to(shutil.which("echo"))
    done = make("chatbot_arena", "audit", f"BIN={copy}/env/bin", "ARGS=level=0.9", folder=copy)
    ran = ["chatbot_arena.py level=0.9", "audit.py level=0.9", "beyond/pages.py"]
    assert [line for line in done.stdout.splitlines() if line.startswith("experiments/")] == [
        f"experiments/{script}" for script in ran
    ]
    assert not (copy / ".venv").exists()


def test_an_environment_that_is_not_there_ends_in_one_sentence(copy):
    done = make("chatbot_arena", "BIN=/nowhere/bin", folder=copy)
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == "BIN=/nowhere/bin: no program named python in this folder"
    assert sorted(path.name for path in copy.iterdir()) == sorted(COPIED)


# The folders of the paper and of what is beyond it: each says what it is, and has its own sections.
JOINED_MAKEFILE = (ROOT / "Makefile").read_text().replace("\\\n", " ")
LOTS = {
    name: set(re.search(rf"^{name.upper()}\s*:=(.*)$", JOINED_MAKEFILE, re.MULTILINE)[1].split())
    for name in ("paper", "beyond")
}
FOLDERS = {
    "paper": ("experiments", "results/paper", "figures/paper"),
    "beyond": ("experiments/beyond", "results/beyond", "figures/beyond"),
}


@pytest.mark.parametrize("folder", [name for names in FOLDERS.values() for name in names])
def test_each_folder_says_what_it_is(folder):
    text = (ROOT / folder / "README.md").read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / folder / target).exists(), target


@pytest.mark.parametrize("lot", FOLDERS)
def test_scripts_that_are_no_section_are_named(lot):
    folder = ROOT / FOLDERS[lot][0]
    scripts = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert LOTS[lot] <= scripts
    named = set(re.findall(r"`(\w+)\.py`", (folder / "README.md").read_text()))
    assert named == scripts - LOTS[lot]


@pytest.mark.parametrize("lot", FOLDERS)
def test_stored_sections_are_in_their_lot(lot):
    (other,) = set(FOLDERS) - {lot}
    for kind in ("results", "figures"):
        stored = {path.name for path in (ROOT / kind / lot).iterdir() if path.is_dir()}
        assert LOTS[lot] & stored
        assert not LOTS[other] & stored
