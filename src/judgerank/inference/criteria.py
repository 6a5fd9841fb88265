"""How many parameters a fit has, and the information criteria that count them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.errors import ConfigError
from judgerank.inference.uncertainty import Uncertainty


@dataclass(frozen=True, eq=False)
class Criteria(Uncertainty):
    """A fit's size against its height.

    Attributes
    ----------
    comparisons, model, settings, solution, effects, robust, by_cluster, n_clusters, effective_clusters,
    effective_by_pair, of_panel
        Those of `Uncertainty`.
    """

    @property
    def aic(self) -> float:
        """Akaike's information criterion, twice the parameters less twice the log-likelihood.

        Compare it between members of the same outcomes only: those that take ties for half a win, those with ties
        as an outcome (``_ties``), and those with strength (``_graded``) have likelihoods of different events.

        Raises
        ------
        ConfigError
            If something is shrunk: its parameters do not count as one each.
        """
        return 2.0 * self._n_counted() - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's: the logarithm of the number of comparisons in place of two.

        `aic` says between which members it can be compared, and what is raised.
        """
        return float(np.log(self.comparisons.n_comparisons)) * self._n_counted() - 2.0 * self.log_likelihood

    def _n_counted(self) -> int:
        if self.solution.shrinks_scores or any(block.shrunk for block in self.model.further):
            raise ConfigError("there is no information criterion where something is shrunk: compare held-out loss")
        return self.n_parameters

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: scores and log-discriminations in play sum to zero."""
        of_model = int(self.chosen.sum()) - 1 - int(self.free[:1].any())
        return of_model + (self.effects is not None)
