"""What README and documentation show of the stored results: blocks and numbers that `make audit` keeps current."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from judgerank.writing.atomic import replace_file
from replication.auditing.claims import outcomes
from replication.auditing.page import Audit, totals_tables, verdicts_table
from replication.auditing.registry import items
from replication.auditing.results import Missing, Results
from replication.auditing.reviewing import numbers_claimed, words_claimed
from replication.auditing.shown_beyond import (
    ERROR_HEADS,
    members_table,
    methods_table,
    shrinkage_table,
    slots_table,
    torture_table,
    uncertainty_table,
)
from replication.auditing.shown_defaults import accuracy_table, simulated_table, trouble_table
from replication.auditing.shown_figures import figures_page
from replication.auditing.shown_fitness import few_table, fit_table, fitted_sets_table
from replication.auditing.shown_graded import confidence_table, graded_table, levels_table, scores_table
from replication.auditing.shown_human import human_boards_table, left_off_table, null_boards_table
from replication.auditing.shown_numbers import with_numbers
from replication.auditing.shown_panel import (
    blocks_table,
    found_table,
    grid,
    panel_table,
    question_coverage_table,
    with_error,
)
from replication.auditing.shown_rankings import ranking_orders_table, rankings_table
from replication.auditing.shown_scale import boards_table, scale_table, useless_table
from replication.auditing.shown_tastes import taste_stops, tastes_of_sets, tastes_simulated
from replication.auditing.shown_times import times_table, whole_runs
from replication.auditing.shown_trust import (
    calibration_table,
    compared_table,
    crowds_table,
    effective_table,
    fragility_table,
    people_table,
    placed_table,
    small_sets_table,
    soft_table,
)
from replication.stored_speed import STORED, goals_table

log = logging.getLogger("replication")
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
    return grid(rows, ["printed", "numbers", "reproduced at printed precision"])


def slopes_table(results: Results) -> str:
    """Slopes of the mean squared error with Monte Carlo errors, as `make convergence_mse` stored them."""
    rows = []
    for row in results.table("convergence_mse/slopes.csv").itertuples():
        ours = (row.slope, row.slope_se), (row.interior_slope, row.interior_slope_se)
        names = f"({row.n_models}, {row.n_judges})", ERROR_HEADS[row.parameter]
        rows.append((*names, f"{row.paper:.2f}", *(with_error(*pair, 2) for pair in ours)))
    return grid(rows, ["(N, K)", "error of", "paper", "all replications", "interior maximum"])


def coverage_table(results: Results) -> str:
    """Coverage at the largest T with Monte Carlo errors, as `make ci_coverage` stored it."""
    table = results.table("ci_coverage/coverage.csv")
    rows = []
    for place, setting in table.groupby(["n_models", "n_judges"], sort=False):
        size = setting["n_comparisons"].max()
        last = setting[setting["n_comparisons"] == size].set_index("method")
        cells = (with_error(*last.loc[method, ["coverage", "coverage_se"]], 3) for method in COVERED)
        rows.append((str(place), f"{size:,}", *cells))
    return grid(rows, ["(N, K)", "T", *COVERED.values()])


def items_table(results: Results) -> str:
    """Every numbered item of the paper with links, for a page two folders below the project."""
    rows = []
    for row in items().itertuples():
        stored = [f"results/{name}" for name in row.tables.split(";")]
        figures = (f"figures/{name}" for name in row.figures.split(";"))
        # a figure may wait for data that only the hub has
        stored += [name for name in figures if (results.folder.parent / name).is_file()]
        made_by = [f"experiments/{row.section}.py", f"conf/{row.section}.yaml"]
        links = (", ".join(f"[{Path(name).name}](../../{name})" for name in names) for names in (made_by, stored))
        rows.append((row.item, row.title, f"`make {row.section}`", *links))
    return grid(rows, ["item", "of", "command", "made by", "stored"])


BLOCKS = {
    "bench": lambda _: goals_table(STORED),
    "blocks": blocks_table,
    "blocks found": found_table,
    "boards": boards_table,
    "calibration": calibration_table,
    "compared": compared_table,
    "checks": checks_table,
    "coverage": coverage_table,
    "defaults accuracy": accuracy_table,
    "defaults simulated": simulated_table,
    "defaults trouble": trouble_table,
    "effective": effective_table,
    "few questions": few_table,
    "figures": figures_page,
    "fit": fit_table,
    "fitted sets": fitted_sets_table,
    "fragility": fragility_table,
    "graded": graded_table,
    "seven levels": levels_table,
    "pairs of scores": scores_table,
    "stated confidence": confidence_table,
    "human boards": human_boards_table,
    "left off": left_off_table,
    "null boards": null_boards_table,
    "items": items_table,
    "members": members_table,
    "methods": methods_table,
    "panel": panel_table,
    "people": people_table,
    "crowds": crowds_table,
    "placed": placed_table,
    "question coverage": question_coverage_table,
    "rankings": rankings_table,
    "ranking orders": ranking_orders_table,
    "scale": scale_table,
    "tastes": tastes_of_sets,
    "tastes_simulated": tastes_simulated,
    "taste_stops": taste_stops,
    "shrinkage": shrinkage_table,
    "slopes": slopes_table,
    "small sets": small_sets_table,
    "slots": slots_table,
    "soft": soft_table,
    "times": times_table,
    "whole runs": whole_runs,
    "torture": torture_table,
    "uncertainty": uncertainty_table,
    "useless": useless_table,
}


def blocks(audit: Audit, results: Results) -> dict[str, str]:
    """What is shown of the stored results, by the name of the block; without those not stored."""
    claims = outcomes(audit.claims).to_markdown(index=False)
    listed = "\n".join(f"{number}. {told.finding.title}" for number, told in enumerate(audit.held, 1))
    found = {"totals": f"{totals_tables(audit.numbers)}\n\nClaims in words:\n\n{claims}", "findings": listed}
    found["verdicts"] = verdicts_table(audit.numbers)
    found["numbers claimed"] = numbers_claimed(audit, results)
    found["words claimed"] = words_claimed(audit, results)
    for name, table in BLOCKS.items():
        try:
            found[name] = table(results)
        except (Missing, KeyError) as error:
            log.warning("the block %s is left as it is: %s", name, error)
    return found


def current(text: str, shown: Mapping[str, str], results: Results, name: str = "") -> str:
    """A page's text with every block that it has marks of, and every number that names its place, as stored."""
    for block, content in shown.items():
        text = with_block(text, block, content)
    return with_numbers(text, results, name)


def keep_current(pages: Iterable[Path], shown: Mapping[str, str], results: Results) -> None:
    """Write what is stored into pages: blocks, and numbers within sentences."""
    for path in pages:
        before = path.read_text()
        text = current(before, shown, results, path.name)
        if text != before:
            replace_file(path, text)


def markdown_in(places: Iterable[Path]) -> Iterator[Path]:
    """Markdown files among files and in folders."""
    for place in places:
        yield from [place] if place.is_file() else sorted(place.rglob("*.md"))
