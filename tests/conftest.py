"""Builders shared by the core tests. They are session fixtures so that hypothesis tests may take them too."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from scipy.special import expit, log_expit

from judgerank import Comparisons
from judgerank.model.members import Parameters

settings.register_profile("core", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("core")


# Files that `make test` leaves out: each takes ten seconds of a processor or more;
# other files cover what it does, if not as far. Single tests of other files are marked where they stand.
SLOW_BY_PART = {
    "replication": "cluster faults one_set replicate seeded_faults simulation verify workflows",
    "studies": "boards dependence growing method_comparison model_comparison panel planning slots soft torture "
    "validity",
    "tool": "collecting_faults collecting_money collecting_rules collecting_runs faults versions wheel",
}
SLOW = {f"{part}/test_{name}.py" for part, names in SLOW_BY_PART.items() for name in names.split()}

# Single tests that take seconds, of files that are quick without them
SLOW_TESTS: dict[str, set[str]] = {}


# Files of tests that need what `make test-all` installs and `make test` does not
NEEDS = {"inspect_ai": {"test_inspecting.py"}, "litellm": {"test_answers.py", "test_gate_asking.py"}}


class Uncollected(pytest.Module):
    """A file of tests for which a package is missing."""

    needed: str

    def collect(self):
        pytest.skip(f"could not import {self.needed!r}", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    name = module_path.name
    needed = {package for package, files in NEEDS.items() if name in files}
    needed |= {"litellm"} if name.startswith("test_collecting") else set()
    for package in needed:
        if find_spec(package) is None:
            module = Uncollected.from_parent(parent, path=module_path)
            module.needed = package
            return module
    return None


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out by `make test`, and by `make lowest` and `make newest`")
    config.addinivalue_line("markers", "versions: also run by `make lowest` and `make newest`, slow or not")
    gc.disable()  # nothing of what is imported and collected is ever freed


def pytest_collection_finish():
    """Garbage is collected from here on, and not sought among what was there before the tests."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 10, 10)  # else it would be sought through all that tests import, again and again


def pytest_collection_modifyitems(config, items):
    """Mark what is slow, and begin with it: at the end no core waits long for another."""
    cases: dict[tuple[Path, str], list[pytest.Function]] = {}
    for item in items:
        name = item.path.relative_to(config.rootpath / "tests").as_posix()
        if name in SLOW or item.originalname in SLOW_TESTS.get(name, ()):
            item.add_marker("slow")
        elif len(_factors(item)) > 1:
            cases.setdefault((item.path, item.originalname), []).append(item)
    for product in cases.values():
        covering = _covering([_factors(item) for item in product])
        for number, item in enumerate(product):
            if number not in covering:
                item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def _factors(item: pytest.Function) -> tuple[tuple[int, ...], ...]:
    """Which values a case has of each list of values that its test is run over: the objects' identities."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return ()
    lists = [mark.args[0] for mark in item.iter_markers("parametrize")]
    of_marks = [
        [name.strip() for name in names.split(",")] if isinstance(names, str) else names for names in lists
    ]
    of_fixtures = [
        [name] for name in sorted(callspec.params.keys() - {name for names in of_marks for name in names})
    ]
    return tuple(tuple(id(callspec.params[name]) for name in names) for names in (*of_marks, *of_fixtures))


def _covering(cases: list[tuple[tuple[int, ...], ...]]) -> set[int]:
    """Numbers of cases that have every value of two lists, or every pair of values of three or more, between them.

    `make test` runs these of a product of options, and `make test-all` the whole.
    """
    size = 1 if len(cases[0]) == 2 else 2
    combined = [set(combinations(enumerate(case), size)) for case in cases]
    chosen, left = set(), set().union(*combined)
    while left:
        best = max(range(len(cases)), key=lambda number: len(combined[number] & left))
        chosen.add(best)
        left -= combined[best]
    return chosen


UNSKIPPED_BY = {
    "JUDGERANK_DATA": "JUDGERANK_DATA=FOLDER with the paper's data",
    "JUDGERANK_PAPER": "JUDGERANK_PAPER=FILE, the paper's TeX",
    "could not find a browser": "Chromium (apt-get install chromium)",
    "make lowest": "make lowest, on Python 3.11",
    "no package index answers": "a package index that pip reaches",
    "could not import": "the optional extras (make environment)",
}


def pytest_terminal_summary(terminalreporter):
    """One line that says how many tests were skipped, and what would let them run."""
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    reasons = [
        str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr) for report in skipped
    ]
    known = [next((cure for key, cure in UNSKIPPED_BY.items() if key in reason), reason) for reason in reasons]
    cures = [f"{known.count(cure)} by {cure}" for cure in dict.fromkeys(known)]
    terminalreporter.write_line(f"{len(skipped)} tests skipped; they would run, {'; '.join(cures)}")


def _frame(*rows: tuple) -> pd.DataFrame:
    """Judgments from tuples (model_a, model_b, judge_model, judge_preferred_model)."""
    columns = ["model_a", "model_b", "judge_model", "judge_preferred_model"]
    return pd.DataFrame(list(rows), columns=columns, dtype=object)


def _cells(*rows: tuple, judges: tuple[str, ...] | None = None) -> Comparisons:
    """Aggregated rows from tuples (first, second, judge, wins of the first, losses[, covariate])."""
    models = tuple(sorted({name for row in rows for name in row[:2]}))
    judges = judges or tuple(sorted({row[2] for row in rows}))
    count = np.array([row[3] + row[4] for row in rows], float)
    return Comparisons(
        models,
        judges,
        np.array([models.index(row[0]) for row in rows]),
        np.array([models.index(row[1]) for row in rows]),
        np.array([judges.index(row[2]) for row in rows]),
        np.array([row[3] for row in rows]) / count,
        count,
        np.array([row[5] for row in rows], float) if len(rows[0]) > 5 else None,
    )


def _simulated(seed, scores, gamma, size, *, slope=None, ties=0.0) -> Comparisons:
    """Raw rows drawn from the model: pairs in random order, judges and pairs uniform, a share of ties.

    A negative gamma makes a contrarian judge. With `slope`, rows carry a covariate of plus or minus one.
    """
    rng = np.random.default_rng(seed)
    scores, gamma = np.asarray(scores, float), np.asarray(gamma, float)
    n, k = len(scores), len(gamma)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    judge = rng.integers(k, size=size)
    z = None if slope is None else rng.choice([-1.0, 1.0], size)
    g = gamma[judge] * (1.0 if slope is None else np.exp(np.asarray(slope)[judge] * z))
    outcome = (rng.random(size) < expit(g * (scores[first] - scores[second]))).astype(float)
    outcome[rng.random(size) < ties] = 0.5
    models, judges = (tuple(f"{label}{i}" for i in range(m)) for label, m in (("m", n), ("j", k)))
    return Comparisons(models, judges, first, second, judge, outcome, None, z)


def _log_likelihood(cells: Comparisons, scores, gamma=None, slope=None) -> float:
    """Equation (5), written without the package; gamma may be zero or negative."""
    gamma = np.ones(len(cells.judges)) if gamma is None else gamma
    g = gamma[cells.judge]
    if slope is not None:
        g = g * np.exp(slope[cells.judge] * cells.covariate)
    eta = g * (scores[cells.first] - scores[cells.second])
    y = cells.outcome
    return float(np.sum(cells.count * (y * log_expit(eta) + (1 - y) * log_expit(-eta))))


def _dense_information(cells: Comparisons, at: Parameters) -> np.ndarray:
    """J' diag(n p (1 - p)) J in (s, alpha, beta) over all judges, with J built row by row."""
    blocks, n, k = len(at.judges), len(at.scores), at.judges.shape[1]
    total = np.zeros((n + blocks * k, n + blocks * k))
    for t in range(len(cells)):
        i, j, judge = cells.first[t], cells.second[t], cells.judge[t]
        z = cells.covariate[t] if blocks > 1 else 0.0
        g = np.exp(at.judges[0, judge]) if blocks else 1.0
        g = g * np.exp(at.judges[1, judge] * z) if blocks > 1 else g
        d = at.scores[i] - at.scores[j]
        row = np.zeros(len(total))
        row[i], row[j] = g, -g
        for b in range(blocks):
            row[n + b * k + judge] = g * d * (1.0, z)[b]
        p = expit(g * d)
        total += cells.count[t] * p * (1 - p) * np.outer(row, row)
    return total


def _swapped(cells: Comparisons) -> Comparisons:
    """The same comparisons with the other model shown first."""
    outcome = 1 - cells.outcome
    return Comparisons(
        cells.models, cells.judges, cells.second, cells.first, cells.judge, outcome, cells.count, cells.covariate
    )


@pytest.fixture(scope="session")
def frame():
    return _frame


@pytest.fixture(scope="session")
def cells_of():
    return _cells


@pytest.fixture(scope="session")
def simulated():
    return _simulated


@pytest.fixture(scope="session")
def log_likelihood():
    return _log_likelihood


@pytest.fixture(scope="session")
def dense_information():
    return _dense_information


@pytest.fixture(scope="session")
def swapped():
    return _swapped
