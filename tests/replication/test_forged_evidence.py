"""Twenty faults seeded in copies of what is stored: pictures, records, tables, settings, words, printed numbers.

Faults in the numbers of recomputed tables and in the code are in test_verify.py, those in marked numbers, legends
and verdicts in test_seeded_faults.py. Unnoticed is a processor's name whose record has its digest forged too: no
computation says which machine a run was on.
"""

import json
import re
import runpy
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from matplotlib import image
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from omegaconf import OmegaConf

from judgerank.data.errors import DataUnavailableError
from judgerank.plots.looks import in_style
from judgerank.writing.sidecars import digest
from replication import verification
from replication.auditing import words
from replication.auditing.results import Results
from replication.auditing.stored_checks import ORDERS, PRINTED, require_as_recorded, require_no_fall
from replication.config import CONF, ROOT, script_of
from replication.differences import unlike_figures
from replication.errors import NotAsStoredError
from replication.freshness import SIDECAR
from replication.machine import commit
from replication.plots.drawn import figure_record
from replication.plots.labels import save_figures
from replication.records import RECORD, Cost, provenance, record_digest, unlike_code, unlike_cost, unlike_record
from tests.real_data import needs_data

STORED = ROOT / "results/paper/chatbot_arena"
TABLES = {path.stem: pd.read_csv(path) for path in STORED.glob("*.csv")}
DRAW = runpy.run_path(str(script_of("chatbot_arena")))["draw"]
GIT = commit(ROOT)["commit"]
NEEDS_HISTORY = pytest.mark.skipif(GIT is None, reason="the project has no history here")


@pytest.fixture(scope="module", autouse=True)
def configured():
    with initialize_config_dir(CONF, version_base="1.3"):
        yield


def relisted(folder: Path, sidecar: str, **changed: object) -> None:
    """Redo the digests in a sidecar, its own among them, as a forger would."""
    record = json.loads((folder / sidecar).read_text()) | changed
    record["files"] = {path.name: digest(path) for path in folder.iterdir() if path.name != sidecar}
    if sidecar == RECORD:
        record["digest"] = record_digest(record)
    (folder / sidecar).write_text(json.dumps(record))


# pictures


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A folder of pictures as this code draws and records them."""
    folder = tmp_path_factory.mktemp("drawn")
    with in_style():
        figures = DRAW(TABLES, "")
        save_figures(figures, folder)
    (folder / SIDECAR).write_text(json.dumps({"section": "chatbot_arena", **figure_record(figures)}))
    relisted(folder, SIDECAR)
    return folder


Box = tuple[slice, slice]


def boxes(figure: Figure, *extents: Bbox) -> list[Box]:
    """Rows and columns of parts of a picture, all as large as the largest, flush left."""
    height, width = (int(np.ceil(max(getattr(one, side) for one in extents))) + 2 for side in ("height", "width"))
    top = figure.bbox.height
    starts = [(int(top - one.y1) - 1, int(one.x0) - 1) for one in extents]
    return [(slice(y, y + height), slice(x, x + width)) for y, x in starts]


def swapped(picture: np.ndarray, one: Box, other: Box) -> None:
    picture[one], picture[other] = picture[other].copy(), picture[one].copy()


def names_swapped(picture: np.ndarray, figure: Figure) -> None:
    swapped(
        picture, *boxes(figure, *(label.get_window_extent() for label in figure.axes[0].get_yticklabels()[:2]))
    )


def labels_swapped(picture: np.ndarray, figure: Figure) -> None:
    swapped(
        picture, *boxes(figure, *(label.get_window_extent() for label in figure.axes[0].get_legend().get_texts()))
    )


def interval_moved(picture: np.ndarray, figure: Figure) -> None:
    """The first interval, half a unit to the left."""
    axes, first = figure.axes[0], TABLES["ranking"].iloc[0]
    height = axes.collections[0].get_segments()[0][0, 1]
    ends = axes.transData.transform([(first["low_judge_aware"], height), (first["high_judge_aware"], height)])
    (start, stop), step = ends[:, 0], np.diff(axes.transData.transform([(0, 0), (0.5, 0)])[:, 0])[0]
    (box,) = boxes(figure, Bbox([[start - 4, ends[0, 1] - 6], [stop + 4, ends[0, 1] + 6]]))
    moved = box[0], slice(box[1].start - int(step), box[1].stop - int(step))
    content = picture[box].copy()
    picture[box] = 1
    picture[moved] = content


def blot(picture: np.ndarray, _: Figure) -> None:
    side = int(np.sqrt(0.0018 * picture.shape[0] * picture.shape[1]))
    picture[600 : 600 + side, 400 : 400 + side, :3] = 0.2


SMALL = 0.004  # of the pixels: faults that a limit on their share would have to let pass


@pytest.mark.parametrize("fault", [names_swapped, labels_swapped, interval_moved, blot])
def test_a_picture_retouched_is_noticed_by_its_pixels(fault, drawn, tmp_path):
    shutil.copytree(drawn, tmp_path / "copy")
    path = tmp_path / "copy/leaderboard.png"
    before = image.imread(path)
    with in_style():
        assert unlike_figures("chatbot_arena", DRAW(TABLES, ""), TABLES, path.parent) == []
        figure = DRAW(TABLES, "")["leaderboard"]
        figure.set_dpi(200)
        figure.draw_without_rendering()
        picture = before.copy()
        fault(picture, figure)
        assert 0.0005 < (np.abs(picture - before).max(axis=2) > 0.1).mean() < SMALL
        image.imsave(path, picture)
        relisted(path.parent, SIDECAR)
        (found,) = unlike_figures("chatbot_arena", DRAW(TABLES, ""), TABLES, path.parent)
    assert found.column == "leaderboard.png"
    assert re.match(r"[1-9][\d,]* pixels\b", found.stored)


def test_another_figure_in_the_place_of_one_is_noticed(drawn, tmp_path):
    shutil.copytree(drawn, tmp_path / "copy")
    shutil.copy(drawn / "human_agreement.png", tmp_path / "copy/leaderboard.png")
    relisted(tmp_path / "copy", SIDECAR)
    with in_style():
        (found,) = unlike_figures("chatbot_arena", DRAW(TABLES, ""), TABLES, tmp_path / "copy")
    assert (found.column, found.stored) == ("leaderboard.png", "1350 by 620 pixels for 1012 by 900")


def renamed(figure: Figure) -> None:
    (axes,) = figure.axes
    ticks = [label.get_text() for label in axes.get_yticklabels()]
    axes.set_yticks(axes.get_yticks(), [ticks[1], ticks[0], *ticks[2:]])


def relabelled(figure: Figure) -> None:
    first, second = figure.axes[0].get_legend().get_texts()
    one, other = first.get_text(), second.get_text()
    first.set_text(other)
    second.set_text(one)


def moved_point(figure: Figure) -> None:
    line = next(line for line in figure.axes[0].lines if len(line.get_xdata()) == len(TABLES["ranking"]))
    line.set_xdata([line.get_xdata()[0] - 0.01, *line.get_xdata()[1:]])


def further_points(figure: Figure) -> None:
    figure.axes[0].plot([0.3], [0.1], "s")


@pytest.mark.parametrize("fault", [renamed, relabelled, moved_point, further_points])
def test_code_that_draws_otherwise_is_noticed_whatever_draws_the_pixels(fault, drawn, tmp_path):
    shutil.copytree(drawn, tmp_path / "copy")
    sidecar = tmp_path / "copy" / SIDECAR
    record = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps(record | {"drawn_by": {"matplotlib": "3.10.8", "freetype": "2.6.1"}}))
    with in_style():
        assert unlike_figures("chatbot_arena", DRAW(TABLES, ""), TABLES, sidecar.parent) == []
        figures = DRAW(TABLES, "")
        fault(figures["leaderboard"])
        found = unlike_figures("chatbot_arena", figures, TABLES, sidecar.parent)
    assert found
    assert all(difference.row == "leaderboard" for difference in found)


# records of runs


@pytest.fixture
def section(tmp_path):
    """A copy of a section's stored tables with a record as this code writes it."""
    shutil.copytree(STORED, tmp_path / "chatbot_arena")
    record = provenance("chatbot_arena", compose("chatbot_arena"), {}, "")
    machine = {"commit": GIT, "clean": False, "cpu": "any", "seconds": 0.4, "processor_seconds": 1.4}
    machine |= {"peak_memory_mb": 200.0}
    data = json.loads((STORED / RECORD).read_text())["data"]
    relisted(
        tmp_path / "chatbot_arena",
        RECORD,
        **record | {"data": data, "machine": machine},
    )
    return tmp_path / "chatbot_arena"


def machine_of(section: Path, **changed: object) -> dict:
    record = json.loads((section / RECORD).read_text())
    return record | {"machine": record["machine"] | changed}


def resealed(record: dict) -> dict:
    return record | {"digest": record_digest(record)}


@pytest.mark.parametrize(
    "fault", [{"cpu": "abacus"}, {"seconds": 0.01}, {"peak_memory_mb": 20.0}, {"commit": "0" * 40}]
)
def test_an_edited_record_is_noticed_by_its_digest_and_refused_by_the_audit(fault, section):
    assert list(unlike_record(machine_of(section), ROOT)) == []
    require_as_recorded(section.parent)
    forged = machine_of(section, **fault)
    assert "digest" in [difference.column for difference in unlike_record(forged, ROOT)]
    (section / RECORD).write_text(json.dumps(forged))
    with pytest.raises(NotAsStoredError, match="chatbot_arena: digest is"):
        require_as_recorded(section.parent)


@NEEDS_HISTORY
@pytest.mark.parametrize("name", ["0" * 40, "--all", "f" * 40, "HEAD"])
def test_a_commit_that_the_history_does_not_have_is_noticed_though_the_digest_was_redone(name, section):
    (found,) = unlike_record(resealed(machine_of(section, commit=name)), ROOT)
    assert (found.column, found.stored) == ("machine.commit", name)


@NEEDS_HISTORY
def test_a_commit_of_other_code_is_noticed(section):
    record = machine_of(section, clean=True)
    code = record["made_by"]["code"]
    other = record | {"made_by": record["made_by"] | {"code": "0" * 16}}
    (found,) = unlike_code(other, ROOT, [], code)
    assert (found.column, found.stored) == ("made_by.code", "0" * 16)


def test_memory_that_an_earlier_section_took_is_not_asked_of_a_later_one(monkeypatch):
    """The peak of a process never falls: one section after another had to have taken ever more."""
    peaks = iter([180.0, 900.0])
    monkeypatch.setattr(verification, "peak_memory_mb", lambda: next(peaks))
    verification._memory_at_first.cache_clear()
    composed = OmegaConf.create({})
    script = {"compute": lambda *_: {}}
    monkeypatch.setattr(verification, "load_section_data", lambda _: ({}, None))
    costs = [verification.recomputed(composed, composed, script)[2] for _ in range(2)]
    verification._memory_at_first.cache_clear()
    assert [cost.start_memory_mb for cost in costs] == [180.0, 180.0]


COST = Cost(seconds=60.0, processor_seconds=110.0, start_memory_mb=180.0)


@pytest.mark.parametrize(
    ("fault", "noticed"),
    [
        ({"seconds": 5.0}, True),
        ({"processor_seconds": 10.0}, True),
        ({"peak_memory_mb": 20.0}, True),
        (
            {"seconds": 7.0, "processor_seconds": 12.0, "peak_memory_mb": 100.0},
            False,
        ),  # a machine nine times as fast
        ({"seconds": 900.0, "processor_seconds": 900.0, "peak_memory_mb": 9000.0}, False),
    ],
)
def test_times_and_memory_that_no_run_can_have_taken_are_noticed(fault, noticed, section):
    usual = {"seconds": 61.0, "processor_seconds": 109.0, "peak_memory_mb": 210.0}
    found = [difference.column for difference in unlike_cost(machine_of(section, **usual | fault), COST)]
    assert found == ([f"machine.{name}" for name in fault] if noticed else [])


# tables, settings, data


def forged_table(section: Path) -> None:
    path = section / "ranking.csv"
    path.write_text(path.read_text().replace("0.7283", "0.7284", 1))


def missing_table(section: Path) -> None:
    (section / "fits.csv").unlink()


def other_level(section: Path) -> None:
    config = json.loads((section / RECORD).read_text())["config"]
    relisted(section, RECORD, config=config | {"level": 0.9})


@pytest.mark.parametrize("fault", [forged_table, missing_table, other_level])
def test_a_forged_or_missing_table_and_another_setting_are_refused_by_the_audit(fault, section):
    require_as_recorded(section.parent)
    fault(section)
    with pytest.raises(NotAsStoredError, match="chatbot_arena: "):
        require_as_recorded(section.parent)


def test_fewer_replications_in_the_configuration_are_refused_by_the_audit(section, monkeypatch):
    composed = compose("chatbot_arena", ["level=0.94"])
    monkeypatch.setattr("replication.auditing.stored_checks.composed", lambda *_: composed)
    with pytest.raises(NotAsStoredError, match=r"config\.level is 0\.95, and should be 0\.94"):
        require_as_recorded(section.parent)


def verified(section: Path, *overrides: str) -> verification.Verification:
    results = section.parents[1]
    shutil.copytree(ROOT / "figures/paper/chatbot_arena", results.parent / "figures/paper/chatbot_arena")
    cfg = compose("verify", [f"results={results}", f"figures={results.parent / 'figures'}", *overrides])
    return verification.verified(cfg, "chatbot_arena", [], np.random.default_rng(1))


def moved(section: Path) -> Path:
    target = section.parent / "results/paper/chatbot_arena"
    target.parent.mkdir(parents=True)
    return Path(shutil.move(section, target))


def test_a_missing_section_is_noticed(tmp_path):
    (found,) = verified(tmp_path / "results/paper/chatbot_arena").differences
    assert (found.column, found.stored) == (RECORD, "missing")


@needs_data
def test_other_data_in_the_record_are_noticed(section):
    data = json.loads((section / RECORD).read_text())["data"]
    data["chatbot_arena"]["sha256"] = "0" * 64
    relisted(section, RECORD, data=data)
    found = [difference.column for difference in verified(moved(section)).differences]
    assert "data.chatbot_arena.sha256" in found


def test_without_data_one_sentence_says_what_is_wanted(section, tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGERANK_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr("replication.datasets.find_source", lambda _: None)
    monkeypatch.setattr("replication.datasets._download", _offline)
    target = moved(section)
    result = verified(target)
    assert result.unavailable == "judgments.json is not on disk and cannot be fetched (ConnectionError)"
    assert not result.is_full


def _offline(_: object) -> Path:
    raise DataUnavailableError("judgments.json is not on disk and cannot be fetched (ConnectionError)")


# words and printed numbers


def test_the_words_were_read_beside_the_results():
    assert words.unread() == [], words.AGAIN


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("README.md", "**The rankings hold.**", "**The rankings do not hold.**"),
        ("README.md", "They agree on MT-Bench", "They differ on MT-Bench"),
        ("src/replication/auditing/causes.csv", "the rank by the fit", "the rank by no fit"),
        ("src/replication/auditing/figures.csv", "both axes logarithmic", "both axes linear"),
        ("src/replication/auditing/findings.py", "Once ties", "Before ties"),
        ("paper/paper.md.j2", " the ", " no "),
    ],
)
def test_an_altered_word_is_noticed(file, old, new, tmp_path, monkeypatch):
    for name in ("README.md", "paper", "src/replication/auditing"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(words, "ROOT", tmp_path)
    monkeypatch.setattr(words, "HERE", tmp_path / "src/replication/auditing")
    before = words.digests_now()
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1))
    changed = [name for name, now in words.digests_now().items() if before[name] != now]
    assert [name.partition(":")[0] for name in changed] == [file.removeprefix("src/replication/auditing/")]


def installed_size(lock: str) -> float:
    """Megabytes on disk of the packages of a lock file, as they are installed."""
    total = 0
    for name in set(re.findall(r"^([\w.-]+)==", (ROOT / lock).read_text(), re.MULTILINE)):
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:  # of another system
            continue
        paths = (Path(str(file.locate())) for file in files)
        total += sum(512 * path.stat().st_blocks for path in paths if path.is_file())
    return total / 1e6


@pytest.mark.parametrize(
    ("lock", "pattern"),
    [
        ("requirements-study.lock", r"installs what the paper needs \((\d+) MB\)"),
        ("requirements-test.lock", r"installs what most tests need \((\d+) MB\)"),
        ("requirements.lock", r"installs everything \(([\d.]+) GB\)"),
    ],
)
def test_the_sizes_in_the_readme_are_those_of_what_is_installed(lock, pattern):
    (shown,) = re.findall(pattern, (ROOT / "README.md").read_text())
    megabytes = float(shown) * (1000 if "." in shown else 1)
    assert megabytes == pytest.approx(installed_size(lock), rel=0.1)


@pytest.mark.parametrize("table", ORDERS)
def test_another_printed_number_is_refused_though_its_digest_was_redone(table, tmp_path):
    audit = Results(ROOT / "results").audit
    frames = {name: pd.read_csv(audit / name, keep_default_na=False) for name in ORDERS}
    for name, frame in frames.items():
        frame.to_csv(tmp_path / name, index=False)
    forged = frames[table].copy()
    forged.loc[40, PRINTED[table]] = "-1.119"
    with pytest.raises(NotAsStoredError, match=r"was printed as .* and is now '-1\.119'"):
        require_no_fall(tmp_path, *(frames | {table: forged}).values())
