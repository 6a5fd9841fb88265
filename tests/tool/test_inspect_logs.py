"""Logs of inspect_ai as the package itself writes them, finished or not."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from judgerank import read
from judgerank.data.errors import DataError
from judgerank.reading.decompress import Archive, inflated
from tests.tool.make_inspect_logs import write
from tests.tool.test_layouts import inspect_log, rows

pytest.importorskip("zstandard")
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.eval"))
EXPECTED = [
    *[("mockllm/alpha", "mockllm/beta", "includes", won) for won in (0.5, 1.0, 1.0, 0.5)],
    *[("mockllm/alpha", "mockllm/beta", "match", won) for won in (0.5, 1.0, 1.0, 0.0)],
]


def members(path: Path) -> dict[str, bytes]:
    archive = Archive(path.read_bytes(), inflated)
    return {name: archive.read(name) for name in archive.names}


def stored(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def test_archives_of_the_package_are_read():
    assert {info.compress_type for path in SAMPLES for info in zipfile.ZipFile(path).infolist()} == {93}
    found = read(SAMPLES)
    assert sorted(rows(found)) == sorted(EXPECTED)
    assert not found.ordered
    assert set(found.frame["question_id"]) == {f"sums/{n}" for n in range(4)}


@pytest.mark.parametrize("form", ["eval", "json"])
def test_what_the_package_writes_now_is_read_to_the_same(form, tmp_path):
    pytest.importorskip("inspect_ai")
    assert sorted(rows(read(write(tmp_path, form)))) == sorted(EXPECTED)


def test_a_log_that_was_not_finished_is_read_and_told(tmp_path):
    there = members(SAMPLES[0])
    late = ("header.json", "summaries.json", "reductions.json", "samples/3_epoch_1.json")
    cut = {name: content for name, content in there.items() if name not in late}
    found = read([stored(tmp_path / "a.eval", cut), SAMPLES[1]])
    assert len(found.comparisons) == 6
    assert "a.eval: A run was not finished: what there is of its 3 samples is read." in found.remarks


def test_damage_is_told(tmp_path):
    content = bytearray(SAMPLES[0].read_bytes())
    info = zipfile.ZipFile(SAMPLES[0]).getinfo("samples/1_epoch_1.json")
    content[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 255
    (tmp_path / "x.eval").write_bytes(content)
    with pytest.raises(DataError, match=r"^x.eval: this is not (a log of inspect_ai, or it is damaged|zstd)"):
        read([tmp_path / "x.eval", SAMPLES[1]])


@pytest.mark.parametrize(
    ("value", "judges"),
    [
        ({"a": 1, "b": "C"}, ("match/a", "match/b")),
        ([0.2, 1], ("match/1", "match/2")),
        ({"a": 1, "said": "four"}, ("match/a",)),
        ("Yes", ("match",)),
    ],
)
def test_values_that_are_several_are_several_judges_and_text_is_none(value, judges, tmp_path):
    (tmp_path / "logs.json").write_text(json.dumps([inspect_log(name, {1: value, 2: value}) for name in "xy"]))
    assert read(tmp_path / "logs.json").comparisons.judges == judges


def test_samples_that_failed_or_are_invalid_or_have_no_number_are_not_read(tmp_path):
    one, other = (inspect_log(name, dict.fromkeys(range(4), "C")) for name in "xy")
    one["samples"][0] |= {"error": {"message": "no"}, "scores": None}
    one["samples"][1] |= {"invalidation": {"reason": "leaked"}}
    one["samples"][2]["scores"]["match"]["value"] = float("nan")
    (tmp_path / "logs.json").write_text(json.dumps([one, other]))
    found = read(tmp_path / "logs.json")
    assert len(found.comparisons) == 1
    assert found.comparisons.dropped["null"] == 3
