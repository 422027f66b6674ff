"""All client connections of a broker: who may come, and who has been silent for too long.

The connections stand in a line, each with the time at which it would be idle for too long. When
that comes, one who has spoken since goes to the end; nobody else is looked at, and a request costs
no more than the noting of its time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING

from odradek.kafka.broker.broker import Broker
from odradek.kafka.quotas.addresses import AddressQuota
from odradek.kafka.server.dispatch import AGAIN, HANDLERS, Handler
from odradek.kafka.server.door import Door
from odradek.kafka.wire.apis import PRODUCE
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.error_codes import error_codes
from odradek.kafka.wire.repeats import Repeat
from odradek.kafka.wire.schema import Message
from odradek.runtime.clock import stopwatch
from odradek.runtime.frames import SCRATCH_BYTES
from odradek.runtime.lingering import Lingering
from odradek.runtime.rooms import Rooms

if TYPE_CHECKING:
    from odradek.kafka.server.connection import Connection

TIMER_MAX_S = 24 * 3600.0
FOREVER = float("inf")


class Clients:
    """The connections of one broker, on all its listeners."""

    def __init__(self, broker: Broker, handlers: Mapping[int, Handler] = HANDLERS) -> None:
        self.broker = broker
        self.handlers = handlers
        self.again = AGAIN
        self.loop = asyncio.get_running_loop()
        self.clock_s = stopwatch()  # The loop's own stands still between its turns.
        self.door = Door(lambda: broker.settings, self.loop, self.clock_s)
        self.scratch = bytearray(SCRATCH_BYTES)
        self.rooms = Rooms()
        self.lingering = Lingering()
        self.connections: dict[Connection, float] = {}  # The line.
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self.connections)

    @property
    def frame_bytes_max(self) -> int:
        return self.broker.settings.socket_request_max_bytes

    def arrive(self, connection: Connection) -> None:
        """Somebody has connected: they may come in, have to wait, or must go."""
        if self._is_closed:
            connection.drop("the broker stops")
            return
        if (quota := self.broker.throttling.addresses) and self._is_too_soon(connection, quota):
            return
        if refusal := self.door.refusal(connection.address):
            self.broker.meters.connections_refused += 1
            connection.drop(refusal)
        else:
            self.door.arrive(connection)

    def _is_too_soon(self, connection: Connection, quota: AddressQuota) -> bool:
        """Who comes too quickly is not heard, and after a while sent away: to try again costs."""
        pause_ms = quota.charge(connection.address, self.loop.time() * 1000)
        if pause_ms:
            self.broker.meters.connections_refused += 1
            why = "connections come too quickly from its address"
            self.loop.call_later(pause_ms / 1000, connection.drop, why)
        return bool(pause_ms)

    def let_in(self, connection: Connection) -> None:
        """From now on it is heard."""
        self.broker.meters.connections_made += 1
        self._put_in_line(connection, self.clock_s())
        if self.door.is_too_full(connection.listener):
            first = self.door.first_to_go(self.connections)
            if first is not None:
                first.drop("brokers need its place")

    def forget(self, connection: Connection) -> None:
        """It is over."""
        self.connections.pop(connection, None)
        self.door.leave(connection)

    def close(self) -> None:
        """End them all, and whoever has knocked already; told again, wait for nobody."""
        self._is_closed = True
        self.door.close()
        if self._timer is not None:
            self._timer.cancel()
        for connection in list(self.connections):
            connection.hang_up()

    def count(
        self,
        request: Request,
        response: Message | None,
        heard_s: float,
        *,
        has_waited: bool = False,
    ) -> None:
        """A request is done with."""
        key = request.api.key
        self._count(key, request.size, heard_s, has_waited=has_waited)
        if response is not None and (codes := error_codes(response)):
            for code in codes:
                self.broker.meters.errors[key, code] += 1

    def count_repeat(self, repeat: Repeat, heard_s: float) -> None:
        """A produce was like the one before, and all was well."""
        self._count(PRODUCE, repeat.size, heard_s, has_waited=False)

    def _count(self, key: int, size: int, heard_s: float, *, has_waited: bool) -> None:
        meters = self.broker.meters
        meter = meters.apis.get(key) or meters.api(key)
        meter.count += 1
        meter.request_bytes += size
        meter.total_s += self.clock_s() - heard_s
        meter.waited += has_waited

    # Who is idle

    def _put_in_line(self, connection: Connection, heard_s: float) -> None:
        idle_ms = self.broker.settings.connections_max_idle_ms
        self.connections[connection] = heard_s + idle_ms / 1000 if idle_ms >= 0 else FOREVER
        if self._timer is None:
            self._set_timer()

    def _set_timer(self) -> None:
        self._timer = None
        first = next(iter(self.connections.values()), FOREVER)
        if first < FOREVER:
            delay_s = max(0.0, first - self.clock_s())
            self._timer = self.loop.call_later(min(delay_s, TIMER_MAX_S), self._expire)

    def _expire(self) -> None:
        now_s, idle_s = self.clock_s(), self.broker.settings.connections_max_idle_ms / 1000
        due = list(takewhile(lambda each: each[1] <= now_s, self.connections.items()))
        for connection, _ in due:
            heard_s = now_s if connection.is_busy else connection.heard_s
            is_idle = heard_s + idle_s <= now_s
            del self.connections[connection]
            self._put_in_line(connection, now_s if is_idle else heard_s)
            if is_idle:
                self.broker.meters.connections_expired += 1
                connection.hang_up()
        self._set_timer()
