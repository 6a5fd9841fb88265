"""Your own models and judges: from judgments to a ranking, and to a folder with a page and tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import LONGEST, counted, shortened
from judgerank.fits.presentation import MOST, board_figure, percent
from judgerank.ranking import exports
from judgerank.ranking.choices import LIKE_THESE, SHRUNK, Record, Settings, cluster_of, kept_for
from judgerank.ranking.exports import write_tables
from judgerank.ranking.findings import findings, ranked_set
from judgerank.ranking.page import to_html
from judgerank.ranking.page_options import Additions
from judgerank.ranking.recusal import RECUSE
from judgerank.ranking.verdict import reading_lines, verdict
from judgerank.reading.files import behind
from judgerank.reading.read import Source, read_judgments
from judgerank.reading.selection import Selection
from judgerank.writing.atomic import staged, versions
from judgerank.writing.targets import Outputs

if TYPE_CHECKING:  # an optional extra
    from matplotlib.figure import Figure

# A ranking as a folder: its page, its tables, and where they came from.
VERSIONED = ("judgerank", "numpy", "scipy", "pandas")
SECTION = "rank"  # by which an earlier ranking in a folder is known


def write(
    ranking: Record, target: Path, force: bool = False, raw: bool = False, additions: Additions | None = None
) -> Path:
    """Write everything into a folder, or nothing; see `Record.write`."""
    Outputs(behind(ranking.judgments), force).folder(target, SECTION, ranking.judgments.source.get("path"))
    try:
        with staged(target, force=force) as folder:
            write_tables(ranking.tables, folder, raw)
            (folder / "index.html").write_text(to_html(ranking, True, additions), encoding="utf-8")
            (folder / "run.json").write_text(json.dumps(record(ranking), indent=2) + "\n")
    except OSError as error:  # no right to write there, no room, or a file where a folder should be
        raise ConfigError(f"the ranking cannot be written to {target}: {error.strerror or error}") from None
    return target / "index.html"


def record(ranking: Record) -> dict[str, object]:
    """All that is needed to rank again: the source, the settings and the versions."""
    return {
        "section": SECTION,
        "source": ranking.judgments.source,
        "settings": asdict(ranking.settings),
        "versions": versions(VERSIONED),
    }


MOST_ROWS = 20  # of the leaderboard as text: with more, the verdict above it is out of sight
OF_GROUPS = "group: models that share a letter are not significantly different"
LONGEST_NAME = 37  # characters of a model in it, so that a row fits a terminal


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Record):
    """All that is known of the models and judges of a set of judgments, with ways to show and keep it.

    Attributes
    ----------
    judgments, settings, fits, remarks, tables
        Those of `Record`.

    Examples
    --------
    >>> import judgerank
    >>> ranking = judgerank.rank(judgerank.example())
    >>> ranking.leaderboard['model'].tolist()[:2]
    ['oak', 'maple']
    """

    def to_html(self, additions: Additions | None = None) -> str:
        """The page as one HTML text that needs nothing beside it; with `additions`, what else to show."""
        return to_html(self, additions=additions)

    def write(
        self, folder: str | Path, *, force: bool = False, raw: bool = False, additions: Additions | None = None
    ) -> Path:
        """Write the page, the tables and ``run.json`` into a folder: all of them, or none.

        Tables are CSV; beyond 100,000 rows Parquet, where the extra ``parquet`` is installed.

        Parameters
        ----------
        folder : path
        force : bool
            Whether to write into a folder with other files, too; a copy is kept of those that are replaced.
        raw : bool
            Whether names in CSV are as they are. By default a ``'`` is put before those that a spreadsheet would
            take for formulas, since they start with ``= + - @``, a tab or a carriage return.
        additions : Additions, optional
            What else the page shows: facts on the models, changes since an earlier ranking, the texts judged.

        Returns
        -------
        Path
            The page.

        Raises
        ------
        ConfigError
            If the folder holds anything but an earlier ranking of the same source, or cannot be written to.
        """
        return write(self, Path(folder), force, raw, additions)

    @property
    def leaderboard(self) -> pd.DataFrame:
        """A row for each model, best first: ``rank, model, score, low, high, win_rate, ...``, as reported.

        Examples
        --------
        >>> import judgerank
        >>> ranking = judgerank.rank(judgerank.example())
        >>> ranking.leaderboard[["rank", "model"]].head(2).to_dict("records")
        [{'rank': 1, 'model': 'oak'}, {'rank': 2, 'model': 'maple'}]
        """
        return self.tables["leaderboard"].copy()

    @property
    def judges(self) -> pd.DataFrame:
        """A row for each judge: verdict, discrimination, agreement, share of the information, ...

        Examples
        --------
        >>> import judgerank
        >>> ranking = judgerank.rank(judgerank.example())
        >>> ranking.judges.set_index("judge")["discrimination"].astype(float).idxmax()
        'judge-large'
        """
        return self.tables["judges"].copy()

    @property
    def pairs(self) -> pd.DataFrame:
        """A row for each pair of models, with its test; the same as ``judgerank.pairwise(ranking)``.

        Examples
        --------
        >>> import judgerank
        >>> ranking = judgerank.rank(judgerank.example())
        >>> len(ranking.pairs)
        15
        """
        return self.tables["pairs"].copy()

    def __len__(self) -> int:
        """Number of models."""
        return len(self.tables["leaderboard"])

    def __iter__(self) -> Iterator[str]:
        """Names of the models, best first."""
        return iter(self.tables["leaderboard"]["model"].tolist())

    def __contains__(self, model: object) -> bool:
        """Whether there is a model of this name."""
        return model in self.tables["leaderboard"]["model"].tolist()

    def __getitem__(self, model: str) -> pd.Series:
        """The row of a model in the leaderboard.

        Raises
        ------
        KeyError
            If there is no such model.

        Examples
        --------
        >>> import judgerank
        >>> ranking = judgerank.rank(judgerank.example())
        >>> ranking["oak"]["rank"]
        1
        """
        if model not in self:
            raise KeyError(f"there is no model {model!r} in this ranking (it has: {shortened(', '.join(self))})")
        board = self.tables["leaderboard"].astype(object).set_index("model")
        return pd.Series(board.loc[model])

    def without(self, judges: str | Iterable[str] = (), models: str | Iterable[str] = ()) -> Ranking:
        """The ranking without the judgments of some judges, or without some models, with the same settings.

        Parameters
        ----------
        judges, models : str, or iterable of str
            Their names.

        Returns
        -------
        Ranking
            Computed anew, as with `without_judge` and `without_model` of `judgerank.rank`, which says what is
            raised besides.

        Raises
        ------
        ConfigError
            If there is no judge or model of a name.
        DataError
            If no judgment is left.

        Examples
        --------
        >>> import judgerank
        >>> ranking = judgerank.rank(judgerank.example())
        >>> len(ranking.without(judges="judge-random").judges)
        4
        """
        selection = Selection.of(without_judge=judges, without_model=models)
        return ranked(selection.applied(self.recusal.judgments), self.settings)

    def summary(self) -> str:
        """The verdict, what to know first, and the first rows of the leaderboard.

        Examples
        --------
        >>> import judgerank
        >>> ranking = judgerank.rank(judgerank.example())
        >>> "oak" in ranking.summary()
        True
        """
        more = len(self) - MOST_ROWS
        rest = [f"... and {counted(more, 'more model')}"] if more > 0 else []
        return "\n".join([*verdict(self).lines(), *reading_lines(self), "", self.board_text(), *rest])

    __str__ = summary

    def plot(self) -> Figure:
        """The leaderboard as a figure: scores and ranks with their intervals, best on top.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ConfigError
            If the extra ``plot`` is not installed, or the ranking has several components, whose scores cannot be
            compared.
        """
        if len(self.fits) > 1:
            raise ConfigError(
                f"the comparisons fall into {len(self.fits)} components, whose scores cannot be compared: plot "
                "each by itself (ranking.fits[0].plot())"
            )
        return board_figure(
            self.tables["leaderboard"], f"{self.fit.model.name}, {percent(self.settings.level)} intervals"
        )

    def export(
        self,
        path: str | Path,
        table: str = "leaderboard",
        form: str | None = None,
        *,
        force: bool = False,
        raw: bool = False,
    ) -> Path:
        """Write one table into a file, whole or not at all.

        An earlier export is replaced if it was not edited since.

        Parameters
        ----------
        path : path
        table : str
            One of `tables`, or ``lmarena``: the leaderboard in the columns of LMArena's (`exports.lmarena`), or
            ``eee``: files of Every Eval Ever in a ``.zip`` (`shared_results.archive`).
        form : {"csv", "tsv", "parquet", "json", "jsonl", "tex", "md"}, optional
            By default what the file's name ends in.
        force : bool
            Whether to replace any other file, too; never one that the judgments are from.
        raw : bool
            As of `write`, for CSV and TSV.

        Raises
        ------
        ConfigError
            If table or form is unknown, or the file cannot be written or would be lost.
        DataError
            If LMArena's table is asked for, and not all models are on one scale.
        """
        target = exports.export_to(path, table, form)
        outputs = Outputs(behind(self.judgments), force)
        outputs.file(target.path)
        outputs.write(exports.contents(self, [target], raw))
        return target.path

    def _repr_html_(self) -> str:
        """The leaderboard for a notebook; names are escaped."""
        board = self.tables["leaderboard"]
        table = (
            board.astype(object)
            .where(board.notna(), "--")
            .to_html(index=False, float_format="{:.3f}".format, max_rows=MOST, border=0)
        )
        items = "".join(f"<li>{escape(remark)}</li>" for remark in self.remarks)
        return f"<div>\n<p><b>{escape(self.title)}</b></p>\n{table}\n<ul>{items}</ul>\n</div>"

    def __repr__(self) -> str:
        return f"{shortened(self.title)}\n{self.board_text()}"

    def board_text(self, most: int | None = MOST_ROWS) -> str:
        """The leaderboard as text: its first rows, so that the verdict above stays in sight; None for all."""
        board = self.tables["leaderboard"]
        rows = board.head(len(board) if most is None else most)
        short = rows["model"].map(lambda name: shortened(name, LONGEST_NAME))
        rows = rows.assign(model=short) if short.is_unique else rows
        table = rows.astype(object).where(rows.notna(), "--")
        text = table.to_string(
            index=False, float_format=lambda value: f"{round(value, 3) + 0.0:.3f}", max_colwidth=LONGEST
        )
        return text if board["group"].isna().all() else f"{text}\n{OF_GROUPS}"


def rank(
    source: Source,
    *,
    model: str | None = None,
    solver: str = SHRUNK,
    level: float = 0.95,
    cluster: str | Sequence[str] = "question",
    few: int = 30,
    next: int = 10,
    next_size: int = 10,
    blocks: Sequence[str] = (),
    columns: Mapping[str, str | None] | None = None,
    form: str | None = None,
    winner_values: Mapping[str, str] | None = None,
    baseline: str | None = None,
    encoding: str | None = None,
    names: str = "ask",
    copies: str = "ask",
    without_judge: str | Iterable[str] = (),
    only_judge: str | Iterable[str] = (),
    without_model: str | Iterable[str] = (),
    category: str | Iterable[str] = (),
    own_maker: str = RECUSE,
    makers: Mapping[str, str] | None = None,
    whose: str = LIKE_THESE,
) -> Ranking:
    """Rank models from judgments of one's own.

    Parameters
    ----------
    source : path or several, table, Judgments, Comparisons, or list of pairs
        Files, a table of pandas, polars, DuckDB or pyarrow, a list of dicts (see `read_judgments`), or pairs
        (winner, loser).
    model : str, optional
        A member of the family (`judgerank.model.members.MODELS`), or a file that defines one. By default
        ``position_aware`` where the order of presentation identifies it, else ``judge_aware``; how well each
        predicts questions left out is then said beside it. Scores are compared by how much they differ, unless a
        member is named (`judgerank.inference.score_sizes`).
    solver : {"penalised", "newton", "adam", "localized"}
        By default scores and judges are shrunk toward the panel, by as much as the data ask for; there is always
        an estimate. ``newton`` is exact, and stands beside it in the notes and in the table ``exact``.
    level : float
        Confidence level of the intervals, between 0 and 1.
    cluster : str or sequence of str
        How to treat judgments of the same question, or the column of another unit that was sampled, such as
        ``template``: standard errors are clustered by it, two columns are crossed. ``question``: standard errors
        are clustered by question, the estimates do not change. ``effects``: every answer has a quality of its
        own, shared by its judges and integrated out (``questions`` of `judgerank.fit`); judge ids that answer
        identically are merged. ``none``: all judgments are independent. Without questions, ``question`` takes each
        judgment by itself. These words go before columns of the same name.
    few : int
        Judges and models with fewer comparisons are pointed out.
    next, next_size : int
        How many lines of comparisons to collect next, at most, and the comparisons in each.
    blocks : sequence of str
        Effects besides quality to adjust the ranking for, such as ``style:length`` or ``category``
        (`judgerank.model.naming`). The tables ``blocks`` and ``adjusted`` show their size and what they change.
    columns : mapping of str to str, optional
        Names of columns where they are not the usual ones, as in `read_judgments`.
    form, encoding : str, optional
        Of a file, as in `read_judgments`.
    winner_values : mapping of str to str, optional
        Words for the winner, and what they mean, as in `read_judgments`.
    baseline : str, optional
        The model that all others were compared with, as in `read_judgments`.
    names, copies : str
        How names that differ in case alone, and copies of records, are read, as in `read_judgments`.
    without_judge, only_judge, without_model, category : str or collection of str
        Which judgments are left out, or count alone, as in `read_judgments`.
    own_maker : {"recuse", "count"}
        Whether votes of judges on models of their own maker are left out of the scores. They count where no other
        votes connect the same models, and where the block ``family`` is asked for. The table ``own_maker`` shows
        what they would say.
    makers : mapping of str to str, optional
        Makers of models or judges by name, where their names do not say it (`model/kinds/families.csv`).
    whose : {"judges_like_these", "this_panel"}
        Whose opinion intervals, pairs and ranks are of. By default tastes of the judges are tested, and errors
        allow for those that are found: what many judges like these would say. The table ``whose_opinion`` then has
        both kinds of interval. Where a judge's taste for one model stands out, its votes on that model do not
        count (table ``favourites``). ``this_panel``: what these judges say, whatever others would.

    Returns
    -------
    Ranking
        Tables by name, the fit behind them, and what to know first.

    Raises
    ------
    ConfigError
        If a setting is unknown or out of range.
    DataError, DataUnavailableError
        If the source cannot be read as judgments.
    NoMaximumError, NotIdentifiedError
        If no component of the comparison graph can be ranked; it says what would make it possible.

    Examples
    --------
    >>> import judgerank
    >>> ranking = judgerank.rank(judgerank.example())
    >>> list(ranking)
    ['oak', 'maple', 'willow', 'cedar', 'hazel', 'thorn']
    >>> ranking["oak"]["rank"]
    1
    """
    named = tuple((makers or {}).items())
    settings = Settings(
        *(model, solver, level, cluster_of(cluster), few, next, next_size, tuple(blocks), own_maker, named, whose)
    )
    judgments = read_judgments(
        source,
        form,
        columns,
        winner_values,
        baseline,
        encoding,
        names,
        copies,
        without_judge=without_judge,
        only_judge=only_judge,
        without_model=without_model,
        category=category,
        keep=kept_for(cluster),
    )
    return ranked(judgments, settings)


def ranked(
    judgments: Judgments,
    settings: Settings,
    progress: Callable[[float, float], None] | None = None,
    without: Collection[str] = (),
) -> Ranking:
    """Every component of the comparison graph ranked by itself; `without`: studies left out; see `rank`."""
    every = ranked_set(judgments, settings)
    finding = findings(every, progress, without)
    remarks = [*judgments.remarks, *finding.remarks]
    judgments = every.judgments
    fits = [component.reported for component in every.components]
    tables, categories = dict(finding.tables), dict(finding.categories)
    return Ranking(every.judgments, settings, fits, remarks, tables, every.recusal, categories)
