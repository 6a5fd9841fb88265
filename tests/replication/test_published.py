"""The printed numbers: against the TeX source when it is at hand, how agreement is decided, copies and sizes."""

import os
import re
from collections import Counter
from pathlib import Path

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

PAPER = os.environ.get("JUDGERANK_PAPER")
needs_paper = pytest.mark.skipif(
    not PAPER, reason=f"the paper's TeX ({published.ADDRESS}) is not at hand (JUDGERANK_PAPER)"
)
QUOTED = pd.read_csv(
    Path(published.__file__).parent / "auditing/claims_quoted.csv", index_col="id", keep_default_na=False
)["quoted"]
LABELS = {
    "mt_bench": "tab:model-evaluation",
    "mixed_judges": "tab:heterogeneous-gammas",
    "chatbot_arena": "tab:ca",
    "mse_settings": "app:sim-details-mse",
    "ci_settings": "app:sim-details-ci",
    "slopes": "tab:slopes-mse-vs-comparisons",
    "data_sizes": "tab:data-comparison-num",
    "judge_llms": "tab:judge_models",
    "ultrafeedback": "tab:model-evaluation-ultra",
    "complete_ranking": "tab:ranking-comparison",
    "judge_discrimination": "tab:judges",
    "sparsity": "tab:sparsity",
}
TABLES = sorted(Path(file.name).stem for file in published.TABLES.iterdir() if file.name != "cited.csv")  # sources
SETTINGS = ["mse_settings", "ci_settings", "slopes"]
NOT_NUMBERS = {"printed_name", "place", "unit", "statement", "fits", "estimator", "measure", "numbers"}
DASHED = {"size", "tokens", "truthfulqa"}
WORDS = {
    "one": "1",
    "first": "1",
    "two": "2",
    "three": "3",
    "third": "3",
    "four": "4",
    "quartet": "4",
    "five": "5",
}
NUMBER = r"-?\d+(?:\.\d+)?"
TOKEN = re.compile(rf"(?<![\w.])(?<!\w-){NUMBER}K?(?!\w|\.\d)|\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
BRACES = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"


def tex_rows(label: str) -> list[list[str]]:
    """Rows of a tabular as cells without markup, empty cells left out."""
    source = published.paper()
    body = source[source.index(f"\\label{{{label}}}") :]
    body = body[body.index("\\midrule") + len("\\midrule") : body.index("\\bottomrule")]
    plain = re.sub(r"\\(?:textbf|underline|texttt)\{([^}]*)\}|\$", r"\1", body)
    plain = re.sub(r"\\\{(.*)\\\}", lambda budgets: budgets[1].replace(",", ""), plain)
    rows = ([cell.strip() for cell in row.split("&") if cell.strip()] for row in plain.split("\\\\"))
    return [row for row in rows if row]


def tex_places() -> dict[str, str]:
    """The text of the abstract, each numbered section without its subsections and floats, caption and footnote."""
    source = re.sub(r"\\(?:\w*ref|label|cite\w*|url)\{[^}]*\}", " ", published.paper())
    note = rf"\\footnote{BRACES}"
    places = {f"footnote {number}": text for number, text in enumerate(re.findall(note, source), 1)}
    source = re.sub(note, " ", source)
    places["abstract"] = re.search(r"(?s)\\begin\{abstract\}(.*?)\\end\{abstract\}", source)[1]
    for part, kind, prefix in zip(source.split("\\appendix"), ("section", "appendix"), ("", "A."), strict=True):
        for environment in ("figure", "table"):
            floats = rf"(?s)\\begin\{{{environment}\*?\}}.*?\\end\{{{environment}\*?\}}"
            for number, text in enumerate(re.findall(floats, part), 1):
                caption = re.search(rf"\\caption{BRACES}", text)[1]
                places[f"caption of {environment.title()} {prefix}{number}"] = caption
            part = re.sub(floats, " ", part)
        pieces = re.split(r"\\((?:sub)*)section\{", part)
        numbering = [0, 0, 0]
        for subs, text in zip(pieces[1::2], pieces[2::2], strict=True):
            level = len(subs) // len("sub")
            numbering = [*numbering[:level], numbering[level] + 1, 0, 0]
            top = chr(ord("A") + numbering[0] - 1) if kind == "appendix" else numbering[0]
            places[f"{kind} " + ".".join(map(str, [top, *numbering[1 : level + 1]]))] = text
    return places


def tex_numbers(text: str) -> Counter[str]:
    """How often each number is printed, small ones perhaps as words; digits inside names are none."""
    plain = re.sub(r"\\[A-Za-z]+|\$", " ", text)
    return Counter(WORDS.get(token.lower(), token) for token in TOKEN.findall(plain))


def of_two_digits(numbers: Counter[str]) -> Counter[str]:
    """Without the single digits, most of which are notation."""
    return Counter({number: count for number, count in numbers.items() if re.search(r"\d\.?\d", number)})


def in_text_numbers() -> dict[str, Counter[str]]:
    """The numbers in running text, by place; a footnote's section is not part of its place."""
    table = published.table("in_text")
    places = table["place"].str.partition(",")[0]
    return {place: Counter(printed) for place, printed in table["printed"].groupby(places)}


@needs_paper
@pytest.mark.parametrize("name", LABELS)
def test_tables_are_those_of_the_tex_source(name):
    table = published.table(name)
    columns = list(table.columns)
    if name == "chatbot_arena":  # prints the name after the ranks
        columns = ["rank_judge_aware", "rank_btl", *columns[:1], *columns[3:]]
    if name in {"mse_settings", "ci_settings"}:  # print no name
        columns.remove("printed_name")
    assert table[columns].to_numpy().tolist() == tex_rows(LABELS[name])


@needs_paper
def test_numbers_in_text_stand_where_they_are_said_to_stand():
    places = tex_places()
    for place, numbers in in_text_numbers().items():
        assert numbers <= tex_numbers(places[place]), place


@needs_paper
def test_claims_stand_in_sections_that_exist():
    assert set(published.table("claims")["place"]) <= tex_places().keys()


def words(text: str) -> str:
    """Words and numbers of a text or of TeX, without markup and punctuation."""
    plain = re.sub(r"\\%", "%", text)
    return " ".join(re.sub(r"\\[A-Za-z]+|[\\$(){}~,:;.]", " ", plain).lower().split())


def missing_parts(quoted: str, place: str) -> list[str]:
    """Parts of a quotation, between dots, that a place of the paper does not have in this order."""
    text, at, missing = words(place), 0, []
    for part in map(words, quoted.split("…")):
        found = text.find(part, at)
        missing += [part] * (found < 0)
        at = max(found, at)
    return missing


def values(text: str) -> set[float]:
    """The numbers in digits; not those within names."""
    return {
        float(token.removesuffix("K")) for token in TOKEN.findall(text) if token[-1].isdigit() or token[-1] == "K"
    }


def test_every_claim_is_quoted_and_says_no_number_that_the_paper_does_not():
    claims = published.table("claims")
    assert set(QUOTED.index) == set(claims.index)
    for name, statement in claims["statement"].items():
        ours = re.sub(r"\(here:.*\)|\b(?:Table|section) [\w.]+", "", statement)
        assert values(ours) <= values(QUOTED[name]), name


@needs_paper
def test_claims_are_quoted_from_where_they_stand():
    places = tex_places()
    for name, place in published.table("claims")["place"].items():
        assert not missing_parts(QUOTED[name], places[place]), name


def test_printed_numbers_and_claims_are_those_held_against_the_tex():
    published.require_unaltered()


@needs_paper
def test_algorithm_1_is_printed_with_the_maximum_norm():
    rule = re.search(r"STOPPING|Stopping criterion:\}(.*?)\\ENDFOR", published.paper(), re.DOTALL)[1]
    assert PRINTED_NORM == "maximum"
    assert rule.count(r"\|_\infty") == 2


@needs_paper
def test_no_number_of_two_digits_in_text_is_missing():
    listed, places = in_text_numbers(), tex_places()
    for place in places.keys() - {"appendix A.3"}:  # theorem numbers of a book, a fraction
        assert of_two_digits(listed.get(place, Counter())) == of_two_digits(tex_numbers(places[place])), place


@pytest.mark.parametrize("name", TABLES)
def test_names_are_unique(name):
    assert published.table(name).index.is_unique


@pytest.mark.parametrize("name", TABLES)
def test_every_other_cell_is_a_number_or_a_dash_where_one_is_printed(name):
    table = published.table(name).drop(columns=NOT_NUMBERS, errors="ignore")
    for column, cells in table.items():
        number = rf"{NUMBER}(?: {NUMBER})*" if column == "n_comparisons" else rf"{NUMBER}[KMBT]?"
        assert cells.str.fullmatch(f"{number}|--" if column in DASHED else number).all(), column


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_named_by_their_sizes(name):
    table = published.table(name)
    sizes = table["printed_name"].str.extract(r"^\((\d+),(\d+)\)$")
    assert list(table.index) == list("n" + sizes[0] + "_k" + sizes[1])
    if name != "slopes":
        assert (table[["n_models", "n_judges"]].to_numpy() == sizes.to_numpy()).all()


@pytest.mark.parametrize("name", ["chatbot_arena", "complete_ranking"])
def test_printed_rankings_are_rankings_with_scores_inside_their_intervals(name):
    table = published.table(name).drop(columns="printed_name").apply(pd.to_numeric)
    for model in ("judge_aware", "btl"):
        assert sorted(table[f"rank_{model}"]) == list(range(1, len(table) + 1))
        assert table[f"score_{model}"].between(table[f"low_{model}"], table[f"high_{model}"]).all()
    if "rank_difference" in table:
        assert (table["rank_difference"] == table["rank_btl"] - table["rank_judge_aware"]).all()


@pytest.mark.parametrize(
    ("value", "printed", "shown"),
    [(0.7284, "0.728", "0.728"), (-0.0004, "0.00", "0.00"), (1.0, "1", "1"), (-1.2649, "-1.27", "-1.26")],
)
def test_values_are_shown_with_the_printed_decimals(value, printed, shown):
    assert published.as_printed(value, printed) == shown


def test_agreement_is_equality_at_printed_precision_only():
    ours = pd.DataFrame({"score_btl": published.numbers("mt_bench", "score_btl")})
    ours.loc["gpt-4", "score_btl"] += 0.0049
    ours.loc["llama-13b", "score_btl"] += 0.0051
    check = published.compare("mt_bench", ours, ["score_btl"], table="Table 1").set_index("row")
    assert check["reproduced"].to_dict() == {row: row != "llama-13b" for row in check.index}
    assert check.at["llama-13b", "difference"] == pytest.approx(0.0051)


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
