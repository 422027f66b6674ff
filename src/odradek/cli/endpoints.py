"""Which cluster a command speaks to: as told, or the one that runs in this directory."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.local.directory import DEFAULT, running_address
from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from odradek.kafka.client.cluster import Cluster
    from odradek.zookeeper.client.aio import ZooKeeperClient

PATIENCE_MS = "15000"
TO_CLOSE: ContextVar[list[Callable[[], None]]] = ContextVar("to_close")  # When a command ends.


class NoCluster(OdradekError):
    """Nobody said which."""


def bootstrap_of(given: str | None) -> str:
    """Brokers to speak to."""
    found = given or (running_address(Path(DEFAULT)) or ("", ""))[0]
    if not found:
        raise NoCluster(
            f"which brokers? Name them with --bootstrap or ODRADEK_BOOTSTRAP: no cluster of "
            f"`odradek up` runs in ./{DEFAULT}"
        )
    return found


def zookeeper_of(given: str | None, bootstrap: str | None = None) -> str:
    """ZooKeepers to speak to; those that `bootstrap` names in place of brokers will do."""
    found = given or zookeeper_in(bootstrap) or (running_address(Path(DEFAULT)) or ("", ""))[1]
    if not found:
        raise NoCluster(
            f"which ZooKeepers? Name them with --zookeeper or ODRADEK_ZOOKEEPER: no cluster of "
            f"`odradek up` runs in ./{DEFAULT}"
        )
    return found


def zookeeper_in(bootstrap: str | None) -> str | None:
    """The connect string behind a `zk://…`."""
    from odradek.kafka.client.zookeeper_servers import names_zookeeper, parse_zookeeper_servers

    if bootstrap is None or not names_zookeeper(bootstrap):
        return None
    return parse_zookeeper_servers(bootstrap).connect_string


def open_cluster(given: str | None, **settings: str) -> Cluster:
    """A picture of the cluster, with connections of its own; who cannot be reached is told soon."""
    from odradek.kafka.client.brokers import Brokers
    from odradek.kafka.client.cluster import Cluster
    from odradek.kafka.client.settings import client_settings

    properties = {
        "bootstrap.servers": bootstrap_of(given),
        "client.id": "odradek-cli",
        "default.api.timeout.ms": PATIENCE_MS,
        "socket.connection.setup.timeout.ms": "5000",
    }
    brokers = Brokers(client_settings(properties | settings))
    TO_CLOSE.get().append(brokers.close)
    return Cluster(brokers)


def zookeeper_client(given: str | None) -> ZooKeeperClient:
    """A client, to be used as `async with`."""
    from random import Random

    from odradek.zookeeper.client.aio import ZooKeeperClient

    return ZooKeeperClient(zookeeper_of(given), random=Random(), session_timeout_ms=10_000)
