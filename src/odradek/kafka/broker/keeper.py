"""Our place in ZooKeeper: the session, and the registration that it keeps alive.

The registration is one transaction: a node that lives as long as the session, then what we say of
ourselves. The transaction's number is our epoch, by which everybody tells this life of the broker
from an earlier one. When the session is lost, all who depend on it hear of it at once; a new one is
begun, we register again, and then they may go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, TypeVar

from odradek.kafka.broker.vigil import are_closed
from odradek.kafka.controller import paths, znodes
from odradek.kafka.controller.registration import (
    Registration,
    read_registration,
    registration_version,
    write_registration,
)
from odradek.kafka.controller.versions import WITH_TOPIC_IDS
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.errors import OdradekError
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.connect_string import parse_connect_string
from odradek.zookeeper.client.creation import OPEN_TO_ALL, OWN, READ_BY_ALL
from odradek.zookeeper.client.errors import (
    ConnectionLoss,
    MultiFailed,
    NodeExists,
    NoNode,
    SessionExpired,
    ZooKeeperError,
)
from odradek.zookeeper.client.patience import delete_if_there, patiently
from odradek.zookeeper.client.states import State
from odradek.zookeeper.client.watches import Watcher
from odradek.zookeeper.wire.codes import CreateMode
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import ACL, Stat

PAUSE_S = 0.1
EARLIER_LIFE_SESSIONS = 2  # So many time-outs are enough for the session of one to end.
IN_FLIGHT_MAX = 1000
UNREGISTERED = -1
OVER = (State.LOST, State.AUTH_FAILED, State.CLOSED)  # There is no session to go on with.

Result = TypeVar("Result")
Item = TypeVar("Item")


class DuplicateBroker(OdradekError):
    """Another broker lives under our id; so this one cannot."""


class Keeper:
    """One broker's session with ZooKeeper."""

    def __init__(
        self, settings: BrokerSettings, random: Random, note: NodeLog, *, connect: str | None = None
    ) -> None:
        self.epoch = UNREGISTERED  # Of our registration.
        self.lost: list[Callable[[], object]] = []
        self.renewed: list[Callable[[], Awaitable[object]]] = []
        self._settings = settings
        self._random = random
        self._note = note
        text = connect or settings.zookeeper_connect
        assert text is not None
        self._connect_string = text
        self._registration: Registration | None = None
        self._past_sessions: list[int] = []
        self._is_kept = False  # Whether `run` sees to it that there is a session.
        self.client = self._new_client(text)

    # The session

    async def open(self) -> None:
        """Begin a session, and make sure of all that every cluster has."""
        await self._make_chroot()
        await self.client.connect(self._connect_timeout_s)
        made = [self.make(path) for path in paths.AT_START]
        await asyncio.gather(*made)

    async def close(self) -> None:
        """End the session, and with it our registration."""
        await self.client.close()

    async def run(self) -> None:
        """Begin another session whenever one is lost. Raises `DuplicateBroker`."""
        self._is_kept = True
        if self._past_sessions:
            await self._begin_again()  # Our registration may have gone with one of them.
        while True:
            await self.client.until(State.LOST, State.AUTH_FAILED)
            self._note_loss()
            for hear in self.lost:
                hear()
            await self._begin_again()

    async def _begin_again(self) -> None:
        while True:
            try:
                if self.client.state in OVER:
                    await self.client.connect(self._connect_timeout_s)
                await self._renew()
                return
            except SessionExpired:
                return  # Already lost again: `run` will see it.
            except ZooKeeperError as error:
                self._note.warning("no new ZooKeeper session yet: %s", error)
                await asyncio.sleep(PAUSE_S)

    async def _renew(self) -> None:
        if self._registration is not None:
            await self.register(self._registration)
        for go_on in self.renewed:
            await go_on()

    def _note_loss(self) -> None:
        self._note.warning("the ZooKeeper session is lost")
        self._past_sessions.append(self.client.session_id)

    async def steadily(self, ask: Callable[[], Awaitable[Result]]) -> Result:
        """Ask again whenever the connection breaks, as long as the session may live.

        While a broker starts nobody depends on its session yet, so that the next is as good.
        """
        while True:
            try:
                return await patiently(self.client, ask)
            except SessionExpired:
                if self._is_kept:
                    raise
            if self.client.state in OVER:
                self._note_loss()
                await self.client.connect(self._connect_timeout_s)

    # What is asked more than once

    async def read(self, path: str, watch: Watcher | None = None) -> tuple[bytes, Stat] | None:
        """A node's data and stat; None if there is none."""
        try:
            return await self.steadily(lambda: self.client.get_data(path, watch))
        except NoNode:
            return None

    async def read_all(
        self, wanted: Sequence[str], watch: Watcher | None = None
    ) -> list[tuple[bytes, Stat] | None]:
        """Like `read` for each, with all requests on their way at once."""
        return await self._ask_all(wanted, lambda path: self.client.get_data(path, watch))

    async def children_of_all(self, wanted: Sequence[str]) -> list[list[str]]:
        """Like `children` for each, with all requests on their way at once."""
        found = await self._ask_all(wanted, self.client.get_children)
        return [sorted(names or ()) for names in found]

    async def _ask_all(
        self, wanted: Sequence[str], ask: Callable[[str], asyncio.Future[Result]]
    ) -> list[Result | None]:
        found: list[Result | None] = []
        for asked in slices(wanted, IN_FLIGHT_MAX):
            futures = [ask(path) for path in asked]
            await settled(futures)
            for path, future in zip(asked, futures, strict=True):
                if isinstance(future.exception(), (ConnectionLoss, SessionExpired)):
                    future = asyncio.ensure_future(self.steadily(partial(ask, path)))
                try:
                    found.append(await future)
                except NoNode:
                    found.append(None)
        return found

    async def children(self, path: str, watch: Watcher | None = None) -> list[str]:
        """The names of a node's children; none if it is not there."""
        try:
            return sorted(await self.steadily(lambda: self.client.get_children(path, watch)))
        except NoNode:
            return []

    async def make(self, path: str, data: bytes | None = None) -> None:
        """Make a node and what is missing above it, unless it is there."""
        try:
            await self.steadily(lambda: self.client.create(path, data, acl=self.acl(path)))
        except NodeExists:
            pass
        except NoNode:
            await self.make(path.rpartition("/")[0])
            await self.make(path, data)

    async def write(self, path: str, data: bytes) -> None:
        """Have a node say this, whether it is there or not."""
        try:
            await self.steadily(lambda: self.client.set_data(path, data))
        except NoNode:
            await self.make(path, data)

    async def append(self, prefix: str, data: bytes) -> str:
        """Add a node with the next number behind all with this prefix."""
        mode = CreateMode.PERSISTENT_SEQUENTIAL
        acl = self.acl(prefix)
        return await self.steadily(lambda: self.client.create(prefix, data, mode=mode, acl=acl))

    async def forget(self, path: str) -> None:
        """Delete a node if it is there."""
        await delete_if_there(self.client, path)

    def acl(self, path: str) -> Sequence[ACL]:
        """Who may do what with a node, as `zookeeper.set.acl` wants it."""
        if not self._settings.zookeeper_set_acl or paths.is_below(path, paths.ALWAYS_OPEN):
            return OPEN_TO_ALL
        if any(paths.is_below(path, root) for root in paths.SENSITIVE):
            return OWN
        return (*OWN, *READ_BY_ALL)

    # Who we are

    def draw(self, count: int) -> bytes:
        """So many bytes by chance."""
        return self._random.randbytes(count)

    async def cluster_id(self) -> str:
        """The cluster's id; the first broker ever gives it one."""
        while True:
            found = await self.read(paths.CLUSTER_ID)
            if found is not None:
                return znodes.read_cluster_id(found[0])
            drawn = znodes.id_text(znodes.new_id(self.draw))
            await self.make(paths.CLUSTER_ID, znodes.write_cluster_id(drawn))

    def new_topic_id(self) -> bytes:
        """An id for a topic; all zeros where the protocol is older than ids are."""
        if self._settings.inter_broker_protocol_version < WITH_TOPIC_IDS:
            return ZERO_UUID
        return znodes.new_id(self.draw)

    async def new_broker_id(self) -> int:
        """An id that no broker has had: the number of times that somebody asked for one."""
        stat = await self.steadily(lambda: self.client.set_data(paths.BROKER_SEQUENCE, b""))
        return stat.version + self._settings.reserved_broker_max_id

    async def register(self, registration: Registration) -> int:
        """Say that we are here; our epoch. Raises `DuplicateBroker`."""
        self._registration = registration
        self.epoch = await self.steadily(self._register)
        self._note.info("is registered with epoch %s", self.epoch)
        return self.epoch

    async def update_registration(self, registration: Registration) -> None:
        """Say something else of ourselves, such as other endpoints."""
        self._registration = registration
        await self.write(paths.broker(registration.id), self._registration_data(registration))

    async def _register(self) -> int:
        """Register, once an earlier life is over that was ended with its session still counting.

        Of a stranger's, or of one that we cannot tell from it, the end is not waited for.
        """
        registration = self._registration
        assert registration is not None
        clock = asyncio.get_running_loop().time
        patient_until_s = clock() + EARLIER_LIFE_SESSIONS * self.client.session_timeout_s
        is_waiting = False
        while True:
            try:
                return await self._claim(registration)
            except DuplicateBroker as error:
                if clock() >= patient_until_s or not await self._is_deserted(registration.id):
                    raise
                if not is_waiting:
                    self._note.info("%s; nobody is there, so its end is waited for", error)
                    is_waiting = True
            await asyncio.sleep(PAUSE_S)

    async def _is_deserted(self, broker_id: int) -> bool:
        """Whether nobody is where this broker is registered to be."""
        found = await self.read(paths.broker(broker_id))
        if found is None:
            return True
        try:
            endpoints = read_registration(broker_id, found[0]).endpoints
        except znodes.BadZnode:
            return False
        return await are_closed(endpoints)

    async def _claim(self, registration: Registration) -> int:
        path = paths.broker(registration.id)
        transaction = self.client.transaction()
        transaction.create(path, None, mode=CreateMode.EPHEMERAL, acl=self.acl(path))
        transaction.set_data(path, self._registration_data(registration), 0)
        try:
            _, stat = await transaction.commit()
        except MultiFailed as error:
            if error.code != Error.NODE_EXISTS:
                raise
            return await self._resolve_duplicate(registration)
        assert isinstance(stat, Stat)
        return stat.czxid

    async def _resolve_duplicate(self, registration: Registration) -> int:
        """It may be ourselves: an answer was lost, or an earlier session of ours still counts."""
        path = paths.broker(registration.id)
        stat = await self.client.exists(path)
        if stat is None:
            return await self._claim(registration)
        if stat.ephemeral_owner == self.client.session_id:
            return stat.czxid
        if stat.ephemeral_owner in self._past_sessions:
            await self.forget(path)
            return await self._claim(registration)
        raise DuplicateBroker(
            f"broker.id={registration.id}: a broker with this id is registered already, by session "
            f"{stat.ephemeral_owner:#x}"
        )

    def _registration_data(self, registration: Registration) -> bytes:
        version = registration_version(self._settings.inter_broker_protocol_version)
        return write_registration(registration, wall_clock_ms(), version=version)

    # Connecting

    @property
    def _connect_timeout_s(self) -> float:
        return self._settings.zookeeper_connection_timeout_ms / 1000

    def _new_client(self, connect_string: str) -> ZooKeeperClient:
        return ZooKeeperClient(
            connect_string,
            random=self._random,
            session_timeout_ms=self._settings.zookeeper_session_timeout_ms,
            log=self._note.about("zookeeper"),
        )

    async def _make_chroot(self) -> None:
        """What is to be our root is made by way of the true one."""
        parsed = parse_connect_string(self._connect_string)
        if not parsed.chroot:
            return
        at_the_top = self._new_client(",".join(map(str, parsed.addresses)))
        above = [*paths.parents(parsed.chroot), parsed.chroot]
        try:
            while above:
                if at_the_top.state in OVER:
                    await at_the_top.connect(self._connect_timeout_s)
                with suppress(SessionExpired):
                    await self._make_through(at_the_top, above[0])
                    del above[0]
        finally:
            await at_the_top.close()

    async def _make_through(self, client: ZooKeeperClient, path: str) -> None:
        with suppress(NodeExists):
            await patiently(client, client.create, path, None, acl=self.acl(path))


def slices(items: Sequence[Item], count: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + count] for start in range(0, len(items), count))


async def settled(futures: Iterable[asyncio.Future[Result]]) -> None:
    """Wait until all have a result or an error, of which none is lost."""
    futures = list(futures)
    for future in futures:
        future.add_done_callback(heed)
    if futures:
        await asyncio.wait(futures)


def heed(future: asyncio.Future[Any]) -> None:
    """Look at a future's error, so that nobody complains that nobody did."""
    if not future.cancelled():
        future.exception()
