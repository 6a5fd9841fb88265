"""What the judges of a panel take from it: its address, and its key with that address."""

from __future__ import annotations

from typing import Any

from judgerank.collecting.functions import PYTHON
from judgerank.collecting.person import PERSON


def inherited(values: Any, default_key: str | None) -> Any:
    """The panel's address for judges on a server who name none, and its key for those at that address.

    Parameters
    ----------
    values : Any
        A panel as it was written; returned as it is if it names no address or no list of judges.
    default_key : str or None
        The variable with the key, if the panel names none.
    """
    if not isinstance(values, dict) or not isinstance(values.get("judges"), list) or not values.get("base_url"):
        return values
    place = values["base_url"]
    key = {"api_key_env": values.get("api_key_env", default_key)}
    completed = []
    for judge in values["judges"]:
        if isinstance(judge, dict) and judge.get("provider") not in (PYTHON, PERSON):
            at = {"base_url": judge.get("base_url") or place}
            judge = (key if at["base_url"] == place else {}) | judge | at
        completed.append(judge)
    return values | {"judges": completed}
