"""The printed numbers: against the TeX source when it is at hand, and how agreement is decided."""

import os
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from replication import published
from replication.auditing.findings import PRINTED_NORM

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
