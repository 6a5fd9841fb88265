"""What would change the rankings of the sets, what their panels are worth, and panels of known dependence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.trust.effective_judges import EffectiveJudges, effective_judges
from judgerank.trust.fragility import Fragility, fragility, start_of
from judgerank.trust.refits import Goal, Part, judgments_as_units, swapped
from judgerank.trust.removal import by_steps, smallest
from replication.replicate import Record
from replication.tables import with_error, with_errors

SMALL_DESIGN = 100  # judgments
STEPS = {"1": (1, 1), "2": (2, 2), "3 to 5": (3, 5), "6 to 10": (6, 10)}  # sizes of sets
FEW = 10  # judgments that count as few
SCORES = np.array([0.8, 0.4, 0.0, -0.4, -0.8])  # of simulated models
N_JUDGES, N_QUESTIONS = 8, 150  # of simulated panels; every judge answers every question
DISCRIMINATION = np.exp(np.linspace(-0.4, 0.4, N_JUDGES))
# panels by name: camps of judges, and the chance that a judge answers by its camp's draw
PANELS: dict[str, tuple[list[int], float]] = {
    "independent": ([0] * N_JUDGES, 0.0),
    "a little together": ([0] * N_JUDGES, 0.4),
    "much together": ([0] * N_JUDGES, 0.7),
    "two camps": ([0, 1] * (N_JUDGES // 2), 0.7),
    "five near copies": ([0] * (N_JUDGES - 3) + [1, 2, 3], 0.9),
    "six copies": ([0] * (N_JUDGES - 2) + [1, 2], 1.0),
    "one judge eight times": ([0] * N_JUDGES, 1.0),
}


def fits_of(judgments: Judgments, members: list[str]) -> tuple[dict[str, Fit], list[str]]:
    """Fits of the members that have a maximum, and why the others have none."""
    fits, why = {}, []
    for member in members:
        try:
            fits[member] = fit(judgments.comparisons, member)
        except NoMaximumError as error:
            why.append(f"{judgments.title}, {member}: {error}")
    return fits, why


def trust_of(
    judgments: Judgments, fitted: Fit, level: float, most: int
) -> tuple[dict[str, object], dict[str, pd.DataFrame]]:
    """One row on a set and a member, and the tables behind it."""
    rows, question = judgments.comparisons, judgments.question
    fragile = fragility(fitted, rows, question, level, most)
    panel = effective_judges(fitted, rows, question, level)
    named = {"dataset": judgments.name, "title": judgments.title, "member": fitted.model.name}
    tables = {
        "changes": fragile.changes,
        "judges": fragile.judges,
        "panel": panel.judges,
        "another": panel.another(),
    }
    summary = {**named, **_fragile(fragile), **_panel(panel)}
    keys = {name: named[name] for name in ("dataset", "member")}
    return summary, {name: table.assign(**keys)[[*keys, *table.columns]] for name, table in tables.items()}


def _fragile(fragility: Fragility) -> dict[str, object]:
    """How many change the first model, by kind, and how many neighbours few judgments change."""
    changes = fragility.changes
    top = changes[changes["change"] == "top"].set_index("by")
    row: dict[str, object] = {"first": top["first"].iloc[0], "second": top.loc["judgments", "second"]}
    for by in top.index:
        row |= {f"top_{by}": top.loc[by, "size"], by: top.loc[by, "total"]}
    swaps = changes[(changes["change"] == "swap") & (changes["by"] == "judgments")]
    ratio = (swaps["size"] / swaps["forecast"].replace(np.inf, np.nan)).dropna().astype(float)
    row |= {"top_share": top.loc["judgments", "share"], "top_forecast": top.loc["judgments", "forecast"]}
    row |= {"neighbours": len(swaps), "swapped_by_few": int((swaps["size"] <= FEW).sum())}
    row |= {"found_over_forecast_low": ratio.min(), "found_over_forecast_high": ratio.max()}
    without = fragility.judges
    return row | {"judges_that_decide": int((without["top"].notna() & (without["top"] != row["first"])).sum())}


def _panel(panel: EffectiveJudges) -> dict[str, object]:
    row: dict[str, object] = {"correlation": panel.correlation, "design_effect": panel.design_effect}
    for measure, values in panel.worth.set_index("measure").iterrows():
        row |= {
            f"{measure}": values["estimate"],
            f"{measure}_low": values["low"],
            f"{measure}_high": values["high"],
        }
    return row


def small_design(rng: np.random.Generator) -> Comparisons:
    """Judgments of five models by three judges who favour a position."""
    n, k, size = 5, 3, SMALL_DESIGN
    s, gamma, position = 0.8 * rng.normal(size=n), np.exp(0.5 * rng.normal(size=k)), 0.4 * rng.normal(size=k)
    first, judge = rng.integers(0, n, size), rng.integers(0, k, size)
    second = (first + rng.integers(1, n, size)) % n
    won = rng.random(size) < expit(gamma[judge] * (s[first] - s[second]) + position[judge])
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    return Comparisons(*names, first, second, judge, won.astype(float))


def searched(settings: dict, rng: np.random.Generator) -> Record:
    """How few judgments put the second model before the first in a small design: by steps, and by the search.

    ``alone`` is whether one judgment does, by a fit without each. Nothing where no set is found.
    """
    rows = small_design(rng)
    fitted = fit(rows, settings["member"])
    if not fitted.converged:
        return {"status": str(fitted.status)}
    start, units = start_of(fitted, rows, None), judgments_as_units(rows)
    i, j = np.argsort(-fitted.scores.to_numpy(), kind="stable")[:2]
    goal = swapped(int(i), int(j))
    steps, smallest_set = by_steps(start, units, goal), smallest(start, units, goal)
    if steps.size is None or smallest_set.size is None:
        return {"status": "none found"}
    alone = any(_swaps_alone(start, goal, units.left_without(start.left, kind)) for kind in np.unique(units.kind))
    return {"steps": steps.size, "size": smallest_set.size, "bound": steps.at_least, "alone": float(alone)}


def _swaps_alone(start: Part, goal: Goal, left: FloatArray) -> bool:
    try:
        return goal.gap(start.without(left, cold=True)) <= 0
    except JudgerankError:
        return False


def small_sets(records: pd.DataFrame) -> pd.DataFrame:
    """By what steps alone find: how often there is a smaller set, a single judgment missed, a bound refuted."""
    complete_records, rows = records.dropna(subset="steps"), []
    for name, (low, high) in STEPS.items():
        part = complete_records[complete_records["steps"].between(low, high)]
        n_designs, smaller = len(part), part["size"] < part["steps"]
        share = smaller.mean() if n_designs else np.nan
        row = {"by_steps": name, "designs": n_designs, "smaller": share}
        row["smaller_se"] = np.sqrt(share * (1 - share) / n_designs) if n_designs else np.nan
        row["single_missed"] = int(((part["alone"] > 0) & (part["size"] > 1)).sum())
        row["bound_refuted"] = int((part["bound"] > part["size"]).sum())
        rows.append(row)
    return pd.DataFrame(rows)


def drawn(rng: np.random.Generator, camps: list[int], share: float) -> tuple[Comparisons, IntArray]:
    """Answers of a panel to questions that every judge answers, and the question behind each.

    Judge k prefers the first model where a uniform draw is below its probability. With a chance of `share` the
    draw is that of its camp for this question, else its own: every judge answers by the model, whatever the share.
    With a share of one a camp differs in its discriminations alone.
    """
    ends = np.array([rng.permutation(len(SCORES))[:2] for _ in range(N_QUESTIONS)])
    d = SCORES[ends[:, 0]] - SCORES[ends[:, 1]]
    together = rng.random((N_QUESTIONS, max(camps) + 1))[:, camps]
    draws = np.where(rng.random((N_QUESTIONS, N_JUDGES)) < share, together, rng.random((N_QUESTIONS, N_JUDGES)))
    outcome = (draws < expit(d[:, None] * DISCRIMINATION)).astype(float).ravel()
    names = tuple(f"m{i}" for i in range(len(SCORES))), tuple(f"j{k}" for k in range(N_JUDGES))
    first, second = ends.repeat(N_JUDGES, axis=0).T
    judge = np.tile(np.arange(N_JUDGES), N_QUESTIONS)
    return Comparisons(*names, first, second, judge, outcome), np.arange(N_QUESTIONS).repeat(N_JUDGES)


def counted(settings: dict, rng: np.random.Generator) -> Record:
    """One panel of known dependence: its standardised scores and, on request, what it is said to be worth.

    Settings are those of `drawn`, ``level`` and ``counted``.
    """
    rows, question = drawn(rng, settings["camps"], settings["share"])
    fitted = fit(rows, "judge_aware")
    record: Record = {"scores": (fitted.scores / fitted.scores.std(ddof=0)).tolist()}
    if not settings["counted"]:
        return record
    effective = effective_judges(fitted, rows, question, settings["level"])
    for measure, values in effective.worth.set_index("measure").iterrows():
        record |= {f"{measure}/{name}": float(values[name]) for name in ("estimate", "low", "high")}
    camps = np.array(settings["camps"])
    together = [set(camps[[rows.judges.index(judge) for judge in one.judges]]) for one in effective.near_copies()]
    record["named"] = float(bool(together))
    record["misnamed"] = float(any(len(names) > 1 for names in together))
    for name, correlation in (("one_more", None), ("one_more_apart", 0.0)):
        record[name] = float(effective.another([1.0], correlation)["adds"].iloc[0])
    return record


OF_NEAR_COPIES = ("named", "misnamed", "one_more", "one_more_apart")  # measures of `counted`


def calibration(records: Mapping[str, pd.DataFrame], n_replications: int) -> pd.DataFrame:
    """What panels were said to be worth beside their worth: K times the variance of independent ones over theirs.

    Parameters
    ----------
    records : mapping of str to DataFrame
        Of `counted`, by the name of the panel, ``independent`` among them; of some the scores alone.
    n_replications : int
        Replications of each.
    """
    scored_records = {name: frame[frame["scores"].notna()] for name, frame in records.items()}
    variance = {name: _variance(np.array(frame["scores"].tolist())) for name, frame in scored_records.items()}
    reference, rows = variance["independent"], []
    for name, frame in scored_records.items():
        worth = N_JUDGES * reference[0] / variance[name][0]
        relative = 0.0 if name == "independent" else float(np.hypot(reference[1], variance[name][1]))
        row = {"panel": name, "n_judges": N_JUDGES, "worth": worth, "worth_se": worth * relative}
        with_worth = frame[frame["kish/estimate"].notna()]
        for measure in ("information", "kish"):
            estimates = with_worth[f"{measure}/estimate"]
            held = (with_worth[f"{measure}/low"] <= worth) & (worth <= with_worth[f"{measure}/high"])
            row |= with_error(measure, estimates)
            row |= {f"{measure}_sd": estimates.std(), f"{measure}_covered": held.mean()}
        row |= with_errors(with_worth[list(OF_NEAR_COPIES)])
        rows.append(
            row
            | {
                "failed": n_replications - len(frame),
                "n_counted": len(with_worth),
                "n_replications": n_replications,
            }
        )
    return pd.DataFrame(rows)


def _variance(scores: FloatArray) -> tuple[float, float]:
    """Mean variance of the scores over replications, and its relative error by the jackknife."""
    squares = (scores - scores.mean(axis=0)) ** 2
    total, n_scores = squares.sum(axis=0).sum(), len(scores)
    without = total - squares.sum(axis=1) * n_scores / (n_scores - 1)  # a sum of squares with one left out
    error = np.sqrt((n_scores - 1) / n_scores * ((without - without.mean()) ** 2).sum())
    return float(total / (n_scores - 1) / scores.shape[1]), float(error / total)
