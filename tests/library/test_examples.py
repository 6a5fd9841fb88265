"""What users are told to type: examples in docstrings run, and a named extra is what pyproject.toml declares."""

from __future__ import annotations

import doctest
import inspect
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import judgerank
from judgerank import Fit
from judgerank.ranking.ranking import Ranking
from judgerank.writing import extras

WITH_EXAMPLES = {  # every exported name, and what a user types of a result first
    *(name for name in judgerank.__all__ if name != "__version__"),
    *(f"Fit.{name}" for name in ("aic", "bic", "bse", "clustered", "conf_int", "contrast", "cov_params")),
    *(f"Fit.{name}" for name in ("judges_at_zero", "leaderboard", "llf", "nobs", "params", "predict", "pvalues")),
    *(f"Fit.{name}" for name in ("scores", "summary", "test", "to_frame")),
    *(f"Ranking.{name}" for name in ("judges", "leaderboard", "pairs", "summary", "without")),
}


def documented() -> Iterator[tuple[str, object]]:
    """Exported functions and classes, and the public methods and properties of results, by name."""
    for name in judgerank.__all__:
        value = getattr(judgerank, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            yield name, value
    for result in (Fit, Ranking):
        for name, value in inspect.getmembers(result):
            if not name.startswith("_") and value is not None:  # a field, which the class describes
                yield f"{result.__name__}.{name}", value


DOCUMENTED = dict(documented())
EXAMPLES = {
    test.name: test
    for name, value in DOCUMENTED.items()
    for test in doctest.DocTestFinder(recurse=False).find(
        getattr(value, "func", getattr(value, "__wrapped__", value)), name, globs={}
    )
    if test.examples
}


def test_every_exported_name_has_an_example():
    assert {*EXAMPLES} >= WITH_EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_it_shows(name):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    runner.run(EXAMPLES[name], out=told.append, clear_globs=False)
    assert runner.failures == 0, "".join(told)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_what_users_see_has_a_docstring(name):
    assert inspect.getdoc(DOCUMENTED[name]), name


# What a sentence tells to install is what pyproject.toml declares, and never this package from an index.


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
