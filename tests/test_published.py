"""The printed numbers: against the TeX source when it is at hand, and how agreement is decided."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest

from judgerank import published

PAPER = os.environ.get("JUDGERANK_PAPER")
needs_paper = pytest.mark.skipif(not PAPER, reason="the paper's TeX source is not at hand (JUDGERANK_PAPER)")
LABELS = {
    "mt_bench": "tab:model-evaluation",
    "ultrafeedback": "tab:model-evaluation-ultra",
    "chatbot_arena": "tab:ca",
    "judge_discrimination": "tab:judges",
}


def tex_rows(label: str) -> set[tuple[str, ...]]:
    """Rows of a tabular as sets of cells without markup (column order differs in Table 3)."""
    source = Path(PAPER).read_text()
    body = source[source.index(f"\\label{{{label}}}") :]
    body = body[body.index("\\midrule") + len("\\midrule") : body.index("\\bottomrule")]
    plain = re.sub(r"\\(?:textbf|underline|texttt)\{([^}]*)\}", r"\1", body)
    rows = (tuple(sorted(cell.strip() for cell in row.split("&") if cell.strip())) for row in plain.split("\\\\"))
    return {row for row in rows if row}


@needs_paper
@pytest.mark.parametrize("name", LABELS)
def test_tables_are_those_of_the_tex_source(name):
    table = published.table(name)
    assert {tuple(sorted(row)) for row in table.to_numpy()} == tex_rows(LABELS[name])


@pytest.mark.parametrize("name", [*LABELS, "chatbot_arena_human"])
def test_names_are_unique(name):
    assert published.table(name).index.is_unique


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


def test_sizes_are_billions():
    sizes = published.judge_sizes()
    assert sizes["kimi-k2-0905-preview"] == 1000
    assert sizes["google/gemma-3n-E4B-it"] == 8.4
    assert sizes.isna().sum() == 2
