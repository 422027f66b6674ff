"""One process that is the whole cluster: a broker with its ZooKeeper inside."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING

from odradek.cli.embedded import LOOPBACK, BrokerWithZooKeeper
from odradek.cli.serving import serve
from odradek.kafka.settings import BrokerSettings, load
from odradek.local.directory import ClusterDirectory
from odradek.local.plan import ClusterPlan
from odradek.local.preparing import write_broker_files
from odradek.runtime.logs import log_to
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.tasks import Tasks

if TYPE_CHECKING:
    from odradek.cli.up_console import WantedConsole


def serve_alone(
    home: ClusterDirectory,
    plan: ClusterPlan,
    *,
    as_json: bool,
    console: WantedConsole | None = None,
) -> int:
    """Serve until a signal comes; the exit code."""
    (broker,) = plan.brokers
    file = write_broker_files(home, plan, broker)
    with (file.parent / "server.log").open("a") as log:
        log_to(log)
        settings = load(OsDisk(), str(file), {})
        return serve(lambda: Announced(home, plan, settings, as_json=as_json, console=console))


class Announced:
    """A broker with its ZooKeeper, which says when it serves, and where."""

    def __init__(
        self,
        home: ClusterDirectory,
        plan: ClusterPlan,
        settings: BrokerSettings,
        *,
        as_json: bool,
        console: WantedConsole | None,
    ) -> None:
        self._console = console
        self._beside = ExitStack()
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
        if self._console is not None:
            self._start_console(zookeeper)

    async def stop(self) -> None:
        if self._console is not None:
            await asyncio.to_thread(self._beside.close)
        await self._server.stop()

    @property
    def _metrics(self) -> list[str]:
        return [f"http://{LOOPBACK}:{self._plan.brokers[0].http_port}/metrics"]

    def _start_console(self, zookeeper: str) -> None:
        from odradek.cli.up_console import console_beside

        beside = console_beside(
            self._console,
            self._home,
            bootstrap=self._plan.bootstrap,
            zookeeper=zookeeper,
            metrics=self._metrics,
        )
        self._beside.enter_context(beside)

    def _announce(self, zookeeper: str) -> None:
        from odradek.cli.announcing import announce

        announce(
            self._home.path,
            bootstrap=self._plan.bootstrap,
            zookeeper=zookeeper,
            metrics=self._metrics,
            as_json=self._as_json,
            console=self._console.url if self._console else None,
        )
        sys.stdout.flush()
