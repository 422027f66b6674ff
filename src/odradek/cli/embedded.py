"""A broker that brings its own ZooKeeper: both in one process, on one loop.

The ZooKeeper's directory stands beside the broker's and not in it: an Apache broker that is one
day started there would refuse a directory that is no partition's.
"""

from __future__ import annotations

import asyncio
from random import Random

from odradek.kafka.server.node import BrokerNode, HttpAddress
from odradek.kafka.settings import BrokerSettings
from odradek.runtime.disk import Disk
from odradek.runtime.properties import Properties
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.node import ZooKeeperNode
from odradek.zookeeper.settings import ZooKeeperSettings

SUFFIX = "-zookeeper"
LOOPBACK = "127.0.0.1"


class BrokerWithZooKeeper:
    """Started and stopped as one server."""

    def __init__(
        self, settings: BrokerSettings, disk: Disk, random: Random, http: HttpAddress | None = None
    ) -> None:
        self.directory = settings.log_dirs[0].rstrip("/") + SUFFIX
        self.zookeeper = ZooKeeperNode(zookeeper_settings(self.directory), disk, random)
        self.broker = BrokerNode(settings, disk, random, http=http)

    @property
    def tasks(self) -> Tasks:
        return self.broker.tasks

    async def start(self) -> None:
        await self.zookeeper.start()
        await self.zookeeper.end_sessions()  # Of the process before us, which is gone.
        self.tasks.start("zookeeper", self._share_its_fate())
        connect_string = f"{LOOPBACK}:{self.zookeeper.port}"
        self.broker.note.info(
            "no zookeeper.connect is given: runs a ZooKeeper of its own at %s, with its data in %s",
            connect_string,
            self.directory,
        )
        try:
            await self.broker.start(connect_string)
        except BaseException:
            await self.zookeeper.stop()
            raise

    async def _share_its_fate(self) -> None:
        """If the ZooKeeper dies, so does the broker; but who stops the broker stops it first."""
        stopped = asyncio.get_running_loop().create_task(self.zookeeper.tasks.until_stopped())
        await asyncio.wait([stopped])
        stopped.result()

    async def stop(self) -> None:
        await self.broker.stop()
        await self.zookeeper.stop()


def zookeeper_settings(directory: str) -> ZooKeeperSettings:
    """As few surprises as can be: nobody else may connect, and nothing piles up."""
    return ZooKeeperSettings(
        Properties.of(
            {
                "dataDir": directory,
                "clientPortAddress": LOOPBACK,
                "clientPort": "0",
                "maxClientCnxns": "0",
                "admin.enableServer": "false",
                "autopurge.purgeInterval": "24",
            },
            "the broker's own ZooKeeper",
        )
    )
