"""What a client can ask of ZooKeeper, each as one request.

A method sends its request at once and returns the future of its result. So requests leave in the
order of the calls, and any number may be in flight without a task for each:

    await asyncio.gather(*[client.create(path) for path in paths])

Paths are the caller's own: the chroot is added to what leaves and taken off what comes. Null data
is read as b"". A `watch` is called with each `WatchEvent`; see `events` for one to iterate over.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from odradek.zookeeper.client.chroot import Chroot
from odradek.zookeeper.client.creation import OPEN_TO_ALL, Created, Creation
from odradek.zookeeper.client.errors import NoWatcher
from odradek.zookeeper.client.multi import Reads, Transaction
from odradek.zookeeper.client.watches import Kind, Watcher
from odradek.zookeeper.wire.codes import AddWatchMode, CreateMode, Op, WatcherType
from odradek.zookeeper.wire.messages.data import ACL, ClientInfo, Stat
from odradek.zookeeper.wire.messages.requests import (
    AddWatchRequest,
    CheckWatchesRequest,
    DeleteRequest,
    ExistsRequest,
    GetACLRequest,
    GetAllChildrenNumberRequest,
    GetChildren2Request,
    GetChildrenRequest,
    GetDataRequest,
    GetEphemeralsRequest,
    ReconfigRequest,
    RemoveWatchesRequest,
    SetACLRequest,
    SetDataRequest,
    SyncRequest,
)
from odradek.zookeeper.wire.messages.responses import (
    Create2Response,
    CreateResponse,
    GetDataResponse,
    GetEphemeralsResponse,
)
from odradek.zookeeper.wire.operations import Body

CONFIG = "/zookeeper/config"  # Where it is for every client, whatever its chroot.

Result = TypeVar("Result")
Finish = Callable[[Any], Result]
Future = asyncio.Future


class Operations(ABC):
    """All operations, over `_ask` alone."""

    _chroot: Chroot

    @abstractmethod
    def _ask(
        self,
        op: Op,
        record: Body | None,
        path: str | None,
        finish: Finish[Result],
        if_missing: Callable[[], Result] | None = None,
    ) -> Future[Result]:
        """Send a request; its result is what `finish` makes of the reply's record."""

    @abstractmethod
    def _add_watch(self, kind: Kind, full_path: str, watcher: Watcher) -> None:
        """Keep a watch that the server has set."""

    @abstractmethod
    def _drop_watches(self, full_path: str, wanted: WatcherType) -> None:
        """Forget watches that the server has forgotten."""

    def create(
        self,
        path: str,
        data: bytes | None = b"",
        *,
        mode: CreateMode = CreateMode.PERSISTENT,
        acl: Sequence[ACL] = OPEN_TO_ALL,
        ttl_ms: int | None = None,
    ) -> Future[str]:
        """Make a znode; its path, which for a sequential one the server completes."""
        creation = Creation(path, data, mode, acl, ttl_ms)
        op, record = creation.request(self._chroot.add(path), Op.CREATE)
        return self._ask(op, record, path, self._path_created)

    def create_with_stat(
        self,
        path: str,
        data: bytes | None = b"",
        *,
        mode: CreateMode = CreateMode.PERSISTENT,
        acl: Sequence[ACL] = OPEN_TO_ALL,
        ttl_ms: int | None = None,
    ) -> Future[Created]:
        """Make a znode; its path and its stat."""
        creation = Creation(path, data, mode, acl, ttl_ms)
        op, record = creation.request(self._chroot.add(path), Op.CREATE2)
        return self._ask(op, record, path, self._created)

    def delete(self, path: str, version: int = -1) -> Future[None]:
        record = DeleteRequest(self._chroot.add(path), version)
        return self._ask(Op.DELETE, record, path, _nothing)

    def exists(self, path: str, watch: Watcher | None = None) -> Future[Stat | None]:
        """The stat, or None if there is no such znode; then `watch` hears of its creation."""
        full = self._chroot.add(path)
        record = ExistsRequest(full, watch is not None)
        there = self._watching(Kind.DATA, full, watch, _stat)
        missing = self._watching(Kind.EXISTS, full, watch, _nothing)
        return self._ask(Op.EXISTS, record, path, there, lambda: missing(None))

    def get_data(self, path: str, watch: Watcher | None = None) -> Future[tuple[bytes, Stat]]:
        return self._get_data(self._chroot.add(path), path, watch)

    def set_data(self, path: str, data: bytes | None, version: int = -1) -> Future[Stat]:
        record = SetDataRequest(self._chroot.add(path), data, version)
        return self._ask(Op.SET_DATA, record, path, _stat)

    def get_children(self, path: str, watch: Watcher | None = None) -> Future[list[str]]:
        """The names of the children, in no order."""
        full = self._chroot.add(path)
        record = GetChildrenRequest(full, watch is not None)
        finish = self._watching(Kind.CHILD, full, watch, _children)
        return self._ask(Op.GET_CHILDREN, record, path, finish)

    def get_children_with_stat(
        self, path: str, watch: Watcher | None = None
    ) -> Future[tuple[list[str], Stat]]:
        full = self._chroot.add(path)
        record = GetChildren2Request(full, watch is not None)
        finish = self._watching(Kind.CHILD, full, watch, _children_and_stat)
        return self._ask(Op.GET_CHILDREN2, record, path, finish)

    def get_acl(self, path: str) -> Future[tuple[list[ACL], Stat]]:
        return self._ask(Op.GET_ACL, GetACLRequest(self._chroot.add(path)), path, _acl_and_stat)

    def set_acl(self, path: str, acl: Sequence[ACL], version: int = -1) -> Future[Stat]:
        """Say who may do what; `version` is the one that counts ACLs, `aversion`."""
        record = SetACLRequest(self._chroot.add(path), list(acl), version)
        return self._ask(Op.SET_ACL, record, path, _stat)

    def sync(self, path: str = "/") -> Future[None]:
        """Let our server catch up with the leader: later reads see all that was written by now."""
        return self._ask(Op.SYNC, SyncRequest(self._chroot.add(path)), path, _nothing)

    def transaction(self) -> Transaction:
        """Begin to gather writes and checks that happen together or not at all."""
        return Transaction(self._chroot, self._ask_several)

    def multi_read(self) -> Reads:
        """Begin to gather reads."""
        return Reads(self._chroot, self._ask_several)

    def add_watch(
        self, path: str, watch: Watcher, mode: AddWatchMode = AddWatchMode.PERSISTENT
    ) -> Future[None]:
        """Watch a znode, or all below it too, until `remove_watches`.

        What happens while there is no connection is not told: read again after a reconnect.
        """
        full = self._chroot.add(path)
        kind = Kind.RECURSIVE if mode is AddWatchMode.PERSISTENT_RECURSIVE else Kind.PERSISTENT
        finish = self._watching(kind, full, watch, _nothing)
        return self._ask(Op.ADD_WATCH, AddWatchRequest(full, mode), path, finish)

    def remove_watches(self, path: str, wanted: WatcherType = WatcherType.ANY) -> Future[None]:
        """Take all watches of this type off a path; their watchers hear of it."""
        full = self._chroot.add(path)
        record = RemoveWatchesRequest(full, wanted)
        return self._ask(
            Op.REMOVE_WATCHES, record, path, lambda _: self._drop_watches(full, wanted)
        )

    async def check_watches(self, path: str, wanted: WatcherType = WatcherType.ANY) -> bool:
        """Whether the server has a watch of this type for us."""
        record = CheckWatchesRequest(self._chroot.add(path), wanted)
        try:
            await self._ask(Op.CHECK_WATCHES, record, path, _nothing)
        except NoWatcher:
            return False
        return True

    def get_ephemerals(self, prefix: str = "/") -> Future[list[str]]:
        """The paths of this session's ephemerals that begin so."""
        record = GetEphemeralsRequest(self._chroot.add(prefix))
        return self._ask(Op.GET_EPHEMERALS, record, prefix, self._own_paths)

    def get_all_children_number(self, path: str) -> Future[int]:
        """How many znodes there are below this one, at any depth."""
        record = GetAllChildrenNumberRequest(self._chroot.add(path))
        return self._ask(Op.GET_ALL_CHILDREN_NUMBER, record, path, attrgetter("total_number"))

    def who_am_i(self) -> Future[list[ClientInfo]]:
        """As whom the server knows this connection."""
        return self._ask(Op.WHO_AM_I, None, None, attrgetter("client_info"))

    def get_config(self, watch: Watcher | None = None) -> Future[tuple[bytes, Stat]]:
        """The members of the ensemble."""
        return self._get_data(CONFIG, CONFIG, watch)

    def reconfig(
        self,
        *,
        joining: str | None = None,
        leaving: str | None = None,
        members: str | None = None,
        from_version: int = -1,
    ) -> Future[tuple[bytes, Stat]]:
        """Change the members: some join and leave, or `members` replaces all. The new config."""
        record = ReconfigRequest(joining, leaving, members, from_version)
        return self._ask(Op.RECONFIG, record, CONFIG, _data_and_stat)

    def _get_data(self, full: str, path: str, watch: Watcher | None) -> Future[tuple[bytes, Stat]]:
        record = GetDataRequest(full, watch is not None)
        finish = self._watching(Kind.DATA, full, watch, _data_and_stat)
        return self._ask(Op.GET_DATA, record, path, finish)

    def _ask_several(self, op: Op, record: Body, finish: Finish[Any]) -> Future[Any]:
        return self._ask(op, record, None, finish)

    def _watching(
        self, kind: Kind, full: str, watch: Watcher | None, finish: Finish[Result]
    ) -> Finish[Result]:
        """Have the watch kept as soon as the reply says that it is set."""
        if watch is None:
            return finish
        watcher = watch

        def keep_and_finish(record: Any) -> Result:
            self._add_watch(kind, full, watcher)
            return finish(record)

        return keep_and_finish

    def _path_created(self, response: CreateResponse | Create2Response) -> str:
        return self._chroot.remove(response.path)

    def _created(self, response: Create2Response) -> Created:
        return Created(self._chroot.remove(response.path), response.stat)

    def _own_paths(self, response: GetEphemeralsResponse) -> list[str]:
        # The prefix is one of characters: "/a" also finds what is below "/ab".
        return [self._chroot.remove(p) for p in response.ephemerals if self._chroot.holds(p)]


_stat = attrgetter("stat")
_children = attrgetter("children")
_children_and_stat = attrgetter("children", "stat")
_acl_and_stat = attrgetter("acl", "stat")


def _nothing(_: object) -> None:
    return None


def _data_and_stat(response: GetDataResponse) -> tuple[bytes, Stat]:
    return response.data or b"", response.stat
