"""The frame of a page: a template filled in, with style and scripts inside."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

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
    environment.globals["inline"] = lambda name: _inline(name, template.parent)
    tables = _folder_of("itables") / "html"
    return environment.get_template(template.name).render(
        table_library=Markup(_packed((tables / "dt_bundle.js").read_bytes())),
        table_style=Markup((tables / "dt_bundle.css").read_text(encoding="utf-8")),
        **context,
    )


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
