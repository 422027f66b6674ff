"""Which partition of `__consumer_offsets` a group lives in: all brokers must agree.

Java's hash of the id, made positive, modulo the number of partitions. Transactional ids find their
partition of `__transaction_state` in the same way.
"""

from __future__ import annotations

from functools import lru_cache
from struct import unpack

JAVA_INT_MIN = -(2**31)


def java_string_hash(text: str) -> int:
    """What `String.hashCode` gives: 31·h + each UTF-16 unit, in signed 32 bits."""
    units = text.encode("utf-16-be", errors="surrogatepass")
    value = 0
    for unit in unpack(f">{len(units) // 2}H", units):
        value = value * 31 + unit & 0xFFFF_FFFF
    return value - (value >> 31 << 32)


@lru_cache(maxsize=4096)
def partition_for(group_id: str, count: int) -> int:
    """The partition whose leader is the coordinator for this id."""
    value = java_string_hash(group_id)
    # Java's smallest int has no positive twin; Kafka takes 0 for it.
    return 0 if value == JAVA_INT_MIN else abs(value) % count
