"""A Kafka connection without its socket: bytes in, requests or responses out, and back.

Requests may be pipelined, and answers leave in the order of the requests whatever the order in
which they are ready: clients rely on it. Whoever breaks the protocol gets a `ProtocolError` raised
after all that came before it was handed over; the shell then closes the socket without an answer,
as Kafka does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from struct import Struct as Format
from typing import NamedTuple

from odradek.kafka.wire.apis import API_VERSIONS, APIS, PRODUCE, Api
from odradek.kafka.wire.codec import Buffer, encode, read
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from odradek.kafka.wire.messages.header import RequestHeader, ResponseHeader
from odradek.kafka.wire.messages.produce import ProduceRequest
from odradek.kafka.wire.repeats import FRAME_BYTES_MAX, Repeat, Repeats
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import LENGTH, Frame, FrameReader, FrameTooLarge

REQUEST_BYTES_MAX = 104_857_600  # socket.request.max.bytes
RESPONSE_BYTES_MAX = 2**31 - 1
REQUEST_START = Format(">Ii")  # api key and version together, correlation id
RESPONSE_HEAD = Format(">ii")
KIND = Format(">I")
KEY_AND_VERSION = Format(">hh")
CORRELATION_ID = Format(">i")
ERROR_CODE = Format(">h")
NO_TAGS = b"\0"
ADVERTISED = frozenset(key for key, api in APIS.items() if api.is_advertised)


class Origin(NamedTuple):
    """Where requests come from: the listener that took them in, and the peer's address."""

    listener: str
    address: str


NOWHERE = Origin("", "")
NO_CLIENT = (-1, b"", None)
NO_ANSWER: tuple[Sequence[Buffer], int] = ((), 0)


class Framed:
    """What both ends share: frames in, buffers out."""

    __slots__ = ("_output", "frames")

    def __init__(self, frame_bytes_max: int, scratch: bytearray | None) -> None:
        self.frames = FrameReader(frame_bytes_max, scratch)
        self._output: list[Buffer] = []

    def get_buffer(self) -> memoryview:
        """Where the socket's next bytes belong."""
        return self.frames.get_buffer()

    def take_output(self) -> list[Buffer]:
        """Take what may leave now, in order."""
        output, self._output = self._output, []
        return output

    def _cut(self, received: int | bytes) -> Iterable[Frame]:
        """The frames that `received` completes: a count in our buffer, or bytes of their own.

        They are cut out now, for the buffer may be used by others; what is wrong behind them is
        raised in its turn.
        """
        try:
            if isinstance(received, int):
                return self.frames.received(received)
            return self.frames.feed(received)
        except FrameTooLarge as error:
            return followed_by(error.before, error)


def followed_by(frames: Iterable[Frame], error: ProtocolError) -> Iterator[Frame]:
    yield from frames
    raise error


@dataclass(slots=True, eq=False)
class Request:
    """A request as a broker received it."""

    api: Api
    version: int
    correlation_id: int
    client_id: str | None
    message: Message
    origin: Origin = NOWHERE
    size: int = 0  # Of its frame, in bytes.
    tags: bytes = b""  # What stands between the head and the body of its answer.
    answer: Sequence[Buffer] | None = field(default=None, repr=False)  # Until its turn comes.
    answer_bytes: int = 0


class Route(NamedTuple):
    """What is the same for all requests of one kind and version."""

    api: Api
    version: int
    key: int
    request: type[Message]
    header_version: int
    tags: bytes


ROUTES: dict[int, Route] = {}  # By key and version together, made when first asked for.


def route_of(kind: int) -> Route | None:
    """How to read requests of a kind; None if there is no such version."""
    key, version = KEY_AND_VERSION.unpack(KIND.pack(kind))
    api = APIS[key]
    if not api.versions.covers(version):
        return None
    tags = NO_TAGS if api.response_header_version(version) else b""
    header_version = api.request_header_version(version)
    route = ROUTES[kind] = Route(api, version, key, api.request, header_version, tags)
    return route


class ServerConnection(Framed):
    """The broker's end: it takes the requests whose api keys are `served`."""

    __slots__ = ("_client", "_origin", "_served", "_unanswered", "output_bytes", "repeats")

    def __init__(
        self,
        frame_bytes_max: int = REQUEST_BYTES_MAX,
        scratch: bytearray | None = None,
        origin: Origin = NOWHERE,
        served: Container[int] = ADVERTISED,
    ) -> None:
        super().__init__(frame_bytes_max, scratch)
        self.output_bytes = 0  # Of what may leave now.
        self._unanswered: deque[Request] = deque()
        self._origin = origin
        self._served = served
        # What stood in the last header behind the correlation id, and what it said: clients
        # repeat themselves.
        self._client: tuple[int, bytes, str | None] = NO_CLIENT
        self.repeats = Repeats()

    @property
    def unanswered_count(self) -> int:
        return len(self._unanswered)

    def receive(self, received: int | bytes) -> Iterator[Request]:
        """Take bytes from the socket; give the requests that they complete.

        Each is opened when it is asked for, so one who takes them slowly holds frames alone.
        """
        return filter(None, map(self._open, self._cut(received)))

    def repeat(self, count: int) -> Repeat | None:
        """What so many bytes in our buffer ask, if it is the usual: then they are taken with it.

        All before must have been answered.
        """
        if count > FRAME_BYTES_MAX:
            return None
        frame = self.frames.sole(count)
        return None if frame is None else self.repeats.find(frame)

    def respond(self, request: Request, response: Message | None) -> None:
        """Answer a request, or (None) let it go unanswered, as acks=0 wants."""
        request.answer, request.answer_bytes = (
            NO_ANSWER if response is None else answer(request, response)
        )
        unanswered = self._unanswered
        while unanswered and (ready := unanswered[0]).answer is not None:
            self._output += ready.answer
            self.output_bytes += ready.answer_bytes
            unanswered.popleft()

    def take_output(self) -> list[Buffer]:
        output, self._output, self.output_bytes = self._output, [], 0
        return output

    def _open(self, frame: Frame) -> Request | None:
        if len(frame) < REQUEST_START.size:
            raise ProtocolError(f"a request of {len(frame)} bytes")
        kind, correlation_id = REQUEST_START.unpack_from(frame)
        route = ROUTES.get(kind)
        if route is None or route.key not in self._served:
            route = self._find_route(kind, correlation_id)
            if route is None:
                return None
        api, version, key, message_kind, header_version, tags = route
        known_version, head, client_id = self._client
        end = REQUEST_START.size + len(head)
        if header_version != known_version or frame[REQUEST_START.size : end] != head:
            header, end = read(RequestHeader, header_version, frame, 0)
            client_id = header.client_id
            self._client = header_version, bytes(frame[REQUEST_START.size : end]), client_id
        message, _ = read(message_kind, version, frame, end)
        if key == PRODUCE:
            self._note(frame, version, message)
        request = Request(
            api, version, correlation_id, client_id, message, self._origin, len(frame), tags
        )
        self._unanswered.append(request)
        return request

    def _note(self, frame: Frame, version: int, message: Message) -> None:
        assert isinstance(message, ProduceRequest)
        if isinstance(frame, bytes) and len(frame) <= FRAME_BYTES_MAX:
            self.repeats.note(frame, version, message)

    def _find_route(self, kind: int, correlation_id: int) -> Route | None:
        key, version = KEY_AND_VERSION.unpack(KIND.pack(kind))
        if key not in APIS or key not in self._served:
            raise ProtocolError(f"a request with the unknown api key {key}")
        route = route_of(kind)
        if route is None:
            self._refuse_version(APIS[key], version, correlation_id)
        return route

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


def answer(request: Request, response: Message) -> tuple[Sequence[Buffer], int]:
    """The frame that answers a request, and how many bytes it has."""
    parts, tags = encode(response, request.version), request.tags
    size = 4 + len(tags) + sum(map(len, parts))
    return [RESPONSE_HEAD.pack(size, request.correlation_id) + tags, *parts], 4 + size


class Sent(NamedTuple):
    """A request on its way, until its response comes."""

    correlation_id: int
    api: Api
    version: int
    header_version: int  # Of its response.


class Heads(NamedTuple):
    """What is around the correlation id in all requests of a kind, and how their answers begin."""

    start: bytes
    rest: bytes
    response_header_version: int


class Written(NamedTuple):
    """A request that was written before, in the version that it is sent in."""

    kind: type[Message]
    body: bytes


class Response(NamedTuple):
    """A response, and which request it answers."""

    correlation_id: int
    message: Message


class ClientConnection(Framed):
    """The client's end."""

    __slots__ = ("_client_id", "_heads", "_next_correlation_id", "_sent")

    def __init__(self, client_id: str | None, frame_bytes_max: int = RESPONSE_BYTES_MAX) -> None:
        super().__init__(frame_bytes_max, None)
        self._client_id = client_id
        self._heads: dict[tuple[int, int], Heads] = {}  # By key and version.
        self._next_correlation_id = 0
        self._sent: deque[Sent] = deque()

    @property
    def in_flight_count(self) -> int:
        return len(self._sent)

    def send(self, message: Message | Written, version: int, *, is_answered: bool = True) -> int:
        """Queue a request; return its correlation id. Produce with acks=0 is not answered."""
        parts: Sequence[Buffer]
        if isinstance(message, Written):
            kind, parts = message.kind, (message.body,)
        else:
            kind, parts = type(message), encode(message, version)
        key = kind.__wire__.api_key
        assert key is not None and kind is APIS[key].request
        api, correlation_id = APIS[key], self._next_correlation_id
        start, rest, header_version = self._heads.get((key, version)) or self._head_of(api, version)
        head = start + CORRELATION_ID.pack(correlation_id) + rest
        size = len(head) + sum(map(len, parts))
        self._output += [LENGTH.pack(size) + head, *parts]
        self._next_correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        if is_answered:
            self._sent.append(Sent(correlation_id, api, version, header_version))
        return correlation_id

    def _head_of(self, api: Api, version: int) -> Heads:
        header = RequestHeader(
            request_api_key=api.key,
            request_api_version=version,
            correlation_id=0,
            client_id=self._client_id,
        )
        head = b"".join(encode(header, api.request_header_version(version)))
        start = KEY_AND_VERSION.size
        rest = head[start + CORRELATION_ID.size :]
        heads = Heads(head[:start], rest, api.response_header_version(version))
        self._heads[api.key, version] = heads
        return heads

    def receive(self, received: int | bytes) -> Iterator[Response]:
        """Take bytes from the socket; give the responses that they complete."""
        return map(self._open, self._cut(received))

    def _open(self, frame: Frame) -> Response:
        if not self._sent:
            raise ProtocolError("a response, but nothing was asked")
        correlation_id, api, version, header_version = self._sent.popleft()
        told_id, end = read_response_head(frame, header_version)
        if told_id != correlation_id:
            raise ProtocolError(f"a response to request {told_id}; {correlation_id} comes first")
        if api.key == API_VERSIONS and is_refusal(frame, end):
            version = 0  # A broker that lacks our version answers in the oldest.
        return Response(correlation_id, read(api.response, version, frame, end)[0])


def read_response_head(frame: Frame, header_version: int) -> tuple[int, int]:
    """The correlation id, and where the body begins."""
    end = CORRELATION_ID.size + header_version
    if len(frame) >= end and (not header_version or frame[end - 1] == 0):
        return CORRELATION_ID.unpack_from(frame)[0], end  # No tags, as ever so far.
    header, end = read(ResponseHeader, header_version, frame, 0)
    return header.correlation_id, end


def is_refusal(frame: Frame, position: int) -> bool:
    code = frame[position : position + ERROR_CODE.size]
    return bytes(code) == ERROR_CODE.pack(ErrorCode.UNSUPPORTED_VERSION)
