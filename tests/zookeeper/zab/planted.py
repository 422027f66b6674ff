"""Known bugs of Zab, planted: a checker that does not find them is worth nothing."""

from __future__ import annotations

from collections import defaultdict

from odradek.zookeeper.wire.codes import PacketType
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.broadcast import Broadcast
from odradek.zookeeper.zab.follower import Follower
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.leader import Leader
from odradek.zookeeper.zab.peer import Peer
from odradek.zookeeper.zab.window import Entry


class HastyFollower(Follower):
    """It acks what its disk does not hold yet."""

    def _take_broadcast(self, packet: QuorumPacket) -> None:
        super()._take_broadcast(packet)
        while self._unacked:
            self._send(packets.packet(PacketType.ACK, self._unacked.popleft()[1]))


class HastyPeer(Peer):
    follower_type = HastyFollower


class TrustingFollower(Follower):
    """It acks NEWLEADER while the snapshot is still on its way to the disk."""

    def _take_newleader(self, packet: QuorumPacket, now_ms: int) -> None:
        super()._take_newleader(packet, now_ms)
        self._ack_newleader(now_ms)


class TrustingPeer(Peer):
    follower_type = TrustingFollower


class UnrulyBroadcast(Broadcast):
    """It counts the newest of its own writes first, and lets each commit for itself."""

    def __init__(self, my_id: int, history: History, first_zxid: int) -> None:
        super().__init__(my_id, history, first_zxid)
        self._holders: defaultdict[int, set[int]] = defaultdict(set)  # By zxid.

    def ack(self, server_id: int, first_zxid: int, last_zxid: int) -> list[Entry]:
        for zxid in range(first_zxid, last_zxid + 1):
            self._holders[zxid].add(server_id)
        return self._take_committed()

    def written(self, mark: int) -> list[Entry]:
        done = [it for it in self._unwritten if it[0] <= mark]
        for _ in done:
            self._unwritten.popleft()
        return [entry for _, zxid in reversed(done) for entry in self.ack(self._my_id, zxid, zxid)]

    def _take_committed(self) -> list[Entry]:
        tail, committed = self._history.tail, []
        for entry in list(tail):
            if self._configuration.quorums.has_quorum(self._holders[entry.zxid]):
                tail.remove(entry)
                del self._holders[entry.zxid]
                self._history.applied_zxid = max(self._history.applied_zxid, entry.zxid)
                self._history.effects.commit(entry)
                committed.append(entry)
        return committed


class UnrulyLeader(Leader):
    broadcast_type = UnrulyBroadcast


class UnrulyPeer(Peer):
    leader_type = UnrulyLeader
