"""The table of judges: agreement with the others, share of the information, a verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.linalg.lapack import dpotrf, dpotri

from judgerank.data.arrays import FloatArray, numbered
from judgerank.data.cache import remembered
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.errors import NoIntervalError
from judgerank.data.judgments import Judgments
from judgerank.data.rankings import ROUNDING, as_pairs
from judgerank.engine.likelihood import product, row_by_row
from judgerank.fits.result import Fit
from judgerank.fits.same_judges import same_judges
from judgerank.inference.intervals import FURTHEST
from judgerank.inference.wald import normal_quantile
from judgerank.order.scale import reported_log_errors, scale_of
from judgerank.ranking.candidates import half_information
from judgerank.ranking.studies.by_judge import BEGINNINGS, LEAST, effects_of, problem
from judgerank.ranking.study import Component, Finding
from judgerank.reading.from_tables import of_records
from judgerank.trust.repeats import RELIABILITY, Repeats, repeats_of

FINE, NOISY, RANDOM, UNSURE = "fine", "noisy", "random", "unclear"
CONTRARY, UNRATED, UNBOUNDED = "contrary", "not assessed", "always agrees"
TOO_FEW = "too few answers"  # of each of the judges that one label stands for
LEANS = ("favours the first answer", "favours the second answer")
SAME = "same as "
MERGED = "merged"  # status of a judge id whose votes are part of another's
PLAIN = (FINE, NOISY, RANDOM, CONTRARY, UNSURE, UNRATED, UNBOUNDED, TOO_FEW)
NO_PROBLEM = (FINE, UNSURE, UNRATED, TOO_FEW, UNBOUNDED)  # verdicts that accuse nobody
BY_POSITION, BY_EFFECT, COPY = "favours", "goes by", "same"  # kinds of verdict that have several texts
UNBIASED = ", and picks neither position more than 60% of the time (significantly)"  # if positions are fitted
MEANING = {  # by `kind_of`
    FINE: "separates models about as well as the panel or better: the interval of its discrimination lies above "
    f"half of the panel's median, and some models differ significantly{UNBIASED}",
    NOISY: "its discrimination is below half of the panel's median, and significantly below the median",
    BY_POSITION: "between two equal models it picks one position more than 60% of the time (significantly)",
    BY_EFFECT: "between two equally good answers it decides by this more than 60% of the time (significantly)",
    RANDOM: "its answers do not follow the scores: its discrimination is zero, or may be. It may answer without "
    "regard to quality, or some of its labels may be swapped",
    CONTRARY: "it answers against the majority of the other judges, who agree with each other, at least 60% of "
    "the time (significantly, all judges tested together at 1%): its labels may be swapped",
    COPY: "it disagrees with that judge less than half as often as two different judges would, given how much "
    "the others agree on the same questions: one model under two names?",
    UNSURE: "its answers do not show whether it is fine or noisy: its discrimination may be below half of the "
    "panel's median or above, or no two models differ significantly",
    UNRATED: "all judges have equal weight, so no discrimination is estimated: there is one judge, or two models, "
    "or the chosen model has none",
    TOO_FEW: f"judges with fewer than {FEW_ANSWERS} answers each, together: they have one position bias and the "
    "average discrimination of the others",
    UNBOUNDED: "it never contradicted the ranking, which is not a problem; only how much sharper than the others "
    "it is, its answers do not show",
}
HALF = 0.5  # of the panel's median discrimination, below which a judge may be weak
LEANING = LEAST  # log-odds of the first shown among equals, beyond which a judge leans
AGAINST = 0.4  # agreement with the others up to which a judge may be contrary
CONTRARY_LEVEL = 0.01  # of the tests of all judges together


def of_component(component: Component) -> Finding:
    """The table ``judges``."""
    return Finding(tables={"judges": table_of(component)})


@remembered
def table_of(component: Component) -> pd.DataFrame:
    """The judges of a component with their verdicts (`judges`), what single ones go by included."""
    chosen, requested = component.settings, component.requested
    exact = component.exact if isinstance(component.exact, Fit) else None
    pairs = component.reported.comparisons.stages is None and not requested.merged
    same = same_judges(component.reported, component.sample, chosen.level) if pairs else {}
    table = judges(
        component.reported, component.judgments, chosen.level, chosen.few, requested.merged, same, exact
    )
    selected = table["verdict"].isin((FINE, NOISY, RANDOM, UNSURE))
    reasons = [
        problem(effects_of(component), judge, chosen.level) if keep else ""
        for judge, keep in zip(table["judge"], selected, strict=True)
    ]
    table["verdict"] = [reason or verdict for reason, verdict in zip(reasons, table["verdict"], strict=True)]
    if "separated" not in component.pairs or not component.pairs["separated"].fillna(False).any():
        table.loc[table["verdict"] == FINE, "verdict"] = UNSURE  # of models that are all alike, nothing is known
    turnable = ~table["verdict"].isin((FINE, UNBOUNDED, TOO_FEW)) & ~table["verdict"].str.startswith(SAME)
    table.loc[turnable & table["judge"].isin(contrary_in(component.sample)), "verdict"] = CONTRARY
    return with_retest(table, component)


def flagged(judges: pd.DataFrame) -> list[str]:
    """The judges of a table who have a problem."""
    return list(judges["judge"][~judges["verdict"].isin(NO_PROBLEM)])


def kind_of(verdict: str) -> str:
    """The key of `MEANING` that a verdict is explained by.

    Raises
    ------
    ValueError
        If no judge can have this verdict.
    """
    if verdict in PLAIN:
        return verdict
    if verdict in LEANS:
        return BY_POSITION
    if verdict.startswith(SAME):
        return COPY
    if verdict.startswith(BEGINNINGS):
        return BY_EFFECT
    raise ValueError(f"there is no verdict {verdict!r}")


def in_a_clause(verdict: str) -> str:
    """The verdict on a judge with a problem, to follow *which*: is noisy, favours the first answer."""
    if verdict.startswith(SAME):
        return f"answers as {verdict.removeprefix(SAME)} does"
    clauses = {NOISY: "is noisy", RANDOM: "answers at random", CONTRARY: "answers against the panel"}
    return clauses.get(verdict, verdict)


def agreement(cells: Comparisons) -> pd.Series:
    """Share of each judge's answers that go with the majority of the other judges on the same two models.

    A tie on either side counts as half an agreement. Answers on models that no other judge compared are left out;
    NaN for a judge who has no others.
    """
    k = len(cells.judges)
    lead = cells.choices * np.where(cells.first < cells.second, 1, -1) * (cells.outcome - 0.5)
    pair, where = numbered(cells.pair)
    net, count = (np.bincount(where, x, len(pair)) for x in (lead, cells.decided))
    key, codes = numbered(where * k + cells.judge)
    own_net, own_count = (np.bincount(codes, x, len(key)) for x in (lead, cells.decided))
    pair_code, judge = key // k, key % k
    net_others, has_others = net[pair_code] - own_net, count[pair_code] - own_count > 0.5
    alike = own_count / 2 + np.sign(np.where(np.abs(net_others) < 1e-9, 0.0, net_others)) * own_net
    total = np.bincount(judge, own_count * has_others, k)
    with np.errstate(invalid="ignore"):
        share = np.bincount(judge, alike * has_others, k) / np.where(total > 0, total, np.nan)
    return pd.Series(share, list(cells.judges), name="agreement")


def contrary_judges(component: Component) -> tuple[str, ...]:
    """Judges of a component whose verdict is that they are contrary."""
    table = table_of(component)
    return tuple(table["judge"][table["verdict"] == CONTRARY])


def contrary_in(judgments: Judgments) -> tuple[str, ...]:
    """Judges who answer against the others, where these agree with each other.

    Significantly so by `opposition`, all judges tested together (Bonferroni), and at least 60% of the time. Nobody
    is contrary to a panel without an opinion: of the others, at least half must agree with the rest.
    """
    pairs = as_pairs(judgments)
    judges = pairs.comparisons.judges
    if len(judges) <= 2:
        return ()
    share, z = agreement(pairs.comparisons), opposition(pairs)
    critical, of_others = (float(normal_quantile(1 - 2 * CONTRARY_LEVEL / tests)) for tests in (len(judges), 1))
    named = []
    for judge in judges:
        if judge != FEW_JUDGES and share[judge] <= AGAINST and z[judge] < -critical:
            others = opposition(of_records(pairs, pairs.frame["judge_model"] != judge)).dropna()
            named += [judge] * bool(len(others) and others.median() > of_others)
    return tuple(named)


def opposition(judgments: Judgments) -> pd.Series:
    """How each judge's answers vary with the majority of the others on the same pair, in standard errors.

    The covariance of answers and majorities, both as +1 for the model shown first and -1 for the second, over its
    standard error if a judge ignores the models. About the judge's means where the order is known, so that neither
    a preference for a position nor the order in which favourites are shown counts. The error allows for dependence
    within questions (Liang and Zeger, 1986), and is never below that of independent answers. NaN where no other
    judge compared the models, or answers and majorities are constant.
    """
    c = judgments.comparisons
    k, side = len(c.judges), np.where(c.first < c.second, 1, -1)
    pair, where = numbered(c.pair)
    lead = c.choices * side * (c.outcome - 0.5)
    of_pair = np.bincount(where, lead, len(pair))
    cell, codes = numbered(where * k + c.judge)
    others = of_pair[cell // k] - np.bincount(codes, lead, len(cell))
    x = side * np.sign(np.where(np.abs(others) < ROUNDING, 0.0, others))[codes]
    y, weight = 2 * c.outcome - 1, c.count * (x != 0)
    total = np.bincount(c.judge, weight, k)
    with np.errstate(invalid="ignore", divide="ignore"):
        if c.ordered:
            means = [(np.bincount(c.judge, weight * values, k) / total)[c.judge] for values in (x, y)]
        else:
            means = [np.zeros(len(c))] * 2
        part = np.where(weight > 0, weight * (x - means[0]) * (y - means[1]), 0.0)
        spread = np.where(weight > 0, weight * (x - means[0]) ** 2 * (1 - means[1] ** 2), 0.0)
        variance = np.bincount(c.judge, spread, k)
        if "question_id" in judgments.frame:
            group, members = numbered(judgments.question * k + c.judge)
            squares = np.bincount(members, part, len(group)) ** 2
            clusters = np.bincount(group % k, minlength=k)
            clustered = np.bincount(group % k, squares, k) * clusters / np.maximum(clusters - 1, 1)
            variance = np.maximum(variance, clustered)
        z = np.bincount(c.judge, part, k) / np.sqrt(np.where(variance > ROUNDING, variance, np.nan))
    return pd.Series(z, list(c.judges), name="opposition")


def turned(judgments: Judgments, judges: Collection[str]) -> Judgments:
    """The judgments with the answers of some judges turned: for each the other model wins; ties stay.

    Rankings of several answers are broken into comparisons of two.
    """
    pairs = as_pairs(judgments)
    frame = pairs.frame
    rows = frame["judge_model"].isin(judges)
    letters = frame["judge_preferred_model"].astype(object)
    changed = {"judge_preferred_model": letters.mask(rows, letters.replace({"a": "b", "b": "a"}))}
    if "outcome" in frame:
        shares = pd.to_numeric(frame["outcome"])
        changed["outcome"] = shares.mask(rows, 1 - shares)
    return of_records(replace(pairs, frame=frame.assign(**changed)), frame.index)


def information_share(fitted: Fit) -> pd.Series:
    """Share of each judge in what is known of the scores, given the discriminations; they sum to one.

    The leverage of a comparison, w (e_i - e_j)'L^+ (e_i - e_j) with w its information and L the sum of all, summed
    over a judge's comparisons and divided by N - 1. NaN where the fit is no maximum, or L is singular. Where
    questions have effects, every comparison counts as if it were alone on its question.
    """
    c, judges = fitted.comparisons, list(fitted.comparisons.judges)
    if not fitted.converged and fitted.solution.alone is None:
        return pd.Series(np.nan, judges, name="information")
    n = len(c.models)
    weight = c.count * _information(fitted, c)
    i, j = c.first.astype(np.intp), c.second.astype(np.intp)
    laplacian = np.zeros((n, n))
    np.add.at(laplacian, (i, j), -weight)
    laplacian += laplacian.T
    laplacian[range(n), range(n)] -= laplacian.sum(axis=1)
    lifted = laplacian + np.trace(laplacian) / n**2  # the shift of all scores, which nothing is known of
    half, failed = dpotrf(lifted, lower=True)
    if failed:
        return pd.Series(np.nan, judges, name="information")
    v = dpotri(half, lower=True, overwrite_c=True)[0]
    leverage = weight * (v[i, i] + v[j, j] - 2 * v[np.maximum(i, j), np.minimum(i, j)])
    by_judge = np.bincount(c.judge, leverage, len(judges))
    return pd.Series(by_judge / by_judge.sum(), judges, name="information")


def _information(fitted: Fit, c: Comparisons) -> FloatArray:
    """Information of one comparison of every row on the difference of its scores, shape (T,)."""
    if c.stages is not None:
        terms = row_by_row(c, fitted.model, fitted.solution.parameters)
        return product(terms.law.variance, terms.g, terms.g)
    k, s = c.judge, fitted.scores.to_numpy()
    g = fitted.discrimination.to_numpy()[k]
    if c.covariate is not None:
        g = g * np.exp(fitted.slope.to_numpy()[k] * c.covariate)
    eta = g * (s[c.first] - s[c.second]) + fitted.position.to_numpy()[k]
    half = half_information(fitted, eta, g, k)
    return np.asarray(g**2 * (half[:, 0] ** 2).sum(axis=1))


def effective_judges(share: Iterable[float], n_judges: Iterable[int] | None = None) -> float:
    """How many judges with equal shares would be spread as widely: (sum x)^2 / sum x^2 (Kish, 1965).

    A share of several judges together, whose number `n_judges` gives, is divided evenly among them.
    """
    x = np.asarray(list(share), float)
    among = np.ones(len(x)) if n_judges is None else np.asarray(list(n_judges), float)
    return float(x.sum() ** 2 / (x**2 / among).sum())


def verdicts(fitted: Fit, few: int, level: float, same: Mapping[str, str], exact: Fit | None = None) -> pd.Series:
    """One of `MEANING` for each judge, by the intervals of its discrimination and its leaning.

    Who stands at zero or runs off is known by the exact fit, where the ranking is shrunk: shrinkage hides it.

    Discriminations are compared with each other on the reported scale: one weak judge may leave the geometric mean
    all but unknown, and every discrimination with it.
    """
    judges = list(fitted.comparisons.judges)
    counts = np.bincount(fitted.comparisons.judge, fitted.comparisons.count, len(judges))
    widths = pd.Series(dtype=float)
    try:
        ends = fitted.confidence_intervals(level).set_index(["parameter", "name"])
        low, high = discrimination_intervals(fitted, level)
        widths = _log_widths(fitted, level)
        those = [("discrimination", judge) for judge in low.index]
        ends.loc[those, "low"], ends.loc[those, "high"] = low.to_numpy(), high.to_numpy()
    except NoIntervalError:
        ends = None
    gamma = reported_discriminations(fitted)
    middle = float(gamma[gamma > 0].median())
    rated = fitted.model.weighs_judges and len(judges) > 1 and len(fitted.scores) > 2
    by_judge = {}
    for judge, count in zip(judges, counts, strict=True):
        width = float(gamma[judge] * widths.get(judge, np.nan))
        verdict = _verdict(judge, ends, middle, exact or fitted, same, float(gamma[judge]), width)
        if verdict in (FINE, NOISY, RANDOM, UNSURE, UNBOUNDED):
            verdict = UNRATED if not rated else UNSURE if count < few else verdict
        by_judge[judge] = TOO_FEW if judge == FEW_JUDGES else verdict
    return pd.Series(by_judge, judges, name="verdict")


def reported_discriminations(fitted: Fit) -> pd.Series:
    """Discriminations by judge on the reported scale (`judgerank.order.scale`)."""
    return pd.Series(scale_of(fitted).discriminations, list(fitted.comparisons.judges), name="discrimination")


def discrimination_intervals(fitted: Fit, level: float) -> tuple[pd.Series, pd.Series]:
    """Ends of the intervals of the discriminations that have one, on the reported scale."""
    widths = _log_widths(fitted, level)
    gamma, reach = reported_discriminations(fitted)[widths.index], np.exp(np.minimum(widths, FURTHEST))
    return gamma / reach, gamma * reach


def _log_widths(fitted: Fit, level: float) -> pd.Series:
    """Half the widths of the intervals of log-discriminations that have one, by judge, on the reported scale."""
    width = normal_quantile(level, fitted.degrees_of_freedom) * reported_log_errors(fitted)
    widths = pd.Series(width, np.array(fitted.comparisons.judges, object)[scale_of(fitted).free])
    return widths[~widths.index.isin(fitted.unbounded_judges)]


def _verdict(
    judge: str,
    ends: pd.DataFrame | None,
    middle: float,
    fitted: Fit,
    same: Mapping[str, str],
    gamma: float,
    width: float,
) -> str:
    """Verdict on one judge; `width` is half that of the interval gamma -/+ width, which may reach zero.

    A position comes before a discrimination of zero and one without limit: who always picks the first answer has
    either by chance.
    """
    leans = position_of(*_ends(ends, "position", judge))
    zero = judge in fitted.judges_at_zero
    if judge in same and not zero:
        return f"{SAME}{same[judge]}"
    if leans:
        return leans
    if zero:  # of a shrunk fit, whose interval says how sure that is
        return UNSURE if _ends(ends, "discrimination", judge)[1] > middle else RANDOM
    if judge in fitted.unbounded_judges:
        return UNBOUNDED
    low, high = _ends(ends, "discrimination", judge)
    if gamma <= width < HALF * middle - gamma:  # it may be zero, where its logarithm has no end
        return RANDOM
    if gamma < HALF * middle and high < middle:
        return NOISY
    return FINE if low >= HALF * middle else UNSURE


def position_of(low: float, high: float) -> str:
    """Which of `LEANS` an interval of a position bias shows, if any: beyond 60% between two equal models."""
    return LEANS[0] if low > LEANING else LEANS[1] if high < -LEANING else ""


def by_position(fitted: Fit, level: float) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Judges who favour the first answer, and the second, as their verdicts say; None without such intervals."""
    try:
        ends = fitted.confidence_intervals(level)
    except NoIntervalError:
        return None
    rows = ends[ends["parameter"] == "position"]
    leanings = [position_of(low, high) for low, high in rows[["low", "high"]].to_numpy(float)]
    named = [tuple(rows["name"][[leaning == side for leaning in leanings]]) for side in LEANS]
    return (named[0], named[1]) if len(rows) else None


def _ends(ends: pd.DataFrame | None, parameter: str, judge: str) -> tuple[float, float]:
    """Ends of an interval; NaN where there is none."""
    if ends is None or (parameter, judge) not in ends.index:
        return np.nan, np.nan
    low, high = ends[["low", "high"]].to_numpy(float)[ends.index.get_loc((parameter, judge))]
    return float(low), float(high)


def judges(
    fitted: Fit,
    judgments: Judgments,
    level: float,
    few: int,
    merged: Mapping[str, str],
    same: Mapping[str, str],
    exact: Fit | None = None,
) -> pd.DataFrame:
    """Answers and estimates of each judge, most discriminating first.

    ``judge, verdict, comparisons, share_a, share_b, share_tie, unparsed, agreement, information, status`` and, for
    every free parameter such as ``discrimination``, its estimate and the ends ``low_`` and ``high_`` of its
    interval. `verdicts`, `agreement` and `information_share` say what these are. Of judge ids that were merged
    with another, given by its name, there are the answers alone. `same` and `exact` are those of `verdicts`.
    """
    frame = judgments.judges.drop(columns="dataset").set_index("judge")
    if not judgments.ordered:
        frame = frame.drop(columns=["share_a", "share_b"])  # the first by name won, which says nothing
    frame.insert(0, "verdict", verdicts(fitted, few, level, same, exact))
    frame["agreement"] = agreement(fitted.comparisons)
    frame["information"] = information_share(fitted)
    frame["status"] = fitted.judge_status
    if fitted.unbounded_judges and fitted.solution.alone is None:  # the others have no maximum either
        frame.loc[~frame.index.isin(fitted.unbounded_judges), "status"] = "no maximum"
    for judge, leader in merged.items():
        frame.loc[judge, ["verdict", "status"]] = f"{SAME}{leader}", MERGED
    try:
        rows = fitted.confidence_intervals(level).set_index("name")
    except NoIntervalError:
        rows = None
    for block in fitted.model.blocks[fitted.model.free_rows]:
        name = block.shown
        frame[name] = fitted._of_judges(block)
        ends = None if rows is None else rows[rows["parameter"] == name]
        for end in ("low", "high"):
            frame[f"{end}_{name}"] = np.nan if ends is None else ends[end]
    if "discrimination" in frame:
        frame["discrimination"] = reported_discriminations(fitted)
        if rows is not None:
            frame["low_discrimination"], frame["high_discrimination"] = discrimination_intervals(fitted, level)
            frame.loc[frame["verdict"] == TOO_FEW, ["low_discrimination", "high_discrimination"]] = np.nan
        frame = frame.sort_values("discrimination", ascending=False, kind="stable")
    return frame.rename_axis("judge").reset_index()


# Requests that were asked more than once: how often judges change their answer, and what repeats buy.

# columns of the table of judges, by the name that they have in the table of repeats
OF_JUDGES = {"flip_rate": "flip_rate", "low": "low_flip_rate", "high": "high_flip_rate"}
OF_JUDGES |= dict(zip(RELIABILITY, ("reliability", "low_reliability", "high_reliability"), strict=True))
DISATTENUATED = "disattenuated"


def repeated_requests(component: Component) -> Finding:
    """The table ``repeats`` and a remark, where questions are known and something was asked twice."""
    repeats = repeats_in(component)
    return Finding() if repeats is None else Finding([" ".join(repeats.sentences())], {"repeats": repeats.table})


@remembered
def repeats_in(component: Component) -> Repeats | None:
    """What repeated requests tell; None where questions are not known or nothing was asked twice."""
    if "question_id" not in component.judgments.frame or component.comparisons.stages is not None:
        return None
    judgments = component.sample
    level, item = component.settings.level, judgments.item
    return repeats_of(component.member, judgments.comparisons, judgments.question, level, item)


def with_retest(judges: pd.DataFrame, component: Component) -> pd.DataFrame:
    """The table of judges with what repeated requests say of each, where there are any.

    ``flip_rate`` and ``reliability`` with their intervals, and ``disattenuated``: the discrimination that a judge
    would have if its noise were averaged out. It is left out where the reliability may be zero. A judge's share of
    the information does not grow by answers to the same request but by what these add.
    """
    repeats = repeats_in(component)
    if repeats is None:
        return judges
    retest = repeats.table.set_index("judge")[list(OF_JUDGES)].rename(columns=OF_JUDGES)
    judges = judges.join(retest, on="judge")
    worth = judges["judge"].map(repeats.worth_of_answers(judges.set_index("judge")["comparisons"])).fillna(1.0)
    judges["information"] *= worth / (worth * judges["information"]).sum()
    if "discrimination" in judges:
        reliability = judges["reliability"].where(judges["low_reliability"] > 0)
        judges[DISATTENUATED] = judges["discrimination"] / np.sqrt(reliability)
    return judges
