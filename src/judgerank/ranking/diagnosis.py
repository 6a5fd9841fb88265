"""Diagnosis of a file of judgments: what it supports, in plain words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, shortened
from judgerank.data.rankings import sizes_of_rankings
from judgerank.data.tied_choices import chosen, is_choice
from judgerank.fits.by_sizes import made_of_scores
from judgerank.fits.taste_test import MOST_PARAMETERS
from judgerank.model.block import Need
from judgerank.model.members import GRADED_MEMBERS, MODELS, Model
from judgerank.model.naming import member
from judgerank.ranking.choices import EXACT, SHRUNK, Settings, default_member, identified
from judgerank.ranking.components import fit_member, links_between, never_compared, parts_of
from judgerank.ranking.findings import ranked_set
from judgerank.ranking.page_options import makers_on
from judgerank.ranking.recusal import RECUSE, Recusal, is_recusing, recusal_of
from judgerank.ranking.studies.coverage import on_few, on_parts, on_pooled
from judgerank.ranking.studies.estimation import on_fit
from judgerank.ranking.studies.judge_notes import panel_size
from judgerank.ranking.study import MOST_SAMPLED
from judgerank.ranking.verdict import on_two_variants
from judgerank.reading.contents import COLUMNS
from judgerank.reading.file_formats import opened
from judgerank.reading.files import Files, labels_of, named, paths_of, title_of
from judgerank.reading.from_tables import RECORDS_ARE_IN, judgments_from
from judgerank.reading.layouts import Layout, Table, recognised
from judgerank.reading.layouts.names import require_copies, require_names
from judgerank.reading.layouts.strength import BOTH_BAD
from judgerank.reading.layouts.table import ASK
from judgerank.reading.layouts.words import meanings
from judgerank.reading.selection import Filters, Selection
from judgerank.trust.repeats import ALL, flips_of
from judgerank.trust.sentences import on_near_copies, on_number

EXACT_FIT = "exact fit"  # the topic of sentences on a fit without shrinkage
RUN_NEXT = "run next"  # what the last sentence is about
SHRUNK_BY_DEFAULT = f"rank shows the shrunk one unless you add --solver {EXACT}"
SEARCHED = 200  # models of a component whose exact fit is searched for; that of 1,000 took 20 s of processor
COUNTED_BY = "to count them, add --own-maker count to any command"
CATEGORIES = ("category", "criterion")  # names of their column
BETWEEN_WORDS = re.compile(r"(?<!\d)[\W_]+|[\W_]+(?!\d)")  # punctuation, but of a version such as 3.5
NEVER_CHANGED = "No answer changed, as where rows were written twice: then add --copies drop to every command"
REPEAT = "repeat"  # column that numbers the answers to one request
Lines = Iterator[tuple[str, str]]  # what it is about, and a sentence


def examine(
    files: Files,
    form: str | None = None,
    columns: Mapping[str, str | None] | None = None,
    winner_values: Mapping[str, str] | None = None,
    baseline: str | None = None,
    encoding: str | None = None,
    names: str = ASK,
    copies: str = ASK,
    own_maker: str = RECUSE,
    makers: Mapping[str, str] | None = None,
    facts: str | Path | None = None,
    **filters: Unpack[Filters],
) -> Generator[tuple[str, str], None, Judgments]:
    """Look at files, one thing after the other, up to the first that keeps them from being ranked.

    Parameters
    ----------
    files : path, or several
    form, columns, winner_values, baseline, encoding, names, copies
        As of `read_judgments`.
    own_maker, makers
        As of `judgerank.rank`.
    facts : path, optional
        Where makers are, too (`page_options.read_facts`).
    filters
        ``without_judge``, ``only_judge``, ``without_model`` and ``category``, as of `judgerank.read`.

    Yields
    ------
    tuple of str and str
        What it is about, and what there is to say of it.

    Returns
    -------
    Judgments
        Those that are not left out by request.

    Raises
    ------
    DataError, DataUnavailableError, ConfigError
        If they cannot be read, naming the record at fault.
    NoMaximumError
        If none of it can be ranked.
    """
    require_names(names)
    require_copies(copies)
    paths, words, tables = paths_of(files), meanings(winner_values), []
    for path, label in zip(paths, labels_of(paths), strict=True):
        with named(label):
            file = opened(path, form, encoding)
            table = Table(file.read(), columns or {}, words, path, label, baseline, names, copies)
            name = f"{label}: " if len(paths) > 1 else ""
            yield "file", f"{name}{file.form}, {counted(len(table.frame), 'record')}"
            layout, read = recognised(table)
            yield "layout", f"{layout.name}. {layout.remark}".rstrip(". ") + "."
            yield "columns", _columns(read, layout)
        tables.append(table)
    selection = Selection.of(**filters)
    judgments = selection.applied(judgments_from(tables, title_of(paths)))
    for remark in judgments.remarks:
        if not remark.startswith(RECORDS_ARE_IN):  # the layout's, shown above
            yield "read", remark
    every_maker = {**(makers or {}), **dict(makers_on(judgments, facts))}
    yield from on_spellings(judgments)
    recusal = counted_as_ranked(judgments, own_maker, every_maker)
    yield from on_answers(recusal)
    yield from on_repeats(recusal.counted)
    yield from on_design(recusal.counted)
    options = {"encoding": encoding, "names": names, "copies": copies}
    more = [*selection.options(), *([] if own_maker == RECUSE else ["--own-maker", own_maker])]
    more += [] if facts is None else ["--models", str(facts)]
    command = _command(files, form, columns, winner_values, baseline, options)
    yield from on_panel_size(recusal.counted)
    gate = ["judgerank", "gate", *command[2:], *more]
    if baseline is None and (hint := on_two_variants(judgments, shlex.join(gate), paths)):
        yield "gate", hint
    yield from on_ranking(recusal.counted, shlex.join([*command, *more]))
    return judgments


def counted_as_ranked(judgments: Judgments, own_maker: str, makers: Mapping[str, str]) -> Recusal:
    """Which judgments count in a ranking, which also leaves out votes of a judge on a model that it favours."""
    c = judgments.comparisons
    is_tested = len(c) <= MOST_SAMPLED and len(c.models) > 2 and len(c.models) * len(c.judges) <= MOST_PARAMETERS
    try:
        if not is_tested:  # for tastes, so that nothing need be fitted
            return recusal_of(judgments, is_recusing(own_maker), makers.items())
        return ranked_set(judgments, Settings(own_maker=own_maker, makers=tuple(makers.items()))).recusal
    except JudgerankError:  # `on_ranking` says why
        return recusal_of(judgments, is_recusing(own_maker), makers.items())


def on_spellings(judgments: Judgments) -> Lines:
    """Names of models, or of judges, that differ in punctuation, spaces or case alone."""
    c = judgments.comparisons
    judged = np.bincount(c.judge, c.count, len(c.judges))
    compared = np.bincount(c.first, c.decided, len(c.models)) + np.bincount(c.second, c.decided, len(c.models))
    for what, names, times in (("judges", c.judges, judged), ("models", c.models, compared)):
        alike: dict[str, list[str]] = {}
        for name, n_comparisons in zip(names, times, strict=True):
            key = BETWEEN_WORDS.sub("", name.casefold())
            alike.setdefault(key, []).append(f"{name!r} ({n_comparisons:,.0f})")
        for group in (group for key, group in alike.items() if key and len(group) > 1):
            yield (
                "names",
                f"these {what} differ in punctuation or case alone: {' and '.join(group)}. If they are one, "
                "spell them alike in the file",
            )


def on_answers(recusal: Recusal) -> Lines:
    """Answers read and not read, ties; of those that count, models, judges, questions, categories, lengths."""
    judgments = recusal.judgments
    c, frame = judgments.comparisons, judgments.frame
    won = _won(c)
    left_out = ", ".join(f"{count} {reason}" for reason, count in c.dropped.items() if count) or "none"
    between = c.n_comparisons - sum(won.values())
    decided = f"{won['first']:,.0f} for the model shown first, {won['second']:,.0f} for the second"
    if not judgments.ordered:
        decided = f"{won['first'] + won['second']:,.0f} for one of the models"
    read = f"{c.n_comparisons:,.0f} read: {decided}, {counted(round(won['tie']), 'tie')}"
    read += f", {between:,.0f} between" if between else ""
    if c.stages is not None:
        rankings = counted(len(sizes_of_rankings(judgments)), "ranking")
        read = f"{rankings} read, which make {counted(round(c.n_comparisons), 'comparison')}"
    yield "answers", f"{read}; left out as unreadable: {left_out}"
    yield "ties", _ties(c, won["tie"] / c.n_comparisons, judgments.ordered)
    if c.strong is not None:
        wins, members = max(won["first"] + won["second"], 1.0), _graded(judgments.ordered)
        stronger = [float(c.count @ share) / wins for share in c.by_strength]
        sentence = f"{stronger[0]:.0%} of wins are much better"
        if len(stronger) > 1:
            shares = ", ".join(f"{share:.0%}" for share in (1 - sum(stronger), *stronger))
            sentence = (
                f"wins have {len(stronger) + 1} strengths, {shares} of them from the weakest to the strongest"
            )
        yield "strength", f"{sentence}; they count alike unless --model is {members}"
    if BOTH_BAD in frame:
        count = int(frame[BOTH_BAD].fillna(False).sum())
        yield "both bad", f"{count} of the ties; `judgerank rank` counts them by model and question"
    for sentence in recusal.sentences():
        is_taste = any(sentence.endswith(f" {one.model}, which it {one.verb}.") for one in recusal.favoured)
        yield "favourites" if is_taste else "own maker", sentence
    if (recusal.is_own & ~recusal.counts).any():
        yield "own maker", COUNTED_BY
    if recusal.favoured:
        yield "favourites", "to count them in a ranking, add --whose this_panel"
    if not recusal.counts.all():  # not `counted`, in which judges with few answers have one label
        judgments = recusal.kept
        c, frame = judgments.comparisons, judgments.frame
    n = len(c.models)
    compared = np.bincount(c.first, c.decided, n) + np.bincount(c.second, c.decided, n)
    yield "models", _counted(c.models, compared)
    yield "judges", _counted(c.judges, np.bincount(c.judge, c.count, len(c.judges)))
    yield "questions", _questions(frame, c)
    yield "categories", _categories(frame)
    if c.stages is None:  # no model of rankings takes lengths
        yield "lengths", _lengths("length" in frame, judgments.ordered)
    if "count" in frame:
        yield "counts", f"a record stands for up to {counted(round(c.count.max()), 'judgment')}"


def _possible(ordered: bool) -> list[Model]:
    """Members that may be fitted."""
    return [member for member in MODELS.values() if ordered or not member.uses(Need.ORDER)]


def _won(c: Comparisons) -> dict[str, float]:
    """Comparisons won by the model shown first, by the second, and ties."""
    shares = {"first": c.outcome == 1, "second": c.outcome == 0, "tie": c.outcome == 0.5}
    return {name: float(c.count[rows].sum()) for name, rows in shares.items()}


def _ties(c: Comparisons, share: float, ordered: bool) -> str:
    members = " or ".join(member.name for member in _possible(ordered) if member.uses(Need.TIES))
    if c.stages is not None:
        at = c.stages.first_rows
        made, tied = is_choice(c)[at], (chosen(c) > 1)[at]
        return (
            f"{(made & tied).sum()} of {made.sum()} choices of the best; in a ranking, the average over orders "
            f"of the tied answers (to model ties: --model {members})"
        )
    if not share:
        return "none"
    return (
        f"{share:.0%} of the answers; each is half a win for either model (to model ties: --model {members}). "
        "Shrinkage and errors allow for half wins, which vary less than wins"
    )


def _graded(ordered: bool) -> str:
    return ", ".join(member.name for member in GRADED_MEMBERS if ordered or not member.uses(Need.ORDER))


def _questions(frame: pd.DataFrame, c: Comparisons) -> str:
    n_questions = frame["question_id"].nunique() if "question_id" in frame else 0
    if not n_questions:
        return "no column, so each judgment is taken by itself (--column question=NAME names one)"
    if n_questions == c.n_comparisons == len(frame):
        return f"{n_questions:,}, with 1 comparison each"
    sentence = (
        f"{n_questions:,}, {c.n_comparisons / n_questions:.1f} comparisons each; intervals allow for dependence "
        "within them"
    )
    if c.stages is not None:
        return sentence
    return f"{sentence} (to model how answers vary in quality: --cluster effects)"


def _categories(frame: pd.DataFrame) -> str:
    name = next((name for name in CATEGORIES if name in frame), None)
    if name is None:
        return "no column" + (" (--column category=NAME names one)" if CATEGORIES[0] in COLUMNS else "")
    counts = frame[name].value_counts()
    parts = [f"{category} ({times})" for category, times in counts.items()]
    return f"{len(counts)}, with their records: {listed(parts)}"


def _lengths(has_lengths: bool, ordered: bool) -> str:
    members = " or ".join(member.name for member in _possible(ordered) if member.uses(Need.LENGTH))
    if has_lengths:
        return f"a column, for --model {members}"
    return f"no column; --model {members} needs one (--column length=NAME names it)"


def on_repeats(judgments: Judgments) -> Lines:
    """How often each judge changed its answer to a request that it was asked again, the most fickle first."""
    if "question_id" not in judgments.frame or judgments.comparisons.stages is not None:
        return
    table = flips_of(judgments.comparisons, judgments.question, Settings.level, judgments.item)
    if table is None:
        return
    by_judge = table[table["judge"] != ALL].sort_values("flip_rate", ascending=False, kind="stable")
    changed = [
        f"{row['judge']} changed {row['differing']:,} of {counted(row['requests'], 'request')} "
        f"({row['flip_rate']:.0%} of pairs of answers, {row['low']:.0%} to {row['high']:.0%})"
        for row in by_judge.to_dict("records")
    ]
    never = "" if table["differing"].any() else f". {NEVER_CHANGED}"
    yield "repeats", f"asked the same again, {listed(changed)}{never}"


def on_design(judgments: Judgments) -> Lines:
    """Order of presentation, connections, models and judges with few comparisons, of judgments that count."""
    every = parts_of(judgments)
    parts = [part.comparisons for part in every]
    yield "order", default_member(parts)[1]
    remarks = on_parts([part.models for part in parts], links_between(judgments))
    yield "connected", " ".join(remarks) or "a chain of comparisons connects any two models"
    if never_compared(judgments):
        yield "left out", f"no answer about them could be read: {listed(never_compared(judgments))}"
    for part in every:
        for remark in (*on_pooled(part.comparisons, part.few_judges), *on_few(part.comparisons, Settings.few)):
            yield "few", remark


def on_panel_size(judgments: Judgments) -> Lines:
    """How many independent judges the panel amounts to where judges share questions, and who are near copies."""
    parts = parts_of(judgments)
    name = default_member([part.comparisons for part in parts])[0]
    for part in parts:
        try:
            fitted = fit_member(part.comparisons, identified(member(name), part.comparisons), SHRUNK)
        except JudgerankError:  # `on_ranking` says why
            continue
        effective = panel_size(fitted, part, Settings.level)
        if effective is None:
            continue
        who = f"of {listed(part.comparisons.models)}: " if len(parts) > 1 else ""
        yield "effective judges", f"{who}{next(on_number(effective))}"
        for copies in effective.near_copies():
            yield "near copies", on_near_copies(copies)


def on_ranking(judgments: Judgments, command: str) -> Lines:
    """Whether there is a maximum of judgments that count, by looking for it, and what to run next.

    In components of more than `SEARCHED` models only the shrunk fit is looked for, which `rank` shows.

    Raises
    ------
    NoMaximumError
        If there is none of any component, and none with shrinkage, by which `rank` fits.
    """
    every = parts_of(judgments)
    parts = [part.comparisons for part in every]
    name, refused = default_member(parts)[0], []
    for part, by_tasks in zip(parts, map(made_of_scores, every), strict=True):
        if by_tasks:
            yield "scores", "ranked by their means over tasks; to go by who wins more tasks, name a --model"
            continue
        who = f"of {listed(part.models)}: " if len(parts) > 1 else ""
        try:
            solver = EXACT if len(part.models) <= SEARCHED else SHRUNK
            fitted = fit_member(part, identified(member(name), part), solver)
            if solver == SHRUNK:
                what = f"not searched for, with {len(part.models):,} models (over {SEARCHED})"
                yield EXACT_FIT, f"{who}{what}: {SHRUNK_BY_DEFAULT}"
                continue
            is_found = "none" if fitted.unbounded_judges else "exists"
            yield EXACT_FIT, f"{who}{is_found} (--model {fitted.model.name}); {SHRUNK_BY_DEFAULT}"
        except NoMaximumError as error:
            refused.append(error)
            yield EXACT_FIT, f"{who}none, since {error}"
            continue
        for remark in on_fit(fitted):
            yield EXACT_FIT, f"{who}{remark}"
    if len(refused) < len(parts) or any(_shrinks(part, name) for part in parts):
        yield RUN_NEXT, command
        return
    raise refused[0]


def _shrinks(part: Comparisons, name: str) -> bool:
    try:
        fit_member(part, identified(member(name), part), SHRUNK)
    except JudgerankError:
        return False
    return True


def _columns(table: Table, layout: Layout) -> str:
    used = layout.used(table)
    read = {name for names in used.values() for name in names}
    unused = [str(table.spelled.get(name, name)) for name in table.frame.columns if name not in read]
    text = ", ".join(_from(key, [table.spelled.get(name, name) for name in names]) for key, names in used.items())
    if REPEAT in unused and "question" in used:
        unused.remove(REPEAT)
        text += f"; {REPEAT} is not needed, as answers to one request have the same question, models and judge"
    return text + (f"; not used: {listed(unused)}" if unused else "")


def _from(key: str, names: Sequence[str]) -> str:
    return key if [key] == list(names) else f"{key} from {', '.join(map(repr, names))}"


def _counted(names: tuple[str, ...], times: FloatArray | IntArray) -> str:
    """How many there are, and comparisons of the one with fewest and of the one with most, if these differ."""
    low, high = int(np.argmin(times)), int(np.argmax(times))
    fewest, most = f"{times[low]:,.0f}", f"{times[high]:,.0f}"
    if fewest == most:
        suffix = " each" if len(names) > 1 else ""
        return f"{len(names)}, with {counted(round(times[high]), 'comparison')}{suffix}"
    return (
        f"{len(names)}, with {fewest} ({shortened(names[low])}) to {most} ({shortened(names[high])}) comparisons"
    )


def _command(
    files: Files,
    form: str | None,
    columns: Mapping[str, str | None] | None,
    winner_values: Mapping[str, str] | None,
    baseline: str | None,
    options: Mapping[str, str | None],
) -> list[str]:
    listed = [files] if isinstance(files, str | Path) else files
    words = ["judgerank", "rank", *map(str, listed), *(["--format", form] if form else [])]
    for key, name in (columns or {}).items():
        words += ["--column", f"{key}={'null' if name is None else name}"]
    for key, value in (winner_values or {}).items():
        words += ["--winner-values", f"{key}={value}"]
    for key, option in {"baseline": baseline, **options}.items():
        words += [f"--{key}", option] if option not in (None, ASK) else []
    return words
