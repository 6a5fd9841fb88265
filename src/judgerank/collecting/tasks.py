"""What is to be asked: questions with the models' answers, and which judge compares which two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judgerank.reading.answers.found import Text
from judgerank.reading.answers.media import Named


@dataclass(frozen=True, order=True)
class Task:
    """One request: a judge compares the answers of two or more models to a question, in this order."""

    question_id: str
    first: str
    second: str
    judge: str
    repeat: int
    others: tuple[str, ...] = ()

    @classmethod
    def of(cls, question_id: str, shown: Sequence[str], judge: str, repeat: int) -> Task:
        """A request that shows the answers of these models, in this order."""
        first, second, *others = shown
        return cls(question_id, first, second, judge, repeat, tuple(others))

    @property
    def shown(self) -> tuple[str, ...]:
        """The models in the order shown."""
        return self.first, self.second, *self.others

    @property
    def turned(self) -> Task:
        """The same with the answers shown in the reverse order."""
        return Task.of(self.question_id, self.shown[::-1], self.judge, self.repeat)

    @property
    def in_any_order(self) -> Task:
        """One and the same for all orders of the answers."""
        return Task.of(self.question_id, sorted(self.shown), self.judge, self.repeat)


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
        return {*task.shown} <= self.answers.get(task.question_id, {}).keys()

    def shown(self, task: Task) -> dict[str, Text]:
        """``question``, ``first`` and ``second`` of a task that compares two answers."""
        answers = self.answers[task.question_id]
        return {
            "question": self.text[task.question_id],
            "first": answers[task.first],
            "second": answers[task.second],
        }
