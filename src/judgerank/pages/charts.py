"""Charts of a page: Vega-Lite, made by altair and drawn by the page itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Chart:
    """A chart of a page.

    Attributes
    ----------
    spec : dict
        Vega-Lite, without a theme: the page adds its colours, light or dark.
    says : str
        What is seen in it, for those who do not see it.
    """

    spec: dict[str, Any]
    says: str


@cache
def library() -> str:
    """The script that draws charts: Vega, Vega-Lite and Vega-Embed in one.

    Raises
    ------
    ImportError
        If the extra ``page`` is not installed.
    """
    import vl_convert

    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its types ask for a snippet
    return bundle
