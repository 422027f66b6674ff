"""The codecs, within bounds."""

from __future__ import annotations

import resource
import sys
import zlib
from random import Random
from struct import pack

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.wire import lz4_frame, snappy_stream, zstd_frame
from odradek.kafka.wire.batch import Batch, read_batches
from odradek.kafka.wire.batch_errors import BatchTooLarge, InvalidRecord, UnsupportedCodec
from odradek.kafka.wire.compression import Codec, codec_of, compress, decompress
from odradek.runtime.errors import ProtocolError
from tests.kafka.wire.golden_records import LIBRDKAFKA, java_set

COMPRESSING = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
LIMIT = 10 * 1024 * 1024
MEBIBYTE = bytes(1024 * 1024)
SAMPLES = {
    "nothing": b"",
    "a byte": b"x",
    "noise": Random(1).randbytes(200_000),  # Does not shrink: blocks are stored.
    "zeros": bytes(300_000),
    "one block": bytes(65_536),
    "a block and a byte": bytes(65_537),
}


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("sample", SAMPLES)
def test_what_is_compressed_comes_back(codec: Codec, sample: str) -> None:
    plain = SAMPLES[sample]
    for buffer in (plain, bytearray(plain), memoryview(plain)):
        assert decompress(codec, memoryview(compress(codec, buffer)), len(plain)) == plain


@given(st.sampled_from(Codec), st.lists(st.binary(max_size=20) | st.just(bytes(5000))))
def test_anything_compressed_comes_back(codec: Codec, parts: list[bytes]) -> None:
    plain = b"".join(parts)
    assert decompress(codec, compress(codec, plain), len(plain)) == plain


@pytest.mark.parametrize("codec", COMPRESSING)
def test_the_limit_is_exact(codec: Codec) -> None:
    compressed = compress(codec, bytes(100_000))
    assert len(decompress(codec, compressed, 100_000)) == 100_000
    with pytest.raises(BatchTooLarge):
        decompress(codec, compressed, 99_999)


@pytest.mark.parametrize(("codec", "level"), [(Codec.GZIP, 9), (Codec.ZSTD, 19)])
def test_a_higher_level_takes_less_room(codec: Codec, level: int) -> None:
    plain = b" ".join(b"user %d bought %d" % (n % 97, n * n % 1009) for n in range(5_000))
    smaller = compress(codec, plain, level)
    assert len(smaller) < len(compress(codec, plain, level=1))
    assert decompress(codec, smaller, len(plain)) == plain


def test_a_codec_that_nobody_knows_is_refused() -> None:
    assert codec_of(0x34) is Codec.ZSTD
    for number in (5, 6, 7):
        with pytest.raises(UnsupportedCodec):
            codec_of(0x10 | number)


def test_gzip_says_that_java_wrote_it() -> None:
    javas = bytes(Batch(java_set(2, Codec.GZIP)).records)
    for level in (None, 1, 9):
        assert compress(Codec.GZIP, b"", level)[:10] == javas[:10]


def test_snappy_is_framed_as_java_frames_it() -> None:
    stream = compress(Codec.SNAPPY, bytes(70_000))
    assert stream.startswith(bytes(Batch(java_set(2, Codec.SNAPPY)).records[:16]))
    blocks = [bytes(32_768), bytes(32_768), bytes(70_000 - 65_536)]
    expected = [bytes(cramjam.snappy.compress_raw(block)) for block in blocks]
    assert stream[16:] == b"".join(pack(">i", len(block)) + block for block in expected)


def test_snappy_may_be_one_raw_block() -> None:
    raw = bytes(cramjam.snappy.compress_raw(b"hello" * 100_000))
    assert decompress(Codec.SNAPPY, raw, LIMIT) == b"hello" * 100_000


@pytest.mark.parametrize("plain", [b"hello hello hello", Random(2).randbytes(200_000)])
def test_lz4_is_framed_as_java_frames_it(plain: bytes) -> None:
    frame = compress(Codec.LZ4, plain)
    assert frame.startswith(bytes(Batch(java_set(2, Codec.LZ4)).records[:7]))
    assert frame.endswith(bytes(4))


def test_lz4_has_the_bytes_of_javas() -> None:
    javas = bytes(Batch(java_set(2, Codec.LZ4)).records)
    assert compress(Codec.LZ4, decompress(Codec.LZ4, javas, LIMIT)) == javas


def lz4_frame_of(flags: int, sizes: int, *blocks: bytes, descriptor: bytes = b"") -> bytes:
    header = lz4_frame.MAGIC + bytes((flags, sizes)) + descriptor + b"?"
    return header + b"".join(pack("<I", len(block)) + block for block in blocks) + bytes(4)


def test_lz4_frames_of_other_writers_are_read() -> None:
    plain = bytes(1_000_000)
    block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
    assert decompress(Codec.LZ4, lz4_frame_of(0x60, 0x60, block), LIMIT) == plain
    sized = lz4_frame_of(0x68, 0x70, block, descriptor=pack("<Q", len(plain)))
    assert decompress(Codec.LZ4, sized, LIMIT) == plain
    content_checked = lz4_frame_of(0x64, 0x70, block) + b"hash"
    assert decompress(Codec.LZ4, content_checked, LIMIT) == plain
    checked = lz4_frame.MAGIC + b"\x70\x70?" + pack("<I", len(block)) + block + b"hash" + bytes(4)
    assert decompress(Codec.LZ4, checked, LIMIT) == plain


def test_lz4_frames_that_java_would_not_read_are_refused() -> None:
    for flags in (0x40, 0x20, 0xA0, 0x61, 0x62):  # Dependent, other versions, reserved bits.
        with pytest.raises(InvalidRecord, match="flags"):
            decompress(Codec.LZ4, lz4_frame_of(flags, 0x40), LIMIT)
    for sizes in (0x00, 0x30, 0x80, 0x41):
        with pytest.raises(InvalidRecord, match="block size"):
            decompress(Codec.LZ4, lz4_frame_of(0x60, sizes), LIMIT)
    with pytest.raises(InvalidRecord, match="flags"):
        decompress(Codec.LZ4, bytes(cramjam.lz4.compress(bytes(100_000))), LIMIT)


def test_the_first_bytes_of_an_lz4_block_are_not_taken_for_its_size() -> None:
    block = bytes(cramjam.lz4.compress_block(bytes(1000), store_size=True))
    assert decompress(Codec.LZ4, lz4_frame_of(0x60, 0x40, block), LIMIT) != bytes(1000)


def test_zstd_frames_are_read_whether_they_state_their_size_or_not() -> None:
    whole = bytes(cramjam.zstd.compress(bytes(500_000)))
    streaming = cramjam.zstd.Compressor()
    streaming.compress(bytes(500_000))
    streamed = bytes(streaming.finish())
    assert streamed != whole
    skipped = pack("<II", zstd_frame.SKIPPABLE_MAGIC + 3, 5) + b"hello"
    for frames in (whole, streamed, skipped + whole):
        assert decompress(Codec.ZSTD, frames, LIMIT) == bytes(500_000)
    assert decompress(Codec.ZSTD, whole + streamed, LIMIT) == bytes(1_000_000)


def gzip_bomb() -> bytes:
    """A GiB of zeros: after a full flush, the same bytes stand for the same mebibyte again."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    part = deflate.compress(MEBIBYTE) + deflate.flush(zlib.Z_FULL_FLUSH)
    return bytes.fromhex("1f8b08000000000000ff") + part * 1024 + zlib.compress(b"", wbits=-15)


def lz4_bomb() -> bytes:
    block = bytes(cramjam.lz4.compress_block(4 * MEBIBYTE, store_size=False))
    return lz4_frame_of(0x60, 0x70, *[block] * 256)


def snappy_bomb() -> bytes:
    block = bytes(cramjam.snappy.compress_raw(MEBIBYTE))
    return snappy_stream.HEADER + (pack(">i", len(block)) + block) * 1024


def raw_snappy_bomb() -> bytes:
    return b"\x80\x80\x80\x80\x04" + bytes(cramjam.snappy.compress_raw(MEBIBYTE))[3:] * 4


def zstd_bomb(*, is_stated: bool) -> bytes:
    """A GiB of zeros: 8,192 blocks of one byte that is repeated 131,072 times."""
    header = b"\xc0\x58" + pack("<Q", 2**30) if is_stated else b"\x00\x58"
    repeated, last = (2**17 << 3 | 2).to_bytes(3, "little") + b"\0", b"\x01\0\0"
    return pack("<I", zstd_frame.MAGIC) + header + repeated * 8192 + last


BOMBS = {
    "gzip": (Codec.GZIP, gzip_bomb()),
    "lz4": (Codec.LZ4, lz4_bomb()),
    "snappy": (Codec.SNAPPY, snappy_bomb()),
    "raw snappy": (Codec.SNAPPY, raw_snappy_bomb()),
    "zstd": (Codec.ZSTD, zstd_bomb(is_stated=False)),
    "zstd that states its size": (Codec.ZSTD, zstd_bomb(is_stated=True)),
}


def peak_memory_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_gibibyte_in_disguise_costs_little_more_than_the_limit(bomb: str) -> None:
    codec, data = BOMBS[bomb]
    before = peak_memory_bytes()
    with pytest.raises(BatchTooLarge):
        decompress(codec, data, LIMIT)
    assert peak_memory_bytes() - before < 5 * LIMIT


def test_a_size_that_is_only_stated_costs_no_memory() -> None:
    before = peak_memory_bytes()
    header = pack("<I", zstd_frame.MAGIC) + b"\xc0\x58" + pack("<Q", 2**30)
    last = (1 << 3 | 2 | 1).to_bytes(3, "little") + b"\0"  # One byte, once.
    with pytest.raises(InvalidRecord):
        decompress(Codec.ZSTD, header + last, 2**31)
    assert peak_memory_bytes() - before < LIMIT


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_stream_cut_anywhere_is_refused(codec: Codec) -> None:
    stream = compress(codec, b"hello hello hello hello" * 20)
    for end in range(len(stream)):
        if codec is Codec.SNAPPY and end == len(snappy_stream.HEADER):
            continue  # A stream of no blocks is whole.
        with pytest.raises(InvalidRecord):
            decompress(codec, stream[:end], LIMIT)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.ZSTD])
def test_a_stream_that_goes_on_is_refused(codec: Codec) -> None:
    with pytest.raises(InvalidRecord):
        decompress(codec, compress(codec, b"hello") + b"and more", LIMIT)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_bent_streams_give_bytes_or_a_protocol_error(codec: Codec) -> None:
    random = Random(1)
    stream = compress(codec, b"hello hello hello" * 20 + random.randbytes(100))
    refused = 0
    for _ in range(2000):
        bent = bytearray(stream)
        for _ in range(random.randint(1, 3)):
            bent[random.randrange(len(bent))] = random.randrange(256)
        try:
            assert len(decompress(codec, bent, 1_000_000)) <= 1_000_000
        except ProtocolError:
            refused += 1
    assert refused > 500


@given(st.sampled_from(COMPRESSING), st.binary(max_size=100))
def test_noise_gives_bytes_or_a_protocol_error(codec: Codec, noise: bytes) -> None:
    starts = {
        Codec.GZIP: bytes.fromhex("1f8b08000000000000ff"),
        Codec.SNAPPY: snappy_stream.HEADER,
        Codec.LZ4: lz4_frame.HEADER,
        Codec.ZSTD: pack("<I", zstd_frame.MAGIC),
    }
    for data in (noise, starts[codec] + noise):
        try:
            decompress(codec, data, 100_000)
        except ProtocolError:
            continue


def test_librdkafkas_streams_are_read() -> None:
    plains = {decompress(b.codec, b.records, LIMIT) for b in read_batches(memoryview(LIBRDKAFKA))}
    assert len(plains) == 1  # The same records, in four codecs.
