"""Settings that the paper does not state, looked for in finite lists: what each gives beside what is printed."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from judgerank.data.frames import OUTCOMES
from judgerank.data.judgments import Judgments
from judgerank.engine.adam import Adam, iterates
from judgerank.engine.likelihood import evaluate
from judgerank.engine.solution import Solution, Status
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.model.naming import get_model
from replication import published
from replication.resampling import MEASURES, correlations
from replication.stopping import ANSWERS, answered

FITS = ("judge_aware", "btl")
WIDTHS = {
    "in_house_width_judge_aware": "judge_aware",
    "in_house_width_btl": "btl",
    "in_house_width_ties_dropped": "judge_aware",
}
AVERAGES = {
    "mean": pd.Series.mean,
    "median": pd.Series.median,
    "root mean square": lambda widths: (widths**2).mean() ** 0.5,
}
Fits = dict[tuple[str, str, str], Fit]  # by judges (all, kept), ties (half, dropped) and model


def attempts(item: str, printed: str, tried: Iterable[tuple[dict, float]]) -> pd.DataFrame:
    """Every setting tried for one printed number, nearest first.

    Returns
    -------
    DataFrame
        ``item, printed``, the settings' columns, ``value, difference, reproduced``; reproduced means equal at
        printed precision.
    """
    rows = [
        {
            "item": item,
            "printed": printed,
            **setting,
            "value": value,
            "difference": value - float(printed),
            "reproduced": published.as_printed(value, printed) == printed,
        }
        for setting, value in tried
    ]
    frame = pd.DataFrame(rows)
    order = (~frame["reproduced"]).astype(float) * 1e9 + frame["difference"].abs().round(
        9
    )  # else rounding orders ties
    return frame.loc[order.sort_values(kind="stable").index].reset_index(drop=True)


def score_widths(fitted: Fit, level: float) -> pd.Series:
    """Interval widths of the scores by model."""
    rows = fitted.confidence_intervals(level).query("parameter == 'score'").set_index("name")
    return rows["high"] - rows["low"]


def exchanged(before: Fit, after: Fit, level: float) -> list[dict]:
    """Neighbouring models that exchange their places between two fits, with the differences of their scores."""
    rows = []
    for model in before.ranks.index:
        for rival in before.ranks.index[before.ranks == after.ranks[model]]:
            if before.ranks[model] < before.ranks[rival] and after.ranks[rival] == before.ranks[model]:
                row = {
                    "model_1": model,
                    "model_2": rival,
                    "rank_1": before.ranks[model],
                    "rank_2": before.ranks[rival],
                }
                for name, fitted in (("before", before), ("after", after)):
                    difference = fitted.contrast({model: 1.0, rival: -1.0}, level)
                    row |= {
                        f"difference_{name}": difference["estimate"],
                        f"error_{name}": difference["standard_error"],
                    }
                rows.append(row)
    return rows


def versions_of(comparisons: Comparisons, left_out: list[str]) -> Iterator[tuple[tuple[str, str], Comparisons]]:
    """All judges or those the paper keeps, with ties as half a win or without."""
    judges_used = [judge for judge in comparisons.judges if judge not in left_out]
    for ties, those in (("half", comparisons), ("dropped", comparisons.without_ties())):
        yield ("all", ties), those
        yield ("kept", ties), those.with_judges(judges_used)


def width_search(fits: Fits, level: float) -> pd.DataFrame:
    """Average widths of the fits of each kind against the printed ones."""
    printed = published.table("in_text")["printed"]
    tables = []
    for item, model in WIDTHS.items():
        tried = [
            ({"judges": judges, "ties": ties, "average": name}, float(average(score_widths(fitted, level))))
            for (judges, ties, fitted_model), fitted in fits.items()
            if fitted_model == model
            for name, average in AVERAGES.items()
        ]
        tables.append(attempts(item, printed[item], tried))
    return pd.concat(tables, ignore_index=True)


def reduction_search(sets: dict[str, Fits], level: float) -> pd.DataFrame:
    """One word, several meanings: of means, of medians, by model; over BTL's width or over the judge-aware one."""
    printed = published.table("in_text")["printed"]
    tables = []
    for name, fits in sets.items():
        item, tried = f"{name}_width_reduction", []
        for judges, ties in dict.fromkeys(key[:2] for key in fits):
            ours, theirs = (score_widths(fits[judges, ties, model], level) for model in FITS)
            meanings = {
                "1 - judge_aware / btl, means": 1 - ours.mean() / theirs.mean(),
                "btl / judge_aware - 1, means": theirs.mean() / ours.mean() - 1,
                "1 - judge_aware / btl, medians": 1 - ours.median() / theirs.median(),
                "btl / judge_aware - 1, medians": theirs.median() / ours.median() - 1,
                "1 - judge_aware / btl, mean over models": (1 - ours / theirs).mean(),
                "btl / judge_aware - 1, mean over models": (theirs / ours - 1).mean(),
            }
            subset = {"judges": judges, "ties": ties}
            tried += [({**subset, "meaning": meaning}, 100 * float(value)) for meaning, value in meanings.items()]
        rounded = [float(printed[f"{name}_width_{model}"]) for model in FITS]
        of_printed = {"judges": "--", "ties": "--", "meaning": "1 - judge_aware / btl, printed widths"}
        tried.append((of_printed, 100 * (1 - rounded[0] / rounded[1])))
        tables.append(attempts(item, printed[item], tried))
    return pd.concat(tables, ignore_index=True)


def tie_search(fits: Fits, swapped: Collection[frozenset[str]], level: float) -> pd.DataFrame:
    """Who exchanges places with whom once ties are dropped; differences of scores with their standard errors."""
    rows = []
    for model in FITS:
        for judges in ("all", "kept"):
            before, after = fits[judges, "half", model], fits[judges, "dropped", model]
            subset = {"fit": model, "judges": judges, "models_moved": int((before.ranks != after.ranks).sum())}
            pairs = exchanged(before, after, level)
            for pair in pairs:
                is_named = frozenset((pair["model_1"], pair["model_2"])) in swapped
                rows.append({**subset, "pairs_exchanged": len(pairs), "named": is_named, **pair})
    return pd.DataFrame(rows).sort_values("named", ascending=False, kind="stable", ignore_index=True)


def rank_search(judgments: Judgments, most: int) -> pd.DataFrame:
    """Printed BTL scores and ranks reproduced, by what answers count for, with at most `most` judges left out."""
    rows = []
    for answers in ANSWERS:
        comparisons = answered(judgments, answers)
        choices = (combinations(comparisons.judges, n_left_out) for n_left_out in range(most + 1))
        for left_out in chain.from_iterable(choices):
            judges_used = [judge for judge in comparisons.judges if judge not in left_out]
            fitted = fit(comparisons.with_judges(judges_used), "btl")
            ours = pd.DataFrame({"score_btl": fitted.scores, "rank_btl": fitted.ranks})
            compared = published.compare("complete_ranking", ours, list(ours))
            same = compared.groupby("column")["reproduced"].sum()
            row = {"left_out": "; ".join(left_out) or "none", "answers": answers, "models": len(ours)}
            rows.append(row | {f"{name}s_reproduced": int(same[name]) for name in ours})
    return pd.DataFrame(rows).sort_values(
        ["rank_btls_reproduced", "score_btls_reproduced"], ascending=False, kind="stable", ignore_index=True
    )


# Samples of a pool's comparisons and stops of an iteration, looked for behind Table 2 and its correlations.


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
