"""What a reply to a request for a ranking says: letters from best to worst, such as ``B > A = C``, or nothing.

The first and the last line are read, as of comparisons (`replies`). A ranking has every letter once. Two rankings
that differ, one that lacks a letter, and all else are unknown: never a guess.
"""

from __future__ import annotations

import re

from judgerank.collecting.replies import ends, without_thoughts

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONGEST = 600  # characters; a longer line is prose
_LABEL = re.compile(r"(?:(?:my|the|final|overall) )*(?:ranking|order|verdict)(?: is)? ?[:=]? ?", re.IGNORECASE)
_NOUN = re.compile(r"(?:model|assistant|answer|response) (?=[a-z]\b)", re.IGNORECASE)
_RANKING = re.compile(r"[A-Z](?: ?(?:>|=) ?[A-Z])+")
_MARKS = str.maketrans("", "", '*_`[]()"')


def ranking(reply: str, size: int) -> list[list[int]] | None:
    """Places of the answers shown in groups from best to worst, those of a group being tied; None if unclear."""
    answer, is_complete = without_thoughts(reply)
    if not answer:
        return None
    lines = ends(answer)
    read = (_of_line(line) for line in ((lines[0], lines[-1]) if is_complete else lines[-1:]))
    stated = {text for text in read if text is not None}
    if len(stated) != 1:
        return None
    groups = [sorted(LETTERS.index(letter) for letter in group.split("=")) for group in stated.pop().split(">")]
    return groups if sorted(position for group in groups for position in group) == list(range(size)) else None


def _of_line(line: str) -> str | None:
    """The ranking that a line consists of, without blanks."""
    if len(line) > LONGEST:
        return None
    text = " ".join(line.translate(_MARKS).split()).lstrip("#- ").rstrip(".! ")
    text = _NOUN.sub("", text[label.end() :] if (label := _LABEL.match(text)) else text)
    return text.replace(" ", "") if _RANKING.fullmatch(text) else None
