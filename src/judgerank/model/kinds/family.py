"""Own family: judges who prefer their own answers, or those of other models of their maker."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import component_numbers
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.model.block import Block, Design, Records, Role

OWN, MAKER = "its own answers", "its maker's other models"
TABLE = Path(__file__).with_name("families.csv")


def block(*files: str) -> tuple[Block, ...]:
    """A common preference for one's own answers, and one for those of one's maker.

    Parameters
    ----------
    files : str
        A table of your own, CSV with columns ``begins`` and ``family``: a name belongs to the family whose
        beginning it has, in any case and after any folder; the longest beginning counts. By default the table
        ``families.csv`` beside this module.

    Raises
    ------
    ConfigError
        If more than one file is named.
    """
    if len(files) > 1:
        raise ConfigError(f"block 'family' requires one table, and {len(files)} are named")
    path = Path(files[0]) if files else TABLE

    def design(records: Records) -> Design:
        c, table = records.comparisons, own_table() if path == TABLE else read_families(path)
        labels, values = own_columns(c, relations(c.judges, c.models, table=table))
        if not labels:
            raise DataError(
                "block 'family' has nothing to go by: no judge compares its own or its maker's answers with others"
            )
        return Design(csr_array(values), labels)

    return (Block("family", Role.OFFSET, design, what="preference in log-odds"),)


@dataclass(frozen=True, eq=False)
class Relations:
    """Which models are a judge's own, or its maker's.

    Attributes
    ----------
    makers : tuple of str
        Maker of each judge; empty where nobody knows.
    is_self, is_makers : bool array, shape (K, N)
        Whether a model is the judge itself, and whether it is another one of the same maker.
    """

    makers: tuple[str, ...]
    is_self: BoolArray
    is_makers: BoolArray

    @property
    def is_own(self) -> BoolArray:
        """Whether a model is the judge itself or its maker's, shape (K, N)."""
        return self.is_self | self.is_makers

    def votes(self, c: Comparisons) -> BoolArray:
        """Whether a comparison has a model of its judge's maker, or two; shape (T,)."""
        judge = c.judge.astype(np.intp)
        return np.asarray(self.is_own[judge, c.first] | self.is_own[judge, c.second])


def counted_votes(
    c: Comparisons, is_own: BoolArray, part: IntArray | None = None, number: IntArray | None = None
) -> BoolArray:
    """Which votes count if none is to count on models of the judge's maker, shape (T,).

    Such a vote counts all the same if it joins two models that no chain of the others connects.

    Parameters
    ----------
    c : Comparisons
    is_own : bool array, shape (T,)
        `Relations.votes`.
    part : int array, shape (N,), optional
        `component_numbers` of the others.
    number : int array, shape (T,), optional
        Of the ranking that a comparison belongs to, which counts as a whole.
    """
    part = component_numbers(c, ~is_own) if part is None else part
    number = np.arange(len(c)) if number is None else number
    joins = np.bincount(number, part[c.first] != part[c.second]) > 0
    return np.asarray(~is_own | joins[number])


def relations(
    judges: Sequence[str],
    models: Sequence[str],
    facts: Mapping[str, str] | None = None,
    table: pd.DataFrame | None = None,
) -> Relations:
    """Compare the makers of judges with those of models.

    Parameters
    ----------
    judges, models : sequence of str
        K and N names.
    facts : mapping of str to str, optional
        Makers of models or judges by name, where their names do not say it; they come before the table.
    table : DataFrame, optional
        As of `read_families`; by default the one beside this module.
    """
    given = {plain(name): maker for name, maker in (facts or {}).items() if maker.strip()}
    names = [*judges, *models]
    by_name = families_of(names, own_table() if table is None else table)
    makers = [given.get(plain(name), family) for name, family in zip(names, by_name, strict=True)]
    of_judges, of_models = makers[: len(judges)], makers[len(judges) :]
    is_self = _pairs_where(list(map(plain, judges)), list(map(plain, models)), str.__eq__)
    same = _pairs_where(of_judges, of_models, _is_same_maker)
    return Relations(tuple(of_judges), is_self, same & ~is_self)


def _pairs_where(first: Sequence[str], second: Sequence[str], holds: Callable[[str, str], bool]) -> BoolArray:
    """Whether something holds of every name of `first` with every one of `second`; each two names once."""
    (rows, i), (columns, j) = (
        np.unique(np.array(names, object), return_inverse=True) for names in (first, second)
    )
    of_distinct = [[holds(a, b) for b in columns] for a in rows] if len(columns) else np.zeros((len(rows), 0))
    return np.asarray(of_distinct, bool).reshape(len(rows), len(columns))[i[:, None], j]


@lru_cache(maxsize=4096)
def _is_same_maker(first: str, second: str) -> bool:
    """Whether two names of makers are one: Mistral is Mistral AI, and openai is OpenAI Inc."""
    short, long = sorted((re.findall(r"\w+", name.lower()) for name in (first, second)), key=len)
    return bool(short) and long[: len(short)] == short


def own_columns(c: Comparisons, related: Relations) -> tuple[tuple[str, ...], FloatArray]:
    """Whether the first model of each row is the judge's own, less whether the second is; likewise its maker's.

    Returns
    -------
    labels : tuple of str
        `OWN` and `MAKER`, those that some row differs in.
    values : float array, shape (T, len(labels))
    """
    judge = c.judge.astype(np.intp)
    columns = {
        name: kind[judge, c.first].astype(float) - kind[judge, c.second]
        for name, kind in ((OWN, related.is_self), (MAKER, related.is_makers))
    }
    nonempty = {name: values for name, values in columns.items() if values.any()}
    return tuple(nonempty), np.column_stack([*nonempty.values(), np.empty((len(c), 0))])


def plain(name: str) -> str:
    """A model's name without folders, in lower case."""
    return name.rsplit("/", 1)[-1].lower()


def families_of(names: Sequence[str], table: pd.DataFrame) -> list[str]:
    """Family of each name, or nothing."""
    prefixes = zip(map(str.lower, table["begins"].tolist()), table["family"].tolist(), strict=True)
    longest = sorted(prefixes, key=lambda prefix: -len(prefix[0]))  # of equally long ones the first counts
    called = map(plain, names)
    return [next((str(family) for begin, family in longest if name.startswith(begin)), "") for name in called]


def family_of(name: str, table: pd.DataFrame) -> str:
    """Family of a name, or nothing."""
    return families_of([name], table)[0]


@lru_cache(maxsize=1)
def own_table() -> pd.DataFrame:
    """The table beside this module, read once; not to be written to."""
    return read_families(TABLE)


def read_families(path: Path) -> pd.DataFrame:
    """A table of families: ``begins, family``.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    DataError
        If it lacks a column, or a field is empty.
    """
    try:
        table = pd.read_csv(path, dtype=str, comment="#", keep_default_na=False)
    except FileNotFoundError:
        raise DataUnavailableError(f"there is no table of families {path}") from None
    except (pd.errors.ParserError, UnicodeDecodeError, pd.errors.EmptyDataError) as error:
        raise DataError(f"{path} cannot be read as a table of families: {error}") from None
    missing = [name for name in ("begins", "family") if name not in table]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}")
    empty = (table[["begins", "family"]] == "").any(axis=1)
    if empty.any():
        raise DataError(f"line {int(empty.to_numpy().argmax()) + 2} of {path} has an empty field")
    return table
