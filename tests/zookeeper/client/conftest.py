"""The server that the client's tests talk to."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def running_server() -> str:
    """The connect string of a standalone server with short ticks and extended types enabled."""
    connect_string = os.environ.get("ODRADEK_TEST_ZOOKEEPER")
    if connect_string is None:
        pytest.skip("no server: ODRADEK_TEST_ZOOKEEPER is not set")
    return connect_string
