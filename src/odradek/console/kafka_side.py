"""How the console speaks to brokers: in a few threads, for the client blocks.

Each thread has a picture of the cluster and connections of its own. A page waits for its answer
and no longer than `PATIENCE_MS` for a broker that does not give one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.settings import client_settings

PATIENCE_MS = 10_000
THREADS = 4
P = ParamSpec("P")
R = TypeVar("R")


class KafkaSide:
    """The brokers behind a list of bootstrap servers."""

    def __init__(self, bootstrap: str, threads: int = THREADS) -> None:
        self.properties = {
            "bootstrap.servers": bootstrap,
            "client.id": "odradek-console",
            "default.api.timeout.ms": str(PATIENCE_MS),
            "request.timeout.ms": str(PATIENCE_MS),
            "socket.connection.setup.timeout.ms": "3000",
            "max.partition.fetch.bytes": str(256 * 1024),
            "fetch.max.bytes": str(4 * 1024 * 1024),
        }
        # What ZooKeeper tells, the console hears by a watch of its own.
        self._settings = client_settings(self.properties).for_task()
        self._threads = ThreadPoolExecutor(threads, "console")
        self._own = threading.local()
        self._opened: list[Brokers] = []

    async def ask(
        self,
        work: Callable[Concatenate[Cluster, P], R],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R:
        """Have a thread do something that may block."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, lambda: work(self._cluster(), *arguments, **named)
        )

    def _cluster(self) -> Cluster:
        found: Cluster | None = getattr(self._own, "cluster", None)
        if found is None:
            brokers = Brokers(self._settings)
            self._opened.append(brokers)
            found = self._own.cluster = Cluster(brokers)
        return found

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for brokers in self._opened:
            brokers.close()
