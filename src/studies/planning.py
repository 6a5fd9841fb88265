"""What data of a planned size give, beside what the formulas expect of them, and the tables of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from omegaconf import DictConfig, OmegaConf
from scipy.special import ndtr

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, JudgerankError, NoIntervalError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.engine.solution import Status
from judgerank.fits.errors_by_question import by_question
from judgerank.fits.fit import fit
from judgerank.inference.taste_errors import TASTE
from judgerank.inference.wald import normal_quantile
from judgerank.model.block import Need
from judgerank.model.law import levels_at
from judgerank.order.pairs import Order, orders, pairwise, separated
from judgerank.order.scale import scale_of
from judgerank.planning import USUAL, precision
from judgerank.planning.judges import fit_with_tastes, judges_needed
from judgerank.planning.panels import Panel, assumed
from judgerank.planning.plans import (
    Precisions,
    asked_as,
    best_first,
    fitted_panel,
    pair_of,
    plan_table,
    questions_like,
    to_make,
)
from judgerank.planning.precision import GOALS, POWERS, WIDTHS, needed, precision_of, whole
from judgerank.planning.questions import INDEPENDENT, Questions, loading
from judgerank.ranking.choices import FALLBACK, SHRUNK, default_member
from judgerank.ranking.components import fit_member
from judgerank.reading.read import read_judgments
from replication.config import ROOT
from replication.replicate import Record, Study
from studies.dependence import standardised_errors

# Data drawn on the designs that plans are made for.


def drawn(
    rng: np.random.Generator, panel: Panel, size: int, repeats: int = 1, correlation: float = 0.0
) -> Comparisons:
    """Comparisons on the panel's design, each judgment asked for `repeats` times; one row per judgment.

    With the probability `correlation` the repeats of a judgment are copies of one answer, else independent: any
    two of them then have that correlation.

    Parameters
    ----------
    size : int
        Comparisons altogether, repeats among them.
    """
    cells = panel.design()
    n_asked = size // repeats
    cell = rng.choice(len(cells), n_asked, p=cells.count / cells.count.sum())
    chance = rng.random((n_asked, repeats))
    copied = rng.random(n_asked) < correlation
    chance[copied] = chance[copied, :1]
    who = cells.first[cell], cells.second[cell], cells.judge[cell]
    level = levels_at(panel.probabilities(*who)[:, None], chance)
    share = (level[..., None] == np.arange(len(panel.levels))).mean(axis=1)
    return panel.answered(who, share, np.full(n_asked, float(repeats)))


def drawn_in_questions(
    rng: np.random.Generator, panel: Panel, size: int, questions: Questions
) -> tuple[Comparisons, IntArray]:
    """Comparisons on a panel's design in questions (`planning.questions`), and the question of each."""
    questions = questions.within(panel)
    n, n_questions = len(panel.models), max(1, round(size / questions.size))
    share = panel.pair_weight / panel.pair_weight.sum()
    pair = np.repeat(rng.choice(len(share), n_questions * questions.pairs, p=share), questions.judges)
    asking = np.log(panel.judge_weight) + rng.gumbel(size=(n_questions * questions.pairs, len(panel.judges)))
    judge = np.argsort(-asking, axis=1)[:, : questions.judges].ravel()  # without replacement, by weight
    question = np.repeat(np.arange(n_questions), questions.size)
    i, j = (index[pair] for index in np.triu_indices(n, 1))
    turned = (rng.random(len(pair)) < 0.5) & panel.model.uses(Need.ORDER)
    i, j = np.where(turned, j, i), np.where(turned, i, j)
    rho = loading(panel, questions.sd)[judge]
    better = rng.standard_normal((n_questions, n))
    latent = rho * (better[question, i] - better[question, j]) / np.sqrt(2)
    latent += np.sqrt(1 - rho**2) * rng.standard_normal(len(pair))
    level = levels_at(panel.probabilities(i, j, judge), ndtr(-latent))
    share = (level[:, None] == np.arange(len(panel.levels))).astype(float)
    return panel.answered((i, j, judge), share, np.ones(len(pair))), question


# What data of a planned size give, beside what the formulas expect of them.


def simulated(settings: dict, rng: np.random.Generator, panels: dict[int, list[Panel]]) -> Record:
    """One data set on a panel's design: how its fit ended, and what it achieves.

    Settings are ``n_judges`` and ``draw`` (which panel), ``n_comparisons``, ``repeats``, ``correlation``,
    ``questions`` (see `Questions`), ``level`` and ``pair``. Score widths are those of a ranking, and recorded of
    interior maxima only, since with a judge at zero scores have another scale; the rest wherever there are
    intervals. These allow for dependence within repeats, and within questions as those of a ranking do.
    """
    panel = panels[settings["n_judges"]][settings["draw"]]
    questions = Questions(**settings["questions"])
    if questions.sd > 0:
        data, cluster = drawn_in_questions(rng, panel, settings["n_comparisons"], questions)
    else:
        names = ("n_comparisons", "repeats", "correlation")
        data = drawn(rng, panel, *(settings[name] for name in names))
        cluster = np.arange(len(data))
    try:
        result = fit(data, panel.model.name)
        if settings["repeats"] > 1 or (questions.sd > 0 and cluster[-1] + 1 > result.n_parameters):
            result = result.clustered(data, cluster)
        n, record = len(panel.models), {"status": str(result.status)}
        v = scale_of(result).covariance(result.covariance)
        errors = {"score": np.sqrt(np.diag(v)), "standardised": standardised_errors(result)}
        (order,) = orders(result)
    except (NoMaximumError, NoIntervalError, DataError) as error:
        return {"status": type(error).__name__}
    for goal, (whose, summary) in WIDTHS.items():
        if whose != "score" or result.status is Status.INTERIOR:
            record[goal] = float(2 * normal_quantile(settings["level"]) * summary(errors[whose]))
    is_different = order.p_value[np.triu_indices(n, 1)] <= 1 - settings["level"]
    mine = p_value_of(order, panel.pairs[settings["pair"]]) <= 1 - settings["level"]
    shares = (np.array(mine), is_different, separated([order], settings["level"]))
    return record | {goal: float(share.mean()) for goal, share in zip(POWERS, shares, strict=True)}


def grid(cfg: DictConfig, questions: Questions = INDEPENDENT) -> list[int]:
    """Numbers of comparisons to simulate, multiples of the repeats or of the questions."""
    sizes = cfg.n_comparisons[: cfg.points]
    return list(dict.fromkeys(questions.whole(whole(size, cfg.repeats)) for size in sizes))


def study_of(
    cfg: DictConfig,
    sub_panels: dict[int, list[Panel]],
    planned: dict[str, int],
    pair: int,
    questions: Questions = INDEPENDENT,
) -> Study:
    """Every sub-panel at every number of comparisons; the whole panel at the planned ones too."""
    cells, replications = {}, {}
    for n_judges, of_size in sub_panels.items():
        is_full_panel = n_judges == max(sub_panels)
        for size in dict.fromkeys([*grid(cfg, questions), *(planned.values() if is_full_panel else ())]):
            for draw in range(len(of_size)):
                cell = f"k{n_judges}-t{size}-draw{draw}"
                key_columns = {"n_judges": n_judges, "draw": draw, "n_comparisons": size}
                repeated = {"repeats": cfg.repeats, "correlation": cfg.correlation}
                repeated["questions"] = asdict(questions)
                cells[cell] = {**key_columns, **repeated, "level": cfg.level, "pair": pair}
                replications[cell] = cfg.replications if is_full_panel else cfg.draw_replications
    folder = Path(ROOT, cfg.cache)
    return Study("plan", simulated, cells, replications, cfg.seed, folder, cfg.block, sub_panels)


def records_of(study: Study) -> pd.DataFrame:
    """All records with their cells' settings; goals without a value are NaN."""
    rows = [{**settings, **record} for cell, settings in study.cells.items() for record in study.records(cell)]
    columns = ["n_judges", "draw", "n_comparisons", "status", *GOALS]
    return pd.DataFrame(rows).reindex(columns=columns)


def summary_of(records: pd.DataFrame, n_judges: int, size: int, goal: str) -> dict:
    """Mean and median over the data sets that have a value, and how many those are.

    The mean's Monte Carlo error is that within panels, which are not a sample here.
    """
    of_size = records[(records["n_judges"] == n_judges) & (records["n_comparisons"] == size)]
    with_goal = of_size.dropna(subset=goal)
    within = with_goal[goal] - with_goal.groupby("draw")[goal].transform("mean")
    freedom = len(with_goal) - with_goal["draw"].nunique()
    error = np.sqrt((within**2).sum() / freedom / len(with_goal)) if freedom > 0 else np.nan
    return {
        "simulated": with_goal[goal].mean(),
        "simulated_se": error,
        "simulated_median": with_goal[goal].median(),
        "n_replications": len(of_size),
        "n_used": len(with_goal),
        "n_interior": int((of_size["status"] == "interior").sum()),
    }


@dataclass(frozen=True)
class Promise:
    """A plan made from a file, and new data of the planned size.

    Attributes
    ----------
    file : int
        Comparisons of the file.
    pair : str
        Whose power is planned: ``named``, the median pair of the true panel, or ``best``, the file's two best.
    wanted, level : float
        Power and level of the test.
    """

    file: int
    pair: str
    wanted: float
    level: float


@dataclass(frozen=True)
class PlanOutcome:
    """The planned size, whether the test rejected, whether that of a plan without doubt did, and what the pair is.

    `two_best` says whether the pair is the two best models of the truth. All are missing where there was no plan;
    `status` then says why.
    """

    status: str
    comparisons: float = np.nan
    separated: float = np.nan
    if_known: float = np.nan
    two_best: float = np.nan


def promised(cell: Promise, rng: np.random.Generator, truth: Panel) -> PlanOutcome:
    """Plan from a file drawn from the panel, then draw new data of that size and test the pair."""
    try:
        planned_panel = Panel.fitted(fit(drawn(rng, truth, cell.file), truth.model.name))
        pair = pair_of(truth) if cell.pair == "named" else pair_of(planned_panel)
        size = needed("pair_power", cell.wanted, [precision_of(planned_panel)], cell.level, pair)
        size_without_doubt = needed(
            "pair_power", cell.wanted, [precision_of(replace(planned_panel, doubt=None))], cell.level, pair
        )
        rejections = [
            rejected(rng, truth, int(np.ceil(n_comparisons)), pair, cell.level)
            for n_comparisons in (size, size_without_doubt)
        ]
    except JudgerankError as error:
        return PlanOutcome(type(error).__name__)
    return PlanOutcome("planned", size, *rejections, float({*truth.pairs[pair]} == {*best_first(truth)[:2]}))


def rejected(rng: np.random.Generator, truth: Panel, size: int, pair: int, level: float) -> float:
    """Whether the test of a pair rejects on new data of this size, one or zero."""
    cells = truth.design()
    count = rng.multinomial(size, cells.count / cells.count.sum())
    share = rng.binomial(count, cells.outcome) / np.maximum(count, 1)
    was_drawn = count > 0
    data = cells._rows(np.flatnonzero(was_drawn), outcome=share[was_drawn], count=count[was_drawn].astype(float))
    (order,) = orders(fit(data, truth.model.name))
    return float(p_value_of(order, truth.pairs[pair]) <= 1 - level)


def p_value_of(order: Order, pair: tuple[str, str]) -> float:
    """Of two models given by name, as `judgerank.order.pairs.pairwise` has it."""
    i, j = sorted(order.models.tolist().index(name) for name in pair)
    return float(order.p_value[i, j])


def promises(cfg: DictConfig) -> Study:
    """Cells by size of the file and pair."""
    p = cfg.promises
    panel = assumed(p.n_models, p.n_judges, p.sigma_scores, p.sigma_discrimination, model=FALLBACK)
    cells = {
        f"file{size}-{pair}": Promise(size, pair, p.wanted, cfg.level)
        for size in p.n_comparisons[: cfg.points]
        for pair in ("named", "best")
    }
    replications_of_cell = dict.fromkeys(cells, p.times * cfg.replications)
    return Study("plan", promised, cells, replications_of_cell, cfg.seed, Path(ROOT, cfg.cache), cfg.block, panel)


def promise_table(study: Study) -> pd.DataFrame:
    """Share of tests that rejected, by size of the file, with its error; and that of plans without doubt.

    Of pairs that the file chose, also how often these are truly the two best, and the share of either case.
    """
    rows = []
    for name, cell in study.cells.items():
        outcomes = pd.DataFrame(list(study.records(name)))
        made = outcomes[outcomes["status"] == "planned"]
        row = {
            "file": cell.file,
            "pair": cell.pair,
            "wanted": cell.wanted,
            **_share("power", made["separated"]),
            "power_if_taken_for_true": made["if_known"].mean(),
            "comparisons_median": made["comparisons"].median(),
            "n_replications": len(outcomes),
            "n_planned": len(made),
        }
        if cell.pair == "best":
            right = made["two_best"] == 1
            row |= {"two_best": right.mean()}
            row |= _share("power_of_two_best", made["separated"][right])
            row |= _share("power_of_others", made["separated"][~right])
        rows.append(row)
    return pd.DataFrame(rows)


def _share(name: str, values: pd.Series) -> dict[str, float]:
    share = values.mean()
    return {name: share, f"{name}_se": np.sqrt(share * (1 - share) / max(len(values), 1))}


# Plans made from files as the command makes them, and what share of pairs new data of that size separate.


@dataclass(frozen=True)
class KeptPlan:
    """A plan of ``separated`` from a file, on judges some of whom answer at random, or who have tastes.

    Attributes
    ----------
    file, per_question : int
        Comparisons of the file, and of each question.
    n_models, n_judges, useless : int
        The last are judges who answer at random.
    sigma_scores, sigma_discrimination, question_sd, taste : float
        Standard deviations of scores, log-discriminations, of answers to a question, and of tastes; in log-odds.
    wanted, level : float
    ties : float
        Share of ties among answers on equal models, which count as half wins.
    """

    file: int
    per_question: int
    n_models: int
    n_judges: int
    useless: int
    sigma_scores: float
    sigma_discrimination: float
    question_sd: float
    taste: float
    wanted: float
    level: float
    ties: float = 0.0


@dataclass(frozen=True)
class NewData:
    """What a plan asked for and expected, and the share of pairs separated by new data; missing without a plan."""

    status: str
    planned: float = np.nan
    expected: float = np.nan
    separated: float = np.nan


def new_data(cell: KeptPlan, rng: np.random.Generator) -> NewData:
    """Plan from a file of a random panel; then draw new data of the planned size, or new judges, and rank them."""
    scores = rng.normal(0.0, 1.0, cell.n_models)
    scores = cell.sigma_scores * (scores - scores.mean()) / scores.std()
    judges = _judges(cell, rng, cell.n_judges)
    file = _file(cell, rng, scores, judges, cell.file)
    goal, test_settings = {"separated": cell.wanted}, {"level": cell.level, "pair": 0}
    try:
        panel, fitted = fitted_panel(file, partial(fit_member, file.comparisons, solver=SHRUNK))
        if cell.taste > 0:
            with_tastes = fit_with_tastes(file, fitted, SHRUNK)
            n_judges = judges_needed(with_tastes, goal, test_settings)["separated"]
            if n_judges is None:
                return NewData("no tastes shown")
            new = _judges(cell, rng, n_judges)
            data = _file(cell, rng, scores, new, n_judges * cell.file // cell.n_judges)
            result = fit(data, fitted.model.name, SHRUNK, blocks=[TASTE])
            size, expected = float(n_judges), cell.wanted
        else:
            questions = asked_as(questions_like(panel, fitted, file), panel, {})
            (row,) = plan_table(panel, questions, goal, partial(to_make, questions), test_settings).itertuples()
            data = _file(cell, rng, scores, judges, row.comparisons)
            result = fit_member(data.comparisons, default_member([data.comparisons])[0], SHRUNK)
            size, expected = float(row.comparisons), row.expected
        order = pairwise(
            by_question(result, data.comparisons if result.raw is None else result.raw, data.question), cell.level
        )
        return NewData("planned", size, expected, float(order["separated"].mean()))
    except JudgerankError as error:
        return NewData(type(error).__name__)


def _judges(cell: KeptPlan, rng: np.random.Generator, n_judges: int) -> tuple[FloatArray, FloatArray]:
    """Discriminations, shape (K,), the last ones zero, and tastes, shape (K, N)."""
    gamma = np.exp(rng.normal(0.0, cell.sigma_discrimination, n_judges))
    gamma[n_judges - cell.useless :] = 0.0
    return gamma, rng.normal(0.0, cell.taste, (n_judges, cell.n_models))


def _file(
    cell: KeptPlan, rng: np.random.Generator, scores: FloatArray, judges: tuple[FloatArray, FloatArray], size: int
) -> Judgments:
    """So many judgments of random pairs by random judges, in questions."""
    (gamma, tastes), n = judges, len(scores)
    question, i = np.arange(size) // cell.per_question, rng.integers(n, size=size)
    j, k = (i + rng.integers(1, n, size=size)) % n, rng.integers(len(gamma), size=size)
    quality = scores + rng.normal(0.0, cell.question_sd, (question[-1] + 1, n))
    eta = gamma[k] * (quality[question, i] - quality[question, j]) + tastes[k, i] - tastes[k, j]
    columns = {"question_id": question, "model_a": i, "model_b": j, "judge": k}
    frame = pd.DataFrame({name: np.char.add(name, numbers.astype(str)) for name, numbers in columns.items()})
    frame = frame.replace({"model_b": {f"model_b{number}": f"model_a{number}" for number in range(n)}})
    return read_judgments(frame.assign(winner=_answers(rng, eta, cell.ties)))


def _answers(rng: np.random.Generator, eta: FloatArray, ties: float) -> NDArray[np.str_]:
    """Winners by log-odds, ties as Davidson (1970) has them with this share where the log-odds are zero."""
    chance = rng.random(len(eta))
    weights = np.exp(np.stack([eta, -eta]) / 2)
    first, second = weights / (weights.sum(axis=0) + 2 * ties / (1 - ties))
    return np.where(chance < first, "a", np.where(chance < 1 - second, "tie", "b"))


def kept_study(cfg: DictConfig) -> Study:
    """Cells by judges who answer at random and comparisons of a question, and by ties, and one with tastes."""
    settings = OmegaConf.to_container(cfg.kept)
    times, tastes, ties = (settings.pop(name) for name in ("times", "taste", "ties"))
    useless, sizes = (settings.pop(name) for name in ("useless", "per_question"))
    combinations = [(random, size, 0.0, 0.0) for random in useless for size in sizes]
    combinations += [(0, 1, tastes, 0.0), *((0, 1, 0.0, share) for share in ties)]
    cells = {
        f"useless{random}-questions{size}-taste{taste:g}" + (f"-ties{share:g}" if share else ""): KeptPlan(
            useless=random,
            per_question=size,
            taste=taste,
            level=cfg.level,
            ties=share,
            **(settings if size > 1 else settings | {"question_sd": 0.0}),
        )
        for random, size, taste, share in combinations
    }
    replications_of_cell = dict.fromkeys(cells, times * cfg.replications)
    return Study("plan", new_data, cells, replications_of_cell, cfg.seed, Path(ROOT, cfg.cache), cfg.block)


def kept_table(study: Study) -> pd.DataFrame:
    """Share of pairs separated by data of the planned size beside what plans expected, with its error, by cell.

    ``planned_median`` is of comparisons, and of judges where these have tastes.
    """
    rows = []
    for name, cell in study.cells.items():
        outcomes = pd.DataFrame(list(study.records(name)))
        made = outcomes[outcomes["status"] == "planned"]
        row = {"useless": cell.useless, "n_judges": cell.n_judges, "per_question": cell.per_question}
        row |= {"taste": cell.taste, "ties": cell.ties, "wanted": cell.wanted, "expected": made["expected"].mean()}
        row |= {"separated": made["separated"].mean(), "separated_se": made["separated"].sem()}
        difference = made["separated"] - made["expected"]
        row |= {"difference": difference.mean(), "difference_se": difference.sem()}
        row |= {
            "planned_median": made["planned"].median(),
            "n_replications": len(outcomes),
            "n_planned": len(made),
        }
        rows.append(row)
    return pd.DataFrame(rows)


# The tables of a plan: what is needed, by number of judges and with repeats, and what the formulas expect.
CURVE = 25  # points of a curve


def formula_and_data(
    cfg: DictConfig,
    records: pd.DataFrame,
    precisions: Precisions,
    goal_settings: dict,
    goal: str,
    n_judges: int,
    size: int,
) -> dict[str, float]:
    """What the formula expects of so many comparisons and judges, and what data give."""
    effective = size / precision.design_effect(cfg.repeats, cfg.correlation)
    formula = precision.expected(goal, precisions[n_judges], effective, **goal_settings)
    return {"formula": formula, **summary_of(records, n_judges, size, goal)}


def pairs_of_repeats(cfg: DictConfig) -> list[tuple[int, float]]:
    return [(repeats, rho) for repeats in cfg.repeats_compared for rho in cfg.correlations_compared]


def by_repeats(cfg: DictConfig, independent: dict[str, float]) -> pd.DataFrame:
    """Comparisons for every goal, repeats among them, by repeats and their correlation."""
    return pd.DataFrame(
        {"repeats": repeats, "correlation": rho, "design_effect": precision.design_effect(repeats, rho)}
        | {goal: precision.whole(size, repeats, rho) for goal, size in independent.items()}
        for repeats, rho in pairs_of_repeats(cfg)
    )


def by_questions(cfg: DictConfig, panel: Panel, wanted: dict, goal_settings: dict, sd: float) -> pd.DataFrame:
    """New questions and comparisons for every goal, by pairs of a question and judges of each pair."""
    rows = []
    for pairs in cfg.questions.pairs_compared:
        for judges in cfg.questions.judges_compared:
            questions = Questions(sd, pairs, judges)
            if questions != questions.within(panel):
                continue
            expected_precision = precision.precision_of(panel, questions)
            for goal, value in wanted.items():
                size = questions.whole(precision.needed(goal, value, [expected_precision], **goal_settings))
                row = {"pairs": pairs, "judges": judges, "goal": goal, "wanted": value}
                rows.append(row | {"questions": size // questions.size, "comparisons": size})
    return pd.DataFrame(rows, columns=["pairs", "judges", "goal", "wanted", "questions", "comparisons"])


def curves(
    cfg: DictConfig, precisions: Precisions, goal_settings: dict, questions: Questions = INDEPENDENT
) -> pd.DataFrame:
    """What the formulas expect over the range simulated: widths for every number of judges, power for all."""
    sizes = grid(cfg, questions)
    between = np.geomspace(min(sizes), max(sizes), CURVE).round()
    sizes = np.union1d(between, sizes)
    effect = precision.design_effect(cfg.repeats, cfg.correlation)
    return pd.DataFrame(
        {
            "n_judges": n_judges,
            "comparisons": int(size),
            "goal": goal,
            "formula": precision.expected(goal, of_size, size / effect, **goal_settings),
        }
        for n_judges, of_size in precisions.items()
        for goal in (precision.GOALS if n_judges == max(precisions) else precision.WIDTHS)
        for size in sizes
    )


MEDIAN = "median"


def defaults_table(data: Mapping[str, Judgments]) -> pd.DataFrame:
    """Sizes and spreads of every set's panel as ranked, and the medians, which are assumed without data."""
    rows = []
    for name, judgments in data.items():
        member, _ = default_member([judgments.comparisons])
        fitted = fit_member(judgments.comparisons, member, SHRUNK)
        scores, gamma = scale_of(fitted).scores, fitted.discrimination
        sizes = len(scores), len(gamma), scores.std(), np.log(gamma).std(ddof=0)
        rows.append({"dataset": name, **dict(zip(USUAL._fields, sizes, strict=True))})
    table = pd.DataFrame(rows)
    median = {"dataset": MEDIAN, **table[list(USUAL._fields)].median()}
    return pd.concat([table, pd.DataFrame([median])], ignore_index=True)


def panel_table(panel: Panel) -> pd.DataFrame:
    values = {
        "score": (panel.models, panel.at.scores),
        "discrimination": (panel.judges, np.exp(panel.at.judges[0])),
    }
    frames = [
        pd.DataFrame({"parameter": parameter, "name": names, "value": value})
        for parameter, (names, value) in values.items()
    ]
    return pd.concat(frames, ignore_index=True)
