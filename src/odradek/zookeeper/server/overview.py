"""A server as its operators see it.

Four-letter words, admin commands and metrics all show the same things, each in a form of its own;
here they are without any form. Nothing here is kept: all is looked up when somebody asks.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass

from odradek.runtime.disk import Disk
from odradek.zookeeper.server.clients import Clients
from odradek.zookeeper.server.connection import Connection
from odradek.zookeeper.server.snapshots import Snapshots
from odradek.zookeeper.server.standing import READ_ONLY, Standing
from odradek.zookeeper.server.stats import Tally
from odradek.zookeeper.settings import ZooKeeperSettings
from odradek.zookeeper.state.watches import Kind
from odradek.zookeeper.storage.directories import Directories
from odradek.zookeeper.storage.names import snapshot_files
from odradek.zookeeper.wire.codes import Op

OPERATIONS: dict[int, str] = {
    Op.PING: "PING",
    Op.MULTI: "MULT",
    Op.MULTI_READ: "MLTR",
    Op.CREATE: "CREA",
    Op.CREATE2: "CREA",
    Op.CREATE_TTL: "CREA",
    Op.CREATE_CONTAINER: "CREA",
    Op.DELETE: "DELE",
    Op.SET_DATA: "SETD",
    Op.RECONFIG: "RECO",
    Op.SET_ACL: "SETA",
    Op.CLOSE_SESSION: "CLOS",
    Op.SYNC: "SYNC",
    Op.CHECK: "CHEC",
    Op.EXISTS: "EXIS",
    Op.GET_DATA: "GETD",
    Op.SET_WATCHES: "SETW",
    Op.SET_WATCHES2: "STW2",
    Op.ADD_WATCH: "ADDW",
    Op.GET_ACL: "GETA",
    Op.GET_CHILDREN: "GETC",
    Op.GET_CHILDREN2: "GETC",
    Op.GET_ALL_CHILDREN_NUMBER: "GETACN",
    Op.CHECK_WATCHES: "CHKW",
    Op.REMOVE_WATCHES: "REMW",
    Op.WHO_AM_I: "HOMI",
    Op.GET_EPHEMERALS: "GETE",
}
STANDALONE = "standalone"
TRACE_MASK = 306  # As it is before anybody sets it: requests, packets, sessions, warnings.


@dataclass(slots=True)
class Overview:
    """What can be asked of a server, and the few things that can be told to it."""

    settings: ZooKeeperSettings
    disk: Disk
    directories: Directories
    clients: Clients
    snapshots: Snapshots
    port: int
    started_ms: int
    standing: Standing | None = None  # In an ensemble, if there is one.
    is_serving: bool = True
    trace_mask: int = TRACE_MASK  # Nothing is traced, but who sets it may see it again.

    @property
    def mode(self) -> str:
        return self.standing.mode if self.standing else STANDALONE

    @property
    def has_answers(self) -> bool:
        """Whether there are clients and a tree to tell of."""
        return self.is_serving and (self.standing is None or self.standing.is_serving)

    @property
    def is_read_only(self) -> bool:
        return self.mode == READ_ONLY

    # Counts

    def tally(self) -> Tally:
        """What all clients did since the last reset."""
        return self.clients.stats.tally(each.tally for each in self.clients.connections)

    @property
    def outstanding(self) -> int:
        return self.clients.pipeline.outstanding

    @property
    def uptime_ms(self) -> int:
        return self.clients.now_ms() - self.started_ms

    def reset(self) -> None:
        """Count anew for the whole server."""
        self.clients.stats.reset(each.tally for each in self.clients.connections)
        for each in (self.clients.pipeline.sync_ms, self.clients.pipeline.batch_sizes):
            each.counts.clear()
        self.snapshots.taken_ms.counts.clear()
        self.snapshots.failed_count = 0

    def reset_connections(self) -> None:
        """Count anew for each connection; the sums for the server stay."""
        for connection in self.clients.connections:
            self.clients.stats.take_over(connection.tally)
            connection.reset_counts()

    def digests(self) -> list[tuple[int, int]]:
        """Zxids, oldest first, each with the digest of the tree after it, as a signed number."""
        if not self.settings.digest_enabled:
            return []
        return [(zxid, signed(digest)) for zxid, digest in self.clients.pipeline.processor.digests]

    # Sessions and watches

    def expiries(self) -> dict[int, list[int]]:
        """Sessions by the time, on the loop's clock, at which they end unless heard of."""
        found: dict[int, list[int]] = defaultdict(list)
        for session in self.clients.sessions.by_id.values():
            found[session.expires_ms].append(session.session_id)
        return dict(sorted(found.items()))

    def connection_expiries(self) -> dict[int, list[Connection]]:
        """Connections by the time at which they are dropped unless something comes."""
        found: dict[int, list[Connection]] = defaultdict(list)
        for connection in self.clients.connections:
            session = connection.session
            silence_ends_ms = int(connection.deadline.when() * 1000)
            found[session.expires_ms if session else silence_ends_ms].append(connection)
        return dict(sorted(found.items()))

    def watched_paths(self) -> dict[int, list[str]]:
        """Paths whose data is watched, by session."""
        found: dict[int, list[str]] = {}
        for watcher, paths in self.clients.watches.held(Kind.DATA):
            assert isinstance(watcher, Connection)
            found[watcher.asker.session_id] = sorted(paths)
        return found

    def watching_sessions(self) -> dict[str, list[int]]:
        """Sessions that watch the data of a path, by path."""
        found: dict[str, list[int]] = defaultdict(list)
        for session_id, paths in self.watched_paths().items():
            for path in paths:
                found[path].append(session_id)
        return dict(sorted(found.items()))

    # Files

    @property
    def data_dir_bytes(self) -> int:
        return directory_bytes(self.disk, self.directories.snapshots)

    @property
    def log_dir_bytes(self) -> int:
        return directory_bytes(self.disk, self.directories.logs)

    def last_snapshot(self) -> tuple[int, int]:
        """The zxid of the newest snapshot, and when it was written, in seconds; -1 if none."""
        stored = snapshot_files(self.disk, self.directories.snapshots)
        if not stored:
            return -1, -1
        return stored[-1].zxid, self.disk.modified_ms(stored[-1].path) // 1000


def directory_bytes(disk: Disk, directory: str) -> int:
    """How long the files of a directory are together."""
    size = 0
    for name in disk.list_directory(directory):
        # Old files are removed while we look.
        with suppress(FileNotFoundError), disk.open(f"{directory}/{name}", read_only=True) as file:
            size += file.size()
    return size


def signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def last_operation(connection: Connection) -> str:
    """What a client did last, in four letters or so; NA if nothing, or nothing with a name."""
    return OPERATIONS.get(connection.last_op, "NA")


def wall_ms_of(loop_ms: int, wall_ms: int) -> int:
    """What the wall clock will show, now being `wall_ms`, when the loop's clock is so far."""
    return wall_ms + loop_ms - int(asyncio.get_running_loop().time() * 1000)
