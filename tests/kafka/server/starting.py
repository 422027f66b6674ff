"""How a simulated broker comes back to life."""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.keeper import DuplicateBroker
from odradek.kafka.server.node import BrokerNode
from odradek.kafka.settings import BrokerSettings
from odradek.simulation.processes import Environment
from tests.kafka.storage.consistency import check_log

PAUSE_S = 0.3


async def started(settings: BrokerSettings, environment: Environment) -> BrokerNode:
    """A node, once its earlier life is over in ZooKeeper; its logs and indexes agree."""
    while True:
        node = BrokerNode(settings, environment.disk, environment.random)
        try:
            await node.start()
            break
        except DuplicateBroker:
            await asyncio.sleep(PAUSE_S)
    for directory in node.broker.directories.online:
        for log in directory.logs.values():
            check_log(log)
    return node
