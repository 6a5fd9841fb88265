"""Charts of a page: Vega-Lite, made by altair and drawn by the page itself."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

LONGEST = 60  # seconds that making the script may take; it takes two on an idle machine
MAKE = """
import sys
if sys.platform != "win32":
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())
"""


class ChartError(Exception):
    """Charts that cannot be drawn here."""


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

    Another process makes it. The library does that in a JavaScript engine, which asks for 64 GB of addresses and
    ends its process by a signal where there is a limit on them (``ulimit -v``).

    Raises
    ------
    ImportError
        If the extra ``page`` is not installed.
    ChartError
        If it cannot be made.
    """
    if find_spec("vl_convert") is None:
        raise ImportError("vl_convert")
    try:
        # -P: what lies in the working directory is not imported
        done = subprocess.run([sys.executable, "-P", "-c", MAKE], capture_output=True, timeout=LONGEST, check=True)
    except (OSError, subprocess.SubprocessError):
        raise ChartError("the library that draws them does not run here (is memory limited?)") from None
    return done.stdout.decode()
