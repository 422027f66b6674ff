"""The server that the client's tests talk to: ours, as a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.zookeeper.server import running


@pytest.fixture(scope="session")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The connect string of a standalone server with short ticks and extended types enabled."""
    directory = tmp_path_factory.mktemp("zookeeper")
    with running.running_server(directory, extendedTypesEnabled="true", maxClientCnxns=0) as server:
        yield server.connect_string
