"""Inside inspect_ai, the real package with its mock model: a panel scores, its log is read back, a rule stops."""

from __future__ import annotations

import json
import re
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes

from judgerank import rank, read
from judgerank.data.errors import ConfigError, DataError
from judgerank.inspecting.plugin import PanelStopping, pairwise
from judgerank.reading.decompress import Archive, inflated
from tests.tool.record_platforms import write_logs
from tests.tool.test_layouts import inspect_log, rows

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
    assert re.search(r"\bpanel\b.*\binspect_ai\b", judgments.source["layout"])
    assert judgments.comparisons.models == ("mockllm/new", "mockllm/old")
    assert sorted(judgments.comparisons.judges) == ["mockllm/judge", "rule.py:judge"]
    assert len(judgments.frame) == 12
    assert set(judgments.frame["question_id"]) == {f"sums/{n}" for n in range(6)}
    by_rule = judgments.frame[judgments.frame["judge_model"] == "rule.py:judge"]
    assert sorted(by_rule["judge_preferred_model"] == "c") == [False] * 4 + [True] * 2
    board = rank(judgments, solver="penalised").leaderboard
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
    assert len({*reasons[:6]}) == 1 and "'6'" in reasons[6] and "'6'" not in reasons[0]
    with pytest.raises(DataError):
        rank(place(log))


def test_settings_that_make_no_sense_are_refused(baseline):
    with pytest.raises(ConfigError, match="order is 'none'"):
        pairwise("rule.py:judge", baseline, order="none")
    with pytest.raises(ConfigError, match=r"judge 'rule.py:judge' is there twice"):
        pairwise(["rule.py:judge", "rule.py:judge"], baseline)
    with pytest.raises(ConfigError, match="no judges"):
        pairwise([], baseline)
    with pytest.raises(ConfigError, match=r"^level\b"):
        PanelStopping(level=1.0)


def test_an_evaluation_stops_once_the_panel_has_decided(baseline):
    rule = PanelStopping("top 1 separated", growth=1.1)
    new = model("new", lambda text: "bad" if int(text.split()[1][:-1]) % 10 == 1 else "good good")
    many = place(run(model("old", lambda text: "good"), many=150))
    log = run(new, pairwise("rule.py:judge", many), many=150, early_stopping=rule)
    assert rule.reached
    summary = log.results.early_stopping
    assert summary.manager == "judgerank, top 1 separated"
    assert summary.metadata["reached"]
    assert summary.metadata["looks"] == rule.looks >= 1
    assert len(log.samples) + len(summary.early_stops) == 150
    assert 20 < len(log.samples) < 120
    assert summary.metadata["whose"] == rule.whose
    assert summary.metadata["without_judge"] == []  # there is one judge
    assert summary.early_stops[0].reason.startswith("top 1 separated, after ")


def test_an_evaluation_without_a_difference_does_not_stop(baseline):
    rule = PanelStopping("top 1 separated")
    many = place(run(model("old", lambda text: "good"), many=80))
    even = model("new", lambda text: "bad" if int(text.split()[1][:-1]) % 2 else "good good")
    log = run(even, pairwise(["rule.py:judge"], many), many=80, early_stopping=rule)
    assert not rule.reached
    assert rule.looks > 1
    assert len(log.samples) == 80


def test_inspect_finds_the_scorer_by_its_entry_point():
    (found,) = [one for one in entry_points(group="inspect_ai") if one.name == "judgerank"]
    assert found.load().pairwise is pairwise


# Logs of inspect_ai as the package itself writes them, finished or not.
pytest.importorskip("zstandard")
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.eval"))
EXPECTED = [
    *[("mockllm/alpha", "mockllm/beta", "includes", won) for won in (0.5, 1.0, 1.0, 0.5)],
    *[("mockllm/alpha", "mockllm/beta", "match", won) for won in (0.5, 1.0, 1.0, 0.0)],
]


def members(path: Path) -> dict[str, bytes]:
    archive = Archive(path.read_bytes(), inflated)
    return {name: archive.read(name) for name in archive.names}


def stored(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def test_archives_of_the_package_are_read():
    assert {info.compress_type for path in SAMPLES for info in zipfile.ZipFile(path).infolist()} == {93}
    found = read(SAMPLES)
    assert sorted(rows(found)) == sorted(EXPECTED)
    assert not found.ordered
    assert set(found.frame["question_id"]) == {f"sums/{n}" for n in range(4)}


@pytest.mark.parametrize("form", ["eval", "json"])
def test_what_the_package_writes_now_is_read_to_the_same(form, tmp_path):
    pytest.importorskip("inspect_ai")
    assert sorted(rows(read(write_logs(tmp_path, form)))) == sorted(EXPECTED)


def test_a_log_that_was_not_finished_is_read_and_told(tmp_path):
    there = members(SAMPLES[0])
    late = ("header.json", "summaries.json", "reductions.json", "samples/3_epoch_1.json")
    cut = {name: content for name, content in there.items() if name not in late}
    found = read([stored(tmp_path / "a.eval", cut), SAMPLES[1]])
    assert len(found.comparisons) == 6
    assert "a.eval: A run was not finished: what there is of its 3 samples is read." in found.remarks


def test_damage_is_told(tmp_path):
    content = bytearray(SAMPLES[0].read_bytes())
    info = zipfile.ZipFile(SAMPLES[0]).getinfo("samples/1_epoch_1.json")
    content[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 255
    (tmp_path / "x.eval").write_bytes(content)
    with pytest.raises(DataError, match=r"^x.eval: this is not (a log of inspect_ai, or it is damaged|zstd)"):
        read([tmp_path / "x.eval", SAMPLES[1]])


@pytest.mark.parametrize(
    ("value", "judges"),
    [
        ({"a": 1, "b": "C"}, ("match/a", "match/b")),
        ([0.2, 1], ("match/1", "match/2")),
        ({"a": 1, "said": "four"}, ("match/a",)),
        ("Yes", ("match",)),
    ],
)
def test_values_that_are_several_are_several_judges_and_text_is_none(value, judges, tmp_path):
    (tmp_path / "logs.json").write_text(json.dumps([inspect_log(name, {1: value, 2: value}) for name in "xy"]))
    assert read(tmp_path / "logs.json").comparisons.judges == judges


def test_samples_that_failed_or_are_invalid_or_have_no_number_are_not_read(tmp_path):
    one, other = (inspect_log(name, dict.fromkeys(range(4), "C")) for name in "xy")
    one["samples"][0] |= {"error": {"message": "no"}, "scores": None}
    one["samples"][1] |= {"invalidation": {"reason": "leaked"}}
    one["samples"][2]["scores"]["match"]["value"] = float("nan")
    (tmp_path / "logs.json").write_text(json.dumps([one, other]))
    found = read(tmp_path / "logs.json")
    assert len(found.comparisons) == 1
    assert found.comparisons.dropped["null"] == 3
