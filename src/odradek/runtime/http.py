"""HTTP for operators: a few small pages, asked for by hand, by monitors and by scripts.

A request has a head of at most 8 KiB and no body that we would read: after one that brings a body
the connection is closed. A client that says nothing for too long is cut off. There are libraries
for this; they take 60 ms to import and 9 MB to hold, more than the server itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

HEAD_BYTES_MAX = 8192
REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
}
VERSIONS = ("HTTP/1.0", "HTTP/1.1")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What is asked for; names of headers are in small letters."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    address: str  # Of the client.
    stays_open: bool = True


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What is answered: a body, or pieces of one whose length is known."""

    body: bytes = b""
    status: int = 200
    kind: str = "text/plain"
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: AsyncIterator[bytes] | None = None
    piece_bytes: int = 0

    def head(self, *, stays_open: bool) -> bytes:
        size = self.piece_bytes if self.pieces else len(self.body)
        lines = [
            f"HTTP/1.1 {self.status} {REASONS[self.status]}",
            f"Content-Type: {self.kind}",
            f"Content-Length: {size}",
            f"Connection: {'keep-alive' if stays_open else 'close'}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")


class BadRequest(Exception):
    """No request that we understand; `status` says why."""

    def __init__(self, status: int) -> None:
        super().__init__(REASONS[status])
        self.status = status


Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]


class HttpServer:
    """A port, and who answers there."""

    def __init__(self, handle: Handler, silence_max_s: float) -> None:
        self._handle = handle
        self._silence_max_s = silence_max_s
        self._writers: set[asyncio.StreamWriter] = set()

    async def open(self, host: str, port: int) -> None:
        """Listen; raises OSError if somebody else does."""
        self._server = await asyncio.start_server(
            self._serve, host or None, port, limit=HEAD_BYTES_MAX
        )

    @property
    def port(self) -> int:
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # The client is gone, or might as well be.
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; say whether another may follow."""
        address = (writer.get_extra_info("peername") or ("",))[0]
        try:
            async with asyncio.timeout(self._silence_max_s):
                request = read_head(await reader.readuntil(b"\r\n\r\n"), address)
        except asyncio.LimitOverrunError:
            await self._send(writer, "GET", refusal(431), stays_open=False)
            return False
        except BadRequest as error:
            await self._send(writer, "GET", refusal(error.status), stays_open=False)
            return False
        response = await self._handle(request)
        await self._send(writer, request.method, response, stays_open=request.stays_open)
        return request.stays_open

    async def _send(
        self, writer: asyncio.StreamWriter, method: str, response: HttpResponse, *, stays_open: bool
    ) -> None:
        writer.write(response.head(stays_open=stays_open))
        if method != "HEAD":
            writer.write(response.body)
            if response.pieces:
                async for piece in response.pieces:
                    writer.write(piece)
                    await self._drain(writer)
        await self._drain(writer)

    async def _drain(self, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(self._silence_max_s):
            await writer.drain()


def refusal(status: int) -> HttpResponse:
    headers = {"Allow": "GET, HEAD"} if status == 405 else {}
    return HttpResponse(f"{status} {REASONS[status]}\n".encode(), status, headers=headers)


def read_head(head: bytes, address: str) -> HttpRequest:
    """Take the head of a request apart, or raise `BadRequest`."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[0].isupper():
        raise BadRequest(400)
    method, target, version = words
    if version not in VERSIONS:
        raise BadRequest(505 if version.startswith("HTTP/") else 400)
    headers = read_headers(lines)
    path, query = read_target(target)
    return HttpRequest(method, path, query, headers, address, stays_open(version, headers))


def read_headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequest(400)
        headers.setdefault(name.lower(), value.strip(" \t"))
    return headers


def read_target(target: str) -> tuple[str, dict[str, str]]:
    try:
        parts = urlsplit(target)
    except ValueError:
        raise BadRequest(400) from None
    query: dict[str, str] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        query.setdefault(name, value)
    return unquote(parts.path), query


def stays_open(version: str, headers: Mapping[str, str]) -> bool:
    """Whether a further request may follow. It would be hidden behind a body that nobody reads."""
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    wish = headers.get("connection", "").lower()
    return not has_body and (wish == "keep-alive" if version == "HTTP/1.0" else wish != "close")
