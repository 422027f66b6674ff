"""A client's socket: its requests, one after the other, and their answers in that order.

A request is handled as soon as it comes; only one that has to wait gets a task. While it waits,
those behind it do too, unless all are Produces: these may begin while others before them wait for
replicas, and whoever sends several at once is not slowed down. Those of transactions may not, for
they may wait before they append, and the order of batches is a promise.

Nobody makes us hold more than our share. While a client does not read what it is sent, or too
much of what it sent waits, or it is over its quota, it is not read from; what it had sent before
stays as it came. Whoever breaks the protocol is dropped, and the others do not notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Iterator
from functools import partial
from itertools import chain
from types import coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from odradek.kafka.broker.throttling import metered
from odradek.kafka.server.unfinished import Unfinished
from odradek.kafka.wire.apis import APIS, PRODUCE, Api
from odradek.kafka.wire.connection import Origin, Request, ServerConnection
from odradek.kafka.wire.messages.produce import ProduceRequest
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError
from odradek.runtime.prompt import Write, prompt_write

if TYPE_CHECKING:
    from odradek.kafka.server.clients import Clients

FETCH = 1
NOT_FINISHED_ALONE = frozenset({PRODUCE, FETCH})  # Nobody needs their answers but who asked.
WAITING_MAX = 100
WAITING_BYTES_MAX = 16 * 1024 * 1024
JOINED_BYTES_MAX = 32 * 1024  # Copying so much costs less than to hand over its pieces.
OUTPUT_BYTES_MAX = 256 * 1024  # What is answered is sent at the latest when it is so much.
MUTED_MAX_S = 24 * 3600.0
NOTHING: Iterator[Request] = iter(())

Result = TypeVar("Result")


class Connection(asyncio.BufferedProtocol):
    """One client."""

    __slots__ = (
        "_arrived",
        "_clients",
        "_done",
        "_is_alone",
        "_is_closing",
        "_is_ending",
        "_is_stuck",
        "_muted",
        "_next",
        "_transport",
        "_waiting",
        "_waiting_bytes",
        "_wire",
        "_write_now",
        "address",
        "heard_s",
        "is_inside",
        "listener",
        "port",
    )
    _transport: asyncio.Transport
    _wire: ServerConnection
    _write_now: Write

    def __init__(self, clients: Clients, listener: str) -> None:
        self._clients = clients
        self.listener = listener
        self.address = ""
        self.port = 0
        self.heard_s = clients.clock_s()  # When the last bytes came.
        self._arrived = NOTHING  # What has come, and is not yet opened...
        self._next: Request | None = None  # ...but for this one, which has to wait.
        self._waiting: dict[Request, asyncio.Task[None] | Unfinished | None] = {}
        self._waiting_bytes = 0
        self._done: list[tuple[Request, Message | None]] = []  # Not counted yet, with its answer.
        self._is_alone = False  # Nothing may begin beside what waits.
        self.is_inside = False
        self._is_stuck = True  # The client does not read; or it has not come in yet.
        self._is_ending = False  # It will not say more, and waits for its answers.
        self._is_closing = False
        self._muted: asyncio.TimerHandle | None = None  # For a while it is not heard: its quota.

    @property
    def is_busy(self) -> bool:
        """Whether something is to be answered."""
        return bool(self._waiting)

    # The socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by descent.
        self._write_now = prompt_write(self._transport)
        self.address, self.port = (transport.get_extra_info("peername") or ("", 0))[:2]
        clients = self._clients
        origin = Origin(self.listener, self.address)
        self._wire = ServerConnection(
            clients.frame_bytes_max, clients.scratch, origin, clients.handlers
        )
        self._wire.frames.lender = clients.rooms.lend
        clients.arrive(self)

    def enter(self) -> None:
        """There is room: what it has said already is heard now."""
        self.is_inside = True
        self._is_stuck = False
        self._clients.let_in(self)
        self._go_on()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_closing = True
        self._arrived, self._next = NOTHING, None
        if self._muted is not None:
            self._muted.cancel()
        for request, task in self._waiting.items():
            if task is not None and request.api.key in NOT_FINISHED_ALONE:
                task.cancel()
        self._waiting = {}
        self._clients.forget(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._wire.frames.get_buffer()

    def buffer_updated(self, count: int) -> None:
        if self._is_closing:
            return
        self.heard_s = self._clients.clock_s()
        if self._wire.repeats.usual is None or not self._is_repeated(count):
            arrived = self._wire.receive(count)
            has_more = self._arrived is not NOTHING
            self._arrived = chain(self._arrived, arrived) if has_more else arrived
            self._take_all()
            if self._arrived is not NOTHING:
                self._transport.pause_reading()
        self._clients.broker.parked.go_on()

    def eof_received(self) -> bool:
        """Nothing more will come. What has come is answered, and then it is over.

        But a fetch may wait for long, and its reader is most likely gone.
        """
        is_owed = any(request.api.key != FETCH for request in self._waiting)
        self._is_ending = is_owed or self._arrived is not NOTHING
        return self._is_ending

    def pause_writing(self) -> None:
        self._is_stuck = True

    def resume_writing(self) -> None:
        self._is_stuck = False
        self._go_on()

    def _go_on(self) -> None:
        """A reason to wait is gone: there may be others."""
        if self._arrived is not NOTHING:
            self._take_all()
            if self._arrived is NOTHING and not self._is_closing and not self._is_ending:
                self._transport.resume_reading()
        is_answered = self._arrived is NOTHING and not self._waiting
        if self._is_ending and is_answered and not self._is_closing:
            self.hang_up()

    def mute(self, pause_ms: int) -> None:
        """Hear nothing more for so long; what is answered leaves all the same (KIP-219)."""
        pause_s = min(pause_ms / 1000, MUTED_MAX_S)
        if self._muted is not None:
            if self._muted.when() >= self._clients.loop.time() + pause_s:
                return
            self._muted.cancel()
        self._muted = self._clients.loop.call_later(pause_s, self._unmute)
        self._transport.pause_reading()

    def _unmute(self) -> None:
        self._muted = None
        if self._arrived is NOTHING and not self._is_closing:
            self._transport.resume_reading()
        else:
            self._go_on()

    def drop(self, why: str) -> None:
        """End the connection at once."""
        if not self._is_closing:
            self._clients.broker.meters.connections_dropped += 1
            self._clients.broker.note.info("%s:%s is dropped: %s", self.address, self.port, why)
            self._close()
            self._transport.abort()

    def _refuse(self, error: ProtocolError) -> None:
        """What was sent makes no sense. What came before it is answered, but nobody waits long."""
        if self._is_stuck:
            self.drop(str(error))
        elif not self._is_closing:
            self._clients.broker.meters.connections_dropped += 1
            self._clients.broker.note.info("%s:%s is dropped: %s", self.address, self.port, error)
            self.hang_up()

    def hang_up(self) -> None:
        """Send what is written, then end the connection; who will not take it loses it."""
        if self._is_closing:
            self._transport.abort()
            return
        self._send()
        self._close()
        self._transport.close()

    def _close(self) -> None:
        self._is_closing = True
        self._arrived, self._next = NOTHING, None

    def _send(self) -> None:
        """Send what is answered: many small pieces as one, large ones as they are."""
        wire = self._wire
        is_small = wire.output_bytes < JOINED_BYTES_MAX
        output = wire.take_output()
        if not output or self._is_closing:
            return
        if not is_small:
            self._transport.writelines(output)
        elif self._waiting:
            self._transport.write(b"".join(output))  # More may follow in this turn of the loop.
        else:
            self._write_now(b"".join(output))
        self._clients.lingering.answered()

    # Requests

    def _take_all(self) -> None:
        """Take what has come, up to where there is a reason to wait."""
        try:
            while not (self._is_stuck or self._is_closing or self._muted):
                request = self._next or next(self._arrived, None)
                if request is None:
                    self._arrived = NOTHING
                    break
                if self._waiting and not self._may_begin(request):
                    self._next = request
                    break
                self._next = None
                self._begin(request)
                if self._wire.output_bytes > OUTPUT_BYTES_MAX:
                    self._send()
                    self._count()
        except ProtocolError as error:
            self._refuse(error)
        self._send()
        self._count()

    def _is_repeated(self, count: int) -> bool:
        """Whether so many bytes were a produce like the one before, and are answered already."""
        clients = self._clients
        if self._waiting or self._is_stuck or self._muted or self._arrived is not NOTHING:
            return False
        if clients.broker.throttling.is_on or (repeat := self._wire.repeat(count)) is None:
            return False
        try:
            appended = clients.again[PRODUCE](repeat, clients.broker)
        except Exception as error:
            self._fail(APIS[PRODUCE], error)
            return True
        if appended is None:
            self._wire.repeats.rest()
            return False
        first_offset, _, append_time_ms, start_offset, _ = appended
        id_ = repeat.correlation_id
        self._write_now(repeat.usual.answer(id_, first_offset, append_time_ms, start_offset))
        clients.lingering.answered()
        clients.count_repeat(repeat, self.heard_s)
        return True

    def _count(self) -> None:
        """Nobody waits any more: the time that sending took is part of what it took in all."""
        for request, response in self._done:
            self._clients.count(request, response, self.heard_s)
        self._done.clear()

    def _may_begin(self, request: Request) -> bool:
        """Whether a request may begin although others wait."""
        if self._is_alone or is_exclusive(request):
            return False
        return len(self._waiting) < WAITING_MAX and self._waiting_bytes < WAITING_BYTES_MAX

    def _begin(self, request: Request) -> None:
        clients = self._clients
        key = request.api.key
        handler = clients.handlers[key](request.message, request, clients.broker)
        throttling = clients.broker.throttling
        if throttling.is_on:
            handler = metered(handler, request, throttling, clients.clock_s, self.mute)
        try:
            waits_for = handler.send(None)
        except StopIteration as done:
            self._wire.respond(request, done.value)
            self._done.append((request, done.value))
            return
        except ProtocolError:
            raise
        except Exception as error:
            self._fail(request.api, error)
            return
        self._is_alone = is_exclusive(request)
        self._waiting[request] = None
        self._waiting_bytes += request.size
        if key == FETCH or not self._is_alone:
            ended = partial(self._ended, request, self.heard_s)
            self._waiting[request] = Unfinished(handler, waits_for, ended)
        else:
            name = f"{request.api.name} of {self.address}"
            work = self._finish(request, self.heard_s, handler, waits_for)
            self._waiting[request] = clients.broker.tasks.start(name, work, may_end=True)

    async def _finish(
        self,
        request: Request,
        heard_s: float,
        handler: Coroutine[Any, Any, Message | None],
        waits_for: Any,
    ) -> None:
        try:
            response = await resume(handler, waits_for)
        except ProtocolError as error:
            self._ended(request, heard_s, None, error)
        except BaseException:
            self._forget(request)
            raise
        else:
            self._ended(request, heard_s, response, None)

    def _ended(
        self, request: Request, heard_s: float, response: Message | None, error: Exception | None
    ) -> None:
        """A request that had to wait is done with."""
        self._forget(request)
        if isinstance(error, ProtocolError):
            self._refuse(error)
            return
        if error is not None:
            self._fail(request.api, error)
            return
        if not self._is_closing:
            self._wire.respond(request, response)
            self._send()
        self._clients.count(request, response, heard_s, has_waited=True)
        if not self._is_closing:
            self._go_on()

    def _forget(self, request: Request) -> None:
        self._waiting.pop(request, None)
        self._waiting_bytes -= request.size

    def _fail(self, api: Api, error: Exception) -> None:
        """A handler has a bug: nobody knows what it has left behind."""
        self._clients.broker.tasks.fail(f"{api.name} of {self.address}", error)
        self.drop("the broker stops")


def is_exclusive(request: Request) -> bool:
    """Whether nothing may begin while this request waits, nor this while others do."""
    message = request.message
    return not isinstance(message, ProduceRequest) or message.transactional_id is not None


@coroutine
def resume(handler: Coroutine[Any, Any, Result], waits_for: Any) -> Generator[Any, Any, Result]:
    """Go on with a coroutine that was begun without a task, and waits."""
    while True:
        try:
            sent = yield waits_for
        except BaseException as error:
            step = partial(handler.throw, error)
        else:
            step = partial(handler.send, sent)
        try:
            waits_for = step()
        except StopIteration as done:
            return cast(Result, done.value)
