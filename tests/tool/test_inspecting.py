"""Inside inspect_ai, the real package with its mock model: a panel scores, its log is read back, a rule stops."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes

from judgerank import rank, read
from judgerank.data.errors import ConfigError, DataError
from judgerank.inspecting.panel_scorer import pairwise
from judgerank.inspecting.stopping import PanelStopping

RULE = """
def judge(question, first, second):
    more = first.count("good") - second.count("good")
    return "a" if more > 0 else "b" if more < 0 else "c"

def stubborn(question, first, second):
    return "a"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rule.py").write_text(RULE)
    return tmp_path


def model(name: str, say):
    """A mock model that answers by a function of the last message."""

    def answer(messages, tools, choice, config):
        output = ModelOutput.from_content(name, say(messages[-1].text))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # which it would count
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer)


def samples(many: int) -> MemoryDataset:
    return MemoryDataset([Sample(id=n, input=f"Question {n}?", target="good") for n in range(many)], name="sums")


def run(asked, scorer=None, many: int = 6, **more):
    task = Task(dataset=samples(many), scorer=scorer or includes(), name="sums", **more)
    (log,) = eval(task, model=asked, log_dir="logs", display="none", max_samples=1, score=scorer is not None)
    return log


def place(log) -> str:
    return str(Path(log.location.removeprefix("file://")))


@pytest.fixture
def baseline() -> str:
    """A log of another model: "good" in every third answer."""
    return place(run(model("old", lambda text: "good" if int(text.split()[1][:-1]) % 3 == 0 else "bad")))


def test_a_panel_scores_answers_and_judgerank_reads_its_log_back(baseline):
    judge = model(
        "judge", lambda prompt: "b, 0.9" if "```\nbad\n```" in prompt.partition("Model B")[0] else "a, 0.8"
    )
    log = run(model("new", lambda text: "good"), pairwise([judge, "rule.py:judge"], baseline))
    assert log.status == "success"
    values = [sample.scores["pairwise"].value for sample in log.samples]
    assert min(values) >= 0.5
    assert max(values) == 1.0
    judgments = read(place(log))
    assert "judgments of a panel in a log of inspect_ai" in judgments.source["layout"]
    assert judgments.comparisons.models == ("mockllm/new", "mockllm/old")
    assert sorted(judgments.comparisons.judges) == ["mockllm/judge", "rule.py:judge"]
    assert len(judgments.frame) == 12
    assert set(judgments.frame["question_id"]) == {f"sums/{n}" for n in range(6)}
    by_rule = judgments.frame[judgments.frame["judge_model"] == "rule.py:judge"]
    assert sorted(by_rule["judge_preferred_model"] == "c") == [False] * 4 + [True] * 2
    board = rank(judgments, solver="penalised").to_frame()
    assert board["model"].iloc[0] == "mockllm/new"


def test_each_epoch_of_a_sample_is_judged_by_itself(baseline):
    log = run(model("new", lambda text: "good"), pairwise("rule.py:judge", baseline), epochs=2)
    judgments = read(place(log))
    assert (judgments.n_questions, len(set(judgments.item)), len(judgments.comparisons)) == (6, 12, 12)


def test_both_orders_and_a_position_that_decides_is_half(baseline):
    log = run(model("new", lambda text: "good"), pairwise("rule.py:stubborn", baseline, order="both"))
    assert {sample.scores["pairwise"].value for sample in log.samples} == {0.5}
    assert log.results.scores[0].metrics["mean"].value == 0.5


def test_what_cannot_be_read_or_compared_has_no_score(baseline):
    unclear = model("judge", lambda prompt: "I cannot say.")
    log = run(model("new", lambda text: "good"), pairwise(unclear, baseline), many=7)
    reasons = [sample.scores["pairwise"].reason for sample in log.samples]
    assert reasons == ["no judgment could be read"] * 6 + ["no baseline answers sample '6'"]
    with pytest.raises(DataError):
        rank(place(log))


def test_settings_that_make_no_sense_are_refused(baseline):
    with pytest.raises(ConfigError, match="order is 'none'"):
        pairwise("rule.py:judge", baseline, order="none")
    with pytest.raises(ConfigError, match=r"judge 'rule.py:judge' is there twice"):
        pairwise(["rule.py:judge", "rule.py:judge"], baseline)
    with pytest.raises(ConfigError, match="there are no judges"):
        pairwise([], baseline)
    with pytest.raises(ConfigError, match="level lies between"):
        PanelStopping(level=1.0)


def test_an_evaluation_stops_once_the_panel_has_decided(baseline):
    rule = PanelStopping("all separated", growth=1.1)
    new = model("new", lambda text: "bad" if int(text.split()[1][:-1]) % 10 == 1 else "good good")
    many = place(run(model("old", lambda text: "good"), many=150))
    log = run(new, pairwise("rule.py:judge", many), many=150, early_stopping=rule)
    assert rule.reached
    summary = log.results.early_stopping
    assert summary.manager == "judgerank, all separated"
    assert summary.metadata["reached"]
    assert summary.metadata["looks"] == rule.looks >= 1
    assert len(log.samples) + len(summary.early_stops) == 150
    assert 20 < len(log.samples) < 120
    assert summary.early_stops[0].reason.startswith("all separated, after ")


def test_an_evaluation_without_a_difference_does_not_stop(baseline):
    rule = PanelStopping("all separated")
    many = place(run(model("old", lambda text: "good"), many=80))
    even = model("new", lambda text: "bad" if int(text.split()[1][:-1]) % 2 else "good good")
    log = run(even, pairwise(["rule.py:judge"], many), many=80, early_stopping=rule)
    assert not rule.reached
    assert rule.looks > 1
    assert len(log.samples) == 80


def test_inspect_finds_the_scorer_by_its_entry_point():
    (found,) = [one for one in entry_points(group="inspect_ai") if one.name == "judgerank"]
    assert found.load().pairwise is pairwise
