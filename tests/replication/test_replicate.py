"""The replication engine: seeds, checkpoints, kills, failures, progress, memory, and the scripts built on it."""

import json
import logging
import os
import re
import resource
import runpy
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError, DataError
from replication import replicate, sources
from replication.config import CONF, ROOT, script_of
from replication.outputs import run_section
from replication.records import record_digest
from replication.replicate import Study
from replication.schemas.section import Parallel
from replication.simulation import failures_of, interval_coverage, study_of
from tests.forked import PYTHON, Forked
from tests.replication.replicate_tasks import (
    CELLS,
    SEQUENTIAL,
    blas_threads,
    both_sections,
    buggy,
    failing,
    numbers,
    numbers_and_process,
    other_numbers,
    toy,
    wordy,
)

SECTIONS = ["convergence_mse", "ci_coverage"]
LOKY = Parallel("loky", 2)
DASK = Parallel("dask", -1, {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None})


def composed(section: str, *overrides: str):
    with initialize_config_dir(CONF, version_base="1.3"):
        return compose(section, list(overrides))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file's bytes; of provenance, what must be equal however and wherever it was run."""
    return {str(path.relative_to(folder)): equal_part(path) for path in folder.rglob("*") if path.is_file()}


def equal_part(path: Path) -> bytes:
    if path.name != "run.json":
        return path.read_bytes()
    record = json.loads(path.read_text())
    assert record.pop("digest") == record_digest(record)  # which is of the machine, too
    told = {"commit", "clean", "date", "cpu", "simd", "blas", "seconds", "processor_seconds", "peak_memory_mb"}
    assert set(record.pop("machine")) == told
    return json.dumps(record).encode()


def stamps(folder: Path, pattern: str = "*") -> dict[str, tuple[int, int]]:
    """What changes when a file is written or replaced, though its content may not."""
    files = [path for path in folder.rglob(pattern) if path.is_file()]
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def values(study: Study, cell: str) -> list[tuple]:
    study.run(SEQUENTIAL)
    return [(record["normal"], record["whole"]) for record in study.records(cell)]


@pytest.fixture(scope="module")
def study_in():
    """Both sections' replications, on the first grid point of every setting, kept in a folder."""
    small = ["points=1", "replications=4", "draws=1", "draw_replications=2", "block=2"]
    return lambda folder: study_of(composed("ci_coverage", *small, f"cache={folder}"), "both", both_sections)


@pytest.fixture(scope="module")
def one_after_another(study_in, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sequential")
    study = study_in(folder)
    assert study.run(SEQUENTIAL) == 24
    return tree(folder), {cell: list(study.records(cell)) for cell in study.cells}


@pytest.mark.parametrize("parallel", [LOKY, Parallel("loky", 1)], ids=["2", "1"])
def test_the_number_of_workers_changes_no_byte(parallel, study_in, one_after_another, tmp_path):
    study = study_in(tmp_path)
    assert study.run(parallel) == 24
    assert (tree(tmp_path), {cell: list(study.records(cell)) for cell in study.cells}) == one_after_another


@pytest.mark.parametrize(
    ("parallel", "name"), [(SEQUENTIAL, "MainProcess"), (LOKY, "LokyProcess"), (DASK, "Dask Worker")]
)
def test_the_backend_that_is_asked_for_does_the_work_and_changes_no_record(parallel, name, tmp_path):
    study = toy(tmp_path, task=numbers_and_process)
    assert study.run(parallel) == 21
    for cell, of_cell in CELLS.items():
        records = list(study.records(cell))
        assert all(record.pop("process").startswith(name) for record in records)
        assert records == expected_of(cell, of_cell)


def expected_of(cell: str, of_cell: dict) -> list[dict]:
    return [{"replication": r, **numbers(of_cell, generator(1, "toy", cell, r))} for r in range(7)]


@pytest.mark.parametrize("parallel", [SEQUENTIAL, LOKY], ids=["sequential", "loky"])
def test_the_order_of_cells_and_of_their_settings_changes_no_byte(parallel, tmp_path):
    turned = {cell: dict(reversed(CELLS[cell].items())) for cell in reversed(CELLS)}
    toy(tmp_path / "one").run(SEQUENTIAL)
    other = toy(tmp_path / "other", cells=turned)
    other.run(parallel)
    assert tree(tmp_path / "one") == tree(tmp_path / "other")


def test_a_task_computes_with_one_blas_thread(tmp_path):
    study = toy(tmp_path, task=blas_threads)
    with threadpool_limits(2):
        study.run(SEQUENTIAL)
    assert {record["threads"] for record in study.records("a")} == {1}


def test_a_record_is_the_task_under_the_generator_of_its_section_cell_and_replication(tmp_path):
    study = toy(tmp_path)
    study.run(SEQUENTIAL)
    for cell, of_cell in CELLS.items():
        assert list(study.records(cell)) == expected_of(cell, of_cell)


@pytest.fixture(scope="module")
def twelve_values(tmp_path_factory):
    return values(toy(tmp_path_factory.mktemp("twelve"), 12, cells={"a": CELLS["a"]}), "a")


@settings(max_examples=25)
@given(block=st.integers(1, 12), many=st.integers(1, 12))
def test_a_record_depends_neither_on_the_block_nor_on_how_many_were_asked_for(twelve_values, block, many):
    with tempfile.TemporaryDirectory() as folder:
        study = toy(Path(folder), many, block=block, cells={"a": CELLS["a"]})
        assert values(study, "a") == twelve_values[:many]


def test_a_cell_does_not_depend_on_the_other_cells(tmp_path):
    toy(tmp_path / "all").run(SEQUENTIAL)
    toy(tmp_path / "one", cells={"b": CELLS["b"]}).run(SEQUENTIAL)
    alone, among = tree(tmp_path / "one"), tree(tmp_path / "all")
    assert len(alone) == 3
    assert alone == {name: content for name, content in among.items() if name in alone}


def test_section_cell_replication_and_seed_all_give_other_numbers(tmp_path):
    same = dict.fromkeys(CELLS, CELLS["a"])
    studies = [toy(tmp_path, cells=same, name=name, seed=seed) for name in ("toy", "toys") for seed in (1, 2)]
    drawn = [value for study in studies for cell in same for value in values(study, cell)]
    assert len({normal for normal, _ in drawn}) == len({whole for _, whole in drawn}) == 2 * 2 * 3 * 7


@settings(max_examples=15)
@given(lost=st.sets(st.integers(0, 8), min_size=1))
def test_only_blocks_that_are_missing_are_computed(lost):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy(folder).run(SEQUENTIAL)
        whole, files = tree(folder), sorted(folder.rglob("*.jsonl"))
        for position in lost:
            files[position].unlink()
        left = stamps(folder)
        assert len(left) == 9 - len(lost)
        lines = sum(whole[str(files[position].relative_to(folder))].count(b"\n") - 1 for position in lost)
        assert toy(folder).run(SEQUENTIAL) == lines
        assert tree(folder) == whole
        assert left.items() <= stamps(folder).items()


def test_a_finished_study_has_nothing_to_do(tmp_path, caplog, capfd):
    with caplog.at_level(logging.INFO, "replication"):
        assert toy(tmp_path).run(LOKY) == 21
        before = stamps(tmp_path)
        capfd.readouterr()
        assert toy(tmp_path).run(LOKY) == 0
    assert stamps(tmp_path) == before
    assert caplog.messages == ["toy: 21 replications computed", "toy: every replication was computed before"]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("changes", "computed"),
    [
        ({"cells": CELLS | {"b": CELLS["b"] | {"mean": 5.5}}}, 7),
        ({"cells": CELLS | {"b": CELLS["b"] | {"added": None}}}, 7),
        ({"cells": CELLS | {"d": CELLS["a"]}}, 7),
        ({"seed": 2}, 21),
        ({"task": other_numbers}, 21),
        ({"name": "toys"}, 21),
    ],
    ids=["setting", "added setting", "added cell", "seed", "task", "section"],
)
def test_what_determines_a_record_is_computed_anew_when_it_changes(changes, computed, tmp_path):
    toy(tmp_path).run(SEQUENTIAL)
    before = stamps(tmp_path)
    changed = toy(tmp_path, **changes)
    assert changed.run(SEQUENTIAL) == computed
    fresh = toy(tmp_path / "fresh", **changes)
    fresh.run(SEQUENTIAL)
    for cell in changed.cells:
        assert list(changed.records(cell)) == list(fresh.records(cell))
    assert before.items() <= stamps(tmp_path).items()
    assert toy(tmp_path).run(SEQUENTIAL) == 0


@dataclass(frozen=True)
class Inner:
    mean: float
    title: str = field(default="", compare=False)


@dataclass(frozen=True)
class Other:
    mean: float


@dataclass(frozen=True)
class Typed:
    inner: Inner | Other
    title: str = field(default="", compare=False)


def nested(cell: Typed, rng: np.random.Generator) -> Typed:
    return Typed(Inner(cell.inner.mean + rng.normal(), title=None))


def test_a_typed_cell_and_record_are_kept_and_read_back_as_a_table(tmp_path):
    study = toy(tmp_path, cells={"a": Typed(Inner(2.0))}, task=nested)
    assert study.run(SEQUENTIAL) == 7
    frame = study.frame("a")
    assert list(frame) == ["replication", "title", "inner/mean", "status", "failure"]
    expected = [2.0 + generator(1, "toy", "a", replication).normal() for replication in range(7)]
    assert frame["inner/mean"].tolist() == expected


@pytest.mark.parametrize(
    ("changed", "computed"),
    [
        (Typed(Inner(2.0, "another title"), "and here"), 0),
        (Typed(Inner(2.5)), 7),
        (Typed(Other(2.0)), 7),
    ],
)
def test_fields_that_are_compared_and_types_determine_a_cells_results(changed, computed, tmp_path):
    toy(tmp_path, cells={"a": Typed(Inner(2.0))}, task=nested).run(SEQUENTIAL)
    assert toy(tmp_path, cells={"a": changed}, task=nested).run(SEQUENTIAL) == computed


def test_records_of_other_code_are_computed_anew(tmp_path, monkeypatch):
    code = tmp_path / "code"
    assert Path(sources.__file__).resolve().is_relative_to(sources.SOURCES)
    shutil.copytree(sources.SOURCES, code)
    monkeypatch.setattr(sources, "SOURCES", code)
    monkeypatch.setattr(replicate, "code_digest", sources.code_digest.__wrapped__)  # as in a new process each time

    def computed(edited: str, line: str = "CHANGED = 1") -> int:
        sources.code_files.cache_clear()
        path = code / edited
        path.write_text(f"{path.read_text()}\n{line}\n")
        return toy(tmp_path / "cache", cells={"a": CELLS["a"]}).run(SEQUENTIAL)

    assert computed("judgerank/engine/likelihood.py") == 7
    assert computed("judgerank/plots/looks.py") == 0
    assert computed("judgerank/engine/newton.py", "# a comment") == 0
    assert computed("judgerank/engine/newton.py") == 7


@pytest.fixture(scope="module")
def digest_after(tmp_path_factory):
    """The digest of the code behind a task, after an edit of one file of a copy of the package."""
    copied = tmp_path_factory.mktemp("copied") / "src"
    shutil.copytree(sources.SOURCES, copied)
    settings = {"method": {"function": "studies.methods.online.elo", "settings": {}}}

    def digest(edited: str | None) -> str:
        if edited:
            path = copied / edited
            path.write_text(f"{path.read_text()}\nCHANGED = 1\n")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sources, "SOURCES", copied)
            sources.code_files.cache_clear()
            roots = ("replication.replicate", "replication.simulation", *sorted(sources.named_modules(settings)))
            return sources.code_digest.__wrapped__(*roots)

    yield digest
    sources.code_files.cache_clear()


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        *[
            (f"judgerank/{name}.py", True)
            for name in ("__init__", "engine/likelihood", "data/arrays", "engine/newton", "reading/read")
        ],
        *[(f"replication/{name}.py", True) for name in ("__init__", "replicate", "simulation")],
        ("studies/methods/online.py", True),
        *[(f"judgerank/{name}.py", False) for name in ("plots/looks", "ranking/page")],
        *[(f"replication/{name}.py", False) for name in ("outputs", "resampling")],
        ("studies/planning.py", False),
    ],
)
def test_the_key_of_a_task_follows_the_modules_it_imports(edited, changes, digest_after):
    before = digest_after(None)
    assert digest_after(None) == before
    assert (digest_after(edited) != before) == changes


def damaged_by_truncation(path: Path) -> bytes:
    return path.read_bytes()[:-20]


def damaged_at_a_line_end(path: Path) -> bytes:
    return b"".join(path.read_bytes().splitlines(keepends=True)[:-1])


def damaged_in_a_digit(path: Path) -> bytes:
    content = path.read_bytes()
    at = content.rindex(b'"whole": ') + 9
    return content[:at] + (b"2" if content[at : at + 1] == b"1" else b"1") + content[at + 1 :]


def damaged_by_a_second_line(path: Path) -> bytes:
    lines = path.read_bytes().splitlines(keepends=True)
    return b"".join([*lines, lines[-1]])


def damaged_by_emptying(path: Path) -> bytes:
    return b""


def damaged_by_garbage(path: Path) -> bytes:
    return bytes(range(256))


def damaged_by_exchange(path: Path) -> bytes:
    return path.with_name("000003-000006.jsonl").read_bytes()


DAMAGES = [value for name, value in list(globals().items()) if name.startswith("damaged_")]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_block_is_named_and_computed_again(damage, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    toy(tmp_path).run(SEQUENTIAL)
    whole = tree(tmp_path)
    path = sorted(tmp_path.glob("toy/b-*/000000-000003.jsonl"))[0]
    path.write_bytes(damage(path))
    assert tree(tmp_path) != whole
    with pytest.raises(DataError, match=r"000000-000003\.jsonl was damaged"):
        list(toy(tmp_path).records("b"))
    assert toy(tmp_path).run(SEQUENTIAL) == 3
    assert any(str(path) in message and "damaged" in message for message in caplog.messages)
    assert tree(tmp_path) == whole


@pytest.mark.parametrize(
    "override",
    [
        "seed=7",
        "level=0.9",
        "estimator=interior",
        "estimator.score_bound=4",
        "settings.n10_k5.sigma_scores=0.5",
        "settings.n10_k5.n_judges=4",
    ],
)
def test_an_override_that_changes_numbers_computes_anew(override, tmp_path):
    few = ["points=1", "replications=2", "draws=0", f"cache={tmp_path}"]
    few += ["~settings.n20_k10", "~settings.n50_k20", "~settings.n100_k20"]
    usual = study_of(composed("ci_coverage", *few), "ci_coverage", interval_coverage)
    changed = study_of(composed("ci_coverage", *few, override), "ci_coverage", interval_coverage)
    assert (usual.run(SEQUENTIAL), changed.run(SEQUENTIAL), usual.run(SEQUENTIAL)) == (2, 2, 0)


def test_more_replications_keep_the_earlier_full_blocks(tmp_path):
    earlier, more = toy(tmp_path, 7), toy(tmp_path, 12)
    earlier.run(SEQUENTIAL)
    before, first = stamps(tmp_path), list(earlier.records("a"))
    assert more.run(SEQUENTIAL) == 3 * (12 - 6)  # blocks 0-3 and 3-6 are there, 6-7 is no block of twelve
    assert before.items() <= stamps(tmp_path).items()
    assert list(more.records("a"))[:7] == first
    assert [record["replication"] for record in more.records("a")] == list(range(12))


def test_a_partial_file_is_not_taken_for_a_result(tmp_path):
    toy(tmp_path).run(SEQUENTIAL)
    whole = tree(tmp_path)
    for path in sorted(tmp_path.rglob("*.jsonl"))[::2]:
        path.with_suffix(".partial").write_bytes(path.read_bytes()[:40])
        path.unlink()
    assert toy(tmp_path).run(SEQUENTIAL) > 0
    assert tree(tmp_path) == whole


def test_a_block_that_cannot_be_written_whole_is_not_written_at_all(tmp_path):
    study = toy(tmp_path, 40, cells={"a": {}}, task=wordy, block=40)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))  # as on a disk that is full
    try:
        with pytest.raises(OSError, match="too large"):
            study.run(SEQUENTIAL)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.rglob("*.jsonl"))
    assert study.run(SEQUENTIAL) == 40
    assert [path.name for path in tmp_path.rglob("*.*")] == ["000000-000040.jsonl"]
    assert len(list(study.records("a"))) == 40


@pytest.mark.parametrize("parallel", [SEQUENTIAL, LOKY], ids=["sequential", "loky"])
def test_failures_are_recorded_with_their_reasons_and_do_not_stop_the_others(parallel, tmp_path):
    study = toy(tmp_path, 20, task=failing)
    assert study.run(parallel) == 60
    expected, reasons = [], set()
    for cell in CELLS:
        for replication in range(20):
            try:
                record = failing({}, generator(1, "toy", cell, replication))
            except Exception as error:
                record = {"failure": f"{type(error).__name__}: {error}"}
                reasons.add(type(error).__name__)
            expected.append((cell, {"replication": replication, **record}))
    assert reasons == {"ValueError", "NoMaximumError", "ZeroDivisionError"}
    assert [(cell, record) for cell in CELLS for record in study.records(cell)] == expected
    failed = [(cell, record["replication"], record["failure"]) for cell, record in expected if "failure" in record]
    assert list(failures_of(study).itertuples(index=False, name=None)) == failed
    assert study.run(parallel) == 0


@pytest.mark.parametrize("kind", [KeyError, TypeError])
@pytest.mark.parametrize("parallel", [SEQUENTIAL, LOKY], ids=["sequential", "loky"])
def test_a_bug_stops_the_study_keeps_finished_blocks_and_a_rerun_goes_on(kind, parallel, tmp_path):
    marker, cache = tmp_path / "marker", tmp_path / "cache"
    common = {"folder": str(cache), "finished": 3, "kind": kind.__name__}
    cells = {"well": {"marker": None, **common}, "ill": {"marker": str(marker), **common}}
    study = toy(cache, 12, cells=cells, task=buggy)
    marker.touch()
    with pytest.raises(kind, match="a bug"):
        study.run(parallel)
    before = stamps(cache)
    assert len(before) >= 3
    assert all(name.startswith("toy/well-") for name in before)
    marker.unlink()
    assert study.run(parallel) == 24 - 3 * len(before)
    assert before.items() <= stamps(cache).items()
    drawn = [record["draw"] for cell in cells for record in study.records(cell)]
    assert drawn == [
        generator(1, "toy", cell, replication).random() for cell in cells for replication in range(12)
    ]


def test_progress_is_shown_on_standard_error_with_the_studys_name(tmp_path, capfd):
    toy(tmp_path).run(SEQUENTIAL)
    shown = capfd.readouterr()
    assert "toy: 100%" in shown.err
    assert "21/21" in shown.err
    assert shown.out == ""


def test_memory_does_not_grow_with_the_number_of_replications(tmp_path):
    # in a process of its own: what threads of other tests hold is traced, too
    # the first is not used: what is imported and cached once is not counted
    program = ["-m", "tests.replication.replicate_tasks", "memory", str(tmp_path), "50", "200", "2000"]
    out, _ = outputs_of(Forked(program, ROOT, os.environ | {"PYTHONPATH": str(ROOT)}))
    _, few, many = map(int, out.split())
    assert abs(many - few) < 500_000  # the records take two million bytes


def program(section: str, folder: Path, *overrides: str) -> list[str]:
    outputs = [f"{kind}={folder / kind}" for kind in ("results", "figures", "cache")]
    if section == "convergence_mse":  # Algorithm A.1 takes minutes where there is no maximum
        outputs = [*outputs, "algorithm_1.settings=[]"]
    return [str(script_of(section)), *outputs, *overrides]


def start(section: str, folder: Path, *overrides: str) -> subprocess.Popen:
    """A script as a user runs it."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*PYTHON, *program(section, folder, *overrides)], cwd=ROOT, **pipes)


def forked(section: str, folder: Path, *overrides: str) -> Forked:
    return Forked(program(section, folder, *overrides), ROOT, os.environ)


def outputs_of(process: subprocess.Popen | Forked) -> tuple[str, str]:
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out, err


def kill(process: Forked, reached: Callable[[], bool]) -> None:
    """Kill a process and its workers as soon as they are seen to have come so far."""
    while not reached():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


BLOCKS = 15
TWO_WORKERS = ["parallel=loky", "parallel.n_jobs=2"]
KILLED = ["convergence_mse", "draws=0", "replications=75", "block=5", "parallel=sequential"]
KILLED += ["~settings.n10_k5", "~settings.n50_k20", "~settings.n100_k20", "settings.n20_k10.n_comparisons=[200]"]


@pytest.fixture(scope="module")
def resumed(tmp_path_factory):
    """Folders of a study that ran through and of one killed three times, and that one's blocks at every kill.

    The first time it is killed with its workers; to begin them again each time would be most of what this takes.
    """
    whole, folder = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("killed")
    section, *overrides = KILLED
    undisturbed = forked(section, whole, *overrides)

    def blocks() -> dict[str, tuple[int, int]]:
        return stamps(folder / "cache", "*.jsonl")

    kill(forked(section, folder, *overrides, *TWO_WORKERS), lambda: len(blocks()) >= 1)
    at_kills = [blocks()]
    kill(forked(section, folder, *overrides), lambda: len(blocks()) >= len(at_kills[0]) + 4)
    at_kills.append(blocks())
    kill(forked(section, folder, *overrides), lambda: any((folder / "results").rglob("*.csv")))
    at_kills.append(blocks())
    outputs_of(forked(section, folder, *overrides))
    outputs_of(undisturbed)
    return whole, folder, at_kills


def test_a_killed_study_ends_in_the_same_bytes(resumed):
    whole, folder, _ = resumed
    files = tree(whole)
    assert {name.split("/")[0] for name in files} == {"results", "figures", "cache"}
    assert tree(folder) == files


def test_a_killed_study_loses_no_finished_block(resumed):
    _, folder, at_kills = resumed
    assert 1 <= len(at_kills[0]) < len(at_kills[1]) < len(at_kills[2]) == BLOCKS
    at_end = stamps(folder / "cache")
    assert len(at_end) == BLOCKS
    for blocks in at_kills:
        assert blocks.items() <= at_end.items()


SMALLER = ["~settings.n20_k10", "~settings.n50_k20", "~settings.n100_k20"]


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """Both sections' smoke runs: once, once more, and in other blocks without workers."""
    folder, other = tmp_path_factory.mktemp("smoke"), tmp_path_factory.mktemp("smoke_otherwise")

    def run(folder: Path, *overrides: str, begun=(forked, forked)):
        processes = [
            begin(section, folder, "profile=smoke", *SMALLER, *overrides)
            for begin, section in zip(begun, SECTIONS, strict=True)
        ]
        outputs = dict(zip(SECTIONS, map(outputs_of, processes), strict=True))
        return outputs, {kind: tree(folder / kind) for kind in ("results", "figures")}, stamps(folder / "cache")

    sequential = ["block=3", "parallel.backend=sequential"]
    return run(folder, begun=(start, forked)), run(folder), run(other, *sequential)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_smoke_run_shows_its_progress_and_writes_tables_and_figures(section, smoke):
    (outputs, files, _), *_ = smoke
    out, err = outputs[section]
    assert f"{section}: 100%" in err
    assert f"{section}: 12 replications computed" in out
    assert "replications that failed: 0" in out
    for kind in files.values():
        assert any(name.startswith(f"paper/{section}/") for name in kind)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_second_smoke_run_computes_nothing(section, smoke):
    (_, files, blocks), (outputs, files_again, blocks_again), _ = smoke
    assert re.search(rf"{section}: every\b.*\bbefore\b", outputs[section][0])
    assert blocks_again == blocks
    assert files_again == files


def test_neither_blocks_nor_backend_change_a_byte_of_tables_figures_and_provenance(smoke):
    (_, files, blocks), _, (_, otherwise, other_blocks) = smoke
    assert {Path(name).name for name in blocks} != {Path(name).name for name in other_blocks}
    assert otherwise == files


TINY = ["draws=0", "points=2", "replications=6", "block=4", "parallel=sequential"]
TINY += ["~settings.n50_k20", "~settings.n100_k20"]
MINE = "+settings.mine={n_models: 4, n_judges: 2, sigma_scores: 0.5, n_comparisons: [30, 60, 90]}"
PLACE = ["n_models", "n_judges", "n_comparisons"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Stored tables of section 4.1, by overrides of a tiny study."""
    section = "convergence_mse"
    script = runpy.run_path(str(script_of(section)))

    def run(*overrides: str, drawn: bool = False) -> dict[str, pd.DataFrame]:
        folder = tmp_path_factory.mktemp("extended")
        outputs = [f"{kind}={folder / kind}" for kind in ("results", "figures", "cache")]
        own = [*TINY, *outputs, "algorithm_1.settings=[]"]
        draw = script["draw"] if drawn else lambda tables, suffix: {}
        run_section(section, composed(section, *own, *overrides), script["compute"], draw)
        assert not drawn or tree(folder / "figures")
        stored = folder / "results/paper" / section
        assert json.loads((stored / "run.json").read_text())["config"]["replications"] == 6
        return {path.stem: pd.read_csv(path) for path in stored.glob("*.csv")}

    return run


@pytest.fixture(scope="module")
def usual(tables):
    return tables()["mse"]


def places(mse: pd.DataFrame) -> list[tuple[int, int, int]]:
    return list(dict.fromkeys(mse[PLACE].itertuples(index=False, name=None)))


def test_the_tiny_study_has_its_grid_points(usual):
    assert places(usual) == [(10, 5, 100), (10, 5, 200), (20, 10, 200), (20, 10, 400)]
    assert set(usual["n_replications"]) == {6}
    assert np.isfinite(usual["mean"]).all()


def test_a_grid_can_be_overridden(tables, usual):
    mse = tables("settings.n10_k5.n_comparisons=[60,200,300]")["mse"]
    assert places(mse)[:2] == [(10, 5, 60), (10, 5, 200)]  # two points are kept
    kept = mse.query("n_comparisons == 200 or n_models == 20").reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, usual.query("n_comparisons != 100").reset_index(drop=True))


def test_a_sigma_can_be_overridden(tables, usual):
    mse = tables("settings.n10_k5.sigma_discrimination=0.3")["mse"]
    assert places(mse) == places(usual)
    small = mse["n_models"] == 10
    pd.testing.assert_frame_equal(mse[~small], usual[~small])
    assert (mse.loc[small, "mean"] != usual.loc[small, "mean"]).all()


def test_a_setting_can_be_added(tables, usual):
    mse = tables(
        *(MINE, "points=null", "settings.n10_k5.n_comparisons=[100]", "settings.n20_k10.n_comparisons=[200]"),
        drawn=True,
    )
    assert places(mse["mse"]) == [(10, 5, 100), (20, 10, 200), (4, 2, 30), (4, 2, 60), (4, 2, 90)]
    kept = mse["mse"].query("n_models != 4").merge(usual[[*PLACE, "parameter"]])
    pd.testing.assert_frame_equal(kept, usual.merge(kept[[*PLACE, "parameter"]]))
    assert set(mse["mse"]["n_replications"]) == {6}
    assert mse["slopes"].query("n_models == 4")["slope"].notna().all()


def test_the_interior_estimator_counts_interior_maxima_only(tables):
    found = tables(MINE, "estimator=interior", "~settings.n10_k5", "~settings.n20_k10")
    mse = found["mse"]
    assert (mse["n_replications"] == mse["n_interior"]).all()
    assert 0 < mse["n_replications"].min() < 6
    shares = found["endings"].set_index("n_comparisons")["interior"]
    assert (mse["n_comparisons"].map(shares) * 6).round().astype(int).tolist() == mse["n_interior"].tolist()


def test_the_published_algorithm_can_estimate_within_its_iterations(tables):
    alone = [MINE, "~settings.n10_k5", "~settings.n20_k10"]
    few, more = (tables(*alone, "estimator=adam", f"estimator.max_iterations={many}") for many in (50, 100))
    by_newton = tables(*alone)["mse"]
    for found in (few, more):
        assert places(found["mse"]) == places(by_newton)
        assert set(found["mse"]["n_replications"]) == {6}
        assert (found["mse"]["mean"] != by_newton["mean"]).all()
        assert found["endings"]["iteration_limit"].max() > 0
    assert (few["mse"]["mean"] != more["mse"]["mean"]).any()


def test_an_unknown_backend_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no backend 'threads'"):
        toy(tmp_path).run(Parallel("threads", 1))


def test_runs_that_share_a_cache_do_not_get_in_each_others_way(tmp_path):
    program = ["-m", "tests.replication.replicate_tasks", "shared", str(tmp_path / "shared")]
    runs = [Forked(program, ROOT, os.environ | {"PYTHONPATH": str(ROOT)}) for _ in range(3)]
    assert [(run.wait(), "Error" in run.communicate()[1]) for run in runs] == [(0, False)] * 3
    toy(tmp_path / "alone", 40, block=1).run(SEQUENTIAL)
    shared, alone = (sorted((tmp_path / name).rglob("*.*")) for name in ("shared", "alone"))
    assert [path.read_bytes() for path in shared] == [path.read_bytes() for path in alone]
