"""What the coordinator wants done: batches to append, and answers to send.

An append is one batch of the shard's partition. Whatever depends on it happens when the shell
says how it went, and not before: what is not in the log did not happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from odradek.kafka.wire.batch_writer import (
    PLAIN,
    Envelope,
    WrittenRecords,
    write_encoded_batch,
)
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.schema import Struct


class Asker(NamedTuple):
    """Who waits for an answer: the shell's own token, and the version that was spoken."""

    token: object
    version: int


class Answer(NamedTuple):
    """A message for whoever gave this token."""

    token: object
    response: Struct


class Append(NamedTuple):
    """One batch for the shard's partition. Offsets count from 0; the log stamps its own."""

    number: int  # By which the shell reports how it went.
    records: WrittenRecords
    time_ms: int
    envelope: Envelope = PLAIN

    def batch(self, codec: Codec = Codec.NONE) -> bytearray:
        """Its bytes, ready to be stamped and written."""
        is_so = codec is self.envelope.codec
        envelope = self.envelope if is_so else replace(self.envelope, codec=codec)
        return write_encoded_batch(*self.records, self.time_ms, envelope)


class Effects(NamedTuple):
    """What came of one call, in the order in which it must be done."""

    answers: Sequence[Answer]
    appends: Sequence[Append]
    deadline_ms: int | None  # When to call `tick` at the latest, if nothing else comes.


@dataclass(slots=True)
class Outbox:
    """Gathers the effects of one call."""

    answers: list[Answer] = field(default_factory=list)
    appends: list[Append] = field(default_factory=list)

    def answer(self, asker: Asker, response: Struct) -> None:
        self.answers.append(Answer(asker.token, response))

    def take(self, deadline_ms: int | None) -> Effects:
        effects = Effects(self.answers, self.appends, deadline_ms)
        self.answers, self.appends = [], []
        return effects
