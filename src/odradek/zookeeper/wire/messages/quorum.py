"""What servers of one ensemble tell each other.

The first three are the original's own records. The rest have no name there, being written field
by field into the data of a packet, but records are what they look like.
"""

from __future__ import annotations

from odradek.zookeeper.wire.jute import Bool, Buffer, Int, Long, Record, Vector
from odradek.zookeeper.wire.messages.data import Id


class QuorumPacket(Record):
    type: Int
    zxid: Long
    data: Buffer | None
    authinfo: Vector[Id] | None


class LearnerInfo(Record):
    """FOLLOWERINFO and OBSERVERINFO: who wants to follow."""

    server_id: Long
    protocol_version: Int
    config_version: Long


class QuorumAuthPacket(Record):
    magic: Long
    status: Int
    token: Buffer | None


class LeaderInfo(Record):
    """LEADERINFO: the version of this protocol that the leader speaks."""

    protocol_version: Int


class EpochAck(Record):
    """ACKEPOCH: the learner's current epoch, or -1 if it had accepted the offered one before."""

    current_epoch: Int


class SessionTouch(Record):
    """A learner's PING repeats these, REVALIDATE asks with one: a session that was heard from."""

    session_id: Long
    time_out: Int


class SessionVerdict(Record):
    """REVALIDATE, answered: whether the leader still knows the session."""

    session_id: Long
    is_valid: Bool


class DesignatedLeader(Record):
    """COMMITANDACTIVATE, and the start of INFORMANDACTIVATE: who leads the new configuration."""

    server_id: Long


class ForwardedHeader(Record):
    """The start of a REQUEST: whose request a learner hands on. Its body follows."""

    session_id: Long
    cxid: Int
    type: Int
