"""The judges with what they cost: by their own prices, else by the list of the client library."""

from __future__ import annotations

from judgerank.collecting.costs import is_priced
from judgerank.collecting.functions import function
from judgerank.collecting.library import PRICED, list_prices
from judgerank.collecting.requests import is_bounded
from judgerank.collecting.settings import Collection, Judge
from judgerank.data.errors import ConfigError


def priced(settings: Collection) -> dict[str, Judge]:
    """The judges with their addresses, keys' names and prices: their own, else, at no address, litellm's.

    Raises
    ------
    ConfigError
        If there is a budget and a judge without prices, or no function that a judge names.
    """
    judges = settings.panel.by_name
    for name, judge in judges.items():
        if judge.is_function:
            function(judge.sent)  # refused before anything is asked, if it is not there
        if judge.is_local:
            continue
        if judge.base_url is None:
            own_prices = {key: price for key in PRICED if (price := getattr(judge, key)) is not None}
            judges[name] = judge.model_copy(update=list_prices(judge) | own_prices)
        if settings.budget is not None:
            refuse_a_budget(judges[name])
    return judges


def refuse_a_budget(judge: Judge) -> None:
    """A budget is kept only where it is known what a request costs at most.

    Raises
    ------
    ConfigError
    """
    if not is_priced(judge):
        lacking = [name for name in ("prompt_price", "completion_price") if getattr(judge, name) is None]
        raise ConfigError(
            f"a budget needs prices, and judge {judge.judge!r} has none: give it {' and '.join(lacking)} "
            "(0 for a server of your own)"
        )
    if not is_bounded(judge):
        raise ConfigError(
            f"a budget needs an end of each reply, and judge {judge.judge!r} has none: give it max_tokens or "
            "max_completion_tokens in its params"
        )
