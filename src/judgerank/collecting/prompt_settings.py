"""What a judge is asked, as a file of settings says it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from judgerank.collecting.checking import Settings
from judgerank.collecting.wording import GRADED, PAIRWISE

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
    """

    name: Name = PAIRWISE["name"]
    temperature: Annotated[float, Field(ge=0)] = PAIRWISE["temperature"]
    max_tokens: Count = PAIRWISE["max_tokens"]
    text: Name = PAIRWISE["text"]
    system: Name | None = None
    criteria: dict[Name, Name] = Field(default_factory=dict)
    scale: Literal[3, 5] = 3

    @model_validator(mode="before")
    @classmethod
    def _asks_for_the_scale(cls, told: Any) -> Any:
        if isinstance(told, dict) and told.get("scale") == 5 and "text" not in told:
            return {"name": "pairwise, five levels", **told, "text": GRADED}
        return told

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
    def _with_a_place(self) -> Self:
        if bool(self.criteria) != ("{criterion}" in self.text):
            raise ValueError("the criteria go where the text says {criterion}: there must be both, or neither")
        unsafe = [name for name in self.criteria if not name.replace("-", "").replace("_", "").isalnum()]
        if unsafe:
            raise ValueError(f"criterion {unsafe[0]!r} names a file: letters, digits, - and _ alone")
        return self
