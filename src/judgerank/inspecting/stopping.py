"""Early stopping for inspect_ai by the rule of `judgerank collect --until`: many looks share one error rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from inspect_ai.util import EarlyStop

from judgerank.adaptive.goals import read_goal
from judgerank.adaptive.rounds import EACH, GROWTH, Answers, Kept
from judgerank.adaptive.stop_rule import carried, fitted, look_at, without_each_judge
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.model.kinds.family import relations
from judgerank.ranking.recusal import RECUSE, is_recusing
from judgerank.reading.layouts.sample_scores import JUDGMENTS

SHARES = {"a": 1.0, "b": 0.0, "c": 0.5}


@dataclass
class _Seen:
    """Models and judges of comparisons that others ask."""

    models: tuple[str, ...]
    judges: tuple[str, ...]
    costs: FloatArray
    left: IntArray

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> Answers:
        raise NotImplementedError("inspect_ai asks")


class PanelStopping:
    """Inspect's ``EarlyStopping``: no further sample once the panel's judgments decide.

    Use it with `pairwise`, and shuffle the samples: those that come first should be like the rest.

    Parameters
    ----------
    goal : str
        As of ``judgerank collect --until``, such as ``all separated`` or ``top 1 separated``.
    level : float
        One minus the chance of a stop at a false claim, however many looks there are.
    model : str
        Member of the family that is fitted.
    growth : float
        Of the number of judgments from one look to the next.
    own_maker : {"recuse", "count"}
        Whether votes of judges on models of their own maker count.

    Attributes
    ----------
    reached : bool
        Whether the goal was.
    looks : int
        How often it was looked at.
    whose : str
        Whom the claims of the last look are about, in words.
    without_judge : DataFrame
        Once it is reached: the claims without each judge in turn (`adaptive.stop_rule.without_each_judge`).
    """

    def __init__(
        self,
        goal: str = "all separated",
        level: float = 0.95,
        model: str = "position_aware",
        growth: float = GROWTH,
        own_maker: str = RECUSE,
    ):
        if not 0 < level < 1 or growth <= 1:
            raise ConfigError("level lies between 0 and 1, and growth is above 1")
        self._goal, self._level, self._model, self._growth = goal, level, model, growth
        self._is_recusing = is_recusing(own_maker)
        self.reached, self.looks, self._next, self._skipped = False, 0, 0.0, 0
        self.without_judge, self.whose = pd.DataFrame(), ""
        self._rows: list[tuple[str, str, str, float, str]] = []

    async def start_task(self, task: Any, samples: list[Any], epochs: int) -> str:
        """Begin anew; the name by which the log calls this."""
        self.reached, self.looks, self._next, self._skipped, self._rows = False, 0, 0.0, 0, []
        self.without_judge, self.whose = pd.DataFrame(), ""
        return f"judgerank, {self._goal}"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Skip a sample if all is decided."""
        if not self.reached:
            return None
        self._skipped += 1
        return EarlyStop(id=id, epoch=epoch, reason=f"{self._goal}, after {len(self._rows)} judgments")

    async def complete_sample(self, id: str | int, epoch: int, scores: Mapping[str, Any]) -> None:
        """Take the judgments of a sample, and look if there are enough new ones."""
        for score in scores.values():
            for judgment in (score.score.metadata or {}).get(JUDGMENTS, ()):
                share = SHARES.get(judgment["judge_preferred_model"])
                if share is not None:
                    names = judgment["model_a"], judgment["model_b"], judgment["judge_model"]
                    self._rows.append((*names, share, str(id)))
        if not self.reached and len(self._rows) >= max(self._next, self._least()):
            self._look()

    async def complete_task(self) -> dict[str, Any]:
        """What came of it, for the log."""
        return {
            "goal": self._goal,
            "reached": self.reached,
            "judgments": len(self._rows),
            "looks": self.looks,
            "samples_skipped": self._skipped,
            "level": self._level,
            "whose": self.whose,
            "carried": carried(self.without_judge),
            "without_judge": self.without_judge.to_dict("records"),
        }

    def _least(self) -> float:
        """Judgments before the first look; never while there are fewer than two models."""
        models, judges = self._names()
        return EACH * (len(models) + 2 * len(judges)) if len(models) > 1 else np.inf

    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        models = sorted({name for row in self._rows for name in row[:2]})
        return tuple(models), tuple(sorted({row[2] for row in self._rows}))

    def _look(self) -> None:
        models, judges = self._names()
        a, b, judge, share, question = zip(*self._rows, strict=True)
        first, second = (np.array([models.index(name) for name in side], np.int64) for side in (a, b))
        by = np.array([judges.index(name) for name in judge], np.int64)
        number = {name: index for index, name in enumerate(dict.fromkeys(question))}
        question_index = np.array([number[name] for name in question], np.int64)
        none = np.zeros((len(models), len(models), len(judges)), np.int64)
        seen = _Seen(models, judges, np.ones(len(judges)), none)
        every = Comparisons(models, judges, first, second, by, np.array(share))
        own_maker = relations(judges, models) if self._is_recusing else None
        collected = Kept(seen, every, question_index, own_maker)
        self.looks += 1
        raw, numbers, alpha = collected.raw, collected.question, 1 - self._level
        result, goal = fitted(raw, self._model), read_goal(self._goal, len(models))
        look = look_at(raw, numbers, result, goal, self.looks, len(self._rows), alpha)
        self.reached, self.whose = look.reached, look.goal.whose
        if look.reached:
            self.without_judge = without_each_judge(raw, numbers, result.model, look, alpha)
        self._next = np.ceil(len(self._rows) * self._growth)
