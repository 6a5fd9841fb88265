"""What is asked into one file of judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgerank.adaptive.goals import Goal, read_goal
from judgerank.collecting.anchors import due
from judgerank.collecting.group_order import Groups
from judgerank.collecting.identity import answered, missing
from judgerank.collecting.images import askable
from judgerank.collecting.ledger import Record
from judgerank.collecting.settings import Collection, Judge
from judgerank.collecting.task_order import Plan
from judgerank.collecting.tasks import Questions, Task


@dataclass(frozen=True)
class Study:
    """What is asked into one file: settings for one prompt, judges with their prices, questions, all requests."""

    settings: Collection
    judges: Mapping[str, Judge]
    questions: Questions
    plan: Plan | Groups
    tasks: Sequence[Task]  # wanted in a file without any answers

    @property
    def goal(self) -> Goal | None:
        """What is to be known at the end, if it is said."""
        until = self.settings.until
        return None if until is None else read_goal(until, len(self.questions.models))

    def missing(self, records: Sequence[Record]) -> list[Task]:
        """The requests that are wanted and that no record answers yet.

        Of each judge as many are wanted as the first comparisons of the plan have. Answers to others count, too:
        earlier versions drew others, and so did other numbers of judges.
        """
        size = self.settings.comparisons
        if size is None:
            return self._unanswered(self.tasks, records)
        wanted = Counter(task.judge for task in self.tasks)
        longer = self.plan.first(min(len(self.plan), (max(wanted.values()) + len(records)) * len(self.judges)))
        room = wanted - self._answered(records)
        found = []
        for task in self._unanswered(longer, records):
            if room[task.judge] > 0:
                room[task.judge] -= 1
                found.append(task)
        return found

    def anchors(self, records: Iterable[Record], pending: Iterable[Task] = ()) -> list[Task]:
        """The requests that are to be asked again today (`anchors.due`)."""
        size, repeats, seed = self.settings.anchors, self.settings.repeats, self.settings.seed
        return due(size, records, pending, self.questions, self.judges, repeats, seed) if size else []

    def _unanswered(self, tasks: Sequence[Task], records: Iterable[Record]) -> list[Task]:
        asked = askable(tasks, self.judges, self.questions)
        return missing(asked, records, self._both, self.settings.again)

    def _answered(self, records: Iterable[Record]) -> Counter[str]:
        """How many requests of the whole plan are answered by each judge."""
        found = {
            task if self._both else task.in_any_order
            for task in answered(records, self.settings.again)
            if self.questions.have(task) and task.repeat < self.settings.repeats
        }
        return Counter(task.judge for task in found)

    @property
    def _both(self) -> bool:
        return self.settings.order == "both"
