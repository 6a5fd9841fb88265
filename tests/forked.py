"""Programs in processes of their own that have their libraries loaded: forked from a process that loaded them.

Loading them is most of what a short program takes. Such a process does not show that a program loads all that it
needs, that its results hold under another hash seed, or that nothing goes wrong as an interpreter is taken down:
every program is started anew in some test, too, and so is one whose start or end is what is tested.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import random
import re
import runpy
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = [sys.executable, "-W", "error::RuntimeWarning"]
USUAL = ("pandas", "pyarrow", "pydantic", "scipy.optimize", "scipy.stats", "judgerank.cli.commands")
DRAWING = ("itables", "hydra", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf")
DRAWING += (*USUAL, "fontTools.subset", "replication.config", "replication.outputs", "replication.plots")
COLLECTING = (*USUAL, "judgerank.collecting.run", "litellm")
PROGRESS = re.compile(r"^[a-z ]+: \d+%(, about \d+ (s|min) left)?\n", re.MULTILINE)  # on a slow machine alone
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}  # as its import is told to be


class Server:
    """A process that loads modules and is forked for each program."""

    def __init__(self, *modules: str):
        command = [*PYTHON, __file__, *modules]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        where = os.environ | QUIET | {"PYTHONPATH": str(ROOT / "src")}
        self._process = subprocess.Popen(command, env=where, start_new_session=True, **pipes)
        self._one_at_a_time = threading.Lock()

    def ask(self, question: object):
        with self._one_at_a_time:
            print(json.dumps(question), file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())


server = cache(Server)


class Forked:
    """A program that runs, with what tests use of `subprocess.Popen`."""

    def __init__(
        self, arguments: list[str], cwd: Path, env: Mapping[str, str], modules: tuple[str, ...] = DRAWING
    ):
        self.args, self.returncode = arguments, None
        self._said = [tempfile.NamedTemporaryFile("r") for _ in range(2)]  # noqa: SIM115
        self._server = server(*modules)
        self.pid = self._server.ask([arguments, str(cwd), dict(env), [file.name for file in self._said]])

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._server.ask(self.pid)
        return self.returncode

    def wait(self, timeout: float = 600) -> int:
        begun = time.monotonic()
        while self.poll() is None:
            waited = time.monotonic() - begun
            if waited > timeout:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(min(0.002 + waited / 50, 0.05))  # soon after a short program, seldom beside a long one
        return self.returncode

    def communicate(self, timeout: float = 600) -> tuple[str, str]:
        self.wait(timeout)
        return tuple(file.read() for file in self._said)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(9)


def run(
    arguments: list[str], cwd: Path = ROOT, env: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess:
    """A program to its end; its arguments are those of the interpreter: a script's path, or -m and a module."""
    process = Forked(arguments, cwd, env)
    return without_progress(subprocess.CompletedProcess(arguments, process.wait(), *process.communicate()))


def run_anew(
    arguments: list[str], cwd: Path = ROOT, env: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess:
    """The same in a process that shares nothing with another."""
    return without_progress(
        subprocess.run([*PYTHON, *arguments], cwd=cwd, env=env, capture_output=True, text=True)
    )


def without_progress(done: subprocess.CompletedProcess) -> subprocess.CompletedProcess:
    """What a program printed without how far it was, which depends on the machine and what else runs there."""
    done.stderr = PROGRESS.sub("", done.stderr)
    return done


def ended(pid: int, codes: dict[int, int]) -> int | None:
    """How a child ended, which is told once; None while it runs."""
    if pid not in codes:
        done, status = os.waitpid(pid, os.WNOHANG)
        codes |= {pid: os.waitstatus_to_exitcode(status)} if done else {}
    return codes.get(pid)


def next_program() -> list:
    """In the server, answer what is asked; return in the process of a program, with what it is."""
    codes: dict[int, int] = {}
    for line in sys.stdin:
        question = json.loads(line)
        if isinstance(question, int):
            print(json.dumps(ended(question, codes)), flush=True)
        elif pid := os.fork():
            print(pid, flush=True)
        else:
            return question
    os._exit(0)


def become(arguments: list[str], cwd: str, env: dict[str, str], outputs: list[str]) -> None:
    """What a new process would have of its own."""
    for number, name in enumerate([os.devnull, *outputs]):
        file = os.open(name, os.O_RDWR)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.setsid()  # so that it can be killed with its workers
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    random.seed()
    sys.modules["numpy"].random.seed()
    sys.path[0] = cwd if arguments[0] == "-m" else str(Path(arguments[0]).resolve().parent)
    sys.argv[:] = arguments[1:] if arguments[0] == "-m" else arguments


def carried_out(arguments: list[str]) -> int:
    """Run a program; its exit code. What it raises beside that is for the interpreter to tell."""
    try:
        if arguments[0] == "-m":
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def leave(code: int) -> None:
    """End as an interpreter does, but for taking apart all that was loaded, which copies most of its memory."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # there is none any more
            stream.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # not tests/, whose folders have the names of packages
    for module in sys.argv[1:]:
        with suppress(ImportError):  # of an extra that is not installed
            importlib.import_module(module)
    gc.freeze()  # a program's end would else take a second to look through all of it
    program = next_program()
    become(*program)
    leave(carried_out(program[0]))


# The command `judgerank` as a user runs it, out of this checkout's source, wherever it is run from
RUN = [*PYTHON, "-m", "judgerank"]


def environment(**changed: str | None) -> dict[str, str]:
    """The environment with some variables set, or taken away by None; lines are not cut to a screen."""
    found = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "500", **changed}
    return {name: value for name, value in found.items() if value is not None}


def judgerank(
    *arguments: object, cwd: Path = ROOT, anew: bool = False, **changed: str | None
) -> subprocess.CompletedProcess:
    """Run it to its end; `anew` in a process that has to load its libraries itself."""
    program = run_anew if anew else run
    done = program(["-m", "judgerank", *map(str, arguments)], cwd, environment(**changed))
    assert "Traceback" not in done.stderr, done.stderr
    return done


def usage_text(said: str) -> str:
    """What a command said of its command line, without the box around it."""
    return " ".join(re.sub(r"[╭╮╰╯│─]+", " ", said).split())
