"""What a judge is shown, and what its reply says (appendix E.2 of the paper, in words of our own)."""

from __future__ import annotations

import re

from judgerank.errors import ConfigError

# what surrounds a choice: Markdown, quotes, brackets
_AROUND = r"[\s*_`\"'\[\](){}<>#]*"
_CHOICE = r"(?:(?:model|assistant|answer|response|option)\s+)?(?P<choice>[abc]|tie|neither)"
_NUMBER = r"(?P<confidence>\d*\.?\d+)\s*(?P<percent>%?)"
_LINE = re.compile(
    rf"^{_AROUND}{_CHOICE}{_AROUND}(?:[,;:|/-]?{_AROUND}(?:confidence{_AROUND}[:=]?{_AROUND})?{_NUMBER}{_AROUND})?\.?$",
    re.I,
)
_LABELLED = re.compile(
    rf"\b(?:choice|preference|verdict|winner|preferred|better)\b{_AROUND}(?:is\b|[:=]){_AROUND}{_CHOICE}\b", re.I
)
_CONFIDENCE = re.compile(rf"\bconfidence\b{_AROUND}(?:is\b|[:=])?{_AROUND}{_NUMBER}", re.I)
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A.*</think(?:ing)?>", re.I | re.S)


def fill(template: str, question: str, first: str, second: str) -> str:
    """The prompt for one comparison.

    Raises
    ------
    ConfigError
        If the template has other fields than ``{question}``, ``{first}`` and ``{second}``, or lacks one.
    """
    texts = {"question": question, "first": first, "second": second}
    missing = [name for name in texts if f"{{{name}}}" not in template]
    if missing:
        raise ConfigError(f"the prompt's text does not say where {{{missing[0]}}} goes")
    try:
        return template.format_map(texts)
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        raise ConfigError(f"the prompt's text has a field that nothing fills: {error}") from None


def parse(reply: str) -> tuple[str, float | None]:
    """Choice and confidence of a reply.

    Parameters
    ----------
    reply : str
        Such as ``b, 0.75``; Markdown, labels, quotes and thoughts in think tags are put up with.

    Returns
    -------
    choice : {"a", "b", "c", "unknown"}
        Unknown if there is none, or if there are two that differ.
    confidence : float or None
        From 0 to 1; none where there is none, or it is out of range.
    """
    said = _THOUGHT.sub("\n", reply)
    found = [match for line in said.splitlines() if (match := _LINE.match(line.strip()))]
    found = found or list(_LABELLED.finditer(said))
    choices = {_letter(match["choice"]) for match in found}
    if len(choices) != 1:
        return "unknown", None
    numbers = [match for match in found if match.groupdict().get("confidence")] or list(_CONFIDENCE.finditer(said))
    return choices.pop(), _confidence(numbers[-1]) if numbers else None


def _letter(choice: str) -> str:
    return choice.lower() if len(choice) == 1 else "c"


def _confidence(match: re.Match) -> float | None:
    value = float(match["confidence"]) / (100 if match["percent"] else 1)
    return value if 0 <= value <= 1 else None
