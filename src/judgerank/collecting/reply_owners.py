"""Whose a reply is: a server, or a cache before it, may answer a request with the reply to another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from judgerank.collecting.task_order import Task

LONG_TEXT = 200  # letters, which no two replies to different requests share by chance
Key = tuple[str, str | None, Any]


class ReplyOwners:
    """The request that each reply was the answer to, by judge.

    A reply belongs to another request if that one had the same id with the same text and numbers of tokens. An id
    alone does not show it, as many local servers give every reply the same one. Where there is no id, or one that
    came with different texts, the same long text shows it.
    """

    def __init__(self) -> None:
        self._owners: dict[Key, Task] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self.reused_ids: dict[str, str] = {}  # by judge, an id that came with different texts

    def is_to_another(
        self,
        task: Task,
        reply_id: str | None,
        text: str,
        prompt_tokens: int | None,
        completion_tokens: int | None,
    ) -> bool:
        """Whether the reply was the answer to another request before; if not, it is this one's from now on."""
        judge, asked = task.judge, replace(task, repeat=0)  # what is asked, however often
        if reply_id and self._texts.setdefault((judge, reply_id), text) != text:
            self.reused_ids.setdefault(judge, reply_id)
        by_text: Key = (judge, None, text)
        by_id: Key = (judge, reply_id, (text, prompt_tokens, completion_tokens))
        key = by_id if reply_id and judge not in self.reused_ids else by_text
        is_telling = key is by_id or len(text) >= LONG_TEXT
        if is_telling and self._owners.get(key, asked) != asked:
            return True
        self._owners.setdefault(by_text, asked)
        self._owners.setdefault(by_id, asked)
        return False
