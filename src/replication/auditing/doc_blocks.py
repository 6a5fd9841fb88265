"""What README and documentation show of the stored results: blocks and numbers that `make audit` keeps current."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from judgerank.data.errors import ConfigError
from judgerank.writing.atomic import replace_file
from replication.auditing.claims import outcomes
from replication.auditing.doc_numbers import figures_page, full_run_times, times_table, with_numbers
from replication.auditing.page import Audit, totals_tables, verdicts_table
from replication.auditing.registry import items
from replication.auditing.results import Missing, Results
from replication.auditing.reviewing import numbers_claimed, words_claimed
from replication.tables import markdown_table, number_with_error

log = logging.getLogger("replication")
ERROR_HEADS = {"score": "s", "standardised_score": "s, standardised", "log_discrimination": "log gamma"}
CHECKED = (  # title, section, rows
    ("Table 3 (Chatbot Arena)", "chatbot_arena", "table=Table 3"),
    ("Table 1 (MT-Bench)", "benchmark_alignment", "table=Table 1"),
    ("Table A.6 (UltraFeedback), unweighted", "benchmark_alignment", "table=Table A.6; column=score_btl"),
    ("Table A.6 (UltraFeedback), judge-aware", "benchmark_alignment", "table=Table A.6; column=score_judge_aware"),
    ("Table A.8, MT-Bench", "judge_reliability", "table=Table A.8; column=mt_bench"),
    ("Table A.8, UltraFeedback", "judge_reliability", "table=Table A.8; column=ultrafeedback"),
)
COVERED = {"judge_aware": "judge-aware", "btl": "BTL", "btl_rescaled": "BTL, on its scale"}


def with_block(text: str, name: str, content: str) -> str:
    """A text with what stands between the marks of a block replaced."""
    pattern = re.compile(rf"(<!-- {name}:[^>]*-->\n).*?(<!-- /{name} -->)", re.DOTALL)
    return pattern.sub(lambda marks: f"{marks[1]}{content}\n{marks[2]}", text)


def checks_table(results: Results) -> str:
    """How many of the printed estimates come out at printed precision, by table."""
    rows = []
    for title, section, of in CHECKED:
        check = results.rows(f"{section}/paper_check.csv", of)
        rows.append((title, len(check), int(check["reproduced"].sum())))
    return markdown_table(rows, ["printed", "numbers", "reproduced at printed precision"])


def slopes_table(results: Results) -> str:
    """Slopes of the mean squared error with Monte Carlo errors, as `make convergence_mse` stored them."""
    rows = []
    for row in results.table("convergence_mse/slopes.csv").itertuples():
        ours = (row.slope, row.slope_se), (row.interior_slope, row.interior_slope_se)
        names = f"({row.n_models}, {row.n_judges})", ERROR_HEADS[row.parameter]
        rows.append((*names, f"{row.paper:.2f}", *(number_with_error(*pair, 2) for pair in ours)))
    return markdown_table(rows, ["(N, K)", "error of", "paper", "all replications", "interior maximum"])


def coverage_table(results: Results) -> str:
    """Coverage at the largest T with Monte Carlo errors, as `make ci_coverage` stored it."""
    table = results.table("ci_coverage/coverage.csv")
    rows = []
    for size_pair, setting in table.groupby(["n_models", "n_judges"], sort=False):
        size = setting["n_comparisons"].max()
        last = setting[setting["n_comparisons"] == size].set_index("method")
        cells = (number_with_error(*last.loc[method, ["coverage", "coverage_se"]], 3) for method in COVERED)
        rows.append((str(size_pair), f"{size:,}", *cells))
    return markdown_table(rows, ["(N, K)", "T", *COVERED.values()])


def items_table(results: Results) -> str:
    """Every numbered item of the paper with links, for a page two folders below the project."""
    rows = []
    for row in items().itertuples():
        paths = [results.path(name)[0] for name in row.tables.split(";")]
        # a figure may wait for data that only the hub has
        paths += [path for name in row.figures.split(";") if (path := results.figure(name))]
        stored = [path.relative_to(results.folder.parent).as_posix() for path in paths]
        made_by = [f"experiments/{row.section}.py", f"conf/{row.section}.yaml"]
        links = (", ".join(f"[{Path(name).name}](../../{name})" for name in names) for names in (made_by, stored))
        rows.append((row.item, row.title, f"`make {row.section}`", *links))
    return markdown_table(rows, ["item", "of", "command", "made by", "stored"])


BLOCKS: dict[str, Callable[[Results], str]] = {
    "checks": checks_table,
    "coverage": coverage_table,
    "figures": figures_page,
    "items": items_table,
    "slopes": slopes_table,
    "times": times_table,
    "whole runs": full_run_times,
}


def rendered(tables: Mapping[str, Callable[[Results], str]], results: Results) -> dict[str, str]:
    """Blocks of stored results by name; without those whose results are not stored, which stay as they are."""
    texts = {}
    for name, table in tables.items():
        try:
            texts[name] = table(results)
        except (Missing, KeyError) as error:
            log.warning("the block %s is left as it is: %s", name, error)
    return texts


def blocks(audit: Audit, results: Results) -> dict[str, str]:
    """What is shown of the stored results, by the name of the block; without those not stored."""
    claims = outcomes(audit.claims).to_markdown(index=False)
    listed = "\n".join(f"{number}. {checked.finding.title}" for number, checked in enumerate(audit.held, 1))
    blocks_by_name = {
        "totals": f"{totals_tables(audit.numbers)}\n\nClaims in words:\n\n{claims}",
        "findings": listed,
    }
    blocks_by_name["verdicts"] = verdicts_table(audit.numbers)
    blocks_by_name["numbers claimed"] = numbers_claimed(audit, results)
    blocks_by_name["words claimed"] = words_claimed(audit, results)
    return blocks_by_name | rendered(BLOCKS, results)


def current(text: str, blocks_by_name: Mapping[str, str], results: Results, name: str = "") -> str:
    """A page's text with every block that it has marks of, and every number that names its place, as stored."""
    for block, content in blocks_by_name.items():
        text = with_block(text, block, content)
    return with_numbers(text, results, name)


def keep_current(pages: Iterable[Path], blocks_by_name: Mapping[str, str], results: Results) -> None:
    """Write what is stored into pages: blocks, and numbers within sentences."""
    for path in pages:
        before = path.read_text()
        text = current(before, blocks_by_name, results, path.name)
        if text != before:
            replace_file(path, text)


def markdown_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Markdown files among files and in folders.

    Raises
    ------
    ConfigError
        If one of them does not exist.
    """
    for path in paths:
        if not path.exists():
            raise ConfigError(f"pages: there is no {path}")
        yield from [path] if path.is_file() else sorted(path.rglob("*.md"))
