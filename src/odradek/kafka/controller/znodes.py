"""What is in the znodes of controllers, topics and partitions.

It is JSON without blanks, in no order of fields, so nobody compares bytes. Whatever an older or
another broker may have written is understood; what nobody can have meant is a `BadZnode`.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from odradek.kafka.controller.image import Assignment, PartitionState
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.runtime.errors import OdradekError

ONE_UUID = bytes(15) + b"\1"
LOG_DIR_FAILED = 1


class BadZnode(OdradekError):
    """A znode holds what cannot be understood; it is left alone, and said so."""


class TopicNode(NamedTuple):
    """A topic as its znode describes it."""

    topic_id: bytes | None  # None in those that were made before topics had ids.
    partitions: dict[int, Assignment]


class FeatureNode(NamedTuple):
    """Which features the cluster has agreed on."""

    version: int
    status: int  # 1 if there can be any.
    levels: dict[str, int]


@contextmanager
def checked(what: str) -> Iterator[None]:
    """Turn all that can be wrong with foreign JSON into one error."""
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadZnode(f"{what}: {type(error).__name__} {error}") from error


def parsed(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError as error:
        raise BadZnode(f"no JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadZnode("no JSON object")
    return value


def dumped(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def id_text(topic_id: bytes) -> str:
    """16 bytes as they stand in znodes: base64 for URLs, without padding."""
    return urlsafe_b64encode(topic_id).rstrip(b"=").decode()


def id_bytes(text: str) -> bytes:
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(data) != 16:
        raise ValueError(f"{text!r} is no id")
    return data


def new_id(draw: Callable[[int], bytes]) -> bytes:
    """A random id (UUID version 4) that is none of those with a meaning of their own."""
    while True:
        drawn = bytearray(draw(16))
        drawn[6] = drawn[6] & 0x0F | 0x40
        drawn[8] = drawn[8] & 0x3F | 0x80
        found = bytes(drawn)
        # A name that begins with a dash would be taken for an option by tools.
        if found not in (ZERO_UUID, ONE_UUID) and not id_text(found).startswith("-"):
            return found


def write_controller(broker_id: int, timestamp_ms: int) -> bytes:
    return dumped(
        {
            "version": 2,
            "brokerid": broker_id,
            "timestamp": str(timestamp_ms),
            "kraftControllerEpoch": -1,
        }
    )


def read_controller(data: bytes) -> int:
    value = parsed(data)
    with checked("/controller"):
        return int(value["brokerid"])


def write_cluster_id(cluster_id: str) -> bytes:
    return dumped({"version": "1", "id": cluster_id})


def read_cluster_id(data: bytes) -> str:
    value = parsed(data)
    with checked("/cluster/id"):
        return str(value["id"])


def write_features(levels: Mapping[str, int], *, version: int, status: int) -> bytes:
    """/feature: version 1 of the node also wants the least level of each."""
    if version < 2:
        features = {it: {"min_version_level": 1, "max_version_level": levels[it]} for it in levels}
    else:
        features = {it: {"max_version_level": levels[it]} for it in levels}
    return dumped({"features": features, "version": version, "status": status})


def read_features(data: bytes) -> FeatureNode:
    value = parsed(data)
    with checked("/feature"):
        levels = {name: int(said["max_version_level"]) for name, said in value["features"].items()}
        return FeatureNode(int(value["version"]), int(value["status"]), levels)


def write_topic(topic_id: bytes | None, partitions: Mapping[int, Assignment]) -> bytes:
    has_id = topic_id is not None and topic_id != ZERO_UUID
    value: dict[str, Any] = {
        "version": 3 if has_id else 2,
        "partitions": {str(index): list(it.replicas) for index, it in partitions.items()},
        "adding_replicas": {str(i): list(it.adding) for i, it in partitions.items() if it.adding},
        "removing_replicas": {
            str(i): list(it.removing) for i, it in partitions.items() if it.removing
        },
    }
    if topic_id is not None and has_id:
        value["topic_id"] = id_text(topic_id)
    return dumped(value)


def read_topic(data: bytes) -> TopicNode:
    value = parsed(data)
    with checked("a topic"):
        topic_id = value.get("topic_id")
        adding, removing = value.get("adding_replicas", {}), value.get("removing_replicas", {})
        partitions = {
            int(index): Assignment(
                tuple(map(int, replicas)),
                tuple(map(int, adding.get(index, ()))),
                tuple(map(int, removing.get(index, ()))),
            )
            for index, replicas in value["partitions"].items()
        }
        return TopicNode(None if topic_id is None else id_bytes(topic_id), partitions)


def write_state(state: PartitionState) -> bytes:
    value: dict[str, Any] = {
        "controller_epoch": state.controller_epoch,
        "leader": state.leader,
        "version": 1,
        "leader_epoch": state.leader_epoch,
        "isr": list(state.isr),
    }
    if state.recovery:
        value["leader_recovery_state"] = state.recovery
    return dumped(value)


def read_state(data: bytes, version: int) -> PartitionState:
    """A partition's state; `version` is that of the data, which is the partition epoch."""
    value = parsed(data)
    with checked("a partition's state"):
        return PartitionState(
            leader=int(value["leader"]),
            leader_epoch=int(value["leader_epoch"]),
            isr=tuple(map(int, value["isr"])),
            controller_epoch=int(value["controller_epoch"]),
            recovery=int(value.get("leader_recovery_state", 0)),
            version=version,
        )


def write_partitions(partitions: Iterable[TopicPartition]) -> bytes:
    """Partitions that somebody is told of: an ISR notification, a preferred election."""
    listed = [{"topic": it.topic, "partition": it.partition} for it in partitions]
    return dumped({"version": 1, "partitions": listed})


def read_partitions(data: bytes) -> list[TopicPartition]:
    value = parsed(data)
    with checked("a list of partitions"):
        return [TopicPartition(it["topic"], int(it["partition"])) for it in value["partitions"]]


def write_reassignments(moves: Mapping[TopicPartition, Iterable[int]]) -> bytes:
    listed = [
        {"topic": where.topic, "partition": where.partition, "replicas": list(replicas)}
        for where, replicas in moves.items()
    ]
    return dumped({"version": 1, "partitions": listed})


def read_reassignments(data: bytes) -> dict[TopicPartition, tuple[int, ...]]:
    value = parsed(data)
    with checked("/admin/reassign_partitions"):
        return {
            TopicPartition(it["topic"], int(it["partition"])): tuple(map(int, it["replicas"]))
            for it in value["partitions"]
        }


def write_log_dir_event(broker_id: int, event: int = LOG_DIR_FAILED) -> bytes:
    return dumped({"version": 1, "broker": broker_id, "event": event})


def read_log_dir_event(data: bytes) -> int:
    """The broker that lost a directory."""
    value = parsed(data)
    with checked("a log directory's event"):
        return int(value["broker"])
