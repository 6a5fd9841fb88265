"""BT-sigma, the paper's model found by others at the same time, with the priors of their library.

"Who can we trust? LLM-as-a-jury for comparative assessment" (arXiv:2602.16610) has skills s and a discriminator
sigma_k = 1 / gamma_k per judge. With p = sigmoid((s_i - s_j) / sigma_k) the library evaluatorq maximises

    sum n [y log p + (1 - y) log(1 - p)] - r sum s^2 / 2 - r sum (log sigma)^2 / 2,

r = 0.01 and y held a millionth away from zero and one, by Adam in plain Python: rows times up to 20,000
iterations, minutes for 36,000 comparisons. Here the same function is maximised by L-BFGS. The library's search
ends a little below: the scale of the skills, which priors alone set, is the last thing it finds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from judgerank.data.comparisons import Comparisons
from judgerank.engine.sums import evaluate
from judgerank.model.members import JUDGE_AWARE, Parameters
from studies.methods.family import expected
from studies.methods.ranking import Ranking
from studies.methods.unordered import unordered

RIDGE = 1e-2  # the library's, for skills and for log sigma
CERTAIN = 1e-6  # the library's least distance of an outcome from zero and one
OPTIONS = {"maxiter": 5000, "maxfun": 20_000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-9}


def bt_sigma(comparisons: Comparisons, *, ridge: float = RIDGE) -> Ranking:
    """Skills and discriminations 1 / sigma_k at the maximum of BT-sigma's penalised likelihood.

    Parameters
    ----------
    comparisons : Comparisons
        Raw or aggregated; a tie is half a win.
    ridge : float
        Precision of the normal priors of the skills and of log sigma.

    Returns
    -------
    Ranking
        `scores` by model, which sum to zero; `judges` 1 / sigma by judge; `predict`. A lone judge has sigma one.
    """
    cells = _cells(comparisons)
    n, k = len(cells.models), len(cells.judges)
    # all sigmas one first: from scores of zero, nothing would tell which judge is sharp
    x = np.zeros(n + k)
    for free in (0.0, np.inf) if k > 1 else (0.0,):
        bounds = [(None, None)] * n + [(-free, free)] * k
        found = minimize(_loss, x, (cells, ridge), method="L-BFGS-B", jac=True, bounds=bounds, options=OPTIONS)
        x = found.x
    scores = pd.Series(x[:n] - x[:n].mean(), cells.models, name="score")
    gamma = pd.Series(np.exp(x[n:]), cells.judges, name="discrimination")
    ended = found.nit < OPTIONS["maxiter"] and found.nfev < OPTIONS["maxfun"]
    remark = "" if ended else "The search stopped at its limit of iterations."
    return Ranking(scores, expected(scores, gamma), judges=gamma, remark=remark)


def _cells(comparisons: Comparisons) -> Comparisons:
    """Aggregated over positions too, to which the model is blind."""
    c = unordered(comparisons)
    return replace(c, outcome=np.clip(c.outcome, CERTAIN, 1 - CERTAIN), tied=None).aggregate()


def _loss(x: np.ndarray, cells: Comparisons, ridge: float) -> tuple[float, np.ndarray]:
    """Minus the penalised log-likelihood a comparison, and its gradient in (s, -log sigma), shape (N + K,)."""
    n = len(cells.models)
    here = evaluate(cells, JUDGE_AWARE, Parameters(x[:n], x[None, n:]))
    value = here.log_likelihood - 0.5 * ridge * x @ x
    gradient = np.r_[here.top_gradient, here.judge_gradient[0]] - ridge * x
    return -value / cells.n_comparisons, -gradient / cells.n_comparisons


def by_evaluatorq(comparisons: Comparisons) -> Ranking:
    """The same by the library, whose settings are fixed."""
    from evaluatorq.ranking import JudgedComparison, fit_bt

    c = _cells(comparisons)
    records = [
        JudgedComparison(judge=c.judges[k], item_a=c.models[i], item_b=c.models[j], p_a=float(y), weight=float(n))
        for i, j, k, y, n in zip(c.first, c.second, c.judge, c.outcome, c.count, strict=True)
    ]
    found = fit_bt(records)
    scores = pd.Series(found.skills)[list(c.models)]
    gamma = 1.0 / pd.Series(found.sigmas, dtype=float).reindex(list(c.judges), fill_value=1.0)
    return Ranking(scores, expected(scores, gamma), judges=gamma, remark="; ".join(found.warnings))
