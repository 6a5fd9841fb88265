"""Small random designs on which likelihoods have several maxima, or none, and fits that are checked on them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DisconnectedError, NoMaximumError, NotIdentifiedError
from judgerank.engine import search
from judgerank.engine.boundary import guess
from judgerank.engine.newton import Newton
from judgerank.fits.fit import fit
from judgerank.model.members import MODELS, Model, Parameters
from replication.replicate import Record

HIGHER = 1e-6  # relative difference of log-likelihoods that is more than rounding


def drawn(settings: dict, rng: np.random.Generator) -> Comparisons:
    """Raw rows of a few models by a few judges of any quality, with some ties; a covariate where one is needed.

    Settings are ``member``, ``models``, ``judges`` and ``comparisons``, the last three the least and the most.
    """
    n, k, size = (
        int(rng.integers(low, high + 1)) for low, high in map(settings.get, ("models", "judges", "comparisons"))
    )
    i, judge = rng.integers(n, size=size), rng.permutation(np.arange(size) % k)
    j = (i + rng.integers(1, n, size=size)) % n
    s, gamma, b = rng.normal(size=n), rng.normal(0.6, 0.8, k), rng.normal(size=k)
    y = (rng.random(size) < 1 / (1 + np.exp(-gamma[judge] * (s[i] - s[j]) - b[judge]))).astype(float)
    y[rng.random(size) < 0.1] = 0.5
    names = (tuple(f"{kind}{x}" for x in range(many)) for kind, many in (("m", n), ("j", k)))
    covariate = rng.choice([-1.0, 1.0], size) if MODELS[settings["member"]].weights_vary else None
    return Comparisons(*names, i, j, judge, y, None, covariate)


def maximum_missed(settings: dict, rng: np.random.Generator) -> Record:
    """Whether any of many climbs from random ``starts`` ends higher than the maximum that was found.

    And, as ``one_climb``, whether that itself is higher than where the one climb from the unweighted scores ends.
    """
    try:
        found = fit(drawn(settings, rng), settings["member"])
    except (NoMaximumError, NotIdentifiedError) as error:
        return {"status": type(error).__name__, "bad": 0, "gap": 0.0}
    if not found.status.converged:
        return {"status": str(found.status), "bad": 0, "gap": 0.0}
    cells, model, height, gap = found.comparisons, found.model, found.log_likelihood, 0.0
    least = HIGHER * max(1.0, abs(height))
    first = guess(cells, model, search.unweighted_scores(cells, Newton()))
    one = search.maximise(cells, model, Newton(), first).evaluation.log_likelihood
    for _ in range(settings["starts"]):
        judges = 1.5 * rng.normal(size=(len(model.judge_blocks), len(cells.judges)))
        start = Parameters(rng.normal(size=len(cells.models)), judges)
        other = search.maximise(cells, model, Newton(), start)
        if other.status.converged:
            gap = max(gap, other.evaluation.log_likelihood - height)
    record = {"status": str(found.status), "bad": int(gap > least), "gap": float(gap)}
    return record | {"one_climb": int(height - one > least)}


def certificate_false(settings: dict, rng: np.random.Generator) -> Record:
    """Whether a fit is called interior where a linear program finds no maximum, or refused where it finds one.

    The program is written out here row by row, apart from the one that decides. Where discriminations are free it
    can only show that there is none.
    """
    rows, model = drawn(settings, rng), MODELS[settings["member"]]
    try:
        status = str(fit(rows, settings["member"]).status)
    except (DisconnectedError, NotIdentifiedError) as error:
        return {"status": type(error).__name__, "bad": 0}
    except NoMaximumError as error:
        status = type(error).__name__
    if status == "interior":
        return {"status": status, "bad": int(rises(rows, model))}
    concave = not model.weighs_judges
    return {"status": status, "bad": int(concave and not rises(rows, model))}


def rises(rows: Comparisons, model: Model) -> bool:
    """Whether the likelihood rises without end along some direction of scores, positions and tie propensities.

    Along a direction an outcome's weight grows by its form: half the model shown first over the second, position
    with it, less than none for the second, and the propensity of a tie. What was observed must never fall behind.
    """
    n, k = len(rows.models), len(rows.judges)
    ties = set(rows.judge[rows.outcome == 0.5].tolist()) if model.has_ties else set()
    gaps = []
    for i, j, judge, y in zip(rows.first, rows.second, rows.judge, rows.outcome, strict=True):
        half = np.zeros(n + 2 * k)
        half[[i, j]] = 0.5, -0.5
        half[n + judge] = 0.5 * model.has_position
        tie = np.zeros(n + 2 * k)
        tie[n + k + judge] = 1.0
        forms = {1.0: half, 0.0: -half} | ({0.5: tie} if judge in ties else {})
        observed = (y,) if y in forms else (1.0, 0.0)  # without propensities, a tie is half of either
        gaps += [forms[seen] - form for seen in observed for other, form in forms.items() if other != seen]
    matrix = np.array(gaps)
    found = linprog(-matrix.sum(axis=0), A_ub=-matrix, b_ub=np.zeros(len(matrix)), bounds=(-1, 1), method="highs")
    return -found.fun > 1e-6
