"""Rankings by simulated judges: whole, in pairs and with ties, and what the stored section says of them."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from omegaconf import OmegaConf

from judgerank import fit
from judgerank.data.arrays import generator
from judgerank.order.scale import scale_of
from replication.config import ROOT
from replication.differences import TOLERANCES
from studies import plots, ranked_answers
from studies.ranked_answers import (
    MEAN_RANKS,
    RANKED,
    WAYS,
    Ranking,
    drawn,
    in_stages,
    mean_ranks,
    pairs,
    ranked_once,
    rows_by_way,
)
from studies.tied_answers import GROUPS, SPACED, limit, tied_answers, true_order
from tests.drawn import name_of
from tests.replication.test_config import composed
from tests.replication.test_sections import run

SHRUNK = name_of(WAYS, ("position_aware", True, False))


@pytest.fixture(scope="module")
def stored():
    return pd.read_csv(ROOT / "results/beyond/rankings/fits.csv").set_index(["setting", "way"])


def made(how: Ranking, seed: int = 1):
    return drawn(np.random.default_rng(seed), how)


def test_rankings_of_two_are_their_pairs():
    how = Ranking(2, n_rankings=600)
    one, other = (fit(make(*made(how), how)[0], "position_aware") for make in (in_stages, pairs))
    assert_allclose(one.scores, other.scores, atol=1e-9)
    assert one.log_likelihood == pytest.approx(other.log_likelihood)


@pytest.mark.parametrize(
    "how", [Ranking(4, n_rankings=30), Ranking(4, best=1, n_rankings=30), Ranking(5, best=2, n_rankings=30)]
)
def test_both_hold_the_same_pairs(how):
    judge, shown, order = made(how)
    (one, of_one), (other, of_other) = (make(judge, shown, order, how) for make in (in_stages, pairs))
    assert one.n_comparisons == pytest.approx(other.n_comparisons)
    wins = np.zeros((2, 8, 8))
    np.add.at(wins[0], (one.first, one.second), one.choices * one.won)
    np.add.at(wins[0], (one.second, one.first), one.choices * one.lost)
    np.add.at(wins[1], (other.first, other.second), other.outcome)
    np.add.at(wins[1], (other.second, other.first), 1 - other.outcome)
    assert_allclose(*wins)
    assert set(of_one) == set(of_other) == set(range(30))
    assert (one.judge == judge[of_one]).all() and (other.judge == judge[of_other]).all()


def test_judges_rank_by_the_model():
    """The best of three equals its probability, and a judge without discrimination goes by place."""
    how = Ranking(3, n_rankings=60_000, discrimination=(1.0,), equal=True)
    _, _, order = made(how)
    places = np.exp(-ranked_answers.POSITION[0] * np.arange(3))
    assert_allclose(np.bincount(order[:, 0]) / 60_000, places / places.sum(), atol=0.01)
    _, shown, order = made(replace(how, equal=False, discrimination=(50.0,)))
    assert (np.diff(np.take_along_axis(shown, order, axis=1), axis=1) > 0).all()


def test_mean_ranks_of_rankings_without_error_are_in_order():
    shown = np.array([[2, 0, 1], [5, 4, 3], [0, 7, 6]])
    found = mean_ranks(shown, np.argsort(shown, axis=1))
    assert_allclose(found, [0, -1, -2, 0, -1, -2, -1, -2])


def test_a_stored_setting_comes_out_again(stored):
    few = Ranking(4, n_rankings=60, discrimination=ranked_answers.AT_RANDOM, variants=ranked_answers.SHRUNK)
    name, cfg = name_of(RANKED, few), composed("rankings")
    settings = {"how": asdict(RANKED[name]), "level": cfg.level}
    seeds = (generator(cfg.seed, "rankings", name, r) for r in range(cfg.replications))
    rows = rows_by_way(pd.DataFrame([ranked_once(settings, rng) for rng in seeds]), name)
    for row in rows:
        for column, value in row.items():
            if isinstance(value, float):
                expected = pytest.approx(value, rel=TOLERANCES["monte_carlo"].relative)
                assert stored.loc[(name, row["way"])][column] == expected


def test_stored_results_are_as_is_said(stored):
    ways = {way: stored.xs(way, level="way") for way in ("whole", "pairs", SHRUNK, MEAN_RANKS)}
    ours, broken = ways["whole"], ways["pairs"]
    assert ((ours["covered_plug_in"] - 0.95).abs() <= 3 * ours["covered_plug_in_se"]).all()
    several = broken.drop("2 answers")
    assert (several["covered_plug_in"] + 2 * several["covered_plug_in_se"] < 0.95).all()
    assert (several["covered_clustered"] > 0.92).all()
    assert ((broken["stretch"] - 1).abs() < 0.02).all()
    full = ours.loc[["2 answers", "3 answers", "4 answers", "6 answers"], "pairs_worth"]
    assert full.is_monotonic_increasing and ours.loc["best of 4", "pairs_worth"] < 1
    weighted, by_ranks = (ways[way]["tau"] for way in (SHRUNK, MEAN_RANKS))
    error = ways[MEAN_RANKS]["tau_se"].loc[weighted.index] + ways[SHRUNK]["tau_se"]
    assert (weighted - by_ranks.loc[weighted.index] > 2 * error).all()
    equal = pd.read_csv(ROOT / "results/beyond/rankings/equal.csv").set_index("way").loc[SHRUNK]
    assert (equal["separated_plug_in"] <= 0.05).all() and (equal["separated_clustered"] <= 0.05).all()
    assert (stored["fitted"] == 1).all()


def test_the_section_runs_small(tmp_path):
    done = run("rankings", tmp_path, "replications=2", f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    tables = [pd.read_csv(tmp_path / f"results/beyond/rankings/{name}.csv") for name in ("fits", "equal")]
    assert [*dict.fromkeys(pd.concat(tables)["setting"])] == list(RANKED)
    assert (tmp_path / "figures/beyond/rankings/rankings.png").is_file()


def test_the_figure_shows_every_setting(stored):
    left, middle, right = plots.ranked_answers(stored.reset_index(), "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(stored.xs("pairs", level="way").index)
    assert len(middle.containers) == len(right.containers) == 3


def test_the_example_runs(capsys):
    page = (ROOT / "docs/beyond/rankings.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "rankings.md", "exec"), {})
    assert "'x':" in capsys.readouterr().out


# Sets with ties of several kinds: as many as their titles say, and the same limit whatever the seed.


DESIGNS = {
    name: design
    for name, design in OmegaConf.load(ROOT / "conf/defaults.yaml").designs.items()
    if "tie_kind" in design
}


@pytest.mark.parametrize("name", DESIGNS)
def test_as_many_answers_are_ties_as_the_title_says(name):
    design = DESIGNS[name]
    answers = tied_answers(design.tie_kind, tuple(design.tie_sizes), SPACED, 20_000, generator(1, name))
    assert answers.share_of_ties == pytest.approx(int(design.title.split("%")[0]) / 100, abs=0.02)


def test_the_limit_is_that_of_many_answers():
    sizes = (1.7,) * 4
    answers = tied_answers("threshold", sizes, SPACED, 100_000, generator(2, "limit"))
    assert_allclose(limit("threshold", sizes, "btl"), scale_of(fit(answers, "btl")).scores, atol=0.05)


def test_groups_are_of_equal_models():
    scores = true_order(GROUPS).scores
    assert len(np.unique(scores)) == 2
    assert scores.sum() == pytest.approx(0.0)
