"""Record sets that nobody should send: real ones, cut, bent, lied about and sealed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from struct import pack, pack_into
from zlib import crc32

from crc32c import crc32c

from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import read_marker
from odradek.kafka.wire.conversion import down_convert, message_set_codec, up_convert
from odradek.kafka.wire.message_set import read_message_set, write_message_set
from odradek.kafka.wire.records import Record, read_records
from tests.kafka.wire.golden_records import GOLDEN, LEGACY

RECORDS = [
    Record(
        n, 1000 + n, None if n % 3 else b"key", b"value" * n, (("h", b"x"), ("g", None))[: n % 3]
    )
    for n in range(12)
]
SETS = [
    *GOLDEN.values(),
    *(bytes(write_batch(RECORDS, Envelope(codec=codec))) for codec in Codec),
    *(bytes(write_message_set(RECORDS, magic, codec)) for magic, codec in LEGACY),
]
LIES = [
    pack(">i", 2**31 - 1),
    pack(">i", -(2**31)),
    pack(">i", -2),
    b"\xff" * 9 + b"\x01",  # The smallest varlong.
    b"\xff" * 10 + b"\x01",  # No varlong at all.
    b"\xff\xff\xff\xff\x0f",  # The smallest varint.
    b"\x80\x80\x80\x80\x00",  # A zero of five bytes.
    b"\x03",  # A length of -2.
]


def sealed(data: bytearray) -> bytearray:
    """Give the first entry the length and the checksum that it needs to be looked into."""
    if len(data) > 61:
        pack_into(">i", data, 8, len(data) - 12)
        data[16] %= 3
        if data[16] == 2:
            pack_into(">I", data, 17, crc32c(bytes(data[21:])))
        else:
            pack_into(">I", data, 12, crc32(data[16:]))
    return data


def bent(data: bytearray, random: Random) -> bytearray:
    """Change it in one of many ways."""
    at = random.randrange(len(data) + 1)
    match random.randrange(5):
        case 0:
            del data[at:]
        case 1:
            del data[at : at + random.randint(1, 8)]
        case 2:
            data[at:at] = random.choice(LIES)
        case 3:
            lie = random.choice(LIES)
            data[at : at + len(lie)] = lie
        case 4:
            data[at : at + 1] = random.randbytes(1)
    return data


def hostile_sets(seed: int) -> Iterator[memoryview]:
    """Hostile record sets without end, the same for the same seed."""
    random = Random(seed)
    while True:
        data = bytearray(random.choice(SETS))
        for _ in range(random.randint(1, 3)):
            data = bent(data, random)
        yield memoryview(bytes(sealed(data) if random.random() < 0.7 else data))


LIMIT = 1_000_000


def read_all(data: memoryview) -> None:
    for batch in read_batches(data, partial_tail=True):
        batch.check_crc()
        for _ in read_records(batch, LIMIT):
            pass


def rewrite(data: memoryview) -> None:
    for batch in read_batches(data, partial_tail=True):
        if batch.record_count:
            write_batch(read_records(batch, LIMIT), Envelope.of(batch))


def read_markers(data: memoryview) -> None:
    for batch in read_batches(data, partial_tail=True):
        read_marker(batch)


def read_messages(data: memoryview) -> None:
    for _ in read_message_set(data, LIMIT):
        pass


READERS: dict[str, Callable[[memoryview], object]] = {
    "batches": read_all,
    "batches, to be written again": rewrite,
    "markers": read_markers,
    "message sets": read_messages,
    "codecs": message_set_codec,
    "up": lambda data: up_convert(data, Envelope(), LIMIT),
    "down to 1": lambda data: down_convert(data, 1, 3, LIMIT),
    "down to 0": lambda data: down_convert(data, 0, 3, LIMIT),
}
