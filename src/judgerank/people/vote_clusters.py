"""Single human votes and the units that were sampled: the questions, the people who voted, or other columns.

People who vote on many items have tastes of their own, and questions have answers that all who see them judge. An
error that allows for one of them takes the other for noise. So the gradient's variance is that of two crossed
clusters (`inference.clusters.two_way`) where people come again as questions do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, numbered
from judgerank.inference.clusters import crossing, effective_number, two_way

PERSON = "person"  # the unit of the people who vote, whatever their column is called


class Unit(NamedTuple):
    """What was sampled: its name, and its number for every item, shape (M,), and for every vote, shape (V,).

    That of an item is missing where votes on one item are of several, such as people.
    """

    name: str
    of_item: IntArray | None
    of_vote: IntArray


Gradients = Callable[[Unit | None, IntArray, int], FloatArray]  # as of `SingleVotes.variance`


@dataclass(frozen=True, eq=False)
class SingleVotes:
    """Human votes one by one.

    Attributes
    ----------
    item : int array, shape (V,)
        Item of each.
    outcome, weight : float array, shape (V,)
        Share for the item's first model, and share of the item's votes that each is.
    units : tuple of Unit
        One, or two that are crossed.
    """

    item: IntArray
    outcome: FloatArray
    weight: FloatArray
    units: tuple[Unit, ...]

    def of(self, keep: np.ndarray) -> SingleVotes:
        """Those of some of the votes."""
        units = tuple(unit._replace(of_vote=unit.of_vote[keep]) for unit in self.units)
        return SingleVotes(self.item[keep], self.outcome[keep], self.weight[keep], units)

    @property
    def effective(self) -> float:
        """The smaller effective number of units."""
        return min(effective_number(numbered(unit.of_vote)[1], self.weight) for unit in self.units)

    def variance(self, gradients: Gradients, scale: FloatArray) -> FloatArray:
        """Variance of a gradient by the units, shape (D, D).

        Parameters
        ----------
        gradients : callable
            From a unit (None of pairs of two), the label of every vote and the number of labels to sums by label.
        scale : float array, shape (D,)
            As of `inference.clusters.two_way`.
        """
        squares = [self._squares(gradients, unit, numbered(unit.of_vote)) for unit in self.units]
        if len(squares) == 1:
            return squares[0]
        both = numbered(crossing(*(unit.of_vote for unit in self.units)))
        return two_way(squares[0], squares[1], self._squares(gradients, None, both), scale)

    @staticmethod
    def _squares(
        gradients: Gradients,
        unit: Unit | None,
        labels: tuple[IntArray, IntArray],
    ) -> FloatArray:
        n_units = len(labels[0])
        of_units = gradients(unit, labels[1], n_units) * np.sqrt(n_units / max(n_units - 1, 1))
        return np.asarray(of_units.T @ of_units)


def units_of_votes(
    units: Mapping[str, IntArray], votes: IntArray, item: IntArray, judged: BoolArray
) -> tuple[Unit, ...]:
    """Units of items and votes.

    Parameters
    ----------
    units : mapping of str to int array, shape (T,)
        Number of the unit behind every row, a vote or a verdict.
    votes : int array, shape (V,)
        The rows that are votes.
    item : int array, shape (T,)
        The item of every row.
    judged : bool array, shape (T,)
        Whether that is an item that the panel judged.
    """
    made = []
    for name, label in units.items():
        of_item = np.full(int(item[judged].max(initial=-1)) + 1, -1)
        of_item[item[judged]] = label[judged]
        has_one = name != PERSON and bool((of_item[item[judged]] == label[judged]).all())
        made.append(Unit(name, of_item if has_one else None, label[votes]))
    return tuple(made)
