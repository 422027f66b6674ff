"""The packets of the quorum port, made and opened.

What a packet of a peer lacks or has too much of is that peer's fault, and is said so.
"""

from __future__ import annotations

from collections.abc import Sequence

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import PacketType
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.quorum import (
    DesignatedLeader,
    EpochAck,
    LeaderInfo,
    LearnerInfo,
    QuorumPacket,
    SessionTouch,
    SessionVerdict,
)
from odradek.zookeeper.wire.quorum import PROTOCOL_VERSION, ForwardedRequest, encode_touches
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import first_zxid

NO_ZXID = -1
# Plain numbers are compared in a third of the time that members of an enumeration take.
PROPOSAL, COMMIT = int(PacketType.PROPOSAL), int(PacketType.COMMIT)
ACK, REQUEST = int(PacketType.ACK), int(PacketType.REQUEST)
LEARNER_INFO_BYTES = 20
WITHOUT_CONFIG_BYTES = 12  # Before configurations had versions.


def packet(type_: PacketType, zxid: int, data: bytes | None = None) -> QuorumPacket:
    return QuorumPacket(type_, zxid, data, None)


def learner_info(
    type_: PacketType, accepted_epoch: int, server_id: int, config_version: int
) -> QuorumPacket:
    info = LearnerInfo(server_id, PROTOCOL_VERSION, config_version)
    return packet(type_, first_zxid(accepted_epoch), info.encode())


def leader_info(epoch: int) -> QuorumPacket:
    return packet(PacketType.LEADERINFO, first_zxid(epoch), LeaderInfo(PROTOCOL_VERSION).encode())


def epoch_ack(last_zxid: int, current_epoch: int) -> QuorumPacket:
    return packet(PacketType.ACKEPOCH, last_zxid, EpochAck(current_epoch).encode())


def proposal(entry: Entry) -> QuorumPacket:
    return QuorumPacket(PROPOSAL, entry.zxid, entry.data, None)


def commit(zxid: int) -> QuorumPacket:
    return QuorumPacket(COMMIT, zxid, None, None)


def inform(entry: Entry) -> QuorumPacket:
    return packet(PacketType.INFORM, entry.zxid, entry.data)


def ack(zxid: int) -> QuorumPacket:
    return QuorumPacket(ACK, zxid, None, None)


def forwarded(request: ForwardedRequest, authinfo: Sequence[Id]) -> QuorumPacket:
    return QuorumPacket(PacketType.REQUEST, NO_ZXID, request.encode(), list(authinfo))


def revalidate(session_id: int, timeout_ms: int) -> QuorumPacket:
    return packet(PacketType.REVALIDATE, NO_ZXID, SessionTouch(session_id, timeout_ms).encode())


def verdict(session_id: int, is_valid: bool) -> QuorumPacket:
    return packet(PacketType.REVALIDATE, NO_ZXID, SessionVerdict(session_id, is_valid).encode())


def ping_answer(zxid: int, touches: list[SessionTouch]) -> QuorumPacket:
    return packet(PacketType.PING, zxid, encode_touches(touches))


def data_of(received: QuorumPacket) -> bytes:
    if received.data is None:
        raise ProtocolError(f"a packet of type {received.type} without data")
    return received.data


def read_learner_info(received: QuorumPacket) -> LearnerInfo:
    data = data_of(received)
    if len(data) == WITHOUT_CONFIG_BYTES:
        data = data.ljust(LEARNER_INFO_BYTES, b"\0")
    info = LearnerInfo.decode(data)
    if info.protocol_version < PROTOCOL_VERSION:
        raise ProtocolError(f"server {info.server_id} speaks a protocol older than Zab 1.0")
    return info


def split_activation(received: QuorumPacket) -> tuple[int, QuorumPacket]:
    """INFORMANDACTIVATE, taken apart: who leads the new membership, and an INFORM."""
    designated, start = DesignatedLeader.read(data_of(received))
    inform = packet(PacketType.INFORM, received.zxid, data_of(received)[start:])
    return designated.server_id, inform


def expect(received: QuorumPacket, *types: PacketType) -> None:
    if received.type not in types:
        names = " or ".join(it.name for it in types)
        raise ProtocolError(f"a packet of type {received.type} instead of {names}")
