"""One broker, wired: from its settings to open listeners, and back.

The order is Kafka's: directories are owned, ZooKeeper says who we are, logs are loaded, listeners
are bound, and only who could serve registers. From then on the controller tells us, as it tells
everybody, what we lead.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from functools import partial
from os.path import abspath
from random import Random

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.channel import ControllerChannel
from odradek.kafka.broker.cleaning import LogCleaner
from odradek.kafka.broker.configs import OF_ALL_BROKERS, Configs
from odradek.kafka.broker.controlling import ControllerShell
from odradek.kafka.broker.coordinators import Coordinators
from odradek.kafka.broker.features import Features
from odradek.kafka.broker.fetch_sessions import FetchSessions
from odradek.kafka.broker.in_sync import InSync
from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.broker.leaving import be_relieved
from odradek.kafka.broker.links import Links
from odradek.kafka.broker.log_dir_moves import LogDirMoves
from odradek.kafka.broker.log_settings import log_settings
from odradek.kafka.broker.metadata import Metadata
from odradek.kafka.broker.meters import Meters
from odradek.kafka.broker.parked import Parked
from odradek.kafka.broker.partition import Surroundings
from odradek.kafka.broker.partitions import Partitions
from odradek.kafka.broker.producer_ids import ProducerIds
from odradek.kafka.broker.replicas import Replicas
from odradek.kafka.broker.upkeep import Upkeep
from odradek.kafka.controller import paths
from odradek.kafka.controller.registration import Registration
from odradek.kafka.controller.znodes import write_log_dir_event
from odradek.kafka.server.clients import Clients
from odradek.kafka.server.dispatch import import_all, serve_locally
from odradek.kafka.server.listening import Listening
from odradek.kafka.settings import BrokerSettings, Layers
from odradek.kafka.storage.checkpoints import Meta
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.errors import InconsistentDirectory
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.settings import LogSettings
from odradek.runtime.clock import steady_clock, wall_clock
from odradek.runtime.disk import Disk
from odradek.runtime.errors import OdradekError
from odradek.runtime.logs import NodeLog
from odradek.runtime.stalls import Stalls
from odradek.runtime.tasks import Tasks

HttpAddress = tuple[str, int]
IMPORT_AFTER_S = 2.0


class NoLogDirectory(OdradekError):
    """None of the log directories can be used."""


class BrokerNode:
    """A broker of a cluster that ZooKeeper coordinates."""

    def __init__(
        self,
        settings: BrokerSettings,
        disk: Disk,
        random: Random,
        *,
        http: HttpAddress | None = None,
    ) -> None:
        given = settings.broker_id
        self.note = NodeLog("broker" if given is None else f"broker {given}")
        self.tasks = Tasks(self.note)
        self._settings = settings
        self._disk = disk
        self._random = random
        self._http = http
        self._stalls = Stalls(self.note)

    # Starting

    async def start(self, connect: str | None = None) -> None:
        """Join the cluster and serve; `connect` names a ZooKeeper if the settings do not."""
        for problem in (*self._settings.warnings, *self._settings.without_effect):
            self.note.warning("%s", problem)
        self._clock, self._steady_clock = wall_clock(), steady_clock()
        self._keeper = Keeper(self._settings, self._random, self.note, connect=connect)
        self._configs = Configs(self._keeper, Layers(self._settings), self.note)
        self._directories = LogDirectories(
            OpenFiles(self._disk), self._log_settings, self._random.random
        )
        try:
            await self._prepare()
            await self._serve()
        except BaseException:
            await self._undo()
            raise

    async def _prepare(self) -> None:
        """Everything that comes before others may know of us."""
        self._own_directories()
        await self._keeper.open()
        cluster_id = await self._keeper.cluster_id()
        broker_id = await self._who_we_are()
        for directory in self._directories.online:
            directory.claim(Meta(broker_id, cluster_id))
        await self._configs.load_broker(broker_id)
        await self._configs.load()
        await self._load_logs()
        self._wire(broker_id, cluster_id)

    def _own_directories(self) -> None:
        wanted = dict.fromkeys(abspath(path) for path in self._settings.log_dirs)
        self._directories.open(list(wanted))
        for path, error in self._directories.offline.items():
            self.note.error("%s is offline: %s", path, error)
        if not self._directories.online:
            raise NoLogDirectory(f"no log directory can be used: {self._settings.log_dirs}")

    async def _who_we_are(self) -> int:
        """Our id: as given, as in earlier lives, or a new one."""
        metas = {it.path: it.meta for it in self._directories.online if it.meta is not None}
        known = {meta.broker_id for meta in metas.values()}
        if len(known) > 1:
            said = ", ".join(f"{path} of broker {it.broker_id}" for path, it in metas.items())
            raise InconsistentDirectory("log.dirs", f"belong to several brokers: {said}")
        if self._settings.broker_id is not None:
            return self._settings.broker_id
        found = known.pop() if known else await self._keeper.new_broker_id()
        self.note = NodeLog(f"broker {found}")
        return found

    def _log_settings(self, topic: str) -> LogSettings:
        return log_settings(self._configs.topic_settings(topic), self._settings_now())

    async def _load_logs(self) -> None:
        """In another thread, for it may take long; nothing else touches the logs yet."""
        in_thread = asyncio.get_running_loop().run_in_executor
        notes = await in_thread(None, lambda: list(self._directories.load()))
        for line in (line for lines in notes for line in lines):
            self.note.info("%s", line)
        if not self._directories.online:
            raise NoLogDirectory("no log directory is left")
        self.note.info("has %s logs", len(notes))

    def _wire(self, broker_id: int, cluster_id: str) -> None:
        """Put the parts together."""
        metadata, meters = Metadata(), Meters()
        surroundings = Surroundings(
            broker_id,
            metadata,
            self._settings_now,
            self._configs.topic_settings,
            self._clock,
            self._steady_clock,
        )
        timeout_s = self._settings.controller_socket_timeout_ms / 1000
        links = Links(broker_id, timeout_s, self.tasks, self.note)
        channel = ControllerChannel(broker_id, metadata, self._settings_now)
        slots = self._settings.max_incremental_fetch_session_cache_slots
        self.broker = Broker(
            id=broker_id,
            cluster_id=cluster_id,
            configs=self._configs,
            metadata=metadata,
            directories=self._directories,
            partitions=Partitions(
                self._directories, surroundings, meters, self.tasks, self.note, self._random
            ),
            parked=Parked(),
            fetch_sessions=FetchSessions(
                slots,
                self._random,
                self._steady_clock,
                lambda: self._settings_now().replica_lag_time_max_ms,
            ),
            keeper=self._keeper,
            controller=ControllerShell(
                broker_id, self._keeper, self._configs, links, self.tasks, self.note
            ),
            producer_ids=ProducerIds(broker_id, self._keeper, channel, self.tasks, self.note),
            meters=meters,
            tasks=self.tasks,
            note=self.note,
            random=self._random,
            clock=self._clock,
            steady_clock=self._steady_clock,
        )
        self.broker.throttling.follow(self._configs, self._settings)
        self.broker.replication_quotas.follow(self._configs, self._settings, broker_id)
        links.serve_own = channel.serve_own = partial(serve_locally, self.broker)
        self.broker.coordinators = Coordinators(self.broker)
        self._channel = channel
        self._features = Features(self._keeper, metadata, self.note)
        self._keep_logs(self.broker.partitions)
        self._in_sync = InSync(self.broker, channel, self.note)
        surroundings.isr_wanted = self._in_sync.ask
        self.broker.replicas = Replicas(self.broker, self._upkeep.turn_of)
        self.broker.moves = LogDirMoves(self.broker, self._upkeep)

    def _keep_logs(self, partitions: Partitions) -> None:
        self._upkeep = Upkeep(
            self._directories,
            self._settings_now,
            partitions.fail_directory,
            self._clock,
            self.note,
        )
        self.broker.cleaner = LogCleaner(
            self._directories, self._upkeep, self._settings_now, self._clock, self.tasks, self.note
        )
        partitions.doomed = self._upkeep.remove_directory_later
        partitions.forget = self._upkeep.forget
        partitions.directory_failed = self._directory_failed
        partitions.beginnings.room_found = self._have_replicas_asked_for
        self.broker.metadata.updated.append(partitions.beginnings.forget)
        self._configs.changed.append(self._config_changed)

    def _settings_now(self) -> BrokerSettings:
        return self._configs.layers.broker

    async def _serve(self) -> None:
        """Open the doors, and let the cluster know."""
        self.clients = Clients(self.broker)
        self._listening = Listening(self.clients, self.note)
        await self._listening.bind(self._settings)
        await self._keeper.register(self._registration())
        await self._features.load()
        self._upkeep.start(self.tasks)
        self.broker.cleaner.start()
        self._in_sync.start()
        self.broker.replicas.start()
        self.broker.moves.start()
        self.tasks.start("session", self._keeper.run())
        self.tasks.start("configs", self._configs.run())
        self.tasks.start("features", self._features.run())
        self.tasks.start("stalls", self._stalls.watch())
        self._keeper.renewed += [self._configs.load, self._features.load]
        self.broker.controller.start()
        self.broker.producer_ids.prefetch()
        await self._listening.open()
        self.tasks.start("imports", self._import_the_rest(), may_end=True)
        if self._http is not None:
            await self._open_to_operators(*self._http)

    async def _import_the_rest(self) -> None:
        """The handlers that nobody has asked for yet, once the first clients are served."""
        await asyncio.sleep(IMPORT_AFTER_S)
        await asyncio.get_running_loop().run_in_executor(None, import_all)

    def _registration(self) -> Registration:
        settings = self._settings
        endpoints = tuple(
            it._replace(
                host=it.host or socket.getfqdn(), port=it.port or self._listening.port(it.name)
            )
            for it in settings.advertised_listeners
        )
        return Registration(self.broker.id, endpoints, settings.broker_rack)

    async def _open_to_operators(self, host: str, port: int) -> None:
        from odradek.kafka.server.operators import Operators

        self.operators = Operators(self.broker, self._stalls, self.note)
        await self.operators.open(host, port)

    # Changes

    def _config_changed(self, entity_path: str) -> None:
        """Have the logs concerned follow a change of the settings."""
        kind, _, name = entity_path.partition("/")
        if kind == "topics":
            for log in self._logs_of(name):
                log.settings = self._log_settings(name)
            self.broker.cleaner.settings_changed(self._logs_of(name))
        elif entity_path in (OF_ALL_BROKERS, f"brokers/{self.broker.id}"):
            settings = {log.where.topic: None for log in self._logs()}
            fresh = {topic: self._log_settings(topic) for topic in settings}
            for log in self._logs():
                log.settings = fresh[log.where.topic]
            self.broker.cleaner.settings_changed(self._logs())
            self.broker.replicas.resize()

    def _logs(self) -> Iterator[Log]:
        for directory in self._directories.online:
            yield from directory.logs.values()
            yield from directory.futures.values()

    def _logs_of(self, topic: str) -> Iterator[Log]:
        for index in self.broker.metadata.topics.get(topic, ()):
            partition = self.broker.partitions.get(topic, index)
            if partition is not None:
                yield partition.log
                if future := self._directories.find_future(partition.where):
                    yield future[1]

    def _directory_failed(self, directory: LogDirectory) -> None:
        """Let the controller find out what is offline; without any directory there is no broker."""
        if not self._directories.online:
            self.tasks.fail("log directories", NoLogDirectory("no log directory is left"))
            return
        self._have_replicas_asked_for()

    def _have_replicas_asked_for(self) -> None:
        """Let the controller ask for all replicas once more: some are lost, or here again."""
        prefix = f"{paths.LOG_DIR_EVENTS}/{paths.LOG_DIR_EVENT_PREFIX}"
        event = write_log_dir_event(self.broker.id)
        self.tasks.start("log dir event", self._keeper.append(prefix, event), may_end=True)

    # Stopping

    async def stop(self) -> None:
        """Leave the cluster, finish what is under way, and leave the disk in order."""
        await be_relieved(
            self.broker.id, self._keeper, self._channel, self._settings_now(), self.note
        )
        self._listening.close()
        self.clients.close()
        if "operators" in vars(self):
            self.operators.close()
        self.broker.coordinators.close()
        self.tasks.stop()
        await self.tasks.until_stopped()
        self._channel.close()
        in_thread = asyncio.get_running_loop().run_in_executor
        await in_thread(None, self._directories.close, self._clock())
        self.clients.close()  # Those who have not taken their answers by now.
        await self._keeper.close()
        self.note.info("stopped")

    async def _undo(self) -> None:
        """Starting failed: let go of what is held already."""
        if "_listening" in vars(self):
            self._listening.close()
        self.tasks.stop()
        await self.tasks.until_stopped()
        await self._keeper.close()
        self._directories.release()
