"""An exactly-once copy whose driver and executors are killed: inputs and outputs stay equal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from pyspark import __version__ as spark_version
from pyspark.sql import SparkSession

from tests.kafka.client.topics import Topics
from tests.spark.test_sink import numbered, read
from tests.waiting import wait_until

RECORDS = 600  # Of each partition: twenty batches.
ROUNDS = 3
PATIENCE_S = 120


class Copy:
    """The program, in a group of processes of its own."""

    def __init__(self, topics: Topics, one: str, other: str, checkpoint: Path) -> None:
        command = [sys.executable, "-m", "tests.spark.copying", topics.bootstrap_servers, one]
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
        self.checkpoint = checkpoint
        self.process = subprocess.Popen(
            [*command, other, str(checkpoint)],
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def batches(self) -> int:
        """How many batches Spark has planned so far."""
        return len(list((self.checkpoint / "offsets").glob("[0-9]*")))

    def await_batch(self, number: int) -> None:
        wait_until(lambda: self.is_over() or self.batches() >= number, PATIENCE_S)

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        """End the driver, its JVM and its workers as a power cut would."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_workers(self) -> None:
        """End the Python processes that tasks run in; Spark tries their tasks again."""
        for pid in members(self.process.pid):
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


@pytest.mark.skipif(spark_version < "4.2", reason="the source reads in batches from 4.2 on")
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found in /proc")
def test_a_copy_is_equal_though_its_processes_are_killed(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    random = Random(7)
    one, other = topics.create(partitions=2), topics.create(partitions=2)
    for partition in (0, 1):
        topics.append(one, partition, numbered(0, RECORDS))
    checkpoint = tmp_path / "checkpoint"
    for number in range(ROUNDS):
        copy = Copy(topics, one, other, checkpoint)
        try:
            copy.await_batch(copy.batches() + random.randint(1, 3))
            copy.kill_workers()
            copy.await_batch(copy.batches() + 1)
        finally:
            copy.kill()
        assert not (number == 0 and copy.batches() * 60 >= 2 * RECORDS), "it was never killed"
    last = Copy(topics, one, other, checkpoint)
    try:
        assert last.process.wait(PATIENCE_S) == 0
    finally:
        last.kill()
    rows = read(spark, topics, other, kafka_isolation_level="read_committed")
    found = [(row.partition, int(row.value)) for row in rows]
    assert found == [(partition, n) for partition in (0, 1) for n in range(RECORDS)]
