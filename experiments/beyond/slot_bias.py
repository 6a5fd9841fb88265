"""Beyond the paper: judges lean towards a position and slots follow names. Which members' scores are biased?

python experiments/beyond/slot_bias.py [n_comparisons=[500,5000]] [sigma_position=3] [members=[btl]] ...
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from replication.replicate import studied
from replication.statistics import spearman
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.position_orders import ORDERS, standardised_scores, truth_of

log = logging.getLogger("studies")
PANEL = ("seed", "n_models", "n_judges", "sigma_scores", "sigma_discrimination", "mean_position", "sigma_position")


def compute(cfg: DictConfig, _: dict) -> dict[str, Table]:
    panel = {name: cfg[name] for name in PANEL} | {"members": OmegaConf.to_container(cfg.members)}
    cells = {
        f"{order}-t{size}": {**panel, "order": order, "n_comparisons": size}
        for order in ORDERS
        for size in cfg.n_comparisons
    }
    study = studied(cfg, "slot_bias", standardised_scores, cells, cfg.replications)
    truth = truth_of(panel)
    target = truth.scores / truth.scores.std()
    bias, errors = [], []
    for cell, settings in cells.items():
        records = list(study.records(cell))
        for member in cfg.members:
            key_columns = {
                "order": settings["order"],
                "n_comparisons": settings["n_comparisons"],
                "member": member,
            }
            scores = np.array([record[member] for record in records if member in record])
            errors.append({**key_columns, **errors_of(scores, target), "n_replications": len(records)})
            if len(scores):
                several = len(scores) > 1  # else there is no spread to take an error from
                se = scores.std(axis=0, ddof=1) / np.sqrt(len(scores)) if several else np.nan
                rows = {
                    "model": range(len(target)),
                    "truth": target,
                    "bias": scores.mean(axis=0) - target,
                    "bias_se": se,
                }
                bias.append(pd.DataFrame({**key_columns, **rows}))
    summary = pd.DataFrame(errors)
    largest = summary[summary["n_comparisons"] == summary["n_comparisons"].max()]
    log.info("root mean squared bias at the largest T:\n%s", largest.to_string(index=False, float_format="%.4f"))
    judges = pd.DataFrame({"discrimination": np.exp(truth.judges[0]), "position": truth.judges[1]})
    return {
        "summary": Table(summary, "Bias and error of standardised scores, by order of presentation", 4),
        "bias": Table(
            pd.concat(bias, ignore_index=True), "Bias of every model's score, models in the order of names"
        ),
        "judges": Table(judges.rename_axis("judge").reset_index(), "The panel"),
    }


def errors_of(scores: np.ndarray, target: np.ndarray) -> dict[str, float]:
    """Root mean squared bias over models, what it would be without any, and agreement with the truth."""
    if len(scores) < 2:
        return dict.fromkeys(("rms_bias", "rms_noise", "rms_error", "spearman"), np.nan) | {
            "n_fitted": len(scores)
        }
    noise = scores.var(axis=0, ddof=1).mean() / len(scores)  # of a mean over replications
    return {
        "rms_bias": np.sqrt(np.mean((scores.mean(axis=0) - target) ** 2)),
        "rms_noise": np.sqrt(noise),
        "rms_error": np.sqrt(np.mean((scores - target) ** 2)),
        "spearman": np.mean([spearman(row, target) for row in scores]),
        "n_fitted": len(scores),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    title = f"Bias of the scores where judges have a position bias{suffix}"
    return {"bias": plots.slot_bias(tables["summary"], tables["bias"], title)}


run = section_command("slot_bias", compute, draw)

if __name__ == "__main__":
    run()
