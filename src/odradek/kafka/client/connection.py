"""One socket to one broker, for a thread that may block.

Requests may be sent ahead of the answers to those before; answers come in the order of the
requests. After any trouble the connection is closed and stays so: what was in flight is lost,
and its sender is told by `ConnectionLost`.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from selectors import EVENT_READ, DefaultSelector
from threading import Lock
from time import monotonic
from typing import TypeVar, cast

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.errors import ConnectionLost
from odradek.kafka.client.settings import ClientSettings
from odradek.kafka.client.versions import ApiVersions
from odradek.kafka.wire.codec import Buffer
from odradek.kafka.wire.connection import ClientConnection, Response
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import Lender

R = TypeVar("R", bound=Message)
API_VERSIONS_NEWEST = 3  # What every broker since 2.4 has; older ones answer in version 0.
BUFFERS_MAX = 64  # Well below the number of buffers that the system takes in one call.


class BlockingConnection:
    """A connection that has been made, and knows what the broker speaks."""

    def __init__(
        self,
        address: Address,
        settings: ClientSettings,
        opened: Callable[[BlockingConnection], object] = lambda _: None,
    ) -> None:
        """`opened` is called as soon as there is a socket, before the first word."""
        self.address = address
        self._closing = Lock()
        self._cut_reason = ""
        self._timeout_s = settings.request_timeout_ms / 1000
        self._wire = ClientConnection(settings.client_id)
        self._arrived: deque[Response] = deque()
        self._socket = _connect(address, settings)
        self.used_at = monotonic()
        opened(self)
        self.versions = self._ask_versions()

    @property
    def is_closed(self) -> bool:
        return self._socket.fileno() < 0

    @property
    def in_flight_count(self) -> int:
        return self._wire.in_flight_count + len(self._arrived)

    @property
    def has_answer(self) -> bool:
        """Whether an answer is here that nobody has taken yet."""
        return bool(self._arrived)

    def borrow_room(self, lender: Lender | None) -> None:
        """Receive large answers in what is lent from now on; None ends that."""
        self._wire.frames.lender = lender

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Message) -> int:
        """Send a request in the newest version that both sides know; return its number."""
        return self._send(message, self.versions.version_of(type(message)))

    def receive(self, timeout_s: float | None = None) -> Response:
        """The answer to the oldest request that has none yet."""
        self._socket.settimeout(self._timeout_s if timeout_s is None else timeout_s)
        try:
            while not self._arrived:
                self._fill()
        except (OSError, ProtocolError) as error:
            self.close()
            reason = self._cut_reason or error or type(error).__name__
            raise ConnectionLost(f"{self.address}: {reason}") from error
        self.used_at = monotonic()
        return self._arrived.popleft()

    def request(self, message: Message, response: type[R]) -> R:
        """Send a request and wait for its answer, with nothing else in flight."""
        assert not self.in_flight_count
        self.send(message)
        return cast(R, self.receive().message)

    def close(self) -> None:
        with self._closing:
            self._socket.close()

    def cut(self, reason: str) -> None:
        """End it from another thread: whoever waits for an answer is told at once."""
        # The lock keeps the number of the socket from being another's by the time we use it.
        with self._closing, suppress(OSError):
            self._cut_reason = reason
            self._socket.shutdown(socket.SHUT_RDWR)

    def send_unanswered(self, message: Message) -> None:
        """Send a request that the broker does not answer: Produce with acks=0."""
        self._send(message, self.versions.version_of(type(message)), is_answered=False)

    def _fill(self) -> None:
        count = self._socket.recv_into(self._wire.get_buffer())
        if not count:
            raise ConnectionResetError("the broker closed the connection")
        self._arrived.extend(self._wire.receive(count))

    def _send(self, message: Message, version: int, *, is_answered: bool = True) -> int:
        number = self._wire.send(message, version, is_answered=is_answered)
        try:
            self._socket.settimeout(self._timeout_s)
            _send_all(self._socket, self._wire.take_output())
        except OSError as error:
            self.close()
            raise ConnectionLost(f"{self.address}: {error}") from error
        return number

    def _ask_versions(self) -> ApiVersions:
        answer = self._exchange_versions(API_VERSIONS_NEWEST)
        if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            answer = self._exchange_versions(0)
        if answer.error_code:
            self.close()
            raise ConnectionLost(f"{self.address}: ApiVersions: error {answer.error_code}")
        return ApiVersions(answer.api_keys)

    def _exchange_versions(self, version: int) -> ApiVersionsResponse:
        request = ApiVersionsRequest(
            client_software_name="odradek", client_software_version=_software_version()
        )
        self._send(request, version)
        return cast(ApiVersionsResponse, self.receive().message)


def has_news(
    connections: Collection[BlockingConnection], timeout_s: float
) -> list[BlockingConnection]:
    """Those on which something came within the time, be it only the end."""
    if arrived := [connection for connection in connections if connection.has_answer]:
        return arrived  # Answers that came together were read together: no socket tells of them.
    with DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, EVENT_READ, connection)
        return [key.data for key, _ in selector.select(timeout_s)]


def _connect(address: Address, settings: ClientSettings) -> socket.socket:
    try:
        made = socket.create_connection(address, settings.connection_setup_timeout_ms / 1000)
    except OSError as error:
        raise ConnectionLost(f"{address}: {error}") from error
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if settings.receive_buffer_bytes >= 0:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, settings.receive_buffer_bytes)
    if settings.send_buffer_bytes >= 0:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, settings.send_buffer_bytes)
    return made


def _send_all(to: socket.socket, buffers: list[Buffer]) -> None:
    """Send buffers one after another, as few calls as the system allows, without joining them."""
    views = deque(memoryview(buffer).cast("B") for buffer in buffers if len(buffer))
    while views:
        count = to.sendmsg([views[at] for at in range(min(len(views), BUFFERS_MAX))])
        while views and count >= len(views[0]):
            count -= len(views.popleft())
        if count:
            views[0] = views[0][count:]


@cache
def _software_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("odradek")
    except PackageNotFoundError:  # Run from a folder that was shipped without its metadata.
        return "unknown"
