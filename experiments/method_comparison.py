"""Beyond the paper: the methods it speaks of, on the same data, folds and seeds.

python experiments/method_comparison.py [~methods.elo] [folds=5] [panels.few.n_comparisons=100] ...
"""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf
from scipy.stats import kendalltau, spearmanr

from judgerank import plots, published
from judgerank.config import ROOT, main, require_least
from judgerank.crossvalidation import folds_of
from judgerank.datasets import Judgments
from judgerank.methods.study import method_of, on_panel, on_set
from judgerank.outputs import run_section
from judgerank.replicate import Study
from judgerank.tables import Table

log = logging.getLogger("judgerank")
MEASURES = ("spearman", "kendall", "log_loss", "coverage")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    require_least(cfg, {"replications": 2, "block": 1, "folds": 2})
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
        | {key: methods[method][key] for key in ("function", "settings")}
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


def sets_table(
    cfg: DictConfig, methods: dict, data: dict[str, Judgments], study: Study
) -> tuple[pd.DataFrame, ...]:
    """Rows of the comparison, scores with ranks, and what is said of judges."""
    rows, scores, judges = [], [], []
    for name, judgments in data.items():
        people = published.numbers("chatbot_arena_human", "elo") if name == "chatbot_arena" else None
        reference = None if judgments.is_surrogate else people
        for method in methods:
            (whole,) = study.records(f"{name}-{method}-whole")
            row = {"data": name, "title": judgments.title, "kind": "set", "method": method, "n": 1 + cfg.folds}
            if "failure" in whole:
                rows.append({**row, "n_ranked": 0, "why": whole["failure"]})
                continue
            folds = [record for fold in range(cfg.folds) for record in study.records(f"{name}-{method}-{fold}")]
            row |= {"n_ranked": 1 + sum("failure" not in fold for fold in folds), "why": whole["remark"]}
            found = pd.Series(whole["scores"])
            if reference is not None:
                row["spearman"] = spearmanr(found[reference.index], reference).statistic
                row["kendall"] = kendalltau(found[reference.index], reference).statistic
            row["kendall_shuffled"] = whole["kendall_shuffled"]
            rows.append(row | held_out(pd.DataFrame(folds)))
            table = pd.DataFrame({"score": found, "rank": found.rank(ascending=False), "error": whole["errors"]})
            place = {"data": name, "method": method}
            scores.append(table.rename_axis("model").reset_index().assign(**place))
            if whole["judges"]:
                said = pd.Series(whole["judges"], name="value").rename_axis("judge").reset_index()
                judges.append(said.assign(**place))
    first = ["data", "method"]
    return pd.DataFrame(rows), *(
        pd.concat(parts, ignore_index=True).set_index(first).reset_index() for parts in (scores, judges)
    )


def held_out(folds: pd.DataFrame) -> dict[str, float]:
    """Log-loss per comparison with its standard error over folds, and accuracy; nothing without probabilities."""
    if "log_loss" not in folds or folds["log_loss"].isna().any():
        return {}
    weight = folds["comparisons"] / folds["comparisons"].sum()
    error = float(folds["log_loss"].std() / np.sqrt(len(folds)))
    return {"log_loss": weight @ folds["log_loss"], "log_loss_se": error, "accuracy": weight @ folds["accuracy"]}


def panels_table(cfg: DictConfig, methods: dict, study: Study) -> pd.DataFrame:
    """Means over the data sets that a method could rank, with Monte Carlo errors, and how many those are."""
    rows = []
    for name, panel in cfg.panels.items():
        records = list(study.records(name))
        for method in methods:
            frame = pd.DataFrame([record[method] for record in records])
            row = {"data": name, "title": panel.title, "kind": "panel", "method": method, "n": len(frame)}
            failed = frame["failure"].dropna() if "failure" in frame else pd.Series(dtype=str)
            row |= {"n_ranked": len(frame) - len(failed), "why": failed.mode().get(0, "")}
            for measure in MEASURES:
                values = frame[measure].dropna() if measure in frame else ()
                if len(values) > 1:
                    row[measure] = values.mean()
                    row[f"{measure}_se"] = values.std() / np.sqrt(len(values))
            if "spearman" in frame:
                row["n_reversed"] = int((frame["spearman"] < 0).sum())
            rows.append(row)
    return pd.DataFrame(rows)


def methods_table(methods: dict, study: Study) -> pd.DataFrame:
    """What each method is, and what it gave where it ranked one of the sets."""
    rows = []
    for name, method in methods.items():
        cells = [cell for cell, at in study.cells.items() if at["method"] == name and at["fold"] is None]
        found = [record for cell in cells for record in study.records(cell) if "failure" not in record]
        row = {"method": name, **{key: method[key] for key in ("title", "source", "limits")}}
        if found:
            row |= {"probabilities": found[0]["probabilities"], "intervals": found[0]["errors"] is not None}
            row |= {"judges": found[0]["judges"] is not None}
            row |= {"least_kendall_shuffled": min(record["kendall_shuffled"] for record in found)}
        rows.append({**row, "settings": ", ".join(f"{key}={value}" for key, value in method["settings"].items())})
    return pd.DataFrame(rows)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    titles = tables["methods"].set_index("method")["title"]
    return {"comparison": plots.methods(tables["comparison"], titles, f"Methods on the same data{suffix}")}


@main("method_comparison")
def run(cfg: DictConfig) -> None:
    run_section("method_comparison", cfg, compute, draw)


if __name__ == "__main__":
    run()
