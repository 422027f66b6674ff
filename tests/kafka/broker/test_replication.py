"""Replicas of whole brokers in one world: who follows, who is in sync, and what is committed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from odradek.kafka.broker.peers import Peer
from odradek.kafka.broker.topics import create_topic
from odradek.kafka.replication.selector import RACK_AWARE
from odradek.kafka.settings import Endpoint, SecurityProtocol
from odradek.kafka.storage.checkpoints import HIGH_WATERMARKS, read_offsets
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.messages.produce import ProduceResponse
from odradek.kafka.wire.schema import Message
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.broker.asking import (
    NAMES_VERSION,
    PRODUCE_VERSION,
    fetch_of,
    only,
    produce_of,
    told,
    values_of,
)
from tests.kafka.server.clustered import (
    BROKERS,
    Client,
    Producer,
    Reader,
    SimulatedCluster,
)
from tests.kafka.server.witness import TOPIC
from tests.kafka.storage.logs import batch_of


@contextmanager
def cluster(settings: str = "", seed: int = 1) -> Iterator[SimulatedCluster]:
    with World(seed) as world:
        made = SimulatedCluster(world, settings)
        made.start()
        yield made


def produce(made: SimulatedCluster, count: int, **configs: object) -> Producer:
    """Have batches acknowledged by all that are in sync."""
    producer = Producer(made, count, configs)
    made.world.run_to_end(made.world.host("producer").start(producer.run), 120)
    return producer


def put(made: SimulatedCluster, *values: bytes, acks: int = -1, timeout_ms: int = 500) -> ErrorCode:
    """One batch to whoever leads; what is answered."""

    async def main(environment: Environment) -> int:
        request = produce_of(batch_of(values), topic=TOPIC, acks=acks, timeout_ms=timeout_ms)
        client = Client(made)
        while True:
            answer = only(await client.ask(request, PRODUCE_VERSION, ProduceResponse))
            if answer.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                return answer.error_code
            await client.turn_away()

    return ErrorCode(made.world.run_to_end(made.world.host("client").start(main), 60))


def read_all(made: SimulatedCluster) -> list[bytes | None]:
    process = made.world.host("reader").start(Reader(made).read_all)
    return list(made.world.run_to_end(process, 60).values())


def ends(made: SimulatedCluster) -> list[tuple[int, int, int]]:
    """Where each replica starts, is committed and ends."""
    return [
        (it.log.start_offset, it.log.high_watermark, it.log.end_offset)
        for it in made.witness.replicas().values()
    ]


def are_equal(made: SimulatedCluster) -> bool:
    found = ends(made)
    return len(found) == len(BROKERS) and len(set(found)) == 1


def test_followers_have_what_was_acknowledged_and_learn_that_it_is_committed() -> None:
    with cluster() as made:
        producer = produce(made, 20)
        count = len(producer.sent)
        assert all(end == count for _, _, end in ends(made))
        made.world.run_until(lambda: are_equal(made), 10)
        assert set(ends(made)) == {(0, count, count)}
        assert read_all(made) == producer.sent


def test_a_follower_that_is_cut_off_falls_out_of_sync_and_comes_back() -> None:
    with cluster() as made:
        produce(made, 3)
        made.world.run_until(made.is_whole, 30)
        lagging = next(it for it in BROKERS if it != made.leader)
        made.world.network.cut(f"b{lagging}", f"b{made.leader}")
        assert put(made, b"late") is ErrorCode.REQUEST_TIMED_OUT
        made.world.run_until(lambda: made.isr and lagging not in made.isr, 10)
        assert put(made, b"without it") is ErrorCode.NONE
        assert made.led.is_under_replicated
        made.world.network.heal(f"b{lagging}", f"b{made.leader}")
        made.world.run_until(made.is_whole, 20)
        made.world.run_until(lambda: are_equal(made), 10)
        assert not made.led.is_under_replicated


def test_with_too_few_in_sync_nothing_is_taken_for_all_and_nothing_committed() -> None:
    with cluster() as made:
        produce(made, 3, min_insync_replicas=2)
        made.world.run_until(made.is_whole, 30)
        leader = made.leader
        for other in BROKERS:
            if other != leader:
                made.host(other).kill()
        made.world.run_until(lambda: made.isr == (leader,), 20)
        before = made.led.log.high_watermark
        assert put(made, b"for all") is ErrorCode.NOT_ENOUGH_REPLICAS
        assert put(made, b"for the leader", acks=1) is ErrorCode.NONE
        assert made.led.log.high_watermark == before
        assert made.led.is_under_min_isr
        for other in BROKERS:
            made.host(other).start_again()
        made.world.run_until(made.is_whole, 30)
        assert put(made, b"for all") is ErrorCode.NONE
        assert made.led.log.high_watermark == made.led.log.end_offset


def test_a_broker_that_stops_hands_over_what_it_leads_and_rejoins_when_it_is_back() -> None:
    with cluster() as made:
        producer = produce(made, 10)
        made.world.run_until(made.is_whole, 30)
        old = made.leader
        assert old is not None
        made.stop(old)
        assert made.leader not in (None, old)  # Without waiting for its session to end.
        assert old not in made.isr
        assert put(made, b"more") is ErrorCode.NONE
        made.host(old).start_again()
        made.world.run_until(made.is_whole, 30)
        assert read_all(made) == [*producer.sent, b"more"]


def test_deleted_records_are_gone_once_the_followers_have_heard_of_it() -> None:
    with cluster() as made:
        producer = produce(made, 10)
        made.world.run_until(made.is_whole, 30)
        answer = delete(made, 5)
        assert (answer.error_code, answer.low_watermark) == (ErrorCode.NONE, 5)
        assert {start for start, _, _ in ends(made)} == {5}
        assert len(read_all_from(made, 5)) == len(producer.sent) - 5


def test_a_follower_whose_records_are_gone_at_the_leader_begins_anew() -> None:
    with cluster() as made:
        produce(made, 3)
        made.world.run_until(made.is_whole, 30)
        late = next(it for it in BROKERS if it != made.leader)
        made.host(late).kill()
        made.world.run_until(lambda: late not in made.isr, 20)
        assert put(made, *(b"%d" % it for it in range(10))) is ErrorCode.NONE
        inside = made.led.log.end_offset - 4  # Of the batch that was put last.
        assert delete(made, inside).error_code == ErrorCode.NONE
        made.host(late).start_again()
        made.world.run_until(made.is_whole, 30)
        made.world.run_until(lambda: are_equal(made), 10)
        assert ends(made)[0] == (inside, inside + 4, inside + 4)


def test_an_unclean_leader_is_counted_and_so_is_what_others_must_drop() -> None:
    with cluster() as made:
        produce(made, 3, unclean_leader_election_enable="true")
        made.world.run_until(made.is_whole, 30)
        made.world.run_until(lambda: are_equal(made), 10)
        leader = made.leader
        late, other = (it for it in BROKERS if it != leader)
        made.host(late).kill()
        made.world.run_until(lambda: late not in made.isr, 20)
        assert put(made, b"lost", b"too") is ErrorCode.NONE
        made.world.run_for(1)  # The other follower knows that it is committed.
        for it in (leader, other):
            assert it is not None
            made.host(it).kill()
        made.world.run_for(4)
        made.witness.forgive()
        made.host(late).start_again()
        made.world.run_until(lambda: made.leader == late, 30)
        for it in (leader, other):
            assert it is not None
            made.host(it).start_again()
        made.world.run_until(made.is_whole, 30)
        nodes = made.witness.nodes.values()
        assert sum(it.broker.controller.unclean_count for it in nodes) == 1
        assert sum(it.broker.meters.records_lost for it in nodes) == 4


def test_high_watermarks_of_followers_are_written_down() -> None:
    with cluster() as made:
        producer = produce(made, 5)
        made.world.run_until(lambda: are_equal(made), 10)
        made.world.run_for(1)
        for node in made.witness.nodes.values():
            (directory,) = node.broker.directories.online
            path = f"{directory.path}/{HIGH_WATERMARKS}"
            found = read_offsets(directory.files.disk, path)
            assert found[TopicPartition(TOPIC, 0)] == len(producer.sent)


def test_brokers_of_an_older_protocol_agree_before_they_fetch() -> None:
    """With 2.6 there is no diverging epoch, and topics have no ids."""
    with cluster("inter.broker.protocol.version=2.6\n") as made:
        producer = produce(made, 10)
        made.world.run_until(made.is_whole, 30)
        old = made.leader
        assert old is not None
        made.host(old).pause()
        made.world.run_until(lambda: made.leader != old, 20)
        assert put(made, b"meanwhile") is ErrorCode.NONE
        made.host(old).resume()
        made.world.run_until(made.is_whole, 30)
        assert read_all(made) == [*producer.sent, b"meanwhile"]


@pytest.mark.parametrize("fetchers", [1, 2])
def test_many_partitions_share_the_fetchers_of_a_leader(fetchers: int) -> None:
    with cluster(f"num.replica.fetchers={fetchers}\n") as made:
        produce(made, 1)
        made.world.run_until(made.is_whole, 30)
        assert made.leader is not None
        replicas = {index: [1, 2, 3] for index in range(16)}
        made.do(1, lambda node: create_topic(node.broker.keeper, "many", replicas, {}))
        follower = made.witness.nodes[2].broker
        made.world.run_until(lambda: follower.replicas.followed_count >= 16, 30)
        assert follower.replicas.fetcher_count == fetchers
        led = [made.witness.nodes[1].broker.partitions.get("many", index) for index in range(16)]
        made.world.run_until(lambda: all(it and len(it.isr) == 3 for it in led), 30)


def delete(made: SimulatedCluster, offset: int) -> DeleteRecordsPartitionResult:
    """DeleteRecords up to an offset, at the leader; what it answers."""

    async def main(environment: Environment) -> DeleteRecordsPartitionResult:
        wanted = DeleteRecordsPartition(partition_index=0, offset=offset)
        topic = DeleteRecordsTopic(name=TOPIC, partitions=[wanted])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=5000)
        client = Client(made)
        while True:
            response = await client.ask(request, 2, DeleteRecordsResponse)
            (answer,) = response.topics[0].partitions
            if answer.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
                return answer
            await client.turn_away()

    answer = made.world.run_to_end(made.world.host("deleter").start(main), 60)
    assert isinstance(answer, DeleteRecordsPartitionResult)
    return answer


def read_all_from(made: SimulatedCluster, offset: int) -> list[bytes | None]:
    async def main(environment: Environment) -> dict[int, bytes | None]:
        reader = Reader(made)
        at = offset
        while at < made.led.log.high_watermark:
            at = await reader.read(at)
        return reader.seen

    return list(made.world.run_to_end(made.world.host("reader").start(main), 60).values())


RACKS = "broker.rack=r{id}\n" + f"replica.selector.class={RACK_AWARE}\n"


def test_a_consumer_is_sent_to_the_replica_in_its_rack_and_served_there() -> None:
    with cluster(RACKS) as made:
        producer = produce(made, 5)
        made.world.run_until(made.is_whole, 30)
        made.world.run_until(lambda: are_equal(made), 10)
        near = next(it for it in BROKERS if it != made.leader)
        assert made.leader is not None
        (sent,) = told(fetch_at(made, made.leader, f"r{near}"))
        assert (sent.preferred_read_replica, sent.error_code, sent.records) == (near, 0, b"")
        (served,) = told(fetch_at(made, near, f"r{near}"))
        assert values_of(served) == producer.sent
        (own,) = told(fetch_at(made, made.leader, f"r{made.leader}"))
        assert values_of(own) == producer.sent
        (old,) = told(fetch_at(made, near, "", version=10))
        assert old.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def fetch_at(
    made: SimulatedCluster, broker_id: int, rack: str, version: int = NAMES_VERSION
) -> FetchResponse:
    """What one broker answers to a consumer of a rack."""

    async def main(environment: Environment) -> Message:
        plain = SecurityProtocol.PLAINTEXT
        peer = Peer(Endpoint("PLAINTEXT", f"b{broker_id}", 9092, plain), "consumer", 5.0)
        request = fetch_of(0, topic=TOPIC, wait_ms=100, rack_id=rack)
        return await peer.ask(request, version)

    answer = made.world.run_to_end(made.world.host("consumer").start(main), 60)
    assert isinstance(answer, FetchResponse)
    return answer
