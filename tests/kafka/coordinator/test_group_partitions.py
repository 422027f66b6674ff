"""Ids to partitions, as Java counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.coordinator.group_partitions import java_string_hash, partition_for


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("g1", 3242),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),  # The word that is known for this.
        ("😀", 1772899),
    ],
)
def test_a_string_has_the_hash_that_java_gives_it(text: str, value: int) -> None:
    assert java_string_hash(text) == value


def test_a_group_is_where_a_real_broker_had_it() -> None:
    assert partition_for("g1", 50) == 42


def test_the_smallest_hash_belongs_to_partition_0() -> None:
    assert partition_for("polygenelubricants", 50) == 0


@given(st.text(), st.integers(1, 1000))
def test_every_group_has_a_partition(group_id: str, count: int) -> None:
    assert 0 <= partition_for(group_id, count) < count
