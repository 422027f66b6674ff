"""All client connections of a broker: who may come, and who has been silent for too long.

The connections stand in a line, each with the time at which it would be idle for too long. When
that comes, one who has spoken since goes to the end; nobody else is looked at, and a request costs
no more than the noting of its time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING

from odradek.kafka.broker.broker import Broker
from odradek.kafka.server.dispatch import HANDLERS, Handler
from odradek.kafka.wire.connection import Request
from odradek.runtime.frames import SCRATCH_BYTES

if TYPE_CHECKING:
    from odradek.kafka.server.connection import Connection

TIMER_MAX_S = 24 * 3600.0
FOREVER = float("inf")


class Clients:
    """The connections of one broker, on all its listeners."""

    def __init__(self, broker: Broker, handlers: Mapping[int, Handler] = HANDLERS) -> None:
        self.broker = broker
        self.handlers = handlers
        self.loop = asyncio.get_running_loop()
        self.scratch = bytearray(SCRATCH_BYTES)
        self.connections: dict[Connection, float] = {}  # The line.
        self._by_address: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self.connections)

    @property
    def frame_bytes_max(self) -> int:
        return self.broker.settings.socket_request_max_bytes

    def admit(self, connection: Connection) -> str | None:
        """Take a connection in, or say why not."""
        settings, address = self.broker.settings, connection.address
        overrides = settings.max_connections_per_ip_overrides
        address_max = overrides.get(address, settings.max_connections_per_ip)
        meters = self.broker.meters
        if self._by_address[address] >= address_max:
            meters.connections_refused += 1
            return f"{address_max} connections from one address are enough"
        if len(self.connections) >= settings.max_connections:
            meters.connections_refused += 1
            return f"{settings.max_connections} connections are enough"
        meters.connections_made += 1
        self._by_address[address] += 1
        self._put_in_line(connection, connection.heard_s)
        return None

    def forget(self, connection: Connection) -> None:
        """It is over."""
        if self.connections.pop(connection, None) is not None:
            self._by_address[connection.address] -= 1
            if not self._by_address[connection.address]:
                del self._by_address[connection.address]

    def close(self) -> None:
        """End them all."""
        if self._timer is not None:
            self._timer.cancel()
        for connection in list(self.connections):
            connection.hang_up()

    def count(self, request: Request, heard_s: float, *, has_waited: bool = False) -> None:
        """A request is done with."""
        meter = self.broker.meters.api(request.api.key)
        meter.count += 1
        meter.request_bytes += request.size
        meter.total_s += self.loop.time() - heard_s
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
            delay_s = max(0.0, first - self.loop.time())
            self._timer = self.loop.call_later(min(delay_s, TIMER_MAX_S), self._expire)

    def _expire(self) -> None:
        now_s, idle_s = self.loop.time(), self.broker.settings.connections_max_idle_ms / 1000
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
