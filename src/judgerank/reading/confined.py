"""Workbooks, databases, Arrow and Parquet read by a child process with a limit of memory and a clock.

A few bytes of such a file can stand for any number of rows, and libraries that read them end the process where
memory does not suffice. So they are read by a process of their own, which gives back a frame, or says why not.
What the file says of its size is held against the budget of `decompress` first. On Windows there is no limit of
memory, but the clock.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pandas as pd

from judgerank.data.errors import DataError, JudgerankError
from judgerank.reading.contents import Content
from judgerank.reading.decompress import LIMIT, most

if sys.platform != "win32":  # which has no such limits
    import resource

MEMORY = 2**30  # bytes that reading any file may take
TIMES = 8  # its size that a larger file may take, or of what LIMIT allows it to inflate to
SECONDS, BYTES_A_SECOND = 45.0, 2e6  # that reading takes at most: any file, and a large one
OUT_OF_MEMORY = 3  # exit code of the child
REMEDY = f"export the table as CSV ({LIMIT}=8 in the environment allows more)"
PACKAGES = str(Path(__file__).resolve().parents[2])

Read = Callable[[Content], pd.DataFrame]


def confined(read: Read) -> Read:
    """A function that reads content, run by a child process.

    Parameters
    ----------
    read : callable
        A function of a module.

    Returns
    -------
    callable
        The same, which raises `DataError` where it takes too much memory or time.
    """

    def read_by_child(content: Content) -> pd.DataFrame:
        size = len(content.data)
        allowed = TIMES * (most(size) if os.environ.get(LIMIT) else size)
        seconds = SECONDS + size / BYTES_A_SECOND
        task = pickle.dumps((max(MEMORY, allowed), read.__module__, read.__name__, content))
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", __name__],
                input=task,
                capture_output=True,
                timeout=seconds,
                env=os.environ | _environment(),
            )
        except subprocess.TimeoutExpired:
            raise DataError(f"reading it takes more than {seconds:.0f} s: {REMEDY}") from None
        if done.returncode < 0 or done.returncode == OUT_OF_MEMORY:  # libraries without exceptions abort
            raise DataError(f"reading it takes more than {max(MEMORY, allowed) / 1e9:.2g} GB of memory: {REMEDY}")
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        result = pickle.loads(done.stdout)
        if isinstance(result, JudgerankError):
            raise result
        frame: pd.DataFrame = result
        return frame

    return read_by_child


def _environment() -> dict[str, str]:
    """Where this package is; one thread for linear algebra, and no allocator that reserves memory."""
    path = os.pathsep.join(filter(None, [PACKAGES, os.environ.get("PYTHONPATH", "")]))
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    return {"PYTHONPATH": path, "ARROW_DEFAULT_MEMORY_POOL": "system", **one_thread}


def _run() -> None:
    """What the child does: read as it is asked to on standard input, and write a frame or an error."""
    warnings.simplefilter("ignore")
    memory, module, name, content = pickle.load(sys.stdin.buffer)
    read: Read = getattr(__import__(module, fromlist=[name]), name)
    if sys.platform != "win32":
        _limit(memory)
    try:
        result: pd.DataFrame | JudgerankError = read(content)
        sys.stdout.buffer.write(pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL))
    except JudgerankError as error:
        sys.stdout.buffer.write(pickle.dumps(error))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


def _limit(memory: int) -> None:
    """No more address space than this process has now and so many bytes, and no core of it on the disk."""
    in_use = 0
    with suppress(OSError, ValueError):  # where there is no /proc the libraries' own space counts, too
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # a lower limit was set for us
        resource.setrlimit(resource.RLIMIT_AS, (in_use + memory, in_use + memory))


if __name__ == "__main__":
    _run()
