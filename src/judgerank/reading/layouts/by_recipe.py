"""Published forms that a recipe describes: a small file in ``reading/recipes/`` for each (docs/extend/files.md).

A recipe says by which columns its form is recognised, and where in a record models, winner and judge are. It turns
the records into one of four plain tables: of pairs, of scores, of ranks, or of choices of the best.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.listing import listed
from judgerank.reading.contents import COLUMNS
from judgerank.reading.layouts.guards import kept
from judgerank.reading.layouts.paths import PLACE_IN_LIST, has_path, with_paths
from judgerank.reading.layouts.ranked import LAYOUTS as OF_RANKS
from judgerank.reading.layouts.score_tables import ASKED, SCORE_TABLE
from judgerank.reading.layouts.table import Layout, Table, values
from judgerank.reading.layouts.tables import NAMED
from judgerank.reading.layouts.texts import plain
from judgerank.reading.layouts.words import NAMES, number, word

Recipe = Mapping[str, Any]
RANKS = next(layout for layout in OF_RANKS if layout.needs == ("rank",))
KINDS = {"pairs": NAMED, "scores": SCORE_TABLE, "ranks": RANKS, "choices": RANKS}
LEFT_OPEN = ("count", "swapped", "valid")  # keys that a recipe leaves to the guards unless it speaks of them
OPTIONAL = ("judge", "question", "category")
DEEPEST = 4  # steps of a path that a refusal names
TRUE = {"true", "1", "1.0", "yes"}
BASELINE = "=baseline"  # the model that all others were compared with, by the option or by that name
MADE = "{} by recipe"  # the name of a column that is made for a key


@cache
def recipes() -> tuple[Recipe, ...]:
    """All recipes, by the names of their files; a file may hold several ``[[forms]]`` of one project."""
    folder = files("judgerank.reading").joinpath("recipes")
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    contents = [tomllib.loads(path.read_text("utf-8")) for path in paths]
    return tuple(recipe for content in contents for recipe in content.get("forms", [content]))


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
    """A column by a rule: the first true flag, which of two numbers is more or less, or falling ranks."""
    ((kind, what),) = rule.items()
    if kind == "descending":
        return pd.Series(-_numbers(frame, what[0]))
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


LAYOUTS = tuple(map(_layout, recipes()))


# Refusals of records that are nearly in a form: they name the options that read them.
NEEDED = {"pairs": ("model_a", "model_b", "winner"), "scores": ("model", "score", "question")}


def refuse_nearly_known(table: Table) -> None:
    """Refuse records that lack a column of a form and have its models and verdicts, naming what reads them.

    Raises
    ------
    DataError
        Naming the options by which they are read.
    """
    missing = {
        recipe["name"]: [name for name in recipe["needs"] if name not in table.frame.columns]
        for recipe in recipes()
    }
    for recipe in sorted(recipes(), key=lambda recipe: len(missing[recipe["name"]])):
        options = _options(recipe, table)
        if options:
            absent = missing[recipe["name"]]
            lacks = f", but have no column {absent[0]!r}" if absent else ""
            raise DataError(f"the records are nearly {recipe['name']}{lacks} ({options} reads them)")


def refuse_other_models(table: Table) -> None:
    """Refuse records without pairs whose models are elsewhere, naming what reads them, or where they are.

    Raises
    ------
    DataError
    """
    options = _options_of_scores(table)
    if options:
        raise DataError(f"the table has no pairs of models, and may be one of scores ({options} reads it)")
    paths = _paths_to_models(table.frame)
    if paths:
        raise DataError(
            f"models are within other columns ({listed(paths)}): name what is read by its path, such as "
            f"--column model_a={paths[0]}, and model_b and winner likewise, or model, score and question of scores"
        )


def _options(recipe: Recipe, table: Table) -> str:
    """The options that read what a recipe does, where the columns it needs are there; else empty."""
    fields, needed = recipe.get("columns", {}), NEEDED.get(recipe.get("kind", "pairs"), ())
    named = {key: _there(table, fields[key]) for key in fields if isinstance(fields[key], str | list)}
    rules = {"games", "ties", "of_file", "without_itself"} & recipe.keys()  # which no option says
    rules |= {path for key in ("only", "without") for path in recipe.get(key, ()) if has_path(table.frame, path)}
    if rules or not recipe.get("ordered", True) or not needed or not all(named.get(key) for key in needed):
        return ""
    words = [f"{said}={NAMES.get(letter, letter)}" for said, letter in recipe.get("words", {}).items()]
    columns = [part for key, name in named.items() if name for part in ("--column", f"{key}={name}")]
    meanings = [part for text in words for part in ("--winner-values", text)]
    return shlex.join([*columns, *meanings])


def _there(table: Table, value: str | list[str]) -> str | None:
    paths = value if isinstance(value, list) else [value]
    return next((path for path in paths if has_path(table.frame, path)), None)


def _options_of_scores(table: Table) -> str:
    """The options that read a table with one column of models, one of scores and one of questions."""
    by_word = {}
    for key, words in {"model": {"model"}, "score": {"score", "rating", "grade"}}.items():
        named = [name for name in map(str, table.frame.columns) if words & {*plain(name).split("_")}]
        by_word[key] = named if key == "model" else [name for name in named if _are_numbers(table.frame, name)]
    asked = [name for name in map(str, table.frame.columns) if plain(name) in ASKED or plain(name).endswith("_id")]
    question = next((name for name in ASKED if name in asked), next(iter(asked), None))
    if len(by_word["model"]) != 1 or not by_word["score"] or question is None or len(by_word["score"]) > 1:
        return ""
    columns = {"model": by_word["model"][0], "score": by_word["score"][0], "question": question}
    return shlex.join([part for key, name in columns.items() for part in ("--column", f"{key}={name}")])


def _are_numbers(frame: pd.DataFrame, name: str) -> bool:
    present = [value for value in values(frame, name).tolist() if value is not None]
    return bool(present) and all(number(value) is not None for value in present)


def _paths_to_models(frame: pd.DataFrame) -> list[str]:
    """Paths within the objects and lists of the first record whose last name is that of a model."""
    paths: list[str] = []

    def walk(value: object, path: str, depth: int) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if isinstance(key, str) and "." not in key and "[" not in key and depth < DEEPEST:
                    if "model" in plain(key).split("_") and isinstance(inner, str):
                        paths.append(f"{path}.{key}")
                    walk(inner, f"{path}.{key}", depth + 1)
        elif isinstance(value, list | tuple | np.ndarray) and len(value):
            walk(value[0], f"{path}[*]", depth + 1)

    for name in (name for name in frame.columns if isinstance(name, str) and isinstance(frame[name], pd.Series)):
        walk(frame[name].iloc[0], name, 0)
    return paths
