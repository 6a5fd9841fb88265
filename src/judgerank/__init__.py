"""Rank language models from pairwise comparisons by a panel of LLM judges.

from judgerank import Comparisons, fit

result = fit(Comparisons.from_frame(judgments))
print(result)
"""

from importlib.metadata import version

from judgerank.comparisons import Comparisons
from judgerank.errors import (
    ChecksumError,
    ConfigError,
    DataError,
    DataUnavailableError,
    DisconnectedError,
    EndpointError,
    JudgerankError,
    MethodUnavailableError,
    NoIntervalError,
    NoMaximumError,
    NotAsStoredError,
    NotIdentifiedError,
)
from judgerank.fit import fit
from judgerank.ranks import pairwise, rank_intervals
from judgerank.reading import read_judgments as read
from judgerank.result import FitResult
from judgerank.solvers.adam import Adam
from judgerank.solvers.localized import Localized
from judgerank.solvers.newton import Newton
from judgerank.solvers.penalised import Penalised
from judgerank.solvers.solution import Status
from judgerank.storing import load

__version__ = version("judgerank")
__all__ = [
    "Adam",
    "ChecksumError",
    "Comparisons",
    "ConfigError",
    "DataError",
    "DataUnavailableError",
    "DisconnectedError",
    "EndpointError",
    "FitResult",
    "JudgerankError",
    "Localized",
    "MethodUnavailableError",
    "Newton",
    "NoIntervalError",
    "NoMaximumError",
    "NotAsStoredError",
    "NotIdentifiedError",
    "Penalised",
    "Status",
    "__version__",
    "fit",
    "load",
    "pairwise",
    "rank",
    "rank_intervals",
    "read",
]


def __getattr__(name: str) -> object:
    """`rank`, imported when it is first asked for: what makes a page takes a while to load."""
    if name != "rank":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from judgerank.leaderboard.ranking import rank

    return rank
