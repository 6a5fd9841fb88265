"""A ranking as one page: verdict, leaderboard, duels, judges, what to collect next, the judgments behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data import QUESTION
from judgerank.data.frames import MOST_STRENGTHS
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.data.rankings import MOST_TIED, in_stages, sizes_of_rankings
from judgerank.fits.errors_by_question import MOST_QUESTIONS, plural, sampled
from judgerank.fits.presentation import win_probability
from judgerank.fits.result import Fit
from judgerank.model.block import Need
from judgerank.model.judge_blocks import JUDGE_BLOCKS, judge_block, larger_ties, strengths
from judgerank.model.naming import formula, treatment_of_ties
from judgerank.order.scale import scale_of
from judgerank.pages import Shown, render, shown
from judgerank.ranking.choices import WHOSE, Record
from judgerank.ranking.exports import ELO_MEAN, ELO_POINTS, TABLES, file_names, parquet_note
from judgerank.ranking.first_screen import judges_of, pictures
from judgerank.ranking.page_options import FILTERS, Additions, Texts
from judgerank.ranking.page_records import evidence
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.leaderboards import BY_CHANCE
from judgerank.ranking.studies.next_comparisons import CHANCE, NOBODY
from judgerank.ranking.verdict import verdict
from judgerank.ranking.views import View, views
from judgerank.reading.layouts.table import ONE_JUDGE

# Columns of a page's tables: what is shown above each, and what it means.
ENDS = (("low", "from"), ("high", "to"))
HEADS = {"low": "from", "high": "to", "rank_low": "best rank", "rank_high": "worst rank", "judge_model": "judge"}
HEADS |= {"p_holm": "p (Holm)", "p_value": "p", "share_a": "first", "share_b": "second", "share_tie": "tie"}
HEADS |= {"both_bad": "both bad"}
HEADS |= {"model_a": "shown first", "model_b": "shown second", "width_after": "width afterwards"}
HEADS |= {"log_loss": "held-out log-loss", "log_loss_error": "standard error", "worse": "worse by"}
HEADS |= {"above_mean": "above the mean"}
HEADS |= {"win_rate": "win rate", "share_won": "share won"}
HEADS |= {"score_without": "score unadjusted", "rank_without": "rank unadjusted"}
HEADS |= {"worse_error": "its standard error", "note": "why not compared", "standard_error": "standard error"}
HEADS |= {"to_separate": "comparisons needed", "elo": "Elo scale", "versus": "wins against"}
HEADS |= {"separated": "significant", "unparsed": "unreadable", "left_out": "left out"}
HEADS |= {"share_own": "own model wins", "share_expected": "others expect"}
HEADS |= {"p_adjusted": "p, adjusted", "flip_rate": "changed", "second_answer": "second answer adds"}
HEADS |= {f"{end}_{name}": word for end, word in ENDS for name in ("flip_rate", "reliability")}
HEADS |= {f"reliability_{end}": word for end, word in ENDS}
HEADS |= {"log_odds": "log-odds", "n_judges": "judges", "is_informative": "informative", "most": "departs most on"}
HEADS |= {f"{end}_{whose}": f"{word} ({whose.replace('_', ' ')})" for end, word in ENDS for whose in WHOSE}
FURTHER = (*strengths(MOST_STRENGTHS)[1:], *larger_ties(range(MOST_TIED + 1)))
BLOCKS = (*JUDGE_BLOCKS.values(), *map(judge_block, FURTHER))
HEADS |= {
    block.shown: block.shown.replace("strong_", "strength ").replace("tie_", "tie of ")
    for block in BLOCKS[len(JUDGE_BLOCKS) :]
}
HEADS |= {f"{end}_{block.shown}": word for end, word in ENDS for block in BLOCKS}
ABOUT = {
    "score": "quality in log-odds: a difference of one is a win rate of about 73%; scores sum to zero",
    "score_without": "the score without the adjustment",
    "rank_without": "the rank without the adjustment",
    "estimate": "in log-odds; for style, per standard deviation of the difference between the two answers",
    "low": "lower end of the confidence interval",
    "high": "upper end of the confidence interval",
    "rank_low": "best rank that the model may have; the ranges hold for all models at once",
    "rank_high": "worst rank that the model may have; the ranges hold for all models at once",
    "group": "models that share a letter are not significantly different, all others are",
    "comparisons": "number of judgments",
    "elo": "the score in Elo points: mean 1000; a lead of 400 means odds of ten to one",
    "versus": "how often the panel would prefer it to the model chosen above, by the fit; a tie counts half",
    "share_a": "share of answers for the model shown first",
    "share_b": "share of answers for the model shown second",
    "share_tie": "share of ties",
    "unparsed": "records whose answer could not be read",
    "votes": "judgments of this judge on models of his own maker, or on the one that he favours",
    "left_out": "those that do not count",
    "share_own": "share that his maker's model wins, where the other one is not his maker's",
    "share_expected": "the same by the scores, this judge's discrimination and his position bias",
    **{block.shown: block.about for block in BLOCKS},
    "win_rate": "how often the panel would prefer it to another model, averaged over the others: estimated by the "
    "fit, for a judge drawn as often as it judged and either order",
    "share_won": "share of its own comparisons that it won, a tie counting half: as observed",
    "agreement": "share of the judge's answers that match the majority of the other judges on the same two models",
    "information": "the judge's share of the information about the scores",
    "flip_rate": "share of pairs of answers to one request that differ",
    "reliability": "correlation of two answers to one request, apart from what the scores explain: 1 for a judge "
    "who repeats itself, 0 for one whose departures from the scores are all noise",
    "disattenuated": "the discrimination if the judge's noise were averaged out (Spearman's correction)",
    "status": "how the estimate ended. interior: an ordinary maximum; zero: discrimination zero; unbounded: no "
    "finite estimate; shrunk: a penalised estimate; slope_bound: at the bound of the slope; merged: counted with "
    "another judge",
    "verdict": "what to make of the judge: see the list below",
    "p_holm": "p-value, adjusted for all pairs by Holm's method",
    "p_value": "p-value before any adjustment for several tests",
    "separated": "whether the two models are significantly different, allowing for all pairs",
    "above_mean": "mean score of the tasks less the mean of all models",
    "difference": "of the two scores",
    "log_loss": "of comparisons on held-out questions, with ties as a third outcome; lower is better",
    "worse": "than the best of them, with the standard error of the difference over questions",
    "departs": "whether the answers depart from the model by more than chance, by this test alone",
    "ranks": "whether this ranking uses it",
    "width": "of the confidence interval of the difference now",
    "width_after": "of the same interval once these comparisons are collected",
    "to_separate": "comparisons of the two models, spread over the judges, for a significant difference with "
    f"{CHANCE:.0%} power if the estimated gap is right; empty where the models are too close or the judges too "
    "uncertain",
}
# What columns mean in one table, where that is not what they mean elsewhere.
ABOUT_IN = {
    "judges": {"comparisons": "number of judgments by it"},
    "next": {"comparisons": "number of judgments to collect of these two models by this judge"},
    "effective_judges": {
        "estimate": "how many equally informative, independent judges would give as much information",
        "is_informative": "whether its interval excludes anything from one judge to all of them",
    },
    "favourites": {
        "share_won": "share of these votes that the model won, a tie counting half: as observed",
        "log_odds": "by how much the judge favours the model; negative if it slights the model",
    },
    "fitness": {
        "name": "judge or question that is tested",
        "most": "the pair, or the model that the judge favours, on which the answers depart most",
    },
}
# What columns mean on a board of scores, where nobody prefers a model.
ABOUT_SCORES = {
    "win_rate": "how often it would score higher than another model on a task, averaged over the others: "
    "estimated by the fit",
    "versus": "how often it would score higher on a task than the model chosen above, by the fit",
    "comparisons": "number of comparisons with another model on a task",
}
WIN_RATE_OF_VOTES = "how often the panel would prefer them over another model"
WIN_RATE_OF_SCORES = "how often they would score higher than another model on a task"
HIDDEN = {"p_value", "standard_error", "test", "unparsed", "status"}
OTHERS = {"own_maker": "Votes of judges on models of their own maker"}
OTHERS |= {"favourites": "Judges who favour, or slight, a single model"}
OTHERS |= {
    "effective_judges": "Effective number of judges",
    "whose_opinion": "Scores with intervals for this panel, and for judges like these",
}
OTHERS |= {"fitness": "Goodness of fit", "repeats": "Requests asked more than once"}
OTHERS |= {"mean_scores": "Mean scores less the mean of all models"}
OTHERS |= {
    "failures": "How often both answers are bad, by model",
    "failed_questions": "Questions on which both answers are bad most often",
}


# How a ranking was computed, in words for its page.


def methods(ranking: Record) -> list[str]:
    """A paragraph on the fit of every component, and one on the scale."""
    several = len(ranking.fits) > 1
    texts = [
        (f"Component {number}: " if several else "") + _fit_of(fitted, ranking.judgments)
        for number, fitted in enumerate(ranking.fits, 1)
    ]
    if ranking.fit.errors.sizes is not None:
        return [*texts, SCALE_OF_SCORES]
    scale = (
        "Scores sum to zero. A difference is the log-odds that the panel prefers the better model: a judge drawn "
        "as often as it judged, shown either model first. That is exact for differences of the usual size (root "
        "mean square) and near for others. All scores, differences, discriminations and their intervals are on "
        "this scale."
    )
    return [*texts, scale]


METHOD_OF_SCORES = (
    "Scores of the models are least squares means over {}, every task counting once, with errors by the jackknife "
    "over tasks. Pairs are tested by paired t-tests, and by McNemar's exact test where scores have two values; "
    "significance is Holm's (1979). The leaderboard has the scores in log-odds: multiplied so that they vary as "
    "much as those that the signs of the differences give. Win rates follow from these."
)
SCALE_OF_SCORES = (
    "Scores of the leaderboard sum to zero. A difference is about the log-odds that the better model scores "
    "higher on a task. Differences and their intervals are on this scale."
)


def _fit_of(fitted: Fit, judgments: Judgments) -> str:
    spread = "Intervals treat comparisons as independent (inverse expected information)."
    if fitted.errors.sizes is not None:
        return METHOD_OF_SCORES.format(counted(fitted.errors.sizes.n_tasks, "task"))
    if fitted.effects is not None:
        spread = (
            "Every answer has a quality of its own, shared by all judges of its question: a normal random effect "
            f"with standard deviation {fitted.effects.sigma:.3f}, integrated out. Intervals come from the "
            "observed information of that likelihood, and probabilities are for a question drawn at random. Pairs "
            "are also tested by the residuals of each question."
        )
    elif fitted.errors.flips is not None:
        units = " and ".join(map(plural, fitted.clusters.names if fitted.clusters else (QUESTION,)))
        if fitted._is_robust:
            spread = (
                f"Intervals of scores and win rates allow for dependence within {units} (sandwich covariance)."
            )
        spread += (
            f" Pairs are tested by sign flips of whole {units} (Fisher, 1935; Holm, 1979), and ranks follow from "
            "the significantly different pairs."
        )
    elif fitted.clusters is not None:
        spread = (
            "Every judgment is taken by itself (sandwich covariance)."
            if fitted.clusters.are_judgments
            else f"Intervals allow for dependence within each of the {sampled(fitted)} (sandwich covariance"
            f"{', two ways' if fitted.clusters.are_crossed else ''})."
        )
    elif fitted._is_robust:
        n_questions = judgments.n_questions
        part = f", computed from {MOST_QUESTIONS:,} of them" if n_questions > MOST_QUESTIONS else ""
        spread = (
            f"Intervals allow for dependence within each of the {counted(n_questions, 'question')} (sandwich "
            f"covariance{part})."
        )
    fitting = "maximum likelihood"
    if fitted.solution.spread is not None:
        widths = ", ".join(
            f"{name.replace('_', ' ')} {value:.2f}" for name, value in fitted.solution.spread.items()
        )
        fitting = f"penalised maximum likelihood (standard deviations of what is shrunk: {widths})"
    name, blocks = fitted.model.name, ", ".join(block.name for block in fitted.blocks)
    adjusted = f" The ranking is adjusted for: {blocks}." if blocks else ""
    ranked = fitted.comparisons.stages is not None
    dispersion = "" if fitted.dispersion == 1 else f" (quasi-likelihood with dispersion {fitted.dispersion:.2f})"
    return (
        f"Model {name}: {formula(fitted.model, ranked)}; {fitting}, {treatment_of_ties(fitted.model, ranked)}"
        f"{dispersion}.{adjusted} "
        f"Status: {fitted.status}; log-likelihood {fitted.log_likelihood:.3f}; "
        f"{counted(fitted.n_parameters, 'free parameter')}. {spread}"
    )


TEMPLATE = Path(__file__).parent / "ranking.html"
POINTS = 400  # of the curve from differences of scores to win probabilities
MOST_PAIRS = 5_000  # pairs whose interval is on the page; of more, those nearest in rank


def to_html(ranking: Record, has_files: bool = False, additions: Additions | None = None) -> str:
    """The page as one HTML text.

    Parameters
    ----------
    ranking : Record
    has_files : bool
        Whether the page has its tables and run.json beside it, to link to.
    additions : Additions, optional
        What else to show.
    """
    additions = additions or Additions()
    tables, level = ranking.tables, ranking.settings.level
    board = tables["leaderboard"]
    listed = board.assign(elo=ELO_MEAN + ELO_POINTS * board["score"], versus=np.nan)
    has_scores, has_judges = ranking.fit.errors.sizes is not None, _has_judges(ranking)
    listed = listed[[*(name for name in listed if name != "comparisons"), "comparisons"]]
    links = {} if additions.facts is None else _links(additions.facts, listed["model"])
    if additions.facts is not None:
        listed = listed.join(additions.facts.drop(columns="link", errors="ignore"), on="model")
    summary, seen = verdict(ranking, passed_on=True), views(ranking, additions.each_judge, additions.progress)
    return render(
        TEMPLATE,
        title=ranking.title,
        headline=summary.headline,
        told=_source_line(ranking),
        verdict=summary,
        pictures=pictures(ranking, additions),
        views=seen,
        filters=_filters(additions, ranking),
        changelog=additions.changelog,
        changes=_changes(additions),
        has_scores=has_scores,
        win_rate_in_words=WIN_RATE_OF_SCORES if has_scores else WIN_RATE_OF_VOTES,
        has_judges=has_judges,
        judges_drawn=judges_of(ranking) if has_judges else [],
        read=ranking.judgments.remarks,
        remarks=ranking.remarks[len(ranking.judgments.remarks) :],
        level=f"{level:.0%}",
        links=[*file_names(tables).values(), "run.json"] if has_files else [],
        parquet_note=parquet_note(tables) if has_files else "",
        board=_table("leaderboard", "Leaderboard, best first", listed, {"elo": 0, "versus": 2}, links, has_scores),
        several=len(ranking.fits) > 1,
        judges=_table("judges", "Judges, most discriminating first", tables["judges"]),
        verdicts=_meanings(ranking),
        pairs=_table("neighbours", "Neighbours in rank", _neighbours(ranking)),
        pairs_told=_pairs_told(ranking),
        next=_table("next", "What to collect next, best first", _next(tables["next"], ranking.judgments)),
        next_told=_next_told(ranking),
        members=_members(ranking),
        adjusted=_optional_table(ranking, "adjusted", "Scores that allow for the blocks, best first"),
        blocks=_optional_table(ranking, "blocks", "Blocks, with intervals"),
        categories=_categories(ranking),
        by_chance=BY_CHANCE,
        others=_other_tables(tables),
        methods=methods(ranking),
        data=_data(ranking, additions.texts) | {"views": _drawn(ranking, seen)},
    )


def _has_judges(ranking: Record) -> bool:
    """Whether there is anything to say of judges: not where one gave all scores, or nobody did."""
    return ranking.fit.errors.sizes is None or ranking.judgments.n_judges > 1


def _meanings(ranking: Record) -> dict[str, str]:
    """Meanings of the judges' verdicts, each by its name in the table."""
    meanings = {
        verdict: panel.MEANING[panel.kind_of(verdict)]
        for verdict in dict.fromkeys(ranking.tables["judges"]["verdict"])
    }
    if ranking.fit.model.uses(Need.ORDER):
        return meanings
    return {verdict: meaning.removesuffix(panel.UNBIASED) for verdict, meaning in meanings.items()}


def _other_tables(tables: dict[str, pd.DataFrame]) -> list[Shown]:
    names = [name for name in tables if name in OTHERS or name not in TABLES]
    return [_table(f"other-{name}", OTHERS.get(name, _in_words(name)), tables[name]) for name in names]


def _in_words(name: str) -> str:
    """A column or a table of an extension, as a heading."""
    return name.replace("_", " ")


def _table(
    key: str,
    caption: str,
    frame: pd.DataFrame,
    precise: dict[str, int] | None = None,
    links: dict[str, list[str]] | None = None,
    has_scores: bool = False,
) -> Shown:
    heads = {str(name): HEADS.get(str(name), _in_words(str(name))) for name in frame}
    about = ABOUT | ABOUT_IN.get(key.removeprefix("other-"), {}) | (ABOUT_SCORES if has_scores else {})
    return shown(key, caption, frame, heads, about, HIDDEN, precise, links)


def _links(facts: pd.DataFrame, models: pd.Series) -> dict[str, list[str]]:
    """Web addresses of models."""
    return {"model": facts["link"].reindex(models).fillna("").tolist()} if "link" in facts else {}


def _filters(additions: Additions, ranking: Record) -> dict[str, list[str]]:
    """Facts that rows can be filtered by, and their values; not where all models have the same."""
    if additions.facts is None:
        return {}
    facts = additions.facts.reindex(ranking.tables["leaderboard"]["model"]).fillna("")
    by_fact = {name: sorted({text for text in facts[name] if text}) for name in FILTERS if name in facts}
    return {name: values for name, values in by_fact.items() if len(values) > 1 or "" in set(facts[name])}


def _changes(additions: Additions) -> Shown | None:
    log = additions.changelog
    return None if log is None else _table("changes", f"Changes since {log.since}", log.table)


def _drawn(ranking: Record, seen: list[View]) -> list[dict[str, Any]]:
    """Other rankings as numbers that the page's script draws by."""
    positions = {model: number for number, model in enumerate(ranking.tables["leaderboard"]["model"])}
    drawings = []
    for view in seen:
        groups = [
            {
                "head": group.head,
                "rows": [
                    [
                        positions[row.model],
                        row.ranks,
                        *map(json_number, (row.low, row.at, row.high)),
                        row.rate,
                        row.description,
                    ]
                    for row in group.rows
                ],
            }
            for group in (*view.picture.groups, *view.picture.more)
        ]
        drawings.append({"told": view.sentence, "even": view.picture.even, "groups": groups})
    return drawings


def json_number(x: float) -> float | None:
    """For JSON, which has no NaN."""
    return None if np.isnan(x) else x


def _source_line(ranking: Record) -> str:
    judgments, c = ranking.judgments, ranking.judgments.comparisons
    left_out = [*judgments.left_out_by_request, *ranking.recusal.on_left_out()]
    if ranking.fit.errors.sizes is not None:
        return " ".join([_scores_line(judgments, ranking.fit.errors.sizes.n_tasks), *left_out])
    size = counted(len(ranking.recusal.judgments.frame), "record")
    if c.stages is not None:
        size = counted(
            len(sizes_of_rankings(judgments)), "ranking" if in_stages(judgments.frame).all() else "judgment"
        )
    line = (
        f"{counted(c.n_comparisons, 'comparison')} of {counted(len(c.models), 'model')} by "
        f"{counted(judgments.n_judges, 'judge')}, from {judgments.source.get('file', 'a table')} ({size})."
    )
    return " ".join([line, *left_out])


def _scores_line(judgments: Judgments, n_tasks: int) -> str:
    """How many scores there are, by whom if that is known, and where they are from."""
    c = judgments.comparisons
    by = counted(len(c.judges), "judge") if len(c.judges) > 1 else c.judges[0]
    scores = (
        f"Scores of {len(c.models):,} models on {counted(n_tasks, 'task')}{'' if by == ONE_JUDGE else f' by {by}'}"
    )
    n_comparisons = f"{counted(c.n_comparisons, 'comparison')} of two models on a task"
    return f"{scores}, from {judgments.source.get('file', 'a table')} ({n_comparisons})."


def _data(ranking: Record, texts: Texts | None) -> dict[str, Any]:
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
        "has_scores": ranking.fit.errors.sizes is not None,
        "has_judges": _has_judges(ranking),
        "scores": scores.round(6).tolist(),
        "components": parts,
        "judges": names,
        "curves": curves,
        "tested": _tested(ranking.tables["pairs"], models),
        **evidence(ranking.judgments, models, names, texts),
    }


def _tested(pairs: pd.DataFrame, models: list[str]) -> dict[str, list[Any]]:
    """Differences of pairs with interval and test, those nearest in rank if there are too many for a page."""
    if "separated" not in pairs:
        return {}
    pairs, index = pairs[pairs["comparable"].astype(bool)], pd.Index(models)
    first, second = (index.get_indexer(pd.Index(pairs[name])) for name in ("first", "second"))
    nearest = np.sort(np.argsort(np.abs(first - second), kind="stable")[:MOST_PAIRS])
    columns: dict[str, list[Any]] = {"first": first[nearest].tolist(), "second": second[nearest].tolist()}
    for name in ("difference", "low", "high", "p_holm"):
        values = pairs[name].iloc[nearest].to_numpy(float)
        columns[name] = [float(f"{x:.4g}") if np.isfinite(x) else None for x in values]
    columns["separated"] = pairs["separated"].iloc[nearest].fillna(False).astype(bool).tolist()
    return columns


def _neighbours(ranking: Record) -> pd.DataFrame:
    pairs = ranking.tables["pairs"].query("comparable")
    positions = {name: number for number, name in enumerate(ranking.tables["leaderboard"]["model"])}
    neighbours = pairs[pairs["second"].map(positions) - pairs["first"].map(positions) == 1]
    columns = ["first", "second", "difference", "low", "high", "p_value", "p_holm", "separated"]
    return neighbours[[name for name in columns if name in neighbours]]


def _pairs_told(ranking: Record) -> str:
    pairs = ranking.tables["pairs"]
    comparable = pairs.query("comparable")
    n_incomparable = len(pairs) - len(comparable)
    remark = (
        f" {n_incomparable} pairs of models of different components are not comparable." if n_incomparable else ""
    )
    if "separated" not in pairs:
        return f"Without intervals no difference can be tested.{remark}"
    tested = comparable["separated"].notna()
    n_separated = int(comparable["separated"][tested].sum())
    suffix = " of a component" if len(ranking.fits) > 1 else ""
    return (
        f"{n_separated} of {int(tested.sum())} pairs of models are significantly different at "
        f"{ranking.settings.level:.0%} (Holm's adjustment for all pairs{suffix}).{remark}"
    )


def _next(plan: pd.DataFrame, judgments: Judgments) -> pd.DataFrame:
    names = {"first": "for", "second": "against"}
    if not judgments.ordered:
        names |= {"model_a": "model", "model_b": "other model"}
    return plan.dropna(axis=1, how="all").rename(columns=names)


def _next_told(ranking: Record) -> str:
    plan = ranking.tables["next"]
    if ranking.fit.errors.sizes is not None:
        return "Score all models on more tasks. How many separate two models: judgerank plan."
    if plan.empty and not ranking.tables["leaderboard"]["low"].isna().all():
        return f"No judge is left to ask: each {NOBODY}. Add other judges."
    if plan.empty:
        return "Without intervals it is not known which comparisons would shorten them."
    if plan["width"].isna().all():
        return (
            "There are no intervals until every judge has contradicted the ranking at least once. That is most "
            "likely between neighbours in rank, the closest first."
        )
    where = (
        ""
        if ranking.fit.model.uses(Need.ORDER) or not ranking.judgments.ordered
        else " (show each pair in both orders equally often)"
    )
    return (
        "Each line names the pair with the widest interval among those without a significant difference. Its "
        f"comparisons shorten that interval most, given the lines before{where}. Judges are weighted by the lower "
        "end of what they are known to contribute."
    )


def _members(ranking: Record) -> Shown | None:
    table = ranking.tables.get("members")
    if table is None:
        return None
    precise = dict.fromkeys(("log_loss", "log_loss_error", "worse", "worse_error"), 4)
    return _table("members", "Members of the family, those with fewer parameters first", table, precise)


def _optional_table(ranking: Record, name: str, caption: str) -> Shown | None:
    table = ranking.tables.get(name)
    return None if table is None else _table(name, caption, table)


def _categories(ranking: Record) -> list[tuple[str, Shown]]:
    table = ranking.tables.get("categories")
    if table is None:
        return []
    has_scores, boards = ranking.fit.errors.sizes is not None, table.drop(columns="category")
    return [
        (str(name), _table(f"category-{number}", f"{name}, best first", rows, has_scores=has_scores))
        for number, (name, rows) in enumerate(boards.groupby(table["category"], sort=True), 1)
    ]
