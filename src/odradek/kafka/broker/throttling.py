"""Holding clients back that use more than their quota.

An answer leaves at once and says for how long its client is to wait; for that long the broker does
not hear that connection, so who does not wait gains nothing (KIP-219). Bytes of Produce count when
it is answered; those of a Fetch before, and if they are too many, the answer is empty and they do
not count. Time on the loop counts for all that clients ask, not for what brokers ask of each other.

Where nobody has a quota, `is_on` is all that is ever asked.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping
from functools import partial
from types import coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from odradek.kafka.admin.entities import Absent
from odradek.kafka.quotas.addresses import AddressQuota
from odradek.kafka.quotas.limits import read_path
from odradek.kafka.quotas.rates import Windows
from odradek.kafka.quotas.shares import BurstQuota, RateQuota
from odradek.kafka.wire.apis import PRODUCE
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.fetch import FetchRequest
from odradek.kafka.wire.messages.produce import ProduceRequest
from odradek.kafka.wire.schema import Message, fields_of
from odradek.runtime.clock import loop_ms

if TYPE_CHECKING:
    from odradek.kafka.broker.configs import Configs
    from odradek.kafka.settings import BrokerSettings

ANONYMOUS = "ANONYMOUS"  # Who came without saying who they are.
BY_DEFAULT = Windows(11, 1000)
THROTTLE_TIME = "throttle_time_ms"
NEVER = 1 << 15  # No version of any request is as high.
# What brokers and controllers ask of each other: nobody may hold that up.
OF_BROKERS = frozenset({4, 5, 6, 7, 27, 56, 58, 67})

Answer = TypeVar("Answer", bound=Message)


class Mutations:
    """What one request changes of the cluster, as far as it may (KIP-599)."""

    def __init__(self, throttling: Throttling, request: Request, *, is_strict: bool) -> None:
        self.throttle_time_ms = 0
        self._throttling = throttling
        self._request = request
        self._is_strict = is_strict

    def may_change(self, partitions_count: int) -> bool:
        """Whether so many partitions may be made or removed; a strict no is an error."""
        throttling, request = self._throttling, self._request
        pause_ms = throttling.mutated.charge(
            ANONYMOUS,
            request.client_id or "",
            partitions_count,
            throttling.now_ms(),
            is_strict=self._is_strict,
        )
        self.throttle_time_ms = max(self.throttle_time_ms, pause_ms)
        return not (pause_ms and self._is_strict)


class Throttling:
    """The quotas of one broker's clients."""

    def __init__(self) -> None:
        self.is_on = False  # Whether any client has a quota.
        self.pauses: dict[str, int] = {}  # How often somebody was held back, by api.
        self.now_ms: Callable[[], float] = loop_ms
        self._cut_time(BY_DEFAULT, BY_DEFAULT)

    def _cut_time(self, windows: Windows, controller_windows: Windows) -> None:
        self.produced = RateQuota("producer_byte_rate", windows)
        self.fetched = RateQuota("consumer_byte_rate", windows)
        self.spent = RateQuota("request_percentage", windows, pause_max_ms=windows.size_ms)
        self.mutated = BurstQuota("controller_mutation_rate", controller_windows)
        self.addresses = AddressQuota(windows)

    # What is said of clients

    def follow(self, configs: Configs, settings: BrokerSettings) -> None:
        """Know what is said of clients now, and from now on."""
        self._cut_time(
            Windows(settings.quota_window_num, settings.quota_window_size_seconds * 1000),
            Windows(
                settings.controller_quota_window_num,
                settings.controller_quota_window_size_seconds * 1000,
            ),
        )
        for path, texts in configs.clients.items():
            self.take(path, texts)
        configs.changed.append(lambda path: self.take(path, configs.clients.get(path, {})))

    def take(self, path: str, texts: Mapping[str, str]) -> None:
        """This is all that is said of an entity, by its path below /config."""
        entity = read_path(path)
        if entity is None:
            return
        if not isinstance(entity.ip, Absent):
            self.addresses.put(entity.ip, texts)
            return
        quotas = (self.produced, self.fetched, self.spent, self.mutated)
        for quota in quotas:
            quota.limits.put(entity, texts)
        self.is_on = any(quota.limits for quota in quotas)

    # What clients do

    def fetch_bytes_max(self, request: Request, bytes_max: int) -> int:
        """No answer may be so large that it could never be sent within the quota."""
        most = self.fetched.most(ANONYMOUS, request.client_id or "")
        return bytes_max if most is None else min(bytes_max, int(most))

    def charge_fetch(self, request: Request, bytes_count: int) -> int:
        """For how long a consumer must wait instead of getting so many bytes; 0: it gets them."""
        who = ANONYMOUS, request.client_id or ""
        pause_ms = self.fetched.charge(*who, bytes_count, self.now_ms())
        if pause_ms:
            self.fetched.refund(*who, bytes_count, self.now_ms())
        return pause_ms

    def mutations(self, request: Request, strict_since: int = NEVER) -> Mutations | None:
        """The quota of a request that changes the cluster; None: there is none."""
        if not self.mutated.limits:
            return None
        return Mutations(self, request, is_strict=request.version >= strict_since)

    def settle(self, request: Request, response: Message | None, spent_s: float) -> int:
        """A request is answered: for how many milliseconds its connection is not to be heard."""
        if is_of_brokers(request):
            return 0
        who, now_ms = (ANONYMOUS, request.client_id or ""), self.now_ms()
        pause_ms: int = getattr(response, THROTTLE_TIME, 0)
        if request.api.key == PRODUCE:
            pause_ms = max(pause_ms, self.produced.charge(*who, request.size, now_ms))
        if not is_unanswered(request):
            pause_ms = max(pause_ms, self.spent.charge(*who, spent_s * 100, now_ms))
        if pause_ms:
            name = request.api.name
            self.pauses[name] = self.pauses.get(name, 0) + 1
        return pause_ms


@coroutine
def metered(
    handler: Coroutine[Any, Any, Message | None],
    request: Request,
    throttling: Throttling,
    clock_s: Callable[[], float],
    mute: Callable[[int], None],
) -> Generator[Any, Any, Message | None]:
    """Do what a handler does, and count the time that it takes, its waits left out."""
    spent_s, step = 0.0, partial(handler.send, None)
    while True:
        begun_s = clock_s()
        try:
            waits_for = step()
        except StopIteration as done:
            response: Message | None = done.value
            pause_ms = throttling.settle(request, response, spent_s + clock_s() - begun_s)
            if not pause_ms:
                return response
            mute(pause_ms)
            return response and told_to_wait(response, request.version, pause_ms)
        spent_s += clock_s() - begun_s
        try:
            sent = yield waits_for
        except BaseException as error:
            step = partial(handler.throw, error)
        else:
            step = partial(handler.send, sent)


def is_of_brokers(request: Request) -> bool:
    message = request.message
    if isinstance(message, FetchRequest):
        return max(message.replica_id, message.replica_state.replica_id) >= 0
    return request.api.key in OF_BROKERS


def is_unanswered(request: Request) -> bool:
    return isinstance(request.message, ProduceRequest) and request.message.acks == 0


def told_to_wait(response: Answer, version: int, pause_ms: int) -> Answer:
    """The same answer, which also says how long to wait, if its version can."""
    kind = type(response)
    can = any(it.name == THROTTLE_TIME and it.versions.covers(version) for it in fields_of(kind))
    if not can or getattr(response, THROTTLE_TIME) == pause_ms:
        return response
    values = {name: getattr(response, name) for name in kind.__declared__}
    return kind(**{**values, THROTTLE_TIME: pause_ms})
