"""Keys go where Java's producer sends them."""

from __future__ import annotations

import pytest

from odradek.kafka.client.partitioner import StickyPartition, murmur2, partition_of

# The numbers are those of Kafka's own tests, as signed words.
VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", VECTORS, ids=bytes.decode)
def test_the_hash_is_java_s(key: bytes) -> None:
    assert murmur2(key) == VECTORS[key] & 0xFFFFFFFF


def test_a_hash_with_its_sign_set_gives_a_partition_too() -> None:
    assert partition_of(b"foobar", 10) == (-790332482 & 0x7FFFFFFF) % 10


def test_a_full_partition_is_followed_by_the_next() -> None:
    sticky = StickyPartition(2)
    assert [sticky.take(60, 100) for _ in range(6)] == [0, 0, 1, 1, 0, 0]
