"""Plans of reassignments are read and written as Apache's tool does."""

from __future__ import annotations

import json

import pytest

from odradek.kafka.admin.plans import BadPlan, Placement, limited, read_plan, write_plan

# As kafka-reassign-partitions --generate of 3.9.2 prints it.
GENERATED = (
    '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2,1],'
    '"log_dirs":["any","any"]},{"topic":"t","partition":1,"replicas":[1,2],'
    '"log_dirs":["any","any"]}]}'
)


def test_what_apaches_tool_writes_is_read_and_written_again() -> None:
    plan = read_plan(GENERATED)
    assert [it.replicas for it in plan] == [(2, 1), (1, 2)]
    assert [it.directories for it in plan] == [{}, {}]
    assert write_plan(plan) == GENERATED


def test_directories_are_named_by_broker_and_may_be_left_out() -> None:
    rows = [
        {"topic": "t", "partition": 0, "replicas": [1, 2], "log_dirs": ["any", "/b"]},
        {"topic": "t", "partition": 1, "replicas": [1]},
    ]
    first, second = read_plan(json.dumps({"partitions": rows}))
    assert first.directories == {2: "/b"}
    assert second == Placement("t", 1, (1,))
    assert read_plan(write_plan([second]))[0].log_dirs == ("any",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "no JSON"),
        ("[]", "must be an object"),
        ('{"version":2,"partitions":[]}', '"version" 1'),
        ('{"version":1,"partitions":[]}', "not empty"),
        ('{"partitions":[{"topic":"t","partition":0}]}', '"replicas" are wanted'),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":[]}]}', "missing"),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":[1,1]}]}', "twice"),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":["1"]}]}', "numbers"),
        (
            '{"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["a","b"]}]}',
            "2 log_dirs, 1 replicas",
        ),
        (
            '{"partitions":[{"topic":"t","partition":0,"replicas":[1]},'
            '{"topic":"t","partition":0,"replicas":[2]}]}',
            "a partition twice",
        ),
    ],
)
def test_what_is_no_plan_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(BadPlan, match=reason):
        read_plan(text)


def test_who_has_a_partition_is_limited_as_its_leader_and_who_gets_it_as_its_follower() -> None:
    before = {("t", 0): [1, 2], ("t", 1): [2, 3], ("u", 0): [1]}
    plan = [Placement("t", 0, (2, 3)), Placement("t", 1, (3, 2)), Placement("u", 0, (4,))]
    found = limited(before, plan)
    assert found.leaders == {"t": "0:1,0:2", "u": "0:1"}
    assert found.followers == {"t": "0:3", "u": "0:4"}
    assert found.brokers == [1, 2, 3, 4]
