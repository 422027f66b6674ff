"""Without an authorizer, clients are told that they may do whatever can be done."""

from __future__ import annotations

from odradek.kafka.admin.operations import ALL_OF_A_CLUSTER, ALL_OF_A_TOPIC, NOT_ASKED


def test_the_bits_are_those_that_apache_answers() -> None:
    assert ALL_OF_A_TOPIC == 0b1101_1111_1000 == 3576
    assert ALL_OF_A_CLUSTER == 0b1_1111_1010_0000 == 8096
    assert NOT_ASKED == -2147483648
