"""Components, models that won or lost everything, and the condition for a maximum (Ford, 1957)."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerank import Comparisons
from judgerank.data.connectivity import components, require_maximum, runaway_models
from judgerank.data.errors import DisconnectedError, NoMaximumError

CYCLE = (("a", "b", "x", 1, 0), ("b", "c", "x", 1, 0), ("c", "a", "x", 1, 0))


@st.composite
def tournaments(draw):
    """Up to five models and a few rows, each a win, a loss, a tie or a share."""
    n = draw(st.integers(2, 5))
    pairs = st.permutations(range(n)).map(lambda order: order[:2])
    rows = draw(st.lists(st.tuples(pairs, st.sampled_from([0.0, 0.3, 0.5, 1.0, 1.0])), min_size=1, max_size=9))
    pair = np.array([row[0] for row in rows])
    outcome = np.array([row[1] for row in rows])
    zeros = np.zeros(len(rows), int)
    return Comparisons(tuple("abcde"[:n]), ("x",), pair[:, 0], pair[:, 1], zeros, outcome)


def wins(cells: Comparisons) -> set[tuple[str, str]]:
    """Pairs (winner, loser) of models; ties and shares count both ways."""
    named = [(cells.models[i], cells.models[j]) for i, j in zip(cells.first, cells.second, strict=True)]
    forth = {pair for pair, y in zip(named, cells.outcome, strict=True) if y > 0}
    return forth | {pair[::-1] for pair, y in zip(named, cells.outcome, strict=True) if y < 1}


def proper_subsets(models):
    return [set(group) for size in range(1, len(models)) for group in combinations(models, size)]


def closure(models, pairs) -> dict[str, frozenset]:
    """Models reachable from each model, itself included."""
    reach = {model: {model} for model in models}
    for _ in models:
        for a, b in pairs:
            for group in reach.values():
                if a in group:
                    group.add(b)
    return {model: frozenset(group) for model, group in reach.items()}


def test_a_connected_graph_is_one_component(cells_of):
    assert components(cells_of(*CYCLE)) == (("a", "b", "c"),)


def test_components_are_listed(cells_of):
    rows = (("d", "a", "x", 1, 0), ("b", "e", "y", 0, 1), ("e", "c", "x", 1, 0))
    assert components(cells_of(*rows)) == (("a", "d"), ("b", "c", "e"))


@given(cells=tournaments())
def test_components_equal_undirected_reachability(cells):
    edges = wins(cells) | {pair[::-1] for pair in wins(cells)}
    expected = {tuple(sorted(group)) for group in closure(cells.models, edges).values()}
    assert components(cells) == tuple(sorted(expected))


def test_a_cycle_of_wins_has_no_runaway(cells_of):
    assert runaway_models(cells_of(*CYCLE)) == ()


def test_a_model_that_won_everything_is_named(cells_of):
    cells = cells_of(*CYCLE, ("d", "a", "x", 3, 0), ("b", "d", "x", 0, 1))
    # the others lost every comparison with the models outside their group, so they are named too
    assert runaway_models(cells) == (("a", "b", "c"), ("d",))


def test_winners_losers_and_nobody_in_between_are_named(cells_of):
    cells = cells_of(*CYCLE, ("d", "a", "x", 1, 0), ("c", "e", "x", 1, 0))
    assert runaway_models(cells) == (("d",), ("e",))


def test_two_models_that_beat_all_the_rest_are_named_together(cells_of):
    top = (("e", "d", "x", 1, 1), ("d", "a", "x", 2, 0), ("e", "b", "x", 1, 0), ("c", "e", "x", 0, 1))
    assert ("d", "e") in runaway_models(cells_of(*CYCLE, *top))


@pytest.mark.parametrize("wins_and_losses", [(0.5, 0.5), (9, 1), (1, 9)])
def test_a_tie_or_a_share_connects_both_ways(cells_of, wins_and_losses):
    assert runaway_models(cells_of(("a", "b", "x", *wins_and_losses))) == ()


def test_wins_of_different_judges_connect(cells_of):
    assert runaway_models(cells_of(("a", "b", "x", 1, 0), ("a", "b", "y", 0, 1))) == ()


@given(cells=tournaments())
def test_no_runaway_exactly_if_every_group_won_and_lost_against_the_rest(cells):
    pairs = wins(cells)

    def beats_outside(group):
        return any(a in group and b not in group for a, b in pairs)

    assert (runaway_models(cells) == ()) == all(beats_outside(group) for group in proper_subsets(cells.models))


@given(cells=tournaments())
def test_runaways_are_the_strong_components_without_way_in_or_way_out(cells):
    reach = closure(cells.models, wins(cells))
    strong = {frozenset(b for b in reach[a] if a in reach[b]) for a in cells.models}
    ends = []
    for group in strong:
        way_out = any(not reach[a] <= group for a in group)
        way_in = any(reach[a] & group for a in set(cells.models) - group)
        if len(strong) > 1 and not (way_in and way_out):
            ends.append(tuple(sorted(group)))
    assert runaway_models(cells) == tuple(sorted(ends))


def test_a_maximum_exists_for_a_cycle(cells_of):
    assert require_maximum(cells_of(*CYCLE)) is None


def test_a_disconnected_graph_is_refused_with_its_components(cells_of):
    with pytest.raises(DisconnectedError, match=r"across its 2 components: \{a, b, c\}; \{d, e\}$") as caught:
        require_maximum(cells_of(*CYCLE, ("d", "e", "x", 1, 1)))
    assert caught.value.models == (("a", "b", "c"), ("d", "e"))


def test_a_runaway_is_refused_by_name(cells_of):
    with pytest.raises(NoMaximumError, match=r"won or lost every .*: \{a, b, c\}; \{d\}$") as caught:
        require_maximum(cells_of(*CYCLE, ("d", "a", "x", 0, 1)))
    assert caught.value.models == (("a", "b", "c"), ("d",))
    assert not isinstance(caught.value, DisconnectedError)
