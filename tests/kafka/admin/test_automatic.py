"""A topic that is made by itself is what the broker's settings say."""

from __future__ import annotations

from odradek.kafka.admin.automatic import automatic_topic
from odradek.kafka.admin.placement import Candidate
from odradek.kafka.admin.topics import Existing, NewTopic, decide_topic
from odradek.kafka.settings.layers import Layers
from tests.kafka.settings.server_properties import read

LAYERS = Layers(
    read(
        "num.partitions=4\ndefault.replication.factor=1\n"
        "offsets.topic.num.partitions=5\noffsets.topic.replication.factor=1\n"
        "transaction.state.log.num.partitions=6\ntransaction.state.log.replication.factor=1\n"
        "transaction.state.log.min.isr=1\n"
    )
)


def made(name: str) -> NewTopic:
    existing = Existing(set(), [], [Candidate(1)])
    topic = automatic_topic(name, LAYERS.broker)
    answer = decide_topic(topic, LAYERS, existing, lambda _: 0)
    assert isinstance(answer, NewTopic), answer
    return answer


def test_a_plain_topic_has_the_default_number_of_partitions() -> None:
    assert len(made("orders").assignment) == 4
    assert made("orders").overrides == {}


def test_kafkas_own_topics_are_made_as_their_coordinators_need_them() -> None:
    offsets, transactions = made("__consumer_offsets"), made("__transaction_state")
    assert (len(offsets.assignment), len(transactions.assignment)) == (5, 6)
    assert offsets.overrides == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }
    assert transactions.overrides == {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "min.insync.replicas": "1",
        "segment.bytes": "104857600",
        "unclean.leader.election.enable": "false",
    }
