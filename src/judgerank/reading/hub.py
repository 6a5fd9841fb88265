"""Rows of a data set on the Hugging Face hub, of a folder laid out like one, or of a JSON file.

The package `datasets` finds, streams and types them. It takes most of a second to import, so the columns wanted
are kept as one Arrow file in its cache. From the second time on that file is memory-mapped, without the package.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgerank.data.errors import ConfigError, DataError, DataUnavailableError, JudgerankError
from judgerank.data.modules import needed

if TYPE_CHECKING:
    import pyarrow
    from datasets import DatasetBuilder, IterableDataset

PREFIX = "hf:"
PART = "::"  # between a set and a configuration or split of it: hf:owner/name::human
NAMED = re.compile(r"(?P<name>[^@]+)(@(?P<revision>[^@]+))?")
ROWS = 10_000  # held in memory at once while a set is streamed
ABOUT = b"judgerank"  # in the Arrow file: what was read
WAIT = 10  # seconds for the hub to answer


@dataclass(frozen=True)
class Address:
    """Where rows are: ``[hf:]owner/name[@revision][::[configuration/]split]``, or a folder or file for the set.

    Attributes
    ----------
    name : str
        The set's id on the hub, or the path of a folder or of a JSON file.
    revision : str, optional
        Branch, tag or commit; by default that of the first time.
    part : str, optional
        Split, configuration, or ``configuration/split``; needed where there are several.
    """

    name: str
    revision: str | None = None
    part: str | None = None

    @classmethod
    def of(cls, source: str) -> Address:
        """The address that a name means."""
        address, _, part = source.removeprefix(PREFIX).partition(PART)
        match = NAMED.fullmatch(address)
        if match is None or Path(address).exists():
            return cls(address, None, part or None)
        return cls(match["name"], match["revision"], part or None)

    @property
    def is_local(self) -> bool:
        return Path(self.name).exists()

    def __str__(self) -> str:
        return PREFIX + self.name + (f"@{self.revision}" if self.revision else "")


def is_hub(source: object) -> bool:
    """Whether a name is that of a set on the hub, or of a folder that is read like one."""
    return str(source).startswith(PREFIX)


def load_rows(source: str, *columns: str, nested: bool = True) -> pyarrow.Table:
    """Rows of a hub data set, of a folder laid out like one, or of a JSON file, memory-mapped.

    The first time the set is streamed, and only the columns wanted are fetched where its files are Parquet. A
    set whose files do not declare their types (JSON, CSV) is downloaded as a whole. A set without a revision is
    not asked for again: the Arrow file is of what the hub had then. A folder or file that changed is read again.

    Parameters
    ----------
    source : str
        As `Address` says, with or without ``hf:``.
    columns : str
        The columns wanted; all by default.
    nested : bool
        Whether to read columns of lists and objects, such as whole conversations, which judgments do not need.

    Returns
    -------
    pyarrow.Table
        Its schema's metadata say what was read: revision, configuration and split.

    Raises
    ------
    DataUnavailableError
        If there is neither such a file or folder nor access to the hub, if it cannot be read, or if `datasets` is
        needed and not installed.
    ConfigError
        If there are several configurations or splits, and none is named or another one.
    DataError
        If a column is missing.
    """
    address = Address.of(source)
    path = cache_path(address, columns, nested)
    rows = _mapped(path)
    if rows is None:
        with _explained(address):
            _keep(path, address, columns, nested)
        rows = _mapped(path)
    assert rows is not None
    return rows


def about(rows: pyarrow.Table) -> dict[str, str]:
    """Origin of rows: set, revision (of a set on the hub), configuration and split."""
    return json.loads(rows.schema.metadata[ABOUT])


def on_revisions(sources: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Which revisions were read, of those sources that are sets on the hub, and how to read another."""
    for source in sources:
        if "revision" in source:
            yield (
                f"{source['file']} is read as the hub had it when it was first loaded here (revision "
                f"{str(source['revision'])[:7]}); name another revision to load it again (hf:owner/name@REVISION)."
            )


def sha256(rows: pyarrow.Table) -> str:
    """Digest of the values in rows, which does not depend on where they are from."""
    digest = hashlib.sha256()
    for batch in rows.to_batches():
        digest.update(batch.serialize())
    return digest.hexdigest()


def cache_path(address: Address, columns: Sequence[str] = (), nested: bool = True) -> Path:
    """The Arrow file of a set in the cache of `datasets`; another one if a folder or file has changed."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    cache = Path(os.environ.get("HF_DATASETS_CACHE") or Path(home, "datasets")).expanduser()
    fingerprint = [address.name, address.revision, address.part, columns, nested, _stamps(Path(address.name))]
    key = hashlib.sha256(json.dumps(fingerprint).encode()).hexdigest()[:16]
    return cache / "judgerank" / f"{Path(address.name).name}-{key}.arrow"


def _stamps(path: Path) -> list[tuple[str, int, int]]:
    """Names, sizes and times of what is in a folder, or of a file; none of a set on the hub."""
    if not path.exists():
        return []
    files = [file for file in sorted(path.rglob("*")) if file.is_file()] if path.is_dir() else [path]
    return [(str(file.absolute()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]


def _mapped(path: Path) -> pyarrow.Table | None:
    """The rows kept in a file; None if there is none, or it is damaged."""
    if not path.is_file():
        return None
    try:
        import pyarrow
    except ImportError:
        raise DataUnavailableError(f"{path}: reading Arrow requires the package `pyarrow`") from None
    with suppress(pyarrow.ArrowException, OSError):
        rows = pyarrow.ipc.open_file(pyarrow.memory_map(str(path))).read_all()
        return rows if ABOUT in (rows.schema.metadata or {}) else None
    return None


@contextmanager
def _explained(address: Address) -> Iterator[None]:
    """One sentence on whatever `datasets` and what it calls may raise."""
    try:
        import datasets
        import requests
        import yaml
    except ImportError:
        raise DataUnavailableError(f"{address.name!r}: reading from the hub requires {needed('hub')}") from None
    try:
        if not address.is_local and not datasets.config.HF_HUB_OFFLINE:
            # one quick question instead of half a minute of retries
            requests.head(datasets.config.HF_ENDPOINT, timeout=WAIT)
        yield
    except JudgerankError:
        raise
    except (requests.RequestException, ConnectionError) as error:
        raise DataUnavailableError(
            f"{address.name!r} has not been loaded before, and {datasets.config.HF_ENDPOINT} cannot be reached "
            f"({type(error).__name__}): load it once with access, or name a folder with its files (hf:FOLDER)"
        ) from error
    except (datasets.exceptions.DatasetsError, yaml.YAMLError, OSError, RuntimeError, ValueError) as error:
        reason = next(iter(str(error).strip().splitlines()), "").rstrip(".:")
        raise DataUnavailableError(
            f"{address.name!r} cannot be loaded ({type(error).__name__}: {reason[:200]})"
        ) from error


def _keep(path: Path, address: Address, columns: Sequence[str], nested: bool) -> None:
    """Read a set, and write the columns wanted into one Arrow file, which is there whole or not at all."""
    import datasets
    import pyarrow

    if Path(address.name).is_file():
        builder = datasets.load_dataset_builder("json", data_files=address.name)
    else:
        names = datasets.get_dataset_config_names(address.name, revision=address.revision)
        config, address = _configuration(address, names)
        builder = datasets.load_dataset_builder(address.name, config, revision=address.revision)
    split = _chosen(address, "split", list(map(str, builder.config.data_files or ())))
    rows = _selected(builder, split, columns, nested)
    details = {"set": address.name if not address.is_local else Path(address.name).name, "split": split}
    details |= {} if address.is_local else {"revision": builder.hash}
    schema = _named(rows.features).with_metadata({ABOUT: json.dumps(details)})
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        with pyarrow.OSFile(str(partial), "wb") as file, pyarrow.ipc.new_file(file, schema) as writer:
            for table in rows.with_format("arrow").iter(ROWS):
                writer.write_table(_with_names(table, rows.features).cast(schema))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _selected(builder: DatasetBuilder, split: str, columns: Sequence[str], nested: bool) -> IterableDataset:
    """Rows of a split in the columns wanted, streamed if their types are declared."""
    rows = builder.as_streaming_dataset(split=split)
    if rows.features is None:  # of JSON and CSV: they could differ from one part to the next
        builder.download_and_prepare()
        rows = builder.as_dataset(split=split)
    missing = [name for name in columns if name not in rows.features]
    if missing:
        raise DataError(f"its split {split} has no column {missing[0]!r} (it has: {', '.join(rows.features)})")
    wanted = list(columns) or [name for name, kind in rows.features.items() if nested or _is_plain(kind)]
    if hasattr(builder.config, "columns"):  # of Parquet, whose other columns are not even fetched
        builder.config.columns = wanted
        rows = builder.as_streaming_dataset(split=split)
    return rows.select_columns(wanted)


def _is_plain(kind: object) -> bool:
    """Whether a column holds texts, numbers or classes."""
    from datasets import ClassLabel, Value

    return isinstance(kind, Value | ClassLabel)


def _configuration(address: Address, names: list[str]) -> tuple[str, Address]:
    """The configuration that is meant, and the address with only the split for its part."""
    head, slash, tail = (address.part or "").partition("/")
    if slash or (len(names) > 1 and head in names):
        return _chosen(replace(address, part=head), "configuration", names), replace(address, part=tail or None)
    if "default" in names:
        return "default", address
    return _chosen(replace(address, part=None), "configuration", names), address


def _chosen(address: Address, what: str, names: list[str]) -> str:
    if address.part in names:
        return str(address.part)
    if address.part is None and len(names) == 1:
        return names[0]
    listed = ", ".join(names) or "none"
    if address.part is not None:
        raise ConfigError(f"{address} has no {what} {address.part!r} (there is: {listed})")
    raise ConfigError(f"{address} has {len(names)} {what}s ({listed}): name one as {address}{PART}{names[0]}")


def _named(features: Any) -> pyarrow.Schema:
    """Types of columns as they are kept: classes by their names, not their numbers."""
    import pyarrow

    schema = features.arrow_schema
    for number, (name, kind) in enumerate(features.items()):
        if hasattr(kind, "names"):
            schema = schema.set(number, pyarrow.field(name, pyarrow.string()))
    return schema


def _with_names(table: pyarrow.Table, features: Any) -> pyarrow.Table:
    import pyarrow

    for name, kind in features.items():
        if hasattr(kind, "names"):
            column = pyarrow.array(kind.names).take(table[name].combine_chunks())
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table
