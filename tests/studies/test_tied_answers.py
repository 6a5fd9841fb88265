"""Sets with ties of several kinds: as many as their titles say, and the same limit whatever the seed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from omegaconf import OmegaConf

from judgerank import fit
from judgerank.model.streams import generator
from judgerank.order.scale import scale_of
from replication.config import ROOT
from studies.tied_answers import GROUPS, SPACED, limit, tied_answers, true_order

DESIGNS = {
    name: design
    for name, design in OmegaConf.load(ROOT / "conf/defaults.yaml").designs.items()
    if "tie_kind" in design
}


@pytest.mark.parametrize("name", DESIGNS)
def test_as_many_answers_are_ties_as_the_title_says(name):
    design = DESIGNS[name]
    answers = tied_answers(design.tie_kind, tuple(design.tie_sizes), SPACED, 20_000, generator(1, name))
    assert answers.share_of_ties == pytest.approx(int(design.title.split("%")[0]) / 100, abs=0.02)


def test_the_limit_is_that_of_many_answers():
    sizes = (1.7,) * 4
    answers = tied_answers("threshold", sizes, SPACED, 100_000, generator(2, "limit"))
    assert_allclose(limit("threshold", sizes, "btl"), scale_of(fit(answers, "btl")).scores, atol=0.05)


def test_groups_are_of_equal_models():
    scores = true_order(GROUPS).scores
    assert len(np.unique(scores)) == 2
    assert scores.sum() == pytest.approx(0.0)
