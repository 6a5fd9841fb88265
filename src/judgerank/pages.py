"""A page in Markdown as one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

import markdown

STYLE = """body { font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0 }
th, td { border: 1px solid #ccc; padding: 2px 7px }
th { background: #f2f2f2; text-align: left } img { max-width: 100% } code { background: #f5f5f5 }
summary { cursor: pointer; font-weight: bold }"""


def whole_page(text: str, title: str, folder: Path) -> str:
    """A Markdown page as one HTML file, with the figures it shows (PNG, relative to a folder) inside.

    Raises
    ------
    OSError
        If a figure cannot be read.
    """
    body = markdown.markdown(text, extensions=["tables", "md_in_html"])

    def embedded(match: re.Match[str]) -> str:
        content = base64.b64encode((folder / match[1]).read_bytes()).decode()
        return f'src="data:image/png;base64,{content}"'

    body = re.sub(r'src="([^"]+\.png)"', embedded, body)
    head = f'<meta charset="utf-8"><title>{html.escape(title, quote=False)}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'
