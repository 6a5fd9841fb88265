"""Which judgments count: those of some judges, models and categories, left out or kept by request.

One rule for the options of commands and the arguments of `judgerank.read` and `judgerank.rank`: ``--without-judge
NAME``, given as often as needed, is ``without_judge=["NAME", ...]``, or one name as a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import TypedDict

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.frames import BY_REQUEST, NO_QUESTION, OUTCOMES, UNHEARD
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, noun
from judgerank.data.rankings import Ranked, in_stages, ranked_among, rankings_of, rows_of
from judgerank.reading.from_tables import of_records, remarks_on_judges
from judgerank.reading.layouts.ranked import as_rows
from judgerank.reading.layouts.table import ONE_JUDGE

JUDGE, MODELS, CATEGORY = "judge_model", ("model_a", "model_b"), "category"  # columns of records
NEAR = 0.6  # similarity from which a name may be meant by another


class Filters(TypedDict, total=False):
    """Arguments of functions that leave judgments out or keep them, as of `judgerank.read`."""

    without_judge: str | Iterable[str]
    only_judge: str | Iterable[str]
    without_model: str | Iterable[str]
    category: str | Iterable[str]


@dataclass(frozen=True)
class Selection:
    """Names by which judgments are left out or kept.

    Attributes
    ----------
    without_judge : tuple of str
        Judges whose judgments do not count.
    only_judge : tuple of str
        If there are any, the judges whose judgments alone count.
    without_model : tuple of str
        Models whose comparisons do not count. A ranking of several answers is one of the others.
    category : tuple of str
        If there are any, the categories whose judgments alone count.
    """

    without_judge: tuple[str, ...] = ()
    only_judge: tuple[str, ...] = ()
    without_model: tuple[str, ...] = ()
    category: tuple[str, ...] = ()

    @classmethod
    def of(cls, **names: str | Iterable[str]) -> Selection:
        """The names as they are given: one as a text, or any number of them."""
        listed_names = {key: [value] if isinstance(value, str) else value for key, value in names.items()}
        return cls(**{key: tuple(dict.fromkeys(map(str, value))) for key, value in listed_names.items()})

    def __bool__(self) -> bool:
        return any(self.as_dict().values())

    def as_dict(self) -> dict[str, list[str]]:
        """The names by the arguments that take them, those with any."""
        return {field.name: list(getattr(self, field.name)) for field in fields(self) if getattr(self, field.name)}

    def options(self) -> list[str]:
        """The names as options of a command."""
        return [word for key, names in self.as_dict().items() for name in names for word in (option_of(key), name)]

    def applied(self, judgments: Judgments) -> Judgments:
        """The judgments that count, with a remark on how many do not; without names all of them, as they are.

        Raises
        ------
        ConfigError
            If no record has one of the names, or there are no categories.
        DataError
            If no judgment is left.
        """
        if not self:
            return judgments
        n_before, frame = round(judgments.comparisons.n_comparisons), judgments.frame
        keep, models = self._kept(frame), self._models(frame)
        if models is not None and judgments.comparisons.stages is not None:
            frame, keep = rankings_changed(judgments, lambda ranking, _: ranked_among(ranking, models), keep)
        if models is not None:
            keep &= np.logical_and(*(frame[side].isin(models).to_numpy() for side in MODELS))
        if not frame["judge_preferred_model"][keep].isin(list(OUTCOMES)).any():
            raise DataError(
                f"no judgment is left of the {n_before:,} that could be read, without {self._sentence()}: change "
                f"{' or '.join(map(option_of, self.as_dict()))}"
            )
        remaining = of_records(replace(judgments, frame=frame), pd.Series(keep, frame.index))
        return self._described(judgments, remaining, n_before)

    def _kept(self, frame: pd.DataFrame) -> BoolArray:
        """Which records are by judges and of categories that count, shape (records,)."""
        keep = np.ones(len(frame), bool)
        names = _names_in(frame, (JUDGE,))
        for key in ("without_judge", "only_judge"):
            if getattr(self, key):
                _require_known(key, getattr(self, key), names, "judge")
        both = [name for name in self.only_judge if name in self.without_judge]
        if both:
            raise ConfigError(
                f"{both[0]!r} is both in --only-judge and in --without-judge: name it in one of them"
            )
        if self.without_judge:
            keep &= ~frame[JUDGE].isin(self.without_judge).to_numpy()
        if self.only_judge:
            keep &= frame[JUDGE].isin(self.only_judge).to_numpy()
        if self.category:
            if CATEGORY not in frame:
                raise ConfigError("the judgments name no categories (--column category=NAME names their column)")
            present = frame[CATEGORY].notna().to_numpy()
            texts = frame[CATEGORY].astype(str)
            _require_known("category", self.category, sorted({*texts[present]}), "category")
            keep &= present & texts.isin(self.category).to_numpy()
        return keep

    def _models(self, frame: pd.DataFrame) -> tuple[str, ...] | None:
        """The models that stay; None if no model is named."""
        if not self.without_model:
            return None
        names = _names_in(frame, MODELS)
        _require_known("without_model", self.without_model, names, "model")
        return tuple(name for name in names if name not in self.without_model)

    def _described(self, judgments: Judgments, remaining: Judgments, n_before: int) -> Judgments:
        """What is left of judgments, with the request in its source and a remark."""
        n_left_out = n_before - round(remaining.comparisons.n_comparisons)
        compared = "judgment" if judgments.comparisons.stages is None else "comparison"
        remark = (
            f"{BY_REQUEST}{n_left_out:,} of {n_before:,} {noun(n_before, compared)} ({self._sentence()})."
            f"{_on_lost_models(judgments, remaining, self.without_model)}"
        )
        comparisons = remaining.comparisons
        if NO_QUESTION in judgments.comparisons.dropped:  # left out before, whosever they were
            dropped = {**comparisons.dropped, NO_QUESTION: judgments.comparisons.dropped[NO_QUESTION]}
            comparisons = replace(comparisons, dropped=dropped)
        others = [text for text in judgments.remarks if not text.startswith(UNHEARD)]
        request = {**self.as_dict(), "left_out": n_left_out, "of": n_before}
        source = {
            **judgments.source,
            "filter": [*judgments.source.get("filter", []), request],
            "options": [*judgments.source.get("options", []), *self.options()],
        }
        remarks = (*remarks_on_judges(remaining.frame, comparisons), remark, *others)
        return replace(remaining, comparisons=comparisons, source=source, remarks=remarks)

    def _sentence(self) -> str:
        return "; ".join(self._parts())

    def _parts(self) -> Iterator[str]:
        for key, what in (("without_judge", "judge"), ("without_model", "model")):
            names = getattr(self, key)
            if names:
                yield f"{noun(len(names), what)} {listed(names)}"
        if self.only_judge:
            yield f"all judges but {listed(self.only_judge)}"
        if self.category:
            yield f"all categories but {listed(self.category)}"


NOTHING = Selection()


def option_of(argument: str) -> str:
    """The option of a command by the argument of a function."""
    return f"--{argument.replace('_', '-')}"


def rankings_changed(
    judgments: Judgments, change: Callable[[Ranked, int], Ranked | None], keep: BoolArray
) -> tuple[pd.DataFrame, BoolArray]:
    """Records with changed rankings in place of rankings, and which of them are kept, shape (records,).

    Parameters
    ----------
    judgments : Judgments
    change : callable
        Of a ranking and its first record, what takes its place; None for nothing.
    keep : bool array, shape (records,)
        Which records are kept; of a ranking, whether its first one is.
    """
    frame, is_ranked = judgments.frame, in_stages(judgments.frame)
    rankings, first_records = rankings_of(judgments)
    selected = [
        (ranked, record)
        for ranking, record in zip(rankings, first_records.tolist(), strict=True)
        if keep[record] and (ranked := change(ranking, record)) is not None
    ]
    alone = frame[~is_ranked]
    if not selected:
        return alone, keep[~is_ranked]
    records = [record for _, record in selected]
    of_rankings = [*rows_of([]).columns.drop("record"), "judge_preferred_model"]
    context = frame.iloc[records].drop(columns=of_rankings, errors="ignore")
    rows = as_rows([ranked for ranked, _ in selected], context.assign(record_index=records))
    rows = rows.set_index("record_index").rename_axis(None)
    joined = pd.concat([rows, alone]) if len(alone) else rows
    order = np.argsort(joined.index.to_numpy(), kind="stable")
    keep = np.r_[np.ones(len(rows), bool), keep[~is_ranked]][order]
    return joined.iloc[order].reset_index(drop=True)[[*frame.columns]], keep


def _names_in(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Names in columns of records, sorted."""
    return sorted({str(name) for column in columns for name in frame[column].unique()})


def _require_known(argument: str, names: Iterable[str], known: Sequence[str], what: str) -> None:
    """Refuse a name that no record has, and say which one may be meant.

    Raises
    ------
    ConfigError
    """
    for name in names:
        if name in known:
            continue
        option = f"{option_of(argument)} {name}"
        if list(known) == [ONE_JUDGE]:
            raise ConfigError(f"{option}: the judgments name no judges (--column judge=NAME names their column)")
        folded = {text.casefold(): text for text in reversed(known)}
        near = get_close_matches(name.casefold(), folded, 1, NEAR)
        hint = f"did you mean {folded[near[0]]!r}?" if near else f"there are: {listed(known)}"
        raise ConfigError(f"{option}: there is no {what} {name!r}; {hint}")


def _on_lost_models(judgments: Judgments, remaining: Judgments, without: Sequence[str]) -> str:
    """That models which nobody asked to leave out have no judgment left; empty if there are none."""
    lost = {*judgments.comparisons.models} - {*remaining.comparisons.models} - {*without}
    if not lost:
        return ""
    return f" No judgment is left of {counted(len(lost), 'model')}: {listed(sorted(lost))}."
