"""Whether what is stored is what this code computes: digests of what made it, and stamps of verifications."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

STAMPS = "verified.csv"


def stale(results: Path) -> pd.DataFrame:
    """Stored tables, figures, counts and ratios that this code neither made nor was found to make again.

    Parameters
    ----------
    results : Path
        Usually ``results/``; figures are in ``figures/`` beside it.

    Returns
    -------
    DataFrame
        ``lot, section, set, kind, why, command``: `lot` is paper or beyond, `set` empty for a section that runs
        once, `kind` is tables or figures, `why` names what differs (code, settings, data) or says that there is no
        digest, `command` makes the thing anew.
    """
    raise NotImplementedError


def stamp(results: Path, sections: Mapping[str, Collection[str]]) -> None:
    """Note that this code gives the stored tables and figures of some sections again.

    Parameters
    ----------
    results : Path
        Usually ``results/``, whose file ``verified.csv`` is replaced whole.
    sections : mapping of str to collection of str
        By section the sets that were recomputed whole and found equal, tables and figures; ``[""]`` for a section
        that runs once. Sections that are fresh without a stamp get none.
    """
    raise NotImplementedError
