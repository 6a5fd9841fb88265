"""What a user of the package sees of a fit, in text, tables, a figure, a file; examples in docstrings."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import get_overloads

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.special import expit

import judgerank
from judgerank import (
    Adam,
    Comparisons,
    ConfigError,
    DataError,
    Fit,
    Localized,
    Penalised,
    Records,
    compare,
    effective_judges,
    fit,
    fragility,
    gate,
    load,
    pairwise,
    people_report,
    place,
    read,
)
from judgerank.data import errors as named_errors
from judgerank.data import modules
from judgerank.data.cache import MOST
from judgerank.data.judgments import Judgments
from judgerank.engine.solvers import SOLVERS
from judgerank.model.members import MODELS
from judgerank.order.scale import weights_of
from judgerank.ranking.ranking import Ranking
from tests.library.test_combinations import drawn

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def raw(simulated):
    z = np.array([0.3, -0.2, 0.4])
    return simulated(11, [1.0, 0.4, -0.2, -1.2], [1.6, 1.0, 0.6], 3000, slope=z, ties=0.15)


@pytest.fixture(scope="module")
def fits(raw):
    return {name: fit(raw, name) for name in MODELS}


@pytest.fixture(scope="module")
def firm(cells_of):
    """A fit without intervals: a judge with a slope who never errs."""
    rows = [("a", "b", "x", 6, 3), ("b", "c", "x", 5, 4), ("a", "c", "x", 6, 2), ("a", "b", "firm", 6, 0)]
    rows += [("c", "b", "firm", 0, 5)]
    return fit(cells_of(*((*row, (-1.0) ** number) for number, row in enumerate(rows))), "length")


# settings


@pytest.mark.parametrize("name", SOLVERS)
def test_settings_fit_as_their_name_does(raw, name):
    named, given = fit(raw, solver=name), fit(raw, "judge_aware", SOLVERS[name]())
    settings = named.settings
    assert settings == given.settings
    assert (replace(settings, dispersion=None) if name == "penalised" else settings) == SOLVERS[name]()
    pd.testing.assert_series_equal(named.scores, given.scores, check_exact=True)
    assert named.log_likelihood == given.log_likelihood


def test_settings_change_the_fit(raw):
    assert fit(raw, "judge_aware", Adam(max_iterations=9)).status is judgerank.Status.ITERATION_LIMIT
    assert fit(raw, solver=Localized(0.5)).scores.abs().max() == 0.5
    assert fit(raw, solver=Penalised(scores=0.01)).scores.abs().max() < 0.2
    assert fit(raw, "btl", Adam(max_iterations=7)).solution.iterations == 7


# text and tables


@pytest.mark.parametrize("name", MODELS)
def test_the_repr_is_one_short_line(fits, name):
    said = repr(fits[name])
    assert len(said) < 150
    assert "\n" not in said
    for part in (name, str(fits[name].status), "4 models", "3 judges", "3,000 comparisons", "log-likelihood -"):
        assert part in said


@pytest.mark.parametrize("name", MODELS)
def test_the_frame_has_a_row_for_every_estimate(fits, name):
    found = fits[name]
    frame = found.to_frame(0.9)
    columns = ["parameter", "name", "estimate", "standard_error", "low", "high", "status"]
    assert list(frame.columns) == columns
    pd.testing.assert_frame_equal(frame[[*columns[:3], "low", "high"]], found.confidence_intervals(0.9))
    for parameter, rows in frame.groupby("parameter"):
        values = found.scores if parameter == "score" else getattr(found, parameter)
        assert_allclose(rows["estimate"], values, rtol=0, atol=0)
    scores = frame[frame["parameter"] == "score"]
    assert_allclose(scores["standard_error"], np.sqrt(np.diag(found.covariance))[:4])
    assert_allclose((scores["high"] - scores["low"]) / 2, 1.6448536 * scores["standard_error"])
    assert (frame.loc[scores.index, "status"] == str(found.status)).all()
    judges = frame.drop(index=scores.index)
    assert judges["status"].tolist() == found.judge_status[judges["name"]].tolist()


def test_a_fit_without_intervals_still_has_a_frame_and_a_summary(firm):
    frame = firm.to_frame()
    assert frame["estimate"].notna().all()
    assert frame[["standard_error", "low", "high"]].isna().all(axis=None)
    assert "unbounded" in firm.summary()
    with pytest.raises(judgerank.NoIntervalError):
        firm.confidence_intervals()


@pytest.mark.parametrize("name", MODELS)
def test_the_summary_has_a_table_for_every_kind_of_parameter(fits, name):
    heading, *tables = fits[name].summary(0.9).split("\n\n")
    assert heading.startswith(f"{name}: 4 models, 3 judges, 3,000 comparisons\nstatus ")
    kinds = fits[name].to_frame()["parameter"].unique().tolist()
    assert [table.split()[0] for table in tables] == kinds
    assert all("90% intervals" in table.splitlines()[0] for table in tables)
    assert all(max(map(len, table.splitlines())) < 115 for table in tables)
    assert str(fits[name]) == fits[name].summary()


def test_the_summary_says_of_a_penalty_and_of_clusters(raw):
    shrunk = fit(raw, solver="penalised").clustered(raw, np.arange(len(raw)) // 30)
    assert "standard deviations of what is shrunk: scores " in shrunk.summary()
    assert "standard errors allow for dependence within 100 clusters" in shrunk.summary()
    assert "gradient" not in shrunk.summary()


def test_html_escapes_names(cells_of):
    found = fit(cells_of((SCRIPT, "b", SCRIPT, 6, 4), (SCRIPT, "b", "&", 5, 6)))
    assert found.judges_at_zero == ("&",)
    page = found._repr_html_()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 2
    assert "judges at zero discrimination: &amp;" in page


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_out_of_range_is_refused(fits, firm, level):
    for found in (fits["judge_aware"], firm):
        for method in (found.summary, found.to_frame):
            with pytest.raises(ConfigError, match=rf"\blevel\b.*{level!r}"):
                method(level)


# predictions


def test_predictions_are_the_formula(fits):
    found = fits["judge_aware"]
    s, gamma = found.scores, found.discrimination
    assert found.predict("m0", "m2", "j1") == pytest.approx(expit(gamma["j1"] * (s["m0"] - s["m2"])), abs=1e-15)
    over_judges = expit(gamma * (s["m0"] - s["m2"])).mean()
    assert found.predict("m0", "m2") == pytest.approx(over_judges, abs=1e-15)
    assert isinstance(found.predict("m0", "m2"), float)
    many = found.predict(["m0", "m1"], "m3", pd.Series(["j2", "j0"]))
    assert_allclose(many, expit(gamma[["j2", "j0"]] * (s[["m0", "m1"]].to_numpy() - s["m3"])), atol=1e-15)
    assert found.predict(["m0"], ["m1"]).shape == (1,)
    single = get_overloads(type(found).predict)[0].__annotations__  # of two names, a type checker knows a number
    assert (single["first"], single["second"], single["return"]) == ("str", "str", "float")


def test_predictions_take_position_and_covariate(fits):
    found = fits["position_length"]
    k, d = 2, found.scores["m1"] - found.scores["m3"]
    b, beta, gamma = (getattr(found, name).iloc[k] for name in ("position", "slope", "discrimination"))
    z = np.array([-1.0, 0.0, 0.5])
    expected = expit(gamma * np.exp(beta * z) * d + b)
    assert_allclose(found.predict("m1", "m3", "j2", z), expected, atol=1e-15)
    assert found.predict("m1", "m3", "j2") == pytest.approx(expected[1], abs=1e-15)


def test_a_tie_counts_for_neither_model(fits):
    found = fits["judge_aware_ties"]
    eta = found.discrimination["j0"] * (found.scores["m0"] - found.scores["m1"])
    odds = np.array([np.exp(eta / 2), np.exp(-eta / 2), found.tie["j0"]])
    first, second = found.predict("m0", "m1", "j0"), found.predict("m1", "m0", "j0")
    assert_allclose([first, second, 1 - first - second], odds / odds.sum(), atol=1e-14)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_agree_with_the_mean_outcome(fits, raw, name):
    found = fits[name]
    names, judges = np.array(raw.models), np.array(raw.judges)
    each = found.predict(names[raw.first], names[raw.second], judges[raw.judge], raw.covariate)
    ties = found.tie_probability(raw) if found.model.has_ties else 0.0
    assert_allclose(each + ties / 2, found.probability(raw), atol=1e-14)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("m0", "m9"), "'m9' is not among those fitted: m0, m1, m2, m3"),
        (("m0", "m1", ["j0", "j7"]), "'j7' is not among those fitted: j0, j1, j2"),
        (("m0", [3]), "3 is not among those fitted"),
        ((["m0", "m1"], ["m1", "m2", "m3"]), "first.*second.*judge.*covariate"),
    ],
)
def test_what_was_not_fitted_cannot_be_predicted(fits, names, told):
    with pytest.raises(DataError, match=told):
        fits["judge_aware"].predict(*names)


# a figure


def test_drawing_leaves_matplotlib_as_it_was_and_takes_nothing_from_it(fits):
    """A user's own settings neither change a figure nor are changed by it."""
    matplotlib = pytest.importorskip("matplotlib")

    def looks() -> list:
        axes = fits["judge_aware"].plot().axes[0]
        sizes = [text.get_fontsize() for text in (*axes.get_yticklabels(), axes.xaxis.label)]
        return [*sizes, axes.lines[0].get_markersize(), axes.spines["top"].get_visible()]

    plain, usual = dict(matplotlib.rcParams), looks()
    assert dict(matplotlib.rcParams) == plain
    with matplotlib.rc_context({"font.size": 20, "axes.spines.top": True, "lines.markersize": 9}):
        assert looks() == usual


def test_the_plot_is_of_every_model(fits):
    pytest.importorskip("matplotlib", reason="could not import matplotlib")
    figure = fits["judge_aware"].plot()
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["m0", "m1", "m2", "m3"]


def test_without_the_extra_a_sentence_says_what_to_install(fits, monkeypatch):
    monkeypatch.setitem(sys.modules, "judgerank.plots.own", None)
    with pytest.raises(ConfigError, match=r"^a figure requires the extra 'plot' \(pip install 'matplotlib>="):
        fits["judge_aware"].plot()


# a file


def same(one, other) -> bool:
    """Whether two values are equal to the last bit, all the way down."""
    one, other = (value.item() if isinstance(value, np.generic) else value for value in (one, other))
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, csr_array):
        parts = ("data", "indices", "indptr", "shape")
        return all(same(getattr(one, part), getattr(other, part)) for part in parts)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other, equal_nan=True)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def again(fitted, folder):
    """A fit saved and loaded, without the weights of the reported scale, which it had not kept before."""
    fitted.save(folder / "a fit")
    back = load(folder / "a fit")
    assert back.scale_weights == weights_of(fitted)
    return replace(back, scale_weights=None)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_comes_back_as_it_was(fits, tmp_path, name):
    back = again(fits[name], tmp_path)
    assert same(back, fits[name])
    assert back.summary() == fits[name].summary()
    assert [path.name for path in tmp_path.iterdir()] == ["a fit"]


@pytest.mark.parametrize("solver", ["newton", "adam", "localized", "penalised"])
def test_so_does_a_clustered_covariance(raw, tmp_path, solver):
    found = fit(raw, solver=solver).clustered(raw, np.arange(len(raw)) // 20)
    back = again(found, tmp_path)
    assert same(back, found)
    assert np.array_equal(back.covariance, found.covariance)
    pd.testing.assert_frame_equal(pairwise(back), pairwise(found), check_exact=True)


def test_so_does_a_fit_without_intervals_and_one_with_a_rival(firm, cells_of, tmp_path):
    assert same(again(firm, tmp_path), firm)
    ring = [(a, b, a + b, 9, 1) for a, b in ("ab", "bc", "cd", "de", "ea", "ac", "bd", "ce", "da", "eb")]
    found = fit(cells_of(*ring, ("a", "b", "x", 3, 2), ("c", "d", "x", 2, 2)), solver="localized")
    assert found.solution.rival is not None
    assert same(again(found, tmp_path), found)


def test_the_file_says_the_same_of_new_comparisons(fits, raw, tmp_path):
    back = again(fits["position_aware"], tmp_path)
    assert np.array_equal(back.probability(raw), fits["position_aware"].probability(raw))
    assert np.array_equal(back.covariance, fits["position_aware"].covariance)


def test_saving_replaces_a_file_whole_or_not_at_all(fits, tmp_path, monkeypatch):
    path = tmp_path / "a fit"
    fits["btl"].save(path)
    before = path.read_bytes()
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(ConfigError, match="a fit cannot be written: no space"):
        fits["judge_aware"].save(path)
    assert path.read_bytes() == before


def archive(path: Path, **arrays) -> None:
    with path.open("wb") as file:
        np.savez(file, **arrays)


def of_another_version(path: Path) -> None:
    archive(path, header=np.array(json.dumps({"judgerank_fit": 99, "fit": {}})))


def with_a_field_too_many(path: Path) -> None:
    archive(path, header=np.array(json.dumps({"judgerank_fit": 2, "fit": {"colour": "red"}})))


OTHERS = {
    "no archive": (lambda path: path.write_text("model_a,model_b\n"), "not a fit that judgerank saved"),
    "nothing": (lambda path: path.write_bytes(b""), "not a fit that judgerank saved"),
    "half an archive": (lambda path: path.write_bytes(b"PK\x03\x04 and so on"), "not a fit that judgerank saved"),
    "one array": (lambda path: np.save(path.open("wb"), np.ones(3)), "not a fit that judgerank saved"),
    "other arrays": (lambda path: archive(path, x=np.ones(3)), "not a fit that judgerank saved"),
    "a pickle": (lambda path: archive(path, header=np.array([{}], object)), "not a fit that judgerank saved"),
    "other fields": (with_a_field_too_many, "not a fit that judgerank saved"),
    "another version": (of_another_version, "saved in version 99, and this reads version 2"),
    "a folder": (Path.mkdir, "not a fit that judgerank saved"),
    "no file": (lambda path: None, "there is no file"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_files_are_refused_with_a_sentence(tmp_path, case):
    write, told = OTHERS[case]
    write(tmp_path / "it")
    with pytest.raises(DataError, match=told) as refused:
        load(tmp_path / "it")
    assert "\n" not in str(refused.value)


# the package


def test_everything_public_is_exported():
    wanted = {"Comparisons", "fit", "Fit", "Status", "Newton", "Adam", "Localized", "Penalised"}
    wanted |= {"pairwise", "rank_intervals", "load", "__version__"}
    wanted |= {name for name in vars(named_errors) if name.endswith("Error")}
    assert wanted <= set(judgerank.__all__)
    assert all(hasattr(judgerank, name) for name in judgerank.__all__)
    assert judgerank.__version__ == metadata.version("judgerank")


def test_importing_the_package_loads_nothing_heavy():
    heavy = ["hydra", "datasets", "matplotlib", "typer", "openai", "joblib", "scipy.optimize", "scipy.stats"]
    code = f"import sys, judgerank; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_package_is_typed():
    if find_spec("mypy") is None:
        pytest.skip("mypy, of the extra `dev`, is not installed")
    assert (ROOT / "src" / "judgerank" / "py.typed").exists()
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["strict"]
    done = subprocess.run([sys.executable, "-m", "mypy"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout


# What records say of themselves where they are asked for by name: a line, and a table in a notebook.


@pytest.fixture(scope="module")
def judgments():
    return read("examples/judgments.csv")


@pytest.fixture(scope="module")
def placed(judgments):
    return place(
        fit(judgments, "position_aware"),
        judgments.frame.replace({judgments.comparisons.models[0]: "newcomer"}),
    )


@pytest.fixture(scope="module")
def report(judgments):
    return people_report(judgments, judgments.comparisons.judges[0])


def test_a_line_of_text_and_a_table_for_a_notebook(judgments, placed, report):
    fitted = fit(judgments, "position_aware")
    long = Comparisons(tuple(f"{'m' * 300}{i}" for i in range(3)), ("j",), [0, 1], [1, 2], [0, 0], [1.0, 0.0])
    records = (
        judgments,
        judgments.comparisons,
        long,
        Records.of(judgments),
        fitted,
        fragility(fitted, most=1),
        effective_judges(fitted),
        compare(fit(judgments), fitted),
        gate(judgments, *judgments.comparisons.models[:2]),
        placed,
        report,
    )
    for record in records:
        assert len(repr(record)) < 400 and "\n" not in repr(record)
        assert type(record).__name__ in repr(record)
        page = record._repr_html_()
        assert "<table" in page and page.count("<tr") <= len(fitted.to_frame()) + MOST


def test_what_results_hold_is_as_short_and_has_a_table(judgments, placed, report):
    rng = np.random.default_rng(1)
    lengths = {f"length_{side}": rng.integers(50, 500, len(judgments.frame)) for side in "ab"}
    styled = fit(judgments.frame.assign(**lengths), "btl", blocks="style:length")
    held = (
        report.people,
        report.helped,
        report.toward_panel,
        report.people.items,
        placed.anchored,
        styled.solution,
        styled.test("style"),
        fit(judgments, "btl_ties", questions="effects").effects,
    )
    for record in held:
        assert len(repr(record)) < 400 and "\n" not in repr(record)
        assert type(record).__name__ in repr(record)
        page = record._repr_html_()
        assert "<table" in page and page.count("<tr") <= 2 * MOST
    assert len(repr(styled.solution.evaluation)) < 400


def test_shares_won_are_those_of_the_comparisons(judgments):
    c = judgments.comparisons
    table = c._table().set_index("model")
    assert table["comparisons"].sum() == 2 * len(c)
    name = c.models[0]
    won = np.r_[c.outcome[c.first == 0], 1 - c.outcome[c.second == 0]]
    assert table.loc[name, "share_won"] == pytest.approx(won.mean())


# Whatever judgments are held in, everything that takes judgments takes it, and says the same of it.
PEOPLE, NEW = "people", "new-1"


def held(frame: pd.DataFrame, folder: Path) -> dict[str, object]:
    """The same judgments in everything that may hold them."""
    frame.to_csv(folder / "judgments.csv", index=False)
    return {
        "path": str(folder / "judgments.csv"),
        "frame": frame,
        "arrow": pa.Table.from_pandas(frame),
        "judgments": judgerank.read(frame),
        "comparisons": Comparisons.from_frame(frame),
    }


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    records = drawn()
    return records.comparisons.to_frame().assign(question_id=records.frame["question_id"].astype(str))


VERBS = {
    "fit": lambda x: fit(x, "position_aware").scores,
    "rank": lambda x: judgerank.rank(x, cluster="none").tables["leaderboard"].set_index("model")["score"],
    "fragility": lambda x: judgerank.fragility(x, most=1).judges["top"],
    "aggregate": lambda x: pd.Series(judgerank.aggregate(x).outcome),
    "effective_judges": lambda x: judgerank.effective_judges(x).worth.iloc[:, 1],
    "gate": lambda x: pd.Series(judgerank.gate(x, "beta-1", "alpha-1").criteria[0].evidence.win_rate),
}
BY_QUESTION = {"effective_judges": "takes questions", "gate": "which question"}  # comparisons do not say theirs


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_judgments_of_every_kind(frame, tmp_path, verb):
    sources = held(frame, tmp_path)
    if verb in BY_QUESTION:
        with pytest.raises(DataError, match=BY_QUESTION[verb]):
            VERBS[verb](sources.pop("comparisons"))
    found = {kind: VERBS[verb](source) for kind, source in sources.items()}
    for kind, values in found.items():
        pd.testing.assert_series_equal(values, found["frame"], obj=kind)


def test_newcomers_and_people_are_read_from_everything(frame, tmp_path):
    board = fit(frame, "position_aware")
    late = frame.replace({"model_a": {"alpha-1": NEW}, "model_b": {"alpha-1": NEW}})
    placed = {kind: judgerank.place(board, one).newcomers["score"] for kind, one in held(late, tmp_path).items()}
    for scores in placed.values():
        assert scores.iloc[0] == pytest.approx(placed["frame"].iloc[0])
    both = pd.concat([frame, frame.iloc[::15].assign(judge_model=PEOPLE)], ignore_index=True)
    sources = held(both, tmp_path)
    with pytest.raises(DataError, match="question"):
        judgerank.people_report(sources.pop("comparisons"), PEOPLE)
    asked = [judgerank.people_report(one, PEOPLE) for one in sources.values()]
    assert all(report.p_value == pytest.approx(asked[0].p_value) for report in asked)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ([("a", "b", "c")], r"^item 1 of the list is \('a', 'b', 'c'\): .* tuples \(winner, loser\)"),
        ([("a", "b"), ("a",)], r"^item 2 of the list is \('a',\): .* dicts such as {'model_a': 'x'"),
        (["one.csv", 3], "^item 2 of the list is 3: .* or names of files$"),
    ],
)
def test_a_list_of_something_else_is_refused_by_its_item(source, sentence):
    with pytest.raises(ConfigError, match=sentence):
        judgerank.rank(source)


def test_judgments_without_questions_say_so(frame):
    found = judgerank.read(frame.drop(columns="question_id"))
    assert found.n_questions == 0
    for name in ("question", "question_ids", "question_keys"):
        with pytest.raises(DataError, match=r"^judgments names no questions"):
            getattr(found, name)


def test_a_board_is_a_fit(frame):
    fitted = fit(frame)
    for wrong in (
        lambda: judgerank.place("board.npz", frame),
        lambda: judgerank.compare(fitted, frame),
        lambda: judgerank.pairwise("board.npz"),
        lambda: judgerank.rank_intervals(frame),
    ):
        with pytest.raises(ConfigError, match=r"a board is a fit|requires a fit"):
            wrong()


def test_cells_are_judgments_where_they_say_how_many_had_which_answer(frame):
    raw = judgerank.read(frame).comparisons
    cells = raw.with_ties().aggregate()
    told = Judgments.of(cells)
    assert told.frame["count"].sum() == len(raw)
    again = told.comparisons.aggregate()
    for name in ("first", "second", "judge", "outcome", "count"):
        assert getattr(again, name) == pytest.approx(getattr(raw.aggregate(), name))
    shares = judgerank.read(frame).judges.drop(columns=["dataset", "unparsed"])
    pd.testing.assert_frame_equal(told.judges.drop(columns=["dataset", "unparsed"]), shares, check_dtype=False)
    with pytest.raises(DataError, match=r"\brow \d+ "):  # ties are halves of each side there
        Judgments.of(raw.aggregate())


def test_columns_of_categories_say_the_same_as_texts():
    texts = pd.DataFrame(
        {
            "question_id": ["q2", "q10", "q2", "q1", "q10"],
            "model_a": [*"uvwuv"],
            "model_b": [*"vwuvw"],
            "judge_model": [*"yxyxy"],
            "judge_preferred_model": ["a", "b", "unknown", "c", "a"],
        }
    )
    others = {"question_id": ["q9", "q10", "q2", "q1"], "judge_model": [*"zyx"]}  # in another order, one unused
    told = judgerank.read(texts)
    for categories in ({"question_id": sorted(others["question_id"])}, others):
        frame = texts.astype({name: pd.CategoricalDtype(kinds) for name, kinds in categories.items()})
        other = replace(told, frame=frame)
        names = [other.question_ids[number] for number in other.question]
        assert names == texts["question_id"][told.parsed].tolist() and len(other.question_ids) == 3
        pd.testing.assert_frame_equal(
            other.judges.sort_values("judge", ignore_index=True), told.judges, check_dtype=False
        )
    assert told.judges["comparisons"].tolist() == [2, 2] and told.judges["unparsed"].tolist() == [0, 1]
    assert told.judges["share_tie"].tolist() == [0.5, 0.0]


WITH_EXAMPLES = {  # every exported name, and what a user types of a result first
    *(name for name in judgerank.__all__ if name != "__version__"),
    *(f"Fit.{name}" for name in ("aic", "bic", "bse", "clustered", "conf_int", "contrast", "cov_params")),
    *(f"Fit.{name}" for name in ("judges_at_zero", "leaderboard", "llf", "nobs", "params", "predict", "pvalues")),
    *(f"Fit.{name}" for name in ("scores", "summary", "test", "to_frame")),
    *(f"Ranking.{name}" for name in ("judges", "leaderboard", "pairs", "summary", "without")),
}


def documented() -> Iterator[tuple[str, object]]:
    """Exported functions and classes, and the public methods and properties of results, by name."""
    for name in judgerank.__all__:
        value = getattr(judgerank, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            yield name, value
    for result in (Fit, Ranking):
        for name, value in inspect.getmembers(result):
            if not name.startswith("_") and value is not None:  # a field, which the class describes
                yield f"{result.__name__}.{name}", value


DOCUMENTED = dict(documented())
EXAMPLES = {
    test.name: test
    for name, value in DOCUMENTED.items()
    for test in doctest.DocTestFinder(recurse=False).find(
        getattr(value, "func", getattr(value, "__wrapped__", value)), name, globs={}
    )
    if test.examples
}


def test_every_exported_name_has_an_example():
    assert {*EXAMPLES} >= WITH_EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_it_shows(name):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    runner.run(EXAMPLES[name], out=told.append, clear_globs=False)
    assert runner.failures == 0, "".join(told)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_what_users_see_has_a_docstring(name):
    assert inspect.getdoc(DOCUMENTED[name]), name


# What a sentence tells to install is what pyproject.toml declares, and never this package from an index.


@pytest.mark.parametrize("extra", ["collect", "excel", "mcp", "parquet", "plot", "scale", "zstd"])
def test_an_extra_is_told_with_all_of_its_packages(extra):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = modules.needed(extra)
    assert said.index(f"'{extra}'") < said.index("pip install")
    for requirement in project["optional-dependencies"][extra]:
        name = requirement.partition(">")[0]
        assert f"'{name}" in said
    assert said.count("'") == 2 + 2 * len(project["optional-dependencies"][extra])


def test_from_bare_sources_the_checkout_is_told(monkeypatch):
    def nothing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(modules, "requires", nothing)
    assert modules.needed("zstd") == "the extra 'zstd' (pip install '.[zstd]' in the checkout)"


def test_nothing_tells_to_install_the_package_from_an_index():
    """There is no release yet: `pip install judgerank` would find nothing, or a stranger's package."""
    places = [
        *(ROOT / "src").rglob("*"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*"),
    ]
    places += [
        ROOT / "README.md",
        ROOT / "SECURITY.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "paper/paper.md",
    ]
    told = [path for path in places if path.suffix in (".py", ".html", ".md", ".ipynb") and path.is_file()]
    assert len(told) > 100
    assert [path for path in told if "judgerank[" in path.read_text()] == []
    assert [path for path in told if "pip install judgerank" in path.read_text()] == []
