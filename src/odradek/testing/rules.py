"""Which requests are disturbed, and how: refused, or held up, pure.

A rule is about one API, as told by its name; it may be about one broker alone, and may be used up.
By default it is for clients: brokers among themselves go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from odradek.kafka.wire.apis import APIS, Api
from odradek.kafka.wire.errors import ErrorCode
from odradek.testing.answers import can_refuse
from odradek.testing.errors import CannotBeDone

CLIENT = "client"


@dataclass(slots=True, eq=False)
class Rule:
    """What to do with requests of one API."""

    api: Api
    error: ErrorCode | None = None
    delay_s: float = 0.0
    left: int | None = None  # How often it still counts; None is always.
    broker: str | None = None
    source: str | None = CLIENT  # Who must ask; None is anybody.
    hits: int = 0

    def covers(self, key: int, broker: str, source: str) -> bool:
        return (
            self.api.key == key
            and self.left != 0
            and self.broker in (None, broker)
            and self.source in (None, source)
        )

    def use(self) -> None:
        self.hits += 1
        if self.left is not None:
            self.left -= 1


@dataclass(slots=True)
class Rules:
    """All rules; those that were made last come first."""

    rules: list[Rule] = field(default_factory=list)

    def match(self, key: int, broker: str, source: str) -> tuple[float, ErrorCode | None]:
        """How long to hold up a request, and what to refuse it with; used up as told."""
        delay_s, error = 0.0, None
        for rule in reversed(self.rules):
            if rule.covers(key, broker, source) and (rule.error is None or error is None):
                rule.use()
                delay_s += rule.delay_s
                error = error or rule.error
        return delay_s, error


class Fault:
    """Something that is wrong until `end`, or as long as a `with` block."""

    def __init__(self, rule: Rule, end: Callable[[], None]) -> None:
        self._rule = rule
        self._end = end

    @property
    def hits(self) -> int:
        """How often it has struck."""
        return self._rule.hits

    def end(self) -> None:
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.end()


def api_named(name: str, *, is_refused: bool = False) -> Api:
    """An API by its name in Kafka, such as Produce; upper and lower case are the same."""
    for api in APIS.values():
        if api.name.lower() == name.lower():
            if is_refused and not can_refuse(api):
                raise CannotBeDone(f"an answer to {api.name} has no place for an error")
            return api
    names = ", ".join(sorted(api.name for api in APIS.values()))
    raise CannotBeDone(f"there is no API {name}; there are {names}")


def error_named(name: str) -> ErrorCode:
    """An error by its name in Kafka, such as NOT_LEADER_OR_FOLLOWER."""
    try:
        return ErrorCode[name.upper()]
    except KeyError as error:
        raise CannotBeDone(f"there is no error {name}") from error
