"""Whatever the bytes: records or a ProtocolError, little memory, little time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from struct import pack
from time import perf_counter

import pytest

from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.errors import ProtocolError
from tests.kafka.wire.golden_records import GOLDEN
from tests.kafka.wire.hostile_records import LIMIT, READERS, hostile_sets, sealed

each_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


@each_reader
def test_a_set_cut_anywhere_gives_records_or_a_protocol_error(
    reader: Callable[[memoryview], object],
) -> None:
    for data in GOLDEN.values():
        for end in range(min(len(data), 400)):
            for piece in (data[:end], bytes(sealed(bytearray(data[:end])))):
                with suppress(ProtocolError):
                    reader(memoryview(piece))


@each_reader
def test_bent_sets_give_records_or_a_protocol_error(reader: Callable[[memoryview], object]) -> None:
    refused = 0
    for data in islice(hostile_sets(seed=1), 2_000):
        try:
            reader(data)
        except ProtocolError:
            refused += 1
    assert refused > 200


@each_reader
def test_a_lie_costs_little_memory(reader: Callable[[memoryview], object]) -> None:
    tracemalloc.start()
    try:
        for data in islice(hostile_sets(seed=2), 500):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            with suppress(ProtocolError):
                reader(data)
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < 64 * len(data) + LIMIT, bytes(data).hex()
    finally:
        tracemalloc.stop()


def large_sets() -> Iterator[memoryview]:
    """About 100,000 bytes each, with as much to count in them as can be."""
    tiny = [Record(n, 0, None, None) for n in range(10_000)]
    crowded = Record(0, 0, None, None, (("", None),) * 40_000)
    for records in (tiny, [crowded]):
        for codec in (Codec.NONE, Codec.ZSTD):
            yield memoryview(write_batch(records, Envelope(codec=codec)))
    yield memoryview(pack(">qiIbbii", 0, 14, 0xA7EC6803, 0, 0, 0, 0) * 4000)
    yield memoryview(sealed(bytearray(GOLDEN["kafka java records codec=none magic=2"]) * 500))
    yield memoryview(b"\xff" * 100_000)


@each_reader
def test_a_large_set_is_read_in_one_pass(reader: Callable[[memoryview], object]) -> None:
    start = perf_counter()
    for data in large_sets():
        with suppress(ProtocolError):
            reader(data)
    assert perf_counter() - start < 2  # One pass takes some 100 ms, a quadratic one minutes.


def test_records_are_held_one_at_a_time() -> None:
    records = [Record(n, 0, None, None) for n in range(20_000)]
    batch = Batch(memoryview(write_batch(records, Envelope(codec=Codec.ZSTD))))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_records(batch)) == 20_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The compressed records are 8 bytes each once opened; a list of them would take 200 and more.
    assert peak < 20 * 20_000
