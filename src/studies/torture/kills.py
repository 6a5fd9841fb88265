"""A study, a ledger of judgments and a folder of results killed at random moments: whole in the end."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import RLock

import numpy as np
from tqdm import tqdm

from judgerank.collecting.ledger import opened
from judgerank.writing.atomic import recover, staged
from judgerank.writing.sidecars import written
from replication.replicate import Record, Study
from replication.schemas.section import Parallel

MOMENT = 0.03  # seconds that a run takes at least, and within which it is killed
LONGEST = 60  # seconds after which a run that hangs counts as lost
SIZE = 12  # cells of the study, judgments of the ledger, files of the folder


def lost(settings: dict, rng: np.random.Generator) -> Record:
    """One victim of the ``kind``, killed up to ``kills`` times and then left alone: whether anything was lost."""
    run, whole = {
        "study": (_study, _study_whole),
        "ledger": (_ledger, _ledger_whole),
        "results": (_results, _results_whole),
    }[settings["kind"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "victim")
        killed = sum(_killed(run, folder, rng.uniform(0, MOMENT)) for _ in range(settings["kills"]))
        ended = not _killed(run, folder, None)
        return {
            "status": "killed" if killed else "too fast",
            "kills": killed,
            "bad": int(not (ended and whole(folder))),
        }


def _killed(run: Callable[[Path], None], folder: Path, after: float | None) -> bool:
    """Whether a process of its own was killed, so many seconds after it began, or ended badly by itself."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(LONGEST)
            tqdm.set_lock(RLock())  # its usual one is shared with children, and stays locked when one is killed
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stderr__.fileno() if sys.__stderr__ else 2)
            run(folder)
            code = 0
        finally:
            os._exit(code)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] != 0


def slow(settings: dict, rng: np.random.Generator) -> Record:
    """A replication that takes a little while."""
    time.sleep(MOMENT / SIZE)
    return {"value": float(rng.normal())}


def _toy(folder: Path) -> Study:
    cells = {f"c{x}": {"cell": x} for x in range(SIZE)}
    return Study("killed", slow, cells, dict.fromkeys(cells, 1), 0, folder, 1)


def _study(folder: Path) -> None:
    _toy(folder).run(Parallel("sequential", 1))


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _study_whole(folder: Path) -> bool:
    _study(folder.with_name("unharmed"))
    blocks = (
        {name: text for name, text in _tree(place).items() if name.endswith(".jsonl")}
        for place in (folder, folder.with_name("unharmed"))
    )
    return next(blocks) == next(blocks)


def _judgments() -> list[dict]:
    keys = ("question_id", "model_a", "model_b", "judge_model", "repeat")
    return [dict(zip(keys, (f"q{x}", "a", "b", "j", 0), strict=True)) for x in range(SIZE)]


def _ledger(folder: Path) -> None:
    with opened(folder / "judgments.jsonl") as ledger:
        for record in _judgments():
            if record not in ledger.records:
                time.sleep(MOMENT / SIZE)
                ledger.append(record)


def _ledger_whole(folder: Path) -> bool:
    with opened(folder / "judgments.jsonl") as ledger:
        return ledger.records == _judgments() and not ledger.torn


def _results(folder: Path) -> None:
    """The next edition: every file says which one it is of."""
    recover(folder)
    edition = str(int((folder / "0").read_text()) + 1 if (folder / "0").exists() else 1)
    with staged(folder) as inside:
        for x in range(SIZE):
            time.sleep(MOMENT / SIZE / 2)
            (inside / str(x)).write_text(edition)
        (inside / "run.json").write_text('{"section": "killed"}')


def _results_whole(folder: Path) -> bool:
    editions = {(folder / str(x)).read_text() for x in range(SIZE)}
    return len(editions) == 1 and set(written(folder)) | {"run.json"} == set(_tree(folder))
