"""The same judgments told otherwise: counted more often, written twice, turned round, names in another order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DisconnectedError, NoIntervalError, NoMaximumError, NotIdentifiedError
from judgerank.fits.fit import fit
from replication.replicate import Record
from studies.torture.designs import HIGHER, drawn

SHARE = 1e-2  # of a standard error: where a likelihood is flat, rounding moves its maximum


class Answer(NamedTuple):
    """How a fit ended: status or error, whom or what it names, log-likelihood a comparison, and scores by name.

    Standard errors of scores are infinite where there is no maximum, so that a climb stops anywhere.
    """

    status: str
    named: tuple[frozenset[str], ...]
    height: float
    scores: np.ndarray
    errors: np.ndarray


def told_otherwise(settings: dict, rng: np.random.Generator) -> Record:
    """Whether a fit ends otherwise for any telling of the same judgments, counts times ``factors`` among them."""
    rows = drawn(settings, rng)
    first = answer(rows, settings["member"])
    told = tellings(rows.with_ties(), settings["factors"], rng)
    others = [name for name, other in told if differ(first, answer(other, settings["member"]))]
    return {"status": first.status, "bad": int(len(others) > 0), "told": ", ".join(others)}


def tellings(
    rows: Comparisons, factors: list[float], rng: np.random.Generator
) -> Iterator[tuple[str, Comparisons]]:
    """The same judgments in other ways, each with its name."""
    for factor in factors:
        yield f"x{factor:g}", replace(rows, count=factor * rows.count)
    yield "twice", rows.take(np.tile(np.arange(len(rows)), 2))
    yield "turned", replace(rows, first=rows.second, second=rows.first, outcome=1 - rows.outcome)
    models, judges = rng.permutation(len(rows.models)), rng.permutation(len(rows.judges))
    places = {"first": models[rows.first], "second": models[rows.second], "judge": judges[rows.judge]}
    names = {
        kind: tuple(np.array(labels)[np.argsort(order)].tolist())
        for kind, labels, order in (("models", rows.models, models), ("judges", rows.judges, judges))
    }
    yield "renamed", replace(rows, **places, **names).take(rng.permutation(len(rows)))


def answer(rows: Comparisons, member: str) -> Answer:
    """How the fit ends."""
    try:
        found = fit(rows, member)
    except (DisconnectedError, NotIdentifiedError, NoMaximumError) as error:
        named = (frozenset(re.findall(r"\w+", str(error))),)
        return Answer(type(error).__name__, named, 0.0, np.zeros(1), np.zeros(1))
    named = frozenset(found.judges_at_zero), frozenset(found.unbounded_judges)
    height = found.log_likelihood / found.comparisons.n_comparisons
    scores = found.scores
    try:
        errors = np.sqrt(np.diag(found.covariance)[: len(scores)])
    except NoIntervalError:
        errors = np.full(len(scores), np.inf)
    order = np.argsort(scores.index)
    return Answer(str(found.status), named, height, scores.to_numpy()[order], errors[order])


def differ(one: Answer, other: Answer) -> bool:
    """Whether two answers are not the same but for rounding."""
    if one[:2] != other[:2]:
        return True
    slack = np.maximum(HIGHER * max(1.0, np.abs(one.scores).max()), SHARE * one.errors)
    apart = np.abs(one.scores - other.scores) > slack
    return bool(apart.any() or abs(one.height - other.height) > HIGHER * abs(one.height))
