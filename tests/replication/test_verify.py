"""Faults seeded in stored results and in the code: every one is noticed, and where it is."""

import json
import os
import re
import runpy
import shutil
from copy import deepcopy
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

import studies.config  # noqa: F401 (schemas of the sections beyond the paper)
from judgerank.writing.sidecars import digest
from replication import datasets, replicate, verification
from replication.config import CONF, ROOT, SCRIPTS, lot_of, script_of
from replication.differences import TOLERANCES, compare, kind_of, unlike_listed
from replication.freshness import SIDECAR
from replication.outputs import run_section
from replication.records import record_digest
from replication.tables import Table
from tests import forked

OWN = ["dataset.name=small", "dataset.file=small.json", "dataset.sha256=null", "dataset.git_blob=null"]
OWN += ["dataset.questions=null"]
GRID = ["replications=4", "draws=1", "draw_replications=2", "block=2", "settings.n10_k5.n_comparisons=[100,200]"]
GRID += ["~settings.n20_k10", "~settings.n50_k20", "~settings.n100_k20"]
SECTIONS = {
    "complete_ranking": (["dataset=mt_bench"], OWN),
    "data_overview": (["dataset=mt_bench"], OWN),
    "convergence_mse": ([], [*GRID, "algorithm_1.settings=[]"]),
    "ci_coverage": ([], [*GRID, "settings.n10_k5.n_comparisons=[1600]", "settings.n10_k5.beyond=[3000]"]),
}


@pytest.fixture(scope="module", autouse=True)
def configured():
    with initialize_config_dir(CONF, version_base="1.3"):
        yield


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Small stored results of four sections, and the data of two of them."""
    folder = tmp_path_factory.mktemp("original")
    rng = np.random.default_rng(1)
    rows = []
    for question in range(600):
        first, second = rng.choice(6, 2, replace=False)
        judge = rng.integers(4)
        up = rng.random() < 1 / (1 + np.exp(-(judge + 1) * 0.4 * (first - second)))
        letter = "c" if rng.random() < 0.15 else "ba"[int(up)]
        names = {"model_a": f"m{first}", "model_b": f"m{second}", "judge_model": f"judge {judge}"}
        rows.append({"question_id": question, **names, "judge_preferred_model": letter, "judge_confidence": 0.9})
    (folder / "small.json").write_text(json.dumps(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGERANK_DATA", str(folder))
        for section, (job, overrides) in SECTIONS.items():
            outputs = [f"{kind}={folder / kind}" for kind in ("results", "figures")]
            if not job:
                outputs += [f"cache={folder / 'cache'}", "parallel=sequential"]
            script = runpy.run_path(str(script_of(section)))
            run_section(section, compose(section, [*job, *overrides, *outputs]), script["compute"], script["draw"])
    return folder


@pytest.fixture
def stored(original, tmp_path, monkeypatch):
    """A copy of the stored results to do harm to."""
    shutil.copytree(original, tmp_path / "copy")
    monkeypatch.setenv("JUDGERANK_DATA", str(tmp_path / "copy"))
    return tmp_path / "copy"


@cache
def usual() -> DictConfig:
    return compose("verify", ["parallel=sequential"])


def found_in(
    stored: Path, section: str, *more: str, sample: int | None = None, recompute: bool = True
) -> list[str]:
    job, overrides = SECTIONS[section]
    cfg = deepcopy(usual())
    cfg.results, cfg.figures = (str(stored / kind) for kind in ("results", "figures"))
    cfg.sample, cfg.recompute, cfg.overrides = sample, recompute, [*overrides, *more]
    result = verification.verified(cfg, section, job, np.random.default_rng(1))
    return [str(difference) for difference in result.differences]


def folder_of(stored: Path, section: str) -> Path:
    return stored / "results/paper" / section / ("small" if SECTIONS[section][0] else "")


def altered(stored: Path, section: str, table: str, change) -> None:
    """Change a stored table as a forger would, the digests with it."""
    folder = folder_of(stored, section)
    Table(change(pd.read_csv(folder / f"{table}.csv")), "forged", 9).write(folder, table)
    relisted(folder, "run.json")


def relisted(folder: Path, sidecar: str) -> None:
    record = json.loads((folder / sidecar).read_text())
    record["files"] = {name: digest(folder / name) for name in record["files"] if (folder / name).exists()}
    if "digest" in record:
        record["digest"] = record_digest(record)
    (folder / sidecar).write_text(json.dumps(record))


def cell(column: str, row: int, change):
    def altering(frame: pd.DataFrame) -> pd.DataFrame:
        values = frame[column].tolist()
        values[row] = change(values[row])
        return frame.assign(**{column: values})

    return altering


def times(column: str, factor: float):
    return lambda frame: frame.assign(**{column: frame[column] * factor})


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.round(3)


def columns_swapped(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={"low_btl": "high_btl", "high_btl": "low_btl"})[frame.columns]


def rows_swapped(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[[1, 0, *range(2, len(frame))]]


def without_row(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(index=2)


RANKING, FITS, JUDGES = (("complete_ranking", name) for name in ("ranking", "fits", "judges"))
COVERAGE, MSE, SLOPES = ("ci_coverage", "coverage"), ("convergence_mse", "mse"), ("convergence_mse", "slopes")
FORGED = {
    "a digit": (RANKING, cell("score_btl", 1, lambda x: x + 1e-4), "m., score_btl: stored"),
    "a sign": (RANKING, cell("score_judge_aware", 0, lambda x: -x), "score_judge_aware: stored -"),
    "a rank": (RANKING, cell("rank_btl", 0, lambda x: x + 1), "rank_btl: stored 2, recomputed 1"),
    "a count": (FITS, cell("comparisons", 0, lambda x: x - 1), "comparisons: stored 599"),
    "a status": (FITS, cell("status", 0, lambda x: "unbounded"), "status: stored unbounded"),
    "a judge renamed": (JUDGES, cell("judge", 0, lambda x: "judge 9"), "judge=judge 9, row: stored there"),
    "rounded values": (RANKING, rounded, r"low_btl: stored -?\d\.\d{1,3}, "),
    "columns swapped": (RANKING, columns_swapped, "low_btl: stored"),
    "rows swapped": (RANKING, rows_swapped, "row 1, order of rows"),
    "a row deleted": (RANKING, without_row, "row: stored missing, recomputed there"),
    "a coverage off by .10": (COVERAGE, cell("coverage", 0, lambda x: x - 0.1), "coverage: .* 0.1 apart"),
    "errors times 1.3": (MSE, times("mean", 1.3), "n_comparisons=100, parameter=score, mean"),
    "an altered slope": (SLOPES, cell("slope", 0, lambda x: x - 0.05), "slope: .* 0.05 apart"),
}


@pytest.fixture(scope="module")
def recomputed_once():
    """Data and tables of a section, recomputed for the first of the stored tables that they are compared with."""
    known, recomputed = {}, verification.recomputed

    def found(section: str, *given):
        if section not in known:
            known[section] = recomputed(*given)
        data, tables, cost = known[section]
        return data, dict(tables), cost

    return found


@pytest.mark.parametrize("fault", FORGED)
def test_a_forged_table_is_noticed_though_its_digests_were_forged_too(fault, stored, recomputed_once, monkeypatch):
    (section, table), change, where = FORGED[fault]
    monkeypatch.setattr(verification, "recomputed", partial(recomputed_once, section))
    monkeypatch.setattr(verification, "unlike_figures", lambda *_: [])  # a table is what is found
    before = (folder_of(stored, section) / f"{table}.csv").read_text()
    altered(stored, section, table, change)
    assert (folder_of(stored, section) / f"{table}.csv").read_text() != before
    assert found_in(stored, section, recompute=False) == []
    found = found_in(stored, section)
    assert any(re.search(f"{table}.*{where}", line) for line in found), found


@pytest.mark.parametrize("section", SECTIONS)
def test_stored_results_are_found_as_stored(section, stored, recomputed_once, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(verification, "recomputed", partial(recomputed_once, section))
        assert found_in(stored, section) == []
    assert found_in(stored, section, sample=1) == []


@pytest.mark.parametrize("section", SECTIONS)
def test_any_changed_byte_of_any_file_is_noticed_without_computing(section, stored):
    folders = [(folder_of(stored, section), "run.json")]
    folders += [(Path(str(folders[0][0]).replace("/results/", "/figures/")), "figures.json")]
    for folder, sidecar in folders:
        files = [path for path in folder.iterdir() if path.name != sidecar]
        assert files
        for path in files:
            content = path.read_bytes()
            path.write_bytes(content[:-2] + b"?" + content[-1:])
            assert [difference.column for difference in unlike_listed(folder, sidecar)] == [path.name]
            path.unlink()
            assert [difference.stored for difference in unlike_listed(folder, sidecar)] == ["missing"]
            path.write_bytes(content)
        (folder / "more.csv").write_text("a\n1\n")
        assert [difference.column for difference in unlike_listed(folder, sidecar)] == ["more.csv"]


def test_a_replaced_figure_and_a_missing_table_are_noticed(stored):
    figure = stored / "figures/paper/ci_coverage/coverage.png"
    shutil.copy(stored / "figures/paper/convergence_mse/mse.png", figure)
    (stored / "results/paper/ci_coverage/coverage.csv").unlink()
    (stored / "results/paper/ci_coverage/endings.csv").write_bytes(b"")
    for recompute in (False, True):
        found = "\n".join(found_in(stored, "ci_coverage", recompute=recompute))
        assert "coverage.png" in found
        assert "coverage.csv: stored missing" in found
        assert "endings.csv: stored No columns to parse from file" in found


def test_a_setting_changed_in_the_record_or_in_the_configuration_is_noticed(stored):
    path = folder_of(stored, "complete_ranking") / "run.json"
    path.write_text(path.read_text().replace('"level": 0.95', '"level": 0.9'))
    relisted(path.parent, path.name)
    assert found_in(stored, "complete_ranking", recompute=False) == [
        "run.json, config.level: stored 0.9, recomputed 0.95"
    ]
    assert found_in(stored, "complete_ranking", "level=0.9", recompute=False) == []
    found = found_in(stored, "complete_ranking", "level=0.9")  # which the intervals were not computed at
    assert {line.split(", ")[2].split(":")[0] for line in found if "ranking," in line} == {
        *("low_judge_aware", "high_judge_aware", "low_btl", "high_btl")
    }


# faults in the code


def with_frame(monkeypatch, change) -> None:
    whole = datasets.Comparisons.from_frame
    monkeypatch.setattr(datasets.Comparisons, "from_frame", lambda frame: whole(change(frame)))


def test_dropped_ties_are_noticed(stored, monkeypatch):
    with_frame(monkeypatch, lambda frame: frame[frame["judge_preferred_model"] != "c"])
    assert any("fits, fit=judge_aware, comparisons" in line for line in found_in(stored, "complete_ranking"))


def swapped_slots(frame: pd.DataFrame) -> pd.DataFrame:
    winner = frame["judge_preferred_model"].replace({"a": "b", "b": "a"})
    return frame.assign(model_a=frame["model_b"], model_b=frame["model_a"], judge_preferred_model=winner)


def test_swapped_slots_are_noticed(stored, monkeypatch):
    read = datasets.read_records
    monkeypatch.setattr(datasets, "read_records", lambda content: swapped_slots(read(content)))
    assert any("share_a: stored" in line for line in found_in(stored, "data_overview"))


def test_another_seed_is_noticed(stored, monkeypatch):
    generator = replicate.generator
    monkeypatch.setattr(replicate, "generator", lambda seed, *key: generator(seed + 1, *key))
    found = found_in(stored, "convergence_mse")
    assert any("mse, n_models=10, n_judges=5, n_comparisons=100, parameter=score, mean" in line for line in found)


def test_another_data_file_is_noticed(stored):
    path = stored / "small.json"
    path.write_text(path.read_text().replace('"a"', '"b"', 3))
    assert any("run.json, data.small.sha256: stored" in line for line in found_in(stored, "complete_ranking"))


# samples


def test_a_sample_is_of_every_setting_and_follows_its_seed():
    whole = compose("ci_coverage")

    def kept(seed: int) -> list[str]:
        return list(verification.sampled(deepcopy(whole), ["settings"], 1, np.random.default_rng(seed), {}))

    assert kept(3) == kept(3)
    assert [line.split()[0] for line in kept(3)] == ["n10_k5", "n10_k5", "n20_k10", "n50_k20", "n100_k20"]
    assert {line for seed in range(40) for line in kept(seed) if "n20" in line} == {
        f"n20_k10 {size}" for size in (9000, 15000, 23000, 34000, 45000)
    }


def test_a_sampled_cell_is_compared_whole_and_the_others_are_not(stored):
    def change(row: int):
        altered(stored, "ci_coverage", "coverage_beyond", cell("coverage", row, lambda x: x - 0.1))

    change(0)
    assert any("coverage: stored" in line for line in found_in(stored, "ci_coverage", sample=1))


def test_axes_and_tables_of_every_section_exist():
    scripts = [path for path in SCRIPTS.rglob("*.py") if "section_command(" in path.read_text()]
    for command, lot in (("verify", "paper"), ("verify_beyond", "beyond")):
        cfg = compose(command)
        assert cfg.lot == lot
        assert set(cfg.sections) == {path.stem for path in scripts if lot_of(path.stem) == lot}
        for section, plan in cfg.sections.items():
            assert not plan.axes or set(plan.axes) <= set(compose(section))


# the comparison itself


def frame(**columns) -> pd.DataFrame:
    return pd.DataFrame(columns)


@pytest.mark.parametrize("kind", ["estimate", "monte_carlo"])
def test_a_difference_counts_from_the_tolerance_on(kind):
    replicated = {"n_replications": [5]} if kind == "monte_carlo" else {}
    one = frame(model=["x"], score=[123.45], **replicated)
    assert kind_of(one) == kind
    allowed = TOLERANCES[kind].of(123.45, 123.45)
    inside, outside = (
        frame(model=["x"], score=[123.45 + factor * allowed], **replicated) for factor in (0.9, 1.1)
    )
    assert compare("t", one, inside) == []
    (difference,) = compare("t", one, outside)
    assert (difference.row, difference.column) == ("model=x", "score")
    assert difference.tolerance == pytest.approx(allowed, rel=1e-3)  # relative to the larger of both


def test_counts_are_exact_however_large_and_gaps_are_gaps():
    one = frame(model=["x", "y"], n=[10**9, 1], value=[np.nan, np.inf])
    assert compare("t", one, one.copy()) == []
    assert [d.column for d in compare("t", one, one.assign(n=[10**9 + 1, 1]))] == ["n"]
    assert [d.row for d in compare("t", one, one.assign(value=[0.0, np.inf]))] == ["model=x"]
    assert [d.row for d in compare("t", one, one.assign(value=[np.nan, -np.inf]))] == ["model=y"]
    assert [d.column for d in compare("t", one, one.rename(columns={"n": "m"}))] == ["columns"]


def test_nine_digits_of_a_large_number_are_an_estimate_and_not_a_count():
    one, inside, outside = (
        pd.DataFrame({"model": ["x", "y"], "high": [value, 0.25]})
        for value in (3.12446648e12, 3.12446583e12, 3.1245e12)
    )
    assert compare("t", one, inside) == []
    assert [d.column for d in compare("t", one, outside)] == ["high"]


def test_times_of_the_processor_need_only_be_there():
    one = pd.DataFrame({"model": ["x", "y"], "seconds": [0.2, 0.5]})
    assert compare("t", one, one.assign(seconds=[0.3, 0.4])) == []
    assert [d.column for d in compare("t", one, one.drop(columns="seconds"))] == ["columns"]


def test_no_tolerance_hides_a_tenth_of_a_monte_carlo_error():
    stored = pd.read_csv(ROOT / "results/paper/ci_coverage/coverage.csv")
    allowed = TOLERANCES["monte_carlo"].of(1.0, 0.0)
    assert allowed < stored["coverage_se"].min() / 10


# as a user runs it


def test_the_command_says_what_differs_and_where(stored):
    def done():
        overrides = ",".join(f'"{override}"' for override in OWN)
        command = ["experiments/verify.py", f"results={stored / 'results'}", "only=[complete_ranking]"]
        command += [f"figures={stored / 'figures'}", "datasets=[mt_bench]", f"overrides=[{overrides}]", "seed=7"]
        environment = os.environ | {"GIT_DIR": "/nowhere"}
        return forked.run(command, env=environment)

    good = done()
    assert (good.returncode, good.stderr) == (0, "")
    assert "complete_ranking dataset=mt_bench: as stored; 3 tables" in good.stdout
    altered(stored, "complete_ranking", "ranking", cell("score_btl", 1, lambda x: x + 1e-4))
    bad = done()
    assert bad.returncode == 1
    assert re.search(
        r"small/ranking, model=m\d, score_btl: stored .* 0.0001 apart where 1e-06 is allowed", bad.stdout
    )
    assert bad.stderr == "verify: 1 difference from what is stored: complete_ranking mt_bench\n"


# what is in the repository


def test_every_stored_file_is_as_it_was_written():
    """What ``make verify ARGS=recompute=false`` does, for all that is stored."""
    listed = {(path.parent, path.name) for path in ROOT.glob("results/*/**/run.json")}
    listed.add((ROOT / "results/paper", "audit.json"))
    listed |= {(path.parent, SIDECAR) for path in ROOT.glob("figures/*/*/**/*") if path.is_file()}
    no_results = {*ROOT.glob("[rf]*s/*/README.md"), ROOT / "results/verified.csv"}  # on folders, and the stamps
    files = {path for kind in ("results", "figures") for path in (ROOT / kind).rglob("*.*") if path.is_file()}
    assert {path.parent for path in files - no_results} == {folder for folder, _ in listed}
    found = [(folder, line) for folder, name in sorted(listed) for line in unlike_listed(folder, name)]
    assert [str(line) for folder, line in found if folder / line.column not in no_results] == []


def test_what_a_set_is_too_small_for_is_not_sampled():
    tables = {"correlation": pd.DataFrame({"trees": [1, 1, 2]})}
    for seed in range(8):
        given = OmegaConf.create({"trees": [1, 2, 7, 9]})
        (said,) = verification.sampled(given, ["trees"], 1, np.random.default_rng(seed), tables)
        assert given.trees[0] in (1, 2)
        assert said == f"trees {given.trees[0]}"


def test_a_key_with_decimals_is_found_though_the_rows_recomputed_are_whole():
    kinds = ["plug_in", "clustered", "plug_in"]
    stored = pd.DataFrame({"question_sd": [0.0, 0.0, 0.5], "errors": kinds, "covered": [0.94, 0.95, 0.9]})
    again = pd.DataFrame({"question_sd": [0, 0], "errors": kinds[:2], "covered": [0.94, 0.95]})
    assert compare("calibration", stored, again, part=True) == []
    assert len(compare("calibration", stored, again.assign(covered=0.8), part=True)) == 2


@pytest.mark.parametrize(
    ("whole", "kept"),
    [(["one", "other"], ["one"]), ({"one": {"size": 1}, "other": {"size": 2}}, {"one": {"size": 1}})],
)
def test_of_an_axis_of_words_or_of_named_elements_some_are_kept_in_its_form(whole, kept):
    given = OmegaConf.create({"axis": whole})
    seed = next(s for s in range(9) if np.random.default_rng(s).permutation(2)[0] == 0)
    assert list(verification.sampled(given, ["axis"], 1, np.random.default_rng(seed), {})) == ["axis one"]
    assert given.axis == kept
