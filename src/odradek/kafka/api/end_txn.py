"""EndTxn (key 26, versions 0-4): commit or abort a transaction.

Answered once the decision is in the log; from then on it stands, and markers go out.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_effects import Token
from odradek.kafka.coordinator.txn_errors import for_version
from odradek.kafka.coordinator.txn_state import Claim
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse


async def end_txn(message: EndTxnRequest, request: Request, broker: Broker) -> EndTxnResponse:
    claim = Claim(message.transactional_id, message.producer_id, message.producer_epoch)

    def handle(shard: TransactionShard, token: Token, now_ms: int) -> None:
        shard.end(token, claim, is_commit=message.committed, now_ms=now_ms)

    answer = await broker.coordinators.transactions.ask(message.transactional_id, handle)
    code = for_version(answer.code, request.api.key, request.version)
    return EndTxnResponse(throttle_time_ms=0, error_code=code)
