"""The deletion of topics, step by step as brokers answer."""

from __future__ import annotations

from odradek.kafka.broker.office import Office
from odradek.kafka.controller import deletion, paths
from odradek.kafka.controller.writes import Delete
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse


class Deleting:
    """What is to be deleted, on behalf of a controller."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._image = office.image

    async def take(self, names: list[str]) -> bool:
        """Note what is asked for; what cannot be deleted is not asked for any more.

        False if a topic is among them that is there, but not known yet: then take them again later.
        """
        unknown = [it for it in names if it not in self._image.topics]
        found = await self._office.keeper.read_all([paths.topic(it) for it in unknown])
        early = {name for name, it in zip(unknown, found, strict=True) if it is not None}
        refused = [it for it in unknown if it not in early]
        if not self._office.settings.delete_topic_enable:
            refused = names
        if refused:
            self._office.note.warning("topics that cannot be deleted: %s", refused)
        await self._office.write([(Delete(paths.topic_to_delete(it)),) for it in refused])
        deletion.ask_for_deletion(self._image, [it for it in names if it not in set(refused)])
        return not early

    def hold_what_is_offline(self) -> None:
        """What has a replica that cannot be reached must wait for it."""
        for topic in list(self._image.deletions):
            replicas = deletion.replicas_of(self._image, topic)
            if any(not self._image.is_online(it, where) for where, it in replicas):
                deletion.hold_deletion(self._image, [topic])

    async def go_on(self) -> None:
        """Do what can be done now."""
        await self._finish()
        decision = deletion.decide_deletions(self._image)
        deletion.apply_begun(self._image, decision)
        await self._office.carry_out(decision)
        await self._finish()  # A topic without replicas has nothing to wait for.

    async def stopped(
        self, broker_id: int, asked: StopReplicaRequest, answer: StopReplicaResponse
    ) -> None:
        """A broker has stopped replicas; those of topics that are to go are gone, or not."""
        deleted = [it for it in deleted_by(asked) if self._image.is_being_deleted(it.topic)]
        codes = {
            TopicPartition(it.topic_name, it.partition_index): it.error_code
            for it in answer.partition_errors
        }
        failed = [it for it in deleted if answer.error_code or codes.get(it, 0)]
        gone = [it for it in deleted if not (answer.error_code or codes.get(it, 0))]
        deletion.replicas_not_deleted(self._image, broker_id, failed)
        deletion.replicas_deleted(self._image, broker_id, gone)
        await self.go_on()

    async def _finish(self) -> None:
        for topic in deletion.finished_deletions(self._image):
            tree = await self._office.surveys.tree(paths.topic(topic))
            last = (paths.topic_config(topic), paths.topic_to_delete(topic))
            await self._office.write([(Delete(path),) for path in tree])
            await self._office.write([(Delete(path),) for path in last])
            self._image.remove_topic(topic)
            self._office.note.info("topic %s is deleted", topic)


def deleted_by(message: StopReplicaRequest) -> list[TopicPartition]:
    """What a request asks to be deleted, whatever its version."""
    found = [
        TopicPartition(topic.topic_name, it.partition_index)
        for topic in message.topic_states
        for it in topic.partition_states
        if it.delete_partition
    ]
    if message.delete_partitions:
        found += [TopicPartition(it.name, i) for it in message.topics for i in it.partition_indexes]
        listed = message.ungrouped_partitions
        found += [TopicPartition(it.topic_name, it.partition_index) for it in listed]
    return found
