"""Results on the models and judges of a set of judgments, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from judgerank.data.judgments import Judgments
from judgerank.fits.result import Fit
from judgerank.ranking.choices import Settings


@dataclass(frozen=True, eq=False)
class Record:
    """All that is known of the models and judges of a set of judgments.

    Attributes
    ----------
    judgments : Judgments
    settings : Settings
    fits : list of Fit
        One for each component of the comparison graph.
    remarks : list of str
        What to know first.
    tables : dict of str to DataFrame
        ``leaderboard``, ``judges``, ``pairs`` and ``next``; no rows in the last if there are no intervals.
        ``members``, how well each member of the family predicts (`studies.prediction`), if no model was named.
        ``exact``, the leaderboard beside the fit without shrinkage, where there is one.
        ``effects``, what single judges go by besides quality (`studies.by_judge`), where that can be tested.
        ``categories``, leaderboards one after the other, if the judgments name any.
    categories : dict of str to Fit
        Fits of the judgments of each of these.
    """

    judgments: Judgments
    settings: Settings
    fits: list[Fit]
    remarks: list[str]
    tables: dict[str, pd.DataFrame]
    categories: dict[str, Fit] = field(default_factory=dict)

    @property
    def fitted(self) -> Fit:
        """The fit of the largest component."""
        return self.fits[0]

    @property
    def clustered(self) -> bool:
        """Whether the covariance of the largest component allows for dependence within questions."""
        return self.fitted.robust is not None

    @property
    def title(self) -> str:
        return f"Ranking of {sum(len(fitted.scores) for fitted in self.fits)} models: {self.judgments.title}"

    @cached_property
    def anchors(self) -> dict[str, str]:
        """A different name for every model to link to its row by, made of the model's."""
        uses: dict[str, int] = {}
        anchors = {}
        for name in self.tables["leaderboard"]["model"]:
            anchor = "model-" + (re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-").lower() or "unnamed")[:80]
            uses[anchor] = uses.get(anchor, 0) + 1
            anchors[name] = anchor if uses[anchor] == 1 else f"{anchor}--{uses[anchor]}"
        return anchors
