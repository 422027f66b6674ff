"""InitProducerId, AddPartitionsToTxn, EndTxn and who sees transactions: from begin to end."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from tests.kafka.api.administered import Administered, administered
from tests.kafka.api.grouped import coordinating, init
from tests.kafka.api.transacting import Transactor

T0 = {"t": [0]}


def stable_offset(broker: Administered) -> int:
    partition = broker.broker.partitions.get("t", 0)
    assert partition is not None
    return partition.log.last_stable_offset


@coordinating()
async def test_a_transaction_becomes_visible_when_it_is_committed(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    for version in range(5):
        start = stable_offset(broker)
        assert await producer.add(T0, min(version, 3)) == {("t", 0): 0}
        assert await producer.produce(b"a", b"b") == 0
        assert stable_offset(broker) == start
        assert await producer.end(version=version) == 0
        assert stable_offset(broker) == start + 3


@coordinating()
async def test_an_epoch_shuts_out_the_one_before(broker: Administered) -> None:
    older = Transactor(broker, await init(broker))
    await older.add(T0)
    await older.produce(b"of the zombie")
    told = await init(broker)
    while told.error_code == ErrorCode.CONCURRENT_TRANSACTIONS:
        told = await init(broker)
    newer = Transactor(broker, told)
    assert (newer.id, newer.epoch > older.epoch) == (older.id, True)
    fenced, stale = ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH
    assert [await older.end(version=it) for it in range(5)] == [stale, stale] + [fenced] * 3
    assert await older.add(T0, 1) == {("t", 0): stale}
    assert await older.add(T0, 3) == {("t", 0): fenced}
    assert await older.add_offsets("g", 1) == stale
    assert await older.produce(b"again") == stale


@coordinating(transaction_max_timeout_ms=1000)
async def test_a_timeout_above_the_maximum_is_refused(broker: Administered) -> None:
    assert (await init(broker, "x", 1001)).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert (await init(broker, "x", 1000)).error_code == 0
    assert (await init(broker, "", 1000)).error_code == ErrorCode.INVALID_REQUEST


@coordinating(transaction_abort_timed_out_transaction_cleanup_interval_ms=5)
async def test_what_is_open_for_too_long_is_aborted(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker, "x", 20))
    await producer.add(T0)
    assert await producer.produce(b"late") == 0
    await broker.until(lambda: stable_offset(broker) == 2)
    assert await producer.end() == ErrorCode.PRODUCER_FENCED


@coordinating()
async def test_without_a_transactional_id_every_producer_is_a_new_one(
    broker: Administered,
) -> None:
    first, second = await init(broker, None), await init(broker, None)
    assert (first.error_code, second.error_code) == (0, 0)
    assert first.producer_id != second.producer_id


@administered()
async def test_who_is_no_coordinator_says_so(broker: Administered) -> None:
    message = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=1000)
    response = await broker.ask(message, 4, InitProducerIdResponse)
    assert (response.error_code, response.producer_id) == (ErrorCode.NOT_COORDINATOR, -1)


@coordinating()
async def test_a_partition_that_does_not_exist_fails_the_others(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    missing, skipped = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
    codes = await producer.add({"t": [0, 9]})
    assert codes == {("t", 0): skipped, ("t", 9): missing}
    internal = await producer.add({"__consumer_offsets": [0], "t": [0]})
    assert internal == {
        ("__consumer_offsets", 0): ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ("t", 0): skipped,
    }
    assert await producer.end() == ErrorCode.INVALID_TXN_STATE


@coordinating()
async def test_brokers_may_ask_what_is_in_a_transaction(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    await producer.add(T0)
    for version in (4, 5):
        assert await producer.ask_as_broker({"t": [0, 1]}, version) == {
            ("t", 0): 0,
            ("t", 1): ErrorCode.TRANSACTION_ABORTABLE,
        }
    assert await producer.ask_as_broker({"t": [1]}, verify_only=False) == {("t", 1): 0}
    assert await producer.ask_as_broker({"t": [1]}) == {("t", 1): 0}
    stranger = Transactor(broker, await init(broker, "y"), "unknown")
    unknown = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert await stranger.ask_as_broker(T0) == {("t", 0): unknown}


@coordinating()
async def test_records_of_no_open_transaction_are_refused(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    assert await producer.produce(b"x", version=11) == ErrorCode.TRANSACTION_ABORTABLE
    assert await producer.produce(b"x", version=10) == ErrorCode.INVALID_TXN_STATE
    await producer.add(T0)
    assert await producer.produce(b"x") == 0
    assert await producer.end() == 0
    assert await producer.produce(b"late") == ErrorCode.TRANSACTION_ABORTABLE
    assert stable_offset(broker) == 2


@coordinating(transaction_partition_verification_enable=False)
async def test_verification_may_be_turned_off(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    assert await producer.produce(b"x") == 0


@coordinating()
async def test_transactions_are_listed_and_described(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    await producer.add(T0)
    for version in (0, 1):
        message = ListTransactionsRequest(state_filters=["Ongoing"], producer_id_filters=[])
        listed = await broker.ask(message, version, ListTransactionsResponse)
        (only,) = listed.transaction_states
        assert (only.transactional_id, only.producer_id) == ("x", producer.id)
    wanted = DescribeTransactionsRequest(transactional_ids=["x", "unknown"])
    described = await broker.ask(wanted, 0, DescribeTransactionsResponse)
    known, unknown = described.transaction_states
    assert (known.transaction_state, known.error_code) == ("Ongoing", 0)
    assert [(each.topic, each.partitions) for each in known.topics] == [("t", [0])]
    assert unknown.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
