"""A Kafka connection without its socket: bytes in, requests or responses out, and back.

Requests may be pipelined, and answers leave in the order of the requests whatever the order in
which they are ready: clients rely on it. Whoever breaks the protocol gets a `ProtocolError` raised
after all that came before it was handed over; the shell then closes the socket without an answer,
as Kafka does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct as Format
from typing import NamedTuple

from odradek.kafka.wire.apis import API_VERSIONS, APIS, Api
from odradek.kafka.wire.codec import Buffer, encode, read
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from odradek.kafka.wire.messages.header import RequestHeader, ResponseHeader
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import LENGTH, Frame, FrameReader, FrameTooLarge

REQUEST_BYTES_MAX = 104_857_600  # socket.request.max.bytes
RESPONSE_BYTES_MAX = 2**31 - 1
REQUEST_START = Format(">hhi")  # api key, version, correlation id
RESPONSE_HEAD = Format(">ii")
ERROR_CODE = Format(">h")
NO_TAGS = b"\0"


class Framed:
    """What both ends share: frames in, buffers out."""

    def __init__(self, frame_bytes_max: int, scratch: bytearray | None) -> None:
        self._frames = FrameReader(frame_bytes_max, scratch)
        self._output: list[Buffer] = []

    def get_buffer(self) -> memoryview:
        """Where the socket's next bytes belong."""
        return self._frames.get_buffer()

    def take_output(self) -> list[Buffer]:
        """Take what may leave now, in order."""
        output, self._output = self._output, []
        return output

    def _cut(self, received: int | bytes) -> Iterator[Frame]:
        """The frames that `received` completes: a count in our buffer, or bytes of their own."""
        try:
            if isinstance(received, int):
                yield from self._frames.received(received)
            else:
                yield from self._frames.feed(received)
        except FrameTooLarge as error:
            yield from error.before
            raise


@dataclass(slots=True, eq=False)
class Request:
    """A request as a broker received it."""

    api: Api
    version: int
    correlation_id: int
    client_id: str | None
    message: Message
    answer: list[Buffer] | None = field(default=None, repr=False)  # Kept until its turn comes.


class ServerConnection(Framed):
    """The broker's end."""

    def __init__(
        self, frame_bytes_max: int = REQUEST_BYTES_MAX, scratch: bytearray | None = None
    ) -> None:
        super().__init__(frame_bytes_max, scratch)
        self._unanswered: deque[Request] = deque()

    @property
    def unanswered_count(self) -> int:
        return len(self._unanswered)

    def receive(self, received: int | bytes) -> Iterator[Request]:
        """Take bytes from the socket; give the requests that they complete."""
        for frame in self._cut(received):
            request = self._open(frame)
            if request is not None:
                yield request

    def respond(self, request: Request, response: Message | None) -> None:
        """Answer a request, or (None) let it go unanswered, as acks=0 wants."""
        request.answer = [] if response is None else answer(request, response)
        while self._unanswered and (ready := self._unanswered[0].answer) is not None:
            self._output += ready
            self._unanswered.popleft()

    def _open(self, frame: Frame) -> Request | None:
        if len(frame) < REQUEST_START.size:
            raise ProtocolError(f"a request of {len(frame)} bytes")
        key, version, correlation_id = REQUEST_START.unpack_from(frame)
        api = APIS.get(key)
        if api is None or not api.is_advertised:
            raise ProtocolError(f"a request with the unknown api key {key}")
        if not api.versions.covers(version):
            self._refuse_version(api, version, correlation_id)
            return None
        header, end = read(RequestHeader, api.request_header_version(version), frame, 0)
        message, _ = read(api.request, version, frame, end)
        request = Request(api, version, correlation_id, header.client_id, message)
        self._unanswered.append(request)
        return request

    def _refuse_version(self, api: Api, version: int, correlation_id: int) -> None:
        """Answer ApiVersions from a newer client so that it can try again; refuse all else."""
        if api.key != API_VERSIONS:
            raise ProtocolError(f"{api.name} version {version} is not one of {api.versions}")
        supported = ApiVersion(
            api_key=api.key, min_version=api.versions.first, max_version=api.versions.last
        )
        refusal = ApiVersionsResponse(
            error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[supported]
        )
        request = Request(api, 0, correlation_id, None, refusal)
        self._unanswered.append(request)
        self.respond(request, refusal)


def answer(request: Request, response: Message) -> list[Buffer]:
    """The frame that answers a request."""
    parts = encode(response, request.version)
    header = NO_TAGS if request.api.response_header_version(request.version) else b""
    size = 4 + len(header) + sum(map(len, parts))
    return [RESPONSE_HEAD.pack(size, request.correlation_id) + header, *parts]


class Sent(NamedTuple):
    """A request on its way, until its response comes."""

    correlation_id: int
    api: Api
    version: int


class Response(NamedTuple):
    """A response, and which request it answers."""

    correlation_id: int
    message: Message


class ClientConnection(Framed):
    """The client's end."""

    def __init__(self, client_id: str | None, frame_bytes_max: int = RESPONSE_BYTES_MAX) -> None:
        super().__init__(frame_bytes_max, None)
        self._client_id = client_id
        self._next_correlation_id = 0
        self._sent: deque[Sent] = deque()

    @property
    def in_flight_count(self) -> int:
        return len(self._sent)

    def send(self, message: Message, version: int, *, is_answered: bool = True) -> int:
        """Queue a request; return its correlation id. Produce with acks=0 is not answered."""
        key = type(message).__wire__.api_key
        assert key is not None and type(message) is APIS[key].request
        api, correlation_id = APIS[key], self._next_correlation_id
        parts = encode(message, version)
        header = RequestHeader(
            request_api_key=key,
            request_api_version=version,
            correlation_id=correlation_id,
            client_id=self._client_id,
        )
        head = encode(header, api.request_header_version(version))
        size = sum(map(len, head)) + sum(map(len, parts))
        self._output += [LENGTH.pack(size), *head, *parts]
        self._next_correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        if is_answered:
            self._sent.append(Sent(correlation_id, api, version))
        return correlation_id

    def receive(self, received: int | bytes) -> Iterator[Response]:
        """Take bytes from the socket; give the responses that they complete."""
        for frame in self._cut(received):
            yield self._open(frame)

    def _open(self, frame: Frame) -> Response:
        if not self._sent:
            raise ProtocolError("a response, but nothing was asked")
        correlation_id, api, version = self._sent.popleft()
        header, end = read(ResponseHeader, api.response_header_version(version), frame, 0)
        if header.correlation_id != correlation_id:
            raise ProtocolError(
                f"a response to request {header.correlation_id}; {correlation_id} comes first"
            )
        if api.key == API_VERSIONS and is_refusal(frame, end):
            version = 0  # A broker that lacks our version answers in the oldest.
        return Response(correlation_id, read(api.response, version, frame, end)[0])


def is_refusal(frame: Frame, position: int) -> bool:
    code = frame[position : position + ERROR_CODE.size]
    return bytes(code) == ERROR_CODE.pack(ErrorCode.UNSUPPORTED_VERSION)
