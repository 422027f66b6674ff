"""Whole clusters in one world: ZooKeeper, brokers, a producer and a reader.

The producer sends numbered batches, each until it is acknowledged by all in-sync replicas, with a
sequence that tells a repetition. The reader follows the log, and now and then reads it all again.
Meanwhile a `Witness` looks at all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.server.node import BrokerNode
from odradek.kafka.settings import BrokerSettings, Endpoint, SecurityProtocol
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.messages.produce import ProduceResponse
from odradek.kafka.wire.records import Record
from odradek.kafka.wire.schema import Message
from odradek.runtime.properties import Properties
from odradek.simulation.hosts import Host
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.broker.asking import (
    NAMES_VERSION,
    PRODUCE_VERSION,
    fetch_of,
    only,
    produce_of,
    records_of,
    told,
)
from tests.kafka.broker.members import serve_zookeeper
from tests.kafka.server.conversing import RETRIABLE
from tests.kafka.server.ensembled import IMPATIENT
from tests.kafka.server.starting import started
from tests.kafka.server.witness import TOPIC, Violation, Witness

BROKERS = (1, 2, 3)
PROPERTIES = """
broker.id={id}
listeners=PLAINTEXT://b{id}:9092
log.dirs=/kafka
zookeeper.connect=zookeeper:2181/kafka
zookeeper.session.timeout.ms=2000
zookeeper.connection.timeout.ms=60000
log.segment.bytes=3000
log.index.interval.bytes=200
offsets.topic.num.partitions=1
"""
OF_LATE = (ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
Answer = TypeVar("Answer", bound=Message)


class Client:
    """Asks whoever may know, one after the other, until somebody answers."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._witness = cluster.witness
        self._ids = list(BROKERS)
        self._peers = [
            Peer(Endpoint("PLAINTEXT", f"b{it}", 9092, SecurityProtocol.PLAINTEXT), "client", 3.0)
            for it in BROKERS
        ]

    async def ask(self, request: Message, version: int, kind: type[Answer]) -> Answer:
        while True:
            try:
                answer = await self._peers[0].ask(request, version)
            except PeerLost:
                await self.turn_away()
                continue
            assert isinstance(answer, kind)
            return answer

    async def turn_away(self) -> None:
        """Ask somebody else from now on."""
        self._ids.append(self._ids.pop(0))
        self._peers.append(self._peers.pop(0))
        await asyncio.sleep(0.03)

    async def retry(self, code: int) -> bool:
        """Whether to ask again; a refusal that no retry helps is what must not be.

        One that has not heard yet that another leads may lack what others have.
        """
        if code == ErrorCode.NONE:
            return False
        is_late = code in OF_LATE and not self._witness.is_latest_leader(self._ids[0])
        if code not in RETRIABLE and not is_late:
            raise Violation(f"{self._ids[0]}: {ErrorCode(code).name}")
        await self.turn_away()
        return True


class Producer(Client):
    """Sends batches until each is acknowledged; `acked` says what was, by offset."""

    def __init__(
        self,
        cluster: SimulatedCluster,
        count: int,
        configs: Mapping[str, object],
        pause_s: float = 0.0,
    ) -> None:
        super().__init__(cluster)
        self.count = count
        self._pause_s = pause_s
        self.sent: list[bytes] = []
        self.acked: dict[int, bytes] = {}
        self.answered = 0
        self._configs = configs

    async def run(self, environment: Environment) -> None:
        random = environment.random
        await self._create_topic()
        producer_id = await self._new_producer_id()
        for number in range(self.count):
            size = random.randrange(1, 200)
            values = [
                b"%d.%d." % (number, it) + b"x" * size for it in range(random.randrange(1, 4))
            ]
            envelope = Envelope(
                producer_id=producer_id, producer_epoch=0, base_sequence=len(self.sent)
            )
            self.sent += values
            base_offset = await self._produce(values, envelope)
            self.acked |= {base_offset + it: value for it, value in enumerate(values)}
            self.answered += 1
            await asyncio.sleep(random.uniform(0, self._pause_s))

    async def _create_topic(self) -> None:
        configs = [
            CreatableTopicConfig(name=key.replace("_", "."), value=str(value))
            for key, value in self._configs.items()
        ]
        assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=list(BROKERS))
        topic = CreatableTopic(
            name=TOPIC,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[assignment],
            configs=configs,
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=5000)
        while True:
            answer = await self.ask(request, 5, CreateTopicsResponse)
            code = answer.topics[0].error_code
            if code == ErrorCode.TOPIC_ALREADY_EXISTS or not await self.retry(code):
                return

    async def _new_producer_id(self) -> int:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        while True:
            answer = await self.ask(request, 4, InitProducerIdResponse)
            if not await self.retry(answer.error_code):
                return answer.producer_id

    async def _produce(self, values: list[bytes], envelope: Envelope) -> int:
        records = [Record(number, 1000, b"k", value) for number, value in enumerate(values)]
        request = produce_of(bytes(write_batch(records, envelope)), topic=TOPIC, timeout_ms=2000)
        while True:
            answer = only(await self.ask(request, PRODUCE_VERSION, ProduceResponse))
            if not await self.retry(answer.error_code):
                return answer.base_offset


class Reader(Client):
    """Reads what is committed, and never sees an offset with two contents."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        super().__init__(cluster)
        self.seen: dict[int, bytes | None] = {}

    async def run(self, environment: Environment) -> None:
        offset = 0
        while True:
            again = environment.random.random() < 0.01
            offset = await self.read(0 if again else offset)
            await asyncio.sleep(0.01)

    async def read(self, offset: int) -> int:
        """Read once from an offset on; the next offset."""
        request = fetch_of(offset, topic=TOPIC, wait_ms=100)
        (data,) = told(await self.ask(request, NAMES_VERSION, FetchResponse))
        if await self.retry(data.error_code):
            return offset
        for number, record in enumerate(records_of(data)):
            if record.offset < offset:
                continue  # A batch comes whole.
            if number == 0 and record.offset > offset:
                raise Violation(f"{offset} is skipped, {record.offset} is next")
            if self.seen.setdefault(record.offset, record.value) != record.value:
                raise Violation(f"{record.offset} was {self.seen[record.offset]!r}, now is another")
            offset = record.offset + 1
        return offset

    async def read_all(self, environment: Environment) -> dict[int, bytes | None]:
        """All that is committed, once there is a leader."""
        self.seen, offset, still = {}, 0, 0
        while still < 10:
            before, offset = offset, await self.read(offset)
            still = 0 if offset > before or not self.seen else still + 1
        return self.seen


class SimulatedCluster:
    """ZooKeeper and three brokers in a world."""

    def __init__(self, world: World, settings: str = "") -> None:
        self.world = world
        self.witness = Witness(world)
        self._settings = settings
        self._stops: dict[int, asyncio.Event] = {}

    def start(self) -> None:
        self.world.host("zookeeper").start(serve_zookeeper)
        for broker_id in BROKERS:
            self.launch(broker_id)
        self.witness.watch()

    def launch(self, broker_id: int) -> None:
        async def main(environment: Environment) -> None:
            self.witness.nodes.pop(broker_id, None)  # That of an earlier life.
            text = (PROPERTIES + IMPATIENT + self._settings).format(id=broker_id)
            settings = BrokerSettings(Properties.parse(text.encode(), "server.properties"))
            node = self.witness.nodes[broker_id] = await started(settings, environment)
            stop = self._stops[broker_id] = asyncio.Event()
            asked = asyncio.create_task(stop.wait())
            ended = asyncio.create_task(node.tasks.until_stopped())
            await asyncio.wait([asked, ended], return_when=asyncio.FIRST_COMPLETED)
            await (node.stop() if stop.is_set() else ended)

        self.host(broker_id).start(main)

    def stop(self, broker_id: int) -> None:
        """Have a broker leave as it should."""
        self._stops[broker_id].set()
        self.world.run_until(lambda: not self.host(broker_id).is_running, 60)

    def do(self, broker_id: int, work: Callable[[BrokerNode], Awaitable[object]]) -> object:
        """Have something done on a broker's own loop; what came of it."""

        async def done() -> object:
            return await work(self.witness.nodes[broker_id])

        process = self.host(broker_id).process
        assert process is not None
        task = process.loop.create_task(done())
        self.world.run_until(task.done, 120)
        return task.result()

    def host(self, broker_id: int) -> Host:
        return self.world.host(f"b{broker_id}")

    @property
    def leader(self) -> int | None:
        """Who leads, in the latest epoch that anybody leads in."""
        leading = [
            (it.leader_epoch, broker_id)
            for broker_id, it in self.witness.replicas().items()
            if it.is_leader
        ]
        return max(leading)[1] if leading else None

    @property
    def led(self) -> Partition:
        """The partition, where it is led."""
        leader = self.leader
        assert leader is not None
        return self.witness.replicas()[leader]

    @property
    def isr(self) -> tuple[int, ...]:
        """Who is in sync, as the leader knows it; nobody without a leader."""
        return () if self.leader is None else self.led.isr

    def is_whole(self) -> bool:
        """Whether all replicas are in sync again."""
        return self.isr == BROKERS
