"""What is counted while requests are served: plain numbers, added to where it happens.

A topic's partitions share one meter. When a topic goes, its figures stay in the broker's sums,
for a counter must not go back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields


@dataclass(slots=True, eq=False)
class TopicMeter:
    """What came in and went out."""

    bytes_in: int = 0
    bytes_out: int = 0
    bytes_rejected: int = 0
    messages_in: int = 0
    replication_bytes_in: int = 0
    replication_bytes_out: int = 0
    produce_requests: int = 0
    fetch_requests: int = 0
    failed_produce_requests: int = 0
    failed_fetch_requests: int = 0
    produce_conversions: int = 0
    fetch_conversions: int = 0

    def add(self, other: TopicMeter) -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(slots=True, eq=False)
class ApiMeter:
    """The requests of one kind: how many, how large, and how long from here to there."""

    count: int = 0
    request_bytes: int = 0
    total_s: float = 0.0
    waited: int = 0  # Were not answered at once.


@dataclass(slots=True, eq=False)
class Meters:
    """All figures of one broker."""

    topics: dict[str, TopicMeter] = field(default_factory=dict)
    gone: TopicMeter = field(default_factory=TopicMeter)
    apis: dict[int, ApiMeter] = field(default_factory=dict)
    errors: Counter[tuple[int, int]] = field(default_factory=Counter)  # (Api key, error code).
    connections_made: int = 0
    connections_refused: int = 0
    connections_dropped: int = 0
    connections_expired: int = 0
    isr_shrinks: int = 0
    isr_expands: int = 0
    failed_isr_updates: int = 0
    # Records that were below a follower's high watermark when it had to drop them: what an unclean
    # election has lost.
    records_lost: int = 0

    def topic(self, name: str) -> TopicMeter:
        """A topic's figures, from 0 if it is new."""
        meter = self.topics.get(name)
        if meter is None:
            meter = self.topics[name] = TopicMeter()
        return meter

    def api(self, key: int) -> ApiMeter:
        meter = self.apis.get(key)
        if meter is None:
            meter = self.apis[key] = ApiMeter()
        return meter

    def forget(self, topic: str) -> None:
        """The topic is gone from this broker."""
        if meter := self.topics.pop(topic, None):
            self.gone.add(meter)

    def total(self) -> TopicMeter:
        """Of all topics that are, and were."""
        total = TopicMeter()
        for meter in (self.gone, *self.topics.values()):
            total.add(meter)
        return total
