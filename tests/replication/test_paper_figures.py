"""The paper's figures as we draw them: lines, limits, names and legends are those of the stored tables."""

import re
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from judgerank.plots.looks import COLOURS, DATA_SETS, NAMES, in_style
from replication import plots
from replication.auditing.doc_numbers import figures, figures_page
from replication.auditing.registry import items
from replication.config import ROOT
from replication.plots.judges import NO_BAR
from replication.plots.simulations import DRAWS, ERROR_LABELS, LABELS, LOOKS
from tests.replication.test_plots import FIGURES, STORED, marks, once, stored

SMALLEST = 6  # points
NEAR = 0.15  # of an axis, between .95 and .97


@pytest.fixture(autouse=True)
def clean_slate():
    with in_style():
        yield


def names_in(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].texts]


def colour_in(figure: Figure, label: str) -> str:
    """Colour of a legend's entry."""
    handle = figure.legends[0].legend_handles[names_in(figure).index(label)]
    if isinstance(handle, Rectangle):
        return to_hex(handle.get_facecolor())
    return to_hex(handle.get_color()[0] if isinstance(handle, LineCollection) else handle.get_color())


def bars_of(axes: Axes, label: str) -> tuple[np.ndarray, np.ndarray]:
    """What the points with error bars of a legend's entry lie on."""
    (found,) = [bars for bars in axes.containers if bars.get_label() == label]
    return found.lines[0].get_xdata(), found.lines[0].get_ydata()


def test_names_in_legends_are_those_of_what_is_drawn():
    """Literally, since every other test here reads names and colours where the figures do."""
    assert (NAMES["judge_aware"], NAMES["btl"].split()[-1]) == ("judge-aware", "BTL")
    assert LABELS["judge_aware"] == "judge-aware"
    assert LABELS["btl"] == "unweighted BTL, against the truth"
    assert LABELS["btl_rescaled"].startswith("unweighted BTL, against the truth on its scale")
    for name in DATA_SETS:
        title = re.search(r"^title: (.*)$", (ROOT / f"conf/dataset/{name}.yaml").read_text(), re.MULTILINE)[1]
        assert NAMES[name] == title


def test_leaderboards_draw_each_fit_under_its_name():
    board = stored("chatbot_arena/ranking")
    figure = plots.leaderboard(board, "t")
    for fit in ("judge_aware", "btl"):
        x, _ = bars_of(figure.axes[0], NAMES[fit])
        assert np.array_equal(x, board[f"score_{fit}"])


def test_figure_4_draws_each_fit_under_its_name():
    frame = stored("subsampling_efficiency/in_house/correlation").query("measure == 'pearson'")
    own = frame[(frame["method"] == frame["reference"]) & (frame["estimator"] == "algorithm_1")]
    figure = plots.efficiency(own, "pearson", "t")
    for axes, (many, rows) in zip(figure.axes, own.groupby("n_judges"), strict=True):
        assert axes.get_title() == f"K = {many}"
        lines = {line.get_label(): line for line in axes.lines}
        for fit in ("judge_aware", "btl"):
            line = rows[rows["method"] == fit].sort_values("n_comparisons")
            assert np.array_equal(lines[NAMES[fit]].get_ydata(), line["mean"])
            assert colour_in(figure, NAMES[fit]) == COLOURS[fit].lower()


@cache
def coverage_figure() -> tuple[pd.DataFrame, pd.DataFrame, Figure]:
    main, further = stored("ci_coverage/coverage"), stored("ci_coverage/coverage_draws")
    return main, further, plots.coverage(main, further, 0.95, "t")


def test_every_line_of_figure_2_is_the_one_that_its_legend_names():
    main, _, figure = coverage_figure()
    groups = list(main.groupby(["n_models", "n_judges"], sort=False))
    panels = np.reshape(figure.axes, (4, len(groups)))
    for column, ((n, k), rows) in zip(panels.T, groups, strict=True):
        assert column[0].get_title() == f"N={n}, K={k}"
        for axes, value in zip(column, ("coverage", "coverage", "width", "relative_width"), strict=True):
            for method, label in LABELS.items():
                line = rows[rows["method"] == method]
                if value != "coverage" and method == "btl_rescaled":
                    assert label not in [bars.get_label() for bars in axes.containers]
                    continue
                x, y = bars_of(axes, label)
                assert np.array_equal(x, line["n_comparisons"])
                assert np.array_equal(y, line[value])


def test_the_legend_of_figure_2_has_every_method_in_its_colour_and_says_what_thin_lines_are():
    _, _, figure = coverage_figure()
    assert set(names_in(figure)) == {*LABELS.values(), DRAWS, "nominal 95%"}
    for method, label in LABELS.items():
        assert colour_in(figure, label) == LOOKS[method]["color"].lower()
    assert LOOKS["judge_aware"]["color"] == COLOURS["judge_aware"]
    assert LOOKS["btl"]["color"] == LOOKS["btl_rescaled"]["color"] == COLOURS["btl"]
    assert "Monte Carlo" in figure.get_suptitle()


def test_bars_of_figure_2_are_two_standard_errors_of_the_table():
    main, _, figure = coverage_figure()
    rows = main[(main["n_models"] == 10) & (main["method"] == "judge_aware")]
    (bars,) = [bars for bars in figure.axes[0].containers if bars.get_label() == LABELS["judge_aware"]]
    (segments,) = bars.lines[2]
    reach = [(end[1] - start[1]) / 2 for start, end in segments.get_segments()]
    assert np.allclose(reach, 2 * rows["coverage_se"])


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_axes_of_figure_2_show_what_is_near_the_level_and_all_there_is(level):
    main, further, _ = coverage_figure()
    figure = plots.coverage(main, further, level, "t")
    near, whole = (axes.get_ylim() for axes in (figure.axes[0], figure.axes[4]))
    assert near == pytest.approx((2 * level - 1, 1.0))
    if level == 0.95:
        assert 0.02 / (near[1] - near[0]) > NEAR
    values = pd.concat([main["coverage"], further["coverage"]])
    assert whole[0] < values.min() < values.max() < whole[1]
    sizes = main.loc[main["n_models"] == 10, "n_comparisons"].unique()
    shown = [text.get_text() for text in figure.axes[12].get_xticklabels()]
    assert shown == [f"{size / 1000:g}" for size in sizes]


def test_figure_1_draws_the_means_and_bands_of_the_table_and_says_what_they_are():
    frame, endings = stored("convergence_mse/mse"), stored("convergence_mse/endings")
    figure = plots.mse(frame, endings, "t")
    settings = list(dict.fromkeys(zip(frame["n_models"], frame["n_judges"], strict=True)))
    assert names_in(figure) == [f"N={n}, K={k}" for n, k in settings]
    for axes, parameter in zip(figure.axes, ERROR_LABELS, strict=False):
        assert axes.get_xscale() == axes.get_yscale() == "log"
        lines = {line.get_label(): line for line in axes.lines}
        for (n, k), band in zip(settings, axes.collections, strict=True):
            rows = frame.query(f"n_models == {n} and n_judges == {k} and parameter == '{parameter}'")
            line = lines[f"N={n}, K={k}"]
            assert np.array_equal(line.get_ydata(), rows["mean"])
            assert colour_in(figure, line.get_label()) == to_hex(line.get_color())
            corners = band.get_paths()[0].vertices[:, 1]
            assert set(rows["q25"]) | set(rows["q75"]) <= set(corners)
    said = figure.get_suptitle()
    assert f"means of {frame['n_replications'].max()} runs" in said
    assert "interquartile" in said and plots.estimator_of(endings) in said


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        (["ambiguous", "interior"], "box"),
        (["ambiguous", "localized"], "box"),
        (["stopping_rule"], "A.1"),
        (["iteration_limit"], "A.1"),
        (["boundary", "interior"], "interior"),
    ],
)
def test_the_estimator_is_read_from_how_fits_ended(columns, word):
    said = plots.estimator_of(pd.DataFrame(columns=["n_models", *columns]))
    assert [other for other in ("box", "A.1", "interior") if other in said] == [word]


def test_figure_a8_has_equal_axes_the_diagonal_and_every_judge_named_once():
    table = stored("judge_reliability/discrimination")
    figure = plots.discrimination_scatter(table, "t")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert axes.get_xlim() == axes.get_ylim()
    assert axes.get_aspect() == 1.0
    wide = table.pivot(index="judge", columns="dataset", values=["discrimination", "high"])
    both = wide["discrimination"][["mt_bench", "ultrafeedback"]].dropna()
    assert axes.get_xlim()[1] > wide["high"].loc[both.index, both.columns].max().max()
    lines = {line.get_label(): line for line in axes.lines}
    assert np.array_equal(*next(line for label, line in lines.items() if "equal" in label).get_data())
    ratio = (both["ultrafeedback"] / both["mt_bench"])[(both > 0).all(axis=1)].median()
    x, y = next(line for label, line in lines.items() if label.endswith(f" {ratio:.2f}")).get_data()
    assert y[-1] == pytest.approx(ratio * x[-1])
    assert sorted(text.get_text() for text in axes.texts) == sorted(map(plots.short, both.index))
    level = [text for text in axes.texts if not text.get_rotation()]
    assert len(level) == (both > 0).all(axis=1).sum()
    boxes = [Text.get_window_extent(text) for text in level]  # an annotation's own has its line too
    assert not [1 for a, b in combinations(boxes, 2) if a.overlaps(b)]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == tuple(
        f"discrimination, {NAMES[name]}" for name in both.columns
    )


def test_bars_of_figure_a9_have_one_colour_a_set_and_every_gap_is_explained():
    table = stored("judge_reliability/discrimination")
    figure = plots.discrimination_bars(table, "t")
    (axes,) = figure.axes
    sets = [name for name in DATA_SETS if name in set(table["dataset"])]
    assert names_in(figure) == [*(NAMES[name] for name in sets), *NO_BAR.values()]
    for name in sets:
        (bars,) = [bars for bars in axes.containers if bars.get_label() == NAMES[name]]
        assert {to_hex(bar.get_facecolor()) for bar in bars} == {COLOURS[name].lower()}
        widths = [bar.get_width() for bar in bars if np.isfinite(bar.get_width())]
        assert sorted(widths) == sorted(table.loc[table["dataset"] == name, "discrimination"])
        assert colour_in(figure, NAMES[name]) == COLOURS[name].lower()
    holes = table["judge"].nunique() * len(sets) - len(table)
    assert marks(axes, "_") == holes > 0
    assert marks(axes, "x") == (table["status"] == "zero").sum()


def curves_figure(curves: pd.DataFrame) -> Figure:
    slopes, test = (stored(f"length_covariate/mt_bench/{name}") for name in ("slopes", "test"))
    return plots.length_curves(curves, slopes, test.iloc[0], "t")


def test_figure_a10_has_a_panel_with_its_slope_for_each_judge():
    curves = stored("length_covariate/mt_bench/curves")
    slopes = stored("length_covariate/mt_bench/slopes").set_index("judge")
    figure = curves_figure(curves)
    assert len(figure.axes) == curves["judge"].nunique() == 4
    assert "cut at" not in figure.get_suptitle()
    for axes, (judge, rows) in zip(figure.axes, curves.groupby("judge", sort=False), strict=True):
        name, told = axes.get_title().split("\n")
        assert name == plots.short(judge)
        row = slopes.loc[judge, ["slope", "low_slope", "high_slope"]]
        assert [float(number) for number in re.findall(r"[-+][\d.]+", told)] == pytest.approx(row, abs=0.005)
        assert np.array_equal(axes.lines[0].get_ydata(), rows["estimate"])
        assert axes.get_ylim()[1] > rows["high"].max()


def test_a_band_that_is_cut_is_said_to_be():
    curves = stored("length_covariate/mt_bench/curves")
    figure = curves_figure(curves.assign(high=10 * curves["high"]))
    assert "cut at" in figure.get_suptitle()
    assert figure.axes[0].get_ylim()[1] > curves["estimate"].max()


@pytest.mark.parametrize(("suffix", "another"), [(": MT-Bench", True), (": In-house data (surrogate)", False)])
def test_curves_of_another_set_than_the_papers_say_so(suffix, another):
    from experiments.length_covariate import draw

    names = ("curves", "slopes", "test")
    figure = draw({name: stored(f"length_covariate/mt_bench/{name}") for name in names}, suffix)["curves"]
    assert ("not the paper's set" in figure.get_suptitle()) == another
    assert suffix in figure.get_suptitle()


def test_the_prompt_is_said_to_be_in_our_words():
    from experiments.judge_reliability import draw

    names = ("discrimination", "prompt", "fits")
    drawn = draw({name: stored(f"judge_reliability/{name}") for name in names}, "")
    assert "in our words" in drawn["prompt_template"].axes[0].get_title()


@cache
def laid_out(name: str) -> Figure:
    figure = once(name)
    figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize("name", FIGURES)
def test_figures_fit_the_page_and_their_text_can_be_read(name):
    require_legible(laid_out(name), 5 if name == "heatmap" else SMALLEST)  # whose models are 45


def require_legible(figure: Figure, smallest: float = SMALLEST) -> None:
    assert figure.get_size_inches()[0] <= plots.PAGE
    for text in figure.findobj(Text):
        assert not text.get_text() or text.get_fontsize() >= smallest, text.get_text()


@pytest.mark.parametrize("name", FIGURES)
def test_legends_cover_no_data(name):
    require_data_uncovered(laid_out(name))


def require_data_uncovered(figure: Figure) -> None:
    for axes in figure.axes:
        if axes.get_legend() is None:
            continue
        box = axes.get_legend().get_window_extent()
        for line in axes.lines:
            if line.get_transform() == axes.transData and line.get_marker() not in ("None", None, ""):
                points = axes.transData.transform(np.column_stack(line.get_data()).astype(float))
                assert not [point for point in points if box.contains(*point)]


def test_every_figure_of_the_paper_is_compared_and_drawn_from_tables_that_are_stored():
    listed = figures()
    paper = items()["item"]
    assert list(listed["item"]) == [name for name in paper if name.startswith("Figure")]
    assert (listed["paper_shows"] != "").all()
    for row in listed[listed["item"] != "Figure 3"].itertuples():  # which needs the hub
        assert row.drawn_from
        for name in row.drawn_from:
            assert STORED.real(name), name
        for name in row.files:
            assert STORED.figure(name), name


def test_the_page_of_figures_is_current():
    page = (ROOT / "docs/paper/figures.md").read_text()
    assert figures_page(STORED) in page


@pytest.mark.parametrize("name", ["mt_bench", "chatbot_arena", "ultrafeedback"])
def test_heatmaps_say_every_count_of_the_table_and_no_count_covers_another(name):
    pairs = stored(f"data_overview/{name}/pairs")
    figure = plots.pair_heatmap(pairs, "t")
    figure.draw_without_rendering()
    texts = figure.axes[0].texts
    assert sorted(int(text.get_text()) for text in texts) == sorted([*pairs["comparisons"], *pairs["comparisons"]])
    boxes = [text.get_window_extent() for text in texts]
    assert not [1 for a, b in combinations(boxes, 2) if a.overlaps(b)]
