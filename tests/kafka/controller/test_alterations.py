"""AlterPartition: which error a leader gets when several would fit."""

from __future__ import annotations

from dataclasses import replace

from odradek.kafka.controller.alterations import (
    Asked,
    asked_state,
    judge,
    refuse_asker,
    topic_name,
)
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
)
from tests.kafka.controller.images import T0, TOPIC_ID, image, state

CLUSTER = image([1, 2], {0: [1, 2, 3]}, {0: state(1, [1, 2])})
ASKED = state(1, [1])


def test_only_a_broker_in_its_present_life_may_ask() -> None:
    def asker(broker_id: int, epoch: int) -> ErrorCode:
        request = AlterPartitionRequest(broker_id=broker_id, broker_epoch=epoch, topics=[])
        return refuse_asker(CLUSTER, request)

    assert asker(1, 100) == ErrorCode.NONE
    assert asker(1, 99) == asker(1, 101) == asker(9, 100) == ErrorCode.STALE_BROKER_EPOCH


def test_what_is_asked_for_becomes_the_state() -> None:
    assert judge(CLUSTER, Asked(T0, ASKED), 3) == ASKED


def test_whoever_knows_more_than_the_controller_must_look_for_another() -> None:
    for newer in (replace(ASKED, leader_epoch=4), replace(ASKED, version=8)):
        assert judge(CLUSTER, Asked(T0, newer), 3) == ErrorCode.NOT_CONTROLLER


def test_a_leader_of_an_older_epoch_is_fenced() -> None:
    fenced = replace(ASKED, leader_epoch=2, version=6)
    assert judge(CLUSTER, Asked(T0, fenced), 3) == ErrorCode.FENCED_LEADER_EPOCH


def test_what_is_so_already_is_fine_however_old_the_request() -> None:
    known = CLUSTER.states[T0]
    assert judge(CLUSTER, Asked(T0, replace(known, version=2, controller_epoch=1)), 3) is known


def test_an_older_partition_epoch_is_refused() -> None:
    older = replace(ASKED, version=6)
    assert judge(CLUSTER, Asked(T0, older), 3) == ErrorCode.INVALID_UPDATE_VERSION


def test_a_leader_recovers_alone_and_only_once() -> None:
    again = Asked(T0, replace(ASKED, recovery=1))
    assert judge(CLUSTER, again, 3) == ErrorCode.INVALID_REQUEST
    recovering = image([1, 2], {0: [1, 2]}, {0: state(1, [1], recovery=1)})
    more = Asked(T0, state(1, [1, 2], recovery=1))
    assert judge(recovering, more, 3) == ErrorCode.INVALID_REQUEST
    done = Asked(T0, state(1, [1, 2]))
    assert judge(recovering, done, 3) == done.state


def test_who_does_not_live_or_is_about_to_go_joins_no_isr() -> None:
    dead = Asked(T0, state(1, [1, 2, 3]))
    assert judge(CLUSTER, dead, 3) == ErrorCode.INELIGIBLE_REPLICA
    assert judge(CLUSTER, dead, 1) == ErrorCode.OPERATION_NOT_ATTEMPTED
    going = image([1, 2], {0: [1, 2]}, {0: state(1, [1])})
    going.shutting_down[2] = None
    assert judge(going, Asked(T0, state(1, [1, 2])), 2) == ErrorCode.INELIGIBLE_REPLICA


def test_a_partition_without_a_state_is_unknown() -> None:
    new = image([1], {0: [1]})
    assert judge(new, Asked(T0, ASKED), 3) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_versions_differ_in_how_topics_and_the_isr_are_given() -> None:
    partition = AlterPartitionRequestPartitionData(
        partition_index=0,
        leader_epoch=3,
        new_isr=[1],
        new_isr_with_epochs=[BrokerState(broker_id=2)],
        partition_epoch=7,
    )
    assert asked_state(CLUSTER, 1, partition, 2).isr == (1,)
    assert asked_state(CLUSTER, 1, partition, 3).isr == (2,)
    topic = AlterPartitionRequestTopicData(topic_name="n", topic_id=TOPIC_ID, partitions=[])
    assert topic_name(CLUSTER, topic, 1) == "n"
    assert topic_name(CLUSTER, topic, 2) == "t"
