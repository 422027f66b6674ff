"""Kafka messages beside kio: the same values, the same bytes, both in one run."""

from __future__ import annotations

import io
import subprocess
import sys
import uuid
from collections.abc import Callable
from typing import Any

import kio.schema.fetch.v12.request as kio_fetch_request
import kio.schema.fetch.v12.response as kio_fetch_response
import kio.schema.metadata.v12.response as kio_metadata_response
import kio.schema.produce.v9.request as kio_produce_request
import kio.schema.produce.v9.response as kio_produce_response
from kio.serial import entity_reader, entity_writer

from benchmarks.rounds import compare, report
from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.codec import decode, encode
from odradek.kafka.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from odradek.kafka.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from odradek.kafka.wire.schema import Message

BATCH = bytes(300)


def produce_request() -> ProduceRequest:
    partition = PartitionProduceData(index=0, records=BATCH)
    topic = TopicProduceData(name="orders", partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def produce_response() -> ProduceResponse:
    partition = PartitionProduceResponse(
        index=0, error_code=0, base_offset=1234, log_start_offset=0
    )
    topic = TopicProduceResponse(name="orders", partition_responses=[partition])
    return ProduceResponse(responses=[topic])


def fetch_request() -> FetchRequest:
    partitions = [
        FetchPartition(partition=i, fetch_offset=1000 + i, partition_max_bytes=1 << 20)
        for i in range(10)
    ]
    topic = FetchTopic(topic="orders", partitions=partitions)
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=[topic], rack_id="")


def fetch_response() -> FetchResponse:
    partitions = [
        PartitionData(
            partition_index=i,
            error_code=0,
            high_watermark=1010 + i,
            last_stable_offset=1010 + i,
            log_start_offset=0,
            records=BATCH,
        )
        for i in range(10)
    ]
    return FetchResponse(responses=[FetchableTopicResponse(topic="orders", partitions=partitions)])


def metadata_response() -> MetadataResponse:
    brokers = [MetadataResponseBroker(node_id=i, host="127.0.0.1", port=9092) for i in range(3)]
    topics = [
        MetadataResponseTopic(
            error_code=0,
            name=f"topic-{i}",
            topic_id=uuid.UUID(int=i + 1).bytes,
            partitions=[
                MetadataResponsePartition(
                    error_code=0,
                    partition_index=p,
                    leader_id=p % 3,
                    leader_epoch=7,
                    replica_nodes=[0, 1, 2],
                    isr_nodes=[0, 1, 2],
                )
                for p in range(10)
            ],
        )
        for i in range(100)
    ]
    return MetadataResponse(brokers=brokers, cluster_id="c", controller_id=1, topics=topics)


def written(message: Message, version: int) -> bytes:
    return b"".join(encode(message, version))


def kio_of(kind: Any, data: bytes) -> Any:
    """The same value as kio holds it, checked to have the same bytes."""
    value, _ = entity_reader(kind)(data, 0)
    assert kio_written(kind)(value) == data
    return value


def kio_written(kind: Any) -> Callable[[Any], bytes]:
    writer = entity_writer(kind)

    def write(value: Any) -> bytes:
        buffer = io.BytesIO()
        writer(buffer, value)
        return buffer.getvalue()

    return write


def exchange(
    what: str,
    version: int,
    request: Message,
    response: Message,
    kio_request: Any,
    kio_response: Any,
    goal: float,
) -> None:
    """What a server does: read the request, write the response."""
    data, kind = written(request, version), type(request)
    kio_value = kio_of(kio_response, written(response, version))
    kio_read, kio_write = entity_reader(kio_request), kio_written(kio_response)
    ours = compare(lambda: decode(kind, version, data), lambda: kio_read(data, 0))
    theirs = compare(lambda: written(response, version), lambda: kio_write(kio_value))
    report(f"{what}, decode the request", *ours, "kio")
    report(f"{what}, encode the response", *theirs, "kio")
    report(f"{what}, both", ours[0] + theirs[0], ours[1] + theirs[1], "kio", goal)


def metadata(goal: float) -> None:
    response, kind = metadata_response(), kio_metadata_response.MetadataResponse
    data = written(response, 12)
    kio_value, kio_read, kio_write = kio_of(kind, data), entity_reader(kind), kio_written(kind)
    encoding = compare(lambda: written(response, 12), lambda: kio_write(kio_value))
    decoding = compare(lambda: decode(MetadataResponse, 12, data), lambda: kio_read(data, 0))
    what = "Metadata v12 response, 1,000 partitions"
    report(f"{what}, encode", *encoding, "kio", goal)
    report(f"{what}, decode", *decoding, "kio")
    report(f"{what}, both", encoding[0] + decoding[0], encoding[1] + decoding[1], "kio", goal)


IMPORT_OURS = """
import importlib, pkgutil, odradek.kafka.wire.messages as messages
for module in pkgutil.iter_modules(messages.__path__):
    importlib.import_module(f"{messages.__name__}.{module.name}")
"""
IMPORT_KIO = """
import importlib
for name, valid in APIS:
    for version in valid:
        for part in ("request", "response"):
            module = f"kio.schema.{name}.v{version}.{part}"
            try:
                importlib.import_module(module)
            except ModuleNotFoundError:
                pass
"""


def imports() -> None:
    """What a process pays before its first message."""
    names = [
        (
            api.request.__module__.rpartition(".")[2],
            list(range(api.versions.first, api.versions.last + 1)),
        )
        for api in APIS.values()
    ]
    kio_code = f"APIS = {names!r}\n{IMPORT_KIO}"

    def run(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    empty = compare(run("pass"), run("import kio.serial"), rounds=3)
    ours, theirs = compare(run(IMPORT_OURS), run(kio_code), rounds=5)
    report("Import all messages", ours - empty[0], theirs - empty[1], "kio", 1.0)


def main() -> None:
    exchange(
        "Produce v9, one batch",
        9,
        produce_request(),
        produce_response(),
        kio_produce_request.ProduceRequest,
        kio_produce_response.ProduceResponse,
        0.7,
    )
    exchange(
        "Fetch v12, ten partitions",
        12,
        fetch_request(),
        fetch_response(),
        kio_fetch_request.FetchRequest,
        kio_fetch_response.FetchResponse,
        0.6,
    )
    metadata(0.5)
    imports()


if __name__ == "__main__":
    main()
