"""How well each member of the family predicts what it has not seen, beside the one that ranks.

All members predict the same three outcomes, a tie among them (`crossvalidation.three_outcomes`), of whole
questions that were left out; a member for graded answers gives a win the chances of both its strengths. Of
rankings they predict every choice, and where judges tie, ties too (`fits.choice_losses`). Which member ranks does
not follow from it: `default_member` says why.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import split
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from judgerank.data.rankings import with_tied_choices
from judgerank.data.tied_choices import all_ties, tie_sizes
from judgerank.engine.likelihood import row_by_row
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised
from judgerank.engine.solution import Status
from judgerank.fits.fit import fit
from judgerank.fits.heldout import choice_losses, losses_with_ties
from judgerank.fits.result import Fit
from judgerank.model.block import Need, unmet
from judgerank.model.members import GRADED_MEMBERS, MEMBERS, NAMED, Model
from judgerank.ranking.choices import EXACT, identified
from judgerank.ranking.studies.estimation import on_trust
from judgerank.ranking.study import Finding, Ranked

FOLDS = 5
MOST_MODELS, MOST_ROWS = 200, 20_000  # compared on; of more, those compared most, and questions at random
DENSE = 50  # models of which rows are drawn, if they have enough: as many rows of all models would be thinner
WITH_SHRINKAGE = " (shrunk)"  # after the name of a member
USE_EXACT = f"To use it: --solver {EXACT}."
KEEP = "Keep the default all the same: a warning says which judges the exact fit leaves out or lets run off."
LEAST = 20  # questions, however large
CLEAR = 2.0  # standard errors of a difference, up to which two members predict equally well
COLUMNS = ["member", "parameters", "log_loss", "log_loss_error", "worse", "worse_error", "ranks", "note"]


class Sample(NamedTuple):
    """Comparisons that members are compared on.

    Attributes
    ----------
    comparisons : Comparisons
    unit : int array, shape (T,)
        What is left out whole: the question of each row, or the row.
    folds : tuple of tuples
        Cells to fit to, rows to predict, and which those are; none by judges of whom nothing is left.
    description : str
        What it is, in words.
    counted : float array, shape (T,)
        Comparisons behind each row, as losses count them.
    """

    comparisons: Comparisons
    unit: IntArray
    folds: tuple[tuple[Comparisons, Comparisons, IntArray], ...]
    description: str
    counted: FloatArray


def of_set(ranked: Ranked) -> Finding:
    """The table ``members``, and a remark, where no member was chosen; of the largest component."""
    first = ranked.components[0]
    if ranked.settings.model is not None or first.reported.model.name not in NAMED:
        return Finding()
    if all_ties(first.judgments.comparisons):
        return Finding()
    if first.comparisons.stages is not None and len(first.comparisons.models) > MOST_MODELS:
        return Finding()  # a sample of models would cut rankings
    # another remark may say to keep the shrunk fit
    keeps_shrunk = isinstance(first.exact, Fit) and bool(on_trust(first.reported, first.exact))
    table, remarks = compared(first.judgments, first.reported.model.name, first.member, keeps_shrunk)
    return Finding(remarks, {"members": table})


def compared(
    judgments: Judgments, used: str, ranking: Fit | None = None, keeps_shrunk: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """Held-out log-loss of every member, and a sentence on the one that ranks.

    Parameters
    ----------
    judgments : Judgments
        Of one component.
    used : str
        The member that ranks.
    ranking : Fit, optional
        By which it ranks. If that is shrunk, it has a row of its own with as much shrinkage.
    keeps_shrunk : bool
        Whether the shrunk fit is to be kept though the exact one should predict better.

    Returns
    -------
    DataFrame
        ``member, parameters, log_loss, log_loss_error, worse, worse_error, ranks, note``, those with fewer
        parameters first: log-loss per comparison; ``worse`` by how much it is larger than that of the best; errors
        are over questions. ``note`` says why a member was not compared.
    list of str
        None if there are not two to compare.
    """
    sample = sample_of(judgments)
    rows, losses = list[dict[str, Any]](), dict[str, FloatArray]()
    tried: dict[str, tuple[Model, Fit | None]] = {
        member.name: (member, None) for member in compared_members(judgments)
    }
    if ranking is not None and ranking.solution.spread is not None and ranking.model.name in NAMED:
        used = f"{ranking.model.name}{WITH_SHRINKAGE}"
        tried = {used: (ranking.model, ranking), **tried}
    for name, (member, shrunk) in tried.items():
        if member.uses(Need.ORDER) and not judgments.ordered:
            continue
        c = judgments.comparisons
        if c.stages is not None and (member.missing(c) or (member.has_ties and not tie_sizes(c))):
            continue
        result = held_out(sample, member, shrunk)
        rows.append({"member": name, "ranks": name == used, "note": ""})
        if isinstance(result, str):
            rows[-1]["note"] = result
        else:
            rows[-1]["parameters"], losses[name] = result
    if losses:
        predicted = np.concatenate([of for *_, of in sample.folds])
        weight = _by_unit(sample, sample.counted, predicted)
        best = min(losses, key=lambda name: float(losses[name].sum()))
    for row in rows:
        if row["member"] in losses:
            loss = losses[row["member"]]
            row["log_loss"], row["log_loss_error"] = mean_of(loss, weight)
            row["worse"], row["worse_error"] = mean_of(loss - losses[best], weight)
    table = pd.DataFrame(rows).reindex(columns=COLUMNS).astype({"parameters": "Int64"})
    table = table.sort_values("parameters", kind="stable", na_position="last", ignore_index=True)
    return table, _sentences(table, used, sample.description, keeps_shrunk) if losses else []


def compared_members(judgments: Judgments) -> tuple[Model, ...]:
    """The members that are identified, those for graded answers among them where the answers are graded."""
    c = judgments.comparisons
    members = MEMBERS + (GRADED_MEMBERS if c.strong is not None else ())
    return tuple(member for member in members if identified(member, c) == member)


def mean_of(total: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """A ratio of sums over units, and its standard error."""
    mean, n = float(total.sum() / weight.sum()), len(total)
    away = total - mean * weight
    return mean, float(np.sqrt(away @ away * n / max(n - 1, 1)) / weight.sum())


def sample_of(judgments: Judgments) -> Sample:
    """All comparisons with their questions, or part of them where they are many."""
    comparisons, limits = judgments.comparisons, []
    has_questions = "question_id" in judgments.frame
    # without questions in an order that does not depend on that of the records
    unit = judgments.question if has_questions else _in_order(comparisons)
    rarer, enough = _rarer_model(comparisons), MOST_MODELS
    if len(rarer) > MOST_ROWS and comparisons.stages is None:  # a ranking is not cut
        ranked = np.cumsum(np.bincount(rarer, minlength=MOST_MODELS))
        enough = min(MOST_MODELS, max(DENSE, 1 + int(np.searchsorted(ranked, MOST_ROWS))))
    rows = np.flatnonzero(rarer < enough)
    if 0 < len(rows) < len(rarer):
        limits.append(f"the {enough} models compared most")
    else:
        rows = np.arange(len(rarer))
    if len(rows) > MOST_ROWS:
        drawn_unit = unit[rows]
        size = np.bincount(drawn_unit)
        present = np.flatnonzero(size)
        order = generator(0, "members", "questions").permutation(len(present))
        in_turn = np.empty(len(present), np.int64)
        in_turn[order] = size[present]
        drawn = np.zeros(len(size), bool)
        drawn[present] = (np.cumsum(in_turn)[order] <= MOST_ROWS) | (order < LEAST)
        rows = rows[drawn[drawn_unit]]
        limits.append(f"{len(rows):,} comparisons drawn at random")
    if limits:
        comparisons, selected = split(comparisons.take(rows))[0]
        rows = rows[selected]
    names, unit = np.unique(unit[rows], return_inverse=True)
    description = f"{len(names):,} {'questions' if has_questions else 'comparisons'} in {FOLDS} folds"
    return sampled(comparisons, unit, " of ".join([description, " and ".join(limits)]) if limits else description)


def _rarer_model(c: Comparisons) -> IntArray:
    """Place of the rarer model of every row, those compared most having the first places; shape (T,)."""
    n, cells = len(c.models), c.aggregate()
    times = np.bincount(cells.first, cells.count, n) + np.bincount(cells.second, cells.count, n)
    position = np.empty(n, np.min_scalar_type(n))
    position[np.argsort(-times, kind="stable")] = np.arange(n)
    return np.maximum(position[c.first], position[c.second])


def sampled(comparisons: Comparisons, unit: IntArray, description: str) -> Sample:
    """Comparisons with the number of what is left out with each, dealt to folds at random; none if few."""
    c = comparisons if comparisons.stages is not None else comparisons.with_ties()
    units = int(unit.max(initial=-1)) + 1
    fold = (generator(0, "members", "folds").permutation(units) % FOLDS)[unit]
    folds = (_parted(c, fold == number) for number in range(FOLDS)) if units >= FOLDS else ()
    parts = tuple(part for part in folds if part is not None)
    without = len(c) - sum(len(rows) for *_, rows in parts)
    alone = f" ({without} by judges who are in one fold only left out)" if parts and without else ""
    tied = c.stages is not None and tie_sizes(c)
    return Sample(c, unit, parts, description + alone, with_tied_choices(c).count if tied else c.count)


def _in_order(comparisons: Comparisons) -> IntArray:
    """A number for each row by what it says, so that rows alike may be swapped and no others."""
    c = comparisons
    order = np.lexsort((c.count, c.outcome, c.judge, c.second, c.first))
    number = np.empty(len(c), np.intp)
    number[order] = np.arange(len(c))
    return number


def held_out(sample: Sample, member: Model, shrunk: Fit | None = None) -> tuple[int, FloatArray] | str:
    """Free parameters, and the log-loss of every unit when it was left out, shape (Q,); or why there is none.

    A `shrunk` fit of the whole gives folds the standard deviations of its penalty.
    """
    c = sample.comparisons
    why = unmet(member.needs, c)
    if why or not sample.folds:
        enough = len(sample.unit) and sample.unit.max() + 1 >= FOLDS
        return why or ("no judge is in two folds" if enough else f"there are fewer than {FOLDS} to leave out")
    try:
        full_fit = shrunk or fit(c.aggregate(), member)
        settings = Newton() if shrunk is None else Penalised().held_at(shrunk.solution.spread or {})
        if full_fit.status is Status.UNBOUNDED:
            return f"no maximum: a parameter of {listed(full_fit.unbounded_judges)} grows without limit"
        losses = np.zeros(len(c))
        for train, test, rows in sample.folds:
            alike = (train.models, train.judges) == (full_fit.comparisons.models, full_fit.comparisons.judges)
            start = full_fit.solution.parameters if alike else None
            fitted = fit(train, member, settings, start=start)
            losses[rows] = sample.counted[rows] * _losses(fitted, train, test, sample)
    except JudgerankError as error:
        return str(error)
    return full_fit.n_parameters, _by_unit(sample, losses, slice(None))


def _losses(fitted: Fit, train: Comparisons, test: Comparisons, sample: Sample) -> FloatArray:
    """Log-loss of every row, shape (T,); those of a ranking add up to the ranking's."""
    if test.stages is None:
        return losses_with_ties(fitted, train, test)
    sizes = tie_sizes(sample.comparisons)
    if sizes:
        return choice_losses(fitted, train, test, sizes)
    at, index = fitted.solution.parameters, pd.Index(fitted.comparisons.judges).get_indexer(pd.Index(test.judges))
    terms = row_by_row(test, fitted.model, replace(at, judges=at.judges[:, index]))
    return -terms.law.log_likelihood(test.outcome, None)


def _by_unit(sample: Sample, values: FloatArray, rows: IntArray | slice) -> FloatArray:
    return np.bincount(sample.unit[rows], values[rows], int(sample.unit.max()) + 1).astype(float)


def _parted(c: Comparisons, left_out: BoolArray) -> tuple[Comparisons, Comparisons, IntArray] | None:
    """One of a sample's folds; None where each of its judges is in no other."""
    train = c.take(np.flatnonzero(~left_out))
    is_fitted = np.isin(np.array(c.judges, object), train.judges)
    rows = np.flatnonzero(left_out & is_fitted[c.judge])
    if not len(rows):
        return None
    return train.aggregate(), c.take(rows), rows


def _sentences(table: pd.DataFrame, used: str, over: str, keeps_shrunk: bool) -> list[str]:
    measured = table[table["log_loss"].notna()].set_index("member")
    order = measured.sort_values(["log_loss", "parameters"], kind="stable").index
    loss = measured["log_loss"]
    if used not in measured.index:
        why = str(table["note"][table["member"] == used].iloc[0])
        best = (
            f"The best of {len(measured)} statistical models is {order[0]!s} (log-loss {loss[order[0]]:.4f}, "
            f"{over})"
        )
        return [f"How well {used} predicts held-out comparisons is not known ({why}). {best}."]
    if len(measured) < 2:
        return []
    best, runner_up = order[0], order[order != used][0]
    worse = measured.loc[runner_up if used == best else used]
    is_exact = used == f"{runner_up}{WITH_SHRINKAGE}"
    alike = worse["worse"] <= CLEAR * worse["worse_error"]
    pair = [used, runner_up] if alike or used == best else [runner_up, used]
    losses = f"log-loss {loss[pair[0]]:.4f} vs {loss[pair[1]]:.4f}, difference {worse['worse']:.4f}"
    details = f"({losses}, SE {worse['worse_error']:.4f}; {over})"
    first, second = (f"{name} (exact)" if is_exact and name == runner_up else name for name in pair)
    if alike:
        return [f"{first} and {second} predict held-out comparisons equally well, within chance {details}."]
    if used == best:
        return [
            f"{first} predicts held-out comparisons better than {second}, the next of {len(measured)} models "
            f"{details}."
        ]
    use = (KEEP if keeps_shrunk else USE_EXACT) if is_exact else f"To use it: --model {runner_up}."
    return [f"{first} predicts held-out comparisons better than {second} {details}. {use}"]
