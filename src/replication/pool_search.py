"""Samples of a pool's comparisons and stops of an iteration, looked for behind Table 2 and its correlations."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from judgerank.data.frames import OUTCOMES
from judgerank.engine.adam import Adam, iterates
from judgerank.engine.likelihood import evaluate
from judgerank.engine.solution import Solution, Status
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.model.naming import get_model
from replication import published
from replication.resampling import MEASURES, correlations

DRAWS = ("random.sample", "random.shuffle", "RandomState.permutation", "Generator.choice", "Generator.permutation")


def drawn(kind: str, seed: int, n_rows: int, size: int) -> np.ndarray:
    """`size` of `n_rows` positions without replacement, as a seeded generator of Python or NumPy draws them."""
    if kind == "random.sample":
        return np.array(random.Random(seed).sample(range(n_rows), size))
    if kind == "random.shuffle":
        order = list(range(n_rows))
        random.Random(seed).shuffle(order)
        return np.array(order[:size])
    if kind == "RandomState.permutation":  # what RandomState.choice and DataFrame.sample draw, too
        return np.random.RandomState(seed).permutation(n_rows)[:size]
    rng = np.random.default_rng(seed)
    return (
        rng.choice(n_rows, size, replace=False) if kind == "Generator.choice" else rng.permutation(n_rows)[:size]
    )


def samples(
    frame: pd.DataFrame, comparisons: Comparisons, judges: list[str], sizes: dict[str, list[int]], seeds: list[int]
) -> Iterator[tuple[dict, Comparisons]]:
    """Samples of a set's records, restricted to some judges and to what could be parsed.

    Parameters
    ----------
    frame : DataFrame
        The records in the order of the file.
    comparisons : Comparisons
        Those that could be parsed, in the same order.
    judges : list of str
    sizes : dict of str to list of int
        How many records to draw, by what they are drawn from: ``judges``, ``judges, parsed``, ``judges, no ties``
        or ``all, parsed``.
    seeds : list of int
    """
    answer = frame["judge_preferred_model"]
    parsed, chosen = answer.isin(list(OUTCOMES)).to_numpy(), frame["judge_model"].isin(judges).to_numpy()
    position = np.cumsum(parsed) - 1
    bases = {
        "judges": chosen,
        "judges, parsed": chosen & parsed,
        "judges, no ties": chosen & parsed & (answer != "c").to_numpy(),
        "all, parsed": parsed,
    }
    for base, those in sizes.items():
        records = np.flatnonzero(bases[base])
        for size in (size for size in those if size <= len(records)):
            for seed in seeds:
                for kind in DRAWS:
                    rows = np.sort(records[drawn(kind, seed, len(records), size)])
                    rows = position[rows[chosen[rows] & parsed[rows]]]
                    setting = {"drawn_from": base, "size": size, "generator": kind, "seed": seed}
                    yield setting, comparisons.take(rows)


def sample_search(
    tried: Iterable[tuple[dict, Comparisons]], reference: pd.Series, printed: dict[str, str]
) -> pd.DataFrame:
    """BTL on every sample against the printed correlations of BTL with the full-data scores, nearest first.

    BTL alone, since its maximum does not depend on where an iteration stops.
    """
    rows = []
    for setting, part in tried:
        try:
            estimates = correlations(fit(part, "btl").scores, reference)
        except NoMaximumError:
            estimates = dict.fromkeys(MEASURES, np.nan)
        off = {f"{name}_difference": estimates[name] - float(printed[name]) for name in estimates}
        same = [published.as_printed(estimates[name], printed[name]) == printed[name] for name in estimates]
        rows.append({**setting, "comparisons": len(part), **estimates, **off, "reproduced": int(np.sum(same))})
    table = pd.DataFrame(rows)
    distance = np.hypot(table["pearson_difference"], table["spearman_difference"])
    order = pd.DataFrame({"same": -table["reproduced"], "distance": distance})
    return table.loc[order.sort_values(["same", "distance"], kind="stable").index].reset_index(drop=True)


def stops(comparisons: Comparisons, settings: Adam, iterations: list[int]) -> Iterator[tuple[int, Fit]]:
    """The judge-aware fit as Algorithm A.1 would leave it after given numbers of iterations."""
    cells = comparisons.aggregate()
    model = get_model("judge_aware", cells)
    for iteration, parameters, _ in iterates(cells, model, settings):
        if iteration in iterations:
            evaluation = evaluate(cells, model, parameters)
            solution = Solution(parameters, evaluation, Status.ITERATION_LIMIT, iteration, ())
            yield iteration, Fit(cells, model, settings, solution)


def turned(comparisons: Comparisons, rng: np.random.Generator) -> Comparisons:
    """The same comparisons, about half of them written with the other model first: their sums round otherwise."""
    is_turned, c = rng.random(len(comparisons)) < 0.5, comparisons
    first, second = np.where(is_turned, [c.second, c.first], [c.first, c.second])
    return replace(c, first=first, second=second, outcome=np.where(is_turned, 1.0 - c.outcome, c.outcome))


def against_table_2(judge_aware: Fit, btl: Fit, reference: pd.Series) -> pd.DataFrame:
    """The eight discriminations and six numbers of section 5.4 beside those of a pair of fits."""
    text, gammas = published.table("in_text")["printed"], published.table("mixed_judges")["discrimination"]
    ours = judge_aware.discrimination[gammas.index].to_dict()
    printed = gammas.to_dict()
    correlation = {
        "judge_aware": correlations(judge_aware.scores, reference),
        "btl": correlations(btl.scores, reference),
    }
    for measure in MEASURES:
        for model in ("btl", "judge_aware"):
            ours[f"{measure}_{model}"] = correlation[model][measure]
        ours[f"{measure}_gain"] = correlation["judge_aware"][measure] - correlation["btl"][measure]
        printed |= {
            f"{measure}_{what}": text[f"mixed_{measure}_{what}"] for what in ("btl", "judge_aware", "gain")
        }
    frame = pd.DataFrame(
        {"name": list(ours), "paper": [printed[name] for name in ours], "ours": list(ours.values())}
    )
    frame["difference"] = frame["ours"] - frame["paper"].astype(float)
    frame["reproduced"] = [
        published.as_printed(value, text) == text
        for value, text in zip(frame["ours"], frame["paper"], strict=True)
    ]
    return frame


def stop_search(fits: dict[tuple[str, str], Fit], btl: Fit, reference: pd.Series) -> pd.DataFrame:
    """How much of Table 2 each judge-aware fit to a sample gives, by algorithm and iterations, best first."""
    gammas = published.numbers("mixed_judges", "discrimination")
    rows = []
    for (algorithm, iterations), fitted in fits.items():
        check = against_table_2(fitted, btl, reference).set_index("name")
        is_gamma = check.index.isin(gammas.index)
        rows.append(
            {
                "algorithm": algorithm,
                "iterations": iterations,
                "discriminations_reproduced": int(check["reproduced"][is_gamma].sum()),
                "correlations_reproduced": int(check["reproduced"][~is_gamma].sum()),
                "largest_ratio": float((check["ours"][gammas.index] / gammas).max()),
                "smallest_ratio": float((check["ours"][gammas.index] / gammas).min()),
                **check["ours"][["pearson_judge_aware", "spearman_judge_aware"]],
                "log_likelihood": fitted.log_likelihood,
            }
        )
    table = pd.DataFrame(rows)
    spread = np.log(table["largest_ratio"] / table["smallest_ratio"])
    keys = -table[["discriminations_reproduced", "correlations_reproduced"]]
    order = keys.assign(spread=spread).sort_values([*keys, "spread"], kind="stable").index
    return table.loc[order].reset_index(drop=True)
