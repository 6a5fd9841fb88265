"""Rankings written to random places among a user's files: not one byte of the user's may go."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from judgerank.cli import app
from replication.replicate import Record

PEOPLE = "model_a,model_b,winner\n" + "".join(
    f"m{i % 3},m{(i + 1) % 3},model_{'a' if i % 4 else 'b'}\n" for i in range(24)
)
RUN = "rank judgments.csv --model btl"
TARGETS = {"-o": 0.6, "--save": 0.6, "--export": 0.6}  # how often each is named
EARLIER = ("board", "board.npz", "board.csv")  # what an earlier run of the user's wrote
FOREIGN = ("thesis.docx", "thesis.csv", "precious.txt", "papers/draft.md", "board/notes.txt")


def overwritten(settings: dict, rng: np.random.Generator) -> Record:
    """One command among a user's files, of one of the ``ways``: how it ended, and whether anything is lost."""
    with tempfile.TemporaryDirectory() as name, _inside(Path(name).resolve()) as home:
        _lay_out(home)
        OF_WAYS[settings["way"]](home, rng)
        before, there = _contents(home), {*home.rglob("*")}
        words = [*RUN.split(), *_targets(home, rng)]
        ended = _run(words)
        lost = sorted(path for path, content in before.items() if not _is_kept(home, path, content))
        left = {*home.rglob("*.partial")} - there
        bad = bool(lost or left or ended not in (0, 1, 2))
        return {
            "status": f"exit {ended}",
            "bad": int(bad),
            "told": " ".join(words) + (f": {lost}" if lost else ""),
        }


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    back = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(back)


def _lay_out(home: Path) -> None:
    """A user's folder: judgments, an earlier ranking of them, and files that have nothing to do with it."""
    (home / "judgments.csv").write_text(PEOPLE)
    assert _run([*RUN.split(), "-o", "board", "--save", "board.npz", "--export", "board.csv"]) == 0
    for number, name in enumerate(FOREIGN):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(f"years of work, {number}")


def _plain(home: Path, rng: np.random.Generator) -> None:
    """Links to the user's files, by either kind of link."""
    there = [path for path in sorted(home.rglob("*")) if path.is_file()]
    for number, path in enumerate(rng.permutation(there)[:4]):
        (home / f"hard{number}.csv").hardlink_to(path)
        (home / f"soft{number}.npz").symlink_to(path)
    (home / "here").symlink_to(home)


def _edited(home: Path, rng: np.random.Generator) -> None:
    """The earlier ranking, in which the user wrote: it is the user's from then on."""
    _plain(home, rng)
    ours = [path for name in EARLIER for path in _files(home / name)]
    for path in (ours[place] for place in rng.permutation(len(ours))[: rng.integers(1, 6)]):
        if path.suffix != ".npz" and path.name not in ("run.json", "notes.txt"):  # nobody edits a fit by hand
            path.write_bytes(path.read_bytes() + b"\nmy notes")


def _hostile(home: Path, rng: np.random.Generator) -> None:
    """Folders that came from somebody else, whose sidecars and journals name the user's files."""
    _plain(home, rng)
    digest = "0" * 64
    for number in range(2):
        folder = home / f"shared{number}"
        folder.mkdir()
        names = [_name_of(home, path, rng) for path in rng.permutation(list(FOREIGN))[:3]]
        told: dict[str, object] = {"section": "rank", "source": {"path": str(home / "judgments.csv")}}
        told["files"] = (dict.fromkeys(names, digest), names, {}, 7)[rng.integers(4)]
        (folder / "run.json").write_text(json.dumps(told))
        if rng.random() < 0.6:
            staging = folder / ".judgerank.partial"
            staging.mkdir()
            (staging / "x").write_text("theirs")
            journal = {"place": [*names, "run.json"] if rng.random() < 0.5 else [], "remove": names}
            (staging / "journal.json").write_text(rng.choice([json.dumps(journal), "{", "[]", '{"place": 1}']))
        if rng.random() < 0.3:
            (folder / "papers").symlink_to(home / "papers")


def _name_of(home: Path, name: str, rng: np.random.Generator) -> str:
    forms = (f"../{name}", str(home / name), f"a/../../{name}", f"papers/{Path(name).name}", name)
    return str(rng.choice(forms))


OF_WAYS: dict[str, Callable[[Path, np.random.Generator], None]] = {
    "links": _plain,
    "edited": _edited,
    "hostile": _hostile,
}


def _targets(home: Path, rng: np.random.Generator) -> list[str]:
    """Options with places to write to: new ones, and any that is there, under any of its names."""
    there = [path.relative_to(home).as_posix() for path in sorted(home.rglob("*"))]
    own = ["new", "new.npz", "new.csv", "no/new.csv", "thesis.tex", *EARLIER]
    words = []
    for option, often in TARGETS.items():
        if rng.random() < often:
            place = str(rng.choice(own if rng.random() < 0.3 else there))
            words += [option, str(rng.choice([place, f"./papers/../{place}", str(home / place), f"here/{place}"]))]
    return words


def _run(words: list[str]) -> int:
    """The command's exit code; any other ending is 70."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            app(words)
        except SystemExit as ended:
            return int(ended.code or 0)
        except BaseException:
            return 70
    return 0


def _files(path: Path) -> list[Path]:
    return [one for one in sorted(path.rglob("*")) if one.is_file()] if path.is_dir() else [path]


def _contents(home: Path) -> dict[str, bytes]:
    """What the user would miss: all files but those that are as the earlier ranking wrote them."""
    listed = json.loads((home / "board/run.json").read_text())["files"]
    ours = {f"board/{one}" for one in [*listed, "run.json"]} | {*EARLIER, ".board.csv.judgerank"}
    found = {path.relative_to(home).as_posix(): path for path in home.rglob("*") if not path.is_symlink()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if path.is_file() and (name not in ours or b"my notes" in path.read_bytes())
    }


def _is_kept(home: Path, name: str, content: bytes) -> bool:
    """Whether a file is as it was; of those in the ranking's folder, a copy beside it will do."""
    path = home / name
    copies = [path, *path.parent.glob(f"{path.name}.edited*")]
    return any(one.is_file() and one.read_bytes() == content for one in copies)
