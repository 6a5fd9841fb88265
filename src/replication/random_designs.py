"""Random designs and outcomes under the judge-aware model (paper, section 4 and its appendix)."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.model.members import Parameters


def uniform_triples(rng: np.random.Generator, n_models: int, n_judges: int, size: int) -> FloatArray:
    """Triples (i, j, k) with i < j, uniform over all of them; int array, shape (3, size)."""
    first, second = np.triu_indices(n_models, 1)
    pair = rng.integers(len(first), size=size)
    return np.stack([first[pair], second[pair], rng.integers(n_judges, size=size)])


def draw_truth(
    rng: np.random.Generator, n_models: int, n_judges: int, sigma_scores: float, sigma_discrimination: float
) -> Parameters:
    """Zero-sum normal scores and zero-sum normal log-discriminations (appendix C.1)."""
    scores = rng.normal(0.0, sigma_scores, n_models)
    alpha = rng.normal(0.0, sigma_discrimination, n_judges)
    return Parameters(scores - scores.mean(), (alpha - alpha.mean())[None, :])


def draw_comparisons(rng: np.random.Generator, truth: Parameters, size: int) -> Comparisons:
    """Aggregated comparisons on the design of appendix C.2: a random spanning tree, then uniform triples.

    Raises
    ------
    ConfigError
        If `size` is too small for the tree.
    """
    n_models, n_judges = len(truth.scores), truth.judges.shape[1]
    if size < n_models - 1:
        raise ConfigError(f"{size} comparisons cannot connect {n_models} models")
    first, second = np.triu_indices(n_models, 1)
    child = np.arange(1, n_models)
    parent = rng.integers(child)
    # pairs are numbered as triu_indices lists them
    pair = parent * (2 * n_models - parent - 1) // 2 + child - parent - 1
    tree = pair * n_judges + rng.integers(n_judges, size=n_models - 1)
    rest = rng.integers(len(first) * n_judges, size=size - len(tree))
    count = np.bincount(np.concatenate([tree, rest]), minlength=len(first) * n_judges)
    observed = np.flatnonzero(count)
    pair, k = np.divmod(observed, n_judges)
    i, j, n = first[pair], second[pair], count[observed]
    p = expit(np.exp(truth.judges[0])[k] * (truth.scores[i] - truth.scores[j]))
    models, judges = (
        tuple(f"{kind}{x:04d}" for x in range(size_of_kind))
        for kind, size_of_kind in (("m", n_models), ("j", n_judges))
    )
    return Comparisons(models, judges, i, j, k, rng.binomial(n, p) / n, n.astype(float))


def draw_outcomes(
    rng: np.random.Generator, probability: FloatArray, split: FloatArray | float = 0.0
) -> FloatArray:
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
    slope: dict[str, float] | None = None,
    covariate: FloatArray | None = None,
) -> Comparisons:
    """Comparisons on a uniform design with about the given share of ties by judge.

    With slopes, by judge, and a covariate z, by comparison, discriminations are gamma_k exp(beta_k z).
    """
    models, judges = tuple(sorted(scores)), tuple(sorted(discrimination))
    i, j, k = uniform_triples(rng, len(models), len(judges), size)
    s = np.array([scores[name] for name in models])
    gamma = np.array([discrimination[name] for name in judges])
    ties = np.array([tie_share[name] for name in judges])
    slope_factor = gamma[k]
    if slope is not None and covariate is not None:
        slope_factor = slope_factor * np.exp(np.array([slope.get(name, 0.0) for name in judges])[k] * covariate)
    p = expit(slope_factor * (s[i] - s[j]))
    # two half votes cancel with probability 2 p (1 - p); a judge cannot tie more often than that
    cancel = np.bincount(k, 2 * p * (1 - p), len(judges)) / np.maximum(np.bincount(k, minlength=len(judges)), 1)
    split = np.minimum(1.0, ties / np.where(cancel > 0, cancel, 1.0))
    return Comparisons(models, judges, i, j, k, draw_outcomes(rng, p, split[k]))
