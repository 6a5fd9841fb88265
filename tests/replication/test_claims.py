"""Claims in words fall when what they read moves; the article, the letter, the page of claims."""

import hashlib
import json
import re
import shutil
import tomllib
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from experiments.audit import full_audit
from replication import published
from replication.auditing.audit import OTHERS
from replication.auditing.claim import (
    CHECKS,
    Estimates,
    Estimator,
    Outcome,
    against,
    estimator_of,
    estimator_rules,
)
from replication.auditing.claims import claims, decide, outcomes
from replication.auditing.claims_simulation import PAPER_K, Cells, draws_left_out
from replication.auditing.registry import causes, registry
from replication.auditing.results import Missing, Results
from replication.auditing.reviewing import (
    SPECIFICATION,
    UNKNOWN,
    authors,
    cost_of,
    manifest,
    numbers_claimed,
    words_claimed,
    written,
)
from replication.config import ROOT
from replication.crate import crate_of
from tests.replication.test_audit import STORED, Changed
from tests.replication.test_packaging import make_sections

CLAIMS = published.table("claims")
QUOTED = pd.read_csv(
    Path(published.__file__).parent / "auditing/claims_quoted.csv", index_col="id", keep_default_na=False
)["quoted"]
BESIDE = [name for name, row in CLAIMS.iterrows() if row["numbers"]]
FITS = {"judge_aware", "btl"}
MEASURES = {  # of a printed number, by the stored column that answers it
    r"slope": "slope",
    r"mean_width.*|btl_wider_by": "width",
    r"(rank|move)_.*|largest_rank_change": "rank",
    r"score_.*": "score",
    r"discrimination": "discrimination",
    r"pearson": "Pearson correlation",
    r"spearman.*": "Spearman correlation",
}


def by_its_estimator(name: str, results: Results) -> Estimates:
    """What a claim reads: estimates by the estimator that it names."""
    return Estimates(results, Estimator(CLAIMS.at[name, "estimator"]))


def numbers_beside(name: str) -> list[dict]:
    """The printed numbers about the same thing as a claim."""
    patterns = list(filter(None, CLAIMS.at[name, "numbers"].split(";")))
    entries = registry().query("kind == 'result'").to_dict("records")
    by_pattern = {
        pattern: [e for e in entries if fnmatch("/".join((e["table"], e["row"], e["column"])), pattern)]
        for pattern in patterns
    }
    assert all(by_pattern.values()), by_pattern
    return [entry for listed in by_pattern.values() for entry in listed]


def measure_of(entry: dict) -> str:
    column = re.search(r"measure=(\w+)", entry["where"])[1] if entry["value"] == "mean" else entry["value"]
    return next(measure for pattern, measure in MEASURES.items() if re.fullmatch(pattern, column))


def fits_of(entry: dict) -> set[str]:
    """Which fits a printed number is about; one that names none is about discriminations, unless it is a gain."""
    if entry["reading"] == "gain":
        return FITS
    named = {fit for fit in FITS if re.search(rf"(_|fit=|method=){fit}\b", f"{entry['value']} {entry['where']}")}
    return named or {"judge_aware"}


def test_claims_and_checks_are_the_same():
    assert CLAIMS.index.is_unique
    assert set(CLAIMS.index) == set(CHECKS)
    assert (CLAIMS["measure"] != "").all()
    assert set(CLAIMS["estimator"]) <= set(Estimator)
    assert set(";".join(CLAIMS["fits"]).split(";")) - {""} == FITS


@pytest.mark.parametrize("name", BESIDE)
def test_a_claim_has_the_estimator_measure_and_fits_of_the_numbers_beside_it(name):
    entries, claim = numbers_beside(name), CLAIMS.loc[name]
    assert {estimator_of(e["source"], e["where"], e["value"]) for e in entries} == {claim["estimator"]}
    assert {measure_of(e) for e in entries} == set(claim["measure"].split(";"))
    assert set.union(*map(fits_of, entries)) == set(claim["fits"].split(";"))


def test_estimates_printed_in_text_are_beside_a_claim():
    beside = {(e["table"], e["row"]) for name in BESIDE for e in numbers_beside(name)}
    for entry in registry().query("table == 'in_text' and kind == 'result'").to_dict("records"):
        is_count = entry["reading"] == "rows"  # such as how many models a ranking has
        if estimator_of(entry["source"], entry["where"], entry["value"]) and not is_count:
            assert (entry["table"], entry["row"]) in beside, entry["row"]


def test_widths_of_two_models_decide_only_what_the_paper_says_of_widths():
    """A finding calls them meaningless for precision, since the two models have two scales."""
    compares_fits = CLAIMS["fits"].str.contains(";")
    about_widths = CLAIMS[CLAIMS["measure"].str.contains("width") & compares_fits].index
    assert len(about_widths) > 3
    assert all(re.search(r"width|interval", QUOTED[name]) for name in about_widths)


def test_a_claim_reads_estimates_by_the_estimator_that_it_names_and_no_others():
    rules = estimator_rules()
    for name, claim in CLAIMS.iterrows():
        stored = by_its_estimator(name, STORED)
        outcome, _ = decide(name, stored)
        by = {
            rule["estimator"]
            for table in stored.read
            for rule in rules
            if fnmatch(table, rule["table"] or rule["reads"])
        }
        if outcome != Outcome.UNCHECKED:
            assert claim["estimator"] in by if claim["estimator"] else not by, name


def test_where_another_run_by_algorithm_1_gives_the_numbers_the_claim_has_its_outcome():
    by_algorithm_1 = {
        key
        for key, listed in causes().items()
        for cause in listed
        if estimator_of(cause["source"], cause["where"], cause["value"]) == Estimator.ALGORITHM_1
    }
    decided = claims(STORED).set_index("id")["algorithm_1"]
    without = {
        name
        for name in BESIDE
        if decided[name] == ""
        and any((e["table"], e["row"], e["column"]) in by_algorithm_1 for e in numbers_beside(name))
    }
    # these take an error of a discrimination, or discriminations on two sets, which no such run has
    assert without <= {"mixed_pool_noise", "gamma_stable", "gamma_diagonal"}


def test_the_outcome_by_algorithm_1_is_that_of_its_tables():
    def flat(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(slope=-1.0)

    def decided(**changes) -> pd.Series:
        return claims(Changed(STORED.folder, changes)).set_index("id").loc["slopes_near_one"]

    tables = "convergence_mse/algorithm_1_slopes.csv", "convergence_mse/slopes_draws.csv"
    assert decided()["tables"] == list(tables)
    assert decided()["outcome"] == decided()["algorithm_1"] == Outcome.PARTLY
    now = decided(**{tables[0]: flat})
    assert now["outcome"] == now["algorithm_1"] == Outcome.HOLDS
    assert "fit over a box: does not hold" in now["others"]
    now = decided(**{tables[1]: flat})
    assert now["outcome"] == Outcome.PARTLY
    assert "fit over a box: holds" in now["others"]


def test_ultrafeedback_by_algorithm_1_is_that_of_its_stopped_iterate(tmp_path):
    scores = published.numbers("ultrafeedback", "score_judge_aware")
    gammas = published.numbers("judge_discrimination", "ultrafeedback")
    rows = [(name, column, value) for column, values in (("score_judge_aware", scores), ("ultrafeedback", gammas))
            for name, value in values.items()]  # fmt: skip
    path = tmp_path / "paper/judge_reliability/stopped_iterate.csv"
    path.parent.mkdir(parents=True)
    pd.DataFrame(rows, columns=["row", "column", "ours"]).to_csv(path, index=False)
    stored = Estimates(Results(tmp_path), Estimator.ALGORITHM_1)
    outcome, shown = decide("ultrafeedback_ultralm", stored)
    assert (outcome, shown) == (Outcome.HOLDS, f"Scores judge_aware {scores['ultralm-13b']:.3f}.")
    assert decide("size_and_gamma", stored)[0] == Outcome.HOLDS
    assert stored.read == ["judge_reliability/stopped_iterate.csv"]
    pd.DataFrame(rows, columns=["row", "column", "ours"]).assign(ours=1.0).to_csv(path, index=False)
    assert decide("ultrafeedback_ultralm", stored)[0] == Outcome.FAILS


def resampled(tmp_path: Path, gains: dict[str, float], lost: int) -> Results:
    """Stored gains in-house at every point by estimator, with as many draws lost by the exact fit."""
    points = pd.MultiIndex.from_product([PAPER_K, [1000, 5000]], names=["n_judges", "n_comparisons"])
    frames = [
        points.to_frame(index=False).assign(
            estimator=estimator,
            reference="own",
            measure="pearson",
            judge_aware_minus_btl=gain,
            standard_error=0.01,
            n_repeats=20 - lost * (estimator == "exact"),
            n_draws=20,
        )
        for estimator, gain in gains.items()
    ]
    path = tmp_path / "paper/subsampling_efficiency/in_house/gains.csv"
    path.parent.mkdir(parents=True)
    pd.concat(frames).to_csv(path, index=False)
    return Results(tmp_path)


def test_claims_about_draws_are_decided_by_all_of_them(tmp_path):
    results = resampled(tmp_path, {"exact": 0.04, "box": 0.0, "algorithm_1": -0.04}, lost=19)
    assert CLAIMS.at["weighted_ahead", "estimator"] == Estimator.ALGORITHM_1
    decided = claims(results).set_index("id").loc["weighted_ahead"]
    assert decided["outcome"] == decided["algorithm_1"] == Outcome.FAILS
    assert "leave out" not in decided["shown"]
    assert decided["shown"].startswith("Behind at 8 of 8 points")
    assert "exact fit: holds. Behind at 0 of 8 points" in decided["others"]
    assert decided["others"].count("The means leave out 152 of 160 draws.") == 1


def test_estimates_by_nobody_are_missing():
    with pytest.raises(Missing, match=r"chatbot_arena/fits\.csv has no estimates by box"):
        Estimates(STORED, Estimator.BOX).table("chatbot_arena/fits.csv")
    assert len(Estimates(STORED, Estimator.BOX).table("data_overview/in_house/judges.csv")) > 0


def test_outcomes_of_all_claims_are_counted():
    counts = outcomes(claims(STORED)).iloc[0]
    assert counts["claims"] == counts.drop("claims").sum() == len(CLAIMS)


def test_a_mean_with_an_unknown_error_has_none_and_is_not_counted():
    values, errors = np.array([0.1, -0.1, 0.2]), np.array([0.01, 0.03, np.nan])
    cells = Cells(values, errors)
    assert (cells.count, cells.negative, cells.clearly_negative, cells.clearly_positive) == (2, 1, 1, 1)
    assert cells.mean().count == 0
    assert cells.mean().in_words() == "+0.067 (error not known)"
    known = Cells(values[:2], errors[:2]).mean()
    assert known.in_words() == f"+0.000 (error {np.hypot(0.01, 0.03) / 2:.3f})"
    lost = Cells(np.append(values[:2], np.nan), np.append(errors[:2], np.nan)).mean()  # all its draws
    assert lost.in_words() == known.in_words()


def test_a_mean_that_leaves_draws_out_says_how_many():
    rows = pd.DataFrame({"n_draws": [20, 20], "n_repeats": [20, 1]})
    assert draws_left_out(rows) == " The means leave out 19 of 40 draws."
    assert draws_left_out(rows.assign(n_repeats=20)) == ""


def reversed_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Results against their keys the other way round."""
    keys = {
        "n_models",
        "n_judges",
        "n_comparisons",
        "draw",
        "trees",
        "edge_fraction",
        "n_repeats",
        "n_replications",
    }
    columns = [name for name in frame.select_dtypes("number") if name not in keys]
    return frame.assign(**{name: frame[name].to_numpy()[::-1] for name in columns})


def negated(frame: pd.DataFrame) -> pd.DataFrame:
    columns = [
        "mean",
        "slope",
        "coverage",
        "width",
        "relative_width",
        "mean_width",
        "pearson",
        "spearman",
        "estimate",
        "ours",
        "ours_all_comparisons",
        "judge_aware_minus_btl",
    ]
    known = [*(name for name in frame if re.match("score|rank|discrimination|elo|low|high", name)), *columns]
    columns = [name for name in known if name in frame and pd.api.types.is_numeric_dtype(frame[name])]
    return frame.assign(**{name: -frame[name] for name in columns})


def even(frame: pd.DataFrame) -> pd.DataFrame:
    """Nothing moves, no judge is at zero, everything covers as it should."""
    plain = {name: 0 for name in frame if name.startswith("move_")}
    wanted = {"coverage": 0.95, "status": "interior", "slope": -1.0, "low_slope": -1.0, "high_slope": 1.0}
    wanted |= {"low": 0.5, "high": 1.5, "bootstrap_ratio": 1.0}
    return frame.assign(**plain, **{name: value for name, value in wanted.items() if name in frame})


def parted(frame: pd.DataFrame) -> pd.DataFrame:
    """Half of the rows, with other names in them."""
    frame = frame.iloc[: len(frame) // 2]
    return frame.replace({"judge": {name: f"{name}, renamed" for name in frame.get("judge", [])}})


def scattered(frame: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    numeric = [name for name in ("mean", "coverage", "width", "relative_width", "mean_width") if name in frame]
    moved = {name: -1 for name in frame if name.startswith("move_")}
    return frame.assign(**{name: frame[name] * rng.uniform(0, 3, len(frame)) for name in numeric}, **moved)


def favoured(frame: pd.DataFrame) -> pd.DataFrame:
    """The weighted fit clearly ahead, everything one rank up, curves straight, hardly anything compared."""
    if {"mean", "n_comparisons"} <= set(frame):
        frame = frame.assign(mean=1 / frame["n_comparisons"])
    if {"mean", "method"} <= set(frame):
        frame["mean"] += frame["method"] == "judge_aware"
    if "judge_aware_minus_btl" in frame:
        frame = frame.assign(judge_aware_minus_btl=1.0, standard_error=0.1)
    up = {name: frame[name] - 1 for name in frame if name.startswith("rank_")}
    return frame.assign(**up, **({"comparisons": 0} if "comparisons" in frame else {}))


CHANGES = (reversed_numbers, negated, even, parted, scattered, favoured)


@pytest.mark.parametrize("name", sorted(set(CHECKS) - {"ranks_follow_scores"}))
def test_every_claim_falls_or_rises_with_its_tables(name):
    stored = by_its_estimator(name, STORED)
    outcome, shown = decide(name, stored)
    if outcome == Outcome.UNCHECKED:
        pytest.skip("its tables are not stored")
    assert shown
    outcomes = set()
    for change in CHANGES:
        for changes in (dict.fromkeys(stored.read, change), {stored.read[0]: change}):
            with suppress(RuntimeWarning):  # such as the logarithm of a negated error
                outcomes.add(decide(name, by_its_estimator(name, Changed(STORED.folder, changes)))[0])
    assert outcomes - {outcome, Outcome.UNCHECKED}


def test_a_count_decides_as_it_says():
    assert [against(contrary, 10) for contrary in (0, 5, 6)] == [Outcome.HOLDS, Outcome.PARTLY, Outcome.FAILS]
    assert [against(0, 10, clear) for clear in (5, 6)] == [Outcome.UNDECIDED, Outcome.HOLDS]
    assert against(1, 10, 0) is Outcome.PARTLY
    with pytest.raises(Missing, match="no cells"):
        against(0, 0)


EVERY_RESULT = Results(ROOT / "results")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
ARTICLE = (ROOT / "paper/paper.md").read_text()
LETTER = (ROOT / "paper/letter.md").read_text()
TEMPLATES = sorted((ROOT / "paper").glob("*.j2"))
SECTIONS = [  # that the Journal of Open Source Software requires
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
]


@pytest.fixture(scope="module")
def audited():
    return full_audit(EVERY_RESULT)


def test_article_and_letter_are_current(audited):
    texts = written(ROOT / "paper", audited, EVERY_RESULT, CITATION)
    assert texts == {"paper.md": ARTICLE, "letter.md": LETTER}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_number_is_typed_by_hand(path):
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"@\w+|Table \w[.\d]*", "", text)
    assert not re.findall(r".*\d.*", text)


def test_the_article_has_the_form_of_the_journal():
    _, head, body = ARTICLE.split("---\n", 2)
    told = yaml.safe_load(head)
    assert told.keys() == {"title", "tags", "authors", "affiliations", "date", "bibliography"}
    indices = {place["index"] for place in told["affiliations"]}
    assert all(author["affiliation"] in indices for author in told["authors"])
    assert re.findall(r"^# (.*)$", body, re.MULTILINE) == SECTIONS
    assert 750 <= len(body.split()) <= 1750
    assert all((ROOT / "paper" / name).is_file() for name in re.findall(r"\]\((\S+\.png)\)", body))


def test_what_is_cited_is_in_the_bibliography_and_the_other_way_round():
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/paper.bib").read_text(), re.MULTILINE)
    assert sorted(entries) == sorted(set(re.findall(r"@(\w+)", ARTICLE)))


def test_authors_come_from_the_citation_and_nowhere_else():
    person = {"given-names": "Ada", "family-names": "L", "affiliation": "A", "orcid": "https://orcid.org/0"}
    made = authors(CITATION | {"authors": [person, {"name": "B", "affiliation": "C"}, {"name": "D"}]})
    assert [author["name"] for author in made["authors"]] == ["Ada L", "B", "D"]
    assert [author["place"] for author in made["authors"]] == [1, 2, 3]
    assert made["affiliations"] == ["A", "C", "Independent"]
    (name,) = (author["name"] for author in CITATION["authors"])
    assert all(name not in path.read_text() for path in TEMPLATES)
    assert name in ARTICLE


def test_every_claim_is_in_the_counts_of_the_article_and_the_letter(audited):
    for text in written(ROOT / "paper", audited, EVERY_RESULT, CITATION).values():
        total, counts = re.search(r"Of (\d+) claims in words, these are the verdicts:\n(.*?)\.\n", text).groups()
        assert sum(map(int, re.findall(r"\d+", counts))) == int(total) == len(audited.claims)


def test_the_letter_names_the_claims_that_do_not_hold_and_no_others(audited):
    letter = written(ROOT / "paper", audited, EVERY_RESULT, CITATION)["letter.md"]
    failed = audited.claims["outcome"] == Outcome.FAILS
    for claim, fails in zip(audited.claims.itertuples(), failed, strict=True):
        assert (f"- {claim.statement} ({claim.place})." in letter) == fails


def test_the_letter_has_every_finding_with_its_command(audited):
    appendix = LETTER.partition("## Appendix: findings")[2]
    for number, told in enumerate(audited.held, 1):
        assert f"### {number}. {told.finding.title}\n\n{told.text}" in appendix
        assert f"`{told.finding.command}`" in appendix


def test_without_a_table_that_a_number_comes_from_nothing_is_written(audited, tmp_path):
    with pytest.raises(Missing):
        written(ROOT / "paper", audited, Results(tmp_path), CITATION)


# The page of claims and the manifest: every claim is there, with a command and files that exist.


PAGE = (ROOT / "docs/claims.md").read_text()


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()[2:]]


def test_every_result_and_every_claim_is_on_the_page(audited):
    numbers, words = numbers_claimed(audited, EVERY_RESULT), words_claimed(audited, EVERY_RESULT)
    assert numbers in PAGE
    assert words in PAGE
    results = audited.numbers[~audited.numbers["verdict"].isin(OTHERS)]
    assert len(cells(numbers)) == results["place"].nunique()
    expected = [re.search(r"\d+", row[4]) for row in cells(numbers)]
    assert sum(int(found[0]) if found else 1 for found in expected) == len(results)
    assert sum(int(n) for row in cells(numbers) for n in re.findall(r": (\d+)", row[5])) == len(results)
    assert len(cells(words)) == len(audited.claims)


def test_every_command_of_the_page_is_one_of_make(audited):
    known = {*make_sections(), "audit"}
    for row in cells(numbers_claimed(audited, EVERY_RESULT)) + cells(words_claimed(audited, EVERY_RESULT)):
        assert set(re.fullmatch(r"`make (.*)`", row[1])[1].split()) <= known
    (table_2,) = (row for row in cells(numbers_claimed(audited, EVERY_RESULT)) if row[0].startswith("Table 2"))
    assert "unstated_settings" in table_2[1]  # the run that shows the cause


def test_costs_are_those_of_the_records(tmp_path):
    for name, machine in {
        "a/x": {"seconds": 60, "peak_memory_mb": 500},
        "a/y": {"seconds": 30, "peak_memory_mb": 1500},
        "b": {"seconds": 1},
    }.items():
        (tmp_path / name).mkdir(parents=True)
        record = {"section": name[0], "surrogate": False, "machine": {"cpu": "one", **machine}}
        (tmp_path / name / "run.json").write_text(json.dumps(record))
    assert cost_of(["a"], Results(tmp_path)).cells() == ("1.5", "1.5 GB")
    assert cost_of(["b"], Results(tmp_path)).cells() == ("under 0.1", UNKNOWN)
    assert cost_of(["a", "b"], Results(tmp_path)).cells() == ("1.5", UNKNOWN)


def test_the_manifest_is_current_and_lists_outputs_that_are_there(audited):
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    text = (ROOT / "codecheck.yml").read_text()
    assert text == manifest(audited, EVERY_RESULT, citation)
    told = yaml.safe_load(text)
    assert told["version"] == SPECIFICATION
    assert told["paper"].keys() == {"title", "authors", "reference"}
    assert all(entry.keys() == {"file", "comment"} for entry in told["manifest"])
    files = [entry["file"] for entry in told["manifest"]]
    assert len(files) == len(set(files)) > 30
    assert all((ROOT / name).is_file() for name in files)


# The record for machines: every stored file is in it, every link leads somewhere, the bytes are the same.


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def graph() -> dict[str, dict]:
    entities = crate_of(ROOT, PROJECT)["@graph"]
    assert len({entity["@id"] for entity in entities}) == len(entities)
    return {entity["@id"]: entity for entity in entities}


def links(value) -> set[str]:
    """Identifiers that a value refers to."""
    if isinstance(value, list):
        return set().union(*map(links, value))
    return {value["@id"]} if isinstance(value, dict) else set()


def stored(folder: str, *suffixes: str) -> set[str]:
    found = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return {path.as_posix() for path in found if "smoke" not in path.parts}


def test_every_stored_table_and_figure_is_there(graph):
    files = stored("results", ".csv") | stored("figures", ".png")
    assert len(files) > 100
    assert files <= graph.keys()


def test_every_link_leads_somewhere(graph):
    targets = set().union(*(links(value) for entity in graph.values() for value in entity.values()))
    assert targets - graph.keys() == {"https://w3id.org/ro/crate/1.1"}  # what the record itself conforms to
    files = [name for name, entity in graph.items() if "File" in entity["@type"] and "://" not in name]
    assert [name for name in files if not (ROOT / name).is_file()] == []


def test_every_run_is_one_action_from_a_script_its_code_config_and_data(graph):
    runs = {path: json.loads((ROOT / path).read_text()) for path in stored("results", ".json") if "/run." in path}
    actions = {
        e["subjectOf"]["@id"]: e for e in graph.values() if e["@type"] == "CreateAction" if "subjectOf" in e
    }
    assert actions.keys() == runs.keys()
    for path, run in runs.items():
        script = actions[path]["instrument"]["@id"]
        assert Path(script).stem == run["section"]
        assert "src/replication/records.py" in links(graph[script]["softwareRequirements"])
        used = links(actions[path]["object"])
        assert f"conf/{run['section']}.yaml" in used
        assert any(graph[name].get("version") == run["machine"]["commit"] for name in used)
        sums = {source["sha256"] for source in run["data"].values() if "sha256" in source}
        assert sums <= {graph[name].get("sha256") for name in used}
        made = links(actions[path]["result"])
        assert {f"{Path(path).parent.as_posix()}/{name}" for name in run["files"]} <= made


def test_tables_come_from_data_and_figures_from_tables(graph):
    table = "results/paper/chatbot_arena/ranking.csv"
    (data,) = links(graph[table]["isBasedOn"])
    assert graph[data]["name"] == "judge_results_10k_chatbot_arena.json"
    assert table in links(graph["figures/paper/chatbot_arena/leaderboard.png"]["isBasedOn"])


def test_digests_are_those_of_the_files(graph):
    for name in (
        "results/paper/chatbot_arena/ranking.csv",
        "figures/paper/chatbot_arena/leaderboard.png",
        "results/paper/audit.csv",
    ):
        assert graph[name]["sha256"] == hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def test_it_is_the_same_each_time_and_surrogates_are_called_so(tmp_path):
    for name in ("experiments", "conf", "src/replication/published_tables", "figures/paper/chatbot_arena"):
        shutil.copytree(ROOT / name, tmp_path / name)
    kept = ROOT / "results/paper/chatbot_arena"
    for folder, surrogate in (("results/paper/chatbot_arena", False), ("results/surrogate/chatbot_arena", True)):
        shutil.copytree(kept, tmp_path / folder)
        record = json.loads((kept / "run.json").read_text()) | {"surrogate": surrogate}
        (tmp_path / folder / "run.json").write_text(json.dumps(record))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("replication.crate.files_of_script", lambda path: [])
        first, second = (crate_of(tmp_path, PROJECT) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
    entities = {entity["@id"]: entity for entity in first["@graph"]}
    assert "#surrogate-chatbot_arena" in links(entities["#run-surrogate/chatbot_arena"]["object"])
    assert entities["#run-surrogate/chatbot_arena"]["description"].startswith("surrogate")
    assert "datePublished" not in entities["./"]  # there is no history to take it from
