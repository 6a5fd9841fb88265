"""Rows of a data set on the Hugging Face hub, or of a JSON file with the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgerank.errors import DataUnavailableError

if TYPE_CHECKING:
    from datasets import Dataset


def load_rows(source: str, *columns: str) -> Dataset:
    """Rows of a JSON file or of a hub data set; some columns of them, or all.

    Parameters
    ----------
    source : str
        A path, or the id of a set on the hub, such as ``openbmb/UltraFeedback``.
    columns : str
        The columns wanted; all by default.

    Raises
    ------
    DataUnavailableError
        If there is neither such a file nor access to the hub, or the package `datasets` is not installed.
    """
    try:
        import datasets
        import requests
    except ImportError:
        raise DataUnavailableError(f"{source!r}: reading from the hub takes the package `datasets`") from None
    is_file = Path(source).is_file()
    options = {"path": "json", "data_files": source} if is_file else {"path": source}
    try:
        if not is_file and not datasets.config.HF_HUB_OFFLINE:
            # one quick question instead of half a minute of retries
            requests.head(f"{datasets.config.HF_ENDPOINT}/datasets/{source}", timeout=10).raise_for_status()
        rows = datasets.load_dataset(**options, split="train")
        return rows.select_columns(list(columns)) if columns else rows
    except (OSError, RuntimeError, ValueError, requests.RequestException) as error:
        reason = type(error).__name__
        raise DataUnavailableError(f"{source!r} cannot be loaded ({reason})") from error
