"""The frame of a page, a template filled in, and tables of a page that can be sorted."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# The frame of a page: a template filled in, with style and scripts inside.
HERE = Path(__file__).parent


def render(template: Path, **context: object) -> str:
    """A page from a template that extends ``frame.html``.

    Parameters
    ----------
    template : Path
        Jinja, with ``title`` among its variables; scripts and styles are read from beside it.
    context
        Variables of the template; whatever is text is escaped.
    """
    environment = Environment(
        loader=FileSystemLoader([template.parent, HERE]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["policy"] = _policy
    environment.filters["markdown"] = as_html
    environment.globals["inline"] = lambda name: _inline(name, template.parent)
    tables = _folder_of("itables") / "html"
    return environment.get_template(template.name).render(
        table_library=Markup(_packed((tables / "dt_bundle.js").read_bytes())),
        table_style=Markup((tables / "dt_bundle.css").read_text(encoding="utf-8")),
        **context,
    )


def as_html(text: str) -> Markup:
    """Markdown of an answer as HTML: whatever HTML it holds is shown as text, and nothing is linked or loaded.

    Headings are paragraphs, lest they stand among those of the page.
    """
    tokens = _markdown().parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"
            token.attrs = {"class": "heading"} if token.nesting > 0 else {}
        elif token.type in ("th_open", "td_open"):
            token.attrs = {}  # a style of its own, which the page's policy refuses
    return Markup(_markdown().renderer.render(tokens, _markdown().options, {}))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    return reader.disable(["image", "link", "autolink", "reference"])


def _folder_of(package: str) -> Path:
    """Where a package lies, without loading it: with itables would come whatever tables it can show."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    return Path(spec.origin).parent


def _policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Content-Security-Policy of a page: what is written into it may run, and nothing may be fetched or sent.

    Scripts and styles are known by their digests, but for the library of tables, which a script imports as a blob.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hashes(scripts)} blob:",
            f"style-src {_hashes(styles)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hashes(texts: Iterable[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def _packed(content: bytes) -> str:
    """A script as compressed text, a third of its size; the same on every machine."""
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def _inline(name: str, asset_folder: Path) -> Markup:
    """A script or style of ours, as it is."""
    path = next(folder / name for folder in (asset_folder, HERE) if (folder / name).is_file())
    return Markup(path.read_text(encoding="utf-8"))


# A DataFrame as a table of a page: heads, formatted cells, values to sort by.
MISSING = "--"
SMALLEST = 0.001  # p-value that is shown as a number


@dataclass(frozen=True)
class Column:
    """A column of a page's table.

    Attributes
    ----------
    name : str
        In the DataFrame.
    head : str
        Shown above it.
    about : str
        What it means, shown on demand; empty if the head says it all.
    numeric : bool
    hidden : bool
        Whether it is shown only once it is asked for.
    """

    name: str
    head: str
    about: str = ""
    numeric: bool = False
    hidden: bool = False


class Cell(NamedTuple):
    """A cell: its text, the value it is sorted by (empty: by its text), and where it leads (empty: nowhere)."""

    text: str
    order: str = ""
    link: str = ""


@dataclass(frozen=True)
class Shown:
    """A table of a page.

    Attributes
    ----------
    key : str
        Name of the table on its page.
    caption : str
    columns : list of Column
    rows : list of list of Cell
    """

    key: str
    caption: str
    columns: list[Column]
    rows: list[list[Cell]]


def shown(
    key: str,
    caption: str,
    frame: pd.DataFrame,
    heads: Mapping[str, str] | None = None,
    about: Mapping[str, str] | None = None,
    hidden: Collection[str] = (),
    precise: Mapping[str, int] | None = None,
    links: Mapping[str, Sequence[str]] | None = None,
) -> Shown:
    """A DataFrame as a table of a page.

    Parameters
    ----------
    key, caption : str
    frame : DataFrame
    heads, about : mapping of str to str, optional
        By column: what is shown above it, and what it means.
    hidden : collection of str
        Columns that are shown only once they are asked for.
    precise : mapping of str to int, optional
        Decimals by column, where they are not three.
    links : mapping of str to sequence of str, optional
        Addresses by column, one for every row; empty ones are no links.
    """
    heads, about, precise, links = heads or {}, about or {}, precise or {}, links or {}
    columns, cells = [], []
    for name, values in frame.items():
        name = str(name)
        numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        columns.append(Column(name, heads.get(name, name), about.get(name, ""), numeric, name in hidden))
        column = _cells(values, name, numeric, precise.get(name, 3))
        if name in links:
            column = [cell._replace(link=to) for cell, to in zip(column, links[name], strict=True)]
        cells.append(column)
    return Shown(key, caption, columns, [list(row) for row in zip(*cells, strict=True)])


def _cells(values: pd.Series, name: str, numeric: bool, decimals: int) -> list[Cell]:
    cells = []
    for value in values.astype(object):
        if pd.isna(value):
            cells.append(Cell(MISSING, "-1e308" if numeric else ""))
        elif isinstance(value, bool):
            cells.append(Cell("yes" if value else "no"))
        elif isinstance(value, float):
            text = f"{value:.{decimals}f}" if abs(value) < 1e5 else f"{value:.1e}"
            if name.startswith("p_") and value < SMALLEST:
                text = f"<{SMALLEST:g}"
            cells.append(Cell(text, f"{value:.6g}"))
        else:
            cells.append(Cell(str(value)))
    return cells
