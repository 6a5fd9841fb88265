"""No two statements of a ranking contradict each other, whatever the file; claims are seldom false."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import judgerank
from judgerank.data.errors import JudgerankError
from judgerank.ranking.choices import Settings
from judgerank.ranking.first_screen import headline
from judgerank.ranking.ranking import ranked_set
from judgerank.ranking.studies.leaderboards import board_of
from judgerank.ranking.verdict import verdict
from judgerank.reading.layouts import LAYOUTS as KNOWN
from judgerank.reading.read import read_judgments
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
from tests.replication.test_sections import run

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
