"""Figures: readable (no label covers another), complete, and the same to the byte each time."""

import io
from itertools import combinations

import matplotlib
import numpy as np
import pandas as pd
import pytest

from judgerank import plots
from judgerank.config import ROOT
from judgerank.simulate import generator


@pytest.fixture(autouse=True)
def clean_slate():
    with matplotlib.rc_context():
        yield
    plots.style.plt.close("all")


def crowd(n: int) -> pd.DataFrame:
    rng = generator(3, "crowd")
    x = np.sort(rng.normal(size=n))
    return pd.DataFrame(
        {"x": x, "y": x + 0.2 * rng.normal(size=n), "name": [f"a-model-name-{k}" for k in range(n)]}
    )


def test_labels_of_a_crowded_scatter_do_not_cover_each_other():
    points = crowd(20)
    figure, (axes,) = plots.canvas(plots.PAGE / 2, 3)
    axes.plot(points["x"], points["y"], "o")
    axes.margins(0.12)
    plots.label_points(axes, points["x"], points["y"], points["name"])
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 20
    assert not [1 for a, b in combinations(boxes, 2) if a.overlaps(b)]


def stored(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / f"results/{name}.csv")


def figures() -> dict:
    board = stored("chatbot_arena/ranking").merge(stored("chatbot_arena/human"), on="model")
    table = stored("judge_reliability/discrimination")
    dimensions = ["helpfulness", "honesty", "instruction_following", "truthfulness"]
    rated = pd.concat([board.assign(dimension=name, rating=3 + board["score_btl"]) for name in dimensions])
    return {
        "leaderboard": lambda: plots.leaderboard(board, "t"),
        "agreement": lambda: plots.agreement(board, "elo", "Elo", "t"),
        "ratings": lambda: plots.ratings(rated, "t"),
        "bars": lambda: plots.discrimination_bars(table, "t"),
        "scatter": lambda: plots.discrimination_scatter(table, "t"),
    }


@pytest.mark.parametrize("name", figures())
def test_figures_are_the_same_to_the_byte_and_label_their_axes(name):
    contents = []
    for _ in range(2):
        figure = figures()[name]()
        assert all(axes.get_xlabel() for axes in figure.axes)
        file = io.BytesIO()
        figure.savefig(file, format="pdf", metadata={"CreationDate": None})
        contents.append(file.getvalue())
    assert contents[0] == contents[1]


def test_every_judge_at_zero_is_marked_in_the_bars():
    table = stored("judge_reliability/discrimination")
    (axes,) = plots.discrimination_bars(table, "t").axes
    crosses = sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "x")
    assert crosses == (table["status"] == "zero").sum() == 3


@pytest.mark.parametrize("judge", stored("judge_reliability/discrimination")["judge"].unique())
def test_short_names_stay_recognisable(judge):
    assert 5 <= len(plots.short(judge)) <= 22
    assert judge.rsplit("/", 1)[-1].startswith(plots.short(judge)[:5])


def test_short_names_stay_distinct():
    names = stored("judge_reliability/discrimination")["judge"].unique()
    assert len({plots.short(name) for name in names}) == len(names)
