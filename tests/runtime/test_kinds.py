"""What each kind of setting takes, and what it says to the rest."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.kinds import (
    BOOLEAN,
    BYTES,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    SHORT,
    STRING,
    YES_NO,
    Kind,
    choice,
)
from odradek.runtime.secret import Secret


class Policy(Enum):
    COMPACT = "compact"
    DELETE = "delete"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (BOOLEAN, "true", True),
        (BOOLEAN, "FALSE", False),
        (YES_NO, "yes", True),
        (YES_NO, "no", False),
        (SHORT, "-32768", -32768),
        (INT, "2147483647", 2147483647),
        (INT, "+007", 7),
        (LONG, "9223372036854775807", 9223372036854775807),
        (DOUBLE, "1.7976931348623157E308", 1.7976931348623157e308),
        (DOUBLE, ".5f", 0.5),
        (DOUBLE, "-3", -3.0),
        (BYTES, "0xfffff", 1048575),
        (BYTES, "1048576", 1048576),
        (LIST, "", ()),
        (LIST, "a , b,,c", ("a", "b", "", "c")),
        (LIST.items_of("a", "b"), "b,a", ("b", "a")),
        (STRING, "", ""),
        (STRING.one_of("gzip", "zstd"), "zstd", "zstd"),
        (INT.between(1, 9, or_else=-1), "-1", -1),
        (INT.at_least(14), "14", 14),
        (choice(Policy), "compact", Policy.COMPACT),
        (choice(Policy, any_case=True), "DELETE", Policy.DELETE),
        (PASSWORD, "hunter2", Secret("hunter2")),
    ],
)
def test_a_good_text_becomes_its_value(kind: Kind[Any], text: str, value: object) -> None:
    assert kind.read(text) == value


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (BOOLEAN, "yes", "must be true or false"),
        (YES_NO, "false", "must be yes or no"),
        (SHORT, "32768", "whole number from -32768 to 32767"),
        (INT, "2147483648", "whole number from -2147483648 to 2147483647"),
        (INT, "9" * 5000, "whole number"),
        (INT, "1_000", "whole number"),
        (INT, "1.0", "whole number"),
        (INT, "", "whole number"),
        (LONG, "\u0664", "whole number"),
        (DOUBLE, "NaN", "must be a number"),
        (DOUBLE, "1_0.5", "must be a number"),
        (BYTES, "-1", "number of bytes"),
        (BYTES, "64k", "number of bytes"),
        (INT.at_least(14), "13", "must be at least 14"),
        (DOUBLE.between(0, 1), "1.01", "must be from 0 to 1"),
        (INT.between(1, 9, or_else=-1), "0", "must be from 1 to 9, or -1"),
        (STRING.one_of("gzip", "zstd"), "GZIP", "must be one of gzip, zstd"),
        (LIST.items_of("compact", "delete"), "compact,drop", "must be a list of compact, delete"),
        (LIST.not_empty(), "", "must name at least one"),
        (choice(Policy), "COMPACT", "must be one of compact, delete"),
        (CLASS, "", "must name a class"),
    ],
)
def test_a_bad_text_is_refused_with_a_reason(kind: Kind[Any], text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        kind.read(text)


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_long_is_read_back(number: int) -> None:
    assert LONG.read(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_is_read_back(number: float) -> None:
    assert DOUBLE.read(repr(number)) == number
