"""Any sequence of what can be done to a log, beside a list of records."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from odradek.kafka.storage.appending import append_as_follower
from odradek.kafka.storage.lookup import TimedOffset
from odradek.kafka.storage.reading import Later, offset_since, youngest
from odradek.kafka.storage.recover import Checkpointed
from odradek.kafka.storage.removal import remove_files
from odradek.kafka.storage.retention import raise_start_offset, retire_old_segments
from odradek.kafka.storage.truncation import restart_at, truncate_to
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.records import Record
from tests.kafka.storage.consistency import check_log
from tests.kafka.storage.disks import MortalDisk, new_disk
from tests.kafka.storage.logs import (
    NOW_MS,
    SMALL,
    all_records,
    batch_of,
    get,
    new_log,
    open_log,
    put_batch,
    records_in,
)

VALUES = st.lists(st.binary(max_size=60), min_size=1, max_size=4)
TIMES = st.integers(0, 50).map(lambda seconds: NOW_MS + 1000 * seconds)


class LogModel(RuleBasedStateMachine):
    """A log on a disk, and the batches that should be in it."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = new_disk()
        self.log = new_log(self.disk)
        self.batches: list[list[Record]] = []
        self.start = self.end = 0
        self.sequence = self.epoch = 0

    @rule(values=VALUES, timestamp=TIMES)
    def append(self, values: list[bytes], timestamp: int) -> None:
        data = batch_of(values, timestamp=timestamp, producer_id=7, sequence=self.sequence)
        appended = put_batch(self.log, data, epoch=self.epoch)
        assert (appended.first_offset, appended.is_duplicate) == (self.end, False)
        again = put_batch(self.log, data, epoch=self.epoch)
        assert (again.first_offset, again.is_duplicate) == (self.end, True)
        self._add([Record(self.end + n, timestamp, None, v) for n, v in enumerate(values)])
        self.sequence += len(values)

    @rule(values=VALUES, timestamp=TIMES, gap=st.integers(0, 3), epoch_step=st.integers(0, 1))
    def follow(self, values: list[bytes], timestamp: int, gap: int, epoch_step: int) -> None:
        self.epoch += epoch_step
        first = self.end + gap
        records = [Record(first + n, timestamp, None, v) for n, v in enumerate(values)]
        data = write_batch(records, Envelope(leader_epoch=self.epoch))
        append_as_follower(self.log, data + bytes(data[:30]), NOW_MS)
        self._add(records)

    @rule(share=st.floats(0, 1))
    def raise_high_watermark(self, share: float) -> None:
        self.log.raise_high_watermark(self._somewhere(share))

    @rule()
    def roll(self) -> None:
        self.log.roll(NOW_MS)

    @rule()
    def flush(self) -> None:
        self.log.flush(NOW_MS)
        assert self.log.recovery_point == self.end

    @rule(share=st.floats(0, 1))
    def truncate(self, share: float) -> None:
        offset = self._somewhere(share)
        truncate_to(self.log, offset)
        self.batches = [batch for batch in self.batches if batch[-1].offset < offset]
        self.end = self.log.end_offset
        self.start = min(self.start, self.end)
        assert self.end <= offset
        assert self.end > max((batch[-1].offset for batch in self.batches), default=-1)
        self.sequence = (
            max(self.log.producers.known[7].last_sequence + 1, 0) if self._is_known else 0
        )

    @rule(offset=st.integers(0, 5))
    def restart(self, offset: int) -> None:
        self.start = self.end = self.end + offset
        restart_at(self.log, self.end)
        self.batches = []
        self.sequence = 0

    @rule(share=st.floats(0, 1))
    def delete_records(self, share: float) -> None:
        refusal = raise_start_offset(self.log, self._somewhere(share))
        self.start = self.log.start_offset
        assert (refusal is None) or self._somewhere(share) > self.log.high_watermark

    @rule(retention_bytes=st.integers(-1, 1500), age_s=st.integers(-1, 60))
    def retain(self, retention_bytes: int, age_s: int) -> None:
        chosen = replace(SMALL, retention_bytes=retention_bytes, retention_ms=age_s * 1000)
        self.log.settings = chosen if age_s >= 0 else replace(chosen, retention_ms=-1)
        for retired in retire_old_segments(self.log, NOW_MS + 50_000):
            remove_files(self.disk, retired.paths)
        self.log.settings = SMALL
        assert self.log.start_offset >= self.start
        self.start = self.log.start_offset

    @rule(is_clean=st.booleans())
    def restart_process(self, is_clean: bool) -> None:
        """Stop, cleanly or by death without a loss of power, and start again."""
        if is_clean:
            self.log.close(NOW_MS)
        log, self.disk = self.log, MortalDisk(self.disk.storage)
        known = Checkpointed(is_clean, log.recovery_point, log.start_offset, log.high_watermark)
        # Gaps are the cleaner's: in a log that is never compacted they are losses.
        self.log = open_log(self.disk, replace(SMALL, is_compacted=True), known).log
        self.log.settings = SMALL

    @precondition(lambda self: self.start < self.end)
    @rule(share=st.floats(0, 1), bytes_max=st.integers(0, 900), upper_share=st.floats(0, 1))
    def read(self, share: float, bytes_max: int, upper_share: float) -> None:
        offset, upper = self._somewhere(share), self._somewhere(upper_share)
        fetched = get(self.log, offset, bytes_max, upper)
        expected = [b for b in self.batches if b[-1].offset >= offset and b[0].offset < upper]
        found = records_in(fetched)
        assert found == [record for batch in expected for record in batch][: len(found)]
        assert found or not expected or offset >= upper
        assert len(fetched.data) <= bytes_max or len({r.offset for r in found}) <= 4

    @rule(timestamp=TIMES)
    def look_up_time(self, timestamp: int) -> None:
        records = [r for batch in self.batches for r in batch if r.offset >= self.start]
        found = self._done(offset_since(self.log, timestamp))
        expected = next((r for r in records if r.timestamp >= timestamp), None)
        assert (found and found.offset) == (expected and expected.offset)

    @rule()
    def look_up_youngest(self) -> None:
        found = self._done(youngest(self.log))
        if found is not None:
            assert found.timestamp >= max(
                (r.timestamp for b in self.batches for r in b if r.offset >= self.start), default=0
            )

    @invariant()
    def all_is_there(self) -> None:
        check_log(self.log)
        records = [r for batch in self.batches for r in batch if r.offset >= self.start]
        assert all_records(self.log, 300) == records
        assert (self.log.start_offset, self.log.end_offset) == (self.start, self.end)

    @property
    def _is_known(self) -> bool:
        return 7 in self.log.producers.known

    def _add(self, records: list[Record]) -> None:
        self.batches.append(records)
        self.end = records[-1].offset + 1

    def _somewhere(self, share: float) -> int:
        return self.start + int(share * (self.end - self.start))

    def _done(self, found: TimedOffset | Later[TimedOffset | None] | None) -> TimedOffset | None:
        return found.run() if isinstance(found, Later) else found


LogModel.TestCase.settings = settings(max_examples=50, stateful_step_count=25, deadline=None)
test_a_log_is_the_list_of_its_records = LogModel.TestCase
