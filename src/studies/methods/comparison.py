"""The tables of methods side by side, from what they gave on sets and on panels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication import published
from replication.correlation import kendall, spearman
from replication.replicate import Study

MEASURES = ("spearman", "kendall", "log_loss", "coverage")


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
            orders = methods[method]["orders"]
            row = {"data": name, "title": judgments.title, "kind": "set", "method": method, "n": 1 + cfg.folds}
            row["orders"] = orders
            if "failure" in whole:
                rows.append({**row, "n_ranked": 0, "why": whole["failure"]})
                continue
            folds = [record for fold in range(cfg.folds) for record in study.records(f"{name}-{method}-{fold}")]
            row |= {"n_ranked": 1 + sum("failure" not in fold for fold in folds), "why": whole["remark"]}
            found, by_order = pd.Series(whole["scores"]), pd.DataFrame(whole["by_order"])
            if reference is not None:
                row |= agreement(by_order[reference.index], reference)
            row["kendall_orders"] = whole["kendall_orders"]
            rows.append(row | held_out(pd.DataFrame(folds)))
            table = pd.DataFrame({"score": found, "rank": found.rank(ascending=False), "error": whole["errors"]})
            table["sd_orders"] = by_order.std() if orders > 1 else np.nan
            place = {"data": name, "method": method}
            scores.append(table.rename_axis("model").reset_index().assign(**place))
            if whole["judges"]:
                said = pd.Series(whole["judges"], name="value").rename_axis("judge").reset_index()
                judges.append(said.assign(**place))
    of_models, of_judges = ["model", "score", "rank", "error", "sd_orders"], ["judge", "value"]
    return pd.DataFrame(rows), _stacked(scores, of_models), _stacked(judges, of_judges)


def _stacked(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    columns = ["data", "method", *columns]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def agreement(by_order: pd.DataFrame, reference: pd.Series) -> dict[str, float]:
    """Rank correlations with a reference: the mean over orders of the rows (rows here) and their spread."""
    row = {}
    for name, correlation in (("spearman", spearman), ("kendall", kendall)):
        values = pd.Series([correlation(scores, reference) for _, scores in by_order.iterrows()])
        row |= {name: values.mean(), f"{name}_sd": values.std(), f"{name}_se": values.std() / np.sqrt(len(values))}
    return row


def held_out(folds: pd.DataFrame) -> dict[str, float]:
    """Log-loss per comparison with its standard error over folds, and accuracy; nothing without probabilities.

    With several orders of the rows these are means over them, and ``log_loss_sd`` is their spread.
    """
    if "log_loss" not in folds or folds["log_loss"].isna().any():
        return {}
    weight = folds["comparisons"] / folds["comparisons"].sum()
    error = float(folds["log_loss"].std() / np.sqrt(len(folds)))
    row = {"log_loss": weight @ folds["log_loss"], "log_loss_se": error, "accuracy": weight @ folds["accuracy"]}
    by_order = weight.to_numpy() @ np.array(folds["by_order"].tolist())
    return row | {"log_loss_sd": np.std(by_order, ddof=1) if len(by_order) > 1 else np.nan}


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
            row |= {"orders": method["orders"], "least_kendall_orders": min(r["kendall_orders"] for r in found)}
        rows.append({**row, "settings": ", ".join(f"{key}={value}" for key, value in method["settings"].items())})
    return pd.DataFrame(rows)
