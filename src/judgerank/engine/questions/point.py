"""Contribution of one group of questions to the marginal likelihood, with derivatives by each row's predictor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.engine.questions.groups import Group
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters


@dataclass(frozen=True)
class Point:
    """Parameters of the rows of one group; eta = gamma (d + sigma x'e) + b, e standard normal by model.

    Attributes
    ----------
    difference : float array, shape (T,)
        d, that of the scores.
    gamma, position, nu : float array, shape (T,)
        The judge's discrimination, position and tie propensity.
    log_strong : float array, shape (S, T)
        Its log propensities to the S strengths beyond better.
    sigma : float
    shape : float array, shape (T,), or float
        What the row's discrimination is for a judge of discrimination one.
    """

    difference: FloatArray
    gamma: FloatArray
    position: FloatArray
    nu: FloatArray
    sigma: float
    shape: FloatArray | float = 1.0
    log_strong: FloatArray | tuple[()] = ()


@dataclass(frozen=True)
class Parts:
    """A group's log marginal likelihoods and their derivatives, row by row.

    Attributes
    ----------
    value : float array, shape (Q,)
    by_eta, by_gamma, by_log_nu : float array, shape (T,)
        Derivatives of the sum in what is added to the row's predictor, in its discrimination, and in the logarithm
        of its tie propensity.
    by_log_sigma : float
    by_log_strong : tuple of float arrays, shape (T,)
        Likewise in the log propensities to strengths beyond better.
    """

    value: FloatArray
    by_eta: FloatArray
    by_gamma: FloatArray
    by_log_nu: FloatArray
    by_log_sigma: float
    by_log_strong: tuple[FloatArray, ...] = ()


def at_rows(group: Group, model: Model, at: Parameters, sigma: float) -> Point:
    """The parameters of every row."""
    judges = model.of_judges(at)
    nu = np.zeros_like(judges.gamma) if judges.nu is None else judges.nu
    gamma, position, nu = (values[group.judge] for values in (judges.gamma, judges.position, nu))
    strong = judges.log_strong[:, group.judge]
    difference = at.scores[group.first] - at.scores[group.second]
    shape: FloatArray | float = 1.0
    if group.columns is not None:
        forms = model.forms(group.columns, at.common)
        difference, position = difference + forms[Role.QUALITY], position + forms[Role.OFFSET]
        shape = np.exp(forms[Role.WEIGHT])
        gamma, nu = gamma * shape, nu * np.exp(forms[Role.TIE])
        strong = strong + np.array([forms[role] for role in Role.strengths(len(strong))]).reshape(strong.shape)
    return Point(difference, gamma, position, nu, sigma, shape, strong)
