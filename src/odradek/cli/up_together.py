"""Several processes, watched over: started together, revived when they die, stopped in order."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from odradek.cli.announcing import announce
from odradek.cli.up_console import WantedConsole, console_beside
from odradek.local.cluster import LocalCluster
from odradek.local.directory import ClusterDirectory
from odradek.local.plan import ClusterPlan
from odradek.local.ports import HOST

LOOK_S = 0.2
LOOKS_A_ROW = 5  # The table is drawn anew once a second.


def supervise(
    home: ClusterDirectory,
    plan: ClusterPlan,
    *,
    as_json: bool,
    console: WantedConsole | None = None,
) -> int:
    """Run the cluster until a signal comes; the exit code."""
    asked_to_stop = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        asked_to_stop.set()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Whoever insists is heard.

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    cluster = LocalCluster(plan, home)
    metrics = [f"http://{HOST}:{it.http_port}/metrics" for it in plan.brokers]
    where = {"bootstrap": plan.bootstrap, "zookeeper": plan.zookeeper}
    try:
        cluster.start()
        url = console.url if console else None
        announce(home.path, **where, metrics=metrics, as_json=as_json, console=url)
        with console_beside(console, home, **where, metrics=metrics):
            watch(cluster, asked_to_stop, as_json=as_json)
    finally:
        say("stops", as_json=as_json)
        cluster.stop()
    return 0


def watch(cluster: LocalCluster, asked_to_stop: threading.Event, *, as_json: bool) -> None:
    """Keep the cluster alive, and show it, until asked to stop."""
    if as_json or not sys.stdout.isatty():
        keep(cluster, asked_to_stop, lambda: None, lambda name: say("restarts", name, as_json))
        return
    from rich.live import Live

    from odradek.cli.status_table import status_table
    from odradek.local.status import look_at

    with Live(status_table(look_at(cluster)), auto_refresh=False) as live:

        def draw() -> None:
            live.update(status_table(look_at(cluster)), refresh=True)

        keep(cluster, asked_to_stop, draw, lambda name: live.console.print(f"{name} restarts"))


def keep(
    cluster: LocalCluster,
    asked_to_stop: threading.Event,
    draw: Callable[[], None],
    tell: Callable[[str], None],
) -> None:
    looks = 0
    while not asked_to_stop.wait(LOOK_S):
        for name in cluster.revive():
            tell(name)
        looks += 1
        if not looks % LOOKS_A_ROW:
            draw()


def say(event: str, name: str = "", as_json: bool = False) -> None:
    with suppress(OSError):  # Who read it may be gone.
        if as_json:
            print(json.dumps({"event": event, "server": name or None}), flush=True)
        else:
            print(f"{name or 'the cluster'} {event}", flush=True)
