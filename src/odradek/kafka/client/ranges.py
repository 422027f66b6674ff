"""What is to be read of a partition. Who only plans needs to know no more than this."""

from __future__ import annotations

from typing import NamedTuple

from odradek.kafka.client.errors import TopicPartition


class OffsetRange(NamedTuple):
    """The offsets of a partition from `start` up to, and without, `end`."""

    partition: TopicPartition
    start: int
    end: int
