"""An observer: it hears of what is committed, and has no say in it.

It logs what it hears, so that it starts from where it was, but nobody waits for its disk. Nobody
counts its promises either: the leader that a quorum follows is right, whatever its epoch.
"""

from __future__ import annotations

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import PacketType, ServerState
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.learner import Learner


class Observer(Learner):
    """A learner that does not vote."""

    info_type = PacketType.OBSERVERINFO
    state = ServerState.OBSERVING
    is_counted_on = False

    def _take_broadcast(self, packet: QuorumPacket) -> None:
        match packet.type:
            case PacketType.INFORM:
                self._take_inform(packet)
            case PacketType.INFORMANDACTIVATE:
                leader, inform = packets.split_activation(packet)
                self._take_inform(inform)
                if membership := self._configuration.proposed:
                    self._activate(membership, leader)
            case _:
                raise ProtocolError(f"an observer was sent a packet of type {packet.type}")

    def _take_inform(self, packet: QuorumPacket) -> None:
        self._take_proposal(packet)
        self._commit(packet.zxid)
        self._unacked.clear()

    def _ack_durable(self) -> None:
        """Nobody waits for it."""
