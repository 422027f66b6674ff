"""Why something asked for was not done: Kafka's error code, and words for the asker if any."""

from __future__ import annotations

from typing import NamedTuple

from odradek.kafka.wire.errors import ErrorCode


class Refusal(NamedTuple):
    """Nothing was changed."""

    code: ErrorCode
    message: str | None = None
