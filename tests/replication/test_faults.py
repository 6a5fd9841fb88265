"""One table of faults of the study's commands: what is wrong, and the one sentence that ends it.

Every row runs the real command, with files of its own to write to. It must end in exit code 1 and that sentence
alone, and write nothing.
"""

import json
import re
import runpy
import sys
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

import pandas as pd
import pytest

from experiments.data_overview import confidences, models_per_question, question_files
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError
from replication import published
from replication.config import ROOT, as_merged, require_plain_options, script_of
from replication.datasets import find_file
from replication.differences import TOLERANCES, compare
from replication.schemas.ranges import require_known_and_in_range
from replication.simulation import interval_coverage, squared_error, study_of
from tests import forked
from tests.forked import run_anew
from tests.real_data import IN_HOUSE, needs_data, needs_in_house
from tests.replication.test_config import PRIMARY, composed
from tests.replication.test_sections import run, run_here, tree, undrawn

NAN, INF = "=nan is out of range: it must", "=inf is out of range: it must"
UNKNOWN = "there is no setting '{}'; the nearest known one is '{}'"

# fault, command with what it is told, and what it says after its own name
NONSENSE = [
    # keys that there are not
    ("a key within a part", "plan +data.colums=1", UNKNOWN.format("data.colums", "data.columns")),
    ("a key within a part's part", "plan +data.columns.judges=x", "the nearest known one is 'data.columns.judge'"),
    ("a key of a data set", "chatbot_arena +datasets.chatbot_arena.fil=x", "'datasets.chatbot_arena.file'"),
    ("a key of a solver", "chatbot_arena +solver.bound=1", UNKNOWN.format("solver.bound", "solver.slope_bound")),
    ("a key of a simulated setting", "ci_coverage +settings.n10_k5.judges=3", "'settings.n10_k5.n_judges'"),
    ("a key of an assumed panel", "plan +assumed.judges=3", UNKNOWN.format("assumed.judges", "assumed.n_judges")),
    ("a key of an added design", "validity +designs.my={n_model:3}", "Key 'n_model' not in 'Design'; the nearest"),
    ("a misspelt key", "chatbot_arena sovler=adam", "Key 'sovler' not in 'RealData'; .* 'solver'"),
    ("a misspelt solver's key", "chatbot_arena solver.toleranse=1", "the nearest known one is 'tolerance'"),
    ("an unknown solver", "chatbot_arena solver=simplex", "'solver/simplex'"),
    ("an unknown backend", "ci_coverage parallel.backend=threads", "there is no backend 'threads'"),
    ("an unknown section", "verify only=[arena]", "there is no section 'arena'"),
    ("an unknown function", "method_comparison surrogate=always methods.elo.function=nowhere.rank",
     "methods.elo.function=nowhere.rank cannot be loaded: the optional extra 'methods' has its library"),
    ("a word for a method's number", "method_comparison surrogate=always methods.elo.settings.k=abc",
     "methods.elo.settings.k=abc is not a number"),
    ("a setting that a method lacks", "method_comparison surrogate=always +methods.elo.settings.m=1",
     "methods.elo.settings.m: studies.methods.online.elo takes no such setting"),
    ("an unknown method", "validity surrogate=always designs.near_20.methods=[bt]",
     "design 'near_20': there is no method 'bt'"),
    ("a grid too dense for the set", "sparsity surrogate=always dataset=mt_bench trees=[9]",
     "sparsity-mt_bench: at none of the settings has the set enough for a fit"),
    # numbers and words that no one means
    ("a word for a number", "chatbot_arena level=high", "level=high"),
    ("a word of another list", "chatbot_arena surrogate=maybe", "maybe"),
    ("no number", "slot_bias sigma_scores=nan", f"sigma_scores{NAN} lie from 0 to 100"),
    ("no number in a mapping", "method_comparison methods.elo.settings.k=nan", f"methods.elo.settings.k{NAN}"),
    ("no number in a simulated setting", "ci_coverage settings.n10_k5.sigma_scores=nan", f"sigma_scores{NAN}"),
    ("no number for a panel", "plan assumed.sigma_scores=nan", f"assumed.sigma_scores{NAN}"),
    ("a level of one", "chatbot_arena level=1", "level=1 is out of range: it must lie between 0 and 1"),
    ("a negative bound", "ci_coverage estimator.score_bound=-1", "estimator.score_bound=-1 is out of range"),
    ("a step that is no number", "chatbot_arena solver=adam solver.step_scores=nan", f"solver.step_scores{NAN}"),
    ("an endless epsilon", "chatbot_arena solver=adam solver.btl.epsilon=inf", f"solver.btl.epsilon{INF}"),
    ("a certificate for anything", "chatbot_arena solver.tolerance=inf", f"solver.tolerance{INF}"),
    ("a certificate for much", "plan solver.tolerance=0.01", "solver.tolerance=0.01 is out of range"),
    ("such a one, shrunk", "plan solver=penalised solver.tolerance=0.01", "solver.tolerance=0.01 is out of range"),
    ("such a one, by steps", "plan solver=adam solver.tolerance=0.01", "solver.tolerance=0.01 is out of range"),
    ("such a one, in a box", "ci_coverage estimator.tolerance=inf", f"estimator.tolerance{INF}"),
    ("no replications", "ci_coverage replications=0", "replications=0 is out of range"),
    ("one replication where errors are told", "validity replications=1", "it must be finite and at least 2"),
    ("empty blocks", "convergence_mse block=0", "block=0 is out of range: it must be finite and at least 1"),
    ("no points", "convergence_mse points=0", "points=0 is out of range"),
    ("a negative draw", "convergence_mse draws=-1", "draws=-1 is out of range"),
    ("a negative seed", "chatbot_arena seed=-1", "seed=-1 is out of range"),
    ("no sample", "verify sample=0", "sample=0 is out of range: it must be finite and at least 1"),
    ("nobody to work", "ci_coverage profile=smoke parallel.n_jobs=0", "parallel.n_jobs=0 would leave nobody"),
    ("a width of nothing", "plan wanted.score_width=0", "wanted.score_width=0 is out of range: .* above 0"),
    ("a width without end", "plan wanted.score_width=inf", f"wanted.score_width{INF}"),
    ("a power of one", "plan wanted.pair_power=1", "wanted.pair_power=1 is out of range: .* between 0 and 1"),
    ("a correlation above one", "plan correlation=1.5", "correlation=1.5 is out of range: .* from 0 to 1"),
    ("no pairs", "plan questions.pairs=0", "questions.pairs=0 is out of range"),
    ("a pair of a stranger", "plan profile=smoke pair=[m01,gpt]", "pair: there is no model 'gpt' among m01"),
    ("no cache", "convergence_mse cache=''", "cache is empty"),
    ("no place for results", "chatbot_arena results=''", "results is empty"),
    ("nothing that would change", "convergence_mse settings={}", "settings={} would change nothing"),
    ("nothing to simulate", "ci_coverage ~settings.n10_k5 ~settings.n20_k10 ~settings.n50_k20 ~settings.n100_k20",
     "settings is empty"),
    # names that a set has not, which no fallback may take for the absence of something else
    ("judges that a set lacks", "mixed_judges dataset=in_house surrogate=always pool=[gpt-5,nobody]",
     "pool: In-house data has no judge gpt-5, nobody (pool=null takes the 6 weakest, 2 strongest)"),
    ("a pool of nobody", "mixed_judges dataset=in_house surrogate=always pool=[]", "pool: it names no judge"),
    ("a judge left out whom a set lacks",
     "complete_ranking dataset=in_house surrogate=always dataset.left_out=[me]",
     "dataset.left_out: In-house data (surrogate) has no judge me"),
    ("votes beside no set", "benchmark_alignment surrogate=always +dataset@votes.arena=mt_bench_votes",
     "votes.arena: people's votes stand beside mt_bench or ultrafeedback"),
    ("answers that are not there", "panel surrogate=always answers=none.csv", "there is no such file"),
    ("a file that is not there",
     "chatbot_arena datasets.chatbot_arena.file=none.json datasets.chatbot_arena.url=null",
     "none.json is not in .*, and has no address"),
    # sets where a section takes none, or others
    ("a set where others are", "chatbot_arena dataset=mt_bench",
     "chatbot_arena takes dataset@datasets.chatbot_arena=... (dataset=... is for complete_ranking, data_overview"),
    ("a set where there is none", "ci_coverage dataset=mt_bench",
     "ci_coverage takes estimator=..., parallel=..., profile=... (dataset=... is for complete_ranking"),
    ("another set in the place of the paper's",
     "chatbot_arena surrogate=always dataset@datasets.chatbot_arena=mt_bench",
     "MT-Bench (surrogate) is not the paper's chatbot_arena: it lacks the model RWKV-4-Raven-14B and 14 more"),
    ("a set taken away", "chatbot_arena ~datasets.chatbot_arena", "this section takes datasets.chatbot_arena"),
    # data that are not there
    ("a surrogate alone where none may be", "tie_handling dataset=in_house_surrogate surrogate=never",
     "In-house data: no file is configured"),
    ("no stored tables to draw from", "chatbot_arena draw_only=true", "no stored tables of chatbot_arena"),
    ("no stored results to audit", "audit pages=[]", "no results are stored in"),
]  # fmt: skip
EACH_KIND = ["chatbot_arena", "sparsity", "ci_coverage", "audit"]  # of sets, of one, simulated, others
NONSENSE += [("a key", f"{name} +nokey=1", "there is no setting 'nokey'; the nearest") for name in EACH_KIND]


@pytest.fixture
def told(tmp_path, monkeypatch, capfd):
    """What a command says at its end, in this process, and whether it says only that and writes nothing."""

    def run(command: str, *arguments: str) -> str:
        monkeypatch.setenv("HYDRA_FULL_ERROR", "0")  # every command sets it for the process
        out = tmp_path / "out"
        given = [] if command == "kernels" else [f"results={out}"]
        given += [] if command in ("kernels", "torture") else [f"figures={out}"]
        monkeypatch.setattr(sys, "argv", [command, *given, *arguments])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(script_of(command)))["run"]()
        assert isinstance(end.value.code, str), end.value.code  # which python prints, and exits with 1
        assert capfd.readouterr().err == ""
        assert not out.exists()
        (line,) = end.value.code.splitlines()
        name, _, sentence = line.partition(": ")
        assert name == command
        return sentence

    return run


def says(sentence: str, told: str) -> bool:
    return re.search(sentence if ".*" in sentence else re.escape(sentence), told) is not None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [row[1:] for row in NONSENSE],
    ids=[f"{row[0]}: {row[1].split()[0]}" for row in NONSENSE],
)
def test_nonsense_ends_in_one_sentence(given, sentence, told):
    assert says(sentence, told(*given.split()))


@pytest.mark.parametrize("name", PRIMARY)
def test_every_command_is_begun_by_what_checks_its_settings(name):
    begun = re.escape(f'@main("{name}")\ndef run('), re.escape(f'run = section_command("{name}", ')
    assert re.search("|".join(begun), Path(script_of(name)).read_text())
    with pytest.raises(ConfigError, match="there is no setting 'nokey'; the nearest"):
        require_known_and_in_range(composed(name, "+nokey=1"))


@needs_data
@pytest.mark.parametrize("dataset", ["in_house", "ultrafeedback"])
def test_lengths_that_are_not_known_are_asked_for(dataset, told):
    assert "(dataset.questions=FILE" in told("length_covariate", f"dataset={dataset}")


@needs_data
def test_data_that_are_not_the_published_ones_are_refused(told):
    assert "SHA-256" in told("chatbot_arena", "datasets.chatbot_arena.sha256=00", "surrogate=never")


@needs_data
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("chatbot_arena datasets.chatbot_arena.sha256=null "
         "datasets.chatbot_arena.file=judge_results_10k_mtbench.json",
         "Chatbot Arena is not the paper's chatbot_arena: it lacks the model RWKV-4-Raven-14B and 14 more"),
        ("benchmark_alignment ratings=none.json", "none.json"),
        ("judge_reliability one_model=[me] search.length=1 search.steps=[] search.betas=[] search.epsilon=[] "
         "search.answers=[] search.random_starts=0 search.grids=[]",
         "one_model: no set has all of these judges: me"),
    ],
)  # fmt: skip
def test_what_the_real_sets_lack_is_named(given, sentence, told):
    assert sentence in told(*given.split())


@pytest.mark.parametrize(
    "text",
    [
        "# @package _global_\nhydra:\n  callbacks: {x: {_target_: os.system}}\n",
        "# @package hydra.callbacks\nx: {_target_: os.system}\n",
        "# @package _global_\n{hydra: {callbacks: {x: 1}}}\n",
        "defaults:\n  - override /hydra/job_logging: mine\n",
    ],
)
def test_options_that_set_what_hydra_does_are_refused(text, tmp_path):
    require_plain_options(tmp_path)
    (tmp_path / "dataset").mkdir()
    (tmp_path / "dataset" / "mine.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"dataset/mine.yaml sets hydra's own settings"):
        require_plain_options(tmp_path)


def test_a_process_exits_with_one_and_says_no_more():
    done = run_anew(["experiments/chatbot_arena.py", "seed=-3"])
    assert done.returncode == 1
    assert done.stderr == "chatbot_arena: seed=-3 is out of range: it must be finite and at least 0\n"


def test_groups_can_be_extended_and_their_parts_are_checked():
    added = "+designs.my={title: mine, methods: [btl]}"
    cfg = composed("validity", as_merged(added))
    require_known_and_in_range(cfg)
    assert cfg.designs.my.n_models == cfg.designs.near_10.n_models  # the schema's
    with pytest.raises(ConfigError, match="ties=2 is out of range"):
        require_known_and_in_range(composed("validity", as_merged(added), "designs.my.ties=2"))
    assert as_merged("level=0.9") == "level=0.9"
    assert as_merged("+solver.slope_bound=1") == "+solver.slope_bound=1"


# The sections on one set at a time, run as a user does.


SETS = ["in_house", "chatbot_arena", "mt_bench", "ultrafeedback"]
CHEAP = ["data_overview", "complete_ranking", "tie_handling", "length_covariate"]
RESAMPLED = {
    "mixed_judges": ["repeats=2"],
    "sparsity": ["repeats=2", "trees=[1,2]", "~designs.budgets", "~designs.trees", "~designs.stops"],
    "subsampling_efficiency": ["repeats=2", "n_judges=[8,12]", "n_comparisons=[1000,1500]"],
}
SECTIONS = [*CHEAP, *RESAMPLED]
# of the stand-in, which is compared with nothing stored
FEW = {"length_covariate": ["adam_iterations=200"], **RESAMPLED}


@pytest.fixture(scope="module", params=SECTIONS)
def surrogate(request, tmp_path_factory):
    section, folder = request.param, tmp_path_factory.mktemp(request.param)
    few = FEW.get(section, [])
    if section in RESAMPLED:
        few = [*few, "parallel=sequential", f"cache={folder / 'cache'}"]
    by = forked.run_anew if section == SECTIONS[0] else forked.run
    return section, folder, run(section, folder, "dataset=mt_bench", "surrogate=always", *few, by=by)


def outputs(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in tree(folder).items() if not name.startswith("cache")}


def test_a_surrogate_run_says_so_everywhere_and_lands_where_it_should(surrogate):
    section, folder, done = surrogate
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()
    assert all("surrogate" in line for line in done.stdout.splitlines())
    files = outputs(folder)
    folders = {tuple(name.split("/")[1:4]) for name in files if not name.endswith(f"{section}/figures.json")}
    assert folders == {("surrogate", section, "mt_bench")}
    assert all(b"surrogate" in text for name, text in files.items() if name.endswith(".json"))


def test_tables_are_csv_files_replications_parquet_files_and_figures_png_files(surrogate):
    section, folder, _ = surrogate
    names = {(name.split("/")[0], Path(name).suffix) for name in outputs(folder)}
    expected = {("results", ".csv"), ("results", ".json"), ("figures", ".png"), ("figures", ".json")}
    assert names == expected | ({("results", ".parquet")} if section in RESAMPLED else set())


def test_figures_are_redrawn_to_the_same_bytes(surrogate, monkeypatch):
    section, folder, _ = surrogate
    before = outputs(folder)
    for path in (folder / "figures").rglob("*.*"):
        path.unlink()
    monkeypatch.setenv("JUDGERANK_DATA", "/nowhere")
    run_here(section, folder, "dataset=mt_bench", "draw_only=true", *FEW.get(section, []))
    assert outputs(folder) == before


@pytest.fixture(scope="module")
def overview(tmp_path_factory):
    """The folder of a run on every set, for want of a choice, and what it said."""
    folder = tmp_path_factory.mktemp("overview")
    done = run("data_overview", folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture(scope="module")
def on_real_sets(tmp_path_factory):
    """The folder of a section's tables on its sets, with the names of its figures, none of which is saved."""

    @cache
    def found(section: str) -> Path:
        folder, draw = tmp_path_factory.mktemp(section), runpy.run_path(str(script_of(section)))["draw"]

        def named(name: str, tables: dict, suffix: str) -> dict:
            (folder / f"{name}.txt").write_text("\n".join(draw(tables, suffix)))
            return {}

        for name in ["mt_bench"] if section == "length_covariate" else SETS:
            run_here(section, folder, f"dataset={name}", "surrogate=never", draw=partial(named, name))
        return folder

    return found


@needs_data
def test_without_a_choice_a_section_runs_on_every_set_and_marks_only_what_is_made_up(overview):
    folder, said = overview
    results = folder / "results"
    sets = {"chatbot_arena", "mt_bench", "ultrafeedback"} | ({"in_house"} if find_file(IN_HOUSE) else set())
    assert {path.name for path in (results / "paper/data_overview").iterdir()} == sets
    assert (results / "surrogate").exists() == ("in_house" not in sets)
    real = [line for line in said.splitlines() if "mt_bench" in line or "MT-Bench" in line]
    assert real
    assert not any("surrogate" in line for line in real)
    assert not [name for name in outputs(results / "paper/data_overview") if "surrogate" in name]


@needs_data
@needs_in_house
@pytest.mark.parametrize("section", CHEAP)
def test_stored_results_of_real_sets_come_out_again(section, overview, on_real_sets):
    folder = overview[0] if section == CHEAP[0] else on_real_sets(section)
    again, stored = (of(base / "results/paper" / section) for of, base in ((outputs, folder), (tree, ROOT)))
    assert again.keys() == stored.keys()
    for name in (name for name in again if name.endswith(".csv")):
        one, other = (pd.read_csv(base / "results/paper" / section / name) for base in (ROOT, folder))
        assert compare(name, one, other) == []
    drawn = {path.stem: set(path.read_text().split()) for path in folder.glob("*.txt")}
    kept = {path.name: path for path in (ROOT / "figures/paper" / section).iterdir() if path.is_dir()}
    if section == CHEAP[0]:
        assert outputs(folder / "figures/paper" / section).keys() == tree(ROOT / "figures/paper" / section).keys()
    else:
        assert drawn == {name: {path.stem for path in kept[name].glob("*.png")} for name in kept}


def test_the_in_house_surrogate_runs_beside_the_real_set(tmp_path):
    run_here("complete_ranking", tmp_path, "dataset=in_house_surrogate", draw=undrawn)
    files = tree(tmp_path / "results/surrogate/complete_ranking/in_house")
    assert {"ranking.csv", "ranking_all_judges.csv"} <= files.keys()
    assert "paper_check.csv" not in files


@needs_in_house
@needs_data
def test_the_printed_ranking_is_of_the_judges_kept(on_real_sets):
    folder = on_real_sets("complete_ranking") / "results/paper/complete_ranking/in_house"
    check = pd.read_csv(folder / "paper_check.csv")
    share = check.groupby(["judges", "column"])["reproduced"].mean()
    assert share["kept"][["score_judge_aware", "score_btl", "low_btl", "high_btl"]].eq(1).all()
    assert share["all", "score_btl"] < 0.1 < 0.9 < share["all", "rank_btl"]
    (left_out,) = published.table("in_text").query("index == 'in_house_judges_excluded'")["printed"]
    judges = pd.read_csv(folder / "fits.csv", index_col="fit")["judges"]
    assert judges["btl, all judges"] - judges["btl"] == int(left_out)


@needs_data
def test_a_set_the_paper_does_not_know_is_described(tmp_path):
    run_here("data_overview", tmp_path, "dataset=mt_bench", "dataset.name=mine", "surrogate=never")
    size = pd.read_csv(tmp_path / "results/paper/data_overview/mine/size.csv")
    assert (size["dataset"][0], size["paper"][0]) == ("mine", "--")


def test_models_are_counted_by_question_and_confidences_by_what_was_given():
    rows = [("q", "a", "b", 0.2), ("q", "b", "a", None), ("r", "a", "c", 1.5), ("r", "c", "d", 0.7)]
    frame = pd.DataFrame(rows, columns=["question_id", "model_a", "model_b", "judge_confidence"])
    assert models_per_question(frame).to_dict("list") == {"models": [2, 3], "questions": [1, 1]}
    wanted = {"confidences": 3, "lowest_confidence": 0.2, "highest_confidence": 1.5}
    assert confidences(frame) == wanted
    assert confidences(frame.drop(columns="judge_confidence"))["confidences"] == 0
    assert question_files(frame).empty


def test_files_of_questions_have_the_rows_that_their_names_and_indices_say():
    ids = ["head20.jsonl/0", "head20.jsonl/7", "head20.jsonl/7", "tail43.jsonl/40", "81"]
    files = question_files(pd.DataFrame({"question_id": ids})).set_index("file")
    assert files.loc["head20.jsonl"].to_dict() == {"rows_named": 20, "questions": 2, "rows": 8}
    assert files.loc["tail43.jsonl"].to_dict() == {"rows_named": 43, "questions": 1, "rows": 41}


@needs_data
def test_a_point_of_a_resampled_section_comes_out_again_by_itself(tmp_path):
    chosen = ["dataset=mt_bench", "n_judges=[8]", "n_comparisons=[1000]", f"cache={tmp_path / 'cache'}"]
    run_here("subsampling_efficiency", tmp_path, *chosen, "parallel=sequential", draw=undrawn)
    again = pd.read_csv(tmp_path / "results/paper/subsampling_efficiency/mt_bench/correlation.csv")
    stored = pd.read_csv(ROOT / "results/paper/subsampling_efficiency/mt_bench/correlation.csv")
    point = stored[(stored["n_judges"] == 8) & (stored["n_comparisons"] == 1000)].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, point)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "results").glob("**/run.json")), ids=lambda path: str(path.parent.relative_to(ROOT))
)
def test_where_a_result_is_stored_says_whether_it_is_a_surrogate(path):
    run_json = json.loads(path.read_text())
    assert run_json["surrogate"] == ("surrogate" in path.parts)
    if run_json["config"].get("dataset"):
        assert path.parts[-3:-1] == (run_json["section"], run_json["config"]["dataset"]["name"])


# Stored results of the simulation study are this code's: cells recomputed in full give the stored rows.


def recomputed(section: str, task, setting: str, size: int) -> pd.DataFrame:
    study = study_of(composed(section), section, task)
    cell = f"{setting}-t{size}-draw0"
    seeds = (generator(study.seed, section, cell, r) for r in range(study.replications[cell]))
    return pd.json_normalize([asdict(task(study.cells[cell], rng)) for rng in seeds], sep="/")


def stored(name: str, **place) -> pd.DataFrame:
    rows = pd.read_csv(ROOT / f"results/paper/{name}.csv")
    for column, value in place.items():
        rows = rows[rows[column] == value]
    return rows


@pytest.mark.parametrize(("setting", "place"), [("n10_k5", (10, 5, 400)), ("n20_k10", (20, 10, 1600))])
def test_a_mean_squared_error_comes_out_again(setting, place):
    records = recomputed("convergence_mse", squared_error, setting, place[2])
    names = dict(zip(("n_models", "n_judges", "n_comparisons"), place, strict=True))
    for row in stored("convergence_mse/mse", **names).to_dict("records"):
        values = records[f"errors/judge_aware/{row['parameter']}"]
        found = (values.mean(), values.quantile(0.25), values.quantile(0.75))
        assert found == pytest.approx(
            (row["mean"], row["q25"], row["q75"]), rel=TOLERANCES["monte_carlo"].relative
        )
        assert (len(records), records["interior"].sum()) == (row["n_replications"], row["n_interior"])


def test_a_coverage_comes_out_again():
    records = recomputed("ci_coverage", interval_coverage, "n10_k5", 1600)
    rows = stored("ci_coverage/coverage", n_models=10, n_comparisons=1600).to_dict("records")
    assert len(rows) == 3
    for row in rows:
        found = tuple(records[f"intervals/{row['method']}/{name}"].mean() for name in ("coverage", "width"))
        assert found == pytest.approx((row["coverage"], row["width"]), rel=TOLERANCES["monte_carlo"].relative)
        assert row["n_replications"] == len(records) == 500


def test_nothing_failed():
    for section in ("convergence_mse", "ci_coverage"):
        assert stored(f"{section}/failures").empty


def test_the_studies_have_the_papers_sizes():
    assert stored("convergence_mse/mse")["n_replications"].unique().tolist() == [100]
    assert len(stored("convergence_mse/mse")) == 28 * 2
    assert stored("ci_coverage/coverage")["n_replications"].unique().tolist() == [500]
    assert len(stored("ci_coverage/coverage")) == 20 * 3
