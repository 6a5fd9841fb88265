"""The order in which rankings of several answers are asked: fixed by names, as that of pairs is (`task_order`).

Each judge ranks every answer to a question once, in groups of its own that are drawn at random, of sizes as even
as they can be. So every two models meet in some judge's rankings of some questions.
"""

from __future__ import annotations

from collections.abc import Iterable

from judgerank.collecting.settings import Collection
from judgerank.collecting.task_order import Plan, Questions, Task, order_key, require_drawn
from judgerank.data.errors import ConfigError


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
