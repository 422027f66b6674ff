from __future__ import annotations

import pytest

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import Fetched
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_writer import Envelope, write_batch, write_encoded_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.message_set import MAGIC_1, write_message_set
from odradek.kafka.wire.records import Record, read_records
from odradek.pipelines.lane_writer import Piece
from odradek.pipelines.pieces import pieces_of

LARGE = 1 << 20


def record(offset: int, time_ms: int | None = None) -> Record:
    at_ms = 1000 + 7 * offset if time_ms is None else time_ms
    return Record(offset, at_ms, b"k%d" % offset, b"v%d" % offset, (("h", None),))


def pieces(data: bytes | bytearray, start: int, end: int, bytes_max: int = LARGE) -> list[Piece]:
    fetched = Fetched(TopicPartition("t", 0), start, memoryview(data), [])
    return list(pieces_of(fetched, end, bytes_max))


def opened(found: list[Piece]) -> list[Record]:
    """The records as a broker would store them, one piece after the other."""
    records: list[Record] = []
    for piece in found:
        data = write_encoded_batch(
            piece.records, piece.count, piece.time_ms, Envelope(), None, piece.time_ms_max
        )
        batch = Batch(memoryview(data))
        batch.check_crc()
        got = list(read_records(batch))
        assert [one.offset for one in got] == list(range(piece.count))
        assert batch.max_timestamp == max(one.timestamp for one in got)
        records += [one._replace(offset=0) for one in got]
    return records


def expected(offsets: list[int]) -> list[Record]:
    return [record(offset)._replace(offset=0) for offset in offsets]


@pytest.mark.parametrize("codec", list(Codec))
def test_a_whole_batch_is_taken_with_its_times_whatever_its_codec(codec: Codec) -> None:
    data = write_batch([record(n) for n in range(5, 9)], Envelope(codec=codec))
    found = pieces(data, 5, 9)
    assert len(found) == 1 and opened(found) == expected([5, 6, 7, 8])


def test_a_batch_is_cut_where_the_range_is() -> None:
    data = write_batch([record(n) for n in range(5, 15)])
    assert opened(pieces(data, 8, 12)) == expected([8, 9, 10, 11])


def test_what_the_cleaner_left_is_put_side_by_side() -> None:
    left = [record(5), record(9), record(12)]
    data = write_batch(left, Envelope(base_offset=3, last_offset=14))
    assert opened(pieces(data, 0, 20)) == expected([5, 9, 12])


def test_a_cleaned_batch_with_a_delete_horizon_keeps_its_times() -> None:
    data = write_batch([record(0), record(1)], Envelope(delete_horizon_ms=99_000))
    assert opened(pieces(data, 0, 2)) == expected([0, 1])


def test_the_time_of_the_append_is_the_time_of_the_records() -> None:
    data = write_batch([record(0), record(1)], Envelope(append_time_ms=5000))
    assert [one.timestamp for one in opened(pieces(data, 0, 2))] == [5000, 5000]


def test_old_formats_come_along() -> None:
    plain = [record(n)._replace(headers=()) for n in range(3)]
    data = write_message_set(plain, MAGIC_1, Codec.NONE)
    assert [one.value for one in opened(pieces(data, 1, 3))] == [b"v1", b"v2"]


def test_a_batch_that_unpacks_to_too_much_becomes_several() -> None:
    records = [Record(n, n, None, b"x" * 400) for n in range(10)]
    data = write_batch(records, Envelope(codec=Codec.ZSTD))
    found = pieces(data, 0, 10, bytes_max=1000)
    assert [piece.count for piece in found] == [2, 2, 2, 2, 2]
    assert len(opened(found)) == 10


def test_markers_are_left_out() -> None:
    from odradek.kafka.wire.control import Marker, MarkerType, write_marker

    marker = write_marker(Marker(MarkerType.COMMIT, 0), producer_id=1, producer_epoch=0, now_ms=0)
    assert pieces(marker, 0, 5) == []
