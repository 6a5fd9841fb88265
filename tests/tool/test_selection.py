"""Judges, models, categories left out or kept by request: what a file without the others gives, in all layouts."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import judgerank
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.frames import BY_REQUEST, OUTCOMES
from judgerank.reading import read
from judgerank.reading.large import from_engine
from judgerank.reading.selection import Selection
from tests.forked import judgerank as command
from tests.tool.test_further import drawn_votes
from tests.tool.test_layouts import NAMED, SAMPLES
from tests.tool.test_reading import written

RANKED = ["a > b = c > d", "c > {a, b, d}", "a = b = c = d", "d > a > b", "b > {a, c}"]
RANKED_WITHOUT_C = ["a > b > d", None, "a = b = d", "d > a > b", "b > {a}"]


def answers(comparisons):
    """Every comparison with its names, sorted."""
    c = comparisons
    rows = zip(c.first, c.second, c.judge, c.outcome, c.count, strict=True)
    return sorted((c.models[i], c.models[j], c.judges[k], float(y), float(n)) for i, j, k, y, n in rows)


def require_same(first, second):
    assert answers(first.comparisons) == answers(second.comparisons)
    assert first.comparisons.ordered == second.comparisons.ordered
    pd.testing.assert_frame_equal(first.frame, second.frame)


@pytest.fixture
def votes():
    table = drawn_votes(600, (1.5, 1.0, 0.8), seed=3)
    return table.assign(category=np.where(np.arange(len(table)) % 3 == 0, "code", "chat"))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("argument", ["without_judge", "only_judge", "without_model"])
def test_every_layout_gives_the_records_without_the_names(name, argument):
    table, columns = pd.DataFrame(SAMPLES[name][0]), NAMED.get(name)
    records = judgerank.read(table, columns=columns)
    column = "model_a" if argument == "without_model" else "judge_model"
    for chosen in sorted({*records.frame[column]}):
        sides = ["model_a", "model_b"] if argument == "without_model" else [column]
        has_name = (records.frame[sides] == chosen).any(axis=1)
        keep = has_name if argument == "only_judge" else ~has_name
        if not (keep & records.parsed).any():
            with pytest.raises(DataError, match=r"\bno judgment\b"):
                judgerank.read(table, columns=columns, **{argument: chosen})
            continue
        selected = judgerank.read(table, columns=columns, **{argument: chosen})
        assert selected.source["filter"][0][argument] == [chosen]
        assert selected.comparisons.ordered == records.comparisons.ordered
        if records.comparisons.stages is None:
            pd.testing.assert_frame_equal(selected.frame, records.frame[keep].reset_index(drop=True))
            assert len(selected.comparisons) == (keep & records.parsed).sum()
        assert chosen not in (selected.comparisons.models if argument == "without_model" else ())


@pytest.mark.parametrize("shown", [False, True])
def test_rankings_with_ties_become_rankings_of_the_other_models(shown):
    def table(rankings):
        frame = pd.DataFrame({"question": list("qrstu"), "judge": list("xyxyx"), "ranking": rankings})
        if shown:
            names = [sorted({*text} & {*"abcd"}, reverse=True) if text else None for text in rankings]
            frame["shown"] = [", ".join(order) if order else None for order in names]
        return frame[frame["ranking"].notna()]

    def rows(judgments):  # the order in which the orders of a tie follow each other says nothing
        return sorted(map(repr, judgments.frame.drop(columns="apart").astype(object).to_numpy().tolist()))

    selected, without = judgerank.read(table(RANKED), without_model="c"), judgerank.read(table(RANKED_WITHOUT_C))
    assert rows(selected) == rows(without) and selected.ordered == without.ordered == shown
    if shown:  # the others stay where they were shown
        gaps = [
            {*one.frame[["question_id", "model_a", "model_b", "apart"]].itertuples(index=False, name=None)}
            for one in (selected, judgerank.read(table(RANKED)))
        ]
        assert gaps[0] <= gaps[1] and ("q", "d", "b", 2) in gaps[0] and ("t", "d", "b", 1) in gaps[0]
    of_one = judgerank.read(table(RANKED), without_model="c", only_judge="x")
    assert rows(of_one) == rows(judgerank.read(table(RANKED_WITHOUT_C).query("judge == 'x'")))
    fits = [judgerank.fit(judgments, "btl", shrink=True).scores for judgments in (selected, without)]
    np.testing.assert_allclose(*fits, atol=1e-8)


def test_rankings_beside_comparisons_of_two_are_filtered_like_them(tmp_path):
    pair = pd.DataFrame({"question": ["p", "q"], "judge": "x", "model_a": ["a", "c"], "model_b": ["b", "a"]})
    pair["winner"] = ["model_a", "tie"]
    ranked = pd.DataFrame({"question": list("qrstu"), "judge": "x", "ranking": RANKED})
    kept = ranked.assign(ranking=RANKED_WITHOUT_C).dropna()
    paths = [tmp_path / name for name in ("pair.csv", "ranked.csv", "kept.csv", "one.csv")]
    for path, frame in zip(paths, (pair, ranked, kept, pair.head(1)), strict=True):
        frame.to_csv(path, index=False)
    selected = judgerank.read(paths[:2], without_model="c")
    assert answers(selected.comparisons) == answers(judgerank.read([paths[3], paths[2]]).comparisons)


def test_counts_shares_and_lengths_go_with_their_records(votes):
    counted = votes.assign(n=np.arange(len(votes)) % 4 + 1, length=np.arange(len(votes)) + 10)
    columns = {"count": "n"}
    selected = judgerank.read(counted, columns=columns, without_judge="j1", category="chat")
    plain = judgerank.read(counted.query("judge != 'j1' and category == 'chat'"), columns=columns)
    require_same(selected, plain)
    assert_array_equal(selected.comparisons.covariate, plain.comparisons.covariate)
    n = round(judgerank.read(counted, columns=columns).comparisons.n_comparisons)
    left_out = n - round(plain.comparisons.n_comparisons)
    (remark,) = selected.left_out_by_request
    assert f"{left_out:,} of {n:,} judgments" in remark and "j1" in remark and "chat" in remark


def test_an_engine_reads_what_is_left_alike(tmp_path, monkeypatch, votes):
    pytest.importorskip("duckdb")
    path = written(
        tmp_path, "csv", votes[["model_a", "model_b", "judge", "winner", "question"]].to_dict("records")
    )
    request = {"without_judge": ["j2"], "without_model": "m0"}
    small = judgerank.read(path, **request)
    monkeypatch.setattr(from_engine, "LARGE", 1)
    large = judgerank.read(path, **request)
    assert isinstance(large.frame["model_a"].dtype, pd.CategoricalDtype)
    assert not isinstance(small.frame["model_a"].dtype, pd.CategoricalDtype)
    assert answers(large.comparisons) == answers(small.comparisons)
    assert (large.remarks, large.source) == (small.remarks, small.source)
    with pytest.raises(ConfigError, match="did you mean 'j2'"):
        judgerank.read(path, without_judge="J2")


def test_a_file_with_categories_is_filtered_alike_however_large(tmp_path, monkeypatch, votes):
    path = written(tmp_path, "csv", votes.to_dict("records"))
    small = judgerank.read(path, category="code")
    monkeypatch.setattr(from_engine, "LARGE", 1)
    require_same(judgerank.read(path, category="code"), small)
    assert len(small.frame) == (votes["category"] == "code").sum()


def test_comparisons_keep_what_no_record_says(votes):
    c = judgerank.read(votes.assign(length=np.arange(len(votes)) + 1)).comparisons
    selected = judgerank.read(c, without_judge="j0").comparisons
    rows = np.flatnonzero(c.judge != c.judges.index("j0"))
    assert_array_equal(selected.covariate, c.covariate[rows])


@pytest.mark.parametrize(
    ("request_of", "error", "sentence"),
    [
        ({"without_judge": "J0"}, ConfigError, "--without-judge J0: there is no judge 'J0'; did you mean 'j0'?"),
        ({"only_judge": "someone else"}, ConfigError, "there are: j0, j1, j2"),
        (
            {"without_model": "m0x"},
            ConfigError,
            "there is no model 'm0x'; did you mean 'm0'?",
        ),
        (
            {"category": "chats"},
            ConfigError,
            "there is no category 'chats'; did you mean 'chat'?",
        ),
        ({"only_judge": ["j0", "j1"], "without_judge": "j1"}, ConfigError, "'j1' is both in"),
        ({"without_judge": ["j0", "j1", "j2"]}, DataError, "no judgment is left of the 600"),
    ],
)
def test_what_is_unknown_or_leaves_nothing_is_refused(votes, request_of, error, sentence):
    with pytest.raises(error) as refused:
        judgerank.read(votes, **request_of)
    assert sentence in str(refused.value)


def test_categories_and_judges_that_no_column_names_are_refused():
    plain = pd.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "x"], "winner": ["a", "b"]})
    for argument in ("category", "without_judge"):
        with pytest.raises(ConfigError, match="--column"):
            judgerank.read(plain, **{argument: "any"})


def test_models_without_a_judgment_left_and_judges_without_an_answer_are_named():
    table = pd.DataFrame(
        [
            ("x", "y", "j", "a"),
            ("y", "x", "k", "b"),
            ("x", "z", "j", "b"),
            ("x", "y", "l", "?"),
            ("x", "y", "l", "?"),
        ],
        columns=["model_a", "model_b", "judge", "winner"],
    )
    words = {"?": "unknown"}
    everyone = judgerank.read(table, winner_values=words)
    assert len(everyone.warnings) == 1 and "l" in everyone.warnings[0]
    selected = judgerank.read(table, winner_values=words, without_judge=["j", "l"])
    assert not selected.warnings  # the judge who cannot be read is left out by request
    assert "1 model: z" in selected.left_out_by_request[0]
    again = judgerank.read(everyone, without_judge="j")
    assert again.warnings == everyone.warnings
    assert set(selected.frame["judge_preferred_model"]) <= {*OUTCOMES}


def test_requests_add_up_and_options_and_arguments_correspond(votes):
    once = judgerank.read(votes, without_judge=["j0"], category=["chat"])
    twice = judgerank.read(judgerank.read(votes, without_judge="j0"), category="chat")
    require_same(once, twice)
    assert once.source["options"] == twice.source["options"] == ["--without-judge", "j0", "--category", "chat"]
    first, second = twice.source["filter"]
    assert second["of"] == first["of"] - first["left_out"]
    selection = Selection.of(without_judge="a", only_judge=(), without_model=["b", "b"], category=())
    assert selection.options() == ["--without-judge", "a", "--without-model", "b"]
    assert read.read_judgments(votes).source.get("filter") is None


def test_rank_and_its_command_say_what_is_left_out_everywhere(tmp_path, votes):
    path = written(tmp_path, "csv", votes.to_dict("records"))
    folder, saved = tmp_path / "out", tmp_path / "board.npz"
    options = ["--without-judge", "j1", "--category", "chat"]
    done = command("rank", path, *options, "-o", folder, "--save", saved, "--json")
    document = json.loads(done.stdout)
    ranking = judgerank.rank(path, without_judge="j1", category="chat")
    (remark,) = ranking.judgments.left_out_by_request
    assert remark in document["read"] and remark in (folder / "index.html").read_text()
    assert document["filter"] == json.loads((folder / "run.json").read_text())["source"]["filter"]
    assert document["filter"][0]["without_judge"] == ["j1"]
    from judgerank.fits import result

    assert result.about(saved)["filter"] == document["filter"]
    assert "--without-judge j1 --category chat" in document["change"]
    board = pd.DataFrame(document["leaderboard"])
    np.testing.assert_allclose(board["score"], ranking.tables["leaderboard"]["score"])
    plain = judgerank.rank(votes.query("judge != 'j1' and category == 'chat'"))
    np.testing.assert_allclose(ranking.tables["leaderboard"]["score"], plain.tables["leaderboard"]["score"])


@pytest.mark.parametrize("name", ["trust", "plan", "people", "gate"])
def test_every_command_filters_and_says_so(name, tmp_path, votes):
    path = written(tmp_path, "csv", votes.to_dict("records"))
    more = {
        "people": ["--human", "j0"],
        "gate": ["--baseline", "m0", "--candidate", "m1"],
        "plan": ["--want", "pair_power=0.8"],
        "trust": ["--most", "1"],
    }[name]
    without = votes.query("judge != 'j2'")
    (tmp_path / "less").mkdir()
    less = written(tmp_path / "less", "csv", without.to_dict("records"))
    filtered = command(name, path, *more, "--without-judge", "j2", "--json")
    plain = command(name, less, *more, "--json")
    assert BY_REQUEST in filtered.stdout
    wanted = {
        "trust": lambda document: document["tables"]["changes"],
        "plan": lambda document: document["plan"],
        "people": lambda document: document["scores"],
        "gate": lambda document: (document["sentence"], document["criteria"]),
    }[name]
    assert wanted(json.loads(filtered.stdout)) == wanted(json.loads(plain.stdout))
    refused = command(name, path, *more, "--without-judge", "J2")
    assert refused.returncode and "did you mean 'j2'?" in refused.stderr


def test_a_gate_with_a_panel_takes_no_filter(tmp_path):
    refused = command("gate", "old.jsonl", "new.jsonl", "--panel", "panel.yaml", "--category", "x", cwd=tmp_path)
    assert refused.returncode and "--category" in refused.stderr
