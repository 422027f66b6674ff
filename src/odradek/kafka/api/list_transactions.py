"""ListTransactions (key 66, versions 0-1): the transactions that this broker coordinates.

They may be filtered by state and producer id; v1 adds how long they are open at least.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.txn_answers import list_all
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)


async def list_transactions(
    message: ListTransactionsRequest, request: Request, broker: Broker
) -> ListTransactionsResponse:
    coordinators = broker.coordinators
    shards = [each.shard for each in coordinators.transactions.here.values()]
    return list_all(shards, message, coordinators.clock.now_ms())
