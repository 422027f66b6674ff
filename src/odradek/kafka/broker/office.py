"""How an active controller acts: what is decided is written, then known, then told.

Writes go under the controller's epoch. What was written is put into the image, and only that is
told to brokers. A state that somebody else has changed meanwhile is read and decided again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from odradek.kafka.broker.configs import Configs
from odradek.kafka.broker.fenced import FencedWrites, Outcome
from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.broker.links import Links
from odradek.kafka.broker.surveys import Surveys
from odradek.kafka.broker.vigil import Heard, Vigils
from odradek.kafka.controller import decide
from odradek.kafka.controller.decision import Change, Decision, apply_change, groups_of
from odradek.kafka.controller.image import Image
from odradek.kafka.controller.requests import Outgoing, Requests, messages
from odradek.kafka.controller.versions import WITH_RECOVERY, versions_for
from odradek.kafka.controller.writes import Group
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import OdradekError
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.wire.messages.data import Stat

TRIES_MAX = 10

Decide = Callable[[list[TopicPartition]], Decision]
Replica = tuple[TopicPartition, int]


class ReignOver(OdradekError):
    """This controller is none any more; what it was about to do must not happen."""


class Office:
    """The means of one controller, as long as it is the one."""

    def __init__(
        self,
        image: Image,
        keeper: Keeper,
        configs: Configs,
        links: Links,
        vigils: Vigils,
        note: NodeLog,
    ) -> None:
        self.image = image
        self.keeper = keeper
        self.configs = configs
        self.links = links
        self.vigils = vigils
        self.note = note
        self.surveys = Surveys(keeper, note)
        self.is_over = False
        self.answered: Callable[[Outgoing, Message], object] | None = None
        self.elected_uncleanly: Callable[[TopicPartition], object] = lambda where: None
        self._writes = FencedWrites(keeper, image.epoch_version)

    @property
    def settings(self) -> BrokerSettings:
        return self.configs.layers.broker

    def end(self) -> None:
        """Stop at once: no watch, no answer and no event counts from here on."""
        self.is_over = True
        self.links.close_all()
        self.vigils.close_all()

    async def write(self, groups: Sequence[Group]) -> list[Outcome]:
        """Write under our epoch. Raises `ControllerMoved`, `ReignOver`, `SessionExpired`."""
        if self.is_over:
            raise ReignOver
        outcomes = await self._writes.write(groups) if groups else []
        if self.is_over:
            raise ReignOver
        return outcomes

    async def carry_out(self, decision: Decision) -> list[TopicPartition]:
        """Write a decision and tell what was written; which states somebody else had changed."""
        outcomes = await self.write(groups_of(decision, self.image))
        requests, disputed = decision.requests, []
        for change, outcome in zip(decision.changes, outcomes, strict=False):
            version = version_written(change, outcome)
            if version is None:
                disputed.append(change)
            else:
                self._note_unclean(change)
                apply_change(self.image, change, version, requests)
        left = await self._look_again(disputed, requests) if disputed else []
        self.tell(requests)
        return left

    def _note_unclean(self, change: Change) -> None:
        """One leads now that was not in sync: what only the others had is lost."""
        before, leader = self.image.states.get(change.where), change.state.leader
        if before is not None and leader >= 0 and leader not in before.isr:
            self.note.warning("%s is led by %s, uncleanly", change.where, leader)
            self.elected_uncleanly(change.where)

    async def settle(self, partitions: Iterable[TopicPartition], choose: Decide) -> None:
        """Decide and carry out until nobody interferes."""
        left = list(partitions)
        for _ in range(TRIES_MAX):
            if not left:
                return
            left = await self.carry_out(choose(left))
        self.note.error("gave up on %s: their states keep changing", left)

    async def _look_again(self, disputed: list[Change], requests: Requests) -> list[TopicPartition]:
        """Read the states that could not be written. They may be ours, and the answer was lost."""
        found = await self.surveys.states([it.where for it in disputed])
        left = []
        for change in disputed:
            where, state = change.where, found.get(change.where)
            if state is None:
                self.image.states.pop(where, None)  # Its topic is going.
                continue
            self.image.states[where] = state
            if replace(change.state, controller_epoch=self.image.epoch).says_the_same(state):
                apply_change(self.image, change, state.version, requests)
            else:
                left.append(where)
        return left

    def tell(self, requests: Requests) -> None:
        """Send what brokers must know, each in the order of our decisions."""
        assert self.answered is not None
        settings = self.settings
        listener = settings.inter_broker_listener_name
        versions = versions_for(settings.inter_broker_protocol_version, listener)
        for outgoing in messages(self.image, requests, versions):
            self.links.send(*outgoing, partial(self.answered, outgoing))

    def tell_about(self, partitions: Iterable[TopicPartition]) -> None:
        """Let every broker know how these partitions stand."""
        requests = Requests()
        requests.tell_all(partitions)
        self.tell(requests)

    def open_link(self, broker_id: int, heard: Heard) -> None:
        """Be able to tell a broker what we decide, and hear when its process goes or comes."""
        registration = self.image.brokers[broker_id].registration
        endpoint = registration.endpoint(self.settings.control_listener_name)
        self.links.open(broker_id, endpoint)
        if endpoint is not None and broker_id != self.image.controller_id:
            self.vigils.open(broker_id, endpoint, heard)

    async def bring_online(self, partitions: list[TopicPartition]) -> None:
        """Give new partitions a state, and those without a leader one."""
        image = self.image
        fresh = [it for it in partitions if it not in image.states]
        await self.settle(fresh, partial(decide.decide_online, image))
        leaderless = [it for it in partitions if it in image.states and not image.has_leader(it)]
        unclean = await self._unclean_topics(leaderless)
        marks = self.settings.inter_broker_protocol_version >= WITH_RECOVERY

        def choose(left: list[TopicPartition]) -> Decision:
            return decide.decide_leaders(image, left, unclean.__contains__, marks_recovery=marks)

        await self.settle(leaderless, choose)

    async def take_offline(self, replicas: Iterable[Replica]) -> None:
        """Take replicas out of their ISRs."""
        gone: dict[TopicPartition, list[int]] = {}
        for where, broker_id in replicas:
            gone.setdefault(where, []).append(broker_id)

        def choose(left: list[TopicPartition]) -> Decision:
            pairs = [(where, it) for where in left for it in gone[where]]
            return decide.decide_offline(self.image, pairs)

        await self.settle(gone, choose)

    async def _unclean_topics(self, partitions: Iterable[TopicPartition]) -> set[str]:
        """Which topics want a leader even if records are lost; asked only where it matters."""
        image = self.image
        lost = {
            where.topic: None
            for where in partitions
            if not any(image.is_online(it, where) for it in image.states[where].isr)
        }
        await self.configs.learn_topics(lost)
        wants = self.configs.topic_settings
        return {it for it in lost if wants(it).unclean_leader_election_enable}


def version_written(change: Change, outcome: Outcome) -> int | None:
    """The version of a state's data now that it is written; None if it is not."""
    if isinstance(outcome, ZooKeeperError):
        return None
    if change.is_first:
        return 0
    stat = outcome[-1]
    assert isinstance(stat, Stat)
    return stat.version
