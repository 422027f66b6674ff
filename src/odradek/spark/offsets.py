"""Offsets by partition as Spark's connector writes them: {"topic": {"0": 23, "1": -1}}.

-2 stands for the earliest offset of a partition, -1 for the latest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from odradek.kafka.client.errors import TopicPartition

Offsets = dict[TopicPartition, int]
Json = dict[str, dict[str, int]]
EXAMPLE = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
PARTITIONS_EXAMPLE = '{"topicA":[0,1],"topicB":[0,1]}'


def parse_offsets(text: str) -> Offsets:
    """Read offsets (or times, which look the same); ValueError says what was expected."""
    try:
        return {
            TopicPartition(topic, int(partition)): _whole(number)
            for topic, by_partition in json.loads(text).items()
            for partition, number in by_partition.items()
        }
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"expected something like {EXAMPLE}") from error


def parse_partitions(text: str) -> list[TopicPartition]:
    """Read a list of partitions; ValueError says what was expected."""
    try:
        found = {
            TopicPartition(topic, _whole(partition))
            for topic, partitions in json.loads(text).items()
            for partition in partitions
        }
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"expected something like {PARTITIONS_EXAMPLE}") from error
    if not found:
        raise ValueError(f"names no partition; expected something like {PARTITIONS_EXAMPLE}")
    return sorted(found)


def to_json(offsets: Mapping[TopicPartition, int]) -> Json:
    """Offsets as Spark keeps them in a checkpoint."""
    written: Json = {}
    for partition in sorted(offsets):
        by_partition = written.setdefault(partition.topic, {})
        by_partition[str(partition.partition)] = offsets[partition]
    return written


def from_json(written: Mapping[str, Mapping[str, int]]) -> Offsets:
    """Offsets as they were when they went into a checkpoint."""
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, by_partition in written.items()
        for partition, offset in by_partition.items()
    }


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise ValueError(f"{number!r} is no whole number")
    return number
