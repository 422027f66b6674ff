"""Whether what came out is what went in, told in a table."""

from __future__ import annotations

from dataclasses import dataclass

from odradek.demo.orders import Total, Totals, by_category


@dataclass(frozen=True, slots=True)
class Accounts:
    """What went in, and what was found at the two ends."""

    expected: Totals
    broken_count: int
    topic: Totals
    parquet: Totals
    parquet_rows: int
    parquet_orders: int
    parquet_broken: int

    @property
    def order_count(self) -> int:
        return sum(total.orders for total in self.expected.values())

    def differences(self) -> list[str]:
        """All that does not add up; nothing, if all is well."""
        found = _differences("the topic", self.topic, self.expected)
        found += _differences("Parquet", self.parquet, self.expected)
        counts = {
            "rows in Parquet": (self.parquet_rows, self.order_count + self.broken_count),
            "different orders in Parquet": (self.parquet_orders, self.order_count),
            "orders that cannot be read": (self.parquet_broken, self.broken_count),
        }
        for what, (given, wanted) in counts.items():
            if given != wanted:
                found.append(f"{what}: {given:,} instead of {wanted:,}")
        return found

    def table(self) -> str:
        """Orders and revenue by category: as sent, in the topic, in the files."""
        sent, topic, files = map(by_category, (self.expected, self.topic, self.parquet))
        rows: list[tuple[str, ...]] = [
            ("category", "orders sent", "in topic", "in Parquet", "revenue", "in topic")
        ]
        rows += [_row(name, sent, topic, files) for name in sent]
        together = {"all": _sum(sent)}, {"all": _sum(topic)}, {"all": _sum(files)}
        rows.append(_row("all", *together))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "\n".join(_aligned(row, widths) for row in rows)


ByCategory = dict[str, Total]


def _row(name: str, sent: ByCategory, topic: ByCategory, files: ByCategory) -> tuple[str, ...]:
    nothing = Total(0, 0)
    counts = [f"{one.get(name, nothing).orders:,}" for one in (sent, topic, files)]
    money = [f"{one.get(name, nothing).cents / 100:,.2f}" for one in (sent, topic)]
    return name, *counts, *money


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    """Names to the left, numbers to the right."""
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *cells[1:]])


def _sum(totals: ByCategory) -> Total:
    return Total(sum(t.orders for t in totals.values()), sum(t.cents for t in totals.values()))


def _differences(where: str, found: Totals, expected: Totals) -> list[str]:
    return [
        f"{where}, window {window} of {category}: {found.get((window, category))}"
        f" instead of {expected.get((window, category))}"
        for window, category in sorted(found.keys() | expected.keys())
        if found.get((window, category)) != expected.get((window, category))
    ]
