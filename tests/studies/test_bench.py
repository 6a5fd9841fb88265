"""Speed, adverse cases, and what the project is built on: bench, torture, kernels, licences, workflows, pins."""

from __future__ import annotations

import json
import logging
import re
import runpy
import subprocess
import time
from dataclasses import replace
from email.message import Message
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hydra import compose, initialize_config_dir
from numpy.testing import assert_allclose
from packaging.requirements import Requirement

import studies.config  # noqa: F401 (its settings)
from experiments.beyond import licences as script
from judgerank import Comparisons, Status, fit
from judgerank.collecting.ledger import Replaced
from judgerank.collecting.replies import Form, Verdict
from judgerank.data.arrays import generator
from judgerank.engine import search
from judgerank.engine.multistart import FarOut
from judgerank.model.members import BTL, POSITION_ONLY
from replication.config import CONF, ROOT, script_of
from replication.datasets import find_file, read_records
from replication.freshness import stale
from replication.records import provenance
from studies import licences, speed, stored_speed
from studies.speed import both
from studies.stored_speed import (
    COLUMNS,
    MADE_BY,
    Measured,
    goals_table,
    keep,
    measured,
    read,
    with_measured,
    worse,
)
from studies.torture import collecting, commands, fits, reading, replies, writing
from tests import forked
from tests.real_data import FILES, needs_data
from tests.replication.test_config import composed
from tests.replication.test_packaging import DECLARED

EARLIER = ["0", "0", "0", "abc", "2026-01-01"]  # code, settings, data, commit, date
STORED = pd.DataFrame(
    [
        ["choix", "ours / choix", 2.0, "at most 2", "7.4", *EARLIER],
        ["adam", "adam / ours", 100.0, "at least 500", "", *EARLIER],
    ],
    columns=COLUMNS,
)


def line(ratio, row="choix", measure="ours / choix", goal="at most 2"):
    return Measured(row, measure, ratio, 1.0, goal)


@pytest.mark.parametrize("ratio, is_worse", [(1.0, False), (2.19, False), (2.21, True)])
def test_a_ratio_that_is_to_be_small_is_worse_if_it_is_larger(ratio, is_worse):
    told = worse([line(ratio)], STORED, 0.1)
    assert bool(told) == is_worse
    if is_worse:
        assert told == ["choix: ours / choix: 2.21, stored 2 (at most 2)"]


@pytest.mark.parametrize("ratio, is_worse", [(200.0, False), (91.0, False), (90.0, True)])
def test_a_ratio_that_is_to_be_large_is_worse_if_it_is_smaller(ratio, is_worse):
    assert bool(worse([line(ratio, "adam", "adam / ours", "at least 500")], STORED, 0.1)) == is_worse


def test_what_is_not_stored_or_has_no_goal_is_not_worse():
    assert not worse([line(9.0, measure="new"), line(9.0, goal="")], STORED, 0.1)


def test_a_ratio_that_seems_worse_is_measured_again_and_its_median_counts():
    ratios = iter([5.0, 1.9, 2.0])
    (found,) = measured("choix", lambda: [("ours / choix", next(ratios), 1.0, "at most 2")], STORED, 0.1, again=2)
    assert found.ratio == 2.0 and found.met and not list(ratios)
    ratios = iter([1.9, 9.0])
    measured("choix", lambda: [("ours / choix", next(ratios), 1.0, "at most 2")], STORED, 0.1, again=2)
    assert list(ratios) == [9.0]
    ratios = iter([5.0, 1.9, 4.0])
    (found,) = measured("choix", lambda: [("ours / choix", next(ratios), 1.0, "at most 2")], STORED, 0.1, again=2)
    assert worse([found], STORED, 0.1) and not found.met


def stored_in(folder, lines, before, growth=None):
    record = provenance("bench", composed("bench"), {}, "")
    keep(folder, lines, before, record, growth, time.monotonic())
    return record["made_by"]


def test_rows_are_stored_in_place_of_theirs_with_what_was_before_and_what_they_were_made_by(tmp_path):
    folder = tmp_path / "results/beyond/bench"
    assert read(folder).empty
    stored_in(folder, [line(300.0, "adam", "adam / ours", "at least 500")], STORED, pd.DataFrame({"size": [1]}))
    made_by = stored_in(folder, [line(1.5)], read(folder))
    found = read(folder).set_index("row")
    assert found.loc["choix", "ratio"] == 1.5 and found.loc["adam", "ratio"] == 300
    assert found.loc["choix", "before"] == "7.4"
    assert found.loc["choix", list(made_by)].to_dict() == made_by
    assert (folder / "growth.csv").read_text() == "size\n1\n"  # of an earlier run
    table = goals_table(folder)
    assert "| 7.4" in table and "missed" in table and "met" in table
    run = json.loads((folder / "run.json").read_text())
    assert run["by_row"] == "ratios.csv" and "made_by" not in run
    assert stale(tmp_path / "results").empty


def test_each_row_is_stale_by_itself(tmp_path):
    folder = tmp_path / "results/beyond/bench"
    stored_in(folder, [line(1.5)], STORED)
    (row,) = stale(tmp_path / "results").itertuples()
    assert (row.set, row.kind, row.why) == ("adam", "ratios", "code, settings, data")
    assert row.command == "make bench ROWS=adam ARGS=store=true"


def test_a_row_that_was_measured_only_before_is_shown_and_is_not_held_against_a_run(tmp_path):
    (tmp_path / "ratios.csv").write_text("row,measure,ratio,goal,before\nstudies,both / drawing,,at most 5,7.3\n")
    stored = read(tmp_path)
    assert not worse([line(9.0, "studies", "both / drawing", "at most 5")], stored, 0.1)
    *shown, verdict = (cell.strip() for cell in goals_table(tmp_path).splitlines()[2].split("|")[3:7])
    assert shown == ["7.3", "--", "at most 5"] and verdict.startswith("not ")
    found = with_measured(
        stored, [line(4.0, "studies", "both / drawing", "at most 5")], dict.fromkeys(MADE_BY, "")
    )
    assert found.loc[0, ["ratio", "before"]].tolist() == [4.0, "7.3"]


def test_calls_take_turns():
    called = []
    first, second = both(lambda: called.append(1), lambda: called.append(2), 3)
    assert called == [1, 2] * 4 and first >= 0 and second >= 0


def test_exponents_are_those_of_powers_and_their_errors_of_noise(monkeypatch):
    sizes = np.array([1e3, 1e4, 1e5, 1e6, 1e7])
    clean = pd.DataFrame({"axis": "judgments", "size": sizes, "seconds": 1e-6 * sizes**1.2})
    (one,) = speed.exponents(clean).itertuples()
    assert one.exponent == pytest.approx(1.2) and one.error < 1e-9
    (noisy,) = speed.exponents(clean.assign(seconds=clean["seconds"] * [1, 1, 1.3, 0.8, 1.2])).itertuples()
    assert abs(noisy.exponent - 1.2) < 3 * noisy.error and noisy.error > 0.01
    monkeypatch.setattr(speed, "SIZES", {"judgments": (300, 600, 900, 1200, 1500), "models": (3, 4, 5, 6, 7)})
    monkeypatch.setattr(speed, "BASE", {"judgments": 500, "models": 5, "judges": 3, "questions": 100})
    monkeypatch.setattr(speed, "REPEATS", 1)
    found = speed.times(1)
    assert (found["seconds"] > 0).all() and len(found) == 10
    assert len(speed.drawn(found, speed.exponents(found)).axes) == 2


def test_the_page_shows_the_stored_ratios():
    shown = (ROOT / "docs/performance.md").read_text()
    assert goals_table(stored_speed.STORED) in shown
    assert stored_speed.read(stored_speed.STORED)["measure"].is_unique


# The comparison of kernels: its settings, and that what differs between two of them is told and counted.


KERNELS = runpy.run_path(str(script_of("kernels")))


@pytest.fixture
def cfg():
    with initialize_config_dir(CONF, version_base="1.3"):
        yield compose("kernels", ["tests=[]"])


def test_the_settings_are_at_least_four_kernels_fewer_loops_and_two_threads(cfg):
    with_tests = compose("kernels")
    settings = list(cfg.settings.values())
    assert len({setting.OPENBLAS_CORETYPE for setting in settings}) >= 4
    assert {setting.OPENBLAS_NUM_THREADS for setting in settings} == {"1", "2"}
    left_out = {setting.get("NPY_DISABLE_CPU_FEATURES", "") for setting in settings}
    assert any("X86_V4" in loops and "X86_V3" not in loops for loops in left_out)
    assert any("X86_V3" in loops for loops in left_out)
    assert all((ROOT / "tests" / name).exists() for name in with_tests.tests)
    assert all(script_of(name) for name in cfg.sections)
    assert {*cfg.short_settings} <= set(cfg.settings)
    assert {*cfg.short_sections, *cfg.replicated} <= set(cfg.sections)


def faked(monkeypatch, value_of) -> None:
    """Sections that write one table instead, with a value by setting."""

    def run_sections(cfg, names, environment, folder):
        stored = folder / "results" / "toy"
        stored.mkdir(parents=True)
        pd.DataFrame({"model": ["x", "y"], "score": [0.5, value_of(folder.name)]}).to_csv(
            stored / "t.csv", index=False
        )
        (stored / "run.json").write_text('{"machine": {"blas": ["openblas 1 K"], "simd": []}}')
        return ["toy: it failed"] if value_of(folder.name) < 0 else []

    monkeypatch.setitem(KERNELS["problems_of"].__globals__, "run_sections", run_sections)


def test_settings_that_agree_within_the_tolerance_are_one_line_each(cfg, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    faked(monkeypatch, lambda setting: 0.25 + len(setting) * 1e-9)
    assert KERNELS["problems_of"](cfg) == 0
    assert len(caplog.messages) == len(cfg.settings)
    assert all("1 tables, 0 cells unlike the first setting's; no tests" in line for line in caplog.messages)


def test_a_cell_that_differs_and_a_section_that_fails_are_told_and_counted(cfg, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    faked(monkeypatch, lambda setting: {"skylakex": 0.26, "zen without AVX-512": -1.0}.get(setting, 0.25))
    assert KERNELS["problems_of"](cfg) == 3
    assert (
        "  toy/t.csv, model=y, score: first 0.25, here 0.26, 0.01 apart where 1e-06 is allowed" in caplog.messages
    )
    assert "  toy: it failed" in caplog.messages


# What the project is built on: licences of the lock file, workflows that may only read, pins by digest.
LOCK = ROOT / "requirements.lock"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_every_package_of_the_lock_file_has_a_licence_that_we_may_use():
    table = licences.licences(LOCK)
    pins = [line for line in LOCK.read_text().splitlines() if re.match(r"\S+==", line)]
    assert len(table) == len(pins)
    installed = table[table["licence"] != licences.ELSEWHERE]
    assert len(installed) > 140
    assert installed.loc[installed["problem"] != "", ["package", "licence", "problem"]].to_numpy().tolist() == []


@pytest.mark.parametrize(
    ("licence", "accepted"),
    [
        ("MIT", True),
        ("Apache-2.0 OR GPL-2.0-only", True),
        ("LGPL-2.1-or-later", True),
        ("GNU Lesser General Public License v3 (LGPLv3)", True),
        ("MPL-2.0 AND MIT", True),
        ("GPL-3.0-or-later", False),
        ("MIT AND GPL-3.0-or-later", False),
        ("GNU Affero General Public License v3", False),
        ("GNU General Public License v2 (GPLv2)", False),
        ("unknown", False),
    ],
)
def test_copyleft_and_no_licence_are_refused(licence, accepted):
    assert (licences.problem(licence) == "") == accepted


def test_a_licence_is_read_where_a_package_states_it():
    stated = Message()
    assert licences.stated_licence(stated) == licences.UNKNOWN
    stated["License"] = "MIT License\n\nPermission is hereby granted"
    assert licences.stated_licence(stated) == "MIT License"
    stated["Classifier"] = "License :: OSI Approved :: BSD License"
    assert licences.stated_licence(stated) == "BSD License"
    stated["License-Expression"] = "BSD-3-Clause"
    assert licences.stated_licence(stated) == "BSD-3-Clause"


@pytest.fixture
def lock(tmp_path):
    path = tmp_path / "requirements.lock"
    path.write_text("numpy==2.0.0 \\\n    --hash=sha256:00\npandas==9.9 ; sys_platform == 'nowhere' \\\n")
    return path


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        ("", 0, "Vulnerabilities were not checked"),
        ([], 0, "no known vulnerabilities"),
        ([{"id": "PYSEC-1", "fix_versions": ["2.0.1"]}], 1, "PYSEC-1"),
    ],
)
def test_it_fails_on_what_is_known_and_not_for_want_of_a_network(lock, answer, code, said, monkeypatch, capsys):
    audited = {"dependencies": [{"name": "numpy", "version": "2.0.0", "vulns": answer}]}
    told = json.dumps(audited) if answer != "" else ""
    done = subprocess.CompletedProcess([], 1, stdout=told)
    monkeypatch.setattr(licences.subprocess, "run", lambda *_, **__: done)
    assert script.run(lock) == code
    printed = capsys.readouterr()
    assert said in printed.out + printed.err
    assert "2 packages, 0 with a licence to look at" in printed.out


def test_a_package_that_is_missing_or_states_nothing_fails(lock, monkeypatch, capsys):
    lock.write_text("not-installed-anywhere==1.0 \\\n")
    monkeypatch.setattr(script, "advisories", lambda _: pd.DataFrame())
    assert script.run(lock) == 1
    assert "not-installed-anywhere 1.0 is not installed" in capsys.readouterr().err


SIGNING = {"id-token": "write", "attestations": "write"}
RELEASING = {  # by job; the one that runs the tests and builds the files may only read
    "image": {"contents": "read", "packages": "write", **SIGNING},
    "release": {"contents": "write", **SIGNING},
}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_pin_their_actions_and_may_only_read(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    asked = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert asked == (RELEASING if path.stem == "release" else {})
    used = re.findall(r"uses: *(.*)", path.read_text())
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action) for action in used)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
    for line in re.findall(r"pip install (?!--)(.*)", path.read_text()):
        assert all(re.search("==|[.]whl|-r", word) for word in line.split())


def test_the_base_image_is_pinned_by_digest():
    images = re.findall(r"^FROM (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert len(images) == 2
    assert re.search(r"@sha256:[0-9a-f]{64} AS tools$", images[0])
    assert images[1] == "tools"


def test_releases_that_steal_keys_are_excluded_by_name():
    (litellm,) = (requirement for requirement in DECLARED if requirement.name == "litellm")
    bounded = Requirement(str(litellm)).specifier
    assert {part.version for part in bounded if part.operator == "!="} == {"1.82.7", "1.82.8"}


# Public sets with their last judgments appended: the fit from that of the others against the fit from nothing.


SPLITS, MOST_STEPS = 8, 5


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("member", ["judge_aware", "position_aware", "judge_aware_ties"])
@pytest.mark.parametrize("name", FILES)
def test_the_fit_of_what_was_appended_is_that_of_all(name, member):
    frame = read_records(find_file(FILES[name]).read_bytes())
    steps = []
    for seed in range(SPLITS):
        mixed = frame.sample(frac=1, random_state=seed)
        cut = len(mixed) - len(mixed) // 100
        part = Comparisons.from_frame(mixed.iloc[:cut])
        whole = part.extended(mixed.iloc[cut:])
        cold, warm = fit(whole, member), fit(whole, member, start=fit(part, member))
        assert warm.status == cold.status
        assert warm.log_likelihood == pytest.approx(cold.log_likelihood, abs=1e-7)
        assert_allclose(warm.scores, cold.scores, atol=1e-7)
        steps.append(warm.solution.iterations)
    assert max(steps) <= MOST_STEPS


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
        "panels": 50,
        "collects": 10,
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
    assert commands.faults_of("rank", 0, answer, "", {Path("out")}) == []
    assert commands.faults_of("rank", 1, refusal, "", set()) == []
    assert commands.faults_of("gate", 1, answer, "", set()) == []  # a verdict
    for command, code, printed, new in (
        ("rank", 70, answer, set()),
        ("rank", 3, refusal, set()),
        ("rank", 0, '{"a": NaN}', set()),
        ("rank", 1, many, set()),
        ("gate", 3, refusal, {Path("out.json")}),
        ("rank", 0, answer, {Path("out.partial")}),
    ):
        assert commands.faults_of(command, code, printed, "", new)

    def broken(words: list[str]) -> None:
        raise ValueError(words)

    monkeypatch.setattr(commands, "app", broken)
    assert commands.misanswered({"command": "doctor"}, generator(1))["bad"] == 1


def test_a_panel_that_ends_otherwise_than_in_a_sentence_would_be_counted(monkeypatch):
    for status, sentence, named in (
        ("defect: TypeError", "x", None),
        ("read", "", "judge"),
        ("refused", "", None),
        ("refused", "two\nlines", None),
        ("refused", "\x1b[31m", None),
        ("refused", "wrong", "model"),
        ("refused", "x" * 1000, None),
    ):
        assert collecting.panel_faults(status, sentence, named), (status, sentence)
    assert not collecting.panel_faults("refused", "panel.yaml: judges no. 1.model: wrong", "model")

    def broken(path, more):
        raise RecursionError

    monkeypatch.setattr(collecting, "read_panel", broken)
    assert collecting.misread_panel({"way": "types"}, generator(1))["bad"] == 1


def test_a_judgment_lost_doubled_or_false_would_be_counted(monkeypatch):
    request = {"question_id": "q0", "model_a": "m2", "model_b": "m1", "judge_model": "j0", "repeat": 0}
    record = request | {"judge_preferred_model": "a", "finish_reason": "stop"}
    record |= {"prompt_tokens": 1, "completion_tokens": None}
    other = record | {"question_id": "q1"}
    with collecting.serving() as server:
        server.answered.update(["first", "second"])

        def faults(*records, end=b"\n"):
            return collecting.ledger_faults(b"\n".join(json.dumps(one).encode() for one in records) + end, server)

        assert not faults(record, other)
        assert faults(record)  # an answer is lost
        assert faults(record, record)
        assert faults(record, other, end=b"")
        assert faults(record, other | {"judge_preferred_model": "b"})
        assert faults(record, other | {"finish_reason": "length"})
        assert faults(record, other | {"prompt_tokens": 1.5})
        server.answered.update(["first"])
        assert faults(record, other)  # paid for twice
    monkeypatch.setattr(collecting, "ended", lambda words: (70, "", "Traceback"))
    assert collecting._collect()[2]


def test_a_large_ranking_is_measured_beside_the_engine():
    measured = list(speed.of_large_rank(3_000, "1GB", 1))
    assert len(measured) == 2
    assert all(first > 0 and second > 0 for _, first, second, _ in measured)


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
