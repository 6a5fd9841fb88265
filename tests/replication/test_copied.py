"""Copied numbers: each against its source, sizes against names, and what the sizes count."""

import numpy as np
import pandas as pd
import pytest

from experiments.convergence_mse import SETTING
from replication import published
from replication.auditing import registry as module
from replication.auditing.audit import Verdict, audit, judged
from replication.auditing.claim import check_finding
from replication.auditing.findings import (
    PRINTED_NORM,
    copied_otherwise,
    mixed_sizes,
    settings_of_the_code,
    sources,
)
from replication.auditing.registry import Agreement, Copied, agreement, copied, registry
from replication.auditing.results import Missing, Results
from replication.config import ROOT
from replication.judge_models import Counted, NamedSize, all_parameters, billions, printed_sizes, size_in_name

STORED = Results(ROOT / "results")
READ = {"in full", "excerpt", "transcript", "third party", "not found"}
ENTRIES = registry().query("kind == 'cited'").to_dict("records")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Qwen/Qwen3-235B-A22B-Instruct-2507-tput", NamedSize(235, Counted.ALL)),
        ("openai/gpt-oss-120b", NamedSize(120, Counted.ALL)),
        ("arize-ai/qwen-2-1.5b-instruct", NamedSize(1.5, Counted.ALL)),
        ("Qwen/Qwen2.5-7B-Instruct-Turbo", NamedSize(7, Counted.ALL)),
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", NamedSize(17, Counted.ACTIVE)),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", NamedSize(56, Counted.EXPERTS)),
        ("google/gemma-3n-E4B-it", None),
        ("zai-org/GLM-4.5-Air-FP8", None),
        ("moonshot-v1-128k", None),
        ("kimi-k2-0905-preview", None),
    ],
)
def test_a_name_says_its_size_and_no_more(name, size):
    assert size_in_name(name) == size


def test_sizes_are_billions():
    sizes = printed_sizes()
    assert sizes["kimi-k2-0905-preview"] == 1000
    assert sizes["google/gemma-3n-E4B-it"] == 8.4
    assert sizes.isna().sum() == 2
    assert np.isnan(billions("--"))


def test_all_parameters_differ_where_names_count_otherwise():
    printed, every = printed_sizes(), all_parameters()
    changed = every.index[(every != printed) & printed.notna()]
    assert set(changed) == {
        name for name in printed.index if (size := size_in_name(name)) and size.counted is not Counted.ALL
    }
    assert (every[changed] != printed[changed]).all()
    assert every["meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"] == 400


def test_every_source_is_named_and_says_how_it_was_read():
    cited = published.cited()
    assert not cited.duplicated(["table", "row", "column", "source"]).any()
    assert set(cited["authority"]) == {"named", "maker", "other"}
    assert set(cited["read"]) <= READ
    assert ((cited["value"] == "") == (cited["read"] == "not found")).all()
    assert (cited[["source", "place", "address"]] != "").all(axis=None)
    assert cited["address"].str.startswith("https://").all()
    printed = {(entry["table"], entry["row"], entry["column"]) for entry in ENTRIES}
    listed = cited[~cited["column"].isin(["all_parameters", "rows", "in_code"])]
    assert set(listed[["table", "row", "column"]].itertuples(index=False, name=None)) <= printed


@pytest.mark.parametrize(
    ("source", "printed", "same"),
    [
        ("8.29B", "8.3B", True),
        ("81.09452736", "81.1", True),
        ("80.63511831", "80.7", False),
        ("1T", "1T", True),
        ("1B", "1T", False),
        ("36T", "15T", False),
        ("0.30", "0.30", True),
    ],
)
def test_a_copy_is_the_source_rounded_in_the_same_unit(source, printed, same):
    assert Copied(source, "", True).matches(printed) == same


@pytest.mark.parametrize(
    ("first_hand", "others", "expected"),
    [
        (["110.5B"], [], Agreement.EQUAL),
        (["110.5B"], ["106B"], Agreement.EQUAL),
        ([], ["110.5B"], Agreement.EQUAL),
        (["106B"], ["110.5B"], Agreement.DISPUTED),
        (["106B"], ["108B"], Agreement.DIFFERENT),
        (["106B"], [], Agreement.DIFFERENT),
        ([], ["106B"], Agreement.UNKNOWN),
        (["110B"], ["110.5B"], Agreement.EQUAL),  # half a unit goes to the even number
        (["111B"], ["110.5B"], Agreement.DISPUTED),
        (["110B"], [], Agreement.UNKNOWN),
    ],
)
def test_a_source_at_second_hand_rules_nothing_out(first_hand, others, expected):
    sources = [Copied(text, "", True) for text in first_hand] + [Copied(text, "", False) for text in others]
    assert agreement("110.5B", sources) == expected


def test_what_no_source_has_is_missing():
    with pytest.raises(Missing, match="public copy"):
        copied("ultrafeedback", "ultralm-13b", "ultrachat")
    with pytest.raises(Missing, match="no source"):
        copied("judge_discrimination", "moonshot-v1-32k", "tokens")


def test_the_best_source_comes_first(monkeypatch):
    cited = published.cited()
    monkeypatch.setattr(module.published, "cited", lambda: cited.iloc[::-1])
    sources = copied("judge_discrimination", "zai-org/GLM-4.5-Air-FP8", "size")
    assert [(source.text, source.is_first_hand) for source in sources] == [("106B", True), ("110.5B", False)]


def test_the_parts_of_the_pool_make_the_pool():
    rows = published.cited().set_index(["table", "row"]).loc["ultrafeedback_pool"]["value"].astype(int)
    assert rows.drop("all").sum() == rows["all"]


def checked() -> list[dict]:
    found = [(entry, judged(entry, STORED, set(), [])) for entry in ENTRIES]
    return [entry for entry, row in found if row["verdict"] == Verdict.EXACT]


def test_every_verdict_on_a_copy_falls_when_its_source_or_name_moves(monkeypatch):
    entries = checked()
    assert len(entries) >= 40
    cited = published.cited()
    moved = cited.assign(
        value=cited["value"].str.replace(r"^(\d)", lambda digit: str((int(digit[1]) + 1) % 10), regex=True)
    )
    monkeypatch.setattr(module.published, "cited", lambda: moved)
    monkeypatch.setattr(
        module, "size_in_name", lambda name: (s := size_in_name(name)) and NamedSize(s.billions + 1, s.counted)
    )
    fallen = set()
    for entry in entries:
        row, with_finding = (judged(entry, STORED, established, []) for established in (set(), {entry["finding"]}))
        second_hand = row["verdict"] == Verdict.UNCHECKED
        assert second_hand or row["verdict"] == Verdict.OPEN, entry
        assert with_finding["verdict"] == (Verdict.UNCHECKED if second_hand else Verdict.RULED_OUT), entry
        fallen.add(row["verdict"])
    assert len(fallen) == 2


def test_copies_with_another_source_are_told_and_nothing_else(monkeypatch):
    told = check_finding(copied_otherwise, STORED)
    by_agreement = {kind: [] for kind in Agreement}
    for entry, read in ((entry, read) for entry, read in sources() if read):
        by_agreement[agreement(entry["printed"], read)].append(entry["row"])
    verdicts = {Agreement.DIFFERENT: Verdict.RULED_OUT, Agreement.DISPUTED: Verdict.CAUSE}
    assert told.holds
    assert all(name in told.text for kind in Agreement if kind != Agreement.EQUAL for name in by_agreement[kind])
    numbers = audit(STORED, {"copied_otherwise"}).loc[lambda rows: rows["kind"] == "cited"]
    for kind, verdict in verdicts.items():
        assert set(numbers.loc[numbers["verdict"] == verdict, "row"]) == set(by_agreement[kind])
    assert by_agreement[Agreement.UNKNOWN] == ["ultralm-13b"]
    assert by_agreement[Agreement.DISPUTED] == ["zai-org/GLM-4.5-Air-FP8"]
    monkeypatch.setattr(Copied, "matches", lambda *_: True)
    assert check_finding(copied_otherwise, STORED).holds is False


def test_settings_of_the_code_are_told_by_what_the_paper_prints(monkeypatch):
    told = check_finding(settings_of_the_code, STORED)
    assert told.holds
    assert "repeated 5 times" in told.text
    assert "repeats it 20 times" in told.text
    cited = published.cited()
    as_printed = cited.replace({"value": {"20": "5", "Euclidean": PRINTED_NORM}})
    monkeypatch.setattr(module.published, "cited", lambda: as_printed)
    assert check_finding(settings_of_the_code, STORED).holds is False


def test_mixed_sizes_give_both_correlations():
    told = check_finding(mixed_sizes, STORED)
    assert told.holds
    assert "as printed, MT-Bench 0.40" in told.text
    assert "with all parameters MT-Bench 0.28" in told.text


def test_the_stored_truths_are_centred_and_as_many_as_drawn():
    truths = pd.read_csv(ROOT / "results/paper/convergence_mse/truths.csv")
    groups = truths.groupby([*SETTING, "draw", "parameter"])["value"]
    assert groups.sum().abs().max() < 1e-6
    sizes = groups.size().reset_index()
    wanted = np.where(sizes["parameter"] == "score", sizes["n_models"], sizes["n_judges"])
    assert (sizes["value"] == wanted).all()
    draws = pd.read_csv(ROOT / "results/paper/convergence_mse/slopes_draws.csv").groupby(SETTING)["draw"].nunique()
    assert truths.groupby(SETTING)["draw"].nunique().to_dict() == draws.to_dict()


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_the_printed_spread_is_taken_over_only_if_the_truths_have_it(factor, tmp_path):
    (tmp_path / "paper/convergence_mse").mkdir(parents=True)
    truths = pd.read_csv(ROOT / "results/paper/convergence_mse/truths.csv")
    truths.assign(value=factor * truths["value"]).to_csv(
        tmp_path / "paper/convergence_mse/truths.csv", index=False
    )
    rows = audit(Results(tmp_path), set()).query("rule == 'spread'")
    assert len(rows) == 3
    assert set(rows["verdict"]) == {Verdict.TAKEN_OVER if factor == 1 else Verdict.NOT_TAKEN_OVER}
