"""Produce, by a client that has asked just that before (`wire/repeats.py`): append, and no more.

What would have to wait, for replicas or for a disk, and whatever is refused goes the ordinary way
through `produce`: nothing of it has been done here then.
"""

from __future__ import annotations

from odradek.kafka.admin.names import INTERNAL
from odradek.kafka.api.produce import is_usual
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.partition import Partition
from odradek.kafka.storage.appending import Appended
from odradek.kafka.wire.repeats import Repeat


def produce_again(repeat: Repeat, broker: Broker) -> Appended | None:
    """Where the records are now; None if this is for `produce`."""
    usual, records = repeat.usual, repeat.records
    if usual.topic in INTERNAL:
        return None  # Few may.
    partition = broker.partitions.leader(usual.topic, usual.index)
    if not isinstance(partition, Partition) or partition.log.settings.is_flushed_by_count:
        return None
    if usual.is_for_all and not partition.is_alone:
        return None
    if not is_usual(records):
        return None
    appended = broker.partitions.append(
        partition, records, broker.clock(), is_for_all=usual.is_for_all
    )
    if not isinstance(appended, Appended):
        return None
    partition.meter.produce_requests += 1
    return appended
