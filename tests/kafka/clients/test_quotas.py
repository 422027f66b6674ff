"""Quotas as librdkafka feels them: held back, told so, and let go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from urllib.request import urlopen

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    ThrottleEvent,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from odradek.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
)
from tests.kafka.server.running import RunningBroker, running_broker
from tests.kafka.server.transcript import Transcript
from tests.processes import HOST
from tests.waiting import wait_until

WAIT_S = 20
VALUE = bytes(50_000)
COUNT = 92
WINDOWS = 3  # What two of them let through may come at once.
BYTES_A_SECOND = 2_000_000
HELD_BACK_S = 0.3
Named = Callable[[], str]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    path = tmp_path_factory.mktemp("limited")
    with running_broker(path, **{"quota.window.num": WINDOWS}) as running:
        yield running


@pytest.fixture
def topic(broker: RunningBroker, name: Named) -> str:
    found, admin = name(), AdminClient({"bootstrap.servers": broker.address})
    new = NewTopic(found, num_partitions=1, replication_factor=1)
    admin.create_topics([new])[found].result(WAIT_S)
    return found


def limit(broker: RunningBroker, client_id: str | None, key: str, value: float | None) -> None:
    """Set one quota of a client id, or with None take it away."""
    entry = AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type="client-id", entity_name=client_id)],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None)],
    )
    message = AlterClientQuotasRequest(entries=[entry], validate_only=False)
    with Transcript(broker.port) as connection:
        answer = connection.ask_silently(message, 1, AlterClientQuotasResponse)
    assert [it.error_code for it in answer.entries] == [0]


class Client:
    """A client id, and how it was throttled."""

    def __init__(self, broker: RunningBroker, client_id: str) -> None:
        self.pauses_s: list[float] = []
        self._common = {
            "bootstrap.servers": broker.address,
            "client.id": client_id,
            "throttle_cb": self._throttled,
        }

    def _throttled(self, event: ThrottleEvent) -> None:
        if event.throttle_time > 0:
            self.pauses_s.append(event.throttle_time)

    def produce(self, topic: str, count: int = COUNT) -> float:
        """Send so many; return how long it took until all were answered."""
        producer = Producer({**self._common, "batch.size": 200_000, "linger.ms": 5})

        def answered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                raise KafkaException(error)

        begun_s = monotonic()
        for _ in range(count):
            producer.produce(topic, VALUE, partition=0, on_delivery=answered)
            producer.poll(0)
        assert producer.flush(WAIT_S) == 0
        producer.poll(0)
        return monotonic() - begun_s

    def consume(self, topic: str, count: int = COUNT) -> float:
        settings = {"group.id": topic, "fetch.message.max.bytes": 400_000}
        consumer = Consumer({**self._common, **settings})
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        begun_s, got = monotonic(), 0
        while got < count:
            message = consumer.poll(WAIT_S)
            assert message is not None, f"only {got} of {count} came"
            if message.error():
                raise KafkaException(message.error())
            got += 1
        took_s = monotonic() - begun_s
        consumer.close()
        return took_s


def test_a_producer_is_held_back_until_its_quota_is_taken_away(
    broker: RunningBroker, topic: str, name: Named
) -> None:
    client_id = name()
    limit(broker, client_id, "producer_byte_rate", BYTES_A_SECOND)
    limited = Client(broker, client_id)
    took_s = 0.0

    def is_held_back() -> bool:
        """Where the disk is slow, once may not be too much: the machine itself holds it back."""
        nonlocal took_s
        took_s = limited.produce(topic)
        return bool(limited.pauses_s)

    wait_until(is_held_back)
    # It may not be the last request that is over, so some of the time is spent by a later one.
    took_s += limited.produce(topic, 8)
    assert took_s >= HELD_BACK_S
    with urlopen(f"http://{HOST}:{broker.http_port}/metrics") as page:
        assert f'kafka_server_produce_byte_rate{{client_id="{client_id}"' in page.read().decode()
    limit(broker, client_id, "producer_byte_rate", None)

    def is_free() -> bool:
        again = Client(broker, client_id)
        again.produce(topic)
        return not again.pauses_s

    wait_until(is_free)


def test_a_consumer_is_held_back_until_its_quota_is_raised(
    broker: RunningBroker, topic: str, name: Named
) -> None:
    Client(broker, name()).produce(topic)
    client_id = name()
    limit(broker, client_id, "consumer_byte_rate", BYTES_A_SECOND)
    limited = Client(broker, client_id)
    took_s = limited.consume(topic)
    assert limited.pauses_s and took_s >= HELD_BACK_S
    limit(broker, client_id, "consumer_byte_rate", 1e12)

    def is_free() -> bool:
        again = Client(broker, client_id)
        again.consume(topic)
        return not again.pauses_s

    wait_until(is_free)


def test_whoever_has_no_quota_is_never_held_back(
    broker: RunningBroker, topic: str, name: Named
) -> None:
    limit(broker, name(), "producer_byte_rate", 1)
    free = Client(broker, name())
    free.produce(topic)
    free.consume(topic)
    assert not free.pauses_s
