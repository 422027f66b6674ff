"""Where reading begins, for each partition: by offset, by time, by what a group has committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from odradek.cli.reading import read_time_ms
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.group_offsets import committed_offsets
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.runtime.clock import wall_clock_ms

if TYPE_CHECKING:
    from odradek.kafka.client.cluster import Cluster

NOWHERE = ""  # Nothing was said: from the group's offsets, else from the start.


def positions(
    cluster: Cluster,
    topics: list[str],
    numbers: list[int] | None,
    start: str,
    group: str | None = None,
) -> dict[TopicPartition, int]:
    """The offset to begin at in each partition, within what the log holds."""
    partitions = [
        it for it in cluster.partitions_of(topics) if not numbers or it.partition in numbers
    ]
    missing = set(numbers or ()) - {it.partition for it in partitions}
    if missing:
        raise typer.BadParameter(f"{', '.join(topics)} has no partition {min(missing)}")
    first = list_offsets(cluster, dict.fromkeys(partitions, EARLIEST))
    last = list_offsets(cluster, dict.fromkeys(partitions, LATEST))
    wanted = wanted_offsets(cluster, partitions, start)
    if group is not None and start == NOWHERE:
        wanted |= committed_offsets(cluster, group, partitions)
    found = {}
    for it in partitions:
        low, high = first[it] or 0, last[it] or 0
        offset = wanted.get(it, low)
        found[it] = min(max(high + offset if offset < 0 else offset, low), high)
    return found


def wanted_offsets(
    cluster: Cluster, partitions: list[TopicPartition], start: str
) -> dict[TopicPartition, int]:
    """What `--from` says; a negative number counts from the end."""
    if start in (NOWHERE, "earliest"):
        return {}
    if start == "latest":
        return offsets_at(cluster, partitions, LATEST)
    if start.startswith("time:"):
        time_ms = read_time_ms(start.removeprefix("time:"), wall_clock_ms())
        return offsets_at(cluster, partitions, LATEST) | offsets_at(cluster, partitions, time_ms)
    try:
        return dict.fromkeys(partitions, int(start))
    except ValueError as error:
        raise typer.BadParameter(
            f"--from: {start!r} is neither earliest nor latest nor an offset nor time:…"
        ) from error


def offsets_at(
    cluster: Cluster, partitions: list[TopicPartition], time_ms: int
) -> dict[TopicPartition, int]:
    """Offsets by time; those later than all records are left out."""
    offsets = list_offsets(cluster, dict.fromkeys(partitions, time_ms))
    return {it: offset for it, offset in offsets.items() if offset is not None}
