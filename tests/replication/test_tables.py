"""Stored tables: full precision in the CSV, printed precision and safe text in Markdown and LaTeX."""

import numpy as np
import pandas as pd
import pytest

from judgerank import Comparisons, fit
from judgerank.order.pairs import pairwise
from replication.tables import Replications, Table, as_stored, discrimination, fit_rows, leaderboard, stored_frame


@pytest.fixture
def written(tmp_path):
    frame = pd.DataFrame({"model_name": ["a_b", "c&d"], "score": [1 / 3, np.nan], "n": [10, 2]})
    Table(frame, "100% of _all_ a_b {~}", digits=2).write(tmp_path, "t", " (marked)")
    return tmp_path


def test_csv_keeps_nine_digits_and_ends_lines_alike_everywhere(written):
    assert (written / "t.csv").read_bytes() == b"model_name,score,n\na_b,0.333333333,10\nc&d,,2\n"


def test_markdown_shows_the_wanted_decimals_and_a_dash_for_what_is_missing(written):
    lines = (written / "t.md").read_text().splitlines()
    assert lines[0] == r"100% of \_all\_ a_b {~} (marked)"
    assert [cell.strip() for cell in lines[4].split("|")[1:-1]] == ["a_b", "0.33", "10"]
    assert [cell.strip() for cell in lines[5].split("|")[1:-1]] == ["c&d", "--", "2"]


def test_latex_escapes_what_it_must(written):
    text = (written / "t.tex").read_text()
    assert r"\caption{100\% of \_all\_ a\_b \{\textasciitilde \} (marked)}" in text
    assert r"model\_name & score & n \\" in text
    assert r"c\&d & -- & 2 \\" in text
    assert r"\begin{tabular}{lrr}" in text


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
