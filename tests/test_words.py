"""What people read, and names in code, are in words that anyone knows: none private, no sentence too long."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from judgerank.cli import app
from replication.auditing.doc_blocks import markdown_in
from replication.config import ROOT

# what a colleague would ask the meaning of, and what to write instead
PRIVATE = {
    r"told apart|tell(?:s|ing)? (?:[\w']+ ){1,4}apart": "significantly different; separates",
    r"lean(?:s|ing|ings|ed)? (?:to|towards?)\b|leanings?": "favours; position bias",
    r"told of\b|(?:is|are|was|were) told\b|told by\b": "is given, is reported, is named",
    r"let alone": "not to mention",
    r"thin\b": "few comparisons",
    r"(?:is|are|be|being) worth\b(?! it\b)|worth of\b|what [\w ]+ worth\b": "carries as much information as",
    r"carr(?:y|ies) little": "has little information",
    r"open pairs?": "pairs without a significant difference",
    r"of whom no|such as there (?:is|are)|as there are\b|what is none|what it comes to": "an ordinary sentence",
    r"dear\b": "expensive",
    r"bands?\b": "group",
}
# where such a word is ordinary English or a name
ALLOWED = (
    r"interquartile bands?",  # of a figure
    r"`[^`]*`",  # names in code, such as the column `band`
    r"not worth it",
)
LONGEST = 30  # words in a sentence
TEMPLATES = sorted([*(ROOT / "src/judgerank").rglob("*.html")])
# messages and notes are strings with a space in them; these modules' strings are of the study's tables, or names
LITERALS = sorted((ROOT / "src/judgerank").rglob("*.py"))


def prose(markdown: str) -> str:
    """A text without code, comments, addresses and tables."""
    for pattern in (r"```.*?```", r"<!--.*?-->"):
        markdown = re.sub(pattern, "", markdown, flags=re.DOTALL)
    markdown = re.sub(r"^\|.*$", "", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"`[^`]*`", "code", markdown).replace("**", "")
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)


def sentences(text: str) -> Iterator[str]:
    """Sentences of a text, and parts of one that a semicolon or colon ends."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*>#]|\d+\.)\s)", text):
        if not block.strip().startswith("#"):
            yield from re.split(r"(?<=[.!?])\s+|(?<=[;:])\s+", " ".join(block.split()))


def private_in(text: str) -> list[str]:
    """Private words of a text, with what to write instead."""
    for pattern in ALLOWED:
        text = re.sub(pattern, " ", text)
    return [
        f"{found[0]!r} ({instead}): ...{text[max(0, found.start() - 50) : found.end() + 30]}..."
        for pattern, instead in PRIVATE.items()
        for found in re.finditer(rf"\b(?:{pattern})", text, re.IGNORECASE)
    ]


@cache
def pages() -> dict[str, str]:
    """README and documentation by name, and what the changelog says of the next version."""
    paths = [*markdown_in([ROOT / "README.md", ROOT / "docs"])]
    found = {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    log = (ROOT / "CHANGELOG.md").read_text()
    return found | {"CHANGELOG.md": log.partition("## [Unreleased]")[2].partition("\n## [0.2")[0]}


@pytest.mark.parametrize("name", sorted(pages()))
def test_pages_have_no_private_words(name):
    text = re.sub(r"```.*?```|<!--.*?-->", "", pages()[name], flags=re.DOTALL)
    assert private_in(" ".join(text.split())) == []


@pytest.mark.parametrize("name", sorted(pages()))
def test_sentences_are_short(name):
    long = [one for one in sentences(prose(pages()[name])) if len(one.split()) > LONGEST]
    assert long == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_have_no_private_words_and_short_sentences(path):
    text = re.sub(r"{[%{#].*?[%}#]}", " x ", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)
    blocks = [
        " ".join(block.split())
        for block in re.split(r"</?(?:p|li|h\d|td|th|dt|dd|summary|label|option)\b[^>]*>", text)
    ]
    plain = [re.sub(r"<[^>]*>", "", block) for block in blocks]
    assert private_in(" . ".join(plain)) == []
    assert [one for block in plain for one in sentences(block) if len(one.split()) > LONGEST] == []


def test_help_has_no_private_words():
    command = get_command(app)
    said = [command.help or ""]
    for one in command.commands.values():
        said += [one.help or "", *(getattr(option, "help", "") or "" for option in one.params)]
    assert private_in(" . ".join(" ".join(text.split()) for text in said)) == []


def messages(path: Path) -> Iterator[str]:
    """Strings of a module that may reach a reader: those with two words or more that are no docstrings."""
    tree = ast.parse(path.read_text())
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_message = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
        if is_message and re.search(r"\w \w", node.value):
            yield " ".join(node.value.split())


@pytest.mark.parametrize("path", LITERALS, ids=lambda path: path.relative_to(ROOT / "src/judgerank").as_posix())
def test_messages_have_no_private_words(path):
    assert [one for text in messages(path) for one in private_in(text)] == []


EXAMPLES = (
    *(
        "cannot be told apart",
        "it tells most models apart",
        "judges lean towards the first",
        "a leaning of a judge",
    ),
    *(
        "comments are told of",
        "it is told by its name",
        "let alone the scores",
        "the data are thin",
        "a band of two",
    ),
    *("a panel is worth three judges", "the worth of a panel", "what the panel is worth", "it carries little"),
    *("open pairs", "judges of whom no two agree", "as few as there are", "people are dear"),
)


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_private_word_is_found(text):
    assert private_in(text)


@pytest.mark.parametrize(
    "text", ["it is not worth it", "an interquartile band", "the column `band`", "clean and dearth"]
)
def test_ordinary_words_are_left_alone(text):
    assert not private_in(text)


# names that say what happened to a thing, or where it lies, and not what it is
VAGUE = {
    *("apart", "asked", "at", "beside", "each", "found", "further", "here", "kept", "known", "many", "moved"),
    *("of_whom", "one", "own", "place", "said", "shown", "taken", "there", "told", "way", "whole"),
}
MOST_VAGUE = 0.015  # of all names that are stored in src
# of those of a package: these are in the field's words throughout, others are on the way
MOST_OF_PACKAGE, MOST_OF_OTHERS = 0.005, 0.05
PACKAGES = (
    *("model", "engine", "inference", "order", "fits", "collecting", "voting", "inspecting", "plots"),
    *("replication", "studies", "experiments"),
)
CODE = sorted(path for folder in ("src", "experiments") for path in (ROOT / folder).rglob("*.py"))


def stored_names(code: str) -> Iterator[str]:
    """Names that code gives: of variables, parameters, attributes, fields, functions and classes."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name


def is_vague(name: str) -> bool:
    return name.strip("_").lower() in VAGUE


def package_of(path: Path) -> str:
    """The folder of the library, or the package of the study."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if parts[0] != "src" else parts[1] if parts[1] != "judgerank" else parts[2]


@cache
def names_by_package() -> dict[str, Counter[tuple[str, str]]]:
    """How often each name is stored in each file, by package."""
    names: dict[str, Counter[tuple[str, str]]] = {}
    for path in CODE:
        file = path.relative_to(ROOT).as_posix()
        counts = names.setdefault(package_of(path), Counter())
        counts.update((file, name) for name in stored_names(path.read_text()))
    return names


def require_few_vague(names: Counter[tuple[str, str]], limit: float) -> None:
    """Fail with the worst offenders where more than a share of names is vague."""
    vague = Counter({place: count for place, count in names.items() if is_vague(place[1])})
    share = vague.total() / names.total()
    worst = ", ".join(f"{name} in {file} ({count} times)" for (file, name), count in vague.most_common(10))
    assert share <= limit, f"{share:.1%} of the names are vague, more than {limit:.1%}; most of all {worst}"


def test_few_names_in_code_are_vague():
    packages = names_by_package().items()
    require_few_vague(sum((names for name, names in packages if name != "experiments"), Counter()), MOST_VAGUE)


@pytest.mark.parametrize("package", sorted(names_by_package()))
def test_few_names_of_a_package_are_vague(package):
    names = names_by_package()[package]
    require_few_vague(names, MOST_OF_PACKAGE if package in PACKAGES else MOST_OF_OTHERS)


def test_every_kind_of_stored_name_is_read():
    code = """
class Told:
    kept: int
    def moved(self, known, *own, whole=1, **further):
        self.apart = [one for one in known]
        for there in own:
            with open(there) as here:
                pass
        match known:
            case [place, *many]:
                pass
        try:
            asked = lambda each: each
        except OSError as said:
            pass
"""
    names = [name for name in stored_names(code) if name != "self"]
    expected = "Told kept moved known own whole further apart one there here place many asked each said"
    assert sorted(names) == sorted(expected.split())
    assert all(map(is_vague, names)) and not is_vague("places_kept")


def test_the_worst_offenders_are_named():
    names = Counter({("a.py", "found"): 3, ("b.py", "one"): 1, ("b.py", "score"): 96})
    require_few_vague(names, 0.04)
    with pytest.raises(AssertionError, match=r"4.0% .* found in a.py \(3 times\), one in b.py"):
        require_few_vague(names, 0.039)
