"""What simulated clients have in common: whom to ask, and when to ask again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.settings import Endpoint, SecurityProtocol
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from odradek.kafka.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.kafka.wire.schema import Message
from tests.kafka.broker.asking import NAMES_VERSION, PRODUCE_VERSION, only, told
from tests.kafka.server.witness import Violation

PATIENCE_S = 3.0
PAUSE_S = 0.03
GROUP, TRANSACTION = 0, 1  # What FindCoordinator tells apart.
RETRIABLE = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.INVALID_REPLICATION_FACTOR,  # Until all brokers are there.
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
    }
)
Answer = TypeVar("Answer", bound=Message)


class Client:
    """One life of a client: its connections, and whom it believes to be the right one to ask."""

    def __init__(self, ids: Sequence[int], name: str = "client") -> None:
        self._peers = {
            it: Peer(
                Endpoint("PLAINTEXT", f"b{it}", 9092, SecurityProtocol.PLAINTEXT), name, PATIENCE_S
            )
            for it in ids
        }
        self._ids = list(ids)
        self._guesses: dict[object, int] = {}  # Who leads a partition, coordinates a group …

    async def ask(self, what: object, request: Message, version: int, kind: type[Answer]) -> Answer:
        """Ask whoever should know about something, until somebody answers at all."""
        while True:
            answer = await self.ask_once(what, request, version, kind)
            if answer is not None:
                return answer

    async def ask_once(
        self, what: object, request: Message, version: int, kind: type[Answer]
    ) -> Answer | None:
        """The answer, or None if none came, and then another is asked next time."""
        broker_id = self._guesses.setdefault(what, self._ids[0])
        try:
            answer = await self._peers[broker_id].ask(request, version)
        except PeerLost:
            await self.turn_away(what)
            return None
        assert isinstance(answer, kind)
        return answer

    async def turn_away(self, what: object) -> None:
        """Ask somebody else about this from now on."""
        position = self._ids.index(self._guesses.get(what, self._ids[0]))
        self._guesses[what] = self._ids[(position + 1) % len(self._ids)]
        await asyncio.sleep(PAUSE_S)

    async def must_retry(self, what: object, code: int) -> bool:
        """Whether an answer is of the kind that another broker, or time, may mend."""
        if code not in RETRIABLE:
            return False
        await self.turn_away(what)
        return True

    async def settle(self, what: object, code: int) -> bool:
        """The same, where nothing but success is right in the end."""
        if await self.must_retry(what, code):
            return True
        if code != ErrorCode.NONE:
            raise Violation(f"{what}: {ErrorCode(code).name}")
        return False

    async def find_coordinator(self, key: str, key_type: int) -> None:
        """Learn who coordinates a group or a transaction, from whoever answers."""
        request = FindCoordinatorRequest(key=key, key_type=key_type, coordinator_keys=[])
        what = "anything"
        while True:
            answer = await self.ask(what, request, 3, FindCoordinatorResponse)
            if not await self.settle(what, answer.error_code):
                self._guesses[key_type, key] = answer.node_id
                return

    async def create_topic(self, topic: str, partitions: int, **configs: object) -> None:
        texts = [
            CreatableTopicConfig(name=key.replace("_", "."), value=str(value))
            for key, value in configs.items()
        ]
        wanted = CreatableTopic(
            name=topic,
            num_partitions=partitions,
            replication_factor=min(3, len(self._ids)),
            assignments=[],
            configs=texts,
        )
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=5000)
        while True:
            answer = await self.ask("controller", request, 5, CreateTopicsResponse)
            code = answer.topics[0].error_code
            if code == ErrorCode.TOPIC_ALREADY_EXISTS or not await self.settle("controller", code):
                return

    async def produce_once(
        self, topic: str, partition: int, batch: bytes, transactional_id: str | None = None
    ) -> PartitionProduceResponse | None:
        """Send a batch to all in-sync replicas; None if no answer came."""
        data = PartitionProduceData(index=partition, records=batch)
        request = ProduceRequest(
            acks=-1,
            timeout_ms=2000,
            transactional_id=transactional_id,
            topic_data=[TopicProduceData(name=topic, partition_data=[data])],
        )
        what = topic, partition
        answer = await self.ask_once(what, request, PRODUCE_VERSION, ProduceResponse)
        return None if answer is None else only(answer)

    async def fetch(
        self,
        topic: str,
        partition: int,
        offset: int,
        *,
        isolation_level: int = 0,
        bytes_max: int = 1 << 20,
    ) -> PartitionData | None:
        """What there is from an offset on; None if it must be asked for again."""
        wanted = FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=bytes_max
        )
        request = FetchRequest(
            replica_id=-1,
            max_wait_ms=100,
            min_bytes=1,
            isolation_level=isolation_level,
            topics=[FetchTopic(topic=topic, partitions=[wanted])],
        )
        what = topic, partition
        answer = await self.ask_once(what, request, NAMES_VERSION, FetchResponse)
        if answer is None:
            return None
        (data,) = told(answer)
        # Who has not heard yet that another leads may lack what others have.
        is_late = data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        if is_late or await self.settle(what, data.error_code):
            if is_late:
                await self.turn_away(what)
            return None
        return data
