"""Links to files of the repository that are no pages lead to the repository's site; diagrams become text.

The theme would load the program that draws Mermaid's diagrams from another host.
"""

import re

OUT_OF_DOCS = re.compile(
    r"\]\((?:\.\./)+((?:experiments|conf|results|src|tests|examples)/[^)\s]+|[A-Z]\w+\.\w+|codecheck\.yml)\)"
)
DIAGRAM = re.compile(r"```mermaid\nflowchart \w+\n(.*?)```", re.DOTALL)
NODE = re.compile(r"\b(\w+)\[\"([^\"]+)\"\]")


def on_page_markdown(markdown, config, **_):
    address = config.extra["repository"].rstrip("/")
    return DIAGRAM.sub(_as_text, OUT_OF_DOCS.sub(lambda match: f"]({address}/blob/main/{match[1]})", markdown))


def _as_text(diagram):
    """A flowchart that is one chain as its names and arrows; a line begins where the one before it ended."""
    names = dict(NODE.findall(diagram[1]))
    chain = [name.strip() for line in NODE.sub(r"\1", diagram[1]).splitlines() for name in line.split("-->")]
    once = [name for place, name in enumerate(chain) if name and (not place or name != chain[place - 1])]
    return f"```text\n{' → '.join(names[name] for name in once)}\n```"
