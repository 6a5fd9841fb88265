"""Names of models and judges that look the same, or differ in case alone: one of each, or as they are written."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.reading.accepted import NAMES
from judgerank.reading.layouts.table import EXACT, Layout, Table, names_of, values
from judgerank.reading.layouts.texts import seen, visible

OF = {"models": ("model", "model_a", "model_b"), "judges": ("judge", "judge_model")}
HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-")
WHOLE = re.compile(r"(-?\d+)\.0+")  # a whole number as a column with gaps has it
SHOWN = 3  # groups of names in a sentence
Written = dict[str, Counter[str]]  # spellings with their records, by the name that they are


def require_names(names: str) -> None:
    """Refuse anything but the ways in which names can be read.

    Raises
    ------
    ConfigError
    """
    if names not in NAMES:
        raise ConfigError(f"names are read in one of the ways {', '.join(NAMES)}, not {names!r}")


def with_answers(table: Table, layout: Layout) -> Table:
    """The table with answers that are names written as the models of their records are, and no blanks around."""
    if table.names == EXACT:
        return table
    used = layout.used(table)
    pair = [used[key][0] for key in ("model_a", "model_b") if used.get(key) and used[key][0] in table.frame]
    models = [names_of(table, name).tolist() for name in pair]
    same = _folded if table.names == "fold" else _same
    model_names = {same(model) for column in models for model in {*filter(_is_text, column)}}
    columns = {}
    for name in (*used.get("winner", ()), *used.get("judges", ())):
        answers = values(table.frame, name).tolist()
        cleaned = {text: visible(text) for text in {*filter(_is_text, answers)} if same(text) not in model_names}
        written = [
            cleaned[text]
            if _is_text(text) and text in cleaned
            else _as_written(text, [column[row] for column in models], same)
            for row, text in enumerate(answers)
        ]
        if written != answers:
            columns[name] = pd.Series(written, table.frame.index, dtype=object)
    return replace(table, frame=table.frame.assign(**columns)) if columns else table


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _as_written(text: object, models: Sequence[object], same: Callable[[str], str]) -> object:
    if not isinstance(text, str) or text in models:
        return text
    same_models = (model for model in models if isinstance(model, str) and same(model) == same(text))
    return next(same_models, visible(text))


def _same(name: str) -> str:
    """A key that is the same for names that look the same: hyphens of any kind, whole numbers ending in .0."""
    text = seen(name).translate(HYPHENS)
    match = WHOLE.fullmatch(text)
    return match[1] if match else text


def _folded(name: str) -> str:
    return _same(name).casefold()


def named_once(frames: Sequence[pd.DataFrame], names: str) -> tuple[list[pd.DataFrame], list[str]]:
    """Records in which every model and judge has one name, and what was done for that.

    Raises
    ------
    DataError
        If names differ in case alone, and nobody said what they are.
    """
    frames, remarks = list(frames), []
    for what, columns in OF.items():
        same = _written(frames, columns, _same)
        alike = _written(frames, columns, _folded)
        differ = [counts for counts in alike.values() if len({_same(name) for name in counts}) > 1]
        if names == EXACT:
            unmerged = [counts for counts in alike.values() if len(counts) > 1]
            remarks += [f"Kept apart as written, though they look alike: {_listed(unmerged)}."] if unmerged else []
            continue
        if differ and names == "ask":
            raise DataError(
                f"these {what} differ in case alone: {_listed(differ)} (--names fold reads them as one, --names "
                "exact keeps them apart)"
            )
        groups = alike if names == "fold" else same
        several = [counts for counts in groups.values() if len(counts) > 1]
        if several:
            reason = "look alike or differ in case" if names == "fold" else "look the same"
            remarks.append(
                f"{what.capitalize()} whose names {reason} are one: {_listed(several)} (--names exact keeps them "
                "apart)."
            )
        new = {name: _usual(counts) for counts in groups.values() for name in counts}
        frames = [_renamed(frame, columns, new) for frame in frames]
    return frames, remarks


def _written(frames: Iterable[pd.DataFrame], columns: Iterable[str], same: Callable[[str], str]) -> Written:
    spellings: Written = defaultdict(Counter)
    counts = Counter(
        name for frame in frames for column in columns if column in frame for name in frame[column].tolist()
        if isinstance(name, str)
    )  # fmt: skip
    for name, times in sorted(counts.items()):
        spellings[same(name)][name] = times
    return spellings


def _usual(counts: Counter[str]) -> str:
    """The spelling that most records have, without what no reader sees; a whole number without a zero behind."""
    times: Counter[str] = Counter()
    for name, count in counts.items():
        times[visible(name)] += count
    return min(times, key=lambda name: (WHOLE.fullmatch(name) is not None, -times[name], name))


def _renamed(frame: pd.DataFrame, columns: Iterable[str], new: dict[str, str]) -> pd.DataFrame:
    if all(old == name for old, name in new.items()):
        return frame
    present = [column for column in columns if column in frame]
    renamed = {
        column: [new[name] if isinstance(name, str) else name for name in frame[column].tolist()]
        for column in present
    }
    return frame.assign(**{column: pd.Series(some, frame.index, dtype=object) for column, some in renamed.items()})


def _listed(groups: Sequence[Counter[str]]) -> str:
    parts = [" and ".join(f"{name!a} ({times})" for name, times in counts.items()) for counts in groups[:SHOWN]]
    more = f"; and {len(groups) - SHOWN} more" if len(groups) > SHOWN else ""
    return "; ".join(parts) + more


def alike(names: Iterable[str]) -> list[str]:
    """The first names that look the same, or differ in case alone; none if all are different."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[_folded(name)].append(name)
    return next((group for group in groups.values() if len(group) > 1), [])


def on_questions(frame: pd.DataFrame) -> list[str]:
    """That ids of questions look the same and are not, where some are."""
    if "question_id" not in frame:
        return []
    return on_ids([name for name in frame["question_id"].unique() if isinstance(name, str)])


def on_ids(ids: Sequence[str]) -> list[str]:
    """A note on ids of questions that look the same and are not, of different ids."""
    together = "".join(ids)
    if together.isascii() and len(together.split()) <= 1:  # nothing in them is invisible
        return []
    n_alike = len(ids) - len({seen(name) for name in ids})
    if not n_alike:
        return []
    return [f"{n_alike} ids of questions differ from others in invisible signs alone, and count as different."]
