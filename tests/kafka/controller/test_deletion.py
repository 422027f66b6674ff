"""The deletion of a topic: every replica first, the znodes last."""

from __future__ import annotations

from odradek.kafka.controller import deletion
from odradek.kafka.controller.image import Assignment, Image
from odradek.kafka.controller.requests import Requests
from odradek.kafka.storage.names import TopicPartition
from tests.kafka.controller.images import T0, image, state

T1 = TopicPartition("t", 1)


def begin(cluster: Image) -> Requests:
    """Begin what can begin; what is told for it."""
    decision = deletion.decide_deletions(cluster)
    deletion.apply_begun(cluster, decision)
    return decision.requests


def test_everybody_hears_of_it_and_every_replica_is_deleted() -> None:
    cluster = image([1, 2], {0: [1, 2], 1: [2]}, {0: state(1, [1]), 1: state(2, [2])})
    deletion.ask_for_deletion(cluster, ["t", "unknown"])
    assert list(cluster.deletions) == ["t"]
    requests = begin(cluster)
    assert requests.metadata_to_all and list(requests.metadata_of) == [T0, T1]
    assert requests.stop == {1: {T0: True}, 2: {T0: True, T1: True}}
    assert deletion.finished_deletions(cluster) == []
    deletion.replicas_deleted(cluster, 1, [T0])
    assert deletion.finished_deletions(cluster) == []
    deletion.replicas_deleted(cluster, 2, [T0, T1])
    assert deletion.finished_deletions(cluster) == ["t"]


def test_nothing_is_asked_twice() -> None:
    cluster = image([1], {0: [1]}, {0: state(1, [1])})
    deletion.ask_for_deletion(cluster, ["t"])
    begin(cluster)
    again = begin(cluster)
    assert (again.stop, again.metadata_of) == ({}, {})


def test_a_replica_that_is_away_is_waited_for() -> None:
    cluster = image([1], {0: [1, 2]}, {0: state(1, [1])})
    deletion.ask_for_deletion(cluster, ["t"])
    assert begin(cluster).stop == {1: {T0: True}}
    deletion.replicas_deleted(cluster, 1, [T0])
    assert begin(cluster).stop == {}
    assert deletion.finished_deletions(cluster) == []
    cluster.brokers |= image([2]).brokers
    deletion.resume_deletion(cluster, ["t"])
    assert begin(cluster).stop == {2: {T0: True}}


def test_what_was_out_of_reach_for_a_disk_is_asked_for_when_its_broker_says_so() -> None:
    cluster = image([1, 2], {0: [1, 2]}, {0: state(1, [1])})
    cluster.offline[2] = {T0: None}
    deletion.ask_for_deletion(cluster, ["t"])
    assert begin(cluster).stop == {1: {T0: True}}
    deletion.replicas_deleted(cluster, 1, [T0])
    deletion.resume_deletion_on(cluster, [2])
    assert begin(cluster).stop == {2: {T0: True}}


def test_what_a_broker_could_not_delete_is_tried_again_later() -> None:
    cluster = image([1], {0: [1]}, {0: state(1, [1])})
    deletion.ask_for_deletion(cluster, ["t"])
    begin(cluster)
    deletion.replicas_not_deleted(cluster, 1, [T0])
    assert begin(cluster).stop == {}
    deletion.resume_deletion(cluster, ["t"])
    assert begin(cluster).stop == {1: {T0: True}}


def test_a_topic_on_the_move_waits() -> None:
    cluster = image([1, 2], {0: [1]}, {0: state(1, [1])})
    cluster.put_assignment(T0, Assignment((2, 1), (2,), (1,)))
    deletion.ask_for_deletion(cluster, ["t"])
    assert begin(cluster).stop == {}


def test_a_topic_without_partitions_is_gone_at_once() -> None:
    cluster = image([1], {})
    deletion.ask_for_deletion(cluster, ["t"])
    assert deletion.finished_deletions(cluster) == ["t"]
