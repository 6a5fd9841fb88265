"""Appendix F.4: ties as half a win against ties dropped.

python experiments/tie_handling.py [dataset=in_house|chatbot_arena|mt_bench|ultrafeedback] ...
"""

import logging

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication import plots
from replication.config import both_fits
from replication.outputs import section_command
from replication.tables import Table, fit_rows, leaderboard

log = logging.getLogger("replication")
METHODS = ("judge_aware", "btl")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    title, half = judgments.title, judgments.comparisons
    # judges who only ever tied have nothing left to say
    dropped = half.without_ties()
    silent = [judge for judge in half.judges if judge not in dropped.judges]
    boards, rows = {}, []
    for ties, comparisons in (("half", half), ("dropped", dropped)):
        fits = both_fits(cfg.solver, comparisons)
        boards[ties] = leaderboard(fits["judge_aware"], fits["btl"], cfg.level).set_index("model")
        rows.append(fit_rows(list(fits.values()), cfg.level, ties=ties))
    changes = boards["half"].add_suffix("_half").join(boards["dropped"].add_suffix("_dropped"))
    summary = pd.concat(rows, ignore_index=True)
    summary["models_moved"], summary["largest_move"] = 0, 0
    for method in METHODS:
        changes[f"move_{method}"] = changes[f"rank_{method}_half"] - changes[f"rank_{method}_dropped"]
        changes_of_rank = changes[f"move_{method}"].abs()
        is_row = (summary["fit"] == method) & (summary["ties"] == "dropped")
        summary.loc[is_row, ["models_moved", "largest_move"]] = [
            (changes_of_rank > 0).sum(),
            changes_of_rank.max(),
        ]
        names = ", ".join(changes.index[changes_of_rank > 0]) or "none"
        log.info("%s, %s: models whose rank changes without ties: %s", title, method, names)
    note = f"; judges with nothing but ties: {', '.join(silent) or 'none'}"
    ties = f"{len(half) - len(dropped)} ties among {len(half)} comparisons"
    return {
        "ranks": Table(
            changes.reset_index(), f"{title}: scores, intervals and ranks with ties as half and without ties"
        ),
        "fits": Table(summary, f"{title}: {ties}{note}", 4),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"ties": plots.tie_handling(tables["ranks"], f"Ties as half a win, and dropped{suffix}")}


run = section_command("tie_handling", compute, draw)

if __name__ == "__main__":
    run()
