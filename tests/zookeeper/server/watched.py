"""Whole servers that tell a ledger what they do. They do nothing else than any server does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.zookeeper.server.journal import Journal
from odradek.zookeeper.server.member import Member
from odradek.zookeeper.server.member_node import MemberNode
from odradek.zookeeper.server.shelf import Shelf
from odradek.zookeeper.storage.log_reader import read_log
from odradek.zookeeper.storage.recover import Recovered
from odradek.zookeeper.zab import effects as fx
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.peer import Peer
from odradek.zookeeper.zab.window import CommittedLog, Entry
from tests.zookeeper.server.ledger import Ledger


class WatchedJournal(Journal):
    """Says what the disk has truly done before anything is made of it."""

    hear: Callable[[int], None]

    def _finish(self, mark: int | None) -> None:
        if mark is not None:
            self.hear(mark)
        super()._finish(mark)


class WatchedMember(Member):
    """Tells of each effect that it is asked for."""

    journal_type: type[Journal] = WatchedJournal

    def watch(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._book = ledger.book(self.peer.my_id)
        assert isinstance(self.journal, WatchedJournal)
        self.journal.hear = self._book.done
        for kind in (fx.Log, fx.Truncate, fx.InstallSnapshot, fx.WriteEpoch):
            self._doers[kind] = self._told(self._doers[kind])

    def _told(self, do: Callable[[Any], None]) -> Callable[[Any], None]:
        def tell_and_do(effect: fx.DiskEffect) -> None:
            # The core may have left its role behind these effects; the replica goes with them.
            if isinstance(effect, fx.Log) and self.replica.is_leading:
                for entry in effect.entries:
                    self._ledger.proposed(entry)
            self._book.write(effect)
            do(effect)

        return tell_and_do

    def _commit(self, effect: fx.Commit) -> None:
        quorums = self.membership.quorums
        for entry in effect.entries:
            self._ledger.committed(self.peer.my_id, entry, quorums)
            super()._commit(fx.Commit([entry]))
            tree, timeouts = self.replica.clients.tree, self.replica.timeouts
            self._ledger.applied(self.peer.my_id, tree.digest, set(tree.ephemerals), timeouts)

    def _serve(self, effect: fx.Serve) -> None:
        digest, quorums = self.replica.clients.tree.digest, self.membership.quorums
        self._ledger.serves(self.peer.my_id, effect, quorums, digest)
        super()._serve(effect)


class WatchedNode(MemberNode):
    """A server whose disk is read by the ledger when it starts."""

    ledger: Ledger
    window_count = 500
    member_type = WatchedMember

    def _history(self, found: Recovered, shelf: Shelf) -> History:
        """Remember less than any settings allow, so that others need snapshots soon."""
        history = super()._history(found, shelf)
        history.window = CommittedLog(history.window.entries(), self.window_count)
        return history

    def _wire(self, found: Recovered) -> None:
        super()._wire(found)
        history, logs = self.peer.history, self._directories.logs
        entries = read_log(self._disk, logs, found.base_zxid)
        self.ledger.book(self.peer.my_id).begin(
            found.base_zxid,
            [Entry(it.zxid, it.data) for it in entries if it.zxid > found.base_zxid],
            {
                fx.EpochFile.ACCEPTED: history.accepted_epoch,
                fx.EpochFile.CURRENT: history.current_epoch,
            },
        )
        assert isinstance(self.member, WatchedMember)
        self.member.watch(self.ledger)


def watched_by(
    ledger: Ledger, peer: type[Peer] = Peer, window_count: int = WatchedNode.window_count
) -> type[MemberNode]:
    """Servers whose ledger this is, perhaps with a bug in their core."""
    return type(
        "WatchedByOne",
        (WatchedNode,),
        {"ledger": ledger, "peer_type": peer, "window_count": window_count},
    )
