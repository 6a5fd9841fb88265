"""Which member ranks a file of one's own, what is said beside the paper's, components that are ranked apart."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import chi2
from typer.testing import CliRunner

from judgerank import Comparisons, fit, rank
from judgerank.cli import app
from judgerank.data.errors import NoMaximumError
from judgerank.engine import search
from judgerank.engine.boundary import guess
from judgerank.model.streams import generator
from judgerank.ranking.choices import DEFAULT, FALLBACK, default_member
from judgerank.ranking.page import to_html
from judgerank.ranking.studies.position_bias import leaning, on_positions
from judgerank.ranking.studies.rivals import on_rivals, rival
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import read_judgments
from replication.datasets import find_file
from tests.real_data import FILES, needs_data
from tests.tool.command import environment, judgerank

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
    assert "each pair was shown in one order" in why


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
    assert "Judges show position bias" in said
    assert "--model position_aware does" in said
    assert "WARNING: the two disagree" in said
    assert any("changes a lot if all judges count equally" in one for one in verdict(misled).warnings)
    ranking = rank(data, solver=solver)
    assert ranking.tables["leaderboard"]["model"][0] == BEST
    assert ranking.remarks[0].startswith("Fitted with position bias (position_aware, the default)")
    assert "The ranking corrects for it" in "\n".join(ranking.remarks)


def test_leanings_are_tested_in_shrunk_fits(simulated):
    data = by_position()
    found = leaning(fit(data, solver="penalised"), lambda name: fit(data, name, "penalised"), 0.95)
    assert (found.kind, found.degrees_of_freedom) == ("Wald", 5)
    assert found.p_value < 1e-6
    assert (set(found.towards_first), found.towards_second) == ({"j3", "j4"}, ("j2",))
    larger = fit(data, "position_aware", "penalised")
    assert leaning(larger, lambda name: fit(data, name, "penalised"), 0.95) == found
    assert "The ranking corrects for it." in on_positions(found, 0.95, allowed_for=True)[0]


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
    assert "WARNING: the two disagree" in said[0]
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
    said = [text for text in ranking.remarks if "ranked by itself" in text]
    assert len(said) == 1
    assert "(1) u, v, w; (2) x, y. To connect them, compare v with " in said[0]
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
    assert f"holds the results of {tmp_path / names[0]}, which would be replaced" in line
    assert (target / "leaderboard.csv").read_bytes() == before
    assert judgerank("rank", names[0], cwd=tmp_path).returncode == 0
    below = judgerank("rank", names[0], "--output", target / "leaderboard.csv" / "below", cwd=tmp_path)
    assert below.returncode == 1
    (line,) = below.stderr.strip().splitlines()
    assert "cannot be written to" in line


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
