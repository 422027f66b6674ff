"""A real broker for the tests of clients: ours, or the one that a variable names.

ODRADEK_TEST_BOOTSTRAP=localhost:9092 lets the same tests judge any other broker.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kafka.client.topics import Topics
from tests.kafka.server.running import running_broker

BOOTSTRAP = "ODRADEK_TEST_BOOTSTRAP"


@contextmanager
def broker_address(directory: Path) -> Iterator[str]:
    """The address of a broker that runs as long as the block."""
    if named := os.environ.get(BOOTSTRAP):
        yield named
        return
    with running_broker(directory) as broker:
        yield broker.address


@contextmanager
def topics_of(address: str) -> Iterator[Topics]:
    topics = Topics(address)
    try:
        yield topics
    finally:
        topics.close()
