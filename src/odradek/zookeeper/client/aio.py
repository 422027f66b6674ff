"""A ZooKeeper client for asyncio.

    async with ZooKeeperClient("zk1:2181,zk2:2181/kafka", random=Random()) as client:
        await client.create("/brokers", b"")

It keeps its session through lost connections and servers. A request in flight when a connection
is lost fails with `ConnectionLoss`: whether it was done only its caller can find out. All that it
does, it does on the running loop, and by chance only through the generator it is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from random import Random
from typing import Self

from odradek.runtime.logs import NodeLog
from odradek.zookeeper.client.calls import Call
from odradek.zookeeper.client.chroot import Chroot
from odradek.zookeeper.client.connect_string import parse_connect_string
from odradek.zookeeper.client.errors import (
    AuthFailed,
    ClientClosed,
    ConnectionLoss,
    SessionExpired,
    ZooKeeperError,
)
from odradek.zookeeper.client.hosts import Hosts
from odradek.zookeeper.client.link import Auth
from odradek.zookeeper.client.operations import Finish, Operations, Result
from odradek.zookeeper.client.session import Session, SessionOptions
from odradek.zookeeper.client.states import Listener, State, States
from odradek.zookeeper.client.watches import Kind, Watcher
from odradek.zookeeper.wire.codes import Op, WatcherType
from odradek.zookeeper.wire.connection import JUTE_MAXBUFFER
from odradek.zookeeper.wire.messages.session import AuthPacket
from odradek.zookeeper.wire.operations import Body

SESSION_TIMEOUT_MS = 18_000  # What Kafka asks for.
FAILURES: dict[State, type[ZooKeeperError]] = {
    State.LOST: SessionExpired,
    State.AUTH_FAILED: AuthFailed,
    State.CLOSED: ClientClosed,
}


class ZooKeeperClient(Operations):
    """One client, with one session at a time. After LOST, `connect` begins another."""

    def __init__(
        self,
        connect_string: str,
        *,
        random: Random,
        session_timeout_ms: int = SESSION_TIMEOUT_MS,
        auth: Iterable[tuple[str, bytes]] = (),
        can_be_read_only: bool = False,
        frame_bytes_max: int = JUTE_MAXBUFFER,
        log: NodeLog | None = None,
    ) -> None:
        parsed = parse_connect_string(connect_string)
        self._chroot = Chroot(parsed.chroot)
        self._hosts = Hosts(parsed.addresses, random)
        self._options = SessionOptions(session_timeout_ms, can_be_read_only, frame_bytes_max)
        self._auths = [Auth(AuthPacket(0, scheme, secret)) for scheme, secret in auth]
        self._states = States()
        self._session: Session | None = None
        self._log = log or NodeLog("zookeeper client")

    @property
    def state(self) -> State:
        return self._states.current

    @property
    def chroot(self) -> str:
        """The path of our root, or "" if it is the true one."""
        return self._chroot.prefix

    @property
    def session_id(self) -> int:
        """0 as long as there is none."""
        return self._session.id if self._session is not None else 0

    @property
    def session_timeout_s(self) -> float:
        """What the server granted; until then what we wish for."""
        default = self._options.timeout_ms / 1000
        return self._session.timeout_s if self._session is not None else default

    @property
    def session_deadline(self) -> float:
        """The loop's time until which the session lasts, even if no server hears of us again."""
        return self._session.deadline if self._session is not None else 0.0

    @property
    def last_zxid(self) -> int:
        """The newest state of the tree that this session has seen."""
        return self._session.last_zxid if self._session is not None else 0

    async def connect(self, timeout_s: float | None = None) -> None:
        """Begin a session; return when it is connected.

        If that takes longer than `timeout_s`, by default the session's time-out, it is given up.
        """
        if self._session is not None and self.state not in FAILURES:
            raise ZooKeeperError("the client is connected already")
        self._session = self._new_session()
        limit_s = self._session.timeout_s if timeout_s is None else timeout_s
        try:
            async with asyncio.timeout(limit_s):
                state = await self.until(*(state for state in State if state != State.SUSPENDED))
        except TimeoutError as error:
            raise ConnectionLoss("no server in time") from error
        finally:
            if self.state is State.SUSPENDED:
                await self.close()
        if state in FAILURES:
            raise FAILURES[state]

    async def close(self) -> None:
        """End the session, and with it all its ephemerals and watches."""
        if self._session is not None:
            await self._session.close()

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.close()

    def listen(self, listener: Listener) -> None:
        """Have every change of the state told, in order with the events of watches."""
        self._states.listen(listener)

    def unlisten(self, listener: Listener) -> None:
        self._states.unlisten(listener)

    async def until(self, *wanted: State) -> State:
        """Wait for one of these states; return the one that came, or the current one at once."""
        return await self._states.until(*wanted)

    def add_auth(self, scheme: str, secret: bytes) -> asyncio.Future[None]:
        """Say who we are, on this and every later connection; done when the server believes it."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        auth = Auth(AuthPacket(0, scheme, secret), future)
        if self._session is None or self.state in FAILURES:
            self._auths.append(auth)
        else:
            self._session.authenticate(auth)
        return future

    def forget_watcher(self, path: str, watcher: Watcher) -> None:
        """Tell this watcher nothing more about the path. The server is not asked."""
        if self._session is not None:
            self._session.watches.forget(self._chroot.add(path), watcher)

    def _new_session(self) -> Session:
        return Session(
            self._options, self._hosts, self._chroot, self._auths, self._states, self._log
        )

    def _ask(
        self,
        op: Op,
        record: Body | None,
        path: str | None,
        finish: Finish[Result],
        if_missing: Callable[[], Result] | None = None,
    ) -> asyncio.Future[Result]:
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        call = Call(op, record, path, finish, future, if_missing)
        if self._session is None:
            call.fail(ClientClosed)
        else:
            self._session.request(call)
        return future

    def _add_watch(self, kind: Kind, full_path: str, watcher: Watcher) -> None:
        assert self._session is not None
        self._session.watches.add(kind, full_path, watcher)

    def _drop_watches(self, full_path: str, wanted: WatcherType) -> None:
        assert self._session is not None
        self._session.remove_watches(full_path, wanted)
