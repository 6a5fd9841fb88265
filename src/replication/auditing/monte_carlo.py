"""When a printed number that rests on random draws agrees with ours: one rule for each kind of draw, stated.

The paper's study is one study: one unknown draw of the truth, or one random subgraph. Ours repeats it,
so what ours says about the printed number is a prediction interval for one more.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from replication.auditing.results import Missing, Results
from replication.prediction import LEAST_ORDERED, SHARE, Interval, one_more

LEAST_TRUTHS = 5
STATED = f"""\
One rule for each kind of draw decides *within error, settings searched for*; each is a {SHARE:.0%} prediction
interval for one more study like ours.

- **Slopes (Table A.3).** The printed slope is one study under one unknown draw of the truth. With ours, by the
  paper's Algorithm A.1 stopped after 5,000 iterations, under D draws, x_1 to x_D, of mean m and standard deviation
  s (which holds both the differences between truths and the error of each study's own replications), the interval
  is m ± t(0.975, D - 1) · s · sqrt(1 + 1/D). It takes D >= {LEAST_TRUTHS}. Ours have fewer replications than the
  paper's, so they vary more, and the interval is wider than it need be: agreement says little by itself, which is
  why all slopes are judged together as well. Of three runs (over a box, and Algorithm A.1 stopped after 2,000 or
  5,000 iterations) it is the one that all slopes together do not reject.
- **Sparse graphs (Table A.9).** A printed correlation is of one random subgraph. The design is the likeliest of
  those tried on these same numbers. With n like it of ours, the
  interval runs from the k-th smallest to the k-th largest, k = 0.025 (n + 1) rounded down: one more lies between
  them with probability 1 - 2k / (n + 1). It takes n >= {LEAST_ORDERED}.

The spread of the simulated truths (appendix C.1) is a setting; it counts as taken over if the printed standard
deviation lies in the {SHARE:.0%} confidence interval (chi-squared) from the stored truths.
"""


def interval(results: Results, entry: dict) -> Interval:
    """The interval for an entry of the registry, by the rule it names.

    Raises
    ------
    Missing
        If the stored runs are too few for it.
    """
    return RULES[entry["rule"]](results, entry)


def _truths(results: Results, entry: dict) -> Interval:
    slopes = results.column(entry["source"], entry["where"], entry["value"])
    if len(slopes) < LEAST_TRUTHS:
        raise Missing(f"{entry['source']} has {len(slopes)} draws of the truth, the error needs {LEAST_TRUTHS}")
    return one_more(slopes)


def _one_draw(results: Results, entry: dict) -> Interval:
    rows = results.rows(entry["source"], entry["where"])
    if len(rows) != 1:
        raise Missing(f"{entry['source']} has {len(rows)} rows with {entry['where']}, not one")
    row = rows.iloc[0]
    if row["tables"] < LEAST_ORDERED:
        raise Missing(f"{entry['source']} rests on {row['tables']} tables, the error needs {LEAST_ORDERED}")
    return Interval(row["mean"], row["low"], row["high"], int(row["tables"]))


def _spread(results: Results, entry: dict) -> Interval:
    """Confidence interval of the standard deviation of normal truths, each centred at zero (appendix C.1)."""
    truths = results.rows(entry["source"], entry["where"])
    groups = truths.groupby(["n_models", "n_judges", "draw", "parameter"])[entry["value"]]
    freedom = int((groups.size() - 1).sum())
    squares = float((truths[entry["value"]] ** 2).sum())
    low, high = (np.sqrt(squares / chi2.ppf((1 + side * SHARE) / 2, freedom)) for side in (1, -1))
    return Interval(float(np.sqrt(squares / freedom)), float(low), float(high), groups.ngroups)


RULES = {"truths": _truths, "one draw": _one_draw, "spread": _spread}
