"""A ranking as one page: verdict, leaderboard, duels, judges, what to collect next, the judgments behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.fits.result import Fit
from judgerank.fits.standings import win_probability
from judgerank.model.formula import formula, treatment_of_ties
from judgerank.model.judge_blocks import JUDGE_BLOCKS
from judgerank.model.needs import Need
from judgerank.order.scale import scale_of
from judgerank.pages import Shown, render, shown
from judgerank.ranking import kept
from judgerank.ranking.evidence import evidence
from judgerank.ranking.exports import ELO_MEAN, ELO_POINTS, TABLES
from judgerank.ranking.first_screen import judges_of, pictures
from judgerank.ranking.record import Record
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.next_comparisons import CHANCE
from judgerank.ranking.verdict import verdict

TEMPLATE = Path(__file__).parent / "ranking.html"
POINTS = 400  # of the curve from differences of scores to win probabilities
MOST_PAIRS = 5_000  # pairs whose interval is on the page; of more, those nearest in rank
HEADS = {"low": "from", "high": "to", "rank_low": "rank from", "rank_high": "rank to", "judge_model": "judge"}
HEADS |= {"p_holm": "p, Holm", "p_value": "p", "share_a": "first", "share_b": "second", "share_tie": "tie"}
HEADS |= {"model_a": "shown first", "model_b": "shown second", "width_after": "width then"}
HEADS |= {"log_loss": "held-out log-loss", "log_loss_error": "standard error", "worse": "worse by"}
HEADS |= {"win_rate": "win rate", "score_without": "score without", "rank_without": "rank without"}
HEADS |= {"worse_error": "its standard error", "note": "why not compared"}
HEADS |= {"p_adjusted": "p, adjusted", "flip_rate": "changed", "second_answer": "second answer adds"}
HEADS |= {"to_separate": "to separate", "elo": "Elo scale", "versus": "wins against"}
HEADS |= {
    f"{end}_{one.shown}": word for end, word in (("low", "from"), ("high", "to")) for one in JUDGE_BLOCKS.values()
}
ABOUT = {
    "score": "quality in log-odds, their sum zero",
    "score_without": "the score without the blocks",
    "rank_without": "the rank without the blocks",
    "estimate": "in log-odds; of style, for one standard deviation of the answers' difference",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "rank_low": "best rank it may have; the ranges of all models hold at once",
    "rank_high": "worst rank it may have; the ranges of all models hold at once",
    "band": "neighbours in rank of whom no two are separated",
    "comparisons": "judgments that it has part in",
    "elo": "the score in Elo points: mean 1000, a lead of 400 is odds of ten to one at discrimination one",
    "versus": "probability that a judge of the panel prefers it to the model chosen above; a tie counts half",
    "share_a": "share of answers for the model shown first",
    "share_b": "share of answers for the model shown second",
    "share_tie": "share of ties",
    "unparsed": "records that could not be read",
    **{block.shown: block.about for block in JUDGE_BLOCKS.values()},
    "win_rate": "how often it is preferred to another model, on average over the others",
    "agreement": "share of its answers that go with the majority of the others on the same two models",
    "information": "its share in what is known of the scores, given the discriminations",
    "status": "how its estimate ended: interior is an ordinary maximum, zero one at discrimination zero, "
    "unbounded none at all, shrunk a penalised one, slope_bound one on the slope's bound, merged none of its own",
    "verdict": "what to make of it: see the list below",
    "p_holm": "p-value, Holm's adjustment for all pairs",
    "p_value": "p-value by itself",
    "separated": "whether the two differ by more than chance, all pairs at once",
    "difference": "of scores",
    "log_loss": "of a comparison on questions left out, with a tie an outcome of its own; less is better",
    "worse": "than the best of them, and the standard error of that over questions",
    "departs": "whether the answers depart from the model by more than chance",
    "ranks": "whether this ranking is by it",
    "width": "of the interval of the difference of the two now",
    "width_after": "of the same interval once the line is collected",
    "to_separate": f"comparisons of the two, spread over the judges, that separate them with a chance of "
    f"{CHANCE:.0%} if they differ as estimated; none where they are too close or the judges known too badly",
}
OTHERS = {"fitness": "Goodness of fit", "repeats": "Requests asked more than once"}
HIDDEN = {"p_value", "standard_error", "test", "unparsed", "status"}


def to_html(ranking: Record, beside: bool = False) -> str:
    """The page as one HTML text.

    Parameters
    ----------
    ranking : Record
    beside : bool
        Whether the page has its tables and run.json beside it, to link to.
    """
    tables, level = ranking.tables, ranking.settings.level
    board = tables["leaderboard"]
    listed = board.assign(elo=ELO_MEAN + ELO_POINTS * board["score"], versus=np.nan)
    listed = listed[[*(name for name in listed if name != "comparisons"), "comparisons"]]
    told = verdict(ranking)
    return render(
        TEMPLATE,
        title=ranking.title,
        headline=told.headline,
        told=_told(ranking),
        verdict=told,
        pictures=pictures(ranking),
        judges_drawn=judges_of(ranking),
        read=ranking.judgments.remarks,
        remarks=ranking.remarks[len(ranking.judgments.remarks) :],
        level=f"{level:.0%}",
        links=[*kept.file_names(tables).values(), "run.json"] if beside else [],
        kept_told=kept.told(tables) if beside else "",
        board=_shown("leaderboard", "Leaderboard, best first", listed, {"elo": 0, "versus": 2}),
        several=len(ranking.fits) > 1,
        judges=_shown("judges", "Judges, most discriminating first", tables["judges"]),
        verdicts={k: told for k, told in panel.MEANING.items() if k != "leans" or ranking.judgments.ordered},
        pairs=_shown("neighbours", "Neighbours in rank", _neighbours(ranking)),
        pairs_told=_pairs_told(ranking),
        next=_shown("next", "What to collect next, best first", _next(tables["next"], ranking.judgments)),
        next_told=_next_told(ranking),
        members=_members(ranking),
        adjusted=_further(ranking, "adjusted", "Scores that allow for the blocks, best first"),
        blocks=_further(ranking, "blocks", "Blocks, with intervals"),
        categories=_categories(ranking),
        others=_others(tables),
        methods=_methods(ranking),
        data=_data(ranking),
    )


def _others(tables: dict[str, pd.DataFrame]) -> list[Shown]:
    names = [name for name in tables if name in OTHERS or name not in TABLES]
    return [_shown(f"other-{name}", OTHERS.get(name, name), tables[name]) for name in names]


def _shown(key: str, caption: str, frame: pd.DataFrame, precise: dict[str, int] | None = None) -> Shown:
    return shown(key, caption, frame, HEADS, ABOUT, HIDDEN, precise)


def _told(ranking: Record) -> str:
    judgments, c = ranking.judgments, ranking.judgments.comparisons
    return (
        f"{c.n_comparisons:.0f} comparisons of {len(c.models)} models by {counted(len(c.judges), 'judge')}, from "
        f"{judgments.source.get('file', 'a table')} ({counted(len(judgments.frame), 'record')})."
    )


def _data(ranking: Record) -> dict[str, Any]:
    """All that the page's script works with."""
    board, judges = ranking.tables["leaderboard"], ranking.tables["judges"]
    models, scores = list(board["model"]), board["score"].to_numpy()
    parts = board["component"].tolist() if "component" in board else [1] * len(board)
    curves = []
    for number, fitted in enumerate(ranking.fits, 1):
        reach = float(np.ptp(scale_of(fitted).scores)) or 1.0
        chances = win_probability(fitted, np.linspace(0.0, reach, POINTS))
        curves.append({"component": number, "reach": reach, "chance": chances.round(5).tolist()})
    names = list(dict.fromkeys(judges["judge"]))
    return {
        "models": models,
        "ordered": ranking.judgments.ordered,
        "scores": scores.round(6).tolist(),
        "components": parts,
        "judges": names,
        "curves": curves,
        "tested": _tested(ranking.tables["pairs"], models),
        **evidence(ranking.judgments, models, names),
    }


def _tested(pairs: pd.DataFrame, models: list[str]) -> dict[str, list[Any]]:
    """Differences of pairs with interval and test, those nearest in rank if there are too many for a page."""
    if "separated" not in pairs:
        return {}
    pairs, place = pairs[pairs["comparable"].astype(bool)], pd.Index(models)
    first, second = (place.get_indexer(pd.Index(pairs[name])) for name in ("first", "second"))
    near = np.sort(np.argsort(np.abs(first - second), kind="stable")[:MOST_PAIRS])
    found: dict[str, list[Any]] = {"first": first[near].tolist(), "second": second[near].tolist()}
    for name in ("difference", "low", "high", "p_holm"):
        values = pairs[name].iloc[near].to_numpy(float)
        found[name] = [float(f"{x:.4g}") if np.isfinite(x) else None for x in values]
    found["separated"] = pairs["separated"].iloc[near].fillna(False).astype(bool).tolist()
    return found


def _neighbours(ranking: Record) -> pd.DataFrame:
    pairs = ranking.tables["pairs"].query("comparable")
    place = {name: number for number, name in enumerate(ranking.tables["leaderboard"]["model"])}
    neighbours = pairs[pairs["second"].map(place) - pairs["first"].map(place) == 1]
    columns = ["first", "second", "difference", "low", "high", "p_value", "p_holm", "separated"]
    return neighbours[[name for name in columns if name in neighbours]]


def _pairs_told(ranking: Record) -> str:
    pairs = ranking.tables["pairs"]
    comparable = pairs.query("comparable")
    many = len(pairs) - len(comparable)
    beside = f" {many} pairs of models of different components are not comparable." if many else ""
    if "separated" not in pairs:
        return f"Without intervals no pair can be separated.{beside}"
    known = comparable["separated"].notna()
    apart = int(comparable["separated"][known].sum())
    each = " of a component" if len(ranking.fits) > 1 else ""
    return (
        f"{apart} of {int(known.sum())} pairs of models are separated at {ranking.settings.level:.0%} "
        f"(Holm, all pairs{each} at once).{beside}"
    )


def _next(plan: pd.DataFrame, judgments: Judgments) -> pd.DataFrame:
    names = {"first": "for", "second": "against"}
    if not judgments.ordered:
        names |= {"model_a": "model", "model_b": "other model"}
    return plan.dropna(axis=1, how="all").rename(columns=names)


def _next_told(ranking: Record) -> str:
    plan = ranking.tables["next"]
    if plan.empty:
        return "Without intervals there is no telling which comparisons would shorten them."
    if plan["width"].isna().all():
        return (
            "Before there can be intervals, judges who never answered against the order must be seen to do so. "
            "That is likeliest between neighbours in rank, the closest first."
        )
    where = (
        ""
        if ranking.fitted.model.uses(Need.ORDER) or not ranking.judgments.ordered
        else " (show each pair in both orders equally often)"
    )
    return (
        "Of the pairs of models that are not separated, the one with the widest interval is named in each line; "
        f"the comparisons of the line shorten it the most, given the lines before{where}. Judges count for what "
        "they are known to tell at least."
    )


def _members(ranking: Record) -> Shown | None:
    table = ranking.tables.get("members")
    if table is None:
        return None
    precise = dict.fromkeys(("log_loss", "log_loss_error", "worse", "worse_error"), 4)
    return _shown("members", "Members of the family, those with fewer parameters first", table, precise)


def _further(ranking: Record, name: str, caption: str) -> Shown | None:
    table = ranking.tables.get(name)
    return None if table is None else _shown(name, caption, table)


def _categories(ranking: Record) -> list[tuple[str, Shown]]:
    table = ranking.tables.get("categories")
    if table is None:
        return []
    return [
        (str(name), _shown(f"category-{number}", f"{name}, best first", rows.drop(columns="category")))
        for number, (name, rows) in enumerate(table.groupby("category", sort=True), 1)
    ]


def _methods(ranking: Record) -> list[str]:
    several = len(ranking.fits) > 1
    texts = [
        (f"Component {number}: " if several else "") + _fit_of(fitted, ranking.judgments)
        for number, fitted in enumerate(ranking.fits, 1)
    ]
    scale = (
        "Scores sum to zero. Their scale is that on which the log-discriminations have mean zero, every judge "
        "weighted by its Fisher information in the scores, so that judges who tell nothing do not move it. All "
        "scores, differences, discriminations and their intervals are on this scale."
    )
    return [*texts, scale]


def _fit_of(fitted: Fit, judgments: Judgments) -> str:
    spread = "Intervals take comparisons as independent (inverse expected information)."
    if fitted.effects is not None:
        spread = (
            "Every answer has a quality of its own, shared by all judges of its question, normal with standard "
            f"deviation {fitted.effects.sigma:.3f} and integrated out; intervals are from the observed "
            "information of that likelihood, and probabilities are those of a question drawn at random. Pairs are "
            "also tested by the residuals of each question."
        )
    elif fitted.flips is not None:
        spread += " Pairs are tested by sign flips of whole questions (Fisher, 1935), and ranks follow from these."
    elif fitted.robust is not None:
        many = judgments.frame["question_id"].nunique()
        spread = f"Intervals allow for dependence within each of the {many} questions (sandwich covariance)."
    fitting = "maximum likelihood"
    if fitted.solution.spread is not None:
        widths = ", ".join(
            f"{name.replace('_', ' ')} {value:.2f}" for name, value in fitted.solution.spread.items()
        )
        fitting = f"penalised maximum likelihood (standard deviations of what is shrunk: {widths})"
    name, blocks = fitted.model.name, ", ".join(block.name for block in fitted.blocks)
    adjusted = f" The ranking is adjusted for: {blocks}." if blocks else ""
    return (
        f"Model {name}: {formula(fitted.model)}; {fitting}, {treatment_of_ties(fitted.model)}.{adjusted} "
        f"Status: {fitted.status}; log-likelihood {fitted.log_likelihood:.3f}; "
        f"{counted(fitted.n_parameters, 'free parameter')}. {spread}"
    )
