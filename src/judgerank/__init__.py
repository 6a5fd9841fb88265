"""Rank language models from pairwise comparisons by a panel of LLM judges.

from judgerank import fit

print(fit("judgments.csv", "position_aware").summary())
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what is here to import; each is loaded when it is first asked for
    from judgerank.boards.comparing import compare
    from judgerank.boards.moving import place
    from judgerank.data.comparisons import Comparisons
    from judgerank.data.errors import (
        ConfigError,
        DataError,
        DataUnavailableError,
        DisconnectedError,
        EndpointError,
        JudgerankError,
        NoIntervalError,
        NoMaximumError,
        NotIdentifiedError,
    )
    from judgerank.data.simulated import example
    from judgerank.engine.adam import Adam
    from judgerank.engine.localized import Localized
    from judgerank.engine.newton import Newton
    from judgerank.engine.penalised import Penalised
    from judgerank.engine.solution import Status
    from judgerank.fits.fit import fit
    from judgerank.fits.result import Fit, load
    from judgerank.gating.gate import gate
    from judgerank.gating.rule import Rule
    from judgerank.model.block import Block, Records
    from judgerank.order.pairs import pairwise, rank_intervals
    from judgerank.people.report import on_human_board, people_report
    from judgerank.ranking.ranking import Ranking, rank
    from judgerank.reading.large.cells import aggregate
    from judgerank.reading.read import read_judgments as read
    from judgerank.trust.effective_judges import effective_judges
    from judgerank.trust.fragility import fragility

    __version__: str

_FROM = {
    "model.block": ["Block", "Records"],
    "boards.comparing": ["compare"],
    "boards.moving": ["place"],
    "data.comparisons": ["Comparisons"],
    "data.errors": [
        *("ConfigError", "DataError", "DataUnavailableError", "DisconnectedError", "EndpointError"),
        *("JudgerankError", "NoIntervalError", "NoMaximumError", "NotIdentifiedError"),
    ],
    "data.simulated": ["example"],
    "fits.fit": ["fit"],
    "ranking.ranking": ["Ranking", "rank"],
    "gating.gate": ["gate"],
    "gating.rule": ["Rule"],
    "people.report": ["on_human_board", "people_report"],
    "order.pairs": ["pairwise", "rank_intervals"],
    "reading.read": ["read"],
    "fits.result": ["Fit", "load"],
    "reading.large.cells": ["aggregate"],
    "engine.adam": ["Adam"],
    "engine.localized": ["Localized"],
    "engine.newton": ["Newton"],
    "engine.penalised": ["Penalised"],
    "engine.solution": ["Status"],
    "trust.effective_judges": ["effective_judges"],
    "trust.fragility": ["fragility"],
}
_CALLED = {"read": "read_judgments"}  # there, what has another name here
_MODULE = {name: module for module, names in _FROM.items() for name in names}
__all__ = [
    "Adam",
    "Block",
    "Comparisons",
    "ConfigError",
    "DataError",
    "DataUnavailableError",
    "DisconnectedError",
    "EndpointError",
    "Fit",
    "JudgerankError",
    "Localized",
    "Newton",
    "NoIntervalError",
    "NoMaximumError",
    "NotIdentifiedError",
    "Penalised",
    "Ranking",
    "Records",
    "Rule",
    "Status",
    "__version__",
    "aggregate",
    "compare",
    "effective_judges",
    "example",
    "fit",
    "fragility",
    "gate",
    "load",
    "on_human_board",
    "pairwise",
    "people_report",
    "place",
    "rank",
    "rank_intervals",
    "read",
]


def __getattr__(name: str) -> object:
    """What `__all__` names, loaded when it is first asked for: pandas and scipy take their time."""
    if name == "__version__":
        from importlib.metadata import version

        return version("judgerank")
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"judgerank.{_MODULE[name]}"), _CALLED.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
