"""Beyond the paper: the methods it speaks of, on the same data, folds and seeds.

python experiments/beyond/method_comparison.py [~methods.elo] [folds=5] [panels.few.n_comparisons=100] ...
"""

import logging
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank.data.judgments import Judgments
from replication.config import ROOT
from replication.replicate import Study
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.cross_validation import folds_of
from studies.methods.study import method_of, methods_table, on_panel, on_set, panels_table, sets_table

log = logging.getLogger("studies")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    methods = OmegaConf.to_container(cfg.methods)
    for name, method in methods.items():
        method_of(name, method["function"], method["settings"])
    sets, panels = study_of_sets(cfg, methods, data), study_of_panels(cfg, methods)
    sets.run(cfg.parallel)
    panels.run(cfg.parallel)
    on_sets, scores, judges = sets_table(cfg, methods, data, sets)
    comparison = pd.concat([on_sets, panels_table(cfg, methods, panels)], ignore_index=True)
    log.info("%s", comparison.drop(columns="why").to_string(index=False, float_format="%.4f"))
    return {
        "comparison": Table(comparison, "Methods on the same data, folds and seeds", 4),
        "methods": Table(methods_table(methods, sets), "The methods, their sources, and what they cannot do"),
        "scores": Table(scores, "Scores and ranks on the judgments, by method"),
        "judges": Table(judges, "What methods say of the judges; larger is better"),
    }


def study_of_sets(cfg: DictConfig, methods: dict, data: dict[str, Judgments]) -> Study:
    """Every method on every set as a whole, and on every fold of it."""
    folds = {name: folds_of(judgments, cfg.folds, cfg.seed) for name, judgments in data.items()}
    cells = {
        f"{name}-{method}-{'whole' if fold is None else fold}": {"set": name, "method": method, "fold": fold}
        | {key: methods[method][key] for key in ("function", "settings", "orders")}
        for name in data
        for method in methods
        for fold in (None, *range(cfg.folds))
    }
    shared = {name: (judgments.comparisons, folds[name]) for name, judgments in data.items()}
    once = dict.fromkeys(cells, 1)
    return Study("method_sets", on_set, cells, once, cfg.seed, Path(ROOT, cfg.cache), 1, shared)


def study_of_panels(cfg: DictConfig, methods: dict) -> Study:
    """Every method on the same data sets of every panel."""
    called = {name: {key: method[key] for key in ("function", "settings")} for name, method in methods.items()}
    cells = {
        name: {"panel": OmegaConf.to_container(panel), "methods": called, "level": cfg.level}
        for name, panel in cfg.panels.items()
    }
    repeats = dict.fromkeys(cells, cfg.replications)
    return Study("method_panels", on_panel, cells, repeats, cfg.seed, Path(ROOT, cfg.cache), cfg.block)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    titles = tables["methods"].set_index("method")["title"]
    return {"comparison": plots.methods(tables["comparison"], titles, f"Methods on the same data{suffix}")}


run = section_command("method_comparison", compute, draw)

if __name__ == "__main__":
    run()
