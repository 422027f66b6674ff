"""`odradek zookeeper zoo.cfg`: a ZooKeeper server in the foreground."""

from __future__ import annotations

import os
import sys
from random import Random
from typing import TYPE_CHECKING

from odradek.runtime.disk import Disk
from odradek.runtime.door import Door, open_door
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.settings import ZooKeeperSettings, load

if TYPE_CHECKING:
    from odradek.cli.serving import Server


def run(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: odradek zookeeper FILE", file=sys.stderr)
        return 2
    disk, path = OsDisk(), os.path.abspath(arguments[0])
    try:
        settings = load(disk, path, os.environ.get("SERVER_JVMFLAGS", ""))
        door = opened(settings)
    except (SettingsRefused, OSError) as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    # All the rest that a server takes is loaded while clients come.
    from odradek.cli.serving import serve
    from odradek.runtime.logs import log_to

    log_to(sys.stderr)
    return serve(lambda: made(settings, disk, path, door))


def opened(settings: ZooKeeperSettings) -> Door:
    """The port of a server that is alone. A member opens its own when it knows of the others."""
    address = settings.client_address
    if settings.is_distributed or address is None:
        return []
    return open_door(address.host, address.port, settings.client_backlog)


def made(settings: ZooKeeperSettings, disk: Disk, path: str, door: Door) -> Server:
    """One of several, or one alone, who need not even know what an ensemble takes."""
    if settings.is_distributed:
        from odradek.zookeeper.server.member_node import MemberNode

        return MemberNode(settings, disk, Random(), path)
    from odradek.zookeeper.server.node import ZooKeeperNode

    return ZooKeeperNode(settings, disk, Random(), door)
