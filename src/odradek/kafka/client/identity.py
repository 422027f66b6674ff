"""Who a producer is: a producer id and an epoch, from a coordinator or any broker.

A transactional id is looked after by one broker, its coordinator, which may move. Whatever is
asked of it is asked again, of whoever it is by then, as long as that may help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import (
    BrokerRefused,
    ConnectionLost,
    NoBroker,
    is_retriable,
    name_of,
)
from odradek.kafka.client.patience import Patience
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.schema import Message

INT32_MAX = 2**31 - 1
GROUP, TRANSACTION = 0, 1  # What a coordinator is asked for.
NEWS_OF_THE_COORDINATOR = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)


@dataclass(frozen=True, slots=True)
class Identity:
    """A producer id with its epoch; `transactional_id` is None for whoever is only idempotent."""

    producer_id: int
    epoch: int
    transactional_id: str | None = None


NOBODY = Identity(-1, -1)


R = TypeVar("R", bound=Message)


class Coordinated:
    """Asks the coordinator of one group or transactional id."""

    def __init__(self, cluster: Cluster, kind: int, key: str) -> None:
        self._cluster = cluster
        self._kind = kind
        self._key = key
        self._address: Address | None = None

    def ask(self, what: str, message: Message, kind: type[R], code_of: Callable[[R], int]) -> R:
        """The answer to a request, once it is none that a retry helps against."""
        patience = self._cluster.patience(f"{what} of {self._key}")
        return ask_patiently(patience, lambda: self._ask_once(message, kind), code_of, self._forget)

    def _forget(self) -> None:
        self._address = None

    def _ask_once(self, message: Message, kind: type[R]) -> R:
        if self._address is None:
            self._address = self._find()
        with self._cluster.brokers.lend(self._address) as connection:
            return connection.request(message, kind)

    def _find(self) -> Address:
        request = FindCoordinatorRequest(key=self._key, key_type=self._kind)
        patience = self._cluster.patience(f"the coordinator of {self._key}")
        answer = ask_patiently(
            patience,
            lambda: self._cluster.ask_any(request, FindCoordinatorResponse),
            lambda response: response.error_code,
        )
        if answer.error_code:
            raise BrokerRefused(f"the coordinator of {self._key}", answer.error_code)
        return Address(answer.host, answer.port)


def init_idempotent(cluster: Cluster) -> Identity:
    """A new identity, for whoever wants no record twice and has no transactions."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=INT32_MAX)
    answer = ask_patiently(
        cluster.patience("a producer id"),
        lambda: cluster.ask_any(request, InitProducerIdResponse),
        lambda response: response.error_code,
    )
    if answer.error_code:
        raise BrokerRefused("a producer id", answer.error_code)
    return Identity(answer.producer_id, answer.producer_epoch)


def ask_patiently(
    patience: Patience,
    ask: Callable[[], R],
    code_of: Callable[[R], int],
    forget: Callable[[], None] = lambda: None,
) -> R:
    """The first answer that no retry helps against; `forget` who was asked if it was the wrong."""
    while True:
        try:
            response = ask()
        except (ConnectionLost, NoBroker) as error:
            forget()
            patience.pause(error)
            continue
        code = code_of(response)
        if not is_retriable(code):
            return response
        if code in NEWS_OF_THE_COORDINATOR:
            forget()
        patience.pause(name_of(code))
