"""The verbs of stories about a cluster of brokers. Hosts are `zk1`, `b1` and so on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from odradek.kafka.admin.names import CONSUMER_OFFSETS
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.kafka.wire.records import Record
from odradek.simulation.processes import Environment
from odradek.simulation.stage import Stage
from odradek.simulation.world import World
from tests.kafka.broker.asking import PRODUCE_VERSION, only
from tests.kafka.server.conversing import Client
from tests.kafka.server.ensembled import SimulatedBrokers
from tests.kafka.server.group_book import GroupBook
from tests.kafka.server.grouped import Member
from tests.kafka.server.narrator import LOOK_S, Narrator, listed
from tests.kafka.server.overseer import Overseer
from tests.kafka.server.sending import Sender, read_all

TOPIC = "t"
SETTINGS = "offsets.topic.num.partitions=1\nauto.leader.rebalance.enable=false\n"
Told = Callable[[Client], Awaitable[str]]


class NarratedBook(GroupBook):
    """Tells what everybody owns."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def assigned(self, generation: int, owner: str, partitions: Iterable[int]) -> None:
        partitions = list(partitions)
        super().assigned(generation, owner, partitions)
        self._world.narrate(f"{owner} owns {listed(partitions)} in generation {generation}")


class ClusterStage(Stage):
    """A cluster whose first broker controls, one topic, and a group."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._book = NarratedBook(world)
        self._members: dict[str, Member] = {}
        self._sender: Sender | None = None

    def cluster(self, brokers: int, *, zookeepers: int = 3) -> None:
        """Start all; broker 1 comes first, and controls."""
        self._cluster = SimulatedBrokers(
            self._world,
            brokers=brokers,
            zookeepers=zookeepers,
            settings=SETTINGS,
            is_started=False,
        )
        self._narrator = Narrator(self._cluster)
        self._overseer = Overseer(self._cluster, TOPIC)
        for broker_id in self._cluster.ids:
            self._cluster.start(broker_id)
            self._world.run_until(partial(self._is_known, broker_id), 120)
        self._narrator.watch()
        self._overseer.watch()
        self._world.host("client")

    def topic(self, *replicas: int, partitions: int = 1) -> None:
        """Create the topic, with its replicas on these brokers."""
        assignments = [
            CreatableReplicaAssignment(partition_index=it, broker_ids=list(replicas))
            for it in range(partitions)
        ]
        wanted = CreatableTopic(
            name=TOPIC,
            num_partitions=-1,
            replication_factor=-1,
            assignments=assignments,
            configs=[],
        )
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=5000)

        async def make(client: Client) -> str:
            while True:
                answer = await client.ask("controller", request, 5, CreateTopicsResponse)
                if not await client.settle("controller", answer.topics[0].error_code):
                    return ""

        self._narrator.topics.append(TOPIC)
        self._ask(make)
        self._world.run_until(lambda: len(self._overseer.replicas()) == partitions, 60)
        self._world.run_for(1)

    def produce(self, *values: str, acks: int = -1, at: int = 0, patience: float = 30.0) -> None:
        """Have a client send records to partition 0, to its leader or to one broker."""
        records = [Record(number, 1000, b"k", it.encode()) for number, it in enumerate(values)]
        data = PartitionProduceData(index=0, records=bytes(write_batch(records, Envelope())))
        request = ProduceRequest(
            acks=acks,
            timeout_ms=1000,
            topic_data=[TopicProduceData(name=TOPIC, partition_data=[data])],
        )

        async def send(client: Client) -> str:
            while True:
                answer = await client.ask(TOPIC, request, PRODUCE_VERSION, ProduceResponse)
                found = only(answer)
                if at and found.error_code:
                    return f"hears {ErrorCode(found.error_code).name}"
                if not await client.settle(TOPIC, found.error_code):
                    return f"has {' '.join(values)} at {found.base_offset}"

        self._ask(send, (at,) if at else (), patience)

    def read(self) -> None:
        """Have a client read partition 0 from its start, and tell all that it finds."""

        async def take(client: Client) -> str:
            values = await read_all(self._cluster.ids, TOPIC, 0, 0)
            return f"reads {' '.join(it.decode() for it in values if it is not None)}"

        self._ask(take)

    def load(self, batches: int) -> None:
        """Send batches to partition 0 from now on, each until it is acknowledged."""
        self._sender = Sender(self._cluster.ids, TOPIC, 1, batches, 0.2)
        self._world.host("sender").start(self._sender.run)

    def until_sent(self) -> None:
        """Until all batches of the load are acknowledged, and read them all."""
        sender = self._sender
        assert sender is not None
        self._world.run_until(lambda: sender.acked == sender.batches, 120)
        count = len(sender.sent[0])

        async def take(client: Client) -> str:
            values = await read_all(self._cluster.ids, TOPIC, 0, count)
            return "finds all that was sent" if values == sender.sent[0] else f"finds {values}"

        self._ask(take)

    def reassign(self, *replicas: int) -> None:
        """Move partition 0 to these brokers."""
        partition = ReassignablePartition(partition_index=0, replicas=list(replicas))
        request = AlterPartitionReassignmentsRequest(
            timeout_ms=10_000, topics=[ReassignableTopic(name=TOPIC, partitions=[partition])]
        )

        async def move(client: Client) -> str:
            while True:
                answer = await client.ask(
                    "controller", request, 0, AlterPartitionReassignmentsResponse
                )
                if not await client.settle("controller", answer.error_code):
                    return "asks for a move"

        self._ask(move)

    def expire(self, broker_id: int) -> None:
        """Let a broker's session expire while it lives, then let it reach ZooKeeper again."""
        servers = [f"zk{it}" for it in self._cluster.zookeeper.ids]
        for server in servers:
            self.cut(f"b{broker_id}", "from", server)
        self._world.run_until(lambda: not self._is_registered(broker_id), 60)
        for server in servers:
            self.heal(f"b{broker_id}", "from", server)

    def member(self, *names: str) -> None:
        """Have static members join the group."""
        if CONSUMER_OFFSETS not in self._narrator.topics:
            self._narrator.topics.append(CONSUMER_OFFSETS)
        for name in names:
            member = Member(self._cluster.ids, self._book, TOPIC, 2, instance=name)
            member.is_calm = True
            self._members[name] = member
            self._world.host(name).start(member.run)

    def until_led(self, *, by: int) -> None:
        """Until a broker leads partition 0."""
        self._world.run_until(lambda: self._leader() == by, 120)
        self._world.run_for(2 * LOOK_S)  # So that it is told before what comes next.

    def until_in_sync(self, count: int) -> None:
        """Until so many are in sync in each partition."""

        def is_so() -> bool:
            states = [self._overseer.state(it) for it in self._overseer.replicas()]
            return all(it is not None and len(it.isr) == count for it in states)

        self._world.run_until(is_so, 120)
        self._world.run_for(2 * LOOK_S)

    # What verbs are made of

    def _ask(self, story: Told, ids: tuple[int, ...] = (), patience: float = 60.0) -> None:
        async def main(environment: Environment) -> None:
            client = Client(ids or self._cluster.ids)
            try:
                async with asyncio.timeout(patience):
                    text = await story(client)
            except TimeoutError:
                text = "hears nothing"
            if text:
                await asyncio.sleep(2 * LOOK_S)  # What led to it is told first.
                environment.narrate(text)

        self._world.run_to_end(self._world.host("client").start(main))

    def _is_known(self, broker_id: int) -> bool:
        nodes = self._cluster.running()
        return broker_id in nodes and all(
            broker_id in it.broker.metadata.brokers for it in nodes.values()
        )

    def _is_registered(self, broker_id: int) -> bool:
        tree = self._overseer.tree
        return tree is None or tree.get(f"/kafka/brokers/ids/{broker_id}") is not None

    def _leader(self) -> int:
        states = [self._overseer.state(it) for it in self._overseer.replicas()]
        return states[0].leader if states and states[0] is not None else -1
