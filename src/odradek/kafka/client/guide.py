"""Who tells a blocking client of its brokers: a thread with a session of ZooKeeper.

A client that lives on keeps the session, and with it the watches: it is *told*. Whoever is there
for a moment, above all a task on one of many executors of Spark, only *looks*: a session that
lasts for one read, at the start and whenever no broker that it knows of can be reached. Two
hundred workers with a session each would be two hundred pings and, with each failed broker, two
hundred reads at once, for tasks that end within seconds and are retried by a driver that is told.

Everything is on a loop in a thread of its own, whatever loop the caller's thread may run.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from random import Random

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster_watch import ClusterWatch
from odradek.kafka.client.news import News
from odradek.kafka.client.zookeeper_servers import ZooKeeperServers

GOODBYE_S = 3.0


class Guide:
    """A watch on a cluster that runs until it is stopped; `cut` is told of brokers that left."""

    def __init__(self, servers: ZooKeeperServers, cut: Callable[[Address], object]) -> None:
        self.news = News(str(servers), cut)
        self._followed: set[str] = set()
        self._watch = ClusterWatch(servers, Random(), self.news)
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="zookeeper watch", daemon=True)
        self._thread.start()

    def follow(self, topic: str) -> None:
        """Have leaders of this topic told of, too."""
        if topic not in self._followed:
            self._followed.add(topic)
            self._soon(self._watch.follow, topic)

    def stop(self) -> None:
        """End the session soon."""
        self._soon(self._stopped.set)

    def close(self) -> None:
        """End the session, and see to it that it is ended."""
        self.stop()
        self._thread.join(GOODBYE_S)

    def _soon(self, do: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # The loop is closed: there is nobody to do it.
            self._loop.call_soon_threadsafe(do, *arguments)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._watch_until_stopped())
        finally:
            self._loop.close()

    async def _watch_until_stopped(self) -> None:
        watching = asyncio.create_task(self._watch.run())
        watching.add_done_callback(lambda _: self._stopped.set())
        await self._stopped.wait()
        self.news.see_trouble("the watch has ended")
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


def look_for_brokers(servers: ZooKeeperServers, timeout_s: float) -> list[Address]:
    """The brokers that are registered now; `NoBroker` says why there is none."""
    guide = Guide(servers, lambda _: None)
    try:
        return guide.news.await_brokers(timeout_s)
    finally:
        guide.close()
