"""Configuration: everything composes, YAML and code agree, mistakes end in one sentence."""

import dataclasses
import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import studies.config  # noqa: F401 (schemas of the sections beyond the paper)
from judgerank.data.errors import ConfigError
from judgerank.engine.adam import Adam
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.engine.solvers import kind
from judgerank.model.members import BTL
from replication import published
from replication.auditing.reviewing import authors
from replication.config import CONF, ROOT, explained, is_default, simulation_settings, solver_settings
from replication.schemas.ranges import require_known_and_in_range
from tests.conftest import SLOW

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
    "packages",
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
        ("settings.n10_k5.n_comparisons=[5]", r"'n10_k5': budgets.*\b10 models"),
        ("settings.n10_k5.n_comparisons=[100,100]", r"'n10_k5': budgets.*\b10 models"),
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


# What carries the project on: one version, workflows that run what is there, quick tests of every part.


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
REPRODUCE = ROOT / ".github/workflows/reproduce.yml"  # every week: it takes an hour
RELEASE = ROOT / ".github/workflows/release.yml"  # which tags start, and nothing else does


def test_the_version_is_one():
    changes = re.findall(r"^## \[(\d[^]]*)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert PROJECT["version"] == changes[0] == CITATION["version"]
    assert changes == sorted(changes, reverse=True)
    for name in ("codemeta.json", ".zenodo.json"):
        assert json.loads((ROOT / name).read_text())["version"] == PROJECT["version"], name


def test_the_date_is_one():
    (released,) = re.findall(rf"^## \[{PROJECT['version']}\] - (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert released == CITATION["date-released"]
    assert released == json.loads((ROOT / "codemeta.json").read_text())["dateModified"]
    assert released == json.loads((ROOT / ".zenodo.json").read_text())["publication_date"]


def test_the_place_is_one():
    place = CITATION["repository-code"]
    assert f"\n      repository: {place}\n" in (ROOT / "mkdocs.yml").read_text()
    assert json.loads((ROOT / "codemeta.json").read_text())["codeRepository"] == place
    related = json.loads((ROOT / ".zenodo.json").read_text())["related_identifiers"]
    assert [one["identifier"] for one in related if one["relation"] == "isIdenticalTo"] == [place]


def test_the_authors_are_the_same_everywhere():
    names = [one["name"] for one in authors(CITATION)["authors"]]
    in_codemeta = json.loads((ROOT / "codemeta.json").read_text())["author"]
    in_zenodo = json.loads((ROOT / ".zenodo.json").read_text())["creators"]
    assert [one.get("name") or f"{one['givenName']} {one['familyName']}" for one in in_codemeta] == names
    assert [one["name"] for one in in_zenodo] == names
    assert all(name in (ROOT / "paper/paper.md").read_text() for name in names)


def test_title_licence_and_keywords_are_the_same_everywhere():
    codemeta, zenodo = (json.loads((ROOT / name).read_text()) for name in ("codemeta.json", ".zenodo.json"))
    assert CITATION["title"] == zenodo["title"]
    assert CITATION["title"].partition(":")[0] == codemeta["name"] == PROJECT["name"]
    assert codemeta["description"] == PROJECT["description"]
    assert CITATION["license"] == zenodo["license"] == PROJECT["license"]
    assert codemeta["license"].endswith(f"/{PROJECT['license']}")
    assert CITATION["keywords"] == codemeta["keywords"] == zenodo["keywords"] == PROJECT["keywords"]


def test_what_an_index_shows_is_known_to_it_and_true():
    classifiers, place = PROJECT["classifiers"], CITATION["repository-code"]
    versions = [name.rpartition(" ")[2] for name in classifiers if re.search(r":: 3\.\d+$", name)]
    assert versions == PYTHONS
    assert ("Framework :: Pytest" in classifiers) == ("pytest11" in PROJECT["entry-points"])
    assert ("Typing :: Typed" in classifiers) == (ROOT / "src/judgerank/py.typed").is_file()
    assert PROJECT["urls"]["Paper"] == published.ADDRESS
    for address in {*PROJECT["urls"].values()} - {published.ADDRESS}:
        assert address.partition(place)[0] == "", address
        path = re.sub(r"^/(?:tree|blob)/main/", "", address.removeprefix(place))
        assert path in ("", "/issues") or (ROOT / path).exists(), address
    assert set(classifiers) <= pytest.importorskip("trove_classifiers").classifiers


def test_a_release_is_of_the_version_and_the_place_that_the_citation_names():
    text = RELEASE.read_text()
    told = (ROOT / "CITATION.cff").read_text()
    asked = dict(re.findall(r"grep -qxF? \"(\S+): (.*)\" CITATION.cff", text))
    assert asked.keys() == {"version", "repository-code"}
    # as grep is given them: the whole line
    assert re.search(rf"^version: {re.escape(PROJECT['version'])}$", told, re.MULTILINE)
    assert f'\nrepository-code: "{CITATION["repository-code"]}"\n' in told


def test_the_paper_is_one():
    paper = CITATION["preferred-citation"]
    other = json.loads((ROOT / "codemeta.json").read_text())["referencePublication"]
    assert (paper["title"], paper["url"]) == (other["name"], other["@id"])
    assert (paper["collection-title"], str(paper["volume"])) == (
        other["isPartOf"]["name"],
        other["isPartOf"]["volumeNumber"],
    )
    assert (str(paper["start"]), str(paper["end"])) == (other["pageStart"], other["pageEnd"])
    assert paper["date-published"] == other["datePublished"]
    assert paper["url"] == published.ADDRESS
    related = json.loads((ROOT / ".zenodo.json").read_text())["related_identifiers"]
    assert {paper["url"], paper["repository-code"]} <= {entry["identifier"] for entry in related}
    entry = re.search(r"@inproceedings\{xu2026,.*?\n\}\n", (ROOT / "paper/paper.bib").read_text(), re.DOTALL)[0]
    for value in (paper["title"], paper["collection-title"], paper["url"], f"{paper['start']}--{paper['end']}"):
        assert f"{{{value}}}" in entry
    assert f"volume    = {{{paper['volume']}}}" in entry
    names = [(author["given-names"], author["family-names"]) for author in paper["authors"]]
    assert names == [(author["givenName"], author["familyName"]) for author in other["author"]]
    assert paper in CITATION["references"]


@pytest.mark.parametrize("page", ["README.md", "docs/paper/index.md"])
def test_pages_about_the_paper_cite_the_proceedings_the_preprint_and_what_the_authors_published(page):
    paper, text = CITATION["preferred-citation"], (ROOT / page).read_text()
    assert f"[PMLR {paper['volume']}:{paper['start']}-{paper['end']}]({paper['url']})" in text
    addresses = {identifier["description"]: identifier["value"] for identifier in paper["identifiers"]}
    assert addresses["The authors' leaderboard"] in text
    assert paper["repository-code"] in text
    (preprint,) = (value for value in addresses.values() if value.startswith("arXiv:"))
    assert f"[{preprint}](https://arxiv.org/abs/{preprint.removeprefix('arXiv:')})" in text


@pytest.mark.parametrize("page", ["paper/letter.md", "paper/paper.md"])
def test_files_that_the_letter_and_the_article_name_exist(page):
    named = set(re.findall(r"`((?:results|figures|src|docs)/[\w./]+)`", (ROOT / page).read_text()))
    assert all((ROOT / name).is_file() for name in named)
    assert len(named) > 10 or page != "paper/letter.md"


@pytest.mark.parametrize("dataset", ["chatbot_arena", "in_house", "mt_bench", "ultrafeedback"])
def test_the_data_come_from_the_repository_that_is_cited(dataset):
    address = yaml.safe_load((ROOT / f"conf/dataset/{dataset}.yaml").read_text())["url"]
    place = CITATION["preferred-citation"]["repository-code"].removeprefix("https://github.com/")
    assert re.fullmatch(rf"https://raw.githubusercontent.com/{place}/[0-9a-f]{{40}}/data/\S+", address)


def is_target(name: str) -> bool:
    return bool(re.search(rf"^(?:[\w -]+ )?{name}(?![\w-]).*:", MAKEFILE, re.MULTILINE))


def made_by(job: dict) -> list[str]:
    return [name for step in job["steps"] for name in re.findall(r"^make ([\w-]+)", step.get("run", ""))]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_whole_and_their_actions_are_pinned(path):
    workflow = yaml.safe_load(path.read_text())
    events = workflow[True]  # `on` is true
    if path == RELEASE:
        assert events == {"push": {"tags": ["v*"]}}
    elif path == REPRODUCE:
        assert events.keys() == {"schedule", "workflow_dispatch"}
    else:
        assert {"push", "pull_request"} <= events.keys() <= {"push", "pull_request", "schedule"}
        assert events["push"] == {"branches": ["main"]}
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert used
        assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)


def test_stored_is_computed_is_looked_at_on_every_push_every_week_and_before_a_release():
    lines = (ROOT / ".ci/run").read_text().splitlines()
    commands = [line.split(maxsplit=2)[1:] for line in lines if line.startswith("make ")]
    assert ["verify", "ARGS=only=stale"] in commands
    assert ["verify_beyond", 'ARGS="only=stale at_most=30"'] in commands
    (weekly,) = yaml.safe_load(REPRODUCE.read_text())["jobs"].values()
    assert "make reproduce beyond && git diff --exit-code" in [step.get("run") for step in weekly["steps"]]
    build = yaml.safe_load(RELEASE.read_text())["jobs"]["build"]["steps"]
    steps = [step.get("run", "").partition("#")[0].strip() for step in build]
    assert steps.index("make stale ARGS=fail=true") < steps.index("make test-all")


# the whole suite where the lock file holds, the library at its bounds on the oldest and the newest
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PATCHES = [patch for python in PYTHONS for patch in (f"{python}.0", python)]  # the first and the last of each
TRIED = {"tests": PYTHONS[:3], "wheel": PATCHES, "versions": [PYTHONS[0], PYTHONS[-1]]}


def test_tests_and_wheel_run_on_every_python_that_is_promised():
    (oldest,) = re.findall(r">=(3\.\d+)$", PROJECT["requires-python"])
    assert oldest == PYTHONS[0]
    for name, expected in TRIED.items():
        (job,) = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())["jobs"].values()
        assert job["strategy"]["matrix"]["python"] == expected
    assert made_by(yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())["jobs"]["test"]) == [
        "test-all"
    ]


def test_the_script_of_ci_draws_pages_on_the_first_and_the_last_patch_of_each_python_there(tmp_path):
    """Five of them, as programs that say which they are; one of the five is too old."""
    patches = {
        "python3": "8 1",
        "python3.11": "11 2",
        "python3.12": "12 9",
        "python3.13": "13 0",
        "python3.14": "",
    }
    for name, version in patches.items():
        said = f"echo {version} {name}" if version else "exit 1"
        (tmp_path / name).write_text(f"#!/bin/sh\n{said}\n")
    for minor, patch in ((12, 10), (12, 1), (12, 4)):
        installed = tmp_path / f".pyenv/versions/3.{minor}.{patch}/bin/python3"
        installed.parent.mkdir(parents=True)
        installed.write_text(f"#!/bin/sh\necho {minor} {patch} 3.{minor}.{patch}\n")
    for program in [*tmp_path.glob("python*"), *tmp_path.rglob("bin/python3")]:
        program.chmod(0o755)
    script = (ROOT / ".ci/run").read_text().replace("/usr/bin/", f"{tmp_path}/")
    lines = re.search(r"^pythons=\$\(.*?^newest=.*?$", script, re.MULTILINE | re.DOTALL)[0]
    where = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    program = ["bash", "-c", f'set -euo pipefail\n{lines}\necho "$pythons"; echo "$newest"']
    done = subprocess.run(program, env=where, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["python3.11", "3.12.1", "3.12.10", "python3.13", "python3.13"]
    assert 'make newest PYTHON="$python" ARGS="-k ranked_in_every_form"' in script


def test_hooks_are_pinned_and_lint_as_make_test_does():
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    hooks = {hook["id"] for repo in repos for hook in repo["hooks"]}
    assert hooks == {"ruff-check", "ruff-format", "end-of-file-fixer", "check-added-large-files"}
    (ruff,) = (repo["rev"] for repo in repos if "ruff" in repo["repo"])
    assert f"\nruff=={ruff.removeprefix('v')} " in (ROOT / "requirements.lock").read_text()


def test_the_container_is_built_by_the_makefile():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert "RUN make environment" in lines
    assert 'CMD ["make", "smoke"]' in lines
    left_out = (ROOT / ".dockerignore").read_text().splitlines()
    needed = ("src", "conf", "experiments", "results", "figures", "README.md", "requirements.lock", "Makefile")
    assert not set(needed) & set(left_out)


def test_the_devcontainer_and_binder_install_from_the_lock_files():
    told = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    build = told["build"]
    assert (ROOT / ".devcontainer" / build["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert re.search(rf" AS {build['target']}$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert is_target(told["postCreateCommand"].removeprefix("make "))
    script = ROOT / ".binder/postBuild"
    assert script.stat().st_mode & 0o111
    (locked,) = re.findall(r"--require-hashes -r (\S+)", script.read_text())
    assert (ROOT / locked).is_file()
    (oldest,) = re.findall(r">=(3\.\d+)$", PROJECT["requires-python"])
    assert (ROOT / ".binder/runtime.txt").read_text().strip() == f"python-{oldest}"


def test_make_test_has_tests_of_every_folder_of_the_library_of_the_paper_and_of_the_studies():
    files = {path.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert files >= SLOW
    assert {Path(name).parts[0] for name in files - SLOW} >= {"library", "tool", "replication", "studies"}
    text = "".join((ROOT / "tests" / name).read_text() for name in files - SLOW)
    modules = {path.relative_to(ROOT / "src") for path in (ROOT / "src/judgerank").rglob("*.py")}
    folders = {".".join(path.parent.parts) for path in modules}
    assert {folder for folder in folders if not re.search(rf"\b{re.escape(folder)}\b", text)} == set()
    assert {"replication/test_golden.py", "replication/test_docs.py", "tool/test_first_steps.py"} <= files - SLOW


def test_notes_for_contributors_name_targets_that_exist():
    notes = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"(?:^|`)make ([\w-]+)", notes, re.MULTILINE)
    assert len(named) > 8
    assert all(map(is_target, named))
    for path in re.findall(r"`((?:src|conf|experiments|tests|results|figures|docs)/[\w./]+)`", notes):
        assert (ROOT / path).exists(), path
    inside = re.findall(r"`([A-Z_]+)` in\s+`([\w./]+)`", notes)
    assert inside
    for name, path in inside:
        assert re.search(rf"^{name}\b", (ROOT / path).read_text(), re.MULTILINE), name
