"""From what was asked for to offsets: which partitions there are, and where limits lie in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from time import sleep

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TopicPartition, UnknownTopic
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.runtime.errors import OdradekError
from odradek.spark.limits import Bound, Committed, GlobalTime, Limit, SpecificOffsets, SpecificTimes
from odradek.spark.offsets import Offsets, to_json
from odradek.spark.options import Assigned, SourceOptions, Subscribed


class WrongPartitions(OdradekError):
    """Offsets or times were given for other partitions than are read."""


class NoMatchingOffset(OdradekError):
    """No record is as late as the time that a read is to start from."""


class Resolver:
    """Asks one cluster on behalf of one query."""

    def __init__(self, cluster: Cluster, options: SourceOptions) -> None:
        self._cluster = cluster
        self._options = options

    def partitions(self) -> list[TopicPartition]:
        """The partitions that there are to read just now."""
        strategy = self._options.strategy
        if isinstance(strategy, Subscribed):
            return self._cluster.partitions_of(strategy.topics)
        if isinstance(strategy, Assigned):
            return self._assigned(strategy.partitions)
        pattern = re.compile(strategy.pattern)
        topics = self._cluster.topics().values()
        names = [t.name for t in topics if not t.is_internal and pattern.fullmatch(t.name)]
        return self._cluster.partitions_of(names) if names else []

    def start(self, partitions: list[TopicPartition]) -> Offsets:
        """Where a read of these partitions starts."""
        return self._resolve(self._options.starting, partitions, is_start=True)

    def end(self, partitions: list[TopicPartition]) -> Offsets:
        """Where a read of these partitions ends."""
        return self._resolve(self._options.ending, partitions, is_start=False)

    def earliest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        return self._list(dict.fromkeys(partitions, EARLIEST))

    def latest(self, known: Mapping[TopicPartition, int]) -> Offsets:
        """The ends of all partitions; looked up again if one is behind what is known of it.

        A new leader may for a moment say less than its predecessor did.
        """
        ends = dict.fromkeys(self.partitions(), LATEST)
        found = self._list(ends)
        for _ in range(self._options.offset_retries):
            if all(offset >= known.get(p, offset) for p, offset in found.items()):
                break
            sleep(self._options.offset_retry_interval_ms / 1000)
            found = self._list(ends)
        return found

    def _assigned(self, wanted: Iterable[TopicPartition]) -> list[TopicPartition]:
        there = set(self._cluster.partitions_of({one.topic for one in wanted}))
        missing = sorted(set(wanted) - there)
        if missing:
            what = f"the cluster has no partition {', '.join(map(str, missing))}"
            raise UnknownTopic(missing[0].topic, what)
        return sorted(wanted)

    def _resolve(self, limit: Limit, partitions: list[TopicPartition], is_start: bool) -> Offsets:
        match limit:
            case Committed(group_id, otherwise):
                from odradek.kafka.client.group_offsets import committed_offsets

                found = committed_offsets(self._cluster, group_id, partitions)
                rest = [partition for partition in partitions if partition not in found]
                return {**found, **self._list(dict.fromkeys(rest, otherwise.value))}
            case Bound():
                return self._list(dict.fromkeys(partitions, limit.value))
            case SpecificOffsets(offsets):
                _check_complete("offsets", offsets, partitions)
                return self._named(offsets)
            case SpecificTimes(times_ms):
                _check_complete("times", times_ms, partitions)
                return self._at_times(times_ms, is_start)
            case GlobalTime(time_ms):
                return self._at_times(dict.fromkeys(partitions, time_ms), is_start)

    def _named(self, offsets: Mapping[TopicPartition, int]) -> Offsets:
        bounds = {p: offset for p, offset in offsets.items() if offset in (EARLIEST, LATEST)}
        return {**offsets, **self._list(bounds)}

    def _at_times(self, times_ms: Mapping[TopicPartition, int], is_start: bool) -> Offsets:
        found = list_offsets(self._cluster, times_ms)
        unmatched = [partition for partition, offset in found.items() if offset is None]
        if unmatched and is_start and not self._options.is_latest_if_no_match:
            what = ", ".join(f"{p} at {times_ms[p]} ms" for p in sorted(unmatched))
            raise NoMatchingOffset(f"no record is as late as that: {what}")
        matched = {p: offset for p, offset in found.items() if offset is not None}
        return {**matched, **self._list(dict.fromkeys(unmatched, LATEST))}

    def _list(self, times: Mapping[TopicPartition, int]) -> Offsets:
        found = list_offsets(self._cluster, times) if times else {}
        return {partition: offset or 0 for partition, offset in found.items()}


def _check_complete(
    what: str, given: Mapping[TopicPartition, int], partitions: list[TopicPartition]
) -> None:
    if set(given) != set(partitions):
        raise WrongPartitions(
            f"{what} are needed for exactly the partitions that are read (-1 stands for the latest"
            f" offset, -2 for the earliest): given {to_json(given)}, read"
            f" {', '.join(map(str, partitions))}"
        )
