"""Is there a maximum? Decided by a linear program over the directions in which the likelihood never falls.

With discriminations as they are, the log-likelihood is concave in scores, positions and tie propensities: a sum of
log shares of exponentials in linear forms. It has a maximum exactly if every direction along which no observed
outcome's form falls behind another one's leaves all of them even (Albert and Anderson, 1984). In the position
block and the tie block a direction can be divided by gamma_k, so that for judges without a covariate the answer
does not depend on how discriminating they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs
from scipy.sparse import block_diag, coo_array, csr_array, eye_array, vstack
from scipy.sparse.csgraph import connected_components

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.information import SINGULAR, information
from judgerank.engine.levels import EQUAL, GIVEN, contests, direction_raising, shares, thresholds, users
from judgerank.engine.likelihood import CHUNK, Evaluation, RowTerms, evaluate, row_by_row, row_derivatives
from judgerank.engine.penalty import flat
from judgerank.engine.rows import laid_out
from judgerank.engine.solution import ROUNDING, chosen_against_others
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import movable
from judgerank.model.tied_law import TiedLaw

CERTAIN = 0.5  # change of log-odds that is surely below one; the rest is for rounding
MAX_FORMS = (
    2_000  # forms beyond which any rising direction will do: the steepest takes a matrix of all their products
)


def near_maximum(
    cells: Comparisons,
    model: Model,
    parameters: Parameters,
    free: BoolArray | None = None,
    free_common: BoolArray | None = None,
    precision: FloatArray | None = None,
    evaluation: Evaluation | None = None,
) -> bool:
    """Whether a point proves that there is a maximum in all but discriminations, these being as they are.

    Let h be the exponents of a comparison's outcomes, so that p is proportional to e^h, and v the step of Fisher
    scoring from here: v changes each h by t, and t less its mean, sum p t, by u. The gradient is the sum of
    n p_q (h_o - h_q) over what was observed, o, and each other outcome q, and the information times v that of
    -n p_q u_q (h_o - h_q). So the sum of n p_q (1 + u_q) (h_o - h_q) is zero, in every parameter that has no
    penalty. If v changes no log-odds of two outcomes by one, all weights in that sum are positive. Then no
    direction of these parameters has a form that rises and none that falls (Stiemke, 1915): there is a
    maximum. False says nothing.

    Parameters
    ----------
    cells : Comparisons
        Of the judges in play; with further blocks, all.
    parameters : Parameters
    free : bool array, shape (B, K), optional
        Parameters of the judges that move, by default all that are finite.
    free_common : bool array, shape (P,), optional
        Parameters of further blocks that move, by default all.
    precision : float array, shape (D, D), optional
        Of the penalty, over scores, the judges' parameters and those of further blocks.
    here : Evaluation, optional
        With the expected information at the point, if it is known.
    """
    evaluation = evaluation or evaluate(cells, model, parameters, "expected", at_zero=False)
    free = movable(model, parameters) if free is None else free & movable(model, parameters)
    free[model.weights] = False
    linear = np.not_equal(model.roles, Role.WEIGHT) & (True if free_common is None else free_common)
    n, of_judges = len(cells.models), int(free.sum())
    chosen = np.r_[np.ones(n, bool), free.ravel(), linear]
    info = information(evaluation, free, linear)
    gradient = np.r_[evaluation.top_gradient[:n], evaluation.judge_gradient.ravel(), evaluation.top_gradient[n:]][
        chosen
    ]
    if precision is not None:
        info, gradient = (
            info + precision[np.ix_(chosen, chosen)],
            gradient - (precision @ flat(parameters))[chosen],
        )
    info[:n, :n] += info.trace() / len(info)  # all scores may move together
    size, (half, failed) = np.abs(info).sum(axis=0).max(), dpotrf(info, lower=True)
    least = size * dpocon(half, size, uplo="L")[0]
    terms = cells.n_comparisons * max(1.0, np.exp(_steepest_exponent(cells, model, parameters)))
    if failed or least <= max(SINGULAR * size, ROUNDING * terms):  # far out a gradient may be nothing but rounding
        return False
    step = dpotrs(half, gradient, lower=True)[0]
    judges, common = parameters.judges.copy(), parameters.common.copy()
    judges[model.offsets], common[np.not_equal(model.roles, Role.WEIGHT)] = 0.0, 0.0
    judges[free], common[linear] = step[n : n + of_judges], step[n + of_judges :]
    direction = Parameters(step[:n], judges, common)
    row_terms = (RowTerms(rows, model, direction, model.gamma(direction)) for rows in laid_out(cells, CHUNK))
    return all(_turned(moved_terms)[moved_terms.rows.count > 0].max() <= CERTAIN for moved_terms in row_terms)


def _turned(terms: RowTerms) -> FloatArray:
    """Largest change of the log-odds of two levels that a direction makes, by row."""
    lead = np.abs(terms.eta)
    if isinstance(terms.law, TiedLaw):
        return terms.law.reach
    if not terms.log_strong:
        return lead if terms.log_nu is None else np.maximum(lead, np.abs(terms.log_nu) + lead / 2)
    ends = [lead / 2, -lead / 2]
    for strength, log_propensity in enumerate(terms.log_strong):
        size = 1 + strength / 2
        ends += [log_propensity + size * lead, log_propensity - size * lead]
    ends += [] if terms.log_nu is None else [terms.log_nu]
    ends_by_row = np.stack(np.broadcast_arrays(*ends))  # in a table, what hangs on the judge alone has one column
    return np.asarray(ends_by_row.max(axis=0) - ends_by_row.min(axis=0))


def _steepest_exponent(cells: Comparisons, model: Model, parameters: Parameters) -> float:
    """A bound of log discrimination over all rows."""
    steepest = 0.0
    for block, values in zip(model.blocks, parameters.judges, strict=True):
        if block.role is Role.WEIGHT:
            of_rows = 1.0 if block.column is None else np.abs(getattr(cells, block.column)).max()
            steepest += (values if block.column is None else np.abs(values)).max() * of_rows
    return steepest


def rising_direction(
    cells: Comparisons,
    model: Model,
    parameters: Parameters | None = None,
    held: BoolArray | None = None,
    moving: csr_array | None = None,
) -> FloatArray | None:
    """A direction in all but discriminations along which the likelihood rises without end, or None.

    Parameters
    ----------
    cells : Comparisons
        Of the judges in play; with further blocks, all.
    parameters : Parameters, optional
        Where discrimination depends on a covariate: the slopes. Where judges are held, or with further blocks:
        discriminations.
    held : bool array, shape (K,), optional
        Judges whose positions and ties a penalty draws to the means of the others (`engine.divergence`): all that
        is free of charge is to move with those.
    moving : sparse float array, shape (D, M), optional
        Directions that have no penalty, by default all.

    Returns
    -------
    float array, shape (D,), or None
        Scores, then what judges add to the predictor or to ties, then further blocks; no entry beyond one in size.
    """
    forms = _forms(cells, model, parameters, held)
    moves = eye_array(forms.shape[1]) if held is None else _with_the_others(cells, model, held)
    if moving is not None:
        moves = csr_array(moves) @ moving
    forms = csr_array(forms @ moves)
    direction = direction_raising(forms)
    return None if direction is None else moves @ _steepest(forms, direction)


def can_rise(cells: Comparisons, model: Model) -> bool:
    """Whether `rising_direction` finds one in these cells; it is not worked out which, which takes most time."""
    return direction_raising(_forms(cells, model, None, None)) is not None


def _with_the_others(cells: Comparisons, model: Model, held: BoolArray) -> csr_array:
    """What moves, by what is free to: judges held move as the mean of the others does; shape (D, D)."""
    parts: list[Any] = [np.eye(len(cells.models))]
    for block in model.blocks[model.offsets]:
        is_reference = ~held & users(cells, model)[block.role.size] if block.role.is_threshold else ~held
        part = np.diag((~held).astype(float))
        part[held] = is_reference / max(1, is_reference.sum())
        parts.append(part)
    return csr_array(block_diag([coo_array(part) for part in parts]))


def _steepest(forms: csr_array, rest: FloatArray) -> FloatArray:
    """The direction along which the forms rise most of those in which none falls, the largest entry being one.

    There are many, and which one a linear program meets hangs on the order of models. This one does not: it is the
    sum of the forms projected on the cone of such directions (Moreau, 1962). Of many forms, the `other` one.
    """
    from scipy.optimize import nnls

    if forms.shape[0] > MAX_FORMS:
        return rest
    distinct = np.unique(forms.toarray(), axis=0)  # else it would hang on how rows are merged
    rise = distinct.sum(axis=0)
    direction = rise + distinct.T @ nnls(distinct.T, -rise)[0]
    return np.asarray(direction / np.abs(direction).max(), float)


def _forms(cells: Comparisons, model: Model, parameters: Parameters | None, held: BoolArray | None) -> csr_array:
    """Linear forms that must not be negative along a direction: observed outcome against every other one."""
    terms, ones = row_by_row(cells, model, parameters or Parameters.zeros(model, cells)), np.ones(len(cells))
    g = ones
    if parameters is not None and model.further:
        g = ones if terms.g is None else terms.g
    elif parameters is not None and model.weights_vary:
        g = np.exp(parameters.judges[1][cells.judge] * cells.known_covariate)
    elif parameters is not None and held is not None:  # what judges have in common is in their own units
        g = np.exp(parameters.judges[0])[cells.judge]
    of_judges = np.repeat([block.role is not Role.WEIGHT for block in model.blocks], len(cells.judges))
    chosen = np.r_[np.ones(len(cells.models), bool), of_judges, np.ones(len(model.roles), bool)]

    def derivatives(by_role: dict[Role, FloatArray]) -> csr_array:
        """Of what these roles add to, in all parameters but the judges' discriminations."""
        jacobian = csr_array(row_derivatives(terms, lambda role: by_role.get(role, 0 * ones)))[:, chosen]
        jacobian.eliminate_zeros()
        return jacobian

    lead = derivatives({Role.QUALITY: g, Role.OFFSET: ones})
    tau = {level: derivatives({role: ones}) for level, role in thresholds(model).items()}
    used = {level: is_used[cells.judge] for level, is_used in users(cells, model).items()}
    if cells.stages is not None and model.has(Role.TIE):
        return chosen_against_others(cells, model, lead, tau, used)[0]
    forms, of = [], shares(cells, model)
    for answer, alternative in contests(of):
        is_contest = (of[answer] > GIVEN) & used[abs(alternative)]
        form = (answer - alternative) * lead[is_contest]
        for level, sign in ((abs(answer), 1), (abs(alternative), -1)):
            if level in tau and abs(answer) != abs(alternative):
                form = form + sign * tau[level][is_contest]
        forms.append(form)
    return vstack(forms).tocsr()


# Which judges can run off: those whose own votes agree with some order of the models without exception.
#
# A judge's discrimination grows without end only towards scores that none of its votes contradicts and some vote
# supports: its votes are quasi-separable (Albert and Anderson, 1984). Without positions, that is so exactly if
# some vote of the judge does not lie on a cycle of its graph from winners to losers. With positions, votes for the
# first model ask for s_i - s_j >= -b, those for the second for s_i - s_j <= -b: difference constraints that have a
# solution exactly if no cycle is negative, b being 0, 1 or -1 up to scale.


def separable_judges(cells: Comparisons, model: Model) -> IntArray:
    """Judges whose discriminations can run off, as far as their own votes say; no other judge's can.

    Exact but for slopes beside positions, where a margin may differ from one comparison to the next: then the
    judges named are those who can without slopes.

    Parameters
    ----------
    cells : Comparisons
        Aggregated.
    model : Model
        With free discriminations.
    """
    if not model.has(Role.TIE, Role.STRONG):
        return np.flatnonzero(_ordered(cells, model, cells.won > EQUAL, cells.lost > EQUAL))
    # Margins between answers are parameters, too, so it takes a linear program. Ties of two ask for a margin of at
    # least zero, and wins lie beyond it: if no order fits a judge's wins and losses, none fits them with ties.
    candidates = np.ones(len(cells.judges), bool)
    if cells.stages is None and not model.has(Role.STRONG):
        of = shares(cells, model)
        won, lost = of[0.5] > GIVEN, of[-0.5] > GIVEN
        decided = np.bincount(cells.judge, won | lost, len(cells.judges)) > 0
        candidates = _ordered(cells, model, won, lost) | ~decided
    separable = [
        k for k in np.flatnonzero(candidates).tolist() if can_rise(cells.with_judges([cells.judges[k]]), model)
    ]
    return np.array(separable, np.intp)


def _ordered(cells: Comparisons, model: Model, first_won: BoolArray, second_won: BoolArray) -> BoolArray:
    """Judges whose wins and losses agree with some order of the models, shape (K,)."""
    above = np.r_[cells.first[first_won], cells.second[second_won]]
    below = np.r_[cells.second[first_won], cells.first[second_won]]
    judge = np.r_[cells.judge[first_won], cells.judge[second_won]].astype(np.intp)
    n, k = len(cells.models), len(cells.judges)
    upper, lower = judge * n + above, judge * n + below
    graph = coo_array((np.ones(len(upper), np.int8), (upper, lower)), shape=(n * k, n * k))
    part = connected_components(graph, connection="strong")[1]
    is_violated = np.bincount(judge, part[upper] != part[lower], k) > 0
    if model.has(Role.OFFSET) and len(judge):
        rank_gap = np.ones(len(cells)) if cells.apart is None else cells.apart
        margin = np.r_[rank_gap[first_won], -rank_gap[second_won]]
        for side in (margin, -margin):
            is_violated |= _ordered_by_a_margin(judge, upper, lower, side, n, k)
    return np.asarray(is_violated, bool)


def _ordered_by_a_margin(
    judge: IntArray, upper: IntArray, lower: IntArray, margin: FloatArray, n: int, k: int
) -> BoolArray:
    """Judges for whom s_other <= s_one + margin can hold for all votes, not always as an equality; shape (K,).

    By Bellman and Ford, all judges at once. Where the steps by which nodes were last reached close a cycle, that
    is negative (Cherkassky and Goldberg, 1999); they are followed after 1, 2, 4, ... rounds.
    """
    order = np.argsort(lower, kind="stable")
    judge, upper, lower, margin = judge[order], upper[order], lower[order], margin[order]
    distance, is_cyclic, reached_from = np.zeros(n * k), np.zeros(k, bool), np.arange(n * k)
    for step in range(1, n * k + 1):
        starts = np.flatnonzero(np.r_[True, lower[1:] != lower[:-1]])
        lengths = distance[upper] + margin
        nearest = np.minimum.reduceat(lengths, starts)
        changed = np.zeros(k, bool)
        targets = lower[starts]
        shorter = nearest < distance[targets]
        changed[judge[starts[shorter]]] = True
        is_last = lengths < distance[lower]
        is_last[is_last] = lengths[is_last] == nearest[np.searchsorted(targets, lower[is_last])]
        reached_from[lower[is_last]] = upper[is_last]
        settled = ~changed[judge]
        slack = distance[upper] + margin - distance[lower]
        is_cyclic[judge[settled & (slack > 0)]] = True
        distance[targets[shorter]] = nearest[shorter]
        is_endless = np.zeros(k, bool) if step & (step - 1) else _on_cycle(reached_from).reshape(k, n).any(axis=1)
        going = (changed & ~is_endless)[judge]
        if not going.any():
            return is_cyclic
        judge, upper, lower, margin = judge[going], upper[going], lower[going], margin[going]
    return is_cyclic


def _on_cycle(reached_from: IntArray) -> BoolArray:
    """Nodes from which the steps backwards, shape (V,), never come to one that was reached from itself, a root."""
    origin = reached_from
    for _ in range(len(origin).bit_length()):
        origin = origin[origin]
    return np.asarray(reached_from[origin] != origin, bool)
