"""What a judge is asked, for a choice or for a ranking, as settings say it, and the words that are the default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Protocol, Self, TypedDict

from pydantic import Field, model_validator

from judgerank.collecting.checking import Settings
from judgerank.collecting.replies import Kind

# The question that a judge is asked unless another is given (appendix E.2 of the paper, in words of our own).


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
GRADED = (
    PAIRWISE["text"].partition("Reply with one line")[0]
    + """\
Reply with one line and nothing else, which says how much better an answer is:
[[A>>B]] if A's answer is much better, [[A>B]] if it is better, [[A=B]] if neither is,
[[B>A]] if B's answer is better, [[B>>A]] if it is much better.
"""
)
# {nonce} stands for a word of each request alone, so that no answer can hold a verdict in this form
NONCED = (
    PAIRWISE["text"].partition("Reply with one line")[0]
    + """\
Reply with one line and nothing else: verdict-{nonce}, a colon, your choice, a comma, and your confidence.
The choice is a if A's answer is better, b if B's is better, c if neither is.
The confidence is a number from 0.00 to 1.00 with two decimals.
Example: verdict-{nonce}: b, 0.75
"""
)
# {answers} stands for all of them, each under its letter
RANKED: Wording = {
    "name": "ranking",
    "temperature": PAIRWISE["temperature"],
    "max_tokens": PAIRWISE["max_tokens"],
    "text": """\
Several assistants have each answered the question below. Rank their answers by how well they serve the person who
asked. Weigh whether an answer is correct, helpful, honest, and does what was asked; do not be swayed by length,
style or the order of the answers, and do not guess who wrote them.

Question:
{question}

{answers}

Reply with one line and nothing else: the letters of all answers from best to worst, with > between them.
Write = instead of > only where neither of two answers is better.
Example, of three answers: B > A = C
""",
}


# What a judge is asked, as a file of settings says it.
Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]


class Prompt(Settings):
    """What a judge is asked, with {question}, {first} and {second}, or {answers}, to be filled in.

    Attributes
    ----------
    text : str
        Also with {reference}, the question's reference answer, and {criterion}, where these are wanted.
    system : str, optional
        A message that goes before, in the system's role.
    criteria : dict of str to str
        Names of criteria and what stands for {criterion}; each is asked alone and makes judgments of its own.
    scale : {3, 5}
        With five levels the judge says how much better an answer is, as [[A>>B]]. Without a text of its own the
        prompt asks for that.
    nonce : bool
        Have the verdict begin with a random word of each request alone, {nonce}, which no answer can know.
    form : {"line", "brackets", "label", "json", "ranking"}, optional
        The form of the verdict that the text asks for, which alone is read; by default as the text says (`kind`).
    """

    name: Name = PAIRWISE["name"]
    temperature: Annotated[float, Field(ge=0)] = PAIRWISE["temperature"]
    max_tokens: Count = PAIRWISE["max_tokens"]
    text: Name = PAIRWISE["text"]
    system: Name | None = None
    criteria: dict[Name, Name] = Field(default_factory=dict)
    scale: Literal[3, 5] = 3
    nonce: bool = False
    form: Kind | None = None

    @model_validator(mode="before")
    @classmethod
    def _asks_as_it_says(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("scale") == 5 and "text" not in values:
            return {"name": "pairwise, five levels", **values, "text": GRADED}
        if isinstance(values, dict) and values.get("nonce") is True and "text" not in values:
            return {"name": "pairwise, with a nonce", **values, "text": NONCED}
        return values

    @property
    def kind(self) -> Kind:
        """The form of the verdict: the one declared, or what the text asks for."""
        return self.form or kind_of(self.text)

    @property
    def ranks(self) -> bool:
        """Whether it asks for a ranking of all answers that it shows."""
        return "{answers}" in self.text

    @model_validator(mode="after")
    def _says_the_scale(self) -> Self:
        if self.scale == 5 and ">>" not in self.text:
            raise ValueError("with scale 5 the text must ask for [[A>>B]], [[A>B]], [[A=B]], [[B>A]] or [[B>>A]]")
        return self

    @model_validator(mode="after")
    def _require_nonce(self) -> Self:
        if self.nonce != ("{nonce}" in self.text):
            raise ValueError("the nonce goes where the text says verdict-{nonce}: there must be both, or neither")
        if self.nonce and self.kind != "label":
            raise ValueError("with a nonce the text must ask for a line such as verdict-{nonce}: b, 0.75")
        return self

    @model_validator(mode="after")
    def _require_valid_criteria(self) -> Self:
        if bool(self.criteria) != ("{criterion}" in self.text):
            raise ValueError("the criteria go where the text says {criterion}: there must be both, or neither")
        unsafe = [name for name in self.criteria if not name.replace("-", "").replace("_", "").isalnum()]
        if unsafe:
            raise ValueError(f"criterion {unsafe[0]!r} names a file: letters, digits, - and _ alone")
        return self


def kind_of(text: str) -> Kind:
    """The form of verdict that a prompt's text asks for."""
    if "{answers}" in text:
        return "ranking"
    if "[[A" in text:
        return "brackets"
    return "label" if "verdict-{nonce}" in text else "line"


# Settings of a collection in which judges rank several answers at once.
PAIR = 2  # answers in a request, unless more are asked for


class RankingJudge(Protocol):
    """What matters of a judge."""

    judge: str
    structured: bool
    logprobs: bool

    @property
    def is_local(self) -> bool: ...


def with_ranking_prompt(values: Any) -> Any:
    """Settings as they are told, with the prompt for rankings where judges rank by no text of the user's."""
    if not isinstance(values, dict) or not isinstance(values.get("k"), int) or values["k"] <= PAIR:
        return values
    prompt = values.get("prompt", Prompt())
    if not isinstance(prompt, Prompt) or prompt.text != PAIRWISE["text"]:
        return values
    name = RANKED["name"] if prompt.name == PAIRWISE["name"] else prompt.name
    return {**values, "prompt": prompt.model_copy(update={"name": name, "text": RANKED["text"]})}


def require_rankable(
    k: int, prompt: Prompt, judges: Iterable[RankingJudge], until: str | None, anchors: int
) -> None:
    """Refuse what is made for pairs where judges rank k answers, and a prompt for rankings where they do not.

    Raises
    ------
    ValueError
    """
    if k == PAIR:
        if prompt.ranks:
            raise ValueError("the prompt's text has {answers}, which asks for rankings: say of how many (--k 4)")
        return
    with_k = f"with k={k}, judges rank answers:"
    absent = [field for field in ("{question}", "{answers}") if field not in prompt.text]
    if absent:
        raise ValueError(f"{with_k} the prompt's text must say where {absent[0]} goes")
    if prompt.scale == 5:
        raise ValueError(f"{with_k} scale 5 is for pairs, leave it out")
    if until is not None:
        raise ValueError(f"{with_k} until is for pairs, leave it out")
    if anchors:
        raise ValueError(f"{with_k} anchors are for pairs, leave them out")
    for judge in judges:
        if judge.is_local:
            raise ValueError(f"{with_k} judge {judge.judge!r}, a function or a person, can only compare two")
        if judge.structured or judge.logprobs:
            key = "structured" if judge.structured else "logprobs"
            raise ValueError(f"{with_k} {key} of judge {judge.judge!r} is for pairs, leave it out")
