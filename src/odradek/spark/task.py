"""What one task does: read ranges of partitions, as Arrow batches.

Connections and what is known of the cluster stay with the process, for the next task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from odradek.kafka.client.cluster import shared_cluster
from odradek.kafka.client.errors import OffsetOutOfRange, UnknownTopic
from odradek.kafka.client.fetcher import Fetcher, OffsetRange
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.spark.arrow.decoder import decode, lend_room
from odradek.spark.data_loss import report_data_loss
from odradek.spark.options import SourceOptions

if TYPE_CHECKING:
    import pyarrow as pa


def read_ranges(
    options: SourceOptions, ranges: Sequence[OffsetRange], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The records of some ranges; each batch is good until the next is asked for."""
    wanted = [one for one in ranges if one.start < one.end]
    while wanted:
        cluster = shared_cluster(options.client)
        fetcher = Fetcher(cluster, wanted, options.poll_timeout_ms, lend_room)
        try:
            yield from _decoded(options, fetcher, wanted, columns)
            return
        except OffsetOutOfRange as error:
            report_data_loss(str(error), options.fails_on_data_loss)
            lost = error.partition
            wanted = [
                _what_is_left(options, one) if one.partition == lost else one
                for one in fetcher.remaining()
            ]
        except UnknownTopic as error:
            report_data_loss(str(error), options.fails_on_data_loss)
            wanted = [one for one in fetcher.remaining() if one.partition.topic != error.topic]
        wanted = [one for one in wanted if one.start < one.end]


def _decoded(
    options: SourceOptions,
    fetcher: Fetcher,
    wanted: Sequence[OffsetRange],
    columns: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    ends = {one.partition: one.end for one in wanted}
    check_crcs = options.client.check_crcs
    for fetched in fetcher:
        yield from decode(fetched, ends[fetched.partition], columns, check_crcs=check_crcs)


def _what_is_left(options: SourceOptions, missed: OffsetRange) -> OffsetRange:
    """The part of a range that the log still has."""
    cluster, partition = shared_cluster(options.client), missed.partition
    earliest = list_offsets(cluster, {partition: EARLIEST})[partition] or 0
    latest = list_offsets(cluster, {partition: LATEST})[partition] or 0
    end = min(missed.end, latest)
    return OffsetRange(partition, min(max(missed.start, earliest), end), end)
