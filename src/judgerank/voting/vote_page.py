"""The page of votes: one HTML file that works without a network and without a server."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from judgerank.collecting.tasks import Questions, Task
from judgerank.pages import render
from judgerank.reading.answers.found import Text

TEMPLATE = Path(__file__).parent / "vote.html"


def vote_page(questions: Questions, items: Sequence[Task], voter: str = "", prompt: str = "") -> str:
    """HTML on which a person compares the answers of every item, without the names of the models.

    The names are in the file, in an encoding that nobody reads by accident: votes that are saved carry them. Votes
    are kept in the browser until they are saved, and no request leaves the page.

    Parameters
    ----------
    questions : Questions
    items : sequence of Task
        Whose ``judge`` and ``repeat`` do not count.
    voter : str
        Name of the person, the judge of the votes; by default the page asks for it.
    asked : str
        What the person is asked; by default which answer is better.
    """
    listed = [
        {
            "question": _turns(questions.text[item.question_id]),
            "first": _turns(questions.answers[item.question_id][item.first]),
            "second": _turns(questions.answers[item.question_id][item.second]),
            "key": _encoded([item.question_id, item.first, item.second]),
        }
        for item in items
    ]
    data = json.dumps(listed, ensure_ascii=False)
    return render(
        TEMPLATE,
        title="Which answer is better?",
        asked=prompt or "Which answer is better?",
        voter=voter,
        many=len(items),
        items=data,
        identity=hashlib.sha256(data.encode()).hexdigest()[:16],
    )


def _turns(text: Text) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def _encoded(names: list[str]) -> str:
    return base64.b64encode(json.dumps(names).encode()).decode()
