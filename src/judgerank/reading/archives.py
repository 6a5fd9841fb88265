"""Members of ZIP archives, those packed by zstd among them, which Python reads itself from 3.14 on."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import crc32

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
