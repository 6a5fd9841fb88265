"""BT-sigma, the paper's model found by others at the same time, in their library."""

from __future__ import annotations

import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.methods.family import expected
from judgerank.methods.ranking import Ranking


def bt_sigma(comparisons: Comparisons) -> Ranking:
    """Skills and a discriminator sigma_k = 1 / gamma_k per judge (arXiv:2602.16610), by evaluatorq.

    The library maximises with Adam, with weak normal priors on the skills and on log sigma, on cells of equal
    comparisons. Its settings are fixed.
    """
    from evaluatorq.ranking import JudgedComparison, fit_bt

    cells = comparisons.aggregate()
    records = [
        JudgedComparison(
            judge=cells.judges[k], item_a=cells.models[i], item_b=cells.models[j], p_a=float(y), weight=float(n)
        )
        for i, j, k, y, n in zip(cells.first, cells.second, cells.judge, cells.outcome, cells.count, strict=True)
    ]
    found = fit_bt(records)
    scores = pd.Series(found.skills)[list(cells.models)]
    gamma = 1.0 / pd.Series(found.sigmas, dtype=float).reindex(list(cells.judges), fill_value=1.0)
    return Ranking(scores, expected(scores, gamma), judges=gamma, remark="; ".join(found.warnings))
