"""Who answers is one idea: whoever is shown a question with two answers, and says which is better.

A model on a server, a Python function (a rule, a reward model) and a person at the terminal answer by one method.
So does what another program brings, such as a model of inspect_ai. A panel of them is what collecting by rounds
asks (`judgerank.adaptive.rounds.Oracle`, by `judgerank.collecting.stop_goal.Judges`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from judgerank.collecting.functions import PERSON, NoAnswer, answered, function, vote
from judgerank.collecting.response import Refused, Reply
from judgerank.collecting.settings import Judge
from judgerank.collecting.task_order import Task
from judgerank.reading.answers.found import Text

Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ShownComparison:
    """A comparison as a respondent sees it.

    Attributes
    ----------
    question, first, second : str or tuple of str
        The texts of its turns; `first` is the answer that is shown first.
    messages : list of dict
        The same in the words of the prompt.
    """

    question: Text
    first: Text
    second: Text
    messages: Messages


class Respondent(Protocol):
    """Compares two answers."""

    async def compare(self, comparison: ShownComparison) -> Reply:
        """The reply to a comparison.

        Raises
        ------
        AttemptFailed
            If there is none, and another attempt may help.
        Refused, JudgeRefused
            If none will come for this comparison, or for any.
        """
        ...


class Attempts(Protocol):
    """What asks models on servers, such as a `Client`."""

    async def attempt(self, judge: Judge, messages: Messages) -> Reply: ...


@dataclass(frozen=True)
class OnServer:
    """A model on a server."""

    judge: Judge
    client: Attempts

    async def compare(self, comparison: ShownComparison) -> Reply:
        return await self.client.attempt(self.judge, comparison.messages)


@dataclass(frozen=True)
class OfFunction:
    """A Python function, ``FILE.py:FUNCTION``."""

    judge: Judge

    async def compare(self, comparison: ShownComparison) -> Reply:
        texts = {"question": comparison.question, "first": comparison.first, "second": comparison.second}
        try:
            return await answered(function(self.judge.sent), texts, self.judge.params)
        except NoAnswer as error:
            raise Refused(error.kind, error.message) from error


@dataclass(frozen=True)
class AtTerminal:
    """A person at the terminal."""

    judge: Judge

    async def compare(self, comparison: ShownComparison) -> Reply:
        return await vote(self.judge.judge, comparison.question, comparison.first, comparison.second)


def respondents(judges: Mapping[str, Judge], client: Attempts) -> dict[str, Respondent]:
    """The respondent behind each judge of a panel."""
    return {name: _respondent(judge, client) for name, judge in judges.items()}


def _respondent(judge: Judge, client: Attempts) -> Respondent:
    if judge.is_function:
        return OfFunction(judge)
    return AtTerminal(judge) if judge.provider == PERSON else OnServer(judge, client)


# Whose a reply is: a server, or a cache before it, may answer a request with the reply to another.
LONG_TEXT = 200  # letters, which no two replies to different requests share by chance
Key = tuple[str, str | None, Any]


class ReplyOwners:
    """The request that each reply was the answer to, by server and, where no id shows it, by judge.

    A reply belongs to another request if that one had the same id with the same text and numbers of tokens. An id
    alone does not show it, as many local servers give every reply the same one. Where there is no id, or one that
    came with different texts, the same long text shows it.

    Parameters
    ----------
    judges : mapping
        Those who are asked, by name: a server may send one judge the reply to another.
    """

    def __init__(self, judges: Mapping[str, Judge]) -> None:
        self._judges = judges
        self._owners: dict[Key, tuple[str, Task]] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self.reused_ids: dict[str, str] = {}  # by server, an id that came with different texts

    def server(self, name: str) -> str:
        """What answers a judge: its address, or its own name where it has none."""
        return (name in self._judges and self._judges[name].address) or name

    def is_to_another(
        self,
        task: Task,
        reply_id: str | None,
        text: str,
        prompt_tokens: int | None,
        completion_tokens: int | None,
    ) -> bool:
        """Whether the reply was the answer to another request before; if not, it is this one's from now on."""
        judge, server = task.judge, self.server(task.judge)
        model = self._judges[judge].sent if judge in self._judges else judge
        asked = model, replace(task, judge="", repeat=0)  # what is asked, however often
        if reply_id and self._texts.setdefault((server, reply_id), text) != text:
            self.reused_ids.setdefault(server, reply_id)
        by_text: Key = (judge, None, text)
        by_id: Key = (server, reply_id, (text, prompt_tokens, completion_tokens))
        key = by_id if reply_id and server not in self.reused_ids else by_text
        is_telling = key is by_id or len(text) >= LONG_TEXT
        if is_telling and self._owners.get(key, asked) != asked:
            return True
        self._owners.setdefault(by_text, asked)
        self._owners.setdefault(by_id, asked)
        return False
