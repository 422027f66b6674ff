"""A broker that forgets: produced records are received and acknowledged, but not looked at or kept.

It tells how much a generator of load sends at most, on a machine that it shares with a broker:

    python -m benchmarks.kafka_broker --only produce1,ceiling
"""

from __future__ import annotations

import sys
from collections import Counter

from odradek.cli.main import main
from odradek.kafka.api import produce as handler
from odradek.kafka.broker.broker import Broker
from odradek.kafka.server.dispatch import AGAIN
from odradek.kafka.wire.apis import PRODUCE
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)

counts: Counter[tuple[str, int]] = Counter()


async def produce(message: ProduceRequest, request: Request, broker: Broker) -> ProduceResponse:
    """Offsets go up by one for each batch: nobody will ask for them."""
    topics = []
    for topic in message.topic_data:
        indexes = [one.index for one in topic.partition_data]
        counts.update((topic.name, index) for index in indexes)
        told = [
            PartitionProduceResponse(index=it, error_code=0, base_offset=counts[topic.name, it])
            for it in indexes
        ]
        topics.append(TopicProduceResponse(name=topic.name, partition_responses=told))
    return ProduceResponse(responses=topics)


if __name__ == "__main__":
    handler.produce = produce
    AGAIN[PRODUCE] = lambda repeat, broker: None  # Whoever repeats himself is answered here, too.
    sys.exit(main(["broker", *sys.argv[1:]]))
