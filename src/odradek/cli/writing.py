"""Records from lines: each line is a value, a key and a value, or an object that has all; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from odradek.cli.payloads import Format, Unreadable, to_bytes
from odradek.kafka.wire.records import Header


class NewRecord(NamedTuple):
    """A record to be written; where and when may be left open."""

    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    partition: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class LineReader:
    """How lines become records."""

    value_format: Format = Format.TEXT
    key_format: Format = Format.TEXT
    key: bytes | None = None  # Of every record whose line has none.
    separator: str | None = None  # Between key and value.
    headers: tuple[Header, ...] = ()
    is_object: bool = False

    def read(self, line: str) -> NewRecord:
        if self.is_object:
            return self._read_object(line)
        key, value = self.key, line
        if self.separator is not None:
            before, found, after = line.partition(self.separator)
            if found:
                key, value = to_bytes(before, self.key_format), after
        return NewRecord(key, to_bytes(value, self.value_format), self.headers)

    def _read_object(self, line: str) -> NewRecord:
        """An object as `odradek consume --json` writes it."""
        try:
            said = json.loads(line)
        except ValueError as error:
            raise Unreadable(f"{line[:60]!r} is not json: {error}") from error
        if not isinstance(said, dict) or "value" not in said:
            raise Unreadable(f"{line[:60]!r} is not an object with a value")
        key = to_bytes(said["key"], self.key_format) if "key" in said else self.key
        return NewRecord(
            key,
            to_bytes(said["value"], self.value_format),
            self.headers + tuple(_headers(said.get("headers") or [])),
            said.get("partition"),
            said.get("timestamp"),
        )


def _headers(said: Any) -> Iterator[Header]:
    if isinstance(said, dict):
        said = list(said.items())
    try:
        for name, value in said:
            yield str(name), to_bytes(value, Format.TEXT)
    except (TypeError, ValueError) as error:
        raise Unreadable(f"headers {said!r} are no list of pairs") from error
