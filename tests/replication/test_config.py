"""Configuration: everything composes, YAML and code agree, mistakes end in one sentence."""

import dataclasses
import re
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import studies.config  # noqa: F401 (schemas of the sections beyond the paper)
from judgerank.data.errors import ConfigError
from judgerank.engine.adam import Adam
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.engine.solvers import kind
from judgerank.model.members import BTL
from replication.config import CONF, ROOT, explained, is_default, simulation_settings, solver_settings
from replication.schemas.ranges import require_known_and_in_range

SHARED = {"common", "run_folder", "real_data", "each_set", "resampled", "simulation", "mse_grid"}
SHARED |= {"verification"}
PRIMARY = sorted(path.stem for path in Path(CONF).glob("*.yaml") if path.stem not in SHARED)
SIMULATIONS = ["ci_coverage", "convergence_mse", "small_samples"]
# without a solver to choose
OTHERS = ["audit", "pages", "tables", "slot_bias", "method_comparison", "unstated_settings", "verify", "kernels"]
OTHERS += [
    "validity",
    "defaults",
    "torture",
    "smoke",
    "people",
    "soft",
    "rankings",
    "verify_beyond",
    "stale",
    "claims",
    "few_answers",
    "contrary",
]
REAL = [name for name in PRIMARY if name not in (*SIMULATIONS, *OTHERS)]
EACH_SET = sorted(path.stem for path in Path(CONF).glob("*.yaml") if "each_set\n" in path.read_text())


def options(group: str) -> list[str]:
    return sorted(path.stem for path in Path(CONF, group).glob("*.yaml"))


def composed(name: str, *overrides: str):
    with initialize_config_dir(CONF, version_base="1.3"):
        return compose(name, list(overrides))


def each_of(*lists: list[str]) -> list[tuple[str, ...]]:
    """Rows in which each of every list is at least once: a file of a group is the same beside any other."""
    return [tuple(each[row % len(each)] for each in lists) for row in range(max(map(len, lists)))]


@pytest.mark.parametrize(("name", "solver"), each_of(REAL, options("solver")))
def test_every_config_composes_with_every_solver_and_leaves_nothing_open(name, solver):
    cfg = composed(name, f"solver={solver}")
    assert not OmegaConf.missing_keys(cfg)
    require_known_and_in_range(cfg)
    assert isinstance(solver_settings(cfg.solver, "judge_aware"), kind(solver))


@pytest.mark.parametrize(("name", "dataset"), each_of(EACH_SET, options("dataset")))
def test_sections_on_one_set_take_every_set(name, dataset):
    cfg = composed(name, f"dataset={dataset}")
    assert not OmegaConf.missing_keys(cfg)
    require_known_and_in_range(cfg)
    assert cfg.dataset.name == dataset.removesuffix("_surrogate")
    assert (cfg.dataset.file is None) == dataset.endswith("_surrogate")


@pytest.mark.parametrize("name", SIMULATIONS)
@pytest.mark.parametrize(
    ("estimator", "parallel", "profile"), each_of(*map(options, ("estimator", "parallel", "profile")))
)
def test_every_simulation_composes_and_leaves_nothing_open(name, estimator, parallel, profile):
    cfg = composed(name, f"estimator={estimator}", f"parallel={parallel}", f"profile={profile}")
    assert not OmegaConf.missing_keys(cfg)
    require_known_and_in_range(cfg)
    assert (cfg.estimator.name, cfg.parallel.backend) == (estimator, parallel.removesuffix("_cluster"))


@pytest.mark.parametrize("name", [*SIMULATIONS, "plan"])
def test_a_smoke_run_is_no_default_run_and_git_ignores_where_it_goes(name):
    assert not is_default(name, composed(name, "profile=smoke"))
    assert "outputs/" in (ROOT / ".gitignore").read_text().splitlines()
    assert Path(composed("smoke").results).parts[0] == Path(composed("smoke").figures).parts[0] == "outputs"


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_configs_are_in_range(name):
    require_known_and_in_range(composed(name))


def test_the_grids_are_the_papers():
    mse, coverage = (simulation_settings(composed(name)) for name in ("convergence_mse", "ci_coverage"))
    for settings in (mse, coverage):
        sizes = [(setting.n_models, setting.n_judges) for setting in settings.values()]
        assert sizes == [(10, 5), (20, 10), (50, 20), (100, 20)]
        assert [setting.sigma_discrimination for setting in settings.values()] == [1.5, 1.0, 1.0, 1.0]
        assert {setting.sigma_scores for setting in settings.values()} == {1.0}
    assert [setting.n_comparisons[0] for setting in mse.values()] == [100, 200, 1000, 1500]
    for setting in mse.values():
        assert setting.n_comparisons == [setting.n_comparisons[0] * 2**power for power in range(7)]
    assert sum(len(setting.n_comparisons) for setting in coverage.values()) == 20


@pytest.mark.parametrize(
    ("override", "names"),
    [
        ("settings.n10_k5.n_models=x", "setting 'n10_k5': Value 'x'"),
        ("+settings.n10_k5.judges=3", "setting 'n10_k5': Key 'judges'"),
        ("+settings.mine={n_models: 3}", "setting 'mine': .*n_judges"),
        (
            "+settings.mine={n_models: 10, n_judges: 5, n_comparisons: [30]}",
            "another one has 10 models and 5 judges",
        ),
        ("settings.n10_k5.n_comparisons=[5]", "budgets must differ and connect 10 models"),
        ("settings.n10_k5.n_comparisons=[100,100]", "budgets must differ"),
        ("+settings.mine={n_models: 9, n_judges: 5, n_comparisons: []}", "setting 'mine': it takes a number"),
    ],
)
def test_settings_are_checked(override, names):
    with pytest.raises(ConfigError, match=names):
        simulation_settings(composed("convergence_mse", override))


def test_a_setting_can_be_added():
    added = "+settings.mine={n_models: 5, n_judges: 2, n_comparisons: [50, 100]}"
    assert simulation_settings(composed("convergence_mse", added))["mine"].n_comparisons == [50, 100]


def test_yaml_and_code_have_the_same_solver_settings():
    newton, adam = (composed("chatbot_arena", f"solver={name}").solver for name in ("newton", "adam"))
    assert solver_settings(newton, "judge_aware") == Newton()
    assert solver_settings(newton, "btl") == Newton()
    assert solver_settings(adam, "judge_aware") == Adam()
    assert solver_settings(adam, "btl") == Adam.published(BTL)


def test_yaml_and_code_have_the_same_estimator_settings():
    localized = composed("convergence_mse").estimator
    assert solver_settings(localized, "judge_aware") == Localized()
    for name, expected in (("interior", Newton()), ("adam", Adam())):
        found = OmegaConf.to_container(composed("convergence_mse", f"estimator={name}").estimator)
        assert {key: found[key] for key in dataclasses.asdict(expected)} == dataclasses.asdict(expected)


def test_an_override_reaches_the_settings():
    cfg = composed("chatbot_arena", "solver=adam", "solver.max_iterations=3100")
    expected = dataclasses.replace(Adam(), max_iterations=3100)
    assert solver_settings(cfg.solver, "judge_aware") == expected


def test_an_unknown_solver_is_refused():
    cfg = composed("chatbot_arena", "solver.name=simplex")
    with pytest.raises(ConfigError, match="'simplex'"):
        solver_settings(cfg.solver, "judge_aware")


@pytest.mark.parametrize("name", PRIMARY)
def test_help_shows_every_setting_with_what_it_means(name):
    shown = explained(name)
    keys = [key for key in composed(name) if key not in ("hydra", "defaults")]
    groups = re.findall(r"^--- (\w+)=", shown, re.MULTILINE)
    told = {*groups, *re.findall(r"^(?:# )?(\w+):", shown, re.MULTILINE), *re.findall(r"@(\w+)", shown)}
    missing = [key for key in keys if key not in told]
    assert not missing
    assert all((ROOT / "conf" / group).is_dir() for group in groups)
