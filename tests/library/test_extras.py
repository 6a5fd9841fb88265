"""What a sentence tells to install is what pyproject.toml declares, and never this package from an index."""

import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from judgerank.writing import extras

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("extra", ["collect", "excel", "parquet", "plot", "scale", "zstd"])
def test_an_extra_is_told_with_all_of_its_packages(extra):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = extras.needed(extra)
    assert said.index(f"'{extra}'") < said.index("pip install")
    for requirement in project["optional-dependencies"][extra]:
        name = requirement.partition(">")[0]
        assert f"'{name}" in said
    assert said.count("'") == 2 + 2 * len(project["optional-dependencies"][extra])


def test_from_bare_sources_the_checkout_is_told(monkeypatch):
    def nothing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "requires", nothing)
    assert extras.needed("zstd") == "the extra 'zstd' (pip install '.[zstd]' in the checkout)"


def test_nothing_tells_to_install_the_package_from_an_index():
    """There is no release yet: `pip install judgerank` would find nothing, or a stranger's package."""
    places = [*(ROOT / "src").rglob("*"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*")]
    places += [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md", ROOT / "paper/paper.md"]
    told = [path for path in places if path.suffix in (".py", ".html", ".md", ".ipynb") and path.is_file()]
    assert len(told) > 100
    assert [path for path in told if "judgerank[" in path.read_text()] == []
    assert [path for path in told if "pip install judgerank" in path.read_text()] == []
