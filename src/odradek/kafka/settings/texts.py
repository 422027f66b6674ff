"""Values as the protocol shows them: texts, the way a JVM writes them."""

from __future__ import annotations

from enum import Enum

from odradek.kafka.settings.versions import Version
from odradek.runtime.secret import Secret


def text_of(value: object) -> str | None:
    """The text of a typed value; None for what is not set, and for what must not be seen."""
    if value is None or isinstance(value, Secret):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Version):
        return value.text
    if isinstance(value, tuple):
        return ",".join(value)
    return decimal_text(value) if isinstance(value, float) else str(value)


def decimal_text(value: float) -> str:
    """`0.5`, but `1.0E7`: a JVM turns to exponents at other sizes than Python does."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    written = (f"{value:.{places}e}" for places in range(1, 18))
    digits, _, exponent = next(it for it in written if float(it) == value).partition("e")
    return f"{digits}E{int(exponent)}"
