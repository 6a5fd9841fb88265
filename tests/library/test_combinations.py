"""Everything that a fit can have, with everything else, under every verb: it works, or a sentence says why not."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import judgerank
from judgerank import Records, fit, load, pairwise, rank_intervals
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, JudgerankError
from judgerank.fits.presentation import leaderboard
from judgerank.order.scale import scale_of
from judgerank.ranking.exports import ELO_POINTS, lmarena

N, K, QUESTIONS, EACH = 4, 3, 40, 8
NAMES = ("alpha-1", "alpha-2", "beta-1", "gamma-1")
BLOCKS = (
    (),
    ("style:length",),
    ("category",),
    ("family:{families}",),
    ("taste",),
    ("style:length", "category", "family:{families}"),
)


def drawn() -> Records:
    """Judges are some of the models; answers have a quality of their own, a length, and a kind of question."""
    rng = np.random.default_rng(5)
    question = np.arange(QUESTIONS).repeat(EACH)
    i, j = np.array([rng.permutation(N)[:2] for _ in question]).T
    k = rng.integers(K, size=len(question))
    s, gamma, b = np.linspace(0.8, -0.8, N), np.exp(np.linspace(-0.3, 0.3, K)), np.linspace(-0.3, 0.3, K)
    length = rng.normal(size=(QUESTIONS, N)) + 0.3 * s
    quality = s + 0.6 * rng.normal(size=(QUESTIONS, N)) + 0.3 * rng.normal(size=(3, N))[np.arange(QUESTIONS) % 3]
    eta = gamma[k] * (quality[question, i] - quality[question, j]) + b[k]
    eta += 0.5 * (length[question, i] - length[question, j]) + 0.6 * ((k == i).astype(float) - (k == j))
    odds = np.exp(np.stack([eta / 2, -eta / 2, np.full(len(eta), -1.0)]))
    y = np.array([1.0, 0.0, 0.5])[(rng.random(len(eta)) > np.cumsum(odds / odds.sum(axis=0), axis=0)).sum(axis=0)]
    frame = pd.DataFrame({"question_id": question, "category": np.array(["x", "y", "z"])[question % 3]})
    frame["length_a"], frame["length_b"] = length[question, i], length[question, j]
    return Records(Comparisons(NAMES, NAMES[:K], i, j, k, y).with_ties(), frame)


VERBS = {
    "scores": lambda f, _: f.scores,
    "discrimination": lambda f, _: f.discrimination,
    "confidence_intervals": lambda f, _: f.confidence_intervals(),
    "to_frame": lambda f, _: f.to_frame(),
    "contrast": lambda f, _: pd.Series(f.contrast({NAMES[0]: 1.0, NAMES[1]: -1.0})),
    "pairwise": lambda f, _: pairwise(f),
    "rank_intervals": lambda f, _: rank_intervals(f),
    "predict": lambda f, _: pd.Series(f.predict(list(NAMES[:2]), NAMES[3])),
    "leaderboard": lambda f, _: leaderboard(f, 0.95),
    "summary": lambda f, _: f.summary(),
    "html": lambda f, _: f._repr_html_(),
    "repr": lambda f, _: repr(f),
    "plot": lambda f, _: f.plot(),
    "save and load": lambda f, folder: kept(f, folder),
    "clustered": lambda f, _: f.clustered().covariance,
    "params": lambda f, _: f.params,
    "fragility": lambda f, _: judgerank.fragility(f, most=1),
    "effective_judges": lambda f, _: judgerank.effective_judges(f),
}
REFUSED = {  # what does not go together, and the words that say so
    "fragility": "without further blocks|without question effects|penalty",
    "effective_judges": "without further blocks|without question effects",
}


def kept(fitted, folder: Path):
    fitted.save(folder / "fit.npz", force=True)
    again = load(folder / "fit.npz")
    pd.testing.assert_frame_equal(again.to_frame(), fitted.to_frame())
    pd.testing.assert_frame_equal(pairwise(again), pairwise(fitted))
    return again.scores


@pytest.fixture(scope="module")
def records() -> Records:
    return drawn()


@pytest.fixture(scope="module")
def families(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("families") / "families.csv"
    path.write_text("begins,family\nalpha,A\nbeta,B\ngamma,C\n")
    return path


@pytest.mark.parametrize(
    ("blocks", "questions", "shrink", "cluster"),
    list(product(BLOCKS, (None, "effects"), (False, True), (None, "question"))),
)
def test_whatever_is_described_is_fitted_and_answers(
    records, families, tmp_path, blocks, questions, shrink, cluster
):
    blocks = [block.format(families=families) for block in blocks]
    fitted = fit(
        records, "position_aware_ties", blocks=blocks, questions=questions, shrink=shrink, cluster=cluster
    )
    assert fitted.converged
    is_shrunk = shrink or any(block.shrunk for block in fitted.blocks)
    assert np.isnan([fitted.aic, fitted.bic]).tolist() == [is_shrunk, is_shrunk]
    assert len(repr(fitted)) < 400
    errors = fitted.to_frame()
    assert np.isfinite(errors.loc[errors["parameter"] == "score", "standard_error"]).all()
    for name, verb in VERBS.items():
        try:
            found = verb(fitted, tmp_path)
        except JudgerankError as error:
            assert name in REFUSED, f"{name}: {error}"
            assert any(words in str(error) for words in REFUSED[name].split("|")), f"{name}: {error}"
            continue
        if isinstance(found, pd.Series):
            assert found.notna().all(), name
        if isinstance(found, str):
            assert len(found) > 20, name
    for block in fitted.blocks:
        assert fitted.parameters(block.name).notna().all()
        if questions is None or not block.shrunk:
            assert 0 <= fitted.test(block.name).p_value <= 1
        if not block.shrunk:
            assert 0 <= fitted.wald(block.name) <= 1


@pytest.mark.parametrize("shrink", [False, True])
def test_cells_from_an_engine_take_the_blocks_that_go_by_names(records, families, tmp_path, shrink):
    """They are fitted as the raw rows are; a block that needs a column says that cells have none."""
    records.comparisons.to_frame().to_csv(tmp_path / "judgments.csv", index=False)
    cells, block = judgerank.aggregate(tmp_path / "judgments.csv", ties=True), [f"family:{families}"]
    assert len(cells) < len(records.comparisons)
    ours, raw = (fit(one, "position_aware_ties", blocks=block, shrink=shrink) for one in (cells, records))
    pd.testing.assert_frame_equal(ours.to_frame(), raw.to_frame(), rtol=1e-6)
    for other in ("style:length", "category"):
        with pytest.raises(DataError, match=f"'{other.partition(':')[0]}'.*Records"):
            fit(cells, "position_aware_ties", blocks=[other], shrink=shrink)


def test_intervals_of_few_questions_are_by_students_t_wherever_they_stand(records):
    """Of twelve questions: in the fit, a contrast, the board, pairs and LMArena's table, from one covariance."""
    few = records.frame["question_id"] < 12
    frame = records.comparisons.to_frame()[few].assign(question_id=records.frame["question_id"][few])
    ranking = judgerank.rank(frame, model="btl", own_maker="count")  # whose scale is that of the fit
    fitted, t = ranking.fit, student.ppf(0.975, 11)
    error = pd.Series(np.sqrt(np.diag(fitted.covariance)), NAMES)
    assert fitted.errors.n_clusters == 12 and scale_of(fitted).factor == 1
    board = ranking.tables["leaderboard"].set_index("model")
    estimates = fitted.to_frame().loc[lambda rows: rows["parameter"] == "score"].set_index("name")
    intervals = fitted.confidence_intervals().loc[lambda rows: rows["parameter"] == "score"].set_index("name")
    for rows in (board, estimates, intervals):
        np.testing.assert_allclose(rows["high"] - rows["low"], 2 * t * error[rows.index], rtol=1e-12)
    arena = lmarena(ranking).set_index("model_name")
    np.testing.assert_allclose(arena["variance"], (ELO_POINTS * error[arena.index]) ** 2, rtol=1e-12)
    for pair in ranking.tables["pairs"].itertuples():
        apart = fitted.contrast({pair.first: 1.0, pair.second: -1.0})
        assert apart["high"] - apart["low"] == pytest.approx(2 * t * apart["standard_error"], rel=1e-12)
        assert pair.standard_error == pytest.approx(apart["standard_error"], rel=1e-12)
        # the interval of the second test may reach further
        assert max(pair.low - apart["low"], apart["high"] - pair.high) <= 1e-12


@pytest.mark.parametrize(("blocks", "questions"), list(product(((), ("style:length",)), (None, "effects"))))
def test_one_number_has_one_value(records, blocks, questions):
    """Scores and intervals of the leaderboard, the pairs, the table of estimates and a contrast agree.

    The first two are on the reported scale, the others on the paper's: one factor is between them.
    """
    fitted = fit(records, "position_aware_ties", blocks=blocks, questions=questions, cluster="question")
    rows = fitted.to_frame().loc[lambda rows: rows["parameter"] == "score"].set_index("name")
    board, factor = leaderboard(fitted, 0.95).set_index("model"), scale_of(fitted).factor
    np.testing.assert_allclose(board["score"][rows.index], factor * rows["estimate"], rtol=1e-12)
    pd.testing.assert_frame_equal(board, fitted.leaderboard().set_index("model"), rtol=1e-12)
    for pair in pairwise(fitted).itertuples():
        apart = fitted.contrast({pair.first: 1.0, pair.second: -1.0})
        assert factor * apart["estimate"] == pytest.approx(pair.difference, rel=1e-12)
        assert board["score"][pair.first] - board["score"][pair.second] == pytest.approx(pair.difference, rel=1e-9)
    intervals = fitted.confidence_intervals().loc[lambda rows: rows["parameter"] == "score"].set_index("name")
    np.testing.assert_allclose(intervals["low"], rows["low"], atol=1e-12)
