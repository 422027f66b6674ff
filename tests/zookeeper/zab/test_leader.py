"""The leader, spoken to as learners would: discovery, synchronisation, broadcast, and its end."""

from __future__ import annotations

import pytest

from odradek.zookeeper.wire.codes import Op, PacketType
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.quorum import QuorumPacket, SessionTouch
from odradek.zookeeper.wire.quorum import ForwardedRequest, encode_touches
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.effects import Decide, Revalidate, TouchSessions
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.packets import packet
from tests.zookeeper.zab.conversation import TIMING, Conversation, entry, fresh
from tests.zookeeper.zab.ensemble import membership

E1 = 1 << 32
E2 = 2 << 32


def ack(zxid: int) -> QuorumPacket:
    return packet(PacketType.ACK, zxid)


def leading(history: History | None = None, voters: int = 3, observers: int = 0) -> Conversation:
    """The leader of an ensemble, with nobody there yet."""
    talk = Conversation(3, history or fresh(), membership(voters, observers))
    assert talk.lead() == []
    return talk


def join(talk: Conversation, server_id: int, zxid: int = 0, *, observes: bool = False) -> int:
    """Come as a learner, up to the ack of NEWLEADER, whatever the way of synchronisation."""
    link = talk.arrive(server_id, observes=observes)
    talk.written()
    talk.say(link, packets.epoch_ack(zxid, 0))
    talk.peer.log_read(link, None, talk.now_ms)
    talk.written()
    talk.say(link, ack(first(talk)))
    talk.written()
    return link


def first(talk: Conversation) -> int:
    assert talk.peer.leader
    return talk.peer.leader.epoch << 32


def established(observers: int = 0) -> Conversation:
    """Leader 3 in epoch 1, with follower 1 on link 1."""
    talk = leading(observers=observers)
    assert join(talk, 1) == 1
    assert talk.peer.is_serving
    return talk


def propose(talk: Conversation, zxid: int) -> list[str]:
    talk.peer.propose(zxid, entry(zxid).data, talk.now_ms)
    return talk.take()


def test_the_epoch_is_newer_than_all_that_a_quorum_accepted() -> None:
    talk = leading(fresh(accepted=4, current=1))
    link = talk.arrive(1, accepted_epoch=7)
    assert talk.take() == ["write acceptedEpoch 8"]
    assert talk.written() == [f"send {link} LEADERINFO 0x800000000"]
    assert talk.sent[-1].encode().hex() == "0000001100000008000000000000000400010000ffffffff"


def test_observers_do_not_help_to_a_quorum() -> None:
    talk = leading(observers=2)
    talk.arrive(4, observes=True)
    talk.arrive(5, observes=True)
    assert talk.take() == []
    talk.arrive(2)
    assert talk.take() == ["write acceptedEpoch 1"]


def test_the_history_is_sent_once_a_quorum_has_accepted_the_epoch() -> None:
    talk = leading(voters=5)
    links = [talk.arrive(1), talk.arrive(2)]
    talk.written()
    assert talk.say(links[0], packets.epoch_ack(0, 0)) == []
    assert talk.say(links[1], packets.epoch_ack(0, 0)) == [
        "write currentEpoch 1",
        "send 1 DIFF 0x0",
        "send 1 NEWLEADER 0x100000000",
        "send 2 DIFF 0x0",
        "send 2 NEWLEADER 0x100000000",
    ]
    assert talk.sent[-1].data == membership(5).text.encode()


def test_an_epoch_that_a_follower_accepted_before_is_not_counted_again() -> None:
    talk = leading()
    link = talk.arrive(1)
    talk.written()
    assert talk.say(link, packets.epoch_ack(0, -1)) == []


def test_a_follower_that_is_ahead_is_turned_away() -> None:
    talk = leading(fresh(1, 1, E1 + 5))
    for current, zxid in ((1, E1 + 6), (2, E1)):
        link = talk.arrive(1, 1)
        talk.written()
        assert talk.say(link, packets.epoch_ack(zxid, current)) == [f"close {link}"]
    assert talk.peer.leader


def test_a_follower_with_a_later_configuration_is_turned_away() -> None:
    talk = leading()
    link = talk.peer.accept(talk.now_ms)
    assert link
    info = packets.learner_info(PacketType.FOLLOWERINFO, 0, 1, config_version=5)
    assert talk.say(link, info) == [f"close {link}"]


def test_it_serves_when_a_quorum_and_its_own_disk_hold_the_history() -> None:
    talk = leading()
    link = talk.arrive(1)
    talk.written()
    talk.say(link, packets.epoch_ack(0, 0))
    assert talk.say(link, ack(E1)) == []  # Our own epoch is not on disk yet.
    assert talk.written() == ["serve LEADING 0x100000000", f"send {link} UPTODATE -0x1"]


def test_an_ack_of_another_epoch_does_not_count() -> None:
    talk = leading()
    link = talk.arrive(1)
    talk.written()
    talk.say(link, packets.epoch_ack(0, 0))
    talk.written()
    talk.say(link, ack(E2))
    assert not talk.peer.is_serving


def test_what_it_brings_along_is_committed_when_it_serves() -> None:
    talk = Conversation(3, fresh())
    talk.follow(leader=2)
    talk.peer.connected(1, talk.now_ms)
    talk.say(1, packets.leader_info(1))
    talk.written()
    talk.say(1, packet(PacketType.DIFF, 0), packet(PacketType.NEWLEADER, E1, b""))
    talk.written()
    talk.say(1, packet(PacketType.UPTODATE, -1), packet(PacketType.PROPOSAL, E1 + 1, b"x"))
    talk.written()
    talk.peer.closed(1, talk.now_ms)
    talk.lead()
    talk.take()
    link = talk.arrive(1, 1)
    talk.written()
    assert talk.say(link, packets.epoch_ack(0, 1))[1:] == [
        f"read log {link} 0x0",
    ]
    talk.peer.log_read(link, None, talk.now_ms)
    assert talk.take() == [
        f"send {link} SNAP 0x0",
        f"snapshot {link} 0x0",
        f"send {link} PROPOSAL 0x100000001",
        f"send {link} COMMIT 0x100000001",
        f"send {link} NEWLEADER 0x200000000",
    ]
    talk.say(link, ack(E2))
    assert talk.written()[:2] == ["commit 0x100000001", "serve LEADING 0x200000000"]


def test_a_late_learner_gets_the_difference_and_what_is_outstanding() -> None:
    talk = established(observers=1)
    for zxid in (E1 + 1, E1 + 2):
        propose(talk, zxid)
        talk.written()
        talk.say(1, ack(zxid))
    propose(talk, E1 + 3)
    link = talk.arrive(2)
    assert talk.take() == [f"send {link} LEADERINFO 0x100000000"]
    assert talk.say(link, packets.epoch_ack(E1 + 1, 0)) == [
        f"send {link} DIFF 0x100000002",
        f"send {link} PROPOSAL 0x100000002",
        f"send {link} COMMIT 0x100000002",
        f"send {link} PROPOSAL 0x100000003",
        f"send {link} NEWLEADER 0x100000000",
    ]
    assert talk.say(link, ack(E1)) == [f"send {link} UPTODATE -0x1"]
    observer = talk.arrive(4, observes=True)
    talk.take()
    assert talk.say(observer, packets.epoch_ack(E1 + 2, 0)) == [
        f"send {observer} DIFF 0x100000002",  # What is outstanding is not for observers.
        f"send {observer} NEWLEADER 0x100000000",
    ]


def test_a_learner_behind_the_window_is_served_from_the_log_or_by_a_snapshot() -> None:
    for logged, opening in (
        ([entry(1), entry(2), entry(3)], "DIFF 0x3"),
        ([entry(2), entry(3)], "SNAP 0x100000000"),
        (None, "SNAP 0x100000000"),
    ):
        talk = leading(fresh(0, 0, 3, 3))
        join(talk, 1, 3)
        assert talk.peer.is_serving
        link = talk.arrive(2)
        talk.take()
        assert talk.say(link, packets.epoch_ack(1, 0)) == [f"read log {link} 0x1"]
        talk.peer.log_read(link, logged, talk.now_ms)
        assert talk.take()[0] == f"send {link} {opening}"


def test_a_proposal_leaves_at_once_and_commits_with_a_quorum_on_disk() -> None:
    talk = established()
    assert propose(talk, E1 + 1) == ["log 0x100000001", "send 1 PROPOSAL 0x100000001"]
    assert talk.say(1, ack(E1 + 1)) == []
    assert talk.written() == ["commit 0x100000001", "send 1 COMMIT 0x100000001"]


def test_it_can_commit_before_its_own_disk_is_done() -> None:
    talk = established()
    join(talk, 2)
    propose(talk, E1 + 1)
    assert talk.say(1, ack(E1 + 1)) == []
    assert talk.say(2, ack(E1 + 1)) == ["commit 0x100000001", "send 1,2 COMMIT 0x100000001"]


def test_whoever_leaves_an_ack_out_is_not_believed() -> None:
    talk = established()
    join(talk, 2)
    propose(talk, E1 + 1)
    propose(talk, E1 + 2)
    talk.say(1, ack(E1 + 2))
    assert talk.say(2, ack(E1 + 2)) == []
    talk.say(1, ack(E1 + 1), ack(E1 + 2))
    assert talk.say(2, ack(E1 + 1))[0] == "commit 0x100000001"
    assert talk.say(2, ack(E1 + 2))[0] == "commit 0x100000002"


def test_acks_that_come_together_are_counted_as_one() -> None:
    talk = established()
    join(talk, 2)
    for number in (1, 2, 3):
        propose(talk, E1 + number)
    assert talk.say_at_once(1, ack(E1 + 1), ack(E1 + 2), ack(E1 + 3)) == []
    assert talk.say_at_once(2, ack(E1 + 1), ack(E1 + 3)) == [
        "commit 0x100000001",
        "send 1,2 COMMIT 0x100000001",
    ]
    assert [it for it in talk.say_at_once(2, ack(E1 + 2), ack(E1 + 3)) if "commit" in it] == [
        "commit 0x100000002",
        "commit 0x100000003",
    ]


def test_acks_of_observers_strangers_and_old_proposals_do_not_count() -> None:
    talk = established(observers=1)
    observer = join(talk, 4, observes=True)
    stranger = join(talk, 9)
    propose(talk, E1 + 1)
    talk.written()
    assert talk.say(observer, ack(E1 + 1)) == []
    assert talk.say(stranger, ack(E1 + 1)) == []
    assert talk.say(1, ack(E1), ack(E1 + 7)) == []
    assert talk.say(1, ack(E1 + 1)) == [
        "commit 0x100000001",
        f"send 1,{stranger} COMMIT 0x100000001",
        f"send {observer} INFORM 0x100000001",
    ]
    assert talk.say(1, ack(E1 + 1)) == []


def test_who_synchronises_anew_must_ack_anew() -> None:
    """Its log is truncated to what is committed, so its old ack says nothing any more."""
    talk = established()
    join(talk, 2)
    propose(talk, E1 + 1)
    talk.say(2, ack(E1 + 1))
    again = talk.arrive(2)
    assert talk.take() == ["close 2", f"send {again} LEADERINFO 0x100000000"]
    assert talk.say(again, packets.epoch_ack(E1 + 1, 0)) == [
        f"send {again} TRUNC 0x100000000",
        f"send {again} PROPOSAL 0x100000001",
        f"send {again} NEWLEADER 0x100000000",
    ]
    assert talk.say(1, ack(E1 + 1)) == []
    assert talk.written()[0] == "commit 0x100000001"


def test_a_sync_is_answered_behind_what_was_proposed_before_it() -> None:
    talk = established()
    talk.peer.sync(1)
    talk.peer.sync(None)
    assert talk.take() == ["send 1 SYNC 0x0", "Synced"]
    propose(talk, E1 + 1)
    talk.peer.sync(1)
    talk.peer.sync(None)
    propose(talk, E1 + 2)
    assert talk.peer.leader and talk.peer.leader.pending_sync_count == 2
    talk.written()
    assert talk.say(1, ack(E1 + 1)) == [
        "commit 0x100000001",
        "Synced",
        "send 1 COMMIT 0x100000001",
        "send 1 SYNC 0x0",
    ]


def test_a_sync_is_answered_before_what_was_proposed_after_it_though_both_commit_at_once() -> None:
    talk = established()
    join(talk, 2)
    propose(talk, E1 + 1)
    talk.peer.sync(None)
    talk.peer.sync(1)
    propose(talk, E1 + 2)
    talk.say(1, ack(E1 + 1), ack(E1 + 2))
    told = talk.say_at_once(2, ack(E1 + 1), ack(E1 + 2))
    assert told[:3] == ["commit 0x100000001", "Synced", "commit 0x100000002"]
    assert told.index("send 1 SYNC 0x0") < told.index("send 1,2 COMMIT 0x100000002")


def test_learners_requests_sessions_and_touches_are_handed_on() -> None:
    talk = established()
    request = ForwardedRequest(0x77, 3, Op.CREATE, b"body")
    touch = SessionTouch(0x77, 4000)
    for said in (
        packets.forwarded(request, [Id("ip", "::1")]),
        packets.revalidate(0x77, 4000),
        packet(PacketType.PING, E1, encode_touches([touch])),
        packet(PacketType.PING, E1, b""),
    ):
        talk.peer.receive(1, [said], talk.now_ms)
    assert talk.peer.take_effects() == [
        Decide(1, 1, request, (Id("ip", "::1"),)),
        Revalidate(1, 1, touch),
        TouchSessions([touch]),
    ]
    talk.peer.revalidated(1, 0x77, True)
    assert talk.take() == ["send 1 REVALIDATE -0x1"]
    assert talk.sent[-1].data == bytes.fromhex("000000000000007701")


def test_learners_are_pinged_twice_a_tick_with_the_last_proposal() -> None:
    talk = established()
    propose(talk, E1 + 1)
    assert talk.wait(TIMING.tick_ms // 2) == ["send 1 PING 0x100000001"]
    assert talk.wait(1) == []
    assert talk.wait(TIMING.tick_ms // 2 - 1) == ["send 1 PING 0x100000001"]


def test_it_steps_down_when_it_no_longer_hears_from_a_quorum() -> None:
    talk = established()
    for _ in range(TIMING.sync_limit):
        talk.wait(TIMING.tick_ms)
    assert talk.peer.leader
    assert talk.wait(TIMING.tick_ms)[-1] == "retire: it no longer hears from a quorum"
    assert talk.peer.leader is None


def test_it_stays_as_long_as_its_learners_answer() -> None:
    talk = established()
    for _ in range(10 * TIMING.sync_limit):
        talk.wait(TIMING.tick_ms)
        talk.say(1, packet(PacketType.PING, E1, b""))
    assert talk.peer.leader


def test_a_learner_that_answers_but_never_acks_is_left() -> None:
    talk = established()
    propose(talk, E1 + 1)
    talk.wait(0)  # It is noticed with the next tick of ours, of which there are many in one.
    took: list[str] = []
    for _ in range(TIMING.sync_limit):
        took = talk.wait(TIMING.tick_ms)
        talk.say(1, packet(PacketType.PING, E1, b""))
    assert "close 1" in took


def test_what_was_proposed_before_a_learner_served_need_not_be_acked() -> None:
    talk = established()
    propose(talk, E1 + 1)
    talk.written()
    talk.say(1, ack(E1 + 1))
    late = join(talk, 2)
    for _ in range(2 * TIMING.sync_limit):
        assert f"close {late}" not in talk.wait(TIMING.tick_ms)
        for link in (1, late):
            talk.say(link, packet(PacketType.PING, E1, b""))
    assert talk.peer.leader and late in talk.peer.leader.handlers


def test_it_gives_up_when_no_quorum_comes_in_time() -> None:
    talk = leading()
    talk.wait(TIMING.init_ms - TIMING.finalize_ms - 1)
    link = talk.arrive(1)
    assert talk.take() == ["write acceptedEpoch 1"]
    talk.written()
    assert talk.wait(TIMING.init_ms - 1) == []  # Each phase has its own time.
    assert talk.wait(1) == [
        f"close {link}",
        "retire: no quorum came through discovery in time",
    ]


def test_it_gives_up_when_nobody_comes() -> None:
    took = leading().wait(TIMING.init_ms)
    assert took == ["retire: no quorum came through discovery in time"]


def test_a_follower_that_promised_a_newer_epoch_makes_it_begin_one() -> None:
    talk = established()
    link = talk.arrive(2, accepted_epoch=5)
    assert talk.take() == [
        "close 1",
        f"close {link}",
        "retire: server 2 has accepted a newer epoch",
    ]


def test_an_epoch_ends_with_its_last_zxid() -> None:
    talk = established()
    assert talk.peer.leader and talk.peer.leader._broadcast
    talk.peer.leader._broadcast.last_proposed = E2 - 2
    assert propose(talk, E2 - 1)[-1] == "retire: no zxid is left in this epoch"


@pytest.mark.parametrize(
    "said",
    [
        packet(PacketType.ACKEPOCH, 0, b"\0\0\0\0"),
        packet(PacketType.FOLLOWERINFO, 0),
        packet(PacketType.FOLLOWERINFO, 0, b"\0" * 8),
        packet(PacketType.FOLLOWERINFO, 0, b"\0" * 7 + b"\1" + b"\0" * 4),
    ],
)
def test_who_does_not_say_who_he_is_is_turned_away(said: QuorumPacket) -> None:
    talk = leading()
    link = talk.peer.accept(talk.now_ms)
    assert link
    assert talk.say(link, said) == [f"close {link}"]


def test_a_learner_that_speaks_out_of_turn_is_left_and_the_others_stay() -> None:
    talk = established()
    link = talk.arrive(2)
    talk.take()
    assert talk.say(link, ack(E1)) == [f"close {link}"]
    assert talk.say(1, packet(PacketType.COMMIT, E1)) == ["close 1"]
    assert talk.peer.leader


def test_who_does_not_lead_takes_no_learners() -> None:
    talk = Conversation(1, fresh())
    assert talk.peer.accept(talk.now_ms) is None


def test_what_the_shell_brings_after_the_role_has_ended_is_not_taken() -> None:
    talk = established()
    talk.peer.closed(1, talk.now_ms)
    talk.wait(TIMING.init_ms)
    assert talk.peer.leader is None
    assert propose(talk, E1 + 1) == []
    talk.peer.sync(1)
    talk.peer.forward(ForwardedRequest(0x77, 1, Op.SYNC, b""), ())
    talk.peer.revalidate(0x77, 4000)
    talk.peer.revalidated(1, 0x77, True)
    assert talk.take() == []
    assert talk.history.last_zxid == 0


def test_a_leader_that_slept_past_its_time_is_not_established() -> None:
    talk = leading()
    link = talk.arrive(1)
    talk.written()
    talk.say(link, packets.epoch_ack(0, 0))
    talk.written()
    talk.now_ms += TIMING.init_ms
    assert talk.say(link, ack(E1)) == []
    assert talk.wait(0)[-1] == "retire: no quorum came through synchronization in time"
