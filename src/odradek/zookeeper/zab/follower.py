"""A follower: it logs what is proposed, acks it once its disk holds it, commits in order."""

from __future__ import annotations

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import PacketType, ServerState
from odradek.zookeeper.wire.messages.quorum import DesignatedLeader, QuorumPacket
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.learner import Learner

# Plain numbers are compared in a third of the time that members of an enumeration take.
PROPOSAL, COMMIT = int(PacketType.PROPOSAL), int(PacketType.COMMIT)


class Follower(Learner):
    """A learner that votes."""

    info_type = PacketType.FOLLOWERINFO
    state = ServerState.FOLLOWING

    def _take_broadcast(self, packet: QuorumPacket) -> None:
        if packet.type == PROPOSAL:
            self._take_proposal(packet)
        elif packet.type == COMMIT:
            self._commit(packet.zxid)
        elif packet.type == PacketType.COMMITANDACTIVATE:
            leader = DesignatedLeader.decode(packets.data_of(packet)).server_id
            membership = self._configuration.proposed
            self._commit(packet.zxid)
            if membership:
                self._activate(membership, leader)
        else:
            raise ProtocolError(f"the leader sent a packet of type {packet.type}")

    def _ack_durable(self) -> None:
        unacked, durable_mark, acks = self._unacked, self._history.durable_mark, []
        while unacked and unacked[0][0] <= durable_mark:
            acks.append(packets.ack(unacked.popleft()[1]))
        self._effects.send_all(self._to_leader, acks)
