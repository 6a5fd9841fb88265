"""The notebook runs from its first cell to its last, and ends where it says."""

import json
import re
from typing import Any

import pandas as pd
import pytest

from replication.config import ROOT
from tests.real_data import needs_data

PATH = ROOT / "examples/tour.ipynb"
NOTEBOOK = json.loads(PATH.read_text())
NEEDS_DATA = "needs-data"


def executed(*, with_data: bool) -> dict[str, Any]:
    """Names that the code cells leave behind, run in order."""
    names: dict[str, Any] = {}
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] == "code" and (with_data or NEEDS_DATA not in cell["metadata"].get("tags", [])):
            exec(compile("".join(cell["source"]), f"{PATH.name}, {cell['id']}", "exec"), names)
    return names


@needs_data
def test_it_goes_from_the_papers_data_to_table_3():
    names = executed(with_data=True)
    stored = pd.read_csv(ROOT / "results/paper/chatbot_arena/paper_check.csv")
    assert len(names["check"]) == len(stored)
    assert names["check"]["reproduced"].sum() == stored["reproduced"].sum()


def test_ones_own_file_needs_no_data_of_the_paper(monkeypatch):
    pytest.importorskip("textalloc", reason="could not import textalloc")
    names = executed(with_data=False)
    assert "arena" not in names
    assert names["ranking"].to_frame()["model"].iloc[0] == "aster"


def test_it_is_kept_without_outputs_and_its_links_lead_to_files():
    cells = NOTEBOOK["cells"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells if "outputs" in cell)
    assert len({cell["id"] for cell in cells}) == len(cells)
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    found = re.findall(r"\]\(([^)]+)\)", text)
    assert found
    assert all((PATH.parent / target).is_file() for target in found)
