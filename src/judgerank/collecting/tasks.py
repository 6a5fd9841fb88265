"""What is to be asked: questions with the models' answers, and which judge compares which two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgerank.reading.answers.found import Text
from judgerank.reading.answers.media import Named


@dataclass(frozen=True, order=True)
class Task:
    """One request: a judge compares the answers of two models to a question, in this order."""

    question_id: str
    first: str
    second: str
    judge: str
    repeat: int

    @property
    def turned(self) -> Task:
        """The same with the other answer shown first."""
        return Task(self.question_id, self.second, self.first, self.judge, self.repeat)


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

    def shown(self, task: Task) -> dict[str, Text]:
        """``question``, ``first`` and ``second`` of a task."""
        answers = self.answers[task.question_id]
        return {
            "question": self.text[task.question_id],
            "first": answers[task.first],
            "second": answers[task.second],
        }
