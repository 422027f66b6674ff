"""Three brokers in processes of their own: the leader is killed, nothing acknowledged is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, NewTopic

from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until
from tests.zookeeper.server.running import running_server

WAIT_S = 20
COUNT = 3000
SETTINGS: dict[str, object] = {
    "zookeeper.session.timeout.ms": 2000,
    "replica.lag.time.max.ms": 3000,
    "replica.fetch.backoff.ms": 200,
    "controlled.shutdown.retry.backoff.ms": 500,
}


@contextmanager
def running_cluster(directory: Path) -> Iterator[dict[int, RunningBroker]]:
    with ExitStack() as stack:
        server = stack.enter_context(running_server(directory / "zookeeper", tickTime=500))
        connect = {"zookeeper.connect": f"{server.address}/kafka"}
        brokers = {
            broker_id: RunningBroker(
                directory / f"broker-{broker_id}", {**SETTINGS, **connect, "broker.id": broker_id}
            )
            for broker_id in (1, 2, 3)
        }
        for broker in brokers.values():
            stack.callback(broker.stop)
            broker.spawn()
        wait_until(lambda: all(broker.is_ready() for broker in brokers.values()))
        yield brokers


def addresses(brokers: dict[int, RunningBroker]) -> str:
    return ",".join(broker.address for broker in brokers.values())


def create(brokers: dict[int, RunningBroker], topic: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": addresses(brokers)})
    wait_until(lambda: len(admin.list_topics(timeout=WAIT_S).brokers) == len(brokers))
    new = NewTopic(topic, 1, replication_factor=3, config={"min.insync.replicas": "2"})
    admin.create_topics([new])[topic].result(WAIT_S)
    return admin


def leader_of(admin: AdminClient, topic: str) -> int:
    leader: int = admin.list_topics(topic, timeout=WAIT_S).topics[topic].partitions[0].leader
    return leader


def read_all(brokers: dict[int, RunningBroker], topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": addresses(brokers), "group.id": "none"})
    consumer.assign([Place(topic, 0, OFFSET_BEGINNING)])
    values: list[bytes | None] = []
    while len(values) < count:
        messages = consumer.consume(count - len(values), WAIT_S)
        assert messages, f"only {len(values)} of {count} came"
        values += [message.value() for message in messages if message.error() is None]
    values += [message.value() for message in consumer.consume(1, 0.5)]
    consumer.close()
    return values


def test_after_the_leader_is_killed_every_acknowledged_record_is_there_once_in_order(
    tmp_path: Path,
) -> None:
    acked: list[bytes | None] = []
    failed: list[KafkaError] = []

    def answered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            acked.append(message.value())
        else:
            failed.append(error)

    with running_cluster(tmp_path) as brokers:
        admin = create(brokers, "t")
        producer = Producer(
            {
                "bootstrap.servers": addresses(brokers),
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 1,
                "retry.backoff.ms": 50,
                "reconnect.backoff.max.ms": 300,
            }
        )
        killed = 0
        for number in range(COUNT):
            producer.produce("t", b"%d" % number, partition=0, on_delivery=answered)
            if number % 10 == 0:
                producer.poll(0)
            if number == COUNT // 3:
                wait_until(lambda: producer.poll(0) >= 0 and len(acked) > COUNT // 6)
                brokers[killed := leader_of(admin, "t")].kill()
        assert producer.flush(WAIT_S) == 0
        assert not failed
        wanted = [b"%d" % number for number in range(COUNT)]
        assert acked == wanted
        assert read_all(brokers, "t", COUNT) == wanted
        assert leader_of(admin, "t") != killed
        brokers[killed].start()
        wait_until(lambda: in_sync(admin, "t") == 3)


def in_sync(admin: AdminClient, topic: str) -> int:
    return len(admin.list_topics(topic, timeout=WAIT_S).topics[topic].partitions[0].isrs)
