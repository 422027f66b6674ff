"""Declarations: constructors, defaults, versions, and what a version cannot carry."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odradek.kafka.wire.codec import UnknownVersion, decode, encode
from odradek.kafka.wire.messages.fetch import FetchRequest, ReplicaState
from odradek.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.kafka.wire.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from odradek.kafka.wire.schema import ZERO_UUID, Versions
from odradek.kafka.wire.writers import NotRepresentable
from odradek.runtime.errors import ProtocolError


def written(message: ProduceResponse | FetchRequest | MetadataRequest, version: int) -> bytes:
    return b"".join(encode(message, version))


def test_a_field_of_every_version_must_be_given() -> None:
    with pytest.raises(TypeError, match="base_offset"):
        PartitionProduceResponse(index=1, error_code=0)  # type: ignore[call-arg]


def test_other_fields_have_the_default_of_the_schema() -> None:
    partition = PartitionProduceResponse(index=1, error_code=0, base_offset=5)
    assert partition.log_append_time_ms == -1
    assert partition.record_errors == []
    assert partition.error_message is None
    assert partition.current_leader == LeaderIdAndEpoch(leader_id=-1, leader_epoch=-1)
    assert MetadataRequestTopic(name="a").topic_id == ZERO_UUID


def test_an_array_left_out_is_not_shared() -> None:
    first, second = ProduceResponse(responses=[]), ProduceResponse(responses=[])
    assert first.node_endpoints is not second.node_endpoints


def test_messages_are_equal_if_their_fields_are() -> None:
    topic = TopicProduceResponse(name="a", partition_responses=[])
    assert topic == TopicProduceResponse(name="a", partition_responses=[])
    assert topic != TopicProduceResponse(name="b", partition_responses=[])
    assert topic != ("a", [])
    assert repr(topic) == "TopicProduceResponse(name='a', partition_responses=[])"


def test_what_an_old_version_lacks_is_dropped_if_ignorable() -> None:
    response = ProduceResponse(responses=[], throttle_time_ms=9)
    assert decode(ProduceResponse, 0, written(response, 0)).throttle_time_ms == 0
    assert decode(ProduceResponse, 1, written(response, 1)).throttle_time_ms == 9


def test_what_an_old_version_lacks_is_refused_otherwise() -> None:
    state = ReplicaState(replica_id=1, replica_epoch=2)
    request = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[], replica_state=state)
    with pytest.raises(NotRepresentable, match="replica_state"):
        written(request, 14)
    assert decode(FetchRequest, 15, written(request, 15)) == request


def test_null_is_refused_where_a_version_has_none() -> None:
    everything = MetadataRequest(topics=None)
    assert decode(MetadataRequest, 1, written(everything, 1)).topics is None
    with pytest.raises(NotRepresentable, match="MetadataRequest version 0"):
        written(everything, 0)


@pytest.mark.parametrize("topic_name", ["x" * 32_768, "\ud800"])
def test_a_string_that_cannot_travel_is_refused(topic_name: str) -> None:
    for version in (1, 12):
        with pytest.raises(NotRepresentable):
            written(MetadataRequest(topics=[MetadataRequestTopic(name=topic_name)]), version)


def test_a_number_too_large_for_its_field_is_refused() -> None:
    with pytest.raises(NotRepresentable, match="ProduceResponse version 3"):
        written(ProduceResponse(responses=[], throttle_time_ms=2**31), 3)


def test_a_version_that_never_was_is_refused_both_ways() -> None:
    with pytest.raises(UnknownVersion, match="ProduceResponse has versions 0-11, not 12"):
        written(ProduceResponse(responses=[]), 12)
    with pytest.raises(ProtocolError):
        decode(ProduceResponse, -1, b"")


def test_unknown_tags_are_skipped_and_known_ones_kept() -> None:
    nothing = written(ProduceResponse(responses=[]), 9)
    assert nothing.endswith(b"\0")
    tagged = nothing[:-1] + b"\x02" + b"\x63\x03abc" + b"\x64\x00"
    assert decode(ProduceResponse, 9, tagged) == ProduceResponse(responses=[])


@pytest.mark.parametrize(
    "tags",
    [b"\x02\x05\x00\x05\x00", b"\x02\x06\x00\x05\x00", b"\x01\x05\x02a", b"\x01\x00\x05abcde"],
)
def test_tags_out_of_order_or_of_the_wrong_length_are_refused(tags: bytes) -> None:
    nothing = written(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[]), 12)
    with pytest.raises(ProtocolError):
        decode(FetchRequest, 12, nothing[:-1] + tags)


@pytest.mark.parametrize("metadata", [None, "", "x", "é" * 63, "é" * 64, "x" * 0x7FFF])
@pytest.mark.parametrize("tags", [b"\0", b"\1\7\2ab"])
def test_a_string_that_ends_a_struct_is_read_whatever_it_says_and_whatever_tags_follow(
    metadata: str | None, tags: bytes
) -> None:
    first, second = (
        OffsetCommitRequestPartition(
            partition_index=index, committed_offset=7, committed_metadata=metadata
        )
        for index in range(2)
    )
    topic = OffsetCommitRequestTopic(name="t", partitions=[first, second])
    request = OffsetCommitRequest(group_id="g", topics=[topic])
    plain = b"".join(encode(request, 8))
    data = plain[:-3] + tags + plain[-2:]  # The last partition's tags; those of its parents follow.
    assert decode(OffsetCommitRequest, 8, data) == request
    with pytest.raises(ProtocolError):
        decode(OffsetCommitRequest, 8, data[:-3])


def test_records_are_passed_through_without_a_copy() -> None:
    data = bytearray(b"".join(encode(ProduceRequest(acks=1, timeout_ms=1, topic_data=[]), 9)))
    assert decode(ProduceRequest, 9, data).topic_data == []
    frame = memoryview(bytes.fromhex("00000100000001020261020000000704616263000000"))
    request = decode(ProduceRequest, 9, frame)
    records = request.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is frame.obj
    assert any(part is records for part in encode(request, 9))


@pytest.mark.parametrize(
    ("text", "versions"),
    [("3", (3, 3)), ("1-4", (1, 4)), ("2+", (2, 0x7FFF)), ("none", (0, -1))],
)
def test_versions_are_written_as_kafka_writes_them(text: str, versions: tuple[int, int]) -> None:
    assert Versions.parse(text) == versions


def test_importing_the_messages_compiles_none_of_them() -> None:
    code = (
        "from odradek.kafka.wire.apis import APIS\n"
        "for api in APIS.values():\n"
        "    for kind in (api.request, api.response):\n"
        "        assert not kind.__wire__.readers and not kind.__wire__.writers\n"
        "        assert '__fields__' not in kind.__dict__ and '__init__' not in kind.__dict__\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
