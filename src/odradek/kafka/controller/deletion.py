"""Topics that are to go.

    asked for ──► everybody knows (leader -2) ──► replicas stop and delete ──► znodes are removed

It is put on hold while a replica is offline or the topic's partitions are being moved, and taken up
again when that ends. Only when every replica is gone do the znodes go, the request for it last.
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.kafka.controller.decision import Decision
from odradek.kafka.controller.image import Deletion, Image
from odradek.kafka.storage.names import TopicPartition

Replica = tuple[TopicPartition, int]


def replicas_of(image: Image, topic: str) -> list[Replica]:
    return [(where, it) for where in image.partitions(topic) for it in image.replicas(where)]


def ask_for_deletion(image: Image, topics: Iterable[str]) -> None:
    """Note that these are to go; what is unknown is none of ours."""
    moving = {where.topic for where in image.moving}
    for topic in topics:
        if topic in image.topics:
            deletion = image.deletions.setdefault(topic, Deletion())
            deletion.is_on_hold |= topic in moving


def resume_deletion(image: Image, topics: Iterable[str]) -> None:
    """What kept these from being deleted may be over."""
    for topic in topics:
        if (deletion := image.deletions.get(topic)) is not None:
            deletion.is_on_hold = False


def resume_deletion_on(image: Image, brokers: Iterable[int]) -> None:
    """These brokers may have replicas in reach, of topics that are to go, that they had not."""
    for broker_id in brokers:
        offline = image.offline.get(broker_id, {})
        for where in [it for it in offline if image.is_being_deleted(it.topic)]:
            del offline[where]
        resume_deletion(image, {it.topic for it in image.held_by(broker_id)})


def hold_deletion(image: Image, topics: Iterable[str]) -> None:
    for topic in topics:
        if (deletion := image.deletions.get(topic)) is not None:
            deletion.is_on_hold = True


def finished_deletions(image: Image) -> list[str]:
    """The topics of which no replica is left."""
    return [
        topic
        for topic, deletion in image.deletions.items()
        if all((where.partition, it) in deletion.done for where, it in replicas_of(image, topic))
    ]


def decide_deletions(image: Image) -> Decision:
    """Begin what can begin: tell everybody, and have the replicas deleted that can be reached."""
    decision = Decision()
    for topic, deletion in image.deletions.items():
        if deletion.is_on_hold or deletion.started:
            continue
        decision.requests.tell_all(image.partitions(topic))
        for where, broker_id in replicas_of(image, topic):
            is_left = (where.partition, broker_id) not in deletion.done
            if is_left and image.is_online(broker_id, where, even_if_shutting_down=True):
                decision.requests.stop_replica(broker_id, where, delete=True)
    return decision


def apply_begun(image: Image, decision: Decision) -> None:
    """Note what was begun; what has a replica out of reach waits until its broker is back."""
    for broker_id, stopped in decision.requests.stop.items():
        for where in stopped:
            image.deletions[where.topic].started[where.partition, broker_id] = None
    for topic in dict.fromkeys(where.topic for where in decision.requests.metadata_of):
        deletion = image.deletions[topic]
        replicas = ((where.partition, it) for where, it in replicas_of(image, topic))
        deletion.is_on_hold = any(
            it not in deletion.done and it not in deletion.started for it in replicas
        )


def replicas_deleted(image: Image, broker_id: int, partitions: Iterable[TopicPartition]) -> None:
    """A broker says that these replicas are gone."""
    for where in partitions:
        deletion = image.deletions.get(where.topic)
        if deletion is not None:
            deletion.started.pop((where.partition, broker_id), None)
            deletion.done[where.partition, broker_id] = None


def replicas_not_deleted(
    image: Image, broker_id: int, partitions: Iterable[TopicPartition]
) -> None:
    """A broker could not delete these, or is gone itself: try again when it is back."""
    for where in partitions:
        deletion = image.deletions.get(where.topic)
        if deletion is not None:
            deletion.started.pop((where.partition, broker_id), None)
            deletion.is_on_hold = True
