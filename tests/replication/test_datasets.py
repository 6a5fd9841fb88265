"""Loading: damage is named, checksums bind, downloads are verified, surrogates are faithful and reproducible."""

from __future__ import annotations

import hashlib
import http.server
import json
import re
import runpy
import threading

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from omegaconf import OmegaConf

from judgerank import fit
from judgerank.data.errors import DataError, DataUnavailableError
from replication import datasets, published, surrogates
from replication.config import both_fits, script_of
from replication.errors import ChecksumError
from replication.outputs import load_section_data, run_section
from replication.schemas.section import Dataset
from replication.surrogates import AT_ZERO_IN_HOUSE, STORED, printed_panel, surrogate_judgments
from tests.real_data import votes, written
from tests.replication.test_config import composed

GOOD = [
    {
        "question_id": question,
        "model_a": a,
        "model_b": b,
        "judge_model": judge,
        "judge_preferred_model": preferred,
        "judge_confidence": 0.9,
    }
    for question, a, b, judge, preferred in [
        ("q1", "x", "y", "j", "a"),
        (7, "y", "z", "j", "b"),
        (["file", 3], "z", "x", "k", "c"),
        ("q4", "x", "z", "k", "unknown"),
        ("q5", "x", "y", "k", None),
    ]
]


def record(**changes):
    return [GOOD[0], GOOD[1] | changes]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGERANK_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "ROOT", tmp_path / "project")
    return tmp_path


def dataset(content: bytes, url: str | None = None) -> Dataset:
    return Dataset("test", "Test", "test.json", url, hashlib.sha256(content).hexdigest(), 5)


def test_records_are_read_with_what_was_dropped(folder):
    content = json.dumps(GOOD).encode()
    (folder / "test.json").write_bytes(content)
    loaded = datasets.load_judgments(dataset(content))
    assert loaded.comparisons.models == ("x", "y", "z")
    assert loaded.comparisons.outcome.tolist() == [1.0, 0.0, 0.5]
    assert loaded.source["dropped"] == {"unknown": 1, "null": 1}
    row = loaded.judges.set_index("judge").loc["k"]
    assert (row["comparisons"], row["share_tie"], row["unparsed"]) == (1, 1.0, 2)


def test_questions_become_strings():
    frame = datasets.read_records(json.dumps(GOOD).encode())
    assert frame["question_id"].tolist() == ["q1", "7", "file/3", "q4", "q5"]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b'[{"question_id": 1,', "line 1 column"),
        (b"\xff\xfe", "not JSON"),
        (b"{}", "JSON list"),
        (b"[]", "empty"),
        (json.dumps([GOOD[0], 3]).encode(), "record 2"),
        (
            json.dumps([GOOD[0], {k: v for k, v in GOOD[1].items() if k != "judge_model"}]).encode(),
            "'judge_model'",
        ),
        (json.dumps(record(judge_preferred_model="d")).encode(), "record 2 has the unknown preference 'd'"),
        (json.dumps(record(judge_preferred_model=1)).encode(), "record 2 has 1 as 'judge_preferred_model'"),
        (json.dumps(record(model_a=None)).encode(), "record 2 has None as 'model_a'"),
        (json.dumps(record(judge_confidence="high")).encode(), "record 2 has 'high' as 'judge_confidence'"),
        (json.dumps(record(judge_confidence=10**400)).encode(), "record 2 has 1000"),
    ],
)
def test_damage_is_named_in_one_line_even_before_the_checksum(folder, content, names):
    (folder / "test.json").write_bytes(content)
    with pytest.raises(DataError) as error:
        datasets.load_judgments(dataset(b"something else"))
    assert names in str(error.value)
    assert str(error.value).startswith("test.json: ")
    assert "\n" not in str(error.value)
    for other in (content, b"something else"):  # found and wanted
        assert hashlib.sha256(other).hexdigest() in str(error.value)


def test_a_well_formed_file_with_another_checksum_is_refused(folder):
    (folder / "test.json").write_text(json.dumps(GOOD))
    with pytest.raises(ChecksumError, match=hashlib.sha256(b"another file").hexdigest()):
        datasets.load_judgments(dataset(b"another file"))


def test_other_line_ends_are_told_from_other_contents(folder):
    content = json.dumps(GOOD, indent=1).replace("\n", "\r\n").encode()
    (folder / "test.json").write_bytes(content.replace(b"\r\n", b"\n"))
    with pytest.raises(ChecksumError, match="line ends"):
        datasets.load_judgments(dataset(content))
    (folder / "test.json").write_bytes(content.replace(b'"x"', b'"w"'))
    with pytest.raises(ChecksumError) as error:
        datasets.load_judgments(dataset(content))
    assert "line ends" not in str(error.value)


def test_every_set_names_its_whole_commit_and_its_checksum():
    for name in ("in_house", "chatbot_arena", "mt_bench", "ultrafeedback"):
        chosen = composed("data_overview", f"dataset={name}").dataset
        assert re.search(r"/[0-9a-f]{40}/data/", chosen.url)
        assert re.fullmatch("[0-9a-f]{64}", chosen.sha256)
        assert not chosen.questions or re.fullmatch("[0-9a-f]{64}", chosen.questions_sha256)


def test_the_named_folder_comes_before_the_projects(folder):
    (folder / "project/data").mkdir(parents=True)
    (folder / "project/data/test.json").write_text("[]")
    assert datasets.find_file("test.json") == folder / "project/data/test.json"
    (folder / "test.json").write_text("[]")
    assert datasets.find_file("test.json") == folder / "test.json"


@pytest.fixture
def server(tmp_path):
    """A web server on loopback that offers the files of a folder."""
    (tmp_path / "web").mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=tmp_path / "web")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield tmp_path / "web", f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_absent_files_are_downloaded_once_into_the_projects_data(folder, server):
    web, address = server
    content = json.dumps(GOOD).encode()
    (web / "test.json").write_bytes(content)
    wanted = dataset(content, f"{address}/test.json")
    assert datasets.load_judgments(wanted).source["records"] == 5
    assert (folder / "project/data/test.json").read_bytes() == content
    (web / "test.json").unlink()
    assert datasets.load_judgments(wanted).source["records"] == 5


def test_a_download_with_another_checksum_is_refused_and_leaves_nothing(folder, server):
    web, address = server
    (web / "test.json").write_text(json.dumps(GOOD))
    with pytest.raises(ChecksumError, match=r"test\.json.*SHA-256"):
        datasets.load_judgments(dataset(b"another file", f"{address}/test.json"))
    assert not list((folder / "project/data").glob("*"))


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:9/test.json"])
def test_data_out_of_reach_are_reported_as_such(folder, url):
    with pytest.raises(DataUnavailableError, match=r"test\.json"):
        datasets.load_judgments(dataset(b"", url))


def test_the_git_blob_id_tells_the_published_file(folder, server):
    web, address = server
    content = json.dumps(GOOD).encode()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    (web / "test.json").write_bytes(content)
    known = Dataset("test", "Test", "test.json", f"{address}/test.json", None, 5, git_blob=blob)
    assert datasets.load_judgments(known).source["records"] == 5
    (folder / "project/data/test.json").unlink()
    other = Dataset("test", "Test", "test.json", f"{address}/test.json", None, 5, git_blob="0" * 40)
    with pytest.raises(ChecksumError, match=f"git blob id is {blob}"):
        datasets.load_judgments(other)
    assert not list((folder / "project/data").glob("*"))


def test_a_set_without_a_file_is_unavailable():
    with pytest.raises(DataUnavailableError, match="In-house"):
        datasets.load_judgments(Dataset("in_house", "In-house", None, None, None, 10))


QUESTIONS = ['{"question_id": "q1", "turns": ["ab", "c"]}', '{"question_id": 7, "turns": ["abcdefg"]}']


def with_questions(folder, *lines: str, sha256: str | None = None):
    content = json.dumps(GOOD).encode()
    (folder / "test.json").write_bytes(content)
    (folder / "questions.jsonl").write_text("\n".join(lines))
    wanted = dataset(content)
    wanted.questions, wanted.questions_sha256 = "questions.jsonl", sha256
    return datasets.load_judgments(wanted)


def test_questions_with_another_checksum_are_refused_by_name(folder):
    own = hashlib.sha256("\n".join(QUESTIONS).encode()).hexdigest()
    assert len(with_questions(folder, *QUESTIONS, sha256=own).lengths) == 2
    with pytest.raises(
        ChecksumError, match=rf"^questions\.jsonl: its SHA-256 is {own}, not the published 0{{64}}$"
    ):
        with_questions(folder, *QUESTIONS, sha256="0" * 64)


def test_lengths_are_standardised_over_the_comparisons_that_could_be_parsed(folder):
    loaded = with_questions(
        folder, *QUESTIONS, '{"question_id": ["file", 3], "turns": ["x" * 20]}'.replace('"x" * 20', '"xxxx"')
    )
    log_length = np.log1p([3.0, 7.0, 4.0])
    expected = (log_length - log_length.mean()) / log_length.std()
    assert np.allclose(loaded.with_lengths().covariate, expected)


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (QUESTIONS, "'file/3' is not known"),
        ([*QUESTIONS, '{"question_id": 3}'], "line 3"),
        ([*QUESTIONS, "{"], "line 3"),
    ],
)
def test_questions_that_are_missing_or_damaged_are_named(folder, lines, names):
    with pytest.raises(DataError, match=names):
        with_questions(folder, *lines).with_lengths()


def test_without_texts_there_are_no_lengths(folder):
    content = json.dumps(GOOD).encode()
    (folder / "test.json").write_bytes(content)
    with pytest.raises(DataUnavailableError, match=r"dataset\.questions=FILE"):
        datasets.load_judgments(dataset(content)).with_lengths()


def rating(value: str) -> dict:
    return {"Rating": value, "Rationale": "made up"}


def test_ratings_are_averaged_and_missing_ones_counted(folder, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(folder / "hub"))
    values = ["4", "N/A", "2"]
    rows = [
        {
            "source": "made up",
            "completions": [
                {"model": model, "annotations": {dimension: rating(value) for dimension in datasets.DIMENSIONS}}
                for model in ("x", "y")
            ],
        }
        for value in values
    ]
    (folder / "ratings.json").write_text(json.dumps(rows))
    table = datasets.ultrafeedback_ratings("ratings.json").set_index(["model", "dimension"])
    assert len(table) == 8
    assert table.loc[("x", "honesty")].to_dict() == {"rating": 3.0, "n": 2.0, "n_missing": 1.0}


def test_ratings_are_read_from_a_folder_laid_out_like_the_hub(folder, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(folder / "hub"))
    annotations = {dimension: rating("3") for dimension in datasets.DIMENSIONS}
    rows = pd.DataFrame({"completions": [[{"model": "x", "annotations": annotations}]] * 3})
    written(folder / "openbmb/UltraFeedback", {"default": {"train": rows}})
    table = datasets.ultrafeedback_ratings("openbmb/UltraFeedback")
    assert table["rating"].tolist() == [3.0] * 4
    assert table["n"].tolist() == [3] * 4
    assert table.attrs["source"] == "openbmb/UltraFeedback"


def votes_on(folder, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(folder / "hub"))
    splits = {"human": votes(400), "gpt4_pair": votes(30)}
    written(folder / "lmsys/mt_bench_human_judgments", {"default": splits})


def test_a_set_of_the_study_is_a_set_on_the_hub_with_its_columns_mapped(folder, monkeypatch):
    votes_on(folder, monkeypatch)
    chosen = composed("data_overview", "dataset=mt_bench_votes").dataset
    found = datasets.load_judgments(chosen)
    assert (found.name, found.title, found.comparisons.n_comparisons) == (chosen.name, chosen.title, 400)
    assert found.comparisons.judges == tuple(f"expert_{number}" for number in range(5))
    told = {"file": chosen.file, "set": "mt_bench_human_judgments", "split": "human", "records": 400}
    assert told.items() <= found.source.items()
    assert str(folder) not in json.dumps(found.source)


def test_the_columns_of_a_set_are_those_its_configuration_names(folder, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(folder / "hub"))
    table = votes(60).rename(columns={"judge": "who", "winner": "verdict"})
    written(folder / "owner/votes", {"default": {"train": table}})
    table.drop(columns=["conversation_a", "conversation_b"]).to_csv(folder / "votes.csv", index=False)
    columns = {"judge": "who", "winner": "verdict"}
    both = [
        datasets.load_judgments(Dataset("v", "V", name, None, None, 60, columns=columns))
        for name in ("hf:owner/votes", "votes.csv")
    ]
    for found in both:
        assert found.comparisons.judges == tuple(f"expert_{number}" for number in range(5))
    assert_array_equal(both[0].comparisons.outcome, both[1].comparisons.outcome)
    altered = Dataset("v", "V", "votes.csv", None, "0" * 64, 60, columns=columns)
    with pytest.raises(ChecksumError, match=r"votes.csv: its SHA-256 is .*, not the published 0000"):
        datasets.load_judgments(altered)


def test_offline_a_set_of_the_hub_is_named_with_the_folder_that_would_do(folder, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(folder / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    cfg = composed("data_overview", "dataset=arena_votes")
    with pytest.raises(DataUnavailableError) as raised:
        load_section_data(cfg)
    told = str(raised.value)
    assert told.startswith("Chatbot Arena, human votes: 'lmsys/chatbot_arena_conversations' ")
    assert told.endswith("data/lmsys/chatbot_arena_conversations")
    assert "\n" not in told


def test_what_a_section_stores_says_which_set_of_the_hub_it_is_of(folder, monkeypatch, tmp_path):
    votes_on(folder, monkeypatch)
    script = runpy.run_path(str(script_of("data_overview")))
    cfg = composed("data_overview", "dataset=mt_bench_votes", f"results={tmp_path}/r", f"figures={tmp_path}/f")
    run_section("data_overview", cfg, script["compute"], script["draw"])
    stored = tmp_path / "r/paper/data_overview/mt_bench_votes"
    told = json.loads((stored / "run.json").read_text())["data"]["mt_bench_votes"]
    assert (told["set"], told["split"], told["records"]) == ("mt_bench_human_judgments", "human", 400)
    assert pd.read_csv(stored / "size.csv")["judges"].item() == 5


def test_human_votes_stand_beside_the_judges(folder, monkeypatch):
    votes_on(folder, monkeypatch)
    script = runpy.run_path(str(script_of("benchmark_alignment")))
    cfg = composed("benchmark_alignment", "ratings=null", "+dataset@votes.mt_bench=mt_bench_votes")
    people = datasets.load_judgments(cfg.votes.mt_bench)
    fits = both_fits(cfg.solver, people.comparisons)
    table = script["votes_table"](fits["btl"], fits["btl"], people, cfg.level).frame
    assert (table["estimate_votes"] == table["score_judge_aware"]).all()
    assert table["rank_votes"].tolist() == [1, 2, 3, 4, 5, 6]
    assert table["model"][0] == "gpt-4"


def test_ratings_in_another_form_are_refused(folder, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(folder / "hub"))
    (folder / "ratings.json").write_text(json.dumps([{"completions": [{"model": "x"}]}]))
    with pytest.raises(DataError, match=r"'ratings\.json'.*UltraFeedback"):
        datasets.ultrafeedback_ratings("ratings.json")


# Stand-ins for data: the published size, parameters from where they are said to come, reproducible.


@pytest.mark.parametrize("name", ["chatbot_arena", "mt_bench", "ultrafeedback"])
def test_surrogates_have_the_published_size_and_the_stored_parameters(name):
    wanted = Dataset(name, name, "", None, None, 10_000)
    first, again = (surrogate_judgments(wanted, 2026) for _ in range(2))
    assert np.array_equal(first.comparisons.outcome, again.comparisons.outcome)
    other = surrogate_judgments(wanted, 2027)
    assert not np.array_equal(first.comparisons.outcome, other.comparisons.outcome)
    assert len(first.comparisons) == 10_000
    assert "surrogate" in first.title
    file = "chatbot_arena/ranking" if name == "chatbot_arena" else f"benchmark_alignment/{name}"
    truth = pd.read_csv(STORED / f"{file}.csv").set_index("model")["score_judge_aware"]
    # BTL's scale differs, the order of well separated models does not
    assert np.corrcoef(fit(first.comparisons, "btl").scores[truth.index], truth)[0, 1] > 0.97


def test_a_surrogate_without_a_stored_fit_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(surrogates, "STORED", tmp_path)
    with pytest.raises(DataUnavailableError, match="no surrogate of mt_bench"):
        surrogate_judgments(Dataset("mt_bench", "MT-Bench", "", None, None, 10), 1)


def test_a_surrogate_without_a_size_is_refused():
    with pytest.raises(DataUnavailableError, match="`records`"):
        surrogate_judgments(Dataset("mt_bench", "MT-Bench", "", None, None), 1)


@pytest.fixture(scope="module")
def in_house():
    return surrogate_judgments(OmegaConf.to_object(composed("complete_ranking").dataset), 2026)


def test_the_in_house_stand_in_has_the_published_size(in_house):
    c = in_house.comparisons
    assert (len(c.models), len(c.judges), len(c)) == (45, 18, 36_000)
    assert set(c.models) == set(published.table("complete_ranking").index)
    assert np.mean(c.outcome == 0.5) == pytest.approx(0.1, abs=0.005)
    assert in_house.frame["question_id"].nunique() == 2000
    assert in_house.is_surrogate
    assert "surrogate" in in_house.title


def test_its_pairs_and_its_order_of_presentation_are_random(in_house):
    c = in_house.comparisons
    assert np.mean(c.first < c.second) == pytest.approx(0.5, abs=0.01)
    counts = np.bincount(np.minimum(c.first, c.second) * 45 + np.maximum(c.first, c.second))
    counts = counts[counts > 0]
    assert len(counts) == 990
    assert counts.var() / counts.mean() == pytest.approx(1.0, abs=0.15)  # Poisson, nearly


def test_the_other_stand_ins_show_the_alphabetically_smaller_model_first():
    c = surrogate_judgments(OmegaConf.to_object(composed("complete_ranking", "dataset=mt_bench").dataset), 1)
    assert np.all(c.comparisons.first < c.comparisons.second)


def test_scores_and_discriminations_come_from_the_printed_tables():
    panel = printed_panel()
    printed = published.numbers("complete_ranking", "score_judge_aware")
    assert np.allclose(panel.scores, printed - printed.mean())
    pool = published.numbers("mixed_judges", "discrimination")
    elsewhere = published.numbers("judge_discrimination", "ultrafeedback")
    others = panel.discrimination.index.difference(pool.index).drop(AT_ZERO_IN_HOUSE)
    assert len(others) == 9
    assert np.ptp(np.log(panel.discrimination[pool.index] / pool)) < 1e-12
    assert np.ptp(np.log(panel.discrimination[others] / elsewhere[others])) < 1e-12
    assert panel.discrimination[AT_ZERO_IN_HOUSE] == 0.0
    above = panel.discrimination.drop(AT_ZERO_IN_HOUSE)
    assert np.log(above).mean() == pytest.approx(0.0, abs=1e-12)


def test_the_slopes_drawn_are_found_again(in_house):
    truth = in_house.truth.pivot(index="name", columns="parameter", values="value")["slope"].dropna()
    found = fit(in_house.with_lengths(), "length")
    rows = found.confidence_intervals().query("parameter == 'slope'").set_index("name").dropna()
    error = (rows["high"] - rows["estimate"]) / 1.96
    standardised = (rows["estimate"] - truth[rows.index]) / error
    assert len(rows) == 16
    assert standardised.abs().max() < 3.5
    assert np.count_nonzero(truth) == 6


def test_a_stand_in_is_the_same_each_time_and_another_for_another_seed(in_house):
    wanted = OmegaConf.to_object(composed("complete_ranking").dataset)
    again, other = surrogate_judgments(wanted, 2026), surrogate_judgments(wanted, 7)
    assert again.frame.equals(in_house.frame)
    assert not other.frame.equals(in_house.frame)


def test_lengths_do_not_change_what_is_asked_of_whom():
    wanted = OmegaConf.to_object(composed("complete_ranking", "dataset=mt_bench").dataset)
    longer = OmegaConf.to_object(
        composed("complete_ranking", "dataset=mt_bench", "dataset.stand_in.log_length_mean=7").dataset
    )
    one, other = (surrogate_judgments(dataset, 3) for dataset in (wanted, longer))
    assert np.array_equal(one.comparisons.first, other.comparisons.first)
    assert np.array_equal(one.comparisons.outcome, other.comparisons.outcome)
    assert other.lengths.median() > 3 * one.lengths.median()
