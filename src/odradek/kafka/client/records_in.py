"""Records out of what was fetched: one by one, without what nobody wrote or nobody should see.

Control batches are for brokers. Who reads committed data does not see what was aborted: a broker
names the aborted transactions, and each lasts until its marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import CorruptRecords, TopicPartition
from odradek.kafka.client.fetcher import Fetched, Fetcher, OffsetRange
from odradek.kafka.wire.batch import MAGIC_POSITION, Batch, cut_entries
from odradek.kafka.wire.control import MarkerType, read_marker
from odradek.kafka.wire.message_set import read_message_set
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.errors import ProtocolError


def read_ranges(
    cluster: Cluster, ranges: Iterable[OffsetRange]
) -> Iterator[tuple[TopicPartition, Record]]:
    """All records of these ranges, those of a partition in order."""
    wanted = [it for it in ranges if it.start < it.end]
    ends = {it.partition: it.end for it in wanted}
    for fetched in Fetcher(cluster, wanted):
        for record in records_of(fetched):
            if fetched.start <= record.offset < ends[fetched.partition]:
                yield fetched.partition, record


def records_of(fetched: Fetched) -> Iterator[Record]:
    """The records of whole entries, of any format."""
    to_begin = sorted(fetched.aborted, key=lambda it: it.first_offset, reverse=True)
    open_aborted: set[int] = set()
    try:
        for entry in cut_entries(fetched.data):
            if entry[MAGIC_POSITION] < 2:
                yield from read_message_set(entry)
                continue
            batch = Batch(entry)
            while to_begin and to_begin[-1].first_offset <= batch.last_offset:
                open_aborted.add(to_begin.pop().producer_id)
            if batch.is_control:
                _end(batch, open_aborted)
            elif not (batch.is_transactional and batch.producer_id in open_aborted):
                yield from read_records(batch)
    except ProtocolError as error:
        raise CorruptRecords(fetched.partition, fetched.start, error) from error


def _end(batch: Batch, open_aborted: set[int]) -> None:
    marker = read_marker(batch)
    if marker is not None and marker.type is MarkerType.ABORT:
        open_aborted.discard(batch.producer_id)
