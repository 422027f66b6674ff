"""Orders of a small shop, drawn from a seed, and what they must add up to.

One in a few hundred is broken on its way in, as it happens. Money is counted in cents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import NamedTuple

BROKEN_ONE_IN = 250
CUSTOMERS = 400
WINDOW_MS = 5_000
LATE_MS_MAX = 5_000  # Who is later than this does not count any more.
BELL = "closing bell"


@dataclass(frozen=True, slots=True)
class Product:
    """A line of the catalogue."""

    product_id: str
    name: str
    category: str
    price_cents: int


PRODUCTS = tuple(
    Product(f"p{number:02}", name, category, price_cents)
    for number, (name, category, price_cents) in enumerate(
        [
            ("sewing thread", "thread", 249),
            ("silk thread", "thread", 799),
            ("mixed thread ends", "thread", 99),
            ("star spool, flat", "spools", 450),
            ("star spool, standing", "spools", 1250),
            ("plain spool", "spools", 180),
            ("crossbar, small", "parts", 320),
            ("crossbar, large", "parts", 520),
            ("right-angled rod", "parts", 275),
            ("stairwell lamp", "house", 3900),
            ("attic key", "house", 640),
            ("doormat", "house", 1490),
        ]
    )
)


@dataclass(frozen=True, slots=True)
class Order:
    """A customer has ordered some of a product, at a time."""

    order_id: int
    customer: str
    product_id: str
    quantity: int
    at_ms: int

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()


class Line(NamedTuple):
    """What is written to the topic, and the order in it if it can be read."""

    key: bytes
    value: bytes
    order: Order | None


def lines(seed: int) -> Iterator[Line]:
    """Endless orders. The time is filled in by whoever sends them: it is 0 here."""
    random, number = Random(seed), 0
    while True:
        number += 1
        # A few customers order often, most of them seldom; small quantities are the rule.
        customer = f"c{int(CUSTOMERS * random.random() ** 2):03}"
        product = random.choice(PRODUCTS)
        quantity = min(9, 1 + int(random.expovariate(0.8)))
        order = Order(number, customer, product.product_id, quantity, 0)
        is_broken = random.randrange(BROKEN_ONE_IN) == 0
        yield Line(customer.encode(), order.to_json(), None if is_broken else order)


def stamped(line: Line, now_ms: int) -> Line:
    """The line as it is sent at a time; a broken one is cut off in the middle."""
    if line.order is None:
        return line._replace(value=line.value[: len(line.value) // 2])
    order = replace(line.order, at_ms=now_ms)
    return Line(line.key, order.to_json(), order)


def closing_bell(now_ms: int) -> Line:
    """An order for nothing, from so late a time that every window before it is over."""
    at_ms = now_ms + WINDOW_MS + LATE_MS_MAX + 1
    order = Order(0, BELL, PRODUCTS[0].product_id, 0, at_ms)
    return Line(BELL.encode(), order.to_json(), order)


class Total(NamedTuple):
    """How many orders, and for how much."""

    orders: int
    cents: int


Totals = dict[tuple[int, str], Total]  # By the start of the window in milliseconds, and category.


def totals_of(orders: Iterable[Order]) -> Totals:
    """What the stream must come to, window by window."""
    catalogue = {product.product_id: product for product in PRODUCTS}
    found: Totals = {}
    for order in orders:
        product = catalogue[order.product_id]
        key = order.at_ms - order.at_ms % WINDOW_MS, product.category
        orders_before, cents = found.get(key, Total(0, 0))
        found[key] = Total(orders_before + 1, cents + order.quantity * product.price_cents)
    return found


def by_category(totals: Totals) -> dict[str, Total]:
    """The totals of all windows together."""
    found: dict[str, Total] = {}
    for (_, category), total in sorted(totals.items()):
        orders, cents = found.get(category, Total(0, 0))
        found[category] = Total(orders + total.orders, cents + total.cents)
    return found
