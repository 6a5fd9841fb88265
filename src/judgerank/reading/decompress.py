"""Content as it was before it was compressed, up to a size that memory holds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import crc32

from judgerank.data.errors import ConfigError, DataError
from judgerank.data.modules import needed

GZIP, ZSTD, XZ, BZIP2 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh"
BZIP2_NEXT = (b"1AY&SY", b"\x17rE8P\x90")  # after BZh and a digit; a column may be called BZh...
ZIP = b"PK\x03\x04"
MACOS = "__MACOSX/"  # what Finder adds to an archive
PIECE = 2**20  # bytes inflated before the size is looked at again
PACKED_PIECE = 2**10  # of zstd, of which four bytes may stand for 128 kB
ALWAYS = 2**26  # bytes that anything may inflate to: a table of them takes 2 GB at most
RATIO = 100  # times its size that larger content may; judgments compress 5 to 50 times
CELL = 8  # bytes that a cell of a table takes at least
LIMIT = "JUDGERANK_INFLATE_GB"  # environment variable that replaces both


def inflated(content: bytes, name: str = "") -> bytes:
    """Content as it was before gzip, zstd, bzip2 or xz, which its first bytes tell, or as the one file in a zip.

    Parameters
    ----------
    content : bytes
    name : str
        Of its file. Only a name that ends in .zip has its file taken out; other forms are zip archives, too.

    Raises
    ------
    DataError
        If it is cut short or damaged, inflates to more than `most`, or a zip does not hold exactly one file.
    ConfigError
        If it requires a package that is not installed.
    """
    if content.startswith(GZIP):
        return _read(gzip.GzipFile(fileobj=io.BytesIO(content)), len(content), "gzip")
    if content.startswith(BZIP2) and content[4:10] in BZIP2_NEXT:
        return _read(bz2.BZ2File(io.BytesIO(content)), len(content), "bzip2")
    if content.startswith(XZ):
        return _read(lzma.LZMAFile(io.BytesIO(content)), len(content), "xz")
    if content.startswith(ZSTD):
        return _joined(_frames(content), len(content))
    if content.startswith(ZIP) and name.lower().endswith(".zip"):
        return _only_file(content)
    return content


def most(packed: int) -> int:
    """Bytes that content of a size may inflate to: 64 MiB, or 100 times its size if that is more.

    The environment variable ``JUDGERANK_INFLATE_GB`` replaces both.

    Raises
    ------
    ConfigError
        If that variable is no number above zero.
    """
    setting = os.environ.get(LIMIT, "")
    if not setting:
        return max(ALWAYS, RATIO * packed)
    try:
        limit = int(float(setting) * 1e9)
    except (ValueError, OverflowError):
        limit = 0
    if limit < 1:
        raise ConfigError(f"{LIMIT} is {setting!r}; expected a number of gigabytes, such as 4")
    return limit


def require_within(size: int, packed: int) -> None:
    """Refuse content that says itself how large it becomes, or has become so large.

    Raises
    ------
    DataError
        If that is more than `most`.
    """
    limit = most(packed)
    if size > limit:
        raise DataError(
            f"{packed:,} bytes inflate to more than {limit / 1e9:.2g} GB, which is refused as a compression bomb "
            f"({LIMIT}=8 in the environment allows 8 GB)"
        )


def require_cells_within(rows: int, columns: int, packed: int) -> None:
    """Refuse a table that says itself how many cells it has, before any is read.

    Raises
    ------
    DataError
        If they take more than `most` bytes.
    """
    limit = most(packed)
    if CELL * rows * columns > limit:
        raise DataError(
            f"{packed:,} bytes hold {rows:,} rows of {columns:,} columns, which is refused as a compression bomb "
            f"({LIMIT}={CELL * rows * columns / 1e9:.2g} in the environment allows it)"
        )


def _read(file: io.BufferedIOBase | IO[bytes], packed: int, kind: str) -> bytes:
    try:
        with file:
            return _joined(iter(partial(file.read, PIECE), b""), packed)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"this is not {kind}, or cut short: {error}") from None


def _joined(pieces: Iterator[bytes], packed: int) -> bytes:
    buffer = io.BytesIO()
    for piece in pieces:
        require_within(buffer.tell() + len(piece), packed)
        buffer.write(piece)
    return buffer.getvalue()


def _frames(content: bytes) -> Iterator[bytes]:
    """Contents of zstd's frames, one by one: the library says nothing of a frame that is cut short."""
    try:
        import zstandard
    except ImportError:
        raise ConfigError(f"reading zstd requires {needed('zstd')}") from None
    at = 0
    while at < len(content):
        frame = zstandard.ZstdDecompressor().decompressobj()
        while not frame.eof:
            if at >= len(content):
                raise DataError("this is not zstd, or cut short")
            piece = content[at : at + PACKED_PIECE]
            try:
                yield frame.decompress(piece)
            except zstandard.ZstdError as error:
                raise DataError(f"this is not zstd: {error}") from None
            at += len(piece)
        at -= len(frame.unused_data)


def _only_file(content: bytes) -> bytes:
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            members = [
                member
                for member in archive.infolist()
                if not member.is_dir() and not member.filename.startswith(MACOS)
            ]
            if len(members) != 1:
                raise DataError(f"the zip archive holds {len(members):,} files: extract the one that is meant")
            if members[0].compress_type not in (
                ZIP_STORED,
                ZIP_DEFLATED,
            ):  # of others, pieces have no largest size
                raise DataError(f"the zip archive uses method {members[0].compress_type}: deflate it instead")
            require_within(members[0].file_size, len(content))
            return _read(archive.open(members[0]), len(content), "a zip archive")
    except (BadZipFile, NotImplementedError, RuntimeError) as error:  # the last where it takes a password
        raise DataError(f"this is not a zip archive that can be read: {error}") from None


# Members of ZIP archives, those packed by zstd among them, which Python reads itself from 3.14 on.
ZSTANDARD = 93  # method of compression (APPNOTE.TXT of PKWARE, 4.4.5), which inspect_ai writes
HEADER = struct.Struct("<4s22xHH")  # of a member: signature, and the lengths of its name and of what is extra
SIGNATURE = b"PK\x03\x04"
ENCRYPTED = 1  # flag


class Archive:
    """The members of an archive by name; of several of one name the last.

    Parameters
    ----------
    content : bytes
    unpacked : callable
        From what zstd packed to what it was.

    Raises
    ------
    BadZipFile
        If this is no archive.
    """

    def __init__(self, content: bytes, unpacked: Callable[[bytes], bytes]) -> None:
        self._content, self._unpacked = content, unpacked
        self._zip = ZipFile(io.BytesIO(content))

    @property
    def names(self) -> list[str]:
        """Names of all members, without repetition."""
        return list(self._zip.NameToInfo)

    @property
    def size(self) -> int:
        """Bytes of all members, as the archive says."""
        return sum(info.file_size for info in self._zip.infolist())

    def read(self, name: str) -> bytes:
        """Content of a member.

        Raises
        ------
        BadZipFile, NotImplementedError
            If it is damaged, or packed in a way that is not known.
        """
        info = self._zip.getinfo(name)
        if info.flag_bits & ENCRYPTED:
            raise BadZipFile(f"file {name!r} is encrypted")
        if info.compress_type != ZSTANDARD:
            return self._zip.read(info)
        content = self._unpacked(self._packed(info))
        if crc32(content) != info.CRC:
            raise BadZipFile(f"Bad CRC-32 for file {name!r}")
        return content

    def _packed(self, info: ZipInfo) -> bytes:
        head = self._content[info.header_offset : info.header_offset + HEADER.size]
        if len(head) < HEADER.size or not head.startswith(SIGNATURE):
            raise BadZipFile(f"Bad magic number for file header of {info.filename!r}")
        _, name, extra = HEADER.unpack(head)
        start = info.header_offset + HEADER.size + name + extra
        return self._content[start : start + info.compress_size]
