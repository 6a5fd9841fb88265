"""When a printed number that rests on random draws agrees with ours: one rule for each kind of draw, stated.

The paper's study is one study: one unknown draw of the truth, or one random subgraph. Ours repeats it,
so what ours says about the printed number is a prediction interval for one more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, t

from replication import published
from replication.auditing.results import Missing, Results

LEAST_TRUTHS = 5
LEAST_REPEATS = 20
SHARE = 0.95
TRUTHS = "convergence_mse/slopes_draws.csv"
STATED = f"""\
One rule for each kind of draw decides *within Monte Carlo error*; each is a {SHARE:.0%} prediction interval for
one more study like ours.

- **Slopes (Table A.3).** The printed slope is one study under one unknown draw of the truth. With ours under
  D draws, x_1 to x_D, of mean m and standard deviation s (which holds both the differences between truths and
  the error of each study's own replications), the interval is m ± t(0.975, D - 1) · s · sqrt(1 + 1/D). It takes
  D >= {LEAST_TRUTHS}, as many replications as the paper's under the first truth and a quarter as many under the
  others; after less the number is not checkable. With few draws the interval is wide: agreement then says little.
- **Sparse graphs (Table A.9).** A printed correlation is one random subgraph: the interval runs from the 2.5% to
  the 97.5% quantile of ours, of at least {LEAST_REPEATS} repeats.

The spread of the simulated truths (appendix C.1) is a setting; it counts as taken over if the printed standard
deviation lies in the {SHARE:.0%} confidence interval (chi-squared) from the stored truths.
"""


@dataclass(frozen=True)
class Interval:
    """Our value, and where one more study would fall.

    Attributes
    ----------
    centre, low, high : float
    draws : int
        What it rests on.
    """

    centre: float
    low: float
    high: float
    draws: int


def one_more(draws: Sequence[float]) -> Interval:
    """Prediction interval for one more draw like those given: ``m ± t s sqrt(1 + 1 / D)``."""
    x = np.asarray(draws, float)
    mean, size = float(x.mean()), len(x)
    reach = float(t.ppf((1 + SHARE) / 2, size - 1) * x.std(ddof=1) * np.sqrt(1 + 1 / size))
    return Interval(mean, mean - reach, mean + reach, size)


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
    wanted = int(published.table("in_text").at["mse_runs", "printed"])
    sizes = "; ".join(entry["where"].split("; ")[:2])
    for table, least in (("convergence_mse/mse.csv", wanted), ("convergence_mse/mse_draws.csv", wanted // 4)):
        found = results.column(table, sizes, "n_replications").max()
        if found < least:
            raise Missing(f"{table} rests on {found} replications, the error needs {least}")
    return one_more(slopes)


def _one_draw(results: Results, entry: dict) -> Interval:
    rows = results.rows(entry["source"], entry["where"])
    if len(rows) != 1:
        raise Missing(f"{entry['source']} has {len(rows)} rows with {entry['where']}, not one")
    row = rows.iloc[0]
    if "q025" not in row:
        raise Missing(f"{entry['source']} has no column q025")
    if row["n_repeats"] < LEAST_REPEATS:
        raise Missing(f"{entry['source']} rests on {row['n_repeats']} repeats, the error needs {LEAST_REPEATS}")
    return Interval(row["mean"], row["q025"], row["q975"], int(row["n_repeats"]))


def _spread(results: Results, entry: dict) -> Interval:
    """Confidence interval of the standard deviation of normal truths, each centred at zero (appendix C.1)."""
    truths = results.rows(entry["source"], entry["where"])
    groups = truths.groupby(["n_models", "n_judges", "draw", "parameter"])[entry["value"]]
    freedom = int((groups.size() - 1).sum())
    squares = float((truths[entry["value"]] ** 2).sum())
    low, high = (np.sqrt(squares / chi2.ppf((1 + side * SHARE) / 2, freedom)) for side in (1, -1))
    return Interval(float(np.sqrt(squares / freedom)), float(low), float(high), groups.ngroups)


RULES = {"truths": _truths, "one draw": _one_draw, "spread": _spread}
