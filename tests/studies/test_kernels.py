"""The comparison of kernels: its settings, and that what differs between two of them is told and counted."""

import logging
import runpy

import pandas as pd
import pytest
from hydra import compose, initialize_config_dir

from replication.config import CONF, ROOT, script_of

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
