"""Compressed snapshots, as streams: any chunks in, the same bytes out, or a refusal."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.zookeeper.storage.compression import (
    BLOCK_BYTES,
    METHODS,
    XERIAL_HEADER,
    BrokenStream,
    compressor,
    decompress,
    method_of,
)


def compressed(method: str, chunks: list[bytes]) -> bytes:
    stream = compressor(method)
    return b"".join([*map(stream.compress, chunks), stream.flush()])


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(st.sampled_from(METHODS), st.lists(st.binary(max_size=99), min_size=1), st.integers(1, 50))
def test_what_is_compressed_in_chunks_is_read_in_others(
    method: str, chunks: list[bytes], size: int
) -> None:
    data = compressed(method, chunks)
    assert b"".join(decompress(method, pieces(data, size))) == b"".join(chunks)


def test_gzip_is_everyone_s_gzip() -> None:
    assert gzip.decompress(compressed("gz", [b"one", b"two"])) == b"onetwo"
    assert list(decompress("gz", [gzip.compress(b"one")])) == [b"one"]


def test_a_xerial_block_holds_as_much_as_java_s_reader_has_room_for() -> None:
    data = compressed("snappy", [bytes(BLOCK_BYTES - 1), bytes(BLOCK_BYTES), bytes(10)])
    assert data.startswith(XERIAL_HEADER)
    sizes = [len(block) for block in decompress("snappy", [data])]
    assert sizes == [BLOCK_BYTES, BLOCK_BYTES, 9]


@pytest.mark.parametrize(
    "data",
    [
        b"\x82SNAPPX\x00" + bytes(8),
        XERIAL_HEADER[:10],
        XERIAL_HEADER + b"\0\0",
        XERIAL_HEADER + b"\xff\xff\xff\xff",
        XERIAL_HEADER + b"\0\0\0\5ab",
        XERIAL_HEADER + b"\0\0\0\5abcde",
    ],
)
def test_a_broken_xerial_stream_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenStream):
        list(decompress("snappy", [data]))


@pytest.mark.parametrize("data", [b"", b"no gzip", gzip.compress(b"one")[:-1]])
def test_a_broken_gzip_stream_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenStream):
        list(decompress("gz", [data]))


def test_the_name_tells_the_method() -> None:
    assert [method_of(f"/data/snapshot.1{end}") for end in ("", ".gz", ".snappy")] == list(METHODS)
