"""Which topics consumers subscribe to, as far as a coordinator may know it.

Metadata belongs to the assignors. Of `consumer` groups Kafka reads the first version's fields,
which all later versions begin with; if that fails, it does not know the topics.
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.kafka.wire.codec import decode
from odradek.kafka.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from odradek.runtime.errors import ProtocolError

CONSUMER = "consumer"  # The protocol type.
VERSION_BYTES = 2


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """The topics of all these members; None if one of them cannot be read."""
    topics: set[str] = set()
    try:
        for each in metadata:
            topics.update(decode(ConsumerProtocolSubscription, 0, each[VERSION_BYTES:]).topics)
    except ProtocolError:
        return None
    return frozenset(topics)
