"""The log cleaner of a broker: what it takes up, what it leaves alone, and what it survives."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from odradek.kafka.broker.cleaning import LogCleaner
from odradek.kafka.broker.cleaning_candidates import Candidates
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.upkeep import Upkeep
from odradek.kafka.settings import Layers
from odradek.kafka.storage.checkpoints import CLEANED_OFFSETS, read_offsets
from odradek.kafka.storage.names import TopicPartition
from odradek.runtime.disk import Disk, DiskBroken, File
from tests.kafka.broker.served import PATIENCE_S, Served, serving
from tests.kafka.storage.cleaning import kept, keyed
from tests.kafka.storage.disks import MortalDisk
from tests.kafka.storage.logs import NOW_MS
from tests.simulation.storages import LooseStorage

WHERE = TopicPartition("t", 0)
COMPACTED = {
    "cleanup.policy": "compact",
    "segment.bytes": 600,
    "index.interval.bytes": 100,
    "min.cleanable.dirty.ratio": 0,
}
SLOWLY = {"log.cleaner.io.max.bytes.per.second": 1}
Disks = Callable[[], Disk | None]


class Cleaned:
    """A broker with a cleaner, and what a test asks of them."""

    def __init__(self, served: Served) -> None:
        broker = self.broker = served.broker
        self.served = served
        self.upkeep = Upkeep(
            broker.directories,
            lambda: broker.settings,
            broker.partitions.fail_directory,
            broker.clock,
            broker.note,
        )
        self.cleaner = LogCleaner(
            broker.directories,
            self.upkeep,
            lambda: broker.settings,
            broker.clock,
            broker.tasks,
            broker.note,
        )

    def dirty(self, topic: str = "t", **overrides: object) -> Partition:
        """A partition with many values of few keys."""
        keys = {key.replace("_", "."): value for key, value in overrides.items()}
        partition = self.served.lead(topic, overrides={**COMPACTED, **keys})
        write(partition, rounds=12)
        return partition

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await asyncio.sleep(0.002)

    async def until_idle(self, partition: Partition) -> None:
        await self.until(lambda: not self.cleaner.is_cleaning(partition.log))

    def checkpoint(self) -> dict[TopicPartition, int]:
        directories = self.broker.directories
        path = f"{directories.online[0].path}/{CLEANED_OFFSETS}"
        return read_offsets(directories.files.disk, path)


def write(partition: Partition, rounds: int) -> None:
    for number in range(rounds):
        pairs = [(b"k%d" % key, b"%d" % number) for key in range(5)]
        partition.append(keyed(pairs), NOW_MS)


@asynccontextmanager
async def cleaning(
    path: Path, disk: Disk | None = None, **settings: object
) -> AsyncIterator[Cleaned]:
    async with serving(path, settings, disk=disk, clock=lambda: NOW_MS) as served:
        yield Cleaned(served)


def simulated() -> Disk:
    return MortalDisk(LooseStorage().storage)


@pytest.mark.parametrize("disk", [lambda: None, simulated], ids=["process", "thread"])
def test_what_is_due_is_cleaned_and_the_checkpoint_says_so(tmp_path: Path, disk: Disks) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, disk()) as cleaned:
            log = (partition := cleaned.dirty()).log
            active = log.segments[-1].base_offset
            cleaned.cleaner.start()
            await cleaned.until(lambda: cleaned.cleaner.figures.cleanings)
            await cleaned.until_idle(partition)
            assert cleaned.checkpoint() == {WHERE: active}
            below = {offset: pair for offset, pair in kept(log).items() if offset < active}
            newest = active - 5  # The last round that is whole before the active segment.
            assert below == {newest + n: (b"k%d" % n, b"%d" % (newest // 5)) for n in range(5)}
            figures = cleaned.cleaner.figures
            assert figures.bytes_read > figures.bytes_written > 0

    asyncio.run(story())


def test_one_cleaner_goes_on_with_the_next_log_at_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated()) as cleaned:
            for topic in "abc":
                cleaned.dirty(topic)
            cleaned.cleaner.start()
            await cleaned.until(lambda: len(cleaned.checkpoint()) == 3)

    asyncio.run(story())


def test_a_cleaner_that_is_not_enabled_does_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated(), log_cleaner_enable=False) as cleaned:
            cleaned.cleaner.start()
            assert "log cleaner" not in cleaned.broker.tasks.names()

    asyncio.run(story())


def test_a_log_is_measured_again_only_when_something_may_have_changed(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated()) as cleaned:
            partition = cleaned.dirty(min_cleanable_dirty_ratio=1)
            plain = cleaned.served.lead("plain", overrides={"segment.bytes": 600})
            write(plain, rounds=12)
            broker = cleaned.broker
            candidates = Candidates(broker.directories, cleaned.upkeep, broker.clock)

            async def measured() -> list[str]:
                found = candidates.measured(lambda log: False)
                return [it.log.where.topic async for it in found]

            assert await measured() == ["t"]
            assert await measured() == []
            write(partition, rounds=1)
            assert await measured() == []
            write(partition, rounds=12)
            assert await measured() == ["t"]
            candidates.look_at([partition.log, plain.log])
            assert await measured() == ["t"]

    asyncio.run(story())


def test_a_log_that_time_makes_due_is_kept_in_mind(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated()) as cleaned:
            cleaned.dirty(min_compaction_lag_ms=10_000)
            times = [NOW_MS, NOW_MS, NOW_MS + 60_000]
            candidates = Candidates(
                cleaned.broker.directories, cleaned.upkeep, lambda: times.pop(0)
            )
            for is_due in (False, False, True):
                (found,) = [it async for it in candidates.measured(lambda log: False)]
                assert found.dirty.is_due(found.log.settings) == is_due

    asyncio.run(story())


def test_what_cannot_be_cleaned_is_marked_and_the_rest_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated()) as cleaned:
            bad, good = cleaned.dirty("bad").log, cleaned.dirty("good")
            with bad.files.disk.open(bad.segments[1].path) as file:
                file.write(70, b"\xff" * 20)
            cleaned.cleaner.start()
            figures = cleaned.cleaner.figures
            await cleaned.until(lambda: figures.cleanings == 1 and figures.uncleanable)
            await cleaned.until_idle(good)
            assert list(cleaned.checkpoint()) == [good.where]
            assert list(figures.uncleanable) == [bad.where]
            path = cleaned.broker.directories.online[0].path
            assert figures.uncleanable_by_directory([path]) == {path: 1}
            cleaned.broker.partitions.stop(bad.where, delete=True)
            await cleaned.cleaner.look()
            assert not figures.uncleanable  # It is gone, and another may be begun.

    asyncio.run(story())
    assert "bad-0 cannot be cleaned" in caplog.text


def test_a_cleaner_that_dies_is_replaced_and_its_log_is_marked(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, None, **SLOWLY) as cleaned:
            cleaned.dirty("a")
            cleaned.cleaner.start()
            await cleaned.until(children)
            (child,) = children()
            os.kill(child, signal.SIGKILL)
            await cleaned.until(lambda: cleaned.cleaner.figures.uncleanable)
            hasten(cleaned)
            cleaned.dirty("b")
            await cleaned.cleaner.look()
            await cleaned.until(lambda: cleaned.cleaner.figures.cleanings == 1)
        assert not children()

    asyncio.run(story())


def test_a_new_rate_counts_at_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, None, **SLOWLY) as cleaned:
            partition = cleaned.dirty()
            cleaned.cleaner.start()
            await cleaned.until(children)
            await cleaned.upkeep.retain()
            assert cleaned.cleaner.is_cleaning(partition.log)
            hasten(cleaned)
            cleaned.cleaner.settings_changed([])
            await cleaned.until(lambda: cleaned.cleaner.figures.cleanings)

    asyncio.run(story())


def test_retention_waits_for_the_end_of_a_cleaning(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated(), **SLOWLY) as cleaned:
            partition = cleaned.dirty(cleanup_policy="compact,delete", retention_ms=1)
            segments = list(partition.log.segments)
            cleaned.cleaner.start()
            await cleaned.until(lambda: cleaned.cleaner.is_cleaning(partition.log))
            await cleaned.upkeep.retain()
            assert partition.log.start_offset == 0 and len(partition.log.segments) >= 2
            async with asyncio.timeout(PATIENCE_S):
                await cleaned.cleaner.halt(partition.where)
            assert not cleaned.cleaner.is_cleaning(partition.log)
            assert segments[-1] in partition.log.segments

    asyncio.run(story())


def test_a_broken_disk_takes_its_directory_offline(tmp_path: Path) -> None:
    class BrokenDisk(MortalDisk):
        def open(self, path: str, *, create: bool = False, read_only: bool = False) -> File:
            if path.endswith(".cleaned"):
                raise DiskBroken(path, "it smokes")
            return super().open(path, create=create, read_only=read_only)

    async def story() -> None:
        async with cleaning(tmp_path, BrokenDisk(LooseStorage().storage)) as cleaned:
            partition = cleaned.dirty()
            cleaned.cleaner.start()
            await cleaned.until(lambda: cleaned.broker.partitions.offline == {partition.where})
            await cleaned.until_idle(partition)
            assert not cleaned.broker.directories.online

    asyncio.run(story())


def test_what_was_deleted_leaves_the_checkpoint(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated()) as cleaned:
            first, second = cleaned.dirty("a"), cleaned.dirty("b")
            cleaned.cleaner.start()
            await cleaned.until(lambda: len(cleaned.checkpoint()) == 2)
            await cleaned.until_idle(second)
            cleaned.broker.partitions.stop(first.where, delete=True)
            await cleaned.cleaner.look()
            assert list(cleaned.checkpoint()) == [second.where]

    asyncio.run(story())


def test_a_log_deleted_under_a_cleaning_and_begun_anew_is_not_touched_by_it(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated(), **SLOWLY) as cleaned:
            old = cleaned.dirty()
            cleaned.cleaner.start()
            await cleaned.until(lambda: cleaned.cleaner.is_cleaning(old.log))
            cleaned.broker.partitions.stop(WHERE, delete=True)
            again = cleaned.dirty()
            before = kept(again.log)
            await cleaned.cleaner.look()  # It sees that the log is gone.
            await cleaned.until(lambda: not cleaned.cleaner.is_cleaning(again.log))
            assert kept(again.log) == before
            hasten(cleaned)
            await cleaned.cleaner.look()
            await cleaned.until(lambda: cleaned.checkpoint().get(WHERE))
            assert set(kept(again.log).values()) < set(before.values())

    asyncio.run(story())


def test_a_checkpoint_past_the_end_is_put_right(tmp_path: Path) -> None:
    async def story() -> None:
        async with cleaning(tmp_path, simulated()) as cleaned:
            partition = cleaned.dirty(min_cleanable_dirty_ratio=1)
            cleaned.broker.directories.online[0].cleaned[WHERE] = 1_000_000
            await cleaned.cleaner.look()
            assert cleaned.checkpoint() == {WHERE: partition.log.start_offset}

    asyncio.run(story())


def hasten(cleaned: Cleaned) -> None:
    """Let the settings be without a limit of the rate."""
    configs = cleaned.served.configs
    configs.layers = Layers(configs.layers.file, {"log.cleaner.io.max.bytes.per.second": "1e300"})


def children() -> list[int]:
    """The cleaners that this process has started, and that run; others may have theirs."""
    listed = [Path(it, "children").read_text() for it in Path("/proc/self/task").iterdir()]
    found = [int(pid) for pids in listed for pid in pids.split()]
    return [pid for pid in found if b"cleaning" in Path(f"/proc/{pid}/cmdline").read_bytes()]
