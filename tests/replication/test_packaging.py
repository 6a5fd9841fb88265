"""environment.yml, the lock file and pyproject.toml agree; CI runs the README's test command."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from replication.config import ROOT
from replication.sources import files_of_script

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
    assert part.items() <= whole.items()
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
    """`make reproduce` and `make test` need nothing done before them."""
    rules = dict(re.findall(r"^([^:\t#\n]+): ([^=\n]*)$", MAKEFILE, re.MULTILINE))
    assert rules["$(SECTIONS)"] == rules["figures"] == rules["audit"] == "study"
    assert rules["smoke verify crate tables"] == rules["study"].removeprefix(".venv/") == "study"
    assert rules["test quick"] == rules["kernels torture licences screens"] == "environment"
    assert rules["environment"] == ".venv/installed"
    for stamp, lock in ((".venv/study", "requirements-study.lock"), (".venv/installed", "requirements.lock")):
        assert rules[stamp] == f"{lock} pyproject.toml"
    install = re.search(r"^define install\n(.*?)^endef", MAKEFILE, re.MULTILINE | re.DOTALL)[1].splitlines()
    assert install[1].endswith("-m venv .venv")
    assert "--require-hashes" in install[2]


def test_every_pin_has_hashes():
    blocks = re.split(r"\n(?=\S+==)", (ROOT / "requirements.lock").read_text().strip())
    assert len(blocks) > 40
    assert all("--hash=sha256:" in block for block in blocks)


def test_make_knows_every_section_and_ci_runs_the_test_command_of_the_readme():
    sections = make_sections()
    scripts = {path.stem for path in (ROOT / "experiments").rglob("*.py") if "run_section(" in path.read_text()}
    assert set(sections) == scripts
    readme = (ROOT / "README.md").read_text()
    assert {"make reproduce", "make test"} <= set(re.findall(r"^make \w+", readme, re.MULTILINE))
    assert (ROOT / ".ci/run").read_text().rstrip().endswith("make test")
