"""Records of one or several tables put together as judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.frames import ITSELF, NO_QUESTION, OUTCOMES, STRENGTH, codes, counts, finite, standardised_log
from judgerank.data.judgments import ITEM, Judgments
from judgerank.data.listing import counted
from judgerank.data.rankings import BEGINS, in_stages, with_stages
from judgerank.reading.file_formats import bare_name
from judgerank.reading.files import named
from judgerank.reading.layouts import Layout, Table, recognised
from judgerank.reading.layouts.answer_versions import of_last_answers
from judgerank.reading.layouts.names import named_once, on_questions, with_answers, without_copies
from judgerank.reading.layouts.ranked import chosen
from judgerank.reading.layouts.sample_scores import CHOICE, paired
from judgerank.reading.layouts.strength import shares_of
from judgerank.reading.layouts.table import EXACT, FEW_WITHOUT, refuse_missing_names, require_models, values
from judgerank.reading.layouts.tables import FEWEST, on_reading, on_unheard, winner_written
from judgerank.reading.layouts.unordered import by_name, in_shown_order

# Records of several tables in one, with the remarks that belong to them.
Part = tuple[Layout, Table, pd.DataFrame]  # records in the published columns, and the table they are of
SHARED = ("question_id", "model_a", "model_b", "judge_preferred_model")  # what makes two votes one
RECORDS_ARE_IN = "The records are in "  # begins the remark on a layout


def once(parts: Sequence[Part]) -> tuple[list[Part], list[str]]:
    """The parts without what an earlier file says too (`Layout.shared`), and what there is to say of that."""
    remaining, seen, n_repeated = [], set[tuple[object, ...]](), 0
    for layout, table, frame in parts:
        shared = layout.shared(frame)
        if not shared.any():
            remaining.append((layout, table, frame))
            continue
        columns = [frame[name][shared] for name in SHARED if name in frame]
        keys = pd.Series(list(zip(*columns, strict=True)), frame.index[shared], dtype=object)
        times = keys.groupby(keys).cumcount()  # what one file says twice is two votes
        named = [(layout.name, *key, time) for key, time in zip(keys, times, strict=True)]
        again = np.array([name in seen for name in named], bool)
        seen.update(named)
        n_repeated += int(again.sum())
        remaining.append((layout, table, frame.drop(index=keys.index[again]).reset_index(drop=True)))
    return remaining, [f"{n_repeated:,} human votes are in several files, and count once."] if n_repeated else []


def together(parts: Sequence[Part], names: str) -> tuple[pd.DataFrame, list[str]]:
    """All records in one table, scores made into comparisons, and what to know of it."""
    layouts = [layout for layout, *_ in parts]
    every, remarks = named_once([frame for *_, frame in parts], names)
    frames = [frame for frame, layout in zip(every, layouts, strict=True) if not layout.of_scores]
    scores = [frame for frame, layout in zip(every, layouts, strict=True) if layout.of_scores]
    remarks += dict.fromkeys(
        f"{RECORDS_ARE_IN}{layout.name}. {layout.remark}" for layout in layouts if layout.remark
    )
    remarks += _notes(parts)
    if scores:
        scores, by_file = _by_file(scores, [table for layout, table, _ in parts if layout.of_scores])
        remarks += by_file
        every_score = pd.concat(scores, ignore_index=True)
        is_choice = every_score.pop(CHOICE).eq(True) if CHOICE in every_score else np.zeros(len(every_score), bool)
        for rows, of_scores in ((is_choice, chosen), (~is_choice, paired)):
            if rows.any():
                made, remark = of_scores(every_score[rows].reset_index(drop=True))
                frames.append(made)
                remarks.append(remark)
    in_a_column = any(STRENGTH in layout.used(table) for layout, table, _ in parts)
    frame = frames[0] if len(frames) == 1 else _stacked(frames, in_a_column)
    remarks += [*on_questions(frame), *_on_order(layouts), *_on_weights(frame)]
    return frame, remarks


def _by_file(scores: list[pd.DataFrame], tables: Sequence[Table]) -> tuple[list[pd.DataFrame], list[str]]:
    """Scores of one model on the same samples in several files as those of a variant each; a remark on that."""
    every = pd.concat(scores, ignore_index=True)
    paths = [table.path for table in tables if table.path is not None]
    again = every.duplicated(["model", "question", ITEM, "judge"])
    if len(paths) < max(len(scores), 2) or (every["model"] != every["model"].iloc[0]).any() or not again.any():
        return scores, []
    names = [bare_name(path) for path in paths]
    names = names if len(set(names)) == len(names) else [table.label for table in tables]
    remark = f"All scores are of {every['model'].iloc[0]}: each file is a variant, by its name."
    return [frame.assign(model=name) for frame, name in zip(scores, names, strict=True)], [remark]


def _notes(parts: Sequence[Part]) -> list[str]:
    """Notes on single files; one that holds for all of them is given once."""
    notes = [(table.label, note) for layout, table, _ in parts for note in dict.fromkeys(layout.notes(table))]
    times = Counter(note for _, note in notes)
    return list(
        dict.fromkeys(f"{label}: {note}" if label and times[note] < len(parts) else note for label, note in notes)
    )


def _stacked(frames: Sequence[pd.DataFrame], in_a_column: bool) -> pd.DataFrame:
    """Records of several files, which must agree on having questions, lengths, and strength in a column.

    Strength in words is another matter: a file whose words say no more than better says better.
    """
    for name in ("question_id", "length"):
        has_column = {name in frame for frame in frames}
        if len(has_column) > 1:
            raise DataError(f"some of the files have {name!r}, and others do not: rank them apart")
    if not in_a_column and any(STRENGTH in frame for frame in frames):
        frames = [frame if STRENGTH in frame else frame.assign(**{STRENGTH: 1.0}) for frame in frames]
    frame = pd.concat(frames, ignore_index=True)
    if "count" in frame:
        frame["count"] = frame["count"].fillna(1)
    return frame


def _on_order(layouts: Sequence[Layout]) -> Iterator[str]:
    if len({layout.ordered for layout in layouts}) > 1:
        without = next(layout.name for layout in layouts if not layout.ordered)
        yield (
            f"Some files do not say which model was shown first ({without}), so no order is used in any of them: "
            "rank the others apart to see position bias."
        )


def _on_weights(frame: pd.DataFrame) -> Iterator[str]:
    if "outcome" in frame:
        weighted = pd.to_numeric(frame["outcome"][~in_stages(frame)]).dropna()
        if weighted.empty:
            return
        n_weighted = int((~weighted.isin(list(OUTCOMES.values()))).sum())
        are = "is a weight" if n_weighted == 1 else "are weights"
        yield (
            f"{counted(n_weighted, 'answer')} {are} between the two models; in shares of answers each is the "
            "nearer one's."
        )
        if n_weighted and "question_id" not in frame:
            yield (
                "Weights vary less than answers do. Without questions errors are those of answers, and intervals "
                "mostly too wide (--column question=NAME; a column that numbers the judgments will do)."
            )


def judgments_from(tables: Sequence[Table], name: str, source: Mapping[str, object] | None = None) -> Judgments:
    """Judgments in all of the tables; `judgerank.reading.read.read_judgments` says what is raised."""
    settled = [_settled(table) for table in tables]
    labels = [table.label for table in tables if table.label]
    with named(*labels):
        settled, versions = of_last_answers(settled)
        for layout, table in settled:
            _refuse_one_model(layout, table)
        settled, copies = without_copies(settled, tables[0].copies)
    read = [(layout, table, _read(layout, table)) for layout, table in settled]
    with named(*labels):
        parts, of_itself = _with_two_models(read)
    parts, left_out = _with_questions(parts)
    parts, votes = once(parts)
    with named(*labels):
        frame, remarks = together(parts, tables[0].names)
        remarks = [*versions, *on_reading(settled), *copies, *votes, *remarks]
        ordered = all(layout.ordered for layout, *_ in parts)
        always = winner_written(frame) if ordered else []
        side = 1.0 if (frame["judge_preferred_model"] == "a").any() else -1.0
        ordered = ordered and not always
        frame = frame if ordered else by_name(frame)
        comparisons = comparisons_of(frame, ordered)
        remarks = [*remarks_on_judges(frame, comparisons), *remarks]
    if left_out:
        comparisons = replace(comparisons, dropped={**comparisons.dropped, NO_QUESTION: left_out})
        remarks.insert(0, f"Left out: {counted(left_out, 'judgment')} without a question.")
    if of_itself:
        comparisons = replace(comparisons, dropped={**comparisons.dropped, ITSELF: of_itself})
        remarks.insert(0, f"Left out: {counted(of_itself, 'judgment')} of a model with itself.")
    if STRENGTH in frame and comparisons.strong is None:
        why = "there are rankings of several answers" if BEGINS in frame else "there are shares of a win"
        remarks.append(f"Strength is not used, since {why} among the records: read these by themselves.")
    layouts = list(dict.fromkeys(layout.name for layout, *_ in parts))
    provenance = {**(source or {}), "layout": layouts[0] if len(layouts) == 1 else layouts}
    provenance |= {"records": sum(len(table.frame) for table in tables), "dropped": dict(comparisons.dropped)}
    if always:
        provenance["winners_side"] = side
    return Judgments(name, name, frame, comparisons, provenance, remarks=(*always, *remarks))


def remarks_on_judges(frame: pd.DataFrame, comparisons: Comparisons) -> list[str]:
    """A remark on the judges of records none of whose answers could be read, where there are any."""
    return list(on_unheard(_unheard(frame, comparisons)))


def _unheard(frame: pd.DataFrame, comparisons: Comparisons) -> dict[str, int]:
    """Judges none of whose answers could be read, and how many answers each has."""
    left_out = frame[~frame["judge_model"].isin(comparisons.judges)]
    times = counts(left_out["count"]) if "count" in frame else np.ones(len(left_out))
    totals = pd.Series(times).groupby(left_out["judge_model"].to_numpy(object)).sum()
    return {str(judge): int(times) for judge, times in totals.items()}


def comparisons_of(frame: pd.DataFrame, ordered: bool = True) -> Comparisons:
    """The comparisons in records in the published columns, with the counts, shares and lengths beside them.

    Parameters
    ----------
    frame : DataFrame
    ordered : bool
        Whether ``model_a`` was shown first.

    Raises
    ------
    DataError
        If they are no comparisons, naming the record.
    """
    parsed = frame["judge_preferred_model"].isin(list(OUTCOMES)).to_numpy()
    comparisons = Comparisons.from_frame(frame, count="count" if "count" in frame else None)
    if "outcome" in frame:
        shares = pd.to_numeric(frame["outcome"][parsed]).to_numpy(float)
        comparisons = replace(comparisons, outcome=np.where(np.isnan(shares), comparisons.outcome, shares))
    if BEGINS in frame:
        comparisons = with_stages(comparisons, frame[parsed])
    if STRENGTH in frame and "outcome" not in frame:
        comparisons = replace(comparisons, strong=shares_of(frame)[parsed])
    if "length" in frame:
        comparisons = replace(comparisons, covariate=standardised_log(finite(frame["length"], parsed)))
    return comparisons if ordered else replace(comparisons, ordered=False)


def of_records(judgments: Judgments, which: pd.Index | pd.Series) -> Judgments:
    """Some of the records, by their labels or by whether each is one of them, as judgments without remarks."""
    frame = judgments.frame.loc[which].reset_index(drop=True)
    comparisons = comparisons_of(frame, judgments.ordered)
    z = judgments.comparisons.covariate
    if z is not None and comparisons.covariate is None:  # given without the lengths that it is of
        rows = pd.Series(z, judgments.frame.index[judgments.parsed])
        selected = judgments.frame.loc[which].index
        covariate = np.asarray(rows[selected[selected.isin(rows.index)]], np.float64)
        comparisons = replace(comparisons, covariate=covariate)
    return replace(judgments, frame=frame, comparisons=comparisons, remarks=())


def _settled(table: Table) -> tuple[Layout, Table]:
    """A table's layout, and the table with the names of that layout's columns."""
    with named(*filter(None, [table.label])):
        layout, table = recognised(table)
        _refuse_what_is_not_taken(table, layout)
        if table.baseline is not None and not layout.lacks_baseline(table):
            raise ConfigError(f"a baseline is given, but records in {layout.name} name both models: leave it out")
        return layout, table


def _read(layout: Layout, table: Table) -> pd.DataFrame:
    """A table's records; all that could be wrong with one is looked at here."""
    with named(*filter(None, [table.label])):
        frame = in_shown_order(layout.to_frame(with_answers(table, layout)))
        if table.names != EXACT:
            refuse_missing_names(frame)
        # what is wrong is named by its record and its column, so before any are put together or left out
        if not layout.of_scores:
            called = {key: table.spelled.get(names[0], names[0]) for key, names in layout.used(table).items()}
            require_models(frame, (called.get("model_a", "model_a"), called.get("model_b", "model_b")))
            judge = called.get("judge", "judge_model")
            codes(frame[["judge_model"]].set_axis([judge], axis=1), [judge])
            if "count" in frame:
                counts(frame["count"].rename(called.get("count", "count")))
        return frame


def _refuse_one_model(layout: Layout, table: Table) -> None:
    """Refuse a table of one model alone, before its equal records are taken for copies."""
    used = layout.used(table)
    if {"model_a", "model_b"} <= used.keys() and len(table.frame) > 1 and table.is_complete:
        first, second = (values(table.frame, used[key][0]) for key in ("model_a", "model_b"))
        if (first == second).all() and (first == first.iloc[0]).all():
            raise DataError(
                f"all {len(table.frame):,} records compare {str(first.iloc[0])!r} with itself: a comparison takes "
                "two models (--column model_a=NAME and --column model_b=NAME name their columns)"
            )


def _lacks_question(frame: pd.DataFrame) -> BoolArray:
    """Which records have no question though there is a column of them, shape (records,)."""
    has_questions = "question_id" in frame
    return frame["question_id"].isna().to_numpy() if has_questions else np.zeros(len(frame), bool)


def _with_questions(parts: Sequence[Part]) -> tuple[list[Part], int]:
    """The records without the few that lack a question, and how many judgments these are."""
    return _without(parts, [_lacks_question(frame) & (not layout.of_scores) for layout, _, frame in parts])


def _with_two_models(parts: Sequence[Part]) -> tuple[list[Part], int]:
    """The records without answers about a model and itself, and how many judgments these are.

    Raises
    ------
    DataError
        If there are no others.
    """
    itself = [_is_of_itself(layout, frame) for layout, _, frame in parts]
    if parts and all(rows.all() for rows in itself):
        models = next((frame["model_a"].iloc[0] for *_, frame in parts if len(frame)), None)
        if models is not None:
            raise DataError(f"record 1 compares {models!r} with itself, and no record compares two models")
    n_records, n_itself = sum(len(frame) for *_, frame in parts), sum(int(rows.sum()) for rows in itself)
    is_expected = any(table.baseline is not None for _, table, _ in parts)  # the baseline's own file
    if n_itself > FEW_WITHOUT * n_records and n_records >= FEWEST and not is_expected:
        row = next(int(rows.argmax()) for rows in itself if rows.any())
        raise DataError(
            f"{n_itself:,} of {n_records:,} records compare a model with itself, such as record {row + 1}: are "
            "these the right columns? (--column model_a=NAME --column model_b=NAME)"
        )
    return _without(parts, itself)


def _is_of_itself(layout: Layout, frame: pd.DataFrame) -> BoolArray:
    """Which records are answers about a model and itself, shape (records,); rankings and scores have none."""
    if layout.of_scores:
        return np.zeros(len(frame), bool)
    answered = frame["judge_preferred_model"].isin(list(OUTCOMES)).to_numpy()
    return np.asarray((frame["model_a"] == frame["model_b"]).to_numpy(bool) & answered & ~in_stages(frame))


def _without(parts: Sequence[Part], left_out: Sequence[BoolArray]) -> tuple[list[Part], int]:
    """The parts without some of their records, and how many judgments these are."""
    remaining, total = [], 0
    for (layout, table, frame), rows in zip(parts, left_out, strict=True):
        times = counts(frame["count"])[rows].sum() if rows.any() and "count" in frame else rows.sum()
        total += int(times)
        remaining.append((layout, table, frame[~rows].reset_index(drop=True) if rows.any() else frame))
    return remaining, total


def _refuse_what_is_not_taken(table: Table, layout: Layout) -> None:
    """Refuse names of columns, and words for the winner, that a layout has no use for."""
    if layout.accepts is None:
        return
    named = [key for key, name in table.specified.items() if name is not None and key not in layout.accepts]
    if named or table.words:
        what = f"--column {named[0]}=NAME is" if named else "winner values are"
        raise ConfigError(f"{what} not for {layout.name}: leave that out")
