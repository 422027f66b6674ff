"""What brokers are asked about records: to append them, to give them, and where they are."""

from __future__ import annotations

from dataclasses import replace

from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.message_set import write_message_set
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from odradek.kafka.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from odradek.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from odradek.kafka.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from odradek.kafka.wire.records import Record
from tests.kafka.server.transcript import Transcript

TIME_MS = 1_700_000_000_000
FAR_FUTURE_MS = 4_000_000_000_000
HEADERS = (("a", b"1"), ("none", None), ("a", b""))
CODECS = list(Codec)


def make(to: Transcript, name: str, partitions: int = 1, **configs: str) -> bytes:
    """A new topic; its id."""
    settings = [
        CreatableTopicConfig(name=key.replace("_", "."), value=value)
        for key, value in configs.items()
    ]
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=settings,
    )
    answer = to.ask_silently(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse)
    assert answer.topics[0].error_code == 0, answer
    return answer.topics[0].topic_id


def records(count: int, start_ms: int = TIME_MS, key: bytes | None = b"key") -> list[Record]:
    return [
        Record(n, start_ms + 10 * n, key, b"value %d" % n, HEADERS if n % 2 else ())
        for n in range(count)
    ]


def put(
    to: Transcript,
    note: str,
    topic: str,
    data: bytes | bytearray,
    *,
    index: int = 0,
    version: int = 11,
    acks: int = -1,
) -> None:
    partition = PartitionProduceData(index=index, records=data)
    request = ProduceRequest(
        acks=acks,
        timeout_ms=30_000,
        topic_data=[TopicProduceData(name=topic, partition_data=[partition])],
    )
    to.provoke(request, version, note)


def produce_dialogue(to: Transcript) -> None:
    to.title("Produce: what is taken")
    make(to, "produce", 2)
    for version in range(3, 12):
        put(to, "a batch", "produce", write_batch(records(2)), version=version)
    for version, magic in ((0, 0), (1, 0), (2, 1)):
        old = write_message_set(records(2), magic)
        put(to, f"magic {magic}", "produce", old, version=version)
    for codec in CODECS:
        put(to, codec.name, "produce", write_batch(records(3), Envelope(codec=codec)))
    put(to, "acks 1", "produce", write_batch(records(1)), acks=1)
    make(to, "append-time", message_timestamp_type="LogAppendTime")
    put(to, "append time", "append-time", write_batch(records(1)))
    refusals_part(to)
    sequences_part(to)
    limits_part(to)


def refusals_part(to: Transcript) -> None:
    to.title("Produce: what is refused")
    good = write_batch(records(2))
    put(to, "unknown topic", "nowhere", good)
    put(to, "unknown partition", "produce", good, index=9)
    put(to, "acks 2", "produce", good, acks=2)
    put(to, "nothing", "produce", b"")
    put(to, "two batches", "produce", good + good)
    for length in (1, 20, 80):
        put(to, f"a batch and {length} bytes more", "produce", good + good[:length])
    spoilt = bytearray(good)
    spoilt[-1] ^= 1
    put(to, "a bad checksum", "produce", spoilt)
    put(to, "cut short", "produce", good[:-1])
    put(to, "a header alone", "produce", good[:61])
    put(
        to,
        "zstd before v7",
        "produce",
        write_batch(records(1), Envelope(codec=Codec.ZSTD)),
        version=6,
    )
    for version in (3, 7):
        put(to, "magic 1", "produce", write_message_set(records(1), 1), version=version)
    put(to, "magic 2", "produce", good, version=2)
    put(to, "a control batch", "produce", write_batch(records(1), Envelope(is_control=True)))
    put(to, "a leader epoch", "produce", write_batch(records(1), Envelope(leader_epoch=7)))
    put(
        to,
        "offsets from 5",
        "produce",
        write_batch([Record(n + 5, TIME_MS, None, b"") for n in range(2)]),
    )
    gap = write_batch([Record(n, TIME_MS, None, b"") for n in (0, 3)])
    put(to, "a gap between offsets", "produce", gap)
    put(to, "no time", "produce", write_batch([Record(0, -1, None, b"")]))
    put(to, "the far future", "produce", write_batch(records(1, FAR_FUTURE_MS)))
    make(to, "compacted", cleanup_policy="compact")
    put(to, "no key", "compacted", write_batch(records(2, key=None)))
    put(to, "no key", "compacted", write_batch(records(2, key=None)), version=7)
    put(to, "a key", "compacted", write_batch(records(2)))
    make(to, "in-sync", min_insync_replicas="2")
    put(to, "too few in sync", "in-sync", good)
    put(to, "too few in sync, acks 1", "in-sync", good, acks=1)


def limits_part(to: Transcript) -> None:
    to.title("Produce: limits")
    make(to, "small", max_message_bytes="500")
    for size in (400, 600):
        put(to, f"{size} bytes", "small", write_batch([Record(0, TIME_MS, None, bytes(size))]))
    make(to, "old-only", message_timestamp_before_max_ms="1000")
    put(to, "too old", "old-only", write_batch(records(2)))
    put(to, "too old", "old-only", write_batch(records(2)), version=7)
    make(to, "segments", segment_bytes="1000")
    put(to, "more than a segment", "segments", write_batch([Record(0, TIME_MS, None, bytes(2000))]))


def sequences_part(to: Transcript) -> None:
    to.title("Produce: sequences")
    first = Envelope(producer_id=70, producer_epoch=3, base_sequence=0)

    def numbered(note: str, count: int = 1, index: int = 1, **changes: int) -> None:
        envelope = replace(first, **changes)  # type: ignore[arg-type]
        put(to, note, "produce", write_batch(records(count), envelope), index=index)

    numbered("first", 2)
    numbered("again", 2)
    numbered("next", base_sequence=2)
    numbered("next but one", base_sequence=4)
    for sequence in range(3, 9):
        numbered("next", base_sequence=sequence)
    numbered("the fifth from the end again", base_sequence=4)
    numbered("an older one again", base_sequence=2)
    numbered("overlapping", 2, base_sequence=8)
    numbered("an older epoch", base_sequence=9, producer_epoch=2)
    numbered("a new epoch in the middle", base_sequence=9, producer_epoch=4)
    numbered("a new epoch", base_sequence=0, producer_epoch=4)
    numbered("unknown producer from 5", base_sequence=5, producer_id=71)
    numbered("no sequence", base_sequence=-1, producer_id=72)
    numbered("no epoch", producer_epoch=-1, producer_id=73)
    numbered("the last sequence", base_sequence=2**31 - 1, producer_id=74)
    numbered("wrapped", base_sequence=0, producer_id=74)
    transactional = replace(first, producer_id=75, is_transactional=True)
    put(to, "a transaction without an id", "produce", write_batch(records(1), transactional))
    topics = [TopicRequest(name="produce", partition_indexes=[1])]
    answer = to.ask_silently(DescribeProducersRequest(topics=topics), 0, DescribeProducersResponse)
    producers = answer.topics[0].partitions[0].active_producers
    for each in sorted(producers, key=lambda each: each.producer_id):
        to.lines.append(
            f"  {each.producer_id} {each.producer_epoch} {each.last_sequence} "
            f"{each.last_timestamp} {each.coordinator_epoch} {each.current_txn_start_offset}"
        )
    for name, index in (("nowhere", 0), ("produce", 9)):
        request = DescribeProducersRequest(
            topics=[TopicRequest(name=name, partition_indexes=[index])]
        )
        to.ask(request, 0, DescribeProducersResponse, name)


def offsets_dialogue(to: Transcript) -> None:
    to.title("ListOffsets")
    make(to, "offsets", 2)
    for start in range(3):
        put(to, "some", "offsets", write_batch(records(4, TIME_MS + 1000 * start)))

    def look(
        note: str,
        timestamp: int,
        topic: str = "offsets",
        index: int = 0,
        *,
        version: int = 9,
        epoch: int = -1,
        isolation: int = 0,
    ) -> None:
        partition = ListOffsetsPartition(
            partition_index=index, timestamp=timestamp, current_leader_epoch=epoch
        )
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=isolation,
            topics=[ListOffsetsTopic(name=topic, partitions=[partition])],
        )
        to.provoke(request, version, note)

    for version in range(10):
        for special in range(-1, -7, -1):
            look(f"special {special}", special, version=version)
        look("a time", TIME_MS + 1005, version=version)
    for time in (
        0,
        TIME_MS,
        TIME_MS + 1,
        TIME_MS + 30,
        TIME_MS + 31,
        TIME_MS + 2030,
        TIME_MS + 2031,
    ):
        look(f"{time - TIME_MS} after", time)
    look("empty, earliest", -2, index=1)
    look("empty, latest", -1, index=1)
    look("empty, largest time", -3, index=1)
    look("empty, a time", 5, index=1)
    look("unknown topic", -1, "nowhere")
    look("unknown partition", -1, index=7)
    look("this leader", -1, epoch=0)
    look("a later leader", -1, epoch=5)
    look("committed", -1, isolation=1)
    epochs_part(to)
    deletion_part(to)
    look("earliest after", -2)
    look("a deleted time", TIME_MS)
    look("local earliest after", -4)
    look("largest time after", -3)


def epochs_part(to: Transcript) -> None:
    to.title("OffsetForLeaderEpoch")

    def look(
        note: str,
        leader: int,
        current: int = -1,
        index: int = 0,
        version: int = 4,
        topic: str = "offsets",
    ) -> None:
        partition = OffsetForLeaderPartition(
            partition=index, current_leader_epoch=current, leader_epoch=leader
        )
        request = OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[OffsetForLeaderTopic(topic=topic, partitions=[partition])]
        )
        to.ask(request, version, OffsetForLeaderEpochResponse, note)

    for version in range(5):
        look("first", 0, version=version)
    look("later", 4)
    look("none", -1)
    look("ahead", 0, current=4)
    look("empty", 0, index=1)
    look("unknown partition", 0, index=8)
    look("unknown topic", 0, topic="nowhere")


def deletion_part(to: Transcript) -> None:
    to.title("DeleteRecords")

    def delete(
        note: str, offset: int, index: int = 0, topic: str = "offsets", version: int = 2
    ) -> None:
        partition = DeleteRecordsPartition(partition_index=index, offset=offset)
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name=topic, partitions=[partition])], timeout_ms=30_000
        )
        to.ask(request, version, DeleteRecordsResponse, note)

    for version in range(3):
        delete("some", 2 + version, version=version)
    delete("fewer than before", 1)
    delete("beyond the end", 100)
    delete("minus two", -2)
    delete("unknown topic", 0, topic="nowhere")
    delete("unknown partition", 0, index=5)
    delete("empty", -1, index=1)
    make(to, "keeps", cleanup_policy="compact")
    delete("compacted", 0, topic="keeps")
    delete("to the high watermark", -1)


def fetch_dialogue(to: Transcript) -> None:
    to.title("Fetch")
    topic_id = make(to, "fetch", 2)
    put(to, "old", "fetch", write_message_set(records(2), 1), version=2)
    for codec in CODECS:
        put(to, codec.name, "fetch", write_batch(records(3), Envelope(codec=codec)))

    def get(
        note: str,
        offset: int,
        index: int = 0,
        *,
        topic: str = "fetch",
        topic_id: bytes = topic_id,
        version: int = 17,
        epoch: int = -1,
        last_epoch: int = -1,
        partition_bytes: int = 1 << 20,
        bytes_max: int = 1 << 20,
        session: tuple[int, int] = (0, -1),
        isolation: int = 0,
    ) -> None:
        partition = FetchPartition(
            partition=index,
            fetch_offset=offset,
            current_leader_epoch=epoch,
            last_fetched_epoch=last_epoch,
            partition_max_bytes=partition_bytes,
        )
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=bytes_max,
            isolation_level=isolation,
            session_id=session[0],
            session_epoch=session[1],
            topics=[FetchTopic(topic=topic, topic_id=topic_id, partitions=[partition])],
        )
        to.ask(request, version, FetchResponse, note)

    for version in range(10, 18):
        get("all", 0, version=version)
    for version in range(10):
        get("from the start", 0, version=version, partition_bytes=200)
        get("gzip", 5, version=version, partition_bytes=100)
    for offset in (1, 3, 16):
        get(f"from {offset}", offset)
    get("at the end", 17)
    get("beyond", 18)
    get("before", -1)
    get("empty", 0, 1)
    get("beyond, empty", 1, 1)
    get("committed", 16, isolation=1)
    get("one byte", 0, partition_bytes=1)
    get("one byte in all", 3, bytes_max=1)
    get("one byte, before v3", 3, version=2, partition_bytes=1)
    get("unknown partition", 0, 6)
    get("unknown id", 0, topic_id=b"\x07" * 16)
    get("no id", 0, topic_id=bytes(16))
    get("unknown name", 0, topic="nowhere", version=12)
    get("this leader", 16, epoch=0)
    get("ahead", 0, epoch=3)
    get("diverges", 16, last_epoch=2)
    get("a new session", 16, session=(0, 0))
    get("no such session", 0, session=(5, 1))
    get("a session that is closed", 16, session=(5, -1))
