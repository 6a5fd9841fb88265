"""`judgerank cells`: what engines count by its statement is ranked as the judgments themselves are."""

import re
import sqlite3

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import judgerank
from judgerank.cli.cells import CELL_FORMS
from judgerank.reading.cells_in_sql import QUOTES, columns_in, counted_cells, statement
from replication.config import ROOT
from replication.datasets import find_file
from tests.real_data import FILES, needs_data
from tests.tool.command import judgerank as command
from tests.tool.command import usage_text

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
