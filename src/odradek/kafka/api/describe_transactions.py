"""DescribeTransactions (key 65, version 0): transactions that this broker coordinates, by id."""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.txn_answers import describe
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)


async def describe_transactions(
    message: DescribeTransactionsRequest, request: Request, broker: Broker
) -> DescribeTransactionsResponse:
    shard_of = broker.coordinators.transactions.shard_of
    return DescribeTransactionsResponse(
        throttle_time_ms=0,
        transaction_states=[describe(shard_of(each), each) for each in message.transactional_ids],
    )
