"""What should be fitted unless a user says otherwise? Members with and without shrinkage, by several measures.

On samples of real sets every candidate is held against the comparisons that it has not seen. On simulated sets,
where the truth is known, intervals of the reported scores, tests of all pairs and ranks are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.engine.solution import Status
from judgerank.fits.fit import fit
from judgerank.fits.heldout import losses
from judgerank.fits.result import Fit
from judgerank.inference.wald import wald
from judgerank.model.members import Parameters
from judgerank.order.pairs import orders, orders_by_errors, separated
from judgerank.order.scale import reported_covariance, scale_at, scale_of, standardised
from replication.replicate import Record, Study
from replication.statistics import spearman
from studies.schemas.beyond import Design, Fitted
from studies.tied_answers import GROUPS, SPACED, limit, tied_answers, true_order
from studies.validity import TestsKept, by_test, drawn, tests_kept

NO_ESTIMATE = "no estimate"


@dataclass(frozen=True)
class Sampled:
    """A sample of a set, fitted by several methods, and the rest of the set, which they are held against."""

    dataset: str
    size: int
    methods: dict[str, Fitted]


@dataclass(frozen=True)
class Simulated:
    """A design, and the fits whose claims are checked on every set drawn from it."""

    design: Design
    methods: dict[str, Fitted]
    level: float


@dataclass(frozen=True)
class Against:
    """A fit of a sample: how it ended, Spearman's correlation with a fit of the rest, log-loss of the rest."""

    status: str
    spearman: float | None = None
    log_loss: float | None = None


@dataclass(frozen=True)
class Promised:
    """A fit of a simulated set: how it ended, coverage of reported scores, and what pairs and ranks keep."""

    status: str
    spearman: float | None = None
    coverage: float | None = None
    error: float | None = None
    width: float | None = None
    kept: dict[str, TestsKept] = field(default_factory=dict)


def sampled(cell: Sampled, rng: np.random.Generator, sets: dict[str, Any]) -> Record:
    """One sample without replacement, fitted by every method."""
    comparisons = sets[cell.dataset]
    order = rng.permutation(len(comparisons))
    part, rest = (_of_those_seen(comparisons.take(np.sort(rows))) for rows in np.split(order, [cell.size]))
    reference = fit(rest, "position_aware").scores
    return {name: asdict(_against(part, rest, reference, method)) for name, method in cell.methods.items()}


def _of_those_seen(comparisons: Comparisons) -> Comparisons:
    """With the judges alone who judged any of them."""
    return comparisons.with_judges([comparisons.judges[k] for k in np.unique(comparisons.judge)])


def _against(part: Comparisons, rest: Comparisons, reference: pd.Series, method: Fitted) -> Against:
    fit_result = _fitted(part, method)
    if not isinstance(fit_result, Fit):
        return Against(fit_result)
    scores = fit_result.scores
    is_comparable = np.isin(np.array(rest.judges, object)[rest.judge], part.judges)
    is_comparable &= np.isin(np.array(rest.models, object)[rest.first], part.models)
    is_comparable &= np.isin(np.array(rest.models, object)[rest.second], part.models)
    seen = rest.take(np.flatnonzero(is_comparable)).with_judges(part.judges)
    loss = losses(seen.outcome, fit_result.probability(seen))["log_loss"]
    return Against(str(fit_result.status), spearman(scores, reference[scores.index]), loss)


def _fitted(comparisons: Comparisons, method: Fitted) -> Fit | str:
    """A fit, or `NO_ESTIMATE` in place of one."""
    try:
        return fit(comparisons, method.member, method.solver)
    except JudgerankError:
        return NO_ESTIMATE


def simulated(cell: Simulated, rng: np.random.Generator) -> Record:
    """One simulated set, fitted by every method."""
    if cell.design.tie_kind:
        return _with_ties(cell, rng)
    data, question, truth = drawn(cell.design, rng)
    return {name: asdict(_promised(cell, data, question, truth, method)) for name, method in cell.methods.items()}


def _promised(
    cell: Simulated, data: Comparisons, question: np.ndarray, truth: Parameters, method: Fitted
) -> Promised:
    fit_result = _fitted(data, method)
    if not isinstance(fit_result, Fit):
        return Promised(fit_result)
    correlation = spearman(fit_result.scores, pd.Series(truth.scores)) if cell.design.sigma_scores else None
    try:
        reported = fit_result.clustered(data, question) if cell.design.clustered else fit_result
        promises = tests_kept(by_test(list(orders(reported)))["both"], truth, cell.level)
    except JudgerankError:
        return Promised(str(fit_result.status), correlation)
    coverage, error = _covered(reported, truth, cell)
    return Promised(str(fit_result.status), correlation, coverage, error, kept={"both": promises})


def _with_ties(cell: Simulated, rng: np.random.Generator) -> Record:
    """Two sets with ties, of spaced models and of groups of equal ones; of the latter, whether equals separate."""
    design = cell.design
    sizes = tuple(design.tie_sizes)
    spaced, groups = (
        tied_answers(design.tie_kind, sizes, scores, design.n_comparisons, rng) for scores in (SPACED, GROUPS)
    )
    promised = {}
    for name, method in cell.methods.items():
        fits = [fit(data, method.member, method.solver, cluster="judgment") for data in (spaced, groups)]
        promises, of_equals = (
            tests_kept(list(orders(fit_result)), true_order(scores), cell.level)
            for fit_result, scores in zip(fits, (SPACED, GROUPS), strict=True)
        )
        scale, errors = scale_of(fits[0]), np.sqrt(np.diag(reported_covariance(fits[0])))
        true = limit(design.tie_kind, sizes, method.member)
        low, high = wald(scale.scores - true, errors, cell.level, fits[0].degrees_of_scores)
        promised[name] = asdict(
            Promised(
                str(fits[0].status),
                spearman(fits[0].scores, pd.Series(true, fits[0].scores.index)),
                float(((low <= 0) & (high >= 0)).mean()),
                float(np.sqrt(np.mean((scale.scores - true) ** 2))),
                float(np.mean(high - low) / true.std()),
                {"both": replace(promises, false=of_equals.false)},
            )
        )
    return promised


def _covered(fitted: Fit, truth: Parameters, cell: Simulated) -> tuple[float | None, float | None]:
    """Share of the intervals of reported scores that hold, and the scores' root mean square error.

    The truth is on the scale by the information that the comparisons have at the true parameters. Members whose
    judges all weigh the same have a scale of their own, and so has what question effects flatten.
    """
    if not fitted.model.weighs_judges or cell.design.question_sd:
        return None, None
    true = true_scores(fitted, truth, cell.design.position)
    scale = scale_of(fitted)
    errors = np.sqrt(np.diag(reported_covariance(fitted)))
    off = scale.scores - true
    low, high = wald(off, errors, cell.level, fitted.degrees_of_scores)
    held = (low <= 0) & (high >= 0)
    return float(held.mean()), float(np.sqrt(np.mean(off**2)))


def true_scores(fitted: Fit, truth: Parameters, position: float) -> np.ndarray:
    """True scores on the reported scale of the comparisons that were fitted."""
    cells, model = fitted.comparisons, fitted.model
    k = len(cells.judges)
    rows = np.zeros((len(model.blocks), k))
    rows[0] = truth.judges[0]
    if "position" in model.judge_blocks:
        rows[model.row("position")] = position * np.linspace(-1, 1, k)
    free = np.isfinite(rows)
    free[: model.free_rows.start] = False
    chosen = np.concatenate([np.ones(len(truth.scores), bool), free.ravel()])
    return scale_at(cells, model, Parameters(truth.scores, rows), free, chosen).scores


def accuracy_rows(study: Study) -> list[dict[str, Any]]:
    """Every set, size and method: means over the samples that have an estimate, with Monte Carlo errors."""
    rows = []
    for name, cell in study.cells.items():
        frame = study.frame(name)
        for method, how in cell.methods.items():
            status = frame[f"{method}/status"]
            row: dict[str, Any] = {"dataset": cell.dataset, "n_comparisons": cell.size, "method": method}
            row |= {"member": how.member, "solver": how.solver}
            row |= {"estimated": (status != NO_ESTIMATE).mean(), "unbounded": (status == Status.UNBOUNDED).mean()}
            row |= {"boundary": (status == Status.BOUNDARY).mean()}
            for measure in ("spearman", "log_loss"):
                row |= _mean(_column(frame, f"{method}/{measure}"), measure)
            rows.append(row | {"n_replications": len(frame)})
    return rows


def trouble_rows(study: Study) -> list[dict[str, Any]]:
    """Both position-aware fits by how the exact one ended, over all sets and sizes."""
    frames = [study.frame(name).assign(size=cell.size) for name, cell in study.cells.items()]
    frame = pd.concat(frames, ignore_index=True)
    rows = []
    for status, part in frame.groupby("position_aware/status", sort=True):
        exact, shrunk = (
            _column(part, f"position_aware{end}/{measure}")
            for measure, end in (("spearman", ""), ("spearman", "_shrunk"))
        )
        losses_of = [_column(part, f"position_aware{end}/log_loss") for end in ("", "_shrunk")]
        row: dict[str, Any] = {"status": status, "samples": len(part)}
        row |= _mean(exact, "spearman_exact") | _mean(shrunk, "spearman_shrunk")
        row |= _mean(shrunk - exact, "gain")
        rows.append(row | _mean(losses_of[0] - losses_of[1], "log_loss_saved"))
    return rows


def simulated_rows(study: Study) -> list[dict[str, Any]]:
    """Every design and method: coverage, error, false and wrong separations, ranks, power, time."""
    rows = []
    for name, cell in study.cells.items():
        frame = study.frame(name)
        for method, how in cell.methods.items():
            row: dict[str, Any] = {"design": name, "title": cell.design.title, "method": method}
            row |= {"member": how.member, "solver": how.solver}
            row |= {"estimated": (frame[f"{method}/status"] != NO_ESTIMATE).mean()}
            row |= {"intervals": _column(frame, f"{method}/kept/both/ranks").notna().mean()}
            for measure in ("coverage", "error", "width", "spearman"):
                row |= _mean(_column(frame, f"{method}/{measure}"), measure)
            for measure in ("false", "wrong", "ranks", "power"):
                row |= _mean(_column(frame, f"{method}/kept/both/{measure}"), measure)
            rows.append(row | {"n_replications": len(frame)})
    return rows


def _column(frame: pd.DataFrame, name: str) -> pd.Series:
    """Numbers of a column, NaN where there is none."""
    return pd.to_numeric(frame[name]) if name in frame else pd.Series(np.nan, frame.index)


def _mean(values: pd.Series, name: str) -> dict[str, float]:
    finite = values.dropna()
    n_finite = len(finite)
    error = finite.std(ddof=1) / np.sqrt(n_finite) if n_finite > 1 else np.nan
    return {name: finite.mean() if n_finite else np.nan, f"{name}_se": error}


# Ways to a ranking, compared on simulated sets: what one fit comes to, and means over the sets.
#
# Records of a set have columns ``measure/way``.


Rows = list[dict[str, Any]]


class Setting(Protocol):
    """How judges answer; `equal` if all models have one score."""

    @property
    def equal(self) -> bool: ...


def by_errors(fitted: Fit, rows: Comparisons, cluster: IntArray) -> dict[str, Fit]:
    """The fit with each kind of standard error."""
    return {"plug_in": fitted, "clustered": fitted.clustered(rows, cluster)}


def any_separated(kinds: Mapping[str, Fit], level: float) -> dict[str, float]:
    """Whether any two models differ significantly, by each kind of error."""
    orders = orders_by_errors(*kinds.values())
    return {
        f"separated_{kind}": float(separated(order, level).any())
        for kind, order in zip(kinds, orders, strict=True)
    }


def squared_error(fitted: Fit, true: FloatArray) -> float:
    """Mean over models, of scores over their standard deviation."""
    s = fitted.scores.to_numpy()
    return float(((s / s.std() - true / true.std()) ** 2).mean())


def covered(kinds: Mapping[str, Fit], true: FloatArray, level: float) -> Iterator[tuple[str, float, float]]:
    """By each kind of error: the share of intervals of standardised scores that cover, and the mean error."""
    target, n = true / true.std(), len(true)
    for kind, fitted in kinds.items():
        scaled, v = standardised(fitted.scores.to_numpy(), fitted.covariance[:n, :n])
        error = np.sqrt(np.diag(v))
        low, high = wald(scaled, error, level, fitted.degrees_of_scores)
        yield kind, float(((low <= target) & (target <= high)).mean()), float(error.mean())


def gain(mine: pd.Series, theirs: pd.Series) -> dict[str, float]:
    """Mean squared error of theirs over mine, with its error by the delta method.

    As squared errors fall as one over the number of judgments, one judgment of mine is worth so many of theirs.
    """
    ratio = theirs.mean() / mine.mean()
    return {"gain": ratio, "gain_se": (theirs - ratio * mine).std() / np.sqrt(len(mine)) / mine.mean()}


def measures_of(records: pd.DataFrame, variant: str) -> pd.DataFrame:
    """The measures of a way, a column each."""
    columns = [column.split("/") for column in records if "/" in column]
    return pd.DataFrame({measure: records[f"{measure}/{of}"] for measure, of in columns if of == variant})


def complete(records: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """The sets on which every way has a fit, and how many failed of how many."""
    complete_records = records.dropna(subset=[column for column in records if "/" in column])
    return complete_records, {"failed": len(records) - len(complete_records), "n_replications": len(records)}


def of_unlike_and_equal(
    study: Study, settings: Mapping[str, Setting], rows_of: Callable[[pd.DataFrame, str], Rows]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of the settings in which models differ, and of those in which they are equal."""
    rows: dict[bool, Rows] = {False: [], True: []}
    for name, setting in settings.items():
        rows[setting.equal] += rows_of(pd.DataFrame(study.records(name)), name)
    return pd.DataFrame(rows[False]), pd.DataFrame(rows[True])
