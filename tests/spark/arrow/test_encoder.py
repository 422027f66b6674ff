"""The two ways to write records say the same, and readers find what was written."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from odradek.kafka.client.partitioner import StickyPartition, partition_of
from odradek.kafka.wire.batch import HEADER_BYTES, Batch
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.records import Record, read_records
from odradek.spark.arrow.columns import TYPES
from odradek.spark.arrow.encoding_machine import encoding_machine
from odradek.spark.arrow.encoding_reference import encode_plainly
from odradek.spark.arrow.rows import Destination, Encoded, UnwritableRow, rows_of

SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("headers", TYPES["headers"]),
    ]
)


def both_ways(
    batch: pa.RecordBatch, topic: str | None, partitions: dict[str, int], bytes_max: int
) -> tuple[list[Encoded], list[Encoded], list[StickyPartition]]:
    """What the two make of a batch, and where the sticky partitions are afterwards."""
    rows, names = rows_of(batch, topic)
    made, stuck = [], []
    for encode in (encoding_machine().encode, encode_plainly):
        sticky = [StickyPartition(partitions[name], 1 % partitions[name]) for name in names]
        to = [Destination(name, one) for name, one in zip(names, sticky, strict=True)]
        made.append(list(encode(rows, to, bytes_max)))
        stuck.append(sticky)
    assert stuck[0] == stuck[1]
    return made[0], made[1], stuck[0]


def octets(random: Random, sizes: tuple[int, ...]) -> bytes | None:
    if random.random() < 0.2:
        return None
    return random.randbytes(random.choice(sizes))


def header(random: Random) -> dict[str, Any]:
    return {"key": "h" * random.choice((0, 1, 70)), "value": octets(random, (0, 3, 80))}


def row(random: Random, partition_count: int) -> dict[str, Any]:
    value = octets(random, (0, 1, 15, 16, 17, 63, 64, 300, 9000))
    headers = [header(random) for _ in range(random.choice((0, 0, 1, 3)))]
    return {
        "key": octets(random, (0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 400)),
        "value": None if value is None else value.hex(),
        "topic": random.choice("abc"),
        "partition": random.choice((None, None, random.randrange(partition_count))),
        "headers": random.choice((None, headers)),
    }


@pytest.mark.parametrize("seed", range(40))
def test_the_machine_and_the_reference_write_the_same_bytes(seed: int) -> None:
    random = Random(seed)
    partitions = {name: random.choice((3, 7, 50)) for name in "abc"}
    rows = [row(random, 3) for _ in range(random.choice((1, 7, 200)))]
    whole = pa.RecordBatch.from_pylist(rows, SCHEMA)
    start = random.randrange(len(rows))
    batch = whole.slice(start, random.randint(1, len(rows) - start))
    topic = random.choice(("a", None))
    fast, plain, _ = both_ways(batch, topic, partitions, random.choice((1, 500, 20_000)))
    assert fast == plain


def test_what_is_written_is_what_a_batch_writer_writes() -> None:
    random = Random(1)
    rows = [row(random, 3) | {"topic": "a", "partition": 0} for _ in range(100)]
    batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
    (fast,), _, _ = both_ways(batch, None, {"a": 3}, 10_000_000)
    records = [
        Record(n, 0, one["key"], value_of(one), headers_of(one)) for n, one in enumerate(rows)
    ]
    written = write_batch(records)
    assert fast.records == bytes(written[HEADER_BYTES:])
    assert list(read_records(Batch(memoryview(written)))) == records


def value_of(row: dict[str, Any]) -> bytes | None:
    return None if row["value"] is None else row["value"].encode()


def headers_of(row: dict[str, Any]) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((one["key"], one["value"]) for one in row["headers"] or ())


def test_rows_of_one_key_stay_in_order_in_the_partition_of_the_key() -> None:
    rows = [{"key": b"k%d" % (n % 10), "value": str(n)} for n in range(1000)]
    batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
    fast, _, _ = both_ways(batch, "t", {"t": 4}, 2000)
    seen: dict[bytes, list[int]] = {}
    for one in fast:
        written = write_batch([Record(0, 0, None, None)])
        whole = bytearray(written[:HEADER_BYTES]) + one.records
        whole[8:12] = (len(whole) - 12).to_bytes(4, "big")
        whole[57:61] = one.count.to_bytes(4, "big")
        for record in read_records(Batch(memoryview(whole))):
            assert record.key is not None and record.value is not None
            assert one.partition.partition == partition_of(record.key, 4)
            seen.setdefault(record.key, []).append(int(record.value))
    assert len(seen) == 10 and all(numbers == sorted(numbers) for numbers in seen.values())
    assert sum(map(len, seen.values())) == 1000


def test_rows_without_a_key_fill_one_partition_after_another() -> None:
    batch = pa.RecordBatch.from_pylist([{"value": "v" * 84}] * 100, SCHEMA)
    fast, _, (sticky,) = both_ways(batch, "t", {"t": 3}, 1000)
    counts = dict.fromkeys(range(3), 0)
    for encoded in fast:
        counts[encoded.partition.partition] += encoded.count
    assert sorted(counts.values()) == [30, 30, 40]
    assert sticky.bytes_taken == 0


def test_a_record_larger_than_a_batch_has_one_of_its_own() -> None:
    rows = [{"value": "a"}, {"value": "b" * 5000}, {"value": "c"}]
    batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
    fast, plain, _ = both_ways(batch, "t", {"t": 1}, 100)
    assert [one.count for one in fast] == [1, 1, 1]
    assert fast == plain


@pytest.mark.parametrize("way", ["machine", "reference"])
@pytest.mark.parametrize("partition", [3, -1])
def test_a_partition_that_is_not_there_is_refused_by_name(way: str, partition: int) -> None:
    batch = pa.RecordBatch.from_pylist([{"topic": "a", "partition": partition}], SCHEMA)
    rows, names = rows_of(batch, None)
    to = [Destination(name, StickyPartition(3)) for name in names]
    encode = encoding_machine().encode if way == "machine" else encode_plainly
    with pytest.raises(UnwritableRow, match=f"partition {partition}: a has partitions 0 to 2"):
        list(encode(rows, to, 1000))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"topic": None}, "a topic is null"),
        ({"topic": "a", "headers": [{"key": None, "value": b""}]}, "a header without a name"),
    ],
)
def test_rows_that_no_topic_can_take_are_refused(wrong: dict[str, Any], words: str) -> None:
    batch = pa.RecordBatch.from_pylist([wrong], SCHEMA)
    with pytest.raises(UnwritableRow, match=words):
        rows_of(batch, None)
