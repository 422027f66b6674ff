"""The settings of a producer, under the names that Kafka's own producer gives them.

Defaults are Kafka's but for `batch.size` and `max.request.size`: whoever writes in bulk has full
batches, without waiting for them. What contradicts itself is refused, as Kafka does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from odradek.kafka.client.errors import InvalidSetting
from odradek.kafka.client.settings import (
    INT32_MAX,
    MEBIBYTE,
    ClientSettings,
    client_settings,
    is_between,
    problems_of,
)
from odradek.kafka.wire.compression import Codec

ACKS = {"all": -1, "-1": -1, "0": 0, "1": 1}
IN_FLIGHT_MAX_IDEMPOTENT = 5  # As many batches of a producer as a broker remembers.
LEVELS = {
    Codec.GZIP: "compression.gzip.level",
    Codec.LZ4: "compression.lz4.level",
    Codec.ZSTD: "compression.zstd.level",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings:
    """What a producer needs to know."""

    client: ClientSettings
    acks: int = -1
    is_idempotent: bool = True
    codec: Codec = Codec.NONE
    level: int | None = None
    batch_bytes_max: int = MEBIBYTE // 2
    request_bytes_max: int = 4 * MEBIBYTE
    requests_in_flight_max: int = IN_FLIGHT_MAX_IDEMPOTENT
    buffer_bytes_max: int = 32 * MEBIBYTE
    delivery_timeout_ms: int = 120_000
    transaction_timeout_ms: int = 60_000

    def for_task(self) -> ProducerSettings:
        """The same, for a process that is one of many and soon done."""
        return replace(self, client=self.client.for_task())


# Kafka's key, our field, the least and the most.
_NUMBERS: dict[str, tuple[str, int, int]] = {
    "batch.size": ("batch_bytes_max", 0, INT32_MAX // 2),
    "max.request.size": ("request_bytes_max", 0, INT32_MAX // 2),
    "max.in.flight.requests.per.connection": ("requests_in_flight_max", 1, INT32_MAX),
    "buffer.memory": ("buffer_bytes_max", 0, 2**63 - 1),
    "delivery.timeout.ms": ("delivery_timeout_ms", 1, INT32_MAX),
    "transaction.timeout.ms": ("transaction_timeout_ms", 1, INT32_MAX),
}
_LEVELS: dict[str, tuple[int, int]] = {
    "compression.gzip.level": (-1, 9),
    "compression.lz4.level": (1, 17),
    "compression.zstd.level": (-131072, 22),
}


def producer_settings(properties: Mapping[str, str], **fields: Any) -> ProducerSettings:
    """Read Kafka's own keys; refuse the first that cannot be. `fields` go before them."""
    problems = problems_of_producer(properties)
    if problems:
        raise problems[0]
    found: dict[str, Any] = {
        field: int(properties[key]) for key, (field, *_) in _NUMBERS.items() if key in properties
    }
    acks = ACKS[properties.get("acks", "all").lower()]
    codec = Codec[properties.get("compression.type", "none").upper()]
    level = properties.get(LEVELS.get(codec, ""))
    found |= {
        "client": client_settings(properties),
        "acks": acks,
        # Only who asks for less gets less.
        "is_idempotent": properties.get("enable.idempotence", "true").lower() == "true"
        and acks == -1
        and found.get("requests_in_flight_max", 1) <= IN_FLIGHT_MAX_IDEMPOTENT,
        "codec": codec,
        "level": None if level is None else int(level),
    }
    return ProducerSettings(**{**found, **fields})


def problems_of_producer(properties: Mapping[str, str]) -> list[InvalidSetting]:
    """All that is wrong with the properties, so that a user can mend it in one go."""
    problems = problems_of(properties)
    bounds = {key: (least, most) for key, (_, least, most) in _NUMBERS.items()} | _LEVELS
    for key, (least, most) in bounds.items():
        if key in properties and not is_between(properties[key], least, most):
            reason = f"must be a whole number from {least} to {most}"
            problems.append(InvalidSetting(key, properties[key], reason))
    for key, words in {
        "acks": tuple(ACKS),
        "compression.type": tuple(codec.name.lower() for codec in Codec),
        "enable.idempotence": ("true", "false"),
    }.items():
        if key in properties and properties[key].lower() not in words:
            reason = f"must be one of {', '.join(words)}"
            problems.append(InvalidSetting(key, properties[key], reason))
    return problems or _contradictions(properties)


def _contradictions(properties: Mapping[str, str]) -> list[InvalidSetting]:
    if properties.get("enable.idempotence", "").lower() != "true":
        return []
    problems = []
    acks, in_flight = "acks", "max.in.flight.requests.per.connection"
    if ACKS[properties.get(acks, "all").lower()] != -1:
        problems.append(InvalidSetting(acks, properties[acks], "must be all to be idempotent"))
    if int(properties.get(in_flight, "1")) > IN_FLIGHT_MAX_IDEMPOTENT:
        reason = f"must be at most {IN_FLIGHT_MAX_IDEMPOTENT} to be idempotent"
        problems.append(InvalidSetting(in_flight, properties[in_flight], reason))
    return problems
