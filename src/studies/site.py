"""Extension of Python-Markdown for the site: links to files of the repository lead to it, diagrams become text.

The generator does not touch links to files outside of the documentation. It loads the program that draws Mermaid's
diagrams from another host.
"""

from __future__ import annotations

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

# `make docs` copies figures/ into the site, where it is one folder nearer to the pages than in the repository
FIGURE = re.compile(r"(!\[[^\]]*\]\((?:\.\./)+)\.\./(figures/)")
OUT_OF_DOCS = re.compile(
    r"\]\((?:\.\./)+((?:experiments|conf|results|src|tests|examples|(?<=\.\./\.\./)figures)/[^)\s]+"
    r"|[A-Z]\w+\.\w+|codecheck\.yml)\)"
)
DIAGRAM = re.compile(r"```mermaid\nflowchart \w+\n(.*?)```", re.DOTALL)
NODE = re.compile(r"\b(\w+)\[\"([^\"]+)\"\]")
BEFORE_ALL_OTHERS = 1_000


class Rewritten(Preprocessor):
    """Text of a page with its links and diagrams rewritten."""

    def __init__(self, md: Markdown, repository: str) -> None:
        super().__init__(md)
        self.repository = repository.rstrip("/")

    def run(self, lines: list[str]) -> list[str]:
        text = FIGURE.sub(r"\1\2", "\n".join(lines))
        linked = OUT_OF_DOCS.sub(rf"]({self.repository}/blob/main/\1)", text)
        return DIAGRAM.sub(_as_text, linked).split("\n")


class Site(Extension):
    """Its setting `repository` is the address of the repository's site."""

    def __init__(self, **settings: Any) -> None:
        self.config = {"repository": ["", "Address of the repository's site"]}
        super().__init__(**settings)

    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(Rewritten(md, self.getConfig("repository")), "site", BEFORE_ALL_OTHERS)


def makeExtension(**settings: Any) -> Site:
    """The extension, by the name that Python-Markdown looks for."""
    return Site(**settings)


def _as_text(diagram: re.Match[str]) -> str:
    """A flowchart that is one chain as its names and arrows; a line begins where the one before it ended."""
    names = dict(NODE.findall(diagram[1]))
    chain = [name.strip() for line in NODE.sub(r"\1", diagram[1]).splitlines() for name in line.split("-->")]
    once = [name for index, name in enumerate(chain) if name and (not index or name != chain[index - 1])]
    return f"```text\n{' → '.join(names[name] for name in once)}\n```"
