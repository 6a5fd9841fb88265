"""Nothing that a command did not write is lost: whatever its target, and whenever it is killed."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from judgerank import fit, load, rank
from judgerank.cli import app
from judgerank.data.errors import ConfigError, DataError
from judgerank.fits.storing import is_saved
from judgerank.writing import atomic
from judgerank.writing.atomic import beside, locked, staged
from judgerank.writing.sidecars import JOURNAL, STAGING, digest, is_marked, mark_of, written
from judgerank.writing.targets import Outputs
from replication.config import ROOT
from tests.forked import judgerank
from tests.tool.test_exports import judgments

SIDECARS = ("run.json", "figures.json")
OLD = {"a.csv": "old a", "sub/b.csv": "old b", "gone.csv": "old", "away/c.csv": "old c"}
NEW = {"a.csv": "new a", "sub/b.csv": "new b", "fresh.csv": "new", "more/d.csv": "new d"}
NOTES = {"thesis.txt": "years of work", "sub/notes.md": "notes", "away/kept.md": "kept"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def publish(target: Path, files: dict[str, str], sidecar: str = "run.json", force: bool = False) -> None:
    with staged(target, sidecar, force) as folder:
        write(folder, files)


def content(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name not in SIDECARS]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def with_notes(folder: Path) -> Path:
    publish(folder, OLD)
    write(folder, NOTES)
    return folder


def test_files_of_others_stay_and_what_is_no_longer_written_goes(tmp_path):
    target = with_notes(tmp_path / "results")
    publish(target, NEW)
    assert content(target) == NEW | NOTES
    assert written(target) == {name: digest(target / name) for name in NEW}
    publish(target, {"a.csv": "last"})
    assert content(target) == {"a.csv": "last"} | NOTES
    assert not (target / "more").exists()


def test_a_file_edited_since_is_kept(tmp_path, caplog):
    caplog.set_level("INFO")
    publish(tmp_path, OLD)
    for number in ("", "-2"):
        write(tmp_path, {"a.csv": f"mine{number}", "gone.csv": "mine too"})
        publish(tmp_path, NEW)
        assert (tmp_path / f"a.csv.edited{number}").read_text() == f"mine{number}"
    assert content(tmp_path) == NEW | {"a.csv.edited": "mine", "a.csv.edited-2": "mine-2", "gone.csv": "mine too"}
    assert "was edited since it was written: kept as a.csv.edited" in caplog.text


@pytest.mark.parametrize("mine", ["fresh.csv", "fresh.csv/inside.txt", "more"])
def test_a_file_in_the_way_is_not_replaced(mine, tmp_path):
    target = with_notes(tmp_path)
    write(target, {mine: "mine"})
    before = content(target)
    with pytest.raises(ConfigError, match=rf"\b{re.escape(mine.split('/')[0])}\b.*\(move it"):
        publish(target, NEW)
    assert content(target) == before
    assert not (target / STAGING).exists()


def test_a_sidecar_of_something_else_is_not_replaced(tmp_path):
    (tmp_path / "run.json").write_text('{"name": "my app"}')
    with pytest.raises(ConfigError, match=r"run\.json does not list what was written there"):
        publish(tmp_path, NEW)
    assert (tmp_path / "run.json").read_text() == '{"name": "my app"}'


def test_tables_and_figures_may_share_a_folder(tmp_path):
    for text in ("one", "two"):
        publish(tmp_path, {"a.csv": text}, "run.json")
        publish(tmp_path, {"a.pdf": text}, "figures.json")
    assert content(tmp_path) == {"a.csv": "two", "a.pdf": "two"}
    with pytest.raises(ConfigError, match=r"a\.csv was not written by an earlier run"):
        publish(tmp_path, {"a.csv": "three"}, "figures.json")


def test_a_block_that_fails_leaves_nothing_behind(tmp_path):
    target = with_notes(tmp_path / "results")
    before = content(target)
    for folder in (target, tmp_path / "new" / "folder"):
        with pytest.raises(ValueError, match="no"), staged(folder) as staging:
            write(staging, NEW)
            raise ValueError("no")
    assert content(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_through_a_symbolic_link_the_folder_behind_it_is_written(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    publish(tmp_path / "link", OLD)
    publish(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "elsewhere") == NEW


# kills

STEPS = [(os, "replace"), (os, "mkdir"), (os, "unlink"), (os, "rmdir"), (shutil, "rmtree"), (shutil, "copy2")]


class Killed(BaseException):
    """As after SIGKILL: no further step is made, also none that would clean up."""


def kill_at(monkeypatch, step: int, before: bool) -> list[str]:
    """Let every step from the given one on fail, either before or after it is made; returns the steps made."""
    made = []

    def dying(name, call):
        def instead(*args, **kwargs):
            if len(made) > step:
                raise Killed
            made.append(name)
            if len(made) > step and before:
                raise Killed
            result = call(*args, **kwargs)
            if len(made) > step:
                raise Killed
            return result

        return instead

    for module, name in STEPS:
        monkeypatch.setattr(module, name, dying(name, getattr(module, name)))
    return made


def is_whole(found: dict[str, str], mine: dict[str, str] | None = None) -> bool:
    """Whether every file of the old set or its successor is there, and nobody's notes are gone."""
    old, mine = OLD | (mine or {}), mine or {}
    both = all(found.get(name) in (old[name], NEW[name]) for name in OLD.keys() & NEW.keys())
    kept = all(text in (found.get(name), found.get(f"{name}.edited")) for name, text in mine.items())
    return both and kept and NOTES.items() <= found.items()


@pytest.mark.parametrize("before", [True, False], ids=["before the step", "after the step"])
@pytest.mark.parametrize("link", [False, True], ids=["folder", "link"])
@pytest.mark.parametrize("kept", [False, True], ids=["as written", "edited and in the way"])
def test_a_kill_at_any_step_loses_nothing_and_the_next_run_goes_on(before, link, kept, tmp_path, monkeypatch):
    mine = {"a.csv": "mine", "fresh.csv": "mine, too"} if kept else {}
    edited = {f"{name}.edited": text for name, text in mine.items()}
    seen = set()
    for step in range(200):
        folder = with_notes(tmp_path / str(step))
        write(folder, mine)
        target = tmp_path / f"link{step}" if link else folder
        if link:
            target.symlink_to(folder)
        with monkeypatch.context() as patch:
            made = kill_at(patch, step, before)
            try:
                publish(target, NEW, force=kept)
            except Killed:
                ended = False
            else:
                ended = len(made) <= step
        found = {name: text for name, text in content(folder).items() if not name.startswith(STAGING)}
        assert is_whole(found, mine), step
        seen.add(found == OLD | NOTES | mine)
        atomic._held.clear()
        if ended:
            break
        with locked(target):
            atomic.recover(target)
        # one set or the other, no mixture
        assert content(folder) in (OLD | NOTES | mine, NEW | NOTES | edited), step
        publish(target, NEW, force=kept)
        assert content(folder) == NEW | NOTES | edited
        assert not (folder / STAGING).exists()
    assert ended
    assert step > 15
    assert seen == {True, False}


@pytest.mark.parametrize("step", [0, 3, 6, 9, 11])
def test_a_process_that_is_killed_loses_nothing(step, tmp_path):
    target = with_notes(tmp_path)
    program = """if True:
        import json, os, signal, sys
        from pathlib import Path
        from tests.tool.test_atomic import NEW, STEPS, publish
        left = int(sys.argv[2])
        def dying(call):
            def instead(*args, **kwargs):
                global left
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                return call(*args, **kwargs)
            return instead
        for module, name in STEPS:
            setattr(module, name, dying(getattr(module, name)))
        publish(Path(sys.argv[1]), NEW)
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run([sys.executable, "-c", program, str(target), str(step)], env=environment)
    assert done.returncode == -signal.SIGKILL
    assert is_whole(content(target))
    publish(target, NEW)
    assert content(target) == NEW | NOTES


def test_a_first_ranking_that_was_killed_half_way_can_be_made_again(tmp_path):
    target = tmp_path / "ranking"
    (target / STAGING).mkdir(parents=True)
    Outputs().folder(target, "rank")
    publish(target, {"run.json": '{"section": "rank"}', "a.csv": "1"})
    listed = (target / "run.json").read_text()
    shutil.move(target / "run.json", tmp_path / "run.json")
    (target / STAGING).mkdir()
    shutil.move(tmp_path / "run.json", target / STAGING / "run.json")
    (target / STAGING / JOURNAL).write_text(json.dumps({"place": ["a.csv", "run.json"], "remove": []}))
    Outputs().folder(target, "rank")
    assert (target / "run.json").read_text() == listed
    assert content(target) == {"a.csv": "1"}


@pytest.mark.parametrize("before", [True, False], ids=["before the step", "after the step"])
def test_a_kill_while_single_files_are_written_leaves_each_old_or_new_and_known(before, tmp_path, monkeypatch):
    for step in range(50):
        folder = tmp_path / str(step)
        folder.mkdir()
        files = [folder / name for name in ("a.csv", "b.csv")]
        with beside(dict.fromkeys(files, b"old"), files):
            pass
        with monkeypatch.context() as patch:
            made = kill_at(patch, step, before)
            try:
                with beside(dict.fromkeys(files, b"new"), files):
                    pass
            except Killed:
                pass
        assert {path.read_bytes() for path in files} <= {b"old", b"new"}
        assert all(map(is_marked, files)), step
        if len(made) <= step:
            break
    assert step > 3
    assert {path.read_bytes() for path in files} == {b"new"}
    assert len(list(folder.iterdir())) == 4


# two runs at once


def test_two_runs_into_one_folder_end_in_a_sentence(tmp_path):
    program = "import sys; from pathlib import Path; from judgerank.writing.atomic import locked\n"
    program += "with locked(Path(sys.argv[1])): print('in', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    (tmp_path / "link").symlink_to(tmp_path / "target")
    other = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "target")], **pipes)
    assert other.stdout.readline() == "in\n"
    for name in ("target", "link"):
        with pytest.raises(ConfigError, match=r"another run is writing to .*target; wait for it"):
            publish(tmp_path / name, NEW)
    other.kill()
    other.communicate()
    publish(tmp_path / "target", NEW)
    assert content(tmp_path / "target") == NEW


def test_a_folder_cannot_be_where_a_file_is(tmp_path):
    (tmp_path / "file").write_text("mine")
    for target in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConfigError, match=re.escape(str(target))):
            publish(target, NEW)
    assert (tmp_path / "file").read_text() == "mine"


MODELS = ["x", "y", "z"]
OPTIONS = {"save": ["rank", "m.csv", "--save"], "export": ["rank", "m.csv", "--export"]}
OPTIONS |= {"next": ["people", "m.csv", "--next"]}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A working directory with a file that cannot be ranked, so that a run that is not refused ends otherwise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "500")
    Path("m.csv").write_text("no judgments")
    Path("notes.txt").write_text("notes")
    return tmp_path


def bytes_of(folder: Path) -> dict[str, object]:
    """All that is there: of files the bytes, of links where they lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if "__pycache__" in path.parts:  # Python's own, of a file of code that is read
            continue
        name = path.relative_to(folder).as_posix()
        found[name] = path.read_bytes() if path.is_file() else str(path.readlink()) if path.is_symlink() else "-"
    return found


def sentence_of(arguments: list[str]) -> str:
    """What the command says, in one sentence, when it ends badly."""
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.stderr.count("\n") == 1
    return done.stderr


def a_file(path: str, content: str = "a year's work") -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content)
    return path


def linked(path: str, to: str, hard: bool = False) -> str:
    if hard:
        Path(path).hardlink_to(to)
    else:
        Path(path).symlink_to(to)
    return path


def exported(path: str) -> str:
    """A file as `Outputs` wrote it."""
    outputs = Outputs()
    outputs.file(Path(path))
    outputs.write({Path(path): b"a table"})
    return path


def edited(path: str) -> str:
    return a_file(exported(path), "a table, and notes")


def read_only(path: str) -> str:
    Path(exported(path)).chmod(0o444)
    return path


def a_fifo(path: str) -> str:
    os.mkfifo(path)
    return path


def a_mark_of_something_else(path: str) -> str:
    a_file(str(mark_of(Path(path))), "not a digest")
    return path


# what the message says beside the target: how it is used, or whether --force would replace it
INPUT = r"\bread\b[^-]*$"
OTHERS = r"(?<!read-only), .*--force\b"
REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "the input": (lambda: "m.csv", INPUT),
    "the input by a longer way": (lambda: a_file("sub/x") and "./sub/../m.csv", INPUT),
    "the input by its whole path": (lambda: str(Path("m.csv").resolve()), INPUT),
    "a link to the input": (lambda: linked("link.csv", "m.csv"), INPUT),
    "a link to a link to it": (lambda: linked("l.csv", "m.csv") and linked("ll.csv", "l.csv"), INPUT),
    "a hard link of the input": (lambda: linked("hard.csv", "m.csv", hard=True), INPUT),
    "through a linked folder": (lambda: linked("here", ".") and "here/m.csv", INPUT),
    "a table of somebody else's": (lambda: a_file("thesis.csv"), OTHERS),
    "an empty file": (lambda: a_file("empty.csv", ""), OTHERS),
    "a link to somebody else's": (lambda: linked("t.csv", a_file("thesis.csv")), OTHERS),
    "an edited export": (lambda: edited("board.csv"), OTHERS),
    "a read-only export": (lambda: read_only("board.csv"), r"\bread-only\b.*--force\b"),
    "a folder": (lambda: str(Path(a_file("dir.csv/x")).parent), r"\bis a folder$"),
    "a missing folder": (lambda: "no/b.csv", r"\bin a folder\b"),
    "in a file": (lambda: "notes.txt/b.csv", r"\bin a folder\b"),
    "a FIFO": (lambda: a_fifo("pipe.csv"), r"\bneither a file\b"),
    "a device": (lambda: linked("null.csv", "/dev/null"), r"\bneither a file\b"),
    "a link to itself": (lambda: linked("loop.csv", "loop.csv"), r"\bneither a file\b"),
    "a name too long": (lambda: "n" * 300 + ".csv", os.strerror(errno.ENAMETOOLONG)),
}  # fmt: skip
BY_OPTION = {
    "a foreign mark": ({"export", "next"}, lambda: a_mark_of_something_else("b.csv"), r"\(move\b"),
    "a saved fit": ({"export", "next"}, lambda: a_fit("b.csv"), OTHERS),
    "an export": ({"save"}, lambda: exported("b.csv"), OTHERS),
    "a document": ({"save"}, lambda: a_file("thesis.docx"), OTHERS),
    "an archive": ({"save"}, lambda: an_archive("arrays.npz"), OTHERS),
    "in the output folder": ({"save", "export"}, lambda: a_file("rankings/m/b.csv"), r"\brankings/m\b[^-]*$"),
}


def a_fit(path: str) -> str:
    fit(rank(judgments(MODELS)).judgments.comparisons, "btl").save(path)
    return path


def an_archive(path: str) -> str:
    np.savez(path, header=np.array('{"other": 1}'))
    return path


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("kind", REFUSED)
def test_a_target_that_would_be_lost_is_refused_before_anything_is_read(kind, option, folder):
    make, named = REFUSED[kind]
    target = make()
    before = bytes_of(folder)
    said = sentence_of([*OPTIONS[option], target])
    assert re.search(named, said) and str(Path(target)) in said
    if "--force" not in said:
        assert re.search(named, sentence_of([*OPTIONS[option], target, "--force"]))
    assert bytes_of(folder) == before


@pytest.mark.parametrize(
    ("kind", "option"), [(kind, one) for kind in BY_OPTION for one in sorted(BY_OPTION[kind][0])]
)
def test_what_one_option_wrote_is_not_what_another_may_replace(kind, option, folder):
    _, make, named = BY_OPTION[kind]
    target = make()
    before = bytes_of(folder)
    assert re.search(named, sentence_of([*OPTIONS[option], target]))
    assert bytes_of(folder) == before


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--save", "b.csv", "--export", "b.csv"], r"\btwo\b.* b\.csv\b"),
        (["--export", "b.csv", "--export", "pairs=./b.csv"], r"\btwo\b.* b\.csv\b"),
        (["--export", "b.csv", "--save", "link.csv"], r"\btwo\b.* link\.csv\b"),
        (["--export", "b.csv", "--save", ".b.csv.judgerank"], r"\btwo\b.* \.b\.csv\.judgerank\b"),
        (["-o", "out", "--save", "out/index.html"], r"\bout/index\.html .*/out,"),
        (["-o", "out", "--export", "out/more.csv"], r"\bout/more\.csv .*/out,"),
        (["-o", "b.csv/out", "--export", "b.csv"], r"\bb\.csv .*/b\.csv/out,"),
        (["-o", "m.csv"], r"^judgerank rank: m\.csv is no folder\b"),
        (["-o", "notes.txt"], r"\bnotes\.txt is no folder\b"),
        (["-o", "."], r": \. .*\breplaced\b"),
        (["-o", ".", "--force"], r"\bm\.csv is read\b.* \.,"),
        (["--block", "notes.py:length", "--save", "notes.py", "--force"], INPUT),
    ],
)
def test_outputs_of_one_run_are_apart(options, named, folder):
    Path("out").mkdir()
    Path("notes.py").write_text("from judgerank.model.kinds.style import block")
    linked("link.csv", "b.csv")
    before = bytes_of(folder)
    assert re.search(named, sentence_of(["rank", "m.csv", *options]))
    assert bytes_of(folder) == before


def test_what_may_be_replaced_is_and_partials_of_others_stay(folder):
    judgments(MODELS).to_csv("m.csv", index=False)
    for name in (".lb.csv.partial", ".fit.npz.partial"):
        a_file(name)
    asked = ["rank", "m.csv", "--save", "fit.npz", "--export", "lb.csv", "-o", "out"]
    before = bytes_of(folder)
    for _ in range(2):
        done = judgerank(*asked, cwd=folder)
        assert done.returncode == 0, done.stderr
        found = bytes_of(folder)
        assert {name: found.get(name) for name in before} == before
        assert {name for name in found.keys() - before.keys() if "/" not in name} == {
            "fit.npz", "lb.csv", ".lb.csv.judgerank", "out",
        }  # fmt: skip
    assert is_saved(Path("fit.npz")) and is_marked(Path("lb.csv"))
    assert len(load("fit.npz").scores) == 3
    a_file("lb.csv")
    a_file("out/notes.md")
    assert re.search(r"\blb\.csv .*--force\b", judgerank(*asked, cwd=folder).stderr)
    done = judgerank(*asked, "--force", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert Path("lb.csv").read_bytes() == found["lb.csv"]
    assert Path("out/notes.md").read_text() == "a year's work"


def test_by_force_files_of_others_in_a_folder_are_kept_beside_the_new_ones(folder):
    path = folder / "data.csv"
    judgments(MODELS).to_csv(path, index=False)
    ranked = rank(path)
    a_file("out/leaderboard.csv")
    with pytest.raises(ConfigError, match=r"^out\b.*\breplaced\b"):
        ranked.write("out")
    ranked.write("out", force=True)
    assert Path("out/leaderboard.csv.edited").read_text() == "a year's work"
    assert Path("out/leaderboard.csv").read_text().startswith("rank,model")


def test_a_file_that_appears_while_the_command_computes_is_not_replaced(folder):
    outputs = Outputs()
    outputs.file(Path("new.csv"))
    with pytest.raises(ConfigError, match=r"new\.csv\b.*--force\b"), outputs.writing({Path("new.csv"): b"ours"}):
        a_file("new.csv")
    assert Path("new.csv").read_text() == "a year's work"
    assert not list(folder.glob(".judgerank-*"))


def test_a_run_that_fails_leaves_no_partial_file(folder):
    outputs = Outputs()
    outputs.file(Path("new.csv"))
    before = bytes_of(folder)
    with pytest.raises(KeyboardInterrupt), outputs.writing({Path("new.csv"): b"ours"}):
        raise KeyboardInterrupt
    assert bytes_of(folder) == before


def test_an_export_keeps_its_rights_and_is_written_through_a_link(folder):
    exported("board.csv")
    Path("board.csv").chmod(0o640)
    linked("link.csv", "board.csv")
    outputs = Outputs()
    outputs.file(Path("link.csv"))
    outputs.write({Path("link.csv"): b"another"})
    assert Path("link.csv").is_symlink()
    assert Path("board.csv").read_bytes() == b"another"
    assert Path("board.csv").stat().st_mode & 0o777 == 0o640


def test_collecting_does_not_empty_a_lock_or_replace_a_record_of_something_else(folder):
    pytest.importorskip("filelock")
    from judgerank.collecting.ledger import opened
    from judgerank.collecting.run import _is_record

    a_file("j.jsonl.lock")
    with pytest.raises(ConfigError, match=r"j\.jsonl\.lock\b"), opened(Path("j.jsonl")):
        pass
    assert Path("j.jsonl.lock").read_text() == "a year's work"
    assert not _is_record(Path(a_file("j.jsonl.run.json", '{"settings": 1}')))
    with pytest.raises(DataError, match=r"\bline 1\b"), opened(Path("notes.txt")):
        pass
    assert Path("notes.txt").read_text() == "notes"


# folders that came from somebody else


OUTSIDE = [
    "../precious.txt",
    "sub/../../precious.txt",
    "link/precious.txt",
    "/",
    ".",
    "",
    "a\0b",
    "\ud800",
    "n" * 300,
]
DEEP = "[" * 100_000
NO_JOURNALS = [
    "", "no JSON", "[]", "{}", "null", DEEP,
    '{"place": {}, "remove": []}', '{"place": [], "remove": []}', '{"place": "run.json", "remove": []}',
    '{"place": [1, "run.json"], "remove": []}', '{"place": ["run.json"], "remove": [null]}',
    '{"place": ["run.json"], "remove": {"notes.txt": 1}}', '{"place": ["run.json"], "remove": [], "edited": []}',
    '{"place": ["run.json"], "remove": [], "edited": {"a": 1}}', '{"place": ["notes.txt"], "remove": []}',
]  # fmt: skip


@pytest.fixture
def shared(folder) -> Path:
    """An output folder as an archive may bring it, and what lies beside it."""
    a_file("precious.txt")
    a_file("shared/notes.md")
    a_file("shared/.judgerank.partial/notes.md", "theirs")
    a_file("shared/.judgerank.partial/fresh.csv", "theirs")
    Path("shared/link").symlink_to("..")
    Path("shared/.judgerank.partial/link").symlink_to("../..")
    record = {"section": "rank", "source": {"path": str(folder / "m.csv")}, "files": {}}
    a_file("shared/run.json", json.dumps(record))
    return folder / "shared"


def with_journal(shared: Path, place: list, remove: list, **more: object) -> None:
    (shared / STAGING / JOURNAL).write_text(json.dumps({"place": place, "remove": remove, **more}))


def with_files(shared: Path, files: object) -> None:
    told = json.loads((shared / "run.json").read_text())
    (shared / "run.json").write_text(json.dumps(told | {"files": files}))


def refused(shared: Path) -> str:
    before = bytes_of(shared.parent)
    said = sentence_of(["rank", "m.csv", "-o", "shared"])
    assert bytes_of(shared.parent) == before
    return said


@pytest.mark.parametrize("key", ["place", "remove"])
@pytest.mark.parametrize("name", [*OUTSIDE, "{absolute}"])
def test_a_journal_that_leads_out_of_its_folder_is_refused(name, key, shared):
    name = name.format(absolute=shared.parent / "precious.txt")
    listed = {"place": ["run.json"], "remove": []}
    listed[key] = [name, *listed[key]]
    with_journal(shared, **listed)
    assert re.search(rf"{re.escape(JOURNAL)}.*, which\b", refused(shared))


@pytest.mark.parametrize("name", [*OUTSIDE, "{absolute}"])
def test_a_sidecar_that_leads_out_of_its_folder_is_refused(name, shared):
    (shared / STAGING).rename(shared.parent / "away")
    precious = shared.parent / "precious.txt"
    with_files(shared, {name.format(absolute=precious): digest(precious)})
    assert re.search(r"\brun\.json\b.*, which\b", refused(shared))


@pytest.mark.parametrize("files", [[], "x", None, {"a.csv": 1}, {"a.csv": None}, {"a.csv": ["x"]}, [["a", "b"]]])
def test_a_sidecar_of_other_types_is_refused(files, shared):
    (shared / STAGING).rename(shared.parent / "away")
    with_files(shared, files)
    assert re.search(r"\brun\.json .*\(move it", refused(shared))


@pytest.mark.parametrize("content", NO_JOURNALS, ids=lambda content: content[:40] or "empty")
def test_what_is_no_journal_is_refused(content, shared):
    (shared / STAGING / JOURNAL).write_text(content)
    assert re.search(rf"{re.escape(JOURNAL)} .*\(move .*{re.escape(STAGING)}", refused(shared))


@pytest.mark.parametrize("kind", ["link", "file", "fifo"])
def test_a_staging_folder_that_is_none_is_refused(kind, shared):
    (shared / STAGING).rename(shared.parent / "away")
    make = {"link": lambda path: path.symlink_to("../away"), "file": Path.touch, "fifo": os.mkfifo}
    make[kind](shared / STAGING)
    assert re.search(rf"{re.escape(STAGING)} .*\(move it", refused(shared))


def test_a_journal_replaces_and_removes_only_what_the_folder_lists_as_it_is(shared):
    with_journal(shared, ["notes.md", "run.json"], [])
    assert re.search(r"\bnotes\.md .*\bchanged\b", refused(shared))
    with_journal(shared, ["notes.md", "run.json"], [], edited={"notes.md": "0" * 64})
    assert re.search(r"\bnotes\.md .*\bchanged\b", refused(shared))
    with_files(shared, {"notes.md": "0" * 64})
    with_journal(shared, ["fresh.csv", "run.json"], ["notes.md"])
    assert "no judgments" in (shared.parent / "m.csv").read_text()
    sentence_of(["rank", "m.csv", "-o", "shared"])  # which goes on to read the file
    assert (shared / "notes.md").read_text() == "a year's work"
    assert (shared / "fresh.csv").read_text() == "theirs"
    assert not (shared / STAGING).exists()


@pytest.mark.parametrize("content", ["", "[]", DEEP, '{"section": "rank", "source": [1], "files": {}}', None])
def test_a_record_that_is_none_of_ours_is_refused(content, shared):
    (shared / STAGING).rename(shared.parent / "away")
    (shared / "run.json").unlink()
    if content is None:
        os.mkfifo(shared / "run.json")
    else:
        (shared / "run.json").write_text(content)
    assert "holds" in refused(shared)


def test_an_input_that_lies_in_the_output_folder_is_refused(shared):
    (shared / STAGING).rename(shared.parent / "away")
    (shared.parent / "m.csv").rename(shared / "m.csv")
    (shared.parent / "m.csv").symlink_to("shared/m.csv")
    assert "is read, and lies in shared" in refused(shared)
    (shared.parent / "m.csv").unlink()
    (shared / "m.csv").rename(shared.parent / "m.csv")
    (shared / "pairs.csv").hardlink_to(shared.parent / "m.csv")
    with_files(shared, {"pairs.csv": digest(shared / "pairs.csv")})
    assert "is read, and lies in shared" in refused(shared)
