"""From a file of one's own judgments to a page: as a user runs it, and each part against another way."""

import json
import re
import shlex
import subprocess
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import chi2, norm

from judgerank import Comparisons, Fit, fit, rank
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError, NoMaximumError
from judgerank.data.listing import LISTED, listed
from judgerank.fits import presentation
from judgerank.model.members import MODELS
from judgerank.model.naming import formula
from judgerank.order import pairs as ranks
from judgerank.plots import own
from judgerank.plots.looks import in_style
from judgerank.ranking.page import to_html
from judgerank.ranking.studies.coverage import on_dropped, on_few
from judgerank.ranking.studies.estimation import on_fit
from judgerank.ranking.studies.position_bias import leaning, on_positions
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import read_judgments
from judgerank.writing.targets import Outputs
from replication.config import ROOT
from tests.forked import judgerank

MODELS_SHOWN = [
    "gpt*large",
    "llama|x",
    "<b>mixtral</b>",
    "phi $3$ mini",
    "olmo_1_b",
    "a-model-with-a-name-" + "long" * 12,
]
SCORES = np.array([1.2, 0.7, 0.1, -0.2, -0.6, -1.2])
GAMMA, POSITION = np.array([0.5, 1.0, 2.0]), np.array([0.0, 0.0, 1.0])


def judgments(n_questions: int = 120) -> list[dict]:
    """Made-up judgments: every question asked of three judges about a random pair, the third leaning."""
    rng, records = generator(0, "made-up judgments"), []
    for question in range(n_questions):
        for judge in range(3):
            i, j = rng.choice(len(SCORES), 2, replace=False)
            p = 1 / (1 + np.exp(-GAMMA[judge] * (SCORES[i] - SCORES[j]) - POSITION[judge]))
            answer = "tie" if rng.random() < 0.1 else ("model_b", "model_a")[int(rng.random() < p)]
            row = {"question": question, "model_a": MODELS_SHOWN[i], "model_b": MODELS_SHOWN[j]}
            records.append(row | {"judge": f"judge {judge}", "winner": answer if rng.random() < 0.97 else None})
    return records


def answers(path: Path, *rows: tuple[str, str, str, str]) -> Path:
    """A file with one record for each letter of (model_a, model_b, judge, letters)."""
    names = ("model_a", "model_b", "judge", "winner")
    records = [dict(zip(names, (*row[:3], letter), strict=True)) for row in rows for letter in row[3]]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def run(path: Path, target: Path, *options: str, anew: bool = False) -> subprocess.CompletedProcess:
    return judgerank("rank", path, "--output", target, *options, anew=anew)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Page(HTMLParser):
    """Text, links and sources of a page whose tags must be nested and closed."""

    VOID = frozenset({"meta", "img", "br", "hr", "link", "input", "col"})

    def __init__(self, content: str):
        super().__init__()
        self.open, self.texts, self.addresses = [], [], []
        self.feed(content)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open += [tag] * (tag not in self.VOID)
        self.handle_startendtag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def mine(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("mine") / "my file.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in judgments()))
    return path


@pytest.fixture(scope="module")
def ranked(mine):
    target = mine.parent / "ranking"
    done = run(mine, target, anew=True)
    assert done.returncode == 0, done.stderr
    return target, done


def table(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])


# the whole way


def test_the_page_names_every_model_and_judge_and_needs_nothing_beside_it(ranked):
    target, _ = ranked
    shown = Page((target / "index.html").read_text())
    for name in [*MODELS_SHOWN, "judge 0", "judge 1", "judge 2"]:
        assert name in shown.texts
    linked = {address for address in shown.addresses if not address.startswith("#")} - {"data:,"}
    tables = ("exact", "fitness", "judges", "leaderboard", "members", "next", "pairs")
    assert sorted(linked) == [*(f"{name}.csv" for name in tables), "run.json"]
    assert all((target / address).is_file() for address in linked)


def test_what_is_to_be_known_is_said_on_the_page_and_in_the_terminal(ranked, mine):
    target, done = ranked
    verbose = run(mine, target.parent / "again", "--verbose")
    text = " ".join(Page((target / "index.html").read_text()).texts)
    for said in (
        r"\bposition bias \(.*\bby question, p = ",
        r"\bNo judge\b.*\b60% of the time\b",
        r"\bDropped\b",
    ):
        assert re.search(said, text)
        assert not re.search(said, done.stdout)
        assert re.search(said, " ".join(verbose.stdout.split()))
    assert re.search(r"\d+ notes: --verbose, or the page[.]", done.stdout)
    assert "within each of the 120 questions" in text


def test_the_terminal_shows_one_screen_and_all_of_it_with_verbose(ranked, mine):
    target, done = ranked
    lines = done.stdout.splitlines()
    head, tail = lines[: lines.index("")], lines[lines.index("") + 1 + 1 + len(MODELS_SHOWN) :]
    assert len(head) <= 4 and len(lines) <= 24
    assert max(map(len, head + tail)) <= 100
    page = " ".join(Page((target / "index.html").read_text()).texts)
    assert head[0].removesuffix(".") in page
    said = json.loads(run(mine, target, "--json").stdout)
    every = " ".join(run(mine, target, "--verbose").stdout.split())
    for text in (said["lead"], said["change"], said["next"], *said["warnings"]):
        assert text in every
    for note in said["notes"]:  # once, though a note may say what a warning says
        assert every.count(note.partition(": ")[2] or note) == 1
    few = " ".join(" ".join(lines).split())
    assert " ".join(" ".join(head[1:]).split()) == said["evidence"] and said["lead"].startswith(said["evidence"])
    assert said["next"] in few and said["lead"] not in few
    assert len(said["warning_kinds"]) == len(said["warnings"])
    hidden = len([*said["warnings"], *filter(None, [said["change"]])]) - 1
    assert (f"{hidden} more warning" in few) == (hidden > 0)
    assert "95% intervals for these judges only." in few


def test_the_leaderboard_is_that_of_maximising_the_likelihood_with_positions(ranked, mine):
    records = pd.DataFrame([r for r in judgments() if r["winner"]])
    models, judges = sorted(MODELS_SHOWN), ["judge 0", "judge 1", "judge 2"]
    i, j = (records[name].map(models.index).to_numpy() for name in ("model_a", "model_b"))
    k = records["judge"].map(judges.index).to_numpy()
    y = records["winner"].map({"model_a": 1.0, "model_b": 0.0, "tie": 0.5}).to_numpy()

    def loss(theta):
        s, alpha, b = theta[:6], theta[6:9], theta[9:]
        eta = np.exp(alpha - alpha.mean())[k] * (s[i] - s[j]) + b[k]
        return -np.sum(y * log_expit(eta) + (1 - y) * log_expit(-eta))

    at = minimize(loss, np.zeros(12), tol=1e-12).x
    expected = pd.Series(at[:6] - at[:6].mean(), models).sort_values(ascending=False)
    done = run(mine, ranked[0].parent / "exact", "--solver", "newton")
    assert done.returncode == 0, done.stderr
    found = table(ranked[0].parent / "exact", "leaderboard")
    beside = table(ranked[0], "exact").set_index("model")["score_exact"]
    assert_allclose(found["score"], beside[found["model"]], atol=1e-8)
    assert found["model"].tolist() == expected.index.tolist()
    assert found["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    alpha, b = at[6:9] - at[6:9].mean(), at[9:]
    usual = np.sqrt(np.mean(np.subtract.outer(at[:6], at[:6])[~np.eye(6, dtype=bool)] ** 2))
    either_order = (expit(np.exp(alpha) * usual + b) + expit(np.exp(alpha) * usual - b)) / 2
    preferred = np.bincount(k) @ either_order / len(k)
    scale = np.log(logit(preferred) / usual)
    assert_allclose(found["score"], expected * np.exp(scale), atol=2e-4)
    by_judge = table(ranked[0].parent / "exact", "judges").set_index("judge").loc[judges]
    assert_allclose(by_judge["discrimination"], np.exp(alpha - scale), rtol=2e-4)
    assert_allclose(by_judge["position"], at[9:], atol=1e-4)
    counts = pd.concat([records["model_a"], records["model_b"]]).value_counts()
    assert found.set_index("model")["comparisons"].to_dict() == counts.to_dict()


def test_ranges_of_ranks_and_pairs_agree_with_each_other(ranked):
    board, pairs = (table(ranked[0], name) for name in ("leaderboard", "pairs"))
    assert ((board["rank_low"] <= board["rank"]) & (board["rank"] <= board["rank_high"])).all()
    assert ((board["low"] < board["score"]) & (board["score"] < board["high"])).all()
    assert len(pairs) == 15
    assert (pairs["separated"] == (pairs["p_holm"] <= 0.05)).all()
    score = board.set_index("model")["score"]
    assert_allclose(
        pairs["difference"], score[pairs["first"]].to_numpy() - score[pairs["second"]].to_numpy(), atol=1e-8
    )
    for row in board.itertuples():
        assert row.rank_low == 1 + ((pairs["second"] == row.model) & pairs["separated"]).sum()
        assert row.rank_high == len(board) - ((pairs["first"] == row.model) & pairs["separated"]).sum()


def test_intervals_allow_for_dependence_within_questions_unless_told_not_to(ranked, mine):
    data = read_judgments(mine)
    alone = rank(data, cluster="none", next=3, next_size=5)
    clustered = table(ranked[0], "pairs")["standard_error"]
    fitted = fit(data.comparisons, "position_aware", shrink=True)
    assert_allclose(alone.tables["pairs"]["standard_error"], ranks.pairwise(fitted)["standard_error"])
    robust = fitted.clustered(data.comparisons, data.question)
    assert_allclose(clustered, ranks.pairwise(robust)["standard_error"], rtol=1e-7)
    assert (clustered != alone.tables["pairs"]["standard_error"]).all()
    assert alone.tables["next"]["comparisons"].tolist() == [5, 5, 5]
    assert "independent" in to_html(alone)


def test_a_ranking_is_the_same_to_the_byte_each_time_and_replaces_itself(ranked, mine):
    target, _ = ranked
    before = tree(target)
    assert run(mine, target).returncode == 0
    assert tree(target) == before


def test_nothing_but_an_earlier_ranking_is_replaced(ranked, mine, tmp_path):
    Outputs().folder(ranked[0], "rank", str(mine))
    Outputs().folder(tmp_path, "rank")
    Outputs().folder(tmp_path / "new", "rank")
    (tmp_path / "precious.txt").write_text("kept")
    for folder in (tmp_path, tmp_path / "precious.txt", ROOT / "results/paper/chatbot_arena"):
        with pytest.raises(ConfigError, match=re.escape(str(folder))):
            Outputs().folder(folder, "rank")


# where there is less to say


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([("x", "y", "j", "aaa"), ("y", "z", "j", "ab"), ("x", "z", "j", "aa")], "x; y, z .*compare x with z"),
        ([("x", "y", "j", "cc"), ("y", "z", "j", "cc"), ("x", "z", "j", "c")], "there is nothing to rank$"),
    ],
)
def test_what_cannot_be_ranked_is_told_with_what_would_help(rows, sentence, tmp_path):
    with pytest.raises(NoMaximumError, match=sentence):
        rank(answers(tmp_path / "m.jsonl", *rows), solver="newton")


UNBOUNDED = [
    ("x", "y", "never wrong", "aaaaa"),
    ("y", "z", "never wrong", "aaaaa"),
    ("x", "y", "other", "aaabb"),
    ("y", "z", "other", "abb"),
    ("x", "z", "other", "aabab"),
]


def test_a_judge_who_is_never_wrong_leaves_the_scores_their_intervals_and_the_page_says_so(tmp_path):
    exact = ["--model", "judge_aware", "--solver", "newton"]
    done = run(answers(tmp_path / "m.jsonl", *UNBOUNDED), tmp_path / "ranking", *exact)
    assert done.returncode == 0, done.stderr
    board, judges, pairs, plan = (
        table(tmp_path / "ranking", n) for n in ("leaderboard", "judges", "pairs", "next")
    )
    assert board["model"].tolist() == ["x", "y", "z"]
    assert board[["low", "high", "rank_low", "rank_high"]].notna().all(axis=None)
    assert judges.set_index("judge")["status"].to_dict() == {"never wrong": "unbounded", "other": "interior"}
    assert judges.set_index("judge")["low_discrimination"].isna().to_dict() == {
        "never wrong": True,
        "other": False,
    }
    assert pairs["p_value"].notna().all()
    assert (plan["width_after"] < plan["width"]).all()
    text = " ".join(Page((tmp_path / "ranking" / "index.html").read_text()).texts)
    assert re.search(r"\bno maximum: never wrong never\b", text)
    assert re.search(r"\bjudge are shrunk\b.*\bno interval\b", text)


def test_one_judge_without_a_column_is_ranked_as_by_bradley_and_terry(tmp_path):
    path = answers(
        tmp_path / "m.jsonl", ("x", "y", "j", "aaabab"), ("y", "z", "j", "abaa"), ("z", "x", "j", "bbab")
    )
    pd.read_json(path, lines=True).drop(columns="judge").to_csv(tmp_path / "m.csv", index=False)
    ranking = rank(tmp_path / "m.csv", model="judge_aware", solver="newton")
    assert any(re.search(r"\bsingle judge\b.*\bdiscrimination\b", remark) for remark in ranking.remarks)
    expected = fit(ranking.judgments.comparisons, "btl", cluster="judgment")
    board = ranking.tables["leaderboard"].set_index("model")
    assert_allclose(board["score"], expected.scores[board.index], atol=1e-7)
    low = expected.confidence_intervals().set_index("name")["low"]
    assert_allclose(board["low"], low[board.index], atol=1e-7)


def test_make_rank_hands_the_file_and_the_options_on():
    done = subprocess.run(
        ["make", "-n", "--no-print-directory", "rank", 'DATA=it\'s "my" $$file.jsonl', "ARGS=--model btl"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    command = done.stdout.splitlines()[-1]
    assert shlex.split(command) == [".venv/bin/judgerank", "rank", 'it\'s "my" $file.jsonl', "--model", "btl"]
    assert "rankings/" in (ROOT / ".gitignore").read_text().splitlines()


def test_every_member_has_its_formula():
    assert all(formula(model) for model in MODELS.values())


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"model": "elo"}, "there is no model 'elo' .known: btl, judge_aware"),
        ({"solver": "simplex"}, "there is no solver 'simplex'"),
        ({"cluster": "none,judge"}, "cluster=none stands alone"),
        ({"level": np.nan}, "level=nan is out of range: it must lie between 0 and 1"),
        ({"few": -3}, "few=-3 is out of range"),
        ({"next": 10**9}, "next=1000000000 is out of range: it must lie from 1 to 1000"),
        ({"columns": {"winner": "x"}}, r"\bcolumns\b"),
        ({"form": "csv"}, r"\bform\b"),
    ],
)
def test_settings_that_no_one_means_are_named(given, names, mine):
    with pytest.raises(ConfigError, match=names):
        rank(read_judgments(mine), **given)


def test_a_file_a_table_and_judgments_give_one_ranking(mine):
    table = pd.DataFrame(judgments()).rename(columns={"winner": "said"})
    boards = [
        rank(source, columns=columns).tables["leaderboard"]
        for source, columns in ((mine, None), (read_judgments(mine), None), (table, {"winner": "said"}))
    ]
    for board in boards[1:]:
        pd.testing.assert_frame_equal(board, boards[0])
    ranking = rank(table, columns={"winner": "said"})
    assert str(ranking).startswith(f"{verdict(ranking).headline}.\n6 models, ")


def test_a_page_alone_links_to_nothing(mine):
    shown = Page(rank(mine).to_html())
    assert {address for address in shown.addresses if not address.startswith("#")} == {"data:,"}


def test_the_record_beside_a_ranking_says_what_it_takes_to_rank_again(ranked, mine):
    told = json.loads((ranked[0] / "run.json").read_text())
    assert told["source"]["path"] == str(mine)
    assert told["source"]["records"] == len(judgments())
    assert told["settings"]["level"] == 0.95
    assert told["versions"].keys() == {"python", "judgerank", "numpy", "scipy", "pandas"}


# remarks


def test_a_panel_of_which_half_counts_for_nothing_may_be_reversed(cells_of):
    rows = [("a", "b", 9, 2), ("b", "c", 8, 3), ("a", "c", 9, 1)]
    sharp = [(*row[:2], judge, *row[2:]) for row in rows for judge in "xyz"]
    contrary = [(first, second, judge, lost, won) for first, second, won, lost in rows for judge in "uv"]
    two_of_five = on_fit(fit(cells_of(*sharp, *contrary)))[0]
    assert "Judges with zero discrimination: u, v." in two_of_five
    assert "reverse" not in two_of_five
    two_of_four = on_fit(fit(cells_of(*(row for row in sharp if row[2] != "z"), *contrary)))[0]
    assert "--model btl" in two_of_four and "--model btl" not in two_of_five


def test_the_test_for_leanings_is_the_likelihood_ratio_and_names_who_leans(mine):
    data = read_judgments(mine).comparisons
    fits = {name: fit(data, name) for name in ("judge_aware", "position_aware")}
    found = leaning(fits["judge_aware"], lambda model: fits[model.name], 0.95)
    gain = 2 * (fits["position_aware"].log_likelihood - fits["judge_aware"].log_likelihood)
    assert (found.statistic, found.degrees_of_freedom) == (pytest.approx(gain), 3)
    assert found.p_value == pytest.approx(chi2.sf(gain, 3))
    assert (found.towards_first, found.towards_second) == (("judge 2",), ())
    assert "--model position_aware does" in on_positions(found, 0.95)[0]


def test_nothing_is_said_of_judges_who_answer_alike_in_either_order(simulated, swapped):
    once = simulated(3, SCORES, (0.7, 1.0, 1.4), 500)
    data = Comparisons.from_frame(pd.concat([once.to_frame(), swapped(once).to_frame()], ignore_index=True))
    found = leaning(fit(data), lambda name: fit(data, name), 0.95)
    assert found.p_value == pytest.approx(1.0)
    assert on_positions(found, 0.95) == []


def test_an_order_that_follows_the_models_is_named_as_the_reason(cells_of):
    data = cells_of(("x", "y", "j", 3, 1), ("x", "y", "k", 3, 2))
    (said,) = on_positions(leaning(fit(data), lambda name: fit(data, name), 0.95), 0.95)
    assert "could not be tested: each pair was shown in one order" in said


def test_thin_designs_are_pointed_out(cells_of):
    data = cells_of(("w", "x", "j", 20, 20), ("x", "y", "j", 20, 20), ("y", "z", "k", 1, 1), ("w", "y", "j", 9, 9))
    raw = data.take(np.repeat(np.arange(len(data)), data.count.astype(int)))
    raw = replace(raw, count=None, outcome=np.round(raw.outcome), dropped={"unknown": 2, "null": 0})
    assert on_dropped(raw, ["v"]) == [
        "Dropped because the answer could not be read: 2 unknown.",
        "Not ranked because no answer about them could be read: v.",
    ]
    assert on_few(data, 30) == on_few(raw, 30)
    assert on_few(raw, 30) == [
        "2 of 6 pairs of models were never compared directly; they are ranked through comparisons with other "
        "models: w and z, x and z.",
        "Models with fewer than 30 comparisons: z (2).",
        "Judges with fewer than 30 comparisons: k (2).",
    ]


def test_long_lists_are_cut():
    assert listed("abc") == "a, b, c"
    assert listed(map(str, range(LISTED + 2))).endswith("7 and 2 more")


def test_pairs_of_too_few_questions_are_tested_by_flips_and_scores_clustered(tmp_path):
    path = tmp_path / "m.jsonl"
    rows = [record | {"question": record["question"] % 5} for record in judgments()]
    path.write_text("".join(json.dumps(record) + "\n" for record in rows))
    ranking, exact = rank(path), rank(path, solver="newton")
    assert ranking.clustered and not exact.clustered
    (said,) = (text for text in ranking.remarks if text.startswith("There are 5 questions and 10 free parameters"))
    assert "Intervals of scores allow for dependence within questions, and are wide." in said
    assert any("Intervals of scores take comparisons as independent" in text for text in exact.remarks)
    pairs = len(ranking.tables["pairs"])
    least = next(n for n in range(1, 20) if pairs * 2 ** (1 - n) <= 0.05)
    assert re.search(rf"\bfewer than {least} questions\.$", said)
    assert not ranking.tables["pairs"]["separated"].any()
    assert (ranking.tables["pairs"]["p_value"] >= 2 / 2**5 - 1e-9).all()
    board = ranking.tables["leaderboard"]
    assert (board["rank_low"] == 1).all()
    assert (board["rank_high"] == len(board)).all()
    page = to_html(ranking)
    assert "allow for dependence within questions (sandwich covariance)" in page
    assert "independent" in to_html(exact)
    assert "Only 5 questions: significance is tested by exchanging the names" in page


# figures


def boxes_overlap(figure) -> list:
    figure.draw_without_rendering()
    shown = []
    for axes in figure.axes:
        labels = [axes.xaxis.label, *(axes.get_yticklabels() if axes is figure.axes[0] else [])]
        shown += [label.get_window_extent() for label in labels if label.get_text()]
    sheet = figure.bbox
    assert all(sheet.x0 <= box.x0 and box.x1 <= sheet.x1 and sheet.y0 <= box.y0 for box in shown)
    return [1 for a, b in combinations(shown, 2) if a.overlaps(b)]


@pytest.fixture(scope="module")
def fitted(mine) -> Fit:
    return fit(read_judgments(mine).comparisons, "position_aware")


def test_the_figure_has_no_label_on_another_or_off_the_page(fitted):
    board = presentation.leaderboard(fitted, 0.95)
    with in_style():
        assert not boxes_overlap(own.standings(board, "t"))


def test_many_models_are_cut_to_the_first_in_the_figure():
    n = 200
    frame = pd.DataFrame(
        {"rank": range(1, n + 1), "model": [f"m{k}" for k in range(n)], "score": np.linspace(2, -2, n)}
    )
    frame = frame.assign(low=frame["score"] - 1, high=frame["score"] + 1, rank_low=1, rank_high=n)
    figure = own.standings(frame, "t")
    assert len(figure.axes[0].get_yticks()) == 60
    assert "first 60" in figure.get_suptitle()


def test_leanings_are_named_where_all_judges_intervals_hold_at_once():
    """Bonferroni: the judge with the smallest p-value is named from the level on that all of them share."""
    fitted = fit(ROOT / "examples/judgments.csv", "position_aware")
    rows = fitted.to_frame()
    rows = rows[rows["parameter"] == "position"]
    z = (rows["estimate"] / rows["standard_error"]).abs().max()
    alone = 2 * norm.sf(z)
    refit = partial(fit, fitted.raw)
    for share, named in ((0.97, 0), (1.03, 1)):
        found = leaning(fitted, refit, 1 - share * len(rows) * alone)
        assert len(found.towards_first) + len(found.towards_second) == named


@pytest.mark.parametrize("name", ["rank", "doctor", "plan", "trust"])
def test_a_judge_without_an_answer_that_can_be_read_is_left_out_and_named(name, mine, tmp_path):
    records = pd.DataFrame(judgments())
    silent = records.iloc[:3].assign(judge="md", winner=[None, "unknown", None])
    pd.concat([records, silent]).to_csv(tmp_path / "all.csv", index=False)
    done = judgerank(name, "all.csv", *["--verbose"] * (name == "rank"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join((done.stdout + done.stderr).split())
    assert said.count("Judges left out, since none of their answers could be read: md (3 answers).") == 1
