"""Every step of the workflows and of the action, run as written, but for what needs more than a package index."""

import itertools
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import typer
import yaml

from judgerank.cli import app
from judgerank.gating import callers
from replication.config import ROOT
from studies.torture.endpoint import serving
from tests.replication.hosted_runner import CITATION, DIGEST, Runner, filled, make_targets, missing_targets

WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").glob("*.yml")}
JOBS = [(name, job) for name, workflow in sorted(WORKFLOWS.items()) for job in workflow["jobs"]]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
(GATE,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "gate")
USUAL = {"old": "old.jsonl", "new": "new.jsonl", "panel": "panel.yaml"}
VERSION = CITATION["version"]


def combinations(job: dict) -> list[dict[str, str]]:
    """Values of a job's matrix, one of each combination; they all run on the Python of these tests."""
    matrix = dict(job.get("strategy", {}).get("matrix", {}))
    matrix.pop("python", None)
    return [dict(zip(matrix, values, strict=True)) for values in itertools.product(*matrix.values())]


@pytest.fixture(scope="module")
def package_index(tmp_path_factory):
    """Skip where no package index answers."""
    folder = tmp_path_factory.mktemp("index")
    asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "packaging"]
    if subprocess.run([*map(str, asked)], capture_output=True).returncode:
        pytest.skip("no package index answers")


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_every_command_of_make_exists(name, job):
    job = WORKFLOWS[name]["jobs"][job]
    for matrix, step in itertools.product(combinations(job), job["steps"]):
        script = filled(step.get("run", ""), {f"matrix.{key}": value for key, value in matrix.items()})
        assert missing_targets(make_targets(script)) == [], script


def test_continuous_integration_is_a_script_whose_commands_exist():
    script = ROOT / ".ci/run"
    subprocess.run(["bash", "-n", script], check=True)
    targets = make_targets(script.read_text())
    assert {"lowest", "newest", "torture", "test-all"} <= set(targets)
    assert missing_targets(targets) == []


def test_a_command_that_make_does_not_know_is_noticed():
    script = (
        "make test-all\n  make papers ARGS=x  # all\ncmake build; test -d make\nmake -j lowest PYTHON=python\n"
    )
    assert make_targets(script) == ["test-all", "papers", "lowest"]
    assert missing_targets(["test-all", "papers", "chatbot_arena", "trust", "results"]) == ["papers", "results"]


@pytest.mark.parametrize("resolution", combinations(WORKFLOWS["wheel"]["jobs"]["wheel"]))
def test_the_wheel_of_the_workflow_runs_the_example_of_the_readme(package_index, tmp_path, resolution):
    job = WORKFLOWS["wheel"]["jobs"]["wheel"]
    runner = Runner(tmp_path)
    work = runner.run_job("wheel", job, resolution)
    assert len(runner.ran) == sum("run" in step for step in job["steps"])
    assert (work.parent / "temp/out/index.html").is_file()


def test_a_release_has_its_files_notes_and_image(tmp_path):
    runner = Runner(tmp_path)
    folders = {name: runner.run_job(name, job, {}) for name, job in WORKFLOWS["release"]["jobs"].items()}
    dist = folders["release"] / "dist"
    with tarfile.open(dist / f"judgerank-{VERSION}-results.tar.gz") as archive:
        names = set(archive.getnames())
    assert {"ro-crate-metadata.json", "results/paper/audit.csv", "figures/paper/audit/verdicts.png"} <= names
    assert any(name.startswith("results/beyond/") for name in names)
    (wheel,) = dist.glob("*.whl")
    assert f"judgerank-{VERSION}.dist-info/METADATA" in zipfile.ZipFile(wheel).namelist()
    notes = (dist / "notes.md").read_text()
    assert notes.strip().startswith("#") and "## [" not in notes.replace("### ", "")
    assert f"Image: `ghcr.io/{'/'.join(CITATION['repository-code'].split('/')[-2:])}@{DIGEST}`" in notes
    assert [call.split()[0] for call in runner.calls] == ["pip-audit", *["docker"] * 4, "gh"]
    assert runner.calls[-1].startswith(f"gh release create v{VERSION} ")
    assert str(wheel.relative_to(folders["release"])) in runner.calls[-1]
    steps = [step for job in WORKFLOWS["release"]["jobs"].values() for step in job["steps"] if "run" in step]
    assert len(runner.ran) == len(steps) - 2  # all but `make test-all` and `make stale`


@pytest.mark.parametrize(
    "variables",
    [{"GITHUB_REF_NAME": "v9.9.9"}, {"GITHUB_REPOSITORY": "somebody/judgerank"}],
    ids=["version", "place"],
)
def test_a_release_of_another_version_or_place_stops_at_its_first_step(tmp_path, variables):
    runner = Runner(tmp_path, variables=variables)
    first = next(step for step in WORKFLOWS["release"]["jobs"]["build"]["steps"] if "run" in step)
    (tmp_path / "build/work").mkdir(parents=True)
    shutil.copy(ROOT / "CITATION.cff", tmp_path / "build/work")
    with pytest.raises(AssertionError, match=r"CITATION\.cff"):
        runner.run_job("build", {"steps": [first]}, {})
    runner.variables.clear()
    runner.run_job("build", {"steps": [first]}, {})


def test_the_action_gates_the_repository_that_is_its_example(tmp_path):
    """The example's step that makes answers, then the action's gate, with the inputs that have no default."""
    runner = Runner(tmp_path)
    installed(tmp_path)
    runner.values |= given_to_action({})
    example = yaml.safe_load((ROOT / "examples/gate/workflow.yml").read_text())["jobs"]["gate"]["steps"]
    (answers,) = (step for step in example if "run" in step)
    shutil.copytree(ROOT / "examples/gate", tmp_path / "gate/work")
    work = runner.run_job("gate", {"steps": [answers, GATE]}, {})
    assert runner.values["steps.gate.outputs.verdict"] == "inconclusive"
    assert {f"steps.gate.outputs.{name}" for name in ACTION["outputs"]} <= set(runner.values)
    assert (work / "judgerank.xml").is_file()
    assert [json.loads(line) for line in (work / ".judgerank/judgments.jsonl").read_text().splitlines()]


def installed(folder):
    """This code where the action installs its own in the step before; the caller's modules are not seen."""
    (folder / "gate/temp/judgerank/bin").mkdir(parents=True)
    program = folder / "gate/temp/judgerank/bin/judgerank"
    first = f'PYTHONPATH="{ROOT / "src"}${{PYTHONPATH:+:$PYTHONPATH}}"'
    program.write_text(f'#!/bin/sh\nexec env {first} {sys.executable} -P -m judgerank "$@"\n')
    program.chmod(0o755)
    (folder / "python").symlink_to(sys.prefix)


def given_to_action(event, **inputs):
    """What the action's expressions stand for in an event; as GitHub has it, what is not there is empty."""
    values = {f"inputs.{name}": settings.get("default", "") for name, settings in ACTION["inputs"].items()}
    values |= {f"inputs.{name}": name_of for name, name_of in USUAL.items()}
    values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
    for expression in re.findall(r"github\.event\.[\w.]+", json.dumps(ACTION)):
        entry = event
        for key in expression.split(".")[2:]:
            entry = (entry or {}).get(key)
        values[expression] = {None: "", True: "true", False: "false"}.get(entry, entry)
    return values


def gated(runner, event=None, **inputs):
    """Run the action's gate in an event with these inputs."""
    runner.values |= given_to_action(event or {}, **inputs)
    runner.run_job("gate", {"steps": [GATE]}, {})
    return runner.values["steps.gate.outputs.verdict"]


def pull_request(base, is_fork=False):
    """The event of a pull request, with a place for its head as GitHub has it."""
    return {"pull_request": {"base": {"sha": base}, "head": {"repo": {"fork": is_fork}}}}


def write_gated_repository(work):
    """A repository whose base branch has a judge for larger numbers, and whose head would turn it around."""
    work.mkdir(parents=True)
    for name, answer in (("old", 50), ("new", 40)):
        rows = [{"question_id": f"q{n}", "question": f"Q{n}?", "answer": str(answer)} for n in range(60)]
        (work / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for sign in (">", "<"):
        judge = f"def judge(question, first, second):\n    return 'a' if int(first) {sign} int(second) else 'b'\n"
        (work / "judge.py").write_text(judge)
        (work / "panel.yaml").write_text("judges: [{judge: larger, provider: python, model: judge.py}]\n")
        if sign == ">":
            for command in (["init", "-q"], ["remote", "add", "origin", "."]):
                subprocess.run(["git", *command], cwd=work, check=True)
            base = committed(work)
    return base


def committed(work):
    """Commit all files, and return the commit."""
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["add", "."], ["commit", "-qm", "base"]):
        subprocess.run(["git", *identity, *command], cwd=work, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=work, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def larger(prompt):
    """The reply of a judge who prefers the larger number: old answers are 50, new ones 40."""
    return "A" if prompt.index("50") < prompt.index("40") else "B"


def test_the_action_takes_the_panel_and_its_judges_from_the_base_branch(tmp_path):
    """Modules of the pull request have no place beside the keys, either."""
    work = tmp_path / "gate/work"
    event = pull_request(write_gated_repository(work))
    (work / "pandas.py").write_text("raise RuntimeError('a module of the pull request')")
    runner = Runner(tmp_path, variables={"PYTHONPATH": str(work)})
    installed(tmp_path)
    assert gated(runner, event, panel_from="head", page="gate.html", json_file="gate.json") == "ship"
    assert (work / "gate.html").is_file() and (work / "judgerank.xml").is_file()
    assert json.loads((work / "gate.json").read_text())["verdict"] == "ship"
    with pytest.raises(AssertionError, match="Block"):
        gated(runner, event)
    assert runner.values["steps.gate.outputs.failed"] == "true"
    assert not list((work / ".judgerank").glob("*.earlier.jsonl"))


def test_the_base_branch_is_fetched_where_it_is_not_there_and_the_history_kept_where_it_is(tmp_path):
    work = tmp_path / "gate/work"
    write_gated_repository(work)
    base = committed(work)
    runner = Runner(tmp_path)
    installed(tmp_path)
    assert gated(runner, pull_request(base)) == "ship"
    history = subprocess.run(["git", "rev-list", base], cwd=work, check=True, capture_output=True, text=True)
    assert len(history.stdout.split()) == 2
    with pytest.raises(AssertionError, match="cannot be fetched"):
        gated(runner, pull_request("0" * 40))
    assert runner.values["steps.gate.outputs.verdict"] == "error"
    assert "cannot be fetched" in (tmp_path / "gate/temp/summary").read_text()


def test_a_pull_request_is_judged_by_an_endpoint_and_one_of_a_fork_ends_neutral(tmp_path):
    """The key is there for a branch of the repository alone; unchanged answers are not judged twice."""
    work = tmp_path / "gate/work"
    write_gated_repository(work)
    with serving(reply=larger) as server:
        judge = {"judge": "j", "provider": "openai", "model": "m", "api_key_env": "KEY_OF_JUDGE"}
        (work / "panel.yaml").write_text(yaml.safe_dump({"judges": [judge | {"base_url": server.url}]}))
        base = committed(work)
        (work / "panel.yaml").write_text("judges: []\n")
        fork = Runner(tmp_path / "fork")
        installed(tmp_path / "fork")
        shutil.copytree(work, tmp_path / "fork/gate/work")
        assert gated(fork, pull_request(base, is_fork=True)) == "skipped"
        assert (tmp_path / "fork/gate/temp/summary").read_text().count("skipped") == 1 and not server.requests
        with pytest.raises(AssertionError, match="KEY_OF_JUDGE"):
            gated(fork, pull_request(base))
        assert fork.values["steps.gate.outputs.verdict"] == "error"
        own = Runner(tmp_path, variables={"KEY_OF_JUDGE": "a-key"})
        installed(tmp_path)
        for _ in range(2):
            with pytest.raises(AssertionError, match="Block"):
                gated(own, pull_request(base))
            n_asked = len(server.requests)
        assert server.keys == {"Bearer a-key"} and n_asked == len({json.dumps(body) for body in server.requests})
    summary = (tmp_path / "gate/temp/summary").read_text()
    assert summary.startswith("### Block") and own.values["steps.gate.outputs.verdict"] == "block"


def test_a_file_of_judgments_needs_no_panel(tmp_path):
    runner = Runner(tmp_path)
    installed(tmp_path)
    work = tmp_path / "gate/work"
    write_gated_repository(work)
    pairs = [("old", "new"), ("new", "old")]
    rows = [
        {"question_id": f"q{n}", "model_a": pairs[n % 2][0], "model_b": pairs[n % 2][1], "winner": "ab"[n % 2]}
        for n in range(60)
    ]
    (work / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = {"judgments": "votes.jsonl", "mode": "two-sided"}
    with pytest.raises(AssertionError, match="Block"):
        gated(runner, **given)
    assert gated(runner, **given, baseline="new", candidate="old") == "ship"
    swapped = {"baseline": "new", "candidate": "old", "scale": "score", "margin": "0.2"}
    assert gated(runner, judgments="votes.jsonl", **swapped) == "ship"
    with pytest.raises(AssertionError, match="old, new and panel"):
        gated(runner, panel="")
    assert runner.values["steps.gate.outputs.verdict"] == "error"
    assert "old, new and panel" in (tmp_path / "gate/temp/summary").read_text()


@pytest.fixture(scope="module")
def options():
    """Options of the command by name."""
    command = typer.main.get_command(app).get_command(None, "gate")
    return {option.opts[0].removeprefix("--"): option for option in command.params if option.opts[0] != "files"}


def test_the_action_has_an_input_for_every_option_and_hands_it_on(tmp_path, options):
    """All but what the action gives by itself, and leave to ask at addresses of variables."""
    own = {"old", "new", "panel", "panel-from", "judgments", "on-inconclusive"}
    inputs = ACTION["inputs"].keys() - own
    by_itself = {"panel", "judgments", "prune", "without-keys", "answers", "junit", "force"}
    assert options.keys() - by_itself == inputs | {"json", "verbose", "allow-env-url", "help-all"}
    assert set(callers.INPUTS) == inputs | {"panel", "judgments"}
    runner = Runner(tmp_path, variables={"OPTION_OF_MINE": "x"})
    (tmp_path / "gate/temp/judgerank/bin").mkdir(parents=True)
    program = tmp_path / "gate/temp/judgerank/bin/judgerank"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > told\necho verdict=ship >> "$GITHUB_OUTPUT"\n')
    program.chmod(0o755)
    flags = {name for name in inputs if options[name].is_flag}
    several = {name for name in inputs if options[name].multiple}
    texts = {name: "true" if name in flags else "a b\n\n$(c)" if name in several else "a b" for name in inputs}
    gated(runner, **{name.replace("-", "_"): text for name, text in texts.items()})
    work = tmp_path / "gate/work"
    told = (work / "told").read_text().splitlines()
    paths = {"page", "json-file", "markdown", "models"}
    expected = [f"--{name}=a b" for name in inputs - flags - paths] + [f"--{name}" for name in flags]
    expected += [f"--{name}=$(c)" for name in several]
    expected += [text for name in paths for text in (f"--{name}", str(work / "a b"))]
    ours = told[told.index("--force") + 1 : told.index("--panel")]
    assert sorted(ours) == sorted(expected)
    gated(runner)
    assert [text for text in (work / "told").read_text().splitlines() if text.startswith("--")] == [
        *("gate", "--junit", "--force", "--panel", "--judgments", "--prune")[1:]
    ]


def test_the_action_installs_what_its_lock_names_and_nothing_else():
    (install,) = (step["run"] for step in ACTION["runs"]["steps"] if "pip install" in step.get("run", ""))
    locked, own = [line for line in install.splitlines() if "pip install" in line]
    assert "--require-hashes" in locked and "requirements-gate.lock" in locked
    assert "--no-index" in own and "--no-deps" in own and "--no-build-isolation" in own


def test_no_workflow_has_a_step_that_no_test_runs():
    """Workflows that are not run here have only commands of make, and comparisons with what is stored."""
    for name in WORKFLOWS.keys() - {"wheel", "release"}:
        for job in WORKFLOWS[name]["jobs"].values():
            assert all(step["run"].startswith(("make ", "git diff ")) for step in job["steps"] if "run" in step), (
                name
            )
