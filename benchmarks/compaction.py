"""Cleaning one log: MiB a second, and the memory that it takes.

Run it as `python -m benchmarks.compaction [records] [keys] [codec]`; 10,000,000 records with
1,000,000 keys are what `log.cleaner.dedupe.buffer.size` holds at once by default.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from odradek.kafka.storage.appending import append_as_follower
from odradek.kafka.storage.cleaner import begin_cleaning
from odradek.kafka.storage.cleaner_steps import CleanedGroup, Finished
from odradek.kafka.storage.dirty import measure
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.recover import recover
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.storage.swap import end_cleaning, swap_in
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record
from odradek.runtime.os_disk import OsDisk

NOW_MS = 1_794_725_546_000
BATCH_RECORDS = 150  # Some 16 KiB, as a producer sends them.
VALUE = bytes(100)
MIB = 1 << 20


def batches(record_count: int, key_count: int, codec: Codec) -> Iterator[bytearray]:
    """Keys in no order, each about as often as any other."""
    chance = Random(1)
    for first in range(0, record_count, BATCH_RECORDS):
        records = [
            Record(first + n, NOW_MS + n, b"key-%08d" % chance.randrange(key_count), VALUE)
            for n in range(min(BATCH_RECORDS, record_count - first))
        ]
        yield write_batch(records, Envelope(codec=codec, leader_epoch=0))


def filled(directory: str, record_count: int, key_count: int, codec: Codec) -> Log:
    settings = LogSettings(segment_bytes=256 * MIB, is_compacted=True)
    where = TopicPartition("t", 0)
    log = recover(OpenFiles(OsDisk()), directory, where, settings).log
    for batch in batches(record_count, key_count, codec):
        append_as_follower(log, batch, NOW_MS)
    log.roll(NOW_MS)
    log.flush(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    return log


def clean(log: Log, cleaned_offset: int) -> int:
    """Clean once, and tell about it."""
    dirty = measure(log, cleaned_offset, NOW_MS)
    assert dirty is not None
    cleaning = begin_cleaning(log, dirty, NOW_MS)
    size, before_kib = log.size(), getrusage(RUSAGE_SELF).ru_maxrss
    start, cpu_start = perf_counter(), process_time()
    groups: list[CleanedGroup] = []
    for step in cleaning.run(log.files.disk):
        if isinstance(step, CleanedGroup):
            assert swap_in(log, cleaning, step) is not None
            groups.append(step)
            continue
        assert isinstance(step, Finished), step
        seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
        grown = (getrusage(RUSAGE_SELF).ru_maxrss - before_kib) / 1024
        end_cleaning(log, cleaning, step)
        records_read = sum(group.records_read for group in groups)
        print(
            f"{size / MIB:,.0f} MiB, {records_read:,} records -> {log.size() / MIB:,.0f} MiB, "
            f"{sum(group.records_kept for group in groups):,} records in {seconds:.1f} s: "
            f"{size / MIB / seconds:,.0f} MiB/s, {records_read / seconds:,.0f} records/s "
            f"({size / MIB / cpu_seconds:,.0f} MiB a second of the processor's time); "
            f"map of {step.keys_count:,} keys {step.map_bytes / MIB:.0f} MiB, "
            f"process grew by {grown:.0f} MiB"
        )
        return step.end_offset
    raise AssertionError("a cleaning says how it ended")


def main() -> None:
    given = sys.argv[1:]
    record_count = int(given[0]) if given else 1_000_000
    key_count = int(given[1]) if len(given) > 1 else record_count // 10
    codec = Codec[given[2].upper()] if len(given) > 2 else Codec.NONE
    with TemporaryDirectory() as directory:
        log = filled(directory, record_count, key_count, codec)
        print(f"{record_count:,} records, {key_count:,} keys, {codec.name.lower()}:")
        end = 0
        while end < record_count:
            end = clean(log, end)


if __name__ == "__main__":
    main()
