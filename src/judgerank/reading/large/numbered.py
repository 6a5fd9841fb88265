"""Records of files as numbers, within an engine: a cell and an answer for each, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgerank.data.errors import DataError
from judgerank.data.frames import LARGEST_COUNT
from judgerank.data.strengths import STRENGTH
from judgerank.reading.files import Files, named
from judgerank.reading.large.engine import Engine
from judgerank.reading.large.labels import NULL, Names, coded
from judgerank.reading.large.sources import Source, sources_of, table, unexpected
from judgerank.reading.layouts import Layout, Table, recognised
from judgerank.reading.layouts.strength import tell_strength
from judgerank.reading.layouts.table import ASK, COUNTS
from judgerank.reading.layouts.tables import ARENA, NAMED, PAPER, WINNERS
from judgerank.reading.layouts.texts import plain
from judgerank.reading.layouts.words import meanings

STRONG = "says how strong answers are, which no engine counts: use judgerank.read"
PLAIN = (PAPER, ARENA, NAMED)
FAULT = -9  # in place of a cell, as are the answers below zero
Columns = Mapping[str, str | None]


@dataclass(frozen=True)
class Rows:
    """Records as an engine sees them.

    Attributes
    ----------
    sources : list of Source
    used : mapping of str to str
        Names of columns, by their keys in `judgerank.reading.layouts.table.COLUMNS`.
    column_names, words : mapping
        Names of columns and meanings of answers that were named for these files.
    names : Names
    layout : Layout
        Of the first file.
    sample : Table
        Its first records.
    """

    sources: list[Source]
    used: Mapping[str, str]
    column_names: Columns
    words: Mapping[str, str]
    names: Names
    layout: Layout
    sample: Table

    @property
    def labels(self) -> list[str]:
        """Labels of the files in a sentence."""
        return [source.label for source in self.sources]

    @property
    def counted(self) -> bool:
        """Whether records stand for several judgments: each has one answer, so that ties are known."""
        return "count" in self.used

    def texts(self, sources: Sequence[Source]) -> str:
        """A query for the columns that are used, as texts, by their keys."""
        columns = (f"CAST({sources[0].expression(name)} AS VARCHAR) AS {key}" for key, name in self.used.items())
        return f"SELECT {', '.join(columns)} FROM {table(sources, list(self.used.values()))}"

    def query(self, texts: str | None = None, also: str = "", require_question: bool = True) -> str:
        """A query for ``cell, answer, times`` of every record.

        The cell is ``(first N + second) K + judge``, or `FAULT`, or an answer below zero; an answer is twice the
        outcome.

        Parameters
        ----------
        texts : str, optional
            Where the texts come from; of all files by default.
        also : str
            Further columns, of the texts ``r`` and the codes ``a``, ``b`` and ``j`` of the names.
        require_question : bool
            Whether a record without a question is at fault, where questions are read.
        """
        times, kind = "1.0::DOUBLE", "TRY_CAST(r.count AS DOUBLE)"
        wrong = ["a.code IS NULL", "b.code IS NULL", "a.code = b.code"]
        joins = [f"LEFT JOIN models {alias} ON r.model_{alias} = {alias}.text" for alias in "ab"]
        judge = "0"
        if "judge" in self.used:
            judge = "j.code"
            wrong.append("j.code IS NULL")
            joins.append("LEFT JOIN judges j ON r.judge = j.text")
        if self.counted:
            times = kind
            wrong.append(
                f"NOT coalesce({kind} BETWEEN 1 AND {LARGEST_COUNT:.0f} AND {kind} = round({kind}), false)"
            )
        if require_question and "question" in self.used:
            wrong.append("coalesce(r.question, '') IN ('', '\"\"')")
        by_model_name = (
            "CASE w.model WHEN a.code THEN 2 WHEN b.code THEN 0 END"  # an answer that is a model's name
        )
        answer = f"CASE WHEN r.winner IS NULL THEN {NULL} ELSE coalesce({by_model_name}, w.letter) END"
        wrong += [f"{answer} IS NULL", f"coalesce({by_model_name} <> w.letter, false)"]
        cell_number = f"(a.code * {len(self.names.models)} + b.code) * {len(self.names.judges)} + {judge}"
        cell = (
            f"CASE WHEN {' OR '.join(wrong)} THEN {FAULT} WHEN {answer} < 0 THEN {answer} ELSE {cell_number} END"
        )
        return (
            f"SELECT {cell} AS cell, {answer} AS answer, {times} AS times{also} FROM "
            f"({texts or self.texts(self.sources)}) r {' '.join(joins)} LEFT JOIN words w ON r.winner = w.text"
        )


def rows_of(
    db: Engine,
    files: Files,
    form: str | None,
    columns: Columns | None,
    winner_values: Mapping[str, str] | None,
    required: Iterable[str] = (),
    optional: Iterable[str] = (),
) -> Rows:
    """Look at all files once, for the names in them.

    Parameters
    ----------
    required : iterable of str
        Keys of columns that are needed beside those of a comparison.
    optional : iterable of str
        Keys of columns that are read beside those if they are there.

    Raises
    ------
    ConfigError, DataError, DataUnavailableError
        As of `judgerank.read`; or if the files are in no plain layout.
    """
    column_names, words, keys = dict(columns or {}), meanings(winner_values), (tuple(required), tuple(optional))
    sources = sources_of(db, files, form)
    read = [
        _columns(Table(source.sample(db), column_names, words, None, source.label), source, *keys)
        for source in sources
    ]
    used, layout, sample = read[0]
    for entry, source in zip(read, sources, strict=True):
        if entry[0] != used:
            raise DataError(f"{sources[0].label} and {source.label} have different columns: use judgerank.read")
    with named(*(source.label for source in sources)):
        _refuse_what_comes_late(db, sources, used)
        if column_names.get("count", ASK) == ASK and "count" not in used:
            _refuse_counts(db, sources, used)
        names = coded(db, sources, used, words)
        if tell_strength(names.spoken):
            raise DataError(f"column {used['winner']!r} {STRONG}")
        return Rows(sources, used, column_names, words, names, layout, sample)


def _columns(
    sample: Table, source: Source, required: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[dict[str, str], Layout, Table]:
    """The columns that are read of a file, by their keys; its layout, and its first records in that."""
    with named(source.label):
        layout, sample = recognised(sample)
        if layout not in PLAIN:
            raise DataError(f"the records are in {layout.name}, which are not for an engine: use judgerank.read")
        used = {key: names[0] for key, names in layout.used(sample).items()}
        if "swapped" in used:
            raise DataError("an engine does not turn records that were shown the other way: use judgerank.read")
        used = {key: sample.spelled.get(name, name) for key, name in used.items()}
        missing = next((key for key in required if key not in used), None)
        if missing is not None:
            raise DataError(f"the table has no column for the {missing} (--column {missing}=NAME names it)")
        if "length" in used:
            raise DataError(
                f"column {used['length']!r} becomes a covariate, which no engine makes: use judgerank.read"
            )
        if STRENGTH in used:
            raise DataError(f"column {used[STRENGTH]!r} {STRONG}")
        winners = [name for name in WINNERS if name in source.columns]
        if len(winners) > 1 and not sample.specified.get("winner"):
            raise DataError(f"there are winners in {' and in '.join(winners)} (--column winner=NAME chooses one)")
        twice = next((name for name in used.values() if source.columns.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"the table has {source.columns.count(twice)} columns {twice!r}")
    selected = {key: name for key, name in used.items() if key != "question" or key in (*required, *optional)}
    return selected, layout, sample


def _refuse_what_comes_late(db: Engine, sources: Sequence[Source], used: Mapping[str, str]) -> None:
    """Refuse JSON whose first records lack a column that would mean something and that later ones have."""
    if not sources[0].of_json:
        return
    late = [
        name
        for name in unexpected([name for source in sources for name in source.columns])
        if name not in used.values()
    ]
    sums = ", ".join(f"count({sources[0].expression(name)})" for name in late)
    counts = db.rows(f"SELECT {sums} FROM {table(sources, late)}")[0] if late else ()
    for name, times in zip(late, counts, strict=True):
        if times:
            raise DataError(f"{times} records have {name!r}, and the first ones do not: use judgerank.read")


def _refuse_counts(db: Engine, sources: Sequence[Source], used: Mapping[str, str]) -> None:
    """Refuse a column by whose name records may count more than once (`judgerank.reading.layouts.table`)."""
    for name in dict.fromkeys(name for source in sources for name in source.columns):
        if plain(name) in COUNTS and name not in used.values():
            number = f"TRY_CAST(CAST({sources[0].expression(name)} AS VARCHAR) AS DOUBLE)"
            query = (
                f"SELECT count({number}), count(*) FILTER ({number} = 1), count(*) FROM {table(sources, [name])}"
            )
            n_numbers, ones, size = db.rows(query)[0]
            if n_numbers and ones < size:
                raise DataError(
                    f"column {name!r} looks like one of counts (--column count={name} counts records so often; "
                    "--column count=null counts each once)"
                )
