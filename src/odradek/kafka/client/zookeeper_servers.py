"""ZooKeeper in place of bootstrap servers: a connect string that says so by its scheme.

    zk://zk1:2181,zk2:2181/kafka-main
    zk://zk1:2181/kafka-main?listener=CLIENTS

What is behind the scheme is what brokers have as `zookeeper.connect`, chroot and all. `listener`
names the listener that a client is meant for, where brokers have several.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from odradek.kafka.client.errors import InvalidSetting

SCHEME = "zk://"
_LISTENER = re.compile(r"listener=([A-Za-z0-9_.-]+)")
_BAD_PARTS = {".", ".."}


class ZooKeeperServers(NamedTuple):
    """Where a client learns of its brokers."""

    connect_string: str
    listener: str | None = None  # None: whichever speaks plain text.

    def __str__(self) -> str:
        asked = f"?listener={self.listener}" if self.listener else ""
        return f"{SCHEME}{self.connect_string}{asked}"


def names_zookeeper(bootstrap_servers: str) -> bool:
    """Whether ZooKeepers are named instead of brokers."""
    return bootstrap_servers.strip().lower().startswith(SCHEME)


def parse_zookeeper_servers(text: str) -> ZooKeeperServers:
    """Read a `zk://…`; refuse it, saying what is wrong, if it is none."""
    rest = text.strip()[len(SCHEME) :]
    connect_string, question_mark, query = rest.partition("?")
    if reason := _why_not(connect_string) or _why_not_asked(question_mark, query):
        raise InvalidSetting("bootstrap.servers", text, reason)
    listener = _LISTENER.fullmatch(query)
    return ZooKeeperServers(connect_string, listener[1].upper() if listener else None)


def _why_not(connect_string: str) -> str:
    """What is wrong with the servers or the chroot; "" if nothing is."""
    # Most clients name brokers, and start sooner without this.
    from odradek.zookeeper.client.connect_string import parse_connect_string
    from odradek.zookeeper.client.errors import BadArguments

    if "://" in connect_string:
        return f"{SCHEME} stands once, before the first ZooKeeper, and no other scheme after it"
    servers, _, chroot = connect_string.partition("/")
    if "@" in servers:
        return "a user and a password have no place here"
    if "," in chroot:
        return "the chroot stands once, behind the last ZooKeeper"
    if not _BAD_PARTS.isdisjoint(chroot.split("/")):
        return f"'/{chroot}' is no path of a znode"
    try:
        parse_connect_string(connect_string)
    except BadArguments as error:
        return f"is no connect string of ZooKeeper ({error})"
    return ""


def _why_not_asked(question_mark: str, query: str) -> str:
    if question_mark and not _LISTENER.fullmatch(query):
        return f"'?{query}' is not understood: only ?listener=NAME is"
    return ""
