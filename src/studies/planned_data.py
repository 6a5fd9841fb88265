"""Data drawn on the designs that plans are made for."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.model.draw_levels import levels_at
from judgerank.model.needs import Need
from judgerank.planning.panels import Panel
from judgerank.planning.questions import Questions, loading


def drawn(
    rng: np.random.Generator, panel: Panel, size: int, repeats: int = 1, correlation: float = 0.0
) -> Comparisons:
    """Comparisons on the panel's design, each judgment asked for `repeats` times; one row per judgment.

    With the probability `correlation` the repeats of a judgment are copies of one answer, else independent: any
    two of them then have that correlation.

    Parameters
    ----------
    size : int
        Comparisons altogether, repeats among them.
    """
    cells = panel.design()
    asked = size // repeats
    cell = rng.choice(len(cells), asked, p=cells.count / cells.count.sum())
    chance = rng.random((asked, repeats))
    copied = rng.random(asked) < correlation
    chance[copied] = chance[copied, :1]
    who = cells.first[cell], cells.second[cell], cells.judge[cell]
    level = levels_at(panel.probabilities(*who)[:, None], chance)
    share = (level[..., None] == np.arange(len(panel.levels))).mean(axis=1)
    return panel.answered(who, share, np.full(asked, float(repeats)))


def drawn_in_questions(
    rng: np.random.Generator, panel: Panel, size: int, questions: Questions
) -> tuple[Comparisons, IntArray]:
    """Comparisons on a panel's design in questions (`planning.questions`), and the question of each."""
    questions = questions.within(panel)
    n, many = len(panel.models), max(1, round(size / questions.size))
    share = panel.pair_weight / panel.pair_weight.sum()
    pair = np.repeat(rng.choice(len(share), many * questions.pairs, p=share), questions.judges)
    asking = np.log(panel.judge_weight) + rng.gumbel(size=(many * questions.pairs, len(panel.judges)))
    judge = np.argsort(-asking, axis=1)[:, : questions.judges].ravel()  # without replacement, by weight
    question = np.repeat(np.arange(many), questions.size)
    i, j = (index[pair] for index in np.triu_indices(n, 1))
    turned = (rng.random(len(pair)) < 0.5) & panel.model.uses(Need.ORDER)
    i, j = np.where(turned, j, i), np.where(turned, i, j)
    rho = loading(panel, questions.sd)[judge]
    better = rng.standard_normal((many, n))
    latent = rho * (better[question, i] - better[question, j]) / np.sqrt(2)
    latent += np.sqrt(1 - rho**2) * rng.standard_normal(len(pair))
    level = levels_at(panel.probabilities(i, j, judge), ndtr(-latent))
    share = (level[:, None] == np.arange(len(panel.levels))).astype(float)
    return panel.answered((i, j, judge), share, np.ones(len(pair))), question
