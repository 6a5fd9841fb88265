"""Words that no computation gives: findings, causes, captions, the article. Digests say which were read last.

The numbers in these texts are computed, or put right by the audit. The words around them are held beside the
stored results by whoever writes them. ``words.sha256`` has the digest of every text as it was then, so that a word
that is changed later, by mistake or not, does not go unnoticed.

python -m replication.auditing.words    (writes the digests anew, once the texts were read beside the results)
"""

from __future__ import annotations

import ast
import re
from hashlib import sha256
from pathlib import Path

from replication.auditing.doc_numbers import MARKED
from replication.config import ROOT

HERE = Path(__file__).parent
DIGESTS = HERE / "words.sha256"
AGAIN = "read them beside the results, then run python -m replication.auditing.words"
README_SECTIONS = ("Most of the paper reproduces", "What we found")
GENERATED = re.compile(r"<!-- ([\w ]+): written by make audit -->.*?<!-- /\1 -->", re.DOTALL)


def texts() -> dict[str, str]:
    """The words that are read, by where they stand."""
    texts_by_name = {f"README.md: {title}": _section(title) for title in README_SECTIONS}
    texts_by_name |= {
        path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted((ROOT / "paper").glob("*.j2"))
    }
    texts_by_name |= {name: (HERE / name).read_text() for name in ("causes.csv", "figures.csv")}
    modules = [*HERE.glob("findings*.py"), *HERE.glob("claims*.py")]
    return texts_by_name | {path.name: _strings(path) for path in sorted(modules)}


def _section(title: str) -> str:
    text = (ROOT / "README.md").read_text()
    (section,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## )", text, re.DOTALL | re.MULTILINE)
    return " ".join(MARKED.sub("", GENERATED.sub("", section)).split())


def _strings(path: Path) -> str:
    """All strings of a module in order, the parts of those with numbers in them and the docstrings included."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return "\n".join(
        node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def digests_now() -> dict[str, str]:
    """Digests of the words as they are."""
    return {name: sha256(text.encode()).hexdigest() for name, text in texts().items()}


def unread() -> list[str]:
    """Texts whose words are not those that were read last."""
    lines = (line.split("  ", 1) for line in DIGESTS.read_text().splitlines())
    digests_read, now = {name: digest for digest, name in lines}, digests_now()
    return sorted(name for name in digests_read.keys() | now.keys() if digests_read.get(name) != now.get(name))


if __name__ == "__main__":
    DIGESTS.write_text("".join(f"{digest}  {name}\n" for name, digest in digests_now().items()))
