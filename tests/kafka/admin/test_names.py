"""Topics are called what Kafka allows them to be called."""

from __future__ import annotations

import pytest

from odradek.kafka.admin.names import colliding, is_internal, refuse_name
from odradek.kafka.wire.errors import ErrorCode


@pytest.mark.parametrize("name", ["a", "A-z_0.9", "...", "x" * 249, "__consumer_offsets"])
def test_letters_digits_dots_dashes_and_underscores_make_a_name(name: str) -> None:
    assert refuse_name(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a b", "a/b", "ä", "a\n", "a:b"])
def test_anything_else_is_refused_with_a_reason(name: str) -> None:
    refusal = refuse_name(name)
    assert refusal is not None
    assert refusal.code is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert refusal.message and refusal.message.startswith("Topic name is invalid: ")


def test_names_collide_where_metrics_could_not_tell_them_apart() -> None:
    assert colliding("a.b", ["a_b", "a.c", "ab"]) == ["a_b"]
    assert colliding("a_b_c", ["a.b_c", "a_b.c"]) == ["a.b_c", "a_b.c"]
    assert colliding("ab", ["ab", "a.b"]) == []


def test_kafka_keeps_its_own_state_in_three_topics() -> None:
    names = ["__consumer_offsets", "__transaction_state", "__share_group_state"]
    assert all(map(is_internal, names))
    assert not is_internal("__cluster_metadata") and not is_internal("orders")
