"""How an ensemble changes its members: both memberships agree, then the new one is in force."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.zookeeper.wire.codes import Op, PacketType, ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.wire.messages.quorum import DesignatedLeader, QuorumPacket
from odradek.zookeeper.wire.messages.txn import SetDataTxn, TxnHeader
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.configuration import Configuration, membership_in
from odradek.zookeeper.zab.effects import Activate, Retire, Serve
from odradek.zookeeper.zab.packets import packet
from odradek.zookeeper.zab.quorum import Membership, membership_of
from tests.zookeeper.zab.checkers import Checkers
from tests.zookeeper.zab.conversation import Conversation, fresh, proposal
from tests.zookeeper.zab.ensemble import Ensemble, membership, with_roles
from tests.zookeeper.zab.test_leader import ack, established, join
from tests.zookeeper.zab.test_learner import E1, serving
from tests.zookeeper.zab.test_scenarios import leader_of, settle, start, write


def members(version: int, *voters: int, of: int = 4) -> Membership:
    """Servers 1 to 4 (or so), of which these vote and the rest observe."""
    return membership_of(with_roles(membership(of).members, voters), version=version)


def reconfig(zxid: int, new: Membership) -> bytes:
    txn = SetDataTxn("/zookeeper/config", new.text.encode(), -1)
    return TxnHeader(0, 0, zxid, 0, Op.RECONFIG).encode() + txn.encode() + b"\0" * 12  # A digest.


def reconfig_proposal(zxid: int, new: Membership) -> QuorumPacket:
    return packet(PacketType.PROPOSAL, zxid, reconfig(zxid, new))


def activation(zxid: int, leader: int) -> QuorumPacket:
    return packet(PacketType.COMMITANDACTIVATE, zxid, DesignatedLeader(leader).encode())


def test_the_members_are_read_from_the_transaction() -> None:
    new = members(E1 + 1, 1, 2, 3)
    assert membership_in(reconfig(E1 + 1, new)) == new
    assert membership_in(b"anything else") is None
    other = TxnHeader(0, 0, 1, 0, Op.SET_DATA).encode() + SetDataTxn("/a", b"", 1).encode()
    assert membership_in(other) is None


def test_while_a_membership_is_proposed_both_must_agree() -> None:
    configuration = Configuration(members(0, 1, 2, 3))
    configuration.propose(members(1, 2, 3, 4))
    assert not configuration.quorums.has_quorum({1, 2})
    assert not configuration.quorums.has_quorum({3, 4})
    assert configuration.quorums.has_quorum({2, 3})
    assert configuration.voters == {1, 2, 3, 4}
    assert configuration.activate(members(1, 2, 3, 4))
    assert configuration.quorums.has_quorum({3, 4})
    assert configuration.voters == {2, 3, 4}


def test_an_older_membership_changes_nothing() -> None:
    configuration = Configuration(members(5, 1, 2, 3))
    configuration.propose(members(4, 1))
    assert configuration.proposed is None
    assert not configuration.activate(members(5, 1))


def test_a_reconfiguration_needs_a_quorum_of_the_new_members_too() -> None:
    talk = established()
    join(talk, 2)
    new = members(E1 + 1, 2, 3, of=3)
    talk.peer.propose(E1 + 1, reconfig(E1 + 1, new), talk.now_ms)
    talk.take()
    talk.written()
    assert talk.say(1, ack(E1 + 1)) == []  # A majority of the old ones, 1 and 3.
    assert talk.say(2, ack(E1 + 1)) == [
        "commit 0x100000001",
        "Activate",
        "send 1,2 COMMITANDACTIVATE 0x100000001",
    ]
    assert talk.sent[-1].data == bytes.fromhex("0000000000000003")
    assert talk.history.configuration.current == new


def test_observers_get_the_members_with_the_commit() -> None:
    talk = established(observers=1)
    observer = join(talk, 4, observes=True)
    entry = reconfig(E1 + 1, members(E1 + 1, 1, 3))
    talk.peer.propose(E1 + 1, entry, talk.now_ms)
    talk.written()
    assert talk.say(1, ack(E1 + 1))[-1] == f"send {observer} INFORMANDACTIVATE 0x100000001"
    assert talk.sent[-1].data == bytes.fromhex("0000000000000003") + entry


def test_a_leader_that_is_left_out_names_its_successor_and_commits_no_more() -> None:
    talk = established()
    join(talk, 2)
    talk.peer.propose(E1 + 1, reconfig(E1 + 1, members(E1 + 1, 1, 2, of=3)), talk.now_ms)
    talk.peer.propose(E1 + 2, b"later", talk.now_ms)
    talk.written()
    talk.say(2, ack(E1 + 1), ack(E1 + 2))
    took = talk.say(1, ack(E1 + 1), ack(E1 + 2))
    assert took == ["commit 0x100000001", "Activate", "send 1,2 COMMITANDACTIVATE 0x100000001"]
    assert talk.sent[-1].data == bytes.fromhex("0000000000000002")


def test_who_does_not_ack_is_not_asked_to_agree() -> None:
    talk = established(observers=1)
    join(talk, 4, observes=True)
    assert talk.peer.leader
    assert talk.peer.leader.is_synced(members(9, 1, 3).quorums)
    assert not talk.peer.leader.is_synced(members(9, 3, 4).quorums)


def test_a_follower_goes_over_when_told_and_stays_with_the_same_leader() -> None:
    talk = serving()
    new = members(E1 + 1, 1, 3, of=3)
    talk.say(1, reconfig_proposal(E1 + 1, new))
    assert talk.history.configuration.proposed == new
    assert talk.say(1, activation(E1 + 1, leader=3)) == ["commit 0x100000001", "Activate"]
    assert talk.history.configuration.current == new
    assert talk.peer.is_serving


def test_a_follower_goes_over_to_the_new_leader_without_an_election() -> None:
    talk = serving()
    talk.say(1, reconfig_proposal(E1 + 1, members(E1 + 1, 1, 2, of=3)))
    assert talk.say(1, activation(E1 + 1, leader=2)) == [
        "commit 0x100000001",
        "Activate",
        "close 1",
        "retire: server 2 leads the new membership",
        "connect 2 to 2",
    ]


def test_the_designated_leader_leads_without_an_election() -> None:
    talk = serving()
    talk.say(1, reconfig_proposal(E1 + 1, members(E1 + 1, 1, 2, of=3)))
    talk.say(1, activation(E1 + 1, leader=1))
    assert talk.peer.leader


def test_a_follower_that_becomes_an_observer_comes_again_as_one() -> None:
    talk = serving()
    talk.say(1, reconfig_proposal(E1 + 1, members(E1 + 1, 2, 3, of=3)))
    took = talk.say(1, activation(E1 + 1, leader=3))
    assert took[-1] == "retire: the new membership gives us another role"
    talk.follow()
    talk.peer.connected(2, talk.now_ms)
    assert talk.take()[-1].startswith("send 2 OBSERVERINFO")


def test_a_learner_takes_over_the_members_that_newleader_names() -> None:
    talk = Conversation(1, fresh())
    talk.follow()
    talk.peer.connected(1, talk.now_ms)
    talk.say(1, packets.leader_info(1))
    talk.written()
    new = members(5, 1, 2, 3)
    newleader = packet(PacketType.NEWLEADER, E1, new.text.encode())
    talk.say(1, packet(PacketType.DIFF, 0), newleader)
    assert talk.history.configuration.proposed == new
    talk.written()
    assert talk.say(1, packet(PacketType.UPTODATE, -1))[-1] == "Activate"
    assert talk.history.configuration.current == new


def test_a_follower_that_learns_with_uptodate_that_it_observes_serves_and_leaves_at_once() -> None:
    talk = Conversation(1, fresh())
    talk.follow()
    talk.peer.connected(1, talk.now_ms)
    talk.say(1, packets.leader_info(1))
    talk.written()
    new = members(5, 2, 3, of=3)
    talk.say(1, packet(PacketType.DIFF, 0), packet(PacketType.NEWLEADER, E1, new.text.encode()))
    talk.written()
    talk.peer.receive(1, [packet(PacketType.UPTODATE, -1)], talk.now_ms)
    assert talk.peer.learner is None
    effects = talk.peer.take_effects()
    serve = effects.index(Serve(ServerState.FOLLOWING, 3, 0, epoch=1))
    assert Retire("the new membership gives us another role") in effects[serve:]


def test_a_membership_that_was_proposed_and_lost_is_forgotten() -> None:
    talk = serving()
    talk.say(1, reconfig_proposal(E1 + 1, members(E1 + 1, 1, 3, of=3)), proposal(E1 + 2))
    talk.written()
    talk.peer.closed(1, talk.now_ms)
    talk.follow()
    talk.peer.connected(2, talk.now_ms)
    talk.say(2, packets.leader_info(2))
    talk.written()
    text = membership(3).text.encode()
    talk.say(2, packet(PacketType.TRUNC, 0), packet(PacketType.NEWLEADER, 2 * E1, text))
    assert talk.history.configuration.proposed is None


def test_a_newer_membership_is_learned_from_a_notification_and_begins_a_round() -> None:
    talk = Conversation(1, fresh())
    new = members(7, 1, 2, 4)
    round_ = talk.peer.round
    vote = Notification(ServerState.LOOKING, 2, 0, 1, 0, config=new.text)
    talk.peer.hear(2, vote, talk.now_ms)
    assert talk.history.configuration.current == new
    assert talk.peer.round == round_ + 1
    assert Activate(talk.history.mark, new) in talk.peer.take_effects()
    talk.peer.hear(2, replace(vote, config="server.1=nonsense"), talk.now_ms)
    assert talk.history.configuration.current == new


@pytest.mark.parametrize("voters", [(1, 2), (1, 2, 3), (3, 4, 5)])
def test_members_change_under_load_and_nothing_is_lost(voters: tuple[int, ...]) -> None:
    ensemble = start(5)
    assert leader_of(ensemble).id == 5
    for server in ensemble.servers.values():
        server.write(b"before %d" % server.id)
    assert leader_of(ensemble).reconfigure(voters)
    ensemble.run_until(lambda: all(has_voters(ensemble, it, voters) for it in ensemble.servers))
    ensemble.run_until(ensemble.all_serve)
    settle(ensemble)
    write(ensemble, ensemble.servers[1], 3)
    settle(ensemble)
    for id_, server in ensemble.servers.items():
        assert (server.serving is ServerState.OBSERVING) == (id_ not in voters)


def has_voters(ensemble: Ensemble, server_id: int, voters: tuple[int, ...]) -> bool:
    current = ensemble.servers[server_id].peer.history.configuration.current
    return current.voters == set(voters)


def test_members_survive_the_loss_of_power() -> None:
    ensemble = Ensemble(3, Checkers(), 3, observers=2)
    ensemble.boot()
    ensemble.run_until(ensemble.all_serve)
    assert leader_of(ensemble).reconfigure((1, 2, 3, 4, 5))
    settle(ensemble)
    ensemble.run_until(lambda: has_voters(ensemble, 5, (1, 2, 3, 4, 5)))
    ensemble.run_until(ensemble.all_serve)
    for server in ensemble.servers.values():
        server.crash()
    ensemble.boot(3, 4, 5)
    ensemble.run_until(lambda: ensemble.leader is not None)  # Three of five, one of the old three.


def test_where_reconfiguration_is_off_the_members_stay_those_of_the_file() -> None:
    fixed = Configuration(members(0, 1, 2, 3), members(9, 4), is_fixed=True)
    assert fixed.proposed is None
    assert not fixed.activate(members(9, 4))
    assert fixed.voters == {1, 2, 3}


def test_a_membership_without_voters_is_none() -> None:
    configuration = Configuration(members(0, 1, 2, 3))
    configuration.propose(members(9))
    assert configuration.proposed is None
    assert not configuration.activate(members(9))
