"""Topics for tests: made with a name of their own, taken away at the end."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from os import getpid

from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, ConnectionLost, NoBroker, TopicPartition
from odradek.kafka.client.settings import client_settings
from odradek.kafka.client.topic_admin import create_topic, delete_topics
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse

REPLICAS_MAX = 3
_numbers = count(1)


class Topics:
    """Makes topics on one cluster, and remembers which."""

    def __init__(self, bootstrap: str, broker_count: int) -> None:
        self._cluster = Cluster(Brokers(client_settings({"bootstrap.servers": bootstrap})))
        self._replicas = min(REPLICAS_MAX, broker_count)
        self._made: list[str] = []

    def create(
        self,
        name: str | None = None,
        *,
        partitions: int = 1,
        replicas: int | None = None,
        config: Mapping[str, object] | None = None,
    ) -> str:
        """Make a topic, with a name that no other test has unless one is given; its name."""
        name = name or f"test-{getpid()}-{next(_numbers)}"
        create_topic(
            self._cluster,
            name,
            partitions=partitions,
            replicas=replicas or self._replicas,
            configs={key: str(value) for key, value in (config or {}).items()},
        )
        self._made.append(name)
        return name

    def delete(self, *names: str) -> None:
        """Take topics away; those that are gone already are no matter."""
        for name in names:
            try:
                delete_topics(self._cluster, [name])
            except BrokerRefused as refused:
                if refused.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    raise

    def clear(self) -> None:
        """Take away all that were made and are left."""
        made, self._made = self._made, []
        if made:
            self.delete(*made)

    def check(self, name: str) -> None:
        """Raise `UnknownTopic` if the cluster does not have it."""
        self._cluster.refresh([name])

    def leader_of(self, topic: str, partition: int) -> int:
        """The id of the broker that leads a partition."""
        self._cluster.await_topic(topic)
        led = self._cluster.leader_of(TopicPartition(topic, partition))
        assert led is not None
        return led[1].node_id

    def broker_count(self) -> int:
        """How many brokers there are, as far as one tells; 0 if none does."""
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        try:
            return len(self._cluster.ask_any(request, MetadataResponse).brokers)
        except (ConnectionLost, NoBroker):
            return 0

    def close(self) -> None:
        self._cluster.brokers.close()
