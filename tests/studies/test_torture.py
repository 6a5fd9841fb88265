"""The adverse cases: a few of each run here, and the stored counts are of a whole run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgerank import Status, fit
from judgerank.collecting.ledger import Replaced
from judgerank.collecting.replies import Form, Verdict
from judgerank.data.arrays import generator
from judgerank.data.comparisons import Comparisons
from judgerank.engine import search
from judgerank.engine.multistart import FarOut
from judgerank.model.members import BTL, POSITION_ONLY
from replication.config import ROOT
from studies.torture import commands, fits, reading, replies, writing
from tests import forked


def test_a_few_of_every_kind_end_well(tmp_path):
    places = [f"results={tmp_path / 'results'}", f"cache={tmp_path / 'cache'}", "parallel=sequential"]
    few = ["existence.cases=1", "files.cases=1", "secrets.cases=1", "scales.members=[position_aware_ties]"]
    few += ["maxima.members=[judge_aware]", "thin.members=[judge_aware]"]
    done = forked.run(["experiments/beyond/torture.py", "cases=smoke", *few, *places])
    assert done.returncode == 0, done.stderr
    counts = pd.read_csv(tmp_path / "results/beyond/torture/counts.csv")
    assert counts.groupby("part")["cases"].sum().to_dict() == {
        "commands": 9,
        "existence": 7,
        "files": 3,
        "inputs": 60,
        "kills": 3,
        "maxima": 1,
        "replies": 80,
        "secrets": 3,
        "sizes": 7,
        "slips": 11,
        "thin": 1,
        "touched": 15,
        "scales": 1,
    }


def test_a_lower_maximum_would_be_counted(monkeypatch):
    settings = {"member": "judge_aware", "models": [3, 4], "judges": [2, 3], "comparisons": [40, 60], "starts": 2}
    found = fits.fit
    monkeypatch.setattr(fits, "fit", lambda *given: lowered(found(*given)))
    records = [fits.maximum_missed(settings, generator(seed)) for seed in range(4)]
    assert any(record["bad"] for record in records)


def test_a_maximum_that_ties_alone_lead_to_is_found():
    """With ties as half wins there is one maximum; with them there is another, higher, with a judge at zero."""
    settings = {"member": "judge_aware_ties", "models": [3, 6], "judges": [2, 5], "comparisons": [20, 160]}
    record = fits.maximum_missed(
        settings | {"starts": 20}, generator(779, "torture_maxima", "judge_aware_ties", 161)
    )
    assert (record["status"], record["bad"]) == ("boundary", 0)


@pytest.mark.parametrize(
    ("member", "number", "status"),
    [
        ("judge_aware", 202, Status.INTERIOR),  # a judge was put at zero and taken back, over and over
        ("judge_aware_ties", 390, Status.UNBOUNDED),  # gamma and log nu run off together
        ("position_aware_ties", 429, Status.UNBOUNDED),  # and b with them
        ("position_aware", 63, Status.UNBOUNDED),  # another judge falls to zero once the unbounded one is held
        ("position_aware_ties", 550, Status.UNBOUNDED),
        ("position_aware_ties", 636, Status.UNBOUNDED),
    ],
)
def test_designs_that_once_took_every_iteration_end(member, number, status):
    settings = {"member": member, "models": [3, 4], "judges": [1, 3], "comparisons": [4, 40]}
    rows = fits.drawn(settings, generator(2026, "torture_existence", member, number))
    assert fit(rows, member).status is status


def lowered(fitted):
    solution = fitted.solution
    worse = replace(solution.evaluation, log_likelihood=solution.evaluation.log_likelihood - 1)
    return replace(fitted, solution=replace(solution, evaluation=worse))


def test_the_program_finds_the_direction_in_which_a_likelihood_rises():
    def rows(*outcomes: float) -> Comparisons:
        many = np.zeros(len(outcomes), int)
        return Comparisons(("a", "b"), ("j",), many, many + 1, many, np.array(outcomes))

    assert [fits.rises(rows(*given), BTL) for given in ((1, 1), (1, 0), (0.5,))] == [True, False, False]
    assert fits.rises(rows(1, 1), POSITION_ONLY)


def test_a_misreading_would_be_counted(monkeypatch):
    plainly = reading._plainly_read
    monkeypatch.setattr(reading, "_plainly_read", lambda *given: plainly(*given)[1:])
    records = [reading.misread({"form": "csv"}, generator(seed)) for seed in range(40)]
    assert {record["bad"] for record in records if record["status"] == "read"} == {1}


def test_a_reader_of_headings_and_quotes_would_be_counted(monkeypatch):
    read = replies.read

    def lenient(reply: str, form: Form, finish: str) -> Verdict:
        lines = [line.strip("#*- .") for line in reply.splitlines()]
        return (
            Verdict("a") if any(line.endswith((" A", "[[A]]", "a, 0.95")) for line in lines) else read(reply, form)
        )

    def counted(way: str) -> int:
        return sum(replies.misread_reply({"way": way}, generator(seed))["bad"] for seed in range(200))

    assert {way: counted(way) for way in replies.WAYS} == dict.fromkeys(replies.WAYS, 0)
    monkeypatch.setattr(replies, "read", lenient)
    assert min(counted("headed"), counted("quoting"), counted("cut")) > 0


def test_a_judgment_that_is_lost_and_lines_that_are_cut_off_would_be_counted(monkeypatch):
    def bad(way: str) -> int:
        return sum(writing.touched({"way": way}, generator(seed))["bad"] for seed in range(8))

    assert [bad(way) for way in writing.TOUCHES] == [0, 0, 0]
    monkeypatch.setattr(writing.Ledger, "_look", lambda *_: None)  # as if nobody else could write
    monkeypatch.setattr(writing.Ledger, "_replaced", lambda *_: Replaced("it is gone"))
    assert bad("put there") > 0


def test_a_command_that_fails_in_its_own_way_would_be_counted(monkeypatch):
    """A defect, a number that JSON has none of, a sentence of two lines, and a file that a refusal leaves."""
    answer, refusal = json.dumps({"a": 1}), json.dumps({"error": "there is no file 'x'", "exit_code": 1})
    many = json.dumps({"error": "one\ntwo", "exit_code": 1})
    assert commands._faults("rank", 0, answer, "", {Path("out")}) == []
    assert commands._faults("rank", 1, refusal, "", set()) == []
    assert commands._faults("gate", 1, answer, "", set()) == []  # a verdict
    for command, code, printed, new in (
        ("rank", 70, answer, set()),
        ("rank", 3, refusal, set()),
        ("rank", 0, '{"a": NaN}', set()),
        ("rank", 1, many, set()),
        ("gate", 3, refusal, {Path("out.json")}),
        ("rank", 0, answer, {Path("out.partial")}),
    ):
        assert commands._faults(command, code, printed, "", new)

    def broken(words: list[str]) -> None:
        raise ValueError(words)

    monkeypatch.setattr(commands, "app", broken)
    assert commands.misanswered({"command": "doctor"}, generator(1))["bad"] == 1


def test_the_stored_counts_are_of_a_whole_run_and_nothing_happened_that_must_not():
    stored = pd.read_csv(ROOT / "results/beyond/torture/counts.csv")
    cases = stored.groupby("part")["cases"].sum()
    assert cases["maxima"] >= 1_000
    assert cases["thin"] >= 1_000
    assert cases["existence"] >= 5_000
    assert cases["inputs"] >= 10_000
    missed = stored["happened"][stored["part"] == "maxima"].sum()
    assert missed <= cases["maxima"] / 1_000
    assert stored["happened"].sum() == missed


def test_a_judge_who_runs_off_unseen_would_be_counted(monkeypatch):
    settings = {
        "member": "judge_aware",
        "models": [20, 30],
        "judges": [6, 8],
        "comparisons": [500, 600],
        "starts": 1,
    }
    assert fits.runaway_missed(settings, generator(3)) == {"status": "unbounded", "bad": 0, "gap": 0.0}
    monkeypatch.setattr(search, "far_starts", lambda *_: FarOut([], []))
    missed = fits.runaway_missed(settings, generator(3))
    assert missed["bad"] == 1
    assert missed["gap"] > 0.1


def test_the_other_optimiser_reaches_the_maximum():
    settings = {"member": "position_aware", "models": [4, 5], "judges": [3, 4], "comparisons": [300, 400]}
    found = fit(fits.drawn(settings, generator(1)), "position_aware")
    problem = fits.Problem(found.comparisons, True)
    height, end = problem.climb(np.r_[np.zeros(problem.n), np.ones(problem.k), np.zeros(problem.k)])
    assert found.converged
    assert height == pytest.approx(found.log_likelihood, rel=1e-5)
    assert problem.climb(end)[0] >= height
