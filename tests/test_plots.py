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


def in_house(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / f"results/surrogate/{name}.csv")


def figures() -> dict:
    correlation = stored("subsampling_efficiency/mt_bench/correlation").query("measure == 'pearson'")
    own = correlation[correlation["method"] == correlation["reference"]]
    thin, printed = (in_house(f"sparsity/in_house/{name}") for name in ("correlation", "paper"))
    curves, test = (stored(f"length_covariate/mt_bench/{name}") for name in ("curves", "test"))
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
        "in-house leaderboard": lambda: plots.leaderboard(in_house("complete_ranking/in_house/ranking"), "t"),
        "ties": lambda: plots.tie_handling(stored("tie_handling/chatbot_arena/ranks"), "t"),
        "efficiency": lambda: plots.efficiency(own, "pearson", "t"),
        "weak share": lambda: plots.weak_share(stored("mixed_judges/chatbot_arena/sweep"), "t"),
        "pool": lambda: plots.pool(in_house("mixed_judges/in_house/discrimination"), "t"),
        "sparsity": lambda: plots.sparsity(thin, printed, "t"),
        "curves": lambda: plots.length_curves(curves, test.iloc[0], "t"),
        "slopes": lambda: plots.slopes(in_house("length_covariate/in_house/slopes"), "t"),
        "heatmap": lambda: plots.pair_heatmap(in_house("data_overview/in_house/pairs"), "t"),
        "answers": lambda: plots.answers(stored("data_overview/ultrafeedback/judges"), "t"),
    }


@pytest.mark.parametrize("name", figures())
def test_figures_are_the_same_to_the_byte_and_label_their_axes(name):
    contents = []
    for _ in range(2):
        figure = figures()[name]()
        bars = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
        assert all(axes.get_xlabel() for axes in figure.axes if axes not in bars)
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


def overlapping(texts: list) -> list:
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return [1 for a, b in combinations(boxes, 2) if a.overlaps(b)]


def test_the_largest_heatmap_names_every_model_legibly_and_is_symmetric():
    pairs = in_house("data_overview/in_house/pairs")
    figure = plots.pair_heatmap(pairs, "t")
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert len(axes.get_yticklabels()) == 45
    assert not overlapping(axes.get_yticklabels())
    assert not overlapping(axes.get_xticklabels())
    counts = axes.images[0].get_array().filled(0)
    assert np.array_equal(counts, counts.T)
    assert counts.sum() == 2 * pairs["comparisons"].sum()


def test_names_of_models_and_judges_stay_distinct():
    models = in_house("complete_ranking/in_house/ranking")["model"]
    judges = pd.concat([stored(f"data_overview/{name}/judges")["judge"] for name in ("mt_bench", "chatbot_arena")])
    for names in (models, judges.unique()):
        assert len({plots.short(name) for name in names}) == len(names)


def test_answers_of_every_judge_fill_the_bar():
    frame = stored("data_overview/ultrafeedback/judges")
    (axes,) = plots.answers(frame, "t").axes
    widths = np.array([bar.get_width() for bar in axes.patches]).reshape(4, -1)
    assert np.allclose(widths.sum(axis=0), 1.0)
    shares = frame["share_a"] * frame["comparisons"] / (frame["comparisons"] + frame["unparsed"])
    assert np.allclose(np.sort(widths[0]), np.sort(shares))


def test_moves_without_ties_are_those_of_the_table():
    frame = in_house("tie_handling/in_house/ranks")
    panels = plots.tie_handling(frame, "t").axes
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        moves = frame[f"move_{fit}"]
        assert sorted(int(text.get_text()) for text in axes.texts) == sorted(moves[moves != 0])


def test_judges_without_an_interval_are_marked_in_the_slopes():
    frame = in_house("length_covariate/in_house/slopes")
    (axes,) = plots.slopes(frame, "t").axes
    crosses = sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "x")
    assert crosses == frame["low_slope"].isna().sum() > 0


def test_the_prompt_is_drawn_in_full():
    text = stored("judge_reliability/prompt").at[0, "text"]
    figure = plots.prompt(text, "t")
    figure.draw_without_rendering()
    (drawn,) = figure.axes[0].texts
    assert drawn.get_text() == text
    box, page = drawn.get_bbox_patch().get_window_extent(), figure.bbox
    assert page.x0 <= box.x0 < box.x1 <= page.x1
