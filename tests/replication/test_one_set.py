"""The sections on one set at a time, run as a user does."""

import json
import runpy
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

import pandas as pd
import pytest

from experiments.data_overview import confidences, models_per_question, question_files
from judgerank.model.streams import generator
from replication import published
from replication.config import ROOT, script_of
from replication.datasets import find_file
from replication.differences import TOLERANCES, compare
from replication.simulation import interval_coverage, squared_error, study_of
from tests import forked
from tests.real_data import IN_HOUSE, needs_data, needs_in_house
from tests.replication.test_config import composed
from tests.replication.test_sections import run, run_here, tree, undrawn

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
    assert {tuple(name.split("/")[1:4]) for name in files} == {("surrogate", section, "mt_bench")}
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
    kept = {path.name: path for path in (ROOT / "figures/paper" / section).iterdir()}
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
