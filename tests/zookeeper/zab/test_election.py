"""Whom servers elect, what they tell each other on the way, and how late ones join."""

from __future__ import annotations

from itertools import pairwise

from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.zab.effects import Notify
from odradek.zookeeper.zab.election import NOBODY, Election
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.quorum import Membership, membership_of, read_membership
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.vote import Vote
from tests.zookeeper.wire.golden import golden_bytes
from tests.zookeeper.zab.ensemble import membership

TIMING = Timing(tick_ms=2000, init_limit=10, sync_limit=5)
LOOKING, FOLLOWING, LEADING = ServerState.LOOKING, ServerState.FOLLOWING, ServerState.LEADING


def election(
    my_id: int, *, zxid: int = 0, epoch: int = 0, members: Membership | None = None
) -> tuple[Election, History]:
    history = History(members or membership(3), epoch, epoch, zxid)
    return Election(my_id, TIMING, history), history


def said(history: History) -> list[tuple[int, int, int]]:
    """To whom, which leader, in which round."""
    return [
        (it.server_id, it.notification.leader, it.notification.election_epoch)
        for it in history.effects.take()
        if isinstance(it, Notify)
    ]


def notice(
    leader: int,
    *,
    state: ServerState = LOOKING,
    zxid: int = 0,
    round_: int = 1,
    epoch: int = 0,
) -> Notification:
    return Notification(state, leader, zxid, round_, epoch)


def test_the_first_notification_is_the_original_s_to_the_byte() -> None:
    recorded = golden_bytes("election notification")
    notification = Notification.decode(recorded)
    assert notification
    members = read_membership(notification.config)
    two, history = election(2, members=members)
    two.look(0)
    first = history.effects.take()[0]
    assert isinstance(first, Notify)
    assert first.notification.encode() == recorded


def test_a_server_that_is_alone_elects_itself_at_once() -> None:
    one, _ = election(1, members=membership(1))
    assert one.look(0) == Vote(1, 0, 1, 0)


def test_everyone_first_votes_for_himself_and_tells_all_voters() -> None:
    one, history = election(1, members=membership(3, observers=1))
    assert one.look(0) is None
    assert said(history) == [(2, 1, 1), (3, 1, 1)]


def test_a_better_vote_is_adopted_and_told_and_a_worse_one_is_not() -> None:
    two, history = election(2, zxid=7)
    two.look(0)
    said(history)
    two.hear(1, notice(1, zxid=6, epoch=0), 1)
    assert said(history) == [(1, 2, 1)]  # Only to the one that does not know better.
    two.hear(1, notice(2, zxid=7, epoch=0), 1)
    assert said(history) == []
    two.hear(3, notice(3, zxid=7), 2)
    assert said(history) == [(1, 3, 1), (3, 3, 1)]
    two.hear(1, notice(1, zxid=1, epoch=1), 3)
    assert two.proposal.leader == 1  # A newer epoch beats any zxid.


def test_an_agreement_is_final_if_nothing_better_comes_for_a_while() -> None:
    two, _ = election(2)
    two.look(0)
    assert two.hear(1, notice(2), 10) is None
    assert two.tick(209) is None
    assert two.tick(210) == Vote(2, 0, 1, 0)


def test_a_better_vote_during_that_while_starts_it_anew() -> None:
    two, _ = election(2)
    two.look(0)
    two.hear(1, notice(2), 10)
    assert two.hear(3, notice(3), 100) is None  # Two and three agree on three.
    assert two.tick(250) is None
    assert two.tick(300) == Vote(3, 0, 1, 0)


def test_nobody_waits_once_all_have_spoken() -> None:
    two, _ = election(2)
    two.look(0)
    two.hear(1, notice(3), 10)
    assert two.hear(3, notice(3), 11) == Vote(3, 0, 1, 0)


def test_nobody_waits_for_a_server_that_is_gone() -> None:
    two, _ = election(2)
    two.look(0)
    assert two.gone(3, 5) is None  # It is no quorum.
    assert two.hear(1, notice(2), 10) == Vote(2, 0, 1, 0)


def test_the_last_that_was_waited_for_may_turn_out_to_be_gone() -> None:
    two, _ = election(2, members=membership(5))
    two.look(0)
    two.hear(1, notice(2), 10)
    assert two.hear(3, notice(2), 11) is None
    assert two.gone(4, 12) is None
    assert two.gone(5, 13) == Vote(2, 0, 1, 0)


def test_whoever_was_gone_long_ago_or_was_heard_since_is_waited_for() -> None:
    two, _ = election(2)
    two.look(0)
    two.gone(3, 5)
    assert two.hear(1, notice(2), 205) is None
    two.look(300)
    two.gone(3, 301)
    two.hear(3, notice(1, round_=2, epoch=-1), 302)
    assert two.hear(1, notice(2, round_=2), 303) is None


def test_a_newer_round_is_joined_with_the_better_of_its_vote_and_our_own() -> None:
    two, history = election(2, zxid=9)
    two.look(0)
    said(history)
    two.hear(3, notice(3, zxid=5, round_=4), 1)
    assert two.clock == 4
    assert said(history) == [(1, 2, 4), (3, 2, 4)]


def test_who_lags_behind_is_told_the_round_and_not_counted() -> None:
    two, history = election(2)
    two.look(0)
    two.clock = 5
    said(history)
    assert two.hear(1, notice(2, round_=2), 1) is None
    assert [it[0] for it in said(history)] == [1]
    assert two.tick(250) is None


def test_notifications_are_repeated_ever_more_slowly() -> None:
    one, history = election(1)
    one.look(0)
    said(history)
    sent_ms = []
    for now_ms in range(0, 200_000, 100):
        one.tick(now_ms)
        if said(history):
            sent_ms.append(now_ms)
    gaps = [b - a for a, b in pairwise(sent_ms)]
    assert gaps[:4] == [400, 800, 1600, 3200]
    assert max(gaps) == 60_000


def test_a_late_server_joins_the_leader_that_a_quorum_follows() -> None:
    one, _ = election(1)
    one.look(0)
    assert one.hear(2, notice(3, state=FOLLOWING, round_=7, epoch=2), 1) is None
    vote = one.hear(3, notice(3, state=LEADING, round_=7, epoch=2), 2)
    assert vote
    assert vote.leader == 3
    assert one.clock == 7


def test_a_leader_that_does_not_say_it_leads_is_not_joined() -> None:
    one, _ = election(1, members=membership(5))
    one.look(0)
    for server_id in (2, 3, 4):
        assert one.hear(server_id, notice(5, state=FOLLOWING, round_=7, epoch=2), 1) is None
    assert one.hear(5, notice(5, state=LEADING, round_=6, epoch=2), 2)


def test_followers_of_two_epochs_are_no_quorum() -> None:
    one, _ = election(1, members=membership(5))
    one.look(0)
    one.hear(2, notice(5, state=FOLLOWING, round_=7, epoch=1), 1)
    one.hear(3, notice(5, state=FOLLOWING, round_=7, epoch=2), 1)
    assert one.hear(5, notice(5, state=LEADING, round_=7, epoch=2), 2) is None
    assert one.hear(2, notice(5, state=FOLLOWING, round_=7, epoch=2), 3)


def test_votes_from_and_for_strangers_do_not_count_but_observers_are_answered() -> None:
    one, history = election(1, members=membership(3, observers=1))
    one.look(0)
    said(history)
    assert one.hear(2, notice(9), 1) is None
    assert said(history) == []
    assert one.hear(4, notice(NOBODY, zxid=NOBODY, epoch=NOBODY), 1) is None
    assert said(history) == [(4, 1, 1)]
    assert one.hear(4, notice(2, state=ServerState.OBSERVING), 1) is None


def test_an_observer_proposes_nobody_and_finds_the_leader() -> None:
    four, history = election(4, members=membership(3, observers=1))
    four.look(0)
    assert said(history) == [(1, NOBODY, 1), (2, NOBODY, 1), (3, NOBODY, 1)]
    four.hear(1, notice(3, state=FOLLOWING, round_=3, epoch=1), 1)
    vote = four.hear(3, notice(3, state=LEADING, round_=3, epoch=1), 2)
    assert vote
    assert vote.leader == 3


def test_a_server_without_weight_is_never_adopted() -> None:
    members = membership_of(dict(membership(3).members), {1: (1, 2, 3)}, {3: 0})
    two, _ = election(2, members=members)
    two.look(0)
    two.hear(3, notice(3, zxid=99), 1)
    assert two.proposal.leader == 2


def test_votes_of_looking_servers_agree_only_if_all_is_equal() -> None:
    vote = Vote(3, 5, 1, 0)
    assert vote.agrees_with(Vote(3, 5, 1, 0))
    assert not vote.agrees_with(Vote(3, 5, 2, 0))
    assert not vote.agrees_with(Vote(3, 6, 1, 0, FOLLOWING, 2))


def test_votes_of_settled_servers_agree_by_leader_and_epoch() -> None:
    vote = Vote(3, 5, 1, 2, FOLLOWING, 2)
    assert vote.agrees_with(Vote(3, 9, 8, 2, LEADING, 2))
    assert not vote.agrees_with(Vote(3, 5, 1, 3, LEADING, 2))
    assert vote.agrees_with(Vote(3, 5, 1, 3, LEADING, 0))  # Old servers tell another epoch.


def test_hearing_from_others_does_not_keep_a_server_from_repeating_itself() -> None:
    one, history = election(1, members=membership(5))
    one.look(0)
    said(history)
    for now_ms in range(0, 200, 10):
        one.hear(2, notice(1), now_ms)
        one.tick(now_ms)
    assert said(history) == []
    one.tick(200)
    assert [it[0] for it in said(history)] == [2, 3, 4, 5]
