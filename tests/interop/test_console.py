"""The console at Apache's servers: the same story as at ours."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.console.stories import tell_of_an_observer
from tests.interop.apache import ApacheZooKeeper
from tests.interop.apache_kafka import apache_broker


def test_an_observer_sees_reads_writes_and_keeps(tmp_path: Path) -> None:
    (tmp_path / "zookeeper").mkdir()
    words = {"4lw.commands.whitelist": "*"}  # Else it tells nothing of sessions.
    with ApacheZooKeeper(tmp_path / "zookeeper", words) as zookeeper:
        settings: dict[str, object] = {"zookeeper.connect": zookeeper.connect_string}
        with apache_broker(tmp_path / "broker", **settings) as broker:
            asyncio.run(tell_of_an_observer(broker.address, zookeeper.connect_string))
