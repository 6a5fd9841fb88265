"""Schema of collecting judgments (conf/collect_judgments.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from omegaconf import MISSING

from replication.schemas.ranges import above, at_least


@dataclass
class Prompt:
    """What a judge is asked, with {question}, {first} and {second} to be filled in."""

    name: str = MISSING
    temperature: float = at_least(0)
    max_tokens: int = at_least(1)
    text: str = MISSING


@dataclass
class Judge:
    """One judge of a panel; prices are for a million tokens."""

    judge: str = MISSING
    model: str | None = None  # the name sent; null: the judge's
    base_url: str | None = None  # null: the panel's
    prompt_price: float = at_least(0, 0.0)
    completion_price: float = at_least(0, 0.0)


@dataclass
class QuestionFile:
    """Questions and answers: a file or a hub id, and the names of its columns where they are not the usual."""

    source: str = MISSING
    answers: str | None = None
    columns: dict[str, str | None] = field(default_factory=dict)


class Order(Enum):
    """In which order two answers are shown."""

    random = "random"
    both = "both"


@dataclass
class CollectJudgments:
    """Collecting judgments from an OpenAI-compatible endpoint."""

    questions: QuestionFile = field(default_factory=QuestionFile)
    output: str = MISSING
    prompt: Prompt = field(default_factory=Prompt)
    judges: list[Judge] = MISSING
    base_url: str = MISSING
    api_key_env: str = MISSING
    comparisons: int | None = at_least(1)
    repeats: int = at_least(1)
    order: Order = MISSING
    seed: int = at_least(0)
    dry_run: bool = MISSING
    budget: float | None = above(0)
    max_concurrent: int = at_least(1)
    requests_per_minute: float | None = above(0)
    attempts: int = at_least(1)
    first_wait: float = above(0)
    timeout: float = above(0)
