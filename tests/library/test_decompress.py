"""Compressed content: the same as before, or one sentence; never more than memory holds."""

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

from judgerank.data.errors import ConfigError, DataError
from judgerank.reading import decompress
from judgerank.reading.decompress import inflated

zstandard = pytest.importorskip("zstandard")
TEXT = b"model_a,model_b,winner\n" + b"x,y,a\n" * 1000
KINDS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda content: zstandard.ZstdCompressor().compress(content),
}


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_content_comes_back_from_one_part_and_from_many(kind):
    squeeze = KINDS[kind]
    assert inflated(squeeze(TEXT)) == TEXT
    assert inflated(b"".join(squeeze(TEXT[at : at + 7]) for at in range(0, len(TEXT), 7))) == TEXT
    assert inflated(squeeze(b"")) == b""


@pytest.mark.parametrize("kind", KINDS)
def test_content_that_is_cut_short_is_refused(kind):
    packed = KINDS[kind](TEXT)
    for end in (12, len(packed) // 2, len(packed) - 1):
        with pytest.raises(DataError, match=f"this is not {kind}"):
            inflated(packed[:end])


def test_plain_content_stays():
    for content in (TEXT, b"", b"BZhang,model_b,winner\n", zipped(("header.json", b"{}"))):
        assert inflated(content, "log.eval") == content


def test_a_zip_gives_its_only_file():
    assert inflated(zipped(("m.csv", TEXT)), "m.zip") == TEXT
    assert inflated(zipped(("m.csv", TEXT), ("__MACOSX/._m.csv", b"x"), ("d/", b"")), "M.ZIP") == TEXT
    with pytest.raises(DataError, match="holds 2 files: extract the one"):
        inflated(zipped(("a.csv", TEXT), ("b.csv", TEXT)), "m.zip")
    with pytest.raises(DataError, match="uses method 12: deflate"):
        inflated(zipped(("a.csv", TEXT), method=zipfile.ZIP_BZIP2), "m.zip")
    with pytest.raises(DataError, match="zip archive"):
        inflated(zipped(("a.csv", TEXT))[:-30], "m.zip")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [1, 3])
def test_a_bomb_is_refused_before_it_is_inflated(kind, parts, monkeypatch):
    monkeypatch.setattr(decompress, "ALWAYS", 2**20)
    monkeypatch.setattr(decompress, "RATIO", 2)
    packed = KINDS[kind](bytes(2**22 // parts)) * parts
    with pytest.raises(DataError, match=r"inflate to more than 0.001 GB.*JUDGERANK_INFLATE_GB=8"):
        inflated(packed)
    monkeypatch.setenv("JUDGERANK_INFLATE_GB", "1")
    assert inflated(packed) == bytes(2**22 // parts * parts)


def test_a_zip_that_lies_about_its_size_gives_no_more(monkeypatch):
    monkeypatch.setattr(decompress, "ALWAYS", 2**20)
    packed = zipped(("m.csv", bytes(2**22)))
    with pytest.raises(DataError, match=r"GB\b.*JUDGERANK_INFLATE_GB"):
        inflated(packed, "m.zip")
    size = (2**22).to_bytes(4, "little")
    with pytest.raises(DataError, match="zip archive"):
        inflated(packed.replace(size, (10).to_bytes(4, "little")), "m.zip")


@pytest.mark.parametrize("said", ["much", "0", "-1", "nan", "inf"])
def test_the_limit_is_a_number(said, monkeypatch):
    monkeypatch.setenv("JUDGERANK_INFLATE_GB", said)
    with pytest.raises(ConfigError, match="JUDGERANK_INFLATE_GB"):
        inflated(gzip.compress(TEXT))
