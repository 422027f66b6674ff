"""A log from its files.

After a clean stop the files are as they should be, and only the end is looked for. After any
other, all from the recovery point on is read, and what cannot be trusted is cut off, with all
that follows; indexes, epochs and the producers' state are made from what remains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from odradek.kafka.storage.checkpoints import PARTITION_METADATA, read_topic_id
from odradek.kafka.storage.epochs import NAME as EPOCHS
from odradek.kafka.storage.epochs import LeaderEpochs
from odradek.kafka.storage.errors import CorruptCheckpoint
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log, sync_indexes
from odradek.kafka.storage.names import LOG, SNAPSHOT, TopicPartition
from odradek.kafka.storage.producers import Producers
from odradek.kafka.storage.rebuild import rebuild
from odradek.kafka.storage.removal import remove_segments, remove_snapshots
from odradek.kafka.storage.replay import newest_snapshot, replay
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.storage.snapshots import snapshot_path
from odradek.kafka.storage.source import ColdSource
from odradek.kafka.storage.tidy import Files, tidy
from odradek.kafka.storage.truncation import restart_at
from odradek.kafka.storage.view import SegmentView


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """What the checkpoints of its directory say of a log."""

    is_clean: bool = True
    recovery_point: int = 0
    start_offset: int = 0
    high_watermark: int = 0


NEW = Checkpointed()


@dataclass(slots=True)
class Recovered:
    """A log, and what was done to get it."""

    log: Log
    notes: list[str]


def recover(
    files: OpenFiles,
    directory: str,
    where: TopicPartition,
    settings: LogSettings,
    known: Checkpointed = NEW,
    chance: Callable[[], float] = lambda: 0.0,
) -> Recovered:
    """Open what is in a partition's directory; an empty one is a new log."""
    notes: list[str] = []
    found = tidy(files.disk, directory, notes)
    bases = sorted(file.base_offset for file in found.values() if file.kind == LOG)
    if not bases:
        bases = [known.start_offset]
        files.disk.open(Segment(directory, bases[0]).path, create=True).close()
    segments = [Segment(directory, base) for base in bases]
    log = _log_of(files, directory, where, settings, segments, known, chance)
    if _is_untouched(log, found):
        _open_untouched(log, known, notes)
    elif known.is_clean:
        _open_clean(log, found, notes)
    else:
        _open_unclean(log, notes)
        log.close_files()  # There may be thousands of logs that nobody asks for.
    if log.end_offset < known.start_offset:
        notes.append(f"{directory} ends at {log.end_offset}, before its start: dropped it all")
        restart_at(log, known.start_offset)
    log.recovery_point = min(log.recovery_point, log.end_offset)
    log.restore_high_watermark(known.high_watermark)
    return Recovered(log, notes)


def begin(
    files: OpenFiles,
    directory: str,
    where: TopicPartition,
    settings: LogSettings,
    chance: Callable[[], float] = lambda: 0.0,
) -> Log:
    """A log in a directory that was not there before: nothing need be looked for."""
    segment = Segment(directory, 0)
    files.disk.open(segment.path, create=True).close()
    return _log_of(files, directory, where, settings, [segment], NEW, chance)


def _log_of(
    files: OpenFiles,
    directory: str,
    where: TopicPartition,
    settings: LogSettings,
    segments: list[Segment],
    known: Checkpointed,
    chance: Callable[[], float],
) -> Log:
    return Log(
        files,
        directory,
        where,
        settings,
        segments,
        start_offset=max(known.start_offset, segments[0].base_offset),
        end_offset=segments[-1].base_offset,
        recovery_point=known.recovery_point,
        chance=chance,
    )


def _is_untouched(log: Log, found: Files) -> bool:
    """Whether there is one file alone, and nothing was ever written to it."""
    disk = log.files.disk
    if len(log.segments) > 1 or any(file.kind != LOG for file in found.values()):
        return False
    with disk.open(log.segments[0].path, read_only=True) as file:
        return file.size() == 0 and not disk.exists(f"{log.directory}/{EPOCHS}")


def _open_untouched(log: Log, known: Checkpointed, notes: list[str]) -> None:
    """Many a partition is new, or hardly used: however the broker ended, it is as it was."""
    if not known.is_clean:
        _drop_torn_checkpoints(log, notes)
    log.recovery_point = log.end_offset


def _open_clean(log: Log, found: Files, notes: list[str]) -> None:
    """Find the end. A last segment that is not whole was not stopped cleanly, whoever says so."""
    view = SegmentView(log.segments[-1], 0)
    with ColdSource(log.files.disk) as source:
        end_offset, end = view.end(source)
        if end < view.size(source) or not view.has_sane_indexes(source):
            notes.append(f"{view.path} is not whole, although it was closed")
            log.recovery_point = min(log.recovery_point, view.base_offset)
            return _open_unclean(log, notes)
    log.end_offset = log.recovery_point = end_offset
    snapshots = sorted(file.base_offset for file in found.values() if file.kind == SNAPSHOT)
    if not snapshots:
        # To read it all would take long, and nobody has asked yet.
        log.know_producers(Producers(end_offset))
    _remove_strays(log, snapshots, end_offset)
    return None


def _open_unclean(log: Log, notes: list[str]) -> None:
    """Read everything from the recovery point on, and trust only that."""
    _drop_torn_checkpoints(log, notes)
    first = _first_doubtful(log)
    base = log.segments[first].base_offset
    remove_snapshots(log, base + 1)
    producers = newest_snapshot(log.files.disk, log.directory, base)
    with ColdSource(log.files.disk) as source:
        for view in log.views(0)[:first]:
            if view.next_offset > producers.end_offset:
                replay(source, view, producers)
    with log.epochs.written_once():
        # Epochs and batches are synced apart: from here on, only the batches' word counts.
        log.epochs.truncate_from(base)
        _rebuild_from(log, first, producers, notes)
        log.epochs.truncate_from(log.end_offset)
        log.epochs.truncate_before(log.start_offset)
    log.know_producers(producers)
    log.take_snapshot()


def _rebuild_from(log: Log, first: int, producers: Producers, notes: list[str]) -> None:
    for number, segment in enumerate(log.segments[first:], first):
        if number > first and _has_lost_offsets(log, segment):
            notes.append(f"{segment.path} does not follow {log.end_offset}")
            return _remove_from(log, number, notes)
        interval_bytes = log.settings.index_interval_bytes
        rebuilt = rebuild(log.files, segment, interval_bytes, producers, log.epochs)
        log.end_offset = rebuilt.next_offset
        if number < len(log.segments) - 1:
            sync_indexes(log.files, segment)
        notes.append(f"read {segment.path}: {rebuilt.size} bytes, up to {rebuilt.next_offset}")
        if rebuilt.problem:
            notes.append(f"cut {segment.path} at {rebuilt.size}: {rebuilt.problem}")
            return _remove_from(log, number + 1, notes)
    return None


def _has_lost_offsets(log: Log, segment: Segment) -> bool:
    """Whether the end of the segment before is gone: a power cut may take a file's last bytes.

    Only the cleaner leaves gaps on purpose.
    """
    return segment.base_offset != log.end_offset and not log.settings.is_compacted


def _remove_from(log: Log, number: int, notes: list[str]) -> None:
    notes += [f"removed {segment.path}" for segment in log.segments[number:]]
    remove_segments(log, log.segments[number:])
    del log.segments[number:]


def _first_doubtful(log: Log) -> int:
    """The segment with the recovery point, or one before it whose indexes cannot be its own."""
    first = log.number_of(log.recovery_point)
    with ColdSource(log.files.disk) as source:
        for number, view in enumerate(log.views(0)[:first]):
            if not view.has_sane_indexes(source):
                return number
    return first


def _drop_torn_checkpoints(log: Log, notes: list[str]) -> None:
    """The small files that are synced with a flush may be torn before it."""
    disk = log.files.disk
    try:
        read_topic_id(disk, log.directory)
    except CorruptCheckpoint as error:
        disk.remove(f"{log.directory}/{PARTITION_METADATA}")
        notes.append(f"removed {error}")
    try:
        LeaderEpochs.load(disk, log.directory)
    except CorruptCheckpoint as error:
        disk.remove(f"{log.directory}/{EPOCHS}")
        notes.append(f"removed {error}")
        log.recovery_point = 0  # All batches must be asked for their epochs.


def _remove_strays(log: Log, snapshots: list[int], end_offset: int) -> None:
    """Keep the snapshots at the starts of segments, and the newest."""
    kept = {segment.base_offset for segment in log.segments} | set(snapshots[-1:])
    for offset in snapshots:
        if offset not in kept or offset > end_offset:
            log.files.disk.remove(snapshot_path(log.directory, offset))
