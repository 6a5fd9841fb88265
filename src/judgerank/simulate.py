"""Random designs and outcomes under the judge-aware model (paper, section 4 and its appendix)."""

from __future__ import annotations

import zlib

import numpy as np
from scipy.special import expit

from judgerank.comparisons import Comparisons


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A generator keyed by names, so that no stream depends on the order in which others are drawn."""
    key = tuple(name if isinstance(name, int) else zlib.crc32(name.encode()) for name in names)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def uniform_triples(rng: np.random.Generator, n_models: int, n_judges: int, size: int) -> np.ndarray:
    """Triples (i, j, k) with i < j, uniform over all of them; int array, shape (3, size)."""
    first, second = np.triu_indices(n_models, 1)
    pair = rng.integers(len(first), size=size)
    return np.stack([first[pair], second[pair], rng.integers(n_judges, size=size)])


def draw_outcomes(rng: np.random.Generator, probability: np.ndarray, split: np.ndarray | float = 0.0):
    """Outcomes with mean `probability`; float array of 0, 1 and, for ties, 0.5.

    Without `split` they are Bernoulli. With it, a comparison is decided with that probability by two half votes
    that may cancel: ties then fall where the models are close and leave the mean as the model has it.
    """
    votes = rng.random((2, len(probability))) < probability
    return np.where(rng.random(len(probability)) < split, votes.mean(axis=0), votes[0])


def draw_panel(
    rng: np.random.Generator,
    scores: dict[str, float],
    discrimination: dict[str, float],
    tie_share: dict[str, float],
    size: int,
) -> Comparisons:
    """Comparisons on a uniform design with about the given share of ties by judge."""
    models, judges = tuple(sorted(scores)), tuple(sorted(discrimination))
    i, j, k = uniform_triples(rng, len(models), len(judges), size)
    s = np.array([scores[name] for name in models])
    gamma = np.array([discrimination[name] for name in judges])
    ties = np.array([tie_share[name] for name in judges])
    p = expit(gamma[k] * (s[i] - s[j]))
    # two half votes cancel with probability 2 p (1 - p); a judge cannot tie more often than that
    cancel = np.bincount(k, 2 * p * (1 - p), len(judges)) / np.bincount(k, minlength=len(judges))
    split = np.minimum(1.0, ties / cancel)
    return Comparisons(models, judges, i, j, k, draw_outcomes(rng, p, split[k]))
