"""The picture of a cluster that a client has: its brokers, topics, partitions and leaders.

A picture may be out of date. Whoever is told so by a broker asks for a new one, from any broker
that can be reached: those of the last picture first, then those that were configured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.brokers import Brokers, shared_brokers
from odradek.kafka.client.errors import (
    BrokerRefused,
    ConnectionLost,
    NoBroker,
    TopicPartition,
    UnknownTopic,
    is_retriable,
    name_of,
)
from odradek.kafka.client.patience import Patience
from odradek.kafka.client.settings import ClientSettings
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from odradek.kafka.wire.schema import Message

R = TypeVar("R", bound=Message)
MISSES_MAX = 3
MISSES_MAX_CREATING = 12


@dataclass(frozen=True, slots=True)
class Leader:
    """Who leads a partition, and since which epoch (-1: the broker does not say)."""

    node_id: int
    epoch: int


@dataclass(slots=True)
class TopicPicture:
    """What is known of one topic."""

    name: str
    is_internal: bool
    leaders: dict[int, Leader | None] = field(default_factory=dict)  # By partition.
    seen_at: float = 0.0


class Cluster:
    """A picture of one cluster, renewed when asked."""

    def __init__(self, brokers: Brokers, *, creates_topics: bool = False) -> None:
        """With `creates_topics` a topic that is asked about is made, where brokers allow it."""
        self.brokers = brokers
        self._creates_topics = creates_topics
        self.settings = brokers.settings
        self._addresses: dict[int, Address] = {}
        self._controller = -1
        self._topics: dict[str, TopicPicture] = {}

    def topics(self) -> dict[str, TopicPicture]:
        """All topics of the cluster, asked for anew."""
        patience = Patience("the list of topics", self.settings)
        while True:
            try:
                response = self._ask(None)
            except (ConnectionLost, NoBroker) as error:
                patience.pause(error)
                continue
            return {topic.name: topic for topic in self._learn(response)}

    def partitions_of(self, names: Iterable[str]) -> list[TopicPartition]:
        """The partitions of topics that must exist, asked for anew."""
        wanted = sorted(set(names))
        self.refresh(wanted)
        return [
            TopicPartition(name, partition)
            for name in wanted
            for partition in sorted(self._topics[name].leaders)
        ]

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has, as far as is known; it must be there."""
        picture = self._topics.get(topic)
        if picture is None or self._is_old(picture):
            self.refresh([topic])
        return len(self._topics[topic].leaders)

    def refresh(self, names: Collection[str]) -> None:
        """Ask anew about these topics; `UnknownTopic` if one is not there, however often asked.

        A topic that was made a moment ago may be unknown to the broker that we ask, so this is
        asked more than once; but one that is not there should be missed soon.
        """
        patience = Patience(f"metadata of {', '.join(names)}", self.settings)
        misses_left = MISSES_MAX_CREATING if self._creates_topics else MISSES_MAX
        while True:
            try:
                trouble = self._problem_of(self._ask(names), misses_left)
            except (ConnectionLost, NoBroker) as error:
                trouble = str(error)
            else:
                misses_left -= 1
            if trouble is None:
                return
            patience.pause(trouble)

    def leader_of(self, partition: TopicPartition) -> tuple[Address, Leader] | None:
        """Who leads a partition now, as far as is known; None: nobody, or not known."""
        topic = self._topics.get(partition.topic)
        if topic is None or self._is_old(topic):
            self.refresh([partition.topic])
            topic = self._topics[partition.topic]
        if partition.partition not in topic.leaders:
            what = f"the cluster has no partition {partition}"
            raise UnknownTopic(partition.topic, what)
        leader = topic.leaders[partition.partition]
        if leader is None or leader.node_id not in self._addresses:
            return None
        return self._addresses[leader.node_id], leader

    def await_topic(self, topic: str) -> None:
        """Return when a topic that was made a moment ago has a leader for each partition."""
        patience = Patience(f"topic {topic}", self.settings)
        while True:
            try:
                self.refresh([topic])
                if None not in self._topics[topic].leaders.values():
                    return
            except UnknownTopic:
                pass
            patience.pause("it is not led yet")

    def ask_controller(self, request: Message, response: type[R]) -> R:
        """The answer of the broker that is the controller."""
        if self._controller not in self._addresses:
            self.topics()
        address = self._addresses.get(self._controller)
        if address is None:
            raise NoBroker("no controller is known")
        with self.brokers.lend(address) as connection:
            return connection.request(request, response)

    def addresses(self) -> list[Address]:
        """All brokers, as far as is known: asked for if none is."""
        if not self._addresses:
            self.topics()
        return list(self._addresses.values())

    def ask_any(self, request: Message, response: type[R]) -> R:
        """The answer of the first broker that can be reached."""
        known = list(self._addresses.values())
        addresses = known + [a for a in self.settings.bootstrap_servers if a not in known]
        connection = self.brokers.any_of(addresses)
        try:
            return connection.request(request, response)
        finally:
            self.brokers.give_back(connection)

    def forget(self, topic: str) -> None:
        """What we know of a topic is out of date."""
        self._topics.pop(topic, None)

    def _is_old(self, topic: TopicPicture) -> bool:
        return (monotonic() - topic.seen_at) * 1000 > self.settings.metadata_age_ms_max

    def _ask(self, names: Collection[str] | None) -> MetadataResponse:
        request = MetadataRequest(
            topics=None if names is None else [MetadataRequestTopic(name=name) for name in names],
            # A reader that creates what it misspelt would wait for records for ever.
            allow_auto_topic_creation=self._creates_topics,
        )
        return self.ask_any(request, MetadataResponse)

    def _problem_of(self, response: MetadataResponse, misses_left: int) -> str | None:
        """Learn from a response; say what is lacking, or raise if it will not come."""
        self._learn(response)
        for topic in response.topics:
            code = topic.error_code
            if not code:
                continue
            if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not misses_left:
                raise UnknownTopic(str(topic.name))
            if not is_retriable(code):
                raise BrokerRefused(f"topic {topic.name}", code)
            return f"{topic.name}: {name_of(code)}"
        return None

    def _learn(self, response: MetadataResponse) -> list[TopicPicture]:
        self._addresses = {b.node_id: Address(b.host, b.port) for b in response.brokers}
        self._controller = response.controller_id
        pictures = []
        for topic in response.topics:
            if topic.name is not None:
                self._topics.pop(topic.name, None)
            if topic.name is not None and not topic.error_code:
                pictures.append(_picture(topic.name, topic))
        self._topics |= {picture.name: picture for picture in pictures}
        return pictures


def _picture(name: str, topic: MetadataResponseTopic) -> TopicPicture:
    leaders = {
        p.partition_index: None if p.leader_id < 0 else Leader(p.leader_id, p.leader_epoch)
        for p in topic.partitions
    }
    return TopicPicture(name, topic.is_internal, leaders, monotonic())


_shared: dict[tuple[ClientSettings, bool], Cluster] = {}


def shared_cluster(settings: ClientSettings, *, creates_topics: bool = False) -> Cluster:
    """The picture of a cluster that this process has, with its pool of connections."""
    brokers, known = shared_brokers(settings), _shared.get((settings, creates_topics))
    if known is None or known.brokers is not brokers:
        known = Cluster(brokers, creates_topics=creates_topics)
        _shared[settings, creates_topics] = known
    return known
