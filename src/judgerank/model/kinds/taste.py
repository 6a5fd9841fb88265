"""Tastes: how much more or less a judge likes each model than the panel's scores say, shrunk toward zero.

    eta = gamma_k (s_i - s_j) + b_k + t_ki - t_kj,    t_ki normal with mean zero and one standard deviation.

Scores are not shrunk, so at the maximum tastes balance over the judges, sum_k gamma_k t_ki = 0, and tell nothing
of what discriminations do, sum_i s_i t_ki = 0. The standard deviation is fitted by restricted likelihood: scores
and discriminations take (N - 1) + (K - 1) of the K (N - 1) differences that tastes are estimated from.
"""

from __future__ import annotations

from judgerank.data.errors import ConfigError, DataError
from judgerank.model.block import Block, Design, Records, Role, indicator


def block(*columns: str) -> tuple[Block, ...]:
    """A taste of every judge for every model.

    Raises
    ------
    ConfigError
        If a column is named: tastes go by the names of judges and models.
    """
    if columns:
        raise ConfigError("block 'taste' has no column: it uses the names of judges and models")

    def design(records: Records) -> Design:
        c = records.comparisons
        n, k = len(c.models), len(c.judges)
        if n < 3 or k < 2:
            raise DataError(
                f"block 'taste' needs two judges and three models, and there are {k} and {n}: with fewer, tastes "
                "cannot be told from scores and discriminations"
            )
        labels = tuple(f"{model} by {judge}" for judge in c.judges for model in c.models)
        terms = (c.judge * n + c.first, 1.0), (c.judge * n + c.second, -1.0)
        return Design(indicator(len(c), *terms, width=len(labels)), labels)

    what = "how much more a judge likes a model than its score says, in log-odds"
    return (Block("taste", Role.OFFSET, design, shrunk=True, what=what, restricted=True),)
