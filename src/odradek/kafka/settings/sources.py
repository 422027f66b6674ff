"""Where a value comes from, and the other values that it hides."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Source(IntEnum):
    """Where a value comes from, as a number that travels."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6


# Of a broker, the strongest first.
OF_A_BROKER = (
    Source.DYNAMIC_BROKER,
    Source.DYNAMIC_DEFAULT_BROKER,
    Source.STATIC_BROKER,
    Source.DEFAULT,
)


class Synonym(NamedTuple):
    """One of the values that might have counted; a secret has none to show."""

    key: str
    value: str | None
    source: Source
