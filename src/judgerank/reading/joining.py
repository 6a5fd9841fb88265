"""Records of several tables in one, with the remarks that belong to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import OUTCOMES
from judgerank.data.listing import counted
from judgerank.data.rankings import in_stages
from judgerank.data.strengths import STRENGTH
from judgerank.reading.layouts import Layout, Table
from judgerank.reading.layouts.names import named_once, on_questions
from judgerank.reading.layouts.sample_scores import paired

Part = tuple[Layout, Table, pd.DataFrame]  # records in the published columns, and the table they are of
SHARED = ("question_id", "model_a", "model_b", "judge_preferred_model")  # what makes two votes one


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
        f"The records are in {layout.name}. {layout.remark}" for layout in layouts if layout.remark
    )
    remarks += _notes(parts)
    if scores:
        made, remark = paired(pd.concat(scores, ignore_index=True))
        frames.append(made)
        remarks.append(remark)
    in_a_column = any(STRENGTH in layout.used(table) for layout, table, _ in parts)
    frame = frames[0] if len(frames) == 1 else _stacked(frames, in_a_column)
    remarks += [*on_questions(frame), *_on_order(layouts), *_on_weights(frame)]
    return frame, remarks


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
