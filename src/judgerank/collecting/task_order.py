"""The order in which comparisons and rankings are asked: fixed by names, so more of them begin with the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from judgerank.data.errors import ConfigError
from judgerank.reading.answers.found import Named, Text

if TYPE_CHECKING:
    from judgerank.collecting.settings import Collection

# What is to be asked: questions with the models' answers, and which judge compares which two of them.


@dataclass(frozen=True, order=True)
class Task:
    """One request: a judge compares the answers of two or more models to a question, in this order."""

    question_id: str
    first: str
    second: str
    judge: str
    repeat: int
    remaining: tuple[str, ...] = ()

    @classmethod
    def of(cls, question_id: str, models: Sequence[str], judge: str, repeat: int) -> Task:
        """A request that shows the answers of these models, in this order."""
        first, second, *remaining = models
        return cls(question_id, first, second, judge, repeat, tuple(remaining))

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order shown."""
        return self.first, self.second, *self.remaining

    @property
    def turned(self) -> Task:
        """The same with the answers shown in the reverse order."""
        return Task.of(self.question_id, self.models[::-1], self.judge, self.repeat)

    @property
    def in_any_order(self) -> Task:
        """One and the same for all orders of the answers."""
        return Task.of(self.question_id, sorted(self.models), self.judge, self.repeat)


@dataclass(frozen=True)
class Questions:
    """Texts of questions by id, of answers by question and model, reference answers where there are some.

    Images are those that texts refer to, by their references.
    """

    text: Mapping[str, Text]
    answers: Mapping[str, Mapping[str, Text]]
    reference: Mapping[str, Text] = field(default_factory=dict)
    images: Mapping[str, Named] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(sorted({model for answers in self.answers.values() for model in answers}))

    def have(self, task: Task) -> bool:
        """Whether all answers that a task shows are there."""
        return {*task.models} <= self.answers.get(task.question_id, {}).keys()

    def texts_of(self, task: Task) -> dict[str, Text]:
        """``question``, ``first`` and ``second`` of a task that compares two answers."""
        answers = self.answers[task.question_id]
        return {
            "question": self.text[task.question_id],
            "first": answers[task.first],
            "second": answers[task.second],
        }


Hashes = npt.NDArray[np.uint64]


class Plan:
    """Every request in a random order that is fixed by a hash of what is asked.

    Each judge has an order of its own over all comparisons (question, pair, repeat), and the judges take turns. So
    the first N are a random part of all, the first M > N begin with them, and a judge more or less, or another
    question, leaves the order of the others as it is.

    Parameters
    ----------
    questions : Questions
    judges : iterable of str
    repeats : int
        How often every judge is asked the same.
    both_orders : bool
        Whether each is asked in both orders, one after the other; else in one, at random.
    seed : int
        With the names it determines the order, and which answer is shown first.

    Raises
    ------
    ConfigError
        If there is nobody to ask.
    """

    def __init__(self, questions: Questions, judges: Iterable[str], repeats: int, both_orders: bool, seed: int):
        self._judges = sorted(judges)
        if not self._judges or repeats < 1:
            raise ConfigError("there must be a judge to ask, at least once")
        self._repeats, self._both, self._seed = repeats, both_orders, seed
        self._ids = sorted(questions.answers)
        self._models = [sorted(questions.answers[name]) for name in self._ids]
        self._pairs = np.array([len(names) * (len(names) - 1) // 2 for names in self._models])
        self._order = self._ordered()

    def __len__(self) -> int:
        """How many comparisons there are."""
        return len(self._order)

    def first(self, size: int | None = None) -> list[Task]:
        """The requests of the first comparisons, or of all.

        Raises
        ------
        ConfigError
            If there are fewer.
        """
        require_drawn(size, len(self), "comparisons")
        tasks: list[Task] = []
        pairs = {len(names): list(combinations(range(len(names)), 2)) for names in self._models}
        n_per_pair = len(self._judges) * self._repeats
        chosen = self._order[:size]
        question_indices = np.searchsorted(self._pairs.cumsum(), chosen // n_per_pair, side="right")
        within = chosen // n_per_pair - (self._pairs.cumsum() - self._pairs)[question_indices]
        for q, p, which in zip(
            question_indices.tolist(), within.tolist(), (chosen % n_per_pair).tolist(), strict=True
        ):
            judge, repeat = divmod(which, self._repeats)
            first, second = pairs[len(self._models[q])][p]
            task = Task(self._ids[q], self._models[q][first], self._models[q][second], self._judges[judge], repeat)
            if self._both:
                tasks += [task, task.turned]
            else:
                tasks.append(task.turned if coin(self._seed, task) else task)
        return tasks

    def _ordered(self) -> npt.NDArray[np.int64]:
        """Numbers of all comparisons (question, pair, judge, repeat), in order."""
        keys = np.array([_hash("collect", self._seed, name) for name in self._ids], np.uint64)
        of_pairs = np.concatenate(
            [_hashes_of_pairs(key, names) for key, names in zip(_mixed(keys), self._models, strict=True)]
        )
        judge_hashes = [_hash("judge", name, repeat) for name in self._judges for repeat in range(self._repeats)]
        both: Hashes = np.bitwise_xor.outer(of_pairs, np.array(judge_hashes, np.uint64))
        task_hashes = _mixed(both)
        by_judge = task_hashes.reshape(len(of_pairs), len(self._judges), self._repeats).transpose(1, 0, 2)
        flat = by_judge.reshape(len(self._judges), -1)
        ranks = np.argsort(np.argsort(flat, axis=1, kind="stable"), axis=1)
        rank = ranks.reshape(len(self._judges), len(of_pairs), self._repeats).transpose(1, 0, 2)
        order: npt.NDArray[np.int64] = np.lexsort((task_hashes.ravel(), rank.ravel()))
        return order


def _hashes_of_pairs(key: np.uint64, models: list[str]) -> Hashes:
    """Of every two models and a question, which the key stands for."""
    hashes = np.array([_hash("model", name) for name in models], np.uint64)
    first, second = np.triu_indices(len(models), 1)
    return _mixed(_mixed(hashes[first] ^ key) ^ hashes[second])


def retests(tasks: Iterable[Task], share: float, seed: int, repeat: int) -> list[Task]:
    """The requests to ask once more, in the same order of answers and under this number, drawn by their names."""
    return [replace(task, repeat=repeat) for task in tasks if not task.repeat and _share_of(task, seed) < share]


def _share_of(task: Task, seed: int) -> float:
    """A number from 0 to 1 that is fixed by what is asked."""
    return _hash("retest", seed, task.question_id, task.judge, *task.models) / 2**64


def require_drawn(size: int | None, available: int, what: str) -> None:
    """Refuse to draw more than there are.

    Raises
    ------
    ConfigError
    """
    if size is not None and not 1 <= size <= available:
        raise ConfigError(f"{size} {what} cannot be drawn from {available}: ask for {available} or fewer")


def order_key(seed: int, *names: object) -> int:
    """Where something stands in a random order that is fixed by its names."""
    return _hash("place", seed, *names)


def _hash(*names: object) -> int:
    """64 bits of names."""
    return int.from_bytes(hashlib.blake2b("\0".join(map(str, names)).encode(), digest_size=8).digest(), "little")


def _mixed(bits: Hashes) -> Hashes:
    """Bits that depend on all bits before (the finaliser of splitmix64, Steele, Lea and Flood, 2014)."""
    with np.errstate(over="ignore"):
        bits = bits + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def coin(seed: int, task: Task) -> bool:
    """A fair coin keyed by what is asked, whatever else is."""
    names = [str(seed), task.question_id, task.first, task.second, task.judge, str(task.repeat)]
    return bool(hashlib.sha256("\0".join(names).encode()).digest()[0] & 1)


# Rankings of several answers.
#
# Each judge ranks every answer to a question once, in groups of its own that are drawn at random, of sizes as even
# as they can be. So every two models meet in some judge's rankings of some questions.


class Groups:
    """Every ranking of up to k answers in a random order; with what `Plan` has.

    Parameters
    ----------
    questions : Questions
    judges : iterable of str
    size : int
        Answers in a ranking at most, k.
    repeats : int
        How often every judge is asked the same.
    both_orders : bool
        Whether each is asked in an order and in its reverse, one after the other; else in one, at random.
    seed : int
        With the names it determines the groups, the order, and the order in which answers are shown.

    Raises
    ------
    ConfigError
        If there is nobody to ask.
    """

    def __init__(
        self, questions: Questions, judges: Iterable[str], size: int, repeats: int, both_orders: bool, seed: int
    ):
        names = sorted(judges)
        if not names or repeats < 1:
            raise ConfigError("there must be a judge to ask, at least once")
        self._both = both_orders
        by_judge = [
            sorted(
                (
                    Task.of(question, group, judge, repeat)
                    for question, answers in questions.answers.items()
                    for group in groups(question, sorted(answers), judge, size, seed)
                    for repeat in range(repeats)
                ),
                key=lambda task: order_key(
                    seed, "ranking", task.question_id, task.judge, task.repeat, *task.models
                ),
            )
            for judge in names
        ]
        # judges take turns, as all have as many
        self._order = [task for turn in zip(*by_judge, strict=True) for task in turn]

    def __len__(self) -> int:
        """How many rankings there are."""
        return len(self._order)

    def first(self, size: int | None = None) -> list[Task]:
        """The requests of the first rankings, or of all.

        Raises
        ------
        ConfigError
            If there are fewer.
        """
        require_drawn(size, len(self), "rankings")
        chosen = self._order[:size]
        return [request for task in chosen for request in (task, task.turned)] if self._both else chosen


def groups(question: str, models: list[str], judge: str, size: int, seed: int) -> list[tuple[str, ...]]:
    """Models dealt to groups of at most a size, each in the order shown; the groups and orders of one judge."""
    shuffled = sorted(models, key=lambda name: order_key(seed, "group", question, judge, name))
    n_groups = -(-len(models) // size)
    dealt = (shuffled[number::n_groups] for number in range(n_groups))
    return [tuple(group) for group in dealt if len(group) > 1]


def planned(questions: Questions, judges: Iterable[str], settings: Collection) -> Plan | Groups:
    """All requests that settings ask for, in order."""
    both = settings.order == "both"
    if settings.k == 2:
        return Plan(questions, judges, settings.repeats, both, settings.seed)
    return Groups(questions, judges, settings.k, settings.repeats, both, settings.seed)
