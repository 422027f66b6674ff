"""What is true of every log, whatever was done to it."""

from __future__ import annotations

from odradek.kafka.storage.log import Log
from odradek.kafka.storage.source import ColdSource
from odradek.kafka.storage.view import SegmentView


def check_log(log: Log) -> None:
    """Offsets are in order, segments follow each other, indexes tell of batches that are there."""
    assert log.segments[0].base_offset <= log.start_offset <= log.end_offset
    assert log.recovery_point <= log.end_offset
    assert log.start_offset <= log.high_watermark <= log.end_offset
    expected = log.segments[0].base_offset
    with ColdSource(log.files.disk) as source:
        for view in log.views(0):
            assert view.base_offset >= expected
            expected = _check_segment(view, source)
            for head in view.heads_from(source, log.start_offset):
                # The epochs may have heard of a new start that a crash has taken back.
                epoch = log.epochs.epoch_at(max(head.base_offset, log.start_offset))
                assert epoch in (head.leader_epoch, -1)
            assert expected <= view.next_offset
    assert expected == log.end_offset or log.segments[-1].base_offset == log.end_offset
    starts = [entry.start_offset for entry in log.epochs.starts]
    assert starts == sorted(set(starts))
    assert not starts or starts[-1] <= log.end_offset


def _check_segment(view: SegmentView, source: ColdSource) -> int:
    heads = {head.position: head for head in view.heads_from(source, 0)}
    expected = view.base_offset
    for head in heads.values():
        assert head.base_offset >= expected
        expected = head.last_offset + 1
    end = max((head.end for head in heads.values()), default=0)
    assert end == view.size(source)
    _check_indexes(view, source, {head.last_offset for head in heads.values()}, set(heads))
    return expected


def _check_indexes(
    view: SegmentView, source: ColdSource, last_offsets: set[int], positions: set[int]
) -> None:
    offsets, times = view.offsets(source), view.times(source)
    entries = [offsets.entry(source, number) for number in range(offsets.entry_count)]
    assert entries == sorted(set(entries))
    for relative, position in entries:
        assert position in positions
        assert view.base_offset + relative in last_offsets
    timed = [times.entry(source, number) for number in range(times.entry_count)]
    assert timed == sorted(set(timed))
    largest = max((head.max_timestamp for head in view.heads_from(source, 0)), default=-1)
    assert all(timestamp <= largest for timestamp, _ in timed)
    for aborted in view.aborted(source):
        assert view.base_offset <= aborted.last_offset < view.next_offset
