"""The stored results with some tables changed, to see which verdicts change with them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from replication.auditing.results import Results
from replication.config import ROOT

STORED = Results(ROOT / "results")
Change = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Changed(Results):
    """The stored results with some tables changed."""

    changes: dict[str, Change] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        frame = super().table(name)
        return self.changes[name](frame.copy()) if name in self.changes else frame


def changed(**changes: Change) -> Changed:
    return Changed(STORED.folder, changes)
