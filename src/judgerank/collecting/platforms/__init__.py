"""Experiments on platforms as questions and answers, over the platforms' HTTP interfaces.

``langfuse:DATASET`` is every experiment on a data set, and ``langfuse:DATASET::EXPERIMENT`` one of them. An
experiment is taken for a model. To add a platform: a module in this folder with a `Platform` called ``PLATFORM``.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from judgerank.data.errors import ConfigError
from judgerank.data.modules import names_in, needed
from judgerank.reading.answers.found import Found

HELPERS = ("session", "as_text")
PART = "::"  # between a data set and one experiment on it


def known_platforms() -> tuple[str, ...]:
    """Names of platforms, which a source begins with."""
    return names_in(__path__, HELPERS)


def is_platform(source: str) -> bool:
    """Whether a source is on a platform."""
    name, sign, dataset = source.partition(":")
    return bool(sign and dataset) and name in known_platforms()


def fetched(source: str) -> Iterator[Found]:
    """The questions and answers of the experiments that a source names.

    Raises
    ------
    ConfigError
        If a key or a package is missing.
    DataUnavailableError
        If the platform does not answer.
    DataError
        If there is no such data set or experiment, or an answer is not as documented.
    """
    name, _, rest = source.partition(":")
    try:
        platform = import_module(f"{__name__}.{name}").PLATFORM  # when it is asked for: httpx takes time to load
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"reading from {name} requires {needed('collect')}: {error.name} is not installed"
        ) from None
    dataset, _, experiment = rest.partition(PART)
    return iter(platform.read(dataset, experiment or None))
