"""Sets on the Hugging Face hub: streamed once, kept as Arrow, mapped from then on; what is missing is named."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.reading import hub
from judgerank.reading.files import paths_of, place_of, plain, title_of
from judgerank.reading.read import read_judgments
from tests.forked import judgerank
from tests.real_data import votes, written

LOADED = """
import sys, time
from judgerank.reading import hub
import pandas
start = time.process_time()
rows = hub.load_rows(sys.argv[1], nested=False)
print(rows.num_rows, "datasets" in sys.modules, time.process_time() - start)
"""
FASTEST = 0.3  # seconds to load what was loaded before


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_DATASETS_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home/datasets/judgerank"


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "lmsys/votes", {"default": {"human": votes(300), "gpt4_pair": votes(40, 1)}})


def test_a_set_is_read_as_its_parquet_file_is(folder):
    found = read_judgments(f"hf:{folder}::human")
    (path,) = folder.glob("data/*human*.parquet")
    plainly = read_judgments(path)
    for name in ("first", "second", "judge", "outcome"):
        assert_array_equal(getattr(found.comparisons, name), getattr(plainly.comparisons, name))
    assert found.comparisons.judges == plainly.comparisons.judges
    assert found.name == "votes"
    told = {"set": "votes", "split": "human", "records": 300, "path": f"hf:{folder}::human"}
    assert told.items() <= found.source.items()
    assert "conversation_a" not in hub.load_rows(f"hf:{folder}::human", nested=False).schema.names


def test_the_second_time_needs_neither_the_package_nor_a_third_of_a_second(folder, cache):
    first, second = (
        subprocess.run(
            [sys.executable, "-c", LOADED, f"hf:{folder}::human"], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    )
    assert first[:2] == ["300", "True"]
    assert second[:2] == ["300", "False"]
    assert float(second[2]) < FASTEST
    assert len(list(cache.iterdir())) == 1


def test_the_rows_are_mapped_and_not_held(folder):
    import pyarrow

    hub.load_rows(f"hf:{folder}::human")
    held = pyarrow.total_allocated_bytes()
    rows = hub.load_rows(f"hf:{folder}::human")
    assert rows.nbytes > 10_000
    assert pyarrow.total_allocated_bytes() - held < rows.nbytes / 10


def test_only_the_columns_wanted_are_kept(folder):
    assert hub.load_rows(f"hf:{folder}::human", "winner", "judge").schema.names == ["winner", "judge"]
    assert "conversation_a" in hub.load_rows(f"hf:{folder}::human").schema.names
    with pytest.raises(DataError, match="human has no column 'verdict'"):
        hub.load_rows(f"hf:{folder}::human", "verdict")


def test_a_folder_that_changed_is_read_again(folder):
    before = hub.sha256(hub.load_rows(f"hf:{folder}::human"))
    (path,) = folder.glob("data/*human*.parquet")
    votes(310, 5).to_parquet(path)
    rows = hub.load_rows(f"hf:{folder}::human")
    assert rows.num_rows == 310
    assert hub.sha256(rows) != before


def test_a_kept_file_that_is_damaged_is_made_again(folder, cache):
    hub.load_rows(f"hf:{folder}::human")
    (kept,) = cache.iterdir()
    kept.write_bytes(kept.read_bytes()[:500])
    assert hub.load_rows(f"hf:{folder}::human").num_rows == 300


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("", r"votes has 2 splits \(human, gpt4_pair\): name one as hf:.*votes::human$"),
        ("::humans", r"votes has no split 'humans' \(there is: human, gpt4_pair\)"),
        ("::other/human", r"votes has no configuration 'other' \(there is: default\)"),
    ],
)
def test_one_of_several_splits_is_named(folder, part, sentence):
    with pytest.raises(ConfigError, match=sentence):
        hub.load_rows(f"hf:{folder}{part}")


def test_one_of_several_configurations_is_named(tmp_path):
    place = written(
        tmp_path / "two", {"june": {"train": votes(10)}, "july": {"train": votes(20), "test": votes(5)}}
    )
    assert hub.load_rows(f"hf:{place}::june").num_rows == 10
    assert hub.load_rows(f"hf:{place}::july/test").num_rows == 5
    with pytest.raises(ConfigError, match="has 2 configurations"):
        hub.load_rows(f"hf:{place}")


def test_classes_are_read_by_their_names(tmp_path):
    import datasets

    table = votes(30)
    kinds = datasets.Features(
        {"model_a": datasets.Value("string"), "winner": datasets.ClassLabel(names=["model_a", "model_b", "tie"])}
    )
    made = datasets.Dataset.from_pandas(table[["model_a", "winner"]], preserve_index=False)
    (tmp_path / "classes").mkdir()
    made.cast(kinds).to_parquet(tmp_path / "classes/train.parquet")
    assert hub.load_rows("hf:classes")["winner"].to_pylist() == table["winner"].tolist()


def test_json_is_downloaded_whole_since_its_types_are_not_declared(tmp_path):
    records = votes(30).drop(columns=["conversation_a", "conversation_b"]).to_dict("records")
    (tmp_path / "rows.json").write_text(json.dumps(records))
    assert hub.load_rows("rows.json", "winner").to_pandas()["winner"].tolist() == [
        one["winner"] for one in records
    ]


@pytest.fixture
def a_hub(folder, monkeypatch):
    """A hub that has the folder as lmsys/online, at one commit."""
    import datasets
    import requests

    names, builder = datasets.get_dataset_config_names, datasets.load_dataset_builder
    asked = []

    def served(name, config, revision):
        asked.append((name, config, revision))
        made = builder(str(folder), config)
        made.hash = "0123456789abcdef"
        return made

    monkeypatch.setattr(requests, "head", lambda *args, **kwargs: None)
    monkeypatch.setattr(datasets, "get_dataset_config_names", lambda name, revision: names(str(folder)))
    monkeypatch.setattr(datasets, "load_dataset_builder", served)
    return asked


def test_a_set_on_the_hub_is_asked_for_once_and_said_to_be_of_a_revision(a_hub):
    for _ in range(2):
        found = read_judgments("hf:lmsys/online::human")
    assert a_hub == [("lmsys/online", "default", None)]
    assert found.source["revision"] == "0123456789abcdef"
    assert found.source["path"] == "hf:lmsys/online::human"
    assert any("revision 0123456" in remark for remark in found.remarks)
    read_judgments("hf:lmsys/online@v2::human")
    assert a_hub[-1] == ("lmsys/online", "default", "v2")


def test_offline_a_sentence_says_what_is_missing(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    done = judgerank("rank", "hf:lmsys/nowhere", HF_ENDPOINT="http://127.0.0.1:9", anew=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "'lmsys/nowhere' has not been loaded before, and http://127.0.0.1:9 cannot be reached" in line
    assert "(hf:FOLDER)" in line


def test_offline_by_choice_is_told_likewise():
    done = judgerank("rank", "hf:lmsys/nowhere", HF_HUB_OFFLINE="1", anew=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "'lmsys/nowhere' has not been loaded before" in line


def test_without_the_package_a_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DataUnavailableError, match=r"requires the extra 'hub' .*datasets"):
        hub.load_rows("hf:lmsys/nowhere")


def test_a_set_is_ranked_by_name(folder, tmp_path):
    done = judgerank("rank", f"hf:{folder}::human", "-o", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    board = pd.read_csv(tmp_path / "out/leaderboard.csv")
    assert set(board["model"]) == set(votes(300)["model_a"])
    told = json.loads((tmp_path / "out/run.json").read_text())["source"]
    assert (told["set"], told["split"]) == ("votes", "human")
    refused = judgerank("rank", f"hf:{folder}::human", "-o", folder, cwd=tmp_path)
    assert refused.returncode == 1


def test_a_form_is_that_of_a_file(folder):
    with pytest.raises(ConfigError, match=r"\bform\b.*\bencoding\b"):
        read_judgments(f"hf:{folder}::human", "csv")


def test_names_are_those_of_the_hub(folder):
    (path,) = paths_of("hf:owner/name@v1::test")
    assert place_of([path]) == "hf:owner/name@v1::test"
    assert title_of([path]) == "name"
    assert plain([path]) == []
    assert plain(paths_of(f"hf:{folder}::human")) == [folder]
    assert hub.Address.of("hf:owner/name@refs/pr/1::a/b") == hub.Address("owner/name", "refs/pr/1", "a/b")


def test_sets_and_files_are_read_together(folder, tmp_path):
    other = tmp_path / "more.csv"
    votes(20, 7).drop(columns=["conversation_a", "conversation_b"]).to_csv(other, index=False)
    both = read_judgments([f"hf:{folder}::human", other])
    assert both.comparisons.n_comparisons == 320
    assert np.isin(["expert_0"], both.comparisons.judges).all()
