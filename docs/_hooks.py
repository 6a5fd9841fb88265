"""Links from a page to a file of the repository that is no page lead to the repository's site."""

import re

OUT_OF_DOCS = re.compile(
    r"\]\((?:\.\./)+((?:experiments|conf|results|src|tests|examples)/[^)\s]+|[A-Z]\w+\.\w+|codecheck\.yml)\)"
)


def on_page_markdown(markdown, config, **_):
    return OUT_OF_DOCS.sub(lambda match: f"]({config.repo_url.rstrip('/')}/blob/main/{match[1]})", markdown)
