"""A server for all tests of a module, and clients of it that are gone when a test is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl_credential

from tests.zookeeper.server.running import RunningServer, running_server

TICK_MS = 200  # So that sessions may be as short as 0.4 s.
SUPER = "super", "test"

Connect = Callable[..., Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    settings = {
        "tickTime": TICK_MS,
        "extendedTypesEnabled": "true",
        "maxClientCnxns": 0,
        "DigestAuthenticationProvider.superDigest": make_digest_acl_credential(*SUPER),
    }
    with running_server(tmp_path_factory.mktemp("zookeeper"), **settings) as running:
        yield running


@pytest.fixture
def connect(server: RunningServer) -> Iterator[Connect]:
    """Makes kazoo clients that are connected; `path` is a chroot."""
    with ExitStack() as stack:

        def connected(path: str = "", timeout: float = 4, **options: object) -> Any:
            client = KazooClient(server.connect_string + path, timeout=timeout, **options)
            client.start()
            stack.callback(leave, client)
            return client

        yield connected


def leave(client: Any) -> None:
    client.stop()
    client.close()
