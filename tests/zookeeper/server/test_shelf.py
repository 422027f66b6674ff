"""What a member keeps: it goes back to what it had, or says that it cannot."""

from __future__ import annotations

import pytest

from odradek.simulation.world import World
from odradek.zookeeper.server.shelf import Shelf
from odradek.zookeeper.storage.directories import Directories
from odradek.zookeeper.storage.errors import StorageError
from odradek.zookeeper.storage.recover import Recovered, recover
from odradek.zookeeper.storage.snapshot_slices import ALL_PARTS, body_slices
from odradek.zookeeper.storage.snapshot_stream import SIGNATURE, SnapshotStream
from odradek.zookeeper.storage.txnlog import TxnLog
from odradek.zookeeper.wire.codes import ServerState
from tests.zookeeper.server.ensemble import Ensemble
from tests.zookeeper.storage.disks import MortalDisk, new_disk
from tests.zookeeper.storage.histories import History, Step, portrait
from tests.zookeeper.storage.logs import batch_of

STEPS: list[Step] = [("create", path, 1) for path in ("/a", "/a/b", "/a/d", "/e", "/e/f")]
LOGGED, SENT = 2, 5


class Member:
    """One that logged two transactions, and got a leader's snapshot that has five."""

    def __init__(self, disk: MortalDisk) -> None:
        self._disk = disk
        self._directories = Directories.open(disk, "/data")
        log = TxnLog(disk, self._directories.logs)
        self.recover()
        self.shelf = Shelf(
            disk,
            self._directories,
            log,
            self.recover,
            base_zxid=0,
            size_factor=0.33,
            parts=ALL_PARTS,
            compression="",
            config_path=None,
        )
        log.write(batch_of(enumerate(History(STEPS[:LOGGED]).entries, 1)))
        self.shelf.install(History(STEPS[:SENT]).tree, {})

    def recover(self) -> Recovered:
        return recover(self._disk, self._directories.snapshots, self._directories.logs)


def test_who_goes_back_behind_a_snapshot_that_was_sent_has_what_it_logged_before() -> None:
    found = Member(new_disk()).shelf.go_back(LOGGED, needs_state=True)
    assert found is not None
    assert portrait(found.tree) == portrait(History(STEPS[:LOGGED]).tree)


def test_nobody_goes_back_to_what_only_the_lost_snapshot_had() -> None:
    member = Member(new_disk())
    with pytest.raises(StorageError, match="ends at 0x2, and cannot go back to 0x4: start again"):
        member.shelf.go_back(LOGGED + 2, needs_state=True)
    found = member.recover()
    assert found.last_zxid == LOGGED
    assert portrait(found.tree) == portrait(History(STEPS[:LOGGED]).tree)


def test_who_gets_another_snapshot_need_not_have_had_what_is_in_it() -> None:
    member = Member(new_disk())
    assert member.shelf.go_back(LOGGED + 2, needs_state=False) is None
    member.shelf.install(History(STEPS[: LOGGED + 2]).tree, {})
    assert portrait(member.recover().tree) == portrait(History(STEPS[: LOGGED + 2]).tree)


def test_a_server_goes_back_behind_a_snapshot_that_was_still_on_its_way_to_the_disk() -> None:
    with World(seed=1) as world:
        ensemble = Ensemble(world)
        ensemble.do(lambda client: client.create("/ours"))
        ensemble.settle()
        for id_ in (2, 3):
            ensemble.host(id_).kill()
        node = ensemble.nodes[1]
        world.run_until(lambda: node.replica.state is ServerState.LOOKING, limit_s=60)
        history = node.peer.history
        zxid, digest = history.last_zxid, node.clients.tree.digest
        node.member.snapshot_received(0, sent())  # Of a link that is gone, so nothing is done yet.
        history.install(0, zxid + 5)
        history.truncate(zxid)
        world.run_until(lambda: history.durable_mark == history.mark, limit_s=60)
        tree = node.clients.tree
        assert (tree.last_zxid, tree.digest) == (zxid, digest)
        assert tree.get("/ours") is not None


def sent() -> SnapshotStream:
    stream = SnapshotStream()
    stream.feed(b"".join(body_slices(History(STEPS).tree, {})) + SIGNATURE)
    return stream
