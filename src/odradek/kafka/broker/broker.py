"""The broker: all that a handler may touch.

One event loop owns it, so nothing in it is locked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from odradek.kafka.broker.replication_quotas import ReplicationQuotas
from odradek.kafka.broker.throttling import Throttling
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks

if TYPE_CHECKING:
    from odradek.kafka.broker.cleaning import LogCleaner
    from odradek.kafka.broker.configs import Configs
    from odradek.kafka.broker.controlling import ControllerShell
    from odradek.kafka.broker.coordinators import Coordinators
    from odradek.kafka.broker.fetch_sessions import FetchSessions
    from odradek.kafka.broker.keeper import Keeper
    from odradek.kafka.broker.log_dir_moves import LogDirMoves
    from odradek.kafka.broker.metadata import Metadata
    from odradek.kafka.broker.meters import Meters
    from odradek.kafka.broker.parked import Parked
    from odradek.kafka.broker.partitions import Partitions
    from odradek.kafka.broker.producer_ids import ProducerIds
    from odradek.kafka.broker.replicas import Replicas
    from odradek.kafka.settings import BrokerSettings, TopicSettings
    from odradek.kafka.settings.layers import Layers
    from odradek.kafka.storage.directories import LogDirectories

KNOWN_WITHIN_S = 10.0


@dataclass(slots=True, eq=False)
class Broker:
    """One broker of a cluster."""

    id: int
    cluster_id: str
    configs: Configs
    metadata: Metadata
    directories: LogDirectories
    partitions: Partitions
    parked: Parked
    fetch_sessions: FetchSessions
    keeper: Keeper
    controller: ControllerShell
    producer_ids: ProducerIds
    meters: Meters
    tasks: Tasks
    note: NodeLog
    random: Random
    clock: Callable[[], int]  # The wall clock, in milliseconds.
    steady_clock: Callable[[], int]  # For how long ago something was.
    coordinators: Coordinators = field(init=False)  # It needs the broker: set once there is one.
    cleaner: LogCleaner = field(init=False)  # The node's.
    replicas: Replicas = field(init=False)
    moves: LogDirMoves = field(init=False)
    throttling: Throttling = field(default_factory=Throttling)
    replication_quotas: ReplicationQuotas = field(default_factory=ReplicationQuotas)

    @property
    def layers(self) -> Layers:
        """This broker's settings by their sources."""
        return self.configs.layers

    @property
    def settings(self) -> BrokerSettings:
        """What counts now."""
        return self.configs.layers.broker

    def topic_settings(self, topic: str) -> TopicSettings:
        """What counts for a topic now."""
        return self.configs.topic_settings(topic)

    @property
    def is_known(self) -> bool:
        """Whether a controller has told of us, and us of the others."""
        return self.id in self.metadata.brokers

    async def until_known(self) -> None:
        """Wait a little for the first word of a controller, after the start.

        A client that learns of no broker at all may not ask again for a long time.
        """
        if not self.is_known:
            await self.metadata.until(lambda: self.is_known, KNOWN_WITHIN_S)
