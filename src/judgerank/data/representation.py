"""Representations of results: one line as text, a line and a table in a notebook."""

from __future__ import annotations

from html import escape

import pandas as pd

from judgerank.data.listing import shortened

MOST = 20  # rows of a table in a notebook


class Shown:
    """A record that says in a line what it holds, and has a table for a notebook."""

    def _line(self) -> str:
        raise NotImplementedError

    def _table(self) -> pd.DataFrame:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shortened(self._line())}>"

    def _repr_html_(self) -> str:
        markup = self._table().to_html(
            index=False, float_format="{:.3f}".format, na_rep="", max_rows=MOST, border=0
        )
        return f"<div>\n<p>{escape(self._line())}</p>\n{markup}\n</div>"
