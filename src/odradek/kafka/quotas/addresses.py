"""How quickly connections may come from one address (KIP-612)."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address

from odradek.kafka.quotas.limits import number
from odradek.kafka.quotas.rates import Rate, Windows
from odradek.kafka.quotas.shares import Uses

KEY = "connection_creation_rate"


class AddressQuota:
    """The limits of addresses, and of all that have none of their own."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._limits: dict[str | None, float] = {}
        self._uses: Uses[str, Rate] = Uses(Rate, windows.span_ms)

    def __bool__(self) -> bool:
        return bool(self._limits)

    def put(self, address: str | None, texts: Mapping[str, str]) -> None:
        """Take over what is said of an address; None: of all others."""
        name = None if address is None else plain(address)
        self._limits.pop(name, None)
        value = number(texts.get(KEY))
        if value is not None:
            self._limits[name] = value

    def charge(self, address: str, now_ms: float) -> int:
        """One more comes; for how many milliseconds it must be kept away, and is not counted."""
        name = plain(address)
        limit = self._limits.get(name, self._limits.get(None))
        if limit is None:
            return 0
        rate = self._uses.get(name, now_ms)
        rate.record(1, self._windows, now_ms)
        pause_ms = min(self._windows.size_ms, rate.pause_ms(limit, self._windows, now_ms))
        if pause_ms:
            rate.record(-1, self._windows, now_ms)
        return pause_ms


def plain(address: str) -> str:
    """One text for one address, however it is written."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)
