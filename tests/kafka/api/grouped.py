"""A broker that coordinates groups and transactions, and short ways to ask it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from odradek.kafka.coordinator.shard import Status
from odradek.kafka.coordinator.transactions import Phase
from odradek.kafka.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from tests.kafka.api.administered import Administered, administered

SMALL: dict[str, Any] = {
    "offsets_topic_replication_factor": 1,
    "offsets_topic_num_partitions": 2,
    "transaction_state_log_replication_factor": 1,
    "transaction_state_log_num_partitions": 2,
    "transaction_state_log_min_isr": 1,
    "group_initial_rebalance_delay_ms": 0,
}
Story = Callable[[Administered], Awaitable[None]]


def coordinating(**settings: Any) -> Callable[[Story], Callable[[Path], None]]:
    """Make a test of a story: both coordinators serve; topic `t` has two partitions."""

    def test_of(story: Story) -> Callable[[Path], None]:
        async def tell(broker: Administered) -> None:
            for key_type in (0, 1):
                message = FindCoordinatorRequest(key="x", key_type=key_type)
                response = await broker.ask(message, 3, FindCoordinatorResponse)
                assert response.error_code == 0
            coordinators = broker.broker.coordinators
            groups, transactions = coordinators.groups.here, coordinators.transactions.here
            await broker.until(
                lambda: (
                    all(each.shard.status is Status.ACTIVE for each in groups.values())
                    and all(each.shard.phase is Phase.ACTIVE for each in transactions.values())
                )
            )
            await broker.create("t", 2)
            await story(broker)

        tell.__name__, tell.__doc__ = story.__name__, story.__doc__
        return administered(**{**SMALL, **settings})(tell)

    return test_of


async def init(
    broker: Administered, transactional_id: str | None = "x", timeout_ms: int = 60_000
) -> InitProducerIdResponse:
    message = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
    )
    return await broker.ask(message, 4, InitProducerIdResponse)
