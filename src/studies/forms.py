"""Tables of the forms of judgments that are read, for docs/reference/forms.md: made from layouts and recipes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from judgerank.reading.layouts import LAYOUTS, Layout
from judgerank.reading.layouts.by_recipe import Recipe, recipes
from judgerank.reading.layouts.table import OF_SCORES
from replication.tables import markdown_table

MODELS = ("model_a", "model_b", "model")
VERDICTS = ("winner", "score", "rank", "best")
MEANINGS = {
    **{"a": "the first won", "b": "the second won", "c": "a tie", "tie": "a tie"},
    **{"unknown": "no answer", "baseline": "the baseline"},
}
RULES = {
    "more": "the one with more of {}",
    "less": "the one with less of {}",
    "descending": "more of {} is better",
}


def layouts_table() -> str:
    """Forms that are read by code: the columns that recognise each, and its remark."""
    listed = (layout for layout in LAYOUTS if not layout.recipe)
    rows = [(layout.name, _code(_recognising(layout)), _kind(layout), layout.remark) for layout in listed]
    return markdown_table(rows, ["form", "recognised by", "what a record is", "how it is read"])


def _recognising(layout: Layout) -> Iterable[str]:
    """The columns that recognise a form; of tables of scores those of models, scores and questions."""
    return layout.needs or [key for key in (*OF_SCORES, "question") if key in layout.aliases][: len(OF_SCORES)]


def recipes_table() -> str:
    """Forms that a recipe describes: what recognises each, and where models, verdict, judge and question are."""
    rows = [
        (
            f"[{recipe['name']}]({recipe['source'].partition(': ')[0]})",
            _code([*recipe["needs"], *recipe.get("paths", ())]),
            _fields(recipe, MODELS),
            _fields(recipe, VERDICTS),
            _fields(recipe, ("judge",)),
            _fields(recipe, ("question",)),
            _reading(recipe),
        )
        for recipe in recipes()
    ]
    heads = ["form", "recognised by", "models", "verdict", "judge", "question", "how it is read"]
    return markdown_table(rows, heads)


def _code(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _kind(layout: Layout) -> str:
    if layout.of_scores:
        return "a score, or several"
    kind = "a ranking" if layout.needs[:1] in (("ranking",), ("rank",)) else "a pair"
    return f"{kind}, in the order shown" if layout.ordered else kind


def _fields(recipe: Recipe, keys: Iterable[str]) -> str:
    """Where a record has these fields: in all of its games, or in each by itself."""
    parts = [recipe.get("columns", {}), *recipe.get("games", ())]
    texts = [_where(part[key], part.get("count")) for key in keys for part in parts if key in part]
    return "; ".join(dict.fromkeys(texts))


def _where(value: Any, count: str | None) -> str:
    """A path, the first of several that has a value, a rule, or a constant, as often as another path says."""
    if isinstance(value, str) and value.startswith("="):
        meaning = MEANINGS.get(value[1:], value[1:])
        return f"`{count}` times: {meaning}" if count else meaning
    if isinstance(value, Mapping):
        ((rule, fields),) = value.items()
        if rule == "flags":
            return "; ".join(f"`{path}`: {MEANINGS[letter]}" for path, letter in fields.items())
        return RULES[rule].format(_code(fields)) if rule in RULES else _code(fields.values())
    return " or ".join(f"`{name}`" for name in ([value] if isinstance(value, str) else value) if name)


def _reading(recipe: Recipe) -> str:
    """What the words for the verdict mean, which records count, and the remark."""
    by_meaning: dict[str, list[str]] = {}
    for said, letter in recipe.get("words", {}).items():
        by_meaning.setdefault(MEANINGS[letter], []).append(said)
    sentences = ["; ".join(f"{_code(words)}: {meaning}" for meaning, words in by_meaning.items())]
    sentences += [f"`{path}` must be {_words(words)}" for path, words in recipe.get("only", {}).items()]
    sentences += [f"`{path}` must not be {_words(words)}" for path, words in recipe.get("without", {}).items()]
    sentences += [f"A tie where {_code(recipe['ties'])} is true"] if recipe.get("ties") else []
    is_unordered = recipe.get("kind", "pairs") == "pairs" and not recipe.get("ordered", True)
    sentences += ["The order of presentation is not known"] if is_unordered else []
    return " ".join([*(f"{sentence}." for sentence in sentences if sentence), recipe.get("remark", "")]).strip()


def _words(words: Iterable[str]) -> str:
    return " or ".join(f"`{word}`" if word else "empty" for word in words)
