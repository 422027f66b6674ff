"""How few files are open, and how little an idle partition costs."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.settings import DEFAULTS
from odradek.runtime.os_disk import OsDisk
from tests.kafka.storage.disks import new_disk
from tests.kafka.storage.logs import NOW_MS, new_log, put, values_of

PARTITIONS = 300


def test_the_file_used_longest_ago_is_closed_first() -> None:
    disk = new_disk()
    files = OpenFiles(disk, 2)
    first = files.get("/data/1", create=True)
    files.get("/data/2", create=True)
    assert files.get("/data/1") is first
    second = files.get("/data/2")
    assert files.get("/data/1") is first
    files.get("/data/3", create=True)
    assert files.get("/data/1") is first
    assert files.get("/data/2") is not second
    assert len(files) == 2


def test_a_log_works_with_the_fewest_files() -> None:
    disk = new_disk()
    disk.make_directories("/data/t-0")
    log = new_log(disk)
    log.files = OpenFiles(disk, 1)
    for number in range(20):
        put(log, b"value %d" % number * 9)
    assert len(values_of(log)) == 20


def opened(path: Path) -> LogDirectories:
    files = OpenFiles(OsDisk(), 64)
    directories = LogDirectories(files, lambda topic: DEFAULTS, lambda: 0.0)
    directories.open([str(path)])
    for _ in directories.load():
        pass
    return directories


def test_an_idle_partition_has_no_open_file_and_takes_little_memory(tmp_path: Path) -> None:
    directories = opened(tmp_path)
    for number in range(PARTITIONS):
        put(directories.create(TopicPartition("topic", number), None), b"value")
    assert len(directories.files) <= 64
    directories.close(NOW_MS)
    gc.collect()
    tracemalloc.start()
    again = opened(tmp_path)
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(again.files) == 0
    assert len(again.online[0].logs) == PARTITIONS
    assert used / PARTITIONS < 10_000
    again.release()


def test_indexes_take_no_room_before_they_are_written(tmp_path: Path) -> None:
    directories = opened(tmp_path)
    put(directories.create(TopicPartition("topic", 0), None), b"value")
    stat = (tmp_path / "topic-0" / "00000000000000000000.index").stat()
    assert stat.st_size == 10 << 20
    assert stat.st_blocks * 512 < 1 << 20
    directories.release()
