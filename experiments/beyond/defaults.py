"""Beyond the paper: what should be fitted unless a user says otherwise?

python experiments/beyond/defaults.py [draws=2 replications=4] [n_comparisons=[400]] ...
"""

import logging
from itertools import product

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank.data.judgments import Judgments
from replication.replicate import Study, studied
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.default_fits import (
    Sampled,
    Simulated,
    accuracy_rows,
    sampled,
    simulated,
    simulated_rows,
    trouble_rows,
)
from studies.few_judges import ARENA, cells_of, few_judges_rows, of_few_judges

log = logging.getLogger("studies")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    samples, designs = study_of_samples(cfg, data), study_of_designs(cfg)
    accuracy = pd.DataFrame(accuracy_rows(samples))
    promised = pd.DataFrame(simulated_rows(designs))
    trouble = pd.DataFrame(trouble_rows(samples))
    log.info("%s\n%s", accuracy.to_string(index=False), promised.to_string(index=False))
    few_judges = pd.DataFrame(few_judges_rows(study_of_few_judges(cfg, data)))
    return {
        "few_judges": Table(few_judges, "Panels of two or three judges: equal weights against the default", 4),
        "accuracy": Table(accuracy, "Fits of samples, held against the rest of the set", 4),
        "trouble": Table(trouble, "Samples by how the exact position-aware fit ended", 4),
        "simulated": Table(promised, f"Simulated sets: coverage at {cfg.level:.0%}, tests, ranks and time", 4),
    }


def study_of_samples(cfg: DictConfig, data: dict[str, Judgments]) -> Study:
    """Samples of every set and size, each fitted by every method."""
    methods = OmegaConf.to_object(cfg.methods)
    shared = {name: judgments.comparisons for name, judgments in data.items()}
    cells = {f"{name}-{size}": Sampled(name, size, methods) for name, size in product(data, cfg.n_comparisons)}
    return studied(cfg, "defaults_samples", sampled, cells, cfg.draws, shared)


def study_of_designs(cfg: DictConfig) -> Study:
    """Every design with the methods that it names."""
    designs, methods = (OmegaConf.to_object(cfg[name]) for name in ("designs", "methods"))
    cells = {
        name: Simulated(design, {method: methods[method] for method in design.methods}, cfg.level)
        for name, design in designs.items()
    }
    repeats = {name: min(cfg.replications, cfg.fewer.get(name, cfg.replications)) for name in cells}
    return studied(cfg, "defaults", simulated, cells, repeats)


def study_of_few_judges(cfg: DictConfig, data: dict[str, Judgments]) -> Study:
    """Small panels, fitted by the default and with equal weights."""
    arena = data[ARENA].comparisons if ARENA in data else None
    return studied(cfg, "few_judges", of_few_judges, cells_of(cfg, data), cfg.few_judges.replications, arena)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"defaults": plots.defaults(tables["accuracy"], tables["simulated"], f"Exact and shrunk fits{suffix}")}


run = section_command("defaults", compute, draw)

if __name__ == "__main__":
    run()
