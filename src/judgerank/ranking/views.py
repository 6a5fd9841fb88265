"""Other rankings of the same judgments, to switch to on the page: one category, one judge fewer, style adjusted.

Each is fitted and drawn exactly as the ranking itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.fits.presentation import pairs
from judgerank.fits.result import Fit
from judgerank.ranking.choices import DESCRIBED, Record
from judgerank.ranking.first_screen import Picture, headline, picture
from judgerank.ranking.judge_policy import refitted, without
from judgerank.ranking.studies.leaderboards import BY_CHANCE
from judgerank.reading.layouts.table import SIDES, other_side

# models x comparisons x judges, and judges x (models + judges)^2, since a fit has as many parameters: up to both a
# ranking without each judge takes a few seconds
MOST_READ, MOST_FITTED = 3e6, 8e4
CATEGORY, JUDGE, STYLE = "Category", "Without one judge", "Style"
Fits = Callable[[], tuple[Fit, pd.DataFrame]]  # a fit and its leaderboard


@dataclass(frozen=True)
class View:
    """Another ranking.

    Attributes
    ----------
    kind, name : str
        One of `CATEGORY`, `JUDGE` and `STYLE`; what it is called among those.
    sentence : str
        A sentence on it.
    picture : Picture
    """

    kind: str
    name: str
    sentence: str
    picture: Picture


def views(
    ranking: Record, each_judge: bool | None = None, progress: Callable[[float, float], None] | None = None
) -> list[View]:
    """Every other ranking that can be fitted; none of several components.

    `progress` is called before each of them with how many are done, and how many there are.
    """
    if len(ranking.fits) != 1:
        return []
    drawn, level = [], ranking.settings.level
    requested = list(_requested(ranking, is_quick(ranking) if each_judge is None else each_judge))
    for number, (kind, name, fits) in enumerate(requested):
        if progress is not None:
            progress(number, len(requested))
        try:
            fitted, board = fits()
        except (JudgerankError, np.linalg.LinAlgError):
            continue  # the switch offers what there is
        sentence = _sentence(ranking, headline(board, pairs(fitted, level)), fitted, kind, name)
        drawn.append(View(kind, name, sentence, picture(fitted, board, level, ranking.anchors)))
    return drawn


def is_quick(ranking: Record) -> bool:
    """Whether the ranking without each of the judges takes a few seconds at most."""
    c = ranking.judgments.comparisons
    models, judges = len(c.models), len(c.judges)
    return models * c.n_comparisons * judges <= MOST_READ and judges * (models + judges) ** 2 <= MOST_FITTED


def _requested(ranking: Record, each_judge: bool) -> Iterator[tuple[str, str, Fits]]:
    """Kind and name of every other ranking, and what gives its fit and leaderboard."""
    judgments, settings = ranking.judgments, ranking.settings
    for name in ranking.categories:
        yield CATEGORY, name, partial(_of_category, ranking, name)
    judges = judgments.comparisons.judges
    if each_judge and len(judges) > 1:
        for judge in judges:
            yield JUDGE, judge, partial(without, ranking, (judge,))
    columns = style_columns(judgments)
    if settings.blocks:
        yield STYLE, "not adjusted", partial(refitted, ranking, judgments, replace(settings, blocks=()))
    elif columns and settings.solver in DESCRIBED:
        block = f"style_by_judge:{','.join(columns)}"
        adjusted = replace(settings, blocks=(block,))
        yield STYLE, f"adjusted for {', '.join(columns)}", partial(refitted, ranking, judgments, adjusted)


def _of_category(ranking: Record, name: str) -> tuple[Fit, pd.DataFrame]:
    """Fit and leaderboard of a category, from the study of categories."""
    boards = ranking.tables["categories"]
    board = boards[boards["category"] == name].drop(columns="category").reset_index(drop=True)
    return ranking.categories[name], board


def style_columns(judgments: Judgments) -> list[str]:
    """Numbers that are known of both answers, such as ``length`` from ``length_a`` and ``length_b``."""
    names = [name for name in judgments.frame if isinstance(name, str) and name.endswith(SIDES[0])]
    paired = [
        name for name in names if other_side(name) in judgments.frame and name not in ("model_a", "answer_a")
    ]
    return [name.removesuffix(SIDES[0]) for name in paired]


def _sentence(ranking: Record, lead: str, fitted: Fit, kind: str, name: str) -> str:
    size = counted(int(fitted.comparisons.n_comparisons), "judgment")
    if kind == CATEGORY:
        return f"Only judgments of category {name} ({size}): {lead}. {BY_CHANCE}"
    if kind == JUDGE:
        return f"Without {name} ({size} left): {lead}."
    effects = (
        "each judge may prefer more or less of it" if not ranking.settings.blocks else "all judgments as they are"
    )
    return f"Scores {name}; {effects}: {lead}."
