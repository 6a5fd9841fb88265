"""Where runs write: to results/ and figures/ by the default settings alone, all others to folders of their own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

import studies.config  # noqa: F401 (schemas of the sections beyond the paper)
from replication.config import CONF, LONGEST_NAME, NOT_RESULTS, ROOT, folder_name, is_default
from tests import forked
from tests.real_data import needs_data
from tests.replication.test_config import composed
from tests.replication.test_sections import tree

RESULTS = ("chatbot_arena", "benchmark_alignment", "judge_reliability")  # surrogates are drawn from the latter two
PARTS = (
    "src",
    "conf",
    "experiments",
    *(f"results/paper/{name}" for name in RESULTS),
    "figures/paper/chatbot_arena",
)
SURROGATE = "surrogate=always"


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ("chatbot_arena", True),
        ("chatbot_arena level=0.95 results=x figures=y draw_only=true", True),
        ("ci_coverage parallel=sequential block=7 cache=elsewhere", True),
        ("mixed_judges", True),
        ("mixed_judges dataset=mt_bench", True),
        ("torture parallel=sequential results=x", True),
        ("chatbot_arena level=0.9", False),
        ("chatbot_arena surrogate=always", True),
        ("chatbot_arena solver=adam", False),
        ("mixed_judges dataset=in_house_surrogate", False),
        ("mixed_judges dataset=mt_bench dataset.name=mine", False),
        ("plan dataset=mt_bench", False),
        ("sparsity ~designs.budgets", False),
        ("ci_coverage +settings.mine={n_models:5,n_judges:2,n_comparisons:[50]}", False),
        ("torture cases=smoke", False),
    ],
)
def test_settings_are_the_default_ones_by_what_they_are_not_by_how_they_are_given(overrides, expected):
    command, *words = overrides.split()
    assert is_default(command, composed(command, *words)) == expected


def test_names_of_folders_are_hydras_where_a_file_system_takes_them():
    for plain in ("level=0.9", "dataset=mt_bench,panel=4", "+settings.mine=3,~designs.budgets", "trees=[1,2]"):
        assert folder_name(plain) == plain
    awkward = ["", "..", "ä", "ä" * 300, "x" * 500, *(f"a{character}b" for character in '/ :\\|*?"<\n')]
    names = [folder_name(overrides) for overrides in awkward]
    assert len(set(names)) == len(names)
    assert all(name.strip(".") and not set(name) & set('/\\:*?"<>| \n') for name in names)
    assert all(len(name.encode()) <= LONGEST_NAME + len("-01234567") for name in names)


def test_what_changes_no_number_changes_no_folder():
    with initialize_config_dir(CONF, version_base="1.3"):
        settings = compose("chatbot_arena", return_hydra_config=True).hydra.job.config
    assert set(settings.override_dirname.exclude_keys) == set(NOT_RESULTS)


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project with what is stored of some sections."""
    folder = tmp_path_factory.mktemp("project")
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(project: Path, *arguments: str) -> list[str]:
    """The lines that a script of the copy prints."""
    environment = os.environ | {"PYTHONPATH": str(project / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def stored(project: Path) -> dict[str, bytes]:
    return {kind + name: data for kind in ("results", "figures") for name, data in tree(project / kind).items()}


def level_of(folder: Path) -> float:
    return json.loads((folder / "run.json").read_text())["config"]["level"]


@pytest.fixture(scope="module")
def swept(project) -> tuple[dict[str, bytes], list[str], dict[float, Path]]:
    """What was stored before a sweep over two levels, what it prints, and the folders of its runs."""
    before = stored(project)
    lines = run(project, "experiments/chatbot_arena.py", "-m", "level=0.8,0.9", SURROGATE)
    outputs = project / "outputs/chatbot_arena"
    return before, lines, {level: outputs / f"level={level},{SURROGATE}/surrogate" for level in (0.8, 0.9)}


@pytest.mark.slow
def test_a_sweep_keeps_every_run_and_leaves_what_is_stored(project, swept):
    before, lines, folders = swept
    assert stored(project) == before
    for level, folder in folders.items():
        assert level_of(folder / "results") == level
        assert (folder / "figures/leaderboard.png").is_file()
    place = folders[0.9].relative_to(project)
    assert lines[-1] == f"surrogate: chatbot_arena: tables in {place}/results, figures in {place}/figures"


def test_figures_are_drawn_from_what_the_same_overrides_stored(project, swept):
    folder, others = swept[2][0.9], stored(project)
    before = tree(folder)
    shutil.rmtree(folder / "figures")
    run(project, "experiments/chatbot_arena.py", "draw_only=true", SURROGATE, "level=0.9")
    assert tree(folder) == before
    assert stored(project) == others


@pytest.mark.slow
def test_folders_that_hydra_is_given_are_taken(project, tmp_path):
    before, outputs = stored(project), tree(project / "outputs")
    run(project, "experiments/chatbot_arena.py", SURROGATE, "level=0.9", f"hydra.run.dir={tmp_path / 'run'}")
    assert level_of(tmp_path / "run/surrogate/results") == 0.9
    sweep = f"hydra.sweep.dir={tmp_path / 'sweep'}"
    run(project, "experiments/complete_ranking.py", "dataset=mt_bench", SURROGATE, "level=0.6", sweep)
    assert level_of(tmp_path / f"sweep/dataset=mt_bench,level=0.6,{SURROGATE}/surrogate/results") == 0.6
    places = [f"results={tmp_path / 'r'}", f"figures={tmp_path / 'f'}"]
    run(project, "experiments/chatbot_arena.py", SURROGATE, *places)
    assert (tmp_path / "r/surrogate/chatbot_arena/run.json").is_file()
    assert (tmp_path / "f/surrogate/chatbot_arena/leaderboard.png").is_file()
    assert (stored(project), tree(project / "outputs")) == (before, outputs)


@pytest.mark.slow
def test_other_commands_leave_what_is_stored_too(project):
    before = stored(project)
    parts = ("maxima.members", "thin.members", "existence.members", "scales.members", "files.ways", "kills.kinds")
    none = [f"{part}=[]" for part in (*parts, "secrets.ways", "slips.layouts")]
    words = ["cases=smoke", "inputs.forms=[csv]", *none, "parallel=sequential"]
    lines = run(project, "experiments/beyond/torture.py", *words)
    assert stored(project) == before
    (record,) = (project / "outputs/torture").rglob("run.json")
    assert lines[-1] == f"torture: table in {record.parent.relative_to(project)}"


@needs_data
def test_default_settings_write_to_results_and_leave_no_other_folder(project):
    shutil.rmtree(project / "outputs", ignore_errors=True)
    folder = project / "results/paper/chatbot_arena"
    before = {name: data for name, data in tree(folder).items() if name.endswith(".csv")}
    (folder / "ranking.csv").write_text("edited")
    lines = run(project, "experiments/chatbot_arena.py", "level=0.95")
    place = "paper/chatbot_arena"
    assert lines[-1] == f"chatbot_arena: tables in results/{place}, figures in figures/{place}"
    assert {name: data for name, data in tree(folder).items() if name.endswith(".csv")} == before
    assert not (project / "outputs").exists()


def test_a_run_that_fails_leaves_no_folder(project):
    environment = os.environ | {"PYTHONPATH": str(project / "src")}
    command = [sys.executable, "experiments/mixed_judges.py", SURROGATE, "pool=[gpt-5,nobody]", "dataset=in_house"]
    before = tree(project)
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    cure = "pool=null takes the 6 weakest, 2 strongest"
    assert done.stderr == f"mixed_judges: pool: In-house data has no judge gpt-5, nobody ({cure})\n"
    assert {name for name in tree(project).keys() - before.keys() if not name.startswith(".cache")} == set()
    assert not (project / "outputs/mixed_judges").exists()


@pytest.mark.parametrize("what", ["config", "defaults"])
def test_what_hydra_shows_of_a_configuration_is_there_once(what):
    lines = forked.run_anew(["experiments/chatbot_arena.py", "--info", what]).stdout.splitlines()
    sought = "seed: 2026" if what == "config" else "| solver/newton "
    assert sum(line.startswith(sought) for line in lines) == 1


@pytest.mark.slow
@needs_data
def test_the_page_on_settings_says_where_runs_write(project):
    """Each of its first commands, whose comment names folders."""
    page = (ROOT / "docs/extend/settings.md").read_text()
    block = re.search(r"```sh\n(.*?)```", page, re.DOTALL)[1]
    commands = re.findall(r'^make (\w+) ARGS="(.*?)" +# (.*)$', block, re.MULTILINE)
    assert len(commands) == len(block.splitlines()) >= 5
    before = stored(project)
    for section, overrides, comment in commands:
        first, *others = re.findall(r"[\w.=/]+/[\w.=/]+", comment)
        folders = [first, *(other.replace("...", str(Path(first).parent)) for other in others)]
        earlier = {*project.rglob("run.json")}
        lines = run(project, f"experiments/{section}.py", *overrides.split())
        tables, figures = re.search(r"tables in (\S+), figures in (\S+)$", lines[-1]).groups()
        assert Path(tables).is_relative_to(folders[-1]) and Path(figures).is_relative_to(folders[-1])
        new = {*project.rglob("run.json")} - earlier
        assert len(new) == (0 if "draw_only=true" in overrides else len(folders))
        for name in folders:
            assert list((project / name).rglob("run.json")) and list((project / name).rglob("figures.json"))
    assert stored(project) == before
