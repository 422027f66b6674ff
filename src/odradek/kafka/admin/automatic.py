"""Topics that nobody asked for in so many words: made when a client first speaks of them.

Kafka's own are made as their coordinators need them, all others as the broker's defaults say.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.kafka.admin.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.kafka.settings.broker import BrokerSettings
from odradek.kafka.settings.texts import text_of
from odradek.kafka.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig


def automatic_topic(name: str, settings: BrokerSettings) -> CreatableTopic:
    """A topic as it is made where only its name is known."""
    if name == CONSUMER_OFFSETS:
        partitions = settings.offsets_topic_num_partitions
        factor = settings.offsets_topic_replication_factor
        configs: Mapping[str, object] = {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": settings.offsets_topic_segment_bytes,
        }
    elif name == TRANSACTION_STATE:
        partitions = settings.transaction_state_log_num_partitions
        factor = settings.transaction_state_log_replication_factor
        configs = {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": settings.transaction_state_log_min_isr,
            "segment.bytes": settings.transaction_state_log_segment_bytes,
            "unclean.leader.election.enable": False,
        }
    else:
        partitions, factor = settings.num_partitions, settings.default_replication_factor
        configs = {}
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[],
        configs=[
            CreatableTopicConfig(name=key, value=text_of(value)) for key, value in configs.items()
        ],
    )
