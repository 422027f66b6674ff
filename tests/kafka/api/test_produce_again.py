"""Who repeats himself is answered as the ordinary way would answer, whatever becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from odradek.kafka.admin.names import CONSUMER_OFFSETS
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.partition import Partition
from odradek.kafka.storage.appending import Appended
from odradek.kafka.wire.apis import PRODUCE
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.produce import PartitionProduceResponse, ProduceResponse
from odradek.kafka.wire.repeats import RESTS, Repeat
from tests.kafka.broker.asking import fetch_of, get, only, produce_of, records_of
from tests.kafka.broker.coordinated import until
from tests.kafka.broker.served import BROKER_ID, Client, Served, state_of, with_broker
from tests.kafka.storage.logs import NOW_MS, batch_of, marker_of

REPEATED, ORDINARY = "repeated", "ordinary"
TOPIC_IDS = {REPEATED: b"r" * 16, ORDINARY: b"o" * 16}
VERSION = 11
LARGE = 2_000


class Twins:
    """Two topics treated alike: one by a client that repeats itself, one by the handler."""

    def __init__(self, served: Served, client: Client, acks: int) -> None:
        self.served = served
        self.client = client
        self.acks = acks
        self.repeats: list[Appended | None] = []

    def lead(self, **given: object) -> None:
        for topic, topic_id in TOPIC_IDS.items():
            self.served.lead(topic, topic_id=topic_id, **given)  # type: ignore[arg-type]

    @property
    def partition(self) -> Partition:
        found = self.served.broker.partitions.get(REPEATED, 0)
        assert found is not None
        return found

    async def say(self, data: bytes) -> PartitionProduceResponse:
        """What both are answered, which must be the same."""
        message = produce_of(data, topic=REPEATED, acks=self.acks)
        ours = only(await self.client.ask(message, VERSION, ProduceResponse))
        message = produce_of(data, topic=ORDINARY, acks=self.acks)
        theirs = only(await self.served.ask(message, VERSION, ProduceResponse))
        assert ours == theirs
        return ours

    async def learn(self, times: int = 2) -> None:
        """Until the client is known to repeat itself."""
        with self.counted(0):
            for _ in range(times):
                assert (await self.say(batch_of([b"first"]))).error_code == 0

    @contextmanager
    def counted(self, times: int, is_done: bool = True) -> Iterator[None]:
        """So often a repeat was recognised in the block; whether that was all there was to do."""
        before = len(self.repeats)
        yield
        outcomes = self.repeats[before:]
        assert [outcome is not None for outcome in outcomes] == [is_done] * times


async def twins(served: Served, acks: int, **given: object) -> Twins:
    its = Twins(served, await served.connect(), acks)
    again = served.clients.again[PRODUCE]

    def spied(repeat: Repeat, broker: Broker) -> Appended | None:
        its.repeats.append(again(repeat, broker))
        return its.repeats[-1]

    served.clients.again = {PRODUCE: spied}
    its.lead(**given)
    await its.learn()
    return its


@pytest.mark.parametrize("acks", [1, -1])
def test_all_kinds_of_batches_are_taken_or_refused_alike(acks: int, tmp_path: object) -> None:
    batches = {
        "small": batch_of([b"x"]),
        "of several records": batch_of([b"x" * 50] * 20),
        "compressed": batch_of([b"x" * 500], codec=Codec.LZ4),
        "numbered": batch_of([b"x"], producer_id=7),
        "the same again": batch_of([b"x"], producer_id=7),
        "the next": batch_of([b"x"], producer_id=7, sequence=1),
    }
    refused = {
        "out of order": batch_of([b"x"], producer_id=7, sequence=5),
        "of an old epoch": batch_of([b"x"], producer_id=8, producer_epoch=1)[:-1] + b"!",
        "with a wrong checksum": batch_of([b"x"])[:-1] + b"?",
        "too large": batch_of([b"x" * LARGE]),
        "a marker": marker_of(7, MarkerType.COMMIT),
    }
    elsewhere = {
        "two of them": batch_of([b"x"]) * 2,
        "part of one": batch_of([b"x" * 100])[:-1],
        "transactional": batch_of([b"x"], producer_id=9, is_transactional=True),
    }

    @with_broker()
    async def story(served: Served) -> None:
        its = await twins(served, acks, overrides={"max.message.bytes": LARGE})
        for name, data in batches.items():
            with its.counted(1):
                assert (await its.say(data)).error_code == 0, name
        for name, data in (refused | elsewhere).items():
            with its.counted(1, is_done=False):
                assert (await its.say(data)).error_code, name
            await its.learn(RESTS + 1)
            with its.counted(1):
                assert (await its.say(batch_of([b"x"]))).error_code == 0

    story(tmp_path)  # type: ignore[arg-type]


@with_broker()
async def test_where_the_broker_sets_the_time_it_does(served: Served) -> None:
    served.lead(overrides={"message.timestamp.type": "LogAppendTime"})
    client = await served.connect()
    message = produce_of(batch_of([b"x"], timestamp=5), acks=1)
    answers = [only(await client.ask(message, VERSION, ProduceResponse)) for _ in range(3)]
    assert [answer.base_offset for answer in answers] == [0, 1, 2]
    (data,) = await get(served, fetch_of(0))
    assert [record.timestamp for record in records_of(data)] == [
        answer.log_append_time_ms for answer in answers
    ]
    assert min(answer.log_append_time_ms for answer in answers) > NOW_MS


@with_broker()
async def test_a_keyless_record_on_a_compacted_topic_is_refused(served: Served) -> None:
    its = Twins(served, await served.connect(), 1)
    its.lead(overrides={"cleanup.policy": "compact"})
    for _ in range(3):
        assert (await its.say(batch_of([b"x"], key=b"k"))).error_code == 0
    answer = await its.say(batch_of([b"x"]))
    assert answer.error_code == ErrorCode.INVALID_RECORD and answer.record_errors


@with_broker()
async def test_who_leads_no_longer_says_so(served: Served) -> None:
    its = await twins(served, 1)
    for topic, topic_id in TOPIC_IDS.items():
        served.broker.partitions.follow(state_of(0, 2, 1, (BROKER_ID, 2), None), topic, topic_id)
    with its.counted(1, is_done=False):
        assert (await its.say(batch_of([b"x"]))).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    its.lead(epoch=2)
    await its.learn(RESTS + 1)
    with its.counted(1):
        assert (await its.say(batch_of([b"x"]))).base_offset == 2 + RESTS + 1


@with_broker()
async def test_internal_topics_stay_closed_however_often_one_tries(served: Served) -> None:
    partition = served.lead(CONSUMER_OFFSETS)
    client = await served.connect()
    message = produce_of(batch_of([b"x"], key=b"k"), topic=CONSUMER_OFFSETS, acks=1)
    for _ in range(5):
        answer = only(await client.ask(message, VERSION, ProduceResponse))
        assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert partition.log.end_offset == 0


@with_broker()
async def test_a_topic_that_is_gone_is_unknown(served: Served) -> None:
    its = await twins(served, 1)
    for topic in TOPIC_IDS:
        partition = served.broker.partitions.get(topic, 0)
        assert partition is not None
        served.broker.partitions.stop(partition.where, delete=True)
    answer = await its.say(batch_of([b"x"]))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@with_broker()
async def test_replicas_are_waited_for(served: Served) -> None:
    its = await twins(served, -1)
    partition = served.lead(
        REPEATED, topic_id=TOPIC_IDS[REPEATED], epoch=1, replicas=(BROKER_ID, 2)
    )
    with its.counted(1, is_done=False):
        message = produce_of(batch_of([b"x"]), topic=REPEATED, timeout_ms=5000)
        its.client.send(message, VERSION)
        await until(lambda: partition.log.end_offset == 3)
        partition.fetched_by(2, 3, 0, 0)
        served.broker.parked.go_on()
        answer = await its.client.receive()
    assert isinstance(answer, ProduceResponse) and only(answer).base_offset == 2


@with_broker()
async def test_where_every_message_is_flushed_it_is(served: Served) -> None:
    its = await twins(served, 1, overrides={"flush.messages": 1})
    with its.counted(1, is_done=False):
        await its.say(batch_of([b"x"]))
    assert its.partition.log.recovery_point == 3


@with_broker()
async def test_whoever_has_a_quota_is_measured(served: Served) -> None:
    its = await twins(served, 1)
    served.broker.throttling.is_on = True
    with its.counted(0):
        assert (await its.say(batch_of([b"x"]))).base_offset == 2


@with_broker()
async def test_it_is_counted_as_ever(served: Served) -> None:
    its = await twins(served, 1)
    repeated, ordinary = (served.broker.meters.topic(topic) for topic in TOPIC_IDS)
    meter = served.broker.meters.apis[PRODUCE]
    count, size = meter.count, meter.request_bytes
    its.client.wire.send(produce_of(batch_of([b"x"]), topic=REPEATED, acks=1), VERSION)
    data = b"".join(its.client.wire.take_output())
    its.client.writer.write(data)
    await its.client.receive()
    assert (meter.count, meter.request_bytes) == (count + 1, size + len(data) - 4)
    assert repeated.produce_requests == ordinary.produce_requests + 1
    assert repeated.messages_in == ordinary.messages_in + 1


@with_broker()
async def test_what_comes_behind_one_that_waits_waits_too(served: Served) -> None:
    """The order of answers is that of the requests, however quick an answer could be."""
    its = await twins(served, -1)
    partition = served.lead("slow", topic_id=b"s" * 16, replicas=(BROKER_ID, 2))
    its.client.send(produce_of(batch_of([b"x"]), topic="slow", timeout_ms=60_000), VERSION)
    await until(lambda: partition.log.end_offset == 1)
    with its.counted(0):
        its.client.send(produce_of(batch_of([b"x"]), topic=REPEATED), VERSION)
        await until(lambda: its.partition.log.end_offset == 3)
    partition.fetched_by(2, 1, 0, 0)
    served.broker.parked.go_on()
    for topic in ("slow", REPEATED):
        answer = await its.client.receive()
        assert isinstance(answer, ProduceResponse) and answer.responses[0].name == topic


@with_broker()
async def test_a_handler_that_breaks_stops_the_broker(served: Served) -> None:
    its = await twins(served, 1)

    def broken(repeat: Repeat, broker: Broker) -> Appended | None:
        raise RuntimeError("a bug")

    served.clients.again = {PRODUCE: broken}
    its.client.send(produce_of(batch_of([b"x"]), topic=REPEATED, acks=1), VERSION)
    assert await its.client.is_ended()
    failure, served.broker.tasks.failure = served.broker.tasks.failure, None
    assert failure is not None and "Produce" in failure.name and "a bug" in str(failure)
