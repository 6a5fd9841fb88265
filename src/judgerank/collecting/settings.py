"""Settings of a collection: judges, prompt, repeats and speed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, field_validator, model_validator

from judgerank.collecting.batches.providers import FORMS
from judgerank.collecting.checking import Settings, checked, keys_of, read_keys, require_no_key, require_plain
from judgerank.collecting.functions import PERSON, PYTHON, require_function
from judgerank.collecting.prompt_settings import PAIR, Count, Name, Prompt, require_rankable, with_ranking_prompt
from judgerank.collecting.replies import LETTERS

# What the judges of a panel take from it: its address, and its key with that address.


def inherited(values: Any, default_key: str | None) -> Any:
    """The panel's address for judges on a server who name none, and its key for those at that address.

    Parameters
    ----------
    values : Any
        A panel as it was written; returned as it is if it names no address or no list of judges.
    default_key : str or None
        The variable with the key, if the panel names none.
    """
    if not isinstance(values, dict) or not isinstance(values.get("judges"), list) or not values.get("base_url"):
        return values
    panel_address = values["base_url"]
    key = {"api_key_env": values.get("api_key_env", default_key)}
    completed = []
    for judge in values["judges"]:
        if isinstance(judge, dict) and judge.get("provider") not in (PYTHON, PERSON):
            address_fields = {"base_url": judge.get("base_url") or panel_address}
            judge = (key if address_fields["base_url"] == panel_address else {}) | judge | address_fields
        completed.append(judge)
    return values | {"judges": completed}


__all__ = ["LENGTHS", "Collection", "Judge", "Panel", "Prompt"]

Price = Annotated[float, Field(ge=0)]
Pace = Annotated[float, Field(gt=0)]
# providers whose own form takes more than a key, and how to ask them in OpenAI's
ELSEWHERE = {
    "azure": "base_url: https://RESOURCE.openai.azure.com/openai/v1, model: DEPLOYMENT",
    "vertex_ai": "base_url: https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION/endpoints/"
    "openapi, model: google/MODEL, and an access token as the key",
}
LENGTHS = ("max_completion_tokens", "max_tokens")  # parameters that say how long a reply may be


class Judge(Settings):
    """One judge of a panel.

    Attributes
    ----------
    judge : str
        Its name in the judgments.
    model : str, optional
        What it is called where it is asked; its name, by default. Without an address of its own or of the panel
        in litellm's form, provider/model.
    provider : str
        Whose form of requests the server at an address speaks, by litellm's name. With ``python`` there is no
        server: the model is a function, ``FILE.py:FUNCTION``, and `params` are further arguments. With ``person``
        somebody at the terminal answers.
    base_url, api_key_env : str, optional
        Address of its server, and the environment variable with the key for it; null for none.
    params : dict
        Parameters that go into the body of every request as they are; null leaves one out.
    reasoning_effort : str, optional
        How much a model thinks, where it is told in words.
    reasoning_budget : int, optional
        Tokens that it may think, on top of those of the reply.
    structured : bool
        Ask for a reply in the form of JSON; one who refuses is asked in other ways, then without.
    logprobs : bool
        Keep the log-probabilities of the letters.
    images : {"send", "name", "skip"}, optional
        Show it images, or their names alone, or ask it nothing that shows one; by what its family sees by default.
    image_tokens : int, optional
        Tokens that an image takes at most; by its family by default.
    requests_per_minute, concurrent : optional
        At most, for this judge.
    prompt_price, completion_price : float, optional
        For a million tokens; without them, and without an address, litellm's list is taken.
    cached_price, cache_write_price : float, optional
        For those of the prompt that the provider reads from its cache or puts into it; as others by default.
    batch : bool
        Ask all but the pilot by the provider's batch interface.
    batch_discount : float
        Share of the prices that a batch saves.
    batch_size : int, optional
        Requests in a batch at most; as many as the provider takes by default.
    """

    judge: Name
    model: Name | None = None
    provider: Name = "openai"
    base_url: str | None = None
    api_key_env: Name | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    reasoning_effort: Name | None = None
    reasoning_budget: Count | None = None
    structured: bool = False
    logprobs: bool = False
    images: Literal["send", "name", "skip"] | None = None
    image_tokens: Count | None = None
    requests_per_minute: Pace | None = None
    concurrent: Count | None = None
    prompt_price: Price | None = None
    completion_price: Price | None = None
    cached_price: Price | None = None
    cache_write_price: Price | None = None
    batch: bool = False
    batch_discount: Annotated[float, Field(ge=0, le=1)] = 0.5
    batch_size: Count | None = None
    _address: str = PrivateAttr("")
    _named_by: str = PrivateAttr("")

    @property
    def is_function(self) -> bool:
        """Whether it is a Python function, not a model on a server."""
        return self.provider == PYTHON

    @property
    def is_person(self) -> bool:
        """Whether it is a person at the terminal."""
        return self.provider == PERSON

    @property
    def is_local(self) -> bool:
        """Whether it is no model on a server: it has no address, no key and no price."""
        return self.is_function or self.is_person

    @property
    def address(self) -> str:
        """Where it is asked: its own address, or the provider's once that is found; empty before."""
        return self._address or (self.base_url or "").rstrip("/")

    @property
    def named_by(self) -> str:
        """What in the environment names that address; empty if nothing does."""
        return self._named_by

    def with_address(self, address: str, named_by: str) -> Self:
        """The judge with the address of its provider."""
        judge = self.model_copy()
        judge._address, judge._named_by = address, named_by
        return judge

    @property
    def sent(self) -> str:
        """The model's name that requests carry."""
        return self.model or self.judge

    @property
    def called(self) -> str:
        """The model as litellm calls it."""
        return f"{self.provider}/{self.sent}" if self.base_url else self.sent

    @property
    def form(self) -> str:
        """The provider whose form its requests have."""
        return self.called.partition("/")[0]

    @property
    def batch_share(self) -> float:
        """What a request costs in a batch, of what it costs live."""
        return 1.0 - self.batch_discount

    _plain = field_validator("base_url")(require_plain)
    _public = field_validator("params")(require_no_key)

    @model_validator(mode="after")
    def _batched(self) -> Self:
        if self.is_function:
            require_function(self.sent, bool(self.base_url or self.api_key_env or self.batch))
        elif self.is_person and (self.base_url or self.api_key_env or self.batch or self.params):
            raise ValueError(
                f"judge {self.judge!r} is a person, who must not have base_url, api_key_env, batch or params"
            )
        elif self.form in ELSEWHERE:
            raise ValueError(f"judge {self.judge!r}: {self.form} is asked at an address: {ELSEWHERE[self.form]}")
        elif self.batch and self.form not in FORMS:
            raise ValueError(
                f"judge {self.judge!r} cannot be asked by batch: the batch interfaces known here are those of "
                f"{' and '.join(FORMS)}, not of {self.form}"
            )
        return self


class Panel(Settings):
    """Who is asked, and where. The panel's address and key are those of judges that name neither.

    Keys come from environment variables. The panel's goes to the panel's address alone.
    """

    base_url: str | None = None
    api_key_env: Name | None = "OPENAI_API_KEY"
    currency: Name = "USD"
    judges: list[Judge]

    _plain = field_validator("base_url")(require_plain)

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, values: Any) -> Any:
        return inherited(values, cls.model_fields["api_key_env"].default)

    @field_validator("judges")
    @classmethod
    def _distinct(cls, judges: list[Judge]) -> list[Judge]:
        names = Counter(judge.judge for judge in judges)
        if not names:
            raise ValueError("it is empty: no judges given")
        if max(names.values()) > 1:
            raise ValueError(f"judge {max(names, key=names.__getitem__)!r} is there twice")
        return judges

    @model_validator(mode="after")
    def _require_addresses(self) -> Self:
        """Every judge has an address or a provider, and says which key is for it."""
        for judge in self.judges:
            if judge.is_local:
                continue
            if judge.base_url is None and "/" not in judge.sent:
                raise ValueError(
                    f"judge {judge.judge!r} has neither base_url nor a provider in its model (provider/model)"
                )
            if "api_key_env" not in judge.model_fields_set:
                raise ValueError(
                    f"judge {judge.judge!r} is not at the panel's base_url, so the panel's key is not for it: "
                    "name the variable with its own (api_key_env: NAME; null if it needs none)"
                )
        return self

    @property
    def by_name(self) -> dict[str, Judge]:
        return {judge.judge: judge for judge in self.judges}


def _several(value: Any) -> Any:
    """One source, or several."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


class Collection(Settings):
    """Questions, a panel of judges, and how they are asked.

    Attributes
    ----------
    questions : tuple of str
        Where questions and answers are; see `answer_sources.read_questions`, also for `columns` and `answers`.
    output : Path
        File of judgments, appended to.
    comparisons : int, optional
        How many (question, pair, judge) of a fixed random order are asked, its first; all by default.
    repeats : int
        How often every judge is asked the same.
    retest : float
        Share of the requests to judges on servers that are asked once more after all others.
    k : int
        Answers in a request: two are compared, up to so many are ranked.
    order : {"random", "both"}
        In which order answers are shown.
    again : {"unreadable", "refused"}, optional
        Ask once more where a reply could not be read, or where the judge refused to judge.
    pilot : int
        Requests to each judge before the rest; those that a judge has answered already count.
    until : str, optional
        A goal, as `adaptive.goals` reads it: what is asked after the pilot is chosen by rounds.
    own_maker : {"recuse", "count"}
        Whether votes of judges on models of their own maker count on the way to the goal; those that do not are
        not asked after the pilot.
    other_forms : float
        The share of a judge's replies that may be in another form than the prompt asks for; with more, it is
        stopped once it has replied 20 times.
    budget : float, optional
        In the currency of the prices, over all runs into the same file.
    max_concurrent : int
        Requests at a time, of all judges.
    requests_per_minute : float, optional
        Of all judges; no limit by default.
    attempts : int
        For one judgment, where another may help and the fault is not the server's as a whole.
    patience : float
        Seconds without any answer after which a judge is given up.
    first_wait, timeout : float
        Seconds before a second attempt, twice as long before each further one; seconds that a reply may take.
    poll : float
        Seconds between two looks at a batch.
    allow_env_url : bool
        Ask at addresses that environment variables name.
    anchors : int
        Requests of each judge that are asked again, if their last answer is of another day (`collection.due`).
    moved : bool
        The judges of earlier judgments are the same at other addresses.
    """

    questions: Annotated[tuple[Name, ...], Field(min_length=1), BeforeValidator(_several)]
    panel: Panel
    output: Path
    columns: dict[str, str | None] = Field(default_factory=dict)
    answers: Name | None = None
    prompt: Prompt = Prompt()
    comparisons: Count | None = None
    repeats: Count = 1
    retest: Annotated[float, Field(ge=0, le=1)] = 0.0
    anchors: Annotated[int, Field(ge=0)] = 0
    k: Annotated[int, Field(ge=2, le=len(LETTERS))] = 2
    order: Literal["random", "both"] = "random"
    seed: Annotated[int, Field(ge=0)] = 2026
    again: Literal["unreadable", "refused"] | None = None
    pilot: Annotated[int, Field(ge=0)] = 8
    until: Name | None = None
    own_maker: Literal["recuse", "count"] = "recuse"
    other_forms: Annotated[float, Field(ge=0, le=1)] = 0.1
    budget: Annotated[float, Field(gt=0)] | None = None
    max_concurrent: Count = 8
    requests_per_minute: Pace | None = None
    attempts: Count = 6
    patience: Annotated[float, Field(gt=0)] = 1800.0
    first_wait: Annotated[float, Field(gt=0)] = 1.0
    timeout: Annotated[float, Field(gt=0)] = 120.0
    poll: Annotated[float, Field(gt=0)] = 60.0
    allow_env_url: bool = False
    moved: bool = False

    _asks_for_rankings = model_validator(mode="before")(with_ranking_prompt)

    @model_validator(mode="after")
    def _rankable(self) -> Self:
        require_rankable(self.k, self.prompt, self.panel.judges, self.until, self.anchors)
        if self.retest and (self.k > PAIR or self.until is not None):
            raise ValueError("retest is for pairs, and for what is not asked by rounds: leave it out")
        return self

    @property
    def most_repeats(self) -> int:
        """How often a request is asked at most, anchors aside."""
        return self.repeats + (self.retest > 0)


def read_panel(path: Path | None, more: Iterable[str]) -> Panel:
    """The judges of a file, if there is one, and those described each in one line of the same keys.

    Raises
    ------
    ConfigError
        Naming the key, or the line at fault.
    """
    values: dict[str, Any] = read_keys(path, Panel.model_fields) if path else {}
    described = [_judge(text) for text in more]
    if described:
        listed = values.get("judges", [])
        values = values | {"judges": [*(listed if isinstance(listed, list) else []), *described]}
    return checked(Panel, values, path.name if path else "")


def _judge(text: str) -> Any:
    """One judge; a name alone is a judge of the panel's server."""
    keys = keys_of(f"{{{text}}}", f"judge {text!r}")
    if isinstance(keys, dict) and list(keys.values()) == [None]:
        return {"judge": text}
    return keys
