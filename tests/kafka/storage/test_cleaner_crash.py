"""A loss of power at every call of a cleaning: no last value is lost, and none comes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from odradek.kafka.storage import checkpoints
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import CLEANED, DELETED, SWAP
from odradek.kafka.storage.recover import Checkpointed
from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.records import read_records
from odradek.simulation.errors import Killed
from tests.kafka.storage.cleaning import COMPACTED, Pair, clean, keyed
from tests.kafka.storage.consistency import check_log
from tests.kafka.storage.disks import MortalDisk, new_disk
from tests.kafka.storage.logs import (
    DIRECTORY,
    NOW_MS,
    WHERE,
    end_transaction,
    get_committed,
    open_log,
    put_batch,
)

POINTS = "/data/points"
CLEAN = "/data/clean"


@dataclass(slots=True)
class Broker:
    """A process with a compacted log, and what it knows to be committed."""

    disk: MortalDisk
    log: Log
    committed: dict[int, Pair] = field(default_factory=dict)
    sequence: int = 0

    def put(self, *pairs: Pair, marker: MarkerType | None = None) -> None:
        first = self.log.end_offset
        is_transactional = marker is not None
        data = keyed(
            pairs, producer_id=5, sequence=self.sequence, is_transactional=is_transactional
        )
        if marker is not MarkerType.ABORT:
            self.committed |= {first + number: pair for number, pair in enumerate(pairs)}
        put_batch(self.log, data)
        if marker is not None:
            end_transaction(self.log, 5, marker)
        self.sequence += len(pairs)

    def flush(self) -> None:
        self.log.flush(NOW_MS)
        checkpoints.write_offsets(self.disk, POINTS, {WHERE: self.log.recovery_point})

    def clean(self) -> None:
        known = checkpoints.read_offsets(self.disk, CLEAN).get(WHERE)
        checkpoints.write_offsets(self.disk, CLEAN, {WHERE: clean(self.log, known)})


def story(broker: Broker) -> None:
    """Two cleanings with appends between them; some of what is cleaned was never flushed."""
    for number in range(5):
        broker.put((b"a", b"%d" % number * 40), (b"k%d" % (number % 3), b"%d" % number))
        broker.put((b"a", b"gone"), marker=MarkerType.ABORT)
        if number == 2:
            broker.flush()
    broker.clean()
    broker.put((b"k1", None), (b"b", b"new"), marker=MarkerType.COMMIT)
    broker.log.roll(NOW_MS)
    broker.put((b"k2", b"newest"))
    broker.clean()
    broker.flush()


def run_until(seed: int, calls_max: int | None) -> Broker:
    storage = new_disk(seed).storage
    disk = MortalDisk(storage)
    disk.make_directories(DIRECTORY)
    disk.sync_directory("/data")
    mortal = MortalDisk(storage, calls_max)
    broker = None
    with suppress(Killed):
        broker = Broker(mortal, open_log(mortal, COMPACTED).log)
        story(broker)
    return broker or Broker(mortal, open_log(MortalDisk(storage), COMPACTED).log)


def restart(broker: Broker) -> Log:
    broker.disk.storage.crash()
    return recovered(MortalDisk(broker.disk.storage))


def recovered(disk: MortalDisk) -> Log:
    points = checkpoints.read_offsets(disk, POINTS)
    known = Checkpointed(is_clean=False, recovery_point=points.get(WHERE, 0))
    return open_log(disk, COMPACTED, known).log


def committed(log: Log) -> dict[int, Pair]:
    """What a reader of committed data sees."""
    log.raise_high_watermark(log.end_offset)
    return dict(_readings(log))


def _readings(log: Log) -> Iterator[tuple[int, Pair]]:
    offset = log.start_offset
    while (fetched := get_committed(log, offset)).data:
        for batch in read_batches(memoryview(fetched.data)):
            spans = ((each.first_offset, each.last_offset) for each in fetched.aborted)
            is_aborted = any(first <= batch.base_offset <= last for first, last in spans)
            if not batch.is_control and not (is_aborted and batch.is_transactional):
                for record in read_records(batch):
                    yield record.offset, (record.key, record.value)
        offset = fetched.next_offset


def last_values(records: dict[int, Pair]) -> dict[bytes | None, tuple[int, bytes | None]]:
    return {key: (offset, value) for offset, (key, value) in sorted(records.items())}


def check(log: Log, broker: Broker) -> None:
    check_log(log)
    found = committed(log)
    written = {o: pair for o, pair in broker.committed.items() if o < log.last_stable_offset}
    assert found.items() <= written.items()
    assert last_values(found) == last_values(written)
    left = (name for name in log.files.disk.list_directory(DIRECTORY))
    assert not any(name.endswith((CLEANED, SWAP, DELETED)) for name in left)


def test_after_a_crash_every_key_has_its_last_value() -> None:
    calls = run_until(0, None).disk.calls
    for calls_max in range(calls):
        broker = run_until(calls_max, calls_max)
        check(restart(broker), broker)


def test_after_a_crash_cleaning_goes_on_where_it_was() -> None:
    calls = run_until(0, None).disk.calls
    for calls_max in range(calls // 2, calls, 5):
        broker = run_until(calls_max, calls_max)
        log = restart(broker)
        again = Broker(MortalDisk(broker.disk.storage), log, broker.committed)
        log.raise_high_watermark(log.end_offset)
        if log.last_stable_offset < log.end_offset:
            end_transaction(log, 5, MarkerType.ABORT)
        log.roll(NOW_MS)
        again.clean()
        values = committed(log)
        assert len({key for key, _ in values.values()}) == len(values)
        check_log(log)


def test_a_crash_while_a_swap_is_completed_loses_nothing() -> None:
    calls = run_until(0, None).disk.calls
    for calls_max in range(calls // 2, calls, 17):
        for further in range(0, 60, 4):
            broker = run_until(calls_max, calls_max)
            broker.disk.storage.crash()
            with suppress(Killed):
                recovered(MortalDisk(broker.disk.storage, further))
            check(restart(broker), broker)


def test_a_process_that_dies_leaves_what_a_loss_of_power_would() -> None:
    calls = run_until(0, None).disk.calls
    for calls_max in range(0, calls, 2):
        broker = run_until(0, calls_max)
        check(recovered(MortalDisk(broker.disk.storage)), broker)
