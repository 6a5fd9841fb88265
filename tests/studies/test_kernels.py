"""The comparison of kernels: its settings, and that what differs between two of them is told and counted."""

from __future__ import annotations

import json
import logging
import re
import runpy
import subprocess
from email.message import Message

import pandas as pd
import pytest
import yaml
from hydra import compose, initialize_config_dir
from packaging.requirements import Requirement

from experiments.beyond import licences as script
from replication.config import CONF, ROOT, script_of
from studies import licences
from tests.replication.test_packaging import DECLARED

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
