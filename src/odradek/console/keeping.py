"""The timeline in a topic of its own: it outlives the console, and Spark reads it like any other.

Each record is one event: its key says what kind it is, its value is JSON. Only a console that may
change things writes it; any console reads it when it starts. Two that write the same event do no
harm, for an event that is known is not taken in twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from odradek.console.events import Event, event_from_json
from odradek.console.reading import read_from
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, TopicPartition
from odradek.kafka.client.recording import Recorder
from odradek.kafka.client.topic_admin import create_topic, describe
from odradek.kafka.wire.errors import ErrorCode

TOPIC = "__odradek_timeline"
REPLICAS_MAX = 3
LOADED_MAX = 2000
SETTINGS = {"cleanup.policy": "delete", "retention.ms": str(30 * 24 * 3600 * 1000)}


def ensure_topic(cluster: Cluster) -> None:
    """Make the topic if there is none."""
    answer = describe(cluster)
    if any(it.name == TOPIC for it in answer.topics):
        return
    try:
        replicas = min(REPLICAS_MAX, len(answer.brokers))
        create_topic(cluster, TOPIC, partitions=1, replicas=replicas, configs=SETTINGS)
    except BrokerRefused as error:
        if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
            raise


def load(cluster: Cluster) -> list[Event]:
    """What was kept last, oldest first; nothing if there is no such topic."""
    if TOPIC not in cluster.topics():
        return []
    found = read_from(cluster, TopicPartition(TOPIC, 0), -LOADED_MAX, LOADED_MAX)
    return list(events_in(it.value for it in found.records))


def events_in(values: Iterable[bytes | None]) -> Iterable[Event]:
    """What can be understood of them: somebody else may have written there, too."""
    for value in values:
        with suppress(KeyError, TypeError, ValueError):
            yield event_from_json(json.loads(value or b""))


def keep(cluster: Cluster, properties: Mapping[str, str], events: Sequence[Event]) -> None:
    """Write events; return when they are safe."""
    settings = {it: properties[it] for it in ("bootstrap.servers", "client.id")}
    with Recorder(TOPIC, settings | {"delivery.timeout.ms": "30000"}) as recorder:
        for event in events:
            value = json.dumps(event.as_json(), ensure_ascii=False).encode()
            recorder.send(event.kind.encode(), value, timestamp=event.time_ms)
