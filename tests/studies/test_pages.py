"""What the documentation shows of the sections beyond the paper is as stored, and `make audit` keeps it so."""

import re

import pytest

from replication.auditing.doc_blocks import current, markdown_in, rendered
from replication.auditing.results import Results
from replication.config import ROOT
from studies.doc_tables import BLOCKS
from tests import forked

STORED = Results(ROOT / "results")
PAGES = {path: path.read_text() for path in markdown_in([ROOT / "README.md", ROOT / "docs"])}
SCRIPT = "experiments/beyond/pages.py"


def test_every_block_is_on_a_page_and_as_stored():
    shown = rendered(BLOCKS, STORED)
    assert shown.keys() == BLOCKS.keys()
    for name in shown:
        assert any(f"<!-- {name}:" in text for text in PAGES.values()), f"no page shows the block {name}"
    for path, text in PAGES.items():
        assert current(text, shown, STORED) == text, path


def test_a_page_that_is_not_current_is_written_again_and_nothing_else(tmp_path):
    text = (ROOT / "docs/beyond/defaults.md").read_text()
    stale, fresh = tmp_path / "stale.md", tmp_path / "fresh.md"
    block = re.search(r"<!-- defaults accuracy:[^>]*-->\n(.*?)<!-- /defaults accuracy -->", text, re.DOTALL)[1]
    stale.write_text(text.replace(block, "of an earlier run\n"))
    fresh.write_text(text)
    before = fresh.stat().st_mtime_ns
    done = forked.run([SCRIPT, f"pages=[{stale},{fresh}]"])
    assert done.returncode == 0, done.stderr
    assert (stale.read_text(), fresh.read_text()) == (text, text)
    assert fresh.stat().st_mtime_ns == before


def test_blocks_whose_results_are_not_stored_stay_as_they_are(tmp_path, caplog):
    with caplog.at_level("WARNING", "replication"):
        shown = rendered(BLOCKS, Results(tmp_path))
    assert shown.keys() == {"bench"}  # whose ratios are not among the results
    assert all(any(name in said for said in caplog.messages) for name in BLOCKS.keys() - shown.keys())


@pytest.mark.parametrize("override", ["pages=[nowhere.md]", "page=[README.md]"])
def test_a_bad_setting_ends_in_one_sentence(override):
    done = forked.run([SCRIPT, override])
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
