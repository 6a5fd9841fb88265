"""A verdict in words: one sentence, a short table, and Markdown."""

from __future__ import annotations

from math import isnan

import numpy as np

from judgerank.data import QUESTION
from judgerank.data.frames import BY_REQUEST
from judgerank.data.listing import counted, listed
from judgerank.gating.callers import as_text
from judgerank.gating.checks import place_of_all
from judgerank.gating.decision import BLOCK, INCONCLUSIVE, SHIP, Category
from judgerank.gating.gate_result import Criterion, OtherUnit, Result
from judgerank.gating.rule import EQUIVALENCE, POINTS, SCORE, THIS_PANEL, TWO_SIDED, WIN_RATE, Rule, score_of
from judgerank.gating.scores import Scores

SHOWN = 4  # criteria with a line of their own
SHORT = 0.001  # p-values below are not told more exactly
UNKNOWN_ORDER = "who was shown first is not known: position bias is not allowed for"


def share(value: float) -> str:
    """A share in percent; whole ones without decimals."""
    return f"{100 * value:.1f}".removesuffix(".0") + "%"


def chance(p_value: float) -> str:
    """A p-value as a chance."""
    return f"less than {share(SHORT)}" if p_value < SHORT else share(p_value)


def p_text(p_value: float) -> str:
    """A p-value with its sign."""
    return f"p < {SHORT}" if p_value < SHORT else f"p = {p_value:.3f}"


def shown_on(rule: Rule, win_rate: float) -> str:
    """A win rate on the rule's scale: in percent, as a lead in score, or as a difference of scores in points."""
    if rule.scale == POINTS:
        return points(2 * win_rate - 1)
    return share(win_rate) if rule.scale == WIN_RATE else f"{score_of(win_rate):+.2f}"


def points(difference: float) -> str:
    """A difference of scores in points of 100, with its sign."""
    return f"{round(100 * difference, 1) + 0.0:+.1f}".removesuffix(".0")


def margin_text(rule: Rule) -> str:
    """The margin with its unit."""
    return {
        WIN_RATE: share(rule.margin),
        SCORE: f"{rule.margin:g} in score",
        POINTS: f"{100 * rule.margin:g} points",
    }[rule.scale]


def sentence(result: Result) -> str:
    """The verdict, its reason, and that no judge of another maker was asked where none was."""
    return " ".join(filter(None, [_reason(result), result.own.condition]))


def _whose(result: Result, criterion: Criterion) -> str:
    """Who prefers: this panel, or judges like these where they differ and the verdict is for those."""
    like_these = criterion.checks.differences.differ and result.rule.like_these
    whose = "judges like these prefer" if like_these else "this panel prefers"
    return f"On {criterion.name}, {whose}" if len(result.criteria) > 1 else whose.capitalize()


def preference_rate(result: Result) -> str:
    """How often the candidate is preferred, on the criterion that decides."""
    criterion = deciding(result)
    win_rate, table = criterion.evidence.win_rate, criterion.judged
    names = f"{shown(table.candidate)} over {shown(table.baseline)}"
    if result.rule.scale == POINTS:
        return _scored(result, criterion)
    lead = f", a lead of {shown_on(result.rule, win_rate)} in score" if result.rule.scale == SCORE else ""
    ties = f" ({_all_ties(criterion)})" if is_all_ties(criterion) else ""
    return f"{_whose(result, criterion)} {names} {share(win_rate)} of the time{lead}{ties}"


def is_all_ties(criterion: Criterion) -> bool:
    """Whether no judge chose between the two in any answer."""
    preference = criterion.judged.rows["preference"]
    return len(preference) > 0 and not criterion.judged.is_scored and bool((preference == 0.5).all())


def _all_ties(criterion: Criterion) -> str:
    n_answers = len(criterion.judged.rows)
    return f"all {n_answers:,} answers are ties" if n_answers > 1 else "the only answer is a tie"


def _reason(result: Result) -> str:
    rule, criterion, rate = result.rule, deciding(result), preference_rate(result)
    seen, table = criterion.evidence, criterion.judged
    if result.verdict == "block":
        difference_text = "differ this clearly" if rule.mode == EQUIVALENCE else "look this much worse"
        equal = f"If {shown(table.candidate)} were as good, it would"
        return f"Block. {rate}. {equal} {difference_text} in {chance(criterion.p_block)} of cases.{_worst(result)}"
    if result.verdict == "ship" and rule.mode == TWO_SIDED:
        equal = f"If {shown(table.candidate)} were only as good, it would"
        return f"Ship. {rate}. {equal} look this good in {chance(seen.p_ship)} of cases.{_worst(result)}"
    low, high = shown_on(rule, seen.low), shown_on(rule, seen.high)
    sure = f"between {low} and {high}" if rule.mode != "non-inferiority" else f"at least {low}"
    if result.verdict == "ship":
        message = f"Ship. {rate}, {sure} with {share(1 - rule.level)} confidence; {_wanted(rule)}."
        weak = [f"But {text[0].lower()}{text[1:]}" for text in without_signal(result)]
        return " ".join([message, *where_different(result), *weak]) + _worst(result)
    return (
        f"Inconclusive. {rate}, between {low} and {high}; {_wanted(rule)}. {what_decides(result)}{_worst(result)}"
    )


def _scored(result: Result, criterion: Criterion) -> str:
    """By how much the candidate's mean score differs from the baseline's."""
    table, difference = criterion.judged, 2 * criterion.evidence.win_rate - 1
    on = f"On {criterion.name}, " if len(result.criteria) > 1 else ""
    how = "more" if difference >= 0 else "less"
    size = f"{abs(100 * difference):.1f}".removesuffix(".0")
    return f"{on}{shown(table.candidate)} scores {size} points of 100 {how} than {shown(table.baseline)}"


def _worst(result: Result) -> str:
    """That the candidate is significantly worse in a category, which the verdict on all questions hides."""
    worst = result.worst_category
    if worst is None or not is_hidden(result, worst):
        return ""
    name, seen = shown(result.criteria[0].judged.candidate), on_category(result, worst)
    return f" But {name} is significantly worse on {seen}: {protection_of(worst)} makes that count."


def is_hidden(result: Result, category: Category) -> bool:
    """Whether the candidate is significantly worse in a category that does not count by itself."""
    is_worse = category.differs and category.win_rate < 0.5
    return is_worse and ("category", category.name) not in result.rule.protect


def on_category(result: Result, category: Category) -> str:
    """A category with its win rate, or its difference of scores, and what that is of."""
    n, is_of_points = category.questions, result.rule.scale == POINTS
    rate = points(2 * category.win_rate - 1) if is_of_points else share(category.win_rate)
    of = "on" if is_of_points else "of"
    return f"{shown(category.name)} ({rate} {of} {counted(n, 'question')}, {p_text(category.p_value)})"


def protection_of(category: Category) -> str:
    return f"--protect category={shown(category.name)}"


def deciding(result: Result) -> Criterion:
    """The criterion that blocks, or that is furthest from passing."""
    if result.failed:
        return min(result.failed, key=lambda one: one.p_block)
    return max(result.criteria, key=lambda one: one.evidence.p_ship)


def where_different(result: Result) -> list[str]:
    """That a candidate ships although it is significantly worse, or different where equivalence is to be shown."""
    if not result.different:
        return []
    table, rule = result.criteria[0].judged, result.rule
    better = {criterion.evidence.win_rate > 0.5 for criterion in result.different}
    how = "different from" if len(better) > 1 else "better than" if better.pop() else "worse than"
    on = f" on {listed([criterion.name for criterion in result.different])}" if len(result.criteria) > 1 else ""
    within = f"the {share(rule.margin)} margin" if rule.scale == WIN_RATE else f"the margin of {margin_text(rule)}"
    names = f"{shown(table.candidate)} is significantly {how} {shown(table.baseline)}"
    return [f"But {names}{on}, though within {within}."]


def without_signal(result: Result) -> list[str]:
    """That a verdict is by judges whose answers say nothing about the variants; not where it is that these do."""
    if not result.uninformative or result.without_uninformative == result.verdict:
        return []
    if result.without_uninformative is not None:
        return [f"Without the judges that give no signal the verdict is {result.without_uninformative}."]
    if result.verdict == INCONCLUSIVE and by_place(result):
        return []
    return [
        f"No judge's answers distinguish the two ({_reasons(result)}), and such answers make any candidate look "
        "as good: ask other judges."
    ]


def _wanted(rule: Rule) -> str:
    if rule.mode == TWO_SIDED:
        return f"better or worse than {shown_on(rule, 0.5)} is to be shown"
    low = shown_on(rule, rule.lowest)
    return (
        f"between {low} and {shown_on(rule, rule.highest)} is wanted"
        if rule.mode == EQUIVALENCE
        else f"more than {low} is needed"
    )


def what_decides(result: Result) -> str:
    if in_one_order := [criterion for criterion in result.criteria if criterion.scores.order == "one"]:
        why = _one_order(in_one_order[0]).capitalize()
        return f"{why}, so quality cannot be told from position bias: collect both orders."
    if names := by_place(result):
        on = f" on {listed(names)}" if len(result.criteria) > 1 else ""
        return (
            f"Every judge picks one place{on}, whichever variant is shown there, so the {_estimate(result)} says "
            "nothing about the variants: ask other judges."
        )
    if biased := [criterion for criterion in result.criteria if criterion.checks.bias_by_order]:
        return _biased(biased[0])
    if alone := _in_both_orders(result):
        return alone
    if result.without_losses not in (None, INCONCLUSIVE):
        lost = sum(criterion.checks.n_lost for criterion in result.criteria)
        return (
            f"Missing answers may be losses ({lost:,}): ask for them again. Without them the "
            f"verdict is {result.without_losses}."
        )
    if result.for_this_panel is not None:
        alone = f" For this panel alone the verdict is {result.for_this_panel} (--whose {THIS_PANEL})."
        return f"Judges differ significantly: add judges.{alone if result.for_this_panel != INCONCLUSIVE else ''}"
    if place := next(filter(None, (place_of_all(criterion.judged) for criterion in result.criteria)), ""):
        return (
            f"All answers so far pick the {place} place, whichever variant is shown there: ask other judges. If "
            "these go on so, no number of questions decides."
        )
    if result.needed is None:
        return (
            f"At this {_estimate(result)} no number of questions within reach decides: choose on other grounds, "
            "such as cost, or try another candidate."
        )
    cost = "" if result.cost is None else f" ({result.cost:.2f} {result.currency})"
    more = f"About {counted(result.needed, 'more question')}{cost} {'decides' if result.needed == 1 else 'decide'}"
    often = f"{share(result.rule.power)} of the time at this {_estimate(result)}"
    return f"{more} {often}. Then give --look {result.next_look}."


def by_place(result: Result) -> list[str]:
    """Names of the criteria on which every judge picks one place, whichever variant is shown there."""
    return [criterion.name for criterion in result.criteria if criterion.checks.go_by_place]


def _one_order(criterion: Criterion) -> str:
    """That no judge saw the candidate in both places, or that it was in one place for all of them."""
    first, second, both = criterion.scores.shown
    if (first and second) or both:
        return "no judge saw the candidate in both places"
    return "the candidate was always shown in the same place"


def _estimate(result: Result) -> str:
    return "difference" if result.rule.scale == POINTS else "win rate"


def _biased(criterion: Criterion) -> str:
    """That judges with few answers do not share one position bias."""
    candidate = shown(criterion.judged.candidate)
    more = "more" if criterion.checks.bias_by_order > 0 else "less"
    return (
        f"Judges who mostly saw {candidate} first favour the first answer {more} than the others do. So position "
        "bias cannot be taken off: collect both orders."
    )


def _in_both_orders(result: Result) -> str:
    """That judges with few answers count in both orders alone, where that is why nothing is decided."""
    nothing = any(criterion.checks.within and not criterion.checks.within.scores for criterion in result.criteria)
    decides = result.for_random_orders not in (None, INCONCLUSIVE)
    if not nothing and not decides:
        return ""
    why = (
        "Judges with few answers count only if they answered in both orders: position bias can look like quality."
    )
    if not decides:
        return f"{why} Ask in both."
    return f"{why} If every order was drawn at random, the verdict is {result.for_random_orders} (--order random)."


def table(result: Result) -> list[tuple[str, str]]:
    """What to know of the verdict: at most twelve lines of a name and a text, and four on categories."""
    rule, first = result.rule, result.criteria[0]
    lines = [_criterion(criterion, len(result.criteria) > 1, result) for criterion in result.criteria[:SHOWN]]
    if len(result.criteria) > SHOWN:
        lines[-1] = ("further criteria", listed([criterion.name for criterion in result.criteria[SHOWN - 1 :]]))
    look_text = "the only look" if rule.look is None else f"look {rule.look}"
    look_text += "" if rule.run is None else f" of run {rule.run}"
    mode = rule.mode + ("" if rule.mode == TWO_SIDED else f", margin {margin_text(rule)}")
    lines.append(("rule", f"{mode}, alpha {share(rule.alpha)} ({look_text}), power {share(rule.power)}"))
    lines.append(("judges", _judges(first, result)))
    if rule.scale == POINTS:
        lines.append(("runs", _runs(result)))
    requests = (remark.partition(BY_REQUEST)[2] for remark in result.remarks)
    lines += [("left out", f"by request: {text}") for text in dict.fromkeys(filter(None, requests))]
    notes = [_empty(result), ties_row(result), _gaps(result), _position(first), _noise(first)]
    notes += [own_maker_row(result), _weak(result)]
    return lines + [note for note in notes if note is not None] + _units(result) + _categories(result)


def _units(result: Result) -> list[tuple[str, str]]:
    """What was sampled, where that is not questions, and what the verdict would be by other columns."""
    rule, unit = result.rule, result.rule.cluster
    rows = []
    if unit != QUESTION:
        sizes = [len(criterion.scores.of_units.scores) for criterion in result.criteria]
        rows.append(("sampled", f"{min(sizes):,} values of {unit}: all questions of one are tested together"))
    for other in result.by_other_units[:SHOWN]:
        rows.append((f"by {other.name}", _if_sampled(other, rule)))
    return rows


def _if_sampled(other: OtherUnit, rule: Rule) -> str:
    """The verdict by another unit of sampling."""
    seen = max(other.evidences, key=lambda evidence: evidence.p_ship)
    low, high = shown_on(rule, seen.low), shown_on(rule, seen.high)
    what = f"{other.verdict} (bounds {low} and {high})"
    return f"with the {other.size} values of {other.name} sampled: {what} (--cluster {other.name})"


def _judges(criterion: Criterion, result: Result) -> str:
    if criterion.judged.unnamed:
        return "not named: a question's answers in one order count as one judge's (name them: --column judge=NAME)"
    names = f"{len(criterion.judged.judges)}: {listed(criterion.judged.judges)}"
    return ". ".join(filter(None, [names, on_judges(criterion, result.rule), _with_few_answers(criterion)]))


def _with_few_answers(criterion: Criterion) -> str:
    """How many judges are compared with themselves, and how many questions that leaves."""
    within = criterion.checks.within
    if within is None:
        return ""
    n_left = 0 if within.scores is None else len(within.scores.scores)
    left = counted(n_left, "question")
    who = f"{counted(within.n_judges, 'judge')} with few answers"
    return f"From {who}, only as many answers in one order as in the other count, which leaves {left}"


def on_judges(criterion: Criterion, rule: Rule) -> str:
    """For whom the verdict is where judges differ significantly."""
    differences = criterion.checks.differences
    if not differences.differ:
        return ""
    whose = "judges like these" if rule.like_these else "this panel alone"
    return f"The judges differ significantly ({p_text(differences.p_value)}): the verdict is for {whose}"


def _runs(result: Result) -> str:
    """How many runs of how many tasks there are."""
    runs = [criterion.scores.runs for criterion in result.criteria if criterion.scores.runs is not None]
    n_runs = {int(size) for of in runs for size in np.bincount(of.task)}
    each = f"{min(n_runs)}" if len(n_runs) == 1 else f"{min(n_runs)} to {max(n_runs)}"
    return f"{each} of each question in either variant; questions are the unit, and their mean differences count"


def _criterion(criterion: Criterion, several: bool, result: Result) -> tuple[str, str]:
    seen = criterion.evidence
    rule = result.rule
    rate, low, high = (shown_on(rule, value) for value in (seen.win_rate, seen.low, seen.high))
    tests = f"ship {p_text(seen.p_ship)}, block {p_text(criterion.p_block)}"
    name = {WIN_RATE: "win rate", SCORE: "score", POINTS: "difference"}[rule.scale]
    bounds = f"one-sided {share(1 - rule.level)} bounds: {low} and {high}"
    message = f"{rate} ({bounds}; {counted(seen.questions, 'question')}; {tests})"
    return criterion.name if several else name, message


def _empty(result: Result) -> tuple[str, str] | None:
    """How many of either variant's answers are empty, where the answers are known."""
    judged = result.criteria[0].judged
    by_name = {
        judged.baseline: sum(not pair.old for pair in result.texts.values()),
        judged.candidate: sum(not pair.new for pair in result.texts.values()),
    }
    counts = [f"{count:,} of {shown(name)}" for name, count in by_name.items() if count]
    return ("empty", f"{listed(counts)} ({len(result.texts):,} questions)") if counts else None


def ties_row(result: Result) -> tuple[str, str] | None:
    """That no judge chose, which any candidate looks as good by."""
    tied = [criterion for criterion in result.criteria if is_all_ties(criterion)]
    if not tied:
        return None
    on = f" on {listed([criterion.name for criterion in tied])}" if len(result.criteria) > 1 else ""
    return (
        "ties",
        f"all answers{on} are ties. Judges who never choose make any candidate look as good: ask harder "
        "questions, or tell the judges to choose where they can",
    )


def _gaps(result: Result) -> tuple[str, str] | None:
    missing = sum(criterion.judged.missing for criterion in result.criteria)
    unread = sum(criterion.judged.unread for criterion in result.criteria)
    silent = sorted({name for criterion in result.criteria for name in criterion.silent})
    if not missing and not unread:
        return None
    n_requests = missing + sum(
        int(np.isfinite(criterion.judged.preference).sum()) for criterion in result.criteria
    )
    if missing > n_requests / 2 and not silent and not unread and not where_silent(result):
        return (
            "missing",
            "most judges answered few of the questions; questions they skipped count for neither side",
        )
    why = ["one per judge and question", *([f"{unread:,} unreadable"] if unread else [])]
    why += [f"none from {listed(silent)}"] if silent else []
    message = f"{missing:,} of {n_requests:,} expected answers ({'; '.join(why)}). They count for neither side"
    lost = sum(criterion.checks.n_lost for criterion in result.criteria)
    message += f"; a ship counts {lost:,} as losses." if lost else "."
    return "missing", " ".join([message, *where_silent(result)])


def where_silent(result: Result) -> list[str]:
    """What the other judges say where one is silent, where that is significantly less good."""
    worse = [criterion.checks.silence for criterion in result.criteria if criterion.checks.silence]
    worse = [silence for silence in worse if silence.rejects]
    if not worse:
        return []
    silence = min(worse, key=lambda one: one.p_value)
    name = shown(result.criteria[0].judged.candidate)
    return [
        f"Where {listed(silence.judges)} did not answer, the others prefer {name} {share(silence.win_rate)} of "
        f"the time, else {share(silence.elsewhere)} ({p_text(silence.p_value)})."
    ]


def _position(criterion: Criterion) -> tuple[str, str] | None:
    if criterion.scores.runs is not None:
        return None
    if criterion.scores.order == "one":
        return (
            "position",
            f"{_one_order(criterion)}: position bias cannot be told from quality; ask in both orders",
        )
    if criterion.scores.order == "unknown":
        return "position", UNKNOWN_ORDER
    if isnan(criterion.scores.first_gains):
        who = "every question was judged in" if criterion.judged.unnamed else "every judge saw"
        if criterion.checks.go_by_place or place_of_all(criterion.judged):
            return "position", f"{who} both orders, and one place is picked in either"
        return "position", f"{who} both orders, which cancels position bias"
    points = 100 * criterion.scores.first_gains
    position = "first" if points >= 0 else "second"
    return (
        "position",
        f"the answer shown {position} gains {abs(points):.0f} points of win rate; {_orders(criterion.scores)}",
    )


def _orders(scores: Scores) -> str:
    """How often the candidate was shown in either place, and what follows."""
    first, second, both = (f"{count:,}" for count in scores.shown)
    message = f"the candidate was first in {first} answers, second in {second}"
    message += "" if both == "0" else f", and in both places in {both}"
    if scores.balanced:
        return f"the orders are balanced: {message}"
    tests = "all tests leave" if scores.order == "uneven" else "one of the two block tests leaves"
    return f"{message}: {tests} out each judge's surplus answers in the more frequent order"


def _noise(criterion: Criterion) -> tuple[str, str] | None:
    parts = []
    if not isnan(criterion.judged.noise):
        pairs = criterion.judged.repeated
        unlike = f"{round(criterion.judged.noise * pairs):,} of {counted(pairs, 'pair')}"
        parts.append(f"{unlike} of identical requests disagree ({share(criterion.judged.noise)})")
    if not isnan(criterion.judged.contradicted) and not is_all_ties(criterion):  # ties have no winner to change
        parts.append(f"{share(criterion.judged.contradicted)} of pairs changed winner with the order")
    return ("noise", "; ".join(parts)) if parts else None


def own_maker_row(result: Result) -> tuple[str, str] | None:
    """Judges by the maker of one of the two models, and the verdict with their votes, or without them."""
    own = result.own
    if not own.judges:
        return None
    who = listed(own.judges)
    if own.sentences:
        with_them = f" With their votes the verdict is {result.with_related}." if own.every else ""
        return "own maker", f"{who}. {' '.join(own.sentences)}{with_them}"
    if result.without_related is None:
        return "own maker", f"the votes of {who} count, since no other judge is there."
    return "own maker", f"the votes of {who} count; without them the verdict is {result.without_related}."


def _weak(result: Result) -> tuple[str, str] | None:
    """Judges whose answers say nothing about the variants, and the verdict without them where it is another."""
    if not result.uninformative:
        return None
    without = result.without_uninformative
    differs = without is not None and without != result.verdict
    return "no signal", _reasons(result) + (f". Without these judges the verdict is {without}" if differs else "")


def _reasons(result: Result) -> str:
    """What the judges do whose answers say nothing about the variants."""
    by_what: dict[str, list[str]] = {}
    for judge, what in result.uninformative.items():
        by_what.setdefault(what, []).append(judge)
    return "; ".join(
        f"{listed(judges)}: {'each ' if len(judges) > 1 else ''}{what}" for what, judges in by_what.items()
    )


def _categories(result: Result) -> list[tuple[str, str]]:
    """A line for each category in which the two differ significantly; it does not change the verdict."""
    differ = [category for category in result.categories if category.differs]
    name = shown(result.criteria[0].judged.candidate)
    lines_by_category = []
    for category in differ[:SHOWN]:
        where = f"{category.criterion}, {category.name}" if len(result.criteria) > 1 else category.name
        how = "better" if category.win_rate > 0.5 else "worse"
        questions = counted(category.questions, "question")
        rate = points(2 * category.win_rate - 1) if result.rule.scale == POINTS else share(category.win_rate)
        seen = f"{_estimate(result)} {rate} on {questions}"
        sure = f"{p_text(category.p_value)}, adjusted for {len(result.categories)} categories"
        lines_by_category.append(f"{shown(where)}: {name} is significantly {how} ({seen}; {sure})")
    if len(differ) > SHOWN:
        remaining = [category.name for category in differ[SHOWN - 1 :]]
        lines_by_category[-1] = f"{len(remaining)} more differ significantly: {listed(remaining)}"
    worst = result.worst_category
    rows = [("category", text) for text in lines_by_category]
    if worst is not None and not worst.differs:
        rows.append(("worst", on_category(result, worst)))
    return rows


def lines(result: Result) -> list[str]:
    """The table as lines of text, one for each row."""
    rows = table(result)
    width = max(len(name) for name, _ in rows) + 2
    return [f"  {name:<{width}}{value}" for name, value in rows]


def text(result: Result) -> str:
    """Sentence and table as text."""
    return "\n".join([sentence(result), *lines(result)])


def markdown(result: Result) -> str:
    """Sentence and table for a pull request."""
    word, _, rest = sentence(result).partition(". ")
    rows = "\n".join(f"| {as_text(name)} | {as_text(value)} |" for name, value in table(result))
    return f"### {word}\n\n{as_text(rest)}\n\n| | |\n|---|---|\n{rows}\n"


def shown(name: str) -> str:
    """A name that fits into a sentence."""
    return listed([name])


def verdict_line(result: Result) -> str:
    """The verdict, how often the candidate is preferred, and where it is significantly worse."""
    how, worst = "", result.worst_category
    if result.verdict == BLOCK:
        how = ": different" if result.rule.mode == EQUIVALENCE else ": worse"
    elif result.verdict == SHIP and result.rule.mode == TWO_SIDED:
        how = ": better"
    if result.verdict != BLOCK and worst is not None and is_hidden(result, worst):
        how += f", but it is significantly worse on {shown(worst.name)}"
    return f"{result.verdict.capitalize()}. {preference_rate(result)}{how}."


def warnings(result: Result) -> list[str]:
    """What speaks against resting on the verdict, the most serious first."""
    own, rule = own_maker_row(result), result.rule
    differs = {result.with_related, result.without_related} - {None, result.verdict}
    could_decide = [other for other in result.by_other_units if 0.5**other.size <= rule.level]
    silent = sorted({name for criterion in result.criteria for name in criterion.silent})
    n_lost = sum(criterion.checks.n_lost for criterion in result.criteria)
    ties = ties_row(result)
    found = [
        result.own.condition,
        ties[1] if ties else "",
        *where_different(result),
        *without_signal(result),
        own[1] if own and differs else "",
        *where_silent(result),
        f"There is no answer from {listed(silent)}" if silent else "",
        f"A ship counts {counted(n_lost, 'missing answer')} as losses" if n_lost else "",
        *(
            f"If values of {other.name} were sampled, the verdict is {other.verdict}: --cluster {other.name}"
            for other in could_decide
            if other.verdict != result.verdict
        ),
        on_judges(deciding(result), rule) if result.verdict != INCONCLUSIVE else "",
        UNKNOWN_ORDER if deciding(result).scores.order == "unknown" else "",
    ]
    return [f"{text[0].upper()}{text[1:].removesuffix('.')}." for text in found if text]
