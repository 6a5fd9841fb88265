"""The checks of what tests and intervals promise: their draws, what they record, and the section."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from numpy.testing import assert_allclose
from omegaconf import OmegaConf

from judgerank import fit
from judgerank.data.connectivity import components
from judgerank.model.streams import generator
from judgerank.order import pairs as ranks
from replication.config import CONF
from studies.schemas.beyond import Design, Fitted
from studies.validity import Cell, OnSet, by_test, drawn, half, measured, separated
from tests.replication.test_sections import run

SMALL = {"n_models": 6, "n_judges": 4, "n_comparisons": 600, "sigma_scores": 1.0}


def design(**changed) -> Design:
    return Design(title="", methods=[], **SMALL | changed)


def cell(solver: str = "newton", **changed) -> Cell:
    return Cell("any", design(**changed), "any", Fitted("judge_aware", solver), 0.95)


def records(given: Cell, key: str, many: int) -> pd.DataFrame:
    found = (asdict(measured(given, generator(seed, key))) for seed in range(many))
    return pd.json_normalize(list(found), sep="/").dropna(axis="columns", how="all")


def test_the_wald_test_alone_is_nothing_else():
    data = drawn(design(sigma_scores=2.5), np.random.default_rng(1))[0]
    (order,) = ranks.orders(fit(data, solver="penalised"))
    (alone,) = by_test([order])["wald"]
    assert order.by_leads.any()
    assert_allclose(alone.statistic, order.ratios[0])


def test_a_design_is_what_its_settings_say():
    rng = np.random.default_rng
    _, question, truth = drawn(design(equal=3, far=4.0, sigma_discrimination=0.0, questions=9), rng(0))
    assert np.unique(question).size == 9
    assert truth.scores[0] == truth.scores[1] == truth.scores[2] != truth.scores[3]
    assert_allclose(truth.judges[0, 0] - truth.judges[0, 1:], np.log(4.0))
    assert_allclose([truth.scores.sum(), truth.judges.sum()], 0, atol=1e-12)
    tied, alone, _ = drawn(design(ties=0.3), rng(1))
    assert abs((tied.outcome == 0.5).mean() - 0.3) < 3 * np.sqrt(0.21 / 600)
    assert np.unique(alone).size > 300
    apart, *_ = drawn(design(islands=True), rng(2))
    assert [len(group) for group in components(apart)] == [3, 3]
    leaning, *_ = drawn(design(sigma_scores=0.0, position=3.0, n_judges=2), rng(3))
    shares = [leaning.outcome[leaning.judge == k].mean() for k in (0, 1)]
    assert shares[0] < 0.2 < 0.8 < shares[1]


def test_questions_make_judges_err_together():
    def errors(sd):
        data, question, _ = drawn(design(sigma_scores=0.0, questions=20, question_sd=sd), np.random.default_rng(4))
        result = fit(data, "btl")
        return result.clustered(data, question).standard_errors.mean() / result.standard_errors.mean()

    assert errors(1.5) > 1.5 > errors(0.0)


def test_a_record_says_what_the_tables_of_ranks_say():
    given = cell(equal=2)
    record = measured(given, generator(1, "x"))
    wald, both = (record.tests[test] for test in ("wald", "both"))
    data, _, truth = drawn(given.design, generator(1, "x"))
    pairs = ranks.pairwise(fit(data))
    s = pd.Series(truth.scores, data.models)
    apart = s[pairs["first"]].to_numpy() - s[pairs["second"]].to_numpy()
    assert both.power == pytest.approx(pairs["separated"][apart != 0].mean())
    assert both.false == float(pairs["separated"][apart == 0].any())
    assert both.wrong == float((pairs["separated"] & (apart < 0)).any())
    assert wald.power >= both.power
    assert {wald.ranks, both.ranks} <= {0.0, 1.0}
    assert None not in (record.coverage.scores, record.coverage.discrimination)


@pytest.mark.parametrize("solver", ["newton", "penalised"])
def test_islands_are_measured_by_either_solver(solver):
    found = records(cell(solver, islands=True, clustered=True, questions=50), "islands", 4)
    assert found["tests/both/power"].mean() > 0.3
    assert ("coverage/across" in found) == (
        solver == "penalised"
    )  # components fitted apart say nothing across them


def test_intervals_hold_where_a_judge_runs_off():
    """Some fits of few comparisons and a judge of eightfold discrimination have no maximum; theirs hold too."""
    found = records(cell(far=8.0, n_judges=8, n_comparisons=400), "runaway", 60)
    away = found[found["status"] == "unbounded"]["coverage/scores"]
    assert len(away) > 5
    assert abs(away.mean() - 0.95) < 3 * max(away.std(), 0.05) / np.sqrt(len(away))


def test_sets_are_counted_whole_and_in_halves():
    data, question, _ = drawn(design(n_comparisons=1500), np.random.default_rng(5))
    given = OnSet("one", Fitted("judge_aware"), 0.95)
    whole = separated(given, generator(0), {"one": (data, question)})
    assert whole.pairs == 15
    fitted = fit(data)
    for kind, result in (("plug_in", fitted), ("clustered", fitted.clustered(data, question))):
        both = ranks.pairwise(result)["separated"].sum()
        assert whole.separated[kind]["both"] == both <= whole.separated[kind]["wald"]
    part = half(given, generator(0), {"one": (data, question)})
    assert part.intervals == 1.0


def test_every_design_names_known_settings_and_methods():
    with initialize_config_dir(CONF, version_base="1.3"):
        cfg = compose("validity")
    assert not OmegaConf.missing_keys(cfg)
    for design in cfg.designs.values():
        assert set(design.methods) <= set(cfg.methods)
        assert design.questions > 0 or design.question_sd == 0


def test_the_section_writes_its_tables(tmp_path):
    sets = [f"~datasets.{name}" for name in ("in_house", "chatbot_arena", "ultrafeedback")]
    small = ["surrogate=always", "parallel=sequential", "replications=2", "halves=1", "members=[btl]", *sets]
    with initialize_config_dir(CONF, version_base="1.3"):
        others = [name for name in compose("validity").designs if name != "near_20"]
    small += [f"cache={tmp_path / 'cache'}", *(f"~designs.{name}" for name in others)]
    done = run("validity", tmp_path, *small)
    assert done.returncode == 0, done.stderr
    order = pd.read_csv(tmp_path / "results/surrogate/validity/order.csv")
    assert order["method"].tolist() == ["btl", "btl", "judge_aware", "judge_aware"]
    assert (order.query("method == 'btl' and test == 'both'")["power"].to_numpy() >= 0).all()
    pairs = pd.read_csv(tmp_path / "results/surrogate/validity/pairs.csv")
    assert pairs["kept"].eq(1.0).all()  # of btl both tests are one
