"""The README: its example runs, its commands and files exist, its numbers are those of the stored results."""

import re
import shlex

import pandas as pd
import pytest

from replication.config import ROOT
from tests.study.test_config import composed

README = (ROOT / "README.md").read_text()


def table_after(heading: str) -> list[list[str]]:
    body = README[README.index(heading) :]
    rows = re.search(r"\n\|.*?\n\|[-:| ]+\n((?:\|.*\n)+)", body)[1]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.strip().splitlines()]


def test_the_python_example_runs_and_does_what_it_says(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "status interior" in printed
    assert "parameter" in printed
    assert "standard_error" in printed


def sections() -> list[str]:
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    return re.search(r"^SECTIONS := (.*)$", makefile, re.MULTILINE)[1].split()


ITEMS = table_after("<!-- items")


def test_every_item_of_the_paper_has_a_row():
    tables = [f"Table {n}" for n in (1, 2, 3)] + [f"Table A.{n}" for n in range(1, 10)]
    figures = [f"Figure {n}" for n in (1, 2, 3, 4)] + [f"Figure A.{n}" for n in range(1, 11)]
    assert sorted(row[0].split(",")[0] for row in ITEMS) == sorted(tables + figures)


@pytest.mark.parametrize("row", ITEMS, ids=lambda row: row[0])
def test_items_name_commands_and_outputs_that_exist(row):
    _, command, script, output, *_ = row
    section = command.strip("`").split()[1]
    assert script == f"`experiments/{section}.py`"
    assert section in sections()
    paths = re.findall(r"`((?:results|figures)/[^`]+)`", output)
    assert paths
    # the ratings' figure needs the hub
    assert all((ROOT / path).exists() for path in paths if "ratings" not in path)


def test_the_numbers_reproduced_are_those_of_the_stored_checks():
    checked = ("chatbot_arena", "benchmark_alignment", "judge_reliability")
    check = pd.concat([pd.read_csv(ROOT / f"results/{name}/paper_check.csv") for name in checked])
    groups = {
        "Table 3 (Chatbot Arena)": check["table"] == "Table 3",
        "Table 1 (MT-Bench)": check["table"] == "Table 1",
        "Table A.6 (UltraFeedback), unweighted": (check["table"] == "Table A.6")
        & (check["column"] == "score_btl"),
        "Table A.6 (UltraFeedback), judge-aware": (check["table"] == "Table A.6")
        & (check["column"] == "score_judge_aware"),
        "Table A.8, MT-Bench": (check["table"] == "Table A.8") & (check["column"] == "mt_bench"),
        "Table A.8, UltraFeedback": (check["table"] == "Table A.8") & (check["column"] == "ultrafeedback"),
    }
    computed = {name: [str(rows.sum()), str(check["reproduced"][rows].sum())] for name, rows in groups.items()}
    assert {name: numbers for name, *numbers in table_after("<!-- results")} == computed


def with_error(value: float, error: float) -> str:
    return f"{value:.2f} ({error:.2f})" if error == error else f"{value:.2f}"


def slope_rows() -> list[list[str]]:
    rows = pd.read_csv(ROOT / "results/convergence_mse/slopes.csv")
    names = {"score": "s", "log_discrimination": "log gamma"}
    return [
        [
            f"({row.n_models}, {row.n_judges})",
            names[row.parameter],
            f"{row.paper:.2f}",
            with_error(row.slope, row.slope_se),
            with_error(row.interior_slope, row.interior_slope_se),
        ]
        for row in rows.itertuples()
    ]


def coverage_rows() -> list[list[str]]:
    rows = pd.read_csv(ROOT / "results/ci_coverage/coverage.csv")
    last = rows[rows["n_comparisons"] == rows.groupby(["n_models", "n_judges"])["n_comparisons"].transform("max")]
    return [
        [f"({n}, {k})", f"{group['n_comparisons'].iloc[0]:,}"]
        + [f"{row.coverage:.3f} ({row.coverage_se:.3f})" for row in group.itertuples()]
        for (n, k), group in last.groupby(["n_models", "n_judges"])
    ]


@pytest.mark.parametrize(("marker", "rows"), [("<!-- slopes", slope_rows), ("<!-- coverage", coverage_rows)])
def test_the_numbers_of_the_simulation_study_are_those_stored(marker, rows):
    assert table_after(marker) == rows()


def test_overrides_shown_compose():
    text = README.replace("\\\n", " ")
    shown = re.findall(r"^\.venv/bin/python experiments/(\w+)\.py (.*)$", text, re.MULTILINE)
    shown += re.findall(r"^make (\w+) .*?ARGS=\"(.*)\" *(?:#.*)?$", text, re.MULTILINE)
    assert len(shown) >= 15
    for section, overrides in shown:
        if section in ("rank", "collect"):  # options of the command, not overrides
            continue
        words = [word for word in shlex.split(overrides, comments=True) if word != "--multirun"]
        # the launcher is a plugin that only a cluster needs, and a sweep's values come one at a time
        words = [word.split(",")[0] if word.startswith("seed=") else word for word in words]
        composed(section, *(word for word in words if not word.startswith("hydra/launcher")))


def test_every_module_is_on_the_map():
    package = ROOT / "src/judgerank"
    named = README[README.index("## Where things are") :]
    for module in package.glob("*.py"):
        assert module.name in named or module.name in ("__init__.py", "errors.py")
    for folder in package.glob("*/__init__.py"):
        assert f"`{folder.parent.name}/`" in named


def test_files_and_targets_named_exist():
    for path in re.findall(r"\]\((?!http)([^)]+)\)", README):
        assert (ROOT / path).is_file()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert target in sections() or re.search(rf"^(?:\w+ )*{target}(?: \w+)*:", makefile, re.MULTILINE)
