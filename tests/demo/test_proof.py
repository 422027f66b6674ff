"""The demo's proof finds what is missing, doubled or wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.demo.orders import Total, Totals
from odradek.demo.proof import Accounts

SENT: Totals = {(0, "thread"): Total(3, 900), (5000, "parts"): Total(2, 550)}
RIGHT = Accounts(SENT, 1, dict(SENT), dict(SENT), 6, 5, 1)


def test_equal_accounts_have_no_differences() -> None:
    assert RIGHT.differences() == []
    assert RIGHT.order_count == 5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(RIGHT, topic={(0, "thread"): Total(3, 900)}), "the topic, window 5000 of parts"),
        (replace(RIGHT, topic={**SENT, (0, "thread"): Total(6, 1800)}), "Total(orders=6"),
        (replace(RIGHT, parquet={**SENT, (9, "x"): Total(1, 1)}), "Parquet, window 9 of x"),
        (replace(RIGHT, parquet_rows=7), "rows in Parquet: 7 instead of 6"),
        (replace(RIGHT, parquet_orders=4), "different orders in Parquet: 4 instead of 5"),
        (replace(RIGHT, parquet_broken=0), "orders that cannot be read: 0 instead of 1"),
    ],
)
def test_a_difference_is_told(wrong: Accounts, words: str) -> None:
    (difference,) = wrong.differences()
    assert words in difference


def test_the_table_has_a_line_for_each_category_and_one_for_all() -> None:
    lines = [line.split() for line in RIGHT.table().splitlines()]
    assert lines[1:] == [
        ["thread", "3", "3", "3", "9.00", "9.00"],
        ["parts", "2", "2", "2", "5.50", "5.50"],
        ["all", "5", "5", "5", "14.50", "14.50"],
    ]
