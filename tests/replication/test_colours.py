"""Colours: one meaning each in every figure, distinct for colour-blind readers and in grey print."""

import re
from itertools import combinations

import numpy as np
import pytest

from judgerank.plots.looks import COLOURS, DATA_SETS, MARKERS, MODELS, NAMES, SHADE_MARKERS, shades
from replication.config import ROOT

# Machado, Oliveira and Fernandes (2009), severity one, on linear RGB
SEEN = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
FAMILIES = {"models": MODELS, "data sets": DATA_SETS}


def lab(colour: str, seen: str = "normal") -> np.ndarray:
    """CIE L*a*b* of a colour as some reader sees it; the first is its lightness in grey print."""
    encoded = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.asarray(SEEN[seen]) @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_measure_knows_what_a_red_green_blind_reader_confuses():
    red, green = "#C83232", "#5A7832"
    assert np.linalg.norm(lab(red) - lab(green)) > 60
    assert np.linalg.norm(lab(red, "protanopia") - lab(green, "protanopia")) < 20


@pytest.mark.parametrize("seen", SEEN)
def test_models_and_data_sets_have_colours_that_every_reader_can_tell_from_each_other(seen):
    known = {name: lab(COLOURS[name], seen) for name in (*MODELS, *DATA_SETS)}
    for (a, x), (b, y) in combinations(known.items(), 2):
        assert np.linalg.norm(x - y) > (30 if seen == "normal" else 15), (a, b)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_can_be_read_in_grey(family):
    for a, b in combinations(FAMILIES[family], 2):
        assert MARKERS[a] != MARKERS[b]
        assert abs(lab(COLOURS[a])[0] - lab(COLOURS[b])[0]) > 6, (a, b)


@pytest.mark.parametrize("n", range(1, len(SHADE_MARKERS) + 1))
def test_shades_go_from_dark_to_light_in_even_steps_and_stay_visible_on_white(n):
    found = shades(n)
    lightness = [lab(colour)[0] for colour, _ in found]
    steps = np.diff(lightness)
    assert len(found) == len({marker for _, marker in found}) == n
    assert max(lightness) < 70
    assert (steps > 6).all()
    assert n < 3 or steps.max() < 2 * steps.min()


def test_more_series_than_markers_are_refused():
    with pytest.raises(ValueError, match="7 series at most, not 8"):
        shades(len(SHADE_MARKERS) + 1)


def test_colours_of_series_are_written_down_in_one_place():
    allowed = {"#595959", "#9A9A9A", "#F5F5F5", "#C4D6E6", "#E3E3E3"}  # of text, of boxes, of bars in the back
    for folder in ("src/judgerank/plots", "src/replication/plots"):
        for path in (ROOT / folder).glob("*.py"):
            if path.name != "colours.py":
                assert set(re.findall(r"#[0-9A-Fa-f]{6}", path.read_text())) <= allowed, path


def test_the_documentation_names_every_colour():
    page = (ROOT / "docs/paper/figures.md").read_text().lower()
    for name in (*MODELS, *DATA_SETS):
        assert NAMES[name].lower() in page
