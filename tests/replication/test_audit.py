"""The audit: complete, computed, current; every verdict falls when what it reads moves, and outlives what is "
"missing."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pytest

from experiments.audit import full_audit
from judgerank.plots.looks import in_style
from replication import plots, published
from replication.auditing.audit import OTHERS, RESULTS, Verdict, audit, by_one_run, judged, totals
from replication.auditing.claim import Outcome, check_finding
from replication.auditing.claims import claims
from replication.auditing.doc_blocks import blocks, current, markdown_in
from replication.auditing.findings import FINDINGS
from replication.auditing.joint_tests import columns, tried
from replication.auditing.page import every_number, html_page, page
from replication.auditing.registry import KINDS, READINGS, RULES, causes, registry
from replication.auditing.results import Missing, Results
from replication.auditing.stored_checks import with_freshness
from replication.config import ROOT
from replication.differences import unlike_figures
from replication.freshness import stale
from replication.statistics import LEAST_ORDERED, one_more, one_more_by_order
from tests import forked

STORED = Results(ROOT / "results")
Change = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Changed(Results):
    """The stored results with some tables changed."""

    changes: dict[str, Change] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        frame = super().table(name)
        return self.changes[name](frame.copy()) if name in self.changes else frame


def changed(**changes: Change) -> Changed:
    return Changed(STORED.folder, changes)


LABELS = {"printed_name", "unit", "place", "statement"}
NOT_RESULTS = {"chatbot_arena_human", "judge_llms", "claims", "cited"}  # not printed numbers
CHECKED = (Verdict.EXACT, Verdict.MONTE_CARLO, Verdict.CAUSE, Verdict.TAKEN_OVER)


@pytest.fixture(scope="module")
def audited():
    return full_audit(STORED)


@pytest.fixture(scope="module")
def numbers(audited):
    return audited.numbers


def test_the_registry_has_every_printed_number_once():
    entries = registry()
    assert not entries.duplicated(["table", "row", "column"]).any()
    names = {path.name.removesuffix(".csv") for path in published.TABLES.iterdir()} - NOT_RESULTS
    assert set(entries["table"]) == names
    for name in names:
        table = published.table(name).drop(columns=LABELS, errors="ignore")
        assert len(entries[entries["table"] == name]) == (table.stack().str.strip("- ") != "").sum(), name


def test_every_number_says_what_computes_it_or_what_would():
    entries = registry()
    assert (entries["place"] != "").all()
    assert set(entries["kind"]) == set(KINDS)
    computed = entries["source"] != ""
    assert (computed | (entries["needs"] != "")).all()
    assert (computed == entries["kind"].isin(["result", "setting"])).all()
    assert ((entries["reading"] != "") | (entries["rule"] != ""))[computed].all()
    assert set(entries["reading"]) - {""} <= set(READINGS)
    assert set(entries["rule"]) - {""} == set(RULES)
    assert set(entries["finding"]) - {""} <= {finding.name for finding in FINDINGS}


def test_nothing_is_checked_against_our_own_configuration():
    assert not registry()["source"].str.endswith("run.json").any()


def test_what_is_exact_is_equal_as_printed_and_what_differs_is_not(numbers):
    for row in numbers[numbers["difference"].notna() & ~numbers["surrogate"].astype(bool)].itertuples():
        plain = row.printed.removesuffix("K")
        same = published.as_printed(float(row.ours), plain) == published.as_printed(float(plain), plain)
        if row.rule:
            held = Verdict.TAKEN_OVER if row.kind == "setting" else Verdict.MONTE_CARLO
            assert row.verdict in (held, Verdict.NOT_TAKEN_OVER if row.kind == "setting" else Verdict.OPEN), row
            assert (row.low <= float(plain) <= row.high) == (row.verdict == held), row
        else:
            of_two_runs = row.verdict == Verdict.OPEN and row.another_run == "" and row.reason != ""
            assert same == (row.verdict in (Verdict.EXACT, Verdict.TAKEN_OVER) or of_two_runs), row


def shifted(reading: str, rows: pd.Index, column: str, step: float) -> Change:
    """A change of what a reading reads that its printed number cannot outlive."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        if reading == "rows":
            return frame.drop(rows[0])
        if reading == "grid":
            return frame[frame[column] < frame.loc[rows, column].max()]
        if reading == "distinct":
            return frame.assign(**{column: frame.loc[rows[0], column]})
        if reading == "moved_pairs":
            return frame.assign(**{column: 0})
        if reading in ("first_picked", "same_order"):
            return frame.assign(**{column: -frame[column]})
        if reading == "points_of_slope":
            last = frame["n_comparisons"] == frame.groupby(["n_models", "n_judges"])["n_comparisons"].transform(
                "max"
            )
            return frame.assign(**{column: frame[column].where(~last, frame[column] * 1.5)})
        moved = rows[:1] if reading == "gain" else rows
        values = frame[column].astype(float)
        values[moved] += step
        return frame.assign(**{column: values})

    return change


def outliving(numbers: pd.DataFrame, table: str) -> tuple[list[tuple], int]:
    """Checked numbers of a table whose verdict stays when what it reads moves, and how many are checked."""
    kept, count, reproduced = [], 0, causes()
    for entry in numbers[numbers["table"] == table].to_dict("records"):
        # copies are those of tests/replication/test_published.py
        if entry["verdict"] not in CHECKED or entry["kind"] == "cited":
            continue
        count += 1
        key = (entry["table"], entry["row"], entry["column"])
        step = 1.5 * 10.0 ** -len(entry["printed"].partition(".")[2])
        step *= {"thousands": 1500, "percent": 0.011}.get(entry["reading"], 1)
        column, source = entry["value"], entry["source"]
        if entry["reading"] == "level_of_widths":
            step = 0.1
        rows = STORED.rows(source, entry["where"]).index
        if entry["rule"] == "spread":
            changes = {source: lambda frame: frame.assign(value=2 * frame["value"])}
        elif entry["rule"]:
            step = 2 * (entry["high"] - entry["low"])
            changes = {source: moved_wholly(rows, [column, "low", "high"], step)}
        else:
            changes = {source: shifted(entry["reading"], rows, column, step)}
        sources = reproduced.get(key, [])
        if entry["verdict"] == Verdict.CAUSE:  # ours differs already; what falls is the run that shows why
            changes = {cause["source"]: scrambled for cause in sources}
        now = judged(entry, Changed(STORED.folder, changes), set(), sources)
        if now["verdict"] in CHECKED or (entry["verdict"] == Verdict.CAUSE and now["another_run"]):
            kept.append((*key, now["verdict"]))
    return kept, count


def moved_wholly(rows: pd.Index, columns: list[str], step: float) -> Change:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        for column in (name for name in columns if name in frame):
            frame.loc[rows, column] += step
        return frame

    return change


def scrambled(frame: pd.DataFrame) -> pd.DataFrame:
    rng, numeric = np.random.default_rng(3), frame.select_dtypes("number").columns
    return frame.assign(**{column: 1000.5 + rng.permutation(frame[column]) for column in numeric})


@pytest.mark.parametrize("table", sorted(set(registry()["table"])))
def test_every_verdict_falls_when_what_it_reads_moves(table, numbers):
    kept, count = outliving(numbers, table)
    assert not kept
    if table in ("chatbot_arena", "mt_bench", "mse_settings", "ci_settings", "slopes", "in_text"):
        assert count >= (5 if table == "slopes" else 8)


def test_a_random_result_agrees_with_what_is_printed_from_one_end_of_its_interval_to_the_other(numbers):
    random = numbers[numbers["rule"].ne("") & numbers["verdict"].isin([Verdict.MONTE_CARLO, Verdict.TAKEN_OVER])]
    assert set(random["rule"]) == set(RULES)
    for _, rows in random.groupby(["rule", "kind"]):
        entry = rows.iloc[0].to_dict()
        width = entry["high"] - entry["low"]
        ends = {"low": 0, "high": 0} | {"below": -1e-6 * width, "above": 1e-6 * width}
        for name, step in ends.items():
            end = entry["low" if name in ("low", "below") else "high"] + step
            verdict = judged(entry | {"printed": repr(float(end))}, STORED, set(), [])["verdict"]
            assert (verdict == entry["verdict"]) == (step == 0), (entry["table"], entry["row"], name)


def test_without_its_finding_a_printed_value_is_not_ruled_out(numbers):
    bare = audit(STORED, set())
    assert Verdict.RULED_OUT not in set(bare["verdict"])
    differs = numbers["verdict"] != bare["verdict"]
    assert differs.any()
    assert set(numbers.loc[differs, "verdict"]) == {Verdict.RULED_OUT}
    assert set(bare.loc[differs, "verdict"]) == {Verdict.OPEN}


def test_a_surrogate_checks_nothing(tmp_path):
    stored = tmp_path / "surrogate/chatbot_arena/ranking.csv"
    stored.parent.mkdir(parents=True)
    stored.write_text((ROOT / "results/paper/chatbot_arena/ranking.csv").read_text())
    table = audit(Results(tmp_path), set()).query("source == 'chatbot_arena/ranking.csv' and reading == 'cell'")
    assert table["surrogate"].all()
    assert set(table["verdict"]) == {Verdict.UNCHECKED}
    assert table["reason"].str.contains(r"surrogate.*chatbot_arena/ranking\.csv").all()
    audited = full_audit(Results(tmp_path))
    marked = [
        row for row in every_number(audited, Results(tmp_path)).rows if any("(surrogate)" in c.text for c in row)
    ]
    assert len(marked) == audited.numbers["surrogate"].sum() >= len(table)


def test_a_renamed_model_is_one_row_that_cannot_be_checked(numbers):
    def renamed(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.replace({"model": {"palm-2": "palm-two"}})

    now = audit(changed(**{"chatbot_arena/ranking.csv": renamed}), set())
    table = now[now["table"] == "chatbot_arena"]
    lost = table[table["verdict"] != Verdict.EXACT]
    assert set(lost["row"]) == {"palm-2"}
    assert len(lost) == 8
    assert set(lost["verdict"]) == {Verdict.UNCHECKED}
    assert set(lost["reason"]) == {"chatbot_arena/ranking.csv has no row with model=palm-2"}


def test_a_missing_table_column_or_everything_stops_nothing(tmp_path):
    (tmp_path / "paper/chatbot_arena").mkdir(parents=True)
    ranking = pd.read_csv(ROOT / "results/paper/chatbot_arena/ranking.csv").drop(columns="rank_btl")
    ranking.to_csv(tmp_path / "paper/chatbot_arena/ranking.csv", index=False)
    results = Results(tmp_path)
    found = full_audit(results)
    table = found.numbers[found.numbers["table"] == "chatbot_arena"].set_index("column")
    assert set(table.loc["rank_btl", "reason"]) == {"chatbot_arena/ranking.csv has no column rank_btl"}
    assert set(table.drop(index="rank_btl")["verdict"]) == {Verdict.EXACT}
    others = found.numbers.query("kind in ['result', 'setting'] and not source.str.startswith('chatbot_arena/')")
    assert set(others["verdict"]) == {Verdict.UNCHECKED}
    assert (others["reason"] != "").all()
    held = {told.finding.name for told in found.findings if told.holds is not None}
    assert held == {"vicuna", "printed_ranks", "copied_otherwise", "settings_of_the_code"}
    assert (found.claims["outcome"] == Outcome.UNCHECKED).sum() > 40
    assert "not stored" in page(found, results)


def test_after_a_smoke_run_the_simulation_checks_nothing():
    def few(frame: pd.DataFrame) -> pd.DataFrame:
        first = frame.groupby(["n_models", "n_judges"])["n_comparisons"].rank(method="dense") <= 2
        return frame[first].assign(n_replications=4)

    def two_draws(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["draw"] < 2]

    mse = "convergence_mse/mse.csv"
    now = audit(changed(**{"convergence_mse/algorithm_1_slopes.csv": two_draws}), set()).set_index("table")
    assert set(now.loc["slopes", "verdict"]) == {Verdict.UNCHECKED}
    now = audit(changed(**{mse: few, "ci_coverage/coverage.csv": few}), set()).set_index("table")
    assert Verdict.TAKEN_OVER not in set(now.loc[["mse_settings", "ci_settings"], "verdict"])


def test_the_interval_for_one_more_study_holds_it_as_often_as_it_says():
    rng = np.random.default_rng(4)
    held = []
    for draws in rng.normal(size=(2000, 6)):
        found = one_more(draws[:5])
        held.append(found.low <= draws[5] <= found.high)
    assert np.mean(held) == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 2000))
    assert one_more([1.0, 2.0, 3.0]).high == pytest.approx(2 + 4.302653 * np.sqrt(4 / 3))


def test_order_statistics_hold_one_more_draw_of_any_distribution():
    rng = np.random.default_rng(5)
    held = []
    for draws in rng.exponential(size=(4000, LEAST_ORDERED + 1)):
        found = one_more_by_order(draws[:-1])
        held.append(found.low <= draws[-1] <= found.high)
    assert np.mean(held) == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 4000))
    with pytest.raises(ValueError, match="it takes 39"):
        one_more_by_order(np.ones(LEAST_ORDERED - 1))


def test_a_column_is_explained_by_one_run_and_not_by_two():
    def column(*rows: tuple[str, str]) -> pd.DataFrame:
        frame = pd.DataFrame(rows, columns=["verdict", "another_run"])
        return by_one_run(frame.assign(table="t", column="c", row=list("abcde")[: len(rows)], reason=""))

    exact, left = Verdict.EXACT, Verdict.OPEN
    most = column((exact, "x"), (left, "x"), (left, "x"), (exact, ""), (Verdict.RULED_OUT, "x"))
    assert list(most["verdict"]) == [exact, Verdict.CAUSE, Verdict.CAUSE, left, Verdict.CAUSE]
    assert most["reason"].tolist()[1:3] == ["x", "x"] and re.search(r"\bnot\b.*: x$", most.at[3, "reason"])
    ours = column((exact, ""), (exact, "x"), (exact, ""), (left, "x"))
    assert list(ours["verdict"]) == [exact, exact, exact, left]


def test_whole_columns_are_counted_by_the_better_run(numbers):
    table = columns(numbers).set_index(["place", "column"])
    runs = table.filter(regex="^by (?!one)")
    assert (len(runs.columns), "by ours" in runs) == (2, True)
    assert (table["by one run"] == runs.max(axis=1)).all()
    assert table.loc[("Table 2", "discrimination"), ["numbers", "by ours", "by one run"]].tolist() == [8, 0, 8]
    assert table.loc[("Table A.7", "rank_btl"), ["numbers", "by ours", "by one run"]].tolist() == [45, 38, 43]
    stopped = [("Table A.8", "ultrafeedback"), ("Table A.6", "score_judge_aware")]
    assert table.loc[stopped, ["numbers", "by ours", "by one run"]].to_numpy().tolist() == [[20, 0, 20], [5, 0, 5]]
    assert ("Table 3", "score_btl") not in table.index


def test_totals_add_up_and_tell_results_from_settings(numbers):
    table = totals(numbers).set_index("place")
    assert table.loc["all", "printed"] == len(numbers) == table["printed"].drop("all").sum() == 872
    assert (table[list(map(str, RESULTS))].sum(axis=1) == table["results"]).all()
    others = table[list(map(str, OTHERS))].sum(axis=1)
    assert (others + table["results"] == table["printed"]).all()
    kinds = numbers["kind"].value_counts()
    assert table.loc["all", "results"] + others["all"] == kinds.sum()
    assert others["all"] <= kinds["setting"] + kinds["stated"]


def test_few_numbers_are_ruled_out_open_or_not_checkable(numbers):
    counts = numbers["verdict"].value_counts()
    most = {Verdict.RULED_OUT: 8, Verdict.OPEN: 7, Verdict.UNCHECKED: 15}
    assert {verdict: counts[verdict] for verdict in most if counts[verdict] > most[verdict]} == {}


def test_every_open_number_has_a_sentence_on_what_was_tried(audited):
    rows = audited.numbers[audited.numbers["verdict"] == Verdict.OPEN]
    assert all(len(tried(rows.loc[[index]], STORED)) == 1 for index in rows.index)
    sentences = tried(rows, STORED)
    assert len(sentences) == len(set(sentences)) == 4
    text = page(audited, STORED)
    assert all(f"- {sentence}" in text for sentence in sentences)


def test_searches_that_are_not_stored_are_left_out_of_what_was_tried(numbers, tmp_path):
    assert tried(numbers[numbers["verdict"] == Verdict.OPEN], Results(tmp_path)) == []


def test_table_3_is_exact_in_full(numbers):
    assert set(numbers.loc[numbers["place"] == "Table 3", "verdict"]) == {Verdict.EXACT}


def set_to(column: str, value: object) -> Change:
    return lambda frame: frame.assign(**{column: value})


FALLS = {
    "no_interior_maximum": {"judge_reliability/fits.csv": set_to("status", "interior")},
    "left_out_of_table_1": {"benchmark_alignment/lead.csv": set_to("first", "gpt-4")},
    "widths": {"chatbot_arena/fits.csv": set_to("mean_width", 0.264)},
    "two_scales": {
        f"complete_ranking/{name}/fits.csv": lambda frame: frame.assign(relative_width=frame["mean_width"])
        for name in ("chatbot_arena", "mt_bench", "ultrafeedback", "in_house")
    },
    "slots": {"data_overview/mt_bench/size.csv": set_to("share_first_is_alphabetically_smaller", 0.5)},
    "one_judge_four_names": {"judge_reliability/agreement.csv": set_to("agreement", 0.9)},
    "vicuna": {"chatbot_arena/ranking.csv": set_to("score_btl", 0.0)},
    "weak_panels": {
        f"mixed_judges/{name}/sweep.csv": set_to("q75", 1.0)
        for name in ("chatbot_arena", "mt_bench", "ultrafeedback")
    },
    "slopes": {"convergence_mse/slopes_draws.csv": set_to("slope_se", 10.0)},
    "sparsity": {"sparsity/in_house/found_jointly.csv": set_to("p_joint", 0.0)},
    "mixed_sizes": {
        "judge_reliability/discrimination.csv": lambda frame: frame.assign(discrimination=-frame["discrimination"])
    },
    "sample_of_the_pool": {"unstated_settings/table_2.csv": set_to("reproduced", False)},
    "judges_in_the_files": {
        f"data_overview/{name}/judges.csv": set_to("judge", "deepseek-chat")
        for name in ("chatbot_arena", "mt_bench", "ultrafeedback", "in_house")
    },
}
NEED_NO_STORED_TABLE = {"printed_ranks", "seventeen_judges", "copied_otherwise", "settings_of_the_code"}


def test_every_finding_is_tested_to_fall():
    assert {finding.name for finding in FINDINGS} == FALLS.keys() | NEED_NO_STORED_TABLE


@pytest.mark.parametrize("name", FALLS)
def test_a_finding_holds_by_what_is_stored_and_falls_with_it(name):
    (finding,) = (finding for finding in FINDINGS if finding.name == name)
    if not all(STORED.real(table) for table in finding.evidence):
        pytest.skip("its evidence is not stored")
    assert check_finding(finding, STORED).holds
    assert check_finding(finding, Changed(STORED.folder, FALLS[name])).holds is False


def finding_of(name: str):
    return next(finding for finding in FINDINGS if finding.name == name)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_the_left_out_judge_is_told_by_the_scores_that_come_out(shift, tmp_path):
    folder = tmp_path / "paper/complete_ranking/in_house"
    folder.mkdir(parents=True)
    printed = published.table("complete_ranking")[["score_btl", "rank_btl", "score_judge_aware"]].astype(float)
    printed.assign(score_btl=printed["score_btl"] + shift).to_csv(folder / "ranking_all_judges.csv")
    printed.assign(rank_btl=printed["rank_btl"] + 1).to_csv(folder / "ranking.csv")
    told = check_finding(finding_of("seventeen_judges"), Results(tmp_path))
    assert told.holds == (shift > 0)
    assert "45 of 45 unweighted scores" in told.text


def test_evidence_configs_and_figures_exist():
    for finding in FINDINGS:
        if all(STORED.real(name) for name in finding.evidence):
            for section in finding.command.split()[1:]:
                assert (ROOT / f"conf/{section}.yaml").is_file()
    assert sum(all(STORED.real(name) for name in finding.evidence) for finding in FINDINGS) >= 8


def test_the_page_in_markdown_is_short_and_leads_to_every_number(audited):
    text = page(audited, STORED)
    assert len(text.splitlines()) <= 300
    assert "audit.html" in text and "audit.csv" in text
    assert len(every_number(audited, STORED).rows) == len(audited.numbers)


@pytest.mark.filterwarnings("error")
def test_numbers_without_any_reason_have_empty_cells(audited):
    numbers = audited.numbers.head(20)
    without = replace(audited, numbers=numbers.assign(reason=float("nan")))
    empty = replace(audited, numbers=numbers.assign(reason=""))
    assert every_number(without, STORED).rows == every_number(empty, STORED).rows


def test_page_csv_and_readme_are_current(audited):
    listed = stale(STORED.folder)
    assert (ROOT / "results/paper/audit.md").read_text() == page(with_freshness(audited, listed, STORED), STORED)
    pages = {path: path.read_text() for path in markdown_in([ROOT / "README.md", ROOT / "docs"])}
    shown = blocks(audited, STORED)
    for name in shown:
        assert any(f"<!-- {name}:" in text for text in pages.values()), f"no page shows the block {name}"
    for path, text in pages.items():
        assert current(text, shown, STORED) == text, path
    stored = pd.read_csv(ROOT / "results/paper/audit.csv", keep_default_na=False)
    assert stored["verdict"].tolist() == list(map(str, audited.numbers["verdict"]))
    stored = pd.read_csv(ROOT / "results/paper/audit_claims.csv")
    assert stored["outcome"].tolist() == list(map(str, claims(STORED)["outcome"]))


def test_the_html_page_stands_alone(audited):
    shown = html_page(page(audited, STORED), "Audit", STORED.audit)
    assert shown.count("<table>") == len(re.findall(r"^\|[-:|]+\|$", page(audited, STORED), re.MULTILINE))
    assert 'src="data:image/png;base64,' in shown
    assert not re.search(r'src="(?!data:)', shown)
    assert "arxiv.org/abs/2601.21817" in shown


def test_links_of_the_page_lead_somewhere(audited):
    for target in re.findall(r"\]\(([^)]+)\)", page(audited, STORED)):
        assert target.startswith("https://") or (STORED.audit / target).resolve().is_file(), target


def test_the_picture_of_the_readme_is_of_the_stored_audit():
    numbers, stored = pd.read_csv(ROOT / "results/paper/audit.csv"), ROOT / "figures/paper/audit"
    with in_style():
        figures = {"verdicts": plots.verdicts(numbers, [str(one) for one in RESULTS])}
        assert unlike_figures("audit", figures, {}, stored) == []


def test_what_is_not_one_value_is_refused(tmp_path):
    with pytest.raises(Missing, match="make nothing"):
        STORED.table("nothing/here.csv")
    with pytest.raises(Missing, match="has 20 rows"):
        STORED.value("chatbot_arena/ranking.csv", "", "score_btl")
    done = forked.run(["experiments/audit.py", f"results={tmp_path}", f"figures={tmp_path}", "pages=[]"])
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
