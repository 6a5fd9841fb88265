"""The sections on boards: newcomers, people's votes and human leaderboards, drawn, written and stored."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from judgerank import Comparisons
from judgerank.data.errors import DataUnavailableError
from judgerank.fits.fit import fit
from judgerank.people.human_scale import HumanBoard
from replication.config import ROOT
from studies import boards, people, plots, sampled_units
from studies.human_boards import (
    BOARDS,
    GUESSES,
    MEASURES,
    NEWCOMERS,
    NULLS,
    WAYS,
    Board,
    Judged,
    arenas,
    board_row,
    drawn_board,
    error_rows,
    left_off,
    placed_once,
    summary,
)
from tests.drawn import name_of
from tests.replication.test_sections import run

# New models on human boards: how they are simulated, each model left out, public files, and what is stored.
LEVEL = 0.9
ONE_JUDGE, VERDICTS, AS_JUDGE, _, HUMAN_SCALE, _ = WAYS
NO_TASTES, ONE_VOTE, UNRELATED = (
    name_of(BOARDS, board) for board in (Board(people_sd=0.0), Board(votes=0), Board(related=False))
)
COINS = name_of(NULLS, Board(at_random=True))
EQUAL = name_of(NULLS, Board(quality_sd=0.0, tastes=0.0, people_sd=0.0))


def stored(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / f"results/beyond/human_scale/{name}.csv")


def votes_alone(board, simulated):
    """Scores of the models that people compared, by their votes."""
    n, votes = board.models, simulated.votes
    judge = np.zeros(len(votes), int)
    return fit(replace(votes, models=votes.models[:n], judges=("people",), judge=judge), "btl").scores.to_numpy()


def test_the_truth_is_what_scores_of_many_human_votes_are():
    """Ties count half a win, so that these are not the scores of the law with ties."""
    board = Board(models=6, votes=60_000)
    simulated = drawn_board(board, np.random.default_rng(1))
    truth = simulated.truth[:6]
    assert truth.mean() == pytest.approx(0)
    np.testing.assert_allclose(votes_alone(board, simulated), truth, atol=0.03)


def test_people_vote_on_no_new_model_and_once_on_each_pair_where_that_is_said():
    board = BOARDS[ONE_VOTE]
    simulated = drawn_board(board, np.random.default_rng(2))
    v, votes, n = simulated.verdicts, simulated.votes, board.models
    assert max(votes.first.max(), votes.second.max()) < n and len(v.models) == n + NEWCOMERS
    pairs = np.sort([votes.first, votes.second], axis=0)
    assert len(np.unique(pairs, axis=1).T) == len(votes) > 0.99 * n * (n - 1) / 2
    np.testing.assert_array_equal(v.first[votes.judge], votes.first)  # people saw the answers of these verdicts


@pytest.mark.parametrize("name", [NO_TASTES, UNRELATED])
def test_null_cases_are_what_they_are_called(name):
    """Without tastes of their own people's scores follow the judges'; unrelated ones do not."""
    found = []
    for seed in range(8):
        simulated = drawn_board(replace(BOARDS[name], judges=1, tastes=0.0), np.random.default_rng(seed))
        verdicts = replace(simulated.verdicts, strong=None)
        found.append(np.corrcoef(fit(verdicts, "btl", "penalised").scores, simulated.truth)[0, 1])
    if BOARDS[name].related:
        assert min(found) > 0.9
    else:
        assert abs(np.mean(found)) < 0.25


def test_errors_are_held_against_the_human_scale_on_the_same_boards():
    records = pd.DataFrame({f"error/{way}": [10.0, 20.0, np.nan] for way in WAYS} | {"held": [1.0, 0.5, np.nan]})
    records[f"error/{AS_JUDGE}"] = [13.0, np.nan, np.nan]
    rows = pd.DataFrame(error_rows(records, "x")).set_index("way")
    assert rows.loc[HUMAN_SCALE, ["error", "more", "none"]].tolist() == [15.0, 0.0, 0]
    assert rows.loc[AS_JUDGE, ["error", "more", "none"]].tolist() == [13.0, 3.0, 1]
    row = board_row(records.assign(**dict.fromkeys(MEASURES[1:], 1.0)), "x")
    assert (row["held"], row["failed"], row["n_replications"]) == (0.75, 1, 3)


def test_one_replication_is_what_is_recorded():
    record = placed_once({"board": asdict(Board(models=10)), "level": LEVEL}, np.random.default_rng(3))
    assert set(record) == {f"error/{way}" for way in WAYS} | set(MEASURES)
    assert record[f"error/{HUMAN_SCALE}"] < record[f"error/{VERDICTS}"]


def test_a_board_on_another_scale_moves_predictions_and_intervals_with_it():
    simulated = drawn_board(Board(models=9), np.random.default_rng(4))
    verdicts = replace(simulated.verdicts, strong=None)
    elo = 1000 + 150 * simulated.truth[:9]
    boards = [HumanBoard(verdicts.models[:9], 50 + s * elo, np.full(9, s * 9.0)) for s in (1.0, 2.0)]
    one, two = (left_off(Judged(verdicts, None, board), 0.8) for board in boards)
    for column in ("conformal_low", "conformal_high"):
        np.testing.assert_allclose(two[column], 50 + 2 * (one[column] - 50), rtol=0.01)
    np.testing.assert_allclose(two["elo"], 50 + 2 * (one["elo"] - 50), rtol=0.02)


def beside(seed: int, models: int = 7, battles: int = 500) -> dict[str, pd.DataFrame]:
    """Files of one arena in the form of Soft-Elo's release, by judge: the same battles, the same human votes."""
    rng = np.random.default_rng(seed)
    s = np.linspace(1.0, -1.0, models)
    ends = np.array([rng.permutation(models)[:2] for _ in range(battles)])
    lead = s[ends[:, 0]] - s[ends[:, 1]]

    def preference(scale: float) -> np.ndarray:  # 0 for model_a
        won = rng.random(battles) < 1 / (1 + np.exp(-scale * lead))
        return np.where(rng.random(battles) < 0.2, 0.5, np.where(won, 0.0, 1.0))

    names, number = np.array([f"model-{i}" for i in range(models)]), np.arange(battles)
    human = preference(1.0)
    common = {"model_a": names[ends[:, 0]], "model_b": names[ends[:, 1]], "human_pref": human}
    common |= {"instruction_id_hash": [f"h{i}" for i in number], "original_question_id_hash": ""}
    return {
        judge: pd.DataFrame(common).assign(
            judge=judge,
            judge_pref=preference(scale),
            battle_id=[f"{judge}-{i}" for i in number],
            scores_a="{'clarity': 7.0}",
            scores_b="{'clarity': 5.0}",
            parse_error=False,
        )
        for judge, scale in (("sharp", 3.0), ("dull", 0.7))
    }


@pytest.fixture
def folder(tmp_path):
    for seed, arena in enumerate(("one", "two")):
        (tmp_path / "files" / arena).mkdir(parents=True)
        for judge, table in beside(seed).items():
            table.to_csv(tmp_path / "files" / arena / f"annotations_{judge}.csv", index=False)
    (tmp_path / "files/manifest.csv").write_text("source_dataset,judge\n")
    return tmp_path / "files"


def test_public_files_are_a_panel_and_a_board_of_their_human_votes(folder):
    found = arenas(folder)
    assert list(found) == ["one", "two"]
    one = found["one"]
    assert one.verdicts.judges == ("dull", "sharp") and len(one.verdicts) == 1000
    table = beside(0)["dull"]  # human votes are those of either file, once
    names = tuple(sorted(set(table["model_a"])))
    votes = table[["model_a", "model_b"]].apply(pd.Categorical, categories=names).apply(lambda x: x.cat.codes)
    c = replace(
        one.verdicts.take(np.arange(500)),
        models=names,
        judges=("people",),
        first=votes["model_a"].to_numpy(int),
        second=votes["model_b"].to_numpy(int),
        judge=np.zeros(500, int),
        outcome=1 - table["human_pref"].to_numpy(),
        tied=None,
        count=np.ones(500),
    )
    alone = 1000 + 400 / np.log(10) * fit(c, "btl").scores
    np.testing.assert_allclose(one.board.elo, alone[list(one.board.models)], atol=1e-6)
    left = left_off(one, 0.8)
    rows = pd.DataFrame(summary(left, "one", 2)).set_index("way")
    assert list(rows.index) == list(GUESSES)
    assert rows.loc[HUMAN_SCALE, "error"] < rows.loc[ONE_JUDGE, "error"]


def test_a_folder_without_such_files_is_named(tmp_path):
    with pytest.raises(DataUnavailableError, match=r"nowhere has no folder with files annotations_\*\.csv"):
        arenas(tmp_path / "nowhere")


def test_a_run_writes_what_it_should(tmp_path, folder):
    small = ("replications=2", "null_replications=2", "surrogate=always", f"arenas={folder}", "level=0.8")
    done = run("human_scale", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    found = next(tmp_path.rglob("boards.csv")).parent
    assert pd.read_csv(found / "boards.csv")["board"].tolist() == list(BOARDS)
    assert pd.read_csv(found / "nulls.csv")["board"].tolist() == list(NULLS)
    assert len(pd.read_csv(found / "errors.csv")) == len(BOARDS) * len(WAYS)
    assert pd.read_csv(found / "arenas.csv")["arena"].unique().tolist() == ["chatbot_arena", "one", "two"]
    assert (pd.read_csv(found / "models.csv")["arena"] == "two").sum() == 7


def test_stored_intervals_cover_as_nominal_and_null_cases_are_seen():
    boards = stored("boards").set_index("board")
    held, error = boards["held_conformal"], boards["held_conformal_se"]
    wide = [NO_TASTES, ONE_VOTE]  # there errors of votes prevail
    assert ((held - LEVEL).abs().drop(wide) < 2.5 * error.drop(wide)).all()
    assert 0.88 < held.drop(wide).mean() < 0.92 and (held[wide] > LEVEL + 2 * error[wide]).all()
    unrelated = boards.loc[UNRELATED]
    assert unrelated["informative"] <= 0.1 + 2.5 * unrelated["informative_se"]
    assert (boards["informative"].drop(UNRELATED) > 0.97).all()


def test_stored_conformal_intervals_cover_where_there_is_nothing_to_find():
    nulls = stored("nulls").set_index("board")
    assert [*nulls.index] == list(NULLS) and (nulls["failed"] == 0).all()
    held, error = nulls["held_conformal"], nulls["held_conformal_se"]
    assert (held > LEVEL - 2.5 * error).all()
    assert held[COINS] < LEVEL + 2.5 * error[COINS]
    assert (nulls["informative"] <= 0.1 + 2.5 * nulls["informative_se"]).all()


def test_coins_and_equal_models_are_drawn_as_said():
    rng = np.random.default_rng(3)
    coins = drawn_board(replace(NULLS[COINS], models=8), rng)
    equal = drawn_board(replace(NULLS[EQUAL], models=8), rng)
    assert np.abs(equal.truth).max() < 1e-9 < np.abs(coins.truth).max()
    for rows in (coins.verdicts, equal.verdicts, equal.votes):
        won = np.bincount(rows.first, rows.outcome - 0.5, 12) - np.bincount(rows.second, rows.outcome - 0.5, 12)
        met = np.bincount(rows.first, minlength=12) + np.bincount(rows.second, minlength=12)
        assert (np.abs(won) <= 4 * np.sqrt(met) / 2).all()


def test_stored_errors_are_least_on_the_human_scale():
    errors = stored("errors").set_index(["way", "board"])
    for name in (ONE_JUDGE, VERDICTS):
        of = errors.loc[name]
        assert (of["more"] > 5 * of["more_se"]).all()
    exact = errors.loc[HUMAN_SCALE, "error"]
    assert exact.idxmin() == NO_TASTES
    assert exact.idxmax() == UNRELATED
    arena = stored("arenas").set_index("way")
    assert arena.loc[HUMAN_SCALE, "held_conformal"] == pytest.approx(0.9)


def test_the_figures_show_every_board_and_model():
    errors, boards, models = (stored(name) for name in ("errors", "boards", "models"))
    left, right = plots.human_boards(errors, boards, "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(BOARDS)
    assert len(left.containers) == len(WAYS) and len(right.containers) == 2
    (axes,) = plots.left_off(models, "t").axes
    assert len(axes.get_yticklabels()) == len(models)


# The section on newcomers: models taken off boards, and what it writes.


def test_a_newcomer_is_in_all_its_comparisons_and_favoured_by_one_judge():
    rng = np.random.default_rng(1)
    rows = boards.drawn(rng, np.r_[boards.SCORES, 0.0], 40_000, True, 1.0)
    new = len(boards.SCORES)
    assert ((rows.first == new) ^ (rows.second == new)).all()
    won = np.where(rows.first == new, rows.outcome, 1 - rows.outcome)
    d = -boards.SCORES[np.where(rows.first == new, rows.second, rows.first)]
    p = expit(boards.DISCRIMINATION[rows.judge] * d + (rows.judge == 0))
    for k in range(len(boards.DISCRIMINATION)):
        mine = rows.judge == k
        assert abs((won - p)[mine].mean()) < 4 * 0.5 / np.sqrt(mine.sum())


def test_a_model_taken_off_has_no_comparison_left():
    rows = boards.drawn(np.random.default_rng(2), boards.SCORES, 500)
    mine = (rows.first == 3) | (rows.second == 3)
    part = boards._without(rows, 3, ~mine)
    assert isinstance(part, Comparisons) and "m3" not in part.models and len(part) == (~mine).sum()
    left = rows.to_frame()[~mine].reset_index(drop=True)
    assert part.to_frame().equals(left)


def test_a_summary_counts_what_failed():
    records = pd.DataFrame({"moved": [1.0, 0.0, np.nan, 1.0]})
    row = boards.summary(records, "x", ["moved"])
    assert row["failed"] == 1 and row["moved"] == pytest.approx(2 / 3) and row["n_replications"] == 4


def test_a_surrogate_run_writes_what_it_should(tmp_path):
    small = ["surrogate=always", "replications=2", "~datasets.chatbot_arena", "~datasets.ultrafeedback"]
    done = run("newcomers", tmp_path, *small, f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results/surrogate/newcomers"
    tables = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
    assert set(tables) == {"left_out", "placed", "compared", "answered"}
    assert len(tables["answered"]) == len(boards.TASTES) * len(boards.ANSWERED)
    assert tables["answered"].filter(like="covered/").drop(columns=["covered/all_se"]).notna().all(axis=None)
    assert list(tables["placed"]["setting"]) == list(boards.PLACED)
    assert list(tables["compared"]["setting"]) == list(boards.COMPARED)


def test_stored_intervals_hold_with_the_boards_uncertainty_and_not_without():
    placed = pd.read_csv(ROOT / "results/beyond/newcomers/placed.csv").set_index("setting")
    (partial,) = (name for name, (*_, favour) in boards.PLACED.items() if favour)
    fair = placed.drop(partial)
    assert ((fair["covered"] - 0.95).abs() < 3 * fair["covered_se"] + 0.02).all()
    assert placed.loc["small board", "covered_own"] < placed.loc["small board", "covered"] - 0.05
    assert placed.loc[partial, "partial"] > 0.9 > 0.1 > fair["partial"].max()
    compared = pd.read_csv(ROOT / "results/beyond/newcomers/compared.csv").set_index("setting")["moved"]
    (changed,) = (name for name, (*_, change, _) in boards.COMPARED.items() if change)
    assert compared[changed] > 0.4 and compared.drop(changed).max() < 0.1


def test_the_figure_shows_every_placed_model():
    left_out, placed = (
        pd.read_csv(ROOT / f"results/beyond/newcomers/{name}.csv") for name in ("left_out", "placed")
    )
    left, right = plots.newcomers(left_out, placed, "t").axes
    shown = sum(len(container.lines[0].get_xdata()) for container in left.containers)
    assert shown == left_out["placed"].notna().sum()
    assert [text.get_text() for text in right.get_yticklabels()] == list(placed["setting"])


# The section on human votes: what it draws, writes and has stored.


def test_people_are_asked_about_as_many_items_as_is_said_and_judges_about_all():
    rows, question, human = people.drawn(np.random.default_rng(1), 1.0, 1.0, 120)
    assert human.sum() == 120 == len(set(question[human]))
    assert len(rows) - 120 == people.N_ITEMS * len(people.DISCRIMINATION)
    assert {rows.judges[k] for k in set(rows.judge[human])} == {"people"}


def test_failures_are_counted():
    record = {"p": 0.01, "saving": 0.1, "replication": 0}
    row = people.voted(pd.DataFrame([record, {"replication": 1, "failure": "x"}]), "name")
    assert row["failed"] == 1 and row["rejected"] == 1 and row["saving"] == pytest.approx(0.1)


def test_a_run_on_votes_writes_what_it_should(tmp_path):
    few = ["replications=2", "crowds=2", "sampled=2", f"cache={tmp_path / 'cache'}", "parallel=sequential"]
    done = run("people", tmp_path, *few)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "results/beyond/people/votes.csv")
    assert list(table["setting"]) == list(people.VOTED)
    sampled = pd.read_csv(tmp_path / "results/beyond/people/sampled.csv")
    assert {*zip(sampled["study"], sampled["design"], strict=True)} == {
        (study, design) for study, (_, designs) in sampled_units.STUDIES.items() for design in designs
    }
    assert sampled["share"].between(0, 1).all()
    assert (tmp_path / "figures/beyond/people/people.png").is_file()


def test_stored_intervals_hold_and_the_saving_is_as_small_as_is_said():
    table = pd.read_csv(ROOT / "results/beyond/people/votes.csv").set_index("setting")
    assert (table["covered/helped"] > 0.91).all() and (table["saving"] < 0.3).all()
    biased = table[table.index.str.startswith("biased")]
    assert (biased["covered/as a judge"] < 0.7).all() and biased["rejected"].iloc[-1] > 0.9
    assert table.loc["fair panel", "error/as a judge"] < 0.7 * table.loc["fair panel", "error/helped"]
    assert table.loc["fair panel", "rejected"] < 0.1


def test_the_figure_shows_every_setting():
    table = pd.read_csv(ROOT / "results/beyond/people/votes.csv")
    left, right = plots.people(table, "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(table["setting"])
    assert len(left.containers) == len(right.containers) == 4
