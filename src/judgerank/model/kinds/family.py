"""Own family: judges who prefer their own answers, or those of other models of their maker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

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
        raise ConfigError(f"block 'family' takes one table, and {len(files)} are named")
    path = Path(files[0]) if files else TABLE

    def design(records: Records) -> Design:
        c, table = records.comparisons, own_table() if path == TABLE else read_families(path)
        of_all = families_of((*c.judges, *c.models), table)
        families, model_families = of_all[: len(c.judges)], of_all[len(c.judges) :]
        judges, models = [plain(name) for name in c.judges], [plain(name) for name in c.models]
        is_self = np.array([[judge == model for model in models] for judge in judges])  # (K, N)
        maker = (
            np.array(
                [
                    [family != "" and family == model_family for model_family in model_families]
                    for family in families
                ]
            )
            & ~is_self
        )
        first, second = (c.judge.astype(np.intp) * len(c.models) + end for end in (c.first, c.second))
        columns = {
            name: kind.take(first) - kind.take(second)
            for name, kind in ((OWN, is_self.astype(float)), (MAKER, maker.astype(float)))
        }
        nonempty = {name: values for name, values in columns.items() if values.any()}
        if not nonempty:
            raise DataError(
                "block 'family' has nothing to go by: no judge compares its own or its maker's answers with others"
            )
        return Design(csr_array(np.column_stack(list(nonempty.values()))), tuple(nonempty))

    return (Block("family", Role.OFFSET, design, what="preference in log-odds"),)


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
