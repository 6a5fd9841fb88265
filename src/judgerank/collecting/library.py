"""litellm, configured to fetch and print nothing; and its list of models."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from judgerank.collecting.guard import install
from judgerank.collecting.settings import Judge
from judgerank.data.errors import ConfigError
from judgerank.writing.extras import needed

# nothing is fetched, loaded from a folder's .env, or sent by litellm but what it is asked to send
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
# its one HTTP handler for all providers, which takes our line, also for OpenAI's form
ONE_HANDLER = {"EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True"}
ALWAYS_SET = QUIET | ONE_HANDLER
PRICED = {
    "prompt_price": "input_cost_per_token",
    "completion_price": "output_cost_per_token",
    "cached_price": "cache_read_input_token_cost",
    "cache_write_price": "cache_creation_input_token_cost",
}


def library() -> ModuleType:
    """litellm; its import takes seconds, so that only what needs it pays for it.

    Raises
    ------
    ConfigError
        If it is not installed.
    """
    os.environ.update(ALWAYS_SET)
    try:
        import litellm
    except ImportError:
        raise ConfigError(f"collecting judgments takes {needed('collect')}") from None
    install(litellm)
    # what it leaves behind where a request is cancelled while it still prepares it
    warnings.filterwarnings("ignore", r"coroutine '\w+\.\w*completion\w*' was never awaited", RuntimeWarning)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def listed(judge: Judge) -> Mapping[str, Any]:
    """What litellm's list says of the judge's model: prices, limits, its last day; empty if it is not on it."""
    models = library().model_cost
    return models.get(judge.sent) or models.get(judge.sent.partition("/")[2]) or {}


def list_prices(judge: Judge) -> dict[str, float | None]:
    """The judge's prices for a million tokens by that list, in US dollars; none if it is not on it."""
    listed_prices = listed(judge)
    prices = {name: listed_prices.get(key) for name, key in PRICED.items()}
    return {name: None if price is None else price * 1e6 for name, price in prices.items()}
