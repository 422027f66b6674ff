"""One ZooKeeper server, wired: from its settings to an open port, and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from importlib import import_module
from random import Random
from socket import socket
from typing import TYPE_CHECKING

from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.disk import Disk
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.cleaner import Cleaner
from odradek.zookeeper.server.clients import Clients, ClientSettings
from odradek.zookeeper.server.connection import Connection
from odradek.zookeeper.server.log_writer import LogWriter
from odradek.zookeeper.server.pipeline import Pipeline
from odradek.zookeeper.server.snapshots import Rolling, Snapshots, Source
from odradek.zookeeper.settings import ZooKeeperSettings
from odradek.zookeeper.state.asker import Rules
from odradek.zookeeper.state.processor import Processor
from odradek.zookeeper.state.sessions import Sessions, first_session_id
from odradek.zookeeper.storage.directories import Directories
from odradek.zookeeper.storage.purge import purge
from odradek.zookeeper.storage.recover import Recovered, recover
from odradek.zookeeper.storage.snapshot_slices import SnapshotFormat
from odradek.zookeeper.storage.txnlog import TxnLog
from odradek.zookeeper.wire.words import FourLetterWord

if TYPE_CHECKING:
    from odradek.zookeeper.server.operators import Operators
    from odradek.zookeeper.server.standing import Standing

STANDALONE_ID = 1  # What a server without an id of its own puts into the ids of sessions.
HOUR_S = 3600


class ZooKeeperNode:
    """A server that is alone: its own leader, with nobody to ask."""

    def __init__(
        self, settings: ZooKeeperSettings, disk: Disk, random: Random, door: Sequence[socket] = ()
    ) -> None:
        """Who has opened the port already gives it as `door`."""
        self.settings = settings
        self.note = NodeLog("zookeeper")
        self.tasks = Tasks(self.note)
        self._disk = disk
        self._random = random
        self._door = door
        self._servers: list[asyncio.Server] = []

    async def start(self) -> None:
        """Recover, then open the port."""
        settings = self.settings
        for problem in (*settings.warnings, *settings.without_effect):
            self.note.warning("%s", problem)
        self._directories = Directories.open(self._disk, settings.data_dir, settings.data_log_dir)
        try:
            self._wire(self._load())
            await self._listen()
        except BaseException:
            self._directories.release()
            raise
        self._keep_house()
        await self._open_to_operators()

    async def stop(self) -> None:
        """Take no more requests, finish those under way, leave the disk in order."""
        self._close_doors()
        await self.pipeline.drain()
        await self._end()

    def _close_doors(self) -> None:
        for server in self._servers:
            server.close()
        if "operators" in vars(self):
            self.operators.close()
        self.clients.close_all()

    async def _end(self) -> None:
        self.tasks.stop()
        await self.tasks.until_stopped()
        self._log.close()
        self._directories.release()
        self.note.info("stopped at %#x", self.clients.tree.last_zxid)

    async def end_sessions(self) -> None:
        """Close every session there is: whoever held them is known to be gone."""
        for session in list(self.clients.sessions.by_id.values()):
            self.clients.close(session)
        await self.pipeline.drain()

    @property
    def port(self) -> int:
        """The port that is open, also where any free one was asked for."""
        if not self._servers:
            return -1  # A member may have no clients of its own.
        port: int = self._servers[0].sockets[0].getsockname()[1]
        return port

    def _load(self) -> Recovered:
        """Bring back what the disk holds."""
        settings = self.settings
        found = recover(
            self._disk,
            self._directories.snapshots,
            self._directories.logs,
            trusts_empty=settings.snapshot_trust_empty,
            checks_digests=settings.digest_enabled,
            parts=snapshot_format(settings),
            compression=settings.snapshot_compression.value,
            recent_count=settings.commit_log_count if settings.is_distributed else 0,
        )
        for line in found.notes:
            self.note.info("%s", line)
        for line in found.warnings:
            self.note.error("%s", line)
        return found

    def _wire(self, found: Recovered) -> None:
        """Put the parts together."""
        found.tree.is_fuzzy = False  # Nobody else can have more than our log.
        self._make_clients(found, STANDALONE_ID)
        self.pipeline = Pipeline(self._new_processor(), self._make_writer(), self.clients)
        self.clients.pipeline = self.pipeline

    def _make_clients(self, found: Recovered, server_id: int) -> None:
        settings = self.settings
        sessions = Sessions(settings.tick_time_ms)
        now_ms = int(asyncio.get_running_loop().time() * 1000)
        for session_id, timeout_ms in found.timeouts.items():
            sessions.open(session_id, timeout_ms, now_ms)
        first_id = first_session_id(server_id, wall_clock_ms())
        self.clients = Clients(
            client_settings(settings), found.tree, rules_of(settings), sessions, first_id, self.note
        )
        self.clients.hear_word = self._hear_word

    def _make_writer(self) -> LogWriter:
        settings = self.settings
        self._log = TxnLog(
            self._disk,
            self._directories.logs,
            step_bytes=settings.pre_alloc_bytes,
            file_bytes_max=settings.txn_log_size_limit_bytes,
            is_synced=settings.force_sync,
        )
        return LogWriter(self._log, self.tasks, self.note)

    def _new_processor(self) -> Processor:
        clients = self.clients
        return Processor(clients.tree, clients.rules, has_digests=self.settings.digest_enabled)

    async def _listen(self) -> None:
        address, backlog = self.settings.client_address, self.settings.client_backlog
        assert address is not None
        serve = partial(
            asyncio.get_running_loop().create_server,
            lambda: Connection(self.clients),
            backlog=backlog,
        )
        if self._door:
            self._servers = [await serve(sock=listening) for listening in self._door]
        else:
            self._servers = [await serve(address.host or None, address.port)]
        self.note.info("serves clients on port %s", self.port)

    def _keep_house(self) -> None:
        """Start what goes on beside the requests."""
        self.tasks.start("sessions", self._expire_sessions())
        self.tasks.start("snapshots", self.snapshots.run(self._rolling_log()))
        self.tasks.start("cleaner", self._new_cleaner().run(self.clients, self._is_leading))
        if self.settings.purge_interval_hours > 0:
            self.tasks.start("purge", self._purge())

    def _rolling_log(self) -> Rolling:
        return self.pipeline

    @cached_property
    def snapshots(self) -> Snapshots:
        settings = self.settings
        return Snapshots(
            self._disk,
            self._directories.snapshots,
            settings.snap_count,
            snapshot_format(settings),
            settings.snapshot_compression.value,
            self._random,
            self.note,
            self._snapshot_source,
        )

    def _snapshot_source(self) -> Source:
        sessions = self.clients.sessions.by_id.values()
        return self.clients.tree, {each.session_id: each.timeout_ms for each in sessions}

    def _new_cleaner(self) -> Cleaner:
        settings = self.settings
        return Cleaner(
            settings.container_check_interval_ms,
            settings.container_max_per_minute,
            settings.container_max_never_used_interval_ms,
        )

    def _is_leading(self) -> bool:
        """Whether it is for us to see that things end: a server that is alone always does."""
        return True

    async def _open_to_operators(self) -> None:
        if not (self.settings.admin_enabled or self.settings.is_prometheus_served):
            return
        # Clients go first: they are served while all that operators need is imported.
        in_thread = asyncio.get_running_loop().run_in_executor
        await in_thread(None, import_module, "odradek.zookeeper.server.operators")
        await self.operators.open()

    @cached_property
    def operators(self) -> Operators:
        """Made when first needed, which may be a word before the other doors are open."""
        from odradek.zookeeper.server.operators import Operators

        return Operators(
            self.settings,
            self._disk,
            self._directories,
            self.clients,
            self.snapshots,
            self.port,
            self.note,
            self._standing(),
        )

    def _standing(self) -> Standing | None:
        """Our place among others; a server that is alone has none."""
        return None

    def _hear_word(self, word: FourLetterWord, connection: Connection) -> bytes:
        return self.operators.hear_word(word, connection)

    async def _expire_sessions(self) -> None:
        """At the end of each tick, not later: whoever waits for a znode to go waits for this."""
        tick_ms = self.settings.tick_time_ms
        while True:
            await asyncio.sleep((tick_ms - self.clients.now_ms() % tick_ms) / 1000)
            self.clients.expire_local()
            if self._is_leading():
                self.clients.expire()

    async def _in_thread(self, work: Callable[[], list[str]]) -> list[str]:
        return await asyncio.get_running_loop().run_in_executor(None, work)

    async def _purge(self) -> None:
        directories, keep = self._directories, self.settings.snap_retain_count
        work = partial(purge, self._disk, directories.snapshots, directories.logs, keep)
        while True:
            removed = await self._in_thread(work)
            for path in removed:
                self.note.info("removed %s", path)
            await asyncio.sleep(self.settings.purge_interval_hours * HOUR_S)


def snapshot_format(settings: ZooKeeperSettings) -> SnapshotFormat:
    return SnapshotFormat(settings.digest_enabled, settings.serialize_last_processed_zxid_enabled)


def rules_of(settings: ZooKeeperSettings) -> Rules:
    return Rules(
        allows_ttl=settings.extended_types_enabled,
        enforces_quotas=settings.enforce_quota,
        skips_acl=settings.skip_acl,
        allows_reconfig=settings.reconfig_enabled,
    )


def client_settings(settings: ZooKeeperSettings) -> ClientSettings:
    super_digest = settings.super_digest
    return ClientSettings(
        frame_bytes_max=settings.jute_max_buffer_bytes,
        timeout_min_ms=settings.min_session_timeout_ms,
        timeout_max_ms=settings.max_session_timeout_ms,
        connections_an_address_max=settings.max_client_cnxns,
        connections_max=settings.max_cnxns,
        outstanding_max=settings.global_outstanding_limit,
        silence_max_s=settings.sessionless_cnxn_timeout_ms / 1000,
        super_digest=super_digest.reveal() if super_digest else None,
    )
