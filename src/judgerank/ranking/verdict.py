"""The verdict of a ranking in words: who leads and how surely, what would change it, what to do next.

The page and the terminal say the same sentences. All numbers come from the ranking's tables and its fit.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank.data.cache import remembered
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.connectivity import imitating_scores, position_share
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed, noun, percent
from judgerank.data.rankings import in_stages
from judgerank.data.tied_choices import all_ties
from judgerank.fits.errors_by_question import too_few
from judgerank.fits.presentation import pairs, win_probability
from judgerank.order.claims import Claims
from judgerank.order.head_to_head import shortest_cycle
from judgerank.ranking import score_boards
from judgerank.ranking.choices import LIKE_THESE, THIS_PANEL, Record, Settings
from judgerank.ranking.components import links_between
from judgerank.ranking.first_screen import NAMED, headline, in_order, in_words, largest
from judgerank.ranking.judge_policy import Kind, Policy, RankingWarning, policy_of, unread, warnings_of
from judgerank.ranking.page_records import head_to_head
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.judge_notes import NAME as EFFECTIVE
from judgerank.ranking.studies.leaderboards import claims_of
from judgerank.ranking.studies.next_comparisons import (
    CHANCE,
    NOBODY,
    cost_of_pair,
    may_compare,
    may_judge,
    tastes_matter,
)
from judgerank.ranking.studies.one_sided_votes import one_sided_judges
from judgerank.ranking.studies.whose_opinion import FAVOURITES, SAID
from judgerank.ranking.two_variants import variants_of
from judgerank.reading.files import run_again
from judgerank.trust.sentences import FRAGILITY

# Who leads in which category, where that is not the same model everywhere.
NAMED_CATEGORIES = 4  # leaders up to which each is named


@remembered
def leaders(ranking: Record) -> dict[str, str]:
    """The leader of every category in which one model is significantly better than each other one.

    All pairs of a category are tested together (Holm), and all categories together (Bonferroni).
    """
    boards = ranking.tables.get("categories")
    if boards is None:
        return {}
    level, leading = 1 - (1 - ranking.settings.level) / len(ranking.categories), dict[str, str]()
    for name, fitted in ranking.categories.items():
        claims = claims_of(boards[boards["category"] == name], pairs(fitted, level))
        if claims is not None and len(claims.leaders) == 1:
            leading[name] = claims.leaders[0]
    return leading


def by_category(ranking: Record, overall: str) -> str:
    """Who leads where, in a sentence; empty unless categories differ in it from each other or from all judgments.

    `overall` is the model that leads by all judgments; empty if none does by itself.
    """
    leading = leaders(ranking)
    if len({*leading.values(), overall} - {""}) < 2:
        return ""
    where = {
        model: [name for name in leading if leading[name] == model] for model in dict.fromkeys(leading.values())
    }
    parts = "; ".join(f"{listed(names)}: {model} leads" for model, names in list(where.items())[:NAMED_CATEGORIES])
    more = f"; and {len(where) - NAMED_CATEGORIES} more leaders" if len(where) > NAMED_CATEGORIES else ""
    n_categories = len(ranking.categories)
    tests = f"significant, adjusted for {n_categories} categories" if n_categories > 1 else "significant"
    return f"The leader depends on the category. {parts}{more} ({tests})."


# Whether each pair of models was shown in both orders, without which position bias looks like quality.
LITTLE = 0.1  # position share below which intervals of a fit with positions are too narrow in simulations
APART = 0.5  # difference of the imitating scores from which position bias moves one model beside another
OTHER_ORDER = (
    "Show the other order: ask the judges again with the two answers swapped, until each pair is shown in both "
    "orders equally often (judgerank collect --order both). More answers in the same order do not help."
)


@dataclass(frozen=True)
class ShownOrder:
    """Effect of showing in one order on the two best models.

    Attributes
    ----------
    nearly : bool
        Whether some comparisons had the other order, though too few.
    position : str
        Where the best was shown beside the second: ``first`` or ``second``; empty if position bias moves both
        alike.
    best : str
    """

    nearly: bool
    position: str
    best: str

    @property
    def unless(self) -> str:
        """When the best is no better, to follow a comma; empty if position bias moves both alike."""
        return f"unless judges favour the answer shown {self.position}" if self.position else ""

    def sentence(self) -> str:
        """A sentence on the fault, and the model that it favours."""
        few, can = ("nearly always", "can hardly be") if self.nearly else ("always", "cannot be")
        text = (
            f"Each pair of models was {few} shown in the same order, so position bias and quality {can} "
            "distinguished."
        )
        if self.position:
            return (
                f"{text} If judges favour the answer shown {self.position}, {self.best} may lead for that alone."
            )
        return f"{text} Models shown first may be ranked too high or too low beside those shown second."


def one_order(cells: Comparisons, best: str, second: str) -> ShownOrder | None:
    """The fault in the order of showing, if there is one; None where no order is known."""
    if not cells.ordered:
        return None
    share = position_share(cells)
    if share >= LITTLE:
        return None
    v = imitating_scores(cells)
    lead = float(v[cells.models.index(best)] - v[cells.models.index(second)])
    position = "" if abs(lead) < APART else "first" if lead > 0 else "second"
    return ShownOrder(share > 1e-6, position, best)


HARDER = "Ask harder questions, or tell the judges to choose where they can."
PAIR_BY_PAIR = "Choose between these models pair by pair: more comparisons do not put them in one order."
CHOOSE = "Choose the model by category. "  # before what decides between models in general
LEVEL_SCORES = 1e-9  # difference of two scores that is rounding
TOO_DEAR = 10  # times the comparisons there are, beyond which more of them are not worth it
BY_PLAN = "judgerank plan says how many"


@dataclass(frozen=True)
class Favours:
    """A judge whose taste for one model stands out.

    Attributes
    ----------
    judge, model : str
    log_odds : float
        By how much the judge favours the model; negative if it slights the model.
    left_out : int
        Votes of the judge on the model that do not count.
    """

    judge: str
    model: str
    log_odds: float
    left_out: int


@dataclass(frozen=True)
class Verdict:
    """The result that a reader needs first.

    Attributes
    ----------
    claim : str
        Who leads, without a full stop.
    condition : str
        What limits the claim, to follow a comma; empty where nothing does.
    evidence : str
        The difference between the first two models, and whether it is significant.
    ranks : str
        Which ranks the leader may have, and which models may be as good.
    change, next : str
        What would change who leads; what to do next. Sentences, empty where there is nothing to say.
    facts : list of (str, str)
        A number and what it counts.
    warnings : list of RankingWarning
        The most important first.
    categories : str
        Which model leads in which category, where that differs; else empty.
    caution : str
        What belongs beside the headline wherever it stands alone, such as on a card; empty where nothing does.
    gate : str
        Which command decides whether one of exactly two models may replace the other; else empty.
    favourites : list of Favours
        Judges who favour, or slight, a single model.
    on_favourites : list of str
        Sentences on these and on whether their votes count, by component.
    """

    claim: str
    condition: str
    evidence: str
    ranks: str
    change: str
    next: str
    facts: list[tuple[str, str]]
    warnings: list[RankingWarning]
    categories: str = ""
    caution: str = ""
    gate: str = ""
    favourites: Sequence[Favours] = ()
    on_favourites: Sequence[str] = ()

    @property
    def headline(self) -> str:
        """Who leads and on which condition, without a full stop."""
        return _joined(self.claim, self.condition)

    @property
    def lead(self) -> str:
        """How sure the lead is."""
        return " ".join(filter(None, [self.evidence, self.ranks]))

    def caveats(self) -> list[str]:
        """All that bears on whether to believe the headline, the most important first."""
        warnings = [f"Warning: {warning}" for warning in self.warnings]
        return [text for text in (*warnings, self.categories, *self.on_favourites, self.change) if text]

    def lines(self) -> list[str]:
        """The verdict as lines of text, the headline first."""
        facts = ", ".join(f"{number} {what}" for number, what in self.facts)
        parts = [
            self.lead,
            self.categories,
            self.change,
            self.next,
            self.gate,
            *(f"Warning: {warning}" for warning in self.warnings),
        ]
        return [f"{self.headline}.", f"{facts}.", *(line for line in parts if line)]


def verdict(ranking: Record, passed_on: bool = False) -> Verdict:
    """The verdict on the largest component; what is `passed_on` names no folder of this machine."""
    board, pairs, judges = (largest(ranking.tables[name]) for name in ("leaderboard", "pairs", "judges"))
    judges = judges[judges["status"] != panel.MERGED]
    if len(ranking.fits) == 1 and all_ties(ranking.judgments.comparisons):
        lead = f"All answers are ties, so there is nothing to rank. {HARDER}"
        title = f"No clear leader among {in_words(len(board))} models"
        facts = _facts(ranking, judges.assign(information=np.nan))
        return Verdict(title, "", lead, "", "", "", facts, [RankingWarning(text) for text in unread(ranking)])
    order = None if len(ranking.fits) > 1 else one_order(ranking.fit.comparisons, *board["model"].iloc[:2])
    policy, best = policy_of(ranking), board[board["rank_low"].eq(1).fillna(False)]
    circle = shortest_cycle(ranking.fit, ranking.settings.level)
    circle = circle if {*circle} & {*best["model"]} else ()  # one among models that do not lead is only warned of
    next_step = OTHER_ORDER if order else policy.next or (PAIR_BY_PAIR if circle else "")
    of_circle = f"{_no_order(circle).removeprefix('but ')}." if circle else ""
    where = "" if order else by_category(ranking, best["model"].iloc[0] if len(best) == 1 else "")
    return Verdict(
        *_headline(ranking, board, pairs, order.unless if order else "", policy.condition or _no_order(circle)),
        *_lead(ranking, board, pairs, order),
        _change(ranking, board, passed_on),
        next_step or f"{CHOOSE if where else ''}{_next(ranking, board, pairs)}",
        _facts(ranking, judges),
        _warnings(ranking, judges, order, policy),
        where,
        " ".join(filter(None, [policy.caution, of_circle])),
        on_two_variants(
            ranking.judgments,
            run_again("gate", ranking.judgments, passed_on=passed_on),
            ranking.judgments.source.get("given", ()),
        ),
        _favourites(ranking),
        [remark for remark in ranking.remarks if SAID in remark],
    )


def _warnings(
    ranking: Record, judges: pd.DataFrame, order: ShownOrder | None, policy: Policy
) -> list[RankingWarning]:
    """All warnings, the most important first."""
    warnings = [
        *([RankingWarning(order.sentence(), Kind.POSITIONS)] if order else []),
        *policy.warnings,
        *warnings_of(ranking, judges),
    ]
    return sorted(warnings, key=lambda warning: list(Kind).index(warning.kind))


def _favourites(ranking: Record) -> list[Favours]:
    """Judges who favour, or slight, a single model."""
    table = ranking.tables.get(FAVOURITES)
    if table is None:
        return []
    columns = (table[name].tolist() for name in ("judge", "model", "log_odds", "left_out"))
    return [Favours(*row) for row in zip(*columns, strict=True)]


def _no_order(circle: Sequence[str]) -> str:
    """The condition on a headline whose leader is one of models that beat each other in a circle."""
    return f"but {in_order(circle)} beat each other in a circle" if circle else ""


def _headline(ranking: Record, board: pd.DataFrame, pairs: pd.DataFrame, unless: str, but: str) -> tuple[str, str]:
    """Who leads, and on which condition: `but` at any rate, on positions if the lead is significant."""
    claim, may_be_as_good = _claim(board, pairs, _lacking(ranking) if len(ranking.fits) == 1 else "data")
    if len(ranking.fits) > 1:
        number = in_words(len(ranking.fits))
        lead = f"No overall leader: the models form {number} components that were never compared with each other"
        return (f"{lead}. In the first: {claim}", _joined(may_be_as_good, but)) if but else (lead, "")
    claims = claims_of(board, pairs)
    if but or claims is None or not claims.separates(*board["model"].iloc[:2]):
        return claim, _joined(may_be_as_good, but)
    return (claim, _joined(may_be_as_good, unless)) if may_be_as_good else (_joined(claim, unless), "")


def _claim(board: pd.DataFrame, pairs: pd.DataFrame, lacking: str) -> tuple[str, str]:
    """Who leads, and which other models may be as good, to follow a comma."""
    lead, claims = headline(board, pairs, lacking), claims_of(board, pairs)
    if claims is None or not (claims.has_any and claims.contenders):
        return lead, ""
    claim, _, others = lead.rpartition(", but ")
    return claim, f"but {others}"


def _joined(*clauses: str) -> str:
    return ", ".join(filter(None, clauses))


def _lacking(ranking: Record) -> str:
    """Of what there is too little where nothing is claimed: judges, if these alone would order some models."""
    panel_fit = ranking.fit.errors.panel
    if panel_fit is None:
        return "data"
    return "judges" if pairs(panel_fit, ranking.settings.level)["separated"].any() else "data"


def _lead(ranking: Record, board: pd.DataFrame, pairs: pd.DataFrame, order: ShownOrder | None) -> tuple[str, str]:
    """How far the first model is ahead of the second and how surely; which ranks it may have."""
    best, second = board.iloc[0], board.iloc[1]
    where = "" if len(ranking.fits) == 1 else "In the first component, "
    text = f"{where}{_preferred(ranking, best, second)}"
    claims = claims_of(board, pairs)
    if claims is None or pd.isna(best["rank_low"]):  # other components may have intervals
        return f"{text}. This fit has no confidence intervals, so the difference may be chance.", ""
    is_separated = claims.separates(best["model"], second["model"])
    how = "a significant difference" if is_separated else "no significant difference"
    if order and order.position and is_separated:
        how = f"{how}, {order.unless}"
    return f"{text}: {how}.", _ranks(ranking, board, claims, order)


def _ranks(ranking: Record, board: pd.DataFrame, claims: Claims, order: ShownOrder | None) -> str:
    """Which ranks the leader may have, for whose opinion, and which models may be as good."""
    best, all_ = board.iloc[0], "all models" if len(ranking.fits) == 1 else "all its models"
    low, high, level = best["rank_low"], best["rank_high"], f"{ranking.settings.level:.0%} confidence"
    name = best["model"]
    range_ = f"{name} ranks first" if low == high == 1 else f"the true rank of {name} is between {low} and {high}"
    if order:
        range_ = f"Only if judges favour neither position, {range_}"
    elif low != high:
        range_ = f"T{range_[1:]}"
    text = f"{range_} ({level} for {_whose(ranking)}, jointly for {all_})."
    if ranking.fit.errors.tastes:
        text = (
            f"{text} The judges seem to differ in taste, so this and all intervals allow for which judges were "
            "asked (--whose this_panel does not)."
        )
    if ranking.fit.errors.sizes is not None:
        text = " ".join(filter(None, [text, score_boards.on_selection(ranking.fit, name)]))
    text = " ".join([text, *_on_favourites(ranking)])
    if not (claims.contenders and claims.has_any):
        return text
    among = board[board["model"].isin(claims.contenders)]
    counts = zip(among["model"], among["comparisons"], strict=True)
    named = [f"{model} ({count:,} {noun(count, 'comparison')})" for model, count in counts][:NAMED]
    more = f" and {len(among) - NAMED:,} more" if len(among) > NAMED else ""
    return f"{text} {name} is not significantly different from {', '.join(named)}{more}."


def _on_favourites(ranking: Record) -> list[str]:
    """Which judge favours which model, and whether those votes count."""
    remarks = (remark.removeprefix("Component 1: ") for remark in ranking.remarks)
    return [remark.removeprefix(SAID) for remark in remarks if remark.startswith(SAID)]


def _whose(ranking: Record) -> str:
    """Whose opinion the claims are, to follow "for"."""
    if ranking.fit.errors.sizes is not None:
        return "tasks like these"
    if ranking.whose == LIKE_THESE:
        return "judges like these"
    judges, few = ranking.fit.comparisons.judges, len(ranking.judgments.few_judges)
    n_judges = len(judges) + (max(few, 1) - 1) * (FEW_JUDGES in judges)
    return "this judge" if n_judges == 1 else f"these {n_judges:,} judges"


def _preferred(ranking: Record, best: pd.Series, second: pd.Series) -> str:
    """How often the first model is preferred to the second, as counted and as fitted, or how far it is ahead."""
    if ranking.fit.errors.sizes is not None:
        names = best["model"], second["model"]
        return score_boards.lead(ranking.fit, ranking.fit.errors.sizes, *names, ranking.settings.level)
    lead, middle = best["score"] - second["score"], (best["score"] + second["score"]) / 2
    chance = f"{float(win_probability(ranking.fit, np.array(lead), middle)):.0%}"
    name, rival = best["model"], second["model"]
    n_comparisons, seen = head_to_head(ranking.judgments.comparisons, name, rival)
    if not n_comparisons:
        text = f"{name} and {rival} (2nd) were never compared with each other. The model estimates that"
        return f"{text} {name} is preferred in {chance}"
    text = f"{name} is preferred to {rival} (2nd) in {seen:.0%} of their {n_comparisons:,} comparisons"
    if n_comparisons == 1:
        won = {0.0: f"{rival} was preferred", 1.0: f"{name} was preferred"}.get(seen, "a tie")
        text = f"{name} and {rival} (2nd) were compared once: {won}. The model estimates that"
        return f"{text} {name} is preferred in {chance}"
    return f"{text}. The model estimates {chance}"


def _change(ranking: Record, board: pd.DataFrame, passed_on: bool) -> str:
    """A sentence on what would change who leads; empty where that is known of another fit alone."""
    if board["score"].iloc[0] - board["score"].iloc[1] < LEVEL_SCORES:
        return f"{board['model'].iloc[0]} and {board['model'].iloc[1]} have the same score: neither is ahead."
    if ranking.fit.errors.sizes is not None:
        return score_boards.change(ranking.fit, ranking.fit.errors.sizes)
    fragility = next(
        (remark.removeprefix(FRAGILITY) for remark in ranking.remarks if remark.startswith(FRAGILITY)), ""
    )
    if not fragility.startswith("Removing"):
        return fragility
    settings, usual = ranking.settings, Settings()
    is_panel = settings.whose == THIS_PANEL and FAVOURITES in ranking.tables
    if settings.makers or is_panel:  # which no option of that command gives
        return fragility
    names = ("model", "solver", "level", "own_maker")
    chosen = [name for name in names if getattr(settings, name) != getattr(usual, name)]
    options = [word for name in chosen for word in (f"--{name.replace('_', '-')}", f"{getattr(settings, name)}")]
    command = run_again("trust", ranking.judgments, *options, passed_on=passed_on)
    return f"{fragility} See which: {command}."


def _next(ranking: Record, board: pd.DataFrame, pairs: pd.DataFrame) -> str:
    """Advice on what to collect: to connect components, to decide who leads, or to separate neighbours in rank."""
    if len(ranking.fits) > 1:
        links = listed(f"{a} with {b}" for a, b in links_between(ranking.judgments))
        return f"To rank all models together, compare {links}."
    claims = claims_of(board, pairs)
    if claims is None:
        return "For confidence intervals, compare the models again until no judge is always of one mind."
    if claims.undecided is None:
        return "Every model is significantly different from the next: this ranking needs no more data."
    first, second = claims.undecided
    if {first, second} <= {*shortest_cycle(ranking.fit, ranking.settings.level)}:
        return PAIR_BY_PAIR
    if ranking.fit.errors.sizes is not None:
        alpha = (1 - ranking.settings.level) / max(int(np.triu(~claims.better, 1).sum()), 1)
        return score_boards.advice(ranking.fit, ranking.fit.errors.sizes, first, second, alpha)
    few = too_few(ranking.fit)
    if few:
        unknown = few.too_few_to_tell("how many comparisons that takes")
        return f"To decide between {first} and {second}, compare the two on new questions. {unknown}"
    settings, judges = ranking.settings, largest(ranking.tables["judges"])
    suspects = one_sided_judges(ranking.judgments.comparisons, ranking.fit.model.alone)
    allowed = may_judge(ranking.fit, judges, settings, suspects)
    asked = may_compare(ranking.fit, allowed, first, second)
    if not asked:
        return f"To decide between {first} and {second}, add judges: each of these {NOBODY}."
    cost = cost_of_pair(ranking.fit, first, second, settings.level, settings.few, allowed)
    total = ranking.judgments.comparisons.n_comparisons
    if tastes_matter(ranking.fit) and (cost is None or cost > TOO_DEAR * total):
        return (
            f"To decide between {first} and {second}, add judges: {BY_PLAN}. Judges differ in their tastes, so "
            "more answers from the same judges are not enough."
        )
    if cost is None or cost > TOO_DEAR * total:
        return (
            f"Deciding between {first} and {second} is not worth it: it would take more than {TOO_DEAR} times the "
            "data you have."
        )
    size = int(float(f"{cost:.2g}"))
    more = f"{percent(cost / total)} more data" if cost < total else f"{cost / total:.1f} times the data you have"
    spread = _by_whom(asked, list(ranking.fit.comparisons.judges))
    return (
        f"To decide between {first} and {second}, collect about {size:,} more comparisons of the two on new "
        f"questions{spread} ({more}; {CHANCE:.0%} power if the estimated gap is right)."
    )


def _by_whom(asked: list[str], judges: list[str]) -> str:
    """Which judges to ask, to follow the questions."""
    if len(asked) == len(judges):
        return ", spread over the judges" if len(judges) > 1 else ""
    if asked == [FEW_JUDGES]:
        return f", spread over the judges with fewer than {FEW_ANSWERS} answers"
    if len(asked) <= NAMED:
        return f" by {listed(asked)}" if len(asked) == 1 else f", spread over {listed(asked)}"
    return f", spread over {len(asked)} of the {len(judges)} judges (those without a problem, of other makers)"


def _facts(ranking: Record, judges: pd.DataFrame) -> list[tuple[str, str]]:
    frame, c = ranking.judgments.frame, ranking.judgments.comparisons
    if ranking.fit.errors.sizes is not None:
        return score_boards.facts(ranking.fit.errors.sizes, len(c.models), ranking.judgments.n_judges)
    compared = noun(round(c.n_comparisons), "judgment" if c.stages is None else "comparison")
    models = sum(len(fitted.scores) for fitted in ranking.fits)
    facts = [
        (f"{models:,}", noun(models, "model")),
        (f"{c.n_comparisons:,.0f}", f"{compared} in rankings" if in_stages(frame).all() else compared),
    ]
    if "question_id" in frame:
        questions = ranking.judgments.n_questions
        facts.append((f"{questions:,}", noun(questions, "question")))
    share, few = judges["information"], len(ranking.judgments.few_judges)
    n_judges = np.where(judges["verdict"] == panel.TOO_FEW, max(few, 1), 1)
    total = int(n_judges.sum())
    number = ranking.tables.get(EFFECTIVE)
    if len(ranking.fits) > 1:  # each component has its own
        return [*facts, (f"{total:,}", noun(total, "judge"))]
    if number is not None:  # questions are shared: one number, which `judgerank trust` says, too
        row = number.iloc[0]
        if not row["is_informative"]:
            return [*facts, (f"{total:,}", noun(total, "judge"))]
        return [*facts, (f"{total:,}", f"judges (effective number {row['estimate']:.1f})")]
    equal = panel.effective_judges(share, n_judges) if total > 1 and ranking.fit.model.weighs_judges else np.nan
    if np.isnan(equal) or f"{equal:.1f}" == f"{total:.1f}":
        return [*facts, (f"{total:,}", noun(total, "judge"))]
    return [*facts, (f"{total:,}", f"judges, effective number {equal:.1f}")]


def reading_lines(ranking: Record) -> list[str]:
    """How records were read and scores compared, without what is warned of, and how many votes do not count."""
    judgments = ranking.judgments
    read = [f"Read: {remark}" for remark in judgments.remarks if remark not in judgments.warnings]
    how = [] if ranking.fit.errors.sizes is None else [score_boards.remark(ranking.fit.errors.sizes)]
    return [*read, *how, *ranking.recusal.on_left_out()]


def on_two_variants(judgments: Judgments, command: str, files: Sequence[str | Path] = ()) -> str:
    """Which command decides between exactly two models; empty where there are more, or questions are unknown."""
    models = judgments.comparisons.models
    if len(models) != 2 or "question_id" not in judgments.frame:
        return ""
    baseline, candidate = variants_of(models, files) or sorted(models, key=lambda name: name == "new")
    options = shlex.join(["--baseline", baseline, "--candidate", candidate])
    return f"May {candidate} replace {baseline}? {command} {options}"
