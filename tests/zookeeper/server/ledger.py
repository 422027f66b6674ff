"""A ledger of whole servers: what each disk truly holds, and what was made visible to clients.

one leader an epoch    nobody else is established in it, and a quorum's disks have entered it
integrity              what is delivered was proposed, once, with this zxid
total order            all deliver one sequence, each a prefix of it, and come to the same trees
agreement              a server shows exactly what was delivered up to where it is
primary order          within an epoch nothing is left out; epochs do not go back
durability             what is delivered is on the disks of a quorum at that moment, and what a
                       disk holds is there again when its server starts
nothing is lost        an established leader has all that was ever delivered in older epochs
ephemerals             those of a session are there as long as the session, on every server

It is told by `WatchedNode`, which hears of the same effects and the same ends of disk work as any
member, before a promise can be made of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.zab import effects as fx
from odradek.zookeeper.zab.quorum import Quorums
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import epoch_of, follows
from tests.zookeeper.zab.checkers import require
from tests.zookeeper.zab.singles import singles

Epochs = dict[fx.EpochFile, int]


@dataclass(slots=True)
class Book:
    """One server: what its disk holds, what it believes it will hold, what is under way."""

    id: int
    base_zxid: int = 0  # Of the snapshot below the log.
    log: list[Entry] = field(default_factory=list)  # Once all that is under way is done.
    held: dict[int, bytes] = field(default_factory=dict)
    epochs: Epochs = field(default_factory=dict)
    under_way: deque[tuple[int, Callable[[], None]]] = field(default_factory=deque)
    applied_zxid: int = 0
    is_fuzzy: bool = False  # A tree that came over the wire is true once it is served.

    def begin(self, base_zxid: int, entries: Iterable[Entry], epochs: Epochs) -> None:
        """A process starts, with what it found."""
        found = list(entries)
        self._compare(base_zxid, {it.zxid for it in found}, epochs)
        self.base_zxid, self.log, self.epochs = base_zxid, found, epochs
        self.held = {it.zxid: it.data for it in found}
        self.under_way.clear()
        self.applied_zxid = found[-1].zxid if found else base_zxid

    def _compare(self, base_zxid: int, found: set[int], epochs: Epochs) -> None:
        for file, epoch in self.epochs.items():
            require(epochs[file] >= epoch, f"{self.id} forgot its {file.value} {epoch}")
        if any(change.func in (self._cut, self._install) for change in self._changes()):
            return  # Who is about to forget may have done so.
        lost = [zxid for zxid in self.held if zxid > base_zxid and zxid not in found]
        require(not lost, f"the disk of {self.id} lost {lost[:1]}, which it held")

    def _changes(self) -> list[partial[None]]:
        return [it for _, it in self.under_way if isinstance(it, partial)]

    def holds(self, zxid: int) -> bool:
        return zxid <= self.base_zxid or zxid in self.held

    # What is asked of the disk, and done by it

    def write(self, effect: fx.DiskEffect) -> None:
        for each in singles([effect]):
            self._write(each)

    def _write(self, effect: fx.Effect) -> None:
        match effect:
            case fx.Log(mark, [Entry(zxid, data)]):
                self.log.append(Entry(zxid, data))
                change = partial(self.held.__setitem__, zxid, data)
            case fx.Truncate(mark, zxid):
                self._forget(zxid)
                change = partial(self._cut, zxid)
            case fx.InstallSnapshot(mark, _, zxid):
                self.log.clear()
                self.applied_zxid = zxid
                self.is_fuzzy = True
                change = partial(self._install, zxid)
            case fx.WriteEpoch(mark, file, epoch):
                change = partial(self.epochs.__setitem__, file, epoch)
            case _:
                return
        self.under_way.append((mark, change))

    def done(self, mark: int) -> None:
        """The disk holds all up to this mark."""
        while self.under_way and self.under_way[0][0] <= mark:
            self.under_way.popleft()[1]()

    def _forget(self, zxid: int) -> None:
        while self.log and self.log[-1].zxid > zxid:
            self.log.pop()
        self.applied_zxid = min(self.applied_zxid, zxid)
        self.base_zxid = min(self.base_zxid, zxid)

    def _cut(self, zxid: int) -> None:
        for each in [it for it in self.held if it > zxid]:
            del self.held[each]

    def _install(self, zxid: int) -> None:
        self.base_zxid = zxid
        self._cut(zxid)


class Ledger:
    """All checkers, told of everything as it happens."""

    def __init__(self) -> None:
        self.books: dict[int, Book] = {}
        self.leaders: dict[int, int] = {}  # By epoch.
        self.delivered: list[Entry] = []  # The one sequence.
        self._zxids: list[int] = []  # Of the delivered.
        self._proposals: dict[int, bytes] = {}
        self._digests: dict[int, int] = {}  # Of the tree, by the zxid that was delivered last.

    def book(self, id_: int) -> Book:
        return self.books.setdefault(id_, Book(id_))

    def proposed(self, entry: Entry) -> None:
        other = self._proposals.setdefault(entry.zxid, entry.data)
        require(other == entry.data, f"two proposals have the zxid {entry.zxid:#x}")

    def committed(self, id_: int, entry: Entry, quorums: Quorums) -> None:
        book = self.book(id_)
        index = bisect_right(self._zxids, book.applied_zxid)
        self._deliver(id_, index, entry, quorums)
        book.applied_zxid = entry.zxid

    def applied(self, id_: int, digest: int, owners: set[int], sessions: Iterable[int]) -> None:
        """The tree of a server has come to what it committed last."""
        orphans = owners.difference(sessions)
        require(not orphans, f"{id_} has ephemerals of {orphans}, which are no sessions")
        if not self.book(id_).is_fuzzy:
            self._compare_trees(id_, digest)

    def serves(self, id_: int, effect: fx.Serve, quorums: Quorums, digest: int) -> None:
        """The whole tree of a server becomes visible: all of it counts as delivered."""
        book = self.book(id_)
        book.is_fuzzy = False
        if effect.state is ServerState.LEADING:
            self._establish(id_, effect.epoch, quorums)
        first = bisect_right(self._zxids, book.base_zxid)
        shown = [it for it in book.log if book.base_zxid < it.zxid <= book.applied_zxid]
        for index, entry in enumerate(shown, first):
            self._deliver(id_, index, entry, quorums)
        if effect.state is ServerState.LEADING:
            older = [zxid for zxid in self._zxids if epoch_of(zxid) < effect.epoch]
            has_all = not older or older[-1] <= book.applied_zxid
            require(has_all, f"the leader {id_} lacks what was delivered")
        if book.applied_zxid:
            self._compare_trees(id_, digest)

    def _establish(self, id_: int, epoch: int, quorums: Quorums) -> None:
        other = self.leaders.setdefault(epoch, id_)
        require(other == id_, f"{other} and {id_} lead in epoch {epoch}")
        current = fx.EpochFile.CURRENT
        entered = [it.id for it in self.books.values() if it.epochs.get(current, -1) >= epoch]
        self._require_quorum(quorums, entered, f"epoch {epoch} is established")

    def _deliver(self, id_: int, index: int, entry: Entry, quorums: Quorums) -> None:
        delivered = self.delivered
        if index < len(delivered):
            zxid = delivered[index].zxid
            require(delivered[index] == entry, f"{id_} has {entry.zxid:#x} in place of {zxid:#x}")
            return
        require(self._proposals.get(entry.zxid) == entry.data, "what was never proposed")
        last_zxid = delivered[-1].zxid if delivered else 0
        is_next = entry.zxid > last_zxid and follows(entry.zxid, last_zxid)
        require(is_next, f"{entry.zxid:#x} is delivered after {last_zxid:#x}")
        holders = [it.id for it in self.books.values() if it.holds(entry.zxid)]
        self._require_quorum(quorums, holders, f"{entry.zxid:#x} is delivered")
        delivered.append(entry)
        self._zxids.append(entry.zxid)

    def _compare_trees(self, id_: int, digest: int) -> None:
        zxid = self.book(id_).applied_zxid
        index = bisect_right(self._zxids, zxid)
        zxid = self._zxids[index - 1] if index else 0
        other = self._digests.setdefault(zxid, digest)
        require(other == digest, f"the tree of {id_} differs from another at {zxid:#x}")

    def _require_quorum(self, quorums: Quorums, ids: list[int], what: str) -> None:
        require(quorums.has_quorum(ids), f"{what} with only {ids} on disk")
