"""The connections of a process: one for each broker and thread of work, kept for the next.

Spark reuses its Python workers, and a connection costs three round trips, so a pool outlives
the task that made it. A pool lent to one task at a time hands each connection to one borrower;
a process that was forked starts with an empty pool, for two may not read from one socket.

Where brokers are known by ZooKeeper alone, the pool has a guide that is told of them. Connections
to a broker that left are cut at once, and no new one is made to it.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import getpid
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING
from weakref import WeakMethod, WeakSet, finalize

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.connection import BlockingConnection, has_news
from odradek.kafka.client.errors import ConnectionLost, NoBroker
from odradek.kafka.client.settings import ClientSettings

if TYPE_CHECKING:
    from odradek.kafka.client.guide import Guide

HAS_LEFT = "the broker has left, says ZooKeeper"


class Brokers:
    """Connections by address, lent and given back."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self._idle: dict[Address, list[BlockingConnection]] = {}
        self._open: WeakSet[BlockingConnection] = WeakSet()
        self._open_lock = Lock()  # The guide's thread cuts what others open.
        self._guide: Guide | None = None
        self._heard_count = 0

    @property
    def guide(self) -> Guide | None:
        """Who tells of brokers and leaders; None where nobody does."""
        servers = self.settings.zookeeper
        if self._guide is None and servers is not None and self.settings.is_told:
            from odradek.kafka.client.guide import Guide

            cut = WeakMethod(self._cut)
            self._guide = Guide(servers, lambda address: (do := cut()) and do(address))
            self._heard_count = 0
            finalize(self, self._guide.stop)
        return self._guide

    def bootstrap_servers(self) -> Iterable[Address]:
        """Brokers that are there to begin with: those named, or those that ZooKeeper knows."""
        timeout_s = self.settings.connection_setup_timeout_ms / 1000
        if guide := self.guide:
            return guide.news.await_brokers(timeout_s)
        if self.settings.zookeeper is not None:
            from odradek.kafka.client.guide import look_for_brokers

            return look_for_brokers(self.settings.zookeeper, timeout_s)
        return self.settings.bootstrap_servers

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until something is told that was not known at the last wait."""
        if self._guide is None:
            sleep(seconds)
            return False
        has_news = self._guide.news.wait_beyond(self._heard_count, seconds)
        self._heard_count = self._guide.news.count
        return has_news

    def borrow(self, address: Address) -> BlockingConnection:
        """A connection for the borrower alone: one that was given back, or a new one."""
        idle = self._idle.get(address, [])
        while idle:
            connection = idle.pop()
            if self._is_fresh(connection):
                return connection
            connection.close()
        self._refuse_who_left(address)
        return BlockingConnection(address, self.settings, self._opened)

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

    def any_of(self, addresses: Iterable[Address]) -> BlockingConnection:
        """A connection to the first that can be reached."""
        troubles: list[str] = []
        try:
            if found := self._first_of(addresses, troubles):
                return found
        except NoBroker as error:  # From whoever was to name more of them.
            troubles.append(str(error))
        raise NoBroker("no broker can be reached: " + "; ".join(troubles))

    def _first_of(
        self, addresses: Iterable[Address], troubles: list[str]
    ) -> BlockingConnection | None:
        for address in addresses:
            try:
                return self.borrow(address)
            except ConnectionLost as error:
                troubles.append(str(error))
        return None

    def close(self) -> None:
        if self._guide is not None:
            self._guide.close()
            self._guide = None
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def _opened(self, connection: BlockingConnection) -> None:
        with self._open_lock:
            self._open.add(connection)
        # It may have left before it was on the list of those to be cut.
        try:
            self._refuse_who_left(connection.address)
        except ConnectionLost:
            connection.close()
            raise

    def _refuse_who_left(self, address: Address) -> None:
        if self._guide is not None and self._guide.news.is_gone(address):
            raise ConnectionLost(f"{address}: {HAS_LEFT}")

    def _cut(self, address: Address) -> None:
        """Called by the guide's thread."""
        with self._open_lock:
            theirs = [it for it in self._open if it.address == address]
        for connection in theirs:
            connection.cut(HAS_LEFT)

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
