"""Cleaning one log: MiB a second, and the memory that it takes.

Run it as `python -m benchmarks.compaction [records] [keys] [codec]`; 10,000,000 records with
1,000,000 keys are what `log.cleaner.dedupe.buffer.size` holds at once by default. With
`--generators DIR` (or the variable ODRADEK_BENCH), the folder of the launcher of Apache's broker,
its cleaner cleans a copy of the same log afterwards, and what it says of that stands beside ours.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep

from benchmarks.many_partitions import (
    HOST,
    SESSION_S,
    Server,
    Servers,
    Topics,
    free_port,
    start_zookeeper,
)
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
            f"process grew by {grown:.0f} MiB",
            flush=True,
        )
        return step.end_offset
    raise AssertionError("a cleaning says how it ended")


# Apache's cleaner, on the same log

SAID = re.compile(r"([\d,.]+) MB of log processed in ([\d,.]+) seconds \(([\d,.]+) MB/sec\)")
CLEANING = {
    "log.cleanup.policy": "compact",
    "log.cleaner.backoff.ms": 200,
    "log.cleaner.min.cleanable.ratio": 0.01,
    "log.segment.bytes": 256 * MIB,
    "log.retention.check.interval.ms": 3_600_000,
}


class Apache:
    """A broker of Apache's whose only topic is the log."""

    def __init__(self, directory: Path, generators: Path, servers: Servers) -> None:
        self._directory, self._servers = directory, servers
        self._launcher = generators / "lib" / "apache-kafka"
        self._zookeeper_port = start_zookeeper(servers, directory)
        self._topics = Topics(1, 1)

    @property
    def log(self) -> Path:
        return self._directory / "apache.log"

    @property
    def partition(self) -> Path:
        return self._directory / "data" / f"{self._topics.names[0]}-0"

    def start(self, **settings: object) -> Server:
        port, file = free_port(), self._directory / "apache.properties"
        lines = {
            "broker.id": 1,
            "listeners": f"PLAINTEXT://{HOST}:{port}",
            "log.dirs": self._directory / "data",
            "zookeeper.connect": f"{HOST}:{self._zookeeper_port}",
            "zookeeper.session.timeout.ms": SESSION_S * 1000,
            **CLEANING,
            **settings,
        }
        file.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        return self._servers.start([str(self._launcher), str(file)], port, self.log)

    def take(self, source: Path) -> None:
        """Have a topic made, and put the files of a log in the place of its own."""
        server = self.start(**{"log.cleaner.enable": "false"})
        client = server.connected()
        self._topics.create(client)
        client.close()
        server.until_led(self._topics)
        server.end(signal.SIGTERM)
        for path in self.partition.iterdir():
            if path.name != "partition.metadata":
                path.unlink()
        for path in source.iterdir():
            if path.suffix in (".log", ".index", ".timeindex"):
                shutil.copy(path, self.partition)

    def clean(self) -> str:
        """What the cleaner says of its work."""
        server = self.start()
        server.connected().close()
        while not (said := SAID.search(self.log.read_text())):
            sleep(0.2)
        resident_mib = server.resident_mib()
        server.end(signal.SIGTERM)
        return (
            f"Apache: {said[1]} MiB in {said[2]} s: {said[3]} MiB/s; "
            f"the broker holds {resident_mib:.0f} MiB"
        )


def clean_by_apache(source: Path, generators: Path, directory: str) -> None:
    with ExitStack() as stack:
        path = Path(stack.enter_context(TemporaryDirectory(dir=directory)))
        servers = Servers(stack.enter_context(TemporaryDirectory()))
        stack.callback(servers.kill)
        apache = Apache(path, generators, servers)
        apache.take(source)
        print(apache.clean())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("records", nargs="?", type=int, default=1_000_000)
    options.add_argument("keys", nargs="?", type=int)
    options.add_argument("codec", nargs="?", default="none")
    options.add_argument("--generators", default=os.environ.get("ODRADEK_BENCH"), type=Path)
    given = options.parse_args()
    key_count, codec = given.keys or given.records // 10, Codec[given.codec.upper()]
    with TemporaryDirectory() as directory:
        folder = Path(directory) / "ours"
        folder.mkdir()
        log = filled(str(folder), given.records, key_count, codec)
        print(f"{given.records:,} records, {key_count:,} keys, {given.codec}:", flush=True)
        copy = Path(directory) / "copy"
        if given.generators is not None:
            shutil.copytree(log.directory, copy)
        end = 0
        while end < given.records:
            end = clean(log, end)
        if given.generators is not None:
            clean_by_apache(copy, given.generators, directory)


if __name__ == "__main__":
    main()
