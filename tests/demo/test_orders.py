"""The shop's orders are the same for a seed, and their sums are those of a plain count."""

from __future__ import annotations

import json
from itertools import islice

from odradek.demo.orders import (
    LATE_MS_MAX,
    PRODUCTS,
    WINDOW_MS,
    Order,
    Total,
    by_category,
    closing_bell,
    lines,
    stamped,
    totals_of,
)


def test_a_seed_gives_the_same_orders() -> None:
    assert list(islice(lines(5), 50)) == list(islice(lines(5), 50))
    assert list(islice(lines(5), 50)) != list(islice(lines(6), 50))


def test_an_order_can_be_read_and_a_broken_one_cannot() -> None:
    sent = [stamped(line, 1234) for line in islice(lines(1), 2000)]
    broken = [line for line in sent if line.order is None]
    assert 0 < len(broken) < 30
    for line in sent:
        if line.order is not None:
            assert Order(**json.loads(line.value)) == line.order
            assert line.order.at_ms == 1234
        else:
            assert not is_json(line.value)


def is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_orders_are_summed_up_by_window_and_category() -> None:
    one, other = PRODUCTS[0], PRODUCTS[3]
    orders = [
        Order(1, "c", one.product_id, 2, WINDOW_MS),
        Order(2, "c", one.product_id, 1, 2 * WINDOW_MS - 1),
        Order(3, "c", one.product_id, 1, 2 * WINDOW_MS),
        Order(4, "c", other.product_id, 1, WINDOW_MS),
    ]
    totals = totals_of(orders)
    assert totals == {
        (WINDOW_MS, one.category): Total(2, 3 * one.price_cents),
        (2 * WINDOW_MS, one.category): Total(1, one.price_cents),
        (WINDOW_MS, other.category): Total(1, other.price_cents),
    }
    assert by_category(totals)[one.category] == Total(3, 4 * one.price_cents)


def test_after_the_bell_every_earlier_window_is_over() -> None:
    for now_ms in (0, 1, WINDOW_MS - 1, WINDOW_MS):
        bell = closing_bell(now_ms).order
        assert bell is not None
        watermark_ms = bell.at_ms - LATE_MS_MAX
        assert now_ms - now_ms % WINDOW_MS + WINDOW_MS <= watermark_ms
        assert bell.at_ms - bell.at_ms % WINDOW_MS + WINDOW_MS > watermark_ms
