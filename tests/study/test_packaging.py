"""environment.yml, the lock file and pyproject.toml agree; CI runs the README's test command."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

from replication.config import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = [text for group in PROJECT["optional-dependencies"].values() for text in group]
EVERY = map(Requirement, [*PROJECT["dependencies"], *OPTIONAL])
DECLARED = [requirement for requirement in EVERY if requirement.name != PROJECT["name"]]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())


def conda_requirements() -> dict[str, Requirement]:
    listed = ENVIRONMENT["dependencies"]
    names = [entry for entry in listed if isinstance(entry, str)]
    (pip,) = (entry["pip"] for entry in listed if isinstance(entry, dict))
    assert pip[-1] == "-e ."
    return {entry.name: entry for entry in map(Requirement, [*names, *pip[:-1]])}


def test_conda_environment_agrees_with_the_project():
    conda = conda_requirements()
    assert str(conda.pop("python").specifier) == PROJECT["requires-python"]
    assert {name: entry.specifier for name, entry in conda.items()} == {
        entry.name: entry.specifier for entry in DECLARED
    }


def test_conda_environment_has_no_build_strings():
    assert not re.search(r"=\w+=", (ROOT / "environment.yml").read_text())


@pytest.mark.parametrize("requirement", DECLARED, ids=lambda requirement: requirement.name)
def test_the_lock_file_pins_every_dependency_within_its_range(requirement):
    lock = (ROOT / "requirements.lock").read_text()
    pins = re.findall(rf"^{re.escape(requirement.name)}==([^ ;\\]+)", lock, re.MULTILINE)
    assert pins
    assert all(requirement.specifier.contains(pin) for pin in pins)


def test_every_pin_has_hashes():
    blocks = re.split(r"\n(?=\S+==)", (ROOT / "requirements.lock").read_text().strip())
    assert len(blocks) > 40
    assert all("--hash=sha256:" in block for block in blocks)


def test_make_knows_every_section_and_ci_runs_the_test_command_of_the_readme():
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    sections = re.search(r"^SECTIONS := (.*)$", makefile, re.MULTILINE)[1].split()
    scripts = {path.stem for path in (ROOT / "experiments").rglob("*.py") if "run_section(" in path.read_text()}
    assert set(sections) == scripts
    readme = (ROOT / "README.md").read_text()
    assert {"make reproduce", "make test"} <= set(re.findall(r"^make \w+", readme, re.MULTILINE))
    assert (ROOT / ".ci/run").read_text().rstrip().endswith("make test")
