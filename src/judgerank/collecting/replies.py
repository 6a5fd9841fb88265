"""What a judge's reply says: a choice and a confidence, or a ranking, or that it is unclear.

Read are the form that the prompt asks for (``b, 0.75``), labels (``Verdict: B``), JSON with such a label, and the
verdicts of MT-Bench (``[[A]]``) and Arena-Hard (``[[A>>B]]``). They count where a verdict stands: on the first or
the last line. A plain sentence (``Model B is better.``) counts as the last one of a reply. JSON counts if its
object ends the reply, from the beginning of a line on. Text in between may quote an answer, and is not read.
A fence around the end is looked through. Two verdicts that differ, and all else, are unknown: never a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

LONGEST_VERDICT = 300  # characters; a longer line is prose, of which the last sentence alone is read
LONGEST_JSON = 20_000  # characters
FENCE = "```"
DOUBLE_QUOTES = '"“”„«»'
QUOTES = DOUBLE_QUOTES + "\u2018\u2019'"
LABELS = ("choice", "preference", "verdict", "winner", "decision", "preferred", "better", "judge_preferred_model")

_NOUN = r"(?:model|assistant|answer|response|option|candidate)"
_SIDE = rf"(?:(?:the )?{_NOUN} )?(?P<side>[abc])"
_TIE = r"(?P<tie>(?:a )?(?:tie|draw)|neither|equal)"
_CHOICE = rf"(?:{_SIDE}|{_TIE})"
_NUMBER = r"(?P<number>\d{1,3}(?:\.\d{1,6})?|\.\d{1,6}) ?(?P<percent>%?)"
_CONFIDENCE = rf"(?:confidence ?(?:is |: ?|= ?)?)?{_NUMBER}"
_LABEL = (
    r"(?:(?:my|the|our) )?(?:final |overall )?(?:choice|preference|verdict|winner|decision|judgment|judgement"
    rf"|(?:better|best|preferred|winning) {_NOUN}|preferred|better)"
)
_LEAD = (
    r"(?:(?:so|thus|therefore|hence|overall|finally|ultimately|actually|on reflection|in conclusion|in summary)"
    r",? )?"
)
_BEST = (
    rf"(?:wins|is (?:clearly |slightly |much |significantly )?(?:better|preferred|preferable|superior"
    rf"|the (?:better|best|winner|preferred)(?: {_NOUN}| one)?))"
)

_PLAIN = re.compile(rf"{_CHOICE}(?: ?[,;:|/ -] ?{_CONFIDENCE})?")
_LABELLED = re.compile(rf"{_LEAD}{_LABEL} ?(?:is |: ?|= ?){_CHOICE}(?: ?[,;| -] ?{_CONFIDENCE})?")
_SENTENCES = (
    _LABELLED,
    re.compile(
        rf"{_LEAD}(?:i think |i believe )?{_SIDE} {_BEST}(?: than (?:the other(?: {_NOUN})?|(?:{_NOUN} )?[abc]))?"
    ),
    re.compile(rf"{_LEAD}i (?:would )?(?:prefer|choose|pick) {_CHOICE}"),
    re.compile(rf"{_LEAD}(?:it is|it's|this is) {_TIE}"),
)
_ARENA = re.compile(
    r"\[\[ ?(?:(?P<side>[abc])|(?P<left>[ab]) ?(?P<sign>>{1,2}|={1,2}|<{1,2}) ?(?P<right>[ab])) ?\]\]"
)
_STATED = re.compile(rf"{_CONFIDENCE}")
_OBJECT = re.compile(r"^\{", re.MULTILINE)
_DECODER = json.JSONDecoder()
_MARKS = str.maketrans("", "", "*_`")

Verdict = tuple[str, float | None]
UNCLEAR: Verdict = ("unknown", None)


def parse(reply: str) -> Verdict:
    """Choice and confidence of a reply.

    Returns
    -------
    choice : {"a", "b", "c", "unknown"}
        c for a tie; unknown if no verdict can be told, or if there are two that differ.
    confidence : float or None
        From 0 to 1; none where there is none, or it is out of range.
    """
    answer, is_complete = without_thoughts(reply)
    if not answer:
        return UNCLEAR
    from_json = _of_json(answer, is_complete)
    if from_json is not None:
        return from_json
    lines = ends(_without_fence(answer))
    stated, lines = _stated_confidence(lines)
    if not lines:
        return UNCLEAR
    alone = len(lines) == 1
    candidates = [_of_line(line, alone) for line in (lines if is_complete else lines[-1:])]
    candidates.append(_of_last_sentence(lines[-1]))
    verdicts = [verdict for verdict in candidates if verdict is not None]
    if len({choice for choice, _ in verdicts}) != 1:
        return UNCLEAR
    confidences = [confidence for _, confidence in verdicts if confidence is not None]
    return verdicts[0][0], confidences[-1] if confidences else stated


def strength(reply: str) -> int | None:
    """2 if a reply finds an answer much better, as in [[A>>B]], 1 if it finds one better, None if neither."""
    if parse(reply)[0] not in ("a", "b"):
        return None
    lines = ends(without_thoughts(reply)[0])
    signs = {match["sign"] for line in lines for match in _ARENA.finditer(_plain(line)) if match["sign"]}
    return 2 if signs and signs <= {">>", "<<"} else 1


def without_thoughts(reply: str) -> tuple[str, bool]:
    """The reply after the thoughts it opens with, and whether its first line is part of the answer.

    A closing tag that nothing opened may end thoughts or be quoted, so that only the last line is safe to read.
    """
    answer = reply.strip()
    for tag in ("think", "thinking"):
        if answer[: len(tag) + 2].lower() == f"<{tag}>":
            end = answer.lower().find(f"</{tag}>")
            answer = "" if end < 0 else answer[end + len(tag) + 3 :].strip()
    low = answer.lower()
    return answer, "</think" not in low and "<think" not in low


def ends(answer: str) -> list[str]:
    """The first and the last two lines with something on them, in order, each once."""
    first, _, rest = answer.partition("\n")
    rest = rest.strip()
    if not rest:
        return [first.strip()]
    before, _, last = rest.rpartition("\n")
    before = before.strip().rpartition("\n")[2].strip()
    return [line for line in (first.strip(), before, last.strip()) if line]


def _stated_confidence(lines: list[str]) -> tuple[float | None, list[str]]:
    """A confidence on a last line of its own, and the first and last of the lines before it."""
    if len(lines) > 1:
        text = _plain(lines[-1])
        match = _STATED.fullmatch(text) if text.startswith("confidence") else None
        if match:
            return _confidence(match), [lines[0], *lines[1:-1]]
    return None, [lines[0], *lines[-1:]] if len(lines) > 1 else lines


def _plain(line: str) -> str:
    """The line without Markdown, in lower case, blanks single, full stop and brackets around it dropped."""
    if len(line) > LONGEST_VERDICT:
        return ""
    text = " ".join(line.translate(_MARKS).lower().split()).lstrip("#- ").rstrip(".! ")
    return text.strip("(){}<> ")


def _of_line(line: str, alone: bool) -> Verdict | None:
    """The verdict that a whole line gives. A line in quotes may be quoted, unless it is all there is."""
    text = _plain(line)
    if alone and text[:1] in QUOTES and text[-1:] in QUOTES:
        text = text.strip(QUOTES)
    elif text[:1] in (*QUOTES, ">") or line.lstrip()[:1] == ">":
        return None
    arena = _arena(text)
    if arena is not None:
        return arena
    text = text.replace("[", "").replace("]", "").replace("(", "").replace(")", "")
    match = _PLAIN.fullmatch(text) or _LABELLED.fullmatch(text)
    return None if match is None else (_choice(match), _confidence(match))


def _arena(text: str) -> Verdict | None:
    """The verdict in double brackets that a line ends with; unknown where another in it differs."""
    if not text.endswith("]]") or any(mark in text for mark in DOUBLE_QUOTES):
        return None
    letters = {_of_brackets(match) for match in _ARENA.finditer(text)}
    if not letters:
        return None
    return (letters.pop(), None) if len(letters) == 1 else UNCLEAR


def _of_brackets(match: re.Match[str]) -> str:
    if match["side"]:
        return match["side"]
    if match["left"] == match["right"]:
        return "unknown"
    if match["sign"][0] == "=":
        return "c"
    return match["left"] if match["sign"][0] == ">" else match["right"]


def _of_last_sentence(line: str) -> Verdict | None:
    """The verdict of the last sentence of a line, where it is a plain one without quotes."""
    tail = line.rstrip()[-LONGEST_VERDICT:].rstrip(".! ")
    _, stop, last = tail.rpartition(". ")
    if not stop and len(line.rstrip()) > LONGEST_VERDICT:
        return None
    text = _plain(last)
    arena = _arena(text)
    if arena is not None:
        return arena
    if any(mark in text for mark in DOUBLE_QUOTES):
        return None
    matches = (form.fullmatch(text) for form in _SENTENCES)
    match = next(filter(None, matches), None)
    return None if match is None else (_choice(match), _confidence(match))


def _without_fence(answer: str) -> str:
    """The reply without a fence around its last line; a letter alone, fenced after a text, may be quoted."""
    if not answer.endswith(FENCE):
        return answer
    before, fence, block = answer.removesuffix(FENCE).rpartition(FENCE)
    within = block.partition("\n")[2].strip()
    if not fence or before[-1:] not in ("", "\n") or "\n" in within:
        return answer
    return answer if before and _PLAIN.fullmatch(_plain(within)) else f"{before}{within}"


def _of_json(answer: str, is_complete: bool) -> Verdict | None:
    """The verdict of a JSON object that ends a reply, fenced or not; None if there is none."""
    text = answer.removesuffix(FENCE).rstrip()
    objects = list(_objects(text))
    if not objects or objects[-1][2] < len(text):
        return None
    start, fields, _ = objects.pop()
    before = text[:start].strip()
    if answer.endswith(FENCE):  # of which the object is all
        before, _, opening = before.rpartition("\n")
        if not opening.startswith(FENCE):
            return None
    if before and fields.keys().isdisjoint(LABELS):
        return None
    if before.startswith("{"):  # two of them
        return UNCLEAR
    candidates = [_of_fields(candidate) for _, candidate, _ in objects if not candidate.keys().isdisjoint(LABELS)]
    lines = ends(before) if before else []
    for line in lines if is_complete else lines[-1:]:
        candidates += [
            candidate for candidate in (_of_line(line, False), _of_last_sentence(line)) if candidate is not None
        ]
    choice, confidence = _of_fields(fields)
    if any(stated_choice != choice for stated_choice, _ in candidates):
        return UNCLEAR
    stated = [stated_choice for _, stated_choice in candidates if stated_choice is not None]
    return choice, stated[-1] if confidence is None and stated else confidence


def _objects(text: str) -> Iterator[tuple[int, dict[str, object], int]]:
    """The JSON objects that begin a line near the end of a text: where from, what they hold, and where to."""
    if not text.endswith("}"):
        return
    left_out = max(0, len(text) - LONGEST_JSON)
    text, start = text[left_out:], min(left_out, 1)
    while (match := _OBJECT.search(text, start)) is not None:
        try:
            fields, start = _DECODER.raw_decode(text, match.start())
        except ValueError:
            start = match.end()
        except RecursionError:
            return
        else:
            named = {str(key).lower(): value for key, value in fields.items()}
            yield left_out + match.start(), named, left_out + start


def _of_fields(fields: Mapping[str, object]) -> Verdict:
    named = {str(fields[key]) for key in LABELS if key in fields}
    verdicts = [_of_line(name, True) for name in named]
    choices = {verdict[0] for verdict in verdicts if verdict is not None}
    if len(choices) != 1 or None in verdicts:
        return UNCLEAR
    stated = _STATED.fullmatch(str(fields.get("confidence", "")).strip())
    return choices.pop(), _confidence(stated) if stated else None


def _choice(match: re.Match[str]) -> str:
    return match.groupdict().get("side") or "c"


def _confidence(match: re.Match[str]) -> float | None:
    groups = match.groupdict()
    if not groups.get("number"):
        return None
    value = float(groups["number"]) / (100 if groups["percent"] else 1)
    return value if 0 <= value <= 1 else None


# Replies to requests for a ranking: letters from best to worst, such as ``B > A = C``. The first and the last line
# are read. A ranking has every letter once. Two that differ, one that lacks a letter, and all else are unknown.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONGEST_RANKING = 600  # characters; a longer line is prose
_RANKING_LABEL = re.compile(
    r"(?:(?:my|the|final|overall) )*(?:ranking|order|verdict)(?: is)? ?[:=]? ?", re.IGNORECASE
)
_RANKING_NOUN = re.compile(r"(?:model|assistant|answer|response) (?=[a-z]\b)", re.IGNORECASE)
_RANKING = re.compile(r"[A-Z](?: ?(?:>|=) ?[A-Z])+")
_RANKING_MARKS = str.maketrans("", "", '*_`[]()"')


def ranking(reply: str, size: int) -> list[list[int]] | None:
    """Places of the answers shown in groups from best to worst, those of a group being tied; None if unclear."""
    answer, is_complete = without_thoughts(reply)
    if not answer:
        return None
    lines = ends(answer)
    read = (_ranking_of_line(line) for line in ((lines[0], lines[-1]) if is_complete else lines[-1:]))
    stated = {text for text in read if text is not None}
    if len(stated) != 1:
        return None
    groups = [sorted(LETTERS.index(letter) for letter in group.split("=")) for group in stated.pop().split(">")]
    return groups if sorted(position for group in groups for position in group) == list(range(size)) else None


def _ranking_of_line(line: str) -> str | None:
    """The ranking that a line consists of, without blanks."""
    if len(line) > LONGEST_RANKING:
        return None
    text = " ".join(line.translate(_RANKING_MARKS).split()).lstrip("#- ").rstrip(".! ")
    text = _RANKING_NOUN.sub("", text[label.end() :] if (label := _RANKING_LABEL.match(text)) else text)
    return text.replace(" ", "") if _RANKING.fullmatch(text) else None
