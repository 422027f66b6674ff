"""Who may come in, and who has to wait outside.

When there are enough connections, in all or of one listener, or when they come too quickly, the
next ones wait, unheard, in the order in which they came: so does a client of Kafka while nobody
accepts it. Who has too many of one address is sent away, and so is everybody when too many wait.

Where brokers have a listener of their own, clients do not keep them out: whoever has been idle
the longest makes room.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING

from odradek.kafka.settings import BrokerSettings

if TYPE_CHECKING:
    from odradek.kafka.server.connection import Connection

OUTSIDE_MAX = 1024  # As many as a listener's backlog holds.
LOOK_AGAIN_S = 1.0  # Settings change, and nobody tells us.
NO_LIMIT = 2**31 - 1
NOBODY: deque[Connection] = deque(maxlen=0)


class Pace:
    """So many a second, of which so many may come at once."""

    __slots__ = ("_left", "_since_s")

    def __init__(self, now_s: float) -> None:
        self._left: float | None = None  # All of them, until somebody has come.
        self._since_s = now_s

    def wait_s(self, rate: int, now_s: float) -> float:
        """How long until the next may come."""
        if rate == NO_LIMIT:
            return 0.0
        left = rate if self._left is None else self._left + (now_s - self._since_s) * rate
        self._left, self._since_s = min(rate, left), now_s
        if self._left >= 1:
            return 0.0
        return (1 - self._left) / rate if rate else LOOK_AGAIN_S

    def take(self) -> None:
        """One has come."""
        if self._left is not None:
            self._left -= 1


class Door:
    """Of one broker, with all its listeners."""

    def __init__(
        self,
        settings: Callable[[], BrokerSettings],
        loop: asyncio.AbstractEventLoop,
        clock_s: Callable[[], float],
    ) -> None:
        self.inside: Counter[str] = Counter()  # By listener...
        self.addresses: Counter[str] = Counter()  # ...and by address, also of those outside.
        self.outside: dict[str, deque[Connection]] = {}
        self._settings = settings
        self._loop = loop
        self._clock_s = clock_s
        self._known: BrokerSettings | None = None
        self._of_listeners: dict[str, BrokerSettings] = {}
        self._pace = Pace(clock_s())
        self._paces: dict[str, Pace] = {}
        self._timer: asyncio.TimerHandle | None = None

    def refusal(self, address: str) -> str | None:
        """Why nobody else may come from an address."""
        settings = self._settings()
        overrides = settings.max_connections_per_ip_overrides
        address_max = overrides.get(address, settings.max_connections_per_ip)
        if self.addresses[address] >= address_max:
            return f"{address_max} connections from one address are enough"
        if sum(map(len, self.outside.values())) >= OUTSIDE_MAX:
            return f"{OUTSIDE_MAX} others wait for room"
        return None

    def arrive(self, connection: Connection) -> None:
        """Let a connection in, now or when there is room."""
        self.addresses[connection.address] += 1
        self.outside.setdefault(connection.listener, deque()).append(connection)
        self.let_in()

    def leave(self, connection: Connection) -> None:
        """It is over, whether it was inside, outside, or sent away."""
        if connection.is_inside:
            self.inside[connection.listener] -= 1
        elif connection in (line := self.outside.get(connection.listener, NOBODY)):
            line.remove(connection)
        else:
            return
        self.addresses[connection.address] -= 1
        if not self.addresses[connection.address]:
            del self.addresses[connection.address]
        self.let_in()

    def close(self) -> None:
        """Nobody comes in any more."""
        if self._timer is not None:
            self._timer.cancel()
        lines, self.outside = self.outside, {}
        for connection in chain.from_iterable(lines.values()):
            connection.hang_up()

    def let_in(self) -> None:
        """Let in who may come now; look again later if some remain."""
        wait_s = LOOK_AGAIN_S
        for listener, line in list(self.outside.items()):
            while line:
                listener_wait_s = self._wait_s(listener)
                if listener_wait_s:
                    wait_s = min(wait_s, listener_wait_s)
                    break
                self._enter(listener, line.popleft())
        if self._timer is None and any(self.outside.values()):
            self._timer = self._loop.call_later(wait_s, self._look_again)

    def is_too_full(self, listener: str) -> bool:
        """Whether who came by the brokers' own listener is one too many."""
        settings = self._settings()
        return is_protected(listener, settings) and self.inside.total() > settings.max_connections

    def first_to_go(self, line: Iterable[Connection]) -> Connection | None:
        """Of those who have been silent the longest, the first who is a client, and idle."""
        settings = self._settings()
        clients = (it for it in line if not is_protected(it.listener, settings))
        return next((it for it in clients if not it.is_busy), None)

    def _enter(self, listener: str, connection: Connection) -> None:
        self.inside[listener] += 1
        self._pace.take()
        self._paces[listener].take()
        connection.enter()

    def _look_again(self) -> None:
        self._timer = None
        self.let_in()

    def _wait_s(self, listener: str) -> float:
        """How long until there may be room for one more; 0 if there is."""
        broad, own = self._settings(), self._of_listener(listener)
        is_full = self.inside.total() >= broad.max_connections
        if self.inside[listener] >= own.max_connections:
            return LOOK_AGAIN_S
        if is_full and not is_protected(listener, broad):
            return LOOK_AGAIN_S
        now_s = self._clock_s()
        pace = self._paces.setdefault(listener, Pace(now_s))
        return max(
            self._pace.wait_s(broad.max_connection_creation_rate, now_s),
            pace.wait_s(own.max_connection_creation_rate, now_s),
        )

    def _of_listener(self, listener: str) -> BrokerSettings:
        """The settings as one listener sees them; to work them out anew takes long."""
        settings = self._settings()
        if not settings.listener_options:
            return settings
        if self._known is not settings:
            self._known = settings
            self._of_listeners.clear()
        if listener not in self._of_listeners:
            self._of_listeners[listener] = settings.of_listener(listener)
        return self._of_listeners[listener]


def is_protected(listener: str, settings: BrokerSettings) -> bool:
    """Whether a listener is that of the brokers, and there are others for clients."""
    return listener == settings.inter_broker_listener_name and len(settings.listeners) > 1
