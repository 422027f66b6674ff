"""The picture of a cluster that a client has: its brokers, topics, partitions and leaders.

A picture may be out of date. Whoever is told so by a broker asks for a new one, from any broker
that can be reached: those of the last picture first, then those that were configured. Where
ZooKeeper tells of brokers and leaders (`guide`), a picture is out of date as soon as it does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeVar

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

if TYPE_CHECKING:
    from odradek.kafka.client.news import News

R = TypeVar("R", bound=Message)
MISSES_MAX = 3
CATCH_UP_PAUSES_S = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
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
    epochs: dict[int, int] = field(default_factory=dict)  # Of leaders, also where one is lacking.
    news_count: int = 0  # What ZooKeeper had told when the picture was asked for.


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
        self._asked_count = 0  # What ZooKeeper had told when we asked for metadata last.

    def patience(self, what: str, timeout_ms: int | None = None) -> Patience:
        """Patience with this cluster, which ends early when there is news of it."""
        return Patience(what, self.settings, timeout_ms, self.brokers.wait)

    def topics(self) -> dict[str, TopicPicture]:
        """All topics of the cluster, asked for anew."""
        patience = self.patience("the list of topics")
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
        return len(self._current(topic).leaders)

    def refresh(self, names: Collection[str]) -> None:
        """Ask anew about these topics; `UnknownTopic` if one is not there, however often asked.

        A topic that was made a moment ago may be unknown to the broker that we ask, so this is
        asked more than once; but one that is not there should be missed soon.
        """
        patience = self.patience(f"metadata of {', '.join(names)}" if names else "the brokers")
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
        topic = self._current(partition.topic)
        if partition.partition not in topic.leaders:
            what = f"the cluster has no partition {partition}"
            raise UnknownTopic(partition.topic, what)
        leader = topic.leaders[partition.partition]
        if leader is None:
            return None
        address = self._address_of(leader.node_id)
        return None if address is None else (address, leader)

    def await_topic(self, topic: str) -> None:
        """Return when a topic that was made a moment ago has a leader for each partition."""
        patience = self.patience(f"topic {topic}")
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
        if news := self._current_news():
            return news.addresses()
        if not self._addresses:
            self.topics()
        return list(self._addresses.values())

    def ask_any(self, request: Message, response: type[R]) -> R:
        """The answer of the first broker that can be reached."""
        connection = self.brokers.any_of(self._candidates())
        try:
            return connection.request(request, response)
        finally:
            self.brokers.give_back(connection)

    def forget(self, topic: str) -> None:
        """What we know of a topic is out of date."""
        self._topics.pop(topic, None)

    def _candidates(self) -> Iterator[Address]:
        """Whom to ask, one after another; who was configured is looked up only if need be."""
        known = list(self._addresses.values())
        yield from known
        yield from (it for it in self.brokers.bootstrap_servers() if it not in known)

    def _current(self, name: str) -> TopicPicture:
        """The picture of a topic that must be there, asked for anew if it is old."""
        if guide := self.brokers.guide:
            guide.follow(name)
        picture = self._topics.get(name)
        if picture is None or self._is_old(picture):
            self.refresh([name])
            self._let_brokers_catch_up(name)
        return self._topics[name]

    def _let_brokers_catch_up(self, name: str) -> None:
        """Ask again where ZooKeeper has told of an election that a broker is about to hear of."""
        for pause_s in CATCH_UP_PAUSES_S:
            if not self._is_behind(self._topics[name]):
                return
            sleep(pause_s)
            self.refresh([name])

    def _is_old(self, topic: TopicPicture) -> bool:
        if (monotonic() - topic.seen_at) * 1000 > self.settings.metadata_age_ms_max:
            return True
        return self._is_overtaken(topic)

    def _is_overtaken(self, topic: TopicPicture) -> bool:
        """Whether ZooKeeper has told something of the topic since its picture was asked for."""
        guide = self.brokers.guide
        if guide is None or guide.news.count == topic.news_count:
            return False
        count = guide.news.count
        if guide.news.is_old(topic.name, topic.epochs, topic.news_count):
            return True
        topic.news_count = count  # The rest was about others.
        return False

    def _is_behind(self, topic: TopicPicture) -> bool:
        guide = self.brokers.guide
        return guide is not None and guide.news.is_behind(topic.name, topic.epochs)

    def _current_news(self) -> News | None:
        """What ZooKeeper tells, as long as it does."""
        guide = self.brokers.guide
        return guide.news if guide is not None and not guide.news.trouble else None

    def _address_of(self, broker_id: int) -> Address | None:
        news = self._current_news()
        told = news.address_of(broker_id) if news is not None else None
        return told or self._addresses.get(broker_id)

    def _ask(self, names: Collection[str] | None) -> MetadataResponse:
        request = MetadataRequest(
            topics=None if names is None else [MetadataRequestTopic(name=name) for name in names],
            # A reader that creates what it misspelt would wait for records for ever.
            allow_auto_topic_creation=self._creates_topics,
        )
        guide = self.brokers.guide
        self._asked_count = guide.news.count if guide is not None else 0
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
                pictures.append(_picture(topic.name, topic, self._asked_count))
        self._topics |= {picture.name: picture for picture in pictures}
        return pictures


def _picture(name: str, topic: MetadataResponseTopic, news_count: int) -> TopicPicture:
    leaders = {
        p.partition_index: None if p.leader_id < 0 else Leader(p.leader_id, p.leader_epoch)
        for p in topic.partitions
    }
    epochs = {p.partition_index: p.leader_epoch for p in topic.partitions}
    return TopicPicture(name, topic.is_internal, leaders, monotonic(), epochs, news_count)


_shared: dict[tuple[ClientSettings, bool], Cluster] = {}


def shared_cluster(settings: ClientSettings, *, creates_topics: bool = False) -> Cluster:
    """The picture of a cluster that this process has, with its pool of connections."""
    brokers, known = shared_brokers(settings), _shared.get((settings, creates_topics))
    if known is None or known.brokers is not brokers:
        known = Cluster(brokers, creates_topics=creates_topics)
        _shared[settings, creates_topics] = known
    return known
