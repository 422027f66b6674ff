"""`odradek up`, as a user runs it: a cluster from nothing, found, stopped, found again."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from tests.processes import free_port
from tests.waiting import wait_until

COMMAND = [sys.executable, "-m", "odradek.cli", "up"]
WITHIN_S = 60


@contextmanager
def up(directory: Path, *arguments: str) -> Iterator[dict[str, Any]]:
    """A cluster that runs as long as the block; what it says when it is ready."""
    process = subprocess.Popen(
        [*COMMAND, "--json", *arguments],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield json.loads(line) | {"pid": process.pid}
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WITHIN_S)
    assert process.returncode == 0


def refused(directory: Path, *arguments: str) -> str:
    done = subprocess.run([*COMMAND, *arguments], cwd=directory, capture_output=True, text=True)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    return done.stderr


def produce(bootstrap: str, topic: str) -> None:
    failed: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, b"v", on_delivery=lambda error, _: failed.append(error))
    producer.flush(WITHIN_S)
    assert failed == [None]


def topics(bootstrap: str) -> set[str]:
    return set(AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=WITHIN_S).topics)


def test_one_process_is_a_whole_cluster_whose_data_and_port_are_there_again(
    tmp_path: Path,
) -> None:
    port = free_port()
    with up(tmp_path, "--port", str(port)) as said:
        assert said["bootstrap"] == f"127.0.0.1:{port}"
        assert said["data"] == str(tmp_path / ".odradek")
        produce(said["bootstrap"], "orders")
        assert "another cluster runs on" in refused(tmp_path)
        taken = refused(tmp_path, "--data", "other", "--port", str(port))
        assert f"port {port} is taken" in taken
    assert "not of 3 brokers and 3 ZooKeepers" in refused(tmp_path, "--brokers", "3")
    with up(tmp_path) as said:
        assert said["bootstrap"] == f"127.0.0.1:{port}"
        assert "orders" in topics(said["bootstrap"])


def test_a_server_serves_before_anything_is_imported_that_it_does_not_need() -> None:
    program = "import sys, odradek.cli.up, odradek.cli.up_alone\n"
    program += "print(sorted({'typer', 'rich', 'click', 'pytest'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_an_ephemeral_cluster_leaves_nothing(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral", "--port", str(free_port())) as said:
        assert Path(said["data"]).is_dir()
    assert not Path(said["data"]).exists()
    assert list(tmp_path.iterdir()) == []


def test_bad_input_gets_a_sentence(tmp_path: Path) -> None:
    assert "zero is not a number from 1 to 50" in refused(tmp_path, "--brokers", "zero")
    assert "KEY=VALUE" in refused(tmp_path, "--override", "nonsense")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "photo.jpg").touch()
    assert "holds other things (photo.jpg)" in refused(tmp_path, "--data", "mine")
    said = refused(tmp_path, "--ephemeral", "--override", "log.segment.bytes=many")
    assert "log.segment.bytes" in said


def test_on_a_terminal_a_live_table_shows_every_server(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "--ephemeral", "--brokers", "1", "--zookeepers", "1"],
        cwd=tmp_path,
        stdout=follower,
        stderr=follower,
        env=os.environ | {"COLUMNS": "120", "TERM": "xterm"},
    )
    os.close(follower)
    os.set_blocking(leader, False)
    shown = bytearray()

    def has_shown_all() -> bool:
        with suppress(BlockingIOError):
            shown.extend(os.read(leader, 65536))
        return all(word in shown for word in (b"zookeeper-1", b"controller", b"MiB", b"whole"))

    try:
        wait_until(has_shown_all, WITHIN_S)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(WITHIN_S)
        os.close(leader)
    assert process.returncode == 0
