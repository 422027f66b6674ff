"""The membership in force, and the next one while it is being agreed upon.

A reconfiguration is a write like any other, but from when a server has logged it, quorums of both
memberships are needed for everything: no two sets of servers can then decide without each other.
With its commit the new membership is activated and the old one forgotten. Versions only grow; a
membership that was proposed and lost is forgotten with the leader that brings another history.
Where `reconfigEnabled` is off, the servers are those of the file, whatever others say.
"""

from __future__ import annotations

from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.txn import SetDataTxn, TxnHeader
from odradek.zookeeper.zab.quorum import Joint, Membership, Quorums, read_membership

TYPE = slice(28, 32)  # Where a transaction's header has its type.
RECONFIG = int(Op.RECONFIG).to_bytes(4, "big")


class Configuration:
    """What one server knows of the ensemble's members."""

    def __init__(
        self, current: Membership, proposed: Membership | None = None, *, is_fixed: bool = False
    ) -> None:
        self.current = current
        self.is_fixed = is_fixed
        self.proposed: Membership | None = None
        self.quorums: Quorums = current.quorums
        if proposed:
            self.propose(proposed)

    @property
    def voters(self) -> frozenset[int]:
        """All who may vote, by either membership."""
        return self.quorums.voters

    @property
    def newest(self) -> Membership:
        return self.proposed or self.current

    def propose(self, membership: Membership) -> None:
        """Need quorums of this one too, if it is a newer one; otherwise only of the current."""
        self.proposed = membership if self._is_newer(membership) else None
        self._choose_quorums()

    def activate(self, membership: Membership) -> bool:
        """Let this one be in force; say whether it was not."""
        if not self._is_newer(membership):
            return False
        self.current = membership
        if self.proposed and self.proposed.version <= membership.version:
            self.proposed = None
        self._choose_quorums()
        return True

    def _is_newer(self, membership: Membership) -> bool:
        is_newer = membership.version > self.current.version
        return is_newer and not self.is_fixed and bool(membership.voters)

    def _choose_quorums(self) -> None:
        self.quorums = self.current.quorums
        if self.proposed:
            self.quorums = Joint(self.current.quorums, self.proposed.quorums)


def membership_in(entry: bytes) -> Membership | None:
    """The membership that this entry of the log sets, if it is a reconfiguration."""
    if entry[TYPE] != RECONFIG:
        return None
    _, start = TxnHeader.read(entry)
    txn, _ = SetDataTxn.read(entry, start)
    return read_membership((txn.data or b"").decode(errors="replace"))
