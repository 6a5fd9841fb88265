"""Tests, intervals and statements of rankings: what they promise, what they record, and that none contradict."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from numpy.testing import assert_allclose
from omegaconf import OmegaConf
from scipy.special import expit

import judgerank
from judgerank import fit
from judgerank.data.arrays import generator
from judgerank.data.connectivity import components
from judgerank.data.errors import JudgerankError
from judgerank.order import pairs as ranks
from judgerank.ranking.choices import Settings
from judgerank.ranking.first_screen import headline
from judgerank.ranking.ranking import ranked_set
from judgerank.ranking.studies.leaderboards import board_of
from judgerank.ranking.verdict import verdict
from judgerank.reading.layouts import LAYOUTS as KNOWN
from judgerank.reading.read import read_judgments
from replication.config import CONF, ROOT
from studies import plots, trust_studies
from studies.claims import (
    NULLS,
    File,
    Null,
    _of_sentences,
    claimed_once,
    contradictions,
    contradictions_of_ranking,
    examined,
)
from studies.random_files import LAYOUTS, drawn_records
from studies.schemas.beyond import Design, Fitted
from studies.validity import Cell, OnSet, by_test, drawn, half, measured, separated
from tests.drawn import name_of
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
    assert order.by_own.any()
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


# The section on trust: simulated panels of known dependence, and what it writes.


@pytest.mark.parametrize("name", trust_studies.PANELS)
def test_every_judge_answers_by_the_model_whatever_the_dependence(name):
    camps, share = trust_studies.PANELS[name]
    rng, parts = np.random.default_rng(1), []
    for _ in range(40):
        rows, question = trust_studies.drawn(rng, camps, share)
        d = trust_studies.SCORES[rows.first] - trust_studies.SCORES[rows.second]
        p = expit(trust_studies.DISCRIMINATION[rows.judge] * d)
        residual = (rows.outcome - p) / np.sqrt(p * (1 - p))
        assert len(rows) == trust_studies.N_JUDGES * trust_studies.N_QUESTIONS == len(question)
        parts.append(residual.reshape(-1, trust_studies.N_JUDGES))
    residual = np.concatenate(parts)
    assert np.abs(residual.mean(axis=0)).max() < 4 / np.sqrt(len(residual))
    apart = np.array(camps)[:, None] != np.array(camps)
    r = residual.T @ residual / len(residual)
    assert np.abs(r[apart]).max(initial=0.0) < 4 / np.sqrt(len(residual))
    # two uniform draws are the same with the share's square; discriminations differ, and so do the thresholds
    within = ~apart & ~np.eye(len(camps), dtype=bool)
    assert r[within].mean() == pytest.approx(share**2, abs=0.04 + 0.12 * share**2)


def test_worth_is_the_variance_of_independent_judges_over_theirs():
    rng = np.random.default_rng(2)
    records = {}
    for name, sd in (("independent", 1.0), ("twice", np.sqrt(2.0))):
        values = {
            f"{measure}/{end}": 4.0 for measure in ("information", "kish") for end in ("estimate", "low", "high")
        }
        values |= dict.fromkeys(trust_studies.OF_NEAR_COPIES, 0.5)
        rows = [{"scores": rng.normal(0, sd, 5).tolist(), **values} for _ in range(2000)]
        records[name] = pd.DataFrame(rows)
    table = trust_studies.calibration(records, 2001).set_index("panel")
    assert table.loc["independent", "worth"] == trust_studies.N_JUDGES
    row = table.loc["twice"]
    assert abs(row["worth"] - trust_studies.N_JUDGES / 2) < 4 * row["worth_se"] < 0.6
    assert (table["failed"] == 1).all()


def test_a_surrogate_run_writes_what_it_should(tmp_path):
    small = ["surrogate=always", "replications=2", "draws=2", "designs=2", "most=1", "members=[judge_aware]"]
    small += ["~datasets.in_house", "~datasets.ultrafeedback", "~datasets.chatbot_arena"]
    done = run("trust", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    tables = {path.stem: pd.read_csv(path) for path in (tmp_path / "results/surrogate/trust").glob("*.csv")}
    assert set(tables) == {"summary", "changes", "judges", "panel", "another", "calibration", "small_sets"}
    assert list(tables["calibration"]["panel"]) == list(trust_studies.PANELS)
    assert {path.stem for path in (tmp_path / "figures/surrogate/trust").glob("*.png")} == {
        "fragility",
        "effective",
    }


def test_stored_panels_are_worth_what_is_said():
    table = pd.read_csv(ROOT / "results/beyond/trust/calibration.csv")
    off = (table["information"] - table["worth"]).abs()
    assert (off < 3 * np.hypot(table["worth_se"], table["information_se"]) + 0.05 * table["worth"]).all()
    one_judge = name_of(trust_studies.PANELS, ([0] * trust_studies.N_JUDGES, 1.0))
    kept = table["panel"] != one_judge  # which gets no interval
    copies = table["panel"] == "six copies"
    assert (table["information_covered"][kept & ~copies] > 0.85).all()
    assert (table["information_covered"][kept] > 0.75).all()


def test_stored_small_sets_refute_no_bound():
    table = pd.read_csv(ROOT / "results/beyond/trust/small_sets.csv")
    assert table["designs"].sum() > 60
    assert (table["bound_refuted"] == 0).all()
    assert table["single_missed"].sum() <= 1  # stored before every one was left out: the next test has it
    assert (table["smaller"][table["by_steps"] != "1"] > 0).any()


def test_a_single_judgment_whose_forecast_has_the_wrong_sign_is_found():
    record = trust_studies.searched({"member": "position_aware"}, generator(2026, "trust_search", "small", 6))
    assert record["steps"] == 3 and record["size"] == 1 and record["alone"] == 1


def test_a_missed_single_judgment_and_a_refuted_bound_are_counted():
    records = pd.DataFrame({"steps": [2, 2, 4, None], "size": [2, 1, 3, None], "bound": [1, 1, 4, None]})
    table = trust_studies.small_sets(records.assign(alone=[1.0, 1.0, 0.0, None])).set_index("by_steps")
    assert list(table.loc["2", ["designs", "smaller", "single_missed"]]) == [2, 0.5, 1]
    assert table.loc["3 to 5", "bound_refuted"] == 1


def test_stored_sets_are_as_small_as_is_known():
    summary = pd.read_csv(ROOT / "results/beyond/trust/summary.csv").set_index(["dataset", "member"])
    assert summary.loc[("chatbot_arena", "judge_aware"), "top_judgments"] == 1
    assert summary.loc[("mt_bench", "judge_aware"), "top_judgments"] <= 6
    changes = pd.read_csv(ROOT / "results/beyond/trust/changes.csv")
    assert (changes["size"].notna() == changes["why"].isna()).all()


def test_the_figures_show_every_set():
    summary, changes = (pd.read_csv(ROOT / f"results/beyond/trust/{name}.csv") for name in ("summary", "changes"))
    left, right = plots.fragility(summary, changes, "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(dict.fromkeys(summary["title"]))
    assert len(right.lines) == 1 + summary["member"].nunique()
    alone, empty = plots.effective(summary, None, "t").axes
    assert len(alone.get_yticklabels()) == len(summary) and not empty.axison


SEEDS = range(5)  # files of every layout
COLUMNS = "the arena's columns (LMArena)"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_two_statements_of_random_files_contradict_each_other(layout):
    ranked = 0
    for seed in SEEDS:
        found = examined(File(layout), np.random.default_rng([seed, 1]))
        ranked += found.ranked
        assert not found.contradictions, (layout, seed)
    assert ranked >= len(SEEDS) / 2


def test_every_layout_that_is_read_has_random_files():
    """Each is recognised as what it is written as; one of variants of a layout is not among those read."""
    known = {layout.name for layout in KNOWN if layout.recipe is None}  # recipes: tests/tool/test_recipes.py
    assert known <= set(LAYOUTS)
    rows = drawn_records(np.random.default_rng(5))
    for name in known:
        layout = LAYOUTS[name]
        assert read_judgments(layout.written(rows), columns=layout.columns(rows)).source["layout"] == name


def test_contradictions_between_sentences_and_tables_are_found(rankings):
    """Else that there are none says nothing."""
    for ranking in rankings[:3]:
        assert not contradictions_of_ranking(ranking)
        board, pairs = (ranking.tables[name] for name in ("leaderboard", "pairs"))
        turned = pairs.assign(separated=~pairs["separated"].astype(bool))
        higher = board.assign(rank_low=board["rank_low"] + 1)
        for name, table in (("pairs", turned), ("leaderboard", higher)):
            other = replace(ranking, tables={**ranking.tables, name: table})
            # sentences are derived from tables: those of the ranking as it was
            assert [
                *_of_sentences(
                    verdict(ranking), higher if name == "leaderboard" else board, better(other), True, True
                )
            ]


def better(ranking) -> set:
    pairs = ranking.tables["pairs"]
    return {(row.first, row.second) for row in pairs.itertuples() if row.separated}


def components_of(seed: int):
    """Those of a random file that is not refused, say for too many copies of a record."""
    rng = np.random.default_rng([seed, 2])
    try:
        return ranked_set(read_judgments(LAYOUTS[COLUMNS].written(drawn_records(rng))), Settings()).components
    except JudgerankError:
        return ()


def test_contradictions_are_found_where_there_are_some():
    """Else that there are none says nothing."""
    found = set()
    for seed in range(60):
        for component in components_of(seed):
            board, pairs = board_of(component), component.pairs
            if "separated" not in pairs or len(board) < 3:
                continue
            title, turned = headline(board, pairs), pairs.assign(separated=~pairs["separated"].astype(bool))
            worse = board.assign(rank_low=board["rank_high"], rank_high=board["rank_low"])
            if contradictions(board, turned, title):
                found.add("pairs")
            if contradictions(worse, pairs, title):
                found.add("ranks")
            if contradictions(board.assign(group="a"), pairs, title):
                found.add("groups")
            other = f"{board['model'][0]} leads"
            if pairs["separated"].any():
                other = "Not enough data to order the models"
            if contradictions(board, pairs, other):
                found.add("headline")
            if contradictions(board, pairs.assign(low=0.1, high=0.2), title):
                found.add("intervals")
    assert found == {"pairs", "ranks", "groups", "headline", "intervals"}


@pytest.fixture(scope="module")
def rankings():
    """Whole rankings of random files of one component, as users have them."""
    found = []
    for seed in range(60):
        frame = pd.DataFrame(LAYOUTS[COLUMNS].written(drawn_records(np.random.default_rng([seed, 3]))))
        try:
            ranking = judgerank.rank(frame)
        except JudgerankError:
            continue
        if len(ranking.fits) == 1 and "separated" in ranking.tables["pairs"]:
            found.append(ranking)
        if len(found) == 12:
            break
    return found


def test_the_sentences_of_a_ranking_are_about_its_pairs(rankings):
    kinds = set()
    for ranking in rankings:
        told, board, pairs = verdict(ranking), ranking.tables["leaderboard"], ranking.tables["pairs"]
        separated = pairs.set_index(["first", "second"])["separated"]
        first = board["model"][0]
        assert not contradictions(board, pairs, told.headline)
        better = set(separated[separated.eq(True)].index)
        assert not list(_of_sentences(told, board, better, is_tested=True, is_single=True))
        low, high = board["rank_low"][0], board["rank_high"][0]
        said = f"{first} ranks first" if high == 1 else f"rank of {first} is between {low} and {high}"
        assert said in told.lead or "unless" in told.lead or "Only if" in told.lead
        decide = re.search(r"(?:decide|Deciding) between (\S+) and (\S+?),? ", told.next)
        if decide:
            assert not separated[decide[1], decide[2]]
            kinds.add("undecided")
    assert "undecided" in kinds


def test_the_page_says_what_the_leaderboard_says(rankings):
    for ranking in rankings[:4]:
        page, board = ranking.to_html(), ranking.tables["leaderboard"]
        assert f"<h1>{verdict(ranking).headline}" in page
        ranks = re.findall(r'class="ranks">([^<]*)</td>', page)
        lines = board[["rank_low", "rank_high"]].itertuples(index=False)
        assert ranks == [str(a) if a == b else f"{a}\N{EN DASH}{b}" for a, b in lines]
        head = re.search(r"Tied for first: no significant difference between these (\w+)", page)
        n_leads = int(np.argmin(np.r_[board["rank_low"].eq(1).to_numpy(bool), False]))
        assert bool(head) == (1 < n_leads < len(board))


@pytest.mark.parametrize(
    "design", [Null((0.0,) * 2, (1.0,), 12, questions=12), Null((0.0,) * 6, (1.0,), 30, balanced=True)]
)
def test_exact_tests_keep_the_level_with_few_comparisons(design):
    """With a level of 5%, 9 of 60 sets or more have a probability of .003."""
    assert design in NULLS.values()
    false = [claimed_once(design, np.random.default_rng([seed, 4])).false for seed in range(60)]
    assert sum(value or 0 for value in false) < 9


def test_a_decisive_round_robin_has_power():
    design = Null((5.0, 3.0, 1.0, -1.0, -3.0, -5.0), (1.5,), 30, balanced=True)
    assert design in NULLS.values()
    power = [claimed_once(design, np.random.default_rng([seed, 5])).power for seed in range(6)]
    assert np.mean(power) > 0.1


def test_the_section_runs_small(tmp_path):
    small = (
        f"files={len(LAYOUTS)}",
        "whole=0.1",
        "replications=2",
        f"cache={tmp_path / 'cache'}",
        "parallel=sequential",
    )
    done = run("claims", tmp_path, *small)
    assert done.returncode == 0, done.stderr
    files, levels = (pd.read_csv(tmp_path / f"results/beyond/claims/{name}.csv") for name in ("files", "levels"))
    assert (list(files["layout"]), files["files"].sum()) == (list(LAYOUTS), len(LAYOUTS))
    assert (files["contradictions"] == 0).all()
    assert list(levels["design"]) == list(NULLS)
    assert (tmp_path / "figures/beyond/claims/claims.png").is_file()
