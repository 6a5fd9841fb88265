"""What a judge is shown (appendix E.2 of the paper, in words of our own)."""

from __future__ import annotations

import re

from judgerank.errors import ConfigError

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
