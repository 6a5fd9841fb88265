"""What a judge is asked, as a file of settings says it."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from judgerank.collecting.checking import Settings
from judgerank.collecting.wording import PAIRWISE

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]


class Prompt(Settings):
    """What a judge is asked, with {question}, {first} and {second} to be filled in.

    Attributes
    ----------
    text : str
        Also with {reference}, the question's reference answer, and {criterion}, where these are wanted.
    system : str, optional
        A message that goes before, in the system's role.
    criteria : dict of str to str
        Names of criteria and what stands for {criterion}; each is asked alone and makes judgments of its own.
    """

    name: Name = PAIRWISE["name"]
    temperature: Annotated[float, Field(ge=0)] = PAIRWISE["temperature"]
    max_tokens: Count = PAIRWISE["max_tokens"]
    text: Name = PAIRWISE["text"]
    system: Name | None = None
    criteria: dict[Name, Name] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _with_a_place(self) -> Self:
        if bool(self.criteria) != ("{criterion}" in self.text):
            raise ValueError("the criteria go where the text says {criterion}: there must be both, or neither")
        unsafe = [name for name in self.criteria if not name.replace("-", "").replace("_", "").isalnum()]
        if unsafe:
            raise ValueError(f"criterion {unsafe[0]!r} names a file: letters, digits, - and _ alone")
        return self
