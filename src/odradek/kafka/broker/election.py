"""The election of a controller, as brokers see it in ZooKeeper.

Whoever makes `/controller` is elected, and raises `/controller_epoch` in the same transaction. The
node goes with its session; a controller whose process is gone can be deposed before that. It would
do no harm to one that lives: all its writes are fenced by the epoch of the next.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.controller import paths, znodes
from odradek.kafka.controller.registration import read_registration
from odradek.kafka.controller.znodes import BadZnode
from odradek.kafka.settings.endpoints import Endpoint
from odradek.runtime.clock import wall_clock_ms
from odradek.zookeeper.client.errors import ConnectionLoss, MultiFailed
from odradek.zookeeper.client.watches import Watcher
from odradek.zookeeper.wire.codes import CreateMode
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import Stat

NOBODY = -1


class EpochNode(NamedTuple):
    """/controller_epoch, and the version of its data."""

    epoch: int
    version: int


class Election:
    """One broker's part in it."""

    def __init__(self, broker_id: int, keeper: Keeper) -> None:
        self._id = broker_id
        self._keeper = keeper

    async def controller(self, watch: Watcher) -> tuple[int, int]:
        """Who is named by /controller, by which session; the watch hears of any change."""
        client = self._keeper.client
        await self._keeper.steadily(lambda: client.exists(paths.CONTROLLER, watch))
        return await self._named()

    async def endpoint(self, broker_id: int, listener: str) -> Endpoint | None:
        """Where a broker can be reached, if it says so in a way that we understand."""
        found = await self._keeper.read(paths.broker(broker_id))
        try:
            return found and read_registration(broker_id, found[0]).endpoint(listener)
        except BadZnode:
            return None

    async def compete(self) -> EpochNode | None:
        """Try to be the one; the new epoch, or None if another was faster."""
        node = await self._epoch()
        path, client = paths.CONTROLLER, self._keeper.client
        transaction = client.transaction()
        data = znodes.write_controller(self._id, wall_clock_ms())
        transaction.create(path, data, mode=CreateMode.EPHEMERAL, acl=self._keeper.acl(path))
        epoch = str(node.epoch + 1).encode()
        transaction.set_data(paths.CONTROLLER_EPOCH, epoch, node.version)
        try:
            _, stat = await transaction.commit()
        except ConnectionLoss:
            return await self._find_out(node.epoch + 1)
        except MultiFailed as error:
            if error.code not in (Error.NODE_EXISTS, Error.BAD_VERSION):
                raise
            return await self._find_out(node.epoch + 1)
        assert isinstance(stat, Stat)
        return EpochNode(node.epoch + 1, stat.version)

    async def depose(self, owner: int) -> None:
        """Remove /controller, if it still belongs to this session.

        The epoch is read before the owner, and is not to change: what is removed is no successor's.
        """
        epoch = await self._epoch()
        _, owner_now = await self._named()
        if owner_now == owner:
            try:
                await self._keeper.steadily(partial(self._remove, epoch))
            except MultiFailed as error:
                if error.code not in (Error.NO_NODE, Error.BAD_VERSION):
                    raise

    async def _remove(self, epoch: EpochNode) -> None:
        transaction = self._keeper.client.transaction()
        transaction.check(paths.CONTROLLER_EPOCH, epoch.version)
        transaction.delete(paths.CONTROLLER)
        await transaction.commit()

    async def _find_out(self, epoch: int) -> EpochNode | None:
        """The answer was lost, or it is an older one's trace: it is ours if our session has it."""
        client = self._keeper.client
        stat = await self._keeper.steadily(lambda: client.exists(paths.CONTROLLER))
        now = await self._epoch()
        is_ours = stat is not None and stat.ephemeral_owner == client.session_id
        return now if is_ours and now.epoch == epoch else None

    async def _named(self) -> tuple[int, int]:
        found = await self._keeper.read(paths.CONTROLLER)
        if found is None:
            return NOBODY, 0
        return znodes.read_controller(found[0]), found[1].ephemeral_owner

    async def _epoch(self) -> EpochNode:
        while True:
            found = await self._keeper.read(paths.CONTROLLER_EPOCH)
            if found is not None:
                with znodes.checked(paths.CONTROLLER_EPOCH):
                    return EpochNode(int(found[0]), found[1].version)
            await self._keeper.make(paths.CONTROLLER_EPOCH, b"0")
