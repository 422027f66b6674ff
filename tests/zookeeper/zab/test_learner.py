"""Followers and observers, spoken to as a leader would: the original's own conversations."""

from __future__ import annotations

import pytest

from odradek.zookeeper.wire.codes import Op, PacketType
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.wire.quorum import ForwardedRequest
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.effects import Commit, Log, Revalidated
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.packets import packet
from odradek.zookeeper.zab.window import Entry
from tests.zookeeper.wire.golden import golden_bytes
from tests.zookeeper.zab.conversation import (
    TIMING,
    Conversation,
    commit,
    fresh,
    proposal,
)
from tests.zookeeper.zab.ensemble import membership

E1 = 1 << 32
NEWLEADER = packet(PacketType.NEWLEADER, E1, b"version=0")
UPTODATE = packet(PacketType.UPTODATE, -1)


def following(history: History | None = None) -> Conversation:
    """A follower that accepted epoch 1 and waits for DIFF, TRUNC or SNAP."""
    talk = Conversation(1, history or fresh())
    talk.follow()
    talk.peer.connected(1, talk.now_ms)
    talk.say(1, packets.leader_info(1))
    talk.written()
    return talk


def serving(history: History | None = None) -> Conversation:
    """A follower that serves, after an empty DIFF."""
    talk = following(history)
    talk.say(1, packet(PacketType.DIFF, talk.history.last_zxid), NEWLEADER)
    talk.written()
    talk.say(1, UPTODATE)
    return talk


def sent_bytes(talk: Conversation) -> list[str]:
    return [it.encode().hex() for it in talk.sent]


def test_a_follower_s_words_are_the_original_s_to_the_byte() -> None:
    talk = serving()
    talk.say(1, packet(PacketType.PING, E1))
    data = golden_bytes("PROPOSAL data")
    talk.say(1, packet(PacketType.PROPOSAL, E1 + 1, data))
    talk.written()
    expected = [
        # FOLLOWERINFO: accepted epoch 0, LearnerInfo(sid 1, 0x10000, config version 0), no ids.
        "0000000b 0000000000000000 00000014 0000000000000001 00010000 0000000000000000 ffffffff",
        "00000012 0000000000000000 00000004 00000000 ffffffff",  # ACKEPOCH, current epoch 0.
        "00000003 0000000100000000 ffffffff ffffffff",  # ACK of NEWLEADER.
        "00000003 0000000100000000 ffffffff ffffffff",  # ACK of UPTODATE.
        "00000005 0000000100000000 00000000 ffffffff",  # PING without sessions.
        "00000003 0000000100000001 ffffffff ffffffff",
    ]
    assert sent_bytes(talk) == [it.replace(" ", "") for it in expected]


def test_the_epoch_is_promised_on_disk_before_it_is_acked() -> None:
    talk = Conversation(1, fresh(accepted=2, current=1, last_zxid=E1 + 5))
    assert talk.follow() == ["connect 1 to 3"]
    talk.peer.connected(1, talk.now_ms)
    assert talk.take() == ["send 1 FOLLOWERINFO 0x200000000"]
    assert talk.say(1, packets.leader_info(3)) == ["write acceptedEpoch 3"]
    assert talk.written() == ["send 1 ACKEPOCH 0x100000005"]
    assert talk.sent[-1].data == b"\0\0\0\1"


def test_an_epoch_that_was_accepted_before_is_not_acked_again() -> None:
    talk = Conversation(1, fresh(accepted=2, current=1))
    talk.follow()
    talk.peer.connected(1, talk.now_ms)
    assert talk.say(1, packets.leader_info(2))[-1] == "send 1 ACKEPOCH 0x0"
    assert talk.sent[-1].data == b"\xff\xff\xff\xff"


def test_a_leader_of_an_older_epoch_is_left() -> None:
    talk = Conversation(1, fresh(accepted=5))
    talk.follow()
    talk.peer.connected(1, talk.now_ms)
    talk.take()
    left = talk.say(1, packets.leader_info(4))
    assert left == ["close 1", "retire: epoch 4 is older than one that was accepted"]


def test_a_diff_is_logged_then_the_epoch_then_newleader_is_acked() -> None:
    talk = following()
    diff = [packet(PacketType.DIFF, 2), proposal(1), commit(1), proposal(2), commit(2)]
    assert talk.say(1, *diff) == ["log 0x1", "log 0x2"]
    assert talk.say(1, NEWLEADER) == ["write currentEpoch 1"]
    assert talk.written() == ["send 1 ACK 0x100000000"]
    assert talk.say(1, UPTODATE) == [
        "send 1 ACK 0x100000000",
        "commit 0x1",
        "commit 0x2",
        "serve FOLLOWING 0x2",
    ]


def test_newleader_is_acked_only_when_all_before_it_is_durable() -> None:
    talk = following()
    talk.say(1, packet(PacketType.DIFF, 1), proposal(1), commit(1), NEWLEADER)
    for mark in range(talk.history.durable_mark + 1, talk.history.mark):
        talk.peer.durable(mark, talk.now_ms)
        assert talk.take() == []
    assert talk.written() == ["send 1 ACK 0x100000000"]


def test_a_snapshot_is_installed_before_newleader_is_acked() -> None:
    talk = following()
    assert talk.say(1, packet(PacketType.SNAP, 7)) == []
    talk.peer.snapshot_received(1, talk.now_ms)
    assert talk.take() == ["install 0x7"]
    snapshot_mark = talk.history.mark
    assert talk.say(1, proposal(8), commit(8), NEWLEADER) == ["log 0x8", "write currentEpoch 1"]
    talk.peer.durable(snapshot_mark, talk.now_ms)
    assert talk.take() == []
    assert talk.written() == ["send 1 ACK 0x100000000"]
    assert talk.say(1, UPTODATE)[1:] == ["commit 0x8", "serve FOLLOWING 0x8"]


def test_what_a_snapshot_has_already_is_not_logged_again() -> None:
    talk = following()
    talk.say(1, packet(PacketType.SNAP, 7))
    talk.peer.snapshot_received(1, talk.now_ms)
    queued = [proposal(6), commit(6), proposal(7), commit(7), proposal(8), commit(8)]
    assert talk.say(1, *queued) == ["install 0x7", "log 0x8"]


def test_a_log_that_is_ahead_is_truncated_and_goes_on_with_the_leader_s_entries() -> None:
    talk = following(fresh(0, 0, 9, 7, 8, 9))
    took = talk.say(1, packet(PacketType.TRUNC, 7), proposal(8), commit(8), NEWLEADER)
    assert took == ["truncate 0x7", "log 0x8", "write currentEpoch 1"]
    assert [it.zxid for it in talk.history.known()] == [7, 8]


def test_a_truncation_to_what_was_never_reached_is_refused() -> None:
    talk = following(fresh(0, 0, 9))
    assert talk.say(1, packet(PacketType.TRUNC, 10))[0] == "close 1"


def test_what_was_logged_and_never_committed_is_committed_by_a_diff() -> None:
    talk = serving()
    talk.say(1, proposal(E1 + 1), proposal(E1 + 2))
    talk.written()
    talk.peer.closed(1, talk.now_ms)
    talk.take()
    talk.follow()
    talk.peer.connected(2, talk.now_ms)
    talk.say(2, packets.leader_info(2))
    talk.written()
    talk.say(2, packet(PacketType.DIFF, E1 + 2), packet(PacketType.NEWLEADER, 2 * E1, b""))
    talk.written()
    assert talk.say(2, UPTODATE)[1:] == [
        "commit 0x100000001",
        "commit 0x100000002",
        "serve FOLLOWING 0x100000002",
    ]


def test_a_proposal_is_acked_once_it_is_durable_and_committed_when_told() -> None:
    talk = serving()
    assert talk.say(1, proposal(E1 + 1), proposal(E1 + 2)) == ["log 0x100000001", "log 0x100000002"]
    talk.peer.durable(talk.history.mark - 1, talk.now_ms)
    assert talk.take() == ["send 1 ACK 0x100000001"]
    assert talk.say(1, commit(E1 + 1)) == ["commit 0x100000001"]
    assert talk.written() == ["send 1 ACK 0x100000002"]


def test_a_commit_may_come_before_our_own_disk_is_done() -> None:
    talk = serving()
    assert talk.say(1, proposal(E1 + 1), commit(E1 + 1)) == [
        "log 0x100000001",
        "commit 0x100000001",
    ]


def test_proposals_that_come_while_synchronising_are_acked_after_uptodate() -> None:
    talk = following()
    talk.say(1, packet(PacketType.DIFF, 0), proposal(E1 + 1), NEWLEADER, proposal(E1 + 2))
    assert talk.written() == ["send 1 ACK 0x100000000"]
    assert talk.say(1, commit(E1 + 1), UPTODATE) == [
        "send 1 ACK 0x100000000",
        "commit 0x100000001",
        "serve FOLLOWING 0x100000001",
        "send 1 ACK 0x100000002",
    ]


@pytest.mark.parametrize(
    "broken",
    [
        [proposal(E1 + 2)],  # One is missing.
        [proposal(E1 + 1), commit(E1 + 2)],
        [commit(E1 + 1)],
        [proposal(E1 + 1), proposal(E1 + 1)],
        [packet(PacketType.PROPOSAL, E1 + 1)],
        [UPTODATE],
        [packet(PacketType.INFORM, E1 + 1, b"x")],
    ],
)
def test_a_leader_that_leaves_something_out_or_mixes_it_up_is_left(
    broken: list[QuorumPacket],
) -> None:
    took = serving().say(1, *broken)
    assert took[-2] == "close 1"
    assert took[-1].startswith("retire: ")


def test_a_follower_looks_again_when_its_leader_is_silent() -> None:
    talk = serving()
    assert talk.wait(TIMING.sync_ms) == []
    assert talk.wait(1) == ["close 1", "retire: leader 3 is silent"]


def test_a_leader_that_is_not_there_yet_is_tried_a_few_times() -> None:
    talk = Conversation(1, fresh())
    assert talk.follow() == ["connect 1 to 3"]
    tries = 1
    while True:
        if tries % 2:  # It makes no difference whether the port is closed or nobody is behind it.
            talk.peer.connected(tries, talk.now_ms)
            assert talk.take() == [f"send {tries} FOLLOWERINFO 0x0"]
        talk.peer.closed(tries, talk.now_ms)
        took = talk.wait(TIMING.connect_retry_ms)
        if took != [f"connect {tries + 1} to 3"]:
            break
        tries += 1
    assert tries == TIMING.connect_tries
    assert took == ["retire: the connection to leader 3 is gone"]


def test_touched_sessions_go_with_the_answer_to_a_ping_once() -> None:
    talk = serving()
    talk.peer.touch(0x11, 4000)
    talk.peer.touch(0x12, 6000)
    talk.peer.touch(0x11, 5000)
    ping = packet(PacketType.PING, E1 + 3)
    assert talk.say(1, ping, ping) == ["send 1 PING 0x100000003"] * 2
    touches = "000000000000001100001388000000000000001200001770"
    assert [it.data for it in talk.sent[-2:]] == [bytes.fromhex(touches), b""]


def test_pings_are_not_answered_before_uptodate() -> None:
    talk = following()
    talk.say(1, packet(PacketType.DIFF, 0), NEWLEADER)
    assert talk.say(1, packet(PacketType.PING, E1)) == []


def test_requests_syncs_and_sessions_go_to_the_leader() -> None:
    talk = serving()
    talk.peer.forward(ForwardedRequest(0x77, 5, Op.CREATE, b"body"), [Id("ip", "10.0.0.1")])
    talk.peer.revalidate(0x77, 9000)
    assert talk.take() == ["send 1 REQUEST -0x1", "send 1 REVALIDATE -0x1"]
    assert talk.sent[-2].data == bytes.fromhex("00000000000000770000000500000001") + b"body"
    assert talk.sent[-2].authinfo == [Id("ip", "10.0.0.1")]
    assert talk.sent[-1].data == bytes.fromhex("000000000000007700002328")
    talk.peer.receive(1, [packets.verdict(0x77, True), packet(PacketType.SYNC, 0)], talk.now_ms)
    effects = talk.peer.take_effects()
    assert effects[0] == Revalidated(0x77, True)
    assert type(effects[1]).__name__ == "Synced"


def test_an_observer_logs_and_commits_what_it_is_told_of() -> None:
    talk = Conversation(4, fresh(), membership(3, observers=1))
    talk.follow()
    talk.peer.connected(1, talk.now_ms)
    assert talk.take()[-1] == "send 1 OBSERVERINFO 0x0"
    talk.say(1, packets.leader_info(1))
    talk.written()
    talk.say(1, packet(PacketType.DIFF, 1), proposal(1), commit(1), NEWLEADER)
    talk.written()
    assert talk.say(1, UPTODATE)[1:] == ["commit 0x1", "serve OBSERVING 0x1"]
    inform = packet(PacketType.INFORM, E1 + 1, b"x")
    talk.peer.receive(1, [inform], talk.now_ms)
    effects = talk.peer.take_effects()
    assert effects == [Log(talk.history.mark, [Entry(E1 + 1, b"x")]), Commit([Entry(E1 + 1, b"x")])]
    assert talk.written() == []  # Nobody waits for its disk.
    assert talk.say(1, proposal(E1 + 2))[0] == "close 1"


def test_packets_of_a_link_that_is_gone_change_nothing() -> None:
    talk = serving()
    talk.peer.closed(1, talk.now_ms)
    talk.take()
    assert talk.say(1, proposal(E1 + 1)) == []
    assert not talk.history.tail
