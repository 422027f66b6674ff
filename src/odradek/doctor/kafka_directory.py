"""Is a broker's log directory whole? Every batch is read; nothing is changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from odradek.doctor.finding import Finding, good, note, warning, wrong
from odradek.kafka.client.fetcher import whole_entries
from odradek.kafka.storage import checkpoints
from odradek.kafka.storage.epochs import LeaderEpochs
from odradek.kafka.storage.errors import StorageError
from odradek.kafka.storage.names import (
    OFFSET_INDEX,
    TIME_INDEX,
    Purpose,
    TopicPartition,
    read_directory_name,
    read_file_name,
)
from odradek.runtime.disk import Disk
from odradek.runtime.errors import ProtocolError
from odradek.spark.log_segments import (
    DamagedSegment,
    Segment,
    find_segments,
    read_segment,
)

ENTRY_BYTES = {OFFSET_INDEX: 8, TIME_INDEX: 12}
CHECKPOINTS = (
    checkpoints.RECOVERY_POINTS,
    checkpoints.HIGH_WATERMARKS,
    checkpoints.START_OFFSETS,
    checkpoints.CLEANED_OFFSETS,
)
OUGHT_NOT_TO_BE_THERE = "an Apache broker would refuse to start with it"


def look_at_log_directory(disk: Disk, path: str, *, is_quick: bool = False) -> Iterator[Finding]:
    """Whose it is, what its small files say, and whether its logs are what was written."""
    yield from of_owner(disk, path)
    partitions = {}
    for name in disk.list_directory(path):
        if not disk.is_directory(f"{path}/{name}"):
            continue
        found = read_directory_name(name)
        if found is None:
            yield warning(f"{path}/{name}", f"is no partition's: {OUGHT_NOT_TO_BE_THERE}")
        elif found[1] is Purpose.STRAY:
            yield warning(f"{path}/{name}", "the cluster does not know this partition any more")
        elif found[1] is Purpose.LIVE:
            partitions[found[0]] = f"{path}/{name}"
    segments: dict[tuple[str, int], list[Segment]] = {}
    for segment in find_segments(disk, path, None):
        segments.setdefault(segment.partition, []).append(segment)
    ends: dict[TopicPartition, int] = {}
    for where, directory in partitions.items():
        yield from of_small_files(disk, directory)
        own = segments.get(where, [])
        if not own:
            yield wrong(directory, "has no segment: all its records are gone")
            continue
        findings, ends[where] = of_partition(disk, own, is_quick)
        yield from findings
    yield from of_checkpoints(disk, path, partitions, ends)
    yield good(path, f"{len(partitions)} partitions were looked at")


def of_owner(disk: Disk, path: str) -> Iterator[Finding]:
    try:
        meta = checkpoints.read_meta(disk, path)
    except StorageError as error:
        yield wrong(path, str(error))
    else:
        if meta is None:
            yield warning(path, "there is no meta.properties: no broker has started here yet")
        else:
            yield good(path, f"belongs to broker {meta.broker_id} of cluster {meta.cluster_id}")
    if disk.exists(f"{path}/.kafka_cleanshutdown"):
        yield good(path, "the broker was stopped cleanly")
    else:
        yield note(
            path,
            "there is no clean shutdown: a broker runs here, or was killed and will check its logs",
        )


def of_small_files(disk: Disk, directory: str) -> Iterator[Finding]:
    try:
        checkpoints.read_topic_id(disk, directory)
        LeaderEpochs.load(disk, directory)
    except StorageError as error:
        yield wrong(directory, str(error))
    for name in disk.list_directory(directory):
        file = read_file_name(name)
        if file is None or file.kind not in ENTRY_BYTES:
            continue
        with disk.open(f"{directory}/{name}", read_only=True) as opened:
            size = opened.size()
        if size % ENTRY_BYTES[file.kind]:
            yield warning(f"{directory}/{name}", "is torn, and will be made anew by the broker")


def of_partition(
    disk: Disk, segments: Sequence[Segment], is_quick: bool
) -> tuple[list[Finding], int]:
    """What is wrong with the segments of one partition, and where it ends."""
    findings: list[Finding] = []
    end = segments[0].base_offset
    for segment in segments:
        if segment.base_offset < end:
            text = f"begins at {segment.base_offset}, though the one before it ends at {end - 1}"
            findings.append(wrong(segment.path, text))
        end = segment.base_offset
        if is_quick and not segment.is_newest:
            continue
        found, end = of_segment(disk, segment)
        findings += found
    return findings, end


def of_segment(disk: Disk, segment: Segment) -> tuple[list[Finding], int]:
    """What is wrong with a segment, and the offset after its last record."""
    position, end = 0, segment.base_offset
    findings: list[Finding] = []
    try:
        for entries in read_segment(disk, segment):
            for entry in entries:
                _, after = whole_entries(entry)
                if after <= end and position:
                    findings.append(
                        wrong(segment.path, f"byte {position}: offsets go back to {after - 1}")
                    )
                end = max(end, after)
                position += len(entry)
    except (DamagedSegment, ProtocolError) as error:
        return [*findings, wrong(segment.path, f"damaged: {error}")], end
    with disk.open(segment.path, read_only=True) as file:
        left = file.size() - position
    if left:
        text = f"a torn tail of {left:,} bytes after offset {end - 1}: a broker will cut it off"
        findings.append(warning(segment.path, text))
    return findings, end


def of_checkpoints(
    disk: Disk,
    path: str,
    partitions: Collection[TopicPartition],
    ends: dict[TopicPartition, int],
) -> Iterator[Finding]:
    for name in CHECKPOINTS:
        try:
            offsets = checkpoints.read_offsets(disk, f"{path}/{name}")
        except StorageError as error:
            yield wrong(f"{path}/{name}", str(error))
            continue
        for where, offset in sorted(offsets.items()):
            if where not in partitions:
                yield note(f"{path}/{name}", f"tells of {where}, which is not here")
            elif where in ends and offset > ends[where]:
                yield wrong(
                    f"{path}/{name}",
                    f"{where} is said to reach {offset}, and ends at"
                    f" {ends[where]}: records were lost",
                )
