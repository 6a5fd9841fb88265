"""The verdict of a ranking in words: who leads and how surely, what would change it, what to do next.

The page and the terminal say the same sentences. All numbers come from the ranking's tables and its fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from judgerank.data.listing import counted, listed, noun, percent
from judgerank.data.rankings import in_stages
from judgerank.data.tied_choices import all_ties
from judgerank.fits.errors_by_question import too_few
from judgerank.fits.standings import win_probability
from judgerank.ranking.choices import Settings
from judgerank.ranking.components import links_between
from judgerank.ranking.evidence import head_to_head
from judgerank.ranking.record import Record
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.by_judge import BY_JUDGE
from judgerank.ranking.studies.exact_fit import WHICH_FIT
from judgerank.ranking.studies.next_comparisons import CHANCE, cost_of_pair
from judgerank.ranking.studies.rivals import DISAGREE
from judgerank.reading.files import run_again
from judgerank.trust.sentences import FRAGILITY

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
MANY_DROPPED = 0.05  # share of records that could not be read, from which it is a warning
FEW_JUDGES = 2.0  # equally informative judges, below which a ranking hangs on one
HARDER = "Ask harder questions, or tell the judges to choose where they can."
NAMED = 3  # models in a sentence
TOO_DEAR = 10  # times the comparisons there are, beyond which more of them are not worth it


@dataclass(frozen=True)
class Verdict:
    """What a reader needs first.

    Attributes
    ----------
    headline : str
        Who leads, without a full stop.
    lead, change, next : str
        How sure that is; what would change it; what to do next. Sentences, empty where there is nothing to say.
    facts : list of (str, str)
        A number and what it counts.
    warnings : list of str
        Sentences.
    """

    headline: str
    lead: str
    change: str
    next: str
    facts: list[tuple[str, str]]
    warnings: list[str]

    def lines(self) -> list[str]:
        """The verdict as lines of text, the headline first."""
        facts = ", ".join(f"{number} {what}" for number, what in self.facts)
        told = [self.lead, self.change, self.next, *(f"Warning: {one}" for one in self.warnings)]
        return [f"{self.headline}.", f"{facts}.", *(line for line in told if line)]


def verdict(ranking: Record, passed_on: bool = False) -> Verdict:
    """The verdict on the largest component; what is `passed_on` names no folder of this machine."""
    board, pairs, judges = (largest(ranking.tables[name]) for name in ("leaderboard", "pairs", "judges"))
    judges = judges[judges["status"] != panel.MERGED]
    if len(ranking.fits) == 1 and all_ties(ranking.judgments.comparisons):
        told = f"All answers are ties, so there is nothing to rank. {HARDER}"
        shown = f"No clear leader among {in_words(len(board))} models"
        return Verdict(shown, told, "", "", _facts(ranking, judges.assign(information=np.nan)), _unread(ranking))
    return Verdict(
        headline(board, pairs) if len(ranking.fits) == 1 else _headline_of_groups(ranking),
        _lead(ranking, board, pairs),
        _change(ranking, passed_on),
        _next(ranking, board, pairs),
        _facts(ranking, judges),
        _warnings(ranking, judges),
    )


def largest(table: pd.DataFrame) -> pd.DataFrame:
    """Of several components, the rows of the first."""
    return table[table["component"] == 1] if "component" in table else table


def in_words(number: int) -> str:
    """A small number as a word."""
    return WORDS[number] if number < len(WORDS) else f"{number:,}"


def headline(board: pd.DataFrame, pairs: pd.DataFrame) -> str:
    """Who leads, without a full stop."""
    best, tied = board["model"].iloc[0], board["band"].eq(1).fillna(False)
    many, others = int(tied.sum()), list(_as_good(board, pairs)["model"])
    if many == 0:
        return f"{best} has the highest score"
    if many > 1 and many + len(others) == len(board):
        return f"No clear leader among {in_words(len(board))} models"
    lead = f"{in_words(many).capitalize()} models share the lead"
    if many <= 2:
        lead = f"{best} leads" if many == 1 else f"{best} and {board['model'].iloc[1]} share the lead"
    if not others:
        return lead
    who = others[0] if len(others) == 1 else f"{in_words(len(others))} others"
    return f"{lead}, but {who} may be as good"


def _as_good(board: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Rows of models below the first band that the best is not separated from, such as those compared rarely."""
    if board["band"].isna().any():
        return board.head(0)
    apart = pairs["second"][(pairs["first"] == board["model"].iloc[0]) & pairs["separated"].fillna(False)]
    return board[board["band"].gt(1) & ~board["model"].isin(apart)]


def _headline_of_groups(ranking: Record) -> str:
    return f"No overall leader: {in_words(len(ranking.fits))} groups of models were never compared with each other"


def _lead(ranking: Record, board: pd.DataFrame, pairs: pd.DataFrame) -> str:
    best, second = board.iloc[0], board.iloc[1]
    where = "" if len(ranking.fits) == 1 else "In the first group, "
    told = f"{where}{_preferred(ranking, best, second)}"
    if board["rank_low"].isna().any():
        return f"{told}. This fit has no confidence intervals, so the difference may be chance."
    how = "a significant difference" if _separated(pairs, best["model"], second["model"]) else "too close to call"
    low, high, level = best["rank_low"], best["rank_high"], f"{ranking.settings.level:.0%} confidence"
    name = best["model"]
    range_ = f"{name} ranks first" if low == high == 1 else f"The true rank of {name} is between {low} and {high}"
    told = f"{told}: {how}. {range_} ({level}, jointly for all {'its ' * bool(where)}models)."
    others = _as_good(board, pairs)
    if others.empty:
        return told
    known = zip(others["model"], others["comparisons"], strict=True)
    each = [f"{other} ({many:,} {noun(many, 'comparison')})" for other, many in known][:NAMED]
    more = f" and {len(others) - NAMED:,} more" if len(others) > NAMED else ""
    return f"{told} {name} is not significantly different from {', '.join(each)}{more}."


def _preferred(ranking: Record, best: pd.Series, second: pd.Series) -> str:
    """How often the first model is preferred to the second, as counted and as fitted.

    The fit weights judges by what they tell of the scores, so where one of them decides the ranking, its share is
    far from what most comparisons say.
    """
    lead, middle = best["score"] - second["score"], (best["score"] + second["score"]) / 2
    chance = f"{float(win_probability(ranking.fitted, np.array(lead), middle)):.0%}"
    weights = " with judges weighted as in the ranking," * (len(ranking.fitted.comparisons.judges) > 1)
    name, other = best["model"], second["model"]
    many, seen = head_to_head(ranking.judgments.comparisons, name, other)
    if not many:
        told = f"{name} and {other} (2nd) were never compared with each other. Fitted to all comparisons,{weights}"
        return f"{told} {name} is preferred in {chance}"
    told = f"{name} is preferred to {other} (2nd) in {seen:.0%} of their {many:,} {noun(many, 'comparison')}"
    return f"{told}. Fitted to all comparisons,{weights} that is {chance}"


def _separated(pairs: pd.DataFrame, first: str, second: str) -> bool:
    row = pairs[(pairs["first"] == first) & (pairs["second"] == second)]
    return bool(row["separated"].fillna(False).any())


def _change(ranking: Record, passed_on: bool) -> str:
    """What would change who leads, and where to see it; nothing where that is known of another fit alone."""
    said = next((one.removeprefix(FRAGILITY) for one in ranking.remarks if one.startswith(FRAGILITY)), "")
    if not said.startswith("Removing"):
        return said
    settings, usual = ranking.settings, Settings()
    chosen = [name for name in ("model", "solver", "level") if getattr(settings, name) != getattr(usual, name)]
    options = [word for name in chosen for word in (f"--{name}", f"{getattr(settings, name)}")]
    command = run_again("trust", ranking.judgments, *options, passed_on=passed_on)
    return f"{said} See which: {command}."


def _next(ranking: Record, board: pd.DataFrame, pairs: pd.DataFrame) -> str:
    """What connects the groups; else what decides who leads, or the first neighbours that are not separated."""
    if len(ranking.fits) > 1:
        links = listed(f"{a} with {b}" for a, b in links_between(ranking.judgments))
        return f"To rank all models together, compare {links}."
    if "separated" not in pairs or board["band"].isna().any():
        return "For confidence intervals, compare the models again until no judge is always of one mind."
    names = list(board["model"])
    rivals = [(names[0], other) for other in (names[1], *_as_good(board, pairs)["model"])]
    close = next(((a, b) for a, b in (*rivals, *pairwise(names)) if not _separated(pairs, a, b)), None)
    if close is None:
        told = "Every model is significantly different from the next"
        if board["rank_low"].eq(board["rank_high"]).all():
            return f"{told}: this ranking needs no more data."
        return f"{told}, pair by pair. Ranges of ranks are wider, as they hold for all models at once."
    first, second = close
    few = too_few(ranking.fitted)
    if few:
        unknown = few.too_few_to_tell("how many comparisons that takes")
        return f"To decide between {first} and {second}, compare the two on new questions. {unknown}"
    cost = cost_of_pair(ranking.fitted, first, second, ranking.settings.level, ranking.settings.few)
    total = ranking.judgments.comparisons.n_comparisons
    if cost is None or cost > TOO_DEAR * total:
        return (
            f"Deciding between {first} and {second} is not worth it: it would take more than {TOO_DEAR} times the "
            "data you have."
        )
    size = int(float(f"{cost:.2g}"))
    more = f"{percent(cost / total)} more data" if cost < total else f"{cost / total:.1f} times the data you have"
    spread = ", spread over the judges" if len(ranking.fitted.comparisons.judges) > 1 else ""
    return (
        f"To decide between {first} and {second}, collect about {size:,} more comparisons of the two on new "
        f"questions{spread} ({more}; {CHANCE:.0%} power if the estimated gap is right)."
    )


def _facts(ranking: Record, judges: pd.DataFrame) -> list[tuple[str, str]]:
    frame, c = ranking.judgments.frame, ranking.judgments.comparisons
    compared = noun(round(c.n_comparisons), "judgment" if c.stages is None else "comparison")
    models = sum(len(fitted.scores) for fitted in ranking.fits)
    found = [
        (f"{models:,}", noun(models, "model")),
        (f"{c.n_comparisons:,.0f}", f"{compared} in rankings" if in_stages(frame).all() else compared),
    ]
    if "question_id" in frame:
        questions = ranking.judgments.n_questions
        found.append((f"{questions:,}", noun(questions, "question")))
    share = judges["information"]
    if len(judges) < 2 or share.isna().any():
        return [*found, (f"{len(judges):,}", noun(len(judges), "judge"))]
    equal = panel.effective_judges(share)
    return [*found, (f"{len(judges):,}", f"judges, weighted like {equal:.1f} equal ones")]


def _warnings(ranking: Record, judges: pd.DataFrame) -> list[str]:
    fitted = ranking.fitted
    found = [
        one.removeprefix(start)
        for start in (WHICH_FIT, BY_JUDGE)
        for one in (remark.removeprefix("Component 1: ") for remark in ranking.remarks)
        if one.startswith(start)
    ]
    if len(ranking.fits) > 1:
        found.append(
            f"The comparisons fall into {len(ranking.fits)} groups of models that were never compared with each "
            "other. Each group is ranked by itself, and scores of different groups are not comparable."
        )
    if not fitted.converged:
        found.append(f"The fit ended as {fitted.status}, not at a maximum.")
    unsure = judges["verdict"] == panel.UNSURE
    if unsure.any():
        found.append(
            f"For {unsure.sum()} of {len(judges)} judges, the answers do not tell what kind of judge it is."
        )
    doubtful = judges[~unsure & (judges["verdict"] != panel.FINE)]
    if len(doubtful):
        have = "has" if len(doubtful) == 1 else "have"
        found.append(
            f"{len(doubtful)} of {len(judges)} judges {have} a problem (see Judges on the page): "
            f"{listed(doubtful['judge'])}."
        )
    if 2 * (judges["verdict"] == panel.RANDOM).sum() >= len(judges):
        found.append("At least half of the judges disagree with the ranking or ignore it.")
    share = judges["information"]
    if len(judges) > 1 and share.notna().all() and panel.effective_judges(share) < FEW_JUDGES:
        found.append(f"One judge, {judges['judge'].iloc[share.argmax()]}, largely decides the ranking.")
    found += [*ranking.judgments.warnings, *_unread(ranking)]
    if any(DISAGREE in one for one in ranking.remarks):
        found.append("The ranking changes a lot if all judges count equally (see the notes).")
    if not ranking.clustered or ranking.fitted.flips is not None:
        found.append(_on_dependence(ranking))
    return found


def reading_lines(ranking: Record) -> list[str]:
    """How records were read, without what the verdict warns of."""
    judgments = ranking.judgments
    return [f"Read: {remark}" for remark in judgments.remarks if remark not in judgments.warnings]


def _unread(ranking: Record) -> list[str]:
    c = ranking.judgments.comparisons
    dropped = sum(c.dropped.values())
    many = dropped > MANY_DROPPED * (dropped + c.n_comparisons)
    return [f"{dropped:,} {noun(dropped, 'answer')} could not be read."] if many else []


def _on_dependence(ranking: Record) -> str:
    """What intervals without errors by question cannot allow for."""
    frame = ranking.judgments.frame
    if "question_id" not in frame:
        return (
            "No questions are named, so judgments of the same item and judges that copy each other cannot be "
            "recognised. If there are any, the intervals are too narrow (--column question=NAME names them)."
        )
    if ranking.fitted.flips is not None:
        narrow = " The intervals of scores may be too narrow." if ranking.fitted.robust is None else ""
        return (
            f"Only {counted(ranking.judgments.n_questions, 'question')}: significance is tested by exchanging "
            f"the names of two models in whole questions.{narrow}"
        )
    return "Judgments are taken as independent. If questions repeat, the intervals are too narrow."
