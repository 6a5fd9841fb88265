"""Published forms that a recipe describes: a small file in ``reading/recipes/`` for each (docs/extend/recipe.md).

A recipe says by which columns its form is recognised, and where in a record models, winner and judge are. It turns
the records into one of four plain tables: of pairs, of scores, of ranks, or of choices of the best.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.reading.contents import COLUMNS
from judgerank.reading.layouts.guards import kept
from judgerank.reading.layouts.paths import PLACE_IN_LIST, has_path, with_paths
from judgerank.reading.layouts.ranked import LAYOUTS as OF_RANKS
from judgerank.reading.layouts.score_tables import SCORE_TABLE
from judgerank.reading.layouts.table import Layout, Table, values
from judgerank.reading.layouts.tables import NAMED
from judgerank.reading.layouts.words import number, word

Recipe = Mapping[str, Any]
RANKS = next(layout for layout in OF_RANKS if layout.needs == ("rank",))
KINDS = {"pairs": NAMED, "scores": SCORE_TABLE, "ranks": RANKS, "choices": RANKS}
LEFT_OPEN = ("count", "swapped", "valid")  # keys that a recipe leaves to the guards unless it speaks of them
OPTIONAL = ("judge", "question", "category")
TRUE = {"true", "1", "1.0", "yes"}
BASELINE = "=baseline"  # the model that all others were compared with, by the option or by that name
MADE = "{} by recipe"  # the name of a column that is made for a key


@cache
def recipes() -> tuple[Recipe, ...]:
    """All recipes, by the names of their files."""
    folder = files("judgerank.reading").joinpath("recipes")
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return tuple(tomllib.loads(path.read_text("utf-8")) for path in paths)


def prepared(recipe: Recipe, table: Table) -> Table:
    """The records of a form as a plain table, with its columns named, and without those that do not count."""
    asked = {key: name for key, name in table.specified.items() if key not in LEFT_OPEN}
    games = [{**recipe.get("columns", {}), **game, **asked} for game in recipe.get("games", [{}])]
    if "of_file" in recipe:
        table = _with_headers(table, recipe["of_file"])
    parts = [_part(recipe, table, fields, len(games) > 1) for fields in games]
    frame = pd.concat([part.frame for part in parts]).sort_index(kind="stable").reset_index(drop=True)
    whole = replace(parts[0], frame=frame)
    times = whole.specified.get("count")
    if times and any("count" in game for game in games):  # of a form that counts outcomes, some of them never
        return kept(whole, (pd.to_numeric(frame[times]) > 0).to_numpy())
    return whole


def _paths(value: Any) -> list[str]:
    """All paths that a field is read from."""
    if value is None or isinstance(value, str):
        return [value] if value and not value.startswith("=") else []
    if isinstance(value, list):
        return value
    return [path for part in value.values() for path in (part.values() if "of" in part else part)]


def _with_headers(table: Table, paths: list[str]) -> Table:
    """The table with what single records say of all that follow them."""
    table = with_paths(table, paths)
    present = [path for path in paths if path in table.frame.columns]
    return replace(table, frame=table.frame.assign(**{path: table.frame[path].ffill() for path in present}))


def _that_count(recipe: Recipe, table: Table) -> Table:
    """The records that the form's own rules count."""
    rows = np.ones(len(table.frame), bool)
    for option, wanted in (("only", True), ("without", False)):
        for path, words in recipe.get(option, {}).items():
            if path in table.frame.columns:
                cells = [str(word(value)).lower() for value in values(table.frame, path)]
                rows &= np.array([(cell in words) is wanted for cell in cells], bool)
    if recipe.get("without_itself"):
        pair = [recipe["columns"][key] for key in ("model_a", "model_b")]
        rows &= (values(table.frame, pair[0]) != values(table.frame, pair[1])).to_numpy(bool)
    return kept(table, rows)


def _part(recipe: Recipe, table: Table, fields: Mapping[str, Any], is_one_of_several: bool) -> Table:
    """The records by one set of fields, each of which becomes a column, or is one."""
    fields = dict(fields)
    spoken_here: Mapping[str, str] = fields.pop("words", {})  # of one of several games
    paths = [path for value in fields.values() for path in _paths(value)]
    table = with_paths(
        table, [*paths, *recipe.get("ties", ()), *recipe.get("only", ()), *recipe.get("without", ())]
    )
    table = _that_count(recipe, table)
    named: dict[str, str | None] = {}
    made: dict[str, pd.Series] = {}
    for key, value in fields.items():
        column = _column(table, value, key in OPTIONAL)
        if isinstance(column, str) and is_one_of_several:
            column = values(table.frame, column)
        if key == "winner" and spoken_here and isinstance(column, pd.Series):
            column = column.map(lambda value: spoken_here.get(str(word(value)), value))
        if isinstance(column, pd.Series):
            called = MADE.format(key)
            named[key], made[called] = called, column
        elif column is not None or value is None:
            named[key] = column
    frame = table.frame.assign(**made)
    for path in recipe.get("ties", []):
        if path in frame.columns and named.get("winner"):
            is_tie = [str(word(value)).lower() in TRUE for value in values(frame, path)]
            called = MADE.format("winner")
            frame[called] = values(frame, str(named["winner"])).mask(np.array(is_tie, bool), "tie")
            named["winner"] = called
    if recipe.get("kind") == "choices":
        frame, named = _as_ranks(frame, named)
    elif recipe.get("kind") == "ranks":
        frame = frame.assign(rank=values(frame, str(named.pop("rank"))))
    layout = KINDS[recipe.get("kind", "pairs")]
    unspoken = dict.fromkeys(key for key in COLUMNS if key not in {*LEFT_OPEN, *named})
    spoken = {key: name for key, name in table.named.items() if key in LEFT_OPEN}
    words = {**recipe.get("words", {}), **table.words} if not layout.of_scores else table.words
    return replace(table, frame=frame, named={**unspoken, **named, **spoken}, words=words)


def _column(table: Table, value: Any, is_optional: bool) -> pd.Series | str | None:
    """The name of the column that a field is, or the column that is made for it; None if there is none."""
    frame = table.frame
    if isinstance(value, str) and value.startswith("="):
        constant = (table.baseline or "baseline") if value == BASELINE else value[1:]
        return pd.Series([constant] * len(frame), dtype=object)
    if isinstance(value, Mapping):
        return _made(frame, value)
    names = [name for name in (value if isinstance(value, list) else [value]) if name in frame.columns]
    lacks = (
        {name: frame[name].map(_is_nothing).to_numpy(bool) for name in names} if isinstance(value, list) else {}
    )
    filled = [name for name, nothing in lacks.items() if not nothing.all()]
    if len(filled) < 2 or not lacks[filled[0]].any():
        return next(iter(filled or ([] if lacks and is_optional else names)), None)
    column = values(frame, filled[0])
    for name in filled[1:]:
        column = column.where(~column.map(_is_nothing), values(frame, name))
    return column


def _is_nothing(value: object) -> bool:
    """Whether a cell has no single value, for which another column is looked up."""
    return value is None or isinstance(value, Mapping | list) or value != value


def _made(frame: pd.DataFrame, rule: Mapping[str, Any]) -> pd.Series:
    """A column by one of the rules: the first flag that is true, or which of two numbers is more, or less."""
    ((kind, what),) = rule.items()
    if kind == "reaction":
        signs = _made(frame, {"flags": {what["for"]: 1.0, what["against"]: -1.0}})
        is_first = (values(frame, what["of"]) == values(frame, what["first"])).map({True: 1.0, False: -1.0})
        return (signs.astype(float) * is_first).map({1.0: "a", -1.0: "b"})
    if kind == "flags":
        cells: list[Any] = [None] * len(frame)
        for path, meaning in what.items():
            for row, value in enumerate(values(frame, path) if path in frame.columns else ()):
                if str(word(value)).lower() in TRUE:
                    if cells[row] is not None:
                        raise DataError(f"record {row + 1} has both {cells[row]!r} and {meaning!r}")
                    cells[row] = meaning
        return pd.Series(cells, dtype=object)
    first, second = (_numbers(frame, path) for path in what)
    sign = np.sign(first - second) * (1 if kind == "more" else -1)
    letters = np.select([np.isnan(sign), sign > 0, sign < 0], ["", "a", "b"], "tie").astype(object)
    return pd.Series(letters, dtype=object).where(letters != "", None)


def _numbers(frame: pd.DataFrame, path: str) -> np.ndarray:
    """A column of numbers; not a number where there is none."""
    if path not in frame.columns:
        raise DataError(f"the table has no column {path!r}")
    parsed = []
    for row, value in enumerate(values(frame, path), 1):
        if value is not None and number(value) is None and str(value).strip():
            raise DataError(f"record {row} has {value!r} as {path!r}, not a number")
        parsed.append(number(value))
    return np.array(parsed, float)


def _as_ranks(frame: pd.DataFrame, named: Mapping[str, str | None]) -> tuple[pd.DataFrame, dict[str, str | None]]:
    """Choices as ranks: 1 for the best, and none for the others, whose order nobody gave."""
    named = dict(named)
    model, best = (values(frame, str(named[key])) for key in ("model", "best"))
    del named["best"]
    places = values(frame, PLACE_IN_LIST) if PLACE_IN_LIST in frame else [None] * len(frame)
    is_best = [
        answer is not None and (word(answer) in (word(name), word(place)) or str(word(answer)).lower() == "true")
        for name, answer, place in zip(model, best, places, strict=True)
    ]
    return frame.assign(rank=pd.Series(is_best, frame.index).map({True: 1.0, False: None})), named


def _layout(recipe: Recipe) -> Layout:
    plain_layout = KINDS[recipe.get("kind", "pairs")]

    def matches(columns: frozenset[str], table: Table) -> bool:
        lacks = recipe.get("lacks", ())
        paths = [*recipe.get("paths", ())]
        return columns.isdisjoint(lacks) and all(has_path(table.frame, path) for path in paths)

    return replace(
        plain_layout,
        name=recipe["name"],
        needs=tuple(recipe["needs"]),
        also=matches,
        prepare=lambda table: prepared(recipe, table),
        remark=" ".join(filter(None, [recipe.get("remark"), plain_layout.remark])),
        ordered=recipe.get("ordered", plain_layout.ordered),
        reads=(),
        aliases=dict.fromkeys(plain_layout.aliases, ()),
        lacks_baseline=lambda table: bool(recipe.get("baseline")),
        recipe=recipe,
    )


def _layouts() -> Iterator[Layout]:
    yield from map(_layout, recipes())


LAYOUTS = tuple(_layouts())
