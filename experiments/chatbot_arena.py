"""Section 5.5: Chatbot Arena rankings, judge-aware against unweighted (Table 3).

python experiments/chatbot_arena.py [level=0.9] [solver=adam] ...
"""

import logging

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication import plots, published
from replication.config import both_fits
from replication.outputs import section_command
from replication.statistics import spearman
from replication.tables import Table, fit_rows, leaderboard

log = logging.getLogger("replication")
PRINTED = [
    *("rank_judge_aware", "rank_btl", "score_judge_aware", "score_btl"),
    *("low_judge_aware", "high_judge_aware", "low_btl", "high_btl"),
]


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    arena = data["chatbot_arena"]
    fits = both_fits(cfg.solver, arena.comparisons)
    ranking = leaderboard(fits["judge_aware"], fits["btl"], cfg.level)
    elo = published.numbers("chatbot_arena_human", "elo")
    summary = fit_rows(list(fits.values()), cfg.level, dataset=arena.name)
    summary["spearman_human"] = [spearman(f.scores[elo.index], elo) for f in fits.values()]
    for fitted in fits.values():
        log.info("%s", fitted)
    tables = {
        "ranking": Table(ranking, f"{arena.title}: scores with {cfg.level:.0%} intervals (Table 3)"),
        "fits": Table(
            summary, f"{arena.title}: the two fits; Spearman correlation with human Elo of June 2023", 4
        ),
        "human": Table(elo.rename_axis("model").reset_index(), "Human Elo, Chatbot Arena, 22 June 2023", 0),
    }
    if not arena.is_surrogate:
        check = published.compare("chatbot_arena", ranking.set_index("model"), PRINTED, table="Table 3")
        log.info("printed numbers reproduced: %d of %d", check["reproduced"].sum(), len(check))
        tables["paper_check"] = Table(check, f"{arena.title}: every printed number of Table 3 beside ours")
    return tables


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    ranking = tables["ranking"].merge(tables["human"], on="model")
    return {
        "leaderboard": plots.leaderboard(ranking, f"Chatbot Arena{suffix}"),
        "human_agreement": plots.agreement(
            ranking, "elo", "human Elo, 22 June 2023", f"Chatbot Arena: agreement with people{suffix}"
        ),
    }


run = section_command("chatbot_arena", compute, draw)

if __name__ == "__main__":
    run()
