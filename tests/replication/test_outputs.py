"""Where runs write: to results/ and figures/ by the default settings alone, all others to folders of their own."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import kendalltau, spearmanr

import studies.config  # noqa: F401 (schemas of the sections beyond the paper)
from judgerank import fit
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.order.pairs import pairwise
from judgerank.writing import atomic
from judgerank.writing.sidecars import digest
from replication.config import CONF, LONGEST_NAME, NOT_RESULTS, ROOT, folder_name, is_default
from replication.datasets import load_judgments
from replication.differences import unlike_listed
from replication.freshness import SIDECAR, figures_record
from replication.judge_models import agreement_by_kind, answer_agreement, with_judges_merged
from replication.outputs import draw_section
from replication.statistics import kendall, spearman
from replication.tables import Replications, Table, as_stored, discrimination, fit_rows, leaderboard, stored_frame
from tests import forked
from tests.real_data import needs_data
from tests.replication.test_config import composed
from tests.replication.test_packaging import make_sections
from tests.replication.test_sections import tree
from tests.tool.test_atomic import Killed, kill_at

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
    page = (ROOT / "docs/extend/replication.md").read_text()
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


# Figures on several sets, whose records are entries in one file.


SETS = ("chatbot_arena", "in_house", "mt_bench", "ultrafeedback")
SWEPT = "tie_handling"


def draw_on(folder: Path, name: str, height: float = 1.0) -> None:
    """Draw two figures of a section on one set, after its stored table."""

    def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
        figures = {kind: Figure(figsize=(1, 1)) for kind in ("one", "other")}
        for figure in figures.values():
            figure.subplots().plot(tables["heights"]["height"] * height, label=suffix)
        return figures

    stored = folder / "results/paper" / SWEPT / name
    stored.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"height": [1.0, 2.0 + SETS.index(name)]}).to_csv(stored / "heights.csv")
    (stored / "run.json").write_text(json.dumps({"files": {"heights.csv": digest(stored / "heights.csv")}}))
    places = [f"{kind}={folder / kind}" for kind in ("results", "figures")]
    draw_section(SWEPT, on_set(name, *places), draw)


@cache
def on_set(name: str, *places: str):
    return composed(SWEPT, f"dataset={name}", *places)


@pytest.fixture
def of_sets(tmp_path) -> Path:
    """The folder of a section with figures on two sets."""
    for name in SETS[:2]:
        draw_on(tmp_path, name)
    return tmp_path / "figures/paper" / SWEPT


def test_figures_on_a_set_drawn_again_leave_those_on_others_and_their_records(of_sets, tmp_path):
    mine, others = (of_sets / name for name in SETS[:2])
    assert [path.name for path in of_sets.iterdir() if path.is_file()] == [SIDECAR]
    assert unlike_listed(mine, SIDECAR) == unlike_listed(others, SIDECAR) == []
    before, record, earlier = tree(others), figures_record(others), figures_record(mine)
    assert earlier["data"] != record["data"]
    draw_on(tmp_path, mine.name, height=0.5)
    assert (tree(others), figures_record(others)) == (before, record)
    assert figures_record(mine)["data"] != earlier["data"]
    assert unlike_listed(mine, SIDECAR) == unlike_listed(others, SIDECAR) == unlike_listed(of_sets, SIDECAR) == []


def test_figures_on_other_sets_that_were_edited_or_lost_stay_so_until_their_own_are_drawn(of_sets, tmp_path):
    mine, others = (of_sets / name for name in SETS[:2])
    before, record = tree(others), figures_record(others)
    (others / "one.png").write_text("edited")
    (others / "other.png").unlink()
    for _ in range(2):
        draw_on(tmp_path, mine.name)
        assert (tree(others), figures_record(others)) == ({"one.png": b"edited"}, record)
        assert [difference.column for difference in unlike_listed(others, SIDECAR)] == ["one.png", "other.png"]
        assert unlike_listed(mine, SIDECAR) == []
    draw_on(tmp_path, others.name)
    assert (tree(others), figures_record(others)) == (before | {"one.png.edited": b"edited"}, record)


def test_a_file_that_no_run_drew_is_in_the_way_on_a_set_too(of_sets, tmp_path):
    stranger = of_sets / SETS[2] / "one.png"
    stranger.parent.mkdir()
    stranger.write_text("mine")
    before = tree(of_sets)
    with pytest.raises(ConfigError):
        draw_on(tmp_path, SETS[2])
    assert tree(of_sets) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_figures_on_sets_drawn_at_the_same_time_are_all_recorded(tmp_path):
    fork = multiprocessing.get_context("fork")
    for name in SETS:  # what each of them loads at first
        draw_on(tmp_path / "alone", name)
    together = fork.Barrier(len(SETS))

    def drawing(name: str) -> None:
        for height in (1.0, 0.5, 1.0):
            together.wait(60)
            draw_on(tmp_path, name, height)

    processes = [fork.Process(target=drawing, args=(name,)) for name in SETS]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(SETS)
    assert tree(tmp_path / "figures") == tree(tmp_path / "alone/figures")
    home = tmp_path / "figures/paper" / SWEPT
    assert [line for name in ("", *SETS) for line in unlike_listed(home / name, SIDECAR)] == []


def test_a_kill_at_any_step_leaves_every_set_with_a_record_of_its_figures(of_sets, tmp_path, monkeypatch):
    mine, others = (of_sets / name for name in SETS[:2])
    pictures, kept, seen = tree(others), figures_record(others), set()
    heights = dict.fromkeys((1.0, 0.5))
    for height in (0.5, 1.0):
        draw_on(tmp_path, mine.name, height)
        heights[height] = figures_record(mine)
    for step in range(100):
        with monkeypatch.context() as patch:
            made = kill_at(patch, step, before=True)
            try:
                draw_on(tmp_path, mine.name, height=0.5)
            except Killed:
                ended = False
            else:
                ended = len(made) <= step
        atomic._held.clear()
        if ended:
            break
        with atomic.locked(of_sets):
            atomic.recover(of_sets)
        assert (tree(others), figures_record(others)) == (pictures, kept), step
        assert unlike_listed(mine, SIDECAR) == unlike_listed(of_sets, SIDECAR) == [], step
        seen.add(next(height for height, record in heights.items() if record == figures_record(mine)))
        draw_on(tmp_path, mine.name, height=1.0)
    assert ended
    assert seen == set(heights)


# Stored tables: full precision in the CSV, printed precision and safe text in Markdown and LaTeX.


@pytest.fixture
def table():
    frame = pd.DataFrame({"model_name": ["a_b", "c&d"], "score": [1 / 3, np.nan], "n": [10, 2]})
    return Table(frame, "100% of _all_ a_b {~}", digits=2)


def test_csv_keeps_nine_digits_and_ends_lines_alike_everywhere(table, tmp_path):
    table.write(tmp_path, "t")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert (tmp_path / "t.csv").read_bytes() == b"model_name,score,n\na_b,0.333333333,10\nc&d,,2\n"


def test_markdown_shows_the_wanted_decimals_and_a_dash_for_what_is_missing(table):
    lines = table.markdown(" (marked)").splitlines()
    assert lines[0] == r"100% of \_all\_ a_b {~} (marked)"
    assert [cell.strip() for cell in lines[4].split("|")[1:-1]] == ["a_b", "0.33", "10"]
    assert [cell.strip() for cell in lines[5].split("|")[1:-1]] == ["c&d", "--", "2"]


def test_latex_escapes_what_it_must(table):
    text = table.latex(" (marked)")
    assert r"\caption{100\% of \_all\_ a\_b \{\textasciitilde \} (marked)}" in text
    assert r"model\_name & score & n \\" in text
    assert r"c\&d & -- & 2 \\" in text
    assert r"\begin{tabular}{lrr}" in text


def stored_run(results, surrogate: bool) -> None:
    """A stored table with the record of its run."""
    folder = results / ("surrogate" if surrogate else "paper") / "toy" / "mt_bench"
    folder.mkdir(parents=True)
    table = Table(pd.DataFrame({"model": ["a", "b"], "score": [1.0, 0.25]}), "Scores", digits=1)
    table.write(folder, "scores")
    record = {"section": "toy", "surrogate": surrogate, "tables": {"scores": {"caption": "Scores", "digits": 1}}}
    (folder / "run.json").write_text(json.dumps(record))


@pytest.mark.parametrize("surrogate", [False, True])
def test_stored_tables_are_written_in_markdown_and_latex_with_their_captions(surrogate, tmp_path):
    stored_run(tmp_path / "results", surrogate)
    command = ["experiments/tables.py", f"results={tmp_path / 'results'}", f"forms={tmp_path / 'forms'}"]
    done = forked.run(command)
    assert done.returncode == 0, done.stderr
    assert "1 tables" in done.stdout
    (folder,) = (path.parent for path in (tmp_path / "forms").rglob("scores.md"))
    place = folder.relative_to(tmp_path / "forms")
    assert place.parts[1:] == ("toy", "mt_bench")
    table = Table(pd.read_csv(tmp_path / "results" / place / "scores.csv"), "Scores", 1)
    mark = " (surrogate)" if surrogate else ""
    assert (folder / "scores.md").read_text() == table.markdown(mark)
    assert (folder / "scores.tex").read_text() == table.latex(mark)
    assert ("(surrogate)" in table.markdown(mark)) == surrogate


def test_without_stored_tables_of_a_section_no_form_is_written(tmp_path):
    stored_run(tmp_path / "results", False)
    command = ["experiments/tables.py", f"results={tmp_path / 'results'}", f"forms={tmp_path / 'forms'}"]
    done = forked.run([*command, "only=[chatbot_arena]"])
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "no tables are stored" in done.stderr
    assert not (tmp_path / "forms").exists()


def test_every_stored_section_says_how_its_tables_are_shown():
    for record in sorted((ROOT / "results").glob("*/**/run.json")):
        run, stored = json.loads(record.read_text()), {path.stem for path in record.parent.glob("*.csv")}
        if run["section"] in make_sections() and "made_by" in run:  # by code that kept no captions: stale
            assert run["tables"].keys() == stored, record
            assert all(table["caption"] and table["digits"] >= 0 for table in run["tables"].values()), record


@pytest.fixture(scope="module")
def pair():
    letters = {("x", "y"): "aaab", ("y", "z"): "aabab", ("x", "z"): "aabaa"}
    rows = [(a, b, judge, letter) for (a, b), all_ in letters.items() for letter in all_ for judge in "jk"]
    rows += [("x", "z", "contrary", letter) for letter in "bbba"] + [("x", "y", "contrary", "b")]
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "judge_model", "judge_preferred_model"])
    comparisons = Comparisons.from_frame(frame)
    return fit(comparisons), fit(comparisons, "btl")


def test_the_leaderboard_is_in_order_of_the_judge_aware_score(pair):
    board = leaderboard(*pair, 0.95)
    assert board["rank_judge_aware"].tolist() == [1, 2, 3]
    assert board["score_judge_aware"].is_monotonic_decreasing
    by_btl = board.sort_values("rank_btl")
    assert by_btl["score_btl"].is_monotonic_decreasing
    assert (board["low_btl"] < board["score_btl"]).all()
    assert (board["score_btl"] < board["high_btl"]).all()


def test_rows_of_fits_carry_the_mean_width_at_the_level(pair):
    rows = fit_rows(list(pair), 0.9, dataset="d")
    assert rows["fit"].tolist() == ["judge_aware", "btl"]
    assert rows["separated"].tolist() == [pairwise(result, 0.9)["separated"].sum() for result in pair]
    board = leaderboard(*pair, 0.9)
    for row, model in zip(rows.itertuples(), ("judge_aware", "btl"), strict=True):
        assert row.mean_width == pytest.approx((board[f"high_{model}"] - board[f"low_{model}"]).mean(), rel=1e-12)


def test_rows_of_fits_count_the_pairs_that_holms_procedure_separates(simulated):
    found = fit(simulated(3, (0.6, 0.3, 0.0, -0.3, -0.6), (1.0, 1.5), 600))
    tests = pairwise(found, 0.9)
    by_hand, left = 0, len(tests)
    for p in sorted(tests["p_value"]):  # Holm (1979), step by step
        if p > 0.1 / left:
            break
        by_hand, left = by_hand + 1, left - 1
    assert 0 < by_hand < (tests["p_value"] <= 0.1).sum()
    assert fit_rows([found], 0.9)["separated"].tolist() == [by_hand]


def test_a_judge_at_zero_is_marked_and_has_no_interval(pair):
    table = discrimination(pair[0], 0.95, "d").set_index("judge")
    assert table["status"].to_dict() == {"contrary": "zero", "j": "interior", "k": "interior"}
    assert table.loc["contrary", ["low", "high"]].isna().all()
    assert table.at["contrary", "discrimination"] == 0


def test_replications_have_the_digits_of_a_csv_and_one_form_in_bytes(tmp_path):
    frame = pd.DataFrame(
        {"n": [2, 1], "status": ["interior", None], "value": [1 / 3, np.nan], "held": [True, None]}
    )
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        Replications(as_stored(frame), "draws").write(tmp_path / folder, "replications")
    one, two = (tmp_path / folder / "replications.parquet" for folder in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert b"pandas" not in one.read_bytes()
    found = stored_frame(one)
    assert list(found) == list(frame)
    assert found["value"].iloc[0] == 0.333333333
    assert found.isna().to_numpy().tolist() == frame.isna().to_numpy().tolist()


# Rank correlations against those of scipy.
PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=30)


@given(PAIRS)
def test_correlations_are_those_of_scipy_ties_among_them(pairs):
    one, other = np.array(pairs, float).T
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        assert np.isnan([spearman(one, other), kendall(one, other)]).all()
        return
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)
    assert kendall(one, other) == pytest.approx(kendalltau(one, other).statistic, abs=1e-12)


def test_a_worker_loads_neither_scipy_stats_nor_hydra():
    tasks = ("adaptive", "boards", "panel", "people", "ranked_answers", "soft_labels", "trust_studies", "validity")
    code = "; ".join(["import sys", *(f"import studies.{name}" for name in tasks), "print(*sys.modules)"])
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy.stats", "hydra", "requests"} & {*ran.stdout.split()}


# Judges that answer alike: shared items, and merging.
COLUMNS = ["question_id", "model_a", "model_b", "judge_model", "judge_preferred_model"]


def judgments(*rows: tuple) -> Judgments:
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return Judgments("made_up", "Made up", frame, Comparisons.from_frame(frame), {})


ROWS = [
    ("q1", "x", "y", "j", "a"),
    ("q1", "x", "y", "k", "a"),
    ("q1", "x", "y", "j", "b"),  # a second answer of j
    ("q1", "y", "x", "j", "b"),  # another item: the other order
    ("q2", "x", "y", "j", "c"),
    ("q2", "x", "y", "k", "b"),
    ("q3", "x", "y", "j", "a"),
    ("q3", "x", "y", "k", "unknown"),
    ("q3", "x", "y", "l", "a"),
]


def test_agreement_is_over_items_both_judged_first_answers_only():
    found = answer_agreement(judgments(*ROWS), 1).set_index(["judge_1", "judge_2"])
    assert found.loc[("j", "k"), ["shared", "agreement"]].tolist() == [2, 0.5]
    assert found.loc[("j", "l"), ["shared", "agreement"]].tolist() == [1, 1.0]
    assert ("k", "l") not in found.index


def test_pairs_with_too_few_shared_items_are_left_out():
    assert len(answer_agreement(judgments(*ROWS), 2)) == 1
    assert answer_agreement(judgments(*ROWS), 3).empty


def test_a_merged_judge_has_one_vote_an_item():
    merged = with_judges_merged(judgments(*ROWS), ["j", "k"], "both")
    assert merged.judges == ("both", "l")
    rows = sorted(zip(merged.first, merged.second, merged.judge, merged.outcome, strict=True))
    x, y = merged.models.index("x"), merged.models.index("y")
    # q1 in one order: a, a, b; in the other: b; q2: a tie and b; q3: a
    votes = sorted([(x, y, 0, 2 / 3), (y, x, 0, 0.0), (x, y, 0, 0.25), (x, y, 0, 1.0), (x, y, 1, 1.0)])
    assert [row[:3] for row in rows] == [vote[:3] for vote in votes]
    assert [row[3] for row in rows] == pytest.approx([vote[3] for vote in votes])


@needs_data
def test_four_ids_answer_as_one_model_on_mt_bench():
    cfg = composed("judge_reliability")
    loaded = load_judgments(cfg.datasets.mt_bench)
    table = answer_agreement(loaded, cfg.fewest_shared)
    same = table["judge_1"].isin(list(cfg.one_model)) & table["judge_2"].isin(list(cfg.one_model))
    assert same.sum() == 6
    assert table["agreement"][same].min() > 0.97 > 0.92 > table["agreement"][~same].max()
    merged = with_judges_merged(loaded, cfg.one_model, "merged")
    assert len(merged.judges) == 17
    assert fit(merged).ranks.equals(fit(loaded.comparisons).ranks)


def test_shares_of_equal_answers_have_wilsons_interval():
    row = answer_agreement(judgments(*ROWS), 2).iloc[0]
    z = 1.959963984540054
    centre, half = (0.5 * 2 + z**2 / 2) / (2 + z**2), z * (0.25 * 2 + z**2 / 4) ** 0.5 / (2 + z**2)
    assert row[["low", "high"]].tolist() == pytest.approx([centre - half, centre + half], rel=1e-9)


def test_suspected_ids_are_pooled_apart_from_strong_pairs_and_the_rest():
    pairs = pd.DataFrame(
        {
            "dataset": "s",
            "judge_1": ["a", "a", "c"],
            "judge_2": ["b", "c", "w"],
            "shared": [10, 20, 40],
            "agreement": [1.0, 0.75, 0.5],
            "one_model": [True, False, False],
        }
    )
    found = agreement_by_kind(pairs, ["a", "b", "c"]).set_index("kind")
    assert found["agreement"].to_dict() == {
        "other pairs": 0.5,
        "other strong pairs": 0.75,
        "the ids that may be one model": 1.0,
    }
    assert found.at["other strong pairs", "shared"] == 20
