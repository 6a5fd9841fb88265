"""The folders of the paper and of what is beyond it: each says what it is, and has its own sections."""

import re

import pytest

from replication.config import ROOT

MAKEFILE = (ROOT / "Makefile").read_text().replace("\\\n", " ")
SECTIONS = {
    name: set(re.search(rf"^{name.upper()}\s*:=(.*)$", MAKEFILE, re.MULTILINE)[1].split())
    for name in ("paper", "beyond")
}
FOLDERS = {
    "paper": ("experiments", "results/paper", "figures/paper"),
    "beyond": ("experiments/beyond", "results/beyond", "figures/beyond"),
}


@pytest.mark.parametrize("folder", [name for names in FOLDERS.values() for name in names])
def test_each_folder_says_what_it_is(folder):
    text = (ROOT / folder / "README.md").read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / folder / target).exists(), target


@pytest.mark.parametrize("lot", FOLDERS)
def test_scripts_that_are_no_section_are_named(lot):
    folder = ROOT / FOLDERS[lot][0]
    scripts = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert SECTIONS[lot] <= scripts
    named = set(re.findall(r"`(\w+)\.py`", (folder / "README.md").read_text()))
    assert named == scripts - SECTIONS[lot]


@pytest.mark.parametrize("lot", FOLDERS)
def test_stored_sections_are_in_their_lot(lot):
    (other,) = set(FOLDERS) - {lot}
    for kind in ("results", "figures"):
        stored = {path.name for path in (ROOT / kind / lot).iterdir() if path.is_dir()}
        assert SECTIONS[lot] & stored
        assert not SECTIONS[other] & stored
