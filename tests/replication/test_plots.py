"""Figures: readable (no label covers another), complete, and the same to the byte each time."""

from __future__ import annotations

import io
import re
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from judgerank.data.arrays import generator
from judgerank.plots.looks import COLOURS, DATA_SETS, MARKERS, MODELS, NAMES, SHADE_MARKERS, in_style, shades
from replication import plots
from replication.auditing.audit import RESULTS
from replication.auditing.results import Results
from replication.config import ROOT
from replication.judge_models import printed_sizes

VERDICTS = [str(one) for one in RESULTS]
STORED = Results(ROOT / "results")


@pytest.fixture(autouse=True)
def clean_slate():
    with in_style():
        yield


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
    """A stored table, of the real set where that is stored."""
    return pd.read_csv(STORED.path(f"{name}.csv")[0])


def figures() -> dict:
    correlation = stored("subsampling_efficiency/mt_bench/correlation").query("measure == 'pearson'")
    own = correlation[correlation["method"] == correlation["reference"]]
    thin, printed = (stored(f"sparsity/in_house/{name}") for name in ("correlation", "found"))
    curves, test = (stored(f"length_covariate/mt_bench/{name}") for name in ("curves", "test"))
    slopes, endings = stored("length_covariate/mt_bench/slopes"), stored("convergence_mse/endings")
    sized = table_with_sizes()
    measured = stored("convergence_mse/mse")
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
        "in-house leaderboard": lambda: plots.leaderboard(stored("complete_ranking/in_house/ranking"), "t"),
        "ties": lambda: plots.tie_handling(stored("tie_handling/chatbot_arena/ranks"), "t"),
        "efficiency": lambda: plots.efficiency(own, "pearson", "t"),
        "weak share": lambda: plots.weak_share(stored("mixed_judges/chatbot_arena/sweep"), "t"),
        "pool": lambda: plots.pool(stored("mixed_judges/in_house/discrimination"), "t"),
        "sparsity": lambda: plots.sparsity(thin, printed, "t"),
        "curves": lambda: plots.length_curves(curves, slopes, test.iloc[0], "t"),
        "slopes": lambda: plots.slopes(slopes, "t"),
        "heatmap": lambda: plots.pair_heatmap(stored("data_overview/in_house/pairs"), "t"),
        "answers": lambda: plots.answers(stored("data_overview/ultrafeedback/judges"), "t"),
        "coverage": lambda: plots.coverage(
            stored("ci_coverage/coverage"), stored("ci_coverage/coverage_draws"), 0.95, "t"
        ),
        "mse": lambda: plots.mse(measured, endings, "t"),
        "mse draws": lambda: plots.mse_draws(*mean_squared_errors(), endings),
        "size": lambda: plots.size_against_discrimination(sized, "t"),
        "verdicts": lambda: plots.verdicts(audited(), VERDICTS),
    }


def table_with_sizes() -> pd.DataFrame:
    table = stored("judge_reliability/discrimination").query("dataset == 'ultrafeedback'")
    return table.merge(printed_sizes(), left_on="judge", right_index=True).dropna(subset=["size"])


def audited() -> pd.DataFrame:
    return pd.read_csv(ROOT / "results/paper/audit.csv", dtype={"printed": str})


def mean_squared_errors() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    main = stored("convergence_mse/mse")
    further = stored("convergence_mse/mse_draws").query("subset == 'all'")
    return further, main, main.query("n_models == 20").assign(draw=0, stop=5000)


FIGURES = figures()
# the others are drawn twice in test_sections, test_faults and, of simulations, test_replicate
DRAWN_ONCE_ELSEWHERE = ["ratings", "verdicts"]


@cache
def once(name: str) -> Figure:
    """A figure that is drawn once, for tests that look at it."""
    return FIGURES[name]()


@pytest.mark.parametrize("name", FIGURES)
def test_figures_label_their_axes(name):
    require_labelled(once(name))


@pytest.mark.parametrize("name", FIGURES)
def test_titles_fit_into_their_figure(name):
    with in_style():
        figure = once(name)
        figure.draw_without_rendering()
        if figure._suptitle is not None:
            extent = figure._suptitle.get_window_extent()
            assert extent.x0 >= 0 and extent.x1 <= figure.bbox.width


def require_labelled(figure: Figure) -> None:
    bars = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    # panels that share an axis label it once, at the bottom
    assert all(below_labelled(axes) for axes in figure.axes if axes not in bars)


@pytest.mark.parametrize("name", DRAWN_ONCE_ELSEWHERE)
def test_figures_are_the_same_to_the_byte(name):
    # neither is the figure of `once`: a test that has laid it out may move what is saved by a rounding error
    assert as_bytes(FIGURES[name]()) == as_bytes(FIGURES[name]())


def as_bytes(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="pdf", metadata={"CreationDate": None})
    return file.getvalue()


def below_labelled(axes) -> bool:
    grid = axes.get_subplotspec().get_gridspec()
    column = axes.get_subplotspec().colspan
    return any(
        other.get_xlabel()
        for other in axes.figure.axes
        if other.get_subplotspec() and other.get_subplotspec().get_gridspec() is grid
        if other.get_subplotspec().colspan == column
    )


def marks(axes, marker: str) -> int:
    """Number of points drawn with a marker, legends' examples aside."""
    return sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == marker)


def test_every_judge_at_zero_is_marked_in_the_bars():
    table = stored("judge_reliability/discrimination")
    (axes,) = plots.discrimination_bars(table, "t").axes
    assert marks(axes, "x") == (table["status"] == "zero").sum() > 0


def test_every_set_of_a_table_has_its_bars_whatever_it_is_called():
    table = stored("judge_reliability/discrimination").loc[lambda rows: rows["dataset"] == "mt_bench"]
    frame = pd.concat([table.assign(dataset=name) for name in ("mt_bench", "in_house", "my own set", "another")])
    figure = plots.discrimination_bars(frame, "t")
    named = [text.get_text() for text in figure.legends[0].texts]
    assert named[:4] == [NAMES["mt_bench"], NAMES["in_house"], "my own set", "another"]
    bars = [bar for bars in figure.axes[0].containers if isinstance(bars, BarContainer) for bar in bars]
    bars = [bar for bar in bars if np.isfinite(bar.get_width())]
    assert len(bars) == len(frame)
    assert len({bar.get_facecolor() for bar in bars}) == 4


def test_judges_at_zero_on_one_of_two_sets_are_marked():
    table = stored("judge_reliability/discrimination")
    (axes,) = plots.discrimination_scatter(table, "t").axes
    wide = table.pivot(index="judge", columns="dataset", values="discrimination")
    wide = wide[["mt_bench", "ultrafeedback"]].dropna()
    assert marks(axes, "x") == (wide == 0).any(axis=1).sum() > 0
    assert marks(axes, "o") == len(wide) - marks(axes, "x")


@pytest.mark.parametrize("name", ["mt_bench", "ultrafeedback", "chatbot_arena"])
def test_printed_discriminations_stand_beside_the_in_house_pool_only(name):
    frame = stored(f"mixed_judges/{name}/discrimination")
    assert frame["paper"].notna().any()
    assert not marks(plots.pool(frame, "t").axes[0], "^")
    renamed = plots.pool(frame.assign(dataset="in_house"), "t").axes[0]
    assert marks(renamed, "^") == len(frame)


def test_intervals_of_a_pool_are_within_the_axes_or_the_label_says_that_they_are_cut():
    cut = {}
    for name in ("mt_bench", "ultrafeedback", "chatbot_arena"):
        frame = stored(f"mixed_judges/{name}/discrimination")
        axes = plots.pool(frame, "t").axes[0]
        assert axes.get_xlim()[1] > frame[["discrimination", "full_data"]].max().max()
        cut[name] = axes.get_xlim()[1] < frame["high"].max()
        assert ("cut at" in axes.get_xlabel()) == cut[name]
    assert set(cut.values()) == {True, False}


@pytest.mark.parametrize("draw", ["complete_ranking/{}/ranking", "tie_handling/{}/ranks"])
@pytest.mark.parametrize("name", ["mt_bench", "chatbot_arena"])
def test_no_row_is_cut_by_the_axes(draw, name):
    frame = stored(draw.format(name))
    figure = (plots.leaderboard if "ranking/{}" in draw else plots.tie_handling)(frame, "t")
    for axes in figure.axes:
        low, high = axes.get_ylim()
        points = np.concatenate([line.get_ydata() for line in axes.lines if len(line.get_xdata()) == len(frame)])
        assert low + 0.4 < points.min() < points.max() < high - 0.4


def test_points_say_how_many_repeats_they_rest_on():
    frame = stored("subsampling_efficiency/chatbot_arena/correlation").query("measure == 'pearson'")
    own = frame[(frame["method"] == frame["reference"]) & (frame["estimator"] == "algorithm_1")]
    for axes, (_, rows) in zip(plots.efficiency(own, "pearson", "t").axes, own.groupby("n_judges"), strict=True):
        line = rows[rows["method"] == "btl"]
        counts = line.set_index("n_comparisons")["n_repeats"]
        shown = {text.xy[0]: int(text.get_text()) for text in axes.texts}
        assert shown == counts.reindex(sorted(own["n_comparisons"].unique()), fill_value=0).to_dict()
        hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
        few = 2 * (counts < 0.9 * own["n_repeats"].max()).sum()
        assert sum(len(line.get_xdata()) for line in hollow) == few


def test_coverage_is_shown_for_every_draw_of_the_truth():
    main, further = stored("ci_coverage/coverage"), stored("ci_coverage/coverage_draws")
    panels = plots.coverage(main, further, 0.95, "t").axes
    for axes, (_, rows) in zip(panels, further.groupby(["n_models", "n_judges"], sort=False), strict=False):
        drawn = {tuple(np.round(np.asarray(line.get_ydata(), float), 9)) for line in axes.lines}
        for _, line in rows.groupby(["draw", "method"]):
            assert tuple(np.round(line["coverage"], 9)) in drawn


@pytest.mark.parametrize("judge", stored("judge_reliability/discrimination")["judge"].unique())
def test_short_names_stay_recognisable(judge):
    assert 5 <= len(plots.short(judge)) <= 30
    assert judge.rsplit("/", 1)[-1].startswith(plots.short(judge)[:5])


def test_short_names_stay_distinct():
    names = stored("judge_reliability/discrimination")["judge"].unique()
    assert len({plots.short(name) for name in names}) == len(names)


def overlapping(texts: list) -> list:
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return [1 for a, b in combinations(boxes, 2) if a.overlaps(b)]


def test_the_largest_heatmap_names_every_model_legibly_and_is_symmetric():
    pairs = stored("data_overview/in_house/pairs")
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
    models = stored("complete_ranking/in_house/ranking")["model"]
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
    frame = stored("tie_handling/in_house/ranks")
    panels = plots.tie_handling(frame, "t").axes
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        moves = frame[f"move_{fit}"]
        assert sorted(int(text.get_text()) for text in axes.texts) == sorted(moves[moves != 0])


def test_a_slope_without_an_interval_is_not_drawn_as_an_estimate():
    frame = stored("length_covariate/mt_bench/slopes")
    frame.loc[:1, ["low_slope", "high_slope"]] = np.nan
    frame.loc[0, ["slope", "status"]] = [-2.0, "slope_bound"]
    frame.loc[1, ["slope", "status"]] = [0.0, "zero"]
    (axes,) = plots.slopes(frame, "t").axes
    assert marks(axes, "o") == len(frame) - 2
    assert not marks(axes, "x")
    words = {text.get_text() for text in axes.texts}
    assert words == {"no estimate: on the search's bound (-2)", "no estimate: discrimination at zero"}


def test_the_prompt_is_drawn_in_full():
    text = stored("judge_reliability/prompt").at[0, "text"]
    figure = plots.prompt(text, "t")
    figure.draw_without_rendering()
    (drawn,) = figure.axes[0].texts
    assert drawn.get_text() == text
    box, page = drawn.get_bbox_patch().get_window_extent(), figure.bbox
    assert page.x0 <= box.x0 < box.x1 <= page.x1


def test_the_picture_of_the_audit_has_its_counts_and_both_columns_of_the_paper():
    numbers = audited()
    counted, *beside = plots.verdicts(numbers, VERDICTS).axes
    found = numbers["verdict"].value_counts()
    assert [bar.get_width() for bar in counted.patches] == [found.get(name, 0) for name in VERDICTS]
    assert f"{found.reindex(VERDICTS).sum():.0f} results" in counted.get_title()
    for axes, column in zip(beside, ("mt_bench", "ultrafeedback"), strict=True):
        rows = numbers[(numbers["table"] == "judge_discrimination") & (numbers["column"] == column)]
        drawn = {line.get_label(): sorted(line.get_xdata()) for line in axes.lines}
        assert drawn["paper"] == sorted(rows["printed"].astype(float))
        assert drawn["ours"] == sorted(rows["ours"].astype(float))


# Colours: one meaning each in every figure, distinct for colour-blind readers and in grey print.
# Machado, Oliveira and Fernandes (2009), severity one, on linear RGB
SEEN = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
FAMILIES = {"models": MODELS, "data sets": DATA_SETS}


def lab(colour: str, seen: str = "normal") -> np.ndarray:
    """CIE L*a*b* of a colour as some reader sees it; the first is its lightness in grey print."""
    encoded = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.asarray(SEEN[seen]) @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_measure_knows_what_a_red_green_blind_reader_confuses():
    red, green = "#C83232", "#5A7832"
    assert np.linalg.norm(lab(red) - lab(green)) > 60
    assert np.linalg.norm(lab(red, "protanopia") - lab(green, "protanopia")) < 20


@pytest.mark.parametrize("seen", SEEN)
def test_models_and_data_sets_have_colours_that_every_reader_can_tell_from_each_other(seen):
    known = {name: lab(COLOURS[name], seen) for name in (*MODELS, *DATA_SETS)}
    for (a, x), (b, y) in combinations(known.items(), 2):
        assert np.linalg.norm(x - y) > (30 if seen == "normal" else 15), (a, b)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_can_be_read_in_grey(family):
    for a, b in combinations(FAMILIES[family], 2):
        assert MARKERS[a] != MARKERS[b]
        assert abs(lab(COLOURS[a])[0] - lab(COLOURS[b])[0]) > 6, (a, b)


@pytest.mark.parametrize("n", range(1, len(SHADE_MARKERS) + 1))
def test_shades_go_from_dark_to_light_in_even_steps_and_stay_visible_on_white(n):
    found = shades(n)
    lightness = [lab(colour)[0] for colour, _ in found]
    steps = np.diff(lightness)
    assert len(found) == len({marker for _, marker in found}) == n
    assert max(lightness) < 70
    assert (steps > 6).all()
    assert n < 3 or steps.max() < 2 * steps.min()


def test_more_series_than_markers_are_refused():
    with pytest.raises(ValueError, match="7 series at most, not 8"):
        shades(len(SHADE_MARKERS) + 1)


def test_colours_of_series_are_written_down_in_one_place():
    allowed = {"#595959", "#9A9A9A", "#F5F5F5", "#C4D6E6", "#E3E3E3"}  # of text, of boxes, of bars in the back
    for folder in ("src/judgerank/plots", "src/replication/plots"):
        for path in (ROOT / folder).glob("*.py"):
            if path.name != "looks.py":  # the one place
                assert set(re.findall(r"#[0-9A-Fa-f]{6}", path.read_text())) <= allowed, path


def test_the_documentation_names_every_colour():
    page = (ROOT / "docs/paper/figures.md").read_text().lower()
    for name in (*MODELS, *DATA_SETS):
        assert NAMES[name].lower() in page
