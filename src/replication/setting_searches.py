"""Settings that the paper does not state, looked for in finite lists: what each gives beside what is printed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, combinations

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from replication import published
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
