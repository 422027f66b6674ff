"""The small files of a log directory.

A checkpoint is text: a version, a count, and as many lines. A new one is written beside the old
one, synced, and renamed over it, so that a crash leaves either; a line that cannot be read is
therefore no crash's work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from os.path import dirname
from typing import NamedTuple

from odradek.kafka.storage.errors import CorruptCheckpoint
from odradek.kafka.storage.names import TEMPORARY, TopicPartition
from odradek.runtime.disk import Disk
from odradek.runtime.properties import Properties

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
START_OFFSETS = "log-start-offset-checkpoint"
CLEANED_OFFSETS = "cleaner-offset-checkpoint"
META_PROPERTIES = "meta.properties"
PARTITION_METADATA = "partition.metadata"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
VERSION = "0"
# The whole id, for it may be torn: the file is synced only with the log's first flush.
TOPIC_ID = re.compile(rb"version: 0\ntopic_id: ([\w-]{22})\s*")


def write_whole(disk: Disk, path: str, data: bytes, *, is_synced: bool = True) -> None:
    """Have this file hold these bytes, or after a crash still the old ones.

    What is not synced may be torn by a loss of power, until a flush of its log has synced it.
    """
    temporary = path + TEMPORARY
    with disk.open(temporary, create=True) as file:
        file.truncate(0)
        file.append(data)
        if is_synced:
            file.sync()
    disk.rename(temporary, path)
    if is_synced:
        disk.sync_directory(dirname(path))


def read_whole(disk: Disk, path: str) -> bytes | None:
    """All of a file; None if there is none."""
    try:
        with disk.open(path, read_only=True) as file:
            return file.pread(0, file.size())
    except FileNotFoundError:
        return None


def write_checkpoint(
    disk: Disk, path: str, lines: Iterable[str], *, is_synced: bool = True
) -> None:
    rows = list(lines)
    text = "".join(f"{row}\n" for row in (VERSION, len(rows), *rows))
    write_whole(disk, path, text.encode(), is_synced=is_synced)


def read_checkpoint(disk: Disk, path: str) -> list[list[str]]:
    """The words of each line; none if there is no such file, which is how a broker begins.

    Apache's begins with files that are empty.
    """
    data = read_whole(disk, path)
    if not data:
        return []
    lines = data.decode("utf-8", "replace").splitlines()
    version, count, *rows = lines if len(lines) > 1 else ("", "")
    if version != VERSION or not count.isdigit() or int(count) != len(rows):
        raise CorruptCheckpoint(
            path, f"version {version!r}, {count!r} lines said, {len(rows)} found"
        )
    return [row.split(" ") for row in rows]


def write_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    write_checkpoint(disk, path, (f"{t} {p} {offset}" for (t, p), offset in offsets.items()))


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    try:
        return {
            TopicPartition(topic, int(partition)): int(offset)
            for topic, partition, offset in read_checkpoint(disk, path)
        }
    except ValueError as error:
        raise CorruptCheckpoint(path, f"no topic, partition and offset: {error}") from error


class Checkpoint(NamedTuple):
    """Offsets that are to be written down, by whatever thread."""

    disk: Disk
    path: str
    offsets: dict[TopicPartition, int]

    def run(self) -> None:
        write_offsets(self.disk, self.path, self.offsets)


class Meta(NamedTuple):
    """Whose log directory it is."""

    broker_id: int
    cluster_id: str


def write_meta(disk: Disk, directory: str, meta: Meta) -> None:
    text = f"#\nbroker.id={meta.broker_id}\nversion=0\ncluster.id={meta.cluster_id}\n"
    write_whole(disk, f"{directory}/{META_PROPERTIES}", text.encode())


def read_meta(disk: Disk, directory: str) -> Meta | None:
    """None if nobody has owned this directory yet."""
    path = f"{directory}/{META_PROPERTIES}"
    data = read_whole(disk, path)
    if data is None:
        return None
    values = {key: entry.value for key, entry in Properties.parse(data, path).entries.items()}
    try:
        if values["version"] != VERSION:
            raise ValueError(f"version {values['version']}")
        return Meta(int(values["broker.id"]), values.get("cluster.id", ""))
    except (KeyError, ValueError) as error:
        raise CorruptCheckpoint(path, f"{error}") from error


def write_topic_id(disk: Disk, directory: str, topic_id: str) -> None:
    """Say which topic of its name a partition is of; the id is in Kafka's base64."""
    text = f"version: 0\ntopic_id: {topic_id}"
    write_whole(disk, f"{directory}/{PARTITION_METADATA}", text.encode(), is_synced=False)


def read_topic_id(disk: Disk, directory: str) -> str | None:
    """None where topics had no ids yet."""
    path = f"{directory}/{PARTITION_METADATA}"
    data = read_whole(disk, path)
    if data is None:
        return None
    found = TOPIC_ID.fullmatch(data)
    if found is None:
        raise CorruptCheckpoint(path, f"no version 0 and topic id: {data!r}")
    return found[1].decode()


def write_clean_shutdown(disk: Disk, directory: str, broker_epoch: int = -1) -> None:
    """Say that all logs here are whole; the epoch is for brokers without ZooKeeper."""
    text = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    write_whole(disk, f"{directory}/{CLEAN_SHUTDOWN}", text.encode())


def take_clean_shutdown(disk: Disk, directory: str) -> bool:
    """Whether the last stop was clean. From now on, until the next clean stop, it was not."""
    path = f"{directory}/{CLEAN_SHUTDOWN}"
    if not disk.exists(path):
        return False
    disk.remove(path)
    disk.sync_directory(directory)
    return True
