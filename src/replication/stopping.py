"""Where the paper's Algorithm A.1 is at every iteration, held against the printed columns.

A likelihood without an interior maximum has no estimate to print; an iteration that was stopped has. A finite list
of settings can be tried: starts, step sizes, decay rates, what becomes of ties, which judges, and when to stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product

import numpy as np
import pandas as pd

from judgerank.data.arrays import exp, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.frames import OUTCOMES
from judgerank.data.judgments import Judgments
from judgerank.engine.adam import Adam, iterates
from judgerank.engine.likelihood import evaluate
from judgerank.engine.rows import side_by_side
from judgerank.fits.result import Fit
from judgerank.model.members import JUDGE_AWARE, Parameters
from replication import published

ROUND = 1000  # iterations: a limit that one would choose is a multiple
LIMIT = f"a multiple of {ROUND} iterations"
MOVE = 1e-4  # of a log-discrimination at most between two iterates that are compared: a fiftieth of rounding
TOLERANCES = (1e-3, 1e-4, 1e-5)
NEWTON_STEPS = 25  # far more than it takes
SPREAD = 0.1  # standard deviation of random starts, in s and in log gamma
START_DECIMALS = 6  # of fits as starts: CPUs differ in the eleventh, which an iteration without a maximum blows up
MOST = 16  # runs that are followed at once
ANSWERS = ("ties as half", "ties dropped", "unparsed as ties", "unparsed as a", "unparsed as b")


@dataclass(frozen=True)
class Tried:
    """A setting of Algorithm A.1: the answers it sees, the judges left out, where it starts, its constants."""

    length: int
    start: str = "zero"
    answers: str = ANSWERS[0]
    left_out: tuple[str, ...] = ()
    step_scores: float = Adam.step_scores
    step_judges: float = Adam.step_judges
    beta1: float = Adam.beta1
    beta2: float = Adam.beta2
    epsilon: float = Adam.epsilon

    def columns(self) -> dict:
        """Of a table with one row per setting."""
        return {**vars(self), "left_out": ", ".join(self.left_out) or "none"}

    @property
    def algorithm(self) -> Adam:
        """Algorithm A.1 in these constants, without a stopping rule."""
        constants = self.step_scores, self.step_judges, self.beta1, self.beta2, self.epsilon
        return Adam(*constants, tolerance=0.0, max_iterations=self.length)


def answered(judgments: Judgments, answers: str) -> Comparisons:
    """The comparisons under one reading of ties and of answers that could not be parsed (in `ANSWERS`)."""
    if answers == "ties dropped":
        return judgments.comparisons.without_ties()
    if answers == ANSWERS[0]:
        return judgments.comparisons
    replies = judgments.frame["judge_preferred_model"]
    replacement = {"unparsed as ties": "c", "unparsed as a": "a", "unparsed as b": "b"}[answers]
    filled = replies.where(replies.isin(list(OUTCOMES)), replacement)
    return Comparisons.from_frame(judgments.frame.assign(judge_preferred_model=filled))


def starts(
    cells: Comparisons, gammas: dict[str, pd.Series], unweighted: pd.Series, random: int, seed: int
) -> dict[str, Parameters]:
    """Natural starting points by name: zero, other sets' discriminations, unweighted scores, and random ones.

    A judge whom the other set lacks or puts at zero starts at one.
    """
    n, k = len(cells.models), len(cells.judges)
    scores = unweighted[list(cells.models)].to_numpy().round(START_DECIMALS)
    starts_by_name = {
        "zero": Parameters(np.zeros(n), np.zeros((1, k))),
        "unweighted scores": Parameters(scores, np.zeros((1, k))),
    }
    for name, gamma in gammas.items():
        gamma_of_judge = gamma[gamma > 0].reindex(list(cells.judges)).fillna(1.0)
        alpha = np.log(gamma_of_judge.to_numpy())[None, :]
        alpha = (alpha - alpha.mean()).round(START_DECIMALS)
        starts_by_name[f"gammas of {name}"] = Parameters(np.zeros(n), alpha)
        starts_by_name[f"gammas of {name}, unweighted scores"] = Parameters(scores, alpha)
    for number in range(random):
        rng = generator(seed, "stopping", number)
        draw = [SPREAD * rng.standard_normal(size) for size in (n, (1, k))]
        starts_by_name[f"random {number + 1}"] = Parameters(*(block - block.mean() for block in draw))
    return starts_by_name


Run = tuple[Comparisons, Parameters, Adam]  # of Algorithm A.1: on what, from where, in which constants


@dataclass(frozen=True)
class Path:
    """Algorithm A.1 at those of its iterations that are compared with what is printed.

    Attributes
    ----------
    cells : Comparisons
    iterations : int array, shape (T,)
    scores : float array, shape (T, N)
    log_discrimination : float array, shape (T, K)
    euclidean, maximum : float array, shape (T,)
        The larger norm of the two updates that led there.
    n_printed : int
        Number of judges whose discriminations are printed.
    """

    cells: Comparisons
    iterations: np.ndarray
    scores: np.ndarray
    log_discrimination: np.ndarray
    euclidean: np.ndarray
    maximum: np.ndarray
    n_printed: int = field(default=len(published.table("judge_discrimination")))

    @classmethod
    def together(cls, runs: Sequence[Run]) -> list[Path]:
        """Follow runs of equally many models and judges to the limit of the first."""
        begin = Parameters(
            np.concatenate([start.scores for _, start, _ in runs]),
            np.concatenate([start.judges for _, start, _ in runs], axis=1),
        )
        length = runs[0][2].max_iterations
        every = max(1, round(MOVE / max(constants.step_judges for *_, constants in runs)))
        previous, points, norms = (begin.scores, begin.judges[0]), [], []
        steps = iterates(side_by_side([cells for cells, *_ in runs]), JUDGE_AWARE, [run[2] for run in runs], begin)
        for iteration, parameters, _ in steps:
            current = parameters.scores, parameters.judges[0]
            if iteration % every == 0 or iteration % ROUND == 0 or iteration == length:
                updates = [
                    np.reshape(new - old, (len(runs), -1)) for new, old in zip(current, previous, strict=True)
                ]
                euclidean = np.max([np.sqrt((update**2).sum(axis=1)) for update in updates], axis=0)
                norms.append((euclidean, np.max([np.abs(update).max(axis=1) for update in updates], axis=0)))
                points.append((iteration, *current))
            previous = current
        iterations, *blocks = (np.array(block) for block in zip(*points, strict=True))
        split = (np.split(block, len(runs), axis=1) for block in blocks)
        by_run = zip(runs, *split, *np.array(norms).transpose(1, 2, 0), strict=True)
        return [cls(cells, iterations, *columns) for (cells, *_), *columns in by_run]

    def gammas(self, printed: np.ndarray) -> np.ndarray:
        """Discriminations by iteration, with the printed ones' geometric mean where judges are left out."""
        unit = exp(np.log(printed).mean()) if len(printed) < self.n_printed else 1.0
        return unit * exp(self.log_discrimination)

    def index(self, iteration: int) -> int:
        """Index of an iteration among those that are compared."""
        return int(np.searchsorted(self.iterations, iteration))

    def log_likelihood(self, iteration: int) -> float:
        row = self.index(iteration)
        parameters = Parameters(self.scores[row], self.log_discrimination[row][None, :])
        return evaluate(self.cells, JUDGE_AWARE, parameters).log_likelihood

    def against(self, table: str) -> pd.DataFrame:
        """By iteration, how many printed discriminations and scores it matches, and how far off it is.

        Returns
        -------
        DataFrame
            Indexed by iteration: ``matched, largest_difference, scores_matched, both_matched, euclidean,
            maximum``.
        """
        printed = published.numbers("judge_discrimination", table)[list(self.cells.judges)].to_numpy()
        gamma = self.gammas(printed)
        scores = published.numbers(table, "score_judge_aware").reindex(list(self.cells.models)).to_numpy()
        frame = pd.DataFrame(
            {
                "matched": same_as_printed(gamma, printed).sum(axis=1),
                "largest_difference": np.abs(gamma - printed).max(axis=1),
                "scores_matched": same_as_printed(self.scores, scores).sum(axis=1),
                "euclidean": self.euclidean,
                "maximum": self.maximum,
            },
            index=pd.Index(self.iterations, name="iteration"),
        )
        return frame.assign(both_matched=frame["matched"] + frame["scores_matched"])


def same_as_printed(values: np.ndarray, printed: np.ndarray) -> np.ndarray:
    """Whether values equal numbers printed with two decimals; false where nothing is printed."""
    return np.abs(np.round(values, 2) - printed) < 0.005


def stops(frame: pd.DataFrame) -> Iterator[tuple[str, int]]:
    """When one might have stopped, with the iteration: the best ones, the best round number, and tolerances."""
    yield "nearest", int(frame["largest_difference"].idxmin())
    yield "most matched", int(frame["both_matched"].idxmax())
    limits = frame[frame.index % ROUND == 0]
    if len(limits):
        yield LIMIT, int(limits["both_matched"].idxmax())
    for norm in ("euclidean", "maximum"):
        for tolerance in TOLERANCES:
            met = frame.index[frame[norm] <= tolerance]
            if len(met) and met[0] > frame.index[0]:  # a step that is smaller from the first stops nowhere
                yield f"{norm} norm of the update at most {tolerance:g}", int(met[0])


def one_at_a_time(base: Tried, **choices: Iterable) -> Iterator[Tried]:
    """A setting, and those that differ from it in one of the named respects (`steps` and `betas`: two numbers)."""
    yield base
    pairs = {"steps": ("step_scores", "step_judges"), "betas": ("beta1", "beta2")}
    for name, values in choices.items():
        for value in values:
            if name in pairs:
                if len(value) != 2:
                    raise ConfigError(
                        f"search.{name} takes pairs of numbers, such as [0.9, 0.99], not {list(value)}"
                    )
                yield replace(base, **dict(zip(pairs[name], map(float, value), strict=True)))
            else:
                yield replace(base, **{name: value})


def combinations_of(grid: Mapping[str, Iterable[float]], reach: float) -> Iterator[Tried]:
    """Every combination of constants, each followed until the judges' steps may add up to `reach`."""
    for values in product(*grid.values()):
        constants = dict(zip(grid, map(float, values), strict=True))
        yield Tried(length=round(reach / constants["step_judges"]), **constants)


@dataclass(frozen=True)
class Search:
    """What a search gave.

    Attributes
    ----------
    rows : DataFrame
        One for every setting and stop: ``dataset``, the setting's columns, ``stop, iteration, matched, of,
        not_matched, largest_difference, scores_matched, scores_of, log_likelihood``.
    best : Series
        The row that matches most numbers with all judges; of several the first at a round number of iterations.
    path : Path
        Of the best row's setting.
    """

    rows: pd.DataFrame
    best: pd.Series
    path: Path


def search(
    judgments: Judgments, table: str, settings: Sequence[Tried], starts_by_name: dict[str, Parameters]
) -> Search:
    """Try every setting and every stop, and count the printed discriminations and scores that each matches."""
    runs = []
    for setting in settings:
        comparisons = answered(judgments, setting.answers)
        judges_used = [judge for judge in comparisons.judges if judge not in setting.left_out]
        cells = comparisons.with_judges(judges_used).aggregate()
        runs.append(
            (cells, _without(starts_by_name[setting.start], judgments.comparisons, cells), setting.algorithm)
        )
    rows: dict[int, list[dict]] = {}
    most, best, path_of_best = (-1, False), {}, None
    for number, path in followed(runs):
        frame, setting = path.against(table), settings[number]
        rows[number] = []
        for stop, iteration in stops(frame):
            row = {"dataset": table, **setting.columns(), "stop": stop, **_row(path, frame, iteration, table)}
            rows[number].append(row)
            matched = row["matched"] + row["scores_matched"], stop == LIMIT
            if matched > most and not setting.left_out:
                most, best, path_of_best = matched, row, path
    every = [row for number in sorted(rows) for row in rows[number]]
    assert path_of_best is not None
    return Search(pd.DataFrame(every), pd.Series(best), path_of_best)


def followed(runs: Sequence[Run]) -> Iterator[tuple[int, Path]]:
    """The path of every run with its number; those alike in size and length are followed at once."""
    alike: dict[tuple, list[int]] = {}
    for number, (cells, _, constants) in enumerate(runs):
        alike.setdefault((constants.max_iterations, len(cells.models), len(cells.judges)), []).append(number)
    for numbers in alike.values():
        # of like sizes: a last one of two runs would be summed in another order
        for some in np.array_split(numbers, -(-len(numbers) // MOST)):
            yield from zip(some.tolist(), Path.together([runs[number] for number in some]), strict=True)


def _row(path: Path, frame: pd.DataFrame, iteration: int, table: str) -> dict:
    judges = list(path.cells.judges)
    printed = published.numbers("judge_discrimination", table)[judges].to_numpy()
    missed = ~same_as_printed(path.gammas(printed)[path.index(iteration)], printed)
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


def printed_differences(result: Search, table: str, maximum: Fit) -> pd.DataFrame:
    """Every printed discrimination and score of a set, at the best stop and at the maximum.

    Returns
    -------
    DataFrame
        ``row, column, paper, ours, difference, reproduced, maximum``; ``column`` is the printed table's.
    """
    path = result.path
    stop = path.index(result.best["iteration"])
    gammas = pd.Series(exp(path.log_discrimination[stop]), list(path.cells.judges))
    scores = pd.Series(path.scores[stop], list(path.cells.models))
    parts = []
    for name, column, ours, highest in (
        ("judge_discrimination", table, gammas, maximum.discrimination),
        (table, "score_judge_aware", scores, maximum.scores),
    ):
        compared = published.compare(name, ours.to_frame(column), [column])
        parts.append(compared.assign(maximum=highest[compared["row"]].to_numpy()))
    return pd.concat(parts, ignore_index=True)


def _without(start: Parameters, full: Comparisons, cells: Comparisons) -> Parameters:
    """A start for the judges that are left, centred again."""
    indices = [full.judges.index(judge) for judge in cells.judges]
    alpha = start.judges[:, indices]
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
        evaluation = evaluate(cells, JUDGE_AWARE, Parameters(scores, alpha), "expected")
        scores = scores + np.linalg.lstsq(evaluation.top_information, evaluation.top_gradient)[0]
        scores -= scores.mean()
    evaluation = evaluate(cells, JUDGE_AWARE, Parameters(scores, alpha), "expected")
    cross = evaluation.cross_information[0]
    profiled = cross @ np.linalg.pinv(evaluation.top_information, hermitian=True) @ cross.T
    information = np.diag(evaluation.judge_information[:, 0, 0]) - profiled
    rounding = np.abs(information) @ (0.005 / printed.to_numpy())
    gradient = evaluation.judge_gradient[0]
    frame = pd.DataFrame({"paper": printed, "gradient": gradient, "rounding": rounding})
    frame["settled"] = np.abs(gradient) <= rounding
    return frame.rename_axis("judge").reset_index().assign(dataset=table)[["dataset", "judge", *frame.columns]]
