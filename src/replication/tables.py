"""How results become tables, stored as CSV and shown in Markdown and LaTeX, and how fits become rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_float_dtype
from pyarrow import parquet

from judgerank.fits.result import Fit
from judgerank.order.pairs import pairwise
from judgerank.writing.atomic import STORED_FORMAT

PARQUET = {"compression": "zstd", "compression_level": 19, "version": "2.6", "store_schema": False}
LATEX = {
    "\\": r"\textbackslash ",
    "~": r"\textasciitilde ",
    "^": r"\textasciicircum ",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


@dataclass(frozen=True)
class Table:
    """A table to be stored.

    Attributes
    ----------
    frame : DataFrame
    caption : str
    digits : int
        Decimals shown in the Markdown and LaTeX versions; the CSV keeps nine significant digits.
    """

    frame: pd.DataFrame
    caption: str
    digits: int = 3

    def write(self, folder: Path, name: str) -> None:
        """Write ``name.csv`` into a folder.

        It has names as they are: a spreadsheet takes one that begins with ``=`` for a formula.
        """
        self.frame.to_csv(folder / f"{name}.csv", index=False, float_format=STORED_FORMAT, lineterminator="\n")

    def markdown(self, mark: str = "") -> str:
        """The table in Markdown under its caption, which `mark` ends."""
        rows = self._as_text().to_markdown(index=False, disable_numparse=True, colalign=self._alignment())
        return f"{_in_markdown(self.caption + mark)}\n\n{rows}\n"

    def latex(self, mark: str = "") -> str:
        """The table in LaTeX (booktabs) with its caption, which `mark` ends."""
        style = (
            self._as_text().style.hide(axis="index").format(escape="latex").format_index(escape="latex", axis=1)
        )
        columns = "".join(side[0] for side in self._alignment())
        return style.to_latex(hrules=True, column_format=columns, caption=_escaped(self.caption + mark))

    def _as_text(self) -> pd.DataFrame:
        """Every cell as text, numbers rounded, what is missing as a dash."""
        texts = self.frame.copy()
        for name in texts.columns:
            texts[name] = [self._text(value) for value in texts[name].tolist()]
        return texts

    def _text(self, value: object) -> str:
        if pd.isna(value):
            return "--"
        return f"{value:.{self.digits}f}" if isinstance(value, float) else str(value)

    def _alignment(self) -> list[str]:
        numeric = [pd.api.types.is_numeric_dtype(kind) for kind in self.frame.dtypes]
        return ["right" if is_number else "left" for is_number in numeric]


@dataclass(frozen=True)
class Replications:
    """Every replication of a section, to be stored as Parquet: what its tables summarise.

    Attributes
    ----------
    frame : DataFrame
        As of `as_stored`, so that whoever reads the file summarises the same numbers.
    caption : str
    """

    frame: pd.DataFrame
    caption: str

    def write(self, folder: Path, name: str) -> None:
        """Write ``name.parquet`` into a folder: for the same numbers and version of Arrow the same bytes.

        Of the metadata only the caption is stored, since pandas' has its version.
        """
        table = pa.Table.from_pandas(self.frame, preserve_index=False)
        table = table.replace_schema_metadata({"caption": self.caption})
        parquet.write_table(table, folder / f"{name}.parquet", **PARQUET)


def as_stored(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with the significant digits that a CSV of it has, and rows numbered from zero."""
    rounded = frame.copy()
    for name in frame.columns[[is_float_dtype(kind) for kind in frame.dtypes]]:
        rounded[name] = [float(STORED_FORMAT % value) for value in frame[name]]
    return rounded.reset_index(drop=True)


def stored_frame(path: Path) -> pd.DataFrame:
    """A stored table, or stored replications."""
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def stored_frames(folder: Path) -> dict[str, pd.DataFrame]:
    """The stored tables of a folder by name, replications among them."""
    tables = {path.stem: pd.read_csv(path) for path in sorted(folder.glob("*.csv"))}
    return tables | {path.stem: pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}


def _escaped(text: str) -> str:
    return text.translate(str.maketrans(LATEX))


def _in_markdown(text: str) -> str:
    """Text in which nothing is markup; an underscore within a word is none."""
    return re.sub(r"[\\`*\[\]<|]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)


def leaderboard(judge_aware: Fit, btl: Fit, level: float) -> pd.DataFrame:
    """Both fits by model, best judge-aware score first (the form of Table 3)."""
    frame = pd.DataFrame({"rank_judge_aware": judge_aware.ranks, "rank_btl": btl.ranks})
    ends = {}
    for fitted in (judge_aware, btl):
        intervals = fitted.confidence_intervals(level).query("parameter == 'score'").set_index("name")
        frame[f"score_{fitted.model.name}"] = intervals["estimate"]
        ends |= {f"{end}_{fitted.model.name}": intervals[end] for end in ("low", "high")}
    frame = frame.assign(**ends).sort_values("rank_judge_aware")
    return frame.rename_axis("model").reset_index()


def fit_rows(fits: list[Fit], level: float, **extra: object) -> pd.DataFrame:
    """One row per fit: how it ended, its likelihood, the mean interval width of scores, pairs separated (Holm)."""
    rows = []
    for fitted in fits:
        scores = fitted.confidence_intervals(level).query("parameter == 'score'")
        row = {
            **extra,
            "fit": fitted.model.name,
            "comparisons": int(fitted.comparisons.n_comparisons),
            "status": str(fitted.status),
            "log_likelihood": fitted.log_likelihood,
            "mean_width": float((scores["high"] - scores["low"]).mean()),
            "separated": int(pairwise(fitted, level)["separated"].sum()),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def discrimination(fitted: Fit, level: float, dataset: str) -> pd.DataFrame:
    """Discriminations with intervals by judge: ``dataset, judge, discrimination, low, high, status``."""
    rows = fitted.confidence_intervals(level).query("parameter == 'discrimination'")
    frame = rows.rename(columns={"name": "judge", "estimate": "discrimination"}).reset_index(drop=True)
    frame = frame.assign(dataset=dataset, status=fitted.judge_status.to_numpy())
    return frame[["dataset", "judge", "discrimination", "low", "high", "status"]]


def with_error(name: str, values: pd.Series) -> dict[str, float]:
    """The mean of values by replication, under a name, and its Monte Carlo error under that name and ``_se``."""
    return {name: values.mean(), f"{name}_se": values.std() / np.sqrt(max(len(values), 1))}


def with_errors(measures: Mapping[str, pd.Series] | pd.DataFrame) -> dict[str, float]:
    """Means of measures by replication, each with its Monte Carlo error; see `with_error`."""
    means: dict[str, float] = {}
    for name, values in measures.items():
        means |= with_error(str(name), values)
    return means


def markdown_table(rows: list[tuple], columns: list[str]) -> str:
    """A table in Markdown, its cells as they are."""
    return pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True)


def number_with_error(value: float, error: float, digits: int) -> str:
    """A number with its standard error, if it has one, in parentheses."""
    text = f"{value:.{digits}f}"
    return text if pd.isna(error) else f"{text} ({error:.{digits}f})"
