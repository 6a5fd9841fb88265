"""What is asked into one file of judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgerank.adaptive.goals import Goal, read_goal
from judgerank.collecting.identity import missing
from judgerank.collecting.ledger import Record
from judgerank.collecting.settings import Collection, Judge
from judgerank.collecting.tasks import Questions, Task


@dataclass(frozen=True)
class Study:
    """What is asked into one file: settings for one prompt, judges with their prices, questions, all requests."""

    settings: Collection
    judges: Mapping[str, Judge]
    questions: Questions
    tasks: Sequence[Task]

    @property
    def goal(self) -> Goal | None:
        """What is to be known at the end, if it is said."""
        until = self.settings.until
        return None if until is None else read_goal(until, len(self.questions.models))

    def missing(self, records: Iterable[Record]) -> list[Task]:
        """The requests that no record answers yet."""
        both, again = self.settings.order == "both", self.settings.again is not None
        return missing(self.tasks, records, both, again)
