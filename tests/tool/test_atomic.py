"""Nothing that a command did not write is lost, and a kill at any step leaves the old files or the new ones."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from judgerank.data.errors import ConfigError
from judgerank.writing import atomic
from judgerank.writing.atomic import beside, locked, staged
from judgerank.writing.sidecars import JOURNAL, STAGING, digest, is_marked, written
from judgerank.writing.targets import Outputs
from replication.config import ROOT

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
