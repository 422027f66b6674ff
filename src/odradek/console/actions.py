"""All that the console can change, behind one door: closed, unless it was opened at the start.

Pages leave out what is not allowed; that is a courtesy. Here is where it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from odradek.console.kafka_side import KafkaSide
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.group_offsets import commit_offsets
from odradek.kafka.client.recording import Recorder
from odradek.kafka.client.topic_admin import elect_preferred, move_partitions
from odradek.runtime.errors import OdradekError

READ_ONLY = "this console only looks: start it with --allow-changes"


class ReadOnly(OdradekError):
    """A change was asked of a console that makes none."""

    def __init__(self) -> None:
        super().__init__(READ_ONLY)


class Actions:
    """Changes of a cluster, if they are allowed."""

    def __init__(self, kafka: KafkaSide, *, is_allowed: bool) -> None:
        self._kafka = kafka
        self.is_allowed = is_allowed

    async def produce(
        self, topic: str, key: bytes | None, value: bytes | None, partition: int | None
    ) -> None:
        self._check()
        await self._kafka.ask(write_one, self._kafka.properties, topic, key, value, partition)

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Let a group go on from elsewhere; refused while it has members."""
        self._check()
        await self._kafka.ask(commit_offsets, group, offsets)

    async def move(self, targets: Mapping[TopicPartition, Sequence[int] | None]) -> None:
        """Begin to move partitions; None calls a move off."""
        self._check()
        await self._kafka.ask(move_partitions, targets)

    async def elect(self, partitions: Sequence[TopicPartition]) -> list[str]:
        """Let preferred replicas lead; what could not be, in words."""
        self._check()
        return await self._kafka.ask(elect_preferred, partitions)

    def _check(self) -> None:
        if not self.is_allowed:
            raise ReadOnly


def write_one(
    cluster: Cluster,
    properties: Mapping[str, str],
    topic: str,
    key: bytes | None,
    value: bytes | None,
    partition: int | None,
) -> None:
    """One record, acknowledged by all that are in sync."""
    cluster.refresh([topic])  # A misspelt topic is not to be created.
    settings = {it: properties[it] for it in ("bootstrap.servers", "client.id")}
    with Recorder(topic, settings | {"delivery.timeout.ms": "30000"}) as recorder:
        recorder.send(key, value, partition=partition)
