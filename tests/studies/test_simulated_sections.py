"""Sections on fit and few judges, judges of a model's maker, slots, rounds and gates: draws and stored tables."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank import Comparisons
from judgerank.data.arrays import generator
from judgerank.plots.looks import in_style
from replication import published
from replication.auditing.doc_blocks import current, markdown_in, rendered
from replication.auditing.results import Results
from replication.config import ROOT
from studies import adaptive, fit_tests, gates, plots, position_orders, run_gates, self_preference
from studies.contrary import Duel, Few, Panel, accused, covered, separated_few, sweep_row
from studies.doc_tables import BLOCKS
from studies.few_judges import EQUAL, FewJudges, cells_of, few_judges_rows, of_few_judges
from studies.fit_tests import FEW, FIT, REPEATED, Design, few_tested, fit_tested, largest, repeated
from studies.gates import AT_LIMIT, CONDITIONS, RULE, TRUTHS, held, money, power_and_level, shares
from studies.position_orders import standardised_scores, truth_of
from studies.self_preference import PANELS, of_set, simulated_once, simulated_row
from tests import forked
from tests.drawn import name_of
from tests.replication.test_config import composed
from tests.replication.test_paper_figures import require_data_uncovered, require_legible
from tests.replication.test_plots import as_bytes, marks, require_labelled, stored
from tests.replication.test_sections import run

FITNESS = ROOT / "results/beyond/fitness"
TESTS = ("overall", "order", "judge", "question")
NULL = [name for name, d in FIT.items() if not (d.cycle or d.taste or d.all_tastes or d.turned)]


def test_a_panel_is_asked_as_its_design_says():
    rows, question = fit_tests.drawn(Design(questions=7, pairs=3, repeats=2), np.random.default_rng(1))
    assert len(rows) == 7 * 3 * 6 * 2
    assert np.bincount(question).tolist() == [36] * 7
    assert (rows.judge[::2] == rows.judge[1::2]).all()
    islands, _ = largest(*fit_tests.drawn(FIT["two islands"], np.random.default_rng(1)))
    assert len(islands.models) == 4
    apart = fit_tests.drawn(Design(one_question_each=True), np.random.default_rng(1))[1]
    assert len(set(apart)) == len(apart)


def test_one_set_gives_a_record_of_every_kind():
    rng, level = np.random.default_rng(2), 0.95
    one = fit_tested({"design": vars(Design(taste=1.0)), "level": level}, rng)
    assert {"overall", "order", "judge", "question", "judges_right"} <= set(one)
    few = few_tested({"design": vars(FEW["10 questions, one model ahead by 3"]), "level": level}, rng)
    assert few["flips_power"] == few["rank_power"] > 0.5
    again = repeated({"design": vars(next(iter(REPEATED.values()))), "level": level}, rng)
    assert again["low"] < again["flip_rate"] < again["high"]


@pytest.mark.parametrize("test", TESTS)
def test_stored_levels_hold(test):
    levels = pd.read_csv(FITNESS / "levels.csv").set_index("design")
    assert set(levels.index) == set(FIT)
    many = levels.loc[NULL, "n_replications"]
    assert (levels.loc[NULL, test] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / many)).all()
    assert (levels["failed"] <= 0.05 * levels["n_replications"]).all()


def test_stored_power():
    levels = pd.read_csv(FITNESS / "levels.csv").set_index("design")
    for design, measure in (
        (Design(cycle=0.8), "order"),
        (Design(taste=1.0), "judges_right"),
        (Design(turned=1, pairs=15), "questions_right"),
    ):
        assert levels.loc[name_of(FIT, design), measure] > 0.8


def test_stored_tests_of_few_questions_hold_and_find():
    few = pd.read_csv(FITNESS / "few.csv").set_index("design")
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / few["n_replications"])
    for kind in ("rank", "flips"):
        assert (few[f"{kind}_false"] <= limit).all()
        assert (few[f"{kind}_ranks"] >= 1 - limit).all()
    assert few.loc["10 questions, models equal", "plain_false"] > 0.1
    assert few.loc["10 questions, one model ahead by 3", "rank_power"] > 0.8
    assert few.loc["20 questions, one model ahead by 3", "rank_power"] > 0.9
    assert few.loc["5 questions, one model ahead by 3", "rank_power"] == 0  # no p-value is below 1/16


# Contrary judges and little data: what the section measures is what it says.


def test_a_contrary_judge_is_named_and_a_random_one_is_not():
    named = accused(Panel("contrary", 80, 5), np.random.default_rng(1))
    assert named == {"last": 1.0, "others": 0.0}
    assert accused(Panel("coins", 80, 5), np.random.default_rng(2))["last"] == 0.0


@pytest.mark.parametrize("wins", [4, 8, 12])
def test_a_sweep_has_the_p_value_of_the_sign_test(wins):
    row = sweep_row(wins, 0, 0)
    assert row["p_value"] == pytest.approx(2 / 2**wins)
    assert row["separated"] == (row["score_low"] > 0) == (wins > 5)


def test_one_win_and_one_loss_beside_many_ties_have_a_short_interval():
    row = sweep_row(1, 1, 98)
    assert row["score_high"] - row["score_low"] < 0.5


def test_a_duel_is_covered_or_not_and_score_and_claim_agree():
    record = covered(Duel(12, 1.0, 0.95), np.random.default_rng(3))
    assert record["agree"] == 1.0
    assert {record["difference"], record["score"]} <= {0.0, 1.0}


def test_few_questions_separate_one_far_ahead_and_no_equals():
    assert separated_few(Few(20, 4, 3, 0.0, 4.0), np.random.default_rng(4)) == {"false": 0.0, "power": 1.0}
    assert np.isnan(separated_few(Few(10, 4, 3, 1.5, 0.0), np.random.default_rng(5))["power"])


def test_the_section_runs_small(tmp_path):
    small = (
        "answers=[20]",
        "questions=[10]",
        "effects=[0.0]",
        "comparisons=[12]",
        "leads=[1.0]",
        "sweeps=[[6,0,0]]",
    )
    counts = ("replications=2", "duels=2", f"cache={tmp_path / 'cache'}", "parallel=sequential")
    done = run("contrary", tmp_path, *small, *counts)
    assert done.returncode == 0, done.stderr
    tables = ("judges", "questions", "intervals", "sweeps")
    sizes = [len(pd.read_csv(tmp_path / f"results/beyond/contrary/{name}.csv")) for name in tables]
    assert sizes == [8, 2, 1, 1]


# The comparison of equal weights with the default where judges are few.


def test_weights_help_where_one_judge_answers_at_random_and_cost_little_where_judges_are_alike():
    gains = {}
    for spread in (0.0, 2.5):
        cell = FewJudges(3, 8, 500, spread)
        records = pd.DataFrame([of_few_judges(cell, generator(seed, "few"), None) for seed in range(12)])
        assert records.notna().all(axis=None)
        gains[spread] = (records["position_only"] - records["position_aware"]).mean()
    assert gains[2.5] < -0.02 < gains[0.0]


def test_samples_of_chatbot_arena_are_held_against_people():
    elo = published.numbers("chatbot_arena_human", "elo")
    rng = np.random.default_rng(1)
    names, size = elo.index.to_numpy(), 3000
    i = rng.integers(len(names), size=size)
    j = (i + rng.integers(1, len(names), size=size)) % len(names)
    frame = pd.DataFrame({"model_a": names[i], "model_b": names[j]})
    frame["judge_model"] = rng.integers(4, size=size).astype(str)
    is_better = elo.to_numpy()[i] > elo.to_numpy()[j]
    frame["judge_preferred_model"] = np.where(is_better ^ (rng.random(size) < 0.1), "a", "b")
    record = of_few_judges(FewJudges(2, 0, 800), generator(1, "few"), Comparisons.from_frame(frame))
    assert set(record) == {"position_aware", *EQUAL}
    assert all(value > 0.9 for value in record.values())


def test_every_cell_has_a_row():
    cells = cells_of(composed("defaults"), {})
    assert len(cells) == 36 and len(set(cells.values())) == 36

    class Computed:
        def __init__(self):
            self.cells = dict(list(cells.items())[:2])

        def records(self, name):
            return [{"position_aware": 0.8, "position_only": 0.7, "btl": 0.9}] * 2

    for row in few_judges_rows(Computed()):
        assert (row["position_only"], row["btl"]) == (pytest.approx(-0.1), pytest.approx(0.1))


QUESTIONS_OF_MAKERS = 40


@pytest.fixture(scope="module")
def row():
    cell = {"panel": "3 judges", "bias": 2.5, "questions": QUESTIONS_OF_MAKERS}
    records = [simulated_once(cell, generator(0, "test of self-preference", number)) for number in range(4)]
    return simulated_row(pd.DataFrame(records), cell)


def test_a_simulated_judge_who_favours_his_maker_decides_only_where_his_votes_count(row):
    assert row["wrong_counted"] == row["wrong_btl"] == 1 and row["wrong_recused"] <= 0.5
    assert row["lead_counted"] < 0 < row["lead_recused"]
    assert row["guilty_accused"] == 1 and row["innocent_accused"] == 0
    assert row["n_replications"] == 4 and np.isfinite(row["lead_recused_se"])


def test_a_panel_of_one_maker_is_warned_of_and_nobody_in_it_accused():
    (panel,) = (name for name, judges in PANELS.items() if set(judges) == {"gpt-4o", "gpt-4.1", "o3"})
    cell = {"panel": panel, "bias": 2.5, "questions": QUESTIONS_OF_MAKERS}
    record = simulated_once(cell, generator(0, "test of self-preference", "one maker"))
    assert record["wrong_recused"] == record["warned"] == 1
    assert record["guilty_accused"] == record["innocent_accused"] == 0


def test_simulated_sets_have_every_pair_in_both_orders_by_every_judge():
    judgments = self_preference.drawn(generator(0, "test of self-preference", "set"), PANELS["5 judges"], 0.0, 3)
    rows = judgments.frame.groupby(["question_id", "model_a", "model_b", "judge_model"]).size()
    assert len(rows) == 3 * 20 * 5 and (rows == 1).all()
    found = of_set(judgments)
    assert found["left_out"] == found["one_own"] == pytest.approx(2 * 8 / (20 * 5))
    assert found["dependent"] == 0 and found["spearman"] <= 1


class Tables:
    """Stored tables, as the documentation reads them."""

    def __init__(self, **tables):
        self._tables = tables

    def table(self, name):
        return self._tables[name.removeprefix("self_preference/").removesuffix(".csv")]


def test_the_page_and_the_figure_show_every_row(row):
    simulated = pd.DataFrame([row, row])
    sets = pd.DataFrame(
        [of_set(self_preference.drawn(generator(0, "t"), PANELS["3 judges"], 0.0, 10)) | {"dataset": "mt_bench"}]
    )
    tables = Tables(simulated=simulated, sets=sets)
    assert BLOCKS["own maker"](tables).count("MT-Bench") == 1
    assert BLOCKS["own maker simulated"](tables).count("3 judges") == 2
    figure = plots.self_preference(simulated, "t")
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["3 judges, bias 2.5"] * 2
    page = (ROOT / "docs/beyond/self_preference.md").read_text()
    assert "<!-- own maker: written by make audit -->" in page


# Position bias with slots that follow names: the design, and who is biased.


IN_ORDERS = {"seed": 1, "n_models": 5, "n_judges": 3, "sigma_scores": 1.0, "sigma_discrimination": 0.3}
IN_ORDERS |= {"mean_position": 1.0, "sigma_position": 0.5, "n_comparisons": 20_000}


def test_slots_follow_names_or_not():
    named, random = (
        position_orders.drawn(IN_ORDERS | {"order": order}, generator(2)) for order in ("names", "random")
    )
    assert (named.first < named.second).all()
    share = (random.count * (random.first < random.second)).sum() / random.n_comparisons
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(20_000)


def test_outcomes_are_those_of_the_truth():
    truth = truth_of(IN_ORDERS)
    for order in ("names", "random"):
        cells = position_orders.drawn(IN_ORDERS | {"order": order}, generator(2))
        d = truth.scores[cells.first] - truth.scores[cells.second]
        p = expit(np.exp(truth.judges[0])[cells.judge] * d + truth.judges[1][cells.judge])
        z = (cells.outcome - p) * np.sqrt(cells.count / (p * (1 - p)))
        assert np.abs(z).max() < 4.5
        assert abs(np.mean(z**2) - 1) < 6 * np.sqrt(2 / len(z))


def test_scores_are_standardised_and_a_fit_without_a_maximum_is_told():
    record = standardised_scores(
        IN_ORDERS | {"order": "random", "members": ["btl", "position_aware"]}, generator(3)
    )
    for member in ("btl", "position_aware"):
        assert_allclose([np.mean(record[member]), np.std(record[member])], [0, 1], atol=1e-12)
        assert record[f"status/{member}"] == "interior"
    few = IN_ORDERS | {"order": "names", "n_comparisons": 4, "members": ["btl"]}
    assert standardised_scores(few, generator(3))["status/btl"] in {
        "NoMaximumError",
        "DisconnectedError",
        "DataError",
    }


@pytest.mark.slow
def test_the_section_says_who_is_biased(tmp_path):
    small = ["n_comparisons=[4000]", "replications=10", "n_models=5", f"cache={tmp_path / 'cache'}"]
    done = run("slot_bias", tmp_path, *small, "parallel=sequential")
    assert done.returncode == 0, done.stderr
    summary = pd.read_csv(tmp_path / "results/beyond/slot_bias/summary.csv").set_index(["order", "member"])
    assert (
        summary.at[("names", "judge_aware"), "rms_bias"] > 4 * summary.at[("names", "position_aware"), "rms_bias"]
    )
    assert (summary["n_replications"] == 10).all()
    assert (tmp_path / "figures/beyond/slot_bias/bias.png").exists()


@pytest.mark.parametrize("order", ["names", "random"])
def test_the_stored_bias_of_the_position_aware_member_falls_to_the_noise(order):
    summary = pd.read_csv(ROOT / "results/beyond/slot_bias/summary.csv")
    lines = summary[summary["order"] == order].set_index(["member", "n_comparisons"]).sort_index()
    ours = lines.loc["position_aware"]
    assert ours["rms_bias"].iloc[-1] < 2 * ours["rms_noise"].iloc[-1]
    if order == "names":
        for member in ("btl", "judge_aware"):
            assert lines.loc[member]["rms_bias"].iloc[-1] > 0.8 * lines.loc[member]["rms_bias"].iloc[0]
            assert lines.loc[member]["rms_bias"].iloc[-1] > 20 * lines.loc[member]["rms_noise"].iloc[-1]


# The section on collecting by rounds: what is counted of a run, and what savings are.
STOPPING = {"rule": "information", "level": 0.95, "most": 400}


def test_a_run_among_equal_models_can_only_stop_wrongly():
    given = STOPPING | {"scores": [0.5, 0.5, -1.0], "goal": "all"}
    records = [adaptive.stopped(given, generator(seed, "null")) for seed in range(3)]
    assert all(record["wrong"] == record["stopped"] for record in records)
    assert all(record["naive"] or not record["wrong"] for record in records)  # to look naively stops no later
    assert {record["comparisons"] for record in records} == {400}


def test_a_run_with_an_order_stops_at_it():
    record = adaptive.stopped(STOPPING | {"scores": [2.0, 0.0, -2.0], "goal": "all"}, generator(1, "spread"))
    assert record["stopped"]
    assert not record["wrong"]
    assert not record["naive"]


def test_false_stops_are_counted_with_their_errors():
    records = pd.DataFrame({"wrong": [True] + [False] * 19, "naive": [True] * 5 + [False] * 15, "looks": 3})
    records["independent"] = records["wrong"]
    told = adaptive.false_stops(records)
    assert (told["rate"], told["naive_rate"]) == (0.05, 0.25)
    assert told["rate_se"] == pytest.approx(np.sqrt(0.05 * 0.95 / 20))
    none = adaptive.false_stops(records.assign(wrong=False))
    assert none["rate_upper"] == pytest.approx(1 - 0.05 ** (1 / 20))


def looks(**errors) -> pd.DataFrame:
    """One playback of each rule at 100, 200, 400 and 800 comparisons; tau rises as errors fall."""
    parts = [
        pd.DataFrame({"look": range(4), "comparisons": [100.0, 200.0, 400.0, 800.0], "error": error})
        .assign(rule=rule, playback=playback, open=1.0)
        .assign(tau=lambda part: 1 - part["error"])
        for rule, errors_of in errors.items()
        for playback, error in enumerate(errors_of)
    ]
    return pd.concat(parts, ignore_index=True)


def test_a_rule_with_half_the_variance_takes_half_the_comparisons():
    size = np.array([100.0, 200.0, 400.0, 800.0])
    random = 1 / np.sqrt(size)
    table = adaptive.savings(looks(random=[random, random], a_optimal=[1 / np.sqrt(2 * size)] * 2))
    table = table[table["measure"] == "error"].set_index("rule")
    assert table["comparisons"].to_dict() == pytest.approx({"random": 400, "a_optimal": 200})
    assert table.loc["a_optimal", "saved"] == pytest.approx(0.5)
    assert (table["comparisons_se"] == 0).all()


def test_what_is_never_as_good_is_told_and_counted_in_full():
    size = np.array([100.0, 200.0, 400.0, 800.0])
    table = adaptive.savings(looks(random=[1 / np.sqrt(size)], swiss=[np.full(4, 0.2)]))
    swiss = table[table["rule"] == "swiss"]
    assert set(swiss["never"]) == {1}
    assert set(swiss["comparisons"]) == {800}
    assert (swiss["saved"] < 0).all()


def test_a_target_between_two_looks_is_met_between_them():
    part = looks(random=[np.array([0.4, 0.3, 0.2, 0.1])])
    assert adaptive.needed(part, "tau", 0.75) == pytest.approx(np.sqrt(200 * 400))
    assert adaptive.needed(part, "tau", 0.5) == pytest.approx(100)
    assert np.isnan(adaptive.needed(part, "error", 0.05))


# The section on gates: what it computes, and that its stored decisions hold what the page promises.
GATE = ["condition", "n_questions", "n_judges"]


def stored_gates(name):
    return pd.read_csv(ROOT / f"results/beyond/gate/{name}.csv")


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("truth", TRUTHS)
def test_the_win_rate_of_what_is_drawn_is_the_truth(name, truth):
    """Over both orders alike: where one is more frequent, each counts by half. Five errors of the mean."""
    preference, first = gates.drawn(np.random.default_rng(1), 40_000, 3, name, TRUTHS[truth])
    by_order = [np.nanmean(np.where(first == side, preference, np.nan)) for side in (1.0, -1.0)]
    assert np.mean(by_order) == pytest.approx(TRUTHS[truth], abs=5 * 0.5 / np.sqrt(40_000))


@pytest.mark.parametrize("name", run_gates.CONDITIONS)
def test_the_mean_difference_of_scores_that_are_drawn_is_the_truth(name):
    truths = {"margin": -run_gates.RULE.margin} if name == run_gates.BROKEN else run_gates.TRUTHS
    for mean in truths.values():
        by_task = run_gates.drawn(np.random.default_rng(2), 40_000, name, mean).mean(axis=1)
        assert by_task.mean() == pytest.approx(mean, abs=5 * by_task.std() / np.sqrt(len(by_task)))


def test_a_gate_on_scores_keeps_its_level_and_sees_as_much_as_a_paired_t_test():
    """Up to three errors; statgate's bootstrap does not keep its level with five tasks."""
    rng = np.random.default_rng(11)
    (differ,) = (name for name, condition in run_gates.CONDITIONS.items() if "effects" in condition)
    for n_tasks in (5, 12, 40):
        settings = {"condition": differ, "n_questions": n_tasks}
        records = pd.DataFrame([run_gates.decided_once(settings, rng) for _ in range(200)])
        of = shares(records).set_index(["case", "rule"])
        false = of.loc[["equal, blocked", "equal, shipped", "at the margin, shipped"]].xs("gate", level="rule")
        assert held(false).all()
        for case in ("worse, blocked", "better, shipped"):
            gate, t = of.loc[(case, "gate")], of.loc[(case, "t")]
            assert gate["share"] >= t["share"] - 3 * np.hypot(gate["share_se"], t["share_se"])


def test_a_gate_never_decides_falsely_more_often_than_it_says():
    levels = stored_gates("levels")
    gates = levels[levels["rule"] == "gate"]
    assert len(gates) >= 2 * len(CONDITIONS) * 7
    assert held(gates).all() and gates["held"].all()
    looks = stored_gates("looks")
    for case, decision in (("equal", "block"), ("inferior", "ship"), ("worse", "ship"), ("better", "block")):
        assert held(looks[(looks["case"] == case) & (looks["rule"] == decision)]).all()


def test_a_gate_sees_as_much_as_the_sign_test_from_10_questions_on_and_as_the_t_test_from_100():
    """Up to three errors of the difference; the others have no error rate, or break it somewhere."""
    power = stored_gates("power")
    enough = power["n_questions"] >= np.where(power["rule"] == "sign", 10, 100)
    keep = power[power["holds"] & (power["rule"] != "gate") & enough]
    gates = power[power["rule"] == "gate"].set_index([*GATE, "case"])["share_se"]
    error = gates.loc[pd.MultiIndex.from_frame(keep[[*GATE, "case"]])].to_numpy()
    assert (keep["gap"] <= 3 * np.hypot(keep["share_se"], error) + 1e-9).all()
    assert not power.loc[power["rule"].isin(["majority", "mcnemar"]), "holds"].any()


def test_power_stands_beside_the_level_in_the_same_cell_and_at_the_worst():
    cell = {"condition": "plain", "n_questions": 5, "n_judges": 3, "n_replications": 100}
    other = {**cell, "condition": "clones"}
    levels = pd.DataFrame(
        [{**cell, "case": "equal", "rule": rule, "share": 0.04} for rule in ("gate", "t")]
        + [
            {**other, "case": "equal", "rule": rule, "share": share}
            for rule, share in (("gate", 0.03), ("t", 0.3))
        ]
    )
    power = pd.DataFrame(
        [{**cell, "case": "worse", "rule": rule, "share": share} for rule, share in (("gate", 0.2), ("t", 0.5))]
    )
    rare = pd.DataFrame([{**cell, "condition": AT_LIMIT, "case": "ship", "rule": "t", "share": 0.9}])
    found = power_and_level(power, levels, rare).set_index("rule")
    assert found.loc["t", ["level", "worst_level", "worst_condition"]].tolist() == [0.04, 0.3, "clones"]
    assert found["holds"].tolist() == [True, False]
    assert found["gap"].tolist() == pytest.approx([0, 0.3])


def test_money_is_that_of_the_smallest_size_that_is_right_as_often():
    shares = {"ship": 0.0, "block": 0.9, "questions": 25.0, "fixed 10": 0.5, "fixed 40": 0.92, "fixed 90": 1.0}
    looks = pd.DataFrame(
        [{"condition": "plain", "case": "worse", "rule": k, "share": v} for k, v in shares.items()]
    )
    row = money(looks, 0.1).iloc[0]
    assert (row["decision"], row["questions"], row["fixed"], row["largest"]) == ("block", 25, 40, 90)
    assert (row["cost"], row["fixed_cost"]) == pytest.approx((2.5, 4.0))
    assert RULE.alpha == 0.05


@pytest.fixture(autouse=True)
def clean_slate():
    with in_style():
        yield


def uncertain(name: str) -> tuple:
    return tuple(stored(f"uncertainty/{name}/{table}") for table in ("errors", "ranks"))


FIGURES = {
    "shrunk": lambda: plots.shrunk(stored("small_samples/mse"), "t"),
    "character": lambda: plots.character(stored("model_comparison/mt_bench/judges"), "t"),
    "uncertainty": lambda: plots.uncertainty(*uncertain("chatbot_arena"), "t"),
    "defaults": lambda: plots.defaults(stored("defaults/accuracy"), stored("defaults/simulated"), "t"),
    "slot bias": lambda: plots.slot_bias(stored("slot_bias/summary"), stored("slot_bias/bias"), "t"),
    "tastes": lambda: plots.tastes(stored("tastes/simulated"), "t"),
    "plan": lambda: plots.plan(
        *(stored(f"plan/assumed/{name}") for name in ("plan", "by_judges", "simulated", "curves")), "t"
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_can_be_read_and_are_the_same_to_the_byte(name):
    figure = FIGURES[name]()
    require_labelled(figure)
    content = as_bytes(figure)
    figure.draw_without_rendering()
    require_legible(figure)
    require_data_uncovered(figure)
    assert content == as_bytes(FIGURES[name]())


def test_a_rank_interval_of_no_length_has_a_mark():
    errors, ranks = uncertain("mt_bench")
    shown = ranks[ranks["member"] == errors["member"].iloc[-1]]
    assert (shown["low_plug_in"] == shown["high_plug_in"]).any()
    right = plots.uncertainty(errors, ranks, "t").axes[1]
    assert marks(right, "|") == 2 * 2 * len(shown)  # both ends, both kinds of errors


# What the documentation shows of the sections beyond the paper is as stored, and `make audit` keeps it so.


STORED = Results(ROOT / "results")
PAGES = {path: path.read_text() for path in markdown_in([ROOT / "README.md", ROOT / "docs"])}
SCRIPT = "experiments/beyond/pages.py"


def test_every_block_is_on_a_page_and_as_stored():
    shown = rendered(BLOCKS, STORED)
    assert shown.keys() == BLOCKS.keys()
    for name in shown:
        assert any(f"<!-- {name}:" in text for text in PAGES.values()), f"no page shows the block {name}"
    for path, text in PAGES.items():
        assert current(text, shown, STORED) == text, path


def test_a_page_that_is_not_current_is_written_again_and_nothing_else(tmp_path):
    text = (ROOT / "docs/beyond/defaults.md").read_text()
    stale, fresh = tmp_path / "stale.md", tmp_path / "fresh.md"
    block = re.search(r"<!-- defaults accuracy:[^>]*-->\n(.*?)<!-- /defaults accuracy -->", text, re.DOTALL)[1]
    stale.write_text(text.replace(block, "stale\n"))
    fresh.write_text(text)
    before = fresh.stat().st_mtime_ns
    done = forked.run([SCRIPT, f"pages=[{stale},{fresh}]"])
    assert done.returncode == 0, done.stderr
    assert (stale.read_text(), fresh.read_text()) == (text, text)
    assert fresh.stat().st_mtime_ns == before


def test_blocks_whose_results_are_not_stored_stay_as_they_are(tmp_path, caplog):
    with caplog.at_level("WARNING", "replication"):
        shown = rendered(BLOCKS, Results(tmp_path))
    assert shown.keys() == {"bench", "layouts", "recipes"}  # of ratios and forms, which are not among the results
    assert all(any(name in said for said in caplog.messages) for name in BLOCKS.keys() - shown.keys())


@pytest.mark.parametrize("override", ["pages=[nowhere.md]", "page=[README.md]"])
def test_a_bad_setting_ends_in_one_sentence(override):
    done = forked.run([SCRIPT, override])
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
