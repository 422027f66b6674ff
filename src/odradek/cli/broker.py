"""`odradek broker server.properties`: a Kafka broker in the foreground.

Where no ZooKeeper is named the broker brings one: in the same process, on a free port of loopback,
with its data beside the broker's first log directory.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from random import Random

from odradek.cli.serving import Server, serve
from odradek.kafka.server.node import BrokerNode
from odradek.kafka.settings import BrokerSettings, load
from odradek.runtime.disk import Disk
from odradek.runtime.logs import log_to
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.settings import SettingsRefused

LOOPBACK = "127.0.0.1"


def run(arguments: list[str]) -> int:
    given = parser().parse_args(arguments)
    log_to(sys.stderr)
    disk = OsDisk()
    try:
        settings = load(disk, os.path.abspath(given.file), dict(given.override))
    except (SettingsRefused, OSError) as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    return serve(maker(settings, disk, given))


def maker(settings: BrokerSettings, disk: Disk, given: Namespace) -> Callable[[], Server]:
    """What makes the server, once a loop runs."""
    if settings.zookeeper_connect:
        return lambda: BrokerNode(settings, disk, Random(), http=given.http)
    from odradek.cli.embedded import BrokerWithZooKeeper

    return lambda: BrokerWithZooKeeper(settings, disk, Random(), http=given.http)


def parser() -> ArgumentParser:
    it = ArgumentParser(prog="odradek broker", description="Run a Kafka broker in the foreground.")
    it.add_argument("file", metavar="FILE", help="its server.properties")
    it.add_argument(
        "--override",
        metavar="KEY=VALUE",
        type=read_override,
        action="append",
        default=[],
        help="a setting that counts before the file's; may be given again",
    )
    it.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        type=read_address,
        help="serve /metrics and /health there",
    )
    return it


def read_override(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ValueError("KEY=VALUE")
    return key, value


def read_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]") or LOOPBACK, int(port)
