"""One controller's time in office: what it does when something happens.

Events come one at a time, from `controlling`; watches and answers only put them in line. Each reads
what changed, has `kafka/controller` decide, and carries it out by way of `office`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from odradek.kafka.broker.deleting import Deleting
from odradek.kafka.broker.features import set_up_features
from odradek.kafka.broker.moving import Moving
from odradek.kafka.broker.office import Office, Replica
from odradek.kafka.broker.surveys import FoundTopic
from odradek.kafka.controller import decide, deletion, paths, znodes
from odradek.kafka.controller.image import Image, LiveBroker
from odradek.kafka.controller.requests import Outgoing
from odradek.kafka.controller.writes import Delete, Group, Set
from odradek.kafka.controller.znodes import BadZnode
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from odradek.kafka.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from odradek.kafka.wire.schema import ZERO_UUID, Message
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.watches import WatchEvent
from odradek.zookeeper.wire.codes import EventType

Told = TypeVar("Told")
Work = Callable[[], Awaitable[object]]
Enqueue = Callable[[str, Work], object]  # Under one name an event waits only once.


class Reign:
    """What an active controller does."""

    def __init__(self, office: Office, enqueue: Enqueue) -> None:
        self.office = office
        self.deleting = Deleting(office)
        self.moving = Moving(office, self.deleting)
        self._enqueue = enqueue
        self._answer_count = 0
        self._sights: dict[int, bool] = {}  # What vigils told since we last acted upon it.
        office.answered = self._answered

    @property
    def image(self) -> Image:
        return self.office.image

    # Taking office

    async def begin(self) -> None:
        """Learn what there is, tell every broker, and set right what went wrong meanwhile."""
        protocol = self.office.settings.inter_broker_protocol_version
        await set_up_features(self.office.keeper, protocol)
        await self._clear(paths.LOG_DIR_EVENTS)
        await self._clear(paths.ISR_CHANGES)
        await self._learn()
        await self.office.carry_out(decide.decide_known())
        await self.office.carry_out(decide.decide_failover(self.image))
        await self.office.bring_online(list(self.image.all_partitions()))
        await self.office.take_offline(self._unreachable())
        await self.log_dirs_notified()
        await self.isr_changes_notified()
        await self.reassignments_asked_for()
        for where in list(self.image.moving):
            await self.moving.go_on(where)
        await self.deleting.go_on()
        await self.elections_asked_for()

    async def _learn(self) -> None:
        """Read everything, and watch it from there on."""
        office, image, keeper = self.office, self.office.image, self.office.keeper
        image.brokers = await office.surveys.brokers(self._stir_brokers, self._stir_brokers)
        for broker_id in image.broker_ids():
            self._open_link(broker_id)
        await self._take_topics(await keeper.children(paths.TOPICS, self._stir_topics))
        image.states = await office.surveys.states(image.all_partitions())
        await self._take_deletions()
        self.deleting.hold_what_is_offline()

    def _unreachable(self) -> list[Replica]:
        image = self.image
        return [
            (where, broker_id)
            for where in image.states
            for broker_id in image.replicas(where)
            if not image.is_online(broker_id, where)
        ]

    async def _clear(self, path: str) -> None:
        """Remove notifications whose news are known, or about to be read anyway."""
        names = await self.office.keeper.children(path)
        await self.office.write([(Delete(f"{path}/{name}"),) for name in names])

    # Brokers

    async def brokers_changed(self) -> None:
        found = await self.office.surveys.brokers(self._stir_brokers, self._stir_brokers)
        for broker_id in [it for it in self.image.missing if it not in found]:
            del self.image.missing[broker_id]
            self.office.vigils.close(broker_id)
        changed = decide.compare_brokers(self.image, found)
        if any(changed):
            told = "brokers joined: %s; bounced: %s; left: %s; altered: %s"
            self.office.note.info(told, *changed)
        if changed.joined:
            await self._joined(changed.joined, found)
        if changed.bounced:
            await self._left(changed.bounced)
            await self._joined(changed.bounced, found)
        if changed.left:
            await self._left(changed.left)
        if changed.altered:
            self.image.brokers |= {it: found[it] for it in changed.altered}
            await self.office.carry_out(decide.decide_known())

    def _open_link(self, broker_id: int) -> None:
        self._sights.pop(broker_id, None)
        self.office.open_link(broker_id, partial(self._sighted, broker_id))

    def _sighted(self, broker_id: int, is_there: bool) -> None:
        if not self.office.is_over:
            self._sights[broker_id] = is_there
            self._enqueue("sights", self.sights_changed)

    async def sights_changed(self) -> None:
        """Processes went while their registration lasts, or came back to it."""
        image, sights = self.image, self._sights
        self._sights = {}
        lost = [it for it, is_there in sights.items() if not is_there and it in image.brokers]
        back = [it for it, is_there in sights.items() if is_there and it in image.missing]
        if unforeseen := [it for it in lost if it not in image.shutting_down]:
            self.office.note.warning("brokers are registered, but not there: %s", unforeseen)
        if lost:
            image.missing |= {it: image.brokers[it] for it in lost}
            await self._left(lost)
        if back:
            self.office.note.info("brokers are there again: %s", back)
            for broker_id in back:
                del image.missing[broker_id]
            await self.brokers_changed()

    async def _joined(self, brokers: list[int], found: dict[int, LiveBroker]) -> None:
        image, office = self.image, self.office
        for broker_id in brokers:
            image.missing.pop(broker_id, None)
            image.brokers[broker_id] = found[broker_id]
            self._open_link(broker_id)
        for decision in decide.decide_introduced(image, brokers):
            await office.carry_out(decision)
        await office.carry_out(decide.decide_joined(image, brokers))
        await office.bring_online(list(image.all_partitions()))
        for where in list(image.moving):
            assignment = image.assignment(where)
            if assignment is not None and set(assignment.target) & set(brokers):
                await self.moving.go_on(where)
        deletion.resume_deletion_on(image, brokers)
        await self.deleting.go_on()

    async def _left(self, brokers: list[int]) -> None:
        image = self.image
        gone = [(where, it) for it in brokers for where in image.held_by(it)]
        for broker_id in brokers:
            del image.brokers[broker_id]
            image.offline.pop(broker_id, None)
            image.shutting_down.pop(broker_id, None)
            self.office.links.close(broker_id)
            if broker_id not in image.missing:
                self.office.vigils.close(broker_id)
        await self._replicas_gone(gone)
        await self.office.carry_out(decide.decide_known())

    async def _replicas_gone(self, gone: list[Replica]) -> None:
        """Replicas cannot be reached: others must lead, and nobody count on these."""
        await self.office.bring_online([where for where, _ in gone])
        await self.office.take_offline(gone)
        for where, broker_id in gone:
            deletion.replicas_not_deleted(self.image, broker_id, [where])
        await self.deleting.go_on()

    async def _replicas_back(self, back: list[TopicPartition]) -> None:
        """Replicas have a disk again: they may lead, and be counted on."""
        await self.office.bring_online(back)
        self.office.tell_about(back)
        for where in back:
            await self.moving.go_on(where)

    # Topics

    async def topics_changed(self) -> None:
        names = await self.office.keeper.children(paths.TOPICS, self._stir_topics)
        present = frozenset(names)
        for topic in [it for it in self.image.topics if it not in present]:
            self.image.remove_topic(topic)
        fresh = await self._take_topics([it for it in names if it not in self.image.topics])
        await self.office.bring_online(fresh)

    async def topic_changed(self, topic: str) -> None:
        """Partitions may have been added."""
        found = (await self.office.surveys.topics([topic], self._stir_topic)).get(topic)
        entry = self.image.topics.get(topic)
        if found is None or entry is None:
            return
        if self.image.is_being_deleted(topic):
            await self._restore(topic, found)
        else:
            fresh = self.image.put_topic(topic, entry.id, found.node.partitions)
            await self.office.bring_online(fresh)

    async def _restore(self, topic: str, found: FoundTopic) -> None:
        """Nothing is added to a topic that is to go."""
        entry = self.image.topics[topic]
        if found.node.partitions.keys() - entry.partitions.keys():
            told = "no partitions are added to %s, which is to be deleted"
            self.office.note.warning(told, topic)
            data = znodes.write_topic(entry.id, entry.partitions)
            await self.office.write([(Set(paths.topic(topic), data, found.version),)])

    async def _take_topics(self, names: list[str]) -> list[TopicPartition]:
        """Read topics into the image, with an id for those that have none; what is new."""
        found = await self.office.surveys.topics(names, self._stir_topic)
        fresh: list[TopicPartition] = []
        for topic, topic_id in (await self._topic_ids(found)).items():
            fresh += self.image.put_topic(topic, topic_id, found[topic].node.partitions)
        return fresh

    async def _topic_ids(self, found: dict[str, FoundTopic]) -> dict[str, bytes]:
        """The topics' ids. One that changes just when it is to get its first is left for later."""
        ids: dict[str, bytes] = {}
        groups: dict[str, Group] = {}
        for topic, (node, version) in found.items():
            ids[topic] = node.topic_id or self.office.keeper.new_topic_id()
            if node.topic_id is None and ids[topic] != ZERO_UUID:
                data = znodes.write_topic(ids[topic], node.partitions)
                groups[topic] = (Set(paths.topic(topic), data, version),)
        outcomes = await self.office.write(list(groups.values()))
        for topic, outcome in zip(groups, outcomes, strict=True):
            if isinstance(outcome, ZooKeeperError):
                del ids[topic]
                self._enqueue("topics", self.topics_changed)
        return ids

    async def deletions_changed(self) -> None:
        await self._take_deletions()
        await self.deleting.go_on()

    async def _take_deletions(self) -> None:
        names = await self.office.keeper.children(paths.DELETE_TOPICS, self._stir_deletions)
        if not await self.deleting.take(names):
            # After a lost connection news may come in any order.
            self._enqueue("topics", self.topics_changed)
            self._enqueue("deletions", self.deletions_changed)

    # What others ask for by znodes

    async def reassignments_asked_for(self) -> None:
        if data := await self._asked(paths.REASSIGN_PARTITIONS, self._stir_reassignments):
            await self.moving.take_znode(data)

    async def elections_asked_for(self) -> None:
        if data := await self._asked(paths.PREFERRED_ELECTION, self._stir_elections):
            await self.moving.take_preferred_znode(data)

    async def _asked(self, path: str, watch: Callable[[WatchEvent], None]) -> bytes | None:
        keeper = self.office.keeper
        if await keeper.steadily(lambda: keeper.client.exists(path, watch)) is None:
            return None
        found = await keeper.read(path)
        return None if found is None else found[0]

    async def isr_changes_notified(self) -> None:
        """Leaders of an old protocol have changed states by themselves."""
        lists = await self._news(paths.ISR_CHANGES, self._stir_isr_changes, znodes.read_partitions)
        known = [it for listed in lists for it in listed if self.image.assignment(it)]
        self.image.states |= await self.office.surveys.states(known)
        if known:
            self.office.tell_about(known)
        for where in known:
            await self.moving.finish_if_complete(where)

    async def log_dirs_notified(self) -> None:
        """Brokers lost disks, or found room: asked for their replicas, they say which are here."""
        read = znodes.read_log_dir_event
        brokers = await self._news(paths.LOG_DIR_EVENTS, self._stir_log_dirs, read)
        known = [it for it in dict.fromkeys(brokers) if it in self.image.brokers]
        await self.office.carry_out(decide.decide_joined(self.image, known))
        deletion.resume_deletion_on(self.image, known)
        await self.deleting.go_on()

    async def _news(
        self, root: str, watch: Callable[[WatchEvent], None], read: Callable[[bytes], Told]
    ) -> list[Told]:
        """What notifications tell; they are gone after that."""
        wanted = [f"{root}/{it}" for it in await self.office.keeper.children(root, watch)]
        told = []
        for path, found in zip(wanted, await self.office.keeper.read_all(wanted), strict=True):
            try:
                if found is not None:
                    told.append(read(found[0]))
            except BadZnode as error:
                self.office.note.error("%s: %s", path, error)
        await self.office.write([(Delete(path),) for path in wanted])
        return told

    # Answers of brokers

    def _answered(self, outgoing: Outgoing, answer: Message) -> None:
        broker_id, message = outgoing.broker_id, outgoing.message
        if self.office.is_over:
            return
        if code := getattr(answer, "error_code", 0):
            told = "broker %s answers %s with %s"
            name = ErrorCode(code).name
            self.office.note.error(told, broker_id, type(message).__name__, name)
        self._answer_count += 1
        event = f"answer {self._answer_count}"
        if isinstance(message, LeaderAndIsrRequest) and isinstance(answer, LeaderAndIsrResponse):
            failed, fine = storage_errors(self.image, answer)
            if failed or self.image.offline.get(broker_id):
                self._enqueue(event, lambda: self._storage_answered(broker_id, failed, fine))
        elif isinstance(message, StopReplicaRequest) and isinstance(answer, StopReplicaResponse):
            self._enqueue(event, lambda: self.deleting.stopped(broker_id, message, answer))

    async def _storage_answered(
        self, broker_id: int, failed: list[TopicPartition], fine: list[TopicPartition]
    ) -> None:
        """A broker said which of its replicas it cannot serve for its disks."""
        news = decide.take_storage_errors(self.image, broker_id, failed, fine)
        await self._replicas_gone([(where, broker_id) for where in news.lost])
        await self._replicas_back(news.back)

    # Watches: they only put events in line, and ask nothing.

    def _stir(self, event: WatchEvent, name: str, work: Work) -> None:
        if not self.office.is_over and event.type is not EventType.NONE:
            self._enqueue(name, work)

    def _stir_brokers(self, event: WatchEvent) -> None:
        self._stir(event, "brokers", self.brokers_changed)

    def _stir_topics(self, event: WatchEvent) -> None:
        self._stir(event, "topics", self.topics_changed)

    def _stir_topic(self, event: WatchEvent) -> None:
        topic = event.path.rpartition("/")[2]
        if event.type is EventType.DATA_CHANGED:
            self._stir(event, f"topic {topic}", lambda: self.topic_changed(topic))

    def _stir_deletions(self, event: WatchEvent) -> None:
        self._stir(event, "deletions", self.deletions_changed)

    def _stir_isr_changes(self, event: WatchEvent) -> None:
        self._stir(event, "ISR changes", self.isr_changes_notified)

    def _stir_log_dirs(self, event: WatchEvent) -> None:
        self._stir(event, "log directories", self.log_dirs_notified)

    def _stir_reassignments(self, event: WatchEvent) -> None:
        self._stir(event, "reassignments", self.reassignments_asked_for)

    def _stir_elections(self, event: WatchEvent) -> None:
        self._stir(event, "elections", self.elections_asked_for)


def storage_errors(
    image: Image, answer: LeaderAndIsrResponse
) -> tuple[list[TopicPartition], list[TopicPartition]]:
    """Which replicas a broker cannot serve for its disks, and which it can."""
    codes: dict[TopicPartition, int] = {
        TopicPartition(it.topic_name, it.partition_index): it.error_code
        for it in answer.partition_errors
    }
    for topic in answer.topics:
        name = image.names.get(topic.topic_id)
        for it in topic.partition_errors if name is not None else ():
            codes[TopicPartition(name or "", it.partition_index)] = it.error_code
    failed = [it for it, code in codes.items() if code == ErrorCode.KAFKA_STORAGE_ERROR]
    return failed, [it for it, code in codes.items() if code == ErrorCode.NONE]
