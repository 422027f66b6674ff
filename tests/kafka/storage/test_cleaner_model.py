"""Any sequence of appends, transactions and cleanings, beside a dictionary of last values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from odradek.kafka.storage.cleaner import Cleaning, begin_cleaning
from odradek.kafka.storage.cleaner_steps import CleanedGroup, CleaningStep
from odradek.kafka.storage.dirty import measure
from odradek.kafka.storage.producers import Producers
from odradek.kafka.storage.recover import Checkpointed
from odradek.kafka.storage.removal import remove_files
from odradek.kafka.storage.replay import apply_to
from odradek.kafka.storage.retention import raise_start_offset, retire_old_segments
from odradek.kafka.storage.swap import Seal, end_cleaning, swap_in
from odradek.kafka.storage.tail import WaitingSource
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.records import read_records
from tests.kafka.storage.cleaning import COMPACTED, Pair, all_batches, keyed
from tests.kafka.storage.consistency import check_log
from tests.kafka.storage.disks import MortalDisk, new_disk
from tests.kafka.storage.logs import NOW_MS, end_transaction, new_log, open_log, put_batch

RETENTION_MS = 1000
SETTINGS = replace(COMPACTED, delete_retention_ms=RETENTION_MS)
KEYS = st.sampled_from([b"", b"a", b"b", b"c" * 16, b"d" * 40, b"d" * 39 + b"e"])
PAIRS = st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=40)), min_size=1, max_size=6)
MAP_BYTES = st.sampled_from([1, 600, 1 << 20])
CODECS = st.sampled_from(list(Codec))
PLAIN, NUMBERED, TRANSACTIONAL = -1, 1, 2


class CleanerModel(RuleBasedStateMachine):
    """A compacted log, what was committed to it, and when its tombstones were first cleaned."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = new_disk()
        self.log = new_log(self.disk, SETTINGS)
        self.committed: dict[int, Pair] = {}
        self.sequences = {PLAIN: 0, NUMBERED: 0, TRANSACTIONAL: 0}
        self.horizons: dict[int, int] = {}  # By the offset of a tombstone.
        self.cleaned = 0
        self.cleaned_ms = 0
        self.now_ms = NOW_MS
        self.cleaning: Cleaning | None = None
        self.steps: Iterator[CleaningStep] = iter(())

    @rule(pairs=PAIRS, codec=CODECS, producer_id=st.sampled_from([PLAIN, NUMBERED]))
    def append(self, pairs: list[Pair], codec: Codec, producer_id: int) -> None:
        self._put(pairs, codec, producer_id)

    @rule(pairs=PAIRS, more=PAIRS, codec=CODECS, kind=st.sampled_from(MarkerType))
    def transact(self, pairs: list[Pair], more: list[Pair], codec: Codec, kind: MarkerType) -> None:
        is_committed = kind is MarkerType.COMMIT
        self._put(pairs, codec, TRANSACTIONAL, is_committed=is_committed)
        self._put(more, Codec.NONE, PLAIN)
        self._put(more, codec, TRANSACTIONAL, is_committed=is_committed)
        end_transaction(self.log, TRANSACTIONAL, kind)

    @rule()
    def roll(self) -> None:
        self.log.roll(NOW_MS)

    @rule(ms=st.sampled_from([1, RETENTION_MS // 2, RETENTION_MS]))
    def wait(self, ms: int) -> None:
        self.now_ms += ms

    @rule(map_bytes=MAP_BYTES)
    def clean(self, map_bytes: int) -> None:
        self.begin(map_bytes)
        while self.cleaning is not None:
            self.advance()

    @precondition(lambda self: self.cleaning is None)
    @rule(map_bytes=MAP_BYTES)
    def begin(self, map_bytes: int) -> None:
        """Begin a cleaning; what else is done to the log comes between its steps."""
        self.log.raise_high_watermark(self.log.end_offset)
        if self.cleaning is None and (dirty := measure(self.log, self.cleaned, self.now_ms)):
            self.cleaning = begin_cleaning(self.log, dirty, self.now_ms, map_bytes)
            self.steps = self.cleaning.run(self.disk)

    @precondition(lambda self: self.cleaning is not None)
    @rule()
    def advance(self) -> None:
        assert self.cleaning is not None
        step = next(self.steps)
        if isinstance(step, CleanedGroup):
            retired = swap_in(self.log, self.cleaning, step)
            assert (retired is None) == (step.base_offsets[0] < self.log.segments[0].base_offset)
            remove_files(self.disk, retired or [])
            self._check_horizons(self.cleaning.now_ms)
        else:
            cleaning, self.cleaning = self.cleaning, None
            sealed = end_cleaning(self.log, cleaning, step)
            if isinstance(sealed, Seal):
                self._end(cleaning, sealed.end_offset)
            else:
                first = cleaning.views[0].base_offset
                assert first < self.log.segments[0].base_offset, sealed

    @rule(share=st.floats(0, 1))
    def delete_records(self, share: float) -> None:
        start, watermark = self.log.start_offset, self.log.high_watermark
        assert raise_start_offset(self.log, start + int(share * (watermark - start))) is None
        for retired in retire_old_segments(self.log, self.now_ms):
            remove_files(self.disk, retired.paths)

    @rule(is_clean=st.booleans())
    def restart(self, is_clean: bool) -> None:
        if is_clean:
            self.log.close(NOW_MS)
        log, self.disk = self.log, MortalDisk(self.disk.storage)
        known = Checkpointed(is_clean, log.recovery_point, log.start_offset, log.high_watermark)
        self.log, self.cleaning = open_log(self.disk, SETTINGS, known).log, None

    @invariant()
    def every_key_has_its_last_value(self) -> None:
        check_log(self.log)
        found, start = self._found(), self.log.start_offset
        assert found.items() <= self.committed.items()
        last = {key: offset for offset, (key, _) in found.items()}
        newest = {key: offset for offset, (key, _) in self.committed.items() if offset >= start}
        for key, offset in newest.items():
            if key in last or self.committed[offset][1] is not None:
                assert last[key] == offset
            else:
                assert self.horizons[offset] <= self.cleaned_ms

    def _check_horizons(self, now_ms: int) -> None:
        """Each tombstone has the one that it got when it was first cleaned."""
        self.cleaned_ms = now_ms
        for batch in all_batches(self.log):
            horizon_ms = batch.delete_horizon_ms
            for record in read_records(batch):
                if horizon_ms is not None and record.value is None:
                    expected_ms = self.horizons.setdefault(record.offset, now_ms + RETENTION_MS)
                    assert horizon_ms == expected_ms

    def _end(self, cleaning: Cleaning, end_offset: int) -> None:
        first = cleaning.first_dirty_offset
        has_dirt = any(view.next_offset > first for view in cleaning.views)
        assert end_offset > first if has_dirt else end_offset == first
        self.cleaned = end_offset
        keys = [key for offset, (key, _) in self._found().items() if offset < end_offset]
        assert len(keys) == len(set(keys))
        start = self.log.start_offset
        assert last_batches(self._replayed(), start) == last_batches(self.log.producers, start)

    def _put(
        self, pairs: list[Pair], codec: Codec, producer_id: int, *, is_committed: bool = True
    ) -> None:
        first = self.log.end_offset
        data = keyed(
            pairs,
            codec=codec,
            producer_id=producer_id,
            sequence=self.sequences[producer_id],
            is_transactional=producer_id == TRANSACTIONAL,
        )
        put_batch(self.log, data)
        self.sequences[producer_id] += len(pairs)
        if is_committed:
            self.committed |= {first + number: pair for number, pair in enumerate(pairs)}

    def _found(self) -> dict[int, Pair]:
        """What a reader of committed data finds: batches are dropped from first to marker."""
        batches = all_batches(self.log)
        source = WaitingSource(self.log.files)
        aborted = {
            (each.producer_id, offset)
            for view in self.log.views(0)
            for each in view.aborted(source)
            for offset in range(each.first_offset, each.last_offset)
        }
        return {
            record.offset: (record.key, record.value)
            for batch in batches
            if not batch.is_control and (batch.producer_id, batch.base_offset) not in aborted
            for record in read_records(batch)
            if record.offset >= self.log.start_offset
        }

    def _replayed(self) -> Producers:
        producers = Producers()
        for batch in all_batches(self.log):
            apply_to(producers, batch)
        return producers


def last_batches(producers: Producers, start: int) -> dict[int, tuple[int, int, int]]:
    """What is known of each producer's last batch, if the log still has it."""
    return {
        each.producer_id: (each.epoch, each.last_sequence, each.batches[-1].last_offset)
        for each in producers.known.values()
        if each.batches and each.batches[-1].last_offset >= start
    }


CleanerModel.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
test_a_cleaned_log_is_the_dictionary_of_its_last_values = CleanerModel.TestCase
