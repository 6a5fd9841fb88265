"""Schema of collecting judgments (conf/collect_judgments.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from omegaconf import MISSING


@dataclass
class Prompt:
    """What a judge is asked, with {question}, {first} and {second} to be filled in."""

    name: str = MISSING
    temperature: float = MISSING
    max_tokens: int = MISSING
    text: str = MISSING


@dataclass
class Judge:
    """One judge of a panel; prices are for a million tokens."""

    judge: str = MISSING
    model: str | None = None  # the name sent; null: the judge's
    base_url: str | None = None  # null: the panel's
    prompt_price: float = 0.0
    completion_price: float = 0.0


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
    comparisons: int | None = MISSING
    repeats: int = MISSING
    order: Order = MISSING
    seed: int = MISSING
    dry_run: bool = MISSING
    budget: float | None = MISSING
    max_concurrent: int = MISSING
    requests_per_minute: float | None = MISSING
    attempts: int = MISSING
    first_wait: float = MISSING
    timeout: float = MISSING
