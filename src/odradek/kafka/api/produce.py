"""Produce (key 0, versions 0-11): append batches, answer when they are safe.

acks=0   no answer; an error closes the connection
acks=1   answer once the leader's log holds the batch
acks=-1  answer once every in-sync replica holds it, or REQUEST_TIMED_OUT

Each partition succeeds or fails for itself. Where `flush.messages` asks for a flush, nobody is
answered before it is done.

The first batch of a transaction is taken only if its coordinator knows of it (KIP-890).

v3 takes one batch of magic 2 a partition, v0-2 take message sets; v7 allows zstd; v8 says what is
wrong with which record (KIP-467).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from struct import Struct

from odradek.kafka.admin.names import INTERNAL
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.hints import Hint, hint_of, nodes_at
from odradek.kafka.broker.parked import Until
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.partitions import ToAppend
from odradek.kafka.coordinator.txn_errors import for_producer, of_verification
from odradek.kafka.coordinator.txn_state import Claim
from odradek.kafka.storage.appending import Appended, verification_of
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.producers import Verification
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.wire.batch import (
    CODEC_MASK,
    HEADER_BYTES,
    MAGIC_POSITION,
    TRANSACTIONAL,
    Batch,
)
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from odradek.kafka.wire.schema import Records
from odradek.runtime.errors import ProtocolError

ALL_IN_SYNC = -1
FIRST_WITH_HINTS = 10
KNOWS_ABORTABLE = 11
KNOWN_ACKS = (ALL_IN_SYNC, 0, 1)

LARGE_BYTES = 256 * 1024  # Less is written soon enough.
ADMIN_CLIENT = "__admin_client"  # Kafka's own tools may write to internal topics under this name.
ATTRIBUTES_POSITION = 22  # The lower byte of a batch's attributes.
RARE = TRANSACTIONAL | Codec.ZSTD  # A batch with neither bit needs no second look.
LENGTH = Struct(">i")
LENGTH_POSITION, LENGTH_END = 8, 12
Verified = dict[tuple[str, int], Verification | Refusal]
NOTHING: Verified = {}
# What the log itself finds wrong with records; such answers say where it starts.
SEEN_BY_LOG = frozenset(
    {
        ErrorCode.INVALID_RECORD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.INVALID_PRODUCER_EPOCH,
    }
)


@dataclass(slots=True, eq=False)
class Attempt:
    """What became of one partition's records."""

    index: int
    error: ErrorCode = ErrorCode.NONE
    appended: Appended | None = None
    refusal: Refusal | None = None
    partition: Partition | None = None
    start_offset: int = -1
    tenure: int = -1  # In which of our times as leader it was appended.


async def produce(
    message: ProduceRequest, request: Request, broker: Broker
) -> ProduceResponse | None:
    if message.acks not in KNOWN_ACKS:
        return refuse_all(message, ErrorCode.INVALID_REQUIRED_ACKS)
    verified = NOTHING
    if message.transactional_id is not None:
        verified = await verify(broker, message, request.version)
    now_ms = broker.clock()
    attempt_all = attempt_together if request.size >= LARGE_BYTES else attempt_each
    attempts = attempt_all(broker, message, request, now_ms, verified)
    for each in attempts:
        if each.partition is not None and is_flush_due(each):
            await flush(broker, each)
    if message.acks == ALL_IN_SYNC:
        broker.parked.go_on()  # What followers wait for leaves before we begin to wait for them.
        pending = [each for each in attempts if not is_safe(each)]
        if pending:
            await replicate(broker, pending, message.timeout_ms)
    if message.acks == 0:
        close_if_any_failed(attempts)
        return None
    answers = map(answer, attempts)
    responses = [
        TopicProduceResponse(
            name=topic.name, partition_responses=[*islice(answers, len(topic.partition_data))]
        )
        for topic in message.topic_data
    ]
    if request.version >= FIRST_WITH_HINTS and has_moved(attempts):
        return hinted(broker, request, responses)
    return ProduceResponse(responses=responses)


def has_moved(attempts: list[Attempt]) -> bool:
    return any(each.error is ErrorCode.NOT_LEADER_OR_FOLLOWER for each in attempts)


def hinted(
    broker: Broker, request: Request, responses: list[TopicProduceResponse]
) -> ProduceResponse:
    """Say also who leads instead (KIP-951)."""
    nodes: dict[int, NodeEndpoint] = {}
    told = []
    for topic in responses:
        partitions = []
        for each in topic.partition_responses:
            if each.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                hint = hint_of(broker, topic.name, each.index)
                for id_, host, port, rack in nodes_at(
                    broker, hint.leader_id, request.origin.listener
                ):
                    nodes[id_] = NodeEndpoint(node_id=id_, host=host, port=port, rack=rack)
                partitions.append(moved(each.index, hint))
            else:
                partitions.append(each)
        told.append(TopicProduceResponse(name=topic.name, partition_responses=partitions))
    return ProduceResponse(responses=told, node_endpoints=list(nodes.values()))


def moved(index: int, hint: Hint) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=index,
        error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
        base_offset=-1,
        current_leader=LeaderIdAndEpoch(leader_id=hint.leader_id, leader_epoch=hint.leader_epoch),
    )


def attempt_each(
    broker: Broker, message: ProduceRequest, request: Request, now_ms: int, verified: Verified
) -> list[Attempt]:
    """Append to one partition after the other."""
    attempts, append = [], broker.partitions.append
    is_for_all = message.acks == ALL_IN_SYNC
    for topic in message.topic_data:
        for each in topic.partition_data:
            found = checked(broker, message, request, topic.name, each, verified)
            if isinstance(found, Partition):
                records, verification = each.records or b"", None
                if verified:
                    verification = verification_for(verified, topic.name, each.index)
                outcome = append(
                    found, records, now_ms, is_for_all=is_for_all, verification=verification
                )
                found = attempted(each.index, found, records, outcome)
            attempts.append(found)
    return attempts


def attempt_together(
    broker: Broker, message: ProduceRequest, request: Request, now_ms: int, verified: Verified
) -> list[Attempt]:
    """Append to all at once: where much is to be written, other processors write some of it."""
    attempts: list[Attempt | None] = []
    wanted: list[ToAppend] = []
    for topic in message.topic_data:
        for each in topic.partition_data:
            found = checked(broker, message, request, topic.name, each, verified)
            if isinstance(found, Partition):
                verification = verification_for(verified, topic.name, each.index)
                wanted.append(ToAppend(found, each.records or b"", verification))
            attempts.append(found if isinstance(found, Attempt) else None)
    is_for_all = message.acks == ALL_IN_SYNC
    outcomes = broker.partitions.append_together(wanted, now_ms, is_for_all=is_for_all)
    appended = (
        attempted(it.partition.where.partition, it.partition, it.records, outcome)
        for it, outcome in zip(wanted, outcomes, strict=True)
    )
    return [each or next(appended) for each in attempts]


def checked(
    broker: Broker,
    message: ProduceRequest,
    request: Request,
    topic: str,
    data: PartitionProduceData,
    verified: Verified,
) -> Partition | Attempt:
    """The partition, if one may append to it what came, as far as that can be told here."""
    index, records = data.index, data.records
    if topic in INTERNAL and request.client_id != ADMIN_CLIENT:
        return Attempt(index, ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition = broker.partitions.leader(topic, index)
    if isinstance(partition, ErrorCode):
        return Attempt(index, partition)
    partition.meter.produce_requests += 1
    records = b"" if records is None else records
    if early := mistake(message, request.version, records):
        return refused(index, early, partition, records, -1)
    if verified and isinstance(refusal := verified.get((topic, index)), Refusal):
        return refused(index, refusal, partition, records, -1)
    return partition


def verification_for(verified: Verified, topic: str, index: int) -> Verification | None:
    found = verified.get((topic, index))
    return None if isinstance(found, Refusal) else found


def attempted(
    index: int, partition: Partition, records: Records, outcome: Appended | Refusal
) -> Attempt:
    if isinstance(outcome, Appended):
        return Attempt(index, ErrorCode.NONE, outcome, None, partition, tenure=partition.tenure)
    start_offset = partition.log.start_offset if outcome.code in SEEN_BY_LOG else -1
    return refused(index, outcome, partition, records, start_offset)


def refused(
    index: int, refusal: Refusal, partition: Partition, records: Records, start_offset: int
) -> Attempt:
    partition.meter.failed_produce_requests += 1
    partition.meter.bytes_rejected += len(records)
    return Attempt(index, refusal.code, None, refusal, partition, start_offset)


async def verify(broker: Broker, message: ProduceRequest, version: int) -> Verified:
    """Ask the coordinator about the transactions that begin here."""
    asked: dict[Claim, dict[TopicPartition, Verification]] = {}
    for topic in message.topic_data:
        for each in topic.partition_data:
            partition = broker.partitions.leader(topic.name, each.index)
            if isinstance(partition, Partition) and each.records is not None:
                found = verification_of(partition.log, each.records, broker.clock())
                if found is not None:
                    claim = claim_of(message, each.records)
                    asked.setdefault(claim, {})[partition.where] = found
    verified: Verified = {}
    for claim, verifications in asked.items():
        codes = await broker.coordinators.verifier.verify(claim, list(verifications))
        for where, verification in verifications.items():
            code = codes.get(where, ErrorCode.NONE)
            verified[where] = unverified(code, version) if code else verification
    return verified


def claim_of(message: ProduceRequest, records: Records) -> Claim:
    batch = Batch(memoryview(records))
    assert message.transactional_id is not None
    return Claim(message.transactional_id, batch.producer_id, batch.producer_epoch)


def unverified(code: ErrorCode, version: int) -> Refusal:
    return Refusal(for_producer(of_verification(code, knows_abortable=version >= KNOWS_ABORTABLE)))


def mistake(message: ProduceRequest, version: int, records: Records) -> Refusal | None:
    """What may not be in a request of this version, whatever the topic says."""
    if is_usual(records):
        return None
    if version >= 3 and not is_one_entry(records):
        return Refusal(ErrorCode.INVALID_RECORD, "Not one batch for each partition")
    if len(records) <= ATTRIBUTES_POSITION:
        return None
    if records[MAGIC_POSITION] != 2:
        if version < 3:
            return None
        reason = f"Produce requests with version {version} may have batches of magic 2 alone"
        return Refusal(ErrorCode.INVALID_RECORD, reason)
    attributes = records[ATTRIBUTES_POSITION]
    if attributes & CODEC_MASK == Codec.ZSTD and 3 <= version < 7:
        reason = f"Produce requests with version {version} may not use ZStandard"
        return Refusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, reason)
    return transaction_mistake(message) if attributes & TRANSACTIONAL else None


def is_usual(records: Records) -> bool:
    """Whether there is one batch of magic 2, and nothing about it that depends on the version."""
    size = len(records)
    if size < HEADER_BYTES or LENGTH.unpack_from(records, LENGTH_POSITION)[0] != size - LENGTH_END:
        return False
    return records[MAGIC_POSITION] == 2 and not records[ATTRIBUTES_POSITION] & RARE


def is_one_entry(records: Records) -> bool:
    """Whether there is one whole entry; part of another may follow, and is dropped."""
    end = end_of_entry(records)
    return ATTRIBUTES_POSITION < end == len(records) or (
        end < len(records) < end + end_of_entry(records[end:])
    )


def end_of_entry(records: Records) -> int:
    return LENGTH_END + int.from_bytes(records[LENGTH_POSITION:LENGTH_END], "big")


def transaction_mistake(message: ProduceRequest) -> Refusal | None:
    if message.transactional_id is None:
        return Refusal(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    return None


def is_flush_due(each: Attempt) -> bool:
    assert each.partition is not None
    log = each.partition.log
    if each.appended is None or not log.settings.is_flushed_by_count:
        return False
    return log.unflushed_messages >= log.settings.flush_messages


async def flush(broker: Broker, each: Attempt) -> None:
    assert each.partition is not None
    if not await broker.partitions.flushes.flush(each.partition):
        each.error, each.appended = ErrorCode.KAFKA_STORAGE_ERROR, None


def is_settled(each: Attempt) -> bool:
    """Whether nothing is to be waited for: it failed, it is committed, or another leads."""
    partition, appended = each.partition, each.appended
    if appended is None or partition is None or has_lost_leader(each):
        return True
    return partition.log.high_watermark > appended.last_offset


def is_safe(each: Attempt) -> bool:
    """Whether all in-sync replicas have it, or it has failed already."""
    partition, appended = each.partition, each.appended
    if appended is None or partition is None:
        return True
    return partition.log.high_watermark > appended.last_offset and not has_lost_leader(each)


def has_lost_leader(each: Attempt) -> bool:
    """Whether another leads, or did since: what was appended may have been cut off.

    A newer epoch alone, as when a follower dies, takes nothing away.
    """
    assert each.partition is not None
    return each.partition.leadership is None or each.partition.tenure != each.tenure


async def replicate(broker: Broker, pending: list[Attempt], timeout_ms: int) -> None:
    """Wait until all in-sync replicas have it, and say how that ended."""
    partitions = [each.partition for each in pending if each.partition is not None]
    until_settled = Until(lambda: all(map(is_settled, pending)))
    if not until_settled.is_met():  # Another may lead since we flushed, or let others go on.
        await broker.parked.wait(until_settled, partitions, timeout_ms)
    for each in pending:
        each.error = replication_error(each)


def replication_error(each: Attempt) -> ErrorCode:
    assert each.partition is not None
    leadership = each.partition.leadership
    if leadership is None or has_lost_leader(each):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if not is_settled(each):
        return ErrorCode.REQUEST_TIMED_OUT
    if len(leadership.maximal_isr) < each.partition.min_isr:
        return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return ErrorCode.NONE


def answer(each: Attempt) -> PartitionProduceResponse:
    appended = each.appended
    if appended is not None and not each.error:
        return PartitionProduceResponse(
            index=each.index,
            error_code=0,
            base_offset=appended.first_offset,
            log_append_time_ms=appended.append_time_ms,
            log_start_offset=appended.start_offset,
        )
    refusal = each.refusal or Refusal(each.error)
    found = (
        BatchIndexAndErrorMessage(batch_index=error.batch_index, batch_index_error_message=text)
        for error in refusal.record_errors
        if (text := error.message)
    )
    return PartitionProduceResponse(
        index=each.index,
        error_code=each.error,
        base_offset=-1 if appended is None else appended.first_offset,
        log_start_offset=each.start_offset if appended is None else appended.start_offset,
        record_errors=list(found),
        error_message=refusal.message if refusal.record_errors else None,
    )


def refuse_all(message: ProduceRequest, error: ErrorCode) -> ProduceResponse:
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    answer(Attempt(each.index, error)) for each in topic.partition_data
                ],
            )
            for topic in message.topic_data
        ]
    )


def close_if_any_failed(attempts: list[Attempt]) -> None:
    """Who wants no answer learns of an error by the end of the connection."""
    for each in attempts:
        if each.error:
            raise ProtocolError(f"a Produce with acks=0 failed: {each.error.name}")
