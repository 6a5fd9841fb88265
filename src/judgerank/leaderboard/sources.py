"""What a ranking is made of: files, a table, or judgments that were read before."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgerank.errors import ConfigError
from judgerank.files import Files
from judgerank.judgments import Judgments
from judgerank.reading import judgments_of, read_judgments

Source = Files | pd.DataFrame | Judgments


def loaded(
    source: Source,
    columns: Mapping[str, str | None] | None = None,
    form: str | None = None,
    winner_values: Mapping[str, str] | None = None,
    baseline: str | None = None,
) -> Judgments:
    """Judgments out of any of the sources of `rank`, which says what is raised."""
    if isinstance(source, Judgments | pd.DataFrame) and form is not None:
        raise ConfigError("a form is that of a file, and this source is none")
    if isinstance(source, Judgments):
        if columns or winner_values or baseline:
            raise ConfigError("columns are those of a file or a table, and this source has its own")
        return source
    if isinstance(source, pd.DataFrame):
        return judgments_of(source, columns, winner_values=winner_values, baseline=baseline)
    return read_judgments(source, form, columns, winner_values, baseline)
