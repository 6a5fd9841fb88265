"""What inspect_ai finds of judgerank by its entry point: a scorer, ``judgerank/pairwise``, and early stopping.

The scorer has a panel compare each answer with those of baselines; its judgments stay in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from inspect_ai.model import ChatMessageUser, Model, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import EarlyStop

from judgerank.adaptive.goals import read_goal
from judgerank.adaptive.rounds import EACH, GROWTH, Answers, Kept
from judgerank.adaptive.stop_rule import carried, fitted, look_at, without_each_judge
from judgerank.collecting.answer_sources import parts_of
from judgerank.collecting.prompt_settings import PAIRWISE, kind_of
from judgerank.collecting.prompts import fill, turns_of
from judgerank.collecting.replies import UNCLEAR, Form, read
from judgerank.collecting.respondents import OfFunction, Respondent, ShownComparison
from judgerank.collecting.response import Refused, Reply
from judgerank.collecting.settings import Judge
from judgerank.collecting.task_order import Task, coin
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted
from judgerank.data.modules import is_file
from judgerank.model.kinds.family import relations
from judgerank.ranking.recusal import RECUSE, is_recusing
from judgerank.reading.answers.evaluation_logs import answer_of, question_of
from judgerank.reading.answers.found import Text
from judgerank.reading.layouts.sample_scores import JUDGMENTS

__all__ = ["PanelStopping", "pairwise"]
SHARES = {"a": 1.0, "b": 0.0, "c": 0.5}  # of the answer shown first
ORDERS = ("random", "both")


class OfInspect:
    """A model of inspect_ai as a judge: its rules, retries, cache and limits are Inspect's."""

    def __init__(self, model: Model):
        self._model = model

    async def compare(self, task: ShownComparison) -> Reply:
        output = await self._model.generate([ChatMessageUser(content=task.messages[0]["content"])])
        used = output.usage
        return Reply(
            output.completion,
            output.model,
            output.stop_reason,
            used.input_tokens if used else None,
            used.output_tokens if used else None,
            None,
        )


@scorer(metrics=[mean(), stderr()])
def pairwise(
    judges: Sequence[str | Model] | str | Model,
    baseline: str | Sequence[str],
    order: str = "random",
    prompt: str | None = None,
    seed: int = 2026,
) -> Scorer:
    """Score an answer by how often a panel prefers it to the answers of baselines.

    The value is the share of comparisons that it wins, a tie counting half. ``judgerank rank LOG`` reads the
    judgments back, which are in the metadata of the score.

    Parameters
    ----------
    judges : names or models
        Models as Inspect names them, or Python functions (``FILE.py:FUNCTION``).
    baseline : str or list of str
        Where the baselines' answers are: logs of the same task, or anything that `judgerank collect` reads, with
        the samples' ids as questions.
    order : {"random", "both"}
        Whether each comparison is shown in one order, drawn by chance, or in both.
    prompt : str, optional
        With ``{question}``, ``{first}`` and ``{second}``; by default that of `judgerank collect`.
    seed : int
        Decides the orders.

    Raises
    ------
    ConfigError
        If a setting is none of these.
    """
    if order not in ORDERS:
        raise ConfigError(f"order is {order!r}; expected one of {', '.join(ORDERS)}")
    panel = _panel([judges] if isinstance(judges, str | Model) else list(judges))
    baselines = _answers([baseline] if isinstance(baseline, str) else baseline)
    template = prompt or PAIRWISE["text"]

    async def score(state: TaskState, target: Target) -> Score | None:
        sample = _as_logged(state)
        name, model = str(state.sample_id), str(state.model)
        texts = {model: answer_of(sample), **_of_sample(baselines, name, state.epoch)}
        if len(texts) < 2 or not texts[model]:
            reason = "there is no answer" if not texts[model] else f"no baseline answers sample {name!r}"
            return Score.unscored(reason=reason)
        tasks = [
            Task(name, model, baseline_name, judge, state.epoch - 1)
            for baseline_name in texts
            if baseline_name != model
            for judge in panel
        ]
        if order == "both":
            tasks += [task.turned for task in tasks]
        else:
            tasks = [task.turned if coin(seed, task) else task for task in tasks]
        question = question_of(sample)
        judgments = await asyncio.gather(
            *(_judgment(panel[task.judge], task, question, texts, template) for task in tasks)
        )
        return _score(model, judgments, str(texts[model]))

    return score


def _panel(judges: Iterable[str | Model]) -> dict[str, Respondent]:
    """The judges by name.

    Raises
    ------
    ConfigError
        If there is none, or two have one name.
    """
    panel: dict[str, Respondent] = {}
    for judge in judges:
        name = judge if isinstance(judge, str) else str(judge)
        if name in panel:
            raise ConfigError(f"judge {name!r} is there twice")
        if isinstance(judge, str) and is_file(judge):
            panel[name] = OfFunction(Judge(judge=name, provider="python", model=judge))
        else:
            panel[name] = OfInspect(get_model(judge))
    if not panel:
        raise ConfigError("there are no judges")
    return panel


def _answers(sources: Sequence[str]) -> dict[str, dict[str, Text]]:
    """Answers of the baselines by question and model."""
    answers: dict[str, dict[str, Text]] = {}
    for source in sources:
        for part in (source_part.answers for source_part in parts_of(source, {}, None)):
            for record in part:
                if record.model is not None and record.answer is not None:
                    name = record.question_id
                    for key in {name, name.partition("/")[2] or name}:  # a log's questions begin with its task
                        answers.setdefault(key, {})[record.model] = record.answer
    if not answers:
        raise ConfigError(f"there is no answer in {', '.join(sources)}")
    return answers


def _of_sample(answers: Mapping[str, Mapping[str, Text]], name: str, epoch: int) -> Mapping[str, Text]:
    """Those to a sample in an epoch, or in the first."""
    return answers.get(f"{name} #{epoch}") or answers.get(name) or {}


def _as_logged(state: TaskState) -> dict[str, Any]:
    """A sample as a log would have it."""
    prompt = state.input
    return {
        "input": prompt if isinstance(prompt, str) else [message.model_dump() for message in prompt],
        "messages": [message.model_dump() for message in state.messages],
        "output": state.output.model_dump(),
    }


async def _judgment(
    respondent: Respondent, task: Task, question: str, texts: Mapping[str, Text], template: str
) -> dict[str, Any]:
    """One judgment as a record; a judge that refuses leaves an unknown one."""
    first, second = texts[task.first], texts[task.second]
    messages = [{"role": "user", "content": fill(template, question, first, second)}]
    try:
        reply = await respondent.compare(ShownComparison(question, first, second, messages))
        kind = "line" if isinstance(respondent, OfFunction) else kind_of(template)
        turns = tuple(part for text in (question, first, second) for part in turns_of(text))
        raw, verdict = reply.text, read(reply.text, Form(kind, texts=turns), reply.finish_reason)
    except Refused as error:
        raw, verdict = f"{error.kind}: {error.message}", UNCLEAR
    return {
        "question_id": task.question_id,
        "model_a": task.first,
        "model_b": task.second,
        "judge_model": task.judge,
        "repeat": task.repeat,
        "judge_preferred_model": verdict.choice,
        "judge_confidence": verdict.confidence,
        "raw": raw,
    }


def _score(model: str, judgments: Sequence[Mapping[str, Any]], answer: str) -> Score:
    """The share of comparisons that a model wins, of those that could be read."""
    won = []
    for judgment in judgments:
        share = SHARES.get(judgment["judge_preferred_model"])
        if share is not None:
            won.append(share if judgment["model_a"] == model else 1.0 - share)
    metadata = {JUDGMENTS: list(judgments)}
    if not won:
        return Score.unscored(reason="no judgment could be read", metadata=metadata)
    explanation = f"preferred in {sum(won):g} of {counted(len(won), 'comparison')}"
    return Score(value=sum(won) / len(won), answer=answer, explanation=explanation, metadata=metadata)


# Early stopping by the rule of `judgerank collect --until`: many looks share one error rate.
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
        return EarlyStop(id=id, epoch=epoch, reason=f"{self._goal}, after {counted(len(self._rows), 'judgment')}")

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
