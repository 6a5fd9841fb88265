"""Where the paper's Algorithm A.1 is at every iteration, held against the printed columns.

A likelihood without an interior maximum has no estimate to print; an iteration that was stopped has. A finite list
of settings can be tried: starts, step sizes, what becomes of ties, which judges, and when to stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.frames import OUTCOMES
from judgerank.data.judgments import Judgments
from judgerank.data.portable_math import exp
from judgerank.engine.adam import Adam, iterates
from judgerank.engine.side_by_side import side_by_side
from judgerank.engine.sums import evaluate
from judgerank.model.members import JUDGE_AWARE, Parameters
from judgerank.model.streams import generator
from replication import published

ROUND = 1000  # iterations: a limit that one would choose is a multiple
TOLERANCES = (1e-3, 1e-4, 1e-5)
NEWTON_STEPS = 25  # far more than it takes
SPREAD = 0.1  # standard deviation of random starts, in s and in log gamma
START_DECIMALS = 6  # of fits as starts: CPUs differ in the eleventh, which an iteration without a maximum blows up
FEW, MOST = 1000, 16  # rows of a set up to which sets are followed at once, and how many: not a bit is another
ANSWERS = ("ties as half", "ties dropped", "unparsed as ties", "unparsed as a", "unparsed as b")


@dataclass(frozen=True)
class Tried:
    """A setting of Algorithm A.1: the answers it sees, the judges left out, where it starts, its constants."""

    start: str = "zero"
    answers: str = ANSWERS[0]
    left_out: tuple[str, ...] = ()
    step_scores: float = Adam.step_scores
    step_judges: float = Adam.step_judges
    epsilon: float = Adam.epsilon

    def columns(self) -> dict:
        """Of a table with one row per setting."""
        return {**vars(self), "left_out": ", ".join(self.left_out) or "none"}


def answered(judgments: Judgments, answers: str) -> Comparisons:
    """The comparisons under one reading of ties and of answers that could not be parsed (in `ANSWERS`)."""
    if answers == "ties dropped":
        return judgments.comparisons.without_ties()
    if answers == ANSWERS[0]:
        return judgments.comparisons
    given = judgments.frame["judge_preferred_model"]
    taken = {"unparsed as ties": "c", "unparsed as a": "a", "unparsed as b": "b"}[answers]
    filled = given.where(given.isin(list(OUTCOMES)), taken)
    return Comparisons.from_frame(judgments.frame.assign(judge_preferred_model=filled))


def starts(
    cells: Comparisons, gammas: dict[str, pd.Series], unweighted: pd.Series, random: int, seed: int
) -> dict[str, Parameters]:
    """Natural starting points by name: zero, other sets' discriminations, unweighted scores, and random ones.

    A judge whom the other set lacks or puts at zero starts at one.
    """
    n, k = len(cells.models), len(cells.judges)
    scores = unweighted[list(cells.models)].to_numpy().round(START_DECIMALS)
    found = {
        "zero": Parameters(np.zeros(n), np.zeros((1, k))),
        "unweighted scores": Parameters(scores, np.zeros((1, k))),
    }
    for name, gamma in gammas.items():
        known = gamma[gamma > 0].reindex(list(cells.judges)).fillna(1.0)
        alpha = np.log(known.to_numpy())[None, :]
        alpha = (alpha - alpha.mean()).round(START_DECIMALS)
        found[f"gammas of {name}"] = Parameters(np.zeros(n), alpha)
        found[f"gammas of {name}, unweighted scores"] = Parameters(scores, alpha)
    for number in range(random):
        rng = generator(seed, "stopping", number)
        draw = [SPREAD * rng.standard_normal(size) for size in (n, (1, k))]
        found[f"random {number + 1}"] = Parameters(*(block - block.mean() for block in draw))
    return found


@dataclass(frozen=True)
class Path:
    """Algorithm A.1, iteration by iteration.

    Attributes
    ----------
    cells : Comparisons
    scores : float array, shape (iterations + 1, N)
        The start first.
    log_discrimination : float array, shape (iterations + 1, K)
    n_printed : int
        Number of judges whose discriminations are printed.
    """

    cells: Comparisons
    scores: np.ndarray
    log_discrimination: np.ndarray
    n_printed: int = len(published.table("judge_discrimination"))

    @classmethod
    def of(cls, cells: Comparisons, start: Parameters, settings: Adam) -> Path:
        """Follow the iteration to the settings' limit, whatever its stopping rule says."""
        return cls.together([(cells, start)], settings)[0]

    @classmethod
    def together(cls, sets: Sequence[tuple[Comparisons, Parameters]], settings: Adam) -> list[Path]:
        """The same for sets of equally many models and judges, each from its own start."""
        whole = side_by_side([cells for cells, _ in sets])
        begins = [start for _, start in sets]
        begin = Parameters(
            np.concatenate([start.scores for start in begins]),
            np.concatenate([start.judges for start in begins], axis=1),
        )
        steps = iterates(whole, JUDGE_AWARE, replace(settings, tolerance=0.0), begin, sets=len(sets))
        points = [(begin.scores, begin.judges[0]), *((at.scores, at.judges[0]) for _, at, _ in steps)]
        blocks = (np.split(np.array(block), len(sets), axis=1) for block in zip(*points, strict=True))
        return [cls(cells, scores, alpha) for (cells, _), scores, alpha in zip(sets, *blocks, strict=True)]

    def gammas(self, printed: np.ndarray) -> np.ndarray:
        """Discriminations by iteration, with the printed ones' geometric mean where judges are left out."""
        unit = exp(np.log(printed).mean()) if len(printed) < self.n_printed else 1.0
        return unit * exp(self.log_discrimination)

    def log_likelihood(self, iteration: int) -> float:
        at = Parameters(self.scores[iteration], self.log_discrimination[iteration][None, :])
        return evaluate(self.cells, JUDGE_AWARE, at).log_likelihood

    def against(self, table: str) -> pd.DataFrame:
        """By iteration, how many printed discriminations and scores it matches, and how far off it is.

        Returns
        -------
        DataFrame
            Indexed by iteration: ``matched, largest_difference, scores_matched, euclidean, maximum``; the last two
            are the larger norm of the two updates.
        """
        printed = published.numbers("judge_discrimination", table)[list(self.cells.judges)].to_numpy()
        gamma = self.gammas(printed)
        scores = published.numbers(table, "score_judge_aware").reindex(list(self.cells.models)).to_numpy()
        steps = [np.diff(block, axis=0) for block in (self.scores, self.log_discrimination)]
        norms = {
            "euclidean": np.max([np.linalg.norm(step, axis=1) for step in steps], axis=0),
            "maximum": np.max([np.abs(step).max(axis=1) for step in steps], axis=0),
        }
        frame = pd.DataFrame(
            {
                "matched": same_as_printed(gamma, printed).sum(axis=1),
                "largest_difference": np.abs(gamma - printed).max(axis=1),
                "scores_matched": same_as_printed(self.scores, scores).sum(axis=1),
            }
        )
        return frame.iloc[1:].assign(**norms).rename_axis("iteration")


def same_as_printed(values: np.ndarray, printed: np.ndarray) -> np.ndarray:
    """Whether values equal numbers printed with two decimals; false where nothing is printed."""
    return np.abs(np.round(values, 2) - printed) < 0.005


def stops(frame: pd.DataFrame) -> Iterator[tuple[str, int]]:
    """When one might have stopped, with the iteration: the best points, round numbers, and tolerances."""
    yield "nearest", int(frame["largest_difference"].idxmin())
    yield "most matched", int(frame["matched"].idxmax())
    for iteration in range(ROUND, len(frame) + 1, ROUND):
        yield f"{iteration} iterations", iteration
    for norm in ("euclidean", "maximum"):
        for tolerance in TOLERANCES:
            met = frame.index[frame[norm] <= tolerance]
            if len(met):
                yield f"{norm} norm of the update at most {tolerance:g}", int(met[0])


def one_at_a_time(base: Tried, **choices: list) -> Iterator[Tried]:
    """A setting, and those that differ from it in one of the named respects (or in both step sizes)."""
    yield base
    for name, values in choices.items():
        for value in values:
            if name == "steps":
                yield replace(base, step_scores=float(value[0]), step_judges=float(value[1]))
            else:
                yield replace(base, **{name: value})


def tried(
    judgments: Judgments, table: str, settings: list[Tried], at: dict[str, Parameters], length: int
) -> pd.DataFrame:
    """Every setting and every stop, with the printed discriminations and scores that it matches.

    Returns
    -------
    DataFrame
        ``dataset``, the setting's columns, ``stop, iteration, matched, of, not_matched, largest_difference,
        scores_matched, scores_of, log_likelihood``.
    """
    runs, rows = [], []
    for setting in settings:
        comparisons = answered(judgments, setting.answers)
        kept = [judge for judge in comparisons.judges if judge not in setting.left_out]
        cells = comparisons.with_judges(kept).aggregate()
        constants = Adam(
            step_scores=setting.step_scores,
            step_judges=setting.step_judges,
            epsilon=setting.epsilon,
            max_iterations=length,
        )
        runs.append((cells, _without(at[setting.start], judgments.comparisons, cells), constants))
    for setting, path in zip(settings, followed(runs), strict=True):
        frame = path.against(table)
        for stop, iteration in stops(frame):
            rows.append(
                {"dataset": table, **setting.columns(), "stop": stop, **_row(path, frame, iteration, table)}
            )
    return pd.DataFrame(rows)


def followed(runs: Sequence[tuple[Comparisons, Parameters, Adam]]) -> list[Path]:
    """The path of every run, given as in `Path.of`; those of few rows that are alike in all else at once."""
    alike: dict[tuple, list[int]] = {}
    for place, (cells, _, constants) in enumerate(runs):
        own = () if len(cells) < FEW else (place,)
        alike.setdefault((constants, len(cells.models), len(cells.judges), *own), []).append(place)
    found: dict[int, Path] = {}
    for (constants, *_), places in alike.items():
        for start in range(0, len(places), MOST):
            some = places[start : start + MOST]
            found |= zip(some, Path.together([runs[place][:2] for place in some], constants), strict=True)
    return [found[place] for place in range(len(runs))]


def _row(path: Path, frame: pd.DataFrame, iteration: int, table: str) -> dict:
    judges = list(path.cells.judges)
    printed = published.numbers("judge_discrimination", table)[judges].to_numpy()
    missed = ~same_as_printed(path.gammas(printed)[iteration], printed)
    names = [judge for judge, miss in zip(judges, missed, strict=True) if miss]
    scores = published.numbers(table, "score_judge_aware").reindex(list(path.cells.models))
    return {
        "iteration": iteration,
        "matched": int(frame.at[iteration, "matched"]),
        "of": len(judges),
        "not_matched": ", ".join(islice(names, 3)) + (f" and {len(names) - 3} more" if len(names) > 3 else ""),
        "largest_difference": frame.at[iteration, "largest_difference"],
        "scores_matched": int(frame.at[iteration, "scores_matched"]),
        "scores_of": int(scores.notna().sum()),
        "log_likelihood": path.log_likelihood(iteration),
    }


def _without(start: Parameters, full: Comparisons, cells: Comparisons) -> Parameters:
    """A start for the judges that are left, centred again."""
    place = [full.judges.index(judge) for judge in cells.judges]
    alpha = start.judges[:, place]
    return Parameters(start.scores, alpha - alpha.mean())


def gradient_at_printed(cells: Comparisons, table: str) -> pd.DataFrame:
    """Whether the printed discriminations can be a maximum: gradients there, with the best scores.

    At a maximum every component is zero up to what rounding to two decimals can leave: to first order, the sizes
    of a row of the information (the scores profiled out) times half a unit of every judge's last decimal.

    Returns
    -------
    DataFrame
        ``dataset, judge, paper, gradient, rounding, settled``.
    """
    printed = published.numbers("judge_discrimination", table)[list(cells.judges)]
    alpha = np.log(printed.to_numpy())[None, :]
    scores = np.zeros(len(cells.models))
    for _ in range(NEWTON_STEPS):  # concave in the scores alone
        here = evaluate(cells, JUDGE_AWARE, Parameters(scores, alpha), "expected")
        scores = scores + np.linalg.lstsq(here.top_information, here.top_gradient)[0]
        scores -= scores.mean()
    here = evaluate(cells, JUDGE_AWARE, Parameters(scores, alpha), "expected")
    cross = here.cross_information[0]
    profiled = cross @ np.linalg.pinv(here.top_information, hermitian=True) @ cross.T
    information = np.diag(here.judge_information[:, 0, 0]) - profiled
    rounding = np.abs(information) @ (0.005 / printed.to_numpy())
    gradient = here.judge_gradient[0]
    frame = pd.DataFrame({"paper": printed, "gradient": gradient, "rounding": rounding})
    frame["settled"] = np.abs(gradient) <= rounding
    return frame.rename_axis("judge").reset_index().assign(dataset=table)[["dataset", "judge", *frame.columns]]
