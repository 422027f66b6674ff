"""Who is to lead."""

from __future__ import annotations

from odradek.kafka.controller.elections import (
    offline_election,
    preferred_election,
    reassigned_election,
    shutdown_election,
)
from odradek.kafka.controller.image import Assignment
from tests.kafka.controller.images import T0, image, state


def test_without_a_leader_the_first_assigned_of_those_in_sync_leads() -> None:
    cluster = image([2, 3], {0: [1, 3, 2]})
    elected = offline_election(is_unclean=False)(cluster, T0, state(1, [1, 2, 3]))
    assert elected is not None
    assert (elected.state.leader, elected.state.isr) == (3, (2, 3))
    assert elected.state.leader_epoch == 4
    assert elected.recipients == (3, 2)


def test_who_is_not_in_sync_leads_only_where_loss_is_allowed() -> None:
    cluster, dead = image([2, 3], {0: [1, 3, 2]}), state(1, [1])
    assert offline_election(is_unclean=False)(cluster, T0, dead) is None
    elected = offline_election(is_unclean=True)(cluster, T0, dead)
    assert elected is not None
    assert (elected.state.leader, elected.state.isr, elected.state.recovery) == (3, (3,), 1)
    older = offline_election(is_unclean=True, marks_recovery=False)(cluster, T0, dead)
    assert older is not None and older.state.recovery == 0


def test_a_clean_choice_comes_before_an_unclean_one() -> None:
    cluster = image([2, 3], {0: [3, 2]})
    elected = offline_election(is_unclean=True)(cluster, T0, state(1, [1, 2]))
    assert elected is not None
    assert (elected.state.leader, elected.state.recovery) == (2, 0)


def test_nobody_leads_if_nobody_lives() -> None:
    cluster = image([9], {0: [1, 2]})
    assert offline_election(is_unclean=True)(cluster, T0, state(1, [1])) is None


def test_a_replica_on_a_failed_disk_does_not_lead() -> None:
    cluster = image([1, 2], {0: [1, 2]})
    cluster.offline[1] = {T0: None}
    elected = offline_election(is_unclean=False)(cluster, T0, state(1, [1, 2]))
    assert elected is not None and elected.state.leader == 2


def test_the_preferred_leader_is_the_first_assigned_or_nobody() -> None:
    cluster = image([1, 2], {0: [1, 2]})
    elected = preferred_election(cluster, T0, state(2, [1, 2]))
    assert elected is not None
    assert (elected.state.leader, elected.state.isr) == (1, (1, 2))
    assert preferred_election(cluster, T0, state(2, [2])) is None
    assert preferred_election(image([2], {0: [1, 2]}), T0, state(2, [1, 2])) is None


def test_a_move_ends_with_a_leader_of_its_target() -> None:
    cluster = image([1, 2, 3], {0: [3, 2, 1]})
    cluster.put_assignment(T0, Assignment((3, 2, 1), (3,), (1,)))
    elected = reassigned_election(cluster, T0, state(1, [1, 2, 3]))
    assert elected is not None
    assert (elected.state.leader, elected.state.isr) == (3, (1, 2, 3))
    assert elected.recipients == (3, 2)
    assert reassigned_election(cluster, T0, state(1, [1])) is None


def test_a_broker_that_goes_is_followed_by_one_that_stays() -> None:
    cluster = image([1, 2, 3], {0: [1, 2, 3]})
    cluster.shutting_down = {1: None, 2: None}
    elected = shutdown_election(cluster, T0, state(1, [1, 2, 3]))
    assert elected is not None
    assert (elected.state.leader, elected.state.isr) == (3, (3,))
    assert elected.recipients == (1, 2, 3)
    assert shutdown_election(cluster, T0, state(1, [1, 2])) is None
