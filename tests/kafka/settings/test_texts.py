"""Values are written as a JVM writes them."""

from __future__ import annotations

import pytest

from odradek.kafka.settings.texts import text_of
from odradek.runtime.secret import Secret


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1.0, "1.0"),
        (0.0, "0.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.0, "1.23456789E8"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (-2.5e-10, "-2.5E-10"),
        (True, "true"),
        (("a", "b"), "a,b"),
        ((), ""),
        (-1, "-1"),
        (None, None),
        (Secret("hunter2"), None),
    ],
)
def test_a_value_has_one_text(value: object, text: str | None) -> None:
    assert text_of(value) == text
