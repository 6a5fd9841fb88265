"""Methods on the same data: folds of a set, and panels whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import signature
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from hydra.utils import get_method
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.fits.crossvalidation import losses
from judgerank.inference.wald import normal_quantile
from replication.correlation import kendall, spearman
from replication.random_designs import draw_truth, uniform_triples
from replication.replicate import Record
from studies.methods.ranking import Ranking

Rank = Callable[[Comparisons], Ranking]


def method_of(name: str, function: str, settings: Mapping[str, Any]) -> Rank:
    """A configured method.

    Raises
    ------
    ConfigError
        If there is no such function, the library behind it is not installed, or it takes no such settings.
    """
    try:
        found = get_method(function)
    except Exception as error:  # whatever is wrong with the path or its import, Hydra wraps
        missing = isinstance(error.__cause__, ModuleNotFoundError)
        hint = ": the optional extra 'methods' has its library" if missing else ""
        raise ConfigError(f"methods.{name}.function={function} cannot be loaded{hint}") from None
    taken = signature(found, eval_str=True).parameters
    for key, value in settings.items():
        if key not in taken:
            raise ConfigError(f"methods.{name}.settings.{key}: {function} takes no such setting")
        wanted = taken[key].annotation
        if wanted in (float, int) and not isinstance(value, float | int):
            raise ConfigError(f"methods.{name}.settings.{key}={value} is not a number")
    return partial(found, **settings)


def on_set(settings: dict, rng: np.random.Generator, sets: dict[str, tuple[Comparisons, np.ndarray]]) -> Record:
    """One method on a set: scores from the whole of it, or how well one fold is predicted by the others.

    Settings are ``set``, ``method`` and its ``function``, ``settings`` and ``orders``, and ``fold``, None for the
    whole set. `sets` has the comparisons and their folds. A method that depends on the order of rows is run on
    several random ones: scores are means over them, and what each order gave is in ``by_order``.
    """
    rank = method_of(settings["method"], settings["function"], settings["settings"])
    comparisons, fold = sets[settings["set"]]
    if settings["fold"] is None:
        return whole_record([rank(rows) for rows in in_orders(comparisons, settings["orders"], rng)])
    held_out = fold == settings["fold"]
    train, test = (comparisons.take(np.flatnonzero(rows)) for rows in (~held_out, held_out))
    predictions = [rank(rows).predict for rows in in_orders(train, settings["orders"], rng)]
    if None in predictions:
        return {}
    lost = pd.DataFrame([losses(test.outcome, predict(test)) for predict in predictions])
    return lost.mean().to_dict() | {"by_order": lost["log_loss"].tolist()}


def in_orders(comparisons: Comparisons, orders: int, rng: np.random.Generator) -> Iterator[Comparisons]:
    """The rows as they are if there is to be one order, and else in so many random ones."""
    for _ in range(orders):
        yield comparisons if orders == 1 else comparisons.take(rng.permutation(len(comparisons)))


def whole_record(found: list[Ranking]) -> Record:
    """What a method says of a set, by the rankings from one or several orders of its rows."""
    first = found[0]
    scores = pd.DataFrame([ranking.scores for ranking in found])
    pairs = combinations(scores.to_numpy(), 2)
    return {
        "scores": scores.mean().to_dict(),
        "errors": None if first.errors is None else pd.DataFrame([r.errors for r in found]).mean().to_dict(),
        "judges": None if first.judges is None else first.judges.to_dict(),
        "probabilities": first.predict is not None,
        "remark": first.remark,
        "by_order": scores.to_dict("records"),
        "kendall_orders": float(np.mean([kendall(*pair) for pair in pairs] or [np.nan])),
    }


def on_panel(settings: dict, rng: np.random.Generator) -> Record:
    """Every method on one data set of a panel, by name: what `against_truth` says, or why there is no ranking.

    Rows are drawn independently, so that every data set is in an order of its own.
    """
    data, truth, everything = drawn_panel(settings["panel"], rng)
    record: Record = {}
    for name, method in settings["methods"].items():
        try:
            found = method_of(name, method["function"], method["settings"])(data)
            record[name] = against_truth(found, truth, everything, settings["level"])
        except (JudgerankError, ArithmeticError, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            record[name] = {"failure": f"{type(error).__name__}: {error}"}
    return record


def drawn_panel(panel: Mapping, rng: np.random.Generator) -> tuple[Comparisons, pd.Series, Comparisons]:
    """Comparisons of uniformly random triples, the scores behind them, and every triple with its mean outcome.

    Models are shown in the order of their names, which says nothing of their scores.
    """
    n, k = panel["n_models"], panel["n_judges"]
    truth = draw_truth(rng, n, k, panel["sigma_scores"], panel["sigma_discrimination"])
    scores, gamma = truth.scores, np.exp(truth.judges[0])
    models = tuple(f"m{i:02d}" for i in range(n))
    judges = models if panel["judged_by_models"] else tuple(f"j{i:02d}" for i in range(k))
    if panel["judged_by_models"]:
        gamma = np.exp(panel["sigma_discrimination"] * scores / scores.std())
    gamma[: panel["n_contrary"]] *= -1
    position = rng.normal(panel["mean_position"], panel["sigma_position"], k)
    pairs = np.stack(np.triu_indices(n, 1))
    triples = np.vstack([np.repeat(pairs, k, axis=1), np.tile(np.arange(k), pairs.shape[1])])
    first, second, judge = uniform_triples(rng, n, k, panel["n_comparisons"])
    if panel["judged_by_models"]:  # nobody judges itself
        triples = triples[:, (triples[:2] != triples[2]).all(axis=0)]
        first, second, judge = triples[:, rng.integers(triples.shape[1], size=panel["n_comparisons"])]

    def mean(i, j, k) -> np.ndarray:
        return expit(gamma[k] * (scores[i] - scores[j]) + position[k])

    won = (rng.random(len(first)) < mean(first, second, judge)).astype(float)
    data = Comparisons(models, judges, first, second, judge, won)
    return data, pd.Series(scores, index=list(models)), Comparisons(models, judges, *triples, mean(*triples))


def against_truth(found: Ranking, truth: pd.Series, everything: Comparisons, level: float) -> Record:
    """Agreement with the true scores, excess log-loss over all triples, and coverage.

    The excess is the expected log-loss less that of the true probabilities. Since each method has a scale of its
    own, its intervals are held against the true scores times the constant, zero or above, best for its scores.
    """
    scores = found.scores[truth.index].to_numpy()
    scores = scores - scores.mean()
    record = {
        "spearman": spearman(scores, truth),
        "kendall": kendall(scores, truth),
    }
    if found.predict is not None:
        p = everything.outcome
        entropy = losses(p, p)["log_loss"]
        record["log_loss"] = losses(p, found.predict(everything))["log_loss"] - entropy
    if found.errors is not None:
        target = truth.to_numpy() * max(0.0, scores @ truth.to_numpy() / (truth @ truth))
        half = normal_quantile(level) * found.errors[truth.index].to_numpy()
        record["coverage"] = float(np.mean(np.abs(scores - target) <= half))
    return {name: float(value) for name, value in record.items()}
