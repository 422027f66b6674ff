"""The connections of a process: one for each broker and thread of work, kept for the next.

Spark reuses its Python workers, and a connection costs three round trips, so a pool outlives
the task that made it. A pool lent to one task at a time hands each connection to one borrower;
a process that was forked starts with an empty pool, for two may not read from one socket.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from os import getpid
from time import monotonic

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.connection import BlockingConnection, has_news
from odradek.kafka.client.errors import ConnectionLost, NoBroker
from odradek.kafka.client.settings import ClientSettings


class Brokers:
    """Connections by address, lent and given back."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self._idle: dict[Address, list[BlockingConnection]] = {}

    def borrow(self, address: Address) -> BlockingConnection:
        """A connection for the borrower alone: one that was given back, or a new one."""
        idle = self._idle.get(address, [])
        while idle:
            connection = idle.pop()
            if self._is_fresh(connection):
                return connection
            connection.close()
        return BlockingConnection(address, self.settings)

    def give_back(self, connection: BlockingConnection) -> None:
        """Keep it for others, unless it is broken or an answer is still to come."""
        if connection.is_closed or connection.in_flight_count:
            connection.close()
        else:
            self._idle.setdefault(connection.address, []).append(connection)

    @contextmanager
    def lend(self, address: Address) -> Iterator[BlockingConnection]:
        """A connection for the length of a block."""
        connection = self.borrow(address)
        try:
            yield connection
        finally:
            self.give_back(connection)

    def any_of(self, addresses: list[Address]) -> BlockingConnection:
        """A connection to the first that can be reached."""
        troubles = []
        for address in addresses:
            try:
                return self.borrow(address)
            except ConnectionLost as error:
                troubles.append(str(error))
        raise NoBroker("no broker can be reached: " + "; ".join(troubles))

    def close(self) -> None:
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def _is_fresh(self, connection: BlockingConnection) -> bool:
        idle_ms_max = self.settings.connections_idle_ms_max
        idle_ms = (monotonic() - connection.used_at) * 1000
        is_too_old = 0 <= idle_ms_max <= idle_ms
        return not (connection.is_closed or is_too_old or has_news([connection], 0))


_pools: dict[ClientSettings, Brokers] = {}
_pools_pid = getpid()


def shared_brokers(settings: ClientSettings) -> Brokers:
    """The pool of this process for these settings."""
    global _pools_pid
    if _pools_pid != getpid():
        _pools.clear()
        _pools_pid = getpid()
    return _pools.setdefault(settings, Brokers(settings))


@atexit.register
def close_shared_brokers() -> None:
    """Close all idle connections of this process; whoever asks again gets new ones."""
    if _pools_pid == getpid():
        for pool in _pools.values():
            pool.close()
    _pools.clear()
