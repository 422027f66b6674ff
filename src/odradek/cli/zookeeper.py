"""`odradek zookeeper zoo.cfg`: a ZooKeeper server in the foreground."""

from __future__ import annotations

import os
import sys
from random import Random

from odradek.cli.serving import serve
from odradek.runtime.logs import log_to
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.server.member_node import node_of
from odradek.zookeeper.settings import load


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
    return serve(lambda: node_of(settings, disk, Random(), path))
