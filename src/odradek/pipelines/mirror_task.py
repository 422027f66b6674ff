"""What one task of a mirror does: copy a stretch of one partition, in transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.kafka.client.cluster import shared_cluster
from odradek.kafka.client.fetcher import Fetcher, OffsetRange, whole_entries
from odradek.kafka.client.producer_settings import ProducerSettings
from odradek.kafka.client.settings import ClientSettings
from odradek.pipelines.lane_writer import LaneWriter
from odradek.pipelines.lanes import Lane
from odradek.pipelines.pieces import pieces_of
from odradek.pipelines.sync_log import Place

if TYPE_CHECKING:
    import pyarrow as pa

RESULT = "number int, records bigint, bytes bigint, position bigint"
Task = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is to be copied along a lane: up to `end`, from where it stands."""

    lane: Lane
    known: Place
    first: int  # Where to begin if it has not begun.
    end: int


@dataclass(frozen=True, slots=True)
class Copied:
    records: int
    bytes: int
    position: int


def copy(
    source: ClientSettings, target: ProducerSettings, stretch: Stretch, per_transaction: int
) -> Copied:
    """Copy a stretch; whatever of it is there already is left out."""
    lane = stretch.lane
    writer = LaneWriter(lane, target, stretch.known, first=stretch.first)
    records = size = 0

    def commit(position: int) -> None:
        nonlocal records, size
        records, size = records + writer.count, size + writer.bytes_count
        writer.commit(min(position, stretch.end))

    try:
        wanted = OffsetRange(lane.source, writer.position, stretch.end)
        for fetched in Fetcher(
            shared_cluster(source), [wanted] if wanted.start < wanted.end else []
        ):
            for piece in pieces_of(fetched, stretch.end, target.batch_bytes_max):
                writer.send(lane.source.partition, piece)
            if writer.count >= per_transaction:
                commit(whole_entries(fetched.data)[1])
        commit(stretch.end)
    except BaseException:
        writer.abort()
        raise
    writer.abort()  # Of what was copied all is committed; an empty transaction may be left.
    return Copied(records, size, writer.position)


def task(
    source: ClientSettings,
    target: ProducerSettings,
    stretches: Sequence[Stretch],
    per_transaction: int,
) -> Task:
    """What Spark runs: rows are numbers of stretches, and become what was copied."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                done = copy(source, target, stretches[number], per_transaction)
                columns = [[number], [done.records], [done.bytes], [done.position]]
                kinds = [pa.int32(), pa.int64(), pa.int64(), pa.int64()]
                arrays = [pa.array(c, k) for c, k in zip(columns, kinds, strict=True)]
                names = ["number", "records", "bytes", "position"]
                yield pa.RecordBatch.from_arrays(arrays, names)

    return run
