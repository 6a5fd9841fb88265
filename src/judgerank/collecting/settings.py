"""What collecting judgments is told: whom to ask, with what prompt, how often and how fast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from judgerank.collecting.prompts import PAIRWISE
from judgerank.errors import ConfigError, DataUnavailableError

Name = Annotated[str, Field(min_length=1)]
Price = Annotated[float, Field(ge=0)]
OUR_WORDS = ("Value error, ", "")  # what pydantic puts before a sentence of ours


def require_plain(url: str) -> str:
    """The address, unless it is none or carries more than a place: it is stored with the judgments.

    Raises
    ------
    ConfigError
    """
    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        plain = False
    if not plain:
        raise ConfigError("this is not an address such as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"the address of {parts.hostname} carries more than a place (user, password or query): it would be "
            "stored with the judgments; put the key into the environment (api_key_env: NAME)"
        )
    return url


class _Settings(BaseModel):
    """Nothing is converted, infinite or unknown."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        unknown = [key for key in values if key not in cls.model_fields] if isinstance(values, dict) else []
        if unknown:
            near = get_close_matches(str(unknown[0]), list(cls.model_fields), 1, 0.0)[0]
            raise ValueError(f"there is no key {str(unknown[0])!r}; the nearest known one is {near!r}")
        return values


class Prompt(_Settings):
    """What a judge is asked, with {question}, {first} and {second} to be filled in."""

    name: Name = PAIRWISE["name"]
    temperature: Annotated[float, Field(ge=0)] = PAIRWISE["temperature"]
    max_tokens: Annotated[int, Field(ge=1)] = PAIRWISE["max_tokens"]
    text: Name = PAIRWISE["text"]


class Judge(_Settings):
    """One judge of a panel; prices are for a million tokens."""

    judge: Name
    model: Name | None = None
    base_url: str | None = None
    prompt_price: Price = 0.0
    completion_price: Price = 0.0

    @property
    def sent(self) -> str:
        """The model's name that requests carry."""
        return self.model or self.judge

    _plain = field_validator("base_url")(lambda url: url if url is None else require_plain(url))


class Panel(_Settings):
    """Who is asked, and where; the key comes from an environment variable."""

    base_url: str
    api_key_env: Name = "OPENAI_API_KEY"
    judges: list[Judge]

    _plain = field_validator("base_url")(require_plain)

    @field_validator("judges")
    @classmethod
    def _distinct(cls, judges: list[Judge]) -> list[Judge]:
        names = Counter(judge.judge for judge in judges)
        if not names:
            raise ValueError("it is empty: there is nobody to ask")
        if max(names.values()) > 1:
            raise ValueError(f"judge {max(names, key=names.__getitem__)!r} is there twice")
        return judges

    @property
    def by_name(self) -> dict[str, Judge]:
        return {judge.judge: judge for judge in self.judges}


class Collection(_Settings):
    """Questions, a panel of judges, and how they are asked.

    Attributes
    ----------
    questions : str
        A file or a set on the hub; see `tasks.read_questions` for `columns` and `answers`.
    output : Path
        File of judgments, appended to.
    comparisons : int, optional
        How many (question, pair, judge) are drawn at random; all by default.
    repeats : int
        How often every judge is asked the same.
    order : {"random", "both"}
        In which order two answers are shown.
    budget : float, optional
        In the currency of the prices, over all runs into the same file.
    requests_per_minute : float, optional
        No limit by default.
    attempts : int
        For one judgment, where another may help.
    first_wait, timeout : float
        Seconds before a second attempt, twice as long before each further one; seconds that a reply may take.
    """

    questions: Name
    panel: Panel
    output: Path
    columns: dict[str, str | None] = {}
    answers: Name | None = None
    prompt: Prompt = Prompt()
    comparisons: Annotated[int, Field(ge=1)] | None = None
    repeats: Annotated[int, Field(ge=1)] = 1
    order: Literal["random", "both"] = "random"
    seed: Annotated[int, Field(ge=0)] = 2026
    budget: Annotated[float, Field(gt=0)] | None = None
    max_concurrent: Annotated[int, Field(ge=1)] = 8
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    attempts: Annotated[int, Field(ge=1)] = 6
    first_wait: Annotated[float, Field(gt=0)] = 1.0
    timeout: Annotated[float, Field(gt=0)] = 120.0

    @model_validator(mode="after")
    def _affordable(self) -> Self:
        free = [judge.judge for judge in self.panel.judges if not judge.prompt_price + judge.completion_price > 0]
        if self.budget is not None and free:
            raise ValueError(f"a budget needs prices, and judge {free[0]!r} has none")
        return self


Checked = TypeVar("Checked", bound=_Settings)


def checked(schema: type[Checked], values: Mapping[str, Any], where: str = "") -> Checked:
    """Settings from plain values.

    Raises
    ------
    ConfigError
        Naming the first key at fault; never its text, which might be a key of another kind.
    """
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
    key = "".join(f" no. {part + 1}" if isinstance(part, int) else f".{part}" for part in first["loc"])
    given = first["input"] if isinstance(first["input"], int | float) else None
    key = key.lstrip(".") + (f"={given:g}" if given is not None and key else "")
    said = first["msg"].replace(*OUR_WORDS)
    said = said[0].lower() + said[1:]
    raise ConfigError(": ".join(part for part in (where, key, said) if part))


def read_settings(schema: type[Checked], path: Path) -> Checked:
    """Settings from a YAML file.

    Raises
    ------
    DataUnavailableError
        If there is no such file, or it cannot be read.
    ConfigError
        Naming the file, and the key or the line at fault.
    """
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise DataUnavailableError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name}: this is not UTF-8 text (byte {error.start + 1})") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}: {getattr(error, 'problem', '')})" if mark else ""
        raise ConfigError(f"{path.name}: this is not YAML{where}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path.name}: there are no keys, such as {', '.join(schema.model_fields)}")
    return checked(schema, values, path.name)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml comes without types
    """Refuses a key that is there twice: the usual one keeps the last, and says nothing."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, "a key is there twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)
