"""Stored is computed: digests follow code, settings and data; the same results change nothing."""

import json
import multiprocessing
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from judgerank.writing.atomic import staged
from judgerank.writing.sidecars import digest
from replication import freshness, sources
from replication.auditing.doc_numbers import full_run_times, times_of, times_table
from replication.auditing.results import Results
from replication.config import ROOT, SCRIPTS, script_of
from replication.errors import NotAsStoredError
from replication.freshness import STAMPS, files_stored, stale, stamp
from replication.machine import commit, kernels, machine, processor_seconds
from replication.outputs import run_section
from replication.records import RECORD, is_same, provenance, record_digest, store, write_record
from replication.tables import Table
from replication.verification import is_full, keep
from tests import forked
from tests.forked import environment
from tests.replication.test_config import composed

MACHINE = {"commit": "a" * 40, "clean": True, "cpu": "C", "seconds": 1.0, "processor_seconds": 2.0}
RECORDED = {
    "section": "x",
    "surrogate": False,
    "data": {},
    "config": {"seed": 1},
    "versions": {"python": "3.11", "judgerank": "0.2.0", "numpy": "2"},
    "machine": MACHINE,
    "files": {"a.csv": "0"},
}


def changed(**parts) -> dict:
    """The record with some keys of its parts changed."""
    return RECORDED | {part: RECORDED[part] | keys for part, keys in parts.items()}


@pytest.mark.parametrize(
    "now",
    [
        changed(machine={"commit": "b" * 40, "cpu": "D", "seconds": 9.0}),
        changed(versions={"python": "3.13"}),
        changed(versions={"judgerank": "0.3.0"}),
        changed(machine={"clean": False}),
    ],
)
def test_what_varies_by_machine_and_time_does_not_replace_a_record(now):
    assert is_same(RECORDED, now)


@pytest.mark.parametrize(
    "now",
    [
        changed(files={"a.csv": "1"}),
        changed(files={"b.csv": "0"}),
        changed(config={"seed": 2}),
        changed(data={"mt_bench": {"sha256": "0"}}),
        changed(versions={"numpy": "3"}),
        changed(machine={"more": "is told"}),
        RECORDED | {"surrogate": True},
    ],
)
def test_other_results_settings_data_and_packages_do(now):
    assert not is_same(RECORDED, now)
    assert not is_same({}, now)


def test_a_record_of_code_that_was_not_committed_gives_way():
    assert not is_same(changed(machine={"clean": False}), RECORDED)


def stored(folder, value, seed=1, root=ROOT):
    with staged(folder) as staging:
        Table(pd.DataFrame({"x": [value]}), "A table").write(staging, "a")
        told = {key: RECORDED[key] for key in ("section", "surrogate", "data", "versions")} | {
            "config": {"seed": seed}
        }
        write_record(staging, folder, told, root, time.monotonic() - value)
    return (folder / RECORD).read_bytes()


def test_a_folder_of_results_is_left_to_the_byte(tmp_path):
    first = stored(tmp_path / "r", 1.0)
    time.sleep(0.2)
    assert stored(tmp_path / "r", 1.0) == first
    assert stored(tmp_path / "r", 1.0, seed=2) != first
    assert stored(tmp_path / "r", 2.0, seed=2) != stored(tmp_path / "r", 1.0, seed=2)


def test_a_table_that_was_edited_is_made_again_under_the_same_record(tmp_path):
    first = stored(tmp_path / "r", 1.0)
    (tmp_path / "r/a.csv").write_text("x\n3\n")
    assert stored(tmp_path / "r", 1.0) == first
    assert (tmp_path / "r/a.csv").read_text() == "x\n1\n"
    assert (tmp_path / "r/a.csv.edited").read_text() == "x\n3\n"


def git(folder, *command: str) -> str:
    names = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    done = subprocess.run(["git", *names, *command], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def commit_all(folder) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "results")


def test_results_made_again_in_an_empty_folder_leave_a_repository_clean(tmp_path):
    commit_all(tmp_path)
    stored(tmp_path / "results", 1.0, root=tmp_path)
    commit_all(tmp_path)
    shutil.rmtree(tmp_path / "results")
    time.sleep(0.2)
    stored(tmp_path / "results", 1.0, root=tmp_path)
    assert git(tmp_path, "status", "--porcelain") == ""
    stored(tmp_path / "results", 2.0, root=tmp_path)
    assert git(tmp_path, "status", "--porcelain") != ""


def test_a_section_run_twice_leaves_a_repository_clean(tmp_path):
    def run():
        script = runpy.run_path(str(script_of("mixed_judges")))
        cfg = composed(
            "mixed_judges",
            "dataset=chatbot_arena",
            "surrogate=always",
            "repeats=2",
            "parallel=sequential",
            f"cache={tmp_path}/c",
            f"results={tmp_path}/r",
            f"figures={tmp_path}/f",
        )
        run_section("mixed_judges", cfg, script["compute"], script["draw"])

    run()
    commit_all(tmp_path)
    run()
    assert git(tmp_path, "status", "--porcelain") == ""


def busy() -> None:
    start = time.process_time()
    while time.process_time() - start < 0.3:
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="counts workers that still run on Linux")
def test_seconds_of_the_processor_are_those_of_workers_too_and_counted_once():
    processor_seconds()
    busy()
    ended = multiprocessing.get_context("fork").Process(target=busy)
    ended.start()
    ended.join()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply(busy)
        assert 0.85 < processor_seconds() < 1.5
        assert processor_seconds() < 0.3


def records(folder, **seconds):
    for place, (wall, processor) in seconds.items():
        target = folder / place.replace("__", "/")
        target.mkdir(parents=True)
        machine = MACHINE | {"seconds": wall, "processor_seconds": processor}
        section = place.partition("__")[0]
        (target / RECORD).write_text(json.dumps(RECORDED | {"section": section, "machine": machine}))
    return Results(folder)


def test_times_are_those_of_the_stored_runs_sets_together(tmp_path):
    results = records(
        tmp_path,
        sparsity__a=(60.0, 100.0),
        sparsity__b=(30.0, 50.0),
        panel=(120.0, 240.0),
        torture=(500.0, 900.0),
    )
    assert times_of(results).set_index("section")["seconds"].to_dict() == {"panel": 120.0, "sparsity": 90.0}
    assert "| `make sparsity` | 90 s         | 150 s              |" in times_table(results)
    paper, beyond = ([cell.strip() for cell in row.split("|")] for row in full_run_times(results).splitlines()[2:])
    assert paper[1:5] == ["`make reproduce`", "1 sections", "1.5 min", "2.5 min"]
    assert beyond[1:5] == ["`make beyond`", "1 sections", "2.0 min", "4.0 min"]


def test_seconds_that_a_record_does_not_tell_are_not_made_up(tmp_path):
    results = records(tmp_path, sparsity__a=(60.0, 100.0), sparsity__b=(30.0, 50.0))
    path = tmp_path / "sparsity/b" / RECORD
    told = json.loads(path.read_text())
    del told["machine"]["processor_seconds"]
    path.write_text(json.dumps(told))
    assert "| 90 s         | --                 |" in times_table(results)


def test_a_whole_verification_is_timed_and_leaves_its_own_record(tmp_path):
    cfg = composed("verify", f"results={tmp_path}")
    assert is_full(cfg)
    assert not is_full(composed("verify", "only=[chatbot_arena]"))
    assert not is_full(composed("verify", "sample=1"))
    keep(cfg, ["chatbot_arena"], time.monotonic() - 120)
    first = (tmp_path / "paper/verify" / RECORD).read_bytes()
    keep(cfg, ["chatbot_arena"], time.monotonic() - 180)
    assert (tmp_path / "paper/verify" / RECORD).read_bytes() == first
    assert "| `make verify`    | 0 sections     | 2.0 min" in full_run_times(records(tmp_path, panel=(1.0, 1.0)))


def test_the_papers_own_sections_are_those_beside_which_ours_lie(tmp_path):
    done = subprocess.run(["make", "-n", "reproduce"], cwd=ROOT, check=True, capture_output=True, text=True)
    run = {
        line.split("experiments/")[1].split(".py")[0] for line in done.stdout.splitlines() if "/python exp" in line
    }
    commands = {"crate", "smoke", "stale", "tables", "verify"}
    assert run == {path.stem for path in SCRIPTS.glob("*.py")} - commands | {"beyond/pages"}


# What is recorded of the machine and of the code, and that skipped tests are spoken of.


@pytest.fixture
def repository(tmp_path):
    def git(*command: str) -> str:
        names = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        done = subprocess.run(["git", *names, *command], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--quiet")
    for name in ("src/code.py", "results/table.csv", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\n")
    git("add", "--all")
    git("commit", "--quiet", "-m", "all")
    return tmp_path, git("rev-parse", "HEAD")


def test_results_that_a_run_rewrites_leave_the_code_clean(repository):
    root, head = repository
    assert commit(root) == {"commit": head, "clean": True}
    for name in ("results/table.csv", "results/new.csv", "README.md"):
        (root / name).write_text("2\n")
    assert commit(root) == {"commit": head, "clean": True}
    (root / "src" / "new.py").write_text("2\n")
    assert commit(root) == {"commit": head, "clean": False}


def test_without_git_or_inside_another_repository_nothing_is_known(repository, tmp_path_factory, monkeypatch):
    unknown = {"commit": None, "clean": None}
    root, _ = repository
    assert commit(root / "src") == unknown
    assert commit(tmp_path_factory.mktemp("elsewhere")) == unknown
    monkeypatch.setenv("PATH", "")
    assert commit(root) == unknown


def test_the_machine_names_its_kernels_and_the_time_taken():
    record = machine(ROOT, time.monotonic() - 5)
    assert record["seconds"] == pytest.approx(5, abs=2)
    assert record["cpu"]
    assert 50 < record["peak_memory_mb"] < 50_000
    assert record["blas"] == kernels()
    assert all(len(blas.split()) >= 3 for blas in record["blas"])


def test_skipped_tests_are_counted_with_what_would_let_them_run():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/replication/test_published.py",
    ]
    environment = os.environ | {"JUDGERANK_PAPER": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    told = [line for line in done.stdout.splitlines() if "tests skipped; they would run" in line]
    assert len(told) == 1
    assert "by JUDGERANK_PAPER=FILE, the paper's TeX" in told[0]


SECTIONS = ("chatbot_arena", "ci_coverage", "slot_bias", "tastes")


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The packages copied, and looked at in place of our own: a function that edits a file of them."""
    shutil.copytree(sources.SOURCES, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "SOURCES", tmp_path / "src")

    def edit(name: str, change) -> None:
        path = tmp_path / "src" / name
        text = path.read_text()
        path.write_text(change(text))
        assert path.read_text() != text
        forget()

    forget()
    yield edit
    monkeypatch.undo()
    forget()


def forget() -> None:
    """Read sources anew, as another process does."""
    for function in (sources.code_digest, sources.code_files, sources.script_digest, freshness._file_digest):
        function.cache_clear()


def digests(kind: str = "tables") -> dict[str, str | None]:
    return {name: sources.script_digest(script_of(name), kind) for name in SECTIONS}


def differing(before: dict, after: dict) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def added(line: str):
    return lambda text: f"{text}\n{line}\n"


@pytest.mark.parametrize(
    ("name", "change", "of_tables", "of_figures"),
    [
        ("judgerank/engine/likelihood.py", added("LATER = 1"), {*SECTIONS}, set()),
        ("judgerank/reading/layouts/runs.py", added("LATER = 1"), {*SECTIONS}, set()),  # found by its folder
        ("replication/simulation.py", added("LATER = 1"), {"ci_coverage"}, set()),
        ("studies/tastes.py", added("LATER = 1"), {"tastes"}, set()),
        ("replication/plots/simulations.py", added("LATER = 1"), set(), {*SECTIONS}),
        ("replication/published_tables/chatbot_arena.csv", lambda text: text + "\n", {"chatbot_arena"}, set()),
        ("replication/schemas/paper.py", added("LATER = 1"), set(), set()),  # settings have their own digest
        ("judgerank/gating/gate.py", added("LATER = 1"), set(), set()),
        ("judgerank/engine/likelihood.py", added("# a comment"), set(), set()),
        ("judgerank/engine/likelihood.py", lambda text: text.replace('"""', '"""Now, ', 1), set(), set()),
        ("judgerank/engine/likelihood.py", lambda text: text.replace("\n\n\n", "\n\n\n\n\n", 1), set(), set()),
    ],
)
def test_a_changed_line_makes_exactly_the_dependent_sections_stale(name, change, of_tables, of_figures, copied):
    before = digests(), digests("figures")
    copied(name, change)
    after = digests(), digests("figures")
    assert differing(before[0], after[0]) == of_tables
    assert differing(before[1], after[1]) == of_figures


def test_of_a_script_what_computes_counts_for_tables_and_what_draws_for_figures(tmp_path):
    text = script_of("chatbot_arena").read_text()

    def both(name: str, differing: str) -> list[str | None]:
        path = tmp_path / name / "chatbot_arena.py"
        path.parent.mkdir()
        path.write_text(differing)
        return [sources.script_digest(path, kind) for kind in ("tables", "figures")]

    first = both("first", text)
    computed = both("computed", text.replace("spearman_human", "spearman_people"))
    drawn = both("drawn", text.replace("human_agreement", "agreement"))
    described = both("described", text.replace('"""Section 5.5', '"""In section 5.5'))
    assert computed[0] != first[0] and computed[1] == first[1]
    assert drawn[0] == first[0] and drawn[1] != first[1]
    assert described == first


def test_what_drawing_imports_is_not_behind_tables():
    for path in sorted((ROOT / "experiments").rglob("*.py")):
        part = sources._part(path, "tables")
        imported = [] if part is None else part.imports
        behind = sources._closure([*sources.BEHIND["tables"], *imported], sources.NOT_COMPUTING)
        assert not [name for name in map(sources._relative_name, behind) if "/plots/" in name], path.stem


TRACED = """
import json, runpy, sys
from hydra import compose, initialize_config_dir
from replication.config import CONF, script_of
from replication.outputs import load_section_data
section, overrides = sys.argv[1], sys.argv[2:]
script = runpy.run_path(str(script_of(section)))
with initialize_config_dir(CONF, version_base="1.3"):
    cfg = compose(section, overrides)
ran = set()
sys.setprofile(lambda frame, event, _: ran.add(frame.f_code.co_filename) if event == "call" else None)
data, _ = load_section_data(cfg)
script["compute"](cfg, data)
sys.setprofile(None)
print(json.dumps(sorted(ran)))
"""
# settings, and what loads a section's data; stand-ins take no part in what is stored
LOADING = {f"replication/{name}.py" for name in ("outputs", "surrogates", "random_designs", "freshness")}


@pytest.mark.parametrize(
    ("section", "overrides"),
    [
        ("chatbot_arena", ["surrogate=always"]),
        ("mixed_judges", ["dataset=chatbot_arena", "surrogate=always", "repeats=2"]),
        ("slot_bias", ["n_comparisons=[300]", "replications=2"]),
    ],
)
def test_nothing_runs_that_no_digest_has(section, overrides, tmp_path):
    code = f"from studies import config\n{TRACED}"
    more = [] if section == "chatbot_arena" else ["parallel=sequential", f"cache={tmp_path}"]
    command = [sys.executable, "-c", code, section, *overrides, *more]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ran = {Path(name) for name in json.loads(done.stdout.splitlines()[-1])}
    ran = {sources._relative_name(path) for path in ran if path.is_relative_to(sources.SOURCES)}
    part = sources._part(script_of(section), "tables")
    behind = sources._closure([*sources.BEHIND["tables"], *part.imports], sources.NOT_COMPUTING)
    schemas = {name for name in ran if "/schemas/" in name}
    assert len(ran) > 20
    assert ran - {sources._relative_name(path) for path in behind} - schemas <= LOADING


def test_a_digest_is_the_same_under_every_python():
    others = [*Path.home().glob(".pyenv/versions/3.1[1-9].*/bin/python"), *Path("/usr/bin").glob("python3.1[1-9]")]
    if not others:
        pytest.skip("there is no other Python")
    code = (
        f"from pathlib import Path; from replication.sources import script_digest\n"
        f"print(script_digest(Path({str(script_of('chatbot_arena'))!r}), 'tables'))"
    )
    expected = sources.script_digest(script_of("chatbot_arena"), "tables")
    for python in others:
        paths = {"PYTHONPATH": str(sources.SOURCES), "PATH": os.environ["PATH"]}
        done = subprocess.run([python, "-c", code], env=paths, capture_output=True, text=True)
        assert done.stdout.strip() == expected, done.stderr


def stored_run(results: Path, section: str, value: float = 1.0, *overrides: str) -> Path:
    """A run's folder with a table of one number, under the section's settings."""
    lot = "paper" if script_of(section).parent.name == "experiments" else "beyond"
    record = provenance(section, composed(section, *overrides), {}, "")
    store(results / lot / section, {"a": Table(pd.DataFrame({"x": [value]}), "A")}, record, ROOT, time.monotonic())
    return results / lot / section


def why(results: Path) -> dict[str, str]:
    return dict(stale(results)[["section", "why"]].itertuples(index=False))


def test_what_other_code_made_is_stale_until_it_is_made_again_or_found_equal(tmp_path, copied):
    results = tmp_path / "results"
    for section in ("ci_coverage", "tastes"):
        stored_run(results, section)
    assert why(results) == {}
    copied("studies/tastes.py", added("LATER = 1"))
    assert why(results) == {"tastes": "code"}
    assert stale(results)["command"].tolist() == ["make tastes"]
    assert (stale(results)["seconds"] < 60).all()
    stamp(results, {"tastes": [""], "ci_coverage": [""]})
    assert why(results) == {}
    stamps = pd.read_csv(results / STAMPS)
    assert stamps["section"].tolist() == ["tastes"]  # the other one needs none
    first = (results / STAMPS).read_bytes()
    stamp(results, {"tastes": [""]})
    assert (results / STAMPS).read_bytes() == first
    copied("studies/tastes.py", added("EVEN_LATER = 1"))
    assert why(results) == {"tastes": "code"}


def test_a_stamp_is_for_the_files_that_were_compared(tmp_path, copied):
    results = tmp_path / "results"
    stored_run(results, "tastes")
    copied("studies/tastes.py", added("LATER = 1"))
    stamp(results, {"tastes": [""]})
    record = results / "beyond/tastes" / RECORD
    run = json.loads(record.read_text())
    record.write_text(json.dumps(run | {"files": {"a.csv": "0"}}))
    assert why(results) == {"tastes": "code"}


def test_a_run_that_gives_the_same_again_keeps_its_record_and_is_stamped(tmp_path, copied):
    results = tmp_path / "results"
    record = stored_run(results, "tastes") / RECORD
    first = record.read_bytes()
    copied("studies/tastes.py", added("LATER = 1"))
    freshness.stamp_run(stored_run(results, "tastes"), "tastes", "")
    assert record.read_bytes() == first
    assert why(results) == {}
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    freshness.stamp_run(stored_run(results, "tastes"), "tastes", "")
    assert {path: path.read_bytes() for path in results.rglob("*") if path.is_file()} == before
    stored_run(results, "tastes", 2.0)
    assert record.read_bytes() != first


def test_other_settings_and_data_make_stale_and_no_stamp_mends_that(tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    name = composed("chatbot_arena").datasets.chatbot_arena.file
    (data / name).write_text("[]")
    monkeypatch.setenv("JUDGERANK_DATA", str(data))
    forget()
    results = tmp_path / "results"
    stored_run(results, "ci_coverage", 1.0, "seed=7")
    stored_run(results, "chatbot_arena")
    assert why(results) == {"ci_coverage": "settings"}
    (data / name).write_text("[1]")
    forget()
    assert why(results) == {"chatbot_arena": "data", "ci_coverage": "settings"}
    stamp(results, {"ci_coverage": [""], "chatbot_arena": [""]})
    assert len(why(results)) == 2
    (data / name).unlink()  # without the data at hand, those recorded are taken for them
    forget()
    assert why(results) == {"ci_coverage": "settings"}


def test_a_record_without_digests_is_stale(tmp_path):
    record = stored_run(tmp_path / "results", "ci_coverage") / RECORD
    run = json.loads(record.read_text())
    del run["made_by"]
    record.write_text(json.dumps(run))
    assert why(tmp_path / "results") == {"ci_coverage": "no digest"}


def test_every_record_has_digests_of_code_settings_and_data(tmp_path):
    run = json.loads((stored_run(tmp_path / "results", "ci_coverage") / RECORD).read_text())
    assert run["made_by"].keys() == {"code", "settings", "data"}
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in run["made_by"].values())


def test_the_command_lists_what_is_stale_and_fails_if_it_is_to(tmp_path):
    stored_run(tmp_path / "results", "ci_coverage", 1.0, "seed=7")
    command = ["experiments/stale.py", f"results={tmp_path / 'results'}"]
    done = forked.run(command)
    assert done.returncode == 0, done.stderr
    assert "`make ci_coverage`" in done.stdout
    done = forked.run([*command, "fail=true"])
    assert done.returncode == 1
    assert done.stderr.strip().startswith("stale: 1 stored results are stale, of 1 sections")


def test_the_audit_refuses_stale_sections_of_the_paper_unless_it_is_told_not_to(tmp_path):
    folder = tmp_path / "results/paper/data_overview/mt_bench"
    shutil.copytree(ROOT / "results/paper/data_overview/mt_bench", folder)
    run = json.loads((folder / RECORD).read_text())
    run.pop("made_by")
    (folder / RECORD).write_text(json.dumps(run | {"digest": record_digest(run)}))
    places = [f"results={tmp_path / 'results'}", f"figures={tmp_path / 'figures'}", "pages=[]"]
    places += [f"codecheck={tmp_path / 'codecheck.yml'}", f"articles={tmp_path}"]
    done = forked.run(["experiments/audit.py", *places])
    assert done.returncode == 1
    (sentence,) = done.stderr.strip().splitlines()
    assert sentence.startswith("audit: stored results of data_overview are stale (no digest): nothing was written")
    assert not (tmp_path / "results/paper/audit.csv").exists()
    done = forked.run(["experiments/audit.py", *places, "accept_stale=true"])
    assert done.returncode == 0, done.stderr
    numbers = pd.read_csv(tmp_path / "results/paper/audit.csv", keep_default_na=False)
    assert set(numbers["stored"]) == {"", "stale"}
    of_set = numbers["source"].str.startswith("data_overview/mt_bench/")
    assert of_set.any() and (numbers.loc[of_set, "stored"] == "stale").all()
    page = (tmp_path / "results/paper/audit.md").read_text()
    assert re.search(r"\b[1-9]\d* of \d+ verdicts.*`make stale`", page)
    made = json.loads((tmp_path / "results/paper/audit.json").read_text())["made_by"]
    assert made["data"] == sources.digest_of(files_stored(tmp_path / "results"))
    assert "audit" not in why(tmp_path / "results")


def test_the_audit_says_fresh_of_what_this_code_made(tmp_path):
    from replication.auditing.stored_checks import require_fresh, stale_sections

    listed = pd.DataFrame(
        [
            ("beyond", "tastes", "", "tables", "code", "make tastes", 9.0),
            ("paper", "audit", "", "tables", "code", "make audit", None),
        ],
        columns=freshness.LISTED,
    )
    assert stale_sections(listed).empty
    require_fresh(listed)
    with pytest.raises(NotAsStoredError, match=r"of ci_coverage are stale \(code\): nothing was written"):
        require_fresh(pd.concat([listed, listed.iloc[:1].assign(lot="paper", section="ci_coverage")]))


def test_everything_stored_of_the_paper_is_fresh():
    """What is beyond the paper may wait for `make beyond`: `make stale` lists it, and a release needs it fresh."""
    listed = stale(ROOT / "results").query("lot == 'paper'")
    assert listed.empty, f"\n{listed.to_string(index=False)}"


def test_what_a_record_lists_is_stored():
    for record in sorted((ROOT / "results").rglob(RECORD)):
        for name, known in json.loads(record.read_text())["files"].items():
            assert digest(record.parent / name) == known, record
