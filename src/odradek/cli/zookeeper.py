"""`odradek zookeeper zoo.cfg`: a ZooKeeper server in the foreground."""

from __future__ import annotations

import os
import sys
from random import Random

from odradek.cli.serving import Server, serve
from odradek.runtime.disk import Disk
from odradek.runtime.logs import log_to
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.settings import ZooKeeperSettings, load


def run(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: odradek zookeeper FILE", file=sys.stderr)
        return 2
    log_to(sys.stderr)
    disk, path = OsDisk(), os.path.abspath(arguments[0])
    try:
        settings = load(disk, path, os.environ.get("SERVER_JVMFLAGS", ""))
    except (SettingsRefused, OSError) as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    return serve(lambda: made(settings, disk, path))


def made(settings: ZooKeeperSettings, disk: Disk, path: str) -> Server:
    """One of several, or one alone, who need not even know what an ensemble takes."""
    if settings.is_distributed:
        from odradek.zookeeper.server.member_node import MemberNode

        return MemberNode(settings, disk, Random(), path)
    from odradek.zookeeper.server.node import ZooKeeperNode

    return ZooKeeperNode(settings, disk, Random())
