"""Clusters of brokers in processes of their own, of one kind or of two, and what happens to them.

with running_cluster(tmp_path, connect_string, [RunningBroker] * 3) as cluster:
    cluster.create("t", 6)
    cluster[cluster.leader("t")].kill()

What brokers agreed on is read where they agree on it: in ZooKeeper.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.processes import ServerProcess
from tests.waiting import wait_until

PATIENCE_S = 180  # Where many processes share few cores, one alone may take its time.
ASK_S = 20
QUICK: dict[str, object] = {
    "zookeeper.session.timeout.ms": 6000,
    "zookeeper.connection.timeout.ms": 30_000,
    "replica.lag.time.max.ms": 6000,
    "replica.fetch.backoff.ms": 200,
    "controlled.shutdown.retry.backoff.ms": 500,
    "controller.socket.timeout.ms": 5000,
    "offsets.topic.replication.factor": 3,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
    "transaction.state.log.num.partitions": 1,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
}
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
Kind = Callable[[Path, Mapping[str, object]], ServerProcess]


class Cluster:
    """Brokers 1, 2, 3 …, each of the kind that is given for it."""

    def __init__(
        self,
        directory: Path,
        connect_string: str,
        kinds: Sequence[Kind],
        settings: Mapping[str, object],
    ) -> None:
        self._directory = directory
        self._settings = {**QUICK, "zookeeper.connect": connect_string, **settings}
        self.brokers = {id_: self._made(id_, kind) for id_, kind in enumerate(kinds, 1)}
        self.connect_string = connect_string
        self.zookeeper = KazooClient(connect_string, timeout=10)
        self.admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        self.down: set[int] = set()

    def _made(self, id_: int, kind: Kind) -> ServerProcess:
        return kind(self._directory / f"broker-{id_}", {**self._settings, "broker.id": id_})

    def __getitem__(self, id_: int) -> ServerProcess:
        return self.brokers[id_]

    @property
    def ids(self) -> list[int]:
        return list(self.brokers)

    @property
    def address(self) -> str:
        return ",".join(it.address for it in self.brokers.values())

    # What is agreed on

    def node(self, path: str) -> dict[str, Any] | None:
        try:
            data: dict[str, Any] = json.loads(self.zookeeper.get(path)[0])
        except NoNodeError:
            return None
        return data

    @property
    def controller(self) -> int:
        """Who controls the cluster; -1 if nobody does."""
        found = self.node("/controller")
        return -1 if found is None else int(found["brokerid"])

    @property
    def registered(self) -> set[int]:
        return set(map(int, self.zookeeper.get_children("/brokers/ids")))

    def replicas(self, topic: str) -> dict[int, list[int]]:
        found = self.node(f"/brokers/topics/{topic}")
        assert found is not None, f"there is no topic {topic}"
        return {int(index): ids for index, ids in found["partitions"].items()}

    def topics(self) -> list[str]:
        return sorted(self.zookeeper.get_children("/brokers/topics"))

    def state(self, topic: str, partition: int = 0) -> dict[str, Any]:
        path = f"/brokers/topics/{topic}/partitions/{partition}/state"
        return self.node(path) or {"leader": -1, "isr": []}

    def leader(self, topic: str, partition: int = 0) -> int:
        return int(self.state(topic, partition)["leader"])

    def states(self) -> Iterator[tuple[str, int, list[int], dict[str, Any]]]:
        """Every partition: topic, number, its replicas, and what is agreed on it."""
        for topic in self.topics():
            for partition, replicas in self.replicas(topic).items():
                yield topic, partition, replicas, self.state(topic, partition)

    def is_whole(self) -> bool:
        """Whether every replica that lives is in sync, none that is dead leads, and all follow."""
        if self.registered != set(self.ids) - self.down or self.controller not in self.registered:
            return False
        return all(
            state["leader"] in self.registered and set(state["isr"]) == set(replicas) - self.down
            for _, _, replicas, state in self.states()
        )

    def until_whole(self) -> None:
        try:
            wait_until(self.is_whole, PATIENCE_S)
        except AssertionError:
            raise AssertionError(f"not whole without {self.down}: {list(self.states())}") from None

    # What is done to it

    def create(self, topic: str, partitions: int, replicas: int = 3, **config: str) -> str:
        wait_until(lambda: answers(self), PATIENCE_S)
        keys = {key.replace("_", "."): value for key, value in config.items()}
        new = NewTopic(topic, partitions, replicas, config={"min.insync.replicas": "2", **keys})
        self.ask(lambda: self.admin.create_topics([new])[topic])
        return topic

    def create_at(self, topic: str, *replicas: list[int]) -> str:
        """Make a topic whose partitions are where it is said; the first of each leads."""
        new = NewTopic(topic, len(replicas), replica_assignment=list(replicas))
        self.ask(lambda: self.admin.create_topics([new])[topic])
        return topic

    def add_partitions(self, topic: str, count: int) -> None:
        self.ask(lambda: self.admin.create_partitions([NewPartitions(topic, count)])[topic])

    def delete(self, topic: str) -> None:
        self.ask(lambda: self.admin.delete_topics([topic])[topic])

    def ask(self, question: Callable[[], Future[Any]]) -> None:
        """Ask the controller; if it has just become another one, that one."""

        def is_answered() -> bool:
            try:
                question().result(ASK_S)
            except KafkaException as refusal:
                if refusal.args[0].code() != KafkaError.NOT_CONTROLLER:
                    raise
                self.admin.list_topics(timeout=ASK_S)
                return False
            return True

        wait_until(is_answered, PATIENCE_S)

    def end(self, id_: int, by: Callable[[ServerProcess], None] = ServerProcess.kill) -> None:
        """Let a broker end, and the others notice."""
        self.down.add(id_)
        by(self[id_])
        wait_until(lambda: id_ not in self.registered, PATIENCE_S)
        self.until_whole()

    def start(self, id_: int) -> None:
        self[id_].spawn()
        wait_until(self[id_].is_ready, PATIENCE_S)
        self.down.discard(id_)
        self.until_whole()

    def join(self, kind: Kind) -> int:
        """Let another broker join; its id."""
        id_ = max(self.ids) + 1
        self.brokers[id_] = self._made(id_, kind)
        self.start(id_)
        return id_

    def leave(self, id_: int) -> None:
        """Have a broker stop for good; it must not have any replicas."""
        self.end(id_, ServerProcess.stop)
        del self.brokers[id_]
        self.down.discard(id_)

    def elect_controller(self, wanted: Callable[[int], bool]) -> int:
        """Have the controller removed until it is one that is wanted."""
        while not wanted(id_ := self.until_controlled()):
            try:
                self.zookeeper.delete("/controller")
            except NoNodeError:
                continue
            wait_until(lambda: self.controller != -1, PATIENCE_S)
        return id_

    def stop(self) -> None:
        """Let all brokers end, at once: they need not wait for each other's leaderships."""
        with ExitStack() as stack:
            for broker in self.brokers.values():
                stack.callback(broker.kill)

    def until_controlled(self) -> int:
        wait_until(lambda: self.controller in self.registered, PATIENCE_S)
        return self.controller


def pause(broker: ServerProcess) -> None:
    os.kill(broker.pid, signal.SIGSTOP)


def resume(broker: ServerProcess) -> None:
    os.kill(broker.pid, signal.SIGCONT)


def answers(cluster: Cluster) -> bool:
    """Whether a client finds all brokers that live."""
    living = set(cluster.ids) - cluster.down
    try:
        return set(cluster.admin.list_topics(timeout=2).brokers) == living
    except KafkaException:
        return False


@contextmanager
def running_cluster(
    directory: Path, connect_string: str, kinds: Sequence[Kind], /, **settings: object
) -> Iterator[Cluster]:
    """A cluster that runs, and is whole, as long as the block."""
    cluster = Cluster(directory, connect_string, kinds, settings)
    with ExitStack() as stack:
        stack.callback(cluster.stop)
        for broker in cluster.brokers.values():
            broker.spawn()
        wait_until(lambda: all(it.is_ready() for it in cluster.brokers.values()), PATIENCE_S)
        cluster.zookeeper.start(ASK_S)
        stack.callback(cluster.zookeeper.close)
        stack.callback(cluster.zookeeper.stop)
        wait_until(lambda: answers(cluster), PATIENCE_S)
        yield cluster
