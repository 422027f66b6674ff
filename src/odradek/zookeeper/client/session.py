"""One session: it outlives its connections, and ends once.

While there is no connection, requests wait for the next one, but no longer than one time-out of
the session after the last sign of life from a server: then it is likely to have expired, and they
fail. A new connection is first told who we are, then what we watch, then what waited. Only a
server can say that a session has expired.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from odradek.runtime.errors import ProtocolError
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.client.calls import Call
from odradek.zookeeper.client.chroot import Chroot
from odradek.zookeeper.client.connect_string import Address
from odradek.zookeeper.client.errors import (
    AuthFailed,
    ClientClosed,
    ConnectionLoss,
    SessionExpired,
    ZooKeeperError,
)
from odradek.zookeeper.client.hosts import Hosts
from odradek.zookeeper.client.link import Auth, Link
from odradek.zookeeper.client.search import find_writer
from odradek.zookeeper.client.states import State, States
from odradek.zookeeper.client.watches import Watcher, Watches, WatchEvent
from odradek.zookeeper.wire.codes import EventType, Op, WatcherType
from odradek.zookeeper.wire.connection import JUTE_MAXBUFFER, ClientConnection
from odradek.zookeeper.wire.messages.session import ConnectRequest, ConnectResponse
from odradek.zookeeper.wire.replies import Notification
from odradek.zookeeper.wire.requests import encode_request

NO_PASSWORD = bytes(16)


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a client wishes for its sessions; the server has the last word on the time-out."""

    timeout_ms: int
    can_be_read_only: bool = False
    frame_bytes_max: int = JUTE_MAXBUFFER


class Session:
    """A session from its first try to connect to its end."""

    def __init__(
        self,
        options: SessionOptions,
        hosts: Hosts,
        chroot: Chroot,
        auths: list[Auth],
        states: States,
        log: NodeLog,
    ) -> None:
        self.id = 0
        self.timeout_s = options.timeout_ms / 1000
        self.watches = Watches()
        self._options = options
        self._hosts = hosts
        self._chroot = chroot
        self._auths = auths
        self._states = states
        self._log = log
        self._loop = loop = asyncio.get_running_loop()
        self._password = NO_PASSWORD
        self._has_met_writer = False
        self._next_xid = 1
        self._last_zxid = 0
        self._link: Link | None = None
        self._proven_at = loop.time()
        self._waiting: deque[Call] = deque()
        self._refusal: type[ZooKeeperError] | None = None  # What requests get instead of waiting.
        self._doubt: asyncio.TimerHandle | None = None
        self._is_closing = False
        states.become(State.SUSPENDED)
        self._begin_to_doubt()
        self._task = loop.create_task(self._run(), name="zookeeper session")
        self._task.add_done_callback(self._ended)

    @property
    def last_zxid(self) -> int:
        """The newest state of the tree that this session has seen."""
        return self._link.last_zxid if self._link is not None else self._last_zxid

    @property
    def deadline(self) -> float:
        """The loop's time until which the session lasts, even if no server hears of us again."""
        proven_at = self._link.proof.at if self._link is not None else self._proven_at
        return proven_at + self.timeout_s

    def request(self, call: Call) -> None:
        """Send a request now or when there is a connection; or fail it."""
        if self._link is not None and self._link.is_open:
            self._link.send(call)
        elif self._refusal is not None:
            call.fail(self._refusal)
        else:
            # What cannot be written is the caller's error, and not one of the task that sends it.
            encode_request(0, call.op, call.record)
            self._waiting.append(call)

    def authenticate(self, auth: Auth) -> None:
        """Tell this and every later connection who we are."""
        self._auths.append(auth)
        if self._link is not None and self._link.is_open:
            self._link.authenticate(auth)

    def remove_watches(self, path: str, wanted: WatcherType) -> None:
        """Forget watches that the server has forgotten; their watchers hear of it."""
        for happened, watcher in self.watches.remove(path, wanted):
            self._tell(watcher, WatchEvent(happened, self._chroot.remove(path)))

    async def close(self) -> None:
        """End the session, with a word to the server if there is a connection."""
        if self._is_closing:
            return
        self._is_closing = True
        link, self._link, self._refusal = self._link, None, ClientClosed
        self._task.cancel()
        try:
            if link is not None and link.is_open:
                await self._say_goodbye(link)
        finally:
            if link is not None:
                link.drop(ClientClosed())
            self._end(State.CLOSED, ClientClosed)

    async def _say_goodbye(self, link: Link) -> None:
        call = Call(Op.CLOSE_SESSION, None, None, lambda _: None, self._loop.create_future())
        link.send(call)
        with suppress(ZooKeeperError, TimeoutError):
            async with asyncio.timeout(self._connect_timeout_s):
                await call.future

    @property
    def _connect_timeout_s(self) -> float:
        return self.timeout_s / len(self._hosts)

    async def _run(self) -> None:
        while self._states.current is State.SUSPENDED:
            await asyncio.sleep(self._hosts.pause_s())
            if link := await self._connect(self._hosts.next()):
                self._suspend(link, await self._stay(link))

    async def _stay(self, link: Link) -> Exception:
        """Keep a connection as long as it is good; the reason why it is no longer."""
        if self._states.current is not State.CONNECTED_READ_ONLY:
            return await link.until_lost()
        async with asyncio.TaskGroup() as group:
            search = group.create_task(self._leave_for_writer(link), name="search for a writer")
            reason = await link.until_lost()
            search.cancel()
        return reason

    async def _leave_for_writer(self, link: Link) -> None:
        await find_writer(self._hosts)
        link.drop(ConnectionResetError("another server takes writes"))

    async def _connect(self, address: Address) -> Link | None:
        """A connection on which the session goes on, or None if this server is not the one."""
        try:
            link, answer = await self._shake_hands(address)
        except (OSError, ProtocolError) as error:
            self._log.info("no connection to %s: %s", address, error)
            return None
        if answer.time_out <= 0:
            self._log.warning("session 0x%x has expired, says %s", self.id, address)
            link.drop(SessionExpired())
            self._end(State.LOST, SessionExpired)
            return None
        if not link.is_open:
            return None  # It was lost in the same breath.
        self._log.info("session 0x%x is connected to %s", answer.session_id, address)
        self._take_up(link, answer)
        return link

    async def _shake_hands(self, address: Address) -> tuple[Link, ConnectResponse]:
        wire = ClientConnection(self._options.frame_bytes_max, self._next_xid)
        link = Link(wire, self._hello(), self._hear)
        try:
            async with asyncio.timeout(self._connect_timeout_s):
                await self._loop.create_connection(lambda: link, *address)
                if answer := await link.opened:
                    return link, answer
                raise await link.until_lost()
        except BaseException:
            link.drop(ConnectionLoss())
            raise

    def _hello(self) -> ConnectRequest:
        return ConnectRequest(
            protocol_version=0,
            last_zxid_seen=self._last_zxid,
            time_out=self._options.timeout_ms,
            # A server cut off from the others makes sessions up; no other would know them.
            session_id=self.id if self._has_met_writer else 0,
            passwd=self._password if self._has_met_writer else NO_PASSWORD,
            read_only=self._options.can_be_read_only,
        )

    def _take_up(self, link: Link, answer: ConnectResponse) -> None:
        """Go on with the session on a new connection."""
        self.id, self._password = answer.session_id, answer.passwd
        self.timeout_s = answer.time_out / 1000
        self._has_met_writer |= not answer.read_only
        self._stop_doubting()
        self._hosts.succeeded()
        link.keep_alive(self.timeout_s)
        for auth in self._auths:
            link.authenticate(auth)
        for packet in self.watches.packets(self._last_zxid):
            link.set_watches(packet)
        self._send_waiting(link)
        self._link = link
        self._states.become(State.CONNECTED_READ_ONLY if answer.read_only else State.CONNECTED)

    def _send_waiting(self, link: Link) -> None:
        for call in self._waiting:
            if not call.future.done():  # Its caller may have given up.
                link.send(call)
        self._waiting.clear()

    def _suspend(self, link: Link, reason: Exception) -> None:
        """Go on without a connection, for now."""
        self._log.warning("session 0x%x lost its connection: %s", self.id, reason)
        self._link = None
        self._next_xid = link.next_xid
        self._last_zxid = link.last_zxid
        self._proven_at = link.proof.at
        if isinstance(reason, AuthFailed):
            self._end(State.AUTH_FAILED, AuthFailed)
            return
        self._states.become(State.SUSPENDED)
        self._begin_to_doubt()

    def _begin_to_doubt(self) -> None:
        self._doubt = self._loop.call_at(self.deadline, self._refuse, ConnectionLoss)

    def _stop_doubting(self) -> None:
        self._refusal = None
        if self._doubt is not None:
            self._doubt.cancel()

    def _refuse(self, kind: type[ZooKeeperError]) -> None:
        """Fail what waits and what comes."""
        self._refusal = kind
        for call in self._waiting:
            call.fail(kind)
        self._waiting.clear()

    def _end(self, state: State, kind: type[ZooKeeperError]) -> None:
        self._stop_doubting()
        self._states.become(state)
        self._refuse(kind)
        for auth in self._auths:
            auth.refuse(kind(auth.packet.scheme))
        for watcher in self.watches.take_all():
            self._tell(watcher, WatchEvent(EventType.NONE, ""))

    def _ended(self, task: asyncio.Task[None]) -> None:
        """The task is over. If nobody asked for that, neither can the session go on."""
        if self._is_closing or (not task.cancelled() and task.exception() is None):
            return
        link, self._link = self._link, None
        if link is not None:
            link.drop(ClientClosed())
        self._end(State.CLOSED, ClientClosed)
        if not task.cancelled():
            context = {"message": task.get_name(), "exception": task.exception(), "task": task}
            self._loop.call_exception_handler(context)

    def _hear(self, notification: Notification) -> None:
        happened, watchers = self.watches.take(notification.event)
        path = self._chroot.remove(notification.event.path)
        for watcher in watchers:
            self._tell(watcher, WatchEvent(happened, path, notification.zxid))

    def _tell(self, watcher: Watcher, event: WatchEvent) -> None:
        # Not called from here, so that what it raises or asks for does not come in between.
        self._loop.call_soon(watcher, event)
