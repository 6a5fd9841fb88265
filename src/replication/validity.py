"""Do the claims of a fit hold where they are hardest to keep? Levels, wrong directions, coverage and power.

Data sets are drawn on designs where models are all but equal, where judges see the same questions, where no chain
of comparisons connects the models, where a judge never errs. Each is fitted once; its pairs and ranks are judged
by the two tests of `judgerank.order.pairs` and, for comparison, by the fit's Wald test alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoIntervalError, NoMaximumError
from judgerank.fits.apart import fit_apart
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.model.members import MODELS, Parameters
from judgerank.order.pairs import Order, holm, orders, orders_by_errors, simultaneous_quantile
from replication.replicate import Record

TESTS = ("wald", "both")


def drawn(settings: dict, rng: np.random.Generator) -> tuple[Comparisons, np.ndarray, Parameters]:
    """Raw comparisons, the question behind each, and the scores and log-discriminations they were drawn from.

    In question q model i performs as s_i + e_iq for all judges. With ``islands`` models are compared within two
    halves only; a ``far`` judge's discrimination is that many times the others' typical one.
    """
    n, k, size = (settings[name] for name in ("n_models", "n_judges", "n_comparisons"))
    s = rng.normal(0.0, 1.0, n) * settings["sigma_scores"]
    s[: settings["equal"]] = 0.0
    alpha = rng.normal(0.0, settings["sigma_discrimination"], k)
    alpha[0] += np.log(settings["far"])
    truth = Parameters(s - s.mean(), (alpha - alpha.mean())[None])
    group = n // 2 if settings["islands"] else n
    start = rng.integers(n // group, size=size) * group
    i = rng.integers(group, size=size)
    j = (i + rng.integers(1, group, size=size)) % group + start
    i, judge = i + start, rng.integers(k, size=size)
    question = rng.integers(settings["questions"] or size, size=size)
    effect = rng.normal(0.0, 1.0, (question.max() + 1, n)) * settings["question_sd"]
    gamma, position = np.exp(truth.judges[0])[judge], settings["position"] * np.linspace(-1, 1, k)[judge]
    eta = gamma * (s[i] + effect[question, i] - s[j] - effect[question, j]) + position
    outcome = (rng.random(size) < expit(eta)).astype(float)
    outcome[rng.random(size) < settings["ties"]] = 0.5
    names = tuple(f"m{x:02d}" for x in range(n)), tuple(f"j{x:02d}" for x in range(k))
    return Comparisons(*names, i, j, judge, outcome), question, truth


def measured(settings: dict, rng: np.random.Generator) -> Record:
    """One data set: errors of both kinds of test, what the ranks and intervals hold, and the power.

    Settings are those of `drawn`, ``member``, ``solver``, ``clustered`` and ``level``.
    """
    data, question, truth = drawn(settings, rng)
    cluster = question if settings["clustered"] else None
    try:
        fits = _fitted(settings, data, cluster)
        found = [order for part in fits for order in orders(part)]
    except (NoMaximumError, NoIntervalError) as error:
        return {"status": type(error).__name__}
    record: Record = {"status": str(fits[0].status)}
    reach = simultaneous_quantile(found, settings["level"])
    for name, kept in _by_test(found).items():
        held = _order_kept(kept, reach, truth, settings["level"])
        record |= {f"{key}/{name}": value for key, value in held.items()}
    if len(fits) == 1:
        record |= _covered(fits[0], truth, settings)
    return record


def _fitted(settings: dict, data: Comparisons, cluster) -> tuple[Fit, ...]:
    member, solver = settings["member"], settings["solver"]
    if settings["islands"] and solver != "penalised":
        return fit_apart(data, member, solver, cluster=cluster)
    fitted = fit(data, member, solver)
    return (fitted if cluster is None else fitted.clustered(data, cluster),)


def _by_test(found: list[Order]) -> dict[str, list[Order]]:
    """The orders by the Wald tests of the fit alone, and by both."""
    alone = [replace(order, difference=order.difference[[0, 0]], error=order.error[[0, 0]]) for order in found]
    return dict(zip(TESTS, (alone, found), strict=True))


def _order_kept(found: list[Order], reach: float, truth: Parameters, level: float) -> dict[str, float]:
    """Whether a pair of equals is separated, or any the wrong way round; whether all ranks are held; the power.

    Equal models may be ranked either way.
    """
    statistic, p, apart, ranks_held = [], [], [], True
    for order in found:
        s = truth.scores[[int(name[1:]) for name in order.models]]
        difference = np.subtract.outer(s, s)
        i, j = np.triu_indices(len(s), 1)
        statistic.append(order.statistic[i, j])
        p.append(order.p_value[i, j])
        apart.append(difference[i, j])
        surely = order.statistic > reach
        ranks_held &= not (surely & (difference <= 0)).any()
    statistic, p, apart = (np.concatenate(values) for values in (statistic, p, apart))
    separated, differ = holm(p) <= 1 - level, apart != 0
    return {
        "false": float((separated & ~differ).any()),
        "wrong": float((separated & (apart * statistic < 0)).any()),
        "ranks": float(ranks_held),
        "power": float(separated[differ].mean()) if differ.any() else np.nan,
    }


def _covered(fitted: Fit, truth: Parameters, settings: dict) -> dict[str, float]:
    """Shares of intervals that hold: differences of scores, those across islands, discriminations, the far one.

    The truth's discriminations have the geometric mean one over all judges, so judges must all be in play. Where
    models do better or worse by question fits converge to flatter scores than the truth's, and nothing is said.
    """
    if fitted.judges_at_zero or settings["question_sd"]:
        return {}
    rows = fitted.confidence_intervals(settings["level"])
    gamma = rows[rows["parameter"] == "discrimination"].set_index("name")
    n, s = len(truth.scores), fitted.scores.to_numpy()
    v = fitted.covariance[:n, :n]
    i, j = np.triu_indices(n, 1)
    error = np.sqrt(np.diag(v)[i] + np.diag(v)[j] - 2 * v[i, j])
    off = np.abs(s[i] - s[j] - truth.scores[i] + truth.scores[j])
    held = off <= normal_quantile(settings["level"], fitted.degrees_of_freedom) * error
    across = settings["islands"] & ((i < n // 2) != (j < n // 2))
    shares = {"scores": float(held[~across].mean())}
    if across.any():
        shares["across"] = float(held[across].mean())
    if len(gamma) and settings["sigma_scores"] and MODELS[settings["member"]].n_scale == 1:
        true = np.exp(truth.judges[0])
        inside = ((gamma["low"] <= true) & (true <= gamma["high"])).to_numpy()[gamma["low"].notna()]
        shares |= {"discrimination": float(inside.mean()), "lowest": float(gamma["low"].min())}
        if settings["far"] != 1 and gamma["low"].notna().iloc[0]:
            shares["far"] = float(inside[0])
    return shares


def half(settings: dict, rng: np.random.Generator, sets: dict) -> Record:
    """A random half of a set's comparisons: whether every score has an interval, and who runs off."""
    comparisons = sets[settings["set"]][0]
    part = comparisons.take(np.sort(rng.choice(len(comparisons), len(comparisons) // 2, replace=False)))
    try:
        fitted = fit(part, settings["member"], settings["solver"])
        rows = fitted.confidence_intervals().query("parameter == 'score'")
    except (NoMaximumError, NoIntervalError) as error:
        return {"status": type(error).__name__, "intervals": 0.0}
    finite = bool(np.isfinite(rows[["low", "high"]].to_numpy()).all())
    return {"status": str(fitted.status), "intervals": float(finite), "unbounded": len(fitted.unbounded_judges)}


def separated(settings: dict, rng: np.random.Generator, sets: dict) -> Record:
    """Pairs of a set that Holm's procedure separates, by the Wald tests alone and by both, by kind of error."""
    comparisons, question = sets[settings["set"]]
    fitted = fit(comparisons, settings["member"], settings["solver"])
    kinds = {"plug_in": fitted, "clustered": fitted.clustered(comparisons, question)}
    record: Record = {"status": str(fitted.status)}
    for kind, found in zip(kinds, orders_by_errors(*kinds.values()), strict=True):
        for name, kept in _by_test(found).items():
            p = np.concatenate([order.p_value[np.triu_indices(len(order.models), 1)] for order in kept])
            record |= {"pairs": len(p), f"{name}/{kind}": int((holm(p) <= 1 - settings["level"]).sum())}
    return record
