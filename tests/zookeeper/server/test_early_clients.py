"""Clients that come while a server that is alone still loads: they wait, and are served."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

from odradek.cli.zookeeper import opened
from odradek.runtime.os_disk import OsDisk
from odradek.zookeeper.server.node import ZooKeeperNode
from odradek.zookeeper.settings import load
from tests.zookeeper.server.in_process import DEFAULTS
from tests.zookeeper.server.raw_client import RawClient
from tests.zookeeper.zoo_cfg import read


def test_a_client_that_asks_before_the_server_has_loaded_gets_its_session(tmp_path: Path) -> None:
    async def story() -> None:
        settings = read(f"dataDir={tmp_path}\n{DEFAULTS}")
        door = opened(settings)
        with RawClient(door[0].getsockname()[1]) as client:
            asking = asyncio.create_task(asyncio.to_thread(client.open_session))
            node = ZooKeeperNode(settings, OsDisk(), Random(1), door)
            await node.start()
            assert (await asking).time_out == 10_000
            await node.stop()

    asyncio.run(story())


def test_a_member_of_an_ensemble_is_not_open_before_it_knows_of_the_others(tmp_path: Path) -> None:
    servers = "".join(f"server.{n}=127.0.0.1:{n}888:{n}889\n" for n in (1, 2, 3))
    limits = "initLimit=10\nsyncLimit=5\n"
    (tmp_path / "myid").write_text("1\n")
    (tmp_path / "zoo.cfg").write_text(f"dataDir={tmp_path}\n{DEFAULTS}{limits}{servers}")
    assert opened(load(OsDisk(), str(tmp_path / "zoo.cfg"), "")) == []
