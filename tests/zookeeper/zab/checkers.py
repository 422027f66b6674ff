"""What must hold whatever happens: the properties of Zab, and what clients were promised.

one leader an epoch    nobody else is established in it, and a quorum's disks have entered it
integrity              what is delivered was proposed, once, with this zxid
total order            all deliver one sequence, each a prefix of it
primary order          within an epoch nothing is left out; epochs do not go back
durability             what is delivered is on the disks of a quorum at that moment
nothing is lost        an established leader has all that was ever delivered in older epochs
"""

from __future__ import annotations

from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.zab import effects as fx
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import epoch_of, follows
from tests.zookeeper.zab.ensemble import Ensemble, Server


class Violation(AssertionError):
    """A property does not hold."""


class Checkers:
    """All of them, told of everything as it happens."""

    world: Ensemble

    def __init__(self, *, sees_disks: bool = True) -> None:
        self.sees_disks = sees_disks  # Otherwise only what clients could notice is checked.
        self.leaders: dict[int, int] = {}  # By epoch.
        self.proposals: dict[int, bytes] = {}
        self.delivered: list[Entry] = []  # The one sequence.
        self.acked: list[Entry] = []
        self._pending: dict[int, list[Entry]] = {}  # Committed by servers about to serve.

    def proposed(self, entry: Entry) -> None:
        other = self.proposals.setdefault(entry.zxid, entry.data)
        require(other == entry.data, f"two proposals have the zxid {entry.zxid:#x}")

    def acknowledged(self, entry: Entry) -> None:
        self.acked.append(entry)

    def stopped(self, server: Server) -> None:
        require(not self._pending.pop(server.id, []), "commits before a role was established")

    def committed(self, server: Server, entry: Entry) -> None:
        if server.serving is None:
            self._pending.setdefault(server.id, []).append(entry)
        else:
            self._deliver(server, len(server.tree) - 1)

    def serves(self, server: Server, effect: fx.Serve) -> None:
        """The whole tree of a server becomes visible: all of it counts as delivered."""
        self._pending.pop(server.id, None)
        if effect.state is ServerState.LEADING:
            self._establish(server, epoch_of(effect.zxid))
            self._require_all_before(server, epoch_of(effect.zxid))
        for index in range(len(server.tree)):
            self._deliver(server, index)

    def _establish(self, server: Server, epoch: int) -> None:
        other = self.leaders.setdefault(epoch, server.id)
        require(other == server.id, f"{other} and {server.id} lead in epoch {epoch}")
        entered = [it.id for it in self.world.servers.values() if it.store.current_epoch >= epoch]
        self._require_quorum(server, entered, f"epoch {epoch} is established")

    def _require_all_before(self, server: Server, epoch: int) -> None:
        """A leader that slept may be established after a newer one, whose entries it lacks."""
        older = sum(epoch_of(entry.zxid) < epoch for entry in self.delivered)
        require(len(server.tree) >= older, "the leader lacks what was delivered")

    def _deliver(self, server: Server, index: int) -> None:
        entry, delivered = server.tree[index], self.delivered
        if index < len(delivered):
            require(delivered[index] == entry, f"{server.id} has another entry at {index}")
            return
        require(index == len(delivered), f"{server.id} delivers {entry.zxid:#x} too early")
        require(self.proposals.get(entry.zxid) == entry.data, "what was never proposed")
        if delivered:
            last_zxid = delivered[-1].zxid
            require(
                entry.zxid > last_zxid and follows(entry.zxid, last_zxid),
                f"{entry.zxid:#x} is delivered after {last_zxid:#x}",
            )
        servers = self.world.servers.values()
        holders = [it.id for it in servers if entry.zxid in it.store.zxids]
        self._require_quorum(server, holders, f"{entry.zxid:#x} is delivered")
        delivered.append(entry)

    def _require_quorum(self, server: Server, ids: list[int], what: str) -> None:
        quorums = server.peer.history.configuration.current.quorums
        require(not self.sees_disks or quorums.has_quorum(ids), f"{what} with only {ids} on disk")

    def settled(self) -> None:
        """After all faults are over, everyone has everything."""
        trees = [server.tree for server in self.world.servers.values()]
        require(all(tree == self.delivered for tree in trees), "trees differ in the end")
        held = set(self.delivered)
        require(all(entry in held for entry in self.acked), "an acknowledged write is lost")


def require(holds_true: bool, what: str) -> None:
    if not holds_true:
        raise Violation(what)
