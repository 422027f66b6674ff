"""Kinds of setting that only ZooKeeper has.

Its own keys are plain decimals. What it reads as a JVM's system property may also be written in
hexadecimal or octal: `0xfffff`, `#fffff`, and `010` is eight.
"""

from __future__ import annotations

import re

from odradek.runtime.kinds import INT, Kind, NumberKind

DECODED = re.compile(r"([+-]?)(0[xX]|#|0(?=[0-9]))?([0-9A-Fa-f]+)")
BASES = {"0x": 16, "#": 16, "0": 8, "": 10}


def decoded(name: str, bits: int) -> NumberKind[int]:
    """A whole number as a JVM decodes the text of a system property."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def read(text: str) -> int:
        value = decode(text)
        if value is None or not low <= value <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return value

    return NumberKind(name, read)


def decode(text: str) -> int | None:
    match = DECODED.fullmatch(text)
    if match is None:
        return None
    sign, prefix, digits = match.groups(default="")
    try:
        return int(sign + digits, BASES[prefix.lower()])
    except ValueError:  # Digits that the base does not have: `08`, `ff`.
        return None


def read_yes_or_no(text: str) -> bool:
    """Only the exact words: `skipACL=Yes` must not open the doors."""
    if text not in ("yes", "no"):
        raise ValueError("must be yes or no")
    return text == "yes"


def read_config_version(text: str) -> int:
    if re.fullmatch(r"[0-9A-Fa-f]{1,16}", text):
        return int(text, 16)
    raise ValueError("must be a zxid in hexadecimal, without 0x")


PROPERTY_INT = decoded("INT", 32)
PROPERTY_LONG = decoded("LONG", 64)
YES_OR_NO: Kind[bool] = Kind("BOOLEAN", read_yes_or_no)
PORT = INT.between(0, 65535)
PROPERTY_PORT = PROPERTY_INT.between(0, 65535)
CONFIG_VERSION: Kind[int] = Kind("LONG", read_config_version)
