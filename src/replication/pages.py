"""Pages of the study: Markdown, and tables of their own, in the frame that all pages have."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

import markdown
from markupsafe import Markup

from judgerank.pages import Shown, render

TEMPLATE = Path(__file__).with_name("page.html")


def html_page(
    text: str, title: str, folder: Path, tables: Sequence[Shown] = (), filters: Sequence[str] = ()
) -> str:
    """A page in Markdown as one HTML file, with the figures it shows (PNG, relative to a folder) inside.

    Parameters
    ----------
    text : str
        Below a first heading, which is the title.
    title : str
    folder : Path
    tables : sequence of Shown
        Below the text.
    filters : sequence of str
        Columns of these by whose values they can be filtered.

    Raises
    ------
    OSError
        If a figure cannot be read.
    """
    parser = markdown.Markdown(
        extensions=["tables", "md_in_html", "toc"], extension_configs={"toc": {"toc_depth": "2"}}
    )
    body = parser.convert(re.sub(r"\A# .*\n", "", text))

    def embedded(match: re.Match[str]) -> str:
        content = base64.b64encode((folder / match[1]).read_bytes()).decode()
        return f'src="data:image/png;base64,{content}"'

    body = re.sub(r'src="([^"]+\.png)"', embedded, body)
    # the page's policy allows no style in attributes
    body = body.replace(' style="text-align: right;"', ' class="number"').replace(' style="text-align: left;"', "")
    body = re.sub(r"<table>(.*?)</table>", r'<div class="table"><table>\1</table></div>', body, flags=re.DOTALL)
    sections = [(token["id"], token["html"]) for token in parser.toc_tokens]  # type: ignore[attr-defined]
    return render(
        TEMPLATE,
        title=title,
        sections=[(to, Markup(name)) for to, name in sections],
        body=Markup(body),
        tables=tables,
        filters=filters,
    )
