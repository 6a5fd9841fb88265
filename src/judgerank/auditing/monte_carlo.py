"""When a printed number that rests on random draws agrees with ours: one rule for each kind of draw, stated.

The paper's study is one study: one unknown draw of the truth, or one random subgraph, or the mean of five random
subsets. Ours repeats it, so what ours says about the printed number is a prediction interval for one more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from judgerank import published
from judgerank.auditing.results import Missing, Results

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
- **Subsampling.** A printed mean is one of five random subsets: the interval is
  m ± t(0.975, n - 1) · s · sqrt(1/5 + 1/n) over n >= {LEAST_REPEATS} repeats of ours.
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


def one_more(draws: Sequence[float], size: int = 1) -> Interval:
    """Prediction interval for the mean of `size` more draws like those given.

    Parameters
    ----------
    draws : sequence of float
    size : int

    Returns
    -------
    Interval
        ``m ± t s sqrt(1 / size + 1 / D)``.
    """
    x = np.asarray(draws, float)
    return _about(float(x.mean()), float(x.std(ddof=1)), len(x), size)


def _about(mean: float, deviation: float, draws: int, size: int) -> Interval:
    reach = float(t.ppf((1 + SHARE) / 2, draws - 1)) * deviation * np.sqrt(1 / size + 1 / draws)
    return Interval(mean, mean - reach, mean + reach, draws)


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


def _repeats(results: Results, entry: dict) -> tuple[dict, int]:
    rows = results.rows(entry["source"], entry["where"])
    if len(rows) != 1:
        raise Missing(f"{entry['source']} has {len(rows)} rows with {entry['where']}, not one")
    values = rows.iloc[0].to_dict()
    if values["n_repeats"] < LEAST_REPEATS:
        raise Missing(f"{entry['source']} rests on {values['n_repeats']} repeats, the error needs {LEAST_REPEATS}")
    return values, int(values["n_repeats"])


def _one_draw(results: Results, entry: dict) -> Interval:
    values, repeats = _repeats(results, entry)
    if "q025" not in values:
        raise Missing(f"{entry['source']} has no column q025")
    return Interval(values["mean"], values["q025"], values["q975"], repeats)


def _mean_of_five(results: Results, entry: dict) -> Interval:
    values, repeats = _repeats(results, entry)
    return _about(values["mean"], values["standard_error"] * np.sqrt(repeats), repeats, 5)


RULES = {"truths": _truths, "one draw": _one_draw, "mean of five": _mean_of_five}
