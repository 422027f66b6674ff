"""Whatever a peer sends, it loses its connection at worst: nothing is raised, no rule is bent."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.zookeeper.wire.codes import PacketType, ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.zab import effects as fx
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.packets import packet
from tests.zookeeper.zab.conversation import Conversation, fresh
from tests.zookeeper.zab.ensemble import membership
from tests.zookeeper.zab.singles import singles

E1 = 1 << 32
ZXIDS = st.sampled_from(
    [-(1 << 63), -1, 0, 1, 2, E1, E1 + 1, E1 + 2, E1 + 3, 2 * E1, (1 << 63) - 1]
)
DATA = st.one_of(st.none(), st.binary(max_size=24), st.just(b"\0\0\0\1"), st.just(b"\0" * 20))
TYPES = st.one_of(st.sampled_from(PacketType), st.integers(-1, 30))
PACKETS = st.builds(
    lambda type_, zxid, data: QuorumPacket(type_, zxid, data, None), TYPES, ZXIDS, DATA
)
SENSIBLE = st.sampled_from(
    [
        packets.leader_info(1),
        packet(PacketType.DIFF, 0),
        packet(PacketType.SNAP, E1),
        packet(PacketType.PROPOSAL, E1 + 1, b"x"),
        packet(PacketType.COMMIT, E1 + 1),
        packet(PacketType.INFORM, E1 + 1, b"x"),
        packet(PacketType.NEWLEADER, E1, b""),
        packet(PacketType.UPTODATE, -1),
        packets.learner_info(PacketType.FOLLOWERINFO, 0, 1, 0),
        packets.learner_info(PacketType.OBSERVERINFO, 0, 4, 0),
        packets.epoch_ack(0, 0),
        packet(PacketType.ACK, E1),
        packet(PacketType.ACK, E1 + 1),
    ]
)
STREAM = st.lists(st.one_of(SENSIBLE, SENSIBLE, PACKETS), max_size=25)
VOTES = st.builds(
    Notification,
    st.sampled_from(ServerState),
    st.sampled_from([-1, 1, 2, 3, 4]),
    ZXIDS,
    st.integers(-1, 3),
    st.integers(-1, 2),
)


def check(talk: Conversation) -> None:
    """Nothing that was asked for contradicts itself."""
    logged = applied = -1
    for effect in singles(talk.peer.take_effects()):
        match effect:
            case fx.Log():
                assert effect.entries[0].zxid > logged
                logged = effect.entries[0].zxid
            case fx.Truncate() | fx.InstallSnapshot():
                assert effect.zxid >= 0
                logged = effect.zxid
            case fx.Commit():
                assert effect.entries[0].zxid > applied
                applied = effect.entries[0].zxid
            case fx.WriteEpoch():
                assert effect.epoch > 0
    history = talk.history
    assert history.applied_zxid <= history.last_zxid
    assert history.current_epoch <= history.accepted_epoch


@settings(max_examples=300, deadline=None)
@given(STREAM, st.sampled_from([1, 4]))
def test_a_learner_survives_any_leader(stream: list[QuorumPacket], my_id: int) -> None:
    talk = Conversation(my_id, fresh(), membership(3, observers=1))
    talk.follow()
    talk.peer.connected(1, talk.now_ms)
    for each in stream:
        talk.peer.receive(1, [each], talk.now_ms)
        learner = talk.peer.learner
        if each.type == PacketType.SNAP and learner and learner.link == 1:
            talk.peer.snapshot_received(1, talk.now_ms)
        talk.peer.durable(talk.history.mark, talk.now_ms)
    check(talk)


@settings(max_examples=300, deadline=None)
@given(STREAM, STREAM)
def test_a_leader_survives_any_learner(one: list[QuorumPacket], other: list[QuorumPacket]) -> None:
    talk = Conversation(3, fresh(), membership(3, observers=1))
    talk.lead()
    links = [talk.peer.accept(talk.now_ms), talk.peer.accept(talk.now_ms)]
    for stream, link in zip((one, other), links, strict=True):
        assert link is not None
        for each in stream:
            talk.peer.receive(link, [each], talk.now_ms)
            talk.peer.durable(talk.history.mark, talk.now_ms)
            talk.peer.log_read(link, None, talk.now_ms)
    check(talk)


@given(st.lists(st.tuples(st.integers(0, 5), VOTES), max_size=25))
def test_an_election_survives_any_vote(votes: list[tuple[int, Notification]]) -> None:
    talk = Conversation(1, fresh(), membership(3, observers=1))
    for server_id, vote in votes:
        talk.peer.hear(server_id, vote, talk.now_ms)
        talk.wait(50)
    check(talk)
