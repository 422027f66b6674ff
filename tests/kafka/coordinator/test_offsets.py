"""A group's offsets, whatever the order in which appends, markers and tombstones come to an end."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.coordinator.offsets import CommittedOffset, Logged, Offsets
from odradek.kafka.storage.names import TopicPartition

PARTITIONS = [TopicPartition("t", number) for number in range(4)]
SOME = st.lists(st.sampled_from(PARTITIONS), min_size=1, unique=True)
PRODUCER = 7


def committed(number: int) -> CommittedOffset:
    return CommittedOffset(number, -1, "", 0)


@given(st.lists(SOME, max_size=8), st.randoms())
def test_a_partition_is_in_flight_until_the_last_append_about_it_ends(
    appends: list[list[TopicPartition]], chance: Random
) -> None:
    offsets, under_way = Offsets(), dict(enumerate(appends))
    for number, partitions in under_way.items():
        offsets.send(dict.fromkeys(partitions, committed(number)), number)
    order = list(under_way)
    chance.shuffle(order)
    for number in order:
        del under_way[number]
        offsets.arrive(number)
        waits = {partition for partitions in under_way.values() for partition in partitions}
        assert set(filter(offsets.is_in_flight, PARTITIONS)) == waits
        assert set(offsets.erasable()) == waits
        assert bool(offsets) == bool(under_way)


@given(st.lists(st.tuples(st.integers(0, 9), SOME, st.booleans()), max_size=12))
def test_what_lies_later_in_the_log_counts_whenever_it_is_told(
    told: list[tuple[int, list[TopicPartition], bool]],
) -> None:
    offsets, expected = Offsets(), dict[TopicPartition, int]()
    for batch_offset, partitions, is_removal in told:
        for partition in partitions if is_removal else ():
            offsets.remove(partition, batch_offset)
            if expected.get(partition, batch_offset) < batch_offset:
                del expected[partition]
        if not is_removal:
            offsets.put_all(dict.fromkeys(partitions, committed(batch_offset)), batch_offset)
            for partition in partitions:
                expected[partition] = max(batch_offset, expected.get(partition, -1))
    assert offsets.batches == expected
    assert offsets.logged == {it: committed(batch) for it, batch in expected.items()}


def test_a_transaction_that_commits_late_undoes_nothing() -> None:
    offsets, partition = Offsets(), PARTITIONS[0]
    offsets.hold(PRODUCER, partition, Logged(committed(5), 10))
    offsets.put_all({partition: committed(6)}, 11)
    offsets.end_transaction(PRODUCER, is_commit=True)
    assert offsets.get(partition) == committed(6)
