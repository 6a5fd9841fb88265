"""Pages on extending the library: each is followed as it stands, in an empty folder, with its own files."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgerank import fit, rank, read
from judgerank.data.errors import ConfigError
from judgerank.model.members import MEMBERS, MODELS, Model
from judgerank.model.naming import member
from judgerank.ranking.formulas import formula
from tests.tool.command import environment

ROOT = Path(__file__).parents[2]


class Page:
    """A page of docs/extend: its files, and its commands."""

    def __init__(self, name: str, folder: Path):
        self.text, self.folder = (ROOT / f"docs/extend/{name}.md").read_text(), folder
        self.files = dict(re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', self.text, re.DOTALL))
        for path, content in self.files.items():
            (folder / path).write_text(content)

    def run(self, *words: str) -> str:
        """What a command prints in the folder."""
        found = {**environment(), "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=self.folder, env=found, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commands(self) -> None:
        """Run every judgerank command of the page."""
        for line in re.findall(r"^judgerank (.*)$", self.text, re.MULTILINE):
            self.run("-m", "judgerank", *shlex.split(line, comments=True))


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda name: Page(name, tmp_path)


def with_lengths(path: Path, size: int = 3000) -> Path:
    """Judgments with lengths and ties by three judges, of whom each is swayed otherwise."""
    rng = np.random.default_rng(3)
    pairs = np.array([rng.choice(5, 2, replace=False) for _ in range(size)])
    scores, judge, length = np.linspace(1, -1, 5), rng.integers(3, size=size), rng.lognormal(5, 1, size)
    z = (np.log(length) - np.log(length).mean()) / np.log(length).std()
    eta = np.exp(np.array([0.3, 0.0, -0.3])[judge] + 0.3 * z) * (scores[pairs[:, 0]] - scores[pairs[:, 1]])
    odds = np.stack([np.exp(eta / 2), np.exp(-eta / 2), np.full(size, 0.4)], axis=1)
    drawn = (rng.random((size, 1)) > np.cumsum(odds / odds.sum(1, keepdims=True), axis=1)).sum(1)
    frame = pd.DataFrame({"question_id": rng.integers(200, size=size), "judge_model": [f"j{k}" for k in judge]})
    frame["model_a"], frame["model_b"] = ([f"m{n}" for n in pairs[:, side]] for side in (0, 1))
    frame["winner"], frame["length"] = np.array(["a", "b", "tie"])[drawn], np.round(length, 1)
    frame.to_csv(path, index=False)
    return path


# a member


def test_the_page_on_a_member_works(page, tmp_path):
    with_lengths(tmp_path / "judgments.csv")
    own = page("member")
    own.commands()
    assert "length_ties" in own.run("use_my_member.py")
    assert json.loads((tmp_path / "ranking/run.json").read_text())["settings"]["model"] == "my_member.py"
    told = (tmp_path / "ranking/index.html").read_text()
    assert "Model length_ties" in told
    assert "eta = exp(alpha_k + beta_k z) (s_first - s_second)" in told
    fitted = fit(read("judgments.csv"), model="my_member.py")
    assert fitted.converged
    np.testing.assert_allclose(fitted.scores.sort_index(), np.linspace(1, -1, 5), atol=0.2)
    np.testing.assert_allclose(fitted.slope, 0.3, atol=0.15)
    assert fitted.log_likelihood > fit(read("judgments.csv"), "judge_aware_ties").log_likelihood
    board = pd.read_csv("ranking/leaderboard.csv")
    assert list(board["model"]) == [f"m{n}" for n in range(5)]


def test_a_member_of_ones_own_is_tested_against_the_one_with_positions(tmp_path):
    path = with_lengths(tmp_path / "judgments.csv", 1500)
    own = tmp_path / "mine.py"
    own.write_text(
        "from judgerank.model.members import Model\n"
        'MEMBER = Model("btl_length", ("log_discrimination", "slope", "position", "log_tie"))\n'
    )
    found = rank(path, model=str(own))
    assert found.fitted.model.has_position
    assert not any("could not be tested" in text for text in found.remarks)


@pytest.mark.parametrize("model", MEMBERS, ids=lambda model: model.name)
def test_members_have_counterparts_and_a_formula(model):
    other = model.counterpart()
    assert other.has_position != model.has_position
    assert other.has_ties == model.has_ties
    assert other.weighs_judges == model.weighs_judges
    assert other.counterpart() == model
    assert ("+ b_k" in formula(model)) == model.has_position
    assert ("nu_k" in formula(model)) == model.has_ties


def test_counterparts_that_have_a_name_are_found():
    named = {"btl": "position_only", "judge_aware": "position_aware", "length": "position_length"}
    assert {name: MODELS[name].counterpart().name for name in named} == named
    assert MODELS["judge_aware_ties"].counterpart().name == "position_aware_ties"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "defines no MEMBER"),
        ("MEMBER = 3", "is a int, not a Model"),
        ('MEMBER = Model("own", ("log_tie", "log_discrimination"))', "in this order"),
        ('MEMBER = Model("own", ("position",))', "lacks log_discrimination"),
        ('MEMBER = Model("own", ("log_discrimination", "slope"), fixed_scale=True)', "fixed scale"),
        ('MEMBER = Model("btl", ("log_discrimination",))', "rename it"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_is_no_member_is_refused(tmp_path, text, message):
    path = tmp_path / "own.py"
    path.write_text(f"from judgerank.model.members import Model\n{text}\n")
    with pytest.raises(ConfigError, match=message):
        rank([("a", "b")], model=str(path))
    with pytest.raises(ConfigError, match=message):
        member(str(path))


def test_a_member_may_be_given_as_it_is(simulated):
    c = simulated(1, (0.5, 0.0, -0.5), (1.0, 1.0), 200)
    own = Model("fixed_positions", ("log_discrimination", "position"), fixed_scale=True)
    assert fit(c, own).log_likelihood == fit(c, "position_only").log_likelihood
