"""Every step of the workflows and of the action, run as written, but for what needs more than a package index."""

import itertools
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import yaml

from replication.config import ROOT
from tests.replication.hosted_runner import CITATION, DIGEST, Runner, filled, make_targets, missing_targets

WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").glob("*.yml")}
JOBS = [(name, job) for name, workflow in sorted(WORKFLOWS.items()) for job in workflow["jobs"]]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
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
    runner = Runner(tmp_path, variables={"PYTHONPATH": str(ROOT / "src")})
    installed(tmp_path)
    inputs = {name: settings.get("default", "") for name, settings in ACTION["inputs"].items()}
    inputs |= {"old": "old.jsonl", "new": "new.jsonl", "panel": "panel.yaml"}
    runner.values |= {f"inputs.{name}": value for name, value in inputs.items()}
    example = yaml.safe_load((ROOT / "examples/gate/workflow.yml").read_text())["jobs"]["gate"]["steps"]
    (answers,) = (step for step in example if "run" in step)
    (gate,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "gate")
    runner.values |= {"github.event.pull_request.base.sha": "", "github.event.pull_request.head.repo.fork": ""}
    shutil.copytree(ROOT / "examples/gate", tmp_path / "gate/work")
    work = runner.run_job("gate", {"steps": [answers, gate]}, {})
    assert runner.values["steps.gate.outputs.verdict"] == "inconclusive"
    assert {f"steps.gate.outputs.{name}" for name in ACTION["outputs"]} <= set(runner.values)
    assert (work / "judgerank.xml").is_file()
    assert [json.loads(line) for line in (work / ".judgerank/judgments.jsonl").read_text().splitlines()]


def installed(folder):
    """Programs of these tests where the action installs its own in the step before."""
    (folder / "gate/temp").mkdir(parents=True)
    (folder / "gate/temp/judgerank").symlink_to(sys.prefix)
    (folder / "python").symlink_to(sys.prefix)


def gated(runner, **given):
    """Run the action's gate with these inputs and expressions."""
    inputs = {name: settings.get("default", "") for name, settings in ACTION["inputs"].items()}
    inputs |= {"old": "old.jsonl", "new": "new.jsonl", "panel": "panel.yaml"}
    runner.values |= {f"inputs.{name}": value for name, value in inputs.items()}
    runner.values |= {"github.event.pull_request.base.sha": "", "github.event.pull_request.head.repo.fork": ""}
    runner.values |= given
    (gate,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "gate")
    runner.run_job("gate", {"steps": [gate]}, {})
    return runner.values["steps.gate.outputs.verdict"]


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
            identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
            for command in (
                ["init", "-q"],
                ["add", "."],
                ["commit", "-qm", "base"],
                ["remote", "add", "origin", "."],
            ):
                subprocess.run(["git", *identity, *command], cwd=work, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=work, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_action_takes_the_panel_and_its_judges_from_the_base_branch(tmp_path):
    runner = Runner(tmp_path, variables={"PYTHONPATH": str(ROOT / "src")})
    installed(tmp_path)
    work = tmp_path / "gate/work"
    base = {"github.event.pull_request.base.sha": write_gated_repository(work)}
    assert gated(runner, **{"inputs.panel-from": "head", "inputs.page": "gate.html"}, **base) == "ship"
    assert (work / "gate.html").is_file() and (work / "judgerank.xml").is_file()
    with pytest.raises(AssertionError, match="Block"):
        gated(runner, **base)
    assert not list((work / ".judgerank").glob("*.earlier.jsonl"))


def test_a_fork_without_keys_ends_neutral_and_a_file_of_judgments_needs_no_panel(tmp_path):
    runner = Runner(tmp_path, variables={"PYTHONPATH": str(ROOT / "src")})
    installed(tmp_path)
    work = tmp_path / "gate/work"
    write_gated_repository(work)
    judge = {"judge": "j", "provider": "openai", "model": "m", "api_key_env": "KEY_OF_NOBODY"}
    judge["base_url"] = "https://api.openai.com/v1"
    (work / "panel.yaml").write_text(yaml.safe_dump({"judges": [judge]}))
    assert gated(runner, **{"github.event.pull_request.head.repo.fork": "true"}) == "skipped"
    with pytest.raises(AssertionError, match="KEY_OF_NOBODY"):
        gated(runner)
    pairs = [("old", "new"), ("new", "old")]
    rows = [
        {"question_id": f"q{n}", "model_a": pairs[n % 2][0], "model_b": pairs[n % 2][1], "winner": "ab"[n % 2]}
        for n in range(60)
    ]
    (work / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = {"inputs.judgments": "votes.jsonl", "inputs.mode": "two-sided"}
    with pytest.raises(AssertionError, match="Block"):
        gated(runner, **given)
    assert gated(runner, **given, **{"inputs.baseline": "new", "inputs.candidate": "old"}) == "ship"


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
