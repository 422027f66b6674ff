"""What a controller decides as brokers, topics and partitions come and go."""

from __future__ import annotations

from odradek.kafka.controller import decide
from odradek.kafka.controller.decision import apply_change, groups_of
from odradek.kafka.controller.image import Assignment, Deletion
from odradek.kafka.controller.requests import Requests
from odradek.kafka.controller.writes import Create, Set
from odradek.kafka.storage.names import TopicPartition
from tests.kafka.controller.images import T0, TOPIC_ID, broker, image, state

T1 = TopicPartition("t", 1)


def test_a_new_partition_is_led_by_its_first_live_replica() -> None:
    cluster = image([2, 3], {0: [1, 2, 3]})
    (change,) = decide.decide_new(cluster, [T0]).changes
    assert (change.state.leader, change.state.isr, change.state.leader_epoch) == (2, (2, 3), 0)
    assert change.recipients == change.brings_new == (2, 3)


def test_a_new_partition_without_a_live_replica_stays_new() -> None:
    assert decide.decide_new(image([9], {0: [1]}), [T0]).changes == []


def test_what_has_a_state_gets_no_first_one() -> None:
    assert decide.decide_new(image([1], {0: [1]}, {0: state(1, [1])}), [T0]).changes == []


def test_the_first_partition_of_a_topic_makes_room_for_all() -> None:
    cluster = image([1], {0: [1], 1: [1]})
    first, second = groups_of(decide.decide_new(cluster, [T0, T1]), cluster)
    assert [it.path for it in first] == [
        "/brokers/topics/t/partitions",
        "/brokers/topics/t/partitions/0",
        "/brokers/topics/t/partitions/0/state",
    ]
    assert [isinstance(it, Create) and it.may_exist for it in first] == [True, True, False]
    assert len(second) == 2
    cluster.states[T0] = state(1, [1])
    (third,) = groups_of(decide.decide_new(cluster, [T1]), cluster)
    assert len(third) == 2


def test_a_change_replaces_the_version_that_was_known() -> None:
    cluster = image([2], {0: [1, 2]}, {0: state(1, [1, 2], controller_epoch=2, version=9)})
    decision = decide.decide_leaders(cluster, [T0], lambda _: False)
    ((write,),) = groups_of(decision, cluster)
    assert isinstance(write, Set) and write.version == 9
    assert b'"controller_epoch":5' in write.data


def test_what_was_written_is_known_and_told() -> None:
    cluster, requests = image([1, 2], {0: [1, 2]}), Requests()
    (change,) = decide.decide_new(cluster, [T0]).changes
    apply_change(cluster, change, 0, requests)
    assert cluster.states[T0].leader == 1
    assert requests.leader_and_isr == {1: {T0: True}, 2: {T0: True}}
    assert requests.metadata_to_all and requests.metadata_of == {T0: None}


def test_of_a_topic_that_is_to_go_nothing_is_told() -> None:
    cluster, requests = image([1], {0: [1]}), Requests()
    (change,) = decide.decide_new(cluster, [T0]).changes
    cluster.deletions["t"] = Deletion()
    apply_change(cluster, change, 0, requests)
    assert requests == Requests()


def test_brokers_that_joined_left_bounced_and_changed_are_told_apart() -> None:
    cluster = image([1, 2, 3, 4])
    found = {1: broker(1), 2: broker(2, epoch=200), 4: broker(4, rack="r"), 5: broker(5)}
    assert decide.compare_brokers(cluster, found) == ([5], [2], [3], [4])
    assert not any(decide.compare_brokers(cluster, dict(cluster.brokers)))


def test_one_that_is_missing_joins_only_with_another_registration() -> None:
    cluster = image([1])
    cluster.missing[2] = broker(2, epoch=100)
    assert not any(decide.compare_brokers(cluster, {1: broker(1), 2: broker(2, epoch=100)}))
    again = {1: broker(1), 2: broker(2, epoch=200)}
    assert decide.compare_brokers(cluster, again) == ([2], [], [], [])


def test_a_partition_with_a_leader_that_lives_keeps_it() -> None:
    cluster = image([1, 2], {0: [1, 2]}, {0: state(2, [1, 2])})
    assert decide.decide_leaders(cluster, [T0], lambda _: True).changes == []
    cluster.shutting_down[2] = None
    assert decide.decide_leaders(cluster, [T0], lambda _: True).changes == []


def test_who_is_gone_leaves_the_isr_and_the_lead() -> None:
    cluster = image([1, 2], {0: [3, 1, 2]}, {0: state(3, [3, 1, 2])})
    (change,) = decide.decide_offline(cluster, [(T0, 3)]).changes
    assert (change.state.leader, change.state.isr, change.state.leader_epoch) == (-1, (1, 2), 4)
    assert change.recipients == (1, 2)


def test_the_last_in_the_isr_stays_in_it() -> None:
    cluster = image([], {0: [1, 2]}, {0: state(1, [1, 2])})
    (change,) = decide.decide_offline(cluster, [(T0, 1), (T0, 2)]).changes
    assert (change.state.leader, change.state.isr) == (-1, (2,))
    cluster.states[T0] = state(-1, [2])
    assert decide.decide_offline(cluster, [(T0, 2)]).changes == []


def test_who_was_not_in_sync_is_only_told_of() -> None:
    cluster = image([1], {0: [1, 2]}, {0: state(1, [1])})
    decision = decide.decide_offline(cluster, [(T0, 2)])
    assert decision.changes == []
    assert decision.requests.metadata_of == {T0: None}


def test_a_broker_that_joined_hears_of_everything_before_it_is_told_to_act() -> None:
    cluster = image([1, 2], {0: [1, 2], 1: [1]}, {0: state(1, [1]), 1: state(1, [1])})
    others, new = decide.decide_introduced(cluster, [2])
    assert (others.requests.metadata_to, others.requests.metadata_of) == ({1: None}, {})
    assert new.requests.metadata_to == {2: None}
    assert list(new.requests.metadata_of) == [T0, T1]
    assert decide.decide_joined(cluster, [2]).requests.leader_and_isr == {2: {T0: False}}


def test_a_new_controller_tells_all_that_live_what_they_hold() -> None:
    cluster = image([1, 2], {0: [1, 3], 1: [2, 1]}, {0: state(1, [1]), 1: state(2, [2])})
    requests = decide.decide_failover(cluster).requests
    assert requests.leader_and_isr == {1: {T0: False, T1: False}, 2: {T1: False}}
    assert requests.metadata_to_all


def test_a_broker_about_to_stop_hands_over_what_others_can_lead() -> None:
    states = {0: state(1, [1, 2]), 1: state(2, [2, 1]), 2: state(1, [1])}
    cluster = image([1, 2], {0: [1, 2], 1: [2, 1], 2: [1]}, states)
    cluster.shutting_down[1] = None
    moved, stopped = decide.decide_shutdown(cluster, 1)
    assert [(it.where, it.state.leader, it.state.isr) for it in moved.changes] == [(T0, 2, (2,))]
    assert [(it.where, it.state.isr) for it in stopped.changes] == [(T1, (2,))]
    assert stopped.requests.stop == {1: {T1: False}}
    assert decide.led_by(cluster, 1) == [T0]  # As long as nothing is written.


def test_replicas_on_failed_disks_are_news_once() -> None:
    cluster = image([1], {0: [1], 1: [1]})
    assert decide.take_storage_errors(cluster, 1, [T0], [T1]) == ([T0], [])
    assert decide.take_storage_errors(cluster, 1, [T0], []) == ([], [])
    assert not cluster.is_online(1, T0)
    assert decide.take_storage_errors(cluster, 1, [], [T0]) == ([], [T0])
    assert cluster.is_online(1, T0)


def test_leaderships_go_back_where_too_many_are_astray() -> None:
    assignments = {index: [1, 2] for index in range(10)}
    states = {index: state(1, [1, 2]) for index in range(10)}
    cluster = image([1, 2], assignments, states)
    assert decide.imbalanced(cluster, 10) == []
    cluster.states[T0] = state(2, [1, 2])
    assert decide.imbalanced(cluster, 10) == []  # Ten per cent are not more than ten per cent.
    cluster.states[T1] = state(2, [1, 2])
    assert decide.imbalanced(cluster, 10) == [T0, T1]
    cluster.states[T1] = state(2, [2])
    assert decide.imbalanced(cluster, 10) == [T0]
    cluster.put_assignment(T0, Assignment((1, 2), (2,), ()))
    assert decide.imbalanced(cluster, 10) == []


def test_an_image_knows_who_holds_what() -> None:
    cluster = image([1, 2], {0: [1, 2], 1: [2]})
    assert cluster.held_by(1) == [T0]
    assert cluster.held_by(2) == [T0, T1]
    cluster.put_assignment(T0, Assignment((3, 2), (3,), ()))
    assert (cluster.held_by(1), cluster.held_by(3)) == ([], [T0])
    assert list(cluster.moving) == [T0]
    assert cluster.put_topic("t", TOPIC_ID, {1: Assignment((2,)), 2: Assignment((1,))}) == [
        TopicPartition("t", 2)
    ]
    cluster.remove_topic("t")
    assert (cluster.held_by(2), cluster.topics, cluster.names, cluster.moving) == ([], {}, {}, {})
