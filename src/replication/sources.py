"""Which code and which data files of the packages results depend on, read without running anything.

A module is followed into all that it imports, what its functions import and what it names when it runs included.
Of a module its syntax tree counts, without docstrings, comments and positions: names count, layout does not.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from replication.cache_files import JsonCache

SOURCES = Path(__file__).parents[1]
PACKAGES = ("judgerank", "replication", "studies")
CACHE = SOURCES.parent / ".cache"
LOADED = time.time()  # when this process began to load the packages, or little later
SHORT = 16  # characters of a digest
NOT_OF_THE_TREE = {"ctx", "kind", "type_comment", "type_ignores"}
WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
COMMAND = re.compile(r'"-m", "(\w+(?:\.\w+)*)"')  # of a process of its own
# Drawing changes no number, and what schemas give is in the digest of the settings
NOT_COMPUTING = re.compile(r"\w+\.(plots|schemas)(\.|$)|replication\.legends$")
NOT_DRAWING = re.compile(r"\w+\.schemas(\.|$)")
BEHIND = {  # every section's tables and figures, whatever its script imports
    "tables": ("replication.datasets", "replication.tables"),
    "figures": ("replication.plots.labels", "judgerank.plots.looks"),
}


@dataclass(frozen=True)
class Syntax:
    """What counts of a module, or of a part of it.

    Attributes
    ----------
    digest : str
        Of the syntax tree.
    imports : list of str
        Modules of our packages that it imports when it runs, and what in them, which may be no module.
    packages : list of str
        Packages of which it imports modules by names that it computes.
    words : list of str
        Names of data files of the packages, and of their folders, that are among its strings.
    exports : dict
        Modules by the names that it imports for types alone; what a package loads when it is asked for.
    """

    digest: str
    imports: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)


def digest_of(value: Any) -> str:
    """Short digest of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:SHORT]


@cache
def code_digest(*modules: str) -> str:
    """Digest of what modules compute by: their code, all of ours that they import, and the data files they name.

    A module outside our packages counts itself, with what it imports from them.
    """
    return digest_of(code_files(*modules))


@cache
def code_files(*modules: str) -> dict[str, str]:
    """Digests of the files behind `code_digest`, by their places in the packages."""
    return _digests(_closure(modules, NOT_COMPUTING), ())


def changed_since_loaded(*modules: str) -> list[str]:
    """Files of modules, and of all of ours that they import, which are newer than what this process loaded."""
    return sorted(
        _relative_name(path) for path in _closure(modules, NOT_COMPUTING) if path.stat().st_mtime > LOADED
    )


@cache
def script_digest(
    script: Path, kind: str, modules: frozenset[str] = frozenset(), words: frozenset[str] = frozenset()
) -> str | None:
    """Digest of the code behind the tables of a script, or behind its figures; None where it draws none.

    Tables are computed by its function `compute` (where it has none, by all but `run` and `draw`), figures are
    drawn by its function `draw`, each with whatever these use.

    Parameters
    ----------
    script : Path
    kind : {"tables", "figures"}
    modules : frozenset of str
        Further modules, which settings name.
    words : frozenset of str
        Names that settings give, which may be those of data files.
    """
    part = _part(script, kind)
    if part is None:
        return None
    left_out = NOT_COMPUTING if kind == "tables" else NOT_DRAWING
    behind = _closure([*BEHIND[kind], *modules, *part.imports], left_out)
    return digest_of(_digests(behind | {script: part}, words))


def files_of(*modules: str) -> set[Path]:
    """Source files of modules and of everything in our packages that they import."""
    return set(_closure(modules))


def files_of_script(path: Path) -> set[Path]:
    """Source files of our packages that a script imports, directly or through others."""
    return files_of(*_syntax("", path.read_bytes()).imports)


def named_modules(settings: Any) -> set[str]:
    """Our modules that settings name: a method is configured as ``studies.methods.online.elo``."""
    names = {text for text in texts_in(settings) if text.partition(".")[0] in PACKAGES and "." in text}
    return {name.rsplit(".", up)[0] for name in names for up in range(name.count("."))}


def texts_in(settings: Any) -> set[str]:
    """Strings among settings."""
    if isinstance(settings, dict):
        settings = list(settings.values())
    if isinstance(settings, list | tuple):
        return set().union(*map(texts_in, settings))
    return {settings} if isinstance(settings, str) else set()


def _digests(behind: dict[Path, Syntax], words: Iterable[str]) -> dict[str, str]:
    named = {word for syntax in behind.values() for word in syntax.words} | set(words)
    files = {file for path in behind for file in _data_files(path, behind[path].words, named)}
    _parsed().save()
    digest_of_file = {_relative_name(path): syntax.digest for path, syntax in behind.items()}
    return digest_of_file | {
        _relative_name(path): hashlib.sha256(path.read_bytes()).hexdigest()[:SHORT] for path in files
    }


def _relative_name(path: Path) -> str:
    """A file's place in the packages, wherever these lie."""
    return path.relative_to(SOURCES).as_posix() if path.is_relative_to(SOURCES) else path.name


def _data_files(module: Path, words: Iterable[str], named: Collection[str]) -> Iterator[Path]:
    """Data files beside a module that its strings name; of a folder those that any string names."""
    for word in words:
        path = module.parent / word
        if path.is_file():
            yield path
        elif path.is_dir() and not (path / "__init__.py").exists():
            yield from (file for file in path.iterdir() if file.stem in named)


def _closure(modules: Iterable[str], left_out: re.Pattern[str] | None = None) -> dict[Path, Syntax]:
    """Modules with all of ours that they import, by file."""
    syntax_of_file: dict[Path, Syntax] = {}
    waiting = [module for name in modules for module in _modules_of(SOURCES, name)]
    queued = set(waiting)
    while waiting:
        name = waiting.pop()
        if not (left_out and left_out.match(name)):
            path = _file(SOURCES, name)
            syntax_of_file[path], imported = _read(name, path)
            new = imported - queued
            waiting += new
            queued |= new
    return syntax_of_file


def _read(name: str, path: Path) -> tuple[Syntax, frozenset[str]]:
    """What counts of a module as it is now, and the modules that it imports."""
    now = path.stat()
    return _read_then(SOURCES, name, path, now.st_mtime_ns, now.st_size)


@cache
def _read_then(sources: Path, name: str, path: Path, _changed: int, _size: int) -> tuple[Syntax, frozenset[str]]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    syntax = _syntax(package, path.read_bytes())
    inside = [
        f"{package_name}.{member.stem}"
        for package_name in syntax.packages
        for member in _folder(sources, package_name).glob("*.py")
    ]
    names = [name, *syntax.imports, *inside]
    return syntax, frozenset(module for package_name in names for module in _modules_of(sources, package_name))


def _modules_of(sources: Path, name: str) -> Iterator[str]:
    """A module and the packages above it, which run first; for what a package shows, the module behind it."""
    above = [name.rsplit(".", up)[0] for up in range(name.count(".") + 1)]
    yield from (parent for parent in above if _file(sources, parent))
    package, _, exported = name.partition(".")
    if exported and package in PACKAGES:
        top = _folder(sources, package) / "__init__.py"
        behind = _exports(top, top.stat().st_mtime_ns).get(exported)
        if behind:
            yield from _modules_of(sources, behind)


@cache
def _exports(top: Path, _changed: int) -> dict[str, str]:
    return _syntax(top.parent.name, top.read_bytes()).exports


@cache
def _file(sources: Path, name: str) -> Path | None:
    """The file of a module; None for what is no module, such as a function's name."""
    if not _is_ours(name):
        file = getattr(sys.modules.get(name), "__file__", None)
        return Path(file) if file else None
    base = _folder(sources, name)
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)


def _folder(sources: Path, name: str) -> Path:
    return sources.joinpath(*name.split("."))


def _part(script: Path, kind: str) -> Syntax | None:
    """What counts of a script for its tables or for its figures; None where it draws none."""
    body = ast.parse(script.read_bytes()).body
    by_name: dict[str, list[ast.stmt]] = {}
    for node in body:
        for name in _defined(node):
            by_name.setdefault(name, []).append(node)
    roots = {"compute" if kind == "tables" else "draw"} & by_name.keys()
    if kind == "tables" and not roots:
        imported = (ast.Import, ast.ImportFrom)
        roots = {name for name, (first, *_) in by_name.items() if not isinstance(first, imported)}
        roots -= {"run", "draw"}
    waiting, used = [*roots], set()
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            names = {
                node.id
                for statement in by_name[name]
                for node in ast.walk(statement)
                if isinstance(node, ast.Name)
            }
            waiting += names & by_name.keys()
    parts = [_only(node, used) for node in body if used & set(_defined(node))]
    return _syntax_of("", ast.Module(parts, [])) if parts else None


def _defined(node: ast.stmt) -> list[str]:
    """Names that a statement of a module defines."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [
        node_of_target.id
        for target in targets
        if target
        for node_of_target in ast.walk(target)
        if isinstance(node_of_target, ast.Name)
    ]


def _only(node: ast.stmt, used: Collection[str]) -> ast.stmt:
    """A statement; one that imports, with no more than the names that are used."""
    if isinstance(node, ast.ImportFrom):
        names = [alias for alias in node.names if (alias.asname or alias.name) in used]
        return ast.ImportFrom(node.module, names, node.level)
    return node


def _syntax(package: str, source: bytes) -> Syntax:
    """What counts of a source; parsing takes ten times as long as looking it up."""
    key = f"{package}:{hashlib.sha256(source).hexdigest()}"
    return Syntax(**_parsed().get(key, lambda: asdict(_syntax_of(package, ast.parse(source)))))


@cache
def _parsed() -> JsonCache:
    names = " ".join(sorted(_data_names()))
    reader = hashlib.sha256(Path(__file__).read_bytes() + names.encode()).hexdigest()
    return JsonCache(CACHE / "syntax.json", reader)


@cache
def _data_names() -> set[str]:
    """Names of the data files of the packages, with their stems, and of the folders that hold them."""
    files = [
        path
        for package in PACKAGES
        for path in SOURCES.joinpath(package).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc", ".typed")
    ]
    return {name for path in files for name in (path.name, path.stem, path.parent.name)}


def _syntax_of(package: str, tree: ast.Module) -> Syntax:
    reader = _Reader(package)
    reader.read(tree)
    digest = hashlib.sha256("\0".join(reader.parts).encode()).hexdigest()[:SHORT]
    words = sorted(reader.strings & _data_names())
    return Syntax(digest, sorted(reader.imports), sorted(reader.packages), words, reader.exports)


class _Reader:
    """One pass over a syntax tree: its parts in order, the same under every Python, and the names it imports."""

    def __init__(self, package: str):
        self.package = package
        self.parts: list[str] = []
        self.imports: set[str] = set()
        self.packages: set[str] = set()
        self.strings: set[str] = set()
        self.exports: dict[str, str] = {}
        self.bound: dict[str, str] = {}  # modules by the names that imports give them

    def read(self, node: Any, for_types: bool = False) -> None:
        if isinstance(node, list):
            self.parts.append("[")
            for item in node:
                self.read(item, for_types)
            self.parts.append("]")
        elif not isinstance(node, ast.AST):
            self.parts.append(repr(node))
        else:
            self._note(node, for_types)
            for_types |= isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            self.parts += ("(", type(node).__name__)
            for name in node._fields:
                value = getattr(node, name, None)
                if name not in NOT_OF_THE_TREE and value is not None and value != []:
                    value = _meant(node, name, value)
                    self.parts.append(name)
                    self.read(value, for_types)
            self.parts.append(")")

    def _note(self, node: ast.AST, for_types: bool) -> None:
        """Note what a node says of imports, of other processes and of files."""
        if isinstance(node, ast.Import):
            if not for_types:
                self.imports |= {alias.name for alias in node.names if _is_ours(alias.name)}
        elif isinstance(node, ast.ImportFrom):
            start = node.module or ""
            if node.level:
                start = resolve_name("." * node.level + start, self.package)
            names = {alias.asname or alias.name: f"{start}.{alias.name}" for alias in node.names}
            if for_types:
                self.exports |= dict.fromkeys(names, start)
            elif _is_ours(start):
                self.imports |= {start, *names.values()}
                self.bound |= names
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in PACKAGES:
            self.imports.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            self._note_computed(node.args[0])
        elif isinstance(node, ast.List | ast.Tuple) and '"-m"' in (text := _strings(node)):
            self._note_command(text)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.strings.add(node.value)
            self._note_command(node.value)

    def _note_command(self, text: str) -> None:
        """Note the module, or the package's main one, that a process of its own would run."""
        names = {name for name in COMMAND.findall(text) if _is_ours(name)}
        self.imports |= names | {f"{name}.__main__" for name in names}

    def _note_computed(self, name: ast.expr) -> None:
        """Note the package of a module whose name is computed: of this one, of an imported one, or spelt out."""
        start = name.values[0] if isinstance(name, ast.JoinedStr) else None
        if isinstance(start, ast.Constant):
            package = str(start.value).rstrip(".")
            self.packages |= {package} - {*PACKAGES}  # what these show is followed name by name
        elif isinstance(start, ast.FormattedValue):
            text = ast.unparse(start.value)
            package = self.package if text == "__name__" else self.bound.get(text.removesuffix(".__name__"), "")
            self.packages |= {package} - {""}


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in PACKAGES


def _strings(node: ast.List | ast.Tuple) -> str:
    """The strings of a list as they are written in a program, others as nothing."""
    return ", ".join(f'"{element.value}"' if isinstance(element, ast.Constant) else "" for element in node.elts)


def _meant(node: ast.AST, name: str, value: Any) -> Any:
    """A field's value without a docstring, and with texts between formatted values in one piece."""
    if name == "body" and isinstance(node, WITH_DOCSTRING):
        first = value[0]
        is_docstring = isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
        return value[1:] if is_docstring else value
    if name == "values" and isinstance(node, ast.JoinedStr):
        joined: list[ast.expr] = []
        for part in value:
            if isinstance(part, ast.Constant) and joined and isinstance(joined[-1], ast.Constant):
                joined[-1] = ast.Constant(joined[-1].value + part.value)
            else:
                joined.append(part)
        return joined
    return value
