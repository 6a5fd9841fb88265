"""Judges who lean towards a position, and who is shown there: what that does to scores that know nothing of it."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from judgerank.data.arrays import generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoMaximumError
from judgerank.fits.fit import fit
from judgerank.model.members import Parameters
from replication.random_designs import draw_truth
from replication.replicate import Record

ORDERS = ("names", "random")  # the first name is shown first, as in the published sets, or either model at random


def truth_of(settings: dict) -> Parameters:
    """Scores, log-discriminations and positions of the panel; judge blocks in the order of ``position_aware``."""
    rng = generator(settings["seed"], "slots", settings["n_models"], settings["n_judges"])
    sizes = (settings[name] for name in ("n_models", "n_judges", "sigma_scores", "sigma_discrimination"))
    truth = draw_truth(rng, *sizes)
    position = rng.normal(settings["mean_position"], settings["sigma_position"], settings["n_judges"])
    return Parameters(truth.scores, np.vstack([truth.judges, position]))


def drawn(settings: dict, rng: np.random.Generator) -> Comparisons:
    """Aggregated comparisons of uniformly random pairs by uniformly random judges, in the order asked for.

    How often each triple comes up, and how often its first model wins, are drawn as such: the law is that of rows
    drawn one by one, which takes most of the time where there are many.
    """
    truth = truth_of(settings)
    n, k = settings["n_models"], settings["n_judges"]
    first, second = np.triu_indices(n, 1)
    if settings["order"] == "random":
        first, second = np.r_[first, second], np.r_[second, first]
    first, second, judge = np.repeat(first, k), np.repeat(second, k), np.tile(np.arange(k), len(first))
    count = rng.multinomial(settings["n_comparisons"], np.full(len(judge), 1 / len(judge)))
    first, second, judge, count = (column[count > 0] for column in (first, second, judge, count))
    p = expit(
        np.exp(truth.judges[0])[judge] * (truth.scores[first] - truth.scores[second]) + truth.judges[1][judge]
    )
    names = tuple(f"m{i:03d}" for i in range(n)), tuple(f"j{i:03d}" for i in range(k))
    return Comparisons(*names, first, second, judge, rng.binomial(count, p) / count, count).aggregate()


def standardised_scores(settings: dict, rng: np.random.Generator) -> Record:
    """Scores over their standard deviation by every member, or how its fit ended without a maximum."""
    cells = drawn(settings, rng)
    record: Record = {}
    for member in settings["members"]:
        try:
            fitted = fit(cells, member)
        except (DataError, NoMaximumError) as error:  # too few for every judge, or for every score
            record[f"status/{member}"] = type(error).__name__
            continue
        record[f"status/{member}"] = str(fitted.status)
        if fitted.converged:
            scores = fitted.scores.to_numpy()
            record[member] = (scores / scores.std()).tolist()
    return record
