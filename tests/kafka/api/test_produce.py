"""Produce: what is appended, what is refused, and when it is answered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest

from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.message_set import write_message_set
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceResponse,
)
from odradek.kafka.wire.records import Record
from odradek.runtime.disk import DiskBroken
from odradek.runtime.errors import ProtocolError
from tests.kafka.broker.asking import (
    NAMES_VERSION,
    PRODUCE_VERSION,
    fetch_of,
    get,
    only,
    produce_of,
    put,
    put_batch,
    values_of,
)
from tests.kafka.broker.served import BROKER_ID, Served, serving, state_of, with_broker
from tests.kafka.storage.logs import batch_of, marker_of
from tests.simulation.storages import LooseStorage

VERSIONS = range(PRODUCE_VERSION + 1)
INVALID = ErrorCode.INVALID_RECORD


@with_broker()
async def test_every_version_appends_and_says_where(served: Served) -> None:
    served.lead()
    for number, version in enumerate(VERSIONS):
        answer = await put(served, b"one", version=version)
        assert (answer.error_code, answer.base_offset) == (0, number)
        assert answer.log_append_time_ms == -1
        assert answer.log_start_offset == (0 if version >= 5 else -1)


@with_broker()
async def test_part_of_a_second_batch_is_dropped_but_a_whole_one_is_refused(served: Served) -> None:
    served.lead()
    batch = batch_of([b"x" * 80])
    for length in (1, 20, len(batch) - 1):
        assert (await put_batch(served, batch + batch[:length])).error_code == 0
    for data in (batch + batch, batch[:-1], b""):
        answer = await put_batch(served, data)
        assert (answer.error_code, answer.error_message) == (INVALID, None)
        assert answer.log_start_offset == -1


@with_broker()
async def test_message_sets_of_old_clients_are_stored_as_batches(served: Served) -> None:
    served.lead()
    for magic in (0, 1):
        old = write_message_set([Record(0, 5, None, b"old")], magic, Codec.NONE, None)
        answer = await put_batch(served, bytes(old), version=2)
        assert (answer.error_code, answer.base_offset) == (0, magic)
        refused = await put_batch(served, bytes(old), version=3)
        assert refused.error_code == INVALID
    (data,) = await get(served, fetch_of(0))
    assert values_of(data) == [b"old", b"old"]


@with_broker()
async def test_each_partition_succeeds_or_fails_for_itself(served: Served) -> None:
    served.lead(index=0)
    served.lead(index=2)
    corrupt = bytearray(batch_of([b"x"]))
    corrupt[-1] ^= 1
    message = produce_of(batch_of([b"a"]), batch_of([b"b"]), bytes(corrupt), None)
    answer = await served.ask(message, PRODUCE_VERSION, ProduceResponse)
    ((good, absent, bad, unknown),) = (each.partition_responses for each in answer.responses)
    assert good.error_code == 0
    assert absent.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert bad.error_code == ErrorCode.CORRUPT_MESSAGE and bad.base_offset == -1
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@with_broker()
async def test_many_partitions_are_appended_to_at_once(served: Served) -> None:
    for index in range(6):
        served.lead(index=index)
    for turn, size in enumerate((10, 300_000, 300_000)):
        batches = [batch_of([bytes([index]) * size]) for index in range(6)]
        found = await put_all(served, *batches)
        assert [(each.error_code, each.base_offset) for each in found] == [(0, turn)] * 6
    message = fetch_of(*[0] * 6, bytes_max=8 << 20)
    for index, data in enumerate(await get(served, message)):
        each = bytes([index])
        assert values_of(data) == [each * 10, each * 300_000, each * 300_000]


@with_broker()
async def test_a_partition_that_is_named_twice_gets_both_in_order(served: Served) -> None:
    served.lead(index=0)
    served.lead(index=1)
    for turn, size in enumerate((1, 100_000)):
        message = produce_of(batch_of([b"a" * size]), batch_of([b"b" * size]))
        again = PartitionProduceData(index=0, records=batch_of([b"c" * size]))
        message.topic_data[0].partition_data.append(again)
        answer = await served.ask(message, PRODUCE_VERSION, ProduceResponse)
        ((first, other, second),) = (each.partition_responses for each in answer.responses)
        offsets = [2 * turn, turn, 2 * turn + 1]
        assert [each.base_offset for each in (first, other, second)] == offsets
        (data,) = await get(served, fetch_of(2 * turn))
        assert values_of(data) == [b"a" * size, b"c" * size]


async def put_all(served: Served, *batches: bytes) -> list[PartitionProduceResponse]:
    """Produce one batch to each partition, from 0 on."""
    answer = await served.ask(produce_of(*batches), PRODUCE_VERSION, ProduceResponse)
    return answer.responses[0].partition_responses


@with_broker()
async def test_who_does_not_lead_says_so(served: Served) -> None:
    served.lead()
    partitions = served.broker.partitions
    assert partitions.follow(state_of(0, 2, 1, (1, 2)), "t") == ErrorCode.NONE
    assert (await put(served, b"x")).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@with_broker()
async def test_acks_are_all_one_or_none(served: Served) -> None:
    served.lead()
    for acks in (2, -2, 100):
        answer = await put(served, b"x", acks=acks)
        assert answer.error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert (await put(served, b"x", acks=1)).base_offset == 0


@with_broker()
async def test_who_wants_no_answer_gets_none_and_learns_of_errors_by_the_end(
    served: Served,
) -> None:
    served.lead()
    assert await served.tell(produce_of(batch_of([b"x"]), acks=0), PRODUCE_VERSION) is None
    with pytest.raises(ProtocolError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        await served.tell(produce_of(batch_of([b"x"]), topic="u", acks=0), PRODUCE_VERSION)


@with_broker()
async def test_internal_topics_are_not_written_by_clients(served: Served) -> None:
    served.lead("__consumer_offsets")
    message = produce_of(batch_of([b"x"], key=b"k"), topic="__consumer_offsets")
    answer = await served.ask(message, PRODUCE_VERSION, ProduceResponse)
    assert only(answer).error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    answer = await served.ask(message, PRODUCE_VERSION, ProduceResponse, "__admin_client")
    assert only(answer).error_code == 0


@with_broker()
async def test_max_message_bytes_is_enforced(served: Served) -> None:
    served.lead(overrides={"max.message.bytes": 200})
    assert (await put(served, bytes(100))).error_code == 0
    assert (await put(served, bytes(200))).error_code == ErrorCode.MESSAGE_TOO_LARGE
    assert (await put(served, b"next")).base_offset == 1


@with_broker()
async def test_a_compacted_topic_wants_keys_and_says_which_record_lacks_one(
    served: Served,
) -> None:
    served.lead(overrides={"cleanup.policy": "compact"})
    answer = await put_batch(served, batch_of([b"a", b"b"]))
    assert answer.error_code == INVALID
    assert [error.batch_index for error in answer.record_errors] == [0, 1]
    assert answer.error_message
    assert (await put_batch(served, batch_of([b"a", b"b"]), version=7)).error_message is None
    assert (await put_batch(served, batch_of([b"a"], key=b"k"))).error_code == 0


@with_broker()
async def test_append_time_is_told(served: Served) -> None:
    served.lead(overrides={"message.timestamp.type": "LogAppendTime"})
    answer = await put(served, b"x")
    assert answer.log_append_time_ms > 1_700_000_000_000


@with_broker()
async def test_a_batch_that_comes_again_is_answered_as_before(served: Served) -> None:
    served.lead()
    first = batch_of([b"a", b"b"], producer_id=7, sequence=0)
    second = batch_of([b"c"], producer_id=7, sequence=2)
    assert (await put_batch(served, first)).base_offset == 0
    assert (await put_batch(served, second)).base_offset == 2
    assert (await put_batch(served, first)).base_offset == 0
    gap = batch_of([b"d"], producer_id=7, sequence=9)
    assert (await put_batch(served, gap)).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    partition = served.broker.partitions.get("t", 0)
    assert partition is not None and partition.log.end_offset == 3


@with_broker()
async def test_zstd_needs_version_seven(served: Served) -> None:
    served.lead()
    data = batch_of([b"x" * 100], codec=Codec.ZSTD)
    for version in (3, 6):
        answer = await put_batch(served, data, version=version)
        assert answer.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert (await put_batch(served, data, version=7)).error_code == 0


@with_broker()
async def test_a_client_writes_no_control_batch_and_nothing_that_is_no_batch(
    served: Served,
) -> None:
    served.lead()
    marker = marker_of(7, MarkerType.ABORT)
    plain = bytearray(marker)
    assert (await put_batch(served, bytes(plain))).error_code != 0
    for data in (b"", b"x", bytes(61), batch_of([b"x"])[:-1], batch_of([b"x"]) * 2):
        answer = await put_batch(served, data)
        assert answer.error_code in (INVALID, ErrorCode.CORRUPT_MESSAGE)
    partition = served.broker.partitions.get("t", 0)
    assert partition is not None and partition.log.end_offset == 0


@with_broker()
async def test_bytes_that_were_flipped_are_refused_and_harm_nobody(served: Served) -> None:
    partition = served.lead()
    random, whole = Random(5), batch_of([b"abc", b"def"], key=b"k")
    for _ in range(300):
        data = bytearray(whole)
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        before = partition.log.end_offset
        answer = await put_batch(served, bytes(data))
        # Neither the base offset nor the epoch is under the checksum; the broker sets both.
        grown = partition.log.end_offset - before
        assert grown == (0 if answer.error_code else 2)
    assert (await put_batch(served, whole)).error_code == 0


@with_broker()
async def test_a_transaction_needs_the_id_of_who_transacts(served: Served) -> None:
    served.lead()
    data = batch_of([b"x"], producer_id=7, is_transactional=True)
    answer = await served.ask(produce_of(data), PRODUCE_VERSION, ProduceResponse)
    assert only(answer).error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


# Replicas


async def begun(served: Served, acks: int = -1, timeout_ms: int = 5000) -> asyncio.Task[int]:
    """A produce that has been appended, and may have to wait."""

    async def ask() -> int:
        message = produce_of(batch_of([b"x"]), acks=acks, timeout_ms=timeout_ms)
        return only(await served.ask(message, PRODUCE_VERSION, ProduceResponse)).error_code

    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    return task


@with_broker()
async def test_acks_all_waits_for_the_replicas_and_acks_one_does_not(served: Served) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2), isr=(BROKER_ID, 2))
    all_task, one_task = await begun(served), await begun(served, acks=1)
    assert await one_task == 0
    assert not all_task.done() and served.broker.parked.others == 1
    assert partition.fetched_by(2, 1, 0, 0)
    assert await all_task == 0
    assert served.broker.parked.others == 0 and not partition.watchers
    assert partition.log.high_watermark == 1


@with_broker()
async def test_replicas_that_do_not_come_in_time_are_a_timeout(served: Served) -> None:
    served.lead(replicas=(BROKER_ID, 2), isr=(BROKER_ID, 2))
    task = await begun(served, timeout_ms=1)
    assert await task == ErrorCode.REQUEST_TIMED_OUT


@with_broker()
async def test_too_few_in_sync_are_refused_before_and_told_after(served: Served) -> None:
    replicas = (BROKER_ID, 2)
    partition = served.lead(
        replicas=replicas, isr=(BROKER_ID,), overrides={"min.insync.replicas": 2}
    )
    assert await (await begun(served)) == ErrorCode.NOT_ENOUGH_REPLICAS
    assert partition.log.end_offset == 0
    assert await (await begun(served, acks=1)) == 0
    served.lead(replicas=replicas, isr=replicas, epoch=1)
    task = await begun(served)
    assert partition.leadership is not None
    partition.fetched_by(2, 2, 0, 0)
    partition.leadership.confirm({BROKER_ID})
    assert await task == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


@with_broker()
async def test_who_leads_no_more_says_so_to_those_who_wait(served: Served) -> None:
    served.lead(replicas=(BROKER_ID, 2), isr=(BROKER_ID, 2))
    task = await begun(served)
    served.broker.partitions.follow(state_of(0, 2, 1, (BROKER_ID, 2)), "t")
    assert await task == ErrorCode.NOT_LEADER_OR_FOLLOWER


@with_broker()
async def test_a_newer_epoch_of_the_same_leader_takes_nothing_back(served: Served) -> None:
    """A follower that dies raises the epoch; whoever produces need not repeat itself for that."""
    partition = served.lead(replicas=(BROKER_ID, 2, 3), isr=(BROKER_ID, 2, 3))
    task = await begun(served)
    served.lead(replicas=(BROKER_ID, 2, 3), isr=(BROKER_ID, 2), epoch=1)
    assert not task.done()
    assert partition.fetched_by(2, 1, 0, 0)
    assert await task == 0


@with_broker()
async def test_who_leads_again_acknowledges_nothing_of_the_time_before(served: Served) -> None:
    served.lead(replicas=(BROKER_ID, 2), isr=(BROKER_ID, 2))
    task = await begun(served)
    served.broker.partitions.follow(state_of(0, 2, 1, (BROKER_ID, 2)), "t")
    served.lead(replicas=(BROKER_ID, 2), isr=(BROKER_ID,), epoch=2)
    assert await task == ErrorCode.NOT_LEADER_OR_FOLLOWER


# Disks


@with_broker()
async def test_where_every_message_is_flushed_the_answer_comes_after_it(served: Served) -> None:
    partition = served.lead(overrides={"flush.messages": 1})
    answers = await asyncio.gather(*(put(served, b"x") for _ in range(5)))
    assert {answer.error_code for answer in answers} == {0}
    assert partition.log.recovery_point == partition.log.end_offset == 5


def test_a_full_disk_fails_the_append_and_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    async def story() -> None:
        host = LooseStorage()
        async with serving(Path("/data"), disk=host.disk()) as served:
            partition = served.lead(overrides={"segment.index.bytes": 120})
            assert (await put(served, b"kept")).error_code == 0
            host.storage.device.capacity_bytes = host.storage.device.used_bytes + 10
            assert (await put(served, bytes(99))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
            host.storage.device.capacity_bytes = 1 << 30
            assert partition.log.end_offset == 1
            assert (await put(served, b"more")).base_offset == 1
            (data,) = await get(served, fetch_of(0), NAMES_VERSION)
            assert values_of(data) == [b"kept", b"more"]

    asyncio.run(story())


def test_a_broken_disk_takes_its_partitions_offline_and_no_others(tmp_path: Path) -> None:
    async def story() -> None:
        host = LooseStorage()
        async with serving(Path("/data"), disk=host.disk(), directory_count=2) as served:
            first, second = served.lead(index=0), served.lead(index=1)
            failed: list[str] = []
            served.broker.partitions.directory_failed = lambda each: failed.append(each.path)
            host.storage.device.fail("write", under=first.log.directory)
            message = produce_of(batch_of([b"a"]), batch_of([b"b"]))
            for _ in range(2):
                answer = await served.ask(message, PRODUCE_VERSION, ProduceResponse)
                ((bad, good),) = (each.partition_responses for each in answer.responses)
                assert bad.error_code == ErrorCode.KAFKA_STORAGE_ERROR
                assert good.error_code == 0
            assert failed == ["/data/data-0"]
            assert list(served.broker.partitions.all()) == [second]

    asyncio.run(story())


def test_a_full_disk_fails_those_of_a_request_that_have_no_room(tmp_path: Path) -> None:
    async def story() -> None:
        host = LooseStorage()
        async with serving(Path("/data"), disk=host.disk()) as served:
            logs = [
                served.lead(index=index, overrides={"segment.index.bytes": 120}).log
                for index in range(3)
            ]
            await put_all(served, *[batch_of([b"kept"])] * 3)
            device = host.storage.device
            device.capacity_bytes = device.used_bytes + 250_000
            batches = [batch_of([bytes(size)]) for size in (100_000, 400_000, 100_000)]
            codes = [each.error_code for each in await put_all(served, *batches)]
            assert codes == [0, ErrorCode.KAFKA_STORAGE_ERROR, 0]
            device.capacity_bytes = 1 << 30
            assert [log.end_offset for log in logs] == [2, 1, 2]
            assert [each.base_offset for each in await put_all(served, *batches)] == [2, 1, 2]

    asyncio.run(story())


def test_nothing_is_acknowledged_on_a_disk_that_broke_in_the_same_request(tmp_path: Path) -> None:
    async def story() -> None:
        host = LooseStorage()
        async with serving(Path("/data"), disk=host.disk()) as served:
            logs = [served.lead(index=index).log for index in range(3)]
            await put_all(served, *[batch_of([b"kept"])] * 3)
            host.storage.device.fail("write", under=logs[1].segments[-1].path)
            found = await put_all(served, *[batch_of([bytes(100_000)])] * 3)
            assert [each.error_code for each in found] == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
            assert not list(served.broker.partitions.all())
            assert [log.end_offset for log in logs] == [1, 1, 1]

    asyncio.run(story())


def test_a_flush_that_fails_fails_those_who_wait_for_it(tmp_path: Path) -> None:
    async def story() -> None:
        host = LooseStorage()
        async with serving(Path("/data"), disk=host.disk()) as served:
            partition = served.lead(overrides={"flush.messages": 1})
            host.storage.device.fail("sync", under=partition.log.directory)
            assert (await put(served, b"x")).error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert isinstance(served.broker.directories.offline["/data/data-0"], DiskBroken)

    asyncio.run(story())


@with_broker()
async def test_a_leader_that_is_deposed_while_it_flushes_acknowledges_nothing(
    served: Served,
) -> None:
    """What it has appended will be cut off: nobody else has it."""
    served.lead(replicas=(BROKER_ID, 2), isr=(BROKER_ID,), overrides={"flush.messages": 1})
    asked = asyncio.ensure_future(put(served, b"x"))
    await asyncio.sleep(0)
    assert served.broker.partitions.follow(state_of(0, 2, 1, (BROKER_ID, 2)), "t") == 0
    async with asyncio.timeout(2.5):  # Half of what the request would wait for replicas.
        assert (await asked).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@with_broker()
async def test_what_is_to_be_flushed_is_not_committed_before_it_is(served: Served) -> None:
    partition = served.lead(overrides={"flush.messages": 1})
    asked = asyncio.ensure_future(put(served, b"x", acks=1))
    await asyncio.sleep(0)
    assert (partition.log.high_watermark, partition.log.end_offset) == (0, 1)
    assert (await asked).error_code == ErrorCode.NONE
    assert partition.log.high_watermark == 1
