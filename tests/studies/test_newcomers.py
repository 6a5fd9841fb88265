"""The section on newcomers: models taken off boards, and what it writes."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from judgerank import Comparisons
from replication.config import ROOT
from studies import boards, plots
from tests.replication.test_sections import run


def test_a_newcomer_is_in_all_its_comparisons_and_favoured_by_one_judge():
    rng = np.random.default_rng(1)
    rows = boards.drawn(rng, np.r_[boards.SCORES, 0.0], 40_000, True, 1.0)
    new = len(boards.SCORES)
    assert ((rows.first == new) ^ (rows.second == new)).all()
    won = np.where(rows.first == new, rows.outcome, 1 - rows.outcome)
    d = -boards.SCORES[np.where(rows.first == new, rows.second, rows.first)]
    p = expit(boards.DISCRIMINATION[rows.judge] * d + (rows.judge == 0))
    for k in range(len(boards.DISCRIMINATION)):
        mine = rows.judge == k
        assert abs((won - p)[mine].mean()) < 4 * 0.5 / np.sqrt(mine.sum())


def test_a_model_taken_off_has_no_comparison_left():
    rows = boards.drawn(np.random.default_rng(2), boards.SCORES, 500)
    mine = (rows.first == 3) | (rows.second == 3)
    part = boards._without(rows, 3, ~mine)
    assert isinstance(part, Comparisons) and "m3" not in part.models and len(part) == (~mine).sum()
    left = rows.to_frame()[~mine].reset_index(drop=True)
    assert part.to_frame().equals(left)


def test_a_summary_counts_what_failed():
    records = pd.DataFrame({"moved": [1.0, 0.0, np.nan, 1.0]})
    row = boards.summary(records, "x", ["moved"])
    assert row["failed"] == 1 and row["moved"] == pytest.approx(2 / 3) and row["n_replications"] == 4


def test_a_surrogate_run_writes_what_it_should(tmp_path):
    small = ["surrogate=always", "replications=2", "~datasets.chatbot_arena", "~datasets.ultrafeedback"]
    done = run("newcomers", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results/surrogate/newcomers"
    tables = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
    assert set(tables) == {"left_out", "placed", "compared"}
    assert list(tables["placed"]["setting"]) == list(boards.PLACED)
    assert list(tables["compared"]["setting"]) == list(boards.COMPARED)


def test_stored_intervals_hold_with_the_boards_uncertainty_and_not_without():
    placed = pd.read_csv(ROOT / "results/beyond/newcomers/placed.csv").set_index("setting")
    fair = placed.drop("a partial judge")
    assert ((fair["covered"] - 0.95).abs() < 3 * fair["covered_se"] + 0.02).all()
    assert placed.loc["small board", "covered_own"] < placed.loc["small board", "covered"] - 0.05
    assert placed.loc["a partial judge", "partial"] > 0.9 > 0.1 > fair["partial"].max()
    compared = pd.read_csv(ROOT / "results/beyond/newcomers/compared.csv").set_index("setting")["moved"]
    assert compared["one model changed"] > 0.4 and compared.drop("one model changed").max() < 0.1


def test_the_figure_shows_every_placed_model():
    left_out, placed = (
        pd.read_csv(ROOT / f"results/beyond/newcomers/{name}.csv") for name in ("left_out", "placed")
    )
    left, right = plots.newcomers(left_out, placed, "t").axes
    shown = sum(len(container.lines[0].get_xdata()) for container in left.containers)
    assert shown == left_out["placed"].notna().sum()
    assert [text.get_text() for text in right.get_yticklabels()] == list(placed["setting"])
