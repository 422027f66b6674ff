"""Record batches beside kafka-python: the same records, both in one run.

Run it as `python -m benchmarks.batches`.
"""

from __future__ import annotations

import warnings

from benchmarks.rounds import compare, report
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.records import Record, read_records

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Its own, of loading its schemas.
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

RECORD_COUNT = 10_000
RECORDS = [
    Record(offset, 1_700_000_000_000 + offset // 10, None, bytes(100))
    for offset in range(RECORD_COUNT)
]


def read_ours(data: bytes) -> None:
    batch = Batch(memoryview(data))
    batch.check_crc()
    for _ in read_records(batch):
        pass


def read_theirs(data: bytes) -> None:
    batch = DefaultRecordBatch(data)
    assert batch.validate_crc()
    for _ in batch:
        pass


def write_theirs() -> bytes:
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 2**31)
    for offset, timestamp, key, value, headers in RECORDS:
        builder.append(offset, timestamp, key, value, headers)
    return bytes(builder.build())


def main() -> None:
    data = bytes(write_batch(RECORDS))
    assert data[17:] == write_theirs()[17:]  # They differ in the leader epoch alone.
    read = compare(lambda: read_ours(data), lambda: read_theirs(data))
    report("Read a batch of 10,000 records of 100 bytes", *read, "kafka-python")
    written = compare(lambda: write_batch(RECORDS), write_theirs)
    report("Write a batch of 10,000 records of 100 bytes", *written, "kafka-python")
    report("Both", read[0] + written[0], read[1] + written[1], "kafka-python")


if __name__ == "__main__":
    main()
