"""A zxid is an epoch and, below it, a count of the writes within that epoch."""

from __future__ import annotations

COUNTER_BITS = 32
COUNTER_MAX = (1 << COUNTER_BITS) - 1
EPOCH_MAX = (1 << 31) - 1


def first_zxid(epoch: int) -> int:
    """The zxid that stands for an epoch; no write ever has it."""
    return epoch << COUNTER_BITS


def epoch_of(zxid: int) -> int:
    return zxid >> COUNTER_BITS


def counter_of(zxid: int) -> int:
    return zxid & COUNTER_MAX


def follows(zxid: int, last_zxid: int) -> bool:
    """Whether nothing is missing between the two: one goes on counting, or an epoch begins."""
    begins = epoch_of(zxid) > epoch_of(last_zxid) and counter_of(zxid) == 1
    return begins or zxid == last_zxid + 1
