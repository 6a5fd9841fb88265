"""Which member ranks a file of one's own, what is said beside the paper's, components that are ranked apart."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import chi2
from typer.testing import CliRunner

from judgerank import Comparisons, fit, rank
from judgerank.cli import app
from judgerank.data.arrays import generator
from judgerank.data.errors import NoMaximumError
from judgerank.engine import search
from judgerank.engine.boundary import guess
from judgerank.inference.wald import normal_quantile
from judgerank.model.block import Need
from judgerank.model.members import MODELS
from judgerank.order.scale import scale_of, standardised
from judgerank.ranking.choices import DEFAULT, FALLBACK, default_member
from judgerank.ranking.page import to_html
from judgerank.ranking.studies import prediction
from judgerank.ranking.studies.position_bias import leaning, on_positions
from judgerank.ranking.studies.prediction import FOLDS, compared, held_out, mean_of, sample_of
from judgerank.ranking.studies.rivals import DISAGREE, on_rivals, rival
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import judgments_of, read_judgments
from replication.datasets import find_file
from tests.forked import environment, judgerank
from tests.real_data import FILES, needs_data

# four judges of whom two answer by position: their habit, not quality, is what the judge-aware weights follow
MISLED = (
    "Qwen/Qwen3-235B-A22B-Instruct-2507-tput",
    "arcee_ai/arcee-spotlight",
    "deepseek-chat",
    "zai-org/GLM-4.5-Air-FP8",
)
BEST = "gpt-4"


def written(path: Path, *rows: tuple[str, str, str, str]) -> Path:
    """One record for each letter of (model_a, model_b, judge, letters)."""
    names = ("model_a", "model_b", "judge", "winner")
    records = [dict(zip(names, (*row[:3], letter), strict=True)) for row in rows for letter in row[3]]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def by_position(n_models: int = 8, size: int = 4000) -> Comparisons:
    """Shown in the order of their names; three judges say what is better, two mostly what is shown first."""
    rng = generator(0, "by position")
    i, j = np.sort(np.array([rng.choice(n_models, 2, replace=False) for _ in range(size)]), axis=1).T
    scores = rng.permutation(np.linspace(1.0, -1.0, n_models))
    judge = rng.integers(5, size=size)
    gamma, b = np.array([1.2, 1.0, 1.0, 0.1, 0.1]), np.array([0.0, 0.0, -1.5, 3.0, 2.0])
    p = expit(gamma[judge] * (scores[i] - scores[j]) + b[judge])
    names = tuple(f"m{n}" for n in range(n_models)), tuple(f"j{k}" for k in range(5))
    return Comparisons(*names, i, j, judge, (rng.random(size) < p).astype(float))


# the default


def test_position_aware_is_the_default_where_the_order_identifies_it(simulated, cells_of):
    both_ways = simulated(1, (0.5, 0.0, -0.5), (1.0, 1.0), 200)
    follows = cells_of(("x", "y", "j", 3, 1), ("x", "y", "k", 3, 2))
    assert default_member([both_ways])[0] == DEFAULT
    name, why = default_member([both_ways, follows])
    assert name == FALLBACK
    assert "one order" in why


@needs_data
@pytest.mark.parametrize("solver", ["newton", "penalised"])
def test_real_judges_who_follow_positions_do_not_decide_the_default_ranking(solver, tmp_path):
    records = json.loads(find_file(FILES["chatbot_arena"]).read_text())
    path = tmp_path / "four.json"
    path.write_text(json.dumps([r for r in records if r["judge_model"] in MISLED]))
    data = read_judgments(path)
    misled = rank(data, model="judge_aware", solver=solver)
    assert misled.tables["leaderboard"]["model"][0].startswith("RWKV-4-Raven")
    said = "\n".join(misled.remarks)
    assert re.search(r"position bias \(.*p (=|<) ", said)
    assert "--model position_aware does" in said
    assert DISAGREE in said
    assert any("equally" in one for one in verdict(misled).warnings)
    ranking = rank(data, solver=solver)
    assert ranking.tables["leaderboard"]["model"][0] == BEST
    (fitted_with,) = [one for one in ranking.remarks if one.startswith("Fitted with")]
    assert fitted_with.startswith("Fitted with position bias (position_aware, the default)")
    assert "corrects" in "\n".join(ranking.remarks)


def test_leanings_are_tested_in_shrunk_fits(simulated):
    data = by_position()
    found = leaning(fit(data, solver="penalised"), lambda name: fit(data, name, "penalised"), 0.95)
    assert (found.kind, found.degrees_of_freedom) == ("Wald", 5)
    assert found.p_value < 1e-6
    assert (set(found.towards_first), found.towards_second) == ({"j3", "j4"}, ("j2",))
    larger = fit(data, "position_aware", "penalised")
    assert leaning(larger, lambda name: fit(data, name, "penalised"), 0.95) == found
    corrected = on_positions(found, 0.95, allowed_for=True)[0]
    assert "corrects" in corrected and "--model" not in corrected


def test_shrunk_fits_of_judges_without_leanings_are_seldom_said_to_have_any(simulated):
    many, level = 25, 0.9
    rejected = 0
    for seed in range(many):
        data = simulated(100 + seed, (0.8, 0.2, -0.3, -0.7), (0.6, 1.0, 1.6), 300)
        test = leaning(fit(data, solver="penalised"), lambda name, d=data: fit(d, name, "penalised"), level)
        rejected += test.p_value <= 1 - level
    assert rejected <= many * (1 - level) + 3 * np.sqrt(many * level * (1 - level))


# beside the paper's member


def test_another_maximum_is_named_with_how_much_lower_it_is():
    data = by_position()
    fitted = fit(data)
    other = rival(fitted)
    assert other is not None
    assert other.correlation < 0.9
    cells, rng, ends = fitted.comparisons, generator(0, "starts"), []
    for _ in range(12):
        start = guess(cells, fitted.model, rng.normal(size=8))
        ends.append(search.maximise(cells, fitted.model, fitted.settings, start))
    gaps = {round(fitted.log_likelihood - end.evaluation.log_likelihood, 4): end for end in ends}
    found = gaps[round(other.gap, 4)]  # one that random starts lead to, too
    assert found.status.converged
    assert data.models[int(found.parameters.scores.argmax())] == other.first
    assert min(gaps) > -1e-6
    assert rival(fit(data, "btl")) is None
    assert rival(fit(data, solver="penalised")) is None
    said = on_rivals(fitted, lambda name: fit(data, name))
    assert DISAGREE in said[0]
    assert f"{other.gap:.1f} lower" in said[1]


def test_where_weights_do_not_matter_nothing_is_warned_of(simulated):
    data = simulated(3, (1.0, 0.3, -0.2, -1.1), (0.8, 1.0, 1.2), 1500)
    said = on_rivals(fit(data), lambda name: fit(data, name))
    assert said[0] == "Rank correlation with equally weighted judges (--model btl): 1.00."
    assert on_rivals(fit(data, "position_aware"), lambda name: fit(data, name)) == []


# components

ISLANDS = [
    ("u", "v", "j", "aaabaab"),
    ("v", "u", "k", "bbabb"),
    ("v", "w", "j", "aabaab"),
    ("w", "v", "k", "babab"),
    ("u", "w", "j", "aaab"),
    ("x", "y", "j", "abaab"),
    ("y", "x", "k", "abbab"),
    ("y", "x", "l", "abb"),
]


@pytest.mark.parametrize("solver", ["newton", "penalised"])
def test_components_are_ranked_apart_and_never_against_each_other(solver, tmp_path):
    chosen = {"solver": solver, "few": 0, "model": "judge_aware"}
    ranking = rank(written(tmp_path / "m.jsonl", *ISLANDS), **chosen)
    board, pairs = ranking.tables["leaderboard"], ranking.tables["pairs"]
    assert board["component"].tolist() == [1, 1, 1, 2, 2]
    assert board["rank"].tolist() == [1, 2, 3, 1, 2]
    alone = rank(written(tmp_path / "large.jsonl", *ISLANDS[:5]), **chosen).tables["leaderboard"]
    columns = ["model", "score", "low", "high", "rank_low", "rank_high", "comparisons"]
    pd.testing.assert_frame_equal(board.loc[:2, columns], alone[columns], check_exact=False, atol=1e-9)
    across = pairs[~pairs["comparable"]]
    assert {frozenset(pair) for pair in across[["first", "second"]].itertuples(index=False)} == {
        frozenset((a, b)) for a in "uvw" for b in "xy"
    }
    assert across["separated"].isna().all()
    assert (pairs["comparable"].sum(), len(pairs)) == (4, 10)
    said = [text for text in ranking.remarks if "(1) u, v, w; (2) x, y" in text]
    assert len(said) == 1
    assert "compare v with " in said[0]
    assert "6 pairs of models of different components are not comparable" in to_html(ranking)
    assert set(ranking.tables["judges"].query("component == 1")["judge"]) == {"j", "k"}


def test_a_component_that_cannot_be_ranked_does_not_stop_the_others(tmp_path):
    rows = [*ISLANDS[:5], ("x", "y", "j", "aaa"), ("y", "x", "k", "bb"), ("z", "u", "k", "?")]
    path = written(tmp_path / "m.jsonl", *rows)
    path.write_text(path.read_text().replace('"?"', "null"))
    ranking = rank(path, few=0, solver="newton")
    assert sorted(ranking.tables["leaderboard"]["model"]) == ["u", "v", "w"]
    said = "\n".join(ranking.remarks)
    assert "Not ranked: x, y. The likelihood has no maximum" in said
    assert "Not ranked because no answer about them could be read: z." in said
    with pytest.raises(NoMaximumError):
        rank(written(tmp_path / "n.jsonl", *rows[5:7]), solver="newton")


# counts, folders, settings


def test_counts_rank_as_the_records_they_stand_for(tmp_path):
    rows = [("u", "v", "j", "aab"), ("v", "w", "j", "ab"), ("w", "u", "k", "abb"), ("v", "u", "k", "bca")]
    many = [row for n, row in enumerate(rows) for _ in range(1 + n)]
    names = ("model_a", "model_b", "judge", "winner", "question", "n")
    records = [
        dict(zip(names, (*row[:3], letter, f"q{place % 2}", 1 + n), strict=True))
        for n, row in enumerate(rows)
        for place, letter in enumerate(row[3])
    ]
    (tmp_path / "counted.json").write_text(json.dumps(records))
    repeated = [{k: v for k, v in r.items() if k != "n"} for r in records for _ in range(r["n"])]
    (tmp_path / "many.json").write_text(json.dumps(repeated))
    assert len(repeated) == sum(len(row[3]) for row in many)
    for member in ("judge_aware", "judge_aware_ties"):
        chosen = {"model": member, "solver": "penalised"}
        counted = rank(tmp_path / "counted.json", columns={"count": "n"}, **chosen).tables
        expected = rank(tmp_path / "many.json", **chosen).tables
        for name in ("leaderboard", "judges", "pairs"):
            pd.testing.assert_frame_equal(counted[name], expected[name], check_dtype=False, rtol=1e-6)


def test_nobody_knows_that_two_pipes_are_one(tmp_path, monkeypatch):
    written(tmp_path / "m.jsonl", *ISLANDS[:5])
    given = (tmp_path / "m.jsonl").read_text()
    command = [sys.executable, "-m", "judgerank", "rank", "-"]
    done = subprocess.run(command, input=given, text=True, cwd=tmp_path, env=environment())
    assert done.returncode == 0
    monkeypatch.chdir(tmp_path)
    again = CliRunner().invoke(app, ["rank", "-"], input=given)
    assert again.exit_code == 1
    assert "holds the results of standard input, which would be replaced (--output" in again.stderr
    assert CliRunner().invoke(app, ["rank", "-", "--force"], input=given).exit_code == 0


def test_files_of_one_name_do_not_take_each_others_folder(tmp_path):
    names = [Path(folder, "it's my.jsonl") for folder in ("one", "other")]
    for name in names:
        (tmp_path / name).parent.mkdir()
        written(tmp_path / name, *ISLANDS[:5])
    target = tmp_path / "rankings" / "it's my"
    done = judgerank("rank", names[0], cwd=tmp_path)  # a folder of its own, below the one that it is run from
    assert done.returncode == 0, done.stderr
    before = (target / "leaderboard.csv").read_bytes()
    again = judgerank("rank", names[1], cwd=tmp_path)
    assert again.returncode == 1
    (line,) = again.stderr.strip().splitlines()
    assert re.search(rf"{re.escape(str(tmp_path / names[0]))}, .*--output\b.*--force\b", line)
    assert (target / "leaderboard.csv").read_bytes() == before
    assert judgerank("rank", names[0], cwd=tmp_path).returncode == 0
    below = judgerank("rank", names[0], "--output", target / "leaderboard.csv" / "below", cwd=tmp_path)
    assert below.returncode == 1
    (line,) = below.stderr.strip().splitlines()
    assert "leaderboard.csv/below" in line


def copied(seed: int, many: int = 5, size: int = 120) -> tuple[Comparisons, np.ndarray]:
    """A judge without a position bias and its copies, a question for each comparison of the judge."""
    rng = np.random.default_rng(seed)
    i, j = np.array([rng.choice(4, 2, replace=False) for _ in range(size)]).T
    wins = (rng.random(size) < expit(0.5 * (j - i))).astype(float)
    names = tuple(f"m{n}" for n in range(4)), tuple(f"j{k}" for k in range(many))
    judge = np.repeat(np.arange(many), size)
    rows = Comparisons(*names, *(np.tile(values, many) for values in (i, j)), judge, np.tile(wins, many))
    return rows, np.tile(np.arange(size), many)


def test_positions_are_tested_by_question_where_judges_of_a_question_err_together():
    """Of 40 sets, 5% are 2 with a standard error of 1.4; as independent, these judges were biased in 8."""
    many, found, apart = 40, 0, 0
    for seed in range(many):
        asked = copied(seed)
        smaller, larger = (fit(asked[0], name, "penalised") for name in ("judge_aware", "position_aware"))
        test = leaning(smaller, lambda _, larger=larger: larger, 0.95, asked)
        assert (test.kind, test.degrees_of_freedom) == ("score", 5)
        found += test.p_value <= 0.05
        exact = [fit(asked[0], name, "newton").log_likelihood for name in ("judge_aware", "position_aware")]
        apart += chi2.sf(2 * (exact[1] - exact[0]), 5) <= 0.05
    assert found <= 6 <= apart


def test_what_is_said_of_positions_names_the_kind_of_test():
    asked = by_position(), np.arange(4000) // 4
    for given, said in ((asked, "(tested by question, p = 0.0005)"), (None, "(LR test, chi2(")):
        found = leaning(fit(asked[0]), lambda name: fit(asked[0], name), 0.95, given)
        assert said in on_positions(found, 0.95)[0]
        assert (set(found.towards_first), found.towards_second) == ({"j3", "j4"}, ("j2",))


# How well members predict questions left out, beside the one that ranks: by other code, and where none does.
LEANING = ((1.5, 1.0, 0.6), (1.5, -1.0, 0.5))  # discriminations and positions
ALL_WITHOUT_TIES = ("btl", "judge_aware", "position_only", "position_aware")


def frame_of(seed, gamma, position, size=900, ties=0.1, scores=(1.0, 0.3, -0.3, -1.0)) -> pd.DataFrame:
    """Judgments of a hundred questions, in random order of presentation."""
    rng = generator(0, "members", seed)
    gamma, b, s = np.array(gamma), np.array(position), np.array(scores)
    i = rng.integers(len(s), size=size)
    j = (i + rng.integers(1, len(s), size=size)) % len(s)
    k = rng.integers(len(gamma), size=size)
    won = rng.random(size) < expit(gamma[k] * (s[i] - s[j]) + b[k])
    answer = np.where(rng.random(size) < ties, "tie", np.where(won, "a", "b"))
    names = {"model_a": [f"m{x}" for x in i], "model_b": [f"m{x}" for x in j], "judge": [f"j{x}" for x in k]}
    return pd.DataFrame({**names, "winner": answer, "question": rng.integers(100, size=size)})


@pytest.fixture(scope="module")
def leaning_judges() -> pd.DataFrame:
    return frame_of("leaning", *LEANING)


@pytest.fixture(scope="module")
def ranking(leaning_judges):
    return rank(leaning_judges)


def log_loss(table: pd.DataFrame) -> pd.Series:
    return table.set_index("member")["log_loss"]


@pytest.mark.parametrize("name", ["judge_aware", "position_aware_ties"])
def test_losses_are_those_of_fits_without_the_question(leaning_judges, name):
    """Fold by fold with dictionaries, where the member says what it expects of one comparison."""
    sample = sample_of(judgments_of(leaning_judges.head(200)))
    c, total = sample.comparisons, np.zeros(sample.unit.max() + 1)
    tested = np.concatenate([rows for *_, rows in sample.folds])
    assert sorted(tested) == list(range(len(c)))
    for *_, rows in sample.folds:
        inside = {int(sample.unit[row]) for row in rows}
        kept = np.array([row for row in range(len(c)) if int(sample.unit[row]) not in inside])
        fitted = fit(c.take(kept), name)
        for row in rows:
            a, b, k = c.models[c.first[row]], c.models[c.second[row]], c.judges[c.judge[row]]
            mine = kept[c.judge[kept] == c.judge[row]]
            tie = (np.sum(c.outcome[mine] == 0.5) + 0.5) / (len(mine) + 1)
            first, second = fitted.predict(a, b, k), 1 - fitted.predict(a, b, k)
            if fitted.model.has_ties:
                tie = fitted.tie_probability(c.take(np.array([row])))[0]
                second = 1 - tie - first
            else:
                first, second = (1 - tie) * first, (1 - tie) * second
            total[sample.unit[row]] -= np.log({1.0: first, 0.5: tie, 0.0: second}[float(c.outcome[row])])
    parameters, losses = held_out(sample, MODELS[name])
    assert_allclose(losses, total, atol=1e-5)
    assert parameters == fit(c, name).n_parameters


def test_the_error_of_a_mean_is_that_of_resampled_questions():
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 9, 200).astype(float)
    total = weight * rng.normal(0.5, 0.1, 200) + rng.normal(0, 1, 200)
    mean, error = mean_of(total, weight)
    assert mean == pytest.approx(total.sum() / weight.sum())
    drawn = rng.integers(200, size=(2000, 200))
    assert error == pytest.approx((total[drawn].sum(axis=1) / weight[drawn].sum(axis=1)).std(), rel=0.1)


def test_the_member_that_ranks_is_told_beside_the_others(leaning_judges, ranking):
    table = ranking.tables["members"]
    assert sorted(table["member"]) == sorted([*MODELS, "position_aware (shrunk)"])
    assert table.loc[table["ranks"], "member"].tolist() == ["position_aware (shrunk)"]
    assert table["parameters"].dropna().is_monotonic_increasing
    loss = log_loss(table)
    assert loss["position_aware"] < loss["judge_aware"] - 0.05
    best = table.loc[table["log_loss"].idxmin()]
    assert (best["worse"], best["worse_error"]) == (0, 0)
    assert_allclose(table["worse"], table["log_loss"] - best["log_loss"], atol=1e-12)
    used = "position_aware (shrunk)"
    (told,) = [remark for remark in ranking.remarks if "held-out" in remark]
    assert f"{loss[used]:.4f}" in told
    assert re.search(rf"; {leaning_judges['question'].nunique()} questions\b.*\b{FOLDS} folds\)", told)
    own = table.set_index("member").loc[used]
    assert best["member"] == "position_aware" and own["worse"] <= 2 * own["worse_error"]
    assert f"difference {own['worse']:.4f}, SE {own['worse_error']:.4f};" in told
    assert re.match(rf"{re.escape(used)} and position_aware \(exact\) .*\bequally\b", told)
    assert f"log-loss {own['log_loss']:.4f} vs {best['log_loss']:.4f}" in told and "To use it" not in told
    assert "position_only" in ranking.to_html()
    named = rank(leaning_judges, model="position_aware")
    assert "members" not in named.tables and "position_only" not in named.to_html()
    pd.testing.assert_frame_equal(named.tables["pairs"], ranking.tables["pairs"])


def test_it_is_one_of_the_tables_that_are_written(ranking, tmp_path):
    ranking.write(tmp_path / "out")
    kept = pd.read_csv(tmp_path / "out" / "members.csv")
    assert_allclose(kept["log_loss"], ranking.tables["members"]["log_loss"].astype(float))
    ranking.export(tmp_path / "members.md", "members")
    assert len((tmp_path / "members.md").read_text().splitlines()) == 3 + len(MODELS)


@pytest.mark.parametrize("by", ["question", None])
def test_neither_the_order_of_records_nor_counts_matter(leaning_judges, by):
    data = leaning_judges if by else leaning_judges.drop(columns="question")
    table, (told,) = compared(judgments_of(data), "position_aware")
    again, (same,) = compared(judgments_of(data.sample(frac=1, random_state=1)), "position_aware")
    assert_allclose(again["log_loss"].astype(float), table["log_loss"].astype(float), atol=1e-7)
    assert same == told
    assert ("100 questions" in told) == bool(by) and (f"{len(data)} comparisons" in told) != bool(by)
    if by:
        twice, _ = compared(judgments_of(pd.concat([data, data]), copies="keep"), "position_aware")
        counted, _ = compared(judgments_of(data.assign(n=2), columns={"count": "n"}), "position_aware")
        pd.testing.assert_frame_equal(counted, twice, check_exact=False, atol=1e-7)


def test_another_member_is_advised_only_if_it_predicts_better_by_more_than_two_errors():
    data = {"member": ["a", "b"], "parameters": [1, 2], "log_loss": [0.85, 0.84], "note": ""}
    table = pd.DataFrame(data).assign(worse=[0.01, 0.0], worse_error=[0.004, 0.0])
    (said,) = prediction._sentences(table, "a", "5 questions", False)
    assert said.startswith("b predicts held-out comparisons better than a (log-loss 0.8400 vs 0.8500, ")
    assert said.endswith("To use it: --model b.")
    (said,) = prediction._sentences(table.assign(worse_error=[0.006, 0.0]), "a", "5 questions", False)
    assert said.startswith("a and b predict held-out comparisons equally well, within chance (log-loss 0.8500 vs ")
    (said,) = prediction._sentences(table, "b", "5 questions", False)
    assert said.startswith(
        "b predicts held-out comparisons better than a, the next of 2 models (log-loss 0.8400 vs "
    )
    shrunk = table.replace({"a": "b (shrunk)"})
    (said,) = prediction._sentences(shrunk, "b (shrunk)", "5 questions", False)
    assert said.startswith("b (exact) predicts held-out comparisons better than b (shrunk) ")
    assert said.endswith("To use it: --solver newton.")


# where there is nothing to tell, or a member is none


def test_where_models_are_equal_members_predict_alike():
    """Coin flips: whoever has more parameters predicts no better than btl, by more than chance."""
    data = frame_of("coins", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), scores=(0.0,) * 4)
    table = compared(judgments_of(data), "position_aware")[0].dropna(subset="log_loss")
    fewest = table.iloc[0]
    assert fewest["member"] == "btl" and fewest["worse"] <= 2 * fewest["worse_error"]
    assert table["log_loss"].min() > 0.9 * -(0.1 * np.log(0.1) + 0.9 * np.log(0.45))


def test_a_member_with_a_judge_who_runs_off_is_not_compared():
    data = frame_of("sure", (1.0, 0.8, 1e9), (0.0, 0.0, 0.0), ties=0.0)
    ranking = rank(data, solver="newton")
    table = ranking.tables["members"].set_index("member")
    assert table.loc["position_aware", "note"] == "no maximum: a parameter of j2 grows without limit"
    assert table.loc["position_aware", "ranks"] and np.isnan(table.loc["position_aware", "log_loss"])
    assert {"btl", "position_only"} == set(table.index[table["log_loss"].notna()])
    said = [remark for remark in ranking.remarks if "held-out" in remark and "(no maximum" in remark]
    assert len(said) == 1 and " position_aware " in said[0]
    assert [note.split()[-1] for note in table.loc[["btl_ties", "length"], "note"]] == ["ties", "lengths"]


def test_positions_that_scores_imitate_are_not_compared(leaning_judges):
    upper = leaning_judges["model_a"].isin(["m0", "m1"]) & leaning_judges["model_b"].isin(["m2", "m3"])
    ranking = rank(leaning_judges[upper])
    table = ranking.tables["members"].set_index("member")
    assert table.loc["judge_aware (shrunk)", "ranks"]
    with_positions = [name for name, member in MODELS.items() if member.has_position and not member.has_slope]
    assert table.loc[with_positions, "note"].str.contains(Need.ORDER.value).all()


def test_too_few_questions_leave_nothing_to_say(leaning_judges):
    few = leaning_judges[leaning_judges["question"] < FOLDS - 1]
    ranking = rank(few, solver="penalised")
    assert ranking.tables["members"]["log_loss"].isna().all()
    assert not any("held-out" in text for text in ranking.remarks)
    notes = ranking.tables["members"].set_index("member")["note"]
    assert re.search(rf"\b{FOLDS}\b", notes["btl"])


def test_of_components_the_largest_is_compared(leaning_judges):
    other = leaning_judges.assign(model_a="x" + leaning_judges["model_a"], model_b="x" + leaning_judges["model_b"])
    both = rank(pd.concat([leaning_judges, other[(other[["model_a", "model_b"]] != "xm3").all(axis=1)]]))
    alone = rank(leaning_judges)
    pd.testing.assert_frame_equal(both.tables["members"], alone.tables["members"])


def test_answers_by_a_judge_of_one_fold_alone_are_left_out_and_counted(leaning_judges):
    one = leaning_judges.assign(judge=leaning_judges["judge"].where(leaning_judges["question"] != 7, "only there"))
    many = int((leaning_judges["question"] == 7).sum())
    table, (told,) = compared(judgments_of(one), "position_only")
    assert f" ({many} by judges" in told
    assert table.set_index("member").loc["btl", "log_loss"] > 0


def test_large_sets_are_compared_on_part_of_them(leaning_judges, monkeypatch):
    monkeypatch.setattr(prediction, "MOST_MODELS", 3)
    monkeypatch.setattr(prediction, "MOST_ROWS", 200)
    judgments = judgments_of(leaning_judges)
    sample = sample_of(judgments)
    c = judgments.comparisons
    times = np.bincount(c.first, minlength=4) + np.bincount(c.second, minlength=4)
    assert sorted(sample.comparisons.models) == sorted(np.array(c.models)[np.argsort(-times, kind="stable")[:3]])
    assert 150 < len(sample.comparisons) <= 200
    assert "of the 3 models compared most and " in sample.description
    among = leaning_judges[leaning_judges[["model_a", "model_b"]].isin(sample.comparisons.models).all(axis=1)]
    assert np.isin(np.bincount(sample.unit), among["question"].value_counts()).all()  # whole questions
    assert compared(judgments, "position_aware")[1][0].endswith(
        "comparisons drawn at random). To use it: --model position_only."
    )
    monkeypatch.setattr(prediction, "MOST_ROWS", 1)
    assert len(np.unique(sample_of(judgments).unit)) == prediction.LEAST  # questions larger than that are kept


def test_many_comparisons_are_drawn_of_few_models_if_these_have_enough(leaning_judges, monkeypatch):
    judgments = judgments_of(leaning_judges)
    c = judgments.comparisons
    times = np.bincount(c.first, minlength=4) + np.bincount(c.second, minlength=4)
    most = np.array(c.models)[np.argsort(-times, kind="stable")]
    monkeypatch.setattr(prediction, "DENSE", 2)
    met = [int(np.isin(leaning_judges[["model_a", "model_b"]], most[:many]).all(axis=1).sum()) for many in (2, 3)]
    for rows, many in ((met[0] - 1, 2), (met[0] + 1, 3), (met[1] + 1, 4)):
        monkeypatch.setattr(prediction, "MOST_ROWS", rows)
        sample = sample_of(judgments)
        assert sorted(sample.comparisons.models) == sorted(most[:many])
        assert (f" {many} models" in sample.description) == (many < 4)


def test_the_models_compared_most_may_never_meet(monkeypatch):
    monkeypatch.setattr(prediction, "MOST_MODELS", 2)
    data = frame_of("never", *LEANING, scores=(1.0, 0.5, 0.0, -0.5, -1.0))
    apart = data[data[["model_a", "model_b"]].isin(["m0", "m1"]).sum(axis=1) == 1]
    table, said = compared(judgments_of(apart), "position_aware")
    assert table["log_loss"].notna().any() and said[0].endswith("questions in 5 folds).")


# why the default is not chosen by prediction


def one_standard_error(sample, names) -> str:
    """The member with fewest parameters within one standard error of the best."""
    found = {name: held_out(sample, MODELS[name]) for name in names}
    best = min(found, key=lambda name: found[name][1].sum())
    weight = np.bincount(sample.unit).astype(float)
    gaps = {name: mean_of(losses - found[best][1], weight) for name, (_, losses) in found.items()}
    return min((name for name in names if gaps[name][0] <= gaps[name][1]), key=lambda name: found[name][0])


TRUE = np.array([0.6, 0.2, 1.0, -1.0, -0.6, -0.2])
LEAN = np.array([0.5, 0.5, 0.5, 0.5, -0.25, 0.0])


def leaning_slightly(seed: int) -> Comparisons:
    """Six judges who lean a little, shown the earlier name first nineteen times in twenty; TRUE scores."""
    rng, size = generator(0, "leaning slightly", seed), 1200
    i, j = np.sort([rng.choice(len(TRUE), 2, replace=False) for _ in range(size)], axis=1).T
    turned = rng.random(size) < 0.05
    i, j = np.where(turned, j, i), np.where(turned, i, j)
    judge, gamma = rng.integers(6, size=size), np.exp(np.linspace(-0.4, 0.4, 6))
    won = rng.random(size) < expit(gamma[judge] * (TRUE[i] - TRUE[j]) + LEAN[judge])
    names = tuple(f"m{n}" for n in range(len(TRUE))), tuple(f"j{k}" for k in range(6))
    return Comparisons(*names, i, j, judge, won.astype(float))


def share_held(data: Comparisons, name: str) -> float:
    """Share of the 95% intervals of standardised scores that hold."""
    fitted = fit(data, name)
    scale = scale_of(fitted)
    shape, covariance = standardised(scale.scores, scale.covariance(fitted.covariance))
    inside = np.abs(shape - TRUE / TRUE.std()) <= normal_quantile(0.95) * np.sqrt(np.diag(covariance))
    return float(inside.mean())


@pytest.mark.slow
def test_choosing_by_prediction_hurts_where_leanings_are_slight_and_the_order_follows_the_names():
    """Such leanings predict little, and move scores: the member chosen has intervals that hold less often."""
    gained, chosen = [], []
    for seed in range(60):
        data = leaning_slightly(seed)
        chosen.append(one_standard_error(prediction.sampled(data, np.arange(len(data)), ""), ALL_WITHOUT_TIES))
        gained.append(share_held(data, DEFAULT) - share_held(data, chosen[-1]))
    assert "btl" in chosen
    assert np.mean(gained) > 2 * np.std(gained) / np.sqrt(len(gained))


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_of_members_that_take_ties_for_half_the_default_predicts_best_on_real_sets(name):
    table = compared(read_judgments(find_file(FILES[name])), "position_aware")[0].set_index("member")
    alike = table[[not MODELS[member].has_ties for member in table.index]]
    assert alike["log_loss"].idxmin() == "position_aware"
    ahead = table.loc["judge_aware", "worse"] - table.loc["position_aware", "worse"]
    assert ahead > 5 * table.loc["judge_aware", "worse_error"]
