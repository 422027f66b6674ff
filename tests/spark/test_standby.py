"""Planners of streams are forked from a process that has imported all they need."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import odradek
from odradek.spark import standby_call
from odradek.spark.standby_call import NAME
from tests.kafka.client.topics import Topics
from tests.spark.test_spark import numbered, run_stream, written
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="nothing stands by here")

PROBE = """
import json, os, sys
if __name__ == "__main__":
    told = {"pid": os.getpid(), "parent": os.getppid(), "directory": os.getcwd()}
    print(json.dumps({**told, "mark": os.environ["MARK"], "name": sys.argv[0]}), flush=True)
    print("also here", file=sys.stderr, flush=True)
    sys.stdin.read()
"""
CALL = [sys.executable, "-I", "-S", standby_call.__file__, sys.executable, "-m", "probe"]
# Starts the rest of its arguments, as a JVM would, and waits.
PARENT = [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])"]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """What the session has for itself."""
    directory = tmp_path / "local"
    directory.mkdir()
    return directory


@pytest.fixture
def start(tmp_path: Path, place: Path) -> Iterator[Start]:
    """Starts the probe as Spark would start a planner."""
    (tmp_path / "probe.py").write_text(PROBE)
    path = os.pathsep.join([str(tmp_path), str(Path(odradek.__path__[0]).parent)])
    own = {"SPARK_LOCAL_DIRS": f"{place},/elsewhere", "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    begun: list[subprocess.Popen[str]] = []

    def begin(
        mark: str, directory: Path = tmp_path, by: Sequence[str] = (), **more: str
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*by, *CALL],
            env={**os.environ, **own, "MARK": mark, **more},
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()
    shutil.rmtree(place, ignore_errors=True)


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    said: dict[str, Any] = json.loads(process.stdout.readline())
    return said


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_the_first_is_a_process_like_any_other(start: Start, tmp_path: Path) -> None:
    process = start("one")
    said = told(process)
    assert (said["pid"], said["parent"]) == (process.pid, os.getpid())
    assert (said["mark"], said["name"]) == ("one", str(tmp_path / "probe.py"))
    _, errors = process.communicate()
    assert (errors, process.returncode) == ("also here\n", 0)


def test_later_ones_are_forks_with_the_callers_environment_directory_and_files(
    start: Start, place: Path, tmp_path: Path
) -> None:
    first = told(start("one"))
    second = start("two", directory=place, ONLY_THEN="1")
    said = told(second)
    assert said["parent"] not in (os.getpid(), first["pid"], second.pid)
    assert (said["mark"], said["directory"]) == ("two", str(place))
    assert said["name"] == str(tmp_path / "probe.py")
    _, errors = second.communicate()  # The fork reads to the end of its own input, and ends.
    assert (errors, second.returncode) == ("also here\n", 0)
    assert told(start("three"))["parent"] == said["parent"]


def test_the_socket_is_for_this_user_alone(start: Start, place: Path) -> None:
    told(start("one"))
    assert (place / NAME).stat().st_mode & 0o077 == 0


def test_who_would_find_other_modules_is_started_anew(start: Start, tmp_path: Path) -> None:
    told(start("one"))
    path = os.pathsep.join([str(tmp_path), str(tmp_path / "more"), *sys.path])
    other = start("two", PYTHONPATH=path)
    assert told(other)["pid"] == other.pid


def test_without_a_directory_of_the_session_each_is_started_anew(start: Start) -> None:
    for _ in range(2):
        process = start("one", SPARK_LOCAL_DIRS="/nowhere/at/all")
        assert told(process)["pid"] == process.pid


def test_a_fork_ends_with_its_caller(start: Start) -> None:
    told(start("one"))
    second = start("two")
    fork = told(second)["pid"]
    second.send_signal(signal.SIGTERM)  # So Spark ends what it takes for the planner.
    wait_until(lambda: not is_running(fork))


def test_what_stands_by_outlives_the_first_and_ends_with_the_sessions_directory(
    start: Start, place: Path
) -> None:
    first = start("one")
    told(first)
    first.kill()
    first.wait()
    standing_by = told(start("two"))["parent"]
    assert is_running(standing_by)
    shutil.rmtree(place)
    wait_until(lambda: not is_running(standing_by))


def test_it_ends_with_whoever_started_the_first(start: Start) -> None:
    parent = start("one", by=PARENT)
    told(parent)
    standing_by = told(start("two"))["parent"]
    parent.kill()
    wait_until(lambda: not is_running(standing_by))


def test_a_call_that_makes_no_sense_leaves_it_standing(start: Start, place: Path) -> None:
    told(start("one"))
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(place / NAME))
        caller.sendall(b"\0\0\0\3abc")
        assert caller.recv(1) == b""
    process = start("two")
    assert told(process)["pid"] != process.pid


def test_streams_of_a_session_are_planned_by_forks(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topic = topics.create(partitions=1)
    topics.append(topic, 0, numbered(0, 5))
    for name in ("one", "two"):
        run_stream(spark, topics, topic, tmp_path / name, startingOffsets="earliest")
        assert written(spark, tmp_path / name) == [(0, n) for n in range(5)]

    def where(_: object) -> list[str]:
        return os.environ["SPARK_LOCAL_DIRS"].split(",")

    first, *_ = spark.sparkContext.parallelize([1], 1).mapPartitions(where).collect()
    assert (Path(first) / NAME).is_socket()
