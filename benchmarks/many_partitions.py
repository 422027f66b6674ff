"""A broker with ten thousand partitions: making them, and starting with them, ours and Apache's.

Our broker makes the topics once. Then it is stopped and started, killed and started; with
`--generators DIR` (or the variable ODRADEK_BENCH) Apache's broker does the same on the same
directory and the same ZooKeeper, which is ours. A broker has started when it answers for the end
of every partition.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from time import perf_counter, sleep

from benchmarks.zookeeper_server import environment
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.connection import ClientConnection
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.kafka.wire.records import Record
from odradek.kafka.wire.schema import Message

HOST = "127.0.0.1"
ODRADEK = [sys.executable, "-m", "odradek.cli"]
SESSION_S = 3
TIMEOUT_MS = 600_000
PAUSE_S = 0.02
MEBIBYTE = 1 << 20
# What a broker answers that has just been started, and does not know itself yet.
EARLY = {ErrorCode.NOT_CONTROLLER, ErrorCode.INVALID_REPLICATION_FACTOR}


class Client:
    """One connection, one question at a time."""

    def __init__(self, port: int) -> None:
        self._wire = ClientConnection("bench")
        self._socket = socket.create_connection((HOST, port), 600)

    def ask(self, message: Message, version: int) -> Message:
        self._wire.send(message, version)
        self._socket.sendall(b"".join(self._wire.take_output()))
        while True:
            data = self._socket.recv(1 << 20)
            if not data:
                raise ConnectionError("the broker has ended the connection")
            for answer in self._wire.receive(data):
                return answer.message

    def close(self) -> None:
        self._socket.close()


class Topics:
    """What is made and asked for."""

    def __init__(self, partitions: int, topics: int) -> None:
        self.names = [f"bench-{number}" for number in range(topics)]
        self.indexes = range(partitions // topics)

    def create(self, client: Client) -> None:
        topics = [
            CreatableTopic(
                name=name,
                num_partitions=len(self.indexes),
                replication_factor=1,
                assignments=[],
                configs=[],
            )
            for name in self.names
        ]
        request = CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
        while True:
            answer = client.ask(request, 5)
            assert isinstance(answer, CreateTopicsResponse)
            codes = {it.error_code for it in answer.topics}
            if not codes <= EARLY:
                assert codes == {ErrorCode.NONE}, answer.topics
                return
            sleep(PAUSE_S)

    def delete(self, client: Client, name: str) -> None:
        answer = client.ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=TIMEOUT_MS), 5)
        assert isinstance(answer, DeleteTopicsResponse)
        assert not answer.responses[0].error_code

    def fill(self, client: Client) -> None:
        """One record in every partition."""
        batch = bytes(write_batch([Record(0, 1_700_000_000_000, b"k", b"v" * 100)]))
        data = [PartitionProduceData(index=index, records=batch) for index in self.indexes]
        for name in self.names:
            topic = TopicProduceData(name=name, partition_data=data)
            request = ProduceRequest(acks=1, timeout_ms=TIMEOUT_MS, topic_data=[topic])
            assert isinstance(client.ask(request, 9), ProduceResponse)

    def are_led(self, client: Client) -> bool:
        """Whether the broker answers for all."""
        asked = [ListOffsetsPartition(partition_index=it, timestamp=-1) for it in self.indexes]
        for name in self.names:
            topic = ListOffsetsTopic(name=name, partitions=asked)
            answer = client.ask(ListOffsetsRequest(replica_id=-1, topics=[topic]), 5)
            assert isinstance(answer, ListOffsetsResponse)
            if any(it.error_code for it in answer.topics[0].partitions):
                return False
        return True


class Servers:
    """All processes of a run; those that are left at its end are killed."""

    def __init__(self, cache: str) -> None:
        self._environment = environment(cache)
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, command: list[str], port: int, log: Path) -> Server:
        with log.open("ab") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, env=self._environment)
        self._started.append(process)
        return Server(process, port)

    def kill(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.wait()


class Server:
    """A process, and what it costs."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.port = port
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def connected(self) -> Client:
        while True:
            assert self._process.poll() is None, "the server has died; see its log"
            with suppress(OSError):
                return Client(self.port)
            sleep(PAUSE_S)

    def until_led(self, topics: Topics) -> float:
        """Seconds until all partitions are answered for."""
        begun = perf_counter()
        while True:
            client = self.connected()
            with suppress(OSError):
                while not topics.are_led(client):
                    sleep(PAUSE_S)
                client.close()
                return perf_counter() - begun

    def resident_mib(self) -> float:
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def end(self, number: int) -> float:
        begun = perf_counter()
        self._process.send_signal(number)
        self._process.wait(600)
        return perf_counter() - begun


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def start_zookeeper(servers: Servers, directory: Path) -> int:
    port, file = free_port(), directory / "zoo.cfg"
    settings = f"dataDir={directory}/zookeeper\nclientPort={port}\ntickTime=1000\n"
    file.write_text(f"{settings}clientPortAddress={HOST}\nadmin.enableServer=false\n")
    server = servers.start([*ODRADEK, "zookeeper", str(file)], port, directory / "zookeeper.log")
    server.connected().close()
    return port


def properties(directory: Path, port: int, zookeeper_port: int) -> Path:
    file = directory / "server.properties"
    lines = {
        "broker.id": 1,
        "listeners": f"PLAINTEXT://{HOST}:{port}",
        "log.dirs": directory / "data",
        "zookeeper.connect": f"{HOST}:{zookeeper_port}",
        "zookeeper.session.timeout.ms": SESSION_S * 1000,
        "offsets.topic.replication.factor": 1,
        "delete.topic.enable": "true",
    }
    file.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    return file


def make(server: Server, topics: Topics, *, has_records: bool) -> None:
    client = server.connected()
    topics.are_led(client)  # It has warmed up, and knows that there are none.
    before, begun = server.resident_mib(), perf_counter()
    topics.create(client)
    while not topics.are_led(client):
        sleep(PAUSE_S)
    count = len(topics.names) * len(topics.indexes)
    spent, growth = perf_counter() - begun, server.resident_mib() - before
    print(f"{count} partitions made in {spent:.2f} s, {spent / count * 1e3:.2f} ms each")
    print(f"  {growth * MEBIBYTE / count:.0f} bytes each, {server.open_files()} open files")
    if has_records:
        begun = perf_counter()
        topics.fill(client)
        print(f"  a record in each: {perf_counter() - begun:.2f} s")
    client.close()


def restart(
    name: str, servers: Servers, command: list[str], port: int, topics: Topics, log: Path
) -> None:
    """Clean stop and start, kill and start; the last stop is clean."""
    server = servers.start(command, port, log)
    server.until_led(topics)
    for how, number in (("a clean stop", signal.SIGTERM), ("a kill", signal.SIGKILL)):
        spent = server.end(number)
        sleep(SESSION_S + 2)  # Its session must be over.
        server = servers.start(command, port, log)
        seconds = server.until_led(topics)
        print(
            f"{name}: {how} took {spent:.2f} s; after it all are led in {seconds:.2f} s, "
            f"{server.resident_mib():.0f} MiB, {server.open_files()} open files",
            flush=True,
        )
    server.end(signal.SIGTERM)
    sleep(SESSION_S + 2)


def is_there(directory: Path, topic: str) -> Iterator[bool]:
    """For each directory of a topic's partitions, whether it still has its own name."""
    return (not it.name.endswith("-delete") for it in directory.glob(f"{topic}-*"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--generators", default=os.environ.get("ODRADEK_BENCH"), type=Path)
    options.add_argument("--partitions", type=int, default=10_000)
    options.add_argument("--topics", type=int, default=10)
    options.add_argument("--records", action="store_true", help="one in every partition")
    options.add_argument("--directory", help="where files go; by default a temporary one")
    given = options.parse_args()
    topics = Topics(given.partitions, given.topics)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # Nothing is left behind.
    with ExitStack() as stack:
        path = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=given.directory)))
        servers = Servers(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.callback(servers.kill)
        port = free_port()
        file = properties(path, port, start_zookeeper(servers, path))
        ours, log = [*ODRADEK, "broker", str(file)], path / "broker.log"
        server = servers.start(ours, port, log)
        make(server, topics, has_records=given.records)
        server.end(signal.SIGTERM)
        sleep(SESSION_S + 2)
        restart("Odradek", servers, ours, port, topics, log)
        if given.generators is not None:
            theirs = [str(given.generators / "lib" / "apache-kafka"), str(file)]
            restart("Apache", servers, theirs, port, topics, path / "apache.log")
        server = servers.start(ours, port, log)
        client = server.connected()
        server.until_led(topics)
        begun = perf_counter()
        topics.delete(client, topics.names[0])
        answered = perf_counter() - begun
        while any(is_there(path / "data", topics.names[0])):
            sleep(PAUSE_S)
        spent = perf_counter() - begun
        count = len(topics.indexes)
        print(f"a topic of {count} deleted: answered in {answered:.2f} s, done in {spent:.2f} s")
        server.end(signal.SIGTERM)


if __name__ == "__main__":
    main()
