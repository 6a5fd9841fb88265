"""Predictions of a fitted model for comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.rankings import number_of_ranking
from judgerank.data.tied_choices import tie_sizes
from judgerank.engine.likelihood import row_by_row
from judgerank.inference.estimates import Averaged, Estimates
from judgerank.model.block import Role
from judgerank.model.law import Law, placed_above, usual_size

Names = str | Sequence[str]


class Predictions(Estimates):
    """Estimates with the probabilities that they give to answers."""

    def probability(self, comparisons: Comparisons) -> FloatArray:
        """Mean outcome for rows of comparisons of the same models by the same judges, shape (T,).

        That is P(first preferred), with half of the probability of a tie where ties are an outcome.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted, or a covariate is needed and missing.
        """
        return self._law_of(comparisons).share

    def tie_probability(self, comparisons: Comparisons) -> FloatArray:
        """P(tie) for rows of comparisons of the same models by the same judges, shape (T,).

        Raises
        ------
        DataError
            As for `probability`, and if the model does not have ties for an outcome.
        """
        if not self.model.has(Role.TIE):
            raise DataError(f"model {self.model.name!r} does not have ties for an outcome")
        return self._law_of(comparisons).tie

    def level_probabilities(self, comparisons: Comparisons) -> FloatArray:
        """P(each level) for rows of comparisons, from the best for the second model to the first.

        Shape (T, L): from -1 to 1, five levels, or more with further strengths.

        Raises
        ------
        DataError
            As for `probability`, and if the model does not have strength for an outcome.
        """
        levels = self._law_of(comparisons).levels
        if not self.model.has(Role.STRONG) or levels is None:
            raise DataError(f"model {self.model.name!r} does not have the strength of an answer for an outcome")
        return levels

    def ranking_probability(self, comparisons: Comparisons) -> FloatArray:
        """P(each ranking) for rankings of the same models by the same judges, shape (R,); ties as they are given.

        Raises
        ------
        DataError
            As for `probability`; if these are no rankings; if they have ties, and the model does not have them for
            an outcome, or not of so many answers.
        """
        c = self.model.observed(comparisons)
        if c.stages is None or (not self.model.has_ties and tie_sizes(c)):
            what = "rankings of several answers" if c.stages is None else "rankings without ties"
            raise DataError(f"the probability of a ranking by {self.model.name!r} requires {what}")
        models, judges = self.comparisons.models, self.comparisons.judges
        first, second = (positions_of(c.models, models)[:, 0][end] for end in (c.first, c.second))
        who = positions_of(c.judges, judges)[:, 0][c.judge]
        rows = replace(c, models=models, judges=judges, first=first, second=second, judge=who)
        terms = row_by_row(rows, self.model, self.solution.parameters)
        return np.exp(np.bincount(number_of_ranking(rows), rows.count * terms.log_likelihood))

    @overload
    def predict(self, first: str, second: str, judge: str | None = None, covariate: float = 0.0) -> float: ...

    @overload
    def predict(
        self,
        first: Names,
        second: Names,
        judge: Names | None = None,
        covariate: float | FloatArray = 0.0,
    ) -> float | FloatArray: ...

    def predict(
        self,
        first: Names,
        second: Names,
        judge: Names | None = None,
        covariate: float | FloatArray = 0.0,
    ) -> float | FloatArray:
        """P(first preferred) of models shown in this order to a judge (equation 1).

        Without a judge, to one drawn from the panel: the mean over all judges fitted, those at zero among them. It
        lies nearer to one half than for a judge of discrimination one, as judges differ. Where ties are an outcome
        they count for neither model, so P(first) + P(second) < 1; `probability` gives either one half of them.

        Parameters
        ----------
        first, second : str or sequence of str
            Models, shown first and second. Single names go with any number of others.
        judge : str or sequence of str, optional
        covariate : float or float array, optional
            Standardised covariate z, for members with slopes; the average is zero.

        Returns
        -------
        float, or float array
            A number for single names.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted, or the names are not as many on all sides.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> round(result.predict("oak", "thorn"), 2)
        0.78
        """
        models, judges = self.comparisons.models, self.comparisons.judges
        i, j = positions_of(first, models), positions_of(second, models)
        k = np.arange(len(judges)) if judge is None else positions_of(judge, judges)
        try:
            i, j, z, k = np.broadcast_arrays(i, j, np.asarray(covariate, float)[..., None], k)
        except ValueError:
            raise DataError("first, second, judge and covariate must be as many, or single ones") from None
        law = self._law(i, j, k, z)
        first_preferred = (law.share - law.tie / 2).mean(axis=-1)
        return float(first_preferred) if first_preferred.ndim == 0 else first_preferred

    def win_probability(
        self, difference: FloatArray, judges: FloatArray | None = None, middle: FloatArray | float = 0.0
    ) -> FloatArray:
        """P(a model is preferred to another), by how much higher its score is, as float array of the same shape.

        By a judge drawn from the panel, in an order drawn at random, at covariate zero; a tie counts half. So it
        is one half for equals, and P(i) + P(j) = 1. Where ties of rankings are an outcome, it is the probability
        to be placed above the other in a ranking of the usual size (`usual_size`), all else in it being average.

        Parameters
        ----------
        difference : float array
            Of `scores`.
        judges : float array, shape (K,), optional
            Probability of each judge to be drawn, all alike by default.
        middle : float array or float, optional
            Mean of the two scores. It matters for rankings with ties alone, where other answers compete.
        """
        d = np.asarray(difference, float)[..., None]
        size = usual_size(self.comparisons) if self.model.has_ties else 2
        if size > 2:
            probability = self._placed_above(d, np.asarray(middle, float)[..., None], size)
        else:
            gamma, _, b, nu, log_strong = self._values
            first, second = (self._law_of_eta(gamma * lead + b, gamma, nu, *log_strong).share for lead in (d, -d))
            probability = (first + 1 - second) / 2
        return np.asarray(np.average(probability, axis=-1, weights=judges))

    def _placed_above(self, d: FloatArray, middle: FloatArray, size: int) -> FloatArray:
        """By judge, in a ranking of so many answers; the two at equal distances from the middle place."""
        gamma, b = self._values.gamma, self._values.position
        rest = -2 * middle / (len(self.comparisons.models) - 2)  # since scores sum to zero
        rows, blocks = self.solution.parameters.judges, self.model.blocks
        delta = {block.role.tied: rows[self.model.row(block.name)] for block in blocks if block.role.tied}
        offsets = np.arange(1, size) if b.any() else np.zeros(1)
        probabilities = [
            placed_above(
                gamma * (middle + d / 2) + b * offset / 2,
                gamma * (middle - d / 2) - b * offset / 2,
                gamma * rest,
                size - 2,
                delta,
            )
            for offset in np.r_[offsets, -offsets]
        ]
        return np.asarray(np.average(probabilities, axis=0, weights=np.tile(size - offsets, 2)))

    def _law_of(self, comparisons: Comparisons) -> Law | Averaged:
        """Law of the outcome of every row.

        Raises
        ------
        DataError
            If a model or a judge is not among those fitted, or a covariate is needed and missing.
        """
        c = comparisons
        models = positions_of(c.models, self.comparisons.models)[:, 0]
        judges = positions_of(c.judges, self.comparisons.judges)[:, 0]
        if self.model.weights_vary and c.covariate is None:
            raise DataError(f"model {self.model.name!r} needs a covariate, and the comparisons have none")
        return self._law(models[c.first], models[c.second], judges[c.judge], c.covariate, c.columns)

    def _law(
        self,
        first: IntArray,
        second: IntArray,
        judge: IntArray,
        z: FloatArray | None,
        columns: csr_array | None = None,
    ) -> Law | Averaged:
        """Law of outcomes, for places among those fitted; without columns further blocks add nothing."""
        parameters, values = self.solution.parameters, self._values
        gamma, position = values.gamma[judge], values.position[judge]
        nu, strong = (
            None if values.nu is None else values.nu[judge],
            [log_strength[judge] for log_strength in values.log_strong],
        )
        if self.model.weights_vary and z is not None:
            gamma = gamma * np.exp(values.slope[judge] * z)
        difference = parameters.scores[first] - parameters.scores[second]
        if columns is not None and self.model.further:
            forms = self.model.forms(columns, parameters.common)
            gamma, difference = gamma * np.exp(forms[Role.WEIGHT]), difference + forms[Role.QUALITY]
            position, nu = position + forms[Role.OFFSET], None if nu is None else nu * np.exp(forms[Role.TIE])
            strong = [
                log_strength + forms[role]
                for log_strength, role in zip(strong, Role.strengths(len(strong)), strict=True)
            ]
        return self._law_of_eta(gamma * difference + position, gamma, nu, *strong)

    def _law_of_eta(
        self, eta: FloatArray, gamma: FloatArray, nu: FloatArray | None, *log_strong: FloatArray
    ) -> Law | Averaged:
        """Law of outcomes at predictors, on a question drawn at random where questions have effects."""
        if self.effects is None or self.effects.sigma == 0:
            return Law(eta, nu, *log_strong)
        return self.effects.law(eta, gamma, nu, *log_strong)


def positions_of(names: Names, available: tuple[str, ...]) -> NDArray[np.intp]:
    """Places of names among those fitted, on an axis before a last one of length one.

    Raises
    ------
    DataError
        If one is not among them.
    """
    requested = np.asarray([names] if isinstance(names, str) else names, dtype=object)
    index = pd.Index(available).get_indexer(pd.Index(requested))
    if (index < 0).any():
        raise DataError(f"{requested[index.argmin()]!r} is not among those fitted: {', '.join(available)}")
    return index[0, None] if isinstance(names, str) else index[:, None]
