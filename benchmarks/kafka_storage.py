"""Kafka's files: appends, warm reads, a start with 10,000 partitions, and what an idle one takes.

Run it as `python -m benchmarks.kafka_storage`.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from odradek.kafka.storage.appending import Appended, append
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.reading import read
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.records import Record
from odradek.runtime.os_disk import OsDisk

NOW_MS = 1_794_725_546_000
PARTITIONS = 10_000
FETCH_BYTES = 1 << 20
ROOMY = LogSettings(max_message_bytes=2 << 20)


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def batches(count: int, size: int) -> list[bytes]:
    """Batches of an idempotent producer, of about so many bytes, in records of 1 KiB."""
    record_count = size // 1024
    made = []
    for number in range(count):
        records = [Record(n, NOW_MS + number, None, bytes(1010)) for n in range(record_count)]
        sequence = number * record_count
        envelope = Envelope(producer_id=1, producer_epoch=0, base_sequence=sequence)
        made.append(bytes(write_batch(records, envelope)))
    return made


def opened(path: str) -> LogDirectories:
    directories = LogDirectories(OpenFiles(OsDisk()), lambda topic: ROOMY, lambda: 0.0)
    directories.open([path])
    for _ in directories.load():
        pass
    return directories


def append_all(log: Log, made: list[bytes]) -> None:
    for batch in made:
        assert isinstance(append(log, batch, 0, NOW_MS), Appended)


def read_all(log: Log) -> int:
    """Read from start to end as a consumer does; return how many bytes that were."""
    offset = total = 0
    while offset < log.end_offset:
        fetched = read(log, offset, FETCH_BYTES, log.end_offset)
        assert isinstance(fetched, Fetched)
        total += len(fetched.data)
        offset = fetched.next_offset
    return total


def time_appends_and_reads(path: str) -> None:
    directories = opened(path)
    for count, size in ((5_000, 16 << 10), (100, 1 << 20)):
        log = directories.create(TopicPartition("appends", size), None)
        time_one(log, batches(count, size), size >> 10)
    directories.close(NOW_MS)


def time_one(log: Log, made: list[bytes], kibibytes: int) -> None:
    spent = seconds(lambda: append_all(log, made))
    print(f"append {kibibytes:5} KiB                       {spent / len(made) * 1e6:10.1f} us")
    start = perf_counter()
    rate = read_all(log) / (perf_counter() - start) / (1 << 20)
    print(f"read what was appended in {kibibytes:5} KiB    {rate:10.0f} MiB/s")


def time_starts(path: str) -> None:
    directories = opened(path)
    batch = batches(1, 1024)[0]

    def create() -> None:
        for number in range(PARTITIONS):
            log = directories.create(TopicPartition("topic", number), None)
            append(log, batch, 0, NOW_MS)

    print(f"create and append, each                {seconds(create) / PARTITIONS * 1e6:10.1f} us")
    spent = seconds(lambda: directories.close(NOW_MS))
    print(f"stop cleanly, {PARTITIONS} partitions         {spent:10.2f} s")
    spent = seconds(lambda: opened(path).release())
    print(f"start after it                         {spent:10.2f} s")
    spent = seconds(lambda: opened(path).release())
    print(f"start after a crash                    {spent:10.2f} s")
    measure_memory(path)


def measure_memory(path: str) -> None:
    (Path(path) / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":-1}')
    gc.collect()
    tracemalloc.start()
    directories = opened(path)
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"an idle partition takes                {used / PARTITIONS:10.0f} bytes")
    print(f"open files                             {len(directories.files):10}")
    directories.release()


def main() -> None:
    with TemporaryDirectory() as path:
        time_appends_and_reads(path)
    with TemporaryDirectory() as path:
        time_starts(path)


if __name__ == "__main__":
    main()
