"""Configuration: everything composes, YAML and code agree, mistakes end in one sentence."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from judgerank.config import CONF, ROOT, solver_settings
from judgerank.errors import ConfigError
from judgerank.fit import PUBLISHED_ADAM_BTL
from judgerank.solvers.adam import AdamSettings
from judgerank.solvers.newton import NewtonSettings

PRIMARY = sorted(path.stem for path in Path(CONF).glob("*.yaml") if path.stem != "common")
SOLVERS = sorted(path.stem for path in Path(CONF, "solver").glob("*.yaml"))


def composed(name: str, *overrides: str):
    with initialize_config_dir(CONF, version_base="1.3"):
        return compose(name, list(overrides))


@pytest.mark.parametrize("name", PRIMARY)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_config_composes_with_every_solver_and_leaves_nothing_open(name, solver):
    cfg = composed(name, f"solver={solver}")
    assert not OmegaConf.missing_keys(cfg)
    assert solver_settings(cfg.solver, "judge_aware")[0] == solver


def test_yaml_and_code_have_the_same_solver_settings():
    newton, adam = (composed("chatbot_arena", f"solver={name}").solver for name in ("newton", "adam"))
    assert solver_settings(newton, "judge_aware") == ("newton", NewtonSettings())
    assert solver_settings(newton, "btl") == ("newton", NewtonSettings())
    assert solver_settings(adam, "judge_aware") == ("adam", AdamSettings())
    assert solver_settings(adam, "btl") == ("adam", PUBLISHED_ADAM_BTL)


def test_an_override_reaches_the_settings():
    cfg = composed("chatbot_arena", "solver=adam", "solver.max_iterations=3100")
    expected = dataclasses.replace(AdamSettings(), max_iterations=3100)
    assert solver_settings(cfg.solver, "judge_aware")[1] == expected


def test_an_unknown_solver_is_refused():
    cfg = composed("chatbot_arena", "solver.name=simplex")
    with pytest.raises(ConfigError, match="'simplex'"):
        solver_settings(cfg.solver, "judge_aware")


@pytest.mark.parametrize(
    ("override", "names"),
    [
        ("sovler=adam", "sovler"),
        ("solver.toleranse=1", "toleranse"),
        ("level=high", "level=high"),
        ("level=1.5", "1.5"),
        ("surrogate=maybe", "maybe"),
        ("solver=simplex", "simplex"),
        ("datasets.chatbot_arena.sha256=00", "SHA-256"),
    ],
)
def test_mistakes_end_in_one_sentence_exit_code_one_and_no_output(override, names, tmp_path):
    results, figures = tmp_path / "results", tmp_path / "figures"
    command = [sys.executable, "experiments/chatbot_arena.py", override]
    if "sha256" in override:
        (tmp_path / "judge_results_10k_chatbot_arena.json").write_text(
            '[{"question_id": 1, "model_a": "x", "model_b": "y", "judge_model": "j",'
            ' "judge_preferred_model": "a", "judge_confidence": 1}]'
        )
    else:
        command.append("surrogate=always")
    command += [f"results={results}", f"figures={figures}"]
    environment = {"JUDGERANK_DATA": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert names in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not results.exists()
    assert not figures.exists()
