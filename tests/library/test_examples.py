"""The examples in docstrings of exported names and of the methods of results run, and print what they show."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator

import pytest

import judgerank
from judgerank import Fit
from judgerank.ranking.ranking import Ranking

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
