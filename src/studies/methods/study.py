"""Methods on folds of a set and on panels whose truth is known, and the tables of them side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import signature
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from hydra.utils import get_method
from omegaconf import DictConfig
from scipy.special import expit

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.fits.heldout import losses
from judgerank.inference.wald import normal_quantile
from replication import published
from replication.random_designs import draw_truth, uniform_triples
from replication.replicate import Record, Study
from replication.statistics import kendall, spearman
from studies.methods.ranking import Ranking

# Methods on the same data: folds of a set, and panels whose truth is known.
Rank = Callable[[Comparisons], Ranking]


def method_of(name: str, function: str, settings: Mapping[str, Any]) -> Rank:
    """A configured method.

    Raises
    ------
    ConfigError
        If there is no such function, the library behind it is not installed, or it takes no such settings.
    """
    try:
        method = get_method(function)
    except Exception as error:  # whatever is wrong with the path or its import, Hydra wraps
        missing = isinstance(error.__cause__, ModuleNotFoundError)
        hint = ": the optional extra 'methods' has its library" if missing else ""
        raise ConfigError(f"methods.{name}.function={function} cannot be loaded{hint}") from None
    parameters = signature(method, eval_str=True).parameters
    for key, value in settings.items():
        if key not in parameters:
            raise ConfigError(f"methods.{name}.settings.{key}: {function} takes no such setting")
        wanted = parameters[key].annotation
        if wanted in (float, int) and not isinstance(value, float | int):
            raise ConfigError(f"methods.{name}.settings.{key}={value} is not a number")
    return partial(method, **settings)


def on_set(settings: dict, rng: np.random.Generator, sets: dict[str, tuple[Comparisons, np.ndarray]]) -> Record:
    """One method on a set: scores from the whole of it, or how well one fold is predicted by the others.

    Settings are ``set``, ``method`` and its ``function``, ``settings`` and ``orders``, and ``fold``, None for the
    whole set. `sets` has the comparisons and their folds. A method that depends on the order of rows is run on
    several random ones: scores are means over them, and what each order gave is in ``by_order``.
    """
    rank = method_of(settings["method"], settings["function"], settings["settings"])
    comparisons, fold = sets[settings["set"]]
    if settings["fold"] is None:
        return full_data_record([rank(rows) for rows in in_orders(comparisons, settings["orders"], rng)])
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


def full_data_record(rankings: list[Ranking]) -> Record:
    """What a method says of a set, by the rankings from one or several orders of its rows."""
    first = rankings[0]
    scores = pd.DataFrame([ranking.scores for ranking in rankings])
    pairs = combinations(scores.to_numpy(), 2)
    return {
        "scores": scores.mean().to_dict(),
        "errors": None if first.errors is None else pd.DataFrame([r.errors for r in rankings]).mean().to_dict(),
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
            ranking = method_of(name, method["function"], method["settings"])(data)
            record[name] = against_truth(ranking, truth, everything, settings["level"])
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


def against_truth(ranking: Ranking, truth: pd.Series, everything: Comparisons, level: float) -> Record:
    """Agreement with the true scores, excess log-loss over all triples, and coverage.

    The excess is the expected log-loss less that of the true probabilities. Since each method has a scale of its
    own, its intervals are held against the true scores times the constant, zero or above, best for its scores.
    """
    scores = ranking.scores[truth.index].to_numpy()
    scores = scores - scores.mean()
    record = {"spearman": spearman(scores, truth), "kendall": kendall(scores, truth)}
    if ranking.predict is not None:
        p = everything.outcome
        entropy = losses(p, p)["log_loss"]
        record["log_loss"] = losses(p, ranking.predict(everything))["log_loss"] - entropy
    if ranking.errors is not None:
        target = truth.to_numpy() * max(0.0, scores @ truth.to_numpy() / (truth @ truth))
        half = normal_quantile(level) * ranking.errors[truth.index].to_numpy()
        record["coverage"] = float(np.mean(np.abs(scores - target) <= half))
    return {name: float(value) for name, value in record.items()}


# The tables of methods side by side, from what they gave on sets and on panels.
MEASURES = ("spearman", "kendall", "log_loss", "coverage")


def sets_table(
    cfg: DictConfig, methods: dict, data: dict[str, Judgments], study: Study
) -> tuple[pd.DataFrame, ...]:
    """Rows of the comparison, scores with ranks, and what is said of judges."""
    rows, scores, judges = [], [], []
    for name, judgments in data.items():
        people = published.numbers("chatbot_arena_human", "elo") if name == "chatbot_arena" else None
        reference = None if judgments.is_surrogate else people
        for method in methods:
            (full_record,) = study.records(f"{name}-{method}-whole")
            orders = methods[method]["orders"]
            row = {"data": name, "title": judgments.title, "kind": "set", "method": method, "n": 1 + cfg.folds}
            row["orders"] = orders
            if "failure" in full_record:
                rows.append({**row, "n_ranked": 0, "why": full_record["failure"]})
                continue
            folds = [record for fold in range(cfg.folds) for record in study.records(f"{name}-{method}-{fold}")]
            row |= {"n_ranked": 1 + sum("failure" not in fold for fold in folds), "why": full_record["remark"]}
            full_scores, by_order = pd.Series(full_record["scores"]), pd.DataFrame(full_record["by_order"])
            if reference is not None:
                row |= agreement(by_order[reference.index], reference)
            row["kendall_orders"] = full_record["kendall_orders"]
            rows.append(row | held_out(pd.DataFrame(folds)))
            table = pd.DataFrame(
                {"score": full_scores, "rank": full_scores.rank(ascending=False), "error": full_record["errors"]}
            )
            table["sd_orders"] = by_order.std() if orders > 1 else np.nan
            labels = {"data": name, "method": method}
            scores.append(table.rename_axis("model").reset_index().assign(**labels))
            if full_record["judges"]:
                judge_values = pd.Series(full_record["judges"], name="value").rename_axis("judge").reset_index()
                judges.append(judge_values.assign(**labels))
    of_models, of_judges = ["model", "score", "rank", "error", "sd_orders"], ["judge", "value"]
    return pd.DataFrame(rows), _stacked(scores, of_models), _stacked(judges, of_judges)


def _stacked(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    columns = ["data", "method", *columns]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def agreement(by_order: pd.DataFrame, reference: pd.Series) -> dict[str, float]:
    """Rank correlations with a reference: the mean over orders of the rows (rows here) and their spread."""
    row = {}
    for name, correlation in (("spearman", spearman), ("kendall", kendall)):
        values = pd.Series([correlation(scores, reference) for _, scores in by_order.iterrows()])
        row |= {name: values.mean(), f"{name}_sd": values.std(), f"{name}_se": values.std() / np.sqrt(len(values))}
    return row


def held_out(folds: pd.DataFrame) -> dict[str, float]:
    """Log-loss per comparison with its standard error over folds, and accuracy; nothing without probabilities.

    With several orders of the rows these are means over them, and ``log_loss_sd`` is their spread.
    """
    if "log_loss" not in folds or folds["log_loss"].isna().any():
        return {}
    weight = folds["comparisons"] / folds["comparisons"].sum()
    error = float(folds["log_loss"].std() / np.sqrt(len(folds)))
    row = {"log_loss": weight @ folds["log_loss"], "log_loss_se": error, "accuracy": weight @ folds["accuracy"]}
    by_order = weight.to_numpy() @ np.array(folds["by_order"].tolist())
    return row | {"log_loss_sd": np.std(by_order, ddof=1) if len(by_order) > 1 else np.nan}


def panels_table(cfg: DictConfig, methods: dict, study: Study) -> pd.DataFrame:
    """Means over the data sets that a method could rank, with Monte Carlo errors, and how many those are."""
    rows = []
    for name, panel in cfg.panels.items():
        records = list(study.records(name))
        for method in methods:
            frame = pd.DataFrame([record[method] for record in records])
            row = {"data": name, "title": panel.title, "kind": "panel", "method": method, "n": len(frame)}
            failed = frame["failure"].dropna() if "failure" in frame else pd.Series(dtype=str)
            row |= {"n_ranked": len(frame) - len(failed), "why": failed.mode().get(0, "")}
            for measure in MEASURES:
                values = frame[measure].dropna() if measure in frame else ()
                if len(values) > 1:
                    row[measure] = values.mean()
                    row[f"{measure}_se"] = values.std() / np.sqrt(len(values))
            if "spearman" in frame:
                row["n_reversed"] = int((frame["spearman"] < 0).sum())
            rows.append(row)
    return pd.DataFrame(rows)


def methods_table(methods: dict, study: Study) -> pd.DataFrame:
    """What each method is, and what it gave where it ranked one of the sets."""
    rows = []
    for name, method in methods.items():
        cells = [
            cell
            for cell, settings in study.cells.items()
            if settings["method"] == name and settings["fold"] is None
        ]
        ranked_records = [record for cell in cells for record in study.records(cell) if "failure" not in record]
        row = {"method": name, **{key: method[key] for key in ("title", "source", "limits")}}
        if ranked_records:
            row |= {
                "probabilities": ranked_records[0]["probabilities"],
                "intervals": ranked_records[0]["errors"] is not None,
            }
            row |= {"judges": ranked_records[0]["judges"] is not None}
            row |= {
                "orders": method["orders"],
                "least_kendall_orders": min(r["kendall_orders"] for r in ranked_records),
            }
        rows.append({**row, "settings": ", ".join(f"{key}={value}" for key, value in method["settings"].items())})
    return pd.DataFrame(rows)
