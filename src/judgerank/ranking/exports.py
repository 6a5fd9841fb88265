"""A ranking's tables in other forms, each in a file of its own: for papers, other tools and other leaderboards.

To add a form: a function from a table to the content of a file, listed in `FORMS`.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.data.modules import needed
from judgerank.inference.wald import normal_quantile
from judgerank.ranking.choices import Record
from judgerank.writing.spreadsheets import csv_of, records

# A leaderboard as files of Every Eval Ever, one for each model, in an archive that unpacks into its folders.
#
# Schema 0.3.0 of https://github.com/evaleval/every_eval_ever (``eval.schema.json``). It has no record of
# comparisons in pairs: a model's score stands with its interval, and each judge with its share of the information
# as weight.
SCHEMA = "0.3.0"
METRIC = "judgerank.score"
UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
UNSAID = "not stored with the judgments"
UNSAFE = re.compile(r"[^\w.+-]+")  # of a folder's name
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same archive for the same content


def archive(ranking: Record) -> bytes:
    """The archive: ``data/SET/DEVELOPER/MODEL/UUID.json`` for each model.

    Raises
    ------
    DataError
        If the ranking has several components, whose scores cannot be compared.
    """
    board = ranking.tables["leaderboard"]
    if "component" in board:
        raise DataError(
            f"Every Eval Ever has one scale, and this ranking {board['component'].nunique()} components, which "
            "cannot be compared (export the leaderboard)"
        )
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as files:
        for path, record in _records(ranking, time.time()):
            content = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
            files.writestr(ZipInfo(path, EPOCH), content)
    return buffer.getvalue()


def _records(ranking: Record, seconds: float) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ranking.judgments.name
    judges = [_judge(row) for _, row in ranking.tables["judges"].iterrows()]
    for _, row in ranking.tables["leaderboard"].iterrows():
        developer, _, short = str(row["model"]).rpartition("/")
        folder = "/".join(_safe(part) for part in (name, developer or "unknown", short))
        yield (
            f"data/{folder}/{_identity(folder)}.json",
            {
                "schema_version": SCHEMA,
                "evaluation_id": f"{name}/{row['model']}/{seconds:.0f}",
                "retrieved_timestamp": f"{seconds:.0f}",
                "source_metadata": {
                    "source_name": name,
                    "source_type": "evaluation_run",
                    "source_organization_name": "unknown",
                    "evaluator_relationship": "other",
                },
                "eval_library": {"name": "judgerank", "version": version("judgerank")},
                "model_info": _model(str(row["model"])),
                "evaluation_results": [_result(ranking, row, judges)],
            },
        )


def _result(ranking: Record, row: pd.Series, judges: list[dict[str, Any]]) -> dict[str, Any]:
    """The score of one model. Scores have no bounds, which a continuous one must name: its type is left out."""
    details = {
        key: str(row[key]) for key in ("rank", "rank_low", "rank_high") if key in row and row[key] is not pd.NA
    }
    uncertainty: dict[str, Any] = {"num_samples": int(row["comparisons"])}
    if np.isfinite([row["low"], row["high"]]).all():
        uncertainty["confidence_interval"] = {
            "lower": float(row["low"]),
            "upper": float(row["high"]),
            "confidence_level": ranking.settings.level,
            "method": f"Wald, clustered by {ranking.sampled_by}" if ranking.clustered else "Wald",
        }
    fitted_by = ranking.fit.model if ranking.fit.errors.sizes is None else "mean scores of the tasks"
    return {
        "evaluation_name": f"{ranking.judgments.name}: comparisons in pairs",
        "source_data": {"dataset_name": ranking.judgments.name, "source_type": "other"},
        "metric_config": {
            "evaluation_description": "Score of a model from comparisons in pairs by a panel of judges, in "
            f"log-odds of being preferred; fitted by {fitted_by}, sum of all scores zero.",
            "metric_id": METRIC,
            "metric_name": "Judge-aware score",
            "metric_kind": "bradley_terry",
            "metric_unit": "log-odds",
            "lower_is_better": False,
            "llm_scoring": {"judges": judges, "input_prompt": UNSAID},
        },
        "score_details": {"score": float(row["score"]), "uncertainty": uncertainty, "details": details},
    }


def _judge(row: pd.Series) -> dict[str, Any]:
    """A judge with its share of the information, where that is known."""
    weight = row.get("information")
    share = {"weight": float(weight)} if weight is not None and np.isfinite(weight) else {}
    details = {key: str(row[key]) for key in ("discrimination", "comparisons") if key in row}
    return {"model_info": _model(str(row["judge"])), **share, "additional_details": details}


def _model(name: str) -> dict[str, Any]:
    return {"name": name, "id": name, "additional_details": dict(UNKNOWN)}


def _safe(name: str) -> str:
    return UNSAFE.sub("_", name).strip(".") or "_"


def _identity(text: str) -> uuid.UUID:
    """A UUID of version 4 that is always the same for a text, so that a later export replaces an earlier one."""
    return uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4)


ELO_POINTS = 400 / math.log(10)  # of a score in log-odds: odds of ten to one are 400 points apart
ELO_MEAN = 1000.0  # the rating of a score of zero
BOARD, LMARENA, OVERALL = "leaderboard", "lmarena", "overall"
SHARED, SHARED_FORM = "eee", "zip"  # files of Every Eval Ever, one a model, in an archive
# members are there if no model was named, categories if the judgments name any, blocks and adjusted if blocks are
# named, exact if the ranking is shrunk, effects if there are lengths or families, repeats if requests recur
TABLES = (
    *(BOARD, "judges", "pairs", "next", "members", "exact", "effects", "categories", "blocks", "adjusted"),
    *("fitness", "repeats", "own_maker", "favourites", LMARENA, SHARED),
)
SHOWN_FORMAT = "%.4g"  # of numbers in a text that is read
NAMED_TABLE = re.compile(r"(\w+)=(.+)", re.DOTALL)


def _csv(table: pd.DataFrame, raw: bool = False) -> bytes:
    return csv_of(table, raw=raw).encode()


def _tsv(table: pd.DataFrame, raw: bool = False) -> bytes:
    return csv_of(table, "\t", raw).encode()


def _parquet(table: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    table.to_parquet(content, index=False)
    return content.getvalue()


def _json(table: pd.DataFrame) -> bytes:
    return (json.dumps(records(table), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _json_lines(table: pd.DataFrame) -> bytes:
    lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records(table))
    return "".join(f"{line}\n" for line in lines).encode()


def _tex(table: pd.DataFrame) -> bytes:
    text = _tabulated(table, _cells(table), "latex_booktabs")
    # after the end of a line, TeX would take these for an option of it
    text = re.sub(r"^(\s*)(?=[\[*])", r"\1{}", text, flags=re.MULTILINE)
    return f"% \\usepackage{{booktabs}}\n{text}\n".encode()


def _markdown(table: pd.DataFrame) -> bytes:
    rows = [[_plain(cell) for cell in row] for row in _cells(table)]
    return f"{_tabulated(table, rows, 'pipe')}\n".encode()


def _tabulated(table: pd.DataFrame, rows: list[list[str]], form: str) -> str:
    from tabulate import tabulate  # few rankings are exported

    return tabulate(rows, list(table), tablefmt=form, disable_numparse=True, colalign=_sides(table))


FORMS: Mapping[str, Callable[[pd.DataFrame], bytes]] = {
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "json": _json,
    "jsonl": _json_lines,
    "tex": _tex,
    "md": _markdown,
}


RAW: Mapping[str, Callable[[pd.DataFrame], bytes]] = {
    **FORMS,
    "csv": partial(_csv, raw=True),
    "tsv": partial(_tsv, raw=True),
}


def _cells(table: pd.DataFrame) -> list[list[str]]:
    """Cells as one line of text each; nothing for those that are missing."""
    return [[_text(cell) for cell in row] for row in table.astype(object).itertuples(index=False)]


def _text(cell: object) -> str:
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    text = SHOWN_FORMAT % cell if isinstance(cell, float) else str(cell)
    return " ".join(text.split())


def _plain(text: str) -> str:
    """A text in which Markdown and HTML see no markup."""
    return re.sub(r"([\\`*_{}\[\]<>|~$&#!])", r"\\\1", text)


def _sides(table: pd.DataFrame) -> list[str]:
    numeric = (pd.api.types.is_numeric_dtype(table[name]) and table[name].dtype != bool for name in table)
    return ["right" if is_numeric else "left" for is_numeric in numeric]


@dataclass(frozen=True)
class Export:
    """One table of a ranking, and the file it goes to.

    Attributes
    ----------
    path : Path
    table : str
        One of `TABLES`.
    form : str
        One of `FORMS`.

    Raises
    ------
    ConfigError
        If table or form is unknown, or the form requires a library that is not installed.
    """

    path: Path
    table: str
    form: str

    def __post_init__(self) -> None:
        if self.table not in TABLES:
            raise ConfigError(f"there is no table {self.table!r} to export (known: {', '.join(TABLES)})")
        if self.table == SHARED and self.form != SHARED_FORM:
            raise ConfigError(f"{self.path.name}: {SHARED} is an archive (--export {SHARED}=FILE.{SHARED_FORM})")
        if self.form not in FORMS and self.table != SHARED:
            problem = f"{self.path.name}: {self.form!r} is not a form that can be written"
            raise ConfigError(f"{problem} (known: {', '.join(FORMS)})")
        if self.form == "parquet" and find_spec("pyarrow") is None:
            raise ConfigError(f"writing Parquet requires {needed('parquet')}")


def export_to(path: str | Path, table: str = BOARD, form: str | None = None) -> Export:
    """A table to a file, by default in the form that its name ends in; `Export` says what is raised."""
    path = Path(path)
    return Export(path, table, form or path.suffix.lstrip(".").lower())


def export_of(spec: str) -> Export:
    """The export that ``TABLE=FILE``, or a file alone for the leaderboard, names; `Export` says what is raised."""
    named = NAMED_TABLE.fullmatch(spec)
    return export_to(named[2], named[1]) if named else export_to(spec)


def contents(ranking: Record, exports: Iterable[Export], raw: bool = False) -> dict[Path, bytes]:
    """Contents of the files of exports; `raw` as of `judgerank.writing.spreadsheets.csv_of`.

    Raises
    ------
    ConfigError
        If the ranking has no such table.
    DataError
        If the ranking is not on one scale, and LMArena's table or Every Eval Ever's files are asked for.
    """
    forms = RAW if raw else FORMS
    return {
        export.path: archive(ranking)
        if export.table == SHARED
        else forms[export.form](table_of(ranking, export.table))
        for export in exports
    }


def table_of(ranking: Record, name: str) -> pd.DataFrame:
    """A table of a ranking by its name; `contents` says what is raised."""
    if name == LMARENA:
        return lmarena(ranking)
    if name not in ranking.tables:
        raise ConfigError(f"this ranking has no table {name!r} (it has: {', '.join(ranking.tables)})")
    return ranking.tables[name]


def lmarena(ranking: Record) -> pd.DataFrame:
    """The leaderboard in the columns of LMArena's published tables, one row for each model and category.

    ``model_name, organization, license, rating, rating_lower, rating_upper, variance, vote_count, rank, category,
    leaderboard_publish_date``, as in https://huggingface.co/datasets/lmarena-ai/leaderboard-dataset. A rating is
    1000 + 400 / ln 10 times the score: a lead of 400 is odds of ten to one, for a judge drawn from the panel. Its
    ends are those of the score's interval, at the ranking's level, and its variance is the square of the standard
    error behind them. The rank is the place by score. A vote is a comparison. Who made a model, its licence and
    the date are not known, and missing.

    Raises
    ------
    DataError
        If the ranking has several components, whose ratings cannot be compared.
    """
    board = ranking.tables[BOARD]
    if "component" in board:
        raise DataError(
            f"LMArena's table has one scale, and this ranking {board['component'].nunique()} components, which "
            "cannot be compared (export the leaderboard)"
        )
    boards = [board.assign(category=OVERALL)]
    if "categories" in ranking.tables:
        boards.append(ranking.tables["categories"])
    rows = pd.concat(boards, ignore_index=True)
    unknown = pd.Series(pd.NA, rows.index, "string")
    fits = {OVERALL: ranking.fit, **ranking.categories}
    freedom = {
        name: dict(zip(fitted.scores.index, fitted.degrees_of_scores, strict=True))
        for name, fitted in fits.items()
    }
    of_rows = [freedom[name][model] for name, model in zip(rows["category"], rows["model"], strict=True)]
    reach = [normal_quantile(ranking.settings.level, degrees) for degrees in of_rows]
    columns = {
        "model_name": rows["model"],
        "organization": unknown,
        "license": unknown,
        "rating": ELO_MEAN + ELO_POINTS * rows["score"],
        "rating_lower": ELO_MEAN + ELO_POINTS * rows["low"],
        "rating_upper": ELO_MEAN + ELO_POINTS * rows["high"],
        "variance": (ELO_POINTS * (rows["high"] - rows["low"]) / 2 / reach) ** 2,
        "vote_count": rows["comparisons"],
        "rank": rows["rank"],
        "category": rows["category"],
        "leaderboard_publish_date": unknown,
    }
    return pd.DataFrame(columns)


# Tables of a ranking as files: CSV, or Parquet where a table is long.
LONG = 100_000  # rows beyond which a table is written as Parquet


def file_names(tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Name of the file of each table. Parquet requires the extra ``parquet``; without it all are CSV."""
    return {name: f"{name}.{'parquet' if _as_parquet(table) else 'csv'}" for name, table in tables.items()}


def parquet_note(tables: Mapping[str, pd.DataFrame]) -> str:
    """A sentence on long tables that are written as CSV since nothing else can be; empty where there are none."""
    long = [name for name, table in tables.items() if len(table) > LONG and not _as_parquet(table)]
    if not long:
        return ""
    return f" Long tables would be smaller as Parquet, with {needed('parquet')}: {', '.join(long)}."


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, raw: bool = False) -> None:
    """Write every table into its file of a folder; `raw` as of `judgerank.writing.spreadsheets.csv_of`."""
    for name, file in file_names(tables).items():
        if file.endswith("parquet"):
            tables[name].to_parquet(folder / file, index=False)
        else:
            (folder / file).write_text(csv_of(tables[name], raw=raw), encoding="utf-8", newline="")


def _as_parquet(table: pd.DataFrame) -> bool:
    return len(table) > LONG and find_spec("pyarrow") is not None
