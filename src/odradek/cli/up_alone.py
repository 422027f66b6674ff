"""One process that is the whole cluster: a broker with its ZooKeeper inside."""

from __future__ import annotations

import sys
from random import Random

from odradek.cli.embedded import LOOPBACK, BrokerWithZooKeeper
from odradek.cli.serving import serve
from odradek.kafka.settings import BrokerSettings, load
from odradek.local.directory import ClusterDirectory
from odradek.local.plan import ClusterPlan
from odradek.local.preparing import write_broker_files
from odradek.runtime.logs import log_to
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.tasks import Tasks


def serve_alone(home: ClusterDirectory, plan: ClusterPlan, *, as_json: bool) -> int:
    """Serve until a signal comes; the exit code."""
    (broker,) = plan.brokers
    file = write_broker_files(home, plan, broker)
    with (file.parent / "server.log").open("a") as log:
        log_to(log)
        settings = load(OsDisk(), str(file), {})
        return serve(lambda: Announced(home, plan, settings, as_json=as_json))


class Announced:
    """A broker with its ZooKeeper, which says when it serves, and where."""

    def __init__(
        self, home: ClusterDirectory, plan: ClusterPlan, settings: BrokerSettings, *, as_json: bool
    ) -> None:
        self._home = home
        self._plan = plan
        self._as_json = as_json
        http = LOOPBACK, plan.brokers[0].http_port
        self._server = BrokerWithZooKeeper(settings, OsDisk(), Random(), http=http)

    @property
    def tasks(self) -> Tasks:
        return self._server.tasks

    async def start(self) -> None:
        await self._server.start()
        zookeeper = f"{LOOPBACK}:{self._server.zookeeper.port}"
        self._home.write(self._plan, zookeeper)
        self._announce(zookeeper)

    async def stop(self) -> None:
        await self._server.stop()

    def _announce(self, zookeeper: str) -> None:
        from odradek.cli.announcing import announce

        http = f"http://{LOOPBACK}:{self._plan.brokers[0].http_port}/metrics"
        announce(
            self._home.path,
            bootstrap=self._plan.bootstrap,
            zookeeper=zookeeper,
            metrics=[http],
            as_json=self._as_json,
        )
        sys.stdout.flush()
