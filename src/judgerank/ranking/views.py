"""Other rankings of the same judgments, to switch to on the page: one category, one judge fewer, style adjusted.

Each is fitted and drawn exactly as the ranking itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.ranking.choices import DESCRIBED, Settings
from judgerank.ranking.components import parts_of
from judgerank.ranking.described import component_of
from judgerank.ranking.first_screen import Picture, picture
from judgerank.ranking.record import Record
from judgerank.ranking.studies.categories import categories_of
from judgerank.ranking.studies.leaderboard import board_of
from judgerank.ranking.verdict import headline
from judgerank.reading.from_tables import comparisons_of
from judgerank.reading.layouts.table import SIDES, other_side

QUICK = 3e6  # models x comparisons x judges, up to which a ranking without each judge takes about two seconds
CATEGORY, JUDGE, STYLE = "Category", "Without one judge", "Style"


@dataclass(frozen=True)
class View:
    """Another ranking.

    Attributes
    ----------
    kind, name : str
        One of `CATEGORY`, `JUDGE` and `STYLE`; what it is called among those.
    told : str
        A sentence on it.
    picture : Picture
    """

    kind: str
    name: str
    told: str
    picture: Picture


def views(
    ranking: Record, each_judge: bool | None = None, progress: Callable[[float, float], None] | None = None
) -> list[View]:
    """Every other ranking that can be fitted; none of several components.

    `progress` is called before each of them with how many are done, and how many there are.
    """
    if len(ranking.fits) != 1:
        return []
    found = []
    asked = list(_asked(ranking, is_quick(ranking) if each_judge is None else each_judge))
    for number, (kind, name, judgments, settings) in enumerate(asked):
        if progress is not None:
            progress(number, len(asked))
        try:
            part = parts_of(judgments)[0]
            fitted = component_of(part, ranking.fitted.model.alone, settings)
            board = board_of(fitted)
        except (JudgerankError, np.linalg.LinAlgError):
            continue  # the study of categories says why; the switch offers what there is
        drawn = picture(fitted.shown, board, settings.level, ranking.anchors)
        found.append(View(kind, name, _told(ranking, headline(board), part, kind, name), drawn))
    return found


def is_quick(ranking: Record) -> bool:
    """Whether the ranking without each of the judges takes a few seconds at most."""
    c = ranking.judgments.comparisons
    return len(c.models) * c.n_comparisons * len(c.judges) <= QUICK


def _asked(ranking: Record, each_judge: bool) -> Iterator[tuple[str, str, Judgments, Settings]]:
    """Kind and name of every other ranking, and what is fitted to what."""
    judgments, settings = ranking.judgments, ranking.settings
    for name, part in categories_of(judgments).items():
        yield CATEGORY, name, part, replace(settings, blocks=())
    judges = judgments.comparisons.judges
    if each_judge and len(judges) > 1:
        for judge in judges:
            yield JUDGE, judge, _without(judgments, judge), settings
    columns = style_columns(judgments)
    if settings.blocks:
        yield STYLE, "not adjusted", judgments, replace(settings, blocks=())
    elif columns and settings.solver in DESCRIBED:
        block = f"style_by_judge:{','.join(columns)}"
        yield STYLE, f"adjusted for {', '.join(columns)}", judgments, replace(settings, blocks=(block,))


def style_columns(judgments: Judgments) -> list[str]:
    """What is known of both answers as numbers, such as ``length`` from ``length_a`` and ``length_b``."""
    names = [name for name in judgments.frame if isinstance(name, str) and name.endswith(SIDES[0])]
    known = [name for name in names if other_side(name) in judgments.frame and name not in ("model_a", "answer_a")]
    return [name.removesuffix(SIDES[0]) for name in known]


def _without(judgments: Judgments, judge: str) -> Judgments:
    frame = judgments.frame[judgments.frame["judge_model"] != judge].reset_index(drop=True)
    return replace(judgments, frame=frame, comparisons=comparisons_of(frame, judgments.ordered), remarks=())


def _told(ranking: Record, lead: str, part: Judgments, kind: str, name: str) -> str:
    many = counted(int(part.comparisons.n_comparisons), "judgment")
    if kind == CATEGORY:
        return f"Only judgments of category {name} ({many}): {lead}."
    if kind == JUDGE:
        return f"Without {name} ({many} left): {lead}."
    effects = (
        "each judge may prefer more or less of it" if not ranking.settings.blocks else "all judgments as they are"
    )
    return f"Scores {name}; {effects}: {lead}."
