"""Writes that only the one controller can make.

Each is behind a check of `/controller_epoch`: if another controller was elected since, nothing is
written and `ControllerMoved` is raised. Many groups travel together; where one is refused, each is
tried by itself, and those that are refused then are told apart. A group whose answer was lost is
tried again, so its own traces may refuse it: the caller reads what is there, and decides again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from odradek.kafka.broker.keeper import Keeper, settled, slices
from odradek.kafka.controller import paths
from odradek.kafka.controller.writes import Create, Delete, Group, Set, packed
from odradek.runtime.errors import OdradekError
from odradek.zookeeper.client.errors import ConnectionLoss, MultiFailed, ZooKeeperError
from odradek.zookeeper.client.multi import Transaction, Written
from odradek.zookeeper.wire.errors import Error

PACKS_IN_FLIGHT = 10

Outcome = list[Written] | ZooKeeperError


class ControllerMoved(OdradekError):
    """Another broker is the controller now."""


class FencedWrites:
    """Writes under one controller's epoch."""

    def __init__(self, keeper: Keeper, epoch_version: int) -> None:
        self._keeper = keeper
        self._epoch_version = epoch_version

    async def write(self, groups: Sequence[Group]) -> list[Outcome]:
        """Write all groups; what came of each. Raises `ControllerMoved`, `SessionExpired`."""
        outcomes: list[Outcome] = []
        for packs in slices(list(packed(groups)), PACKS_IN_FLIGHT):
            futures = [self._send(pack) for pack in packs]
            await settled(futures)
            for pack, future in zip(packs, futures, strict=True):
                outcomes += await self._outcomes(pack, future)
        return outcomes

    async def write_one(self, group: Group) -> Outcome:
        return (await self.write([group]))[0]

    def _send(self, pack: Sequence[Group]) -> asyncio.Future[list[Written]]:
        transaction = self._keeper.client.transaction()
        transaction.check(paths.CONTROLLER_EPOCH, self._epoch_version)
        for group in pack:
            for write in group:
                self._add(transaction, write)
        return transaction.commit()

    def _add(self, transaction: Transaction, write: Create | Set | Delete) -> None:
        match write:
            case Create(path, data):
                transaction.create(path, data, acl=self._keeper.acl(path))
            case Set(path, data, version):
                transaction.set_data(path, data, version)
            case Delete(path, version):
                transaction.delete(path, version)

    async def _outcomes(
        self, pack: list[Group], future: asyncio.Future[list[Written]]
    ) -> list[Outcome]:
        error = future.exception()
        if isinstance(error, MultiFailed | ConnectionLoss):
            self._refuse_if_moved(error)
            return [await self._alone(group) for group in pack]
        written = future.result()
        outcomes: list[Outcome] = []
        start = 1  # Behind the check.
        for group in pack:
            outcomes.append(written[start : start + len(group)])
            start += len(group)
        return outcomes

    async def _alone(self, group: Group) -> Outcome:
        """One group by itself, without what need not be done any more."""
        rest = group
        while rest:
            try:
                written = await self._keeper.steadily(partial(self._send, [rest]))
            except MultiFailed as error:
                self._refuse_if_moved(error)
                shorter = without_needless(rest, error)
                if shorter is None:
                    assert isinstance(error.__cause__, ZooKeeperError)
                    return error.__cause__
                rest = shorter
            else:
                return [*[None] * (len(group) - len(rest)), *written[1:]]
        return [None] * len(group)

    def _refuse_if_moved(self, error: ZooKeeperError) -> None:
        if isinstance(error, MultiFailed) and error.errors[0] is error.__cause__:
            raise ControllerMoved(f"the epoch is not at version {self._epoch_version} any more")


def without_needless(group: Group, error: MultiFailed) -> Group | None:
    """The group without the write that was refused because it is done; None if it is not."""
    position = error.errors.index(error.__cause__) - 1  # type: ignore[arg-type]
    write = group[position]
    is_there = error.code == Error.NODE_EXISTS and isinstance(write, Create) and write.may_exist
    is_gone = error.code == Error.NO_NODE and isinstance(write, Delete)
    return group[:position] + group[position + 1 :] if is_there or is_gone else None
