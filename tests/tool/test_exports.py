"""A ranking's tables in other forms, and `judgerank cells`: read back to what they were."""

import io
import json
import re
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markdown import markdown
from numpy.testing import assert_allclose, assert_array_equal

import judgerank
from judgerank import rank
from judgerank.cli.cells import CELL_FORMS
from judgerank.data.errors import ConfigError, DataError
from judgerank.inference.wald import normal_quantile
from judgerank.ranking import exports
from judgerank.ranking.exports import ELO_MEAN, ELO_POINTS, FORMS, TABLES, lmarena
from judgerank.reading.cells_in_sql import QUOTES, columns_in, counted_cells, statement
from judgerank.writing.atomic import beside
from judgerank.writing.spreadsheets import csv_of
from replication.config import ROOT
from replication.datasets import find_file
from tests.forked import judgerank as command
from tests.forked import judgerank as run_command
from tests.forked import usage_text
from tests.real_data import FILES, needs_data

ODD = ["a_b & 100% #1", "[x]|y", "<b>*bold*</b>", "back\\slash {$m^2$}", "~tilde", "naïve 模型"]
FORMS_OF_TEXT = ("csv", "tsv", "json", "jsonl")
# in the order of https://huggingface.co/datasets/lmarena-ai/leaderboard-dataset
LMARENA_COLUMNS = [
    "model_name", "organization", "license", "rating", "rating_lower", "rating_upper", "variance", "vote_count",
    "rank", "category", "leaderboard_publish_date",
]  # fmt: skip


def judgments(names: list[str]) -> pd.DataFrame:
    """Every pair of models ten times by each of two judges, of which the better one wins seven."""
    rows = [
        {"model_a": a, "model_b": b, "judge": judge, "winner": "model_a" if (turn < 7) == (i < j) else "model_b"}
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i != j
        for judge in ("j", "k")
        for turn in range(10)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def ranking():
    return rank(judgments(ODD))


@pytest.fixture(scope="module")
def apart():
    """Two components, whose pairs with each other have only names."""
    return rank(pd.concat([judgments(ODD[:3]), judgments(ODD[3:])]))


def read_back(path: Path, form: str) -> pd.DataFrame:
    readers = {
        "csv": lambda: pd.read_csv(path),
        "tsv": lambda: pd.read_csv(path, sep="\t"),
        "parquet": lambda: pd.read_parquet(path),
        "json": lambda: pd.DataFrame(json.loads(path.read_text())),
        "jsonl": lambda: pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()]),
    }
    return readers[form]()


# what is in the files


@pytest.mark.parametrize("form", [*FORMS_OF_TEXT, "parquet"])
@pytest.mark.parametrize("name", ["leaderboard", "judges", "pairs", "next"])
@pytest.mark.parametrize("which", ["ranking", "apart"])
def test_a_table_is_read_back_as_it_was(which, name, form, request, tmp_path):
    ranked = request.getfixturevalue(which)
    expected = ranked.tables[name]
    found = read_back(ranked.export(tmp_path / f"t.{form}", name), form)
    assert list(found) == list(expected)
    assert len(found) == len(expected) > 0
    for column in expected:
        there = expected[column].notna().to_numpy()
        assert (found[column].notna().to_numpy() == there).all(), column
        one, other = (table[column].to_numpy(object)[there] for table in (found, expected))
        if pd.api.types.is_numeric_dtype(expected[column]) and expected[column].dtype != bool:
            assert_allclose(one.astype(float), other.astype(float), rtol=1e-8, err_msg=column)
        else:
            assert list(one) == list(other), column


def test_a_form_may_be_named_and_the_frame_is_the_leaderboard(ranking, tmp_path):
    path = ranking.export(tmp_path / "board.txt", form="tsv")
    assert path == tmp_path / "board.txt"
    frame = ranking.leaderboard
    assert list(pd.read_csv(path, sep="\t")["model"]) == list(frame["model"])
    pd.testing.assert_frame_equal(frame, ranking.tables["leaderboard"])
    frame["rank"] = 0
    assert ranking.tables["leaderboard"]["rank"].tolist() == [1, 2, 3, 4, 5, 6]


def test_json_has_null_for_what_is_missing_or_infinite_and_nothing_that_is_not_json(ranking, tmp_path):
    table = pd.DataFrame({
        "name": ["x", None, "z"], "number": [1.5, np.nan, np.inf], "count": pd.array([1, None, 3], "Int64"),
        "flag": pd.Series([True, None, False], dtype=object),
    })  # fmt: skip
    odd = replace(ranking, tables={"leaderboard": table})
    path = odd.export(tmp_path / "t.json")
    found = json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(word))
    assert found == [
        {"name": "x", "number": 1.5, "count": 1, "flag": True},
        {"name": None, "number": None, "count": None, "flag": None},
        {"name": "z", "number": None, "count": 3, "flag": False},
    ]
    lines = odd.export(tmp_path / "t.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == found


def test_small_numbers_keep_their_digits(ranking, tmp_path):
    tiny = replace(ranking, tables={"pairs": pd.DataFrame({"p_value": [1.23456789012e-15]})})
    assert json.loads(tiny.export(tmp_path / "p.json", "pairs").read_text()) == [{"p_value": 1.23456789e-15}]


def tex_cells(text: str) -> list[list[str]]:
    """Cells of a table in LaTeX with the escapes undone."""
    body = text.split("\\midrule\n")[1].split("\\bottomrule")[0]
    undone = {
        "\\textbackslash{}": "\0", "\\textasciitilde{}": "~", "\\^{}": "^", "\\ensuremath{<}": "<",
        "\\ensuremath{>}": ">", **{f"\\{sign}": sign for sign in "&%$#_{}"},
    }  # fmt: skip
    rows = []
    for line in body.splitlines():
        assert line.endswith("\\\\")
        cells = [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix("\\\\"))]
        for escape, sign in undone.items():
            cells = [cell.replace(escape, sign) for cell in cells]
        rows.append([cell.replace("\0", "\\") for cell in cells])
    return rows


def test_latex_has_rules_of_booktabs_and_no_name_is_a_command(ranking, tmp_path):
    text = ranking.export(tmp_path / "board.tex").read_text()
    assert text.startswith("% \\usepackage{booktabs}\n\\begin{tabular}{rl")
    assert [rule for rule in ("top", "mid", "bottom") if f"\\{rule}rule\n" in text] == ["top", "mid", "bottom"]
    assert text.rstrip().endswith("\\end{tabular}")
    board = ranking.tables["leaderboard"]
    assert [row[1] for row in tex_cells(text)] == list(board["model"])
    assert {len(row) for row in tex_cells(text)} == {len(board.columns)}
    assert [float(row[2]) for row in tex_cells(text)] == pytest.approx(list(board["score"]), rel=1e-3)


def test_a_line_of_latex_does_not_begin_with_what_the_line_before_would_take(ranking, tmp_path):
    text = ranking.export(tmp_path / "pairs.tex", "pairs").read_text()
    assert "{}[x]|y" in text
    assert not re.search(r"^\s*[\[*]", text, re.MULTILINE)


def test_markdown_shows_every_name_as_it_is(ranking, tmp_path):
    text = ranking.export(tmp_path / "board.md").read_text()
    page = markdown(text, extensions=["tables"])
    cells = [re.sub(r"&lt;", "<", cell).replace("&gt;", ">").replace("&amp;", "&") for cell in
             re.findall(r"<td[^>]*>(.*?)</td>", page)]  # fmt: skip
    width = len(ranking.tables["leaderboard"].columns)
    shown = [re.sub(r"\\(?=[~$&|<>])", "", cell) for cell in cells[1::width]]  # it keeps these
    assert shown == list(ranking.tables["leaderboard"]["model"])
    assert "<b>" not in page and "<em>" not in page


# LMArena's form


def test_the_ratings_of_lmarena_are_on_its_scale(ranking):
    board, found = ranking.tables["leaderboard"], lmarena(ranking)
    assert list(found) == LMARENA_COLUMNS
    assert list(found["model_name"]) == list(board["model"])
    assert found["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    assert list(found["vote_count"]) == list(board["comparisons"])
    assert set(found["category"]) == {"overall"}
    assert found[["organization", "license", "leaderboard_publish_date"]].isna().all(axis=None)
    assert found["rating"].mean() == pytest.approx(ELO_MEAN)  # scores have mean zero
    # a lead of 400 is odds of ten to one
    s, r = board["score"], found["rating"]
    assert_allclose(10 ** ((r[0] - r) / 400), np.exp(s[0] - s))
    # the interval is that of the variance
    freedom = pd.Series(ranking.fit.degrees_of_scores, ranking.fit.scores.index)[board["model"]]
    reach = np.array([normal_quantile(0.95, degrees) for degrees in freedom])
    assert_allclose(found["rating_upper"] - found["rating"], reach * np.sqrt(found["variance"]), rtol=1e-8)
    assert_allclose(ELO_POINTS * (board["high"] - s), found["rating_upper"] - r)


def test_the_variance_does_not_depend_on_the_level(ranking):
    other = rank(ranking.judgments, level=0.5)
    assert_allclose(lmarena(other)["variance"], lmarena(ranking)["variance"])
    assert (lmarena(other)["rating_upper"] < lmarena(ranking)["rating_upper"]).all()


def test_categories_follow_if_there_are_any(ranking):
    board = ranking.tables["leaderboard"]
    within = pd.concat([board.assign(category=name) for name in ("code", "prose")], ignore_index=True)
    fits = dict.fromkeys(("code", "prose"), ranking.fit)
    found = lmarena(replace(ranking, tables={**ranking.tables, "categories": within}, categories=fits))
    assert list(found["category"]) == [name for name in ("overall", "code", "prose") for _ in ODD]
    assert_allclose(found["rating"].to_numpy().reshape(3, -1), np.tile(lmarena(ranking)["rating"], (3, 1)))


def test_models_on_several_scales_are_no_table_of_lmarenas(apart, tmp_path):
    with pytest.raises(DataError, match="has one scale, and this ranking 2 components"):
        apart.export(tmp_path / "x.csv", "lmarena")
    assert not list(tmp_path.iterdir())


# refusals


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("board.xls", r"board.xls: 'xls' is not a form that can be written \(known: csv, tsv, parquet, json"),
        ("board", "board: '' is not a form"),
        ("board.CSV.gz", "'gz' is not a form"),
        ("scores=b.csv", r"there is no table 'scores' to export \(known: leaderboard, judges, pairs, next"),
    ],
)
def test_what_cannot_be_written_is_told_in_one_sentence(said, sentence):
    with pytest.raises(ConfigError, match=sentence):
        exports.export_of(said)


def test_parquet_takes_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"writing Parquet requires the extra 'parquet' \(pip install"):
        exports.export_of("b.parquet")


def test_a_table_that_this_ranking_does_not_have(ranking, tmp_path):
    with pytest.raises(ConfigError, match=r"has no table 'categories' \(it has: leaderboard, judges,"):
        ranking.export(tmp_path / "c.csv", "categories")
    absent = {"effects", "categories", "blocks", "adjusted", "repeats", "own_maker", "favourites"}
    absent |= {"lmarena", "eee"}
    assert {*ranking.tables, *absent} == set(TABLES)


def test_the_judgments_themselves_are_never_replaced(tmp_path):
    path = tmp_path / "mine.csv"
    judgments(ODD).to_csv(path, index=False)
    before = path.read_bytes()
    (tmp_path / "link.csv").symlink_to(path)
    ranked = rank([path])
    for name in ("mine.csv", "link.csv"):
        with pytest.raises(ConfigError, match=rf"{name} is read\b"):
            ranked.export(tmp_path / name)
    assert path.read_bytes() == before


def test_all_files_are_written_or_none(ranking, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("before")
    monkeypatch.setattr(exports, "FORMS", {**FORMS, "md": lambda table: 1 / 0})
    two = [exports.export_to(tmp_path / name) for name in ("a.csv", "b.md")]
    with pytest.raises(ZeroDivisionError):
        exports.contents(ranking, two)
    contents = {tmp_path / "a.csv": b"after", tmp_path / "gone" / "b.md": b"after"}
    with (
        pytest.raises(ConfigError, match=r"gone/b.md cannot be written: No such file or directory"),
        beside(contents),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "before"


# the command


def test_the_command_writes_what_is_asked_for(tmp_path):
    judgments(ODD).to_csv(tmp_path / "m.csv", index=False)
    asked = ["--export", "board.tex", "--export", "pairs=pairs.parquet", "--export", "lmarena=arena.csv"]
    done = run_command("rank", "m.csv", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pairs: pairs.parquet\nlmarena: arena.csv\nthe page: " in done.stdout
    expected = rank(tmp_path / "m.csv")
    assert len(pd.read_parquet(tmp_path / "pairs.parquet")) == len(expected.tables["pairs"])
    assert_allclose(pd.read_csv(tmp_path / "arena.csv")["rating"], lmarena(expected)["rating"], rtol=1e-8)
    assert (tmp_path / "board.tex").is_file()
    again = run_command("rank", "m.csv", *asked, cwd=tmp_path)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("asked", "code", "sentence"),
    [
        (["board.xls"], 2, "'xls' is not a form that can be written"),
        (["scores=board.csv"], 2, "there is no table 'scores' to export"),
        (["gone/board.csv"], 1, "gone/board.csv "),
        (["m.csv"], 1, "m.csv is read "),
        (["b.csv", "pairs=./b.csv"], 1, "two outputs go to b.csv "),
        (["rankings/m/run.json"], 1, "rankings/m/run.json "),
        (["out/run.json"], 1, "/out, where"),
    ],
)
def test_the_command_refuses_before_it_reads(asked, code, sentence, tmp_path):
    (tmp_path / "m.csv").write_text("no judgments")
    (tmp_path / "out").mkdir()
    words = [word for one in asked for word in ("--export", one)]
    done = run_command("rank", "m.csv", "--output", "out", *words, cwd=tmp_path)
    assert done.returncode == code
    assert sentence in usage_text(done.stderr)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["m.csv", "out"]
    assert (tmp_path / "m.csv").read_text() == "no judgments"


FORMULAS = ["=1+1", "+1+cmd|' /C calc'!A0", "-SUM(A1)", "@SUM(1)", "\tx", "'=x", "''@x\n(1)"]
NAMES_ALONE = ["'quoted'", "plain", "@cf/meta/llama", "-x", "+x", "gpt (new)", "'@x"]


def test_no_name_is_a_formula_and_numbers_stay_numbers():
    names = [*FORMULAS, *NAMES_ALONE]
    table = pd.DataFrame({"model": names, "score": np.linspace(-1, 1, len(names)), "judge": None})
    for sign in (",", "\t"):
        back = pd.read_csv(io.StringIO(csv_of(table, sign)), sep=sign)
        assert list(back["model"]) == [f"'{name}" for name in FORMULAS] + NAMES_ALONE
        assert_allclose(back["score"], table["score"])
        assert csv_of(table, sign, raw=True) == table.to_csv(index=False, sep=sign, float_format="%.9g")
    kinds = [pd.Series(["=x"]), pd.Series(["=x"], dtype="string"), pd.Series(["=x"], dtype="category")]
    assert all(csv_of(pd.DataFrame({"name": kind})) == "name\n'=x\n" for kind in kinds)


def test_the_command_marks_names_that_are_formulas_unless_told_not_to(tmp_path):
    names = ["=1+1", "@cf/meta/llama", "plain"]
    judgments(names).to_csv(tmp_path / "m.csv", index=False)
    for raw, shown in (((), {"'=1+1", "@cf/meta/llama", "plain"}), (("--raw",), set(names))):
        done = run_command("rank", "m.csv", "--export", "board.csv", "--export", "board.json", *raw, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert ("a ' stands before =1+1, against formulas; --raw" in done.stderr) != bool(raw)
        for file in ("board.csv", "rankings/m/leaderboard.csv"):
            assert set(pd.read_csv(tmp_path / file)["model"]) == shown
        assert {row["model"] for row in json.loads((tmp_path / "board.json").read_text())} == set(names)


def test_all_csv_is_written_by_one_function():
    writers = {path.name for path in (ROOT / "src/judgerank").rglob("*.py") if "to_csv(" in path.read_text()}
    assert writers == {"spreadsheets.py"}


SCHEMAS = Path(__file__).parent / "samples" / "every_eval_ever"  # of its package 0.3.0, MIT


def test_files_of_every_eval_ever_are_valid_by_its_schema(tmp_path):
    from zipfile import ZipFile

    from jsonschema import Draft7Validator

    rng = np.random.default_rng(3)
    pairs = [("org/alpha", "beta"), ("beta", "a/b: c"), ("a/b: c", "org/alpha")]
    rows = [
        {"model_a": a, "model_b": b, "judge": j, "winner": rng.choice(["a", "b"]), "question": q}
        for q in range(20)
        for j in ("x", "lab/y")
        for a, b in pairs
    ]
    path = tmp_path / "board.zip"
    ranking = rank(pd.DataFrame(rows))
    ranking.export(path, "eee")
    check = Draft7Validator(json.loads((SCHEMAS / "eval.schema.json").read_text()))
    with ZipFile(path) as files:
        names = files.namelist()
        records = [json.loads(files.read(name)) for name in names]
    for record in records:
        assert not [error.message for error in check.iter_errors(record)]
    assert re.fullmatch(r"data/judgments/org/alpha/[0-9a-f-]{36}\.json", next(n for n in names if "alpha" in n))
    board = ranking.leaderboard.set_index("model")
    for record in records:
        (result,) = record["evaluation_results"]
        row = board.loc[record["model_info"]["name"]]
        assert result["score_details"]["score"] == row["score"]
        assert result["score_details"]["uncertainty"]["confidence_interval"]["upper"] == row["high"]
        weights = [judge["weight"] for judge in result["metric_config"]["llm_scoring"]["judges"]]
        assert_allclose(sum(weights), 1)
    wrong = records[0] | {"schema_version": 3}
    assert [error.message for error in check.iter_errors(wrong)]  # the check can fail
    assert run_command("rank", "x.csv", "--export", "eee=board.json").returncode == 2


def test_what_every_eval_ever_has_no_place_for_is_refused(apart, tmp_path):
    with pytest.raises(DataError, match=r"\b2 components\b"):
        apart.export(tmp_path / "x.zip", "eee")


def test_the_recipe_for_a_form_works(tmp_path, monkeypatch):
    """The function of the page, listed as it says, writes a table, and names in it stay text."""
    page = (ROOT / "docs/extend/files.md").read_text()
    (code,) = re.findall(r'```python title="exports.py"\n(.*?)```', page, re.DOTALL)
    assert '"html": _html' in page
    made: dict = {"pd": pd}
    exec(compile(code, "exports.py", "exec"), made)
    for name in ("FORMS", "RAW"):
        monkeypatch.setattr(exports, name, {**getattr(exports, name), "html": made["_html"]})
    target = rank(judgments(ODD)).export(tmp_path / "board.html")
    text = target.read_text()
    assert "&lt;b&gt;*bold*&lt;/b&gt;" in text and "<b>" not in text


# `judgerank cells`: what engines count by its statement is ranked as the judgments themselves are.

EXAMPLE = ROOT / "examples/judgments.csv"
COUNTED = {"count": "count"}


def test_what_the_counts_leave_out_is_told(tmp_path):
    frame = pd.read_csv(EXAMPLE).assign(category="code")
    frame.to_csv(tmp_path / "m.csv", index=False)
    done = command("cells", "m.csv", "-o", "c.csv", cwd=tmp_path)
    told = "the counts leave out questions and categories (--by-question keeps questions, for standard errors by"
    assert done.stderr.startswith(told)
    done = command("cells", "m.csv", "-o", "q.csv", "--by-question", cwd=tmp_path)
    assert done.stderr == "the counts leave out categories\n"
    frame.drop(columns=["category", "question"]).to_csv(tmp_path / "m.csv", index=False)
    assert command("cells", "m.csv", "-o", "c.csv", "--force", cwd=tmp_path).stderr == ""


def in_sqlite(sql, frame, table="judgments"):
    with sqlite3.connect(":memory:") as db:
        frame.to_sql(table, db, index=False)
        return pd.read_sql_query(sql, db)


def in_duckdb(sql, frame, table="judgments"):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as db:
        db.register(table, frame)
        return db.sql(sql).df()


def require_same_fit(cells, judgments):
    one, other = judgerank.fit(judgerank.read(cells, columns=COUNTED)), judgerank.fit(judgerank.read(judgments))
    for name in ("first", "second", "judge", "outcome", "count"):
        assert_array_equal(getattr(one.comparisons, name), getattr(other.comparisons, name), err_msg=name)
    assert one.comparisons.dropped == other.comparisons.dropped
    assert_array_equal(one.scores, other.scores)
    assert_array_equal(one.covariance, other.covariance)


# sqlite reads the quotes of every dialect
@pytest.mark.parametrize("run, dialect", [(in_duckdb, "duckdb"), *((in_sqlite, dialect) for dialect in QUOTES)])
def test_what_an_engine_counts_is_fitted_as_the_judgments_are(run, dialect):
    sql = statement(columns_in(EXAMPLE, None, None), dialect)
    require_same_fit(run(sql, pd.read_csv(EXAMPLE)), EXAMPLE)


@needs_data
@pytest.mark.parametrize("run, dialect", [(in_duckdb, "duckdb"), (in_sqlite, "sqlite")])
def test_real_judgments_with_ties_and_answers_that_are_missing_are_counted(run, dialect):
    path = find_file(FILES["chatbot_arena"])
    frame = pd.read_json(path)[["model_a", "model_b", "judge_model", "judge_preferred_model", "question_id"]]
    found = run(statement(columns_in(path, None, None), dialect), frame)
    assert found["count"].sum() == len(frame) > 2 * len(found)
    require_same_fit(found, path)


@pytest.mark.parametrize("run, dialect", [(in_duckdb, "duckdb"), (in_sqlite, "sqlite")])
def test_counts_by_question_have_the_errors_of_the_judgments(run, dialect):
    frame = pd.concat([pd.read_csv(EXAMPLE)] * 2, ignore_index=True)  # asked twice
    sql = statement(columns_in(EXAMPLE, None, None), dialect, questions=True)
    cells = judgerank.read(run(sql, frame), columns=COUNTED)
    judgments = judgerank.read(frame, copies="keep")
    assert len(cells.frame) < len(judgments.frame)
    for one, other in zip(
        *(judgerank.fit(each).clustered().standard_errors for each in (cells, judgments)), strict=True
    ):
        assert one == pytest.approx(other, rel=1e-9)


def test_odd_names_of_columns_are_quoted_and_counts_are_added_up():
    frame = pd.DataFrame(
        {'who "a"': ["x", "x", "y"], "or`b": ["y", "y", "x"], "won by": ["a", "a", "b"], "times": [2, 3, 4]}
    )
    used = {"model_a": 'who "a"', "model_b": "or`b", "winner": "won by", "count": "times"}
    for run, dialect in ((in_duckdb, "duckdb"), (in_sqlite, "sqlite"), (in_sqlite, "spark")):
        found = run(statement(used, dialect, '"my table"'), frame, "my table")
        assert sorted(found["count"]) == [4, 5] and {*COUNTED, "model_a", "model_b"} <= {*found}
    assert "`or\\`b`" in statement(used, "bigquery")


def test_the_command_prints_the_statement_of_a_few_records(tmp_path):
    pd.read_csv(EXAMPLE).head(3).to_parquet(tmp_path / "few.parquet")
    done = command("cells", "few.parquet", "--sql", "bigquery", "--table", "`my.judgments`", cwd=tmp_path)
    used = columns_in(EXAMPLE, None, None)
    assert done.stdout == statement(used, "bigquery", "`my.judgments`") + "\n"
    assert "FROM `my.judgments`" in done.stdout


def test_the_command_writes_what_it_can_rank(tmp_path):
    done = command("cells", EXAMPLE, "--by-question", "-o", "cells.csv", cwd=tmp_path)
    assert "judgerank rank cells.csv --column count=count" in done.stdout
    judgments = judgerank.rank(EXAMPLE)
    cells = judgerank.rank(tmp_path / "cells.csv", columns=COUNTED)
    one, other = (ranking.tables["leaderboard"].set_index("model") for ranking in (judgments, cells))
    pd.testing.assert_frame_equal(one, other, rtol=1e-8)
    frame = counted_cells(judgerank.read(EXAMPLE), questions=True)
    assert frame["count"].sum() == len(pd.read_csv(EXAMPLE)) and np.all(frame["count"] >= 1)


def test_counts_keep_that_nobody_knows_what_was_shown_first(tmp_path):
    rng = np.random.default_rng(7)
    pairs = np.array([rng.permutation([*"uvw"])[:2] for _ in range(300)])
    frame = pd.DataFrame({"winner": pairs[:, 0], "loser": pairs[:, 1], "tie": rng.random(300) < 0.1})
    frame["judge"], frame["question_id"] = rng.choice([*"jk"], 300), np.arange(300) % 40
    frame.to_csv(tmp_path / "won.csv", index=False)
    for by_question in ([], ["--by-question"]):
        done = command("cells", "won.csv", "-o", "cells.csv", "--force", *by_question, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        judgments, cells = judgerank.read(frame), judgerank.read(tmp_path / "cells.csv", columns=COUNTED)
        assert not cells.ordered and cells.comparisons.n_comparisons == 300
        one, other = (judgerank.rank(each) for each in (judgments, cells))
        assert one.settings == other.settings and one.fit.model == other.fit.model
        assert_array_equal(one.fit.scores, other.fit.scores)


@pytest.mark.parametrize("run, dialect", [(in_duckdb, "duckdb"), (in_sqlite, "sqlite")])
def test_a_statement_leaves_out_what_has_no_question_as_a_ranking_does(run, dialect, tmp_path):
    frame = pd.read_csv(EXAMPLE).astype({"question": object})
    frame.loc[[3, 40], "question"] = None
    frame.loc[7, "question"] = ""
    frame.to_csv(tmp_path / "some.csv", index=False)
    found = run(statement(columns_in(tmp_path / "some.csv", None, None), dialect), frame)
    judgments = judgerank.read(tmp_path / "some.csv")
    assert found["count"].sum() == len(frame) - 3 == judgments.comparisons.n_comparisons
    cells = judgerank.read(found, columns=COUNTED)
    assert_array_equal(judgerank.fit(cells).scores, judgerank.fit(judgments).scores)


def test_a_statement_can_be_written_and_reads_words_as_they_are(tmp_path):
    done = command("cells", EXAMPLE, "--sql", "duckdb", "-o", "count.sql", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "count.sql").read_text() == statement(columns_in(EXAMPLE, None, None), "duckdb") + "\n"
    for option in (["--winner-values", "first=a"], ["--names", "fold"]):
        done = command("cells", EXAMPLE, "--sql", "duckdb", *option, cwd=tmp_path)
        assert done.returncode and re.search(rf"{option[0]}\b.*\bjudgerank rank\b", usage_text(done.stderr))


GRADED = "position_aware_graded"


@pytest.mark.parametrize("column", [False, True])
def test_counts_keep_how_strong_answers_are_and_which_ties_are_bad(column, tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"model_a": rng.choice(["x", "y"], 200), "judge": rng.choice(["j", "k"], 200)})
    frame["model_b"] = rng.choice(["z", "w"], 200)
    frame["winner"] = rng.choice(["A>>B", "A>B", "both_bad", "A=B", "B>A", "B>>A"], 200)
    if column:
        frame["strength"] = np.where(frame["winner"].str.contains(">>"), "much better", "better")
        frame["winner"] = frame["winner"].str.replace(">>", ">")
    frame.to_csv(tmp_path / "graded.csv", index=False)
    assert command("cells", "graded.csv", "-o", "cells.csv", cwd=tmp_path).returncode == 0
    judgments, cells = judgerank.read(frame), judgerank.read(tmp_path / "cells.csv", columns=COUNTED)
    assert len(cells.frame) < 100
    bad = cells.frame.loc[cells.frame["both_bad"], "count"].astype(int).sum()
    assert bad == judgments.frame["both_bad"].sum() > 0
    one, other = (judgerank.fit(each, GRADED, solver="penalised") for each in (judgments, cells))
    assert_allclose(one.scores, other.scores, atol=1e-8)
    sql = statement(columns_in(tmp_path / "graded.csv", None, None), "sqlite")
    counted = judgerank.read(in_sqlite(sql, frame), columns=COUNTED).comparisons.aggregate()
    assert_array_equal(counted.known_strength, judgments.comparisons.aggregate().known_strength)


@pytest.mark.parametrize(
    "text, asked, said",
    [
        ("winner,loser\nx,y\ny,x\n", ["--sql", "spark"], "leave --sql"),
        ("model_a,model_b,winner\nx,y,a\n", ["--sql", "spark", "--by-question"], "question=NAME"),
        ("model_a,model_b,winner,length\nx,y,a,3\n", ["--sql", "spark"], "--column length=null leaves it out"),
        ("model_a,model_b,winner,length\nx,y,a,3\ny,x,b,4\n", ["-o", "c.csv"], "column 'length',"),
        ("model_a,model_b,winner\nx,y,a\n", ["-o", "c.csv", "--by-question"], "question=NAME"),
        ("model_a,model_b,winner\nx,y,a\n", ["-o", "c.xlsx"], ", ".join(CELL_FORMS)),
        ("model_a,model_b,winner\nx,y,a\n", [], ", ".join(CELL_FORMS)),
    ],
)
def test_what_cannot_be_counted_is_refused_in_a_sentence(text, asked, said, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    done = command("cells", "m.csv", *asked, cwd=tmp_path)
    assert done.returncode and said in usage_text(done.stderr) and not (tmp_path / "c.csv").exists()
