"""A refusal: why a request was not done, as the client will read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from odradek.kafka.wire.errors import ErrorCode


class RecordError(NamedTuple):
    """What is wrong with one record, by its place in the batch (KIP-467)."""

    batch_index: int
    message: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing was changed."""

    code: ErrorCode
    message: str = ""
    record_errors: tuple[RecordError, ...] = ()
