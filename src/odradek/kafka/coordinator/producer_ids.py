"""Producer ids: unique in the cluster, for they are given out in blocks that nobody gets twice.

The controller keeps the last block in the znode `/latest_producer_id_block` and writes the next
one there under the version that it read. A broker uses up its block and asks for another when
nine tenths are gone, so that clients seldom wait.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode
from odradek.runtime.errors import ProtocolError

PATH = "/latest_producer_id_block"
BLOCK_LENGTH = 1000
PRODUCER_ID_MAX = 2**63 - 1
RETRY_MS = 50


class Block(NamedTuple):
    """A run of ids."""

    first: int
    length: int = BLOCK_LENGTH

    @property
    def last(self) -> int:
        return self.first + self.length - 1


NO_BLOCK = Block(0, 0)


def decide_next_block(data: bytes | None) -> Block | Refusal:
    """The block behind the one in the znode, which is empty at first."""
    if not data:
        return Block(0)
    last = decode_block(data).last
    if last > PRODUCER_ID_MAX - BLOCK_LENGTH:
        reason = f"all producer ids are given out: the last block ends at {last}"
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR, reason)
    return Block(last + 1)


def encode_block(block: Block, broker_id: int) -> bytes:
    """What the znode holds once a broker has been given this block; both ends are in it."""
    fields = {
        "version": 1,
        "broker": broker_id,
        "block_start": str(block.first),
        "block_end": str(block.last),
    }
    return json.dumps(fields, separators=(",", ":")).encode()


def decode_block(data: bytes) -> Block:
    """Read what this or another controller wrote."""
    try:
        fields = json.loads(data)
        first, last = int(fields["block_start"]), int(fields["block_end"])
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(f"{PATH} holds no block of producer ids: {data!r}") from error
    if not 0 <= first <= last <= PRODUCER_ID_MAX:
        raise ProtocolError(f"{PATH} holds ids from {first} to {last}")
    return Block(first, last - first + 1)


@dataclass(slots=True)
class ProducerIds:
    """What a broker has left of its block, and the block after it once that has come."""

    block: Block = NO_BLOCK
    next_id: int = 0
    spare: Block | None = None
    is_asking: bool = False
    ask_again_ms: int | None = None  # After a refusal.

    @property
    def has_any(self) -> bool:
        return self.next_id <= self.block.last or self.spare is not None

    def take(self) -> int | None:
        """A new id; None if a block must come first: the client is told to try again."""
        if self.next_id > self.block.last:
            if self.spare is None:
                return None
            self._open(self.spare)
        self.next_id += 1
        return self.next_id - 1

    def ask(self, now_ms: int) -> bool:
        """Whether the controller must be asked for a block now; if so, the caller does it."""
        if self.is_asking or self.spare is not None or not self._is_nearly_used_up:
            return False
        if self.ask_again_ms is not None and now_ms < self.ask_again_ms:
            return False
        self.is_asking, self.ask_again_ms = True, None
        return True

    def receive(self, block: Block, now_ms: int) -> bool:
        """Take over a block from the controller, unless it cannot be a new one."""
        is_range = 0 <= block.first <= PRODUCER_ID_MAX - block.length and block.length > 0
        if not is_range or block.first <= self.block.last:
            self.refused(now_ms)
            return False
        self.is_asking, self.spare = False, block
        return True

    def refused(self, now_ms: int) -> None:
        """The controller gave none, or did not answer."""
        self.is_asking, self.ask_again_ms = False, now_ms + RETRY_MS

    @property
    def _is_nearly_used_up(self) -> bool:
        threshold = self.block.first + self.block.length * 9 // 10
        return self.next_id > min(threshold, self.block.last)

    def _open(self, block: Block) -> None:
        self.block, self.next_id, self.spare = block, block.first, None
