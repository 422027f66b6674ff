"""An exactly-once copy whose driver, workers and broker are killed: both topics stay equal.

KILL_ROUNDS=50 makes it a long story; SEED draws another one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from time import time

import pytest
from pyspark.sql import SparkSession

from tests.kafka.client.brokers import topics_of
from tests.kafka.client.topics import Topics
from tests.kafka.server.running import RunningBroker, running_broker
from tests.spark.copying import ROWS_A_BATCH
from tests.spark.test_sink import numbered, read
from tests.spark.versions import if_sources_are_asked
from tests.waiting import wait_until

ROUNDS = int(os.environ.get("KILL_ROUNDS", "2"))
SEED = int(os.environ.get("SEED", "7"))
FED = 3 * ROWS_A_BATCH  # To each of two partitions before each round: six batches.
PATIENCE_S = 600
TOLD_MAX = 5_000


class Copy:
    """The program, in a group of processes of its own."""

    def __init__(self, arguments: list[str], checkpoint: Path) -> None:
        self._arguments = arguments
        self._checkpoint = checkpoint
        self._log = checkpoint.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def ensure(self, trigger: str = "ever") -> subprocess.Popen[bytes]:
        """Start it if it does not run."""
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "tests.spark.copying", *self._arguments, trigger]
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=log
                )
            self.starts += 1
        return self._process

    def batches(self) -> int:
        """How many batches Spark has planned so far."""
        numbers = [int(file.name) for file in (self._checkpoint / "offsets").glob("[0-9]*")]
        return max(numbers, default=-1) + 1  # Spark removes old ones.

    def await_batches(self, count: int) -> None:
        """Let it plan so many more; whoever finds it dead starts it again, as an operator would."""
        wanted = self.batches() + count

        def is_there() -> bool:
            self.ensure()
            return self.batches() >= wanted

        try:
            wait_until(is_there, PATIENCE_S)
        except AssertionError as error:
            error.add_note(self.account())
            raise

    def account(self) -> str:
        """What there is to say of a copy that does not get on: does it hang, or end each time?"""
        silent_s = time() - self._log.stat().st_mtime
        told = self._log.read_text(errors="replace")[-TOLD_MAX:]
        return f"start {self.starts}, silent for {silent_s:.0f} s after:\n{told}"

    def kill(self) -> None:
        """End the driver, its JVM and its workers as a power cut would."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def kill_workers(self) -> None:
        """End the Python processes that tasks run in; Spark tries their tasks again."""
        for pid in members(self.ensure().pid):
            with suppress(OSError):
                if b"pyspark.daemon" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)


def members(session: int) -> list[int]:
    """The processes of a session."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            if os.getsid(int(directory.name)) == session:
                found.append(int(directory.name))
    return found


@contextmanager
def copying(topics: Topics, one: str, other: str, checkpoint: Path) -> Iterator[Copy]:
    copy = Copy([topics.bootstrap_servers, one, other, str(checkpoint)], checkpoint)
    try:
        yield copy
    finally:
        copy.kill()


def do_harm(what: str, copy: Copy, broker: RunningBroker) -> None:
    match what:
        case "driver":
            copy.kill()
        case "workers":
            copy.kill_workers()
        case "broker is restarted":
            broker.stop()
            broker.start()
        case "broker crashes":
            broker.kill()
            broker.start()


HARMS = ("driver", "workers", "broker is restarted", "broker crashes")


@if_sources_are_asked
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found in /proc")
def test_a_copy_is_equal_though_its_processes_are_killed(
    spark: SparkSession, tmp_path: Path
) -> None:
    random = Random(SEED)
    # The first round of each kind in turn, then as they come.
    harms = [*HARMS, *(random.choice(HARMS) for _ in range(ROUNDS))][:ROUNDS]
    with running_broker(tmp_path / "broker") as broker, topics_of(broker.address) as topics:
        one, other = topics.create(partitions=2), topics.create(partitions=2)
        with copying(topics, one, other, tmp_path / "checkpoint") as copy:
            for number, harm in enumerate(harms):
                for partition in (0, 1):
                    topics.append(one, partition, numbered(number * FED, (number + 1) * FED))
                copy.await_batches(random.randint(1, 3))
                do_harm(harm, copy, broker)
                print(f"round {number + 1}: {harm}, after {copy.batches()} batches", flush=True)
            copy.kill()
            assert copy.ensure("now").wait(PATIENCE_S) == 0
        rows = read(spark, topics, other, kafka_isolation_level="read_committed")
    found = [(row.partition, int(row.value)) for row in rows]
    assert found == [(partition, n) for partition in (0, 1) for n in range(ROUNDS * FED)]
    assert copy.starts > harms.count("driver")
