"""Apache ZooKeeper as the judge: every story of our client, told by their server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interop.apache import ApacheZooKeeper
from tests.zookeeper.client.test_client import *  # noqa: F403
from tests.zookeeper.client.test_recipes import *  # noqa: F403

SETTINGS = {"tickTime": 500, "extendedTypesEnabled": "true", "maxClientCnxns": 0}


@pytest.fixture(scope="module")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Takes the place of the fixture by the same name, which those stories would find at home."""
    with ApacheZooKeeper(tmp_path_factory.mktemp("apache"), SETTINGS) as server:
        yield server.connect_string
