"""Pages on extending the library: each is followed as it stands, in an empty folder, with its own files."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgerank import fit, rank, read
from judgerank.collecting.checking import checked
from judgerank.collecting.settings import Panel
from judgerank.data.errors import ConfigError
from judgerank.data.modules import object_of
from judgerank.model.block import Need, unmet
from judgerank.model.members import MEMBERS, MODELS, Model
from judgerank.model.naming import formula, member
from judgerank.ranking import studies
from judgerank.reading import layouts
from tests.forked import environment, run, run_anew
from tests.tool.collecting import collected, judgments

ROOT = Path(__file__).parents[2]


class Page:
    """A page of docs/extend, or sections of it by their titles: its files, and its commands."""

    def __init__(self, name: str, folder: Path, *titles: str):
        self.text, self.folder = (ROOT / f"docs/extend/{name}.md").read_text(), folder
        if titles:
            sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", self.text, re.DOTALL | re.MULTILINE))
            self.text = "\n".join(sections[title] for title in titles)
        self.files = dict(re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', self.text, re.DOTALL))
        self.environment = {**environment(), "OPENBLAS_NUM_THREADS": "1"}
        for path, content in self.files.items():
            (folder / path).write_text(content)

    def run(self, *words: str, anew: bool = False) -> str:
        """What a command prints in the folder; anew where it loads a library of its own."""
        anew |= self.environment["PYTHONPATH"] != environment()["PYTHONPATH"]
        done = (run_anew if anew else run)([*words], self.folder, self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commands(self) -> None:
        """Run every judgerank command of the page, on a file that is there."""
        for line in re.findall(r"^judgerank (?!example)(.*)$", self.text, re.MULTILINE):
            self.run("-m", "judgerank", *shlex.split(line, comments=True))

    def follow(self) -> None:
        """Run the commands of the page and its scripts from top to bottom, without a file of judgments."""
        steps = r'^judgerank (?P<command>.*)$|^python (?P<called>.*)$|^```python title="(?P<script>use_[^"]+)"$'
        for step in re.finditer(steps, self.text, re.MULTILINE):
            if step["command"]:
                self.run("-m", "judgerank", *shlex.split(step["command"], comments=True))
            else:
                self.run(step["called"] or step["script"], anew=True)


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda name, *titles: Page(name, tmp_path, *titles)


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


MEMBER, BLOCK, JUDGE_BLOCK, SOLVER = (
    *("A model of your own", "A block of your own"),
    *("A parameter of every judge", "A solver of your own"),
)


@pytest.mark.parametrize("titles", [(MEMBER,), (BLOCK, JUDGE_BLOCK)], ids=["member", "blocks"])
def test_pages_can_be_followed_from_the_example(page, titles):
    page("models", *titles).follow()


# a member


def test_the_page_on_a_member_works(page, tmp_path):
    with_lengths(tmp_path / "judgments.csv")
    own = page("models", MEMBER)
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


def test_a_ranking_by_a_member_of_ones_own_can_be_stress_tested(page, tmp_path):
    with_lengths(tmp_path / "judgments.csv", 600)
    own = page("models", MEMBER)
    said = own.run("-m", "judgerank", "trust", "judgments.csv", "--model", "my_member.py")
    assert "model length_ties" in " ".join(said.split())


def test_a_member_of_ones_own_is_tested_against_the_one_with_positions(tmp_path):
    path = with_lengths(tmp_path / "judgments.csv", 1500)
    own = tmp_path / "mine.py"
    own.write_text(
        "from judgerank.model.members import Model\n"
        'MEMBER = Model("btl_length", ("log_discrimination", "slope", "position", "log_tie"))\n'
    )
    found = rank(path, model=str(own))
    assert found.fit.model.has_position
    assert not any("tested: " in text for text in found.remarks)


@pytest.mark.parametrize("model", MEMBERS, ids=lambda model: model.name)
def test_members_have_counterparts_and_a_formula(model):
    other = model.counterpart()
    assert other.has_position != model.has_position
    assert other.has_ties == model.has_ties
    assert other.weighs_judges == model.weighs_judges
    assert other.counterpart() == model
    assert ("+ b_k" in formula(model)) == model.has_position
    assert ("nu_k" in formula(model)) == model.has_ties


@pytest.mark.parametrize(
    ("name", "change", "need"),
    [
        ("length", {}, Need.LENGTH),
        ("btl_ties", {}, Need.TIES),
        ("position_only", {}, Need.ORDER),
        ("position_aware_ties", {}, Need.TIES),
        ("judge_aware", {}, None),
        ("length", {"covariate": [0.5, -1.0, 0.5]}, None),
        ("btl_ties", {"outcome": [1.0, 0.5, 0.0]}, None),
        ("position_only", {"first": [0, 1, 0], "second": [1, 0, 2]}, None),
    ],
)
def test_what_a_member_needs_of_the_data_follows_from_its_parameters(cells_of, name, change, need):
    cells = cells_of(("a", "b", "j", 1, 0), ("a", "b", "j", 0, 1), ("a", "c", "j", 1, 0))
    changed = replace(cells, **{key: np.array(values) for key, values in change.items()})
    why = unmet(MODELS[name].needs, changed.with_ties())
    assert [one for one in Need if one.value in why] == [need] if need else why == ""


def test_counterparts_that_have_a_name_are_found():
    named = {"btl": "position_only", "judge_aware": "position_aware", "length": "position_length"}
    assert {name: MODELS[name].counterpart().name for name in named} == named
    assert MODELS["judge_aware_ties"].counterpart().name == "position_aware_ties"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "defines no MEMBER"),
        ("MEMBER = 3", "is a int, not a Model"),
        (
            'MEMBER = Model("own", ("log_tie", "log_discrimination"))',
            r"\blog_tie, .*\border\b",
        ),
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


# a judge that is a function

ANSWERS = [
    {
        "question_id": f"q{q}",
        "question": f"Question {q}?",
        "model": f"m{m}",
        "answer": f"word{q} " * (4 * m + q % 3),
    }
    for q in range(12)
    for m in range(1, 5)
]
FUNCTION = {"judge": "own", "provider": "python", "model": "own.py:ask"}


def questions(folder: Path) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ANSWERS))
    return path


def test_the_page_on_a_judge_works(page, tmp_path):
    questions(tmp_path)
    page("judge").commands()
    frame = pd.read_json(tmp_path / "judgments.jsonl", lines=True)
    assert len(frame) == 12 * 6 * 2
    assert set(frame["judge_model"]) == {"longer", "reward"}
    number = {name: frame[name].str[1:].astype(int) for name in ("model_a", "model_b")}
    longer = frame["judge_model"] == "longer"
    better = np.where(number["model_a"] > number["model_b"], "a", "b")
    assert (frame["judge_preferred_model"] == better)[longer].all()
    assert set(frame["model_sent"]) == {"my_judge.py:prefer_longer", "my_judge.py:reward"}
    assert (frame[["prompt_tokens", "completion_tokens"]] == 0).all(axis=None)
    chances = frame.loc[~longer, "letters"]
    np.testing.assert_allclose([np.exp(found["a"]) + np.exp(found["b"]) for found in chances], 1.0)
    assert pd.read_csv("ranking/leaderboard.csv")["model"].iloc[0] == "m4"


def collected_by(folder: Path, code: str, *options: object, judge: dict | None = None):
    questions(folder)
    (folder / "own.py").write_text(code)
    return collected(folder, None, *options, judges=[FUNCTION | (judge or {})], key=None)


def test_a_function_is_asked_once_and_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "def ask(question, first, second):\n    return len(first) > len(second) and 'a' or 'b'\n"
    done = collected_by(tmp_path, code, "--comparisons", 30)
    assert done.returncode == 0, done.stderr
    assert "called as Python functions, at no cost: own" in done.stdout
    assert "30 judgments written" in done.stdout
    assert "spent 0.0000" in done.stdout
    again = collected_by(tmp_path, code, "--comparisons", 30)
    assert "30 of the judgments are there already" in again.stdout
    changed = collected_by(tmp_path, code + "\n", "--comparisons", 30)
    assert changed.returncode == 1
    assert "own.py:ask had other code" in changed.stderr
    assert len(judgments(tmp_path)) == 30


def test_a_function_can_be_asked_until_something_is_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = (
        "import random\n"
        "def ask(question, first, second):\n"
        "    chance = len(first) / (len(first) + len(second))\n"
        "    return 'a' if random.Random(question + first + second).random() < chance else 'b'\n"
    )
    done = collected_by(tmp_path, code, "--until", "60 comparisons", "--budget", 1.0)
    assert done.returncode == 0, done.stderr
    assert len(judgments(tmp_path)) >= 60


@pytest.mark.parametrize(
    ("value", "choice", "confidence"),
    [("'a'", "a", None), ("'c'", "c", None), ("0.25", "b", 0.75), ("1", "a", 1.0), ("0.5", "c", 0.5)],
)
def test_letters_and_probabilities_are_read(tmp_path, monkeypatch, value, choice, confidence):
    monkeypatch.chdir(tmp_path)
    done = collected_by(tmp_path, f"def ask(*texts):\n    return {value}\n", "--comparisons", 2)
    assert done.returncode == 0, done.stderr
    for record in judgments(tmp_path):
        assert (record["judge_preferred_model"], record["judge_confidence"]) == (choice, confidence)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def ask(*texts):\n    return 'better'\n", "the function returned 'better'; expected 'a', 'b', 'c'"),
        ("def ask(*texts):\n    return 1.5\n", "the function returned 1.5"),
        ("def ask(*texts):\n    return True\n", "the function returned True"),
        ("def ask(*texts):\n    return float('nan')\n", "the function returned nan"),
        ("def ask(*texts):\n    raise KeyError('no reward')\n", "the last for KeyError; it says: 'no reward'"),
        ("def ask():\n    return 'a'\n", "takes 0 positional arguments"),
    ],
)
def test_a_function_without_answers_is_stopped_and_says_why(tmp_path, monkeypatch, code, message):
    monkeypatch.chdir(tmp_path)
    done = collected_by(tmp_path, code)
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / "judgments.jsonl").exists()


@pytest.mark.parametrize(
    ("code", "judge", "message"),
    [
        ("", {}, "own.py defines no ask"),
        ("ask = 3", {}, "own.py:ask is a int, not a function"),
        ("1 / 0", {}, "own.py ends in ZeroDivisionError"),
        ("", {"model": "elsewhere.py:ask"}, "there is no file elsewhere.py"),
        ("", {"model": "own:ask"}, "'own:ask'"),
        ("", {"base_url": "http://localhost:1/v1"}, "base_url"),
    ],
)
def test_what_is_no_function_is_refused_before_anything_is_asked(tmp_path, monkeypatch, code, judge, message):
    monkeypatch.chdir(tmp_path)
    done = collected_by(tmp_path, code, "--dry-run", judge=judge)
    assert done.returncode == 1
    assert message in done.stderr


def test_a_function_takes_nothing_from_a_panel_on_a_server(tmp_path):
    judges = [FUNCTION, {"judge": "served"}]
    panel = checked(Panel, {"base_url": "http://localhost:8000/v1", "judges": judges})
    own, served = panel.judges
    assert (own.base_url, own.api_key_env) == (None, None)
    assert (served.base_url, served.api_key_env) == ("http://localhost:8000/v1", "OPENAI_API_KEY")


# a layout


def test_the_page_on_a_layout_works(tmp_path):
    """In a copy of the library, in the place that the page names and no other."""
    shutil.copytree(ROOT / "src/judgerank", tmp_path / "src/judgerank")
    own = Page("files", tmp_path, "Read another project's files")
    (tmp_path / "duels.py").rename(tmp_path / "src/judgerank/reading/layouts/duels.py")
    own.environment["PYTHONPATH"] = str(tmp_path / "src")  # before the checkout's own
    own.commands()
    told = own.run("-m", "judgerank", "doctor", "duels.csv")
    assert "duels of a champion. The champion's answer was shown first." in told
    recipe = (tmp_path / "our_arena.toml").rename(tmp_path / "src/judgerank/reading/recipes/our_arena.toml")
    (tmp_path / "votes.jsonl").write_text(tomllib.loads(recipe.read_text())["example"]["text"].lstrip())
    told_votes = own.run("-m", "judgerank", "doctor", "votes.jsonl")
    assert "votes of our arena" in told_votes and "1 read: 1 for the model shown first" in told_votes
    assert "6 read: 2 for the model shown first, 2 for the second, 2 ties" in told
    assert sorted(pd.read_csv(tmp_path / "ranking/leaderboard.csv")["model"]) == ["gpt", "llama", "mistral"]
    assert json.loads((tmp_path / "ranking/run.json").read_text())["section"] == "rank"


def test_the_page_on_answers_works(tmp_path):
    """In a copy of the library, in the place that the page names and no other."""
    shutil.copytree(ROOT / "src/judgerank", tmp_path / "src/judgerank")
    own = Page("files", tmp_path, "Read another tool's answers")
    (tmp_path / "replies.py").rename(tmp_path / "src/judgerank/reading/answers/replies.py")
    (tmp_path / "panel.yaml").write_text(
        "judges: [{judge: j, model: m, base_url: 'http://127.0.0.1:9/v1', api_key_env: null}]"
    )
    own.environment["PYTHONPATH"] = str(tmp_path / "src")
    command = "collect replies.jsonl --panel panel.yaml --dry-run"
    assert f"judgerank {command}\n" in own.text
    done = subprocess.run(
        [sys.executable, "-m", "judgerank", *command.split()],
        cwd=tmp_path,
        env=own.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "left out, because the model did not answer: south (1)" in done.stderr + done.stdout
    assert "2 questions, 2 models, 1 request in all" in done.stderr + done.stdout


def test_layouts_are_found_in_their_stated_order():
    folder = Path(layouts.__file__).parent
    own = [path.stem for path in folder.glob("*.py") if re.search(r"^LAYOUTS\b", path.read_text(), re.MULTILINE)]
    assert sorted([*layouts.FIRST, "__init__"]) == sorted(own)
    assert layouts.LAYOUTS[0] == layouts.PAPER


# a solver


def test_the_page_on_a_solver_works(page, tmp_path):
    with_lengths(tmp_path / "judgments.csv")
    own = page("models", SOLVER)
    told = own.run("use_my_solver.py")
    assert told.count("status interior") == 2
    assert float(told.split()[-1]) < 1e-5


def test_the_page_on_a_solver_is_right_about_a_judge_at_zero(page):
    own = page("models", SOLVER)
    own.run("-m", "judgerank", "example")
    told = own.run("use_my_solver.py")
    assert re.findall(r"(\w+): status (\w+)", told) == [("mine", "iteration_limit"), ("exact", "boundary")]
    assert len(set(re.findall(r"log-likelihood (\S+)", told))) == 1
    assert float(told.split()[-1]) < 1e-5


@pytest.fixture
def lbfgs(page):
    page("models", SOLVER)
    return object_of("my_solver.py:LBFGS", "", "a solver")


@pytest.mark.parametrize("model", MEMBERS, ids=lambda model: model.name)
def test_a_solver_of_ones_own_reproduces_the_exact_fit(lbfgs, tmp_path, model):
    data = read(with_lengths(tmp_path / "judgments.csv", 1500))
    mine, exact = fit(data, model, lbfgs()), fit(data, model)
    assert (mine.status, exact.status) == ("interior", "interior")
    assert mine.log_likelihood == pytest.approx(exact.log_likelihood, abs=1e-6)
    np.testing.assert_allclose(mine.scores, exact.scores, atol=1e-4)
    assert mine.settings == lbfgs()
    intervals = [found.confidence_intervals()["low"].to_numpy() for found in (mine, exact)]
    np.testing.assert_allclose(*intervals, atol=1e-3)


def test_a_solver_of_ones_own_has_its_limits(lbfgs, tmp_path):
    data = read(with_lengths(tmp_path / "judgments.csv", 500))
    stopped = fit(data, solver=lbfgs(max_iterations=1))
    assert not stopped.converged
    with pytest.raises(ConfigError, match=type(lbfgs()).__name__):
        stopped.save(tmp_path / "fit.npz")
    with pytest.raises(ConfigError, match="question effects are fitted by the solvers"):
        fit(data, solver=lbfgs(), questions="effects")
    for wrong in (lbfgs, 3, object()):
        with pytest.raises(ConfigError, match="`maximise`"):
            fit(data, solver=wrong)


# a judge block


def with_lengths_of_answers(path: Path, size: int = 4000) -> Path:
    """Three judges whose position bias grows with length by 0.8, 0 and -0.8."""
    rng = np.random.default_rng(5)
    pairs = np.array([rng.choice(5, 2, replace=False) for _ in range(size)])
    scores, judge, lengths = np.linspace(1, -1, 5), rng.integers(3, size=size), rng.gamma(4, 50, (2, size)).round()
    both = lengths.sum(0)
    bias = 0.3 + np.array([0.8, 0.0, -0.8])[judge] * (both - both.mean()) / both.std()
    eta = scores[pairs[:, 0]] - scores[pairs[:, 1]] + bias
    frame = pd.DataFrame({"question_id": rng.integers(400, size=size), "judge_model": [f"j{k}" for k in judge]})
    frame["model_a"], frame["model_b"] = ([f"m{n}" for n in pairs[:, side]] for side in (0, 1))
    frame["length_a"], frame["length_b"] = lengths
    frame["winner"] = np.where(rng.random(size) < 1 / (1 + np.exp(-eta)), "a", "b")
    frame.to_csv(path, index=False)
    return path


def test_the_page_on_a_judge_block_works(page, tmp_path):
    with_lengths_of_answers(tmp_path / "judgments.csv")
    own = page("models", JUDGE_BLOCK)
    assert "position_by_length" in own.run("use_my_block.py")
    own.commands()
    result = fit(read("judgments.csv"), "position_aware", blocks=["my_block.py:length"])
    found = result.parameters("position_by_length")
    assert list(found.index) == ["j0", "j1", "j2"]
    np.testing.assert_allclose(found, [0.8, 0.0, -0.8], atol=0.2)
    assert result.test("position_by_length").p_value < 1e-6
    assert "position_by_length" in set(pd.read_csv("ranking/blocks.csv")["block"])


def test_the_page_on_a_block_works(page, tmp_path):
    with_lengths_of_answers(tmp_path / "judgments.csv", 1500)
    told = page("models", BLOCK).run("use_first_and_long.py")
    assert "first_and_long" in told
    assert "style" in told


# a study


def circular(path: Path) -> Path:
    """Four models: three that beat each other in turn, and one that mostly loses."""
    wins = {("m0", "m1"): 14, ("m1", "m2"): 14, ("m2", "m0"): 14, ("m0", "m3"): 16, ("m1", "m3"): 16}
    rows = [
        (*((a, b) if number % 2 else (b, a)), "ab"[(number < many) != number % 2], f"j{number % 3}", number)
        for (a, b), many in wins.items()
        for number in range(20)
    ]
    columns = ["model_a", "model_b", "winner", "judge_model", "question_id"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return path


@pytest.fixture
def with_study(tmp_path):
    """A copy of the library with a study in the place that the page names, and no other change."""
    shutil.copytree(ROOT / "src/judgerank", tmp_path / "src/judgerank")
    own = Page("study", tmp_path)
    circular(tmp_path / "judgments.csv")
    own.environment["PYTHONPATH"] = str(tmp_path / "src")  # before the checkout's own
    own.studies = tmp_path / "src/judgerank/ranking/studies"
    return own


def test_the_page_on_a_study_works(with_study, tmp_path):
    (tmp_path / "cycles.py").rename(with_study.studies / "cycles.py")
    with_study.commands()
    found = pd.read_csv(tmp_path / "ranking/cycles.csv").set_index("model")["cycles"]
    assert found.to_dict() == {"m0": 1, "m1": 1, "m2": 1, "m3": 0}
    page = (tmp_path / "ranking/index.html").read_text()
    assert "<li>Cycles of three models: 1.</li>" in page
    assert '<table id="other-cycles"' in page
    frame = pd.read_csv(tmp_path / "judgments.csv")
    other = frame.assign(model_a="x" + frame["model_a"], model_b="x" + frame["model_b"])
    pd.concat([frame, other]).to_csv(tmp_path / "two.csv", index=False)
    told = with_study.run("-m", "judgerank", "rank", "two.csv", "--verbose", "--output", "two")
    assert "Component 1: Cycles of three models: 1." in told
    assert "Component 2: Cycles of three models: 1." in told
    assert list(pd.read_csv(tmp_path / "two/cycles.csv")["component"]) == [1] * 4 + [2] * 4


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def of_component(one):\n    return []", "study 'own' returned a list: it must return a Finding"),
        ("def of_everything(one):\n    return []", "study 'own' defines neither of_component nor of_set"),
        (
            "from judgerank.ranking.study import Finding\n"
            "def of_set(ranked):\n    return Finding(tables={'judges': ranked.judgments.frame})",
            "two studies return a table 'judges': rename one",
        ),
    ],
)
def test_what_is_no_study_is_refused_in_a_sentence(tmp_path, monkeypatch, code, message):
    (tmp_path / "own.py").write_text(code)
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "judgerank.ranking.studies.own", raising=False)
    try:
        with pytest.raises(ConfigError, match=re.escape(message)):
            rank(circular(tmp_path / "judgments.csv"))
    finally:
        sys.modules.pop("judgerank.ranking.studies.own", None)


def test_every_study_of_the_library_has_its_place_and_looks_at_one_thing():
    assert studies.unlisted() == ()
    assert len({*studies.LISTED}) == len(studies.LISTED)
    for name in studies.LISTED:
        of_what = "of_component" if name in studies.OF_COMPONENT else "of_set"
        assert [one for one in studies.FUNCTIONS if studies._study(name, one)] == [of_what]
    together = [name for names in studies.TOGETHER.values() for name in names]
    assert len({*together}) == len(together) and {*together} <= {*studies.LISTED}
