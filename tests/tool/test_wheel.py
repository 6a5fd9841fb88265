"""The wheel in an environment of its own, without the checkout: what a practitioner installs."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pandas as pd
import pytest
from packaging.requirements import Requirement

from judgerank import read
from replication.config import ROOT

CSV = "model_a,model_b,judge,winner\n" + "".join(
    f"{a},{b},{judge},{letter}\n"
    for a, b, letters in (("x", "y", "aab"), ("y", "z", "aba"), ("z", "x", "bab"), ("y", "x", "ba"))
    for judge in ("j", "k")
    for letter in letters
)


def needed(names: list[str]) -> set[str]:
    """Installed distributions that some require, themselves included, without extras."""
    found, waiting = set(), list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        found.add(name)
        for text in importlib.metadata.requires(name) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """An environment with the wheel and links to what it requires, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run([*map(str, build)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env/bin/python"
    site = folder / "env/lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet", wheel]
    subprocess.run([*map(str, pip)], check=True, capture_output=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name in needed([Requirement(text).name for text in project["dependencies"]]):
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files if file.parts[0] not in ("..", "__pycache__")}:
            link = site / top
            if not link.exists():
                link.symlink_to(distribution.locate_file(top))
    return folder / "env/bin"


def run(program: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run([program, *arguments], cwd=cwd, env=clean, capture_output=True, text=True)


def test_the_wheel_ranks_outside_the_checkout(installed, tmp_path):
    (tmp_path / "mine.csv").write_text(CSV)
    done = run(installed / "judgerank", "rank", "mine.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the page: rankings/mine/index.html" in done.stdout
    folder = tmp_path / "rankings/mine"
    page = (folder / "index.html").read_text()
    assert "pip install" not in page
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [
            "index.html",
            "run.json",
            *(f"{name}.csv" for name in ("leaderboard", "judges", "pairs", "next", "members", "exact", "fitness")),
        ]
    )
    assert pd.read_csv(folder / "leaderboard.csv")["model"].tolist() == ["x", "y", "z"]
    assert read(tmp_path / "mine.csv").comparisons.n_comparisons == 22


def test_the_wheel_says_which_extra_a_command_takes(installed, tmp_path):
    (tmp_path / "q.jsonl").write_text("{}\n")
    done = run(installed / "judgerank", "collect", "q.jsonl", "--panel", "p.yaml", cwd=tmp_path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "requires the extra 'collect' (pip install 'filelock>=" in line
    (tmp_path / "m.parquet").write_bytes(b"PAR1")
    done = run(installed / "judgerank", "rank", "m.parquet", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "(pip install 'pyarrow>=" in done.stderr


def test_the_wheel_holds_the_library_alone(installed, tmp_path):
    site = run(installed / "python", "-c", "import judgerank; print(judgerank.__file__)", cwd=tmp_path)
    assert "site-packages/judgerank" in site.stdout
    gone = run(installed / "python", "-c", "import replication", cwd=tmp_path)
    assert "No module named 'replication'" in gone.stderr
    assert run(installed / "judgerank", "--version", cwd=tmp_path).stdout.startswith("judgerank 0.")
