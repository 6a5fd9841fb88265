"""What a judge is shown (appendix E.2 of the paper, in words of our own)."""

from __future__ import annotations

import re
from typing import TypedDict

from judgerank.errors import ConfigError


class Wording(TypedDict):
    """A prompt and how it is sampled from."""

    name: str
    temperature: float
    max_tokens: int
    text: str


# {question}, {first} and {second} are filled in; the models stay anonymous
PAIRWISE: Wording = {
    "name": "pairwise",
    "temperature": 0.0,
    "max_tokens": 1024,
    "text": """\
Two assistants, A and B, have each answered the question below. Decide which answer serves the person who asked
better. Weigh whether it is correct, helpful, honest, and does what was asked; do not be swayed by length, style
or the order of the answers, and do not guess who wrote them.

Question:
{question}

Model A Response:
{first}

Model B Response:
{second}

Reply with one line and nothing else: your choice, a comma, and your confidence.
The choice is a if A's answer is better, b if B's is better, c if neither is.
The confidence is a number from 0.00 to 1.00 with two decimals.
Example: b, 0.75
""",
}
_FENCES = re.compile(r"`+")
SHORTEST_FENCE = 3


def fill(template: str, question: str, first: str, second: str) -> str:
    """The prompt for one comparison.

    Each text stands between two fences, lines of backticks longer than any run of them in what is filled in. So no
    text can end its own part, and no two different pairs of answers give the same prompt.

    Raises
    ------
    ConfigError
        If the template has other fields than ``{question}``, ``{first}`` and ``{second}``, or lacks one.
    """
    texts = {"question": question, "first": first, "second": second}
    missing = [name for name in texts if f"{{{name}}}" not in template]
    if missing:
        raise ConfigError(f"the prompt's text does not say where {{{missing[0]}}} goes")
    runs = (len(run) for text in (template, *texts.values()) for run in _FENCES.findall(text))
    fence = "`" * max(SHORTEST_FENCE, 1 + max(runs, default=0))
    try:
        return template.format_map({name: f"{fence}\n{text}\n{fence}" for name, text in texts.items()})
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        raise ConfigError(f"the prompt's text has a field that nothing fills: {error}") from None
