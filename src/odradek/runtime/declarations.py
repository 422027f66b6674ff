"""Declarations: one line says a setting's key, kind and default.

    log_segment_bytes: int = setting("log.segment.bytes", INT.at_least(14), default=1 << 30)
    broker_rack: str | None = setting("broker.rack", STRING, default=None)
    data_directory: str = setting("dataDir", STRING)  # Without a default it must be given.
    log_retention_ms: int = setting(
        "log.retention.ms",
        LONG,
        default=168 * HOUR_MS,
        otherwise=[
            Alias("log.retention.minutes", INT, times=MINUTE_MS),
            Alias("log.retention.hours", INT, times=HOUR_MS),
        ],
    )
    servers: Mapping[int, str] = prefixed("server.", STRING, names=INT)

To the type checker a declaration is the value that it will become.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from odradek.runtime.kinds import STRING, Kind
from odradek.runtime.properties import Entry, Problem, Properties

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS

# What Java's trim() takes off: both servers trim every value.
TRIMMED = "".join(map(chr, range(0x21)))
REQUIRED: Any = object()

Value = TypeVar("Value")
Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class Alias:
    """Another key for the same thing, perhaps of its own kind and in a unit `times` as large."""

    key: str
    kind: Kind[Any] | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Declaration:
    """A setting by its key."""

    key: str
    kind: Kind[Any]
    default: Any
    otherwise: tuple[Alias, ...]

    @property
    def all_keys(self) -> list[str]:
        """The keys that may give this value; the first that does wins."""
        return [self.key, *(alias.key for alias in self.otherwise)]

    def is_secret(self, key: str) -> bool:
        return self.kind.is_secret and key in self.all_keys

    def read(self, properties: Properties, problems: list[Problem]) -> Any:
        """Read all that is given, used or not, so that every problem is seen."""
        given = [
            self._read_alias(alias, entry, problems)
            for alias in (Alias(self.key), *self.otherwise)
            if (entry := properties.entries.get(alias.key))
        ]
        if given:
            return given[0]
        if self.default is REQUIRED and all(problem.key != self.key for problem in problems):
            problems.append(Problem("is required, but not given", self.key, properties.file))
        return self.default

    def _read_alias(self, alias: Alias, entry: Entry, problems: list[Problem]) -> Any:
        value = read_entry(alias.kind or self.kind, entry, problems)
        # Below zero there is no amount but a word, as -1 for "without limit".
        return value * alias.times if alias.times != 1 and value and value > 0 else value


@dataclass(frozen=True, slots=True)
class PrefixDeclaration:
    """Settings whose keys share a beginning and go on with a name: `server.1`, `server.2`."""

    prefix: str
    kind: Kind[Any]
    names: Kind[Any]

    def is_secret(self, key: str) -> bool:
        return self.kind.is_secret and key.startswith(self.prefix)

    def read(self, entries: Mapping[str, Entry], problems: list[Problem]) -> Mapping[Any, Any]:
        return {
            self._read_name(key, entry, problems): read_entry(self.kind, entry, problems)
            for key, entry in entries.items()
            if key.startswith(self.prefix)
        }

    def _read_name(self, key: str, entry: Entry, problems: list[Problem]) -> Any:
        try:
            return self.names.read(key.removeprefix(self.prefix))
        except ValueError as error:
            reason = f"what follows {self.prefix!r} {error}"
            problems.append(Problem(reason, entry.key, entry.file, entry.line))
            return None


def read_entry(kind: Kind[Any], entry: Entry, problems: list[Problem]) -> Any:
    """The entry's value, or None and one problem more."""
    try:
        return kind.read(entry.value.strip(TRIMMED))
    except ValueError as error:
        problems.append(entry.problem(str(error), is_secret=kind.is_secret))
        return None


@overload
def setting(key: str, kind: Kind[Value], *, otherwise: Sequence[Alias] = ()) -> Value: ...
@overload
def setting(
    key: str, kind: Kind[Value], *, default: None, otherwise: Sequence[Alias] = ()
) -> Value | None: ...
@overload
def setting(
    key: str, kind: Kind[Value], *, default: Value, otherwise: Sequence[Alias] = ()
) -> Value: ...
def setting(
    key: str, kind: Kind[Any], *, default: Any = REQUIRED, otherwise: Sequence[Alias] = ()
) -> Any:
    """Declare a setting; without `default` it is required."""
    return Declaration(key, kind, default, tuple(otherwise))


@overload
def prefixed(prefix: str, kind: Kind[Value]) -> Mapping[str, Value]: ...
@overload
def prefixed(prefix: str, kind: Kind[Value], *, names: Kind[Name]) -> Mapping[Name, Value]: ...
def prefixed(prefix: str, kind: Kind[Any], *, names: Kind[Any] = STRING) -> Any:
    """Declare all keys that begin so, except those declared by themselves."""
    return PrefixDeclaration(prefix, kind, names)
