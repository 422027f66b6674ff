"""/feature: what the brokers of a cluster have agreed that all of them can do.

The controller makes the node and keeps it in the form of the protocol in use; every broker watches
it, for clients are told its version.
"""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.broker.metadata import Metadata
from odradek.kafka.controller import paths
from odradek.kafka.controller.versions import WITH_FEATURES, WITH_NEWER_FEATURE_NODE
from odradek.kafka.controller.znodes import FeatureNode, read_features, write_features
from odradek.kafka.settings.versions import Version
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.watches import WatchEvent

DISABLED, ENABLED = 0, 1


async def set_up_features(keeper: Keeper, protocol: Version) -> None:
    """See that the node is there, as this protocol wants it; what is agreed on stays."""
    found = await keeper.read(paths.FEATURE)
    known = None if found is None else read_features(found[0])
    is_enabled = protocol >= WITH_FEATURES
    levels = known.levels if known and is_enabled and known.status == ENABLED else {}
    version = 2 if protocol >= WITH_NEWER_FEATURE_NODE else 1
    wanted = FeatureNode(version, ENABLED if is_enabled else DISABLED, levels)
    if wanted != known:
        await keeper.write(paths.FEATURE, write_features(levels, version=version, status=wanted[1]))


class Features:
    """This broker's view of the node."""

    def __init__(self, keeper: Keeper, metadata: Metadata, note: NodeLog) -> None:
        self._keeper = keeper
        self._metadata = metadata
        self._note = note
        self._stirred = asyncio.Event()

    async def load(self) -> None:
        """Look at the node, and watch it; after a lost session, look again."""
        client = self._keeper.client
        stat = await self._keeper.steadily(lambda: client.exists(paths.FEATURE, self._stir))
        self._metadata.features_epoch = -1 if stat is None else stat.version

    async def run(self) -> None:
        """Follow the node."""
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            try:
                await self.load()
            except ZooKeeperError as error:
                self._note.warning("features are read again with the next session: %s", error)

    def _stir(self, event: WatchEvent) -> None:
        self._stirred.set()
