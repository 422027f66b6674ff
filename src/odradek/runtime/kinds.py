"""Kinds of setting: how a text becomes a value, or why it cannot.

The names are Kafka's and so are the rules, down to what a JVM takes for a number: a file that we
accept must not be refused by the servers that people may move to. Times and sizes are plain
numbers, for the keys name the unit. What is wrong with a text is a `ValueError` for its writer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Generic, Self, TypeVar

from odradek.runtime.secret import Secret

Value = TypeVar("Value")
Number = TypeVar("Number", int, float)
AnEnum = TypeVar("AnEnum", bound=Enum)

WHOLE = re.compile(r"[+-]?0*[0-9]{1,19}")
BYTE_COUNT = re.compile(r"0*[0-9]{1,19}|0[xX]0*[0-9A-Fa-f]{1,16}")
DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
COMMA = re.compile(r"\s*,\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Kind(Generic[Value]):
    """How to read one kind of value; `read` raises ValueError for a text that it does not take."""

    name: str
    read: Callable[[str], Value]
    is_secret: bool = False

    def where(self, is_good: Callable[[Value], bool], reason: str) -> Self:
        """The same kind, but what is not good is refused for that reason."""

        def read(text: str) -> Value:
            value = self.read(text)
            if not is_good(value):
                raise ValueError(reason)
            return value

        return replace(self, read=read)

    def one_of(self, *choices: Value) -> Self:
        return self.where(lambda value: value in choices, f"must be one of {listed(choices)}")


class NumberKind(Kind[Number]):
    """A kind with an order."""

    __slots__ = ()

    def at_least(self, low: Number) -> Self:
        return self.where(lambda value: value >= low, f"must be at least {low}")

    def between(self, low: Number, high: Number, *, or_else: Number | None = None) -> Self:
        """`or_else` is a value outside that has a meaning of its own, such as -1."""
        reason = f"must be from {low} to {high}" + ("" if or_else is None else f", or {or_else}")
        return self.where(lambda value: low <= value <= high or value == or_else, reason)


class ListKind(Kind[tuple[str, ...]]):
    """Texts between commas."""

    __slots__ = ()

    def not_empty(self) -> Self:
        return self.where(bool, "must name at least one")

    def items_of(self, *choices: str) -> Self:
        reason = f"must be a list of {listed(choices)}"
        return self.where(lambda items: set(items) <= set(choices), reason)


def choice(options: type[AnEnum], *, any_case: bool = False) -> Kind[AnEnum]:
    """A member of an enum, written as its value."""

    def fold(text: str) -> str:
        return text.lower() if any_case else text

    members = {fold(str(member.value)): member for member in options}

    def read(text: str) -> AnEnum:
        if member := members.get(fold(text)):
            return member
        raise ValueError(f"must be one of {listed(member.value for member in options)}")

    return Kind("STRING", read)


def listed(choices: Iterable[object]) -> str:
    return ", ".join(map(str, choices))


def whole(name: str, bits: int) -> NumberKind[int]:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def read(text: str) -> int:
        if WHOLE.fullmatch(text) and low <= (value := int(text)) <= high:
            return value
        raise ValueError(f"must be a whole number from {low} to {high}")

    return NumberKind(name, read)


def either(yes: str, no: str) -> Kind[bool]:
    def read(text: str) -> bool:
        if text.lower() not in (yes, no):
            raise ValueError(f"must be {yes} or {no}")
        return text.lower() == yes

    return Kind("BOOLEAN", read)


def read_decimal(text: str) -> float:
    if match := DECIMAL.fullmatch(text):
        return float(match[1])
    raise ValueError("must be a number")


def read_byte_count(text: str) -> int:
    if BYTE_COUNT.fullmatch(text):
        return int(text, 16) if text[:2] in ("0x", "0X") else int(text)
    raise ValueError("must be a number of bytes, such as 1048575 or 0xfffff")


def read_list(text: str) -> tuple[str, ...]:
    return tuple(COMMA.split(text)) if text else ()


BOOLEAN = either("true", "false")
YES_NO = either("yes", "no")
SHORT = whole("SHORT", 16)
INT = whole("INT", 32)
LONG = whole("LONG", 64)
DOUBLE: NumberKind[float] = NumberKind("DOUBLE", read_decimal)
BYTES: NumberKind[int] = NumberKind("LONG", read_byte_count)
STRING: Kind[str] = Kind("STRING", str)
CLASS: Kind[str] = Kind("CLASS", str).where(bool, "must name a class")
LIST = ListKind("LIST", read_list)
PASSWORD: Kind[Secret] = Kind("PASSWORD", Secret, is_secret=True)
