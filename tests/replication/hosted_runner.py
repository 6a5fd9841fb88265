"""A machine that runs the jobs of a workflow as GitHub's do: a fresh Python, a checkout, steps by bash.

Programs that speak to a service are replaced, and their calls are noted. Commands of make are looked up in the
Makefile instead of run, except short ones, which run in the environment of these tests.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from replication.config import ROOT

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
DIGEST = "sha256:" + "0" * 64
SERVICES = {  # programs that need more than a package index, and what each does in its place
    "docker": f'[ "$1" != inspect ] || echo "ghcr.io/judgerank/judgerank@{DIGEST}"',
    "gh": "true",
    "pip-audit": "true",
}
SHELLS = {"": ["-e"], "bash": ["--noprofile", "--norc", "-e", "-o", "pipefail"]}  # options, as GitHub sets them
RUN_HERE = {"crate"}  # commands of make that take seconds
WITHOUT_EFFECT = {"actions/attest", "actions/cache/restore", "actions/cache/save"}  # on the steps after them


def make_targets(script: str) -> list[str]:
    """Targets of every `make` in a script, without its variables and options."""
    commands = re.findall(r"^\s*make ([^#\n;&|]*)", script, re.MULTILINE)
    return [word for words in commands for word in shlex.split(words) if "=" not in word and word[0] not in "-$"]


def missing_targets(names: list[str]) -> list[str]:
    """Those among the names that are no command of the Makefile."""
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    lists = re.findall(r"^(?:\.PHONY|PAPER|BEYOND)\s*:=?(.*)$", makefile, re.MULTILINE)
    commands = {name for text in lists for name in text.split()}
    return [name for name in names if name not in commands]


def filled(text: str, values: dict[str, str]) -> str:
    """The text with expressions such as `${{ matrix.python }}` replaced where their values are known."""
    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: str(values.get(match[1], match[0])), text)


def check_out(folder: Path, services: Path) -> None:
    """Copy the files that git tracks, with the environment of these tests as the one that `make` installs."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    environment = folder / ".venv"
    (environment / "bin").mkdir(parents=True)
    for path in [*Path(sys.prefix).iterdir(), *Path(sys.prefix, "bin").iterdir()]:
        link = environment / path.relative_to(sys.prefix)
        if path.name != "bin":
            link.symlink_to(services / path.name if path.name in SERVICES else path)


@dataclass
class Runner:
    """Runs the jobs of one workflow in a folder.

    Attributes
    ----------
    ran : list of str
        The scripts that ran, with their expressions replaced.
    values : dict
        What expressions stand for; `needs` and `steps` are added as jobs and steps end.
    variables : dict
        Variables of the environment besides those that GitHub sets, or instead of them.
    """

    folder: Path
    ran: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        (self.folder / "bin").mkdir(parents=True)
        for name, action in SERVICES.items():
            program = self.folder / "bin" / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.folder}/calls"\n{action}\n')
            program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        """How the programs that speak to a service were called."""
        return (self.folder / "calls").read_text().splitlines()

    def run_job(self, name: str, job: dict, matrix: dict[str, str]) -> Path:
        """Run a job's steps in order and keep what it outputs; return the folder that it worked in."""
        work, temp = self.folder / name / "work", self.folder / name / "temp"
        for folder in (work, temp):
            folder.mkdir(parents=True, exist_ok=True)
        self.values |= {f"matrix.{key}": value for key, value in matrix.items()}
        self.values |= {
            "runner.temp": str(temp),
            "github.token": "a-token",
            "github.repository": "judgerank/judgerank",
        }
        for step in job["steps"]:
            if "uses" in step:
                self.use(step["uses"].partition("@")[0], step.get("with", {}), work)
            else:
                self.run_step(step, work, temp)
        for key, value in job.get("outputs", {}).items():
            self.values[f"needs.{name}.outputs.{key}"] = filled(value, self.values)
        return work

    def use(self, action: str, settings: dict, work: Path) -> None:
        """Do what an action does, as far as steps after it need it."""
        if action == "actions/checkout":
            check_out(work, self.folder / "bin")
        elif action == "actions/setup-python":
            venv.create(self.folder / "python", with_pip=True)
        elif action == "actions/upload-artifact":
            shutil.copytree(work / settings["path"], self.folder / "artifacts" / settings["name"])
        elif action == "actions/download-artifact":
            shutil.copytree(self.folder / "artifacts" / settings["name"], work / settings["path"])
        else:
            assert action in WITHOUT_EFFECT, action

    def run_step(self, step: dict, work: Path, temp: Path) -> None:
        """Run a script by bash up to its first error, unless it is a long command of make."""
        script = filled(step["run"], self.values)
        assert "${{" not in script, script
        targets = make_targets(script)
        assert missing_targets(targets) == []
        if targets and not set(targets) <= RUN_HERE:
            assert script.startswith("make ") and len(script.splitlines()) == 1, (
                "a command of make is its own step"
            )
            return
        (temp / "output").touch()
        env = self.environment(temp) | {
            key: filled(value, self.values) for key, value in step.get("env", {}).items()
        }
        if targets:  # the checkout's source, not that of these tests
            env["PYTHONPATH"] = str(work / "src")
        where = filled(step.get("working-directory", str(work)), self.values)
        shell = ["bash", *SHELLS[step.get("shell", "")], "-c", script]
        done = subprocess.run(shell, cwd=where, env=env, capture_output=True, text=True)
        self.ran.append(script)
        for line in (temp / "output").read_text().splitlines():
            key, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{key}"] = value
        (temp / "output").unlink()
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"

    def environment(self, temp: Path) -> dict[str, str]:
        """Variables as GitHub sets them, for a tag of the current version."""
        ours = ("PYTHON", "JUDGERANK", "GITHUB", "VIRTUAL_ENV", "MAKE")
        usual = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        *server, owner, name = CITATION["repository-code"].split("/")
        github = {
            "PATH": f"{self.folder}/bin:{self.folder}/python/bin:{os.environ['PATH']}",
            "MAKEFLAGS": f"BIN={sys.prefix}/bin",
            "RUNNER_TEMP": str(temp),
            "GITHUB_OUTPUT": str(temp / "output"),
            "GITHUB_STEP_SUMMARY": str(temp / "summary"),
            "GITHUB_REF_NAME": f"v{CITATION['version']}",
            "GITHUB_SERVER_URL": "/".join(server),
            "GITHUB_REPOSITORY": f"{owner}/{name}",
            "GITHUB_ACTOR": "somebody",
        }
        return usual | github | self.variables
